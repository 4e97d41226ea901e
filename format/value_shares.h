/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact values by rank in shares: the values of some consecutive ranks are written to the file by
 * one of these ranks. doc/internals/format.md has the layout.
 */
#ifndef PC_FORMAT_VALUE_SHARES_H
#define PC_FORMAT_VALUE_SHARES_H

#include "format/build.h"

/* A share that will be written. */
struct pc_share {
    int32_t first_rank;
    uint64_t bytes;
};

/* The shares of a profile, in the order of ranks. */
struct pc_shares {
    struct pc_share *list;
    uint32_t n;
    uint32_t *places; /* by record: its number in the shares, or PC_NO_INDEX: it keeps no values.
                         Numbers are those from 0 on, each once. */
};

/* Encodes the share of the ranks of p, whose values are in memory. places[i] is the number of
 * record i, as above. */
void pc_share_encode(const struct pc_profile *p, const uint32_t *places, struct pc_buffer *out);

/* Encodes the begin of the section, which will be at offset `at` of the file: the directory, n_data
 * records. Returns the offset of the end of the last share. */
uint64_t pc_shares_encode(const struct pc_shares *s, uint32_t n_data, uint64_t at,
                          struct pc_buffer *out);

/* Opens the section, n bytes at offset `at`, so that p reads values from there. Takes fd if it
 * succeeds. A share that is damaged, or was not written, is left out, with those values of others
 * that are of the same records, and the text says so. PC_EFORMAT, PC_EIO, PC_ENOMEM otherwise. */
int pc_shares_open(struct pc_profile *p, int fd, uint64_t at, uint64_t n, struct pc_error *error);

#endif
