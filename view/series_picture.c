/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The course of the run as pictures: from the tables `series` and `series_regions`
 * (plugins/comm/series_plugin.c), whose bins are laid out on as many columns as there is room for.
 * A bin that is wider than a column or lies across two gives each its part.
 *
 * The share of MPI is scaled to 100 %, computation to one processor a rank or the greatest column,
 * calls and bytes to the greatest column, and a phase or region to the time of all ranks. Figures
 * are written behind the pictures.
 */
#include "analysis/tree/label.h"
#include "view/report_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 60, LEAST_COLUMNS = 10, NAME_CELLS = 13, MOST_RANKS = 8, MOST_LANES = 12 };
/* Cells of the longest figures behind a picture. */
enum { FIGURE_CELLS = 34 };

enum { CALLS, SENT, TIME_IN_MPI, COMPUTED, N_FIGURES };

static const char *const names[] = {"rank",       "start",    "width",   "calls",
                                    "bytes_sent", "mpi_time", "computed"};
enum { RANK, START, WIDTH, FIRST_FIGURE };

static const char *const region_names[] = {"region", "start", "width", "time"};
enum { REGION, TIME = 3 };

/* A table of the file, and where its columns are. */
struct bins {
    const struct pc_profile_table *table;
    uint32_t column[PC_ARRAY_LEN(names)];
};

/* A phase or region. */
struct lane {
    uint32_t node; /* 0: those that are not told apart */
    unsigned level;
    uint64_t begin_ns;
    double time, of_column[MOST_COLUMNS];
};

struct course {
    const struct pct_data *d;
    struct bins series, regions; /* regions.table NULL: the profile does not have it */
    uint64_t begin_ns, end_ns;
    unsigned n_columns;
    double span; /* of a column, ns */
    double all[N_FIGURES][MOST_COLUMNS];
    int64_t ranks[MOST_RANKS];
    unsigned n_ranks;                         /* shown on their own */
    double of_rank[MOST_RANKS][MOST_COLUMNS]; /* TIME_IN_MPI */
    struct lane *lanes;
    size_t n_lanes;
};

static uint64_t cell(const struct bins *b, uint32_t row, unsigned what)
{
    return pc_table_cell(b->table, row, b->column[what]);
}

/* False: no such table, or not as it should be; what comes from a file is not trusted. */
static bool find_bins(struct course *c, struct bins *b, const char *name,
                      const char *const *columns, size_t n)
{
    const struct pc_profile_table *t = pc_profile_table(c->d->profile, name);
    for (size_t k = 0; t && k < n; k++) {
        b->column[k] = pc_table_column(t, columns[k],
                                       !strcmp(columns[k], "rank")     ? PCOLLECT_COLUMN_RANK
                                       : !strcmp(columns[k], "region") ? PCOLLECT_COLUMN_NODE
                                                                       : PCOLLECT_COLUMN_NUMBER);
        if (b->column[k] == PC_NO_INDEX && strcmp(columns[k], "computed") != 0)
            return false; /* older profiles do not have that one */
    }
    b->table = t;
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        uint64_t start = cell(b, i, START), width = cell(b, i, WIDTH);
        if (!width || start + width < start) {
            b->table = NULL;
            return false;
        }
        c->begin_ns = start < c->begin_ns ? start : c->begin_ns;
        c->end_ns = start + width > c->end_ns ? start + width : c->end_ns;
    }
    return t && t->n_rows;
}

/* Index of a rank with a picture of its own: the first ranks in the table have one. */
static int place_of(struct course *c, int64_t rank)
{
    for (unsigned k = 0; k < c->n_ranks; k++)
        if (c->ranks[k] == rank)
            return (int)k;
    if (c->n_ranks == MOST_RANKS)
        return -1;
    c->ranks[c->n_ranks] = rank;
    return (int)c->n_ranks++;
}

/* Adds the value of a bin to the columns that it lies in. */
static void spread(const struct course *c, const struct bins *b, uint32_t row, uint64_t value,
                   double *columns)
{
    double from = (double)(cell(b, row, START) - c->begin_ns) / c->span;
    double to = from + (double)cell(b, row, WIDTH) / c->span;
    for (unsigned k = (unsigned)from; k < c->n_columns && k < to; k++) {
        double lo = from > k ? from : k, hi = to < k + 1 ? to : k + 1;
        columns[k] += (hi - lo) / (to - from) * (double)value;
    }
}

static void add_series(struct course *c)
{
    for (uint32_t i = 0; i < c->series.table->n_rows; i++) {
        int rank = place_of(c, (int64_t)cell(&c->series, i, RANK));
        for (unsigned f = 0; f < N_FIGURES && c->series.column[FIRST_FIGURE + f] != PC_NO_INDEX;
             f++)
            spread(c, &c->series, i, cell(&c->series, i, FIRST_FIGURE + f), c->all[f]);
        if (rank >= 0)
            spread(c, &c->series, i, cell(&c->series, i, FIRST_FIGURE + TIME_IN_MPI),
                   c->of_rank[rank]);
    }
}

static int longer_first(const void *x, const void *y)
{
    const struct lane *a = x, *b = y;
    return a->time != b->time ? (a->time < b->time ? 1 : -1) : a->node < b->node ? -1 : 1;
}

static int earlier_first(const void *x, const void *y)
{
    const struct lane *a = x, *b = y;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->level != b->level ? (a->level < b->level ? -1 : 1) : longer_first(x, y);
}

/* Number of phases and regions around one. */
static unsigned level_of(const struct pc_profile *p, uint32_t node)
{
    unsigned level = 0;
    for (uint32_t up = p->nodes[node].parent; node && up && up != PC_NO_INDEX;
         up = p->nodes[up].parent)
        level++;
    return level;
}

/* The phases and regions in which most time was spent, in the order in which they begin. */
static void add_regions(struct course *c)
{
    const struct bins *b = &c->regions;
    uint32_t *lane_of = pct_alloc(c->d->profile->n_nodes, sizeof *lane_of);
    size_t room = 0;
    for (uint32_t i = 0; i < b->table->n_rows; i++) {
        uint32_t node = (uint32_t)cell(b, i, REGION);
        if (!lane_of[node]) {
            c->lanes = pct_grow(c->lanes, c->n_lanes, &room, sizeof *c->lanes);
            c->lanes[c->n_lanes++] = (struct lane){
                .node = node, .level = level_of(c->d->profile, node), .begin_ns = UINT64_MAX};
            lane_of[node] = (uint32_t)c->n_lanes;
        }
        struct lane *lane = &c->lanes[lane_of[node] - 1];
        uint64_t start = cell(b, i, START);
        lane->begin_ns = start < lane->begin_ns ? start : lane->begin_ns;
        lane->time += (double)cell(b, i, TIME);
        spread(c, b, i, cell(b, i, TIME), lane->of_column);
    }
    qsort(c->lanes, c->n_lanes, sizeof *c->lanes, longer_first);
    c->n_lanes = c->n_lanes < MOST_LANES ? c->n_lanes : MOST_LANES;
    qsort(c->lanes, c->n_lanes, sizeof *c->lanes, earlier_first);
    pct_free(lane_of);
}

static double greatest(const double *values)
{
    double most = 0;
    for (unsigned k = 0; k < MOST_COLUMNS; k++)
        most = values[k] > most ? values[k] : most;
    return most;
}

static double mean(const struct course *c, const double *values)
{
    double sum = 0;
    for (unsigned k = 0; k < c->n_columns; k++)
        sum += values[k] / c->n_columns;
    return sum;
}

static void put_picture(struct pct_buf *b, const struct course *c, const char *name,
                        const double *values, double full, bool utf8)
{
    pct_buf_text(b, "  ");
    pct_text_cut(b, name, NAME_CELLS, utf8);
    size_t cells = pct_text_cells(name);
    pct_buf_fill(b, ' ', cells < NAME_CELLS ? NAME_CELLS + 1 - cells : 1);
    for (unsigned k = 0; k < c->n_columns; k++) {
        double level = full > 0 ? values[k] / full * 8 + 0.5 : 0;
        unsigned height = level > 8 ? 8 : (unsigned)level;
        pct_print_level(b, height || values[k] <= 0 ? height : 1, utf8);
    }
}

/* The most processors on which a rank may run; 0: not known. */
static double processors_of_a_rank(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "resources");
    uint32_t cpus = pc_table_column(t, "cpus", PCOLLECT_COLUMN_NUMBER);
    double most = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++)
        most = fmax(most, (double)pc_table_cell(t, row, cpus));
    return most;
}

/* False if MPI_Pcontrol has left something out. Its bins cannot be told from those without calls: a
 * mean over all of them would not be that of the run. */
static bool has_mean(const struct course *c)
{
    return !(c->d->totals->all.notes & PCOLLECT_NOTE_PAUSED);
}

static void put_figures(struct pct_buf *b, const struct course *c, bool utf8)
{
    char number[PCT_NUMBER_BYTES];
    double calls = greatest(c->all[CALLS]) / c->span * 1e9;
    double whole = c->span * c->d->profile->n_ranks, most = greatest(c->all[COMPUTED]);
    double in_mpi = mean(c, c->all[TIME_IN_MPI]) / whole;
    double most_in_mpi = greatest(c->all[TIME_IN_MPI]) / whole;
    put_picture(b, c, "in MPI", c->all[TIME_IN_MPI], whole, utf8);
    /* A wide bin is spread evenly, also over the narrow ones before it that it covers. Only threads
     * of a rank that are in MPI at once have more than its time. */
    pct_buf_text(b, "  ");
    if (has_mean(c))
        pct_buf_format(b, "mean %.1f %%, ", 100 * in_mpi);
    pct_buf_format(b, "most %.1f %%\n", 100 * (in_mpi > 1 ? most_in_mpi : fmin(1, most_in_mpi)));
    if (most > 0) {
        put_picture(b, c, "computing", c->all[COMPUTED], most > whole ? most : whole, utf8);
        /* A sample is booked where it is taken, and stands for the time before, too. */
        double cpus = processors_of_a_rank(c->d->profile), shown = most / whole;
        pct_buf_text(b, "  ");
        if (has_mean(c))
            pct_buf_format(b, "mean %.2f, ", mean(c, c->all[COMPUTED]) / whole);
        pct_buf_format(b, "most %.2f CPUs a rank\n", cpus > 0 ? fmin(shown, cpus) : shown);
    }
    put_picture(b, c, "calls", c->all[CALLS], greatest(c->all[CALLS]), utf8);
    pct_buf_format(b, "  most %s a second\n", pct_text_count(number, (pc_u128)(calls + 0.5)));
    put_picture(b, c, "bytes sent", c->all[SENT], greatest(c->all[SENT]), utf8);
    pct_buf_format(b, "  most %s a second\n",
                   pct_text_bytes(number, (uint64_t)(greatest(c->all[SENT]) / c->span * 1e9)));
}

/* Its name, farther right than those that it is in. */
static void put_name(struct pct_buf *b, const struct pc_profile *p, const struct lane *lane)
{
    const struct pc_profile_node *n = &p->nodes[lane->node];
    pct_buf_fill(b, ' ', lane->level);
    if (!lane->node)
        pct_buf_text(b, "other regions");
    else if (n->kind == PCOLLECT_NODE_REGION && pc_profile_region(p, n->offset))
        pct_text_escape(b, pc_profile_region(p, n->offset), PCT_ESCAPE_NAME);
    else
        pct_label_other(b, p, n);
}

static void put_lanes(struct pct_buf *b, const struct course *c, bool utf8)
{
    char number[PCT_NUMBER_BYTES];
    for (size_t i = 0; i < c->n_lanes; i++) {
        const struct lane *lane = &c->lanes[i];
        struct pct_buf name = {0};
        pct_buf_text(&name, ""); /* names may be empty */
        put_name(&name, c->d->profile, lane);
        put_picture(b, c, name.data, lane->of_column, c->span * c->d->profile->n_ranks, utf8);
        pct_buf_format(b, "  %s of all ranks\n", pct_text_time(number, (pc_u128)lane->time));
        pct_buf_free(&name);
    }
}

static void put_ranks(struct pct_buf *b, const struct course *c, bool utf8)
{
    for (unsigned k = 0; c->n_ranks > 1 && k < c->n_ranks; k++) {
        char name[32];
        snprintf(name, sizeof name, "rank %lld", (long long)c->ranks[k]);
        put_picture(b, c, name, c->of_rank[k], c->span, utf8);
        if (has_mean(c))
            pct_buf_format(b, "  mean %.1f %% in MPI", 100 * mean(c, c->of_rank[k]) / c->span);
        pct_buf_text(b, "\n");
    }
}

/* Columns of a picture between its name and its figures. */
static unsigned columns_of(size_t width)
{
    size_t taken = 2 + NAME_CELLS + 1 + FIGURE_CELLS;
    if (!width || width >= taken + MOST_COLUMNS)
        return MOST_COLUMNS;
    return width > taken + LEAST_COLUMNS ? (unsigned)(width - taken) : LEAST_COLUMNS;
}

/* The title, with the time at which a part of the run begins that is not at its start. */
static void put_title(struct pct_buf *b, const struct course *c, const struct pct_options *o)
{
    char number[PCT_NUMBER_BYTES];
    uint64_t start_ns = c->d->totals->all.start_ns;
    pct_buf_format(b, "\n%sOver time", pct_style(o, PCT_STYLE_TITLE));
    if (start_ns && c->begin_ns > start_ns && (double)(c->begin_ns - start_ns) > c->span)
        pct_buf_format(b, ", from %s after the start of the run",
                       pct_text_time(number, c->begin_ns - start_ns));
    pct_buf_format(b, "%s (a column is %s%s)\n", pct_style(o, PCT_STYLE_PLAIN),
                   pct_text_time(number, (uint64_t)c->span),
                   has_mean(c) ? "" : "; what MPI_Pcontrol left out is empty");
}

void pct_print_series(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    struct course *c = pct_alloc(1, sizeof *c);
    struct pct_buf b = {0};
    c->d = d;
    c->begin_ns = UINT64_MAX;
    c->n_columns = columns_of(o->width);
    if (find_bins(c, &c->series, "series", names, PC_ARRAY_LEN(names))) {
        bool has_regions =
            find_bins(c, &c->regions, "series_regions", region_names, PC_ARRAY_LEN(region_names));
        c->span = (double)(c->end_ns - c->begin_ns) / c->n_columns;
        add_series(c);
        if (has_regions)
            add_regions(c);
        put_title(&b, c, o);
        put_figures(&b, c, o->utf8);
        put_lanes(&b, c, o->utf8);
        put_ranks(&b, c, o->utf8);
        fwrite(b.data, 1, strlen(b.data), out);
        pct_print_open(out, o->width, pct_data_open_calls(d)->ns, "without", 0);
    }
    pct_buf_free(&b);
    pct_free(c->lanes);
    pct_free(c);
}
