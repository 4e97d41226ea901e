/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program whose instructions are known: loops of two instructions a round.
 *
 *   known calls ROUNDS    `light` computes ROUNDS rounds between two barriers, `heavy` three times
 *                         as many, TIMES times each; code around loops does not depend on ROUNDS
 *   known mix STAYS       random stays in `often`, `seldom` and `brief`, of different lengths; rank
 *                         0 prints for each the instructions of its loops and its CPU time in s, as
 *                         sums over the ranks
 *   known shared ROUNDS   `one` and then `two`, which takes three times as long, between two
 *                         barriers
 *   known uneven ROUNDS   one rank after the other computes ROUNDS rounds in `relax`, rank 1 twice
 *                         as many
 *   known even ROUNDS     as `uneven`, but rank 1 computes only 1 % more than the others
 *
 * ROUNDS of the last three are for the emulated machine, where a round takes 4 ns. A machine that
 * is N times as fast computes N times as many rounds.
 */
#include "tests/pmu-lab/loop.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 20, KINDS = 3 };

static __attribute__((noinline)) void light(uint64_t rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    loop(rounds);
    MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) void heavy(uint64_t rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    loop(3 * rounds);
    MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) void often(uint64_t rounds)
{
    loop(rounds);
}

static __attribute__((noinline)) void seldom(uint64_t rounds)
{
    loop(rounds);
}

static __attribute__((noinline)) void brief(uint64_t rounds)
{
    loop(rounds);
}

static __attribute__((noinline)) void one(uint64_t rounds)
{
    loop(rounds);
}

static __attribute__((noinline)) void two(uint64_t rounds)
{
    loop(3 * rounds);
}

static __attribute__((noinline)) void relax(uint64_t rounds)
{
    loop(rounds);
}

static double cpu_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Speed of this machine divided by that of the emulated one; equal on all ranks. */
static double speed(void)
{
    enum { ROUNDS = 50000, TRIES = 20, ROUND_NS = 4 };
    double least = 1e9, s;
    for (int i = 0; i < TRIES; i++) {
        double begin = cpu_s();
        loop(ROUNDS);
        double passed = cpu_s() - begin;
        least = passed < least ? passed : least;
    }
    s = ROUNDS * ROUND_NS * 1e-9 / least;
    s = s > 0.9 && s < 1.1 ? 1 : s;
    MPI_Bcast(&s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return s;
}

static void mix(long stays)
{
    static const struct {
        const char *name;
        void (*run)(uint64_t rounds);
        uint64_t rounds;
    } kinds[KINDS] = {
        {"often", often, 400000}, {"seldom", seldom, 800000}, {"brief", brief, 12000}};
    const double faster = speed();
    uint64_t random = 88172645463325252u;
    double sums[2 * KINDS] = {0}, all[2 * KINDS];
    int rank;
    for (long i = 0; i < stays; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        unsigned k = random % 16 < 2 ? (unsigned)(random % 16) : 2;
        uint64_t rounds =
            (uint64_t)((double)(kinds[k].rounds / 2 + (random >> 32) % kinds[k].rounds) * faster);
        double begin = cpu_s();
        kinds[k].run(rounds);
        sums[KINDS + k] += cpu_s() - begin;
        sums[k] += 2 * (double)rounds;
    }
    MPI_Reduce(sums, all, 2 * KINDS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; rank == 0 && k < KINDS; k++)
        printf("%s %.0f %.6f\n", kinds[k].name, all[k], all[KINDS + k]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    long n = argc > 2 ? atol(argv[2]) : 0;
    double sum = 0;
    int rank;
    if (n < 1)
        return 2;
    MPI_Init(&argc, &argv);
    if (strcmp(what, "calls") != 0 && strcmp(what, "mix") != 0)
        n = (long)((double)n * speed());
    for (int i = 0; !strcmp(what, "calls") && i < TIMES; i++) {
        light((uint64_t)n);
        heavy((uint64_t)n);
    }
    for (int i = 0; !strcmp(what, "shared") && i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        one((uint64_t)n);
        two((uint64_t)n);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t more = rank != 1 ? 0 : (uint64_t)n / (strcmp(what, "uneven") ? 100 : 1);
    for (int i = 0; strstr(what, "even") && i < TIMES; i++) {
        for (int turn = 0; turn < 2; turn++) {
            if (rank == turn)
                relax((uint64_t)n + more);
            MPI_Bcast(&sum, 1, MPI_DOUBLE, turn, MPI_COMM_WORLD);
        }
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!strcmp(what, "mix"))
        mix(n);
    MPI_Finalize();
    return 0;
}
