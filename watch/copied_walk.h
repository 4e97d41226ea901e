/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks the copy of a stack of another process with the library's own walker: pointers to the
 * stack, in registers and on the stack, are changed to point into the copy, and each return address
 * is looked up in our copy of the code. Code that the process has made has no unwind table: its
 * frame pointer leads to the caller.
 */
#ifndef PCT_COPIED_WALK_H
#define PCT_COPIED_WALK_H

#include "watch/sample_rings.h"

struct pct_walked {
    uintptr_t pc; /* in our memory; 0: the code belongs to no file */
    uint64_t there;
    bool exact; /* the instruction itself, not a return address */
};

/* The frames, innermost first, at most n; *cut: the outer ones could not be found. */
size_t pct_copied_walk(const struct pct_ring_record *sample, const struct pct_code *code,
                       struct pct_walked *out, size_t n, bool *cut);

#endif
