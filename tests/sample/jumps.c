/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signals are sent to the process while the main thread computes and other threads could take them.
 * The kernel gives each signal to the main thread, which is the first that does not block it. The
 * handler notes in which thread it runs, and leaves by a jump, or returns.
 *
 *     jumps WHAT [TIMES]
 *
 * prints how often a handler ran in another thread, and how often the signal mask or the arguments
 * of the handler were wrong. WHAT is one of:
 *
 *     return: the handler returns
 *
 *     jump: it leaves by siglongjmp, which restores the mask
 *
 *     bare: it leaves by longjmp, after which its own signal, and no other, is blocked
 *
 *     value: queued signals, each of which comes once, in order, with its value
 *
 *     told: the system returns the handler and the flags that were set, for all flags and signal()
 *
 *     vfork: a child by vfork changes its own handlers
 *
 *     stack: three signals at a time, and a small alternate stack, which no handler uses
 *
 *     stacked: `stack` with a fourth handler, which uses the alternate stack
 *
 *     stepped: run by tests/sample/stepped.c; the handler jumps, and never interrupts the library;
 *     SIGTERM ends it
 *
 * With MPI (-DWITH_MPI) the other threads are those of the MPI library; without it the program
 * makes one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static const char *what = "return";
static volatile sig_atomic_t n_handled, n_elsewhere, bad_mask, may_jump, last_value;
static pid_t main_thread;
static sigjmp_buf back;
static volatile double sink;

static void fail(const char *why)
{
    printf("%s: %s\n", what, why);
    exit(1);
}

static __attribute__((noinline)) void compute(int n)
{
    for (int i = 0; i < n; i++)
        sink = sink + i;
}

static void handle(int signal)
{
    (void)signal;
    n_handled++;
    if (gettid() != main_thread) {
        n_elsewhere++;
        return;
    }
    if (!may_jump)
        return;
    may_jump = 0;
    siglongjmp(back, 1);
}

static void take_value(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    if (gettid() != main_thread)
        n_elsewhere++;
    if (info->si_code != SI_QUEUE || info->si_value.sival_int != last_value + 1 ||
        info->si_pid != getpid())
        bad_mask++;
    last_value = info->si_value.sival_int;
    n_handled++;
}

static void install(int signal, void (*handler)(int), int flags)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
    a.sa_flags = flags;
    if (sigaction(signal, &a, NULL))
        fail("sigaction");
}

#ifndef WITH_MPI
static void *wait_for_signals(void *argument)
{
    for (;;)
        pause();
    return argument;
}
#endif

/* Checks that only this signal is blocked, or none if it is 0. */
static void check_mask(int signal)
{
    sigset_t now, want;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    sigemptyset(&want);
    if (signal)
        sigaddset(&want, signal);
    for (int s = 1; s < 65; s++)
        if (sigismember(&now, s) != sigismember(&want, s))
            bad_mask++;
    if (signal)
        pthread_sigmask(SIG_UNBLOCK, &want, NULL);
}

/* Sends signals by a timer of the process, which belongs to no thread. The timer is set when the
 * handler has ended: while it runs its signal is blocked, and another thread would get the next. */
static void send_by_timer(int times)
{
    volatile int i, jumped = 0;
    bool jump = strcmp(what, "return"), bare = !strcmp(what, "bare");
    install(SIGALRM, handle, SA_RESTART);
    for (i = 0; i < times; i++) {
        struct itimerval once = {{0, 0}, {0, 20 + i % 400}};
        if (sigsetjmp(back, !bare)) {
            jumped++;
            check_mask(bare ? SIGALRM : 0);
        } else {
            may_jump = jump;
            setitimer(ITIMER_REAL, &once, NULL);
            while (n_handled <= i)
                compute(100);
            check_mask(0);
        }
    }
    if (jumped + n_elsewhere < times * jump)
        fail("a jump is missing");
}

/* ---- Below a tracer ------------------------------------------------------------------------- */

static volatile sig_atomic_t term;

static void handle_stepped(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
#if defined __x86_64__
    uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#else
    uintptr_t pc = uc->uc_mcontext.pc;
#endif
    Dl_info in;
    bad_mask += dladdr((void *)pc, &in) && strstr(in.dli_fname, "libpcollect");
    bad_mask += info->si_code != SI_TKILL || info->si_pid != getppid();
    handle(signal);
}

static void end_stepped(int signal)
{
    (void)signal;
    term = 1;
}

static void be_stepped(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = handle_stepped;
    a.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGALRM, &a, NULL);
    install(SIGTERM, end_stepped, SA_RESTART);
    signal(SIGUSR1, SIG_IGN);
    raise(SIGUSR1);
    while (!term) {
        sigsetjmp(back, 1);
        may_jump = 1;
        while (may_jump && !term)
            compute(1000);
        check_mask(0);
    }
}

/* Sends each value when the one before has come, from a thread that blocks the signal. */
static void *queue_values(void *argument)
{
    int times = *(int *)argument;
    for (int i = 1; i <= times; i++) {
        if (sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = i}))
            fail("sigqueue");
        while (last_value != i)
            sched_yield();
        for (int k = 0; k < i % 64 * 64; k++)
            __asm__ volatile("");
    }
    return argument;
}

static void send_values(int times)
{
    struct sigaction a;
    sigset_t set, old;
    pthread_t sender;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = take_value;
    a.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGRTMIN + 3, &a, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&sender, NULL, queue_values, &times);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    while (last_value < times)
        compute(1000);
    pthread_join(sender, NULL);
    if (n_handled != times)
        fail("a queued signal was lost or came twice");
}

/* ---- Handlers that sigaction and signal return ---------------------------------------------- */

static void expect(int signal, void (*handler)(int), int flags, int masked, const char *why)
{
    struct sigaction now;
    if (sigaction(signal, NULL, &now) || now.sa_handler != handler ||
        (now.sa_flags & ~0x04000000) != flags || sigismember(&now.sa_mask, masked) != 1)
        fail(why);
}

static void no_handler(int signal)
{
    (void)signal;
}

static void be_told(void)
{
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = no_handler;
    sigaddset(&a.sa_mask, SIGUSR2);
    static const int flags[] = {
        0,         SA_RESTART, SA_SIGINFO, (int)SA_RESETHAND, SA_ONSTACK, SA_NODEFER | SA_SIGINFO,
        SA_RESTART};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        a.sa_flags = flags[i];
        a.sa_handler = i % 2 ? no_handler : handle;
        sigaction(SIGUSR1, &a, NULL);
        expect(SIGUSR1, a.sa_handler, flags[i], SIGUSR2, "sigaction tells something else");
        compute(100000);
    }
    a.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGUSR1, &a, NULL);
    raise(SIGUSR1);
    if (signal(SIGUSR1, no_handler) != SIG_DFL || signal(SIGUSR1, handle) != no_handler)
        fail("signal tells something else");
    expect(SIGUSR1, handle, SA_RESTART, SIGUSR1, "signal asks for something else");
    siginterrupt(SIGUSR1, 1);
    expect(SIGUSR1, handle, 0, SIGUSR1, "siginterrupt asks for something else");
    if (signal(SIGUSR1, no_handler) != handle)
        fail("signal does not tell the handler");
    expect(SIGUSR1, no_handler, 0, SIGUSR1, "signal forgets siginterrupt");
    siginterrupt(SIGUSR1, 0);
    if (signal(SIGUSR1, SIG_IGN) != no_handler || raise(SIGUSR1) ||
        signal(SIGUSR1, SIG_DFL) != SIG_IGN)
        fail("signal does not ignore");
}

/* A child sends three signals at a time. */
static void come_together(int times)
{
    static char own[65536]; /* room for four nested handlers, each with all registers of the CPU */
    static const int signals[] = {SIGALRM, SIGUSR1, SIGUSR2};
    const stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
    pid_t parent = getpid(), child;
    sigaltstack(&stack, NULL);
    for (int i = 0; i < 3; i++)
        install(signals[i], handle, SA_RESTART);
    if (strcmp(what, "stack")) {
        static const struct itimerval often = {{0, 150}, {0, 150}};
        install(SIGVTALRM, no_handler, SA_RESTART | SA_ONSTACK);
        setitimer(ITIMER_VIRTUAL, &often, NULL);
    }
    child = fork();
    if (!child) {
        for (int i = 0; i < times * 10; i++) {
            for (int k = 0; k < 3; k++)
                kill(parent, signals[k]);
            for (int k = 0; k < 3000; k++)
                __asm__ volatile("");
        }
        _exit(0);
    }
    while (waitpid(child, NULL, WNOHANG) != child)
        compute(1000);
    if (!n_handled)
        fail("no signal came");
}

/* A child of vfork changes its handler: it shares memory with its parent, but not handlers. */
static void change_in_child(int times)
{
    install(SIGALRM, handle, SA_RESTART);
    for (int i = 0; i < times; i++) {
        struct sigaction a, old;
        memset(&a, 0, sizeof a);
        a.sa_handler = i % 2 ? SIG_DFL : no_handler;
        int status, n = n_handled;
        pid_t child = vfork();
        if (!child) {
            if (sigaction(SIGALRM, &a, &old) || old.sa_handler != handle)
                _exit(2);
            if (sigaction(SIGALRM, NULL, &old) || old.sa_handler != a.sa_handler)
                _exit(3);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status)
            fail("the child was told something else");
        raise(SIGALRM); /* to this thread: the handler has run when the call returns */
        if (n_handled != n + 1)
            fail("the parent's handler is not called");
        compute(1000);
    }
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : what;
    int times = argc > 2 ? atoi(argv[2]) : 2000;
    main_thread = gettid();
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
#else
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_signals, NULL);
    compute(10000000);
#endif
    if (!strcmp(what, "value"))
        send_values(times);
    else if (!strcmp(what, "stepped"))
        be_stepped();
    else if (!strcmp(what, "told"))
        be_told();
    else if (!strcmp(what, "stack") || !strcmp(what, "stacked"))
        come_together(times);
    else if (!strcmp(what, "vfork"))
        change_in_child(times);
    else
        send_by_timer(times);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    printf("%s: elsewhere %d, wrong %d\n", what, (int)n_elsewhere, (int)bad_mask);
    return 0;
}
