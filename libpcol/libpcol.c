/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public face of analysis/ and of the tables in view/: include/pcollect/profile.h. A profile is
 * its struct pct_data and the list of its tables; a table is a struct pct_table with the data that
 * its getters draw from. Nothing is computed here.
 *
 * Each call that may allocate is a run (analysis/allocation.h) whose memory the profile owns. A run
 * that was refused has set nothing; the profile's status tells it.
 */
#include "include/pcollect/profile.h"

#include "analysis/counters/estimate.h"
#include "analysis/findings/findings.h"
#include "view/tables/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pcol_table {
    struct pcol_profile *of;
    const struct pct_table *table;
    struct pct_data *data;
};

struct pcol_profile {
    struct pct_memory *memory; /* of all below but `profile` */
    bool refused;
    struct pc_profile *profile;
    struct pct_data *data;
    struct pct_rows_table *plugins; /* one for each table of the profile */
    struct pcol_table *tables;      /* pct_tables, then plugins */
    size_t n_tables;
    struct pc_error damage; /* what could not be read, if it is not empty */
};

/* ---- Profiles ---------------------------------------------------------------------------------
 */

static void run(struct pcol_profile *p, void (*work)(void *arg), void *arg)
{
    if (pct_memory_run(p->memory, work, arg))
        p->refused = true;
}

static enum pcol_status status_of(int err)
{
    switch (err) {
    case PC_EFORMAT:
        return PCOL_DAMAGED;
    case PC_EVERSION:
        return PCOL_TOO_NEW;
    case PC_ENOMEM:
        return PCOL_NO_MEMORY;
    default:
        return PCOL_NO_FILE;
    }
}

static void tell(struct pcol_error *out, enum pcol_status status, const char *where,
                 const char *text)
{
    if (!out)
        return;
    out->status = status;
    snprintf(out->text, sizeof out->text, "%s%s%s", where, *where ? ": " : "", text);
}

static void list_tables(struct pcol_profile *p)
{
    size_t n_plugins = p->profile->n_tables;
    p->plugins = pct_alloc(n_plugins, sizeof *p->plugins);
    p->tables = pct_alloc(pct_n_tables + n_plugins, sizeof *p->tables);
    for (size_t i = 0; i < pct_n_tables; i++)
        p->tables[p->n_tables++] = (struct pcol_table){p, pct_tables[i], p->data};
    for (size_t i = 0; i < n_plugins; i++) {
        pct_rows_table(&p->plugins[i], p->data, &p->profile->tables[i]);
        p->tables[p->n_tables++] =
            (struct pcol_table){p, &p->plugins[i].table, &p->plugins[i].data};
    }
}

struct opening {
    struct pcol_profile *p;
    const char *path;
    struct pct_tree_options options;
};

static void make_data(void *opening)
{
    const struct opening *o = opening;
    struct pcol_profile *p = o->p;
    p->data = pct_data_new(pct_copy(o->path), p->profile, pct_symbols_new(p->profile), &o->options);
    list_tables(p);
}

/* 0 or an error with its text in `damage`, which else says what could not be read. */
static int read_profile(struct pcol_profile *p, const char *path, unsigned flags)
{
    struct opening o = {p, path, {.full_paths = (flags & PCOL_FULL_PATHS) != 0}};
    p->memory = pct_memory_new();
    int err = !p->memory                ? PC_ENOMEM
              : flags & PCOL_STATISTICS ? pc_pcol_read_statistics(path, &p->profile, &p->damage)
                                        : pc_pcol_read_columns(path, &p->profile, &p->damage);
    if (!err)
        err = pct_memory_run(p->memory, make_data, &o);
    if (err == PC_ENOMEM || (err && !*p->damage.text))
        pc_error_set(&p->damage, err, "%s: %s", path, pc_err_text(err));
    return err;
}

struct pcol_profile *pcol_open(const char *path, unsigned flags, struct pcol_error *why_out)
{
    if (flags & ~(unsigned)(PCOL_STATISTICS | PCOL_FULL_PATHS)) {
        tell(why_out, PCOL_INVALID_FLAG, "pcol_open", "a flag that this version does not have");
        return NULL;
    }
    struct pcol_profile *p = calloc(1, sizeof *p);
    int err = p ? read_profile(p, path, flags) : PC_ENOMEM;
    if (!err)
        return p;
    if (p)
        tell(why_out, status_of(err), "", p->damage.text);
    else
        tell(why_out, PCOL_NO_MEMORY, path, pc_err_text(err));
    pcol_close(p);
    return NULL;
}

enum pcol_status pcol_status(const struct pcol_profile *p)
{
    if (p->refused)
        return PCOL_NO_MEMORY;
    return pc_profile_unread(p->profile) ? PCOL_DAMAGED : PCOL_OK;
}

struct asked_warning {
    struct pcol_profile *p;
    size_t i;
    const char *text;
};

/* Complaints are complete when all symbols were looked up. */
static void find_complaint(void *asked)
{
    struct asked_warning *a = asked;
    struct pct_symbols *symbols = pct_data_symbols(a->p->data);
    for (uint32_t module = 0; module < a->p->profile->n_modules && !a->text; module++) {
        const char *complaint = pct_symbols_complaint(symbols, module);
        if (complaint && !a->i--)
            a->text = complaint;
    }
}

const char *pcol_warning(struct pcol_profile *p, size_t i)
{
    const char *unread = pc_profile_unread(p->profile);
    if (*p->damage.text && !i--)
        return p->damage.text;
    if (unread && !i--)
        return unread;
    struct asked_warning a = {.p = p, .i = i};
    run(p, find_complaint, &a);
    return a.text;
}

void pcol_close(struct pcol_profile *p)
{
    if (!p)
        return;
    pct_memory_free(p->memory);
    pc_profile_free(p->profile);
    free(p);
}

/* ---- Tables -----------------------------------------------------------------------------------
 */

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
    return t->table->name;
}

const char *pcol_table_meaning(const struct pcol_table *t)
{
    return t->table->doc;
}

/* Findings need all that a report shows: they are looked for when somebody asks. */
static size_t count_rows(const struct pcol_table *t)
{
    if (t->table == &pct_findings_table && !t->data->findings)
        t->data->findings = pct_findings_make(t->data, NULL);
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
    run(t->of, find_rows, &a);
    return a.n;
}

size_t pcol_table_columns(const struct pcol_table *t)
{
    return t->table->n_columns;
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

int pcol_table_column(const struct pcol_table *t, size_t column, struct pcol_column *out)
{
    if (column >= t->table->n_columns)
        return 0;
    const struct pct_column *c = &t->table->columns[column];
    *out = (struct pcol_column){c->name, c->doc, type_of(c->type), c->error};
    return 1;
}

int pcol_table_find(const struct pcol_table *t, const char *column)
{
    const struct pct_column *c = pct_column_named(t->table, column, strlen(column));
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

/* Of a value that is known. */
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
    if (column < t->table->n_columns)
        run(t->of, find_value, &a);
    return a.value;
}
