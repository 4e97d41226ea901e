/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads counters at the ends of MPI calls, and keeps the tables of the readings.
 *
 * At a point the counters are read twice: before everything else, and after everything is booked.
 * The counts between the two are the profiler's own and go to no context. After that, points are
 * skipped until readings are again within their share of the time.
 *
 * What is counted while MPI_Pcontrol has switched collection off is booked nowhere. The thread that
 * calls it ends its edge there, and begins another when it switches on again. Of other threads the
 * edge in progress is dropped, with the counts before and after that time: a known hole.
 *
 * Threads that run on at the merge, as workers of OpenMP do, have their last edge ended by the
 * thread in MPI_Finalize (enum pc_edges_state).
 */
#include "libcollect/sampling/edges.h"
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/state/plugin_table.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* Previous value of the core's begin. */
static bool (*next_begin)(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
static void (*next_end)(struct pc_call *call);
static void (*next_control)(int level);

/* Time in which others had the counters of the group that was read. */
static uint64_t missed_ns(const struct pc_counting_values *values)
{
    return values->enabled_ns - values->running_ns;
}

/* False if the counters cannot be read, or others had them since the thread began, so that events
 * are missing; then they are not read again. */
static bool read_counters(struct pc_edges *e, struct pc_counting_values *values)
{
    if (!pc_counting_get(e->meter, values) && missed_ns(values) == e->missed_ns)
        return true;
    e->live = false;
    pc_lost(PCOLLECT_LOST_COUNTS, 1);
    return false;
}

/* ---- Booking: the thread is busy, `by` books into its own rows ------------------------------- */

static void book_counts(const struct pc_thread *t, struct pc_thread *by, pcollect_ref to,
                        uint64_t inside)
{
    struct pc_edges *e = t->edges;
    for (uint32_t k = 0; k < e->of->n_events; k++) {
        const uint64_t keys[6] = {e->of->strings[k],
                                  (uint64_t)(int64_t)PCOLLECT_RANK_SELF,
                                  t->number,
                                  e->from,
                                  to,
                                  inside};
        uint64_t count = e->now.value[k] - e->base.value[k];
        uint64_t *values = count ? pc_table_row(by, &pc_table_edges, keys) : NULL;
        e->counts[k][PC_EDGES_UNPLACED] += e->n_unplaced;
        if (!values)
            continue;
        values[0] += count;
        values[1]++;
        e->counts[k][PC_EDGES_TOTAL] += count;
    }
}

static void book_samples(const struct pc_thread *t, struct pc_thread *by, pcollect_ref to,
                         uint64_t inside)
{
    struct pc_edges *e = t->edges;
    for (uint32_t i = 0; e->n_samples && i < PC_EDGES_SLOTS; i++) {
        const uint64_t keys[6] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF,
                                  t->number,
                                  e->from,
                                  to,
                                  inside,
                                  e->samples[i].node};
        if (!e->samples[i].n)
            continue;
        uint64_t *values = pc_table_row(by, &pc_table_edge_samples, keys);
        if (values)
            values[0] += e->samples[i].n;
        e->samples[i].n = 0;
        e->n_samples--;
    }
    e->n_unplaced = 0;
}

static void drop_samples(struct pc_edges *e)
{
    e->n_samples = e->n_unplaced = 0;
    memset(e->samples, 0, sizeof e->samples);
}

/* True if collection was switched off or on, or began anew, since the edge began. */
static bool is_broken(const struct pc_edges *e)
{
    return e->breaks != atomic_load_explicit(&pc_control.breaks, memory_order_relaxed);
}

/* False if the merge has ended the thread's edges. */
static bool may_book(struct pc_edges *e)
{
    uint32_t state = atomic_load(&e->state);
    while (state != PC_EDGES_ENDED &&
           !atomic_compare_exchange_weak(&e->state, &state, PC_EDGES_BOOKING))
        ;
    return state != PC_EDGES_ENDED;
}

static void book(struct pc_thread *t, pcollect_ref to, uint64_t inside)
{
    struct pc_edges *e = t->edges;
    bool whole = !is_broken(e) && !pc_scope_is_off();
    if (whole) {
        book_counts(t, t, to, inside);
        book_samples(t, t, to, inside);
    } else {
        drop_samples(e);
    }
    e->from = to;
    e->breaks = atomic_load(&pc_control.breaks); /* before the reading: a later one is seen */
    bool known = read_counters(e, &e->base);
    for (uint32_t k = 0; whole && known && k < e->of->n_events; k++)
        e->counts[k][PC_EDGES_OWN] += e->base.value[k] - e->now.value[k];
    e->due = pc_ticks() + e->spacing;
    atomic_store(&e->state, PC_EDGES_FREE);
}

/* Books the edge that ends at `to` with the values of `now`, if collection was on all the time. The
 * next one begins when everything is booked. */
static void book_edge(struct pc_thread *t, pcollect_ref to, uint64_t inside)
{
    int saved = errno;
    t->busy = 1;
    barrier();
    if (may_book(t->edges))
        book(t, to, inside);
    barrier();
    t->busy = 0;
    errno = saved;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static bool may_read(const struct pc_thread *t, const struct pc_edges *e)
{
    return e && e->live && t->stage == PC_STAGE_MAIN &&
           atomic_load_explicit(&pc_live->stage, memory_order_relaxed) == PC_STAGE_MAIN;
}

/* Reads the counters at the end of an edge. The thread is busy meanwhile, so that a sample in the
 * system call is not taken for one of the program. */
static bool read_now(struct pc_thread *t)
{
    t->busy = 1;
    barrier();
    bool known = read_counters(t->edges, &t->edges->now);
    barrier();
    t->busy = 0;
    return known;
}

static bool read_if_due(struct pc_thread *t)
{
    return (is_broken(t->edges) || pc_ticks() >= t->edges->due) && read_now(t);
}

static void count_point(struct pc_edges *e, enum pc_edges_count as)
{
    for (uint32_t k = 0; k < e->of->n_events; k++)
        e->counts[k][as]++;
}

static bool begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret)
{
    struct pc_thread *t = pc_self;
    bool known = t && !atomic_load_explicit(&t->use, memory_order_relaxed);
    bool read = known && may_read(t, t->edges) && read_if_due(t);
    if (!next_begin(call, slot, cfa, ret))
        return false;
    t = call->thread;
    struct pc_edges *e = t->edges;
    if (call->depth || !may_read(t, e))
        return true;
    e->call = call->node;
    e->inside = read;
    count_point(e, read ? PC_EDGES_READ : PC_EDGES_SKIPPED);
    if (read) {
        book_edge(t, call->node, 0);
        call->event.begin = pc_ticks();
    }
    return true;
}

static void end(struct pc_call *call)
{
    struct pc_thread *t = call->thread;
    struct pc_edges *e = t->edges;
    bool outermost = !call->depth && may_read(t, e);
    bool read = outermost && read_if_due(t);
    next_end(call);
    if (!outermost || !may_read(t, e))
        return;
    count_point(e, read ? PC_EDGES_READ : PC_EDGES_SKIPPED);
    if (read)
        book_edge(t, e->call, e->inside);
    e->inside = false;
}

/* Called at the end of an MPI_Pcontrol, which is the point that ends or begins the thread's edge.
 * While collection is off the call has no context. */
static void control(int level)
{
    struct pc_thread *t = pc_self;
    bool was_off = pc_scope_is_off();
    bool known = t && !atomic_load_explicit(&t->use, memory_order_relaxed) && may_read(t, t->edges);
    if (known && !level && !was_off && read_now(t))
        book_edge(t, t->edges->call, 0);
    next_control(level);
    if (known && t->edges->live && is_broken(t->edges))
        book_edge(t, was_off ? 0 : t->edges->call, 0);
}

/* ---- A thread -------------------------------------------------------------------------------- */

/* Ticks that the two readings of a point take. */
static uint64_t measure_cost(struct pc_edges *e)
{
    enum { TRIES = 8 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t from = pc_ticks();
        if (pc_counting_get(e->meter, &e->base) || pc_counting_get(e->meter, &e->now))
            return 0;
        uint64_t passed = pc_ticks() - from;
        least = passed < least ? passed : least;
    }
    return least;
}

/* The time between two readings for which they cost a tenth of max_overhead. Without that limit
 * each point is read. */
static uint64_t find_spacing(uint64_t cost)
{
    uint64_t ceiling = pc_process.config.sample_max_overhead;
    return ceiling < 100 ? cost * 1000 / ceiling : 0;
}

static bool take_rows(struct pc_thread *t, struct pc_edges *e)
{
    for (uint32_t k = 0; k < e->of->n_events; k++) {
        const uint64_t keys[3] = {e->of->strings[k], (uint64_t)(int64_t)PCOLLECT_RANK_SELF,
                                  t->number};
        e->counts[k] = pc_table_row(t, &pc_table_counters, keys);
        if (!e->counts[k])
            return false;
    }
    return true;
}

void pc_edges_enter(struct pc_thread *t, void *function)
{
    (void)function;
    const struct pc_counted *of = pc_counters_steady();
    struct pc_counting_meter *meter = of == &pc_counters.always ? t->always : t->counting;
    if (!of || !meter)
        return;
    struct pc_edges *e = t->edges ? t->edges : pc_memory(sizeof *e);
    if (!e)
        return;
    e->of = of;
    e->meter = meter;
    e->from = e->call = 0;
    e->inside = false;
    e->breaks = atomic_load(&pc_control.breaks);
    drop_samples(e);
    e->spacing = find_spacing(measure_cost(e));
    e->due = 0;
    bool known = take_rows(t, e) && !pc_counting_get(e->meter, &e->base);
    e->missed_ns = missed_ns(&e->base);
    e->live = known;
    __atomic_store_n(&t->edges, e, __ATOMIC_RELEASE); /* the merge reads it */
}

void pc_edges_leave(struct pc_thread *t)
{
    struct pc_edges *e = t->edges;
    if (!e || !e->live || t->stage != PC_STAGE_MAIN)
        return;
    bool known = read_counters(e, &e->now);
    e->live = false; /* first: the merge reads no counters that are closed then */
    if (known) {
        count_point(e, PC_EDGES_READ);
        book_edge(t, t->depth ? e->call : 0, t->depth && e->inside);
    }
}

/* Takes over the edges of another thread, with the values of its counters. Waits while that thread
 * books, but not for ever. False if its last edge cannot be ended. */
static bool take_edges(struct pc_edges *e)
{
    enum { LONGEST_NS = 100000000 };
    struct pc_counting_values now;
    for (uint64_t begin = pc_mono_ns(); pc_mono_ns() - begin < LONGEST_NS; sched_yield()) {
        uint32_t free = PC_EDGES_FREE, reading = PC_EDGES_READING;
        if (!atomic_compare_exchange_strong(&e->state, &free, PC_EDGES_READING))
            continue;
        bool read = !pc_counting_get_of(e->of->counting, e->meter, &now);
        if (!e->live)
            return true;
        if (!atomic_compare_exchange_strong(&e->state, &reading, PC_EDGES_ENDED))
            continue;
        e->now = now;
        return read && missed_ns(&now) == e->missed_ns && !is_broken(e);
    }
    return false;
}

/* Ends the last edge of another thread: in the call in progress, or where the thread is. Thread
 * `by` books it; NULL: none can. */
static void end_edges(struct pc_thread *t, struct pc_thread *by)
{
    struct pc_edges *e = __atomic_load_n(&t->edges, __ATOMIC_ACQUIRE);
    if (!e || !e->live || t->stage != PC_STAGE_MAIN)
        return;
    if (!take_edges(e) || !by) {
        pc_lost(PCOLLECT_LOST_COUNTS, 1);
        return;
    }
    if (e->state != PC_EDGES_ENDED)
        return;
    pcollect_ref to = t->depth ? e->call : 0;
    uint64_t inside = t->depth && e->inside;
    count_point(e, PC_EDGES_READ);
    book_counts(t, by, to, inside);
    book_samples(t, by, to, inside);
}

void pc_edges_before_merge(void)
{
    struct pc_thread *self = pc_thread_current();
    if (self)
        pc_edges_leave(self);
    for (struct pc_thread *t = pc_scope_newest_thread(); t; t = t->next_made)
        if (t != self)
            end_edges(t, self);
}

int pc_edges_start(void)
{
    if (!pc_counters_steady())
        return PC_OK;
    int err = pc_table_add("counters", &pc_table_counters);
    if (!err)
        err = pc_table_add("counters", &pc_table_edges);
    if (!err)
        err = pc_table_add("counters", &pc_table_edge_samples);
    if (err)
        return err;
    next_begin = pc_process.core.begin;
    next_end = pc_process.core.end;
    next_control = pc_process.core.control;
    pc_process.core.begin = begin;
    pc_process.core.end = end;
    pc_process.core.control = control;
    /* Quiet calls are points like all others: events counted in MPI_Wait are not computation. */
    pc_process.core.begin_quiet = begin;
    pc_process.core.asks_quiet = pc_process.core.asks;
    pc_process.core.end_quiet = end;
    return PC_OK;
}
