/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose page faults are known: a given number before each barrier, another before each
 * reduction, and no others between them. Arguments: rounds, pages before a barrier, pages before a
 * reduction, short calls after all, pages while collection is off, pages of a thread (default: 10,
 * 20, 7, 0, 0, 0). With the last but one, two threads touch that many pages while it is off, and
 * one round follows. With the last, a thread that makes no call touches that many, and still runs
 * when the program ends.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page;

/* Touches fresh pages, each of which faults once; the memory was taken before. */
static __attribute__((noinline)) char *touch(char *at, long n)
{
    for (long i = 0; i < n; i++, at += page)
        *(volatile char *)at = 1;
    return at;
}

static __attribute__((noinline)) char *before_barrier(char *at, long n)
{
    at = touch(at, n);
    MPI_Barrier(MPI_COMM_WORLD);
    return at;
}

static __attribute__((noinline)) char *before_reduction(char *at, long n)
{
    int one = 1, sum;
    at = touch(at, n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return at;
}

struct pause {
    pthread_barrier_t turn;
    char *at;
    long n;
};

/* Makes a call before collection is off, and one after it. */
static void *touch_while_off(void *argument)
{
    struct pause *p = argument;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_wait(&p->turn);
    pthread_barrier_wait(&p->turn); /* it is off */
    touch(p->at, p->n);
    pthread_barrier_wait(&p->turn);
    pthread_barrier_wait(&p->turn); /* it is on */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return NULL;
}

static char *pause_collection(char *at, long n)
{
    struct pause p = {.at = at, .n = n};
    pthread_t thread;
    pthread_barrier_init(&p.turn, NULL, 2);
    if (pthread_create(&thread, NULL, touch_while_off, &p))
        exit(1);
    pthread_barrier_wait(&p.turn);
    MPI_Pcontrol(0);
    pthread_barrier_wait(&p.turn);
    at = touch(at + (size_t)n * page, n);
    pthread_barrier_wait(&p.turn);
    MPI_Pcontrol(1);
    pthread_barrier_wait(&p.turn);
    pthread_join(thread, NULL);
    return at;
}

struct worker {
    pthread_barrier_t done;
    char *at;
    long n;
};

static void *touch_and_stay(void *argument)
{
    struct worker *w = argument;
    touch(w->at, w->n);
    pthread_barrier_wait(&w->done);
    for (;;)
        pause();
    return NULL;
}

static void touch_in_thread(char *at, long n)
{
    static struct worker w;
    pthread_t thread;
    w.at = at;
    w.n = n;
    pthread_barrier_init(&w.done, NULL, 2);
    if (pthread_create(&thread, NULL, touch_and_stay, &w))
        exit(1);
    pthread_barrier_wait(&w.done);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 10;
    long barrier = argc > 2 ? atol(argv[2]) : 20, reduction = argc > 3 ? atol(argv[3]) : 7;
    long calls = argc > 4 ? atol(argv[4]) : 0;
    long off = argc > 5 ? atol(argv[5]) : 0;
    long stay = argc > 6 ? atol(argv[6]) : 0;
    int rank, provided;
    page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)((rounds + 1) * (barrier + reduction) + 2 * off + stay + 1) * page;
    MPI_Init_thread(&argc, &argv, off || stay ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE,
                    &provided);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, bytes, MADV_NOHUGEPAGE))
        return 1;
    for (long i = 0; i < rounds; i++) {
        at = before_barrier(at, barrier);
        at = before_reduction(at, reduction);
    }
    if (off) {
        at = pause_collection(at, off);
        at = before_barrier(at, barrier);
        before_reduction(at, reduction);
    }
    if (stay)
        touch_in_thread(at, stay);
    for (long i = 0; i < calls; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    printf("%ld %ld\n", rounds * barrier, rounds * reduction);
    return 0;
}
