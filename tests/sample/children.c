/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts a child that computes for N ms of CPU time, waits for its end, and prints what the kernel
 * says of its CPU time, in us. Then it computes for OWN ms itself.
 *
 *     children N OWN
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void compute(long ms)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

int main(int argc, char **argv)
{
    struct rusage of;
    if (argc < 3)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        compute(atol(argv[1]));
        _exit(0);
    }
    if (child < 0 || wait4(child, NULL, 0, &of) != child)
        return 1;
    printf("%ld\n", (long)(of.ru_utime.tv_sec + of.ru_stime.tv_sec) * 1000000 +
                        (long)of.ru_utime.tv_usec + (long)of.ru_stime.tv_usec);
    compute(atol(argv[2]));
    return 0;
}
