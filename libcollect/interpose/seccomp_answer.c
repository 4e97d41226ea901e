/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A filter of system calls is a program (classic BPF) over the number and the arguments of a call.
 * Before the program installs it, it is run here on the calls that the library makes afterwards. If
 * the filter returns an error, the code that makes the call handles it; a call for which the filter
 * ends the process must not be made at all.
 *
 * Called by seccomp.c. Sampling has ended by then, so its system calls are not in the list. The
 * list is what strace shows at the end of a job (tests/safety/filters.test) and when an arena
 * grows, with the variants of older and newer libc, and what a walk asks the kernel about a page.
 */
#include "libcollect/interpose/seccomp_answer.h"

#include "base/base.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined __x86_64__
static const uint32_t own_arch = AUDIT_ARCH_X86_64;
#elif defined __aarch64__
static const uint32_t own_arch = AUDIT_ARCH_AARCH64;
#else
static const uint32_t own_arch = 0; /* a filter that checks it is taken to end the process */
#endif

struct use {
    int number;
    uint64_t argument[3];
};

static const struct use own_uses[] = {
    {SYS_openat, {0, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_openat, {0, 0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC}},
    {SYS_brk, {0}},
    {SYS_clock_gettime, {0}},
    {SYS_close, {0}},
    {SYS_fchmod, {0}},
    {SYS_fcntl, {0, F_DUPFD_CLOEXEC}},
    {SYS_faccessat, {0}},
    {SYS_fallocate, {0}},
    {SYS_fstat, {0}},
    {SYS_fstatfs, {0}},
    {SYS_ftruncate, {0}},
    {SYS_futex, {0}},
    {SYS_getcwd, {0}},
    {SYS_getdents64, {0}},
    {SYS_geteuid, {0}},
    {SYS_getpid, {0}},
    {SYS_getrandom, {0}},
    {SYS_getrusage, {RUSAGE_SELF}},
    {SYS_getrusage, {(uint64_t)RUSAGE_CHILDREN}},
    {SYS_gettid, {0}},
    {SYS_linkat, {0}},
    {SYS_lseek, {0}},
    {SYS_madvise, {0}},
    {SYS_mmap, {0}},
    {SYS_mprotect, {0}},
    {SYS_munmap, {0}},
#ifdef SYS_newfstatat
    {SYS_newfstatat, {0}},
#endif
    {SYS_pread64, {0}},
    {SYS_prctl, {0}},
    {SYS_prlimit64, {0}},
    {SYS_pwrite64, {0}},
    {SYS_read, {0}},
    {SYS_readlinkat, {0}},
    {SYS_rt_sigprocmask, {(uint64_t)-1}}, /* pc_walk_can_read */
    {SYS_rt_sigprocmask, {SIG_BLOCK}},    /* pc_stack_run: getcontext */
    {SYS_rt_sigprocmask, {SIG_SETMASK}},  /* pc_stack_run: swapcontext */
    {SYS_sched_getaffinity, {0}},
    {SYS_sched_yield, {0}},
    {SYS_statfs, {0}},
    {SYS_uname, {0}},
    {SYS_unlinkat, {0}},
    {SYS_write, {0}},
#ifdef SYS_open /* older processors have forms without a folder as well */
    {SYS_access, {0}},
    {SYS_open, {0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC}},
    {SYS_link, {0}},
    {SYS_readlink, {0}},
    {SYS_rmdir, {0}},
    {SYS_stat, {0}},
    {SYS_unlink, {0}},
#endif
};

/* Calls that read counters, and calls of both MPIs for the first message to a rank, for long
 * messages and for waiting. */
static const struct use more_uses[] = {
    {SYS_clock_nanosleep, {0}},
    {SYS_connect, {0}},
    {SYS_epoll_ctl, {0}},
    {SYS_ioctl, {0}},
    {SYS_mremap, {0}},
    {SYS_process_vm_readv, {0}},
    {SYS_process_vm_writev, {0}},
    {SYS_recvfrom, {0}},
    {SYS_recvmsg, {0}},
    {SYS_sendmsg, {0}},
    {SYS_sendto, {0}},
    {SYS_shmat, {0}},
    {SYS_shmctl, {0}},
    {SYS_socket, {0}},
};

/* ---- The BPF machine ------------------------------------------------------------------------ */

enum { NOT_UNDERSTOOD = 0 }; /* SECCOMP_RET_KILL_THREAD */

static uint32_t word_at(const struct seccomp_data *data, uint32_t offset, bool *known)
{
    uint32_t word = 0;
    *known = offset % sizeof word == 0 && offset <= sizeof *data - sizeof word;
    if (*known)
        __builtin_memcpy(&word, (const char *)data + offset, sizeof word);
    return word;
}

static bool is_taken(const struct sock_filter *f, uint32_t a)
{
    switch (BPF_OP(f->code)) {
    case BPF_JEQ:
        return a == f->k;
    case BPF_JGT:
        return a > f->k;
    case BPF_JGE:
        return a >= f->k;
    default: /* BPF_JSET */
        return a & f->k;
    }
}

static bool is_known_jump(uint16_t code)
{
    return code == (BPF_JMP | BPF_JEQ | BPF_K) || code == (BPF_JMP | BPF_JGT | BPF_K) ||
           code == (BPF_JMP | BPF_JGE | BPF_K) || code == (BPF_JMP | BPF_JSET | BPF_K);
}

/* The answer that the kernel would get from the filter. Understands what libseccomp and
 * hand-written filters do: load words of the call, mask them, compare them with constants, return
 * constants. */
static uint32_t answer(const struct sock_fprog *program, const struct seccomp_data *data)
{
    uint32_t a = 0;
    bool known = true;
    for (uint32_t at = 0; known && at < program->len; at++) { /* BPF jumps only forward */
        const struct sock_filter *f = &program->filter[at];
        if (f->code == (BPF_RET | BPF_K))
            return f->k;
        if (f->code == (BPF_LD | BPF_W | BPF_ABS))
            a = word_at(data, f->k, &known);
        else if (f->code == (BPF_ALU | BPF_AND | BPF_K))
            a &= f->k;
        else if (f->code == (BPF_JMP | BPF_JA))
            at += f->k < program->len ? f->k : program->len;
        else if (is_known_jump(f->code))
            at += is_taken(f, a) ? f->jt : f->jf;
        else
            known = false;
    }
    return NOT_UNDERSTOOD;
}

static bool is_ended(const struct sock_fprog *program, const struct use *use)
{
    struct seccomp_data data = {.nr = use->number, .arch = own_arch};
    for (size_t i = 0; i < PC_ARRAY_LEN(use->argument); i++)
        data.args[i] = use->argument[i];
    uint32_t action = answer(program, &data) & SECCOMP_RET_ACTION_FULL;
    return action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG && action != SECCOMP_RET_ERRNO;
}

bool pc_filter_ends(const struct sock_fprog *program, bool more)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(own_uses); i++)
        if (is_ended(program, &own_uses[i]))
            return true;
    for (size_t i = 0; more && i < PC_ARRAY_LEN(more_uses); i++)
        if (is_ended(program, &more_uses[i]))
            return true;
    return false;
}
