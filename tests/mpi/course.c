/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions, phases, work and sleep at known times. Each rank writes what it did, and when, into the
 * file argv[1].RANK. Times are in ns since 1970, by the wall clock at the begin and a clock that
 * nobody adjusts from there on:
 *
 *     region PATH B0 B1 E0 E1    the region began between B0 and B1, and ended between E0 and E1
 *     work BEGIN END NS          the rank computed for NS ns of CPU time in between, outside MPI
 *     sleep BEGIN END            the rank slept
 */
#include "include/pcollect/pcollect.h"

#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static FILE *out;
static volatile double sink;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t wall_at_0; /* of CLOCK_MONOTONIC */

static uint64_t wall_ns(void)
{
    return wall_at_0 + now_ns(CLOCK_MONOTONIC);
}

static void work(uint64_t cpu_ns)
{
    uint64_t begin = wall_ns(), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), used;
    do {
        for (int i = 0; i < 20000; i++)
            sink += i;
        used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    } while (used < cpu_ns);
    fprintf(out, "work %llu %llu %llu\n", (unsigned long long)begin, (unsigned long long)wall_ns(),
            (unsigned long long)used);
}

static void rest(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    uint64_t begin = wall_ns();
    nanosleep(&t, NULL);
    fprintf(out, "sleep %llu %llu\n", (unsigned long long)begin, (unsigned long long)wall_ns());
}

struct open {
    const char *path;
    uint64_t before, after;
};

static struct open enter(const char *path, const char *name, int level)
{
    struct open o = {.path = path, .before = wall_ns()};
    if (name)
        pcollect_region_begin(name);
    else
        MPI_Pcontrol(level);
    o.after = wall_ns();
    return o;
}

static void leave(const struct open *o, const char *name)
{
    uint64_t before = wall_ns();
    if (name)
        pcollect_region_end(name);
    else
        MPI_Pcontrol(1);
    fprintf(out, "region %s %llu %llu %llu %llu\n", o->path, (unsigned long long)o->before,
            (unsigned long long)o->after, (unsigned long long)before,
            (unsigned long long)wall_ns());
}

int main(int argc, char **argv)
{
    const uint64_t ms = 1000000;
    char name[1024];
    int rank;
    wall_at_0 = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
    struct open whole = enter("(region?whole)", "whole", 0); /* before the first call */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    out = fopen(name, "w");
    if (!out)
        return 1;
    MPI_Barrier(MPI_COMM_WORLD);
    rest(200 * ms);
    struct open solve = enter("(region?whole)/(region?solve)", "solve", 0);
    work((uint64_t)(200 + 100 * rank) * ms);
    MPI_Barrier(MPI_COMM_WORLD);
    struct open pause = enter("(region?whole)/(region?solve)/(region?pause)", "pause", 0);
    rest(300 * ms);
    leave(&pause, "pause");
    leave(&solve, "solve");
    leave(&whole, "whole");
    rest(100 * ms);
    struct open phase = enter("(phase?5)", NULL, 5);
    work(100 * ms);
    struct open inner = enter("(phase?5)/(region?write)", "write", 0);
    work(100 * ms);
    leave(&inner, "write");
    leave(&phase, NULL);
    rest(100 * ms);
    if (fclose(out))
        return 1;
    return MPI_Finalize();
}
