/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registers and stack of a thread of another process: see caught.h.
 *
 * A blocked thread is read from /proc/PID/task/TID/syscall and by process_vm_readv. The copy is
 * consistent if the file has the same contents before and after. A thread that runs is stopped by
 * PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal, and continues as soon as its registers
 * are read and its stack is copied. A signal that arrives meanwhile is passed on.
 *
 * A thread that seems to run may be inside of the kernel, about to end a system call or to wait in
 * one. Some system calls then end with EINTR, as if a signal had arrived. If none has, the thread
 * is set back to the call.
 */
#include "watch/caught.h"

#include "base/base.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

size_t pct_caught_read(int pid, uint64_t from, void *to, size_t n)
{
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)from, n};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

/* Copies the stack. Its end is not known: it copies what is readable from sp on, page by page near
 * the end. The memory is read by the thread: a main thread that has ended has none. */
static void copy_stack(struct pct_caught *c)
{
    enum { PAGE = 4096 };
    size_t first = PAGE - c->sp % PAGE;
    c->beyond = false;
    c->n_stack = pct_caught_read(c->tid, c->sp, c->stack, c->room);
    if (c->n_stack)
        return;
    for (size_t step = first; c->n_stack + step <= c->room; step = PAGE) {
        size_t got = pct_caught_read(c->tid, c->sp + c->n_stack, c->stack + c->n_stack, step);
        c->n_stack += got;
        if (got < step)
            break;
    }
}

bool pct_caught_word(struct pct_caught *c, uint64_t address, uint64_t *out)
{
    if (address >= c->sp && address - c->sp + sizeof *out <= c->n_stack) {
        memcpy(out, c->stack + (address - c->sp), sizeof *out);
        return true;
    }
    c->beyond = true;
    return pct_caught_read(c->tid, address, out, sizeof *out) == sizeof *out;
}

void pct_caught_registers(const struct pct_caught *c, uint64_t out[PCT_CAUGHT_REGISTERS])
{
#if defined __x86_64__
    enum { SP = 7, PC = PCT_CAUGHT_REGISTERS };
    static const uint8_t order[] = {0, 3, 2, 1, 4, 5, 6, SP, PC, 8, 9, 10, 11, 12, 13, 14, 15};
#else
    enum { SP = 31, PC = 32 };
    static const uint8_t order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                    22, 23, 24, 25, 26, 27, 28, 29, 30, SP, PC};
#endif
    for (size_t i = 0; i < sizeof order; i++)
        out[i] = order[i] == PC   ? c->pc
                 : order[i] == SP ? c->sp
                 : c->all         ? c->registers[order[i]]
                                  : 0;
}

/* The line that begins with `name` in the status of the thread, in text, or NULL. */
static const char *find_status(const struct pct_caught *c, const char *name, char *text, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", c->pid, c->tid);
    return pc_read_small(path, text, n) ? strstr(text, name) : NULL;
}

static int find_holder(const struct pct_caught *c)
{
    static const char tracer[] = "\nTracerPid:";
    char text[4096];
    const char *at = find_status(c, tracer, text, sizeof text);
    return at ? (int)strtol(at + sizeof tracer - 1, NULL, 10) : 0;
}

/* ---- Blocked -------------------------------------------------------------------------------- */

/* Reads "NUMBER ARGUMENT... SP PC", "-1 SP PC" or "running". */
static bool read_call(struct pct_caught *c, char *text, size_t n)
{
    char path[64], *end = text;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", c->pid, c->tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, n - 1);
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    if (got <= 0)
        return false;
    text[got] = '\0';
    errno = 0;
    c->call = strtol(text, &end, 10);
    c->first = strtoull(end, NULL, 16);
    return end > text;
}

bool pct_catch_blocked(struct pct_caught *c)
{
    char before[256], after[256];
    if (!read_call(c, before, sizeof before))
        return false;
    char *pc = strrchr(before, ' '), *sp = pc;
    while (sp > before && *--sp != ' ')
        ;
    if (!pc || sp <= before)
        return false;
    c->pc = strtoull(pc + 1, NULL, 16);
    c->sp = strtoull(sp + 1, NULL, 16);
    c->all = false;
    copy_stack(c);
    /* Read before the call is read again, because a watcher may release the thread after that. */
    int holder = find_holder(c);
    bool same = read_call(c, after, sizeof after) && !strcmp(before, after);
    c->holder = same ? holder : 0;
    return same;
}

/* True for a pipe, a file or a terminal, but not a socket, whose calls with a timeout end with
 * EINTR. */
static bool is_restarted_file(const struct pct_caught *c)
{
    char path[64], file[16] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%d", c->pid, (int)c->first);
    ssize_t n = readlink(path, file, sizeof file - 1);
    return n > 0 && (*file == '/' || !strncmp(file, "pipe:", 5));
}

/* True for a thread that a signal has stopped. Its call has ended by then, or will be made again.
 */
static bool is_halted(const struct pct_caught *c)
{
    char text[4096];
    return find_status(c, "\nState:\tT", text, sizeof text) != NULL;
}

bool pct_caught_may_stop(const struct pct_caught *c)
{
    static const long restarted[] = {
        SYS_futex,    SYS_nanosleep,     SYS_clock_nanosleep, SYS_ppoll,
        SYS_pselect6, SYS_rt_sigsuspend, SYS_wait4,           SYS_waitid,
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYS_select
        SYS_select,
#endif
#ifdef SYS_pause
        SYS_pause,
#endif
    };
    if (c->call < 0 || is_halted(c))
        return true;
    if (c->call == SYS_read || c->call == SYS_write || c->call == SYS_readv ||
        c->call == SYS_writev)
        return is_restarted_file(c);
    for (size_t i = 0; i < sizeof restarted / sizeof *restarted; i++)
        if (restarted[i] == c->call)
            return true;
    return false;
}

/* ---- Stopped -------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static void set_registers(struct pct_caught *c, const struct user_regs_struct *r)
{
    const uint64_t by_number[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
                                  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    memcpy(c->registers, by_number, sizeof by_number);
    c->sp = r->rsp;
    c->pc = r->rip;
}

/* True if a signal is pending that the thread handles as soon as it continues. */
static bool has_signal(const struct pct_caught *c)
{
    char text[4096];
    unsigned long long own = 0, shared = 0, blocked = 0;
    const char *at = find_status(c, "\nSigPnd:", text, sizeof text);
    return !at ||
           sscanf(at, "\nSigPnd: %llx ShdPnd: %llx SigBlk: %llx", &own, &shared, &blocked) != 3 ||
           (own | shared) & ~blocked;
}

/* Sets the thread back to the instruction of a system call that ended with EINTR because of the
 * stop, with its number. */
static bool make_again(const struct pct_caught *c, struct user_regs_struct *r)
{
    static const uint8_t syscall_code[] = {0x0f, 0x05};
    uint8_t code[2] = {0};
    if ((long long)r->orig_rax < 0 || (long long)r->rax != -EINTR || has_signal(c) ||
        pct_caught_read(c->tid, r->rip - sizeof code, code, sizeof code) != sizeof code ||
        memcmp(code, syscall_code, sizeof code) != 0)
        return false;
    r->rip -= sizeof code;
    r->rax = r->orig_rax;
    return true;
}
#elif defined(__aarch64__)
static void set_registers(struct pct_caught *c, const struct user_regs_struct *r)
{
    memcpy(c->registers, r->regs, sizeof r->regs);
    c->registers[31] = r->sp;
    c->sp = r->sp;
    c->pc = r->pc;
}

/* Not possible here: the first argument of the call is lost. */
static bool make_again(const struct pct_caught *c, struct user_regs_struct *r)
{
    (void)c, (void)r;
    return false;
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)

static bool read_registers(struct pct_caught *c)
{
    struct user_regs_struct r;
    struct iovec to = {&r, sizeof r};
    if (ptrace(PTRACE_GETREGSET, c->tid, (void *)(uintptr_t)NT_PRSTATUS, &to) ||
        to.iov_len < sizeof r)
        return false;
    set_registers(c, &r);
    c->all = true;
    if (!c->signal && make_again(c, &r))
        ptrace(PTRACE_SETREGSET, c->tid, (void *)(uintptr_t)NT_PRSTATUS, &to);
    return true;
}

/* Looks whether the thread has stopped; LATE: not yet. The end of a thread is taken, without which
 * its process could not end; that of our own child is left to those who wait for it. */
static enum pct_catch_result look_for_stop(struct pct_caught *c)
{
    const int any = WSTOPPED | WEXITED | WNOHANG | __WALL;
    siginfo_t info = {.si_pid = 0};
    struct pc_process_status p;
    if (waitid(P_PID, (id_t)c->tid, &info, any | WNOWAIT))
        return PCT_CATCH_GONE;
    if (!info.si_pid)
        return PCT_CATCH_LATE;
    bool stopped = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED;
    if (!stopped && c->tid == c->pid && pc_process_look(c->pid, &p) && p.parent == getpid())
        return PCT_CATCH_GONE;
    waitid(P_PID, (id_t)c->tid, &info, any);
    /* A stop by an event is ours; any other one is before a signal, which is passed on. */
    c->signal = info.si_status >> 8 ? 0 : info.si_status;
    return stopped ? PCT_CATCH_DONE : PCT_CATCH_GONE;
}

/* Waits until the thread has stopped, at most 2 s. One that runs stops within microseconds, and is
 * held for as long as it takes to notice: there is no pause at first. */
static enum pct_catch_result await_stop(struct pct_caught *c)
{
    enum { TRIES = 20000, PAUSE_NS = 100000, LOOKS = 200 };
    enum pct_catch_result result = PCT_CATCH_LATE;
    for (int i = 0; i < LOOKS && result == PCT_CATCH_LATE; i++)
        result = look_for_stop(c);
    for (int i = 0; i < TRIES && result == PCT_CATCH_LATE; i++) {
        pc_nap_ns(PAUSE_NS);
        result = look_for_stop(c);
    }
    return result;
}

void pct_caught_release(struct pct_caught *c)
{
    ptrace(PTRACE_DETACH, c->tid, NULL, (void *)(uintptr_t)c->signal);
}

bool pct_caught_late(struct pct_caught *c)
{
    enum pct_catch_result result = look_for_stop(c);
    if (result == PCT_CATCH_DONE)
        pct_caught_release(c);
    return result != PCT_CATCH_LATE;
}

/* Seizes the thread; returns an errno. Tries again if another watcher held the thread and released
 * it before its status was read. */
static int seize(struct pct_caught *c)
{
    enum { TRIES = 20 };
    int why = EPERM;
    for (int i = 0; i < TRIES && why == EPERM && !c->holder; i++) {
        why = ptrace(PTRACE_SEIZE, c->tid, NULL, NULL) ? errno : 0;
        c->holder = why == EPERM ? find_holder(c) : 0;
    }
    return why;
}

enum pct_catch_result pct_catch_stopped(struct pct_caught *c)
{
    c->call = -1;
    c->signal = 0;
    c->holder = 0;
    int why = seize(c);
    if (why) {
        errno = why;
        return why == ESRCH ? PCT_CATCH_GONE : PCT_CATCH_REFUSED;
    }
    ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL);
    enum pct_catch_result result = await_stop(c);
    if (result != PCT_CATCH_DONE)
        return result;
    if (!read_registers(c)) {
        pct_caught_release(c);
        return PCT_CATCH_REFUSED;
    }
    copy_stack(c);
    return PCT_CATCH_DONE;
}

#else

enum pct_catch_result pct_catch_stopped(struct pct_caught *c)
{
    (void)c;
    errno = ENOSYS;
    return PCT_CATCH_REFUSED;
}

void pct_caught_release(struct pct_caught *c)
{
    (void)c;
}

bool pct_caught_late(struct pct_caught *c)
{
    (void)c;
    return true;
}

#endif
