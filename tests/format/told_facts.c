/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The oracle of random_profile.h: facts added up in tables of texts, and compared with a profile.
 */
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

/* ---- The oracle: a table of path strings --------------------------------------------------- */

#define PATH_BYTES 2048

struct entry {
    char path[PATH_BYTES];
    int rank; /* -1: the context itself, whoever has it */
    bool has_data;
    uint64_t values[N_TEST_FIELDS], bins[TEST_BINS];
};

struct entry_table {
    struct entry *entries;
    unsigned n;
};

static struct entry *entry_of(struct entry_table *t, const char *path, int rank)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->entries[i].rank == rank && !strcmp(t->entries[i].path, path))
            return &t->entries[i];
    t->entries = realloc(t->entries, (t->n + 1) * sizeof *t->entries);
    struct entry *e = memset(&t->entries[t->n++], 0, sizeof *e);
    snprintf(e->path, sizeof e->path, "%s", path);
    e->rank = rank;
    return e;
}

static void append(char *path, const char *text)
{
    strncat(path, text, PATH_BYTES - strlen(path) - 1);
}

static void append_frame(char *path, int module, uint64_t offset)
{
    char text[80];
    if (module == -2)
        snprintf(text, sizeof text, " > cut");
    else
        snprintf(text, sizeof text, " > %d+%lx", module, (unsigned long)offset);
    append(path, text);
}

static void append_number(char *path, const char *kind, uint64_t number)
{
    char text[80];
    snprintf(text, sizeof text, " > %s %lx", kind, (unsigned long)number);
    append(path, text);
}

/* The path of a fact; puts the paths above it into the table, if there is one. */
static void path_of_fact(struct entry_table *t, const struct fact *f, char path[PATH_BYTES])
{
    struct entry_table none = {NULL, 0};
    struct entry_table *to = t ? t : &none;
    snprintf(path, PATH_BYTES, "root");
    entry_of(to, path, -1);
    if (f->phase) {
        append_number(path, "phase", f->phase);
        entry_of(to, path, -1);
    }
    if (f->region) {
        const char *name = test_strings[f->region - 1];
        append_number(path, "region", pc_hash_bytes(name, strlen(name), 0));
        entry_of(to, path, -1);
    }
    for (unsigned k = 0; k < f->depth; k++) {
        append_frame(path, f->frames[k].module, f->frames[k].offset);
        if (f->is_point && k + 1 == f->depth)
            append(path, "!");
        entry_of(to, path, -1);
    }
    if (f->op >= 0) {
        append(path, " > ");
        append(path, test_op_names[f->op]);
        entry_of(to, path, -1);
    }
    if (f->domain) {
        append_number(path, "domain", f->domain);
        entry_of(to, path, -1);
    }
    free(none.entries);
}

static void add_to_table(struct entry_table *t, const struct fact *f)
{
    char path[PATH_BYTES];
    path_of_fact(t, f, path);
    if (!f->has_data)
        return;
    entry_of(t, path, -1)->has_data = true;
    struct entry *e = entry_of(t, path, f->rank);
    e->has_data = true;
    for (unsigned k = 0; k < N_TEST_FIELDS; k++) {
        uint64_t v = f->values[k];
        if (test_fields[k].combine == PCOLLECT_SUM)
            e->values[k] += v;
        if (test_fields[k].combine == PCOLLECT_MAX && v > e->values[k])
            e->values[k] = v;
        if (test_fields[k].combine == PCOLLECT_MIN && v && (!e->values[k] || v < e->values[k]))
            e->values[k] = v;
    }
    for (unsigned k = 0; k < TEST_BINS; k++)
        e->bins[k] += f->bins[k];
}

static void path_of(const struct pc_profile *p, uint32_t node, char *path)
{
    uint32_t way[MAX_DEPTH + 3];
    unsigned n = 0;
    for (; node != 0; node = p->nodes[node].parent)
        way[n++] = node;
    snprintf(path, PATH_BYTES, "root");
    while (n--) {
        const struct pc_profile_node *x = &p->nodes[way[n]];
        if (x->kind == PCOLLECT_NODE_OP) {
            append(path, " > ");
            append(path, p->ops[x->op].name);
        } else if (x->kind == PCOLLECT_NODE_DOMAIN) {
            append_number(path, "domain", x->offset);
        } else if (x->kind == PCOLLECT_NODE_PHASE) {
            append_number(path, "phase", x->offset);
        } else if (x->kind == PCOLLECT_NODE_REGION) {
            append_number(path, "region", x->offset);
            assert_non_null(pc_profile_region(p, x->offset));
        } else {
            int module = x->kind == PCOLLECT_NODE_CUT ? -2
                         : x->module == PC_NO_INDEX   ? -1
                                                      : (int)x->module;
            append_frame(path, module, x->offset);
            append(path, x->kind == PCOLLECT_NODE_POINT ? "!" : "");
        }
    }
}

/* The statistics of field k in this context, from the table. */
static void assert_stat(const struct entry_table *t, const char *path, unsigned k,
                        const struct pc_stat *s)
{
    struct pc_stat o = {0};
    for (unsigned i = 0; i < t->n; i++) {
        const struct entry *e = &t->entries[i];
        uint64_t v = e->values[k];
        if (e->rank < 0 || strcmp(e->path, path) != 0 ||
            (test_fields[k].combine == PCOLLECT_MIN && !v))
            continue;
        o.n++;
        o.sum += v;
        o.sum_squares += (pc_u128)v * v;
        if (o.n == 1 || v < o.min || (v == o.min && e->rank < o.min_rank)) {
            o.min = v;
            o.min_rank = e->rank;
        }
        if (o.n == 1 || v > o.max || (v == o.max && e->rank < o.max_rank)) {
            o.max = v;
            o.max_rank = e->rank;
        }
    }
    assert_int_equal(s->n, o.n);
    if (test_fields[k].combine == PCOLLECT_HIST)
        return;
    assert_true(s->sum == o.sum && s->sum_squares == o.sum_squares);
    assert_true(s->min == o.min && s->max == o.max);
    assert_int_equal(s->min_rank, o.min_rank);
    assert_int_equal(s->max_rank, o.max_rank);
}

static void assert_record(const struct pc_profile *p, const struct pc_profile_data *d,
                          const struct entry_table *t, const char *path)
{
    uint64_t bins[TEST_BINS] = {0};
    for (unsigned i = 0; i < t->n; i++)
        for (unsigned k = 0; k < TEST_BINS && !strcmp(t->entries[i].path, path); k++)
            bins[k] += t->entries[i].bins[k];
    for (unsigned k = 0; k < p->n_fields; k++) {
        unsigned f = 0;
        while (f < N_TEST_FIELDS && (strcmp(p->fields[k].plugin, test_fields[f].plugin) != 0 ||
                                     strcmp(p->fields[k].name, test_fields[f].name) != 0))
            f++;
        assert_true(f < N_TEST_FIELDS);
        if (k < d->first_field)
            continue;
        struct pc_stat s = pc_data_stat(p, d, k);
        assert_stat(t, path, f, &s);
        if (test_fields[f].combine == PCOLLECT_HIST)
            assert_memory_equal(pc_data_bins(p, d, k), bins, sizeof bins);
        assert_int_equal(d->ranks == NULL, p->per_rank && d->n_ranks > p->per_rank);
        bool has_values = d->ranks && test_fields[f].combine != PCOLLECT_HIST;
        for (unsigned r = 0; has_values && r < d->n_ranks; r++) {
            struct entry_table copy = *t;
            const struct entry *e = entry_of(&copy, path, d->ranks[r]);
            assert_true(pc_data_value(p, d, r, k) == e->values[f]);
        }
    }
}

/* ---- Rows: an oracle of texts --------------------------------------------------------------- */

struct row_entry {
    char keys[PATH_BYTES + 100];
    uint64_t numbers[TEST_ROW_CELLS];
    const char *label; /* least */
    bool seen;
};

static void name_keys(char *out, const struct pcollect_table *t, const uint64_t *cells,
                      const char *path)
{
    *out = 0;
    for (unsigned i = 0; i < t->n_keys; i++) {
        size_t n = strlen(out);
        bool is_string = t->columns[i].type == PCOLLECT_COLUMN_STRING;
        if (t->columns[i].type == PCOLLECT_COLUMN_NODE)
            snprintf(out + n, PATH_BYTES + 100 - n, "|%s", path);
        else if (is_string)
            snprintf(out + n, PATH_BYTES + 100 - n, "|%s",
                     cells[i] ? test_strings[cells[i] - 1] : "");
        else
            snprintf(out + n, PATH_BYTES + 100 - n, "|%lx", (unsigned long)cells[i]);
    }
}

static unsigned add_row_entry(struct row_entry *entries, unsigned n, const struct fact *f,
                              unsigned table)
{
    const struct pcollect_table *t = &test_tables[table];
    uint64_t cells[TEST_ROW_CELLS];
    char path[PATH_BYTES], keys[PATH_BYTES + 100];
    path_of_fact(NULL, f, path);
    test_row(f, table, 1, cells);
    if (cells[0] == (uint64_t)(int64_t)PCOLLECT_RANK_SELF)
        cells[0] = (uint64_t)f->rank;
    name_keys(keys, t, cells, path);
    unsigned i = 0;
    while (i < n && strcmp(entries[i].keys, keys) != 0)
        i++;
    struct row_entry *e = &entries[i];
    if (i == n)
        snprintf(e->keys, sizeof e->keys, "%s", keys);
    for (unsigned k = t->n_keys; k < (unsigned)t->n_keys + t->n_values; k++) {
        uint64_t v = cells[k], *to = &e->numbers[k];
        const struct pcollect_column *c = &t->columns[k];
        if (c->type == PCOLLECT_COLUMN_STRING && v) {
            const char *text = test_strings[v - 1];
            e->label = !e->label || strcmp(text, e->label) < 0 ? text : e->label;
        } else if (c->combine == PCOLLECT_SUM) {
            *to += v;
        } else if (c->combine == PCOLLECT_MAX) {
            *to = *to > v ? *to : v;
        } else if (v && (!*to || v < *to)) {
            *to = v;
        }
    }
    return i == n ? n + 1 : n;
}

static void assert_row(const struct pc_profile *p, const struct pcollect_table *t,
                       const uint64_t *row, struct row_entry *entries, unsigned n)
{
    char path[PATH_BYTES] = "", keys[PATH_BYTES + 100];
    uint64_t cells[TEST_ROW_CELLS] = {0}, node = 0;
    for (unsigned i = 0; i < t->n_keys; i++) {
        cells[i] = row[i];
        if (t->columns[i].type == PCOLLECT_COLUMN_NODE)
            path_of(p, (uint32_t)(node = row[i]), path);
    }
    for (unsigned i = 0; i < t->n_keys; i++) /* the profile may number strings otherwise */
        for (unsigned k = 0; t->columns[i].type == PCOLLECT_COLUMN_STRING && k < N_TEST_STRINGS;
             k++)
            if (row[i] && !strcmp(p->strings[row[i] - 1], test_strings[k]))
                cells[i] = k + 1;
    name_keys(keys, t, cells, path);
    unsigned e = 0;
    while (e < n && strcmp(entries[e].keys, keys) != 0)
        e++;
    assert_true(e < n && !entries[e].seen);
    entries[e].seen = true;
    for (unsigned i = t->n_keys; i < (unsigned)t->n_keys + t->n_values; i++) {
        if (t->columns[i].type == PCOLLECT_COLUMN_STRING)
            assert_string_equal(pc_profile_string(p, row[i]),
                                entries[e].label ? entries[e].label : "");
        else if (t->columns[i].type == PCOLLECT_COLUMN_NODE)
            assert_int_equal(row[i], entries[e].numbers[i] ? node : 0);
        else
            assert_true(row[i] == entries[e].numbers[i]);
    }
}

static void assert_tables_tell(const struct pc_profile *p, const struct fact *facts, unsigned n)
{
    struct row_entry *entries = malloc((n + 1) * sizeof *entries);
    for (unsigned i = 0; i < p->n_tables; i++) {
        unsigned n_entries = 0;
        memset(entries, 0, (n + 1) * sizeof *entries);
        assert_string_equal(p->tables[i].name, test_tables[i].name);
        for (unsigned k = 0; k < n; k++)
            if (fact_is_used(&facts[k]))
                n_entries = add_row_entry(entries, n_entries, &facts[k], i);
        assert_int_equal(p->tables[i].n_rows, n_entries);
        for (uint32_t r = 0; r < n_entries; r++)
            assert_row(p, &test_tables[i], p->tables[i].cells + (size_t)r * p->tables[i].n_columns,
                       entries, n_entries);
    }
    free(entries);
}

void assert_profile_tells(const struct pc_profile *p, const struct fact *facts, unsigned n)
{
    struct entry_table t = {NULL, 0};
    unsigned n_contexts = 0;
    char path[PATH_BYTES];
    entry_of(&t, "root", -1);
    for (unsigned i = 0; i < n; i++)
        add_to_table(&t, &facts[i]);
    for (unsigned i = 0; i < t.n; i++)
        n_contexts += t.entries[i].rank < 0;
    assert_int_equal(p->n_nodes, n_contexts); /* each once, and below each is in the table */
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        unsigned n_before = t.n;
        path_of(p, i, path);
        struct entry *e = entry_of(&t, path, -1);
        assert_int_equal(t.n, n_before);
        assert_int_equal(e->has_data, p->nodes[i].data != PC_NO_INDEX);
        if (e->has_data)
            assert_record(p, &p->data[p->nodes[i].data], &t, path);
    }
    free(t.entries);
    assert_tables_tell(p, facts, n);
}

struct pc_profile *must_read(const char *path)
{
    struct pc_profile *p;
    struct pc_error e;
    if (pc_pcol_read(path, &p, &e))
        fail_msg("%s", e.text);
    assert_string_equal(e.text, "");
    return p;
}

void assert_same_bytes(const struct pc_profile *a, const struct pc_profile *b)
{
    uint8_t *x, *y;
    size_t n_x, n_y;
    assert_int_equal(pc_profile_encode(a, &x, &n_x), PC_OK);
    assert_int_equal(pc_profile_encode(b, &y, &n_y), PC_OK);
    assert_int_equal(n_x, n_y);
    assert_memory_equal(x, y, n_x);
    free(x);
    free(y);
}
