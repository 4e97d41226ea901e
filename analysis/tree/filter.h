/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of a profile, to be reported in place of the whole.
 */
#ifndef PCT_FILTER_H
#define PCT_FILTER_H

#include "format/profile.h"

/* Conditions that a context must fulfil; unset ones are ignored. */
struct pct_filter {
    bool has_phase;
    uint64_t phase;     /* number given to MPI_Pcontrol; 0: in none */
    const char *region; /* among the open regions, at any level; NULL: any */
    uint64_t domain;    /* id of a communicator; 0: any */
};

/* NULL, or the reason why rows of this table cannot be selected by this filter. t NULL: they are of
 * whole ranks. */
const char *pct_filter_refuses(const struct pc_profile_table *t, const struct pct_filter *f);

struct pct_part;

/* The contexts of p that pass the filter, with their records. p must outlive the part. */
struct pct_part *pct_part_new(const struct pc_profile *p, const struct pct_filter *f);
const struct pc_profile *pct_part_profile(const struct pct_part *part);
void pct_part_free(struct pct_part *part);

#endif
