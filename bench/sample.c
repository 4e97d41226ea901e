/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computes below a number of frames for a number of seconds of CPU time: what bench/sample.sh
 * samples. Arguments: depth, seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int below(int depth, double seconds);

static volatile double sink;

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

__attribute__((noinline)) int below(int depth, double seconds)
{
    int result = 0;
    if (depth > 0) {
        result = below(depth - 1, seconds);
        __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
        return result + 1;
    }
    for (double end = cpu_s() + seconds; cpu_s() < end;)
        for (int i = 0; i < 100000; i++)
            sink = sink * 0.999 + i;
    return result;
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 20;
    below(depth, argc > 2 ? atof(argv[2]) : 10);
    return 0;
}
