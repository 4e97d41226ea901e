/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread of another process at one moment: its registers, as far as they are known, and a copy
 * of its stack.
 */
#ifndef PCT_CAUGHT_H
#define PCT_CAUGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PCT_CAUGHT_REGISTERS = 33, PCT_CAUGHT_STACK = 256 * 1024 };

struct pct_caught {
    int pid, tid;
    uint64_t registers[PCT_CAUGHT_REGISTERS]; /* by their DWARF numbers */
    uint64_t pc, sp;
    long call;      /* the system call that it is in, or -1 */
    uint64_t first; /* its first argument */
    bool all;       /* the registers are known, not only pc and sp */
    int holder;     /* process that traces it (a debugger, or briefly a watcher), or 0 */
    uint8_t *stack; /* n_stack bytes from sp; the caller's, of `room` bytes */
    size_t room, n_stack;
    bool beyond; /* words outside of the copy were read: another stack, or more of this one */
    int signal;  /* signal that arrived during the stop, passed on at its end */
};

enum pct_catch_result {
    PCT_CATCH_DONE,
    PCT_CATCH_GONE,    /* the thread has ended */
    PCT_CATCH_REFUSED, /* the kernel does not allow it; errno */
    PCT_CATCH_LATE     /* it did not stop in time; it will, and pct_caught_late releases it */
};

/* Catches a thread that is blocked in a system call, without stopping it: only pc and sp are known.
 * False: it is not blocked, or moved meanwhile. errno EACCES or EPERM: the kernel does not allow
 * it. */
bool pct_catch_blocked(struct pct_caught *c);

/* Stops the thread. A system call that ends with EINTR only because of this is restarted (x86-64).
 * After PCT_CATCH_DONE pct_caught_release lets the thread continue. */
enum pct_catch_result pct_catch_stopped(struct pct_caught *c);
void pct_caught_release(struct pct_caught *c);

/* Releases a thread that did not stop in time, if it has stopped meanwhile; false: it has not. What
 * was not released continues when this process ends. */
bool pct_caught_late(struct pct_caught *c);

/* True if a stop does not disturb the system call, because the kernel continues it afterwards.
 * Others, listed in signal(7), end with EINTR. */
bool pct_caught_may_stop(const struct pct_caught *c);

/* The registers in the order of the kernel's samples, with zeros for those that are not known. */
void pct_caught_registers(const struct pct_caught *c, uint64_t out[PCT_CAUGHT_REGISTERS]);

/* Reads memory of a process; returns the number of bytes read. */
size_t pct_caught_read(int pid, uint64_t from, void *to, size_t n);

/* Reads a word of the process's memory, from the copy of the stack if it is there. */
bool pct_caught_word(struct pct_caught *c, uint64_t address, uint64_t *out);

#endif
