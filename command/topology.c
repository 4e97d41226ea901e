/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect topology: who talks to whom, in which pattern, and where ranks had better run.
 */
#include "command/command.h"
#include "view/topology_print.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FORMAT = 256,
    OPTION_CLASS,
    OPTION_DOMAIN,
    OPTION_PHASE,
    OPTION_TOP,
    OPTION_NODES,
    OPTION_SOCKETS,
    OPTION_RANKFILE,
    OPTION_HOSTS
};
enum { MAX_SOCKETS = 1024 };
enum format { FORMAT_TEXT, FORMAT_TSV, FORMAT_JSON, FORMAT_SVG };

static const struct pct_option options[] = {
    {OPTION_FORMAT, "format", "FORMAT", "text (default), tsv, json or svg"},
    {OPTION_CLASS, "class", "CLASS", "messages of this class only: p2p or rma"},
    {OPTION_DOMAIN, "domain", "DOMAIN", "messages in this communicator only, by name or id"},
    {OPTION_PHASE, "phase", "N", "messages in this phase only: the number given to MPI_Pcontrol"},
    {OPTION_TOP, "top", "N", "pairs in the text (default 20)"},
    {OPTION_NODES, "nodes", "N",
     "place on N nodes of equal size, whatever the run had, filled in the order of ranks"},
    {OPTION_SOCKETS, "sockets", "N", "place on N sockets of each node, whatever the run had"},
    {OPTION_RANKFILE, "rankfile", "FILE", "write the placement as a rankfile of Open MPI"},
    {OPTION_HOSTS, "hosts", "FILE", "write the placement as a host file of MPICH (Hydra)"},
    {0, NULL, NULL, NULL},
};

struct request {
    enum format format;
    const char *class_name, *domain, *rankfile, *hosts;
    uint64_t top, nodes, sockets, phase; /* phase 0: all */
};

static bool read_format(const char *word, enum format *out)
{
    static const char *const names[] = {"text", "tsv", "json", "svg"};
    for (unsigned i = 0; i < PC_ARRAY_LEN(names); i++)
        if (!strcmp(word, names[i])) {
            *out = (enum format)i;
            return true;
        }
    return false;
}

static bool read_number(const char *word, uint64_t *out)
{
    char *end;
    unsigned long v = strtoul(word, &end, 10);
    if (end == word || *end || *word == '-' || v == 0 || v > INT32_MAX)
        return false;
    *out = v;
    return true;
}

static int read_options(const struct pct_command *self, int argc, char **argv, struct request *r)
{
    int option;
    while ((option = pct_options_next(self, argc, argv)) != PCT_OPTION_END) {
        if (option == PCT_OPTION_WRONG || option == PCT_OPTION_HELPED)
            return option;
        if (option == OPTION_FORMAT && !read_format(optarg, &r->format))
            return pct_refuse(self, "--format %s: unknown; known are text, tsv, json, svg", optarg);
        if (option == OPTION_TOP && !read_number(optarg, &r->top))
            return pct_refuse(self, "--top %s: not a number from 1", optarg);
        if (option == OPTION_PHASE && !read_number(optarg, &r->phase))
            return pct_refuse(self, "--phase %s: not a number from 1", optarg);
        if (option == OPTION_NODES && !read_number(optarg, &r->nodes))
            return pct_refuse(self, "--nodes %s: not a number from 1", optarg);
        if (option == OPTION_SOCKETS &&
            (!read_number(optarg, &r->sockets) || r->sockets > MAX_SOCKETS))
            return pct_refuse(self, "--sockets %s: not a number from 1 to %d", optarg, MAX_SOCKETS);
        if (option == OPTION_CLASS)
            r->class_name = optarg;
        if (option == OPTION_DOMAIN)
            r->domain = optarg;
        if (option == OPTION_RANKFILE)
            r->rankfile = optarg;
        if (option == OPTION_HOSTS)
            r->hosts = optarg;
    }
    return PCT_DONE;
}

/* ---- Placement ------------------------------------------------------------------------------ */

typedef void put_fn(FILE *out, const struct pct_placement *p, const struct pct_seats *s);

static int write_file(const struct pct_command *self, const char *path, put_fn *put,
                      const struct pct_topology_view *v)
{
    FILE *out = path ? fopen(path, "wxe") : NULL;
    if (!path)
        return PCT_DONE;
    if (!out && errno == EEXIST) {
        pct_say(self, "%s: cannot be written: it is there already; remove it, or name another file",
                path);
        return PCT_DATA;
    }
    if (out)
        put(out, v->placement, v->seats);
    bool bad = !out || ferror(out);
    if ((out && fclose(out)) || bad) {
        pct_say(self, "%s: %s", path, strerror(errno));
        return PCT_DATA;
    }
    return PCT_DONE;
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
    struct pct_placement placement;
    struct pct_seats *seats = pct_seats_new(t, (uint32_t)r->nodes, (uint32_t)r->sockets);
    pct_graph_make(t, &graph);
    pct_pattern_find(&graph, &pattern);
    pct_seats_place(&graph, seats, &placement);
    struct pct_topology_view view = {.file = file,
                                     .topology = t,
                                     .graph = &graph,
                                     .pattern = &pattern,
                                     .placement = &placement,
                                     .seats = seats,
                                     .top = r->top};
    print[r->format](stdout, &view);
    int status = write_file(self, r->rankfile, pct_placement_rankfile, &view);
    if (!status)
        status = write_file(self, r->hosts, pct_placement_hosts, &view);
    pct_placement_free(&placement);
    pct_seats_free(seats);
    pct_graph_free(&graph);
    return status;
}

static int show_profile(const struct pct_command *self, const char *file,
                        const struct pc_profile *p, const struct request *r)
{
    struct pct_pair_filter filter = {
        .class_name = r->class_name, .has_phase = r->phase != 0, .phase = r->phase};
    if (r->domain && !(filter.domain = pct_domain_find(p, r->domain)))
        return pct_refuse(self,
                          "--domain %s: no communicator of the profile has this id, or it alone "
                          "this name (`pcollect report --table communicators %s`)",
                          r->domain, file);
    struct pct_topology *t = pct_topology_new(p, &filter);
    if (!t) {
        pct_say(self, "%s: has no pairs of ranks: collect with `plugins = time, topology`", file);
        return PCT_DATA;
    }
    int status = show(self, file, t, r);
    pct_topology_free(t);
    return status;
}

static int main_topology(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.top = 20};
    struct pc_profile *profile = NULL;
    struct pc_error error = {""};
    int status = read_options(self, argc, argv, &r);
    if (status)
        return status == PCT_OPTION_HELPED ? PCT_DONE : PCT_CALL;
    if (optind != argc - 1)
        return pct_refuse(self, "one profile is needed");
    const char *file = argv[optind];
    int err = pc_pcol_read_columns(file, &profile, &error);
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
    .synopsis = "[OPTION]... FILE",
    .summary = "who talks to whom: pattern, matrix, a better placement",
    .options = options,
    .mixed = true,
    .main = main_topology,
};
