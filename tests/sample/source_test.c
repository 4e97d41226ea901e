/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The timer of a thread follows the sampler's signal to another number, and may expire at any time
 * meanwhile. The handler then follows, too. In the end the thread has one timer, which is armed.
 * The kernel is made by this test.
 */
#include "libcollect/sampling/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include <setjmp.h>

#include <cmocka.h>

enum { MOST_TIMERS = 8, LATER_NS = 1000000 };

static struct timer {
    bool exists, armed;
    int signal;
} timers[MOST_TIMERS];

static struct pc_sampler sampler;
static int n_moments;     /* before and after each system call */
static int expires_at;    /* the moment at which the armed timer expires */
static bool expired;      /* there was such a moment */
static bool refuses_more; /* no timer can be made */

/* Does what the sampler's handler does to arm the next interrupt. */
static void pass_moment(void)
{
    if (n_moments++ != expires_at)
        return;
    expired = true;
    for (int i = 0; i < MOST_TIMERS; i++) {
        if (!timers[i].armed)
            continue;
        timers[i].armed = false;
        pc_sampler_follow_signal(&sampler);
        pc_sampler_arm_for(&sampler, LATER_NS);
    }
}

static long make_timer(const struct sigevent *event, int *made)
{
    int i = 0;
    while (i < MOST_TIMERS && timers[i].exists)
        i++;
    if (i == MOST_TIMERS || refuses_more)
        return -1;
    timers[i] = (struct timer){.exists = true, .signal = event->sigev_signo};
    *made = i;
    return 0;
}

static long set_timer(int i, const long *spec)
{
    if (!timers[i].exists)
        return -1;
    timers[i].armed = spec[2] || spec[3];
    return 0;
}

static long delete_timer(int i)
{
    if (!timers[i].exists)
        return -1;
    timers[i] = (struct timer){.exists = false};
    return 0;
}

/* Takes the place of the function of libc. */
long syscall(long number, ...)
{
    long result = -1;
    va_list args;
    pass_moment();
    va_start(args, number);
    if (number == SYS_timer_create) {
        va_arg(args, int);
        const struct sigevent *event = va_arg(args, const struct sigevent *);
        result = make_timer(event, va_arg(args, int *));
    } else if (number == SYS_timer_settime) {
        int i = va_arg(args, int);
        va_arg(args, int);
        result = set_timer(i, va_arg(args, const long *));
    } else if (number == SYS_timer_delete) {
        result = delete_timer(va_arg(args, int));
    }
    va_end(args);
    pass_moment();
    errno = result ? EAGAIN : errno;
    return result;
}

static void begin_with(int signal)
{
    memset(timers, 0, sizeof timers);
    sampler = (struct pc_sampler){.source = PC_SOURCE_TIMER};
    expires_at = -1;
    refuses_more = false;
    pc_sampler_signal = signal;
    assert_int_equal(pc_sampler_make_timer(&sampler, signal), 0);
    pc_sampler_arm_for(&sampler, LATER_NS);
}

static void follow_to(int signal, int moment)
{
    pc_sampler_signal = signal;
    n_moments = 0;
    expires_at = moment;
    expired = false;
    if (pc_sampler_follow_signal(&sampler))
        pc_sampler_arm_for(&sampler, LATER_NS);
}

static void check_one_timer(int signal)
{
    for (int i = 0; i < MOST_TIMERS; i++)
        assert_int_equal(timers[i].exists, i == sampler.timer);
    assert_int_equal(timers[sampler.timer].signal, signal);
    assert_true(timers[sampler.timer].armed);
    assert_int_equal(sampler.signal, signal);
}

static void a_timer_that_expires_at_any_time_is_followed_by_one(void **state)
{
    int moment = 0;
    (void)state;
    do {
        begin_with(SIGURG);
        follow_to(SIGWINCH, moment++);
        check_one_timer(SIGWINCH);
    } while (expired);
    assert_true(moment > 6); /* make, set and delete */
}

static void without_another_timer_the_thread_keeps_its_own(void **state)
{
    int moment = 0;
    (void)state;
    do {
        begin_with(SIGURG);
        refuses_more = true;
        follow_to(SIGWINCH, moment++);
        check_one_timer(SIGURG);
    } while (expired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_that_expires_at_any_time_is_followed_by_one),
        cmocka_unit_test(without_another_timer_the_thread_keeps_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
