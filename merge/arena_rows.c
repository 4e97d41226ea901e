/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The strings and tables of an arena, and the rows of its threads.
 *
 * Rows are copied as they are found, one list for each thread. Cells that refer to contexts get the
 * number of a node of the unified tree, which is then kept; cells that refer to strings get the
 * number of the profile's string. When the tree has been written, contexts are renumbered, rows
 * sorted, and those of equal keys combined; then ticks become nanoseconds, once for each sum.
 */
#include "merge/image.h"

#include <stdlib.h>
#include <string.h>

/* ---- Strings -------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(((const struct image_string *)a)->text, ((const struct image_string *)b)->text);
}

static int compare_string_refs(const void *a, const void *b)
{
    pcollect_ref x = ((const struct image_string *)a)->ref;
    pcollect_ref y = ((const struct image_string *)b)->ref;
    return (x > y) - (x < y);
}

static bool read_string(struct image *m, pcollect_ref ref, struct image_string *out)
{
    const struct pcollect_string *s = pc_image_at(m, ref, sizeof *s);
    const char *text =
        s->n_bytes <= PCOLLECT_STRING_BYTES ? pc_image_at(m, ref, sizeof *s + s->n_bytes) : NULL;
    if (!text || !s->n_bytes || memchr(s->text, 0, s->n_bytes)) {
        pc_image_damaged(m, "string", ref);
        return true;
    }
    out->ref = ref;
    out->text = pc_pool_text(m->profile->memory, s->text, s->n_bytes);
    return out->text != NULL;
}

static int read_strings(struct image *m)
{
    struct pc_profile *p = m->profile;
    pcollect_ref first[PCOLLECT_STRING_BUCKETS];
    uint32_t counts[PCOLLECT_STRING_BUCKETS], n = 0;
    for (unsigned i = 0; i < PCOLLECT_STRING_BUCKETS; i++) {
        first[i] = __atomic_load_n(&m->header->strings[i], __ATOMIC_ACQUIRE);
        counts[i] = pc_image_count_list(m, first[i], sizeof(struct pcollect_string), "string");
        n += counts[i];
    }
    m->strings = pc_pool_array(m->scratch, n, sizeof *m->strings);
    p->strings = pc_pool_array(p->memory, n, sizeof *p->strings);
    if (!m->strings || !p->strings)
        return PC_ENOMEM;
    for (unsigned i = 0; i < PCOLLECT_STRING_BUCKETS; i++) {
        pcollect_ref ref = first[i];
        for (uint32_t k = 0; k < counts[i]; k++) {
            if (!read_string(m, ref, &m->strings[m->n_strings]))
                return PC_ENOMEM;
            m->n_strings += m->strings[m->n_strings].ref != 0;
            ref = *(const pcollect_ref *)pc_image_at(m, ref, sizeof ref);
        }
    }
    qsort(m->strings, m->n_strings, sizeof *m->strings, compare_texts);
    for (uint32_t i = 0; i < m->n_strings; i++) {
        if (!i || compare_texts(&m->strings[i], &m->strings[i - 1]))
            p->strings[p->n_strings++] = m->strings[i].text;
        m->strings[i].index = p->n_strings - 1;
    }
    qsort(m->strings, m->n_strings, sizeof *m->strings, compare_string_refs);
    return PC_OK;
}

/* 1 + the index of a string in the profile; 0: none. */
static uint64_t string_cell(struct image *m, uint64_t ref)
{
    const struct image_string key = {.ref = (pcollect_ref)ref}, *found = NULL;
    if (ref && ref <= UINT32_MAX && m->n_strings)
        found = bsearch(&key, m->strings, m->n_strings, sizeof key, compare_string_refs);
    return found ? found->index + (uint64_t)1 : 0;
}

/* ---- Descriptions --------------------------------------------------------------------------- */

static int read_columns(struct image *m, const struct pcollect_table_rec *rec,
                        struct image_table *out)
{
    struct pc_profile_table *t = &out->table;
    *t = (struct pc_profile_table){.n_keys = rec->n_keys,
                                   .n_columns = (uint32_t)rec->n_keys + rec->n_values};
    t->name = pc_image_text(m, rec->name, sizeof rec->name);
    t->plugin = pc_image_text(m, rec->plugin, sizeof rec->plugin);
    t->columns = pc_pool_array(m->profile->memory, t->n_columns, sizeof *t->columns);
    if (!t->name || !t->plugin || !t->columns)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const struct pcollect_column_rec *c = &rec->columns[i];
        t->columns[i] =
            (struct pc_profile_column){.name = pc_image_text(m, c->name, sizeof c->name),
                                       .type = c->type,
                                       .combine = c->combine,
                                       .unit = c->unit};
        if (!t->columns[i].name)
            return PC_ENOMEM;
        if (c->unit == PCOLLECT_UNIT_TICKS) {
            out->in_ticks |= 1u << i;
            t->columns[i].unit = PCOLLECT_UNIT_NS;
        }
    }
    return PC_OK;
}

static int compare_tables(const void *a, const void *b)
{
    return strcmp(((const struct image_table *)a)->table.name,
                  ((const struct image_table *)b)->table.name);
}

static bool can_be_table(const struct image *m, pcollect_ref ref)
{
    const struct pcollect_table_rec *rec = pc_image_at(m, ref, sizeof *rec);
    size_t n_columns = (size_t)rec->n_keys + rec->n_values;
    return rec->n_keys && rec->n_keys <= PCOLLECT_MAX_KEYS && rec->n_values &&
           rec->n_values <= PCOLLECT_MAX_VALUES &&
           pc_image_at(m, ref, sizeof *rec + n_columns * sizeof rec->columns[0]);
}

static int read_descriptions(struct image *m)
{
    pcollect_ref ref = m->header->tables;
    uint32_t n = pc_image_count_list(m, ref, sizeof(struct pcollect_table_rec), "table");
    m->tables = pc_pool_array(m->scratch, n, sizeof *m->tables);
    if (!m->tables)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct image_table *t = &m->tables[m->n_tables];
        const struct pcollect_table_rec *rec = pc_image_at(m, ref, sizeof *rec);
        *t = (struct image_table){.ref = ref};
        bool possible = can_be_table(m, ref);
        if (possible && read_columns(m, rec, t))
            return PC_ENOMEM;
        if (possible && pc_table_valid(&t->table))
            m->n_tables++;
        else
            pc_image_damaged(m, "table", ref);
        ref = rec->next;
    }
    qsort(m->tables, m->n_tables, sizeof *m->tables, compare_tables);
    for (uint32_t i = 1; i < m->n_tables; i++)
        if (!compare_tables(&m->tables[i], &m->tables[i - 1]))
            return pc_error_set(m->error, PC_EFORMAT, "two of its tables have one name");
    return PC_OK;
}

/* True if many rows may refer to nodes: of the table of open calls there is one row a thread, whose
 * node is found by its path. */
static bool refers_to_nodes(const struct image *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->n_tables; i++)
        any |= pc_table_refers_to_contexts(&m->tables[i].table) &&
               strcmp(m->tables[i].table.name, PCOLLECT_TABLE_OPEN_CALLS) != 0;
    return any;
}

int pc_image_read_tables(struct image *m, enum pc_merge_part part)
{
    int err = read_strings(m);
    if (!err)
        err = read_descriptions(m);
    if (err || part == PC_MERGE_LATE || !refers_to_nodes(m))
        return err;
    size_t n = m->n / PCOLLECT_REF_UNIT + 1;
    m->node_of = pc_pool_array(m->scratch, n, sizeof *m->node_of);
    m->n_refs = m->node_of ? n : 0;
    return m->node_of ? PC_OK : PC_ENOMEM;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static struct image_table *find_table(struct image *m, pcollect_ref ref)
{
    for (uint32_t i = 0; i < m->n_tables; i++)
        if (m->tables[i].ref == ref)
            return &m->tables[i];
    return NULL;
}

/* A new row of a table; NULL: no memory. */
static uint64_t *add_row(struct image *m, struct image_table *t)
{
    struct pc_profile_table *to = &t->table;
    if (to->n_rows == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 64;
        uint64_t *cells = pc_pool_array(m->scratch, capacity, to->n_columns * sizeof *cells);
        if (!cells)
            return NULL;
        if (to->n_rows)
            memcpy(cells, to->cells, (size_t)to->n_rows * to->n_columns * sizeof *cells);
        to->cells = cells;
        t->capacity = capacity;
    }
    return to->cells + (size_t)to->n_rows++ * to->n_columns;
}

static int read_cell(struct image *m, unsigned type, uint64_t cell, uint64_t *out)
{
    uint32_t node = 0;
    int err = PC_OK;
    *out = cell;
    switch (type) {
    case PCOLLECT_COLUMN_STRING:
        *out = string_cell(m, cell);
        break;
    case PCOLLECT_COLUMN_RANK:
        if (cell == (uint64_t)(int64_t)PCOLLECT_RANK_SELF)
            *out = (uint64_t)m->profile->ranks->rank;
        break;
    case PCOLLECT_COLUMN_NODE:
        err = cell <= UINT32_MAX ? pc_image_node_of(m, (pcollect_ref)cell, &node) : PC_OK;
        pc_image_need(m, node);
        *out = node;
        break;
    default:
        break;
    }
    return err;
}

/* True if a row has a value other than 0: rows of zeros were made but never used. */
static bool is_used(const struct pcollect_row *row, const struct pc_profile_table *t)
{
    for (uint32_t i = t->n_keys; i < t->n_columns; i++)
        if (row->cells[i])
            return true;
    return false;
}

static int read_row(struct image *m, const struct pcollect_row *row, struct image_table *t)
{
    if (!is_used(row, &t->table))
        return PC_OK;
    uint64_t *to = add_row(m, t);
    int err = to ? PC_OK : PC_ENOMEM;
    for (uint32_t i = 0; !err && i < t->table.n_columns; i++)
        err = read_cell(m, t->table.columns[i].type, row->cells[i], &to[i]);
    return err;
}

static int read_list(struct image *m, pcollect_ref ref)
{
    int err = PC_OK;
    while (ref && !err) {
        const struct pcollect_row *row = pc_image_claim(m, ref, sizeof *row);
        struct image_table *t = row ? find_table(m, row->table) : NULL;
        size_t bytes = t ? sizeof *row + t->table.n_columns * sizeof row->cells[0] : 0;
        if (!t ||
            (bytes > PCOLLECT_REF_UNIT && !pc_image_claim(m, ref + 1, bytes - PCOLLECT_REF_UNIT))) {
            pc_image_damaged(m, "row of a table", ref);
            return PC_OK;
        }
        err = read_row(m, row, t);
        ref = row->next;
    }
    return err;
}

static struct image_table *find_named(struct image *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_tables; i++)
        if (!strcmp(m->tables[i].table.name, name))
            return &m->tables[i];
    return NULL;
}

static void put_number(const struct image_table *t, uint32_t row, const char *column,
                       uint64_t value)
{
    uint32_t at = pc_table_column(&t->table, column, PCOLLECT_COLUMN_NUMBER);
    if (at != PC_NO_INDEX)
        t->table.cells[(size_t)row * t->table.n_columns + at] = value;
}

/* Makes the row of the call that a thread is in; its first cells are those of the thread's row. */
static int add_open_call(struct image *m, const struct pcollect_thread *thread,
                         const uint64_t *thread_row)
{
    struct image_table *t = find_named(m, PCOLLECT_TABLE_OPEN_CALLS);
    uint32_t call = t ? pc_table_column(&t->table, "call", PCOLLECT_COLUMN_NODE) : PC_NO_INDEX;
    if (!m->last_ticks || !pcollect_open_ticks(thread) || call == PC_NO_INDEX ||
        t->table.n_keys != 2)
        return PC_OK;
    uint64_t *row = add_row(m, t);
    if (!row)
        return PC_ENOMEM;
    memset(row, 0, t->table.n_columns * sizeof *row);
    memcpy(row, thread_row, 2 * sizeof *row);
    put_number(t, t->table.n_rows - 1, "time", pc_image_open_ticks(m, thread));
    return read_cell(m, PCOLLECT_COLUMN_NODE, thread->open_node, &row[call]);
}

/* Copies figures from the record of a thread into its row, the one with index `row`. */
static int complete_row(struct image *m, const struct image_table *t, uint32_t row,
                        const struct pcollect_thread *thread)
{
    if (!t || row >= t->table.n_rows || t->table.n_keys != 2)
        return PC_OK;
    put_number(t, row, "threads", thread->n_adopted);
    put_number(t, row, "calls", thread->mpi_calls);
    put_number(t, row, "time", thread->mpi_ticks + pc_image_open_ticks(m, thread));
    return add_open_call(m, thread, t->table.cells + (size_t)row * t->table.n_columns);
}

int pc_image_read_rows(struct image *m, enum pc_merge_part part)
{
    pcollect_ref ref = m->threads;
    const struct image_table *records = find_named(m, PCOLLECT_TABLE_THREAD_RECORDS);
    int err = PC_OK;
    for (uint32_t i = 0; i < m->n_threads && !err; i++) {
        const struct pcollect_thread *t = pc_image_at(m, ref, sizeof *t);
        uint32_t n_before = records ? records->table.n_rows : 0;
        if (pc_image_wants(t, part))
            err = read_list(m, __atomic_load_n(&t->rows, __ATOMIC_ACQUIRE));
        if (!err)
            err = complete_row(m, records, n_before, t);
        ref = t->next;
    }
    return err;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b, void *table)
{
    return pc_row_compare(a, b, ((const struct pc_profile_table *)table)->n_keys);
}

static void place_nodes(struct pc_profile_table *t, const uint32_t *place)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        for (uint32_t r = 0; t->columns[i].type == PCOLLECT_COLUMN_NODE && r < t->n_rows; r++) {
            uint64_t *cell = &t->cells[(size_t)r * t->n_columns + i];
            *cell = place[*cell];
        }
}

/* Combines neighbours of equal keys. */
static void unite_rows(struct pc_profile_table *t)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < t->n_rows; r++) {
        const uint64_t *row = t->cells + (size_t)r * t->n_columns;
        uint64_t *last = t->cells + (size_t)(n ? n - 1 : 0) * t->n_columns;
        if (n && !pc_row_compare(last, row, t->n_keys)) {
            for (uint32_t i = t->n_keys; i < t->n_columns; i++)
                last[i] = pc_column_combine(&t->columns[i], last[i], row[i]);
        } else {
            memmove(t->cells + (size_t)n++ * t->n_columns, row, t->n_columns * sizeof *row);
        }
    }
    t->n_rows = n;
}

void pc_rows_renumber(struct pc_profile_table *t, const uint32_t *place)
{
    if (!t->n_rows)
        return;
    place_nodes(t, place);
    qsort_r(t->cells, t->n_rows, t->n_columns * sizeof *t->cells, compare_rows, t);
    unite_rows(t);
}

static int write_table(struct image *m, const struct image_table *from, struct pc_profile_table *to)
{
    *to = from->table;
    pc_rows_renumber(to, m->place);
    size_t n_cells = (size_t)to->n_rows * to->n_columns;
    uint64_t *cells = pc_pool_array(m->profile->memory, n_cells, sizeof *cells);
    if (!cells)
        return PC_ENOMEM;
    if (n_cells)
        memcpy(cells, to->cells, n_cells * sizeof *cells);
    to->cells = cells;
    for (uint32_t i = 0; i < to->n_columns; i++)
        for (uint32_t r = 0; (from->in_ticks >> i & 1) && r < to->n_rows; r++)
            cells[(size_t)r * to->n_columns + i] =
                pc_image_ns(m, cells[(size_t)r * to->n_columns + i]);
    return PC_OK;
}

int pc_image_write_tables(struct image *m)
{
    struct pc_profile *p = m->profile;
    int err = PC_OK;
    p->tables = pc_pool_array(p->memory, m->n_tables, sizeof *p->tables);
    if (!p->tables)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < m->n_tables && !err; i++)
        err = write_table(m, &m->tables[i], &p->tables[p->n_tables++]);
    return err;
}

/* ---- Pruning -------------------------------------------------------------------------------- */

static void mark_strings(const struct pc_profile *p, uint32_t *marks)
{
    for (uint32_t i = 0; i < p->n_tables; i++) {
        const struct pc_profile_table *t = &p->tables[i];
        for (size_t c = 0; c < (size_t)t->n_rows * t->n_columns; c++)
            if (t->columns[c % t->n_columns].type == PCOLLECT_COLUMN_STRING && t->cells[c])
                marks[t->cells[c] - 1] = 1;
    }
    for (uint32_t i = 0; i < p->n_nodes; i++)
        for (uint32_t s = 0; p->nodes[i].kind == PCOLLECT_NODE_REGION && s < p->n_strings; s++)
            if (pc_hash_bytes(p->strings[s], strlen(p->strings[s]), 0) == p->nodes[i].offset)
                marks[s] = 1;
}

int pc_image_prune_strings(struct image *m)
{
    struct pc_profile *p = m->profile;
    uint32_t *marks = pc_pool_array(m->scratch, p->n_strings, sizeof *marks), n = 0;
    if (!marks)
        return PC_ENOMEM;
    mark_strings(p, marks);
    for (uint32_t i = 0; i < p->n_strings; i++)
        if (marks[i]) {
            marks[i] = n;
            p->strings[n++] = p->strings[i];
        }
    p->n_strings = n;
    n = 0;
    for (uint32_t i = 0; i < p->n_tables; i++) {
        const struct pc_profile_table *t = &p->tables[i];
        for (size_t c = 0; c < (size_t)t->n_rows * t->n_columns; c++)
            if (t->columns[c % t->n_columns].type == PCOLLECT_COLUMN_STRING && t->cells[c])
                t->cells[c] = marks[t->cells[c] - 1] + (uint64_t)1;
        if (t->n_rows)
            p->tables[n++] = *t;
    }
    p->n_tables = n;
    return PC_OK;
}
