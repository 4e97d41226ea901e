/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of a profile, to be reported in place of the whole.
 */
#ifndef PCT_FILTER_H
#define PCT_FILTER_H

#include "format/profile.h"

/* All that is set must hold of a context. */
struct pct_filter {
    bool has_phase;
    uint64_t phase;     /* number given to MPI_Pcontrol */
    const char *region; /* at any place among the regions that were open; NULL: any */
    uint64_t domain;    /* id of a communicator; 0: any */
};

/* NULL, or why the rows of this table cannot be told apart by what is asked for. */
const char *pct_filter_refuses(const struct pc_profile_table *t, const struct pct_filter *f);

struct pct_part;

/* The contexts of p that pass, with their records. p must outlive the part. */
struct pct_part *pct_part_new(const struct pc_profile *p, const struct pct_filter *f);
const struct pc_profile *pct_part_profile(const struct pct_part *part);
void pct_part_free(struct pct_part *part);

#endif
