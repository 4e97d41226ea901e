/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program without MPI. Without an argument two threads compute. With an argument:
 *
 *     signals   it also uses every real-time signal
 *     deep      it recurses far down and up all the time
 *     move      its thread moves from one processor to another
 *     blocked   a thread computes with all signals blocked
 *     stack     it prints the bytes that interrupts take of its alternate stack
 *     naps      it computes and sleeps, and prints in ms its CPU time, its time asleep and its time
 *               without a free processor
 */
#define _GNU_SOURCE 1

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *half(void *unused);
int outer(void);

static volatile double sink;
static volatile sig_atomic_t n_handled;

__attribute__((noinline)) void *half(void *unused)
{
    for (int i = 0; i < 60000000; i++)
        sink = sink + i;
    return unused;
}

__attribute__((noinline)) int outer(void)
{
    half(NULL);
    return 1;
}

/* Recurses about 400 frames deep, in 2^n ways. */
int recurse(int depth, int n);
__attribute__((noinline)) int recurse(int depth, int n)
{
    int result = 1;
    if (depth > 0) {
        result += recurse(depth - 1, n);
        if (n > 0 && depth % 40 == 0)
            result += recurse(depth - 1, n - 1);
    }
    __asm__ volatile("" : "+r"(result)); /* no tail call, no loop */
    return result;
}

static void on_signal(int signal)
{
    (void)signal;
    n_handled++;
}

/* Moves to the next processor n times. Returns how often the processor has changed. */
static int move_about(int n)
{
    cpu_set_t all, one;
    int moved = 0, cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    for (int i = 0; i < n; i++) {
        int before = sched_getcpu();
        do
            cpu = (cpu + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(cpu, &all) || (cpu == before && CPU_COUNT(&all) > 1));
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        moved += !sched_setaffinity(0, sizeof one, &one) && sched_getcpu() != before;
    }
    return moved;
}

/* Blocks all signals until the process ends, and computes. */
static void *blocked(void *semaphore)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 4; i++)
        half(NULL);
    sem_post(semaphore);
    for (;;)
        pause();
    return NULL;
}

/* Bytes of the alternate stack that were written to since it was painted. */
enum { ALTERNATE_BYTES = 65536 };
static unsigned char alternate[ALTERNATE_BYTES];

static int written(void)
{
    int i = 0;
    while (i < ALTERNATE_BYTES && alternate[i] == 0xa5)
        i++;
    return ALTERNATE_BYTES - i;
}

/* Prints the bytes that an empty handler takes of an alternate stack, and the additional bytes that
 * interrupts take. */
static void measure_stack(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    int least;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    memset(alternate, 0xa5, sizeof alternate);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    least = written();
    memset(alternate, 0xa5, sizeof alternate);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int i = 0; i < 4; i++)
        half(NULL);
    printf("stack %d %d\n", least, written() - least);
}

static double ms_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The time that the main thread was without a free processor, in ms; below 0: not known. */
static double delayed_ms(void)
{
    double ns;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    int n = f ? fscanf(f, "%*s %lf", &ns) : 0;
    if (f)
        fclose(f);
    return n == 1 ? ns / 1e6 : -1;
}

/* Status 0, or 1 if the kernel reports no waiting time. */
static int nap(void)
{
    double asleep = 0, cpu = ms_of(CLOCK_PROCESS_CPUTIME_ID), delayed = delayed_ms();
    for (int i = 0; i < 20; i++) {
        double begin = ms_of(CLOCK_MONOTONIC);
        usleep(20000);
        asleep += ms_of(CLOCK_MONOTONIC) - begin;
        for (int k = 0; k < 6000000; k++)
            sink = sink + k;
    }
    if (delayed < 0)
        return 1;
    printf("%.1f %.1f %.1f\n", ms_of(CLOCK_PROCESS_CPUTIME_ID) - cpu, asleep,
           delayed_ms() - delayed);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int wanted = 0;
    bool signals = argc > 1 && !strcmp(argv[1], "signals");
    for (int s = SIGRTMIN; signals && s <= SIGRTMAX; s++) {
        struct sigaction action, back;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigaction(s, &action, NULL);
        if (sigaction(s, NULL, &back) || back.sa_handler != on_signal)
            puts("the handler is not the program's");
        raise(s);
        wanted++;
    }
    if (argc > 1 && !strcmp(argv[1], "move")) {
        printf("moved %d\n", move_about(500));
        outer();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "blocked")) {
        sem_t done;
        sem_init(&done, 0, 0);
        pthread_create(&thread, NULL, blocked, &done);
        sem_wait(&done);
        puts("done");
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "naps"))
        return nap();
    if (argc > 1 && !strcmp(argv[1], "stack")) {
        measure_stack();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "deep")) {
        unsigned sum = 0;
        for (int i = 0; i < 10000; i++)
            sum += (unsigned)recurse(400, 4);
        puts(sum ? "done" : "nothing");
        return 0;
    }
    pthread_create(&thread, NULL, half, NULL);
    outer();
    pthread_join(thread, NULL);
    puts(n_handled == wanted ? "done" : "signals were lost or others came");
    return 0;
}
