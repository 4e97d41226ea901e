/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of remembered requests, one for each thread that makes or completes requests.
 *
 * A table is a few segments of growing size; a segment is buckets of eight words and a value for
 * each word. A word is 16 bits of a sequence number above 48 bits of the request, 0 is free. A
 * request hashes to one bucket in each segment, and is looked for in those alone.
 *
 *  1. Only the owner puts a request in: values first, then the word with release.
 *  2. Anyone takes it out: the word goes back to 0 by compare-and-swap. The sequence number makes
 *     a reused place another word, so a late swap cannot hit the wrong one.
 *  3. With more than one thread a request is looked up before the call that completes it: its
 * handle may be given out again, to another thread, before the call has returned here. The youngest
 * of several entries is the living one: the others are about to be taken out by their finders.
 *  4. Values are read between two reads of the word, as they may be overwritten meanwhile.
 *
 * No lock; memory comes from the core, is bounded, and is kept for the next owner of the thread.
 */
#ifndef PC_ADAPTER_TABLE_H
#define PC_ADAPTER_TABLE_H

#include "libcollect/mpi/adapter_requests.h"

#include <stdatomic.h>

enum {
    PC_REQUEST_ACTIVE = 1,     /* a receive is under way */
    PC_REQUEST_PERSISTENT = 2, /* stays after completion */
    PC_REQUEST_SEND = 4        /* a persistent send */
};

#define PC_KEY_BITS 48
#define PC_KEY_MASK ((UINT64_C(1) << PC_KEY_BITS) - 1)
#define PC_BUCKET 8u
#define PC_MAX_SEGMENTS 4u
#define PC_FIRST_BUCKETS                                                                           \
    64u /* each next segment has eight times as many: 300,000 requests in all */

struct pc_request_value {
    _Atomic uint64_t context; /* origin.node, .epoch, .comm */
    _Atomic uintptr_t thread;
    _Atomic uint64_t flags;
    _Atomic uint64_t bytes; /* of a persistent send */
    _Atomic uint64_t born;  /* ticks */
};

struct pc_request_segment {
    uint32_t n_buckets;
    struct pc_request_value *values;
    _Atomic uint64_t *words;
};

struct pc_request_table {
    struct pc_request_table *next; /* of another thread */
    /* How many are in: put by the owner, taken by the owner, taken by others. */
    _Atomic uint64_t n_put, n_taken;
    _Atomic uint64_t n_taken_by_others;
    uint64_t sequence;
    _Atomic uint32_t n_segments;
    struct pc_request_segment segments[PC_MAX_SEGMENTS];
    /* Scratch of the watches in progress, used like a stack. */
    char *scratch;
    size_t scratch_bytes, scratch_used;
};

/* The table of the thread of a call; made at first use. NULL: no memory. */
struct pc_request_table *pc_table_of(struct pc_call *call);

/* True if other threads have tables. */
bool pc_table_is_shared(void);

/* True if any table holds anything. */
bool pc_table_any(const struct pc_request_table *mine);

/* Remembers a request. What was known by the same key is forgotten. False: full. */
bool pc_table_put(struct pc_request_table *t, uint64_t key, const struct pc_origin *origin,
                  uint64_t flags, uint64_t bytes, uint64_t now);

/* Forgets what the owner's table knows by a key, which has been given out anew. */
void pc_table_void(struct pc_request_table *t, uint64_t key);

/* Looks in this table, then in the others. found->word is NULL if there is nothing. */
void pc_table_find(struct pc_request_table *mine, uint64_t key, struct pc_remembered *found);

/* Takes out what was found, if it is still there. */
void pc_table_take(struct pc_request_table *mine, const struct pc_remembered *found);

/* A new start of a persistent request: its context and flags. */
void pc_table_restart(const struct pc_remembered *found, const struct pc_origin *origin,
                      uint64_t flags);

/* Scratch memory, until scratch_used is set back to what it was. NULL: no memory. */
void *pc_scratch_take(struct pc_request_table *t, size_t bytes);
void pc_scratch_give(struct pc_request_table *t, size_t used);

#endif
