/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters of system calls (seccomp). The sampler's handler makes system calls, and calls that wait
 * are made by others of their kin (wait.c): a filter that was written for the program alone may
 * refuse them, or end the process for them. So sampling ends before the first filter is installed.
 *
 * libseccomp and most programs reach seccomp by syscall(2), which is interposed for that.
 */
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void end_sampling(void)
{
    pc_control.filtered = true;
    if (pc_sampler_stop(PCOLLECT_NOTE_FILTERED))
        pc_core_complain("the program installs a filter of system calls (seccomp): sampling has "
                         "ended");
}

/* Calls without an argument ask whether there are filters. */
static void look_at(long number, long option, const void *argument)
{
    if (number == SYS_prctl && option == PR_SET_SECCOMP)
        end_sampling();
    if (number == SYS_seccomp &&
        (option == SECCOMP_SET_MODE_STRICT || (option == SECCOMP_SET_MODE_FILTER && argument)))
        end_sampling();
}

PC_EXPORT int prctl(int option, ...)
{
    __typeof__(&prctl) next = PC_NEXT(prctl);
    unsigned long a[4];
    va_list list;
    va_start(list, option);
    for (size_t i = 0; i < PC_ARRAY_LEN(a); i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    look_at(SYS_prctl, option, NULL);
    return next(option, a[0], a[1], a[2], a[3]);
}

PC_EXPORT long syscall(long number, ...)
{
    __typeof__(&syscall) next = PC_NEXT(syscall);
    long a[6];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < PC_ARRAY_LEN(a); i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (PC_UNLIKELY(number == SYS_prctl || number == SYS_seccomp))
        look_at(number, a[0], (const void *)a[2]);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
