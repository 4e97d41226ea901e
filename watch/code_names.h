/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions, symbols, and rules of .debug_frame of files that are in our memory, by libdw, and of
 * their separate debug files on this machine. Without libdw nothing is known.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_CODE_NAMES_H
#define PCT_CODE_NAMES_H

#include "libcollect/walk/loadmap.h"

/* A whole file, mapped by its owner; libdw would keep a descriptor of it. */
struct pct_code_image {
    void *at;
    size_t bytes;
};

struct pct_code_names;

/* NULL: they cannot be known. All functions here take that. */
struct pct_code_names *pct_code_names_new(void);
void pct_code_names_free(struct pct_code_names *names);

/* Adds the file of a module. The image must outlive the names. */
void pct_code_names_add(struct pct_code_names *names, const struct pc_module *module,
                        struct pct_code_image *image);

/* The function that contains an address of a module; NULL: unknown. */
const char *pct_code_names_function(struct pct_code_names *names, uintptr_t pc);

/* The address of a symbol in the module that holds pc; 0: there is none. */
uintptr_t pct_code_names_symbol(struct pct_code_names *names, uintptr_t pc, const char *symbol);

/* True for code of the sections .init and .fini, which the loader runs. */
bool pct_code_names_is_init(struct pct_code_names *names, uintptr_t pc);

/* The step from a frame to its caller. The canonical frame address is a register plus cfa_off. */
struct pct_code_rule {
    bool outermost;                  /* there is no caller, and nothing else is set */
    bool by_fp;                      /* the register is the frame pointer, else the stack pointer */
    bool ra_saved;                   /* else the return address is in its register */
    bool fp_saved;                   /* else the frame pointer is that of the caller */
    int64_t cfa_off, ra_off, fp_off; /* the last two from the canonical frame address */
};

/* The rule that .debug_frame of a file has for an address. False: none, or one of another form. */
bool pct_code_names_rule(struct pct_code_names *names, uintptr_t pc, struct pct_code_rule *out);

/* Place of the return address of a function and of its caller's frame pointer, at one of its
 * addresses. */
enum pct_frame_place {
    PCT_FRAME_UNKNOWN,
    PCT_FRAME_TOP,    /* the return address is on top of the stack, the pointer is the caller's */
    PCT_FRAME_PUSHED, /* the caller's pointer is on top, the return address above it */
    PCT_FRAME_SET,    /* both are where the frame pointer points to */
    PCT_FRAME_BY_CALL /* on top or set, or elsewhere: that is the one which a call of `begin` left
                       */
};

/* Finds the place by the instructions of a function, of which a symbol tells the beginning. Inside
 * of it, at pc, is the call of another function, or if `exact` the instruction that comes next. */
enum pct_frame_place pct_code_names_place(struct pct_code_names *names, uintptr_t pc, bool exact,
                                          uintptr_t *begin);

/* False: what is in front of the address is no call. True if it is one, or if that is not known. */
bool pct_code_names_is_return(struct pct_code_names *names, uintptr_t pc);

/* True if in front of the address is a call of the function at `begin` by its address. */
bool pct_code_names_returns_from(struct pct_code_names *names, uintptr_t pc, uintptr_t begin);

/* True for the test behind the system call clone or clone3, and the jumps behind that: there the
 * unwind table of libc has a gap, because the caller is not on the stack of the new thread
 * (glibc 2.36). */
bool pct_code_names_is_behind_clone(struct pct_code_names *names, uintptr_t pc);

#endif
