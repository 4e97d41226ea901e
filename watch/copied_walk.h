/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk through the copy of a stack of another process, by the library's own walker: what in the
 * registers and on the stack points into the stack is made to point into the copy, and each return
 * address is looked up where the code is here.
 */
#ifndef PCT_COPIED_WALK_H
#define PCT_COPIED_WALK_H

#include "watch/sample_rings.h"

struct pct_walked {
    uintptr_t pc; /* here; 0: the code is of no file */
    uint64_t there;
    bool exact; /* the instruction itself, not a return address */
};

/* The frames, innermost first, at most n; *cut: the outer ones could not be found. */
size_t pct_copied_walk(const struct pct_ring_record *sample, const struct pct_code *code,
                       struct pct_walked *out, size_t n, bool *cut);

#endif
