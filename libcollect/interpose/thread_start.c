/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pthread_create and thrd_create: a thread that is sampled or counted must be known from its start,
 * not from its first MPI call on, and for any other thread its stack must be known. The thread
 * starts in a function of this library, which registers it and then jumps to the program's
 * function. Before the collection starts only what a later registration needs is noted
 * (sampling/early_threads.h).
 *
 * Its arguments are in one of a fixed number of slots between the creation and the beginning of the
 * thread. If no slot is free, the thread is created as it is, and is known from its first MPI call
 * on. This is also done under ThreadSanitizer (gcc 12) if its runtime comes before this library:
 * then our function would run before ThreadSanitizer has registered the thread, and its malloc
 * would crash.
 */
#include "libcollect/context/thread.h"
#include "libcollect/sampling/counter_groups.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

enum { N_SLOTS = 1024 };

static struct start {
    _Atomic bool taken;
    bool helper; /* created inside an MPI call, so it belongs to the MPI library */
    void *(*posix)(void *);
    int (*c11)(void *);
    void *argument;
} slots[N_SLOTS];

static _Atomic unsigned next_slot;

static bool is_collecting(void)
{
    return atomic_load_explicit(&pc_live->stage, memory_order_relaxed) != 0;
}

/* True if the process collects, or has not started to: a forked child of one that collects does
 * not. */
static bool may_collect(void)
{
    return (is_collecting() || !pc_process.pid) && !pc_sampler_is_under_tsan();
}

/* True if threads must be known from their start, because they are sampled or their events are
 * counted. */
static bool are_followed(void)
{
    return (pc_sampler_signal || pc_counters_any()) && is_collecting();
}

/* Takes a free slot; NULL if there is none. */
static struct start *take_slot(struct start values)
{
    const struct pc_thread *creator = pc_self;
    for (unsigned tries = 0; tries < N_SLOTS; tries++) {
        struct start *s = &slots[atomic_fetch_add(&next_slot, 1) % N_SLOTS];
        if (atomic_exchange_explicit(&s->taken, true, memory_order_acquire))
            continue;
        s->posix = values.posix;
        s->c11 = values.c11;
        s->argument = values.argument;
        s->helper = creator && creator->depth && !creator->busy;
        return s;
    }
    return NULL;
}

static void give_back(struct start *s)
{
    atomic_store_explicit(&s->taken, false, memory_order_release);
}

/* Notes what a later registration of the calling thread needs, if it did not begin here: the main
 * thread, when it makes its first thread, which may call MPI_Init. A filter of system calls may end
 * the process for it. */
static void note_creator(void)
{
    int saved = errno;
    if (!pc_self && !pc_thread_stack().hi && !pc_control.filtered)
        pc_thread_begin(false, NULL);
    errno = saved;
}

/* Notes or registers the calling thread, and returns the function that it has to run. */
static struct start begin_thread(struct start *slot)
{
    struct start s = {.posix = slot->posix, .c11 = slot->c11, .argument = slot->argument};
    bool helper = slot->helper;
    give_back(slot);
    pc_thread_begin(helper, s.posix ? (void *)s.posix : (void *)s.c11);
    if (are_followed())
        pc_thread_enter();
    return s;
}

static void *run_posix(void *slot)
{
    struct start s = begin_thread(slot);
    return s.posix(s.argument);
}

static int run_c11(void *slot)
{
    struct start s = begin_thread(slot);
    return s.c11(s.argument);
}

PC_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                             void *(*function)(void *), void *argument)
{
    __typeof__(&pthread_create) next = PC_NEXT(pthread_create);
    struct start *slot = NULL;
    if (may_collect())
        slot = take_slot((struct start){.posix = function, .argument = argument});
    if (!slot)
        return next(thread, attr, function, argument);
    note_creator();
    int result = next(thread, attr, run_posix, slot);
    if (result)
        give_back(slot);
    return result;
}

PC_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    __typeof__(&thrd_create) next = PC_NEXT(thrd_create);
    struct start *slot = NULL;
    if (may_collect())
        slot = take_slot((struct start){.c11 = function, .argument = argument});
    if (!slot)
        return next(thread, function, argument);
    note_creator();
    int result = next(thread, run_c11, slot);
    if (result != thrd_success)
        give_back(slot);
    return result;
}
