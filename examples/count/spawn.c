/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts a command and counts it from its exec on, with all that it starts.
 *
 *     cc spawn.c $(pkg-config --cflags --libs libpccount)
 *     ./a.out page-faults,task-clock ls -l
 */
#include <pcollect/count.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct pccount_error why;
    struct pccount_values v;
    int wait_for[2], status;
    char byte;
    if (argc < 3)
        return fprintf(stderr, "usage: spawn EVENTS COMMAND [ARGUMENT]...\n"), 2;
    struct pccount *count = pccount_new(argv[1], &why);
    if (!count || pipe(wait_for))
        return fprintf(stderr, "%s\n", count ? "no pipe" : why.text), 1;
    pid_t child = fork();
    if (child == 0) { /* waits until it is viewed */
        close(wait_for[1]);
        if (read(wait_for[0], &byte, 1) != 1)
            _exit(127);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    close(wait_for[0]);
    struct pccount_view *view = pccount_view_new(count, PCCOUNT_EXEC, child, &why);
    if (!view || write(wait_for[1], "", 1) != 1)
        fprintf(stderr, "%s\n", view ? "the child has ended" : why.text);
    close(wait_for[1]);
    waitpid(child, &status, 0);
    if (view && !pccount_view_read(view, &v))
        for (size_t i = 0; i < pccount_n(count); i++)
            printf("%14llu  %s\n", (unsigned long long)v.value[i], pccount_name(count, i));
    else if (view)
        fprintf(stderr, "%s\n", pccount_view_why(view));
    pccount_view_free(view);
    pccount_free(count);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
