/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs for pcollect record and top whose CPU times are known:
 *
 *     shares MS        a, b and c below two frames, in bursts of drawn lengths, in parts 6, 3 and 1
 *                      of that much CPU time; prints what each had, in ms
 *     threads N MS     N threads, one after the other, with that much each
 *     processes N MS   likewise
 *     left MS          the main thread ends, and another one has that much
 *     late FILE MS     when a line has come: in function `late` of a library that is opened then;
 *                      prints "loaded", and ends with its input
 *     crowd N MS       beside N threads that wait: prints "waiting", and has that much when a line
 *                      has come
 *     frames N MS      below N frames of 1 KiB
 *     pointed MS       in a function that saves the frame pointer, which belongs to a frame far
 * above it ranks MS         with -DRANKS: rank r of two computes (r + 1) times as long, and rank 0
 * polls in MPI_Barrier for 0.2 s of CPU time until FILE       with -DRANKS: prints "computes" and
 * computes a fourth of the time; rank 0 until FILE exists, the others until they are killed; at
 * most for 10 minutes
 */
#ifdef RANKS
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int a(double ms);
int b(double ms);
int c(double ms);
int inner(int which, double ms);
int outer(int which, double ms);
int work(double ms);
int frame(int depth, double ms);
double save_pointer(double ms);
int spread(double ms);
int pointed(double ms);

static volatile double sink;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Returns the CPU time that it took: a bit more, where an interrupt lies at its end. */
static inline __attribute__((always_inline)) double burn(double ms)
{
    double begin = now_ms(), end = begin;
    for (; end < begin + ms; end = now_ms())
        for (int i = 0; i < 2000; i++)
            sink = sink * 0.999 + 1;
    return end - begin;
}

#ifdef RANKS
/* Rank 1 comes to the barrier when rank 0 has had that CPU time in it. */
static void meet(int rank)
{
    struct timespec t, nap = {0, 5000000};
    clockid_t of_rank_0;
    long who_and_ms[2];
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    who_and_ms[0] = getpid();
    who_and_ms[1] = t.tv_sec * 1000 + t.tv_nsec / 1000000;
    MPI_Bcast(who_and_ms, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    clock_getcpuclockid((pid_t)who_and_ms[0], &of_rank_0);
    while (rank && !clock_gettime(of_rank_0, &t) &&
           t.tv_sec * 1000 + t.tv_nsec / 1000000 < who_and_ms[1] + 200)
        nanosleep(&nap, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}
#endif

static double had[3];

__attribute__((noinline)) int a(double ms)
{
    had[0] += burn(ms);
    return 1;
}

__attribute__((noinline)) int b(double ms)
{
    had[1] += burn(ms);
    return 2;
}

__attribute__((noinline)) int c(double ms)
{
    had[2] += burn(ms);
    return 3;
}

__attribute__((noinline)) int inner(int which, double ms)
{
    int result = which == 0 ? a(ms) : which == 1 ? b(ms) : c(ms);
    __asm__ volatile("" : "+r"(result)); /* no tail call */
    return result;
}

__attribute__((noinline)) int outer(int which, double ms)
{
    int result = inner(which, ms);
    __asm__ volatile("" : "+r"(result));
    return result;
}

__attribute__((noinline)) int work(double ms)
{
    burn(ms);
    return 0;
}

__attribute__((noinline)) int frame(int depth, double ms)
{
    volatile char room[1024];
    room[0] = (char)depth;
    int result = depth > 1 ? frame(depth - 1, ms) : work(ms);
    __asm__ volatile("" : "+r"(result));
    return result + room[0];
}

/* Saves the frame pointer, which a function without alloca does not need. */
__attribute__((noinline)) double save_pointer(double ms)
{
    double result;
#if defined __x86_64__
    __asm__ volatile("" : : : "rbp");
#endif
    result = burn(ms);
    return result;
}

__attribute__((noinline)) int spread(double ms)
{
    volatile char room[1024];
    room[0] = (char)ms;
    return (int)save_pointer(ms) + room[0];
}

/* Its frame is found by the frame pointer: its length is not known. */
__attribute__((noinline)) int pointed(double ms)
{
    volatile char *room = __builtin_alloca((size_t)ms + 64);
    room[0] = 1;
    return spread(ms) + room[0];
}

static uint64_t draw(void)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Computes in the three functions. Any part of the run has nearly the same mixture. */
static void shares(double ms)
{
    while (had[0] + had[1] + had[2] < ms) {
        unsigned of_ten = (unsigned)(draw() % 10);
        outer(of_ten < 6 ? 0 : of_ten < 9 ? 1 : 2, (double)(draw() % 100) * 0.01);
    }
    printf("%.1f %.1f %.1f\n", had[0], had[1], had[2]);
}

static void *run(void *ms)
{
    work(*(double *)ms);
    return NULL;
}

static void threads(int n, double ms)
{
    pthread_t thread;
    for (int i = 0; i < n; i++)
        if (!pthread_create(&thread, NULL, run, &ms))
            pthread_join(thread, NULL);
}

static void left(double ms)
{
    static double all;
    pthread_t thread;
    all = ms;
    if (!pthread_create(&thread, NULL, run, &all))
        pthread_exit(NULL);
}

static void processes(int n, double ms)
{
    for (int i = 0; i < n; i++) {
        if (fork() == 0) {
            work(ms);
            _exit(0);
        }
        wait(NULL);
    }
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static int crowd(int n, double ms)
{
    pthread_t thread;
    char line[16];
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread, NULL, wait_for_ever, NULL))
            return 1;
    puts("waiting");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin))
        work(ms);
    return 0;
}

static int late(const char *file, double ms)
{
    char line[16];
    puts("waiting");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 1;
    void *library = dlopen(file, RTLD_NOW);
    int (*function)(double) = library ? (int (*)(double))(uintptr_t)dlsym(library, "late") : NULL;
    if (!function)
        return 1;
    function(ms);
    puts("loaded");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        ;
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    double ms = argc > 2 ? atof(argv[argc - 1]) : 0;
    int n = argc > 3 ? atoi(argv[2]) : 0;
#ifdef RANKS
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(what, "until")) {
        alarm(600);
        puts("computes");
        fflush(stdout);
        while (rank || access(argv[2], F_OK)) {
            work(20);
            nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
        }
    }
    work(ms * (rank + 1));
    meet(rank);
    MPI_Finalize();
#endif
    if (!strcmp(what, "shares"))
        shares(ms);
    else if (!strcmp(what, "threads"))
        threads(n, ms);
    else if (!strcmp(what, "left"))
        left(ms);
    else if (!strcmp(what, "processes"))
        processes(n, ms);
    else if (!strcmp(what, "frames"))
        frame(n, ms);
    else if (!strcmp(what, "pointed"))
        pointed(ms);
    else if (!strcmp(what, "crowd"))
        return crowd(n, ms);
    else if (!strcmp(what, "late"))
        return late(argv[2], ms);
    return 0;
}
