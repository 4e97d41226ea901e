/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of tables: see table_rows.h. A column is a run of varints, each the difference to the cell
 * of the row before. Packed rows come from other processes: nothing in them is trusted.
 */
#include "format/table_rows.h"

enum { SHORT_RUN = 8 }; /* rows */

bool pc_cell_valid(const struct pc_profile *p, unsigned type, uint64_t cell)
{
    switch (type) {
    case PCOLLECT_COLUMN_NODE:
        return cell < p->n_nodes || p->later_contexts; /* those were checked as they were read */
    case PCOLLECT_COLUMN_STRING:
        return cell <= p->n_strings;
    default:
        return true;
    }
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool is_reference(const struct pc_profile_column *c)
{
    return c->type == PCOLLECT_COLUMN_NODE || c->type == PCOLLECT_COLUMN_STRING;
}

void pc_row_reader_open(struct pc_row_reader *r, const struct pc_table_side *side,
                        const struct pc_profile_table *table)
{
    r->side = side;
    r->table = table;
    r->n_read = 0;
    r->n_references = 0;
    r->failed = false;
    memset(r->cells, 0, sizeof r->cells);
    for (uint32_t i = 0; table && i < table->n_columns; i++) {
        if (table->packed)
            r->columns[i] = pc_cursor_over(table->packed[i].data, table->packed[i].n);
        if (is_reference(&table->columns[i]))
            r->references[r->n_references++] = i;
    }
}

/* The next row of a packed table in r->cells. False: it is damaged, or does not follow the one
 * before. */
static bool unpack(struct pc_row_reader *r)
{
    const struct pc_profile_table *t = r->table;
    bool follows = !r->n_read, precedes = false;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        uint64_t cell = r->cells[i] + pc_unzigzag(pc_get_varint(&r->columns[i]));
        if (i < t->n_keys && !follows) {
            follows = cell > r->cells[i];
            precedes |= cell < r->cells[i];
        }
        r->cells[i] = cell;
        r->failed |= r->columns[i].failed;
    }
    for (uint32_t i = 0; i < r->n_references; i++) {
        uint32_t k = r->references[i];
        r->failed |= !pc_cell_valid(r->side->p, t->columns[k].type, r->cells[k]);
    }
    r->failed |= !follows || precedes;
    return !r->failed;
}

/* The number that a cell of column i, which refers to something, has in the result. */
static uint64_t renumber(const struct pc_row_reader *r, uint32_t i, uint64_t cell)
{
    if (r->table->columns[i].type == PCOLLECT_COLUMN_NODE) /* those left in the file stay */
        return r->side->p->later_contexts ? cell : r->side->nodes[cell];
    return cell ? r->side->strings[cell - 1] + (uint64_t)1 : 0;
}

bool pc_row_reader_next(struct pc_row_reader *r)
{
    const struct pc_profile_table *t = r->table;
    if (r->failed || !t || r->n_read == t->n_rows || (t->packed && !unpack(r)))
        return false;
    const uint64_t *cells = t->packed ? r->cells : t->cells + (size_t)r->n_read * t->n_columns;
    memcpy(r->row, cells, t->n_columns * sizeof *cells);
    for (uint32_t i = 0; i < r->n_references; i++)
        r->row[r->references[i]] = renumber(r, r->references[i], cells[r->references[i]]);
    r->n_read++;
    return true;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static size_t packed_bytes(const struct pc_profile_table *t, uint32_t column)
{
    return t && t->packed ? t->packed[column].n : 0;
}

bool pc_row_writer_open(struct pc_row_writer *w, struct pc_pool *pool, struct pc_profile_table *t,
                        const struct pc_profile_table *a, const struct pc_profile_table *b)
{
    *w = (struct pc_row_writer){.table = t};
    t->n_rows = 0;
    if ((a && a->packed) || (b && b->packed)) {
        /* Reserves at once what large columns will take. */
        for (uint32_t i = 0; i < t->n_columns; i++)
            pc_buffer_end(&w->columns[i], packed_bytes(a, i) + packed_bytes(b, i));
        t->packed = pc_pool_array(pool, t->n_columns, sizeof *t->packed);
        return t->packed != NULL;
    }
    size_t n = (size_t)(a ? a->n_rows : 0) + (b ? b->n_rows : 0);
    t->cells = pc_pool_array(pool, n, t->n_columns * sizeof *t->cells);
    return t->cells != NULL;
}

void pc_row_writer_put(struct pc_row_writer *w, const uint64_t *row)
{
    struct pc_profile_table *t = w->table;
    if (t->cells)
        memcpy(t->cells + (size_t)t->n_rows * t->n_columns, row, t->n_columns * sizeof *row);
    for (uint32_t i = 0; t->packed && i < t->n_columns; i++) {
        pc_put_varint(&w->columns[i], pc_zigzag(row[i] - w->last[i]));
        w->last[i] = row[i];
    }
    t->n_rows++;
}

/* Rows behind the present one of a reader that follow each other. */
struct run {
    uint32_t n;
    const uint8_t *end[2]; /* of its first two keys */
    uint64_t cells[2];     /* of its last row */
};

/* Finds the rows that are seen by their first two keys to follow each other and to precede `until`;
 * none for a few, which are not worth it. */
static struct run find_run(const struct pc_row_reader *r, const uint64_t *until)
{
    const struct pc_profile_table *t = r->table;
    struct pc_cursor c0 = r->columns[0], c1 = r->columns[1];
    struct run run = {.cells = {r->cells[0], r->cells[1]}};
    bool two = t->n_keys > 1;
    uint32_t left = t->n_rows - r->n_read;
    if (until && (is_reference(&t->columns[0]) || (two && is_reference(&t->columns[1]))))
        return run;
    for (; run.n < left; run.n++) {
        uint64_t next0 = run.cells[0] + pc_unzigzag(pc_get_varint(&c0));
        uint64_t next1 = two ? run.cells[1] + pc_unzigzag(pc_get_varint(&c1)) : 0;
        bool follows =
            next0 > run.cells[0] || (next0 == run.cells[0] && two && next1 > run.cells[1]);
        bool precedes =
            !until || next0 < until[0] || (next0 == until[0] && two && next1 < until[1]);
        if (!follows || !precedes || c0.failed || c1.failed)
            break;
        run.cells[0] = next0;
        run.cells[1] = next1;
        run.end[0] = c0.at;
        run.end[1] = c1.at;
    }
    run.n = run.n >= SHORT_RUN ? run.n : 0;
    return run;
}

/* Copies the cells of a run in column i, which do not change. If no row of either side follows it,
 * what they add up to is not needed. */
static void copy_cells(struct pc_row_writer *w, struct pc_row_reader *r, uint32_t i,
                       const struct run *run, bool is_last)
{
    struct pc_cursor *c = &r->columns[i];
    const uint8_t *at = c->at;
    if (i < 2 && i < r->table->n_keys) {
        c->at = run->end[i];
        r->cells[i] = run->cells[i];
    } else if (is_last && !pc_any_long_varint(c)) {
        c->at = c->end;
    } else {
        r->cells[i] += pc_sum_zigzags(c, run->n);
    }
    pc_put_bytes(&w->columns[i], at, (size_t)(c->at - at));
    w->last[i] = r->cells[i];
}

/* Copies the cells of a run in column i, which refer to something. */
static void copy_references(struct pc_row_writer *w, struct pc_row_reader *r, uint32_t i,
                            uint32_t n)
{
    struct pc_cursor *c = &r->columns[i];
    uint64_t cell = r->cells[i], last = w->last[i];
    for (uint32_t k = 0; k < n && !r->failed; k++) {
        if (k && n - k >= 8 && c->end - c->at >= 8 && !pc_load_word(c->at)) {
            pc_put_bytes(&w->columns[i], c->at, 8); /* eight cells like the one above */
            c->at += 8;
            k += 7;
            continue;
        }
        cell += pc_unzigzag(pc_get_varint(c));
        r->failed |= !pc_cell_valid(r->side->p, r->table->columns[i].type, cell);
        uint64_t number = r->failed ? 0 : renumber(r, i, cell);
        pc_put_varint(&w->columns[i], pc_zigzag(number - last));
        last = number;
    }
    r->cells[i] = cell;
    w->last[i] = last;
}

void pc_row_writer_copy(struct pc_row_writer *w, struct pc_row_reader *r, const uint64_t *until)
{
    if (!w->table->packed || !r->table->packed || r->failed)
        return;
    struct run run = find_run(r, until);
    bool is_last = !until && run.n == r->table->n_rows - r->n_read;
    for (uint32_t i = 0; run.n && i < r->table->n_columns; i++) {
        if (is_reference(&r->table->columns[i]))
            copy_references(w, r, i, run.n);
        else
            copy_cells(w, r, i, &run, is_last);
        r->failed |= r->columns[i].failed;
    }
    r->n_read += run.n;
    w->table->n_rows += run.n;
}

/* Leaves the bytes of b to the pool. */
static bool keep(struct pc_buffer *b, struct pc_pool *pool, struct pc_bytes *out)
{
    uint8_t *shorter = b->failed ? NULL : realloc(b->data, b->n + 1);
    uint8_t *data = shorter ? shorter : b->data;
    *out = (struct pc_bytes){data, b->n};
    return pc_pool_adopt(pool, data) && !b->failed;
}

bool pc_row_writer_close(struct pc_row_writer *w, struct pc_pool *pool)
{
    struct pc_profile_table *t = w->table;
    bool ok = t->packed || t->cells;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (t->packed)
            ok &= keep(&w->columns[i], pool, &t->packed[i]);
        else
            free(w->columns[i].data);
    }
    return ok;
}

bool pc_rows_pack(struct pc_profile_table *t, struct pc_pool *pool)
{
    struct pc_bytes *packed = pc_pool_array(pool, t->n_columns, sizeof *packed);
    bool ok = packed != NULL;
    for (uint32_t i = 0; ok && i < t->n_columns; i++) {
        struct pc_buffer b = {0};
        pc_rows_put(t, i, &b);
        ok = keep(&b, pool, &packed[i]);
    }
    if (ok) {
        t->packed = packed;
        t->cells = NULL;
    }
    return ok;
}

bool pc_table_rounds(const struct pc_profile_table *t)
{
    bool by_rank = false;
    for (uint32_t i = 0; i < t->n_keys && t->n_rows > PC_TABLE_EXACT_ROWS; i++)
        by_rank |= t->columns[i].type == PCOLLECT_COLUMN_RANK;
    return by_rank;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* A column, from its first row on. */
struct column {
    const struct pc_profile_table *t;
    uint32_t k, row;
    struct pc_cursor c; /* of packed cells */
    uint64_t cell;
};

static struct column open_column(const struct pc_profile_table *t, uint32_t k)
{
    struct column column = {.t = t, .k = k};
    if (t->packed)
        column.c = pc_cursor_over(t->packed[k].data, t->packed[k].n);
    return column;
}

static uint64_t next_cell(struct column *c)
{
    c->cell = c->t->packed ? c->cell + pc_unzigzag(pc_get_varint(&c->c))
                           : pc_table_cell(c->t, c->row++, c->k);
    return c->cell;
}

void pc_rows_put(const struct pc_profile_table *t, uint32_t k, struct pc_buffer *b)
{
    struct column c = open_column(t, k);
    uint64_t last = 0;
    for (uint32_t r = 0; r < t->n_rows; r++) {
        uint64_t cell = next_cell(&c);
        pc_put_varint(b, pc_zigzag(cell - last));
        last = cell;
    }
}

void pc_rows_put_steps(const struct pc_profile_table *t, uint32_t k, struct pc_buffer *b)
{
    struct pc_step_survey survey = {.n = 0};
    struct column c = open_column(t, k);
    for (uint32_t r = 0; r < t->n_rows; r++)
        pc_step_survey_add(&survey, pc_step_of(next_cell(&c)));
    struct pc_step_origin from = pc_step_survey_origin(&survey);
    pc_step_origin_put(&from, b);
    c = open_column(t, k);
    for (uint32_t r = 0; r < t->n_rows; r++)
        pc_step_put(&from, pc_step_of(next_cell(&c)), b);
}

static void get_steps(struct pc_profile_table *t, uint32_t k, struct pc_cursor *c)
{
    struct pc_step_origin from = pc_step_origin_of(t->has_origins, c);
    for (uint32_t r = 0; r < t->n_rows; r++)
        t->cells[(size_t)r * t->n_columns + k] = pc_step_value(pc_step_get(&from, c));
}

void pc_rows_get(struct pc_profile_table *t, uint32_t k, struct pc_cursor *c)
{
    uint64_t cell = 0;
    if (pc_column_has_steps(t, k, t->rounded)) {
        get_steps(t, k, c);
        return;
    }
    for (uint32_t r = 0; r < t->n_rows; r++) {
        cell += pc_unzigzag(pc_get_varint(c));
        t->cells[(size_t)r * t->n_columns + k] = cell;
    }
}

bool pc_rows_take(struct pc_profile_table *t, struct pc_pool *pool, struct pc_cursor *c,
                  uint32_t n_rows)
{
    t->packed = pc_pool_array(pool, t->n_columns, sizeof *t->packed);
    if (!t->packed)
        return false;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const uint8_t *at = c->at;
        c->failed |= pc_pass_varints(c, n_rows) != 0;
        t->packed[i] = (struct pc_bytes){at, (size_t)(c->at - at)};
    }
    t->n_rows = n_rows;
    return true;
}
