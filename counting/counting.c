/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Manages countings: the events that are counted, and the sums of ended threads. A program is
 * shared between its counting and the meters that have it open; the last user frees it. One lock
 * protects everything here; no function that a signal handler calls takes it.
 */
#include "counting/counting_private.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic uint64_t last_id;

static struct pc_counting_program *new_program(void)
{
    size_t bytes = sizeof(struct pc_counting_program) +
                   PC_COUNTING_MAX_GROUPS * sizeof(struct pc_counting_group);
    struct pc_counting_program *p = pc_map_memory(NULL, bytes);
    if (!p)
        return NULL;
    p->n_bytes = bytes;
    p->n_groups = 1;
    p->id = atomic_fetch_add(&last_id, 1) + 1;
    atomic_store(&p->n_users, 1);
    return p;
}

void pc_counting_release(struct pc_counting_program *p)
{
    if (p && atomic_fetch_sub(&p->n_users, 1) == 1)
        munmap(p, p->n_bytes);
}

static void set_anchor(struct pc_counting_program *p, const struct pc_counting_term *anchor,
                       uint32_t n_anchors)
{
    p->anchor = p->groups[0].members[0].term = *anchor;
    p->n_anchors = p->groups[0].n_members = n_anchors;
}

/* Replaces the old program by the new one, and resets the totals. */
static void publish(struct pc_counting *c, struct pc_counting_program *p)
{
    pc_counting_lock();
    struct pc_counting_program *old = c->program;
    c->program = p;
    memset(&c->ended, 0, sizeof c->ended);
    atomic_store_explicit(&c->id, p->id, memory_order_release);
    pc_counting_unlock();
    pc_counting_release(old);
}

int pc_counting_create(struct pc_counting **out, struct pc_error *error)
{
    struct pc_counting *c = pc_map_memory(NULL, sizeof *c);
    struct pc_counting_program *p = c ? new_program() : NULL;
    struct pc_counting_term anchor = {.type = 0};
    int err = p ? pc_counting_find_anchor(&anchor, error)
                : pc_error_set(error, PC_ENOMEM, "not enough memory for counting");
    if (err) {
        pc_counting_release(p);
        if (c)
            munmap(c, sizeof *c);
        return err;
    }
    set_anchor(p, &anchor, 1);
    publish(c, p);
    *out = c;
    return PC_OK;
}

int pc_counting_set(struct pc_counting *c, const struct pc_counting_what *what,
                    struct pc_error *error)
{
    if (what->n_events > PC_COUNTING_MAX_EVENTS)
        return pc_error_set(error, PC_EARG, "more than %d events", PC_COUNTING_MAX_EVENTS);
    for (uint32_t e = 0; e < what->n_events; e++)
        if (!what->events[e].n_terms || what->events[e].n_terms > PC_COUNTING_MAX_TERMS)
            return pc_error_set(error, PC_EARG, "event %u: 1 to %d counters make an event", e,
                                PC_COUNTING_MAX_TERMS);
    struct pc_counting_program *p = new_program();
    if (!p)
        return pc_error_set(error, PC_ENOMEM, "not enough memory for counting");
    set_anchor(p, &c->program->anchor, what->no_anchor ? 0 : 1);
    p->n_events = what->n_events;
    int err = pc_counting_fit(p, what, error);
    if (err)
        pc_counting_release(p);
    else
        publish(c, p);
    return err;
}

void pc_counting_free(struct pc_counting *c)
{
    pc_counting_release(c->program);
    munmap(c, sizeof *c);
}

uint64_t pc_counting_id(const struct pc_counting *c)
{
    return atomic_load_explicit(&c->id, memory_order_acquire);
}

/* Takes the lock, because the owner may change the counting meanwhile. */
uint32_t pc_counting_n_groups(struct pc_counting *c)
{
    pc_counting_lock();
    uint32_t n = c->program->n_groups;
    pc_counting_unlock();
    return n;
}

uint64_t pc_counting_group_events(struct pc_counting *c, uint32_t group)
{
    pc_counting_lock();
    uint64_t events = group < c->program->n_groups ? c->program->groups[group].events : 0;
    pc_counting_unlock();
    return events;
}
