/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program that installs a filter of system calls between its 7th and its 8th barrier of 12.
 *
 *     filters ACTION CALLS WHO [SECONDS]
 *     ACTION    kill, EPERM, ENOSYS: result of the refused calls
 *     CALLS     open: calls that open files; create: that create them; write: that write at an
 *               offset or truncate; owner: geteuid; mask: rt_sigprocmask; ask: getsockopt; trace:
 *               ptrace, which neither an MPI nor the library calls
 *     WHO       all, or the rank that has a filter; vfork, clone: a child of each rank, on the
 *               memory of the rank or on a copy
 *     SECONDS   installs the filter SECONDS s after the 12th barrier, when other ranks are at their
 *               end
 *
 * After that it gives a socket a time limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 12 };

struct calls {
    const char *name;
    unsigned short n;
    struct sock_filter code[MOST];
};

/* Refuse calls of this number, or with these bits in an argument. Other calls pass to the next
 * instruction of the filter. */
#define REFUSE(number)                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, 0)
#define REFUSE_WITH(argument, bits)                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),             \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), BPF_STMT(BPF_RET | BPF_K, 0)

static struct calls all_calls[] = {
#ifdef SYS_open
    {"open", 6, {REFUSE(SYS_open), REFUSE(SYS_creat), REFUSE(SYS_openat)}},
#else
    {"open", 2, {REFUSE(SYS_openat)}},
#endif
    {"create", /* openat comes last, because loading its argument overwrites the call number */
     6,
     {REFUSE(SYS_linkat), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      REFUSE_WITH(2, O_CREAT)}},
    {"write", 4, {REFUSE(SYS_pwrite64), REFUSE(SYS_ftruncate)}},
    {"owner", 2, {REFUSE(SYS_geteuid)}},
    {"mask", 2, {REFUSE(SYS_rt_sigprocmask)}},
    {"ask", 2, {REFUSE(SYS_getsockopt)}},
    {"trace", 2, {REFUSE(SYS_ptrace)}},
};

static unsigned action_of(const char *name)
{
    return !strcmp(name, "kill")    ? SECCOMP_RET_KILL_PROCESS
           : !strcmp(name, "EPERM") ? SECCOMP_RET_ERRNO | EPERM
                                    : SECCOMP_RET_ERRNO | ENOSYS;
}

static int install(const char *action, const char *name)
{
    const struct timeval limit = {1, 0};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sock_filter code[MOST + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog program = {1, code};
    for (size_t i = 0; i < sizeof all_calls / sizeof *all_calls; i++)
        for (unsigned k = 0; !strcmp(all_calls[i].name, name) && k < all_calls[i].n; k++)
            code[program.len++] = all_calls[i].code[k];
    for (unsigned i = 1; i < program.len; i++)
        if (code[i].code == (BPF_RET | BPF_K))
            code[i].k = action_of(action);
    code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return program.len < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ||
           setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) || close(fd);
}

/* Installs the filter in a child that is made without handlers of fork. */
static int install_in_child(char **argv)
{
    int status = -1;
    pid_t child =
        strcmp(argv[3], "vfork") ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : vfork();
    if (!child)
        _exit(install(argv[1], argv[2]));
    return waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool child = argc > 3 && (!strcmp(argv[3], "vfork") || !strcmp(argv[3], "clone"));
    bool has = argc > 3 && (child || !strcmp(argv[3], "all") || atoi(argv[3]) == rank);
    for (int i = 0; i <= 12; i++) {
        if (has && i == (argc > 4 ? 12 : 7)) {
            sleep(argc > 4 ? (unsigned)atoi(argv[4]) : 0);
            if (child ? install_in_child(argv) : install(argv[1], argv[2])) {
                perror("seccomp");
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
        }
        if (i < 12)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
