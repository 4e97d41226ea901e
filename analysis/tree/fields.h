/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fields of plugins, summed over the records of a row: every field that a plugin measured by
 * context is a figure of every row that sums contexts.
 */
#ifndef PCT_FIELDS_H
#define PCT_FIELDS_H

#include "format/profile.h"

/* Records of the profile by their nodes: first, next[first], and so on to PC_NO_INDEX. */
struct pct_chain {
    uint32_t first;
    const uint32_t *next;
};

/* False for fields with columns of their own: calls, time, bytes, samples. */
bool pct_field_is_extra(const struct pc_profile_field *f);

/* True if it counts an event that was sampled beside the clock. */
bool pct_field_is_event(const struct pc_profile_field *f);

/* The field over all records, combined as its plugin defines; not for histograms. False: no record
 * has it. */
bool pct_field_value(const struct pc_profile *p, struct pct_chain c, uint32_t field, pc_u128 *out);

/* The bins of a histogram over all records. Returns the number of values. */
uint64_t pct_field_bins(const struct pc_profile *p, struct pct_chain c, uint32_t field,
                        uint64_t bins[PC_PROFILE_MAX_BINS]);

/* The bin that holds the value which `percent` of the n values do not exceed. */
unsigned pct_bins_percentile(const uint64_t bins[PC_PROFILE_MAX_BINS], uint64_t n,
                             unsigned percent);

/* The least value of a bin; that of bin 0 is 0. */
static inline uint64_t pct_bin_begin(unsigned bin)
{
    return bin ? (uint64_t)1 << bin : 0;
}

#endif
