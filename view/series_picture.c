/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The course of the run as pictures: from the table `series` (plugins/comm/series_plugin.c), whose
 * bins are laid out on as many columns as the picture has. A bin that is wider than a column or
 * lies across two gives each its part.
 *
 * The share of MPI is scaled to 100 %, calls and bytes to the greatest column, which is written
 * behind the picture.
 */
#include "view/report_print.h"

#include <string.h>

enum { COLUMNS = 60, MOST_RANKS = 8 };

enum { CALLS, SENT, RECEIVED, TIME_IN_MPI, N_FIGURES };

static const char *const names[] = {"rank",       "start",          "width",   "calls",
                                    "bytes_sent", "bytes_received", "mpi_time"};
enum { RANK, START, WIDTH, FIRST_FIGURE };

struct course {
    const struct pc_profile_table *table;
    uint32_t column[PC_ARRAY_LEN(names)];
    uint64_t begin_ns, end_ns;
    double all[N_FIGURES][COLUMNS];
    int64_t ranks[MOST_RANKS];
    unsigned n_ranks;                    /* shown on their own */
    double of_rank[MOST_RANKS][COLUMNS]; /* TIME_IN_MPI */
};

static uint64_t cell(const struct course *c, uint32_t row, unsigned what)
{
    return pc_table_cell(c->table, row, c->column[what]);
}

/* False: no such table, or not as it should be; what comes from a file is not trusted. */
static bool find_course(const struct pct_data *d, struct course *c)
{
    c->table = pc_profile_table(d->profile, "series");
    if (!c->table || !c->table->n_rows)
        return false;
    for (unsigned k = 0; k < PC_ARRAY_LEN(names); k++) {
        c->column[k] = pc_table_column(c->table, names[k],
                                       k == RANK ? PCOLLECT_COLUMN_RANK : PCOLLECT_COLUMN_NUMBER);
        if (c->column[k] == PC_NO_INDEX)
            return false;
    }
    c->begin_ns = UINT64_MAX;
    for (uint32_t i = 0; i < c->table->n_rows; i++) {
        uint64_t start = cell(c, i, START), width = cell(c, i, WIDTH);
        if (!width || start + width < start)
            return false;
        c->begin_ns = start < c->begin_ns ? start : c->begin_ns;
        c->end_ns = start + width > c->end_ns ? start + width : c->end_ns;
    }
    return true;
}

/* Ranks that get a picture of their own: the first that there are. */
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

static void add_row(struct course *c, uint32_t row)
{
    double span = (double)(c->end_ns - c->begin_ns) / COLUMNS;
    double from = (double)(cell(c, row, START) - c->begin_ns) / span;
    double to = from + (double)cell(c, row, WIDTH) / span;
    int rank = place_of(c, (int64_t)cell(c, row, RANK));
    for (unsigned k = (unsigned)from; k < COLUMNS && k < to; k++) {
        double lo = from > k ? from : k, hi = to < k + 1 ? to : k + 1;
        double part = (hi - lo) / (to - from);
        for (unsigned f = 0; f < N_FIGURES; f++)
            c->all[f][k] += part * (double)cell(c, row, FIRST_FIGURE + f);
        if (rank >= 0)
            c->of_rank[rank][k] += part * (double)cell(c, row, FIRST_FIGURE + TIME_IN_MPI);
    }
}

static double greatest(const double *values)
{
    double most = 0;
    for (unsigned k = 0; k < COLUMNS; k++)
        most = values[k] > most ? values[k] : most;
    return most;
}

static double mean(const double *values)
{
    double sum = 0;
    for (unsigned k = 0; k < COLUMNS; k++)
        sum += values[k] / COLUMNS;
    return sum;
}

static void put_picture(struct pct_buf *b, const char *name, const double *values, double full,
                        bool utf8)
{
    pct_buf_format(b, "  %s", name);
    pct_buf_fill(b, ' ', strlen(name) < 14 ? 14 - strlen(name) : 1);
    for (unsigned k = 0; k < COLUMNS; k++) {
        double level = full > 0 ? values[k] / full * 8 + 0.5 : 0;
        unsigned cells = level > 8 ? 8 : (unsigned)level;
        pct_print_level(b, cells || values[k] <= 0 ? cells : 1, utf8);
    }
}

void pct_print_series(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    struct course *c = pct_alloc(1, sizeof *c);
    struct pct_buf b = {0};
    char number[PCT_NUMBER_BYTES];
    if (find_course(d, c)) {
        for (uint32_t i = 0; i < c->table->n_rows; i++)
            add_row(c, i);
        double span = (double)(c->end_ns - c->begin_ns) / COLUMNS, ranks = d->profile->n_ranks;
        fprintf(out, "\n%sOver time%s (a column is %s)\n", pct_style(o, PCT_STYLE_TITLE),
                pct_style(o, PCT_STYLE_PLAIN), pct_text_time(number, (uint64_t)span));
        put_picture(&b, "in MPI", c->all[TIME_IN_MPI], span * ranks, o->utf8);
        pct_buf_format(&b, "  mean %.1f %%, most %.1f %%\n",
                       100 * mean(c->all[TIME_IN_MPI]) / (span * ranks),
                       100 * greatest(c->all[TIME_IN_MPI]) / (span * ranks));
        put_picture(&b, "calls", c->all[CALLS], greatest(c->all[CALLS]), o->utf8);
        pct_buf_format(&b, "  most %.0f a second\n", greatest(c->all[CALLS]) / span * 1e9);
        put_picture(&b, "bytes sent", c->all[SENT], greatest(c->all[SENT]), o->utf8);
        pct_buf_format(&b, "  most %s a second\n",
                       pct_text_bytes(number, (uint64_t)(greatest(c->all[SENT]) / span * 1e9)));
        for (unsigned k = 0; c->n_ranks > 1 && k < c->n_ranks; k++) {
            char name[32];
            snprintf(name, sizeof name, "rank %lld", (long long)c->ranks[k]);
            put_picture(&b, name, c->of_rank[k], span, o->utf8);
            pct_buf_format(&b, "  mean %.1f %%\n", 100 * mean(c->of_rank[k]) / span);
        }
        fwrite(b.data, 1, strlen(b.data), out);
    }
    pct_buf_free(&b);
    pct_free(c);
}
