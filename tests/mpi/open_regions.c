/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that is killed while it computes in a phase and two regions. For each of them the file
 * argv[1] has the path and the limits of its time in s: at least the CPU time that was computed, at
 * most the wall-clock time.
 */
#include "include/pcollect/pcollect.h"

#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    FILE *out = fopen(argv[1], "w");
    if (!out)
        return 1;
    double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), used;
    MPI_Pcontrol(3);
    pcollect_region_begin("solve");
    pcollect_region_begin("step");
    MPI_Barrier(MPI_COMM_WORLD);
    do {
        for (int i = 0; i < 20000; i++)
            sink += i;
        used = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    } while (used < 0.6);
    for (int n = 1; n <= 3; n++)
        fprintf(out, "(phase?3)%s%s %.9f %.9f\n", n > 1 ? "?>?(region?solve)" : "",
                n > 2 ? "?>?(region?step)" : "", used, now(CLOCK_MONOTONIC) - begin);
    fclose(out);
    return kill(getpid(), SIGKILL);
}
