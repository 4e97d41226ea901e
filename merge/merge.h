/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From arenas to one profile: in the job over a transport, after it from files.
 */
#ifndef PC_MERGE_H
#define PC_MERGE_H

#include "base/base.h"
#include "cct/cct.h"
#include "format/profile.h"
#include "merge/transport.h"

/* Which trees of an arena are taken. */
enum pc_merge_part {
    PC_MERGE_MAIN, /* collected before the merge */
    PC_MERGE_LATE  /* collected after it (struct pcollect_thread.late) */
};

/* The profile of one rank from its arena: threads unified, ticks converted, libc's start-up frames
 * and MPI's frames have been left out by the collector already. `base` is a mapping of `n` readable
 * bytes that may come from a file: every reference is checked; what is damaged is left out and the
 * text says so (result PC_OK with a text), a header that is not one is PC_EFORMAT. */
int pc_merge_arena(const void *base, size_t n, enum pc_merge_part part, struct pc_profile **out,
                   struct pc_error *error);

/* The sum of two profiles of different ranks; a rank in both is PC_EMISMATCH. */
int pc_merge_pair(const struct pc_profile *a, const struct pc_profile *b, struct pc_profile **out,
                  struct pc_error *error);

/* Adds b to a where they may share ranks (late slots): values of the same rank are added, fields
 * of struct pc_profile_rank that b knows (non-zero) replace those of a. */
int pc_merge_into_ranks(const struct pc_profile *a, const struct pc_profile *b,
                        struct pc_profile **out, struct pc_error *error);

/* Collective: reduces the profiles of all ranks over a binomial tree. On rank 0 *out is the result;
 * elsewhere NULL. Takes ownership of mine. */
int pc_merge_reduce(const struct pc_transport *t, struct pc_profile *mine, struct pc_profile **out,
                    struct pc_error *error);

/* Merges the arena files given (of one job) and reports on each through `say` (may be NULL). */
int pc_merge_files(char *const *paths, size_t n, struct pc_profile **out,
                   void (*say)(void *arg, const char *line), void *arg, struct pc_error *error);

#endif
