/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formats the values of a table's cells, for programs and for users.
 */
#include "analysis/counters/estimate.h"
#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"
#include "view/report_print.h"
#include "view/table.h"

#include <string.h>

const struct pct_column *pct_column_named(const struct pct_table *t, const char *name, size_t n)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (strlen(t->columns[i].name) == n && !memcmp(t->columns[i].name, name, n))
            return &t->columns[i];
    }
    return NULL;
}

const struct pct_column *pct_column_find(const struct pct_table *t, const char *name)
{
    name += *name == '-';
    return pct_column_named(t, name, strlen(name));
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

void pct_value_plain(const char *text, struct pct_value *out)
{
    out->text = text;
}

struct pct_value pct_table_place(const struct pct_column *c, const struct pct_data *d, size_t row)
{
    struct pct_value v = {0};
    c->get(&(struct pct_cell){d, row, c}, &v);
    if (c->type == PCT_TEXT && !v.text && !v.tree)
        v.none = true;
    if (c->mpi && d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE)
        v.none = true;
    return v;
}

struct pct_value pct_table_value(const struct pct_column *c, const struct pct_data *d, size_t row)
{
    struct pct_value v = pct_table_place(c, d, row);
    if (v.tree && !v.none) {
        struct pct_buf path = {0};
        pct_tree_path_to(v.tree, v.node, &path);
        v.text = pct_pool_intern(d->pool, path.data);
        pct_buf_free(&path);
    }
    return v;
}

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
        if (v->text)
            pct_buf_text(b, v->text);
        else
            pct_tree_path_to(v->tree, v->node, b);
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

/* Appends an estimate; "12.3 M mixed" or "few" if its error is not known. */
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

/* A path of a file or a module as users see it. */
static const char *shown_path(const struct pct_data *d, const char *path)
{
    return pct_data_full_paths(d) ? path
           : d->profile           ? pct_label_module(d->profile, path)
                                  : pct_place_file(path);
}

static void put_people(const struct pct_column *c, const struct pct_data *d,
                       const struct pct_value *v, struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES];
    switch (c->type) {
    case PCT_TEXT:
        pct_buf_text(b, c->path ? shown_path(d, v->text) : v->text);
        break;
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

static const char function_column[] = "function";

const char **pct_table_functions(const struct pct_table *t, const struct pct_data *d,
                                 const struct pct_rows *rows, struct pct_people people)
{
    const struct pct_column *c = pct_column_find(t, function_column);
    if (!c || c->labels)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        n = rows->index[i] >= n ? rows->index[i] + 1 : n;
    const char **names = pct_alloc(n, sizeof *names);
    for (size_t i = 0; i < rows->n; i++) {
        struct pct_value v = pct_table_value(c, d, rows->index[i]);
        names[rows->index[i]] = v.none ? NULL : v.text;
    }
    const char **shown = pct_names_shown(names, n, people.full_names, people.utf8, d->pool);
    pct_free(names);
    return shown;
}

/* Appends labels as users read them; false: the column has no labels. */
static bool put_functions(const struct pct_column *c, const char *text, size_t row,
                          struct pct_people people, struct pct_buf *b)
{
    if (c->labels)
        pct_place_of_path(b, text, people.full_names);
    else if (strcmp(c->name, function_column) != 0)
        return false;
    else if (pct_place_of_nameless(b, text))
        return true;
    else if (people.functions)
        pct_buf_text(b, people.functions[row]);
    else
        pct_name_put(b, text, people.full_names);
    return true;
}

/* Appends what stands for no value: where nothing is known of a function but its module, this. */
static void put_module(const struct pct_table *t, const struct pct_column *c,
                       const struct pct_data *d, size_t row, struct pct_buf *b)
{
    struct pct_value module = {.none = true};
    if (c->module)
        module = pct_table_value(pct_column_find(t, c->module), d, row);
    if (module.none)
        pct_buf_text(b, "-");
    else
        pct_place_unnamed(b, shown_path(d, module.text));
}

void pct_value_people(const struct pct_table *t, const struct pct_column *c,
                      const struct pct_data *d, size_t row, struct pct_people people,
                      struct pct_buf *b)
{
    struct pct_value v = pct_table_value(c, d, row), error = {.none = true};
    if (v.none) {
        put_module(t, c, d, row, b);
        return;
    }
    if (c->type == PCT_TEXT && put_functions(c, v.text, row, people, b))
        return;
    if (c->histogram) {
        pct_print_histogram(b, v.text, c->histogram, people.utf8);
        return;
    }
    if (c->error && c->type != PCT_ESTIMATE)
        error = pct_table_value(pct_column_find(t, c->error), d, row);
    if (!error.none && c->measured)
        pct_text_mean(b, (double)v.number, (double)error.number);
    else if (!error.none && c->type == PCT_NS)
        pct_text_estimate(b, (double)v.number, (double)error.number, PCT_UNIT_NS);
    else
        put_people(c, d, &v, b);
    if (error.none && error.text)
        pct_buf_format(b, " %s", error.text);
}
