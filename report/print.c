/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text report as a whole: head, table of primitives, tree of contexts; single tables; and the
 * small things that they share.
 */
#include "report/report_private.h"

#include <stdlib.h>
#include <string.h>

const char *pct_style(const struct pct_options *o, enum pct_style style)
{
    static const char *const codes[] = {
        [PCT_STYLE_PLAIN] = "\033[0m", [PCT_STYLE_TITLE] = "\033[1m", [PCT_STYLE_HOT] = "\033[31m",
        [PCT_STYLE_WARM] = "\033[33m", [PCT_STYLE_DIM] = "\033[2m",   [PCT_STYLE_NAME] = "\033[36m",
    };
    return o->color ? codes[style] : "";
}

/* ---- Pictures ---------------------------------------------------------------------------------
 */

/* Level 0 is nothing at all, 8 the greatest; whatever is more than nothing is at least 1. */
void pct_print_level(struct pct_buf *b, unsigned level, bool utf8)
{
    static const char ascii[] = " .:-=+*%#";
    if (utf8 && level)
        pct_buf_put(b, (char[]){(char)0xe2, (char)0x96, (char)(0x80 + level)}, 3);
    else
        pct_buf_put(b, &ascii[level], 1);
}

void pct_print_bar(struct pct_buf *b, const uint64_t *values, size_t n, bool utf8)
{
    uint64_t means[PCT_BAR_CELLS], greatest = 0;
    size_t n_cells = n < PCT_BAR_CELLS ? n : PCT_BAR_CELLS;
    for (size_t k = 0; k < n_cells; k++) {
        size_t first = n * k / n_cells, end = n * (k + 1) / n_cells;
        pc_u128 sum = 0;
        for (size_t i = first; i < end; i++)
            sum += values[i];
        means[k] = (uint64_t)(sum / (end - first));
        greatest = means[k] > greatest ? means[k] : greatest;
    }
    for (size_t k = 0; k < n_cells; k++) {
        unsigned level =
            greatest ? (unsigned)(((pc_u128)means[k] * 8 + greatest / 2) / greatest) : 0;
        pct_print_level(b, level || !means[k] ? level : 1, utf8);
    }
    pct_buf_fill(b, ' ', PCT_BAR_CELLS - n_cells);
}

struct pct_picture {
    const struct pct_data *d;
    const struct pct_table *table;
    bool utf8;
    uint64_t *values;
    bool *present;
};

struct pct_picture *pct_picture_new(const struct pct_data *d, const struct pct_table *t, bool utf8)
{
    size_t n = d->profile ? d->profile->n_ranks : 0;
    if (n < 2 || !t->picture)
        return NULL;
    struct pct_picture *p = pct_alloc(1, sizeof *p);
    *p = (struct pct_picture){d, t, utf8, pct_alloc(n, sizeof *p->values),
                              pct_alloc(n, sizeof *p->present)};
    return p;
}

void pct_picture_put(void *picture, size_t row, struct pct_buf *b)
{
    const struct pct_picture *p = picture;
    size_t n = p->d->profile->n_ranks;
    memset(p->values, 0, n * sizeof *p->values);
    p->table->picture(p->table, p->d, row, p->values, p->present);
    pct_print_bar(b, p->values, n, p->utf8);
}

void pct_picture_free(struct pct_picture *p)
{
    if (!p)
        return;
    free(p->values);
    free(p->present);
    free(p);
}

/* ---- Primitives -------------------------------------------------------------------------------
 */

struct bars {
    const struct pct_data *d;
    bool utf8, wide;
    uint64_t *values; /* by primitive and rank */
};

static void fill_bars(struct bars *bars)
{
    const struct pc_profile *p = bars->d->profile;
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    bars->values = pct_alloc((size_t)p->n_ops * p->n_ranks, sizeof *bars->values);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t op = p->nodes[pct_model_call(p, i)].op;
        if (op != PC_NO_INDEX)
            pct_model_add_ranks(bars->d->model, i, PCT_TIME, bars->values + (size_t)op * p->n_ranks,
                                present);
    }
    free(present);
}

/* The picture, and with room for it the rank with the greatest time. */
static void put_rank_bar(void *arg, size_t row, struct pct_buf *b)
{
    const struct bars *bars = arg;
    size_t n = bars->d->profile->n_ranks;
    char number[PCT_NUMBER_BYTES];
    struct pct_spread time = pct_model_op_time(bars->d->model, (uint32_t)row);
    pct_print_bar(b, bars->values + row * n, n, bars->utf8);
    if (bars->wide && n > 1 && time.n)
        pct_buf_format(b, " %s on %d", pct_text_time(number, time.max), time.max_rank);
}

static void print_primitives(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    enum { SHOWN = 20 };
    static const char *const all[] = {"primitive",      "calls",  "time_s", "mpi_percent",
                                      "wall_percent",   "mean_s", "max_s",  "bytes_sent",
                                      "bytes_received", NULL};
    static const char *const few[] = {"primitive",   "calls",          "time_s",
                                      "mpi_percent", "wall_percent",   "mean_s",
                                      "bytes_sent",  "bytes_received", NULL};
    bool wide = !o->width || o->width >= 125;
    const struct pct_table *t = pct_table_find("primitives");
    struct pct_choice choice = o->choice;
    choice.min_percent = o->has_min_percent ? choice.min_percent : 0;
    struct pct_rows rows = pct_table_rows(t, d, &choice);
    struct bars bars = {.d = d, .utf8 = o->utf8, .wide = wide};
    struct pct_aligned how = {.names = wide ? all : few,
                              .indent = "  ",
                              .max_rows = SHOWN,
                              .utf8 = o->utf8,
                              .more_head = wide ? "by rank  most, on rank" : "by rank",
                              .more = put_rank_bar,
                              .arg = &bars};
    if (!rows.n && !rows.n_hidden) {
        pct_rows_free(&rows);
        return;
    }
    fill_bars(&bars);
    fprintf(out, "\n%sMPI functions%s (sums over %u %s)\n", pct_style(o, PCT_STYLE_TITLE),
            pct_style(o, PCT_STYLE_PLAIN), d->profile->n_ranks,
            d->profile->n_ranks == 1 ? "rank" : "ranks");
    pct_table_aligned(out, t, d, &rows, &how);
    size_t hidden = rows.n_hidden + (rows.n > SHOWN ? rows.n - SHOWN : 0);
    if (hidden)
        fprintf(out, "  and %zu more: --table primitives shows them\n", hidden);
    free(bars.values);
    pct_rows_free(&rows);
}

/* What the column is in the tree, where every figure includes what is below. */
static enum pct_metric metric_of(const char *column)
{
    static const char *const names[PCT_N_METRICS] = {[PCT_CALLS] = "calls",
                                                     [PCT_TIME] = "time_s",
                                                     [PCT_SENT] = "bytes_sent",
                                                     [PCT_RECEIVED] = "bytes_received",
                                                     [PCT_EXCLUSIVE] = "exclusive_s"};
    for (unsigned k = 0; column && k < PCT_N_METRICS; k++) {
        if (!strcmp(names[k], column + (*column == '-')))
            return (enum pct_metric)k;
    }
    return PCT_TIME;
}

void pct_print_text(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    pct_print_head(out, d, o);
    print_primitives(out, d, o);
    pct_print_series(out, d, o);
    pct_print_outline(out, d, o, o->choice.sort ? metric_of(o->choice.sort) : o->metric);
    pct_print_samples(out, d, o);
    pct_print_estimates(out, d, o);
}

void pct_print_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                     const struct pct_options *o)
{
    if (o->format == PCT_FORMAT_MD) {
        pct_markdown_table(out, d, t, o);
        return;
    }
    if (o->format == PCT_FORMAT_TSV) {
        pct_table_tsv(out, t, d, &o->choice);
        return;
    }
    struct pct_rows rows = pct_table_rows(t, d, &o->choice);
    struct pct_picture *picture = o->choice.columns ? NULL : pct_picture_new(d, t, o->utf8);
    struct pct_aligned how = {.choice = &o->choice,
                              .indent = "",
                              .width = o->width,
                              .utf8 = o->utf8,
                              .more_head = "by rank",
                              .more = picture ? pct_picture_put : NULL,
                              .arg = picture};
    pct_table_aligned(out, t, d, &rows, &how);
    pct_picture_free(picture);
    pct_rows_free(&rows);
}

/* A table of a plugin, whose columns are known only now. */
static int print_rows_table(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    struct pct_rows_table t;
    pct_rows_table(&t, d, pc_profile_table(d->profile, o->table_name));
    if (pct_choice_check(&o->choice, &t.table, "report"))
        return -1;
    if (o->format == PCT_FORMAT_JSON)
        pct_print_json(out, d, o);
    else
        pct_print_table(out, &t.data, &t.table, o);
    return 0;
}

int pct_print(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    if (o->table_name && !o->table)
        return print_rows_table(out, d, o);
    if (o->format == PCT_FORMAT_JSON)
        pct_print_json(out, d, o);
    else if (o->table)
        pct_print_table(out, d, o->table, o);
    else if (o->format == PCT_FORMAT_MD)
        pct_print_markdown(out, d, o);
    else
        pct_print_text(out, d, o);
    return 0;
}
