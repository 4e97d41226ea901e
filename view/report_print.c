/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text report as a whole: head, table of primitives, tree of contexts; and single tables.
 */
#include "view/report_print.h"
#include "view/fit_lines.h"
#include "view/sentence.h"

#include <string.h>

/* ---- Primitives ------------------------------------------------------------------------------ */

struct bars {
    const struct pct_data *d;
    bool utf8, wide;
};

/* The picture, and with room for it the rank with the greatest time. */
static void put_rank_bar(void *arg, size_t row, struct pct_buf *b)
{
    const struct bars *bars = arg;
    size_t n = bars->d->profile->n_ranks;
    char number[PCT_NUMBER_BYTES];
    struct pct_spread time = pct_totals_op_time(bars->d->totals, (uint32_t)row);
    pct_print_bar(b, pct_totals_op_values(bars->d->totals, (uint32_t)row), n, bars->utf8);
    if (bars->wide && n > 1 && time.n)
        pct_buf_format(b, " %s on %d", pct_text_time(number, time.max), time.max_rank);
}

static void print_primitives(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    enum { SHOWN = 20 };
    static const char *const all[] = {"primitive",      "calls",  "time_s", "mpi_exclusive_percent",
                                      "wall_percent",   "mean_s", "max_s",  "bytes_sent",
                                      "bytes_received", NULL};
    static const char *const dropped[] = {"max_s", "wall_percent", "bytes_received", "mean_s",
                                          NULL};
    bool wide = !o->width || o->width >= 125;
    const struct pct_table *t = pct_table_find("primitives");
    struct pct_choice choice = o->choice;
    choice.min_percent = o->has_min_percent ? choice.min_percent : 0;
    struct pct_rows rows = pct_table_rows(t, d, &choice);
    /* A line that says "1 more" is no shorter than the row. */
    size_t shown = rows.n == SHOWN + 1 && !rows.n_hidden ? SHOWN + 1 : SHOWN;
    struct bars bars = {.d = d, .utf8 = o->utf8, .wide = wide};
    struct pct_aligned how = {.names = all,
                              .dropped = wide ? NULL : dropped,
                              .width = o->width,
                              .indent = "  ",
                              .max_rows = shown,
                              .people = {o->utf8, o->full_names},
                              .more_head = wide ? "by rank  most, on rank" : "by rank",
                              .more_cells = PCT_BAR_CELLS,
                              .more = put_rank_bar,
                              .arg = &bars};
    bool none = !d->profile->n_comm || (!rows.n && !rows.n_hidden);
    if (none) {
        pct_rows_free(&rows);
        return;
    }
    char ranks[PCT_NUMBER_BYTES];
    fprintf(out, "\n%sMPI functions%s (sums over %s %s)\n", pct_style(o, PCT_STYLE_TITLE),
            pct_style(o, PCT_STYLE_PLAIN), pct_text_count(ranks, d->profile->n_ranks),
            d->profile->n_ranks == 1 ? "rank" : "ranks");
    pct_table_aligned(out, t, d, &rows, &how);
    size_t hidden = rows.n_hidden + (rows.n > shown ? rows.n - shown : 0);
    if (hidden)
        fprintf(out, "  and %s more: --table primitives shows them\n",
                pct_text_count(ranks, hidden));
    pct_print_open(out, o->width, pct_data_open_calls(d)->ns, "without", pct_data_mpi_ns(d));
    pct_rows_free(&rows);
}

/* The metric of a column in the tree, where figures are inclusive. */
static enum pct_metric metric_of(const char *column)
{
    static const char *const names[PCT_N_METRICS] = {[PCT_CALLS] = "calls",
                                                     [PCT_TIME] = "time_s",
                                                     [PCT_SENT] = "bytes_sent",
                                                     [PCT_RECEIVED] = "bytes_received",
                                                     [PCT_EXCLUSIVE] = "mpi_exclusive_s"};
    for (unsigned k = 0; column && k < PCT_N_METRICS; k++) {
        if (!strcmp(names[k], column + (*column == '-')))
            return (enum pct_metric)k;
    }
    return PCT_TIME;
}

static void print_steps(FILE *out, bool steps)
{
    if (steps)
        fputs("  Times of ranks are within 0.8 % of what was measured.\n", out);
}

/* Prints the groups of ranks that differ from one another. */
static void print_classes(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    enum { SHOWN = 8 };
    static const char *const all[] = {"class",       "n_ranks", "compute_s", "primitive", "there_s",
                                      "all_there_s", "error_s", "ranks",     NULL};
    const struct pct_rank_classes *c = pct_data_rank_classes(d);
    const struct pct_table *t = pct_table_find("classes");
    if (c->n < 2)
        return;
    struct pct_rows rows = pct_table_rows(t, d, NULL);
    struct pct_aligned how = {.names = all,
                              .width = o->width,
                              .indent = "  ",
                              .max_rows = SHOWN,
                              .people = {o->utf8, o->full_names}};
    fprintf(out,
            "\n%sClasses of ranks%s (%u groups that spend their time alike; means of a rank)\n",
            pct_style(o, PCT_STYLE_TITLE), pct_style(o, PCT_STYLE_PLAIN), c->n);
    pct_table_aligned(out, t, d, &rows, &how);
    if (rows.n > SHOWN)
        fprintf(out, "  and %zu more: --table classes shows them\n", rows.n - SHOWN);
    print_steps(out, c->in_steps);
    pct_rows_free(&rows);
}

void pct_print_text(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    pct_print_head(out, d, o);
    if (pct_data_calls_mpi(d))
        print_primitives(out, d, o);
    print_classes(out, d, o);
    pct_print_series(out, d, o);
    pct_print_hottest(out, d, o);
    pct_data_forget_tree(d); /* the one that follows is of another grain */
    if (pct_data_calls_mpi(d) || pct_data_samples(d)->all.samples)
        pct_print_tree(out, d, o, o->choice.sort ? metric_of(o->choice.sort) : o->metric);
    pct_print_estimates(out, d, o);
}

/* Columns that a table of text drops, one after the other, where it has no room; NULL: none. */
static const char *const *dropped_of(const struct pct_table *t, const struct pct_options *o)
{
    static const char *const sums[] = {"mpi_exclusive_percent", "calls", "mpi_inclusive_s",
                                       "cpu_inclusive_s", NULL};
    static const char *const ranks[] = {
        "later_s",       "turns_s",     "for_mpi_s", "lost",     "closed",  "merge_s",  "after_s",
        "before_init_s", "mpi_main_s",  "pid",       "complete", "threads", "inside_s", "waiting_s",
        "mpi_calls",     "mpi_percent", "compute_s", "host",     NULL};
    static const char *const programs[] = {
        "compute_min_rank", "compute_max_rank", "compute_mean_s", "n_ranks",
        "compute_min_s",    "compute_max_s",    "mpi_main_s",     NULL};
    static const char *const outline[] = {"bytes_sent", "bytes_received", "time_s", NULL};
    static const char *const threads[] = {"threads", "of_mean_percent", "mpi_calls", "name", NULL};
    if (!strcmp(t->name, "ranks"))
        return ranks;
    if (!strcmp(t->name, "programs"))
        return programs;
    if (!strcmp(t->name, "thread_times"))
        return threads;
    if (t->outline)
        return outline;
    return o->by ? sums : NULL;
}

/* Returns the number of rows that the choice leaves out. */
static size_t print_aligned(FILE *out, const struct pct_data *d, const struct pct_table *t,
                            const struct pct_options *o, const struct pct_choice *choice,
                            const struct pct_column *level)
{
    struct pct_rows rows = pct_table_rows(t, d, choice);
    struct pct_picture *picture = o->choice.columns ? NULL : pct_picture_new(d, t, o->utf8);
    struct pct_aligned how = {.choice = choice,
                              .level = level,
                              .indent = "",
                              .dropped = o->choice.columns ? NULL : dropped_of(t, o),
                              .width = o->width,
                              .people = {o->utf8, o->full_names},
                              .more_head = "by rank",
                              .more_cells = PCT_BAR_CELLS,
                              .more = picture ? pct_picture_put : NULL,
                              .arg = picture,
                              .filled = !o->choice.columns &&
                                        d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE};
    size_t n_hidden = rows.n_hidden;
    pct_table_aligned(out, t, d, &rows, &how);
    if (!rows.n && n_hidden)
        fprintf(out, "(none of %zu %s is left by the options)\n", n_hidden,
                n_hidden == 1 ? "row" : "rows");
    else if (!rows.n)
        fprintf(out, "(no rows: %s)\n",
                !strcmp(t->name, "thread_times") && d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE
                    ? "`pcollect record` keeps no times of threads; `pcollect run` does"
                    : "the profile has nothing for this table");
    pct_picture_free(picture);
    pct_rows_free(&rows);
    return n_hidden;
}

/* ---- Tables of the nodes of a tree ----------------------------------------------------------- */

struct outline {
    const struct pct_data *d;
    const struct pct_table *t;
    const struct pct_options *o;
};

static void put_outline(void *arg, FILE *out, unsigned least)
{
    const struct outline *l = arg;
    struct pct_choice choice = l->o->choice;
    char share[PCT_NUMBER_BYTES], count[PCT_NUMBER_BYTES];
    choice.min_percent = least;
    choice.columns = l->t->outline;
    size_t n_hidden = print_aligned(out, l->d, l->t, l->o, &choice, pct_column_find(l->t, "level"));
    if (n_hidden && !l->o->has_min_percent)
        pct_print_sentence(out, l->o->width, 0,
                           "(left out: %s %s with less than %s; --min-percent 0 shows all)",
                           pct_text_count(count, n_hidden), n_hidden == 1 ? "row" : "rows",
                           pct_text_percent_1(share, least));
}

/* Prints as many rows as a screen has room for, unless the user has said how many. */
static void print_outline(FILE *out, const struct pct_data *d, const struct pct_table *t,
                          const struct pct_options *o)
{
    enum { MOST_ROWS = 40, LINES_AROUND = 2 };
    struct outline l = {d, t, o};
    if (o->has_min_percent || t->count(d) <= MOST_ROWS)
        put_outline(&l, out, (unsigned)o->choice.min_percent);
    else
        pct_print_fitting(out, MOST_ROWS + LINES_AROUND, put_outline, &l);
}

void pct_print_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                     const struct pct_options *o)
{
    if (o->format == PCT_FORMAT_JSON)
        pct_print_json_table(out, d, t, o);
    else if (o->format == PCT_FORMAT_MD)
        pct_markdown_table(out, d, t, o);
    else if (o->format == PCT_FORMAT_TSV)
        pct_table_tsv(out, t, d, &o->choice);
    else if (o->format == PCT_FORMAT_CSV)
        pct_table_csv(out, t, d, &o->choice);
    else if (t->outline && !o->choice.columns && !o->choice.sort && !o->choice.n_where)
        print_outline(out, d, t, o);
    else
        print_aligned(out, d, t, o, &o->choice, NULL);
}

/* Prints a table whose columns depend on the profile. */
static int print_made_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                            const struct pct_options *o, struct pct_buf *why)
{
    if (pct_choice_check(&o->choice, t, why))
        return -1;
    pct_print_table(out, d, t, o);
    return 0;
}

static int print_rows_table(FILE *out, const struct pct_data *d, const struct pct_options *o,
                            struct pct_buf *why)
{
    struct pct_rows_table t;
    pct_rows_table(&t, d, pc_profile_table_in_order(d->profile, o->table_name));
    return print_made_table(out, &t.data, &t.table, o, why);
}

static bool shows_places(const struct pct_table *t, const struct pct_choice *choice)
{
    static const char *const names[] = {"function", "file", "line", "place", "finding"};
    size_t n;
    const struct pct_column **columns = pct_choice_columns(choice, t, false, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        any |= columns[i]->labels || columns[i]->nodes;
        for (size_t k = 0; k < PC_ARRAY_LEN(names); k++)
            any |= !strcmp(columns[i]->name, names[k]);
    }
    pct_free(columns);
    return any;
}

bool pct_print_shows_places(const struct pct_data *d, const struct pct_options *o)
{
    if (o->by) {
        struct pct_cube cube;
        pct_cube_make(&cube, d, o->by, o->table_name);
        bool any = shows_places(&cube.table, &o->choice);
        pct_cube_free(&cube);
        return any;
    }
    if (o->table_name && !o->table) {
        struct pct_rows_table t;
        pct_rows_table(&t, d, pc_profile_table_in_order(d->profile, o->table_name));
        return shows_places(&t.table, &o->choice);
    }
    return !o->table || shows_places(o->table, &o->choice);
}

bool pct_names_regions(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        const char *name = n->kind == PCOLLECT_NODE_REGION ? pc_profile_region(p, n->offset) : NULL;
        if (name && strcmp(name, PCOLLECT_HELPERS_REGION) != 0)
            return true;
    }
    return false;
}

const char *pct_no_regions(const struct pc_profile *p)
{
    bool recorded = p->n_ranks && p->ranks[0].notes & PCOLLECT_NOTE_OUTSIDE;
    return recorded ? "the samples are of one program; in a recording each of several is a region"
                    : "the program names no regions; pcollect_region_begin of "
                      "pcollect/pcollect.h names one";
}

static bool has_communicators(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].kind == PCOLLECT_NODE_DOMAIN)
            return true;
    return false;
}

/* Says what is in rows without a communicator, and why rows are not told apart by communicators or
 * regions. */
static void print_missing_keys(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    if (o->by & PCT_KEY_COMMUNICATOR && !has_communicators(d->whole))
        pct_print_sentence(out, o->width, 2,
                           "  the profile does not tell communicators apart; the plugin domain "
                           "does");
    else if (o->by & PCT_KEY_COMMUNICATOR)
        pct_print_sentence(out, o->width, 2,
                           "  without a communicator: calls that name none, such as MPI_Waitall "
                           "for requests on any, and what is outside MPI");
    if (o->by & PCT_KEY_REGION && !pct_names_regions(d->whole))
        pct_print_sentence(out, o->width, 2, "  %s", pct_no_regions(d->whole));
}

static int print_cube(FILE *out, const struct pct_data *d, const struct pct_options *o,
                      struct pct_buf *why)
{
    struct pct_cube cube;
    pct_cube_make(&cube, d, o->by, o->table_name);
    int err = print_made_table(out, &cube.data, &cube.table, o, why);
    if (!err && o->format == PCT_FORMAT_TEXT && o->by & PCT_KEY_RANK)
        print_steps(out, pc_profile_has_steps(d->profile));
    if (!err && o->format == PCT_FORMAT_TEXT)
        print_missing_keys(out, d, o);
    pct_cube_free(&cube);
    return err;
}

int pct_print(FILE *out, const struct pct_data *d, const struct pct_options *o, struct pct_buf *why)
{
    if (o->by)
        return print_cube(out, d, o, why);
    if (o->table_name && !o->table)
        return print_rows_table(out, d, o, why);
    if (o->table)
        pct_print_table(out, d, o->table, o);
    else if (o->format == PCT_FORMAT_JSON)
        pct_print_json(out, d, o);
    else if (o->format == PCT_FORMAT_MD)
        pct_print_markdown(out, d, o);
    else
        pct_print_text(out, d, o);
    return 0;
}
