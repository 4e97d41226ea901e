/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stack for the end of the job, which needs more of it than a call of MPI: the merge has frames
 * of 32 KiB, and the first message that MPICH on UCX sends takes more than 64 KiB (4.0.2). The
 * program may call MPI_Finalize in a thread with a small stack, or forbid the stack of the main
 * thread to grow. Then the end runs on a stack that was reserved in MPI_Init, like a coroutine of
 * libc. Elsewhere it runs on the thread's own, which debuggers, valgrind and sanitizers know.
 *
 * The thread is not cancelled meanwhile: MPI, files and zlib come to cancellation points.
 *
 * Called by finish.c and writer.c. Must not: call malloc.
 */
#include "config.h"
#include "libcollect/context/thread.h"
#include "libcollect/life/life.h"
#include "libcollect/state/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_MAKECONTEXT
#include <ucontext.h>

enum { NEEDED_BYTES = 256 << 10, RESERVED_BYTES = 512 << 10, GUARD_BYTES = 64 << 10 };

static char *reserved;                       /* the lowest GUARD_BYTES cannot be accessed */
static atomic_flag taken = ATOMIC_FLAG_INIT; /* by the thread that uses all of these */
static ucontext_t there, back;
static void (*job)(void *arg);
static void *job_arg;

void pc_stack_reserve(void)
{
    char *memory = reserved ? NULL : pc_memory(GUARD_BYTES + RESERVED_BYTES);
    if (memory && !mprotect(memory, GUARD_BYTES, PROT_NONE))
        reserved = memory;
    else if (memory)
        pc_memory_free(memory, GUARD_BYTES + RESERVED_BYTES);
}

/* The bytes by which the main thread's stack may grow below the address. */
static size_t room_of_main(uintptr_t sp, uintptr_t hi)
{
    struct rlimit stack;
    /* The address space must have as much again for the merge itself. */
    if (getrlimit(RLIMIT_STACK, &stack) || pc_room_to_grow(false) < 2 * NEEDED_BYTES)
        return 0;
    return stack.rlim_cur > hi - sp ? stack.rlim_cur - (hi - sp) : 0;
}

static bool has_room(void)
{
    struct pc_stack own = pc_thread_stack();
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    if (sp <= own.lo || sp >= own.hi || sp - own.lo < NEEDED_BYTES)
        return false;
    return getpid() != syscall(SYS_gettid) || room_of_main(sp, own.hi) >= NEEDED_BYTES;
}

static void begin(void)
{
    job(job_arg);
}

static void run_with_room(void (*run)(void *arg), void *arg)
{
    if (!reserved || has_room() || atomic_flag_test_and_set(&taken)) {
        run(arg);
        return;
    }
    job = run;
    job_arg = arg;
    getcontext(&there);
    there.uc_stack.ss_sp = reserved + GUARD_BYTES;
    there.uc_stack.ss_size = RESERVED_BYTES;
    there.uc_link = &back;
    makecontext(&there, begin, 0);
    swapcontext(&back, &there);
    atomic_flag_clear(&taken);
}

#else

void pc_stack_reserve(void)
{
}

static void run_with_room(void (*run)(void *arg), void *arg)
{
    run(arg);
}

#endif

void pc_stack_run(void (*run)(void *arg), void *arg)
{
    int cancel = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    run_with_room(run, arg);
    pthread_setcancelstate(cancel, NULL);
}
