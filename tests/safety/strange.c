/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program with unusual actions, one after the other, that a profiler could disturb; it
 * prints their results. It also prints which of them the kernel does not have.
 *
 *     strange [STATUS]    ends with STATUS, by _exit in a handler of exit, if there is one
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile double sink;
static volatile sig_atomic_t n_signals;
static sigjmp_buf back;

static void compute(double ms)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    double end = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6 + ms, now;
    do {
        for (int i = 0; i < 5000; i++)
            sink = sink + i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
    } while (now < end);
}

static void count_signal(int signal)
{
    (void)signal;
    n_signals++;
}

static void handle(int signal, void (*function)(int), int flags)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = function;
    a.sa_flags = flags;
    sigaction(signal, &a, NULL);
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static void timer_descriptors(void)
{
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    int n_other = 0;
    uint64_t n = 0;
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    timerfd_settime(timer, 0, &often, NULL);
    for (int i = 0; i < 100; i++) {
        compute(0.5);
        n_other += epoll_wait(poll, &event, 1, 10000) != 1;
        n_other += read(timer, &n, sizeof n) != sizeof n || !n;
    }
    close(poll);
    close(timer);
    printf("timerfd %d\n", n_other);
}

static void alarms(void)
{
    handle(SIGALRM, count_signal, 0);
    n_signals = 0;
    alarm(1);
    unsigned left = sleep(120);
    printf("alarm %d %d\n", (int)n_signals, left > 0);
    handle(SIGALRM, SIG_DFL, 0);
}

static void real_time_signals(void)
{
    sigset_t all, old;
    siginfo_t info;
    int wrong = 0;
    sigemptyset(&all);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
        sigaddset(&all, s);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    for (int s = SIGRTMAX; s >= SIGRTMIN; s--)
        for (int i = 0; i < 3; i++)
            pthread_sigqueue(pthread_self(), s, (union sigval){.sival_int = s * 10 + i});
    compute(20);
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
        for (int i = 0; i < 3; i++)
            wrong += sigwaitinfo(&all, &info) != s || info.si_value.sival_int != s * 10 + i;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    printf("sigwaitinfo %d\n", wrong);
}

/* Uses io_uring by its system calls: one empty operation and one timeout at a time. */
static void rings(void)
{
#ifdef SYS_io_uring_setup
    uint32_t parameters[30] = {0};
    long fd = syscall(SYS_io_uring_setup, 4, parameters);
    printf("io_uring %s\n", fd < 0 ? strerror(errno) : "is there");
    if (fd >= 0) {
        long n = syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0);
        printf("io_uring_enter %ld\n", n);
        close((int)fd);
    }
#endif
}

/* ---- Jumps and ends of threads --------------------------------------------------------------- */

static void leave(int signal)
{
    n_signals++;
    siglongjmp(back, signal);
}

/* Jumps out of handlers. The timer belongs to this thread: the signal of a timer of the process may
 * be handled in a thread of the MPI library. */
static void jumps(void)
{
    const struct itimerspec often = {{0, 2000000}, {0, 2000000}};
    struct sigevent to = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    timer_t timer;
    to._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    handle(SIGALRM, leave, 0);
    n_signals = 0;
    if (timer_create(CLOCK_MONOTONIC, &to, &timer))
        return;
    if (!sigsetjmp(back, 1)) /* the first signal needs a place to jump to */
        timer_settime(timer, 0, &often, NULL);
    while (n_signals < 100)
        if (!sigsetjmp(back, 1))
            compute(1000);
    handle(SIGALRM, SIG_IGN, 0);
    timer_delete(timer);
    printf("siglongjmp %d\n", n_signals >= 100);
    handle(SIGALRM, SIG_DFL, 0);
}

static int deeper(int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    room[4095] = room[0];
    return n > 1000000000 ? n : deeper(n + 1) + room[4095];
}

static void overflows(void)
{
    static char own[1 << 16];
    const stack_t stack = {.ss_sp = own, .ss_size = sizeof own}, none = {.ss_flags = SS_DISABLE};
    sigaltstack(&stack, NULL);
    handle(SIGSEGV, leave, SA_ONSTACK);
    n_signals = 0;
    for (volatile int i = 0; i < 20; i++)
        if (!sigsetjmp(back, 1))
            sink = deeper(0);
    handle(SIGSEGV, SIG_DFL, 0);
    sigaltstack(&none, NULL);
    printf("overflows %d\n", (int)n_signals);
}

static void *work_for_ever(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        sink = sink + 1;
    return unused;
}

static void cancelled_threads(void)
{
    int n = 0;
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        void *result = NULL;
        if (pthread_create(&thread, NULL, work_for_ever, NULL))
            continue;
        compute(2);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        n += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d\n", n);
}

/* ---- Other processes ------------------------------------------------------------------------- */

static int status_of(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void children(void)
{
    char *const words[] = {"true", NULL};
    volatile int n = 0;
    for (volatile int i = 0; i < 20; i++) {
        pid_t pid;
        compute(2);
        n += posix_spawnp(&pid, "true", NULL, NULL, words, environ) || status_of(pid);
        pid = vfork();
        if (!pid) {
            execvp(words[0], words);
            _exit(9);
        }
        n += status_of(pid);
        pid = fork();
        if (!pid) {
            compute(2);
            _exit(3);
        }
        n += status_of(pid) != 3 << 8;
    }
    printf("children %d\n", n);
}

/* A child stops this process and lets it continue. */
static void stops(void)
{
    handle(SIGCONT, count_signal, SA_RESTART);
    n_signals = 0;
    for (int i = 0; i < 5; i++) {
        pid_t parent = getpid(), pid = fork();
        if (!pid) {
            kill(parent, SIGSTOP);
            usleep(20000);
            kill(parent, SIGCONT);
            _exit(0);
        }
        compute(5);
        status_of(pid);
    }
    printf("stops %d\n", n_signals >= 1);
    handle(SIGCONT, SIG_DFL, 0);
}

/* A child that traces this process, stops it, passes its signals on and leaves it. */
static int trace(pid_t pid)
{
    int status;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
        return 77;
    for (int i = 0; i < 20; i++) {
        bool stopped = false;
        usleep(2000);
        ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
        while (!stopped) {
            if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
                return 1;
            stopped = status >> 16 == PTRACE_EVENT_STOP;
            ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(stopped ? 0 : WSTOPSIG(status)));
        }
    }
    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
    while (waitpid(pid, &status, __WALL) == pid && status >> 16 != PTRACE_EVENT_STOP)
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)WSTOPSIG(status));
    return ptrace(PTRACE_DETACH, pid, NULL, NULL) ? 2 : 0;
}

static void traced(void)
{
    pid_t parent = getpid(), pid = fork();
    if (!pid)
        _exit(trace(parent));
    compute(100);
    printf("traced %d\n", status_of(pid) >> 8);
}

/* ---- Libraries, descriptors, errors ---------------------------------------------------------- */

static void libraries(void)
{
    int n = 0;
    for (int i = 0; i < 200; i++) {
        void *handle = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
        n += handle && dlsym(handle, "ns_initparse");
        compute(0.2);
        if (handle)
            dlclose(handle);
    }
    printf("libraries %d\n", n);
}

/* Closes a range of descriptors. Those of the MPI library are lower, because they were made
 * earlier. */
static void descriptors(void)
{
#ifdef SYS_close_range
    int high = fcntl(STDOUT_FILENO, F_DUPFD, 250);
    syscall(SYS_close_range, (unsigned)high, ~0u, 0);
    compute(20);
    printf("closed %d\n", fcntl(high, F_GETFD));
#endif
}

static void errors(void)
{
    int size, class = 0, byte = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 20; i++) {
        int rc = MPI_Send(&byte, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
        MPI_Error_class(rc, &class);
    }
    printf("error %d\n", class == MPI_ERR_RANK);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int end_status;

static void end_at_once(void)
{
    _exit(end_status);
}

int main(int argc, char **argv)
{
    static void (*const all[])(void) = {
        timer_descriptors,
        alarms,
        real_time_signals,
        rings,
        jumps,
        overflows,
        cancelled_threads,
        children,
        stops,
        traced,
        errors,
        libraries,
        descriptors,
    };
    int rank;
    if (argc > 1 && (end_status = atoi(argv[1])))
        atexit(end_at_once);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            all[i]();
            fflush(stdout);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("the end\n");
    fflush(stdout);
    return 0;
}
