/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values by rank in a .pcol file, exact ones and times in steps in a section each. The records of a
 * section are grouped into runs; the ranks of a run, and the values of each field in it, are blocks
 * of their own: reading one field of one record inflates two blocks. Exact values may instead be in
 * shares (value_shares.c): columns of some ranks each, which are joined when they are read.
 *
 * Data structure of a reader: the position of each block, and a small direct-mapped store of
 * inflated blocks. Invariant: a block is read only if its bytes may hold one value for each rank of
 * its run; values have at most STORE_BYTES, or one block. Ranks have half of that, and twice
 * as much beside steps. All shares have SHARES_BYTES of values, or one block each.
 *
 * Called by pcol_read.c and value_shares.c, and by pc_data_by_rank. It must not use more memory
 * than stated: profiles of many ranks are larger than the memory of their reader.
 */
#include "format/value_blocks.h"

#include "format/later_contexts.h"

#include <string.h>
#include <unistd.h>

enum { MOST_PLACES = 256 };
#define STORE_BYTES ((size_t)512 << 10)
#define SHARES_BYTES ((size_t)64 << 20)

/* Column 0 has ranks; the others have the scalar fields in their order, of steps those of times. */
enum { RANKS };

/* Rows of the records that a column has: all, those with fields of comm plugins, or the rest. */
enum { ROWS_ALL, ROWS_COMM, ROWS_REST, N_ROWS };

struct run {
    uint32_t first, n; /* records, by their numbers in this file */
    uint32_t n_rows[N_ROWS];
};

struct block {
    uint64_t at; /* offset in the file */
    uint64_t stored, raw;
    bool deflated;
};

struct place {
    uint32_t run, column; /* PC_NO_INDEX: empty */
    size_t room;          /* elements */
    union {
        int32_t *ranks;
        uint64_t *values;
        uint16_t *steps;
        void *memory;
    } in;
};

struct record {
    uint32_t run;
    uint32_t n_ranks, row[N_ROWS]; /* first of its rows */
    bool has_comm;
};

struct pc_columns {
    int fd;
    enum pc_kept kind;
    unsigned n_users; /* profiles that read from it */
    uint32_t n_runs, n_columns, n_records, n_places;
    struct run *runs;
    struct block *blocks; /* n_columns of each run */
    struct record *records;
    uint32_t *column_of; /* by field; 0: it has none */
    uint8_t *rows;       /* by column */
    struct place *ranks, *values;
    struct pc_error error; /* the first one */
    /* Columns of each share, in the order of ranks, if values are in shares; and the ranks
     * and values of the record that was asked for last. There are no runs then. */
    struct pc_columns **shares;
    uint32_t n_shares;
    struct place joined_ranks, joined;
    /* First rank of a share, and the numbers of its records, ascending. */
    int32_t first_rank;
    uint32_t *numbers;
};

/* ---- Read: bytes ---------------------------------------------------------------------------- */

/* The name of the section. */
static const char *name_of(const struct pc_columns *c)
{
    return c->kind == PC_KEPT_STEPS ? "steps" : "columns";
}

static int damaged(const struct pc_columns *c, struct pc_error *error, const char *what)
{
    return pc_error_set(error, PC_EFORMAT, "section '%s': %s", name_of(c), what);
}

static int read_bytes(int fd, uint64_t at, uint64_t n, uint8_t *out, struct pc_error *error)
{
    size_t got;
    int failed = pc_pcol_read_at(fd, out, n, at, &got);
    if (!failed && got == n)
        return PC_OK;
    return pc_error_set(error, PC_EIO, "cannot be read: %s",
                        failed ? strerror(failed) : "it has become shorter");
}

/* Reads and inflates a block; the caller frees *out. */
static int read_packed(int fd, const struct block *b, uint8_t **out, struct pc_error *error)
{
    uint8_t *stored = malloc(b->stored + 1);
    if (!stored)
        return pc_error_set(error, PC_ENOMEM, "not enough memory for %lu bytes",
                            (unsigned long)b->stored);
    int err = read_bytes(fd, b->at, b->stored, stored, error);
    *out = err ? NULL : pc_pcol_unpack(stored, b->stored, b->raw, b->deflated, error);
    free(stored);
    return err ? err : *out ? PC_OK : PC_EFORMAT;
}

/* ---- Read: opening -------------------------------------------------------------------------- */

/* The next number in the index of steps; *at is 0 at first. */
static uint32_t next_number(struct pc_cursor *in, uint32_t *at)
{
    uint32_t number = *at + (uint32_t)pc_get_below(in, PC_NO_INDEX - 1 - *at);
    *at = number + 1;
    return number;
}

/* A record by its number in the file, or NULL. */
static struct pc_profile_data *record_numbered(struct pc_profile *p, uint32_t number)
{
    if (p->later_contexts)
        return pc_later_contexts_record(p, number);
    return number < p->n_data ? &p->data[number] : NULL;
}

/* Marks the records with times in steps, which the index names. */
static void mark_records(struct pc_profile *p, struct pc_cursor *in)
{
    uint32_t n = pc_get_count(in, 1), at = 0;
    for (uint32_t i = 0; i < n && !in->failed; i++) {
        uint32_t number = next_number(in, &at);
        struct pc_profile_data *d = in->failed ? NULL : record_numbered(p, number);
        in->failed |= !d || d->kept || !pc_data_n_steps(p, d);
        if (in->failed)
            return;
        d->kept = PC_KEPT_STEPS;
    }
}

/* Takes the records of a share. */
static int take_records(struct pc_columns *c, const struct pc_columns_shape *shape)
{
    c->n_records = shape->n_records;
    c->first_rank = shape->first_rank;
    c->records = calloc((size_t)c->n_records + 1, sizeof *c->records);
    c->numbers = malloc((size_t)c->n_records * sizeof *c->numbers + 1);
    if (!c->records || !c->numbers)
        return PC_ENOMEM;
    memcpy(c->numbers, shape->numbers, c->n_records * sizeof *c->numbers);
    for (uint32_t i = 0; i < c->n_records; i++)
        c->records[i] =
            (struct record){.n_ranks = shape->n_ranks[i], .has_comm = shape->has_comm[i]};
    return PC_OK;
}

/* Numbers the records that keep values of this kind. */
static int number_records(struct pc_columns *c, struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_data; i++)
        c->n_records += p->data[i].kept == c->kind;
    c->records = calloc((size_t)c->n_records + 1, sizeof *c->records);
    if (!c->records)
        return PC_ENOMEM;
    for (uint32_t i = 0, n = 0; i < p->n_data; i++) {
        struct pc_profile_data *d = &p->data[i];
        if (d->kept != c->kind)
            continue;
        c->records[n] =
            (struct record){.n_ranks = d->n_ranks, .has_comm = d->first_field < p->n_comm};
        d->stored = n++;
    }
    return PC_OK;
}

static int number_columns(struct pc_columns *c, const struct pc_profile *p,
                          const struct pc_columns_shape *shape)
{
    uint32_t n_fields = shape ? shape->n_fields : p->n_fields, n = 1;
    c->n_columns = 1;
    for (uint32_t i = 0; i < n_fields; i++)
        c->n_columns += pc_columns_have(p, shape ? shape->fields[i] : i, c->kind);
    c->column_of = calloc((size_t)p->n_fields + 1, sizeof *c->column_of);
    c->rows = calloc(c->n_columns, sizeof *c->rows);
    if (!c->column_of || !c->rows)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n_fields; i++) {
        uint32_t k = shape ? shape->fields[i] : i;
        if (!pc_columns_have(p, k, c->kind))
            continue;
        c->rows[n] = k < p->n_comm ? ROWS_COMM : c->kind == PC_KEPT_STEPS ? ROWS_REST : ROWS_ALL;
        c->column_of[k] = n++;
    }
    return PC_OK;
}

/* Gives the records of a run their rows. False: there are too many. */
static bool number_rows(struct pc_columns *c, uint32_t number)
{
    struct run *run = &c->runs[number];
    for (uint32_t i = run->first; i < run->first + run->n; i++) {
        struct record *record = &c->records[i];
        record->run = number;
        for (unsigned rows = 0; rows < N_ROWS; rows++) {
            bool counts = rows == ROWS_ALL || record->has_comm == (rows == ROWS_COMM);
            record->row[rows] = run->n_rows[rows];
            if (__builtin_add_overflow(run->n_rows[rows], counts ? record->n_ranks : 0,
                                       &run->n_rows[rows]))
                return false;
        }
    }
    return true;
}

static uint32_t rows_of(const struct pc_columns *c, const struct run *run, uint32_t column)
{
    return run->n_rows[c->rows[column]];
}

/* True if the block may have these rows: each value takes at least a byte, and at most a number
 * that is in front of it, and itself. */
static bool block_is_possible(const struct block *b, uint32_t n_rows)
{
    return b->raw >= n_rows && b->raw / 20 <= n_rows &&
           (b->deflated ? b->raw / 1032 <= b->stored : b->raw == b->stored);
}

/* Decodes the blocks of a run, which fill [*at, end) without gaps. */
static void decode_run(struct pc_columns *c, struct pc_cursor *in, uint32_t number, uint64_t *at,
                       uint64_t end)
{
    struct run *run = &c->runs[number];
    run->first = number ? run[-1].first + run[-1].n : 0;
    run->n = (uint32_t)pc_get_below(in, c->n_records - run->first);
    if (!number_rows(c, number))
        in->failed = true;
    for (uint32_t k = 0; k < c->n_columns && !in->failed; k++) {
        struct block *b = &c->blocks[(size_t)number * c->n_columns + k];
        uint64_t head = pc_get_varint(in);
        *b = (struct block){.at = *at, .stored = head >> 1, .raw = head >> 1, .deflated = head & 1};
        if (b->deflated)
            b->raw = pc_get_varint(in);
        in->failed |= b->stored > end - *at || !block_is_possible(b, rows_of(c, run, k));
        *at += b->stored;
    }
}

static int decode_index(struct pc_columns *c, struct pc_cursor *in, uint64_t at, uint64_t end,
                        struct pc_error *error)
{
    c->runs = calloc((size_t)c->n_runs + 1, sizeof *c->runs);
    c->blocks = calloc((size_t)c->n_runs * c->n_columns + 1, sizeof *c->blocks);
    if (!c->runs || !c->blocks)
        return pc_error_set(error, PC_ENOMEM, "not enough memory");
    for (uint32_t i = 0; i < c->n_runs && !in->failed; i++)
        decode_run(c, in, i, &at, end);
    uint32_t n = c->n_runs ? c->runs[c->n_runs - 1].first + c->runs[c->n_runs - 1].n : 0;
    if (in->failed || in->at != in->end || at != end || n != c->n_records)
        return damaged(c, error, "its index is damaged");
    return PC_OK;
}

/* Reads the bytes of the index, which the caller frees, and says where they are. */
static int load_index(struct pc_columns *c, uint64_t at, uint64_t n, struct block *index,
                      uint64_t *n_runs_out, uint8_t **out, struct pc_error *error)
{
    uint8_t head[PC_COLUMNS_HEAD_BYTES];
    if (n < PC_COLUMNS_HEAD_BYTES)
        return damaged(c, error, "it is too short");
    int err = read_bytes(c->fd, at, PC_COLUMNS_HEAD_BYTES, head, error);
    if (err)
        return err;
    uint64_t stored = pc_load_le(head, 8);
    *index = (struct block){.at = at + PC_COLUMNS_HEAD_BYTES,
                            .stored = stored >> 1,
                            .raw = pc_load_le(head + 8, 8),
                            .deflated = stored & 1};
    *n_runs_out = pc_load_le(head + 16, 8);
    if (index->stored > n - PC_COLUMNS_HEAD_BYTES)
        return damaged(c, error, "its index is too long");
    return read_packed(c->fd, index, out, error);
}

uint32_t *pc_columns_numbers(const struct pc_stored_columns *from, uint32_t *n_out)
{
    struct pc_columns c = {.fd = from->fd, .kind = PC_KEPT_STEPS};
    struct pc_error error;
    struct block index;
    uint64_t n_runs;
    uint8_t *raw;
    if (load_index(&c, from->at, from->n, &index, &n_runs, &raw, &error))
        return NULL;
    struct pc_cursor in = pc_cursor_over(raw, index.raw);
    uint32_t n = pc_get_count(&in, 1), at = 0, *numbers = malloc((size_t)n * sizeof *numbers + 1);
    for (uint32_t i = 0; numbers && i < n && !in.failed; i++)
        numbers[i] = next_number(&in, &at);
    free(raw);
    if (in.failed) {
        free(numbers);
        numbers = NULL;
    }
    *n_out = numbers ? n : 0;
    return numbers;
}

/* `shape`: of a share; NULL: the records are those of p. */
static int read_index(struct pc_columns *c, struct pc_profile *p,
                      const struct pc_columns_shape *shape, uint64_t at, uint64_t n,
                      struct pc_error *error)
{
    struct block index;
    uint64_t n_runs;
    uint8_t *raw;
    int err = load_index(c, at, n, &index, &n_runs, &raw, error);
    if (err)
        return err;
    c->n_runs = n_runs <= index.raw / (c->n_columns + 1) ? (uint32_t)n_runs : 0;
    struct pc_cursor in = pc_cursor_over(raw, index.raw);
    if (c->kind == PC_KEPT_STEPS)
        mark_records(p, &in);
    if (in.failed)
        err = damaged(c, error, "its index is damaged");
    else if (shape ? take_records(c, shape) : number_records(c, p))
        err = pc_error_set(error, PC_ENOMEM, "not enough memory");
    else
        err = decode_index(c, &in, index.at + index.stored, at + n, error);
    free(raw);
    return err;
}

static size_t value_bytes(const struct pc_columns *c)
{
    return c->kind == PC_KEPT_STEPS ? sizeof(uint16_t) : sizeof(uint64_t);
}

/* Makes as many places as a store of so many bytes has room for, assuming the longest run. */
static int make_places(struct pc_columns *c, size_t store_bytes)
{
    size_t most = 1;
    for (uint32_t i = 0; i < c->n_runs; i++)
        most = c->runs[i].n_rows[ROWS_ALL] > most ? c->runs[i].n_rows[ROWS_ALL] : most;
    size_t n = store_bytes / (most * value_bytes(c));
    c->n_places = n < 1 ? 1 : n > MOST_PLACES ? MOST_PLACES : (uint32_t)n;
    c->ranks = calloc(c->n_places, sizeof *c->ranks);
    c->values = calloc(c->n_places, sizeof *c->values);
    if (!c->ranks || !c->values)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < c->n_places; i++)
        c->ranks[i].run = c->values[i].run = PC_NO_INDEX;
    return PC_OK;
}

static struct pc_columns *new_columns(enum pc_kept kind, int fd)
{
    struct pc_columns *c = calloc(1, sizeof *c);
    if (c)
        *c = (struct pc_columns){.fd = fd, .kind = kind, .n_users = 1};
    return c;
}

/* Closes columns, but not their file. */
static void give_up(struct pc_columns *c)
{
    c->fd = -1;
    pc_columns_close(c);
}

/* Opens columns of that kind; without a shape they are those of all records of p. The file stays
 * the caller's if it fails. */
static int open_columns(struct pc_profile *p, enum pc_kept kind,
                        const struct pc_columns_shape *shape, const struct pc_stored_columns *from,
                        struct pc_columns **out, struct pc_error *error)
{
    struct pc_columns *c = new_columns(kind, from->fd);
    int err = c ? number_columns(c, p, shape) : PC_ENOMEM;
    if (!err)
        err = read_index(c, p, shape, from->at, from->n, error);
    if (!err)
        err = make_places(c, shape ? SHARES_BYTES / shape->n_shares : STORE_BYTES);
    if (err == PC_ENOMEM)
        pc_error_set(error, err, "not enough memory");
    if (!err)
        *out = c;
    else if (c)
        give_up(c);
    return err;
}

int pc_columns_open(struct pc_profile *p, enum pc_kept kind, const struct pc_stored_columns *from,
                    struct pc_error *error)
{
    return open_columns(p, kind, NULL, from, kind == PC_KEPT_STEPS ? &p->steps : &p->columns,
                        error);
}

/* ---- Shares --------------------------------------------------------------------------------- */

int pc_columns_begin_shares(struct pc_profile *p, int fd, uint32_t n)
{
    struct pc_columns *c = new_columns(PC_KEPT_EXACT, fd);
    int err = c ? number_records(c, p) : PC_ENOMEM;
    if (!err && !(c->shares = calloc((size_t)n + 1, sizeof(struct pc_columns *))))
        err = PC_ENOMEM;
    if (!err)
        p->columns = c;
    else if (c)
        give_up(c);
    return err;
}

int pc_columns_add_share(struct pc_profile *p, const struct pc_columns_shape *shape,
                         const struct pc_stored_columns *from)
{
    struct pc_columns *c = p->columns;
    int err = open_columns(p, c->kind, shape, from, &c->shares[c->n_shares], NULL);
    c->n_shares += !err;
    return err;
}

void pc_columns_give_up(struct pc_profile *p)
{
    give_up(p->columns);
    p->columns = NULL;
}

/* Leaves statistics alone of those records of which ranks are missing. */
static uint32_t drop_incomplete(const struct pc_columns *c, const uint32_t *n_rows,
                                struct pc_profile *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_data; i++) {
        struct pc_profile_data *d = &p->data[i];
        if (d->kept != c->kind || n_rows[d->stored] == d->n_ranks)
            continue;
        d->kept = PC_KEPT_NONE;
        n++;
    }
    return n;
}

int pc_columns_end_shares(struct pc_profile *p, uint32_t *n_dropped_out)
{
    const struct pc_columns *c = p->columns;
    uint32_t *n_rows = calloc((size_t)c->n_records + 1, sizeof *n_rows);
    if (!n_rows)
        return PC_ENOMEM;
    for (uint32_t s = 0; s < c->n_shares; s++) {
        const struct pc_columns *share = c->shares[s];
        for (uint32_t i = 0; i < share->n_records; i++)
            n_rows[share->numbers[i]] += share->records[i].n_ranks;
    }
    *n_dropped_out = drop_incomplete(c, n_rows, p);
    free(n_rows);
    return PC_OK;
}

struct pc_columns *pc_columns_share(struct pc_columns *c)
{
    c->n_users++;
    return c;
}

void pc_columns_close(struct pc_columns *c)
{
    if (!c || --c->n_users)
        return;
    for (uint32_t i = 0; i < c->n_places; i++) {
        if (c->ranks)
            free(c->ranks[i].in.memory);
        if (c->values)
            free(c->values[i].in.memory);
    }
    for (uint32_t i = 0; i < c->n_shares; i++)
        give_up(c->shares[i]);
    if (c->fd >= 0)
        close(c->fd);
    free(c->shares);
    free(c->numbers);
    free(c->joined_ranks.in.memory);
    free(c->joined.in.memory);
    free(c->runs);
    free(c->blocks);
    free(c->records);
    free(c->column_of);
    free(c->rows);
    free(c->ranks);
    free(c->values);
    free(c);
}

/* ---- Read: blocks --------------------------------------------------------------------------- */

static bool make_room(struct place *place, size_t n, size_t size)
{
    if (n <= place->room)
        return true;
    free(place->in.memory);
    place->in.memory = malloc(n * size);
    place->room = place->in.memory ? n : 0;
    return place->in.memory != NULL;
}

static int decode_block(const struct pc_columns *c, uint32_t run, uint32_t column,
                        struct pc_cursor *in, struct place *place)
{
    const struct run *r = &c->runs[run];
    uint32_t row = 0;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        uint32_t n = c->records[i].n_ranks;
        if (c->rows[column] != ROWS_ALL && c->records[i].has_comm != (c->rows[column] == ROWS_COMM))
            continue;
        if (column == RANKS)
            pc_ranks_get(in, n, place->in.ranks + row);
        else if (c->kind == PC_KEPT_STEPS)
            pc_steps_get(in, n, place->in.steps + row, 1);
        else if (c->numbers)
            pc_share_column_get(in, n, place->in.values + row);
        else
            pc_column_get(in, n, place->in.values + row, 1);
        row += n;
    }
    return in->failed || in->at != in->end ? PC_EFORMAT : PC_OK;
}

static int fill_place(struct pc_columns *c, uint32_t run, uint32_t column, struct place *place)
{
    size_t n = rows_of(c, &c->runs[run], column);
    uint8_t *raw;
    const struct block *b = &c->blocks[(size_t)run * c->n_columns + column];
    place->run = PC_NO_INDEX;
    if (!make_room(place, n, column == RANKS ? sizeof(int32_t) : value_bytes(c)))
        return pc_error_set(&c->error, PC_ENOMEM, "not enough memory");
    int err = read_packed(c->fd, b, &raw, &c->error);
    if (err)
        return err;
    struct pc_cursor in = pc_cursor_over(raw, b->raw);
    err = decode_block(c, run, column, &in, place);
    free(raw);
    if (err)
        return pc_error_set(&c->error, err, "section '%s': values at byte %lu are damaged",
                            name_of(c), (unsigned long)b->at);
    place->run = run;
    place->column = column;
    return PC_OK;
}

/* The block in its place; NULL: it cannot be read. */
static const struct place *find_block(struct pc_columns *c, uint32_t run, uint32_t column)
{
    /* Consecutive runs have different places, for each column. */
    size_t number = (size_t)column * 37 + run;
    struct place *place = &(column == RANKS ? c->ranks : c->values)[number % c->n_places];
    if (place->run == run && place->column == column)
        return place;
    return *c->error.text || fill_place(c, run, column, place) ? NULL : place;
}

/* Field k of d, which is record `number` of these columns. */
static struct pc_by_rank read_record(struct pc_columns *c, uint32_t number,
                                     const struct pc_profile_data *d, uint32_t k)
{
    static const uint64_t no_value = 0;
    struct pc_by_rank none = {0};
    uint32_t column = c->column_of[k];
    const struct record *record = &c->records[number];
    const struct place *ranks = find_block(c, record->run, RANKS);
    if (!ranks)
        return none;
    struct pc_by_rank out = {.n = record->n_ranks,
                             .ranks = ranks->in.ranks + record->row[ROWS_ALL],
                             .values = &no_value};
    if (!column || d->first_field > k)
        return out;
    const struct place *values = find_block(c, record->run, column);
    if (!values)
        return none;
    uint32_t row = record->row[c->rows[column]];
    if (c->kind == PC_KEPT_STEPS)
        out.steps = values->in.steps + row;
    else
        out.values = values->in.values + row;
    out.stride = 1;
    return out;
}

/* The last share that begins with this rank or one before. */
static uint32_t find_share(const struct pc_columns *c, int32_t rank)
{
    uint32_t low = 0, high = c->n_shares;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (c->shares[middle]->first_rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Puts what a share has of d behind the n ranks that are joined already. Returns their number. */
static uint32_t join(struct pc_columns *c, struct pc_columns *share,
                     const struct pc_profile_data *d, uint32_t k, uint32_t n)
{
    uint32_t number = pc_number_find(share->numbers, share->n_records, d->stored);
    struct pc_by_rank by = {0};
    if (number != PC_NO_INDEX)
        by = read_record(share, number, d, k);
    if (*share->error.text && !*c->error.text)
        c->error = share->error;
    if (by.n > d->n_ranks - n)
        return n;
    for (uint32_t r = 0; r < by.n; r++) {
        c->joined_ranks.in.ranks[n + r] = by.ranks[r];
        c->joined.in.values[n + r] = by.values[r * by.stride];
    }
    return n + by.n;
}

static struct pc_by_rank join_shares(struct pc_columns *c, const struct pc_profile_data *d,
                                     uint32_t k)
{
    struct pc_by_rank none = {0};
    uint32_t n = 0;
    if (!make_room(&c->joined_ranks, d->n_ranks, sizeof(int32_t)) ||
        !make_room(&c->joined, d->n_ranks, sizeof(uint64_t))) {
        pc_error_set(&c->error, PC_ENOMEM, "not enough memory");
        return none;
    }
    for (uint32_t s = find_share(c, d->first_rank); s < c->n_shares && n < d->n_ranks; s++)
        n = join(c, c->shares[s], d, k, n);
    if (n < d->n_ranks && !*c->error.text)
        pc_error_set(&c->error, PC_EFORMAT, "section 'shares': the ranks of a record are damaged");
    return n < d->n_ranks ? none
                          : (struct pc_by_rank){.n = n,
                                                .ranks = c->joined_ranks.in.ranks,
                                                .values = c->joined.in.values,
                                                .stride = 1};
}

static struct pc_by_rank read_by_rank(struct pc_columns *c, const struct pc_profile_data *d,
                                      uint32_t k)
{
    return c->shares ? join_shares(c, d, k) : read_record(c, d->stored, d, k);
}

struct pc_by_rank pc_data_by_rank(const struct pc_profile *p, const struct pc_profile_data *d,
                                  uint32_t k)
{
    if (d->ranks)
        return pc_data_listed(p, d, k);
    struct pc_columns *from = d->kept == PC_KEPT_STEPS   ? p->steps
                              : d->kept == PC_KEPT_EXACT ? p->columns
                                                         : NULL;
    bool known = from && (from->kind == PC_KEPT_EXACT || pc_field_in_steps(p, d, k));
    return known ? read_by_rank(from, d, k) : (struct pc_by_rank){0};
}

const char *pc_profile_unread(const struct pc_profile *p)
{
    if (p->columns && *p->columns->error.text)
        return p->columns->error.text;
    if (p->steps && *p->steps->error.text)
        return p->steps->error.text;
    if (p->later && *p->later->error.text)
        return p->later->error.text;
    return pc_later_contexts_error(p->later_contexts);
}

/* ---- Read: all ------------------------------------------------------------------------------ */

/* Fills in field k of record d, and its ranks. */
static bool load_column(struct pc_columns *c, const struct pc_profile *p, struct pc_profile_data *d,
                        uint32_t k)
{
    bool steps = c->kind == PC_KEPT_STEPS;
    if (steps && !pc_field_in_steps(p, d, k))
        return true;
    struct pc_by_rank by = read_by_rank(c, d, k);
    size_t width = steps ? pc_data_n_steps(p, d) : p->n_fields - d->first_field;
    uint32_t at = steps ? pc_data_step_place(p, d, k) : k - d->first_field;
    for (uint32_t r = 0; r < by.n; r++) {
        d->ranks[r] = by.ranks[r];
        if (steps)
            d->steps[r * width + at] = by.steps[r * by.stride];
        else
            d->values[r * width + at] = by.values[r * by.stride];
    }
    return by.n == d->n_ranks;
}

/* Fills in the lists of record d. */
static int load_record(struct pc_columns *c, struct pc_profile *p, struct pc_profile_data *d)
{
    int err = PC_OK;
    if (!(c->kind == PC_KEPT_STEPS ? pc_profile_data_steps(p, d, d->n_ranks)
                                   : pc_profile_data_lists(p, d, d->n_ranks)))
        return pc_error_set(&c->error, PC_ENOMEM, "not enough memory");
    for (uint32_t k = d->first_field; k < p->n_fields && !err; k++)
        err = load_column(c, p, d, k) ? PC_OK : PC_EFORMAT;
    return err;
}

static int load_all(struct pc_columns *c, struct pc_profile *p, struct pc_error *error)
{
    int err = PC_OK;
    for (uint32_t i = 0; i < p->n_data && !err; i++)
        if (p->data[i].kept == c->kind)
            err = load_record(c, p, &p->data[i]);
    return err ? pc_error_set(error, err, "%s", c->error.text) : PC_OK;
}

int pc_columns_load(struct pc_profile *p, struct pc_error *error)
{
    int err = load_all(p->columns, p, error);
    if (!err && p->steps)
        err = load_all(p->steps, p, error);
    if (err)
        return err;
    p->statistics_only = false;
    pc_columns_close(p->columns);
    pc_columns_close(p->steps);
    p->columns = p->steps = NULL;
    return PC_OK;
}
