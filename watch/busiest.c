/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/busiest.h"
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "analysis/hash_index.h"
#include "analysis/symbols/short_name.h"

#include <string.h>

/* Keys of rows of one kind: a pair of numbers. Row i has keys[i]. */
struct key {
    uint64_t a, b;
};

struct keys {
    struct key *keys;
    size_t n, room;
    struct pct_hash_index rows;
    size_t rows_room;
};

enum kind { PLACES, PROCESSES, CELLS, CONTEXTS, N_KINDS };

struct pct_busiest_index {
    struct keys of[N_KINDS];
    uint64_t *last; /* by cell: the sample that was added last */
    size_t last_room;
    struct pct_pool *names; /* of MPI functions, and of those that have copies */
};

/* ---- Rows by keys ---------------------------------------------------------------------------- */

/* The row of a key; *made: it was appended. */
static uint32_t row_of(struct keys *k, uint64_t a, uint64_t b, bool *made)
{
    struct key key = {a, b};
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64(a * 31 + pc_hash_u64(b))};
    uint32_t row;
    *made = false;
    while ((row = pct_hash_next(&k->rows, &search)) != PC_NO_INDEX)
        if (!memcmp(&k->keys[row], &key, sizeof key))
            return row;
    *made = true;
    row = (uint32_t)k->n++;
    k->keys = pct_grow(k->keys, row, &k->room, sizeof *k->keys);
    k->keys[row] = key;
    pct_hash_add(&k->rows, search.hash, row);
    return row;
}

/* The function of which the compiler made a copy or a part, as reports call it; else the name. */
static const char *name_of(struct pct_busiest *b, const char *function)
{
    size_t n = strchr(function, '.') ? pct_name_uncopied_bytes(function) : strlen(function);
    if (!function[n])
        return function;
    struct pct_buf whole = {0};
    pct_buf_put(&whole, function, n);
    function = pct_pool_intern(b->index->names, whole.data);
    pct_buf_free(&whole);
    return function;
}

/* f NULL: the MPI function `op`. */
static uint32_t place_of(struct pct_busiest *b, const struct pct_stack_frame *f, const char *op)
{
    const char *function = !f            ? pct_pool_intern(b->index->names, op)
                           : f->function ? name_of(b, f->function)
                                         : f->label;
    const struct pct_stack_module *module = f ? f->module : NULL;
    bool made;
    struct keys *k = &b->index->of[PLACES];
    uint32_t row = row_of(k, (uintptr_t)function, (uintptr_t)module, &made);
    if (made) {
        b->places = pct_grow(b->places, row, &k->rows_room, sizeof *b->places);
        b->places[row] = (struct pct_busy_place){function, module, !f};
        b->n_places = k->n;
    }
    return row;
}

static uint32_t process_of(struct pct_busiest *b, const struct pct_sampled_stack *s)
{
    bool made;
    struct keys *k = &b->index->of[PROCESSES];
    uint32_t row = row_of(k, (uint64_t)s->pid, (uintptr_t)s->program, &made);
    if (made) {
        b->processes = pct_grow(b->processes, row, &k->rows_room, sizeof *b->processes);
        b->processes[row] = (struct pct_busy_process){
            .pid = s->pid, .rank = s->rank, .job = s->job, .mpi = s->mpi, .program = s->program};
        b->n_processes = k->n;
    }
    return row;
}

static uint32_t context_of(struct pct_busiest *b, int64_t parent, uint32_t place)
{
    bool made;
    struct keys *k = &b->index->of[CONTEXTS];
    uint32_t row = row_of(k, (uint64_t)parent, place, &made);
    if (made) {
        b->contexts = pct_grow(b->contexts, row, &k->rows_room, sizeof *b->contexts);
        b->contexts[row] = (struct pct_busy_context){.parent = parent, .place = place};
        b->n_contexts = k->n;
    }
    return row;
}

static uint32_t cell_of(struct pct_busiest *b, uint32_t place, uint32_t process)
{
    bool made;
    struct keys *k = &b->index->of[CELLS];
    uint32_t row = row_of(k, place, process, &made);
    if (made) {
        b->cells = pct_grow(b->cells, row, &k->rows_room, sizeof *b->cells);
        b->index->last = pct_grow(b->index->last, row, &b->index->last_room, sizeof(uint64_t));
        b->cells[row] = (struct pct_busy_cell){.place = place, .process = process};
        b->index->last[row] = 0;
        b->n_cells = k->n;
    }
    return row;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Adds inclusive time; a recursive function is counted once per sample. */
static void add_total(struct pct_busiest *b, uint32_t cell, uint64_t ns)
{
    if (b->index->last[cell] == b->samples)
        return;
    b->index->last[cell] = b->samples;
    b->cells[cell].total_ns += ns;
    b->cells[cell].samples++;
}

void pct_busiest_add(void *busiest, const struct pct_sampled_stack *s)
{
    struct pct_busiest *b = busiest;
    bool op = *s->shown->op != '\0';
    uint32_t process = process_of(b, s), cell = 0;
    int64_t context = PCT_BUSY_NONE;
    b->samples++;
    b->ns += s->ns;
    b->processes[process].samples++;
    b->processes[process].ns += s->ns;
    for (size_t i = s->shown->to + op; i-- > s->shown->from;) {
        /* The MPI function is inside of the innermost frame. */
        bool in_op = op && i == s->shown->from;
        const struct pct_stack_frame *f = in_op ? NULL : &s->stack->frames[i - op];
        bool innermost = i == s->shown->from;
        if (f && !innermost && pct_stack_is_left_out(s->stack, i - op))
            continue;
        uint32_t place = place_of(b, f, s->shown->op);
        cell = cell_of(b, place, process);
        context = context_of(b, context, place);
        add_total(b, cell, s->ns);
    }
    if (context == PCT_BUSY_NONE)
        return;
    b->contexts[context].ns += s->ns;
    b->contexts[context].samples++;
    b->cells[cell].self_ns += s->ns;
    if (op) {
        b->mpi_ns += s->ns;
        b->processes[process].mpi_ns += s->ns;
    }
}

void pct_busiest_init(struct pct_busiest *b)
{
    *b = (struct pct_busiest){.index = pct_alloc(1, sizeof *b->index)};
    b->index->names = pct_pool_new();
}

static void free_rows(struct pct_busiest *b)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        pct_free(b->index->of[i].keys);
        pct_hash_free(&b->index->of[i].rows);
    }
    pct_free(b->index->last);
    pct_free(b->places);
    pct_free(b->processes);
    pct_free(b->cells);
    pct_free(b->contexts);
}

void pct_busiest_clear(struct pct_busiest *b)
{
    struct pct_pool *names = b->index->names;
    struct pct_busiest_index *index = b->index;
    free_rows(b);
    *index = (struct pct_busiest_index){.names = names};
    *b = (struct pct_busiest){.index = index};
}

void pct_busiest_free(struct pct_busiest *b)
{
    if (!b->index)
        return;
    free_rows(b);
    pct_pool_free(b->index->names);
    pct_free(b->index);
    *b = (struct pct_busiest){.index = NULL};
}
