/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters of system calls (seccomp). The sampler's handler makes system calls, and the library
 * replaces waiting calls by similar ones (wait.c): a filter that was written for the program alone
 * may refuse them, or end the process for them. So sampling ends before the first filter is
 * installed. If the filter would end the process for system calls that the library makes later, the
 * collection ends too.
 *
 * A filter of a child is no filter of its parent, on whose memory the child may run (vfork). Before
 * the first MPI call such a child is taken for its parent: a known hole.
 *
 * libseccomp and most programs install filters with syscall(2), which is interposed for this
 * reason, too (bare_calls.c).
 */
#include "libcollect/interpose/seccomp.h"
#include "libcollect/interpose/seccomp_answer.h"
#include "libcollect/interpose/wait.h"
#include "libcollect/life/life.h"
#include "libcollect/sampling/counter_groups.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"
#include "libcollect/state/state.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

/* False if the kernel will refuse the filter: programs pass NULL and other bad addresses to ask
 * whether filters are supported. */
static bool is_filter(unsigned long mode, const struct sock_fprog *program)
{
    return mode == SECCOMP_MODE_STRICT ||
           (mode == SECCOMP_MODE_FILTER && pc_wait_can_read(program, sizeof *program) &&
            program->len &&
            pc_wait_can_read(program->filter, program->len * sizeof *program->filter));
}

/* True if the filter would end the process for calls of the library. */
static bool ends_us(unsigned long mode, const struct sock_fprog *program)
{
    return mode == SECCOMP_MODE_STRICT ||
           pc_filter_ends(program, pc_counters_any() || pc_config_launch().n_ranks > 1);
}

static void before_filter(unsigned long mode, const void *program)
{
    /* No system call is made once the process takes no further part. */
    if (pc_control.left || pc_process_is_child() || !is_filter(mode, program))
        return;
    pc_control.filtered = true;
    bool sampled = pc_sampler_stop(PCOLLECT_NOTE_FILTERED);
    if (ends_us(mode, program))
        pc_core_leave("the program installs a filter of system calls (seccomp) that would end it "
                      "for a call that this library makes");
    else if (sampled)
        pc_core_complain("the program installs a filter of system calls (seccomp): sampling has "
                         "ended");
}

void pc_before_prctl(const unsigned long *a)
{
    if (a[0] == PR_SET_SECCOMP)
        before_filter(a[1], (const void *)a[2]);
}

void pc_before_seccomp(const unsigned long *a)
{
    if (a[0] == SECCOMP_SET_MODE_STRICT)
        before_filter(SECCOMP_MODE_STRICT, NULL);
    else if (a[0] == SECCOMP_SET_MODE_FILTER)
        before_filter(SECCOMP_MODE_FILTER, (const void *)a[2]);
}

PC_EXPORT int prctl(int option, ...)
{
    __typeof__(&prctl) next = PC_NEXT(prctl);
    unsigned long a[5] = {(unsigned long)option};
    va_list list;
    va_start(list, option);
    for (size_t i = 1; i < PC_ARRAY_LEN(a); i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    pc_before_prctl(a);
    return next(option, a[1], a[2], a[3], a[4]);
}
