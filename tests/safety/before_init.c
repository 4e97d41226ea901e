/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that the program made before MPI_Init, each busy with something that must not be
 * disturbed when it is interrupted to be sampled. Prints "early N threads", and a line for each
 * thing that went wrong.
 *
 *     before_init busy     they are busy already when MPI_Init is called
 *     before_init stack    each has an alternate stack with little more room than the kernel needs;
 *                          a handler of the program asks for it
 *     before_init exec     one thread, which blocks all signals and computes; after MPI_Init it
 *                          replaces the process by one that prints which signals are pending
 *     before_init own      one thread, which waits already; after MPI_Init it gets signals of the
 *                          program, with the number that is used for samples
 *     before_init gone LIBRARY   no thread: main computes in the library's function `compute`, and
 *                          unloads it before MPI_Init
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EACH = 2, BUSY_NS = 4000000, SMALL_BYTES = 32768, BELOW = 16384, LITTLE = 1024 };

static atomic_bool begin, stop;
static size_t kernel_bytes; /* of an alternate stack; 0: threads have none */
static atomic_int n_busy;

static void wrong(const char *what, int value)
{
    printf("%s: %d\n", what, value);
    fflush(stdout);
}

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void compute(uint64_t ns)
{
    static volatile double sink;
    for (uint64_t end = cpu_ns() + ns; cpu_ns() < end;)
        for (int i = 0; i < 1000; i++)
            sink += i;
}

/* ---- What threads do, again and again -------------------------------------------------------- */

static void allocate(void)
{
    void *p[64];
    for (size_t i = 0; i < 64; i++)
        p[i] = malloc(16 + i * 100);
    for (size_t i = 0; i < 64; i++)
        free(p[i]);
}

static void fork_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (!child)
        _exit(7);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 7))
        wrong("a child ends with", status);
}

static void load(void)
{
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!library || !dlsym(library, "cos"))
        wrong("dlopen", 0);
    if (library)
        dlclose(library);
}

static void *nothing(void *unused)
{
    return unused;
}

static void make_thread(void)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, nothing, NULL))
        pthread_join(thread, NULL);
}

static void print(void)
{
    char text[200];
    for (int i = 0; i < 20; i++)
        if (snprintf(text, sizeof text, "%d %g %s", i, i * 1.5, "some text") < 10)
            wrong("snprintf", i);
}

/* Waits that return EINTR after any handler. */
static void wait_shortly(void)
{
    static const struct timespec shortly = {0, 50000};
    compute(100000);
    if (nanosleep(&shortly, NULL))
        wrong("nanosleep", errno);
    if (poll(NULL, 0, 1))
        wrong("poll", errno);
}

/* All signals are blocked: none that interrupts for samples may come out of the wait. */
static void await_signal(void)
{
    sigset_t all;
    siginfo_t info;
    static const struct timespec shortly = {0, 100000};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    compute(1500000);
    int got = sigtimedwait(&all, &info, &shortly);
    if (got == SIGURG || got == SIGWINCH)
        wrong("sigtimedwait", got);
}

static void just_compute(void)
{
    compute(500000);
}

static const struct {
    void (*act)(void);
    size_t stack_bytes; /* 0: the usual size */
} acts[] = {{allocate, 0}, {fork_child, 0},   {load, 0},         {make_thread, 0},
            {print, 0},    {wait_shortly, 0}, {await_signal, 0}, {just_compute, SMALL_BYTES}};
enum { N_ACTS = sizeof acts / sizeof acts[0] };

/* Gives the thread an alternate stack. Returns the memory below it, which is 0; NULL: there is
 * none. */
static char *take_stack(void)
{
    stack_t stack = {.ss_size = kernel_bytes + LITTLE};
    char *below = kernel_bytes ? calloc(1, BELOW + stack.ss_size) : NULL;
    if (!below)
        return NULL;
    stack.ss_sp = below + BELOW;
    if (sigaltstack(&stack, NULL))
        wrong("sigaltstack", errno);
    return below;
}

static void give_stack(char *below)
{
    static const stack_t none = {.ss_flags = SS_DISABLE};
    int n = 0;
    sigaltstack(&none, NULL);
    for (int i = 0; below && i < BELOW; i++)
        n += below[i] != 0;
    if (n)
        wrong("bytes below the alternate stack that were written", n);
    free(below);
}

static uintptr_t handler_at;

static void on_signal(int signal)
{
    (void)signal;
    handler_at = (uintptr_t)__builtin_frame_address(0);
}

/* Sets a handler that asks for the alternate stack, and measures what the kernel needs there. */
static void measure_stack(void)
{
    static char large[65536];
    stack_t stack = {.ss_sp = large, .ss_size = sizeof large};
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, NULL);
    sigaltstack(&stack, NULL);
    raise(SIGUSR2);
    kernel_bytes = (uintptr_t)large + sizeof large - handler_at;
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
}

static void *run(void *argument)
{
    void (*act)(void) = acts[(uintptr_t)argument].act;
    char *below = take_stack();
    while (!atomic_load(&begin))
        usleep(1000);
    uint64_t busy_ns = cpu_ns() + BUSY_NS;
    for (bool told = false; !atomic_load(&stop);) {
        act();
        if (told || cpu_ns() < busy_ns)
            continue;
        told = true;
        atomic_fetch_add(&n_busy, 1);
    }
    give_stack(below);
    return NULL;
}

static void *replace(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load(&begin))
        sched_yield(); /* a function that waits would register the thread */
    compute(BUSY_NS);
    execlp("grep", "grep", "SigPnd", "/proc/self/status", NULL);
    wrong("exec", errno);
    return unused;
}

static int run_exec(void)
{
    int provided;
    pthread_t thread;
    pthread_create(&thread, NULL, replace, NULL);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    atomic_store(&begin, true);
    pthread_join(thread, NULL);
    return 1;
}

static atomic_int waiting_tid, n_own;
static sem_t end_of_wait;

static void *just_wait(void *unused)
{
    atomic_store(&waiting_tid, (int)syscall(SYS_gettid));
    while (sem_wait(&end_of_wait))
        ;
    return unused;
}

static void count_own(int signal)
{
    (void)signal;
    n_own++;
}

/* Gives a signal that is not lost 10 s to come. */
static void await_own(const char *from, int n)
{
    for (int i = 0; i < 10000 && n_own < n; i++)
        usleep(1000);
    if (n_own != n)
        wrong(from, n_own);
}

static void send_own(int tid)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    const struct itimerspec once = {.it_value = {0, 1}};
    const struct f_owner_ex owner = {F_OWNER_TID, tid};
    timer_t timer;
    int ends[2];
    event._sigev_un._tid = tid;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &once, NULL))
        wrong("timer", errno);
    await_own("signals of a timer", 1);
    timer_delete(timer);
    if (pipe(ends) || fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) ||
        fcntl(ends[0], F_SETSIG, SIGURG) || fcntl(ends[0], F_SETOWN_EX, &owner) ||
        write(ends[1], "x", 1) != 1)
        wrong("pipe", errno);
    await_own("signals of a timer and a pipe", 2);
}

static int run_own(void)
{
    int provided;
    pthread_t thread;
    sem_init(&end_of_wait, 0, 0);
    pthread_create(&thread, NULL, just_wait, NULL);
    while (!atomic_load(&waiting_tid))
        sched_yield();
    usleep(100000); /* it waits then */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    sigaction(SIGURG, &(struct sigaction){.sa_handler = count_own, .sa_flags = SA_RESTART}, NULL);
    send_own(atomic_load(&waiting_tid));
    sem_post(&end_of_wait);
    pthread_join(thread, NULL);
    MPI_Finalize();
    printf("own %d\n", (int)n_own);
    return 0;
}

static int run_gone(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW);
    void (*in_library)(void) = handle ? (void (*)(void))dlsym(handle, "compute") : NULL;
    for (uint64_t end = cpu_ns() + 20 * BUSY_NS; in_library && cpu_ns() < end;)
        in_library();
    if (!in_library || dlclose(handle))
        wrong("dlopen", 0);
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    puts("unloaded");
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[N_ACTS * EACH];
    int provided, n = 0;
    if (argc > 1 && !strcmp(argv[1], "exec"))
        return run_exec();
    if (argc > 1 && !strcmp(argv[1], "own"))
        return run_own();
    if (argc > 2)
        return run_gone(argv[2]);
    if (argc > 1 && !strcmp(argv[1], "stack"))
        measure_stack();
    for (uintptr_t i = 0; i < N_ACTS * EACH; i++) {
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        if (acts[i % N_ACTS].stack_bytes)
            pthread_attr_setstacksize(&attr, acts[i % N_ACTS].stack_bytes);
        n += !pthread_create(&threads[n], &attr, run, (void *)(i % N_ACTS));
        pthread_attr_destroy(&attr);
    }
    if (argc > 1 && !kernel_bytes)
        atomic_store(&begin, true);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    atomic_store(&begin, true);
    while (atomic_load(&n_busy) < n)
        usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    atomic_store(&stop, true);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    printf("early %d threads\n", n);
    return 0;
}
