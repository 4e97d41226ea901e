/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Times of MPI calls by the program's own clock: in the program (times.c), around each call, and in
 * a tool behind the profiler (times_inner.c), around the call that the profiler makes. The time
 * that the profiler measures is between the two.
 */
#ifndef TIMES_H
#define TIMES_H

#include <mpi.h>
#include <stdint.h>
#include <time.h>

enum {
    TIMES_INIT,
    TIMES_RANK,
    TIMES_SEND,
    TIMES_RECV,
    TIMES_IRECV,
    TIMES_WAIT,
    TIMES_ALLREDUCE,
    TIMES_BARRIER,
    TIMES_FINALIZE,
    TIMES_N
};

struct times {
    uint64_t ns[TIMES_N]; /* in calls of each function */
    uint64_t between;     /* sum of the times from the end of a call to the begin of the next */
    uint64_t begin, end;  /* of the last call */
};

extern struct times times_inner;

static inline uint64_t times_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void times_begin(struct times *t)
{
    t->begin = times_now();
    t->between += t->end ? t->begin - t->end : 0;
}

static inline int times_end(struct times *t, int function, int result)
{
    t->end = times_now();
    t->ns[function] += t->end - t->begin;
    return result;
}

/* Makes a call between two readings of the clock; its value is that of the call. */
#define TIMED(t, function, call) (times_begin(t), times_end(t, function, call))

#endif
