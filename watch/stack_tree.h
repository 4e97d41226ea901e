/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks of watched threads as contexts: the selection of shown frames, the tree of many stacks,
 * and the tree as a profile of one rank.
 */
#ifndef PCT_STACK_TREE_H
#define PCT_STACK_TREE_H

#include "format/profile.h"

enum { PCT_STACK_FRAMES = 1024 };

/* ---- One stack (shown_frames.c) -------------------------------------------------------------- */

/* Code from which no unwind table leads to the caller. */
enum pct_tableless_kind {
    PCT_TABLELESS_PLACE, /* of a file that has a table, with no entry for that place */
    PCT_TABLELESS_FILE,  /* of a file without a table */
    PCT_TABLELESS_GO     /* of a program of Go, whose compiler makes no table */
};

struct pct_stack_module {
    char *path;
    uint32_t flags; /* enum pcollect_module_flag, as far as the path tells them */
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
    uint32_t n_build_id;
    uint64_t n_cut; /* stacks that were cut in code of it that has no unwind table */
    enum pct_tableless_kind tableless; /* if there are such stacks */
};

/* Each once, copies of a file with a build-id too; the addresses stay. */
struct pct_stack_modules {
    struct pct_stack_module **at;
    size_t n, room;
};

struct pct_stack_module *pct_stack_module(struct pct_stack_modules *m, const char *path,
                                          const uint8_t *build_id, uint32_t n_build_id);
/* True if it is the module with this build-id or, where there is none, this path. */
bool pct_stack_module_is(const struct pct_stack_module *m, const char *path,
                         const uint8_t *build_id, uint32_t n_build_id);
void pct_stack_modules_free(struct pct_stack_modules *m);

struct pct_stack_frame {
    const struct pct_stack_module *module; /* NULL: unknown */
    const char *function;                  /* by the symbol table; NULL: unknown */
    uint64_t offset;                       /* in the module; without one, the address */
    bool exact;                            /* the instruction itself, not a return address */
    const char *label; /* for a function without a name, as in reports; NULL: not known */
};

struct pct_stack {
    struct pct_stack_frame *frames; /* innermost first */
    size_t n;
    bool cut;               /* the outer frames could not be found */
    const char *mpi_folder; /* folder of the MPI library of the process; NULL: unknown */
    const char *op; /* the MPI function that the wrapper in the stack has called; NULL: unknown */
};

/* frames[from..to) are shown, the innermost first; op is the MPI function below them, or "". */
struct pct_shown_frames {
    size_t from, to;
    char op[64];
};

/* Selects frames from main, or the function of a thread, to an MPI function, or to the computing
 * function. Frames inside an MPI function are left out, and so are those by which libc starts a
 * program or a thread. */
struct pct_shown_frames pct_shown_frames(const struct pct_stack *s);

/* True if any frame is of the program, or of a library that came with it. */
bool pct_stack_is_program(const struct pct_stack *s);

/* True if frame i is of those inside the stack that are not shown, as in the library's contexts:
 * frames of libpcollect, and those of a threading runtime that a function of the program, or of a
 * library that it uses, is inside of. */
bool pct_stack_is_left_out(const struct pct_stack *s, size_t i);

/* ---- Many stacks (stack_tree.c) -------------------------------------------------------------- */

struct pct_stack_tree;

struct pct_stack_tree *pct_stack_tree_new(void);
/* Quantity that samples stand for: those of the clock for time, those of an event for events. */
struct pct_stack_sampled {
    uint64_t samples, ns;
    uint64_t events;
};
/* Adds a stack with its samples. */
void pct_stack_tree_add(struct pct_stack_tree *t, const struct pct_stack *s,
                        const struct pct_shown_frames *shown,
                        const struct pct_stack_sampled *sampled);
/* Adds the contexts of another tree below a region of that name. */
void pct_stack_tree_add_region(struct pct_stack_tree *t, const char *name,
                               const struct pct_stack_tree *from);
uint64_t pct_stack_tree_ns(const struct pct_stack_tree *t);
void pct_stack_tree_free(struct pct_stack_tree *t); /* NULL is allowed */

/* Data of the rank of the tree. */
struct pct_stack_rank {
    int32_t rank;
    int32_t world;
    int32_t pid;
    const char *host, *exe;
    const char *event; /* NULL: no event was sampled */
    /* Numbers of the event: those that were counted are shared out by those that samples stand for.
     * 0: the samples' own are kept. */
    uint64_t events_counted, events_sampled;
    uint64_t n_lost; /* samples or other records that the kernel left out */
    uint64_t start_realtime_ns, elapsed_ns;
    bool complete; /* the process was seen from its exec to its end */
};

/* Makes a profile with the fields clock.samples, clock.time and, for an event, event.NAME. NULL: no
 * memory. The caller frees it. */
struct pc_profile *pct_stack_tree_profile(const struct pct_stack_tree *t,
                                          const struct pct_stack_rank *r);

#endif
