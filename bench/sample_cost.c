/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program that bench/sample.sh samples: computes below a number of frames for a number of
 * seconds of CPU time. Arguments: depth, seconds; with a third one it runs a fixed number of rounds
 * that take about that time, and prints their CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int below(int depth, double seconds, long rounds);

static volatile double sink;

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void burn(void)
{
    for (int i = 0; i < 100000; i++)
        sink = sink * 0.999 + i;
}

__attribute__((noinline)) int below(int depth, double seconds, long rounds)
{
    int result = 0;
    if (depth > 0) {
        result = below(depth - 1, seconds, rounds);
        __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
        return result + 1;
    }
    for (long i = 0; i < rounds; i++)
        burn();
    for (double end = cpu_s() + seconds; !rounds && cpu_s() < end;)
        burn();
    return result;
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 20;
    double seconds = argc > 2 ? atof(argv[2]) : 10;
    /* About 1.5 ns per iteration. */
    below(depth, seconds, argc > 3 ? (long)(seconds / 150e-6) : 0);
    if (argc > 3)
        printf("%.6f\n", cpu_s());
    return 0;
}
