/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cube: calls and samples by any keys, with every figure as a column.
 *
 * Its columns are those of the tables of calls with other rows: the keys first, then those of text
 * output, then the rest. The fields of plugins come last, each under the name PLUGIN.FIELD; of a
 * histogram its bins, percentiles and its greatest value, too.
 */
#include "analysis/tree/fields.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <string.h>

static const struct pct_rolled *rolled_of(const struct pct_cell *c)
{
    return pct_data_rolled(c->d, c->column->of);
}

static const struct pct_rolled_row *row_of(const struct pct_cell *c)
{
    return &rolled_of(c)->row[c->row];
}

static const struct pct_node *node_of(const struct pct_cell *c)
{
    return &pct_data_lines(c->d)->nodes[row_of(c)->context];
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Path of a call, up to its caller. */
static void get_path(const struct pct_cell *c, struct pct_value *out)
{
    bool call = node_of(c)->kind == PCOLLECT_NODE_OP;
    pct_path_value(pct_data_lines(c->d), call ? node_of(c)->parent : row_of(c)->context, out);
}

static void get_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, node_of(c)->context, out);
}

static void get_phase(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->phase;
}

static void get_region(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->region, out);
}

static void get_rank(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->has_rank;
    out->integer = row_of(c)->rank;
}

static void get_entered(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->has_entries;
    out->number = row_of(c)->entered;
}

static void get_region_time(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->has_entries;
    out->number = row_of(c)->region_ns;
}

static void get_self_percent(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_text_share(row_of(c)->self.ns, pct_data_samples(c->d)->all.ns);
}

static const struct pct_column own_columns[] = {
    {"path", "path", PCT_TEXT,
     "frames from the root to the call, or to what computed, joined by \" > \"", get_path,
     .labels = true},
    {"context", "context", PCT_TEXT,
     "id of the path of functions, without lines: the same in all tables and profiles",
     get_context},
    {"phase", "phase", PCT_COUNT, "number of the phase (MPI_Pcontrol); 0: none", get_phase},
    {"region", "region", PCT_TEXT, "innermost region that was open; empty if none was", get_region},
    {"entered", "entered", PCT_COUNT, "times that the region was entered, by all threads",
     get_entered},
    {"region_s", "in region", PCT_NS,
     "time in the region, inner regions included, summed over ranks and threads", get_region_time},
    {"rank", "rank", PCT_INTEGER, "rank; empty: what the profile does not keep by rank", get_rank},
    {"cpu_exclusive_percent", "self", PCT_PERCENT, "cpu_exclusive_s as a share of all samples",
     get_self_percent},
};

static const struct pct_table own_table = {PCT_COLUMNS(own_columns)};

/* ---- Members --------------------------------------------------------------------------------- */

/* A column, the table that has it, and the condition for it to be in the cube: with one of the
 * first keys (0: any), and without the second ones. */
struct member {
    const struct pct_table *from;
    const char *name;
    unsigned with, without;
};

#define FRAMES PCT_KEYS_OF_FRAMES
#define NOT_OF_REGIONS                                                                             \
    (FRAMES | PCT_KEY_PRIMITIVE | PCT_KEY_COMMUNICATOR | PCT_KEY_RANK | PCT_KEY_CONTEXT |          \
     PCT_KEY_HERE)
#define SITES &pct_call_sites_table
#define LINES &pct_lines_table
#define COMMUNICATORS &pct_communicator_calls_table

static const struct member keys_and_shown[] = {
    {SITES, "function", PCT_KEY_FUNCTION, 0},
    {SITES, "file", PCT_KEY_FILE, 0},
    {SITES, "line", PCT_KEY_LINE, 0},
    {SITES, "module", PCT_KEY_FILE | PCT_KEY_MODULE, PCT_KEY_FUNCTION},
    {SITES, "module", PCT_CUBE_MODULE, 0},
    {&own_table, "path", PCT_KEY_CONTEXT, 0},
    {SITES, "primitive", PCT_KEY_PRIMITIVE, 0},
    {COMMUNICATORS, "communicator", PCT_KEY_COMMUNICATOR, 0},
    {COMMUNICATORS, "name", PCT_KEY_COMMUNICATOR, 0},
    {COMMUNICATORS, "size", PCT_KEY_COMMUNICATOR, 0},
    {COMMUNICATORS, "made_by", PCT_KEY_COMMUNICATOR, 0},
    {&own_table, "phase", PCT_KEY_PHASE, 0},
    {&own_table, "region", PCT_KEY_REGION, 0},
    {&own_table, "rank", PCT_KEY_RANK, 0},
    {&own_table, "entered", PCT_KEY_REGION, NOT_OF_REGIONS},
    {&own_table, "region_s", PCT_KEY_REGION, NOT_OF_REGIONS},
    {SITES, "calls", 0, 0},
    {SITES, "mpi_exclusive_s", 0, 0},
    {LINES, "mpi_inclusive_s", FRAMES, PCT_KEY_HERE},
    {SITES, "mpi_exclusive_percent", 0, 0},
    {LINES, "cpu_exclusive_s", 0, 0},
    {&own_table, "cpu_exclusive_percent", 0, 0},
    {LINES, "cpu_inclusive_s", FRAMES, PCT_KEY_HERE},
};

static const struct member others[] = {
    {SITES, "module", PCT_KEY_FUNCTION, PCT_CUBE_MODULE},
    {LINES, "mpi_inclusive_percent", FRAMES, PCT_KEY_HERE},
    {LINES, "cpu_exclusive_error_s", 0, 0},
    {LINES, "cpu_inclusive_error_s", FRAMES, PCT_KEY_HERE},
    {SITES, "time_s", 0, 0},
    {SITES, "mean_s", 0, 0},
    {SITES, "min_s", 0, 0},
    {SITES, "max_s", 0, 0},
    {SITES, "bytes_sent", 0, 0},
    {SITES, "bytes_received", 0, 0},
    {LINES, "samples", 0, 0},
    {SITES, "ranks", 0, PCT_KEY_RANK},
    {SITES, "rank_min_s", 0, PCT_KEY_RANK},
    {SITES, "min_rank", 0, PCT_KEY_RANK},
    {SITES, "rank_max_s", 0, PCT_KEY_RANK},
    {SITES, "max_rank", 0, PCT_KEY_RANK},
    {&own_table, "context", PCT_KEY_CONTEXT, 0},
};

static void add_members(struct pct_cube *cube, const struct member *m, size_t n, unsigned keys)
{
    for (size_t i = 0; i < n; i++) {
        if ((m[i].with && !(keys & m[i].with)) || keys & m[i].without)
            continue;
        struct pct_column *c = &cube->columns[cube->table.n_columns++];
        *c = *pct_column_find(m[i].from, m[i].name);
        c->of = (uint16_t)keys;
        c->path = !strcmp(c->name, "file") || !strcmp(c->name, "module");
        if (keys & PCT_KEY_FUNCTION && !(keys & PCT_CUBE_MODULE) && !strcmp(c->name, "file"))
            c->module = "module";
    }
}

/* ---- Fields of plugins ----------------------------------------------------------------------- */

static struct pct_chain chain_of(const struct pct_cell *c)
{
    return (struct pct_chain){row_of(c)->first_node, rolled_of(c)->next};
}

static void get_field(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !pct_field_value(c->d->profile, chain_of(c), c->column->which, &out->number);
}

static void get_bins(const struct pct_cell *c, struct pct_value *out)
{
    uint64_t bins[PC_PROFILE_MAX_BINS];
    struct pct_buf b = {0};
    pct_field_bins(c->d->profile, chain_of(c), c->column->which, bins);
    for (unsigned k = 0; k < PC_PROFILE_MAX_BINS; k++)
        if (bins[k])
            pct_buf_format(&b, "%s%u:%llu", b.n ? "," : "", k, (unsigned long long)bins[k]);
    pct_value_plain(b.n ? pct_pool_intern(c->d->pool, b.data) : NULL, out);
    pct_buf_free(&b);
}

static void get_percentile(const struct pct_cell *c, unsigned percent, struct pct_value *out)
{
    uint64_t bins[PC_PROFILE_MAX_BINS];
    uint64_t n = pct_field_bins(c->d->profile, chain_of(c), c->column->which, bins);
    out->none = !n;
    out->number = pct_bin_begin(pct_bins_percentile(bins, n, percent));
}

static void get_p50(const struct pct_cell *c, struct pct_value *out)
{
    get_percentile(c, 50, out);
}

static void get_p90(const struct pct_cell *c, struct pct_value *out)
{
    get_percentile(c, 90, out);
}

static void get_p99(const struct pct_cell *c, struct pct_value *out)
{
    get_percentile(c, 99, out);
}

static void get_greatest(const struct pct_cell *c, struct pct_value *out)
{
    get_percentile(c, 100, out);
}

static const struct {
    const char *suffix, *doc;
    void (*get)(const struct pct_cell *c, struct pct_value *out);
} of_histogram[] = {
    {"", "values by powers of two: 12:340 is 340 values from 2^12 on", get_bins},
    {".p50", "half of the values are below twice this", get_p50},
    {".p90", "90 % of the values are below twice this", get_p90},
    {".p99", "99 % of the values are below twice this", get_p99},
    {".max", "the greatest value is at least this, and below twice this", get_greatest},
};

static void add_field(struct pct_cube *cube, const struct pct_data *d, uint32_t field,
                      unsigned keys)
{
    const struct pc_profile_field *f = &d->profile->fields[field];
    bool histogram = f->combine == PCOLLECT_HIST;
    for (size_t i = 0; i < (histogram ? PC_ARRAY_LEN(of_histogram) : 1); i++) {
        struct pct_column *c = &cube->columns[cube->table.n_columns++];
        const char *name = pct_field_name(d, f, histogram ? of_histogram[i].suffix : "");
        *c = (struct pct_column){.name = name,
                                 .head = name,
                                 .type = pct_field_type(f),
                                 .doc = histogram ? of_histogram[i].doc
                                        : pct_field_is_event(f)
                                            ? "how often the sampled event happened"
                                            : "field of a plugin",
                                 .get = histogram ? of_histogram[i].get : get_field,
                                 .which = (uint16_t)field,
                                 .of = (uint16_t)keys};
        if (histogram && !i) {
            c->type = PCT_TEXT;
            c->histogram = f->unit;
        }
    }
}

/* The events that were sampled, or the others that have no column of their own. */
static void add_fields(struct pct_cube *cube, const struct pct_data *d, uint32_t n, unsigned keys,
                       bool events)
{
    for (uint32_t i = 0; i < n; i++)
        if (pct_field_is_extra(&d->profile->fields[i]) &&
            pct_field_is_event(&d->profile->fields[i]) == events)
            add_field(cube, d, i, keys);
}

/* Adds to the meaning of times of ranks how exact they are, if some are in steps. */
static void say_steps(struct pct_cube *cube, const struct pct_data *d)
{
    static const char *const times[] = {"mpi_exclusive_s", "mpi_inclusive_s", "cpu_exclusive_s",
                                        "cpu_inclusive_s", "time_s"};
    for (size_t i = 0; i < cube->table.n_columns; i++)
        for (size_t k = 0; k < PC_ARRAY_LEN(times); k++) {
            struct pct_buf b = {0};
            if (strcmp(cube->columns[i].name, times[k]) != 0)
                continue;
            pct_buf_format(&b, "%s; of a rank within 0.8 %% of what was measured",
                           cube->columns[i].doc);
            cube->columns[i].doc = pct_pool_intern(d->pool, b.data);
            pct_buf_free(&b);
        }
}

/* ---- The table ------------------------------------------------------------------------------- */

static size_t count_rows(const struct pct_data *d)
{
    return pct_data_rolled(d, d->keys)->n;
}

static void put_picture(const struct pct_table *t, const struct pct_data *d, size_t row,
                        uint64_t *values, bool *present)
{
    pct_rolled_ranks(pct_data_rolled(d, t->columns->of), row, values, present);
}

/* True if the run computes longer, by its samples, than it is in MPI. */
static bool computes_most(const struct pct_data *d)
{
    const struct pct_samples *s = pct_data_samples(d);
    return s->all.ns - s->mpi.ns > d->totals->all.mpi_ns;
}

const struct pct_by pct_by[] = {
    {PCT_BY_FUNCTION, NULL},   {PCT_BY_LINE, NULL},
    {PCT_BY_FILE, NULL},       {PCT_BY_MODULE | PCT_CUBE_MODULE, NULL},
    {PCT_BY_SITE, NULL},       {PCT_KEY_CONTEXT | PCT_KEY_PRIMITIVE, NULL},
    {PCT_KEY_PRIMITIVE, NULL}, {PCT_KEY_COMMUNICATOR, NULL},
    {PCT_KEY_PHASE, NULL},     {PCT_KEY_REGION, NULL},
    {PCT_KEY_RANK, "ranks"},   {0, "callers"},
    {0, "thread_times"},       {0, "pairs"},
    {0, "programs"},
};

void pct_cube_make(struct pct_cube *out, const struct pct_data *d, unsigned by, const char *name)
{
    unsigned keys = by & ~(unsigned)PCT_CUBE_MODULE;
    if (keys & PCT_KEY_CONTEXT) /* a context has all of them */
        keys &= ~(unsigned)(FRAMES | PCT_KEY_HERE);
    bool frames = keys & FRAMES && !(keys & PCT_KEY_HERE);
    bool outside = d && d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE;
    bool sampled = d && pct_data_samples(d)->all.samples && !(keys & PCT_KEY_HERE);
    uint32_t n_fields = d && !(keys & PCT_KEY_RANK) ? d->profile->n_fields : 0;
    size_t room =
        PC_ARRAY_LEN(keys_and_shown) + PC_ARRAY_LEN(others) + n_fields * PC_ARRAY_LEN(of_histogram);
    *out = (struct pct_cube){.columns = pct_alloc(room, sizeof *out->columns)};
    if (d)
        out->data = *d;
    out->data.kind = PCT_DATA_CUBE;
    out->data.keys = keys;
    out->table = (struct pct_table){
        .name = name,
        .doc = "calls and samples by any keys",
        .count = count_rows,
        .sort = sampled && computes_most(d) ? "cpu_exclusive_s" : "mpi_exclusive_s",
        .then = sampled && !computes_most(d) ? "cpu_exclusive_s" : "mpi_exclusive_s",
        .percent = outside  ? "cpu_exclusive_percent"
                   : frames ? "mpi_inclusive_percent"
                            : "mpi_exclusive_percent",
        .columns = out->columns,
        .picture = keys & PCT_KEY_RANK ? NULL : put_picture};
    unsigned named = keys & PCT_KEY_FUNCTION ? keys | (by & PCT_CUBE_MODULE) : keys;
    add_members(out, keys_and_shown, PC_ARRAY_LEN(keys_and_shown), named);
    add_fields(out, d, n_fields, keys, true);
    out->table.n_shown = out->table.n_columns;
    for (size_t i = 0; i < out->table.n_shown; i++) /* figures of MPI leave no room for it */
        out->columns[i].exact |= out->columns[i].get == get_self_percent && !outside;
    add_members(out, others, PC_ARRAY_LEN(others), named);
    add_fields(out, d, n_fields, keys, false);
    if (d && keys & PCT_KEY_RANK && pc_profile_has_steps(d->profile))
        say_steps(out, d);
}

void pct_cube_free(struct pct_cube *c)
{
    pct_free(c->columns);
}
