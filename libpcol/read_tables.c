/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables: a struct pct_table with the data that its getters read, and its columns as the interface
 * shows them.
 */
#include "libpcol/libpcol_private.h"

#include "analysis/counters/estimate.h"
#include "analysis/findings/findings.h"
#include "view/tables/tables.h"

#include <string.h>

const struct pcol_table *pcol_table_at(struct pcol_profile *p, size_t i)
{
    return i < p->n_tables ? &p->tables[i] : NULL;
}

const struct pcol_table *pcol_table(struct pcol_profile *p, const char *name)
{
    for (size_t i = 0; i < p->n_tables; i++)
        if (!strcmp(p->tables[i].table->name, name))
            return &p->tables[i];
    return NULL;
}

const char *pcol_table_name(const struct pcol_table *t)
{
    return t ? t->table->name : "";
}

const char *pcol_table_meaning(const struct pcol_table *t)
{
    return t ? t->table->doc : "";
}

/* Counts rows. Findings need all data of a report: they are computed only on request. */
static size_t count_rows(const struct pcol_table *t)
{
    if (t->table == &pct_findings_table)
        pct_lib_findings(t->of);
    return t->table->count(t->data);
}

struct asked_rows {
    const struct pcol_table *t;
    size_t n;
};

static void find_rows(void *asked)
{
    struct asked_rows *a = asked;
    a->n = count_rows(a->t);
}

size_t pcol_table_rows(const struct pcol_table *t)
{
    struct asked_rows a = {.t = t};
    if (t)
        pct_lib_run(t->of, find_rows, &a);
    return a.n;
}

size_t pcol_table_columns(const struct pcol_table *t)
{
    return t ? t->table->n_columns : 0;
}

static enum pcol_type type_of(enum pct_type type)
{
    static const enum pcol_type types[] = {
        [PCT_TEXT] = PCOL_TEXT,
        [PCT_COUNT] = PCOL_COUNT,
        [PCT_BYTES] = PCOL_BYTES,
        [PCT_NS] = PCOL_SECONDS,
        [PCT_PERCENT] = PCOL_PERCENT,
        [PCT_INTEGER] = PCOL_INTEGER,
        [PCT_YES_NO] = PCOL_YES_NO,
        [PCT_NS_CHANGE] = PCOL_SECONDS,
        [PCT_PERCENT_CHANGE] = PCOL_PERCENT,
        [PCT_RATIO] = PCOL_REAL,
        [PCT_REAL] = PCOL_REAL,
        [PCT_ESTIMATE] = PCOL_REAL,
    };
    return types[type];
}

void pct_lib_set_table(struct pcol_table *out, struct pcol_profile *p,
                       const struct pct_table *table, const struct pct_data *data)
{
    *out = (struct pcol_table){p, table, data, pct_alloc(table->n_columns, sizeof *out->columns)};
    for (size_t k = 0; k < table->n_columns; k++) {
        const struct pct_column *c = &table->columns[k];
        out->columns[k] = (struct pcol_column){c->name, c->doc, type_of(c->type), c->error};
    }
}

const struct pcol_column *pcol_table_column(const struct pcol_table *t, size_t column)
{
    return column < pcol_table_columns(t) ? &t->columns[column] : NULL;
}

int pcol_table_find(const struct pcol_table *t, const char *column)
{
    const struct pct_column *c = t ? pct_column_named(t->table, column, strlen(column)) : NULL;
    return c ? (int)(c - t->table->columns) : -1;
}

static void set_whole(struct pcol_value *v, pc_u128 number, double unit)
{
    v->whole = number > INT64_MAX ? INT64_MAX : (int64_t)number;
    v->number = (double)number / unit;
}

static void set_signed(struct pcol_value *v, int64_t number, double unit)
{
    v->whole = number;
    v->number = (double)number / unit;
}

/* Sets a value that is known. */
static void set_number(struct pcol_value *out, const struct pct_value *v, enum pct_type type)
{
    switch (type) {
    case PCT_COUNT:
    case PCT_BYTES:
        set_whole(out, v->number, 1);
        break;
    case PCT_NS:
        set_whole(out, v->number, 1e9);
        break;
    case PCT_PERCENT:
    case PCT_RATIO:
        set_whole(out, v->number, 1000);
        break;
    case PCT_INTEGER:
    case PCT_YES_NO:
        set_signed(out, v->integer, 1);
        break;
    case PCT_NS_CHANGE:
        set_signed(out, v->integer, 1e9);
        break;
    case PCT_PERCENT_CHANGE:
        set_signed(out, v->integer, 1000);
        break;
    case PCT_ESTIMATE:
        out->number = v->estimate->value;
        break;
    default:
        out->number = v->real;
    }
}

struct asked_value {
    const struct pcol_table *t;
    size_t row, column;
    struct pcol_value value;
};

static void find_value(void *asked)
{
    struct asked_value *a = asked;
    const struct pct_column *c = &a->t->table->columns[a->column];
    if (a->row >= count_rows(a->t))
        return;
    struct pct_value v = pct_table_value(c, a->t->data, a->row);
    a->value.known = !v.none;
    a->value.text = v.text;
    if (a->value.known && c->type != PCT_TEXT)
        set_number(&a->value, &v, c->type);
}

struct pcol_value pcol_table_value(const struct pcol_table *t, size_t row, size_t column)
{
    struct asked_value a = {.t = t, .row = row, .column = column};
    if (column < pcol_table_columns(t))
        pct_lib_run(t->of, find_value, &a);
    return a.value;
}
