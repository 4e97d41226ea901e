/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect topology: communicating ranks, their pattern, and a better placement.
 */
#include "command/command.h"
#include "command/whole_file.h"
#include "view/query.h"
#include "view/topology_print.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FORMAT = 256,
    OPTION_SVG,
    OPTION_CLASS,
    OPTION_DOMAIN,
    OPTION_PHASE,
    OPTION_TOP,
    OPTION_NODES,
    OPTION_SOCKETS,
    OPTION_RANKFILE,
    OPTION_HOSTS
};
enum { FORM = 1 }; /* groups of options */
enum { MAX_SOCKETS = 1024 };
enum format { FORMAT_TEXT, FORMAT_TSV, FORMAT_JSON, FORMAT_SVG };

static const struct pct_option options[] = {
    {OPTION_FORMAT, "format", "text|tsv|json", "text for people (default), or for programs",
     "tsv is the matrix, one line for each pair: source, destination, messages, bytes. json is all "
     "of it in one object. A rank of another job, spawned or connected, is outside in tsv and -1 "
     "in "
     "json.",
     .group = FORM},
    {OPTION_SVG, "svg", NULL, "a picture of the matrix",
     "The more bytes a pair has sent, the darker it is; without bytes, the more messages. A scale "
     "is "
     "below. Lines separate up to 100 nodes if each has consecutive ranks.",
     .group = FORM},
    {OPTION_CLASS, "class", "p2p|rma", "only messages of this class"},
    {OPTION_DOMAIN, "domain", "NAME", "only messages on this communicator, by name or id",
     "pcollect report --table communicators lists them."},
    {OPTION_PHASE, "phase", "N", "only messages in phase N of MPI_Pcontrol",
     "Phase 0 has what is in no other."},
    {OPTION_TOP, "top", "N", "show N pairs in the text (default: 20)", .parts = PCT_PART_PAIRS},
    {OPTION_NODES, "nodes", "N", "place ranks on N nodes",
     "The default is the nodes of the run. The nodes are filled in the order of ranks, with the "
     "same number of ranks or one less on each, and called NODE0, NODE1 and so on in the files.",
     .parts = PCT_PART_PLACEMENT},
    {OPTION_SOCKETS, "sockets", "N", "place ranks on N sockets of each node",
     "The default is the sockets of the run.", .parts = PCT_PART_PLACEMENT},
    {OPTION_RANKFILE, "rankfile", "FILE", "write the placement as a rankfile of Open MPI",
     "It is for mpirun --rankfile. FILE must be new. A rank gets a whole socket of its node or, if "
     "the sockets are not known, the next slot, from 0."},
    {OPTION_HOSTS, "hosts", "FILE", "write the placement as a host file of MPICH (Hydra)",
     "It is for mpirun -f: a host and its number of ranks, in the order of ranks, without sockets. "
     "FILE must be new."},
    PCT_OPTION_WIDTH,
    {0, NULL, NULL, NULL},
};

struct request {
    enum format format;
    const char *class_name, *domain, *rankfile, *hosts;
    uint64_t top, nodes, sockets, phase;
    bool has_phase;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    switch (o->letter) {
    case OPTION_FORMAT:
        r->format = (enum format)pct_value_word(o, value);
        return PCT_DONE;
    case OPTION_SVG:
        r->format = FORMAT_SVG;
        return PCT_DONE;
    case OPTION_CLASS:
        r->class_name = value;
        return PCT_DONE;
    case OPTION_DOMAIN:
        r->domain = value;
        return PCT_DONE;
    case OPTION_PHASE:
        r->has_phase = true;
        return pct_value_number(self, o, value, 0, INT32_MAX, &r->phase);
    case OPTION_TOP:
        return pct_value_number(self, o, value, 1, INT32_MAX, &r->top);
    case OPTION_NODES:
        return pct_value_number(self, o, value, 1, INT32_MAX, &r->nodes);
    case OPTION_SOCKETS:
        return pct_value_number(self, o, value, 1, MAX_SOCKETS, &r->sockets);
    case OPTION_RANKFILE:
        r->rankfile = value;
        return PCT_DONE;
    default:
        r->hosts = value;
        return PCT_DONE;
    }
}

/* ---- Placement ------------------------------------------------------------------------------ */

typedef void put_fn(FILE *out, const struct pct_placement *p, const struct pct_slots *s);

static int write_file(const struct pct_command *self, const char *path, put_fn *put,
                      const struct pct_topology_view *v)
{
    struct pct_whole_file file;
    if (!path)
        return PCT_DONE;
    if (!pct_whole_file_open(&file, self, path, false))
        return PCT_DATA;
    put(file.out, v->placement, v->slots);
    return pct_whole_file_close(&file, true) ? PCT_DONE : PCT_DATA;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int show(const struct pct_command *self, const char *file, const struct pct_topology *t,
                const struct request *r)
{
    static void (*const print[])(FILE *, const struct pct_topology_view *) = {
        [FORMAT_TEXT] = pct_topology_print_text,
        [FORMAT_TSV] = pct_topology_print_tsv,
        [FORMAT_JSON] = pct_topology_print_json,
        [FORMAT_SVG] = pct_topology_print_svg,
    };
    struct pct_graph graph;
    struct pct_pattern pattern;
    struct pct_placement placement = {0};
    struct pct_slots *slots = pct_slots_new(t, (uint32_t)r->nodes, (uint32_t)r->sockets);
    pct_graph_make(t, &graph);
    pct_pattern_find(&graph, &pattern);
    if (!t->n_missing)
        pct_slots_place(&graph, slots, &placement);
    struct pct_topology_view view = {.file = file,
                                     .topology = t,
                                     .graph = &graph,
                                     .pattern = &pattern,
                                     .placement = t->n_missing ? NULL : &placement,
                                     .slots = slots,
                                     .top = r->top,
                                     .width = pct_terminal_look().width};
    print[r->format](stdout, &view);
    int status = write_file(self, r->rankfile, pct_placement_rankfile, &view);
    if (!status)
        status = write_file(self, r->hosts, pct_placement_hosts, &view);
    pct_placement_free(&placement);
    pct_slots_free(slots);
    pct_graph_free(&graph);
    return status;
}

/* The messages that have one value in a column. */
struct part {
    const char *column, *given; /* an option has the name of the column, and this value */
    enum pcollect_column_type type;
    const char *in, *noun; /* "in", "phase" */
    uint64_t value;
};

/* The least value from `from` on for which there are messages; false: none. */
static bool next_value(const struct pc_profile *p, const struct part *part, uint64_t from,
                       uint64_t *out)
{
    static const char *const tables[] = {"pairs", "pairs_by_distance"};
    bool found = false;
    for (size_t i = 0; i < PC_ARRAY_LEN(tables); i++) {
        const struct pc_profile_table *t = pc_profile_table_in_order(p, tables[i]);
        uint32_t column = pc_table_column(t, part->column, part->type);
        for (uint32_t row = 0; t && row < t->n_rows; row++) {
            uint64_t value = pc_table_cell(t, row, column);
            if (value < from || (found && value >= *out))
                continue;
            *out = value;
            found = true;
        }
    }
    return found;
}

/* Refuses a part without messages, and names those that have some. */
static int check_part(const struct pct_command *self, const struct pc_profile *p,
                      const struct part *part)
{
    enum { MOST_VALUES = 16 };
    struct pct_buf others = {0};
    uint64_t value = 0;
    bool more = next_value(p, part, part->value, &value);
    if (more && value == part->value)
        return PCT_DONE;
    more = next_value(p, part, 0, &value);
    if (more)
        pct_buf_format(&others, "those of the profile are %s ", part->in);
    else
        pct_buf_text(&others, "the profile has none");
    for (unsigned i = 0; i < MOST_VALUES && more; i++) {
        pct_buf_text(&others, i ? ", " : "");
        if (part->type == PCOLLECT_COLUMN_DOMAIN)
            pct_domain_put(&others, value);
        else
            pct_buf_format(&others, "%llu", (unsigned long long)value);
        more = next_value(p, part, value + 1, &value);
    }
    if (more)
        pct_buf_text(&others, ", ...");
    pct_refuse(self, "--%s %s: there are no messages %s this %s; %s", part->column, part->given,
               part->in, part->noun, others.data);
    pct_buf_free(&others);
    return PCT_CALL;
}

static int check_parts(const struct pct_command *self, const struct pc_profile *p,
                       const struct request *r, uint64_t domain)
{
    const struct part on = {"domain", r->domain,      PCOLLECT_COLUMN_DOMAIN,
                            "on",     "communicator", domain};
    char *phase = pct_text("%llu", (unsigned long long)r->phase);
    const struct part in = {"phase", phase, PCOLLECT_COLUMN_NUMBER, "in", "phase", r->phase};
    int status = r->domain ? check_part(self, p, &on) : PCT_DONE;
    status = !status && r->has_phase ? check_part(self, p, &in) : status;
    pct_free(phase);
    return status;
}

static int show_profile(const struct pct_command *self, const char *file,
                        const struct pc_profile *p, const struct request *r)
{
    struct pct_pair_filter filter = {
        .class_name = r->class_name, .has_phase = r->has_phase, .phase = r->phase};
    struct pct_buf no_domain = {0};
    if (r->domain && !(filter.domain = pct_domain_find(p, r->domain, &no_domain)))
        return pct_refuse(self, "--domain %s: %s", pct_typed(r->domain), no_domain.data);
    struct pct_topology *t = pct_topology_new(p, &filter);
    if (!t) {
        bool recorded = p->n_ranks && p->ranks[0].notes & PCOLLECT_NOTE_OUTSIDE;
        pct_say(self, "%s: has no pairs of ranks: %s", file,
                recorded ? "pcollect record does not see messages; pcollect run does"
                         : "it was collected without the plugin topology");
        return PCT_DATA;
    }
    int status = check_parts(self, p, r, filter.domain);
    if (!status && r->nodes > t->n_ranks)
        status = pct_refuse(self, "--nodes %llu: the run has %u rank%s, and each node needs one",
                            (unsigned long long)r->nodes, t->n_ranks, t->n_ranks == 1 ? "" : "s");
    if (status) {
        pct_topology_free(t);
        return status;
    }
    status = PCT_DATA;
    if (t->n_missing && (r->rankfile || r->hosts))
        pct_say(self,
                "%s: %u of %u ranks %s not in the profile: no placement is proposed, and no file "
                "written; collect the run again, or add the ranks with `pcollect recover`",
                file, t->n_missing, t->n_ranks, t->n_missing == 1 ? "is" : "are");
    else
        status = show(self, file, t, r);
    pct_topology_free(t);
    return status;
}

/* Reads ranks and tables alone: pairs of ranks need no contexts, unless a plugin of a user has them
 * by context. The table of communicators does. */
static int read_pairs(const char *file, bool communicators, struct pc_profile **out,
                      struct pc_error *error)
{
    int err = communicators ? PC_OK : pc_pcol_read_ranks(file, out, error);
    if (err || (*out && pc_profile_rows(*out, "pairs")))
        return err;
    pc_profile_free(*out);
    return pc_pcol_read_columns(file, out, error);
}

static unsigned parts_of(const struct request *r)
{
    bool text = r->format == FORMAT_TEXT, files = r->rankfile || r->hosts;
    return (text ? PCT_PART_PAIRS : 0) |
           (text || r->format == FORMAT_JSON || files ? PCT_PART_PLACEMENT : 0);
}

static int main_topology(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.top = 20};
    struct pc_profile *profile = NULL;
    struct pc_error error = {""};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    int status = pct_line_check_parts(self, &line, parts_of(&r));
    if (status)
        return status;
    const char *file = line.words[0];
    int err = read_pairs(file, r.domain != NULL, &profile, &error);
    if (*error.text || err)
        pct_say(self, "%s", *error.text ? error.text : pc_err_text(err));
    if (err)
        return err == PC_ENOENT ? PCT_CALL : PCT_DATA;
    status = show_profile(self, file, profile, &r);
    pc_profile_free(profile);
    return status;
}

const struct pct_command pct_topology_command = {
    .name = "topology",
    .synopsis = "[OPTION]... [FILE]",
    .summary = "show which ranks communicate: pattern, matrix, better placement",
    .options = options,
    .argument = "FILE",
    .n_most = 1,
    .newest = true,
    .take = take_option,
    .main = main_topology,
};
