/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Remembered requests that are under way (doc/internals/requests.md), found by handle in constant
 * time; libcollect/requests.h has their layout. While one thread alone makes requests, it puts them
 * into the front if their records are free. All others are in the tree. There is one tree for the
 * process, because a request may be made by one thread and completed by another.
 *
 *  1. A record is filled first and linked last, by a release store of its word.
 *  2. Only the thread that takes a word out of its place (by an exchange, or by a compare-and-swap
 *     that succeeds) frees its record. The tag makes a record that is used again another word, so a
 *     late swap does not hit the wrong one.
 *  3. With more than one thread a request is looked up, and its record copied, before the call that
 *     completes it: MPI may give its handle to another thread before the call has returned here.
 *  4. A free record belongs to the thread that has it in its list. Full batches go over a stack of
 *     all threads, so that a thread that only makes requests uses records that others have freed.
 *  5. A record of the front is linked by the first thread alone, and only while it is the only
 *     thread: by a release store of its key, which holds a tag above the handle, for the reason of
 *     rule 2. Other threads only take it, by a compare-and-swap. A handle is known in one of the
 *     two places at most.
 *  6. The first thread may be in a call for which it has looked up nothing, because it was the only
 *     one, when the second thread is given a handle that this call has completed. The old record is
 *     then displaced: it keeps its contents, is not used again, and only the first thread takes it,
 *     when the call has returned.
 *
 * No lock; memory comes from the core, is bounded (2^24 requests), and is kept.
 */
#ifndef PC_ADAPTER_TABLE_H
#define PC_ADAPTER_TABLE_H

#include "libcollect/mpi/adapter_requests.h"

#define PC_REQUEST_BATCH 256u /* records that move between threads at once */

/* The requests of one thread: its free records and its scratch. */
struct pc_request_table {
    int64_t n_live;        /* number linked minus number unlinked by this thread */
    int64_t n_tree;        /* those in the tree */
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

/* True if only one thread makes requests and no plugin wants to know of all of them: then most are
 * in the front, and are looked up after calls. */
extern PC_HIDDEN _Atomic bool pc_requests_plain;

static inline bool pc_table_is_plain(void)
{
    return PC_LIKELY(atomic_load_explicit(&pc_requests_plain, memory_order_relaxed));
}

extern PC_HIDDEN struct pc_request pc_request_front[PC_REQUEST_FRONT];
extern PC_HIDDEN struct pc_seen_requests pc_requests_seen;

/* The only record of the front that a handle can have. */
static inline struct pc_request *pc_front_at(uint64_t handle)
{
    return &pc_request_front[pc_request_place(handle, PC_REQUEST_SHIFT)];
}

/* Handle that owns the record; 0: it is free. */
static inline uint64_t pc_front_handle(const struct pc_request *r)
{
    return atomic_load_explicit(&r->key, memory_order_acquire) & PC_REQUEST_HANDLE;
}

/* Links a free record of the front that has been filled. Only while one thread makes requests. */
static inline void pc_front_link(struct pc_request_table *t, struct pc_request *r, uint64_t handle,
                                 uint32_t flags)
{
    uint64_t tag = atomic_load_explicit(&r->key, memory_order_relaxed) + PC_REQUEST_HANDLE + 1;
    atomic_store_explicit(&r->flags, flags, memory_order_relaxed);
    atomic_store_explicit(&r->key, tag | handle, memory_order_release);
    t->n_live++;
}

/* Frees a record of the front. Only while one thread makes requests. */
static inline void pc_front_free(struct pc_request_table *t, struct pc_request *r, uint64_t word)
{
    atomic_store_explicit(&r->key, word & ~PC_REQUEST_HANDLE, memory_order_relaxed);
    t->n_live--;
}

/* Data that a thread keeps for the adapter. */
struct pc_thread_slot {
    struct pc_request_table *table;
};

static inline struct pc_thread_slot *pc_thread_slot_of(struct pc_thread *thread)
{
    return (struct pc_thread_slot *)((char *)thread + pc_core->thread_slot);
}

static inline struct pc_thread_slot *pc_table_slot(const struct pc_call *call)
{
    return pc_thread_slot_of(call->thread);
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

/* A free record for a key; the caller fills it, except for key and flags. NULL: full. Forgets what
 * was known by the key. */
struct pc_request *pc_table_new(struct pc_request_table *t, uint64_t key);

/* Links a record of pc_table_new under its key. False: no memory; the record is given back. */
bool pc_table_link(struct pc_request_table *t, struct pc_request *r, uint64_t key, uint32_t flags);

/* Forgets what is known by a key, because its handle has been reused. */
void pc_table_void(struct pc_request_table *t, uint64_t key);

/* Looks up a key. found->record is NULL if there is nothing. */
void pc_table_find(uint64_t key, struct pc_remembered *found);

/* Looks up a key among the displaced records (rule 6), as pc_table_find. */
void pc_table_find_displaced(uint64_t key, struct pc_remembered *found);

/* Removes the record that was found; false: it is not there any more. */
bool pc_table_take(struct pc_request_table *t, const struct pc_remembered *found);

/* The start of an operation that has received nothing so far, with its bytes. */
static inline struct pc_start pc_request_unreceived(uint32_t flags, struct pc_start start)
{
    if (flags & PC_REQUEST_RECEIVE)
        start.bytes_sent = 0;
    if (flags & (PC_REQUEST_RECEIVE | PC_REQUEST_MESSAGE))
        start.bytes_received = 0;
    return start;
}

/* True for an operation that was started before MPI_Pcontrol switched collection off, or let all be
 * forgotten: its end may have passed unseen since, and its handle may be that of another. */
static inline bool pc_request_is_unsure(const struct pc_start *start)
{
    return PC_UNLIKELY(start->begin <
                       atomic_load_explicit(&pc_core->off_ticks, memory_order_relaxed));
}

/* Notes that the end of an operation with these flags was not seen, unless its start is forgotten.
 */
void pc_request_unseen(uint32_t flags, struct pc_start start);

/* Calls fn for all linked records, at the end of the run. */
void pc_table_each(void (*fn)(const struct pc_request *r, void *arg), void *arg);

/* Scratch memory, valid until scratch_used is reset to its former value. NULL: no memory. */
void *pc_scratch_take(struct pc_request_table *t, size_t bytes);
void pc_scratch_give(struct pc_request_table *t, size_t used);

#endif
