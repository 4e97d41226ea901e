/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `thread_records`: times and calls of threads, one row for each thread number. A number
 * is reused when its thread has ended, so that a hundred thousand threads one after the other are
 * one row.
 *
 * A thread's row is made when it enters. MPI time, calls and the number of threads are already in
 * its record; the merge copies them into the row, also for a killed process (merge/arena_rows.c).
 * CPU time is booked here: when the thread ends, before the merge, and around what MPI_Pcontrol
 * leaves out. It counts from the end of MPI_Init, or without it from the start of the collection,
 * as in the table `resources`. So do waits for a processor, but they are not left out.
 *
 * The sampler's handler adds the time in the code of a threading runtime, where a thread waits for
 * others. The time that a thread waited for a processor is read at its end, or before the merge;
 * but not for threads that lived for less than 1 ms, because there may be a hundred thousand of
 * them, and reading it takes 10 us (Linux on a virtual machine).
 *
 * Invariant: the time on a thread's clock since `cpu_from` is not in the row yet, nor its delay
 * since `delayed_from`. The thread that moves one of them forward by compare-and-exchange books the
 * difference, or drops it. It reads the point before the tid: an ended thread has the tid 0 before
 * its state gets the points of another thread, and has no time then. `known` is 0 from the thread's
 * beginning to its end or the merge, and stays 0 where the program filters system calls, since its
 * filter may be for clocks too.
 */
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

int pc_thread_times_start(void)
{
    pc_threads_note_first();
    int err = pc_table_add("pcollect", &pc_table_thread_records);
    return err ? err : pc_table_add("pcollect", &pc_table_open_calls);
}

/* Moves a point to now; returns the time between. */
static uint64_t advance(const struct pc_thread *t, _Atomic uint64_t *point,
                        uint64_t (*read_ns)(int32_t tid))
{
    uint64_t from = atomic_load(point), now = read_ns(t->tid);
    return now > from && atomic_compare_exchange_strong(point, &from, now) ? now - from : 0;
}

static void skip(struct pc_thread *t)
{
    advance(t, &t->cpu_from_ns, pc_thread_cpu_ns);
}

static void skip_delay(struct pc_thread *t)
{
    advance(t, &t->delayed_from_ns, pc_thread_delayed_ns);
}

static void book(struct pc_thread *t)
{
    uint64_t ns = advance(t, &t->cpu_from_ns, pc_thread_cpu_ns);
    if (t->times)
        __atomic_fetch_add(&t->times[PC_TIMES_CPU], ns, __ATOMIC_RELAXED);
}

static void book_delay(struct pc_thread *t)
{
    uint64_t ns = advance(t, &t->delayed_from_ns, pc_thread_delayed_ns);
    __atomic_fetch_add(&t->times[PC_TIMES_DELAYED], ns, __ATOMIC_RELAXED);
}

/* True if the thread's delay is worth the time to read it: a hundredth of its CPU time, or of its
 * time since it entered. It may have waited before. */
static bool is_worth_it(const struct pc_thread *t)
{
    enum { WORTH_NS = 1000000 };
    return pc_mono_ns() - t->entered_ns >= WORTH_NS || pc_thread_cpu_ns(t->tid) >= WORTH_NS;
}

static void settle(struct pc_thread *t)
{
    int saved = errno;
    book(t);
    if (t->times)
        t->times[PC_TIMES_KNOWN] = !pc_control.filtered;
    if (t->times && is_worth_it(t))
        book_delay(t);
    errno = saved;
}

/* Notes the kind and the name of the thread, which may have changed since it entered. */
static void note_name(struct pc_thread *t)
{
    char path[64], name[20] = "";
    if (!t->times)
        return;
    t->times[PC_TIMES_KIND] = pc_table_string(pc_thread_kind_name(t->kind));
    if (t == pc_self) {
        prctl(PR_GET_NAME, name);
    } else {
        pc_format(path, sizeof path, "/proc/self/task/%d/comm", t->tid);
        if (!pc_read_small(path, name, sizeof name))
            return; /* the thread has just ended */
        name[strcspn(name, "\n")] = '\0';
    }
    t->times[PC_TIMES_NAME] = pc_table_string(name);
}

void pc_thread_times_enter(struct pc_thread *t, void *function)
{
    (void)function;
    if (t->stage != PC_STAGE_MAIN)
        return;
    const uint64_t keys[] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, t->number};
    t->times = pc_table_row(t, &pc_table_thread_records, keys);
    note_name(t);
    if (t->times)
        t->times[PC_TIMES_KNOWN] = 0;
    if (pc_scope_is_off())
        skip(t);
}

void pc_thread_times_leave(struct pc_thread *t)
{
    if (t->stage != PC_STAGE_MAIN)
        return;
    if (pc_scope_is_off())
        skip(t);
    settle(t);
    note_name(t);
    t->tid = 0;
}

static void each(void (*fn)(struct pc_thread *))
{
    int saved = errno;
    for (struct pc_thread *t = pc_scope_newest_thread(); t; t = t->next_made)
        if (t->tid)
            fn(t);
    errno = saved;
}

void pc_thread_times_skip(void)
{
    each(skip);
}

/* Threads that have ended have rows, too. */
void pc_thread_times_reset(void)
{
    for (struct pc_thread *t = pc_scope_newest_thread(); t; t = t->next_made)
        if (t->times) {
            __atomic_store_n(&t->times[PC_TIMES_CPU], 0, __ATOMIC_RELAXED);
            __atomic_store_n(&t->times[PC_TIMES_IN_RUNTIME], 0, __ATOMIC_RELAXED);
            __atomic_store_n(&t->times[PC_TIMES_IN_BINDINGS], 0, __ATOMIC_RELAXED);
            __atomic_store_n(&t->times[PC_TIMES_DELAYED], 0, __ATOMIC_RELAXED);
        }
    each(skip);
    each(skip_delay);
}

/* Notes first, so that a thread that registers meanwhile is in the notes or in the list. */
void pc_thread_times_init_end(void)
{
    const int32_t *tids;
    uint32_t n = pc_threads_table_early(&tids);
    pc_threads_note_early(tids, n);
    pc_thread_times_reset();
}

void pc_thread_times_book(void)
{
    each(book);
}

static void settle_and_tell(struct pc_thread *t)
{
    settle(t);
    note_name(t);
}

void pc_thread_times_settle(void)
{
    each(settle_and_tell);
}
