/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For bench/long.sh: `long STAGES CALLS SECONDS`: a rank that makes CALLS calls from 100 contexts
 * in each of STAGES stages, 1,000 messages to itself and 1,000 communicators, each a duplicate of
 * the one before, and computes until SECONDS of processor time have passed. Prints a line for each
 * stage: calls so far, nanoseconds of a call in the fastest of its batches, bytes of the arena of
 * this process that are used (0: it has none).
 */
#include <mpi.h>

#include <time.h>

#include "tests/used_bytes.h"

#define NOINLINE __attribute__((noinline, noclone))
#define AFTER_CALL() __asm__ volatile("" ::: "memory") /* keeps a call from becoming a jump */

enum { BATCH = 2000, EACH = 1000 };

static volatile double sink;

static double clock_s(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Contexts: two levels of ten functions --------------------------------------------------- */

static NOINLINE void call(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    AFTER_CALL();
}

#define LEVEL(name, next)                                                                          \
    static NOINLINE void name##0(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##1(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##2(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##3(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##4(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##5(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##6(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##7(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##8(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void name##9(long i)                                                           \
    {                                                                                              \
        next;                                                                                      \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static void (*const name[])(long) = {name##0, name##1, name##2, name##3, name##4,              \
                                         name##5, name##6, name##7, name##8, name##9};

LEVEL(inner, (void)i; call())
LEVEL(outer, inner[i / 10 % 10](i))

/* ---- A stage --------------------------------------------------------------------------------- */

/* Nanoseconds of a call in the fastest batch. */
static double make_calls(long n)
{
    double fastest = 1e9;
    for (long done = 0; done < n; done += BATCH) {
        double begin = clock_s(CLOCK_MONOTONIC);
        for (long i = 0; i < BATCH; i++)
            outer[i % 10](i);
        double ns = (clock_s(CLOCK_MONOTONIC) - begin) * 1e9 / BATCH;
        fastest = ns < fastest ? ns : fastest;
    }
    return fastest;
}

static void send_to_self(void)
{
    char out[64] = "", in[64];
    MPI_Request request;
    MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(out, sizeof out, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static MPI_Comm duplicate(MPI_Comm last)
{
    MPI_Comm next;
    MPI_Comm_dup(last, &next);
    if (last != MPI_COMM_SELF)
        MPI_Comm_free(&last);
    return next;
}

static void compute_until(double cpu_s)
{
    while (clock_s(CLOCK_THREAD_CPUTIME_ID) < cpu_s)
        for (int i = 0; i < 100000; i++)
            sink = sink * 0.999 + i;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "long STAGES CALLS SECONDS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    long n_stages = atol(argv[1]), n_calls = atol(argv[2]);
    MPI_Comm last = MPI_COMM_SELF;
    for (long stage = 1; stage <= n_stages; stage++) {
        double end_s = clock_s(CLOCK_THREAD_CPUTIME_ID) + atof(argv[3]);
        double ns = make_calls(n_calls);
        for (int i = 0; i < EACH; i++) {
            send_to_self();
            last = duplicate(last);
        }
        compute_until(end_s);
        printf("%ld %.2f %lu\n", stage * n_calls, ns, used_bytes());
        fflush(stdout);
    }
    if (last != MPI_COMM_SELF)
        MPI_Comm_free(&last);
    MPI_Finalize();
    return 0;
}
