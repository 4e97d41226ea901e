/* SPDX-License-Identifier: BSD-3-Clause
 *
 * execs N: replaces itself N times, each time after some computation, with the signal blocked or
 * not. The functions of exec take turns, also those with a variable number of arguments.
 */
#define _GNU_SOURCE 1 /* environ */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int left = argc > 1 ? atoi(argv[1]) : 0;
    char number[16];
    volatile double x = 0;
    sigset_t all;
    for (int i = 0; i < 300000 + left % 7 * 10000; i++)
        x = x + i;
    if (left == 0) {
        puts(argc < 3 || !strcmp(argv[2], "more") ? "done" : "arguments were lost");
        return 0;
    }
    if (left % 3 == 0 && argc == 3 && !getenv("EXECS")) {
        puts("the environment was lost");
        return 1;
    }
    setenv("EXECS", "some", 1);
    sigfillset(&all);
    if (left % 3 == 0)
        sigprocmask(SIG_BLOCK, &all, NULL);
    else
        sigprocmask(SIG_UNBLOCK, &all, NULL);
    for (int i = 0; left % 3 == 0 && i < 200000; i++)
        x = x + i;
    snprintf(number, sizeof number, "%d", left - 1);
    if (left % 3 == 0)
        execl(argv[0], argv[0], number, "more", (char *)NULL);
    else if (left % 3 == 1)
        execle(argv[0], argv[0], number, "more", (char *)NULL, environ);
    else
        execlp(argv[0], argv[0], number, "more", (char *)NULL);
    return 1;
}
