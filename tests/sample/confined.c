/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that computes in two threads, installs a filter of system calls, and continues. The
 * filter allows the calls of the program, and refuses those of a sampler: clocks of threads,
 * timers, events and their descriptors, calls that wait with a signal mask.
 *
 *     confined ACTION WAY THREADS
 *     ACTION    kill, EPERM, ENOSYS or none: result of the refused calls; getpid: a filter that
 *               kills for getpid alone is installed by prctl for one thread, and handlers are
 *               set; ask: no filter is installed, the program asks whether it could be
 *     WAY       prctl, syscall: function that installs the filter
 *     THREADS   one, all: threads that have the filter
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;
static volatile bool is_over;

static __attribute__((noinline)) void compute(long n)
{
    for (long k = 0; k < n; k++)
        sink = sink + (double)k;
}

static void *compute_on(void *unused)
{
    while (!is_over)
        compute(1000);
    return unused;
}

static unsigned action_of(const char *name)
{
    if (!strcmp(name, "kill"))
        return SECCOMP_RET_KILL_PROCESS;
    if (!strcmp(name, "EPERM"))
        return SECCOMP_RET_ERRNO | EPERM;
    if (!strcmp(name, "ENOSYS"))
        return SECCOMP_RET_ERRNO | ENOSYS;
    return SECCOMP_RET_ALLOW;
}

static const int refused[] = {
    SYS_ioctl,           SYS_timer_create,    SYS_timer_settime,    SYS_timer_delete,
    SYS_perf_event_open, SYS_rt_sigtimedwait, SYS_rt_sigqueueinfo,  SYS_rt_sigaction,
    SYS_tgkill,          SYS_ppoll,           SYS_pselect6,         SYS_epoll_pwait,
    SYS_rt_sigsuspend,   SYS_getcpu,          SYS_process_vm_readv, SYS_mincore,
};
enum { N = sizeof refused / sizeof *refused };

static int install(unsigned action, bool by_prctl, bool all)
{
    enum { FIRST = 4, LENGTH = FIRST + N + 2 }; /* the last two instructions allow and refuse */
    struct sock_filter code[LENGTH] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CLOCK_THREAD_CPUTIME_ID, N + 1, N),
    };
    struct sock_fprog program = {LENGTH, code};
    for (int i = 0; i < N; i++)
        code[FIRST + i] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i], (unsigned char)(N - i), 0);
    code[LENGTH - 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[LENGTH - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    if (by_prctl)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, all ? SECCOMP_FILTER_FLAG_TSYNC : 0,
                        &program);
}

static int forbid_getpid(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Fails if the kernel has filters and takes this one. */
static int ask(void)
{
    struct sock_fprog nowhere = {1, (struct sock_filter *)8}, nothing = {0, NULL};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) ||
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nowhere, 0, 0) ||
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing, 0, 0) ||
           !prctl(PR_SET_SECCOMP, 99, &nothing, 0, 0) ||
           !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
}

static int confine(char **argv)
{
    if (!strcmp(argv[1], "getpid"))
        return forbid_getpid();
    if (!strcmp(argv[1], "ask"))
        return ask();
    return install(action_of(argv[1]), !strcmp(argv[2], "prctl"), !strcmp(argv[3], "all"));
}

static void ignore_signals(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGUSR2, SIG_IGN);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 4)
        return 2;
    pthread_create(&thread, NULL, compute_on, NULL);
    compute(10000000);
    if (confine(argv)) {
        perror("seccomp");
        return 3;
    }
    if (!strcmp(argv[1], "getpid"))
        ignore_signals();
    compute(20000000);
#ifdef SYS_poll
    poll(NULL, 0, 10);
#endif
    is_over = true;
    pthread_join(thread, NULL);
    return write(STDOUT_FILENO, "done\n", 5) != 5;
}
