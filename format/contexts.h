/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The contexts of a profile with their records, one after the other in their order. They are those
 * in memory, or those of a file (pc_pcol_read_contexts): of these a reader holds the contexts above
 * the one that it has read last, and what late parts add.
 *
 * For whatever needs sums or counts over all contexts, and none of them by its number.
 */
#ifndef PC_FORMAT_CONTEXTS_H
#define PC_FORMAT_CONTEXTS_H

#include "format/profile.h"

struct pc_context_source;

/* A place among the contexts, and the one that was read last. */
struct pc_contexts {
    const struct pc_profile *p;
    uint32_t i, level;                  /* its number, and the number of contexts above it */
    const struct pc_profile_node *node; /* n_descendants is 0 if it is of a file */
    const struct pc_profile_data *data; /* its record, or NULL */
    struct pc_context_source *source;   /* NULL: there was no memory */
};

/* True if contexts are left in the file, and a call is inside another one. */
bool pc_contexts_are_nested(const struct pc_profile *p);

/* Begins to read. Without memory there are no contexts, and pc_contexts_close says so. */
void pc_contexts_open(struct pc_contexts *c, const struct pc_profile *p);

/* Begins to read, for a caller that may be left before the end: pc_contexts_free frees it, closed
 * or not, and takes NULL. NULL: there is no memory. */
struct pc_contexts *pc_contexts_new(const struct pc_profile *p);
void pc_contexts_free(void *contexts);

/* Reads the next context. False: there are no more. What was read before is no longer valid. */
bool pc_contexts_next(struct pc_contexts *c);

/* The context at that level above the one that was read last, or that one. */
const struct pc_profile_node *pc_contexts_at(const struct pc_contexts *c, uint32_t level);

/* Ends, at any time. PC_OK or PC_ENOMEM; damage is in pc_profile_unread. */
int pc_contexts_close(struct pc_contexts *c);

#endif
