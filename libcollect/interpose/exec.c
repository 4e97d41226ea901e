/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The exec functions. A pending signal stays pending over an exec, but its handler is gone: the new
 * program would find a signal that nobody sent, and its own handler would get it. So the thread's
 * interrupt source is disarmed first and a pending signal is taken; if the exec fails, the source
 * is armed again.
 *
 * A child made by vfork runs here on its parent's memory. It has no source and no pending signal;
 * its thread id shows that it is not its parent. posix_spawn, system and popen of libc make such
 * children by themselves and do not pass here. An exec by its number is in bare_calls.c.
 */
#define _GNU_SOURCE 1

#include "libcollect/sampling/sampler.h"
#include "libcollect/state/next.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

static int failed(bool paused)
{
    if (paused)
        pc_sampler_resume();
    return -1;
}

#define MAKE_EXEC(name, parameters, arguments)                                                     \
    PC_EXPORT int name parameters                                                                  \
    {                                                                                              \
        __typeof__(&name) next = PC_NEXT(name);                                                    \
        bool paused = pc_sampler_pause();                                                          \
        next arguments;                                                                            \
        return failed(paused);                                                                     \
    }

MAKE_EXEC(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
MAKE_EXEC(execv, (const char *path, char *const argv[]), (path, argv))
MAKE_EXEC(execvp, (const char *file, char *const argv[]), (file, argv))
MAKE_EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
MAKE_EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))

typedef int execveat_fn(int, const char *, char *const[], char *const[], int);
PC_EXPORT execveat_fn execveat;

/* glibc has it since 2.34. */
int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    execveat_fn *next = (execveat_fn *)pc_next(PC_NEXT_execveat);
    bool paused = pc_sampler_pause();
    if (next)
        next(folder, path, argv, envp, flags);
    else
        errno = ENOSYS;
    return failed(paused);
}

/* ---- With the arguments one by one ----------------------------------------------------------- */

/* Number of arguments up to the final NULL, with the first. Does not advance the list. */
static size_t count_arguments(const char *first, va_list *rest)
{
    size_t n = 0;
    va_list list;
    va_copy(list, *rest);
    for (const char *a = first; a; a = va_arg(list, const char *))
        n++;
    va_end(list);
    return n;
}

/* Fills argv[0 .. n], the last one with NULL, and advances the list to what follows. The list is
 * passed by its address: where va_list is not an array, the callee would advance a copy. */
static void take_arguments(char **argv, size_t n, const char *first, va_list *rest)
{
    argv[0] = (char *)first;
    for (size_t i = 1; i <= n; i++)
        argv[i] = va_arg(*rest, char *);
}

PC_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t n = count_arguments(first, &list);
    char *argv[n + 1];
    take_arguments(argv, n, first, &list);
    va_end(list);
    return execv(path, argv);
}

PC_EXPORT int execlp(const char *file, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t n = count_arguments(first, &list);
    char *argv[n + 1];
    take_arguments(argv, n, first, &list);
    va_end(list);
    return execvp(file, argv);
}

PC_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t n = count_arguments(first, &list);
    char *argv[n + 1];
    take_arguments(argv, n, first, &list);
    char *const *envp = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argv, envp);
}
