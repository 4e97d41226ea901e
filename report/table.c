/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is the same for all tables: rows, order, output as tab-separated values and as aligned
 * columns. Which tables there are: columns.c.
 */
#include "report/choice.h"
#include "report/counters/estimate.h"

#include <stdlib.h>
#include <string.h>

const struct pct_table *pct_table_find(const char *name)
{
    for (size_t i = 0; i < pct_n_tables; i++) {
        if (!strcmp(pct_tables[i].name, name))
            return &pct_tables[i];
    }
    return NULL;
}

const struct pct_column *pct_column_find(const struct pct_table *t, const char *name)
{
    name += *name == '-';
    for (size_t i = 0; i < t->n_columns; i++) {
        if (!strcmp(t->columns[i].name, name))
            return &t->columns[i];
    }
    return NULL;
}

void pct_value_text(const struct pct_data *d, const char *text, struct pct_value *out)
{
    struct pct_buf b = {0};
    out->none = !text || !*text;
    if (out->none)
        return;
    pct_text_escape(&b, text, PCT_ESCAPE_CELL);
    out->text = pct_pool_intern(d->pool, b.data);
    pct_buf_free(&b);
}

struct pct_value pct_table_value(const struct pct_column *c, const struct pct_data *d, size_t row)
{
    struct pct_value v = {0};
    c->get(&(struct pct_cell){d, row, c}, &v);
    if (c->type == PCT_TEXT && !v.text)
        v.none = true;
    return v;
}

/* ---- Rows -------------------------------------------------------------------------------------
 */

struct key {
    struct pct_value value;
    size_t row;
};

static int compare_numbers(pc_u128 a, pc_u128 b)
{
    return a < b ? -1 : a > b;
}

static int compare_up(const struct key *x, const struct key *y)
{
    if (x->value.none != y->value.none)
        return x->value.none ? 1 : -1;
    if (x->value.none)
        return 0;
    int c = x->value.text && y->value.text ? strcmp(x->value.text, y->value.text) : 0;
    if (!c)
        c = compare_numbers(y->value.number, x->value.number);
    if (!c)
        c = x->value.integer < y->value.integer ? -1 : x->value.integer > y->value.integer;
    return c;
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int c = compare_up(x, y);
    return c ? c : compare_numbers(x->row, y->row);
}

static int compare_keys_reversed(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int c = x->value.none || y->value.none ? compare_up(x, y) : compare_up(y, x);
    return c ? c : compare_numbers(x->row, y->row);
}

struct pct_rows pct_table_rows(const struct pct_table *t, const struct pct_data *d,
                               const struct pct_choice *choice)
{
    struct pct_rows rows = {0};
    size_t n = t->count(d);
    struct key *keys = pct_alloc(n, sizeof *keys);
    struct pct_conditions *conditions = pct_conditions_new(choice, t);
    const char *sort = choice ? choice->sort : NULL;
    sort = sort && pct_column_find(t, sort) ? sort : t->sort;
    for (size_t i = 0; i < n; i++) {
        if (!pct_conditions_hold(conditions, d, i)) {
            rows.n_hidden++;
            continue;
        }
        keys[rows.n].row = i;
        if (sort)
            keys[rows.n].value = pct_table_value(pct_column_find(t, sort), d, i);
        rows.n++;
    }
    if (sort && rows.n)
        qsort(keys, rows.n, sizeof *keys, *sort == '-' ? compare_keys_reversed : compare_keys);
    rows.index = pct_alloc(rows.n, sizeof *rows.index);
    for (size_t i = 0; i < rows.n; i++)
        rows.index[i] = keys[i].row;
    free(keys);
    pct_conditions_free(conditions);
    return rows;
}

void pct_rows_free(struct pct_rows *rows)
{
    free(rows->index);
    *rows = (struct pct_rows){0};
}

/* ---- Values -----------------------------------------------------------------------------------
 */

static void put_sign(struct pct_buf *b, int64_t v, const char *plus)
{
    pct_buf_text(b, v < 0 ? "-" : v ? plus : "");
}

static pc_u128 size_of(int64_t v)
{
    return v < 0 ? (pc_u128)0 - (pc_u128)v : (pc_u128)v;
}

void pct_value_raw(const struct pct_column *c, const struct pct_value *v, struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_put(b, "", 0);
    if (v->none)
        return;
    switch (c->type) {
    case PCT_TEXT:
        pct_buf_text(b, v->text);
        break;
    case PCT_COUNT:
    case PCT_BYTES:
        pct_buf_text(b, pct_text_u128(number, v->number));
        break;
    case PCT_NS:
        pct_buf_text(b, pct_text_seconds(number, v->number));
        break;
    case PCT_PERCENT:
        pct_buf_text(b, pct_text_percent(number, v->number));
        break;
    case PCT_INTEGER:
        pct_buf_format(b, "%lld", (long long)v->integer);
        break;
    case PCT_YES_NO:
        pct_buf_text(b, v->integer ? "yes" : "no");
        break;
    case PCT_NS_CHANGE:
        put_sign(b, v->integer, "");
        pct_buf_text(b, pct_text_seconds(number, size_of(v->integer)));
        break;
    case PCT_PERCENT_CHANGE:
        put_sign(b, v->integer, "");
        pct_buf_text(b, pct_text_percent(number, size_of(v->integer)));
        break;
    case PCT_RATIO:
        pct_buf_text(b, pct_text_percent(number, v->number));
        break;
    case PCT_REAL:
        pct_buf_format(b, "%.9g", v->real);
        break;
    case PCT_ESTIMATE:
        pct_buf_format(b, "%.9g", v->estimate->value);
        break;
    }
}

/* "12.3 M mixed" and "few" where no error is known. */
static void put_estimate(struct pct_buf *b, const struct pct_estimate *e)
{
    const char *mark = pct_trust_text(e->trust);
    if (e->trust == PCT_TRUST_FEW) {
        pct_buf_text(b, mark);
        return;
    }
    pct_text_estimate(b, e->value, e->error, PCT_UNIT_NONE);
    pct_buf_format(b, "%s%s", *mark ? " " : "", mark);
}

static void put_people(const struct pct_column *c, const struct pct_value *v, struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES];
    switch (c->type) {
    case PCT_COUNT:
        pct_buf_text(b, pct_text_count(number, v->number));
        break;
    case PCT_BYTES:
        pct_buf_text(b, pct_text_bytes(number, v->number));
        break;
    case PCT_NS:
        pct_buf_text(b, pct_text_time(number, v->number));
        break;
    case PCT_PERCENT:
        pct_buf_text(b, pct_text_percent_1(number, v->number));
        break;
    case PCT_NS_CHANGE:
        put_sign(b, v->integer, "+");
        pct_buf_text(b, pct_text_time(number, size_of(v->integer)));
        break;
    case PCT_PERCENT_CHANGE:
        put_sign(b, v->integer, "+");
        pct_buf_text(b, pct_text_percent_1(number, size_of(v->integer)));
        break;
    case PCT_REAL:
        pct_buf_format(b, "%.4g", v->real);
        break;
    case PCT_ESTIMATE:
        put_estimate(b, v->estimate);
        break;
    default:
        pct_value_raw(c, v, b);
    }
}

void pct_value_people(const struct pct_table *t, const struct pct_column *c,
                      const struct pct_data *d, size_t row, struct pct_buf *b)
{
    struct pct_value v = pct_table_value(c, d, row), error = {.none = true};
    if (v.none) {
        pct_buf_text(b, "-");
        return;
    }
    if (c->error && c->type != PCT_ESTIMATE)
        error = pct_table_value(pct_column_find(t, c->error), d, row);
    if (!error.none && c->type == PCT_NS)
        pct_text_estimate(b, (double)v.number, (double)error.number, PCT_UNIT_NS);
    else
        put_people(c, &v, b);
    if (error.none && error.text)
        pct_buf_format(b, " %s", error.text);
}

void pct_table_tsv(FILE *out, const struct pct_table *t, const struct pct_data *d,
                   const struct pct_choice *choice)
{
    size_t n;
    const struct pct_column **columns = pct_choice_columns(choice, t, false, &n);
    struct pct_rows rows = pct_table_rows(t, d, choice);
    struct pct_buf line = {0};
    for (size_t k = 0; k < n; k++)
        fprintf(out, "%s%s", k ? "\t" : "", columns[k]->name);
    fputc('\n', out);
    for (size_t i = 0; i < rows.n; i++) {
        pct_buf_clear(&line);
        for (size_t k = 0; k < n; k++) {
            struct pct_value v = pct_table_value(columns[k], d, rows.index[i]);
            if (k)
                pct_buf_text(&line, "\t");
            pct_value_raw(columns[k], &v, &line);
        }
        pct_buf_text(&line, "\n");
        fwrite(line.data, 1, line.n, out);
    }
    pct_buf_free(&line);
    pct_rows_free(&rows);
    free(columns);
}

/* ---- Aligned columns --------------------------------------------------------------------------
 */

/* The table as texts: row 0 is the header, row k + 1 the k-th row. */
struct grid {
    const struct pct_column **columns;
    size_t *widths;
    size_t n_columns, n_rows;
    char **cells;
};

static void pick_columns(struct grid *g, const struct pct_table *t, const struct pct_aligned *how)
{
    if (!how->names) {
        g->columns = pct_choice_columns(how->choice, t, true, &g->n_columns);
        return;
    }
    g->columns = pct_alloc(t->n_columns, sizeof *g->columns);
    while (how->names[g->n_columns]) {
        g->columns[g->n_columns] = pct_column_find(t, how->names[g->n_columns]);
        g->n_columns++;
    }
}

static void fill_grid(struct grid *g, const struct pct_table *t, const struct pct_data *d,
                      const struct pct_rows *rows, bool heads)
{
    g->widths = pct_alloc(g->n_columns, sizeof *g->widths);
    g->cells = pct_alloc((g->n_rows + 1) * g->n_columns, sizeof *g->cells);
    for (size_t i = 0; i <= g->n_rows; i++) {
        for (size_t k = 0; k < g->n_columns; k++) {
            struct pct_buf cell = {0};
            if (i) {
                pct_value_people(t, g->columns[k], d, rows->index[i - 1], &cell);
            } else {
                pct_buf_text(&cell, heads ? g->columns[k]->head : g->columns[k]->name);
            }
            size_t cells = pct_text_cells(cell.data);
            if (cells > g->widths[k])
                g->widths[k] = cells;
            g->cells[i * g->n_columns + k] = cell.data;
        }
    }
}

/* Takes what is too much from the widest column of texts. */
static void fit_grid(struct grid *g, size_t width, size_t indent)
{
    size_t sum = indent, widest = g->n_columns;
    for (size_t k = 0; k < g->n_columns; k++) {
        sum += g->widths[k] + (k ? 2 : 0);
        if (g->columns[k]->type == PCT_TEXT &&
            (widest == g->n_columns || g->widths[k] > g->widths[widest]))
            widest = k;
    }
    if (!width || sum <= width || widest == g->n_columns)
        return;
    size_t room = g->widths[widest], excess = sum - width;
    g->widths[widest] = room > excess + 20 ? room - excess : room < 20 ? room : 20;
}

static void put_cell(struct pct_buf *line, const struct grid *g, size_t row, size_t k, bool utf8)
{
    const char *text = g->cells[row * g->n_columns + k];
    size_t cells = pct_text_cells(text), width = g->widths[k];
    size_t pad = cells < width ? width - cells : 0;
    bool left = g->columns[k]->type == PCT_TEXT;
    if (k)
        pct_buf_text(line, "  ");
    if (!left)
        pct_buf_fill(line, ' ', pad);
    pct_text_cut(line, text, width, utf8);
    if (left)
        pct_buf_fill(line, ' ', pad);
}

static void put_line(FILE *out, struct pct_buf *line)
{
    while (line->n && line->data[line->n - 1] == ' ')
        line->data[--line->n] = 0;
    fprintf(out, "%s\n", line->data);
}

void pct_table_aligned(FILE *out, const struct pct_table *t, const struct pct_data *d,
                       const struct pct_rows *rows, const struct pct_aligned *how)
{
    struct grid g = {.n_rows = rows->n};
    struct pct_buf line = {0};
    if (how->max_rows && g.n_rows > how->max_rows)
        g.n_rows = how->max_rows;
    pick_columns(&g, t, how);
    fill_grid(&g, t, d, rows, how->names != NULL);
    fit_grid(&g, how->width, strlen(how->indent));
    for (size_t i = 0; i <= g.n_rows; i++) {
        pct_buf_clear(&line);
        pct_buf_text(&line, how->indent);
        for (size_t k = 0; k < g.n_columns; k++)
            put_cell(&line, &g, i, k, how->utf8);
        if (how->more) {
            pct_buf_text(&line, "  ");
            if (i)
                how->more(how->arg, rows->index[i - 1], &line);
            else
                pct_buf_text(&line, how->more_head);
        }
        put_line(out, &line);
    }
    for (size_t i = 0; i < (g.n_rows + 1) * g.n_columns; i++)
        free(g.cells[i]);
    free(g.cells);
    free(g.widths);
    free(g.columns);
    pct_buf_free(&line);
}
