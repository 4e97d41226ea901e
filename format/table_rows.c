/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of tables: see table_rows.h. A column is a run of varints, each the difference to the cell
 * of the row before. Packed rows come from other processes: nothing in them is trusted.
 */
#include "format/table_rows.h"

bool pc_cell_valid(const struct pc_profile *p, unsigned type, uint64_t cell)
{
    switch (type) {
    case PCOLLECT_COLUMN_NODE:
        return cell < p->n_nodes;
    case PCOLLECT_COLUMN_STRING:
        return cell <= p->n_strings;
    default:
        return true;
    }
}

/* ---- Reading -------------------------------------------------------------------------------- */

void pc_row_reader_open(struct pc_row_reader *r, const struct pc_table_side *side,
                        const struct pc_profile_table *table)
{
    r->side = side;
    r->table = table;
    r->n_read = 0;
    r->failed = false;
    memset(r->cells, 0, sizeof r->cells);
    for (uint32_t i = 0; table && table->packed && i < table->n_columns; i++) {
        const struct pc_bytes *c = &table->packed[i];
        r->columns[i] = pc_cursor_over(c->data, c->n);
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
        r->failed |= r->columns[i].failed || !pc_cell_valid(r->side->p, t->columns[i].type, cell);
    }
    r->failed |= !follows || precedes;
    return !r->failed;
}

bool pc_row_reader_next(struct pc_row_reader *r)
{
    const struct pc_profile_table *t = r->table;
    if (r->failed || !t || r->n_read == t->n_rows || (t->packed && !unpack(r)))
        return false;
    const uint64_t *cells = t->packed ? r->cells : t->cells + (size_t)r->n_read * t->n_columns;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        uint64_t cell = cells[i];
        if (t->columns[i].type == PCOLLECT_COLUMN_NODE)
            cell = r->side->nodes[cell];
        else if (t->columns[i].type == PCOLLECT_COLUMN_STRING && cell)
            cell = r->side->strings[cell - 1] + (uint64_t)1;
        r->row[i] = cell;
    }
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

static bool keep(const struct pc_buffer *b, struct pc_pool *pool, struct pc_bytes *out)
{
    uint8_t *data = b->failed ? NULL : pc_pool_array(pool, b->n, 1);
    if (data && b->n)
        memcpy(data, b->data, b->n);
    *out = (struct pc_bytes){data, b->n};
    return data != NULL;
}

bool pc_row_writer_close(struct pc_row_writer *w, struct pc_pool *pool)
{
    struct pc_profile_table *t = w->table;
    bool ok = t->packed || t->cells;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        ok &= !t->packed || keep(&w->columns[i], pool, &t->packed[i]);
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
        pc_rows_put(t, i, false, &b);
        ok = keep(&b, pool, &packed[i]);
        free(b.data);
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

void pc_rows_put(const struct pc_profile_table *t, uint32_t k, bool in_steps, struct pc_buffer *b)
{
    struct pc_cursor c = {.failed = false};
    uint64_t cell = 0, last = 0;
    if (t->packed)
        c = pc_cursor_over(t->packed[k].data, t->packed[k].n);
    for (uint32_t r = 0; r < t->n_rows; r++) {
        cell = t->packed ? cell + pc_unzigzag(pc_get_varint(&c)) : pc_table_cell(t, r, k);
        uint64_t code = in_steps ? pc_step_of(cell) : cell;
        pc_put_varint(b, pc_zigzag(code - last));
        last = code;
    }
}

void pc_rows_get(struct pc_profile_table *t, uint32_t k, struct pc_cursor *c)
{
    bool in_steps = pc_column_has_steps(t, k, t->rounded);
    uint64_t code = 0;
    for (uint32_t r = 0; r < t->n_rows; r++) {
        code += pc_unzigzag(pc_get_varint(c));
        c->failed |= in_steps && !pc_step_valid(code);
        t->cells[(size_t)r * t->n_columns + k] =
            in_steps && !c->failed ? pc_step_value(code) : code;
    }
}

bool pc_rows_take(struct pc_profile_table *t, struct pc_pool *pool, struct pc_cursor *c,
                  uint32_t n_rows)
{
    const uint8_t *begin = c->at;
    t->packed = pc_pool_array(pool, t->n_columns, sizeof *t->packed);
    if (!t->packed)
        return false;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const uint8_t *at = c->at;
        c->failed |= pc_pass_varints(c, n_rows) != 0;
        t->packed[i].n = (size_t)(c->at - at);
    }
    t->n_rows = n_rows;
    uint8_t *data = pc_pool_array(pool, (size_t)(c->at - begin), 1);
    if (!data)
        return false;
    memcpy(data, begin, (size_t)(c->at - begin));
    for (uint32_t i = 0; i < t->n_columns; data += t->packed[i++].n)
        t->packed[i].data = data;
    return true;
}
