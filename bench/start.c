/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time that a preloaded library adds to the life of a process: runs a command many times,
 * without and with it in turn, and prints the median of the differences and their quartiles, in
 * microseconds.
 * usage: start PRELOAD.so PAIRS COMMAND [ARGUMENT...]
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Negative: the command could not be run. */
static double life_us(char **command)
{
    pid_t pid;
    int status;
    double begin = now_us();
    if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ))
        return -1;
    if (waitpid(pid, &status, 0) != pid || status)
        return -1;
    return now_us() - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int n = argc > 3 ? atoi(argv[2]) : 0;
    double *added = n > 0 ? malloc((size_t)n * sizeof *added) : NULL;
    if (!added) {
        fprintf(stderr, "usage: start PRELOAD.so PAIRS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    for (int i = 0; i < n; i++) {
        unsetenv("LD_PRELOAD");
        double without = life_us(argv + 3);
        setenv("LD_PRELOAD", argv[1], 1);
        double with = life_us(argv + 3);
        if (without < 0 || with < 0) {
            fprintf(stderr, "start: %s cannot be run\n", argv[3]);
            return 1;
        }
        added[i] = with - without;
    }
    qsort(added, (size_t)n, sizeof *added, compare);
    printf("%.1f %.1f %.1f\n", added[n / 2], added[n / 4], added[n * 3 / 4]);
    free(added);
    return 0;
}
