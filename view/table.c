/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The common part of all tables: rows, order, output as tab-separated values and as aligned
 * columns. The list of tables is in view/tables/tables.c.
 */
#include "base/wrap.h"
#include "view/query.h"
#include "view/sentence.h"

#include <stdlib.h>
#include <string.h>

const struct pct_table *pct_table_find(const char *name)
{
    for (size_t i = 0; i < pct_n_tables; i++) {
        if (!strcmp(pct_tables[i]->name, name))
            return pct_tables[i];
    }
    return NULL;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The parts of a cell by which it is sorted. A large profile has a million rows. */
struct key {
    pc_u128 number, then; /* `then` decides among equal values */
    size_t row;
    int64_t integer;
    union {
        const char *text; /* NULL: it has none */
        const struct pct_tree *tree;
    };
    uint32_t node; /* of the tree, if the text is the path to it */
    bool is_path, none;
};

static struct key key_of(const struct pct_value *v, size_t row)
{
    struct key key = {.number = v->number,
                      .row = row,
                      .integer = v->integer,
                      .node = v->node,
                      .is_path = v->tree != NULL,
                      .none = v->none};
    if (key.is_path)
        key.tree = v->tree;
    else
        key.text = v->text;
    return key;
}

static int compare_numbers(pc_u128 a, pc_u128 b)
{
    return a < b ? -1 : a > b;
}

/* Compares two paths, or two texts. */
static int compare_texts(const struct key *x, const struct key *y)
{
    if (x->is_path && y->is_path)
        return pct_tree_compare_paths(x->tree, x->node, y->node);
    return !x->is_path && !y->is_path && x->text && y->text ? strcmp(x->text, y->text) : 0;
}

static int compare_up(const struct key *x, const struct key *y)
{
    if (x->none != y->none)
        return x->none ? 1 : -1;
    if (x->none)
        return 0;
    int c = compare_texts(x, y);
    if (!c)
        c = compare_numbers(y->number, x->number);
    if (!c)
        c = x->integer < y->integer ? -1 : x->integer > y->integer;
    return c;
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int c = compare_up(x, y);
    c = c ? c : compare_numbers(y->then, x->then);
    return c ? c : compare_numbers(x->row, y->row);
}

static int compare_keys_reversed(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int c = x->none || y->none ? compare_up(x, y) : compare_up(y, x);
    return c ? c : compare_numbers(x->row, y->row);
}

static void sort_rows(const struct pct_table *t, const struct pct_data *d, const char *sort,
                      struct pct_rows *rows)
{
    struct key *keys = pct_alloc(rows->n, sizeof *keys);
    const struct pct_column *column = pct_column_find(t, sort),
                            *then = t->then ? pct_column_find(t, t->then) : NULL;
    for (size_t i = 0; i < rows->n; i++) {
        const struct pct_value value = pct_table_place(column, d, rows->index[i]);
        keys[i] = key_of(&value, rows->index[i]);
        if (then)
            keys[i].then = pct_table_place(then, d, rows->index[i]).number;
    }
    qsort(keys, rows->n, sizeof *keys, *sort == '-' ? compare_keys_reversed : compare_keys);
    for (size_t i = 0; i < rows->n; i++)
        rows->index[i] = keys[i].row;
    pct_free(keys);
}

struct pct_rows pct_table_rows(const struct pct_table *t, const struct pct_data *d,
                               const struct pct_choice *choice)
{
    struct pct_rows rows = {0};
    size_t n = t->count(d);
    struct pct_conditions *conditions = pct_conditions_new(choice, t);
    const char *sort = choice ? choice->sort : NULL;
    sort = sort && pct_column_find(t, sort) ? sort : t->sort;
    rows.index = pct_alloc(n, sizeof *rows.index);
    for (size_t i = 0; i < n; i++) {
        if (pct_conditions_hold(conditions, d, i))
            rows.index[rows.n++] = i;
        else
            rows.n_hidden++;
    }
    if (sort && rows.n)
        sort_rows(t, d, sort, &rows);
    pct_conditions_free(conditions);
    return rows;
}

void pct_rows_free(struct pct_rows *rows)
{
    pct_free(rows->index);
    *rows = (struct pct_rows){0};
}

/* Appends a cell, in quotes if it contains a separator; quotes in it are doubled (RFC 4180). */
static void put_csv_cell(struct pct_buf *b, const char *cell)
{
    if (!cell[strcspn(cell, "\",")]) {
        pct_buf_text(b, cell);
        return;
    }
    pct_buf_text(b, "\"");
    for (; *cell; cell++)
        pct_buf_text(b, *cell == '"' ? "\"\"" : (char[]){*cell, '\0'});
    pct_buf_text(b, "\"");
}

static void put_lines(FILE *out, const struct pct_table *t, const struct pct_data *d,
                      const struct pct_choice *choice, bool csv)
{
    const char *between = csv ? "," : "\t";
    struct pct_buf cell = {0};
    size_t n;
    const struct pct_column **columns = pct_choice_columns(choice, t, false, &n);
    struct pct_rows rows = pct_table_rows(t, d, choice);
    struct pct_buf line = {0};
    for (size_t k = 0; k < n; k++)
        fprintf(out, "%s%s", k ? between : "", columns[k]->name);
    fputc('\n', out);
    for (size_t i = 0; i < rows.n; i++) {
        pct_buf_clear(&line);
        for (size_t k = 0; k < n; k++) {
            struct pct_value v = pct_table_place(columns[k], d, rows.index[i]);
            pct_buf_clear(&cell);
            pct_value_raw(columns[k], &v, &cell);
            pct_buf_text(&line, k ? between : "");
            if (csv)
                put_csv_cell(&line, cell.data);
            else
                pct_buf_put(&line, cell.data, cell.n);
        }
        pct_buf_text(&line, "\n");
        fwrite(line.data, 1, line.n, out);
    }
    pct_buf_free(&line);
    pct_buf_free(&cell);
    pct_rows_free(&rows);
    pct_free(columns);
}

void pct_table_tsv(FILE *out, const struct pct_table *t, const struct pct_data *d,
                   const struct pct_choice *choice)
{
    put_lines(out, t, d, choice, false);
}

void pct_table_csv(FILE *out, const struct pct_table *t, const struct pct_data *d,
                   const struct pct_choice *choice)
{
    put_lines(out, t, d, choice, true);
}

/* ---- Aligned columns ------------------------------------------------------------------------- */

/* The table as texts: row 0 is the header, row k + 1 the k-th row. A table that is too wide has
 * figures one cell apart instead of two; then it drops the columns that may be dropped; then its
 * widest texts are cut, down to LEAST cells; then it is folded: texts on one line, or on several,
 * figures on the next; then it drops its last columns. */
struct grid {
    const struct pct_column **columns;
    size_t *widths;
    size_t n_columns, n_rows;
    char **cells;
    size_t beside;          /* cells of the text after the columns */
    size_t whole;           /* least width of a line with all columns and whole texts */
    struct pct_buf dropped; /* heads of columns */
    bool close;             /* figures are one cell apart */
    bool folded;
};

enum { LEAST = 20, FOLD_INDENT = 4 };

const struct pct_column **pct_table_columns(const struct pct_table *t, const char *const *names,
                                            const struct pct_choice *choice, size_t *n_out)
{
    if (!names)
        return pct_choice_columns(choice, t, true, n_out);
    const struct pct_column **columns = pct_alloc(t->n_columns, sizeof *columns);
    for (*n_out = 0; names[*n_out]; ++*n_out)
        columns[*n_out] = pct_column_find(t, names[*n_out]);
    return columns;
}

static void fill_grid(struct grid *g, const struct pct_table *t, const struct pct_data *d,
                      const struct pct_rows *rows, const struct pct_aligned *how)
{
    g->widths = pct_alloc(g->n_columns, sizeof *g->widths);
    g->cells = pct_alloc((g->n_rows + 1) * g->n_columns, sizeof *g->cells);
    const struct pct_rows shown = {.index = rows->index, .n = g->n_rows};
    struct pct_people people = how->people;
    const char **functions = pct_table_functions(t, d, &shown, people);
    people.functions = functions;
    for (size_t i = 0; i <= g->n_rows; i++) {
        for (size_t k = 0; k < g->n_columns; k++) {
            struct pct_buf cell = {0};
            if (i) {
                if (how->level && k == 0)
                    pct_buf_fill(&cell, ' ',
                                 pct_table_value(how->level, d, rows->index[i - 1]).number);
                pct_value_people(t, g->columns[k], d, rows->index[i - 1], people, &cell);
            } else {
                pct_buf_text(&cell, how->names ? g->columns[k]->head : g->columns[k]->name);
            }
            size_t cells = pct_text_cells(cell.data);
            if (cells > g->widths[k])
                g->widths[k] = cells;
            g->cells[i * g->n_columns + k] = cell.data;
        }
    }
    pct_free(functions);
}

/* True if a line of a row has the column: lines of a folded table have figures. */
static bool is_in_line(const struct grid *g, size_t k)
{
    return g->columns[k] && !(g->folded && g->columns[k]->type == PCT_TEXT);
}

/* Cells between two columns of a line; before: the column on the left, NULL if there is none. */
static size_t gap_between(const struct grid *g, const struct pct_column *before, size_t k)
{
    if (!before)
        return 0;
    return g->close && before->type != PCT_TEXT && g->columns[k]->type != PCT_TEXT ? 1 : 2;
}

static size_t width_of(const struct grid *g, const struct pct_aligned *how)
{
    size_t sum = strlen(how->indent) + g->beside + (g->folded ? FOLD_INDENT : 0);
    const struct pct_column *before = NULL;
    for (size_t k = 0; k < g->n_columns; k++)
        if (is_in_line(g, k)) {
            sum += g->widths[k] + gap_between(g, before, k);
            before = g->columns[k];
        }
    return sum;
}

/* Leaves out the columns of figures in which no row has a value. */
static void drop_empty(struct grid *g)
{
    for (size_t k = 0; g->n_rows && k < g->n_columns; k++) {
        size_t i = 1;
        while (i <= g->n_rows && !strcmp(g->cells[i * g->n_columns + k], "-"))
            i++;
        if (i > g->n_rows && g->columns[k]->type != PCT_TEXT)
            g->columns[k] = NULL;
    }
}

static void drop_column(struct grid *g, const char *name)
{
    for (size_t k = 0; k < g->n_columns; k++)
        if (g->columns[k] && !strcmp(g->columns[k]->name, name)) {
            pct_buf_format(&g->dropped, "%s%s", g->dropped.n ? ", " : "", g->cells[k]);
            g->columns[k] = NULL;
        }
}

/* Cells of the columns of texts if none has more than `most`. */
static size_t cells_of_texts(const struct grid *g, size_t most)
{
    size_t sum = 0;
    for (size_t k = 0; k < g->n_columns; k++)
        if (g->columns[k] && g->columns[k]->type == PCT_TEXT)
            sum += g->widths[k] < most ? g->widths[k] : most;
    return sum;
}

/* Cuts the texts, or folds the table if that is not enough. A table that is too wide then, too, is
 * folded only if its texts take most of the width. */
static void fit_texts(struct grid *g, const struct pct_aligned *how)
{
    size_t others = width_of(g, how) - cells_of_texts(g, SIZE_MAX), most = how->width;
    while (most > LEAST && others + cells_of_texts(g, most) > how->width)
        most--;
    g->folded = others + cells_of_texts(g, most) > how->width;
    if (g->folded && width_of(g, how) > how->width)
        g->folded = 2 * cells_of_texts(g, LEAST) > how->width;
    for (size_t k = 0; !g->folded && k < g->n_columns; k++)
        if (g->columns[k] && g->columns[k]->type == PCT_TEXT && g->widths[k] > most)
            g->widths[k] = most;
}

static void fit_grid(struct grid *g, const struct pct_aligned *how)
{
    if (!how->width)
        return;
    g->close = width_of(g, how) > how->width;
    g->whole = width_of(g, how);
    for (size_t i = 0; how->dropped && how->dropped[i]; i++)
        if (width_of(g, how) > how->width)
            drop_column(g, how->dropped[i]);
    if (width_of(g, how) > how->width && cells_of_texts(g, SIZE_MAX))
        fit_texts(g, how);
    for (size_t k = g->n_columns; k-- > 1 && width_of(g, how) > how->width;)
        if (is_in_line(g, k))
            drop_column(g, g->columns[k]->name);
}

/* Appends a cell of at most `most` cells; 0: the width of the column. */
static void put_cell(struct pct_buf *line, const struct grid *g, size_t row, size_t k, size_t most,
                     bool utf8)
{
    const char *text = g->cells[row * g->n_columns + k];
    size_t cells = pct_text_cells(text), width = most ? most : g->widths[k];
    size_t pad = cells < g->widths[k] ? g->widths[k] - cells : 0;
    bool left = g->columns[k]->type == PCT_TEXT;
    if (!left)
        pct_buf_fill(line, ' ', pad);
    pct_text_cut(line, text, width, utf8);
    if (left && !most)
        pct_buf_fill(line, ' ', pad);
}

/* Appends as many words of a text as `room` cells hold, and returns the rest. A longer word is cut.
 */
static const char *put_part(struct pct_buf *line, const char *text, size_t room, bool utf8)
{
    const char *rest;
    struct pct_buf part = {0};
    pct_buf_format(&part, "%.*s", (int)pc_wrap(text, room, &rest), text);
    pct_text_cut(line, part.data, room, utf8);
    size_t cells = pct_text_cells(part.data);
    pct_buf_fill(line, ' ', cells < room ? room - cells : 0);
    pct_buf_free(&part);
    return rest;
}

static void put_line(FILE *out, struct pct_buf *line)
{
    while (line->n && line->data[line->n - 1] == ' ')
        line->data[--line->n] = 0;
    fprintf(out, "%s\n", line->data);
}

/* Cells of the texts of a row of a folded table in one line, if none has more than `most`; those
 * that are wrapped have lines of their own. */
static size_t cells_of_row(const struct grid *g, size_t row, size_t most)
{
    size_t sum = 0;
    for (size_t k = 0; k < g->n_columns; k++)
        if (g->columns[k] && g->columns[k]->type == PCT_TEXT && !g->columns[k]->wraps) {
            size_t cells = pct_text_cells(g->cells[row * g->n_columns + k]);
            sum += (cells < most ? cells : most) + (sum ? 2 : 0);
        }
    return sum;
}

/* Prints the texts of a row of a folded table, one after the other. The longest are cut; if that is
 * not enough, there are more lines. */
static void put_texts(FILE *out, struct pct_buf *line, const struct grid *g, size_t row,
                      const struct pct_aligned *how)
{
    size_t indent = strlen(how->indent), most = how->width > indent ? how->width - indent : 1;
    while (most > LEAST && indent + cells_of_row(g, row, most) > how->width)
        most--;
    pct_buf_clear(line);
    pct_buf_text(line, how->indent);
    for (size_t k = 0; k < g->n_columns; k++) {
        if (!g->columns[k] || g->columns[k]->type != PCT_TEXT)
            continue;
        const char *text = g->cells[row * g->n_columns + k];
        size_t cells = pct_text_cells(text), used = pct_text_cells(line->data);
        bool wraps = g->columns[k]->wraps;
        cells = cells < most ? cells : most;
        if (used > indent && (wraps || used + 2 + cells > how->width)) {
            put_line(out, line);
            pct_buf_clear(line);
            pct_buf_text(line, how->indent);
        } else if (used > indent) {
            pct_buf_text(line, "  ");
        }
        for (; wraps && *text; pct_buf_text(line, how->indent)) {
            text = put_part(line, text, how->width > indent ? how->width - indent : 1,
                            how->people.utf8);
            put_line(out, line);
            pct_buf_clear(line);
        }
        if (!wraps)
            put_cell(line, g, row, k, most, how->people.utf8);
    }
    if (pct_text_cells(line->data) > indent)
        put_line(out, line);
}

/* Puts a line of a row, of a folded table its figures. rest: by column, what is left of its text,
 * NULL in the first line. True: texts that are wrapped need another line. */
static bool put_row(struct pct_buf *line, const struct grid *g, size_t row, const char **rest,
                    const struct pct_aligned *how)
{
    const struct pct_column *before = NULL;
    bool goes_on = false;
    pct_buf_clear(line);
    pct_buf_text(line, how->indent);
    if (g->folded)
        pct_buf_fill(line, ' ', FOLD_INDENT);
    for (size_t k = 0; k < g->n_columns; k++) {
        if (!is_in_line(g, k))
            continue;
        const char *text = rest[k] ? rest[k] : g->cells[row * g->n_columns + k];
        pct_buf_fill(line, ' ', gap_between(g, before, k));
        before = g->columns[k];
        if (g->columns[k]->wraps)
            text = put_part(line, text, g->widths[k], how->people.utf8);
        else if (!rest[k])
            put_cell(line, g, row, k, 0, how->people.utf8);
        else
            pct_buf_fill(line, ' ', g->widths[k]);
        rest[k] = text;
        goes_on |= g->columns[k]->wraps && *text;
    }
    return goes_on;
}

static void print_row(FILE *out, struct pct_buf *line, const struct grid *g, size_t row,
                      size_t index, const struct pct_aligned *how)
{
    const char **rest = pct_alloc(g->n_columns, sizeof *rest);
    bool goes_on = put_row(line, g, row, rest, how);
    if (how->more) {
        pct_buf_text(line, "  ");
        if (row)
            how->more(how->arg, index, line);
        else
            pct_buf_text(line, how->more_head);
    }
    put_line(out, line);
    while (goes_on) {
        goes_on = put_row(line, g, row, rest, how);
        put_line(out, line);
    }
    pct_free(rest);
}

void pct_table_aligned(FILE *out, const struct pct_table *t, const struct pct_data *d,
                       const struct pct_rows *rows, const struct pct_aligned *how)
{
    struct grid g = {.n_rows = rows->n};
    struct pct_buf line = {0};
    if (how->max_rows && g.n_rows > how->max_rows)
        g.n_rows = how->max_rows;
    g.beside = how->more ? 2 + how->more_cells : 0;
    g.columns = pct_table_columns(t, how->names, how->choice, &g.n_columns);
    fill_grid(&g, t, d, rows, how);
    if (how->filled)
        drop_empty(&g);
    fit_grid(&g, how);
    bool has_figures = !g.folded || width_of(&g, how) > strlen(how->indent) + FOLD_INDENT;
    for (size_t i = 0; i <= g.n_rows; i++) {
        if (g.folded)
            put_texts(out, &line, &g, i, how);
        if (has_figures)
            print_row(out, &line, &g, i, i ? rows->index[i - 1] : 0, how);
    }
    if (g.dropped.n)
        pct_print_sentence(out, how->width, 0,
                           "(left out at this width: %s; --width %zu shows all)", g.dropped.data,
                           g.whole);
    pct_buf_free(&g.dropped);
    for (size_t i = 0; i < (g.n_rows + 1) * g.n_columns; i++)
        pct_free(g.cells[i]);
    pct_free(g.cells);
    pct_free(g.widths);
    pct_free(g.columns);
    pct_buf_free(&line);
}
