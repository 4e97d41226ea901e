/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of early threads. pc_early_meet runs in the sampler's handler: it and what it calls
 * neither allocates with malloc nor takes a lock that the interrupted thread may hold.
 */
#include "libcollect/sampling/early_threads.h"

#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AFTER_NS = 1000000, MOST_TRIES = 100 };

struct early {
    struct pc_sampler_event event;
    uint32_t tries;       /* interrupts that could not register it */
    _Atomic bool open;    /* the event was not closed by us */
    _Atomic bool serving; /* pc_early_meet or pc_early_wait runs in the thread */
};

static struct early *early;
static _Atomic uint32_t n_early; /* set before the events are armed */
static _Atomic bool ended;
_Atomic bool pc_early_any;

static bool is_registered(int32_t tid)
{
    for (const struct pc_thread *t = pc_scope_newest_thread(); t; t = t->next_made)
        if (t->tid == tid)
            return true;
    return false;
}

/* False: no event can be opened. */
static bool watch(struct early *e, int32_t tid)
{
    e->event = (struct pc_sampler_event){
        .source = PC_SOURCE_CLOCK, .tid = tid, .period = AFTER_NS, .signal = pc_sampler_signal};
    e->open = pc_sampler_open_event(&e->event);
    return e->open;
}

/* Events are armed when all are in the table. A thread that waits closes its event from the moment
 * on when all are armed: a closed one could be another one then. */
void pc_early_watch(const int32_t *tids, uint32_t n_tids)
{
    uint32_t n = 0;
    if (!pc_sampler_signal || n_early || n_tids < 2)
        return;
    int saved = errno;
    early = pc_memory(n_tids * sizeof *early);
    for (uint32_t i = 0; early && i < n_tids; i++)
        if (!is_registered(tids[i]))
            n += watch(&early[n], tids[i]);
    atomic_store(&n_early, n);
    for (uint32_t i = 0; i < n; i++)
        ioctl(early[i].event.fd, PERF_EVENT_IOC_REFRESH, 1);
    atomic_store(&pc_early_any, n > 0);
    errno = saved;
}

/* True if this call has closed it. A child that is just being forked may have it open, too. */
static bool close_event(struct early *e)
{
    if (!atomic_exchange(&e->open, false))
        return false;
    pc_sampler_silence_event(e->event.fd, e->event.id);
    pc_sampler_close_event(e->event.fd, e->event.id);
    return true;
}

/* The event of the calling thread; NULL: it has none. Bypasses the interposed function, which would
 * come to pc_early_wait. */
static struct early *find_own(void)
{
    int32_t tid = (int32_t)PC_NEXT(syscall)(SYS_gettid);
    for (uint32_t i = 0; i < atomic_load(&n_early); i++)
        if (early[i].event.tid == tid)
            return &early[i];
    return NULL;
}

/* As in pc_sampler_handle: either pc_early_end waits for this, or this does nothing. */
static bool begin_serving(struct early *e)
{
    atomic_store(&e->serving, true);
    return !pc_self && !ended && pc_sampler_signal && atomic_load(&pc_live->stage) == PC_STAGE_MAIN;
}

static void end_serving(struct early *e)
{
    atomic_store(&e->serving, false);
}

bool pc_early_meet(int fd, uintptr_t sp, bool in_own)
{
    struct early *e = n_early ? find_own() : NULL;
    if (!e || e->event.fd != fd)
        return false;
    if (!begin_serving(e)) {
        close_event(e);
    } else if (!in_own && pc_thread_has_room(sp)) {
        if (close_event(e))
            pc_thread_enter();
    } else if (++e->tries < MOST_TRIES) {
        ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
    }
    end_serving(e);
    return true;
}

void pc_early_wait(void)
{
    int saved = errno;
    struct early *e = find_own();
    if (!e || e->serving) /* what is called below may come here again */
        return;
    if (begin_serving(e) && close_event(e)) {
        pc_sampler_take_pending(NULL, e->event.fd, e->event.signal);
        if (pc_thread_has_room((uintptr_t)__builtin_frame_address(0)))
            pc_thread_enter();
    }
    end_serving(e);
    errno = saved;
}

void pc_early_end(void)
{
    enum { LONGEST_NS = 100000000 };
    uint64_t begin = pc_mono_ns();
    ended = true;
    pc_early_any = false;
    for (uint32_t i = 0; i < n_early; i++) {
        struct early *e = &early[i];
        while (e->serving && pc_mono_ns() - begin < LONGEST_NS)
            sched_yield();
        close_event(e);
    }
}

/* The events stay armed: they are the parent's. */
void pc_early_forget(void)
{
    pc_early_any = false;
    for (uint32_t i = 0; i < n_early; i++)
        if (atomic_exchange(&early[i].open, false))
            pc_sampler_close_event(early[i].event.fd, early[i].event.id);
}
