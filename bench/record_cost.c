/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For bench/record.sh.
 *   work ROUNDS FILE   computes below 20 frames; writes to FILE its CPU time, and the time in which
 * it neither ran nor waited for a processor, in ms run COMMAND...     runs it, and prints the CPU
 * time in ms of all that it was
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int below(int depth);

static volatile double sink;

__attribute__((noinline)) int below(int depth)
{
    int result = 0;
    if (depth > 0)
        result = below(depth - 1);
    else
        for (int i = 0; i < 20000; i++)
            sink = sink * 0.999 + 1;
    __asm__ volatile("" : "+r"(result)); /* no tail call */
    return result + 1;
}

static double cpu_ms(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Time in which this thread was stopped or slept, since an arbitrary moment. */
static double held_ms(void)
{
    struct timespec t;
    double ran = 0, waited = 0;
    FILE *in = fopen("/proc/self/schedstat", "r");
    if (!in || fscanf(in, "%lf %lf", &ran, &waited) != 2)
        exit(1);
    fclose(in);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * ((double)t.tv_nsec - ran - waited);
}

int main(int argc, char **argv)
{
    double begin = held_ms();
    if (argc == 4 && !strcmp(argv[1], "work")) {
        for (int i = atoi(argv[2]); i > 0; i--)
            below(20);
        FILE *out = fopen(argv[3], "w");
        return !out || fprintf(out, "%.3f %.3f\n", cpu_ms(RUSAGE_SELF), held_ms() - begin) < 0 ||
               fclose(out);
    }
    if (argc < 3 || strcmp(argv[1], "run") != 0)
        return 2;
    int status;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (waitpid(child, &status, 0) < 0 || status)
        return 1;
    printf("%.3f\n", cpu_ms(RUSAGE_CHILDREN));
    return 0;
}
