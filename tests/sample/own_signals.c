/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program's own use of signals, while it computes and is sampled. Prints what was wrong.
 *
 *     wait      SIGURG, then each real-time signal, is blocked, sent and waited for: it comes once,
 *               with the value that it was sent with, and nothing else comes
 *     waits     the same with SIGURG, then SIGWINCH
 *     all       while all signals are blocked none is pending, and a wait for all of them returns
 *               the program's own, sent by another process, and nothing else
 *     one       SIGURG, then SIGWINCH, has a handler, which gets the signals that were sent
 *     both      both have a handler
 *     signal, bsd_signal, ssignal, sysv_signal, __sysv_signal, __sigaction
 *               SIGURG has a handler, which that function has set
 *     restart   siginterrupt is called for SIGURG and SIGWINCH, before and after SIGURG gets a
 *               handler; the handler of the sampler restarts calls all the same
 *     sighold, sigblock, sigsetmask
 *               SIGURG is blocked by that function: the sampler takes SIGWINCH
 *     swap      SIGUSR1 has a handler, then another: one struct says what is wanted and what was
 *     fd        a signalfd for all signals has those that were sent
 *     file, event
 *               a file or perf_event of the program has the number of the sampler's descriptor: it
 *               is as before after an exec that fails, and after SIGURG gets a handler
 *     inside    a handler that interrupts a wait has the mask that it was set with, as has the
 *               program that it executes in the end
 *     jump      a handler leaves a wait by siglongjmp; then all signals are blocked, and stay so
 *     child     a child by vfork blocks SIGURG, then SIGWINCH
 *     full      the queue of signals is full
 *     foreign   the queue is full, and another process filled it
 */
#define _GNU_SOURCE 1

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 30, SOME = 20000, QUEUE = 2000 };

static volatile double sink;
static volatile sig_atomic_t n_handled;
static const int usual[] = {SIGURG, SIGWINCH};

static __attribute__((noinline)) void compute(long n)
{
    for (long k = 0; k < n; k++)
        sink = sink + (double)k;
}

/* Takes the next pending signal; returns 0 if there is none. */
static int next_of(const sigset_t *set, siginfo_t *info)
{
    static const struct timespec now = {0, 0};
    int signal = sigtimedwait(set, info, &now);
    return signal < 0 ? 0 : signal;
}

static void expect(const char *what, int got, int wanted)
{
    if (got != wanted)
        printf("%s: %d instead of %d\n", what, got, wanted);
}

static void check_wait(int signal)
{
    sigset_t set, before;
    siginfo_t info;
    int lost = 0, foreign = 0;
    sigemptyset(&set);
    sigaddset(&set, signal);
    for (int i = 0; i < ROUNDS; i++) {
        sigprocmask(SIG_BLOCK, &set, &before);
        compute(SOME);
        foreign += next_of(&set, &info) != 0;
        sigqueue(getpid(), signal, (union sigval){.sival_int = i});
        compute(SOME);
        lost += next_of(&set, &info) != signal || info.si_value.sival_int != i;
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    if (lost || foreign)
        printf("signal %d: lost %d, not sent %d\n", signal, lost, foreign);
}

/* A child sends the signal: with kill() a process sends it to its own calling thread. */
static void send(int signal)
{
    pid_t parent = getpid(), child = fork();
    if (!child)
        _exit(kill(parent, signal) != 0);
    waitpid(child, NULL, 0);
}

static void check_all(void)
{
    static const struct timespec soon = {0, 2000000}, late = {10000000000, 0};
    static const struct itimerval alarm = {{0, 0}, {0, 2000}};
    sigset_t all, before, pending;
    siginfo_t info;
    int number = 0;
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < ROUNDS; i++) {
        compute(10 * SOME);
        sigpending(&pending);
        for (int signal = 1; signal <= SIGRTMAX; signal++)
            if (sigismember(&pending, signal) == 1)
                printf("signal %d is pending\n", signal);
        compute(10 * SOME);
        expect("nothing was sent", next_of(&all, &info), 0);
        expect("the wait ends", sigtimedwait(&all, &info, &soon) < 0 ? errno : 0, EAGAIN);
        compute(10 * SOME);
        setitimer(ITIMER_REAL, &alarm, NULL);
        expect("the long wait", sigtimedwait(&all, &info, &late), SIGALRM);
        for (size_t k = 0; k < 2; k++) {
            send(usual[k]);
            compute(SOME);
            sigpending(&pending);
            expect("it is pending", sigismember(&pending, usual[k]), 1);
            expect("sigwait", sigwait(&all, &number) ? 0 : number, usual[k]);
            send(usual[k]);
            compute(SOME);
            expect("sigwaitinfo", sigwaitinfo(&all, &info), usual[k]);
            expect("who sent it", info.si_code, SI_USER);
        }
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    n_handled += info->si_code == SI_USER || info->si_code == SI_TKILL ? 1 : 1000;
}

static void check_handler(int number)
{
    struct sigaction action, back;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    expect("it had none", sigaction(number, &action, &back) || back.sa_handler != SIG_DFL, 0);
    expect("it is kept",
           sigaction(number, NULL, &back) || back.sa_sigaction != on_signal ||
               (back.sa_flags & ~0x04000000) != SA_SIGINFO,
           0);
    n_handled = 0;
    for (int i = 0; i < ROUNDS; i++) {
        compute(SOME);
        raise(number);
    }
    compute(10 * SOME);
    expect("handled", n_handled, ROUNDS);
}

extern __sighandler_t bsd_signal(int, __sighandler_t);
extern __sighandler_t __sysv_signal(int, __sighandler_t);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static __sighandler_t by_sigaction(int number, __sighandler_t handler)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    return __sigaction(number, &action, &action) ? SIG_ERR : action.sa_handler;
}

static void count(int signal)
{
    (void)signal;
    n_handled++;
}

static void count_ten(int signal)
{
    (void)signal;
    n_handled += 10;
}

/* Own names: libc's header marks such functions as obsolete. */
extern int interrupt_calls(int number, int yes) __asm__("siginterrupt");
extern int hold(int number) __asm__("sighold");
extern int block_mask(int mask) __asm__("sigblock");
extern int set_mask(int mask) __asm__("sigsetmask");

static bool is_restarting(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && now.sa_flags & SA_RESTART;
}

/* The handler that the kernel has, with its flags: the sampler's, if it has the signal. */
static bool has_handler(int number, unsigned long *flags)
{
    unsigned long action[8] = {0}; /* the kernel's structure: handler, flags */
    syscall(SYS_rt_sigaction, number, NULL, action, 8L);
    *flags = action[1];
    return action[0];
}

static void keep_restarting(void)
{
    for (size_t k = 0; k < 2; k++) {
        unsigned long flags;
        expect("siginterrupt", interrupt_calls(usual[k], 1), 0);
        expect("it does not restart", is_restarting(usual[k]), 0);
        expect("a handler restarts calls", has_handler(usual[k], &flags) && !(flags & SA_RESTART),
               0);
    }
    signal(SIGURG, count);
    expect("the handler does not restart", is_restarting(SIGURG), 0);
    expect("siginterrupt", interrupt_calls(SIGURG, 0), 0);
    expect("the handler restarts", is_restarting(SIGURG), 1);
    expect("no such signal", interrupt_calls(1000, 1), -1);
}

/* Blocks SIGURG by the function of this name, if there is one. */
static void check_blocker(const char *name)
{
    static const struct {
        const char *name;
        int (*block)(int);
        int argument;
    } blockers[] = {
        {"sighold", hold, SIGURG},
        {"sigblock", block_mask, 1 << (SIGURG - 1)},
        {"sigsetmask", set_mask, 1 << (SIGURG - 1)},
    };
    for (size_t i = 0; i < sizeof blockers / sizeof blockers[0]; i++) {
        unsigned long flags;
        sigset_t now;
        if (strcmp(blockers[i].name, name))
            continue;
        expect("no signal was blocked", blockers[i].block(blockers[i].argument), 0);
        pthread_sigmask(SIG_BLOCK, NULL, &now);
        expect("it is blocked", sigismember(&now, SIGURG), 1);
        expect("another signal is not", sigismember(&now, SIGWINCH), 0);
        expect("the sampler has another signal", has_handler(SIGWINCH, &flags),
               has_handler(SIGURG, &flags));
    }
}

static void swap_handlers(void)
{
    expect("it had none", by_sigaction(SIGUSR1, count) != SIG_DFL, 0);
    raise(SIGUSR1);
    expect("handled", n_handled, 1);
    expect("it had one", by_sigaction(SIGUSR1, count_ten) != count, 0);
    raise(SIGUSR1);
    expect("handled by the other", n_handled, 11);
    expect("it had the other", by_sigaction(SIGUSR1, SIG_DFL) != count_ten, 0);
}

/* Sets a handler by the function of this name, if there is one. */
static void check_setter(const char *name)
{
    static const struct {
        const char *name;
        __sighandler_t (*set)(int, __sighandler_t);
    } setters[] = {
        {"signal", signal},
        {"bsd_signal", bsd_signal},
        {"ssignal", ssignal},
        {"sysv_signal", sysv_signal},
        {"__sysv_signal", __sysv_signal},
        {"__sigaction", by_sigaction},
    };
    for (size_t i = 0; i < sizeof setters / sizeof setters[0]; i++) {
        if (strcmp(setters[i].name, name))
            continue;
        expect("it had none", setters[i].set(SIGURG, count) != SIG_DFL, 0);
        compute(100 * SOME);
        expect("none was sent", n_handled, 0);
        raise(SIGURG);
        expect("handled", n_handled, 1);
    }
}

static void forget_handler(int number)
{
    signal(number, SIG_DFL);
    n_handled = 0;
    raise(number);
    compute(SOME);
    expect("not handled", n_handled, 0);
}

static void check_descriptor(void)
{
    struct signalfd_siginfo info;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGCHLD);
    sigprocmask(SIG_SETMASK, &all, &before);
    int fd = signalfd(-1, &all, SFD_NONBLOCK);
    for (int i = 0; i < ROUNDS; i++) {
        compute(10 * SOME);
        expect("nothing can be read", read(fd, &info, sizeof info) > 0 ? (int)info.ssi_signo : 0,
               0);
        send(usual[i % 2]);
        memset(&info, 0, sizeof info);
        expect("what can be read", read(fd, &info, sizeof info) > 0 ? (int)info.ssi_signo : 0,
               usual[i % 2]);
    }
    close(fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Puts the file in the place of each perf_event, like a program that closes descriptors that it has
 * not opened. */
static void replace_events(int fd)
{
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        char target[64];
        ssize_t n = readlinkat(dirfd(folder), e->d_name, target, sizeof target - 1);
        int other = atoi(e->d_name);
        target[n > 0 ? n : 0] = '\0';
        if (other != fd && strstr(target, "[perf_event]"))
            expect("it has the number", dup2(fd, other), other);
    }
    if (folder)
        closedir(folder);
}

/* The two reasons for which the library sets up its descriptor anew. */
static void meet_descriptor(void)
{
    char *const nothing[] = {(char[]){"nothing"}, NULL};
    expect("no such program", execv("/nonexistent", nothing), -1);
    signal(SIGURG, count);
}

static void keep_file(void)
{
    int fd = open("/dev/null", O_WRONLY | O_APPEND | O_NONBLOCK), flags = fcntl(fd, F_GETFL);
    replace_events(fd);
    meet_descriptor();
    expect("flags", fcntl(fd, F_GETFL), flags);
    expect("signal", fcntl(fd, F_GETSIG), 0);
    close(fd);
}

static uint64_t value_of(int fd)
{
    uint64_t value = 0;
    return read(fd, &value, sizeof value) == (ssize_t)sizeof value ? value : 0;
}

static void keep_event(void)
{
    struct perf_event_attr a = {.size = sizeof a, .type = PERF_TYPE_SOFTWARE};
    a.config = PERF_COUNT_SW_TASK_CLOCK;
    a.exclude_kernel = a.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) /* refused here */
        return;
    replace_events(fd);
    meet_descriptor();
    uint64_t before = value_of(fd);
    compute(SOME);
    expect("the event counts", value_of(fd) > before, 1);
    expect("flags", fcntl(fd, F_GETFL) & O_ASYNC, 0);
    expect("signal", fcntl(fd, F_GETSIG), 0);
    close(fd);
}

static void block_in_child(void)
{
    int status = -1;
    pid_t child = vfork();
    for (size_t k = 0; !child && k < 2; k++) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, usual[k]);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    if (!child)
        _exit(0);
    waitpid(child, &status, 0);
    expect("the child ends", status, 0);
}

/* ---- Handlers that interrupt a wait ---------------------------------------------------------- */

static char *const *words;
static volatile sig_atomic_t n_inside;
static volatile bool masks_all;
static sigjmp_buf outside;
static sem_t sem;

static void expect_ours(const char *where, int blocked)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (size_t k = 0; k < 2; k++)
        expect(where, sigismember(&now, usual[k]), blocked);
}

static void look_inside(int signal)
{
    (void)signal;
    expect_ours("blocked in a handler", masks_all);
    n_inside++;
    if (n_inside > ROUNDS)
        sem_post(&sem);
}

static void execute(int signal)
{
    (void)signal;
    execv("/proc/self/exe", words);
}

static void jump_outside(int signal)
{
    (void)signal;
    siglongjmp(outside, 1);
}

static void install_inside(void (*handler)(int), bool all)
{
    static const struct itimerval often = {{0, 3000}, {0, 3000}};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    if (all)
        sigfillset(&action.sa_mask);
    masks_all = all;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* The handlers of sem_wait come while one call waits: libc restarts it. */
static void wait_inside(void)
{
    const struct timespec time = {1, 0};
    sem_init(&sem, 0, 0);
    for (int i = 0; i < 4; i++) {
        n_inside = 0;
        install_inside(look_inside, i % 2);
        pause();
        poll(NULL, 0, 1000);
        usleep(900000);
        syscall(SYS_ppoll, NULL, 0, &time, NULL, 8);
        while (sem_wait(&sem))
            expect("sem_wait", errno, EINTR);
        while (!sem_trywait(&sem))
            ;
    }
    char *again[] = {words[0], (char[]){"blocked"}, NULL};
    words = again;
    fflush(stdout); /* exec would drop it */
    install_inside(execute, false);
    for (;;)
        pause();
}

static void jump_out(void)
{
    sigset_t all, before;
    install_inside(jump_outside, false);
    if (!sigsetjmp(outside, 1))
        for (;;)
            sleep(1);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    usleep(1000);
    expect_ours("blocked after a wait", 1);
    signal(SIGALRM, SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void fill_queue(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int n = 0;
    while (!sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 0}))
        n++;
    expect("the queue is full", errno, EAGAIN);
    expect("before long", n > QUEUE, 0);
}

static pid_t fill_by_another(void)
{
    int ready[2];
    char byte;
    if (pipe(ready))
        return -1;
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fill_queue();
        byte = 1;
        _exit(write(ready[1], &byte, 1) != 1 || pause() == 0);
    }
    expect("another process is there", (int)read(ready[0], &byte, 1), 1);
    return child;
}

int main(int argc, char **argv)
{
    static const struct rlimit limit = {QUEUE, QUEUE};
    const char *what = argc > 1 ? argv[1] : "";
    pid_t child = 0;
    compute(500 * SOME);
    if (!strcmp(what, "wait")) {
        check_wait(SIGURG);
        for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
            check_wait(signal);
    } else if (!strcmp(what, "waits")) {
        check_wait(SIGURG);
        check_wait(SIGWINCH);
    } else if (!strcmp(what, "all")) {
        check_all();
    } else if (!strcmp(what, "one")) {
        check_handler(SIGURG);
        forget_handler(SIGURG);
    } else if (!strcmp(what, "both")) {
        check_handler(SIGURG);
        check_handler(SIGWINCH);
        forget_handler(SIGURG);
    } else if (!strcmp(what, "restart")) {
        keep_restarting();
    } else if (!strcmp(what, "swap")) {
        swap_handlers();
    } else if (!strcmp(what, "fd")) {
        check_descriptor();
    } else if (!strcmp(what, "file")) {
        keep_file();
    } else if (!strcmp(what, "event")) {
        keep_event();
    } else if (!strcmp(what, "inside")) {
        words = argv;
        wait_inside();
    } else if (!strcmp(what, "blocked")) { /* SIGALRM is, and its timer goes on */
        expect_ours("blocked in a program that a handler executes", 0);
    } else if (!strcmp(what, "jump")) {
        jump_out();
    } else if (!strcmp(what, "child")) {
        block_in_child();
    } else if (!strcmp(what, "full")) {
        setrlimit(RLIMIT_SIGPENDING, &limit);
        fill_queue();
    } else if (!strcmp(what, "foreign")) {
        setrlimit(RLIMIT_SIGPENDING, &limit);
        child = fill_by_another();
    }
    check_setter(what);
    check_blocker(what);
    compute(5000 * SOME);
    if (child > 0)
        kill(child, SIGKILL);
    return 0;
}
