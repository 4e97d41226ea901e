/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stack as it was found, and what of it is shown.
 */
#ifndef PCT_STACK_PROFILE_H
#define PCT_STACK_PROFILE_H

#include "watch/watch.h"

enum { PCT_STACK_FRAMES = 1024 };

struct pct_stack_frame {
    const char *path;     /* of the program or library; NULL: unknown */
    const char *function; /* by the symbol table; NULL: unknown */
    uint64_t offset;      /* of the code in it; without `path`, the address */
    bool exact;           /* the instruction itself, not a return address */
    uint32_t n_build_id;
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
};

struct pct_stack {
    struct pct_stack_frame *frames; /* innermost first */
    size_t n;
    bool cut; /* the outer frames could not be found */
    bool main;
    char state;
};

/* Adds a stack to those of w, or counts it as one of a thread that is not the program's. */
int pct_stack_add(struct pct_watch *w, uint32_t process, int tid, const struct pct_stack *s,
                  struct pc_error *error);

/* Why a process cannot be read, and what to do. */
int pct_stack_refused(int pid, int why, struct pc_error *error);

#endif
