/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages of comparisons. A page of scaling has one table of its own: predictions of the model of
 * each context at the measured numbers of ranks, and at repeated doublings of the largest one.
 */
#include "view/compare_print.h"
#include "view/fit_lines.h"
#include "view/page.h"
#include "view/page_private.h"

#include <math.h>
#include <string.h>

static void put_files(struct pct_buf *b, const struct pct_run *runs, size_t n)
{
    pct_buf_text(b, "[");
    for (size_t i = 0; i < n; i++) {
        pct_buf_text(b, i ? ", " : "");
        pct_text_json(b, runs[i].path);
    }
    pct_buf_text(b, "]");
}

/* Appends a text to a list. */
static void put_text(void *list, const char *text)
{
    struct pct_buf *b = list;
    pct_buf_text(b, b->n ? ", " : "");
    pct_text_quote(b, text);
}

/* True if a path is this part of one, or ends in it behind a slash. */
static bool ends_in(const char *path, const char *part)
{
    size_t n = strlen(path), bytes = strlen(part);
    return n >= bytes && !strcmp(path + n - bytes, part) &&
           (n == bytes || path[n - bytes - 1] == '/');
}

/* The name of the file of a run, with as many folders as tell it apart from those of the others. */
static const char *telling_name(const struct pct_run *runs, size_t n, size_t at)
{
    const char *path = runs[at].path, *name = pc_base_name(path);
    for (size_t i = 0; i < n; i++)
        while (name > path && strcmp(runs[i].path, path) != 0 && ends_in(runs[i].path, name)) {
            name--;
            while (name > path && name[-1] != '/')
                name--;
        }
    return name;
}

/* Writes the names of the files, and the remarks on them, a list. */
static void put_head(struct pct_buf *b, const struct pct_run *runs, size_t n,
                     const struct pct_buf *remarks)
{
    struct pct_buf title = {0};
    for (size_t i = 0; i < n; i++)
        pct_buf_format(&title, "%s%s", i ? ", " : "", telling_name(runs, n, i));
    pct_buf_text(b, "\"file\": ");
    pct_text_json(b, title.data);
    pct_buf_format(b, ", \"warnings\": [%s], \"pattern\": null", remarks->n ? remarks->data : "");
    pct_buf_free(&title);
}

/* ---- Curves ---------------------------------------------------------------------------------- */

enum { DOUBLED = 4 };

struct curves {
    struct pct_data data; /* first: getters find the rest by it */
    double *ranks;        /* each number once, ascending */
    size_t n_ranks;
    size_t *row;               /* rows of the table of contexts that have a model */
    struct pct_fit_band *band; /* row * n_ranks + rank */
    size_t n_rows;
};

static const struct curves *curves_of(const struct pct_data *d)
{
    return (const struct curves *)d;
}

static size_t count_curves(const struct pct_data *d)
{
    return curves_of(d)->n_rows * curves_of(d)->n_ranks;
}

static void get_row(const struct pct_cell *c, struct pct_value *out)
{
    out->number = curves_of(c->d)->row[c->row / curves_of(c->d)->n_ranks];
}

static void get_ranks(const struct pct_cell *c, struct pct_value *out)
{
    out->number = (pc_u128)curves_of(c->d)->ranks[c->row % curves_of(c->d)->n_ranks];
}

enum { VALUE, LOW, HIGH };

static void get_time(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_fit_band *b = &curves_of(c->d)->band[c->row];
    double s = c->column->which == LOW ? b->low : c->column->which == HIGH ? b->high : b->value;
    out->number = pct_text_whole(s * 1e9);
}

static const struct pct_column curve_columns[] = {
    {"row", "row", PCT_COUNT, "row of the table contexts, from 0", get_row},
    {"ranks", "ranks", PCT_COUNT, "ranks of the job", get_ranks},
    {"time_s", "model", PCT_NS, "time per rank by the model", get_time, VALUE},
    {"low_s", "from", PCT_NS, "lower end of its interval", get_time, LOW},
    {"high_s", "to", PCT_NS, "upper end", get_time, HIGH},
};

static const struct pct_table curves_table = {
    .name = "curves",
    .doc = "one row for each context with a model and number of ranks",
    .count = count_curves,
    .columns = curve_columns,
    .n_columns = PC_ARRAY_LEN(curve_columns),
};

static void make_curves(struct curves *c, const struct pct_scale *s)
{
    size_t room = s->n_points + DOUBLED;
    *c = (struct curves){.ranks = pct_alloc(room, sizeof *c->ranks),
                         .row = pct_alloc(s->n_rows, sizeof *c->row),
                         .band = pct_alloc(s->n_rows * room, sizeof *c->band)};
    for (size_t i = s->points[pct_scale_last(s)].base; i < s->n_points; i++)
        c->ranks[c->n_ranks++] = s->points[i].width;
    for (unsigned i = 0; i < DOUBLED; i++, c->n_ranks++)
        c->ranks[c->n_ranks] = 2 * c->ranks[c->n_ranks - 1];
    for (size_t i = 0; i < s->n_rows; i++)
        if (pct_scale_bands(s, &s->rows[i], c->ranks, c->n_ranks, c->band + c->n_rows * c->n_ranks))
            c->row[c->n_rows++] = i;
}

static void free_curves(struct curves *c)
{
    pct_free(c->ranks);
    pct_free(c->row);
    pct_free(c->band);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

void pct_page_put_scale(FILE *out, const struct pct_scale *s)
{
    struct pct_data d = {.kind = PCT_DATA_SCALE, .scale = s, .pool = s->join->pool};
    struct pct_page page = {0};
    struct curves curves;
    struct pct_buf title = {0}, remarks = {0}, loss = {0};
    make_curves(&curves, s);
    curves.data = d;
    pct_buf_format(&title, "%s scaling of %s", s->scaling == PCT_SCALING_WEAK ? "Weak" : "Strong",
                   *s->runs[0].program ? pc_base_name(s->runs[0].program) : "the program");
    pct_scale_remarks(s, put_text, &remarks);
    pct_scale_remark_loss(s, put_text, &loss);
    pct_scale_remark_first(s, put_text, &loss);
    put_head(&page.head, s->runs, s->n_runs, &remarks);
    pct_buf_text(&page.head, ", \"title\": ");
    pct_text_json(&page.head, title.data);
    pct_buf_format(&page.head, ", \"loss\": [%s], \"moved\": %s, \"least\": %d, \"of\": \"%s\"",
                   loss.data, pct_scale_has_waits(s) ? "true" : "false", PCT_LEAST_SHARE,
                   pct_scale_unit(s, 0));
    for (size_t i = 0; i < pct_n_scale_tables; i++)
        pct_page_add(&page, pct_scale_tables[i].name, &pct_scale_tables[i], &d);
    pct_page_add(&page, curves_table.name, &curves_table, &curves.data);
    pct_page_write(out, &page);
    pct_buf_free(&title);
    pct_buf_free(&remarks);
    pct_buf_free(&loss);
    free_curves(&curves);
}

/* True: PCT_DELAY_STAYS is to be said, too. */
static bool put_side(struct pct_buf *b, const struct pct_diff *diff, bool after)
{
    const struct pct_run *runs = diff->runs + (after ? diff->n_before : 0);
    const struct pct_diff_side *time = pct_diff_time(diff, after);
    struct pct_buf delay = {0}, command = {0}, of = {0};
    bool stays = pct_diff_delay_put(&delay, diff, after);
    pct_diff_command_put(&command, diff, after);
    pct_diff_time_put(&of, diff, after);
    pct_buf_format(b, "\"%s\": {\"files\": ", after ? "after" : "before");
    put_files(b, runs, after ? diff->n_after : diff->n_before);
    pct_buf_text(b, ", \"command\": ");
    pct_text_quote(b, command.data);
    pct_buf_format(b,
                   ", \"ranks\": %u, \"time\": %.0f, \"error\": %.0f, \"of\": \"%s\", \"delay\": ",
                   runs[0].n_ranks, time->mean, time->error, of.data);
    pct_text_quote(b, delay.data);
    pct_buf_text(b, "}, ");
    pct_buf_free(&delay);
    pct_buf_free(&command);
    pct_buf_free(&of);
    return stays;
}

static void put_told(void *list, const char *name, const char *before, const char *after)
{
    struct pct_buf *b = list;
    pct_buf_format(b, "%s[\"%s\", \"%s\", \"%s\"]", b->n ? ", " : "", name, before, after);
}

void pct_page_put_diff(FILE *out, const struct pct_diff *diff)
{
    struct pct_data d = {.kind = PCT_DATA_DIFF, .diff = diff, .pool = diff->join->pool};
    struct pct_page page = {0};
    struct pct_buf *b = &page.head, remarks = {0}, init = {0}, run = {0}, told = {0};
    pct_programs_remarks(diff->join, diff->runs, put_text, &remarks);
    pct_diff_remarks(diff, put_text, &remarks);
    put_head(b, diff->runs, diff->n_before + diff->n_after, &remarks);
    pct_buf_free(&remarks);
    pct_buf_text(b, ", \"difference\": {");
    bool stays = put_side(b, diff, false);
    stays |= put_side(b, diff, true);
    pct_diff_init_put(&init, diff);
    pct_buf_format(b, "\"init\": \"%s\", ", init.data);
    pct_buf_free(&init);
    pct_diff_run_put(&run, diff);
    pct_buf_text(&run, " ");
    pct_diff_total_put(&run, diff);
    pct_diff_told(diff, put_told, &told);
    pct_buf_format(b, "\"told\": {\"title\": \"%s\", \"rows\": [%s]}, ", pct_diff_told_title(diff),
                   told.data);
    pct_buf_free(&told);
    pct_buf_text(b, "\"text\": ");
    pct_text_json(b, run.data);
    pct_buf_free(&run);
    pct_buf_format(b, ", \"repeated\": %s, \"delay_stays\": ", diff->repeated ? "true" : "false");
    pct_text_json(b, stays ? PCT_DELAY_STAYS : "");
    pct_buf_format(b, "}, \"least\": %d", PCT_LEAST_SHARE);
    pct_page_add(&page, "difference", &pct_diff_table, &d);
    pct_page_write(out, &page);
}
