/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads on small stacks call MPI. The stacks are painted first: bytes that are no longer painted
 * were used. With "fake" MPI does nothing (state_tool.h), so that all used bytes are the
 * profiler's; their number is printed. With "real" nothing is printed: the threads' calls succeed
 * or the rank fails. With "end" and a number of KiB a thread with such a stack ends MPI; with
 * 0 the main thread, whose stack may no longer grow.
 */
#include "tests/safety/state_tool.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { GUARD = 4096, PAINT = 0x5a };

struct job {
    size_t stack_bytes;
    int rounds; /* 0: no call at all */
    int ends;   /* it calls MPI_Finalize instead */
    size_t used;
};

static __attribute__((noinline)) void call_fake(int rounds)
{
    int rank, flag;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static __attribute__((noinline)) void call_real(int rounds)
{
    int x, y, rank;
    MPI_Request request;
    for (int i = 0; i < rounds; i++) {
        x = i;
        y = -1;
        MPI_Comm_rank(MPI_COMM_SELF, &rank);
        MPI_Irecv(&y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
        MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (y != i)
            abort();
    }
}

static void *run(void *arg)
{
    struct job *job = arg;
    if (job->ends)
        MPI_Finalize();
    else if (state_fake)
        call_fake(job->rounds);
    else
        call_real(job->rounds);
    return NULL;
}

/* Runs the job on a painted stack above a page without access. */
static void on_small_stack(struct job *job)
{
    size_t bytes = job->stack_bytes, untouched = 0;
    pthread_t thread;
    pthread_attr_t attr;
    unsigned char *low =
        mmap(NULL, GUARD + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED || mprotect(low, GUARD, PROT_NONE))
        abort();
    memset(low + GUARD, PAINT, bytes);
    pthread_attr_init(&attr);
    if (pthread_attr_setstack(&attr, low + GUARD, bytes) ||
        pthread_create(&thread, &attr, run, job))
        abort();
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    while (untouched < bytes && low[GUARD + untouched] == PAINT)
        untouched++;
    job->used = bytes - untouched;
    munmap(low, GUARD + bytes);
}

int main(int argc, char **argv)
{
    int provided;
    struct job many[2] = {{65536, 5000, 0, 0}, {65536, 5000, 0, 0}}, small = {16384, 5000, 0, 0};
    struct job none = {65536, 0, 0, 0}, end = {0, 0, 1, 0};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc > 2) {
        struct rlimit limit = {65536, 65536};
        end.stack_bytes = (size_t)atoi(argv[2]) << 10;
        if (end.stack_bytes)
            on_small_stack(&end);
        else
            return setrlimit(RLIMIT_STACK, &limit) || MPI_Finalize();
        return 0;
    }
    state_fake = argc > 1 && !strcmp(argv[1], "fake");
    /* Runs twice: with a new state of the thread, then with that of a thread that has ended. What a
     * thread without calls uses is known after the second time: at first, the loader may have bound
     * functions in it. */
    for (int i = 0; i < 2; i++) {
        on_small_stack(&none);
        on_small_stack(&many[i]);
        on_small_stack(&small);
    }
    for (int i = 0; state_fake && i < 2; i++)
        printf("%zu\n", many[i].used - none.used);
    state_fake = 0;
    MPI_Finalize();
    return 0;
}
