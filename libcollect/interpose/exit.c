/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions by which a program ends its process: exit, _exit, _Exit, quick_exit, abort, and the
 * one behind assert. A process that calls one between MPI_Init and MPI_Finalize notes which, and
 * where, in the table `ends`. After _exit, _Exit and quick_exit no destructor runs, so they also
 * note the status, and that the process has ended.
 *
 * Each may be called in a handler, or when data of the program is damaged, and all but exit and
 * quick_exit also in a child that vfork made on its parent's memory. So nothing is noted if this is
 * not the process that collects, and no place if the thread is in this library. Nothing here can
 * fail for the program: its function is called in any case.
 */
#include "libcollect/context/thread.h"
#include "libcollect/interpose/region.h"
#include "libcollect/life/life.h"
#include "libcollect/state/next.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* For abort, which has none, and for exit, whose status is noted at the end (life/finish.c). */
enum { NO_STATUS = -1 };

/* True in a process that has begun MPI_Init and not begun to merge. A filter of system calls may
 * end the process for getpid. */
static bool may_note(void)
{
    return atomic_load_explicit(&pc_live->stage, memory_order_acquire) == PC_STAGE_MAIN &&
           !pc_control.filtered && !atomic_load(&pc_control.left) &&
           pc_header()->init_begin_ticks && !pc_process_is_child();
}

/* The call of MPI in which the thread is, or the function that made this call. */
static pcollect_ref find_place(struct pc_thread *t, struct pc_call *call)
{
    return pcollect_open_ticks(t->record) ? t->record->open_node : pc_region_context(call);
}

static void note_place(struct pc_thread *t, const char *how, struct pc_call *call)
{
    static const uint64_t keys[] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF};
    pcollect_ref place = find_place(t, call);
    t->busy = 1;
    barrier();
    uint64_t *v =
        pc_table_add("pcollect", &pc_table_ends) ? NULL : pc_table_row(t, &pc_table_ends, keys);
    if (v) {
        v[PC_END_HOW] = pc_table_string(how);
        v[PC_END_PLACE] = place;
    }
    barrier();
    t->busy = 0;
}

/* Makes the arena as it is after exit. */
static void note_status(int status)
{
    struct pcollect_arena_header *h = pc_header();
    const uint64_t bits = (uint64_t)0xff << PCOLLECT_NOTE_STATUS_BIT;
    uint64_t given = (uint64_t)(status & 0xff) << PCOLLECT_NOTE_STATUS_BIT;
    __atomic_fetch_and(&h->notes, ~bits, __ATOMIC_RELAXED);
    __atomic_fetch_or(&h->notes, PCOLLECT_NOTE_STATUS | given, __ATOMIC_RELAXED);
    h->exit_ticks = pc_ticks();
    __atomic_store_n(&h->state, PCOLLECT_STATE_EXITED, __ATOMIC_RELEASE);
}

static void note_end(const char *how, int status, struct pc_call call)
{
    struct pc_thread *t = pc_self;
    int saved = errno;
    if (!may_note())
        return;
    pc_note_alive();
    if (t && !t->busy && t->stage == PC_STAGE_MAIN)
        note_place(t, how, &call);
    if (status != NO_STATUS)
        note_status(status);
    errno = saved;
}

/* The call that the function makes which contains this. */
#define THIS_CALL                                                                                  \
    ((struct pc_call){.fp = PC_SAVED_FP,                                                           \
                      .cfa = (uintptr_t)__builtin_dwarf_cfa(),                                     \
                      .ret = (uintptr_t)__builtin_return_address(0)})

PC_EXPORT void exit(int status)
{
    note_end("exit", NO_STATUS, THIS_CALL);
    PC_NEXT(exit)(status);
    __builtin_unreachable();
}

PC_EXPORT void quick_exit(int status)
{
    note_end("quick_exit", status & 0xff, THIS_CALL);
    PC_NEXT(quick_exit)(status);
    __builtin_unreachable();
}

PC_EXPORT void _exit(int status)
{
    note_end("_exit", status & 0xff, THIS_CALL);
    PC_NEXT(_exit)(status);
    __builtin_unreachable();
}

PC_EXPORT void _Exit(int status)
{
    note_end("_Exit", status & 0xff, THIS_CALL);
    PC_NEXT(_Exit)(status);
    __builtin_unreachable();
}

PC_EXPORT void abort(void)
{
    note_end("abort", NO_STATUS, THIS_CALL);
    PC_NEXT(abort)();
    __builtin_unreachable();
}

void __assert_fail(const char *text, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));

PC_EXPORT void __assert_fail(const char *text, const char *file, unsigned line,
                             const char *function)
{
    note_end("assert", NO_STATUS, THIS_CALL);
    PC_NEXT(__assert_fail)(text, file, line, function);
    __builtin_unreachable();
}
