/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stack walker, for MPI calls and for signal handlers alike.
 *
 * One step goes from a frame to its caller by a small rule per program counter (where the canonical
 * frame address is, where the return address and the frame pointer were saved). Rules come from
 * .eh_frame by a bounded interpreter and are kept in one lock-free cache for the process. No
 * malloc, no lock, and no system call except the probe of pages of a foreign stack.
 *
 * A step names every word of stack that decided where it went, so that the same walk can later be
 * repeated by comparing those words (libcollect/context/path.h).
 *
 * All functions here are AS-safe and MT-safe.
 */
#ifndef PC_WALK_H
#define PC_WALK_H

#include "base/base.h"
#include "libcollect/walk/loadmap.h"

/* Range of the stack that may be read: [lo, hi). Outside of it (alternate stacks, coroutines) each
 * page is probed before its first read. */
struct pc_stack {
    uintptr_t lo, hi;
};

/* Stack and code of a thread of another process, whose unwind tables are here
 * (pc_loadmap_enter_copy).
 */
struct pc_memory {
    /* Reads an aligned word of that process. */
    bool (*read)(struct pc_memory *memory, uintptr_t addr, uintptr_t *value_out);
    /* Our address of its code; 0: there is none here. Called for each caller that is found. */
    uintptr_t (*code)(struct pc_memory *memory, uintptr_t pc, bool exact);
};

/* A frame, with the registers as they are when control is at its pc. */
struct pc_walk {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;     /* rbp, x29 */
    uintptr_t fp_loc; /* address of the word from which fp was loaded; 0: from the register */
    uintptr_t lr;     /* aarch64, innermost frame of an interrupt only; else 0 */
    bool exact; /* pc is the instruction itself (interrupt, signal frame), not a return address */
    /* Memory of the other process whose thread is walked: then `stack` is empty, and pc is our
     * address. NULL: it is this process. */
    struct pc_memory *memory;
    const void *context; /* ucontext_t of the interrupt with which the walk began; else NULL */
    struct pc_stack stack;
    uintptr_t probed_lo, probed_hi; /* foreign pages known to be readable; start as 0, 0 */
};

enum pc_step_result {
    PC_STEP_OK = 0,
    PC_STEP_END, /* the outermost frame: its return address is undefined by its unwind table */
    PC_STEP_CUT, /* no rule, or a word is outside of the stack: the callers are unknown */
};

enum pc_word_kind {
    PC_WORD_CODE = 0, /* compare the word itself */
    PC_WORD_STACK = 1 /* a stack address: compare its distance from the start of the walk */
};

struct pc_word {
    uintptr_t addr;
    uintptr_t value;
    enum pc_word_kind kind;
};

#define PC_STEP_MAX_WORDS 4

/* Result of one step. `words` are in the order in which they were read; each address follows
 * from the pc and the words before it alone. The return address is always the last. */
struct pc_step {
    struct pc_word words[PC_STEP_MAX_WORDS];
    int n_words;
    struct pc_module *module; /* of the frame that was left; NULL if none holds its pc */
    bool registers;           /* a register other than sp and fp was used: do not cache this walk */
};

/* Replaces *walk by its caller. After END and CUT *walk is unchanged and step->module is valid. */
enum pc_step_result pc_walk_step(struct pc_walk *walk, struct pc_step *step);

/* The frame of the interrupted code, from a handler's ucontext. stack is kept. */
void pc_walk_from_context(struct pc_walk *walk, const void *ucontext, struct pc_stack stack);

/* True if the page that begins at `page` can be read: asks the kernel. */
bool pc_walk_can_read(uintptr_t page);

/* The first address of the function that encloses pc by its unwind table, or 0. */
uintptr_t pc_walk_function_start(uintptr_t pc);

#endif
