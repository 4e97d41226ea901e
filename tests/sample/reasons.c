/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Provokes what becomes of interrupts other than a sample that is booked. First argument:
 *   blocked   all signals are blocked for 300 ms of CPU time
 *   deep      some 100 frames, more than max_depth
 *   off       with -DCALLS a program of MPI: collection is switched off for 100 ms
 *   full      contexts by the thousand, for a small buffer; then threads, for which nothing is left
 */
#ifdef CALLS
#include <mpi.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void burn(uint64_t ms);
int below(int depth, uint64_t way);
int either(int depth, uint64_t way);

static __thread volatile double sink;

static uint64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* So much of the thread's CPU time. */
__attribute__((noinline)) void burn(uint64_t ms)
{
    for (uint64_t end = cpu_ns() + ms * 1000000u; cpu_ns() < end;)
        for (int i = 0; i < 1000; i++)
            sink = sink * 0.999 + 1.0;
}

__attribute__((noinline)) int either(int depth, uint64_t way)
{
    int result = below(depth - 1, way);
    __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
    return result + 2;
}

/* Two ways down at each frame. */
__attribute__((noinline)) int below(int depth, uint64_t way)
{
    int result = 0;
    if (!depth)
        for (int i = 0; i < 3000; i++)
            sink = sink * 0.999 + 1.0;
    else if (way >> depth % 40 & 1)
        result = either(depth, way);
    else
        result = below(depth - 1, way);
    __asm__ volatile("" : "+r"(result));
    return result + 1;
}

static void be_deep(int depth, uint64_t ms)
{
    uint64_t way = 1;
    for (uint64_t end = cpu_ns() + ms * 1000000u; cpu_ns() < end;)
        below(depth, way = way * 6364136223846793005u + 1442695040888963407u);
}

static void *compute(void *unused)
{
    burn(20);
    return unused;
}

static void fill(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    be_deep(39, 500);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void block(void)
{
    sigset_t all, before;
    sigfillset(&all);
    burn(20);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    burn(300);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    burn(20);
}

static void switch_off(void)
{
    burn(20);
#ifdef CALLS
    MPI_Pcontrol(0);
    burn(100);
    MPI_Pcontrol(1);
#endif
    burn(20);
}

int main(int argc, char **argv)
{
#ifdef CALLS
    MPI_Init(&argc, &argv);
#endif
    const char *what = argc > 1 ? argv[1] : "deep";
    if (!strcmp(what, "blocked"))
        block();
    else if (!strcmp(what, "off"))
        switch_off();
    else if (!strcmp(what, "full"))
        fill();
    else
        be_deep(100, 100);
    puts("done");
#ifdef CALLS
    MPI_Finalize();
#endif
    return 0;
}
