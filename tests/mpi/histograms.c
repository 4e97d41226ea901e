/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes known numbers of calls in known contexts.
 * histograms calls: sends 2^i bytes to itself counts[i] times from a function of its own, and
 * prints how often, and what its histogram of sizes must be. histograms again N: the same 300 calls
 * N times, and what was collected is forgotten after each time but the last; prints the bytes of
 * the arena that are used after half of them and after all. histograms many DEPTH CALLS: CALLS
 * calls in each of 2^DEPTH contexts.
 */
#include <mpi.h>

#include "tests/used_bytes.h"

static const int counts[] = {1, 2, 127, 128, 129, 255, 256, 257, 511, 512, 513, 40000};
enum { N = sizeof counts / sizeof counts[0] };

static char sent[1 << N], received[1 << N];

static void send_bytes(int bytes)
{
    MPI_Sendrecv(sent, bytes, MPI_CHAR, 0, 1, received, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
}

#define SENDER(i)                                                                                  \
    static __attribute__((noinline)) void sender_##i(void)                                         \
    {                                                                                              \
        for (int n = 0; n < counts[i]; n++)                                                        \
            send_bytes(1 << (i));                                                                  \
        __asm__ volatile("");                                                                      \
    }
SENDER(0)
SENDER(1)
SENDER(2)
SENDER(3)
SENDER(4)
SENDER(5)
SENDER(6)
SENDER(7)
SENDER(8)
SENDER(9)
SENDER(10)
SENDER(11)

static void (*const senders[N])(void) = {sender_0, sender_1, sender_2,  sender_3,
                                         sender_4, sender_5, sender_6,  sender_7,
                                         sender_8, sender_9, sender_10, sender_11};

static void make_calls(void)
{
    for (int i = 0; i < N; i++) {
        senders[i]();
        printf("%d %d:%d\n", counts[i], i, counts[i]);
    }
}

static __attribute__((noinline)) void only_before(void)
{
    for (int n = 0; n < 300; n++)
        send_bytes(8);
    __asm__ volatile("");
}

static void forget_and_repeat(int turns)
{
    only_before();
    for (int turn = 1; turn <= turns; turn++) {
        MPI_Pcontrol(2);
        for (int n = 0; n < 300; n++)
            send_bytes(1024);
        if (turn == turns / 2 || turn == turns)
            printf("%lu\n", used_bytes());
    }
}

static __attribute__((noinline)) void branch(int depth, int calls)
{
    for (int n = 0, rank; !depth && n < calls; n++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (depth) {
        branch(depth - 1, calls);
        __asm__ volatile("");
        branch(depth - 1, calls);
    }
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc == 2)
        make_calls();
    else if (argc == 3)
        forget_and_repeat(atoi(argv[2]));
    else if (argc == 4)
        branch(atoi(argv[2]), atoi(argv[3]));
    MPI_Finalize();
    return argc < 2;
}
