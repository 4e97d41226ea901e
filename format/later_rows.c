/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of tables that are read on demand. When a profile is read, only the place of each column is
 * kept: its bytes, or, where there are many rows, a copy of the unpacker before its first cell. A
 * cell is decoded when it is asked for. Callers go through the rows in their order, as a rule: each
 * column has a reader, which holds a window of the file, and moves on. One that goes back again and
 * again would inflate a column many times, so that its table gets cells in memory.
 *
 * Nothing in the bytes is trusted: they have a right checksum, but may be of any content.
 */
#include "format/table_rows.h"
#include "format/unpack.h"

#include <fcntl.h>
#include <unistd.h>

/* Rows from which on a column takes less room as a copy of an unpacker, which has some 50 KB. */
enum { MANY_ROWS = 32768 };
/* Times that a column may be read from its begin again. */
enum { MOST_RETURNS = 4 };

struct pc_later_column {
    struct pc_later_rows *rows;
    struct pc_later_column *next; /* of the list of all */
    struct pc_unpacker *mark;     /* NULL: the bytes are in memory */
    bool is_shared;               /* `mark` belongs to another column */
    struct pc_cursor begin;       /* of `mark` */
    uint64_t most;                /* greatest cell in the file */
    const uint32_t *numbers;      /* by such a cell, what it is here; NULL: the same */
    bool in_steps, has_origin;
    /* The reader. */
    struct pc_unpacker *unpacker; /* NULL: there is none, or the bytes are in memory */
    struct pc_cursor at;
    uint32_t n_read, n_returns;
    struct pc_step_origin from; /* of the next step */
    uint64_t code, cell;        /* of the row that was read last */
    bool damaged;               /* cells are 0 from here on */
};

bool pc_later_open(struct pc_profile *p)
{
    struct pc_later_rows *later = calloc(1, sizeof *later);
    if (later)
        *later = (struct pc_later_rows){.fd = -1, .n_users = 1, .memory = pc_pool_new()};
    if (!later || !later->memory) {
        free(later);
        return false;
    }
    p->later = later;
    return true;
}

void pc_later_close(struct pc_later_rows *later)
{
    if (!later || --later->n_users)
        return;
    for (struct pc_later_column *c = later->columns; c; c = c->next) {
        pc_unpacker_free(c->unpacker);
        if (!c->is_shared)
            pc_unpacker_free(c->mark);
    }
    if (later->fd >= 0)
        close(later->fd);
    pc_pool_free(later->memory);
    free(later);
}

/* ---- Taking the places of columns ------------------------------------------------------------ */

static uint64_t greatest_cell(const struct pc_profile *p, unsigned type)
{
    return type == PCOLLECT_COLUMN_NODE     ? p->n_nodes - (p->n_nodes > 0)
           : type == PCOLLECT_COLUMN_STRING ? p->n_strings
                                            : UINT64_MAX;
}

/* Copies the bytes of the next n cells. False: no memory. */
static bool keep_bytes(struct pc_later_column *column, struct pc_cursor *c, uint64_t n)
{
    struct pc_buffer b = {0};
    while (n && pc_cursor_left(c)) {
        pc_cursor_need(c, 1);
        const uint8_t *at = c->at;
        n = pc_pass_varints(c, n);
        pc_put_bytes(&b, at, (size_t)(c->at - at));
    }
    c->failed |= n != 0;
    uint8_t *data = b.failed ? NULL : pc_pool_array(column->rows->memory, b.n, 1);
    if (data && b.n)
        memcpy(data, b.data, b.n);
    free(b.data);
    column->begin = column->at = pc_cursor_over(data, data ? b.n : 0);
    return data != NULL;
}

/* Copies the unpacker of c, and passes over n cells. False: no memory. */
static bool keep_mark(struct pc_later_column *column, struct pc_cursor *c, uint64_t n)
{
    column->mark = pc_unpacker_copy(c, column->rows->fd, &column->begin);
    while (n && pc_cursor_left(c)) {
        pc_cursor_need(c, 1);
        n = pc_pass_varints(c, n);
    }
    c->failed |= n != 0;
    return column->mark != NULL;
}

int pc_later_take(struct pc_profile *p, struct pc_profile_table *t, struct pc_cursor *c,
                  uint32_t n_rows)
{
    struct pc_later_rows *later = p->later;
    bool many = n_rows > MANY_ROWS;
    if (many && later->fd < 0)
        later->fd = fcntl(pc_unpacker_fd(c), F_DUPFD_CLOEXEC, 0);
    if (many && later->fd < 0)
        return PC_EIO;
    t->later = pc_pool_array(later->memory, t->n_columns, sizeof *t->later);
    if (!t->later)
        return PC_ENOMEM;
    for (uint32_t k = 0; k < t->n_columns; k++) {
        struct pc_later_column *column = &t->later[k];
        *column = (struct pc_later_column){.rows = later,
                                           .next = later->columns,
                                           .most = greatest_cell(p, t->columns[k].type),
                                           .in_steps = pc_column_has_steps(t, k, t->rounded)};
        column->has_origin = column->in_steps && t->has_origins;
        later->columns = column;
        if (!(many ? keep_mark : keep_bytes)(column, c, (uint64_t)n_rows + column->has_origin))
            return PC_ENOMEM;
    }
    t->n_rows = n_rows;
    return PC_OK;
}

/* ---- Other numbers --------------------------------------------------------------------------- */

/* The cell of a merge's result for one in the file. */
static uint32_t renumber(const struct pc_table_side *a, const struct pc_later_column *c,
                         unsigned type, uint32_t cell)
{
    if (c->numbers)
        cell = c->numbers[cell];
    if (type == PCOLLECT_COLUMN_NODE)
        return a->nodes[cell];
    return cell ? a->strings[cell - 1] + 1 : 0;
}

/* False: no memory. */
static bool renumber_column(const struct pc_table_side *a, struct pc_later_column *c, unsigned type)
{
    bool has_nodes = type == PCOLLECT_COLUMN_NODE && a->p->n_nodes > c->most; /* are in memory */
    bool refers = has_nodes || type == PCOLLECT_COLUMN_STRING, same = true;
    for (uint64_t cell = 0; refers && same && cell <= c->most; cell++)
        same = renumber(a, c, type, (uint32_t)cell) == cell;
    if (same)
        return true;
    uint32_t *numbers = pc_pool_array(c->rows->memory, c->most + 1, sizeof *numbers);
    for (uint64_t cell = 0; numbers && cell <= c->most; cell++)
        numbers[cell] = renumber(a, c, type, (uint32_t)cell);
    c->numbers = numbers;
    return numbers != NULL;
}

bool pc_later_pass(const struct pc_table_side *a, const struct pc_profile_table *x,
                   struct pc_profile_table *t)
{
    struct pc_later_rows *later = a->p->later;
    t->later = pc_pool_array(later->memory, t->n_columns, sizeof *t->later);
    bool ok = t->later != NULL;
    for (uint32_t k = 0; ok && k < t->n_columns; k++) {
        const struct pc_later_column *c = &x->later[k];
        t->later[k] = (struct pc_later_column){.rows = later,
                                               .next = later->columns,
                                               .mark = c->mark,
                                               .is_shared = true,
                                               .begin = c->begin,
                                               .at = c->begin,
                                               .most = c->most,
                                               .numbers = c->numbers,
                                               .in_steps = c->in_steps,
                                               .has_origin = c->has_origin};
        later->columns = &t->later[k];
        ok = renumber_column(a, &t->later[k], t->columns[k].type);
    }
    t->n_rows = x->n_rows;
    return ok;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Notes why the rest of a column cannot be read. */
static void give_up(struct pc_later_column *c, const char *table, const char *why)
{
    c->damaged = true;
    if (!*c->rows->error.text)
        pc_error_set(&c->rows->error, PC_EFORMAT, "table '%s': %s (row %u)", table, why, c->n_read);
}

/* Sets the reader before the first row. */
static void begin_column(struct pc_later_column *c, const char *table)
{
    pc_unpacker_free(c->unpacker);
    c->unpacker = NULL;
    c->at = c->begin;
    c->n_read = 0;
    c->code = 0;
    if (c->mark)
        c->unpacker = pc_unpacker_copy(&c->begin, c->rows->fd, &c->at);
    if (c->mark && !c->unpacker)
        give_up(c, table, "not enough memory");
    else
        c->from = pc_step_origin_of(c->has_origin, &c->at);
}

static void read_cell(const struct pc_profile_table *t, struct pc_later_column *c)
{
    if (c->in_steps)
        c->cell = pc_step_value(pc_step_get(&c->from, &c->at));
    else
        c->cell = c->code += pc_unzigzag(pc_get_varint(&c->at));
    if (c->at.failed)
        give_up(c, t->name, "it is damaged");
    if (!c->damaged && c->cell > c->most)
        give_up(c, t->name, "a wrong reference");
    if (!c->damaged && c->numbers)
        c->cell = c->numbers[c->cell];
    c->n_read++;
    if (c->n_read == t->n_rows && c->unpacker) { /* frees its window */
        pc_unpacker_free(c->unpacker);
        c->unpacker = NULL;
    }
}

static uint64_t cell_at(const struct pc_profile_table *t, struct pc_later_column *c, uint32_t row)
{
    if (!c->n_read || row + 1 < c->n_read)
        begin_column(c, t->name);
    while (c->n_read <= row && !c->damaged)
        read_cell(t, c);
    return c->damaged ? 0 : c->cell;
}

int pc_later_make_cells(const struct pc_profile_table *table)
{
    struct pc_profile_table *t = (struct pc_profile_table *)table; /* its later rows own it */
    struct pc_later_rows *later = t->later->rows;
    uint64_t *cells = pc_pool_array(later->memory, t->n_rows, t->n_columns * sizeof *cells);
    bool damaged = false;
    if (!cells)
        return pc_error_set(&later->error, PC_ENOMEM, "table '%s': not enough memory", t->name);
    for (uint32_t k = 0; k < t->n_columns; k++) {
        for (uint32_t r = 0; r < t->n_rows; r++)
            cells[(size_t)r * t->n_columns + k] = cell_at(t, &t->later[k], r);
        damaged |= t->later[k].damaged;
    }
    t->cells = cells;
    return damaged ? PC_EFORMAT : PC_OK;
}

uint64_t pc_table_later_cell(const struct pc_profile_table *t, uint32_t row, uint32_t column)
{
    struct pc_later_column *c = &t->later[column];
    if (row + 1 < c->n_read && ++c->n_returns > MOST_RETURNS) {
        pc_later_make_cells(t);
        if (t->cells)
            return t->cells[(size_t)row * t->n_columns + column];
        c->n_returns = 0;
    }
    return cell_at(t, c, row);
}
