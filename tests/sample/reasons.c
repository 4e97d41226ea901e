/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Provokes all outcomes of interrupts other than a booked sample. First argument:
 *   all, one  all signals, or SIGURG, are blocked when it begins, for 300 ms of CPU time
 *   blocked   all signals are blocked for 300 ms of CPU time
 *   deep      some 100 frames, more than max_depth
 *   off       with -DCALLS an MPI program: collection is switched off for 100 ms
 *   full      thousands of contexts fill a small buffer; then threads start, without room for them
 *   dropped   the buffer fills while a thread waits, which then computes in contexts of its own
 *   late      with -DCALLS: three threads compute for 50 ms more after MPI_Finalize
 */
#ifdef CALLS
#include <mpi.h>
#endif
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* Computes for this much of the thread's CPU time. */
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

/* Recurses with a choice between two functions at each frame. */
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

static sem_t may_compute, computed, may_end;

static void *wait_and_compute(void *unused)
{
    sem_wait(&may_compute);
    be_deep(39, 200);
    return unused;
}

static void *compute_and_wait(void *unused)
{
    burn(1);
    sem_post(&computed);
    sem_wait(&may_end);
    return unused;
}

/* Makes threads that do not end until the memory reserved for them is used up, and none is left for
 * the thread that waits. */
static void use_up(void)
{
    enum { THREADS = 400 };
    pthread_t waiting, threads[THREADS];
    pthread_attr_t small;
    int n = 0;
    sem_init(&may_compute, 0, 0);
    sem_init(&computed, 0, 0);
    sem_init(&may_end, 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_create(&waiting, &small, wait_and_compute, NULL);
    be_deep(39, 500);
    while (n < THREADS && !pthread_create(&threads[n], &small, compute_and_wait, NULL))
        n++;
    for (int i = 0; i < n; i++)
        sem_wait(&computed);
    sem_post(&may_compute);
    pthread_join(waiting, NULL);
    for (int i = 0; i < n; i++)
        sem_post(&may_end);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

#ifdef CALLS
static atomic_bool finalized;

static void *compute_on(void *unused)
{
    burn(5);
    sem_post(&computed);
    while (!finalized)
        burn(1);
    burn(50);
    return unused;
}

static void finalize_before_threads(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    sem_init(&computed, 0, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute_on, NULL);
    for (int i = 0; i < THREADS; i++)
        sem_wait(&computed);
    burn(20);
    MPI_Finalize();
    finalized = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
#endif

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

/* Executes this program with all signals, or SIGURG alone, blocked. */
static void begin_blocked(char *program, bool all)
{
    char inherited[] = "inherited";
    char *words[] = {program, inherited, NULL};
    sigset_t set;
    sigemptyset(&set);
    if (all)
        sigfillset(&set);
    sigaddset(&set, SIGURG);
    sigprocmask(SIG_BLOCK, &set, NULL);
    execv(program, words);
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
    else if (!strcmp(what, "all") || !strcmp(what, "one"))
        begin_blocked(argv[0], !strcmp(what, "all"));
    else if (!strcmp(what, "inherited"))
        burn(300);
    else if (!strcmp(what, "off"))
        switch_off();
    else if (!strcmp(what, "full"))
        fill();
    else if (!strcmp(what, "dropped"))
        use_up();
    else if (strcmp(what, "late"))
        be_deep(100, 100);
    puts("done");
#ifdef CALLS
    if (!strcmp(what, "late"))
        finalize_before_threads();
    else
        MPI_Finalize();
#endif
    return 0;
}
