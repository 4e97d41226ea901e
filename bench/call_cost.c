/* SPDX-License-Identifier: BSD-3-Clause
 *
 * call: the time of one MPI call in a chosen situation. The driver (bench/call.sh) runs it without
 * a tool, under a bare wrapper, under libpcollect.so and under other tools in turn, and subtracts.
 *
 * Prints one line for each situation: nanoseconds per MPI call in the fastest batch, and the number
 * of calls. A situation is a primitive, a stack depth, and how many call sites, call paths or
 * contexts take turns. All functions that matter are kept apart from their callers (noinline, no
 * tail calls).
 *
 * With threads=N, N threads do the same at once, and the figure is the CPU time of a call in the
 * median batch of a thread, averaged over the threads: it does not depend on N if the threads do
 * not disturb each other, even on few cores.
 */
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
/* Keeps a call from becoming a jump. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

enum { N_SITES = 512, BATCHES = 21, MAX_THREADS = 256, MAX_SITUATIONS = 16 };

struct situation {
    const struct primitive *primitive;
    long depth;    /* frames between main and the call */
    long sites;    /* call sites in turn */
    long paths;    /* call paths through one wrapper function in turn */
    long contexts; /* contexts in turn, made of ten functions a level; -1: new at every call */
    long calls;    /* turns in a batch */
    long threads;  /* at once; 0: the program has none, and wall time is measured */
};

static int rank, n_ranks;
static _Thread_local clockid_t clock_used = CLOCK_MONOTONIC;
static char buffer[1024], inbox[1024];

/* ---- The primitives ------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void do_comm_rank(void)
{
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
}

static inline __attribute__((always_inline)) void do_iprobe(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static inline __attribute__((always_inline)) void do_self(void)
{
    MPI_Request request;
    MPI_Irecv(inbox, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(buffer, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static inline __attribute__((always_inline)) void do_waitall(void)
{
    MPI_Request requests[2];
    MPI_Irecv(inbox, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(buffer, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static inline __attribute__((always_inline)) void do_pingpong(int bytes)
{
    if (rank == 0) {
        MPI_Send(buffer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(inbox, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(inbox, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
}

static inline __attribute__((always_inline)) void do_allreduce(void)
{
    double in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static NOINLINE void call_comm_rank(void)
{
    do_comm_rank();
    AFTER_CALL();
}

static NOINLINE void call_iprobe(void)
{
    do_iprobe();
    AFTER_CALL();
}

static NOINLINE void call_self(void)
{
    do_self();
    AFTER_CALL();
}

static NOINLINE void call_waitall(void)
{
    do_waitall();
    AFTER_CALL();
}

static NOINLINE void call_pingpong0(void)
{
    do_pingpong(0);
    AFTER_CALL();
}

static NOINLINE void call_pingpong1k(void)
{
    do_pingpong(1024);
    AFTER_CALL();
}

static NOINLINE void call_allreduce(void)
{
    do_allreduce();
    AFTER_CALL();
}

static const struct primitive {
    const char *name;
    void (*call)(void);
    int mpi_calls; /* a turn */
} primitives[] = {
    {"comm_rank", call_comm_rank, 1}, {"iprobe", call_iprobe, 1},
    {"self", call_self, 3},           {"waitall", call_waitall, 3},
    {"pingpong0", call_pingpong0, 2}, {"pingpong1k", call_pingpong1k, 2},
    {"allreduce", call_allreduce, 1},
};

static const struct primitive *primitive;

/* ---- Call sites and paths -------------------------------------------------------------------- */

/* 512 functions that call MPI_Comm_rank themselves, and 512 that call the same wrapper. */
#define ONE(n)                                                                                     \
    static NOINLINE void site_##n(void)                                                            \
    {                                                                                              \
        do_comm_rank();                                                                            \
        AFTER_CALL();                                                                              \
    }                                                                                              \
    static NOINLINE void path_##n(void)                                                            \
    {                                                                                              \
        primitive->call();                                                                         \
        AFTER_CALL();                                                                              \
    }
#define EIGHT(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define SIXTY_FOUR(M, n)                                                                           \
    EIGHT(M, n##0)                                                                                 \
    EIGHT(M, n##1)                                                                                 \
    EIGHT(M, n##2)                                                                                 \
    EIGHT(M, n##3) EIGHT(M, n##4) EIGHT(M, n##5) EIGHT(M, n##6) EIGHT(M, n##7)
#define ALL(M)                                                                                     \
    SIXTY_FOUR(M, 0)                                                                               \
    SIXTY_FOUR(M, 1)                                                                               \
    SIXTY_FOUR(M, 2)                                                                               \
    SIXTY_FOUR(M, 3) SIXTY_FOUR(M, 4) SIXTY_FOUR(M, 5) SIXTY_FOUR(M, 6) SIXTY_FOUR(M, 7)
#define SITE_NAME(n) site_##n,
#define PATH_NAME(n) path_##n,

ALL(ONE)
static void (*const sites[N_SITES])(void) = {ALL(SITE_NAME)};
static void (*const paths[N_SITES])(void) = {ALL(PATH_NAME)};

/* Contexts: digit by digit of k, ten functions at each of `levels` levels. */
static NOINLINE void digits(long k, int levels);

#define DIGIT(n)                                                                                   \
    static NOINLINE void digit_##n(long k, int levels)                                             \
    {                                                                                              \
        digits(k, levels);                                                                         \
        AFTER_CALL();                                                                              \
    }
/* clang-format off */
DIGIT(0) DIGIT(1) DIGIT(2) DIGIT(3) DIGIT(4) DIGIT(5) DIGIT(6) DIGIT(7) DIGIT(8) DIGIT(9)
    /* clang-format on */

    static void (*const digit[10])(long, int) = {digit_0, digit_1, digit_2, digit_3, digit_4,
                                                 digit_5, digit_6, digit_7, digit_8, digit_9};

static NOINLINE void digits(long k, int levels)
{
    if (levels == 0)
        primitive->call();
    else
        digit[k % 10](k / 10, levels - 1);
    AFTER_CALL();
}

/* ---- Measurement ----------------------------------------------------------------------------- */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int levels_for(long contexts)
{
    int levels = 1;
    for (long n = 10; n < contexts; n *= 10)
        levels++;
    return levels;
}

/* A stride that visits all n items in turn, so that neighbours in time are not neighbours in
 * memory.
 */
static long stride_for(long n)
{
    long s = n * 5 / 8 + 1;
    for (;; s++) {
        long a = s, b = n;
        while (b) {
            long r = a % b;
            a = b;
            b = r;
        }
        if (a == 1)
            return s;
    }
}

static NOINLINE double batch(const struct situation *s)
{
    static _Thread_local long turn; /* goes on from batch to batch */
    double begin = now_ns();
    if (s->contexts < 0) {
        for (long i = 0; i < s->calls; i++)
            digits(turn++, 7);
    } else if (s->contexts > 1) {
        int levels = levels_for(s->contexts);
        long stride = stride_for(s->contexts);
        for (long i = 0; i < s->calls; i++)
            digits(turn = (turn + stride) % s->contexts, levels);
    } else if (s->paths > 1) {
        for (long i = 0; i < s->calls; i++)
            paths[turn++ % s->paths]();
    } else if (s->sites > 1) {
        for (long i = 0; i < s->calls; i++)
            sites[turn++ % s->sites]();
    } else {
        for (long i = 0; i < s->calls; i++)
            primitive->call();
    }
    return now_ns() - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(const struct situation *s)
{
    double times[BATCHES];
    /* Every context is met once before it is measured, and by one call of batch, because warm-up by
     * another call would make other contexts. */
    long warm = s->contexts > s->calls ? (s->contexts + s->calls - 1) / s->calls : 1;
    for (long i = -warm; i < BATCHES; i++) {
        double time = batch(s);
        if (i >= 0)
            times[i] = time;
    }
    qsort(times, BATCHES, sizeof times[0], compare);
    return times[s->threads ? BATCHES / 2 : 0] / (double)(s->calls * primitive->mpi_calls);
}

static NOINLINE double descend(const struct situation *s, long depth)
{
    double result = depth > 0 ? descend(s, depth - 1) : measure(s);
    AFTER_CALL();
    return result;
}

struct worker {
    pthread_t thread;
    const struct situation *situation;
    pthread_barrier_t *start;
    int number;
    double ns;
};

static void pin_to(int core)
{
    cpu_set_t set;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&set);
    CPU_SET((unsigned)(core % (int)n), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    const struct situation *s = w->situation;
    pin_to(w->number);
    clock_used = CLOCK_THREAD_CPUTIME_ID;
    pthread_barrier_wait(w->start);
    w->ns = descend(s, s->depth - 5 > 0 ? s->depth - 5 : 0);
    return NULL;
}

/* In separate threads, even if there is only one. */
static double measure_threads(const struct situation *s)
{
    static struct worker workers[MAX_THREADS];
    pthread_barrier_t start;
    double sum = 0;
    pthread_barrier_init(&start, NULL, (unsigned)s->threads);
    for (int i = 0; i < s->threads; i++) {
        workers[i] = (struct worker){.situation = s, .start = &start, .number = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            exit(1);
    }
    for (int i = 0; i < s->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].ns;
    }
    return sum / (double)s->threads;
}

/* Returns -1. */
static int usage(const char *why)
{
    fprintf(stderr,
            "call: %s\n"
            "usage: call SITUATION [+ SITUATION...]\n"
            "SITUATION: PRIMITIVE [depth=N] [sites=N] [paths=N] [contexts=N|-1] [calls=N] "
            "[threads=N]\n"
            "PRIMITIVE: comm_rank iprobe self waitall pingpong0 pingpong1k allreduce\n",
            why);
    return -1;
}

/* Reads one situation, up to a "+" or the end. Returns its number of words, or -1. */
static int parse(char **words, struct situation *s)
{
    const struct {
        const char *name;
        long *value, least, most;
    } options[] = {{"depth=", &s->depth, 4, 5000},      {"sites=", &s->sites, 1, N_SITES},
                   {"paths=", &s->paths, 1, N_SITES},   {"contexts=", &s->contexts, -1, 1000000},
                   {"calls=", &s->calls, 1, 100000000}, {"threads=", &s->threads, 1, MAX_THREADS}};
    const size_t n_options = sizeof options / sizeof options[0];
    int n = 1;
    *s = (struct situation){.depth = 5, .sites = 1, .paths = 1, .contexts = 1, .calls = 20000};
    if (!words[0])
        return usage("no primitive is given");
    for (size_t i = 0; i < sizeof primitives / sizeof primitives[0]; i++)
        if (!strcmp(words[0], primitives[i].name))
            s->primitive = &primitives[i];
    if (!s->primitive)
        return usage("no such primitive");
    for (; words[n] && strcmp(words[n], "+") != 0; n++) {
        size_t k = 0;
        while (k < n_options && strncmp(words[n], options[k].name, strlen(options[k].name)))
            k++;
        if (k == n_options)
            return usage("no such option");
        *options[k].value = atol(words[n] + strlen(options[k].name));
        if (*options[k].value < options[k].least || *options[k].value > options[k].most)
            return usage("a value is out of range");
    }
    return n;
}

/* Ends a situation: a tool that counts writes its figures here. */
static NOINLINE void print(const struct situation *s, double ns)
{
    if (rank == 0)
        printf("%.3f %ld\n", ns, s->calls * primitive->mpi_calls * BATCHES);
    AFTER_CALL();
}

int main(int argc, char **argv)
{
    struct situation situations[MAX_SITUATIONS];
    int n = 0, threaded = 0;
    for (char **word = &argv[1]; n == 0 || *word++; n++) {
        int words = n < MAX_SITUATIONS ? parse(word, &situations[n]) : usage("too many situations");
        if (words < 0)
            return 2;
        threaded = threaded || situations[n].threads;
        word += words;
    }
    int granted;
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &granted);
    if (threaded && granted != MPI_THREAD_MULTIPLE) {
        usage("this MPI does not offer MPI_THREAD_MULTIPLE");
        return 2;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!threaded)
        pin_to(rank);
    for (const struct situation *s = situations; s < situations + n; s++) {
        primitive = s->primitive;
        /* main and the function that makes the call are two of the frames, measure and batch two
         * more.
         */
        print(s, s->threads ? measure_threads(s) : descend(s, s->depth - 5 > 0 ? s->depth - 5 : 0));
    }
    MPI_Finalize();
    return 0;
}
