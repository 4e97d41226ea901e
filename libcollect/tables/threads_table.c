/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `threads`: all threads that the process had, by kind and name.
 *
 * A thread is counted when it is registered: at its first MPI call, or, where computation is
 * sampled, at its beginning. The module of its start function gives its kind; if that was not seen,
 * the time decides: a thread that appears while MPI_Init runs belongs to the MPI library. Threads
 * that were never registered are counted at the merge, as the kernel lists them.
 *
 * The threads of a pool often have numbers in their names: names that differ only in trailing
 * digits share one row. Otherwise a program that names a hundred thousand threads would have as
 * many rows.
 *
 * Called at registration, when a thread leaves, and around MPI_Init and the merge, never on the
 * path of a call.
 */
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <ctype.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MAX_TIDS = 256 };

/* Threads from before MPI_Init; then those that appeared while it ran. Written only by the thread
 * in MPI_Init, before others read it: a thread that registers earlier counts as the program's. */
static struct {
    int32_t tid[MAX_TIDS];
    _Atomic uint32_t n;
} before, mpi;

static bool has(const int32_t *tids, uint32_t n, int32_t tid)
{
    for (uint32_t i = 0; i < n; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

static void note_before(void *none, int tid)
{
    (void)none;
    if (before.n < MAX_TIDS)
        before.tid[before.n++] = tid;
}

static void note_mpi(void *none, int tid)
{
    (void)none;
    if (mpi.n < MAX_TIDS && !has(before.tid, before.n, tid) && before.n < MAX_TIDS) {
        mpi.tid[mpi.n] = tid;
        mpi.n++;
    }
}

void pc_threads_table_init_begin(void)
{
    pc_proc_numbers("/proc/self/task", note_before, NULL);
}

void pc_threads_table_init_end(void)
{
    pc_proc_numbers("/proc/self/task", note_mpi, NULL);
}

uint32_t pc_threads_table_early(const int32_t **tids)
{
    *tids = before.tid;
    return before.n;
}

const char *pc_thread_kind_name(enum pc_thread_kind kind)
{
    static const char *const names[] = {"program", "main", "MPI library", "runtime", "without MPI"};
    return names[kind];
}

static enum pc_thread_kind find_kind(int32_t tid, bool helper, void *function)
{
    pc_loadmap_prepare((uintptr_t)function);
    const struct pc_module *m = function ? pc_loadmap_find((uintptr_t)function) : NULL;
    if (helper || (m && m->flags & PCOLLECT_MODULE_MPI) || has(mpi.tid, mpi.n, tid))
        return PC_THREAD_MPI;
    if (m && m->flags & PCOLLECT_MODULE_RUNTIME) /* the others are transports */
        return m->flags & PCOLLECT_MODULE_TEAM ? PC_THREAD_RUNTIME : PC_THREAD_MPI;
    return tid == (int32_t)getpid() ? PC_THREAD_MAIN : PC_THREAD_PROGRAM;
}

static void add_row(struct pc_thread *t, enum pc_thread_kind kind, const char *name)
{
    char pattern[20];
    size_t n = strlen(name), digits = 0;
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
        digits++;
    pc_format(pattern, sizeof pattern, "%s", name);
    if (digits && digits < n)
        pc_format(pattern + n - digits, sizeof pattern - n + digits, "*");
    uint64_t keys[] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF,
                       pc_table_string(pc_thread_kind_name(kind)), pc_table_string(pattern)};
    uint64_t *values = pc_table_row(t, &pc_table_threads, keys);
    if (values)
        ++*values;
}

/* Counts the calling thread. */
static void add_own_row(struct pc_thread *t, enum pc_thread_kind kind)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    add_row(t, kind, name);
}

int pc_threads_table_start(void)
{
    return pc_table_add("pcollect", &pc_table_threads);
}

/* Counts a thread. One that is registered before it runs has no name yet: it is counted when it
 * ends, or before the merge. */
void pc_threads_table_enter(struct pc_thread *t, void *function)
{
    if (t->stage != PC_STAGE_MAIN)
        return;
    enum pc_thread_kind kind = find_kind(t->tid, t->helper, function);
    t->kind = (uint8_t)kind;
    if (function)
        t->uncounted = (uint8_t)(1 + kind);
    else
        add_own_row(t, kind);
}

void pc_threads_table_leave(struct pc_thread *t)
{
    int kind = atomic_exchange(&t->uncounted, 0) - 1;
    if (kind < 0 || t->stage != PC_STAGE_MAIN)
        return;
    add_own_row(t, (enum pc_thread_kind)kind);
}

/* ---- Threads that run at the end ------------------------------------------------------------- */

static bool is_registered(int32_t tid)
{
    pcollect_ref ref = __atomic_load_n(&pc_header()->threads, __ATOMIC_ACQUIRE);
    while (ref) {
        const struct pcollect_thread *r = pc_arena_at(&pc_process.arena, ref);
        if (r->tid == tid)
            return true;
        ref = r->next;
    }
    return false;
}

/* 1 + the kind of a registered thread that was not counted; 0: it was counted. */
static int take_uncounted(int32_t tid)
{
    for (struct pc_thread *t = pc_scope_newest_thread(); t; t = t->next_made)
        if (t->tid == tid && t->uncounted)
            return atomic_exchange(&t->uncounted, 0);
    return 0;
}

static void count_rest(void *self, int tid)
{
    char path[64], name[20];
    bool registered = is_registered(tid);
    int uncounted = registered ? take_uncounted(tid) : 0;
    if (registered && !uncounted)
        return;
    pc_format(path, sizeof path, "/proc/self/task/%d/comm", tid);
    if (!pc_read_small(path, name, sizeof name))
        return; /* the thread has just ended */
    name[strcspn(name, "\n")] = '\0';
    enum pc_thread_kind kind =
        uncounted ? (enum pc_thread_kind)(uncounted - 1) : find_kind(tid, false, NULL);
    if (kind == PC_THREAD_PROGRAM && !registered)
        kind = PC_THREAD_WITHOUT;
    add_row(self, kind, name);
}

void pc_threads_table_rest(void)
{
    pc_proc_numbers("/proc/self/task", count_rest, pc_thread_current());
}
