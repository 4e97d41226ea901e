/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks the stack of a thread of another process with the library's own walker: words of the stack
 * are read by a function of the caller, from a copy, and each return address is looked up in our
 * copy of the code.
 */
#ifndef PCT_COPIED_WALK_H
#define PCT_COPIED_WALK_H

#include "watch/code_files.h"

/* Reasons why the outer frames of a stack could not be found. */
enum pct_cut {
    PCT_CUT_NOT,
    PCT_CUT_TABLE, /* the outermost frame that was found is of a file that has no unwind table for
                      it, and no frame pointer is known to be kept there */
    PCT_CUT_MADE,  /* it is of code in no file, or in one that cannot be read */
    PCT_CUT_STACK, /* the next word of the stack is not known */
    PCT_CUT_DEEP,  /* it has more frames than are kept */
    PCT_CUT_OTHER,
    PCT_N_CUTS
};

/* A thread of another process. */
struct pct_copied {
    struct pct_code_names *names; /* of the files, for the rules of .debug_frame */
    const uint64_t *registers;    /* of user code, by the kernel's numbers for samples */
    bool only_sp;                 /* only the stack pointer and the program counter are true */
    /* Functions of files are taken to have frame pointers where they have no unwind table, or where
     * the file cannot be read, not only in a process that makes code or if their instructions say
     * so: a frame may be missing where one has none. */
    bool pointers;
    bool (*read)(void *arg, uint64_t address, uint64_t *out); /* reads an aligned word */
    void *arg;
};

struct pct_walked {
    uintptr_t pc; /* in our memory; 0: the code belongs to no file */
    uint64_t there;
    bool exact; /* the instruction itself, not a return address */
};

/* The stack pointer among such registers. */
uint64_t pct_copied_sp(const uint64_t *registers);

/* The frames, innermost first, at most n; *cut: why the outer ones could not be found. */
size_t pct_copied_walk(const struct pct_copied *thread, const struct pct_code *code,
                       struct pct_walked *out, size_t n, enum pct_cut *cut);

#endif
