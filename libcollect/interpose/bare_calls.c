/* SPDX-License-Identifier: BSD-3-Clause
 *
 * System calls that the program makes by number, with syscall(2). Those that any handler interrupts
 * or cuts short are protected like the functions of that name (wait.c, sockets.c): the sampler's
 * signal is blocked, or is added to the mask that they are given. Installing a seccomp filter is
 * noticed as in seccomp.c, and an exec as in exec.c.
 *
 * The library's own calls come through here as well. Some of them come from the sampler's handler,
 * which `busy` shows: the kernel blocks its signal there, and it must not be unblocked.
 *
 * Numbers that only some processors have are under #ifdef: newer ones have no poll, select,
 * epoll_wait and pause.
 */
#define _GNU_SOURCE 1

#include "libcollect/interpose/seccomp.h"
#include "libcollect/interpose/wait.h"
#include "libcollect/state/next.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MASK_BYTES = 8, GIVEN_BY_STRUCTURE = 8 /* IORING_ENTER_EXT_ARG */ };

/* A mask with its size, as pselect6 takes it, and the time limit that io_uring_enter takes in
 * addition. */
struct sized_mask {
    unsigned long mask, size, time;
};

/* Copies of a call's arguments, with the sampler's signal added. */
struct copy {
    uint64_t mask;
    struct sized_mask sized;
    bool added; /* the program's mask lacked it */
};

/* ---- Calls that take a mask ------------------------------------------------------------------ */

/* Replaces the mask by a copy with the signal. False: there is no mask, or the kernel will refuse
 * it. */
static bool add_signal(unsigned long *mask, unsigned long size, int signal, struct copy *copy)
{
    if (size != MASK_BYTES || !pc_wait_can_read((const void *)*mask, sizeof copy->mask))
        return false;
    __builtin_memcpy(&copy->mask, (const void *)*mask, sizeof copy->mask);
    copy->added = !(copy->mask >> (signal - 1) & 1);
    copy->mask |= 1ull << (signal - 1);
    *mask = (unsigned long)&copy->mask;
    return true;
}

static bool add_signal_sized(unsigned long *sized, size_t bytes, int signal, struct copy *copy)
{
    if (!pc_wait_can_read((const void *)*sized, bytes))
        return false;
    __builtin_memcpy(&copy->sized, (const void *)*sized, bytes);
    if (!add_signal(&copy->sized.mask, (uint32_t)copy->sized.size, signal, copy))
        return false;
    *sized = (unsigned long)&copy->sized;
    return true;
}

/* Adds the signal to the mask of the call. True if the call has a mask that now holds it. */
static bool is_masked(long number, unsigned long *a, int signal, struct copy *copy)
{
    switch (number) {
    case SYS_ppoll:
        return add_signal(&a[3], a[4], signal, copy);
    case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
        return add_signal(&a[4], a[5], signal, copy);
    case SYS_rt_sigsuspend:
        return add_signal(&a[0], a[1], signal, copy);
    case SYS_pselect6:
#ifdef SYS_io_pgetevents
    case SYS_io_pgetevents:
#endif
        return add_signal_sized(&a[5], offsetof(struct sized_mask, time), signal, copy);
#ifdef SYS_io_uring_enter
    case SYS_io_uring_enter:
        if (a[3] & GIVEN_BY_STRUCTURE)
            return a[5] == sizeof copy->sized &&
                   add_signal_sized(&a[4], sizeof copy->sized, signal, copy);
        return add_signal(&a[4], a[5], signal, copy);
#endif
    default:
        return false;
    }
}

/* ---- Calls that are held --------------------------------------------------------------------- */

/* True for a futex wait with a time limit. Without one, and with other operations, the kernel
 * restarts the call. */
static bool is_timed_futex(const unsigned long *a)
{
    int operation = (int)a[1] & FUTEX_CMD_MASK;
    return a[3] && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

/* True if the set that rt_sigtimedwait waits for lacks the signal: the call would take the signal
 * if the set had it, blocked or not. */
static bool is_without(const unsigned long *a, int signal)
{
    uint64_t set = 0;
    if (a[3] == MASK_BYTES && pc_wait_can_read((const void *)a[0], sizeof set))
        __builtin_memcpy(&set, (const void *)a[0], sizeof set);
    return set && !(set >> (signal - 1) & 1);
}

/* True for calls that end with EINTR. Those of is_masked are here too, because they may have been
 * given no mask. */
static bool is_wait(long number, const unsigned long *a, int signal)
{
    switch (number) {
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_pause:
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
#ifdef SYS_io_pgetevents
    case SYS_io_pgetevents:
#endif
#ifdef SYS_io_uring_enter
    case SYS_io_uring_enter:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_io_getevents:
        return true;
    case SYS_futex:
        return is_timed_futex(a);
    case SYS_rt_sigtimedwait:
        return is_without(a, signal);
    default:
        return false;
    }
}

/* True for calls that may transfer a part only (blocking.h has the conditions). */
static bool is_cut(long number, const unsigned long *a)
{
    switch (number) {
    case SYS_read:
        return a[2] > PC_LONG_READ_BYTES;
    case SYS_readv:
        return pc_vector_bytes((const struct iovec *)a[1], a[2]) > PC_LONG_READ_BYTES;
    case SYS_recvfrom:
        return pc_waits_for_all((int)a[3]);
    case SYS_recvmsg:
        return pc_waits_for_all((int)a[2]);
    case SYS_write:
        return a[2] > PC_UNCUT_BYTES;
    case SYS_writev:
    case SYS_pwritev2:
        return pc_vector_bytes((const struct iovec *)a[1], a[2]) > PC_UNCUT_BYTES;
    case SYS_sendto:
        return pc_is_cut(a[2], (int)a[3]);
    case SYS_sendmsg:
        return pc_is_cut(pc_message_bytes((const struct msghdr *)a[1]), (int)a[2]);
    case SYS_recvmmsg:
        return a[4] || !(a[3] & MSG_DONTWAIT);
    case SYS_sendmmsg:
        return !(a[3] & MSG_DONTWAIT);
    case SYS_getrandom:
        return a[1] > 256;
    case SYS_splice:
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_fallocate:
        return true;
    default:
        return false;
    }
}

/* Socket option that can give the call a time limit, or 0. */
static int time_limit_of(long number)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
        return SO_RCVTIMEO;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_connect:
        return SO_SNDTIMEO;
    default:
        return 0;
    }
}

static uint64_t hold(long number, const unsigned long *a, int signal)
{
    if (is_wait(number, a, signal) || is_cut(number, a))
        return pc_wait_hold();
    int option = time_limit_of(number);
    return option ? pc_wait_hold_socket((int)a[0], option) : 0;
}

static void look_at(long number, const unsigned long *a)
{
    if (number == SYS_prctl)
        pc_before_prctl(a);
    else if (number == SYS_seccomp)
        pc_before_seccomp(a);
}

PC_EXPORT long syscall(long number, ...)
{
    __typeof__(&syscall) next = PC_NEXT(syscall);
    unsigned long a[6];
    struct copy copy = {.added = false};
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < PC_ARRAY_LEN(a); i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    if (number == SYS_setsockopt) {
        long set = next(number, a[0], a[1], a[2], a[3], a[4]);
        pc_wait_see_option((int)a[0], (int)a[1], (int)a[2]);
        return set;
    }
    look_at(number, a);
    struct pc_sampler *s = pc_wait_sampler();
    if (PC_LIKELY(!s || pc_self->busy))
        return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    bool paused = (number == SYS_execve || number == SYS_execveat) && pc_sampler_pause();
    bool masked = is_masked(number, a, s->signal, &copy);
    uint64_t held = masked ? 0 : hold(number, a, s->signal);
    if (copy.added)
        s->held = true;
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (copy.added && pc_wait_sampler())
        s->held = false;
    pc_wait_release(held, (uintptr_t)next);
    if (paused)
        pc_sampler_resume();
    return result;
}
