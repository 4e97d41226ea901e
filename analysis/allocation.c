/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs and their memory: see allocation.h. An owner is a hash set of addresses, each with the
 * function that frees it: open addressing, at most half full, without marks for removed entries.
 */
#include "analysis/allocation.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct held {
    void *thing; /* NULL: the place is free */
    void (*end)(void *thing);
};

struct pct_memory {
    struct held *held;
    size_t n, n_slots;
    bool refused;
};

struct run {
    struct run *outer;
    struct pct_memory *owner; /* or NULL */
    jmp_buf refused;
};

/* The innermost run of this thread. */
static _Thread_local struct run *current;

/* ---- What an owner holds --------------------------------------------------------------------- */

static size_t home_of(const struct pct_memory *m, const void *thing)
{
    return pc_hash_u64((uintptr_t)thing) & (m->n_slots - 1);
}

static size_t find_place(const struct pct_memory *m, const void *thing)
{
    size_t i = home_of(m, thing);
    while (m->held[i].thing && m->held[i].thing != thing)
        i = (i + 1) & (m->n_slots - 1);
    return i;
}

static bool make_room(struct pct_memory *m)
{
    struct pct_memory more = {.n_slots = m->n_slots ? m->n_slots * 2 : 64, .n = m->n};
    if (m->n * 2 < m->n_slots)
        return true;
    more.held = calloc(more.n_slots, sizeof *more.held);
    if (!more.held)
        return false;
    for (size_t i = 0; i < m->n_slots; i++)
        if (m->held[i].thing)
            more.held[find_place(&more, m->held[i].thing)] = m->held[i];
    free(m->held);
    *m = more;
    return true;
}

/* False without memory. */
static bool hold(struct pct_memory *m, void *thing, void (*end)(void *thing))
{
    if (!make_room(m))
        return false;
    m->held[find_place(m, thing)] = (struct held){thing, end};
    m->n++;
    return true;
}

/* Removes an entry. Entries after it move up, so that each can be reached from its home slot. */
static void let_go(struct pct_memory *m, const void *thing)
{
    size_t mask = m->n_slots - 1, hole = m->n ? find_place(m, thing) : 0;
    if (!m->n || !m->held[hole].thing)
        return;
    for (size_t i = (hole + 1) & mask; m->held[i].thing; i = (i + 1) & mask)
        if (((i - home_of(m, m->held[i].thing)) & mask) >= ((i - hole) & mask)) {
            m->held[hole] = m->held[i];
            hole = i;
        }
    m->held[hole] = (struct held){0};
    m->n--;
}

struct pct_memory *pct_memory_new(void)
{
    return calloc(1, sizeof(struct pct_memory));
}

void pct_memory_free(struct pct_memory *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_slots; i++)
        if (m->held[i].thing)
            m->held[i].end(m->held[i].thing);
    free(m->held);
    free(m);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

int pct_memory_run(struct pct_memory *m, void (*work)(void *arg), void *arg)
{
    struct run run = {.outer = current, .owner = m};
    bool refused = m && m->refused;
    if (refused)
        return PC_ENOMEM;
    current = &run;
    if (!setjmp(run.refused)) {
        work(arg);
        current = run.outer;
        return PC_OK;
    }
    current = run.outer;
    if (m)
        m->refused = true;
    return PC_ENOMEM;
}

void pct_memory_refuse(void)
{
    if (!current) /* a bug of the caller, which is not in a run */
        __builtin_trap();
    longjmp(current->refused, 1);
}

static struct pct_memory *owner(void)
{
    return current ? current->owner : NULL;
}

/* ---- Allocation ------------------------------------------------------------------------------ */

void *pct_hold(void *thing, void (*end)(void *thing))
{
    if (thing && owner() && !hold(owner(), thing, end)) {
        end(thing);
        pct_memory_refuse();
    }
    return thing;
}

void pct_end(void *thing, void (*end)(void *thing))
{
    if (!thing)
        return;
    if (owner())
        let_go(owner(), thing);
    end(thing);
}

void *pct_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        pct_memory_refuse();
    return pct_hold(p, free);
}

void pct_free(void *p)
{
    pct_end(p, free);
}

char *pct_copy(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(pct_alloc(n, 1), text, n);
}

void *pct_grow(void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    size_t more = *room ? *room * 2 : 16;
    while (more <= n)
        more *= 2;
    char *p = pct_alloc(more, size);
    if (*room)
        memcpy(p, array, *room * size);
    pct_free(array);
    *room = more;
    return p;
}
