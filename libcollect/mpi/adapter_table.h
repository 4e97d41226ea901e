/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is remembered of requests under way (doc/internals/requests.md), found by handle in constant
 * time: a radix tree over the handle's bits leads to a word, the word to a record of one cache
 * line.
 *
 *   key      48 bits of the handle; less the low bits in which two living requests cannot differ
 *            (PC_REQUEST_SHIFT) it is three digits of 14 bits: root, middle, leaf
 *   word     8 bits of a tag above 24 bits of the record's number; 0: nothing is known
 *   record   struct pc_request, from pools that never move and are never given back
 *
 * One tree for the process, for a request may be made by one thread and completed by another.
 *
 *  1. A record is filled first and linked last, by a release store of its word.
 *  2. Who takes a word out of its place (an exchange, or a compare-and-swap that succeeds) gives
 * its record back, nobody else. The tag makes a record that is used again another word, so a late
 *     swap does not hit the wrong one.
 *  3. With more than one thread a request is looked up, and its record copied, before the call that
 *     completes it: its handle may be given out again, to another thread, before the call has
 *     returned here.
 *  4. A record belongs to the thread that holds it free; full batches go over a stack of all
 * threads, so that a thread that only makes requests lives on what those that complete them give
 * back.
 *
 * No lock; memory comes from the core, is bounded (2^24 requests), and is kept.
 */
#ifndef PC_ADAPTER_TABLE_H
#define PC_ADAPTER_TABLE_H

#include "libcollect/mpi/adapter_requests.h"

#define PC_REQUEST_DIGIT 14
#define PC_REQUEST_FANOUT ((size_t)1 << PC_REQUEST_DIGIT)
#define PC_REQUEST_TAG_SHIFT 24
#define PC_REQUEST_NUMBER ((UINT32_C(1) << PC_REQUEST_TAG_SHIFT) - 1)
#define PC_REQUEST_BATCH 256u /* records that change hands at once */

/* The requests of one thread: its free records and its scratch. */
struct pc_request_table {
    int64_t n_live;        /* linked less unlinked by this thread */
    uint32_t free, n_free; /* list of records */
    uint32_t fresh, fresh_end;
    /* Scratch of the watches in progress, used like a stack. */
    char *scratch;
    size_t scratch_bytes, scratch_used;
};

/* Set when a second thread has a table; never reset. */
extern _Atomic bool pc_requests_shared;

static inline bool pc_table_is_shared(void)
{
    return atomic_load_explicit(&pc_requests_shared, memory_order_relaxed);
}

/* What a thread keeps for the adapter. */
struct pc_thread_slot {
    struct pc_request_table *table;
};

static inline struct pc_thread_slot *pc_table_slot(const struct pc_call *call)
{
    return (struct pc_thread_slot *)((char *)call->thread + pc_core->thread_slot);
}

struct pc_request_table *pc_table_make(struct pc_call *call);

/* The table of the thread of a call; made at first use. NULL: no memory. */
static inline struct pc_request_table *pc_table_of(struct pc_call *call)
{
    struct pc_request_table *t = pc_table_slot(call)->table;
    if (PC_UNLIKELY(!t))
        t = pc_table_make(call);
    else if (PC_LIKELY(call->depth == 0))
        t->scratch_used = 0; /* an outer call may have been left by longjmp */
    return t;
}

/* False if nothing is remembered; with several threads always true. */
static inline bool pc_table_any(const struct pc_request_table *mine)
{
    return mine->n_live || pc_table_is_shared();
}

/* A free record for the caller to fill, key and flags aside; NULL: full. */
struct pc_request *pc_table_new(struct pc_request_table *t);

/* Links a record of pc_table_new under a key. What was known by the key is forgotten. False: no
 * memory; the record is given back. */
bool pc_table_link(struct pc_request_table *t, struct pc_request *r, uint64_t key, uint32_t flags);

/* Forgets what is known by a key, which has been given out anew. */
void pc_table_void(struct pc_request_table *t, uint64_t key);

/* Looks up. found->place is NULL if there is nothing. */
void pc_table_find(uint64_t key, struct pc_remembered *found);

/* Takes out what was found, if it is still there. */
void pc_table_take(struct pc_request_table *t, const struct pc_remembered *found);

/* The record itself of what was found, for a new start of a persistent request. */
struct pc_request *pc_table_record(const struct pc_remembered *found);

/* All records that are linked, at the end of the run. */
void pc_table_each(void (*fn)(const struct pc_request *r, void *arg), void *arg);

/* Scratch memory, until scratch_used is set back to what it was. NULL: no memory. */
void *pc_scratch_take(struct pc_request_table *t, size_t bytes);
void pc_scratch_give(struct pc_request_table *t, size_t used);

#endif
