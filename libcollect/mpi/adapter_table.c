/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store of remembered requests (adapter_table.h has its structure and rules). Called by
 * adapter_requests.c only.
 */
#include "libcollect/mpi/adapter_table.h"

typedef pc_request_word word;

_Atomic bool pc_requests_shared;
_Atomic bool pc_requests_plain;
_Alignas(64) struct pc_request pc_request_front[PC_REQUEST_FRONT];
static _Atomic(struct pc_request_root *) root;
struct pc_seen_requests pc_requests_seen = {.handle_bytes = sizeof(MPI_Request),
                                            .shift = PC_REQUEST_SHIFT,
                                            .least = PC_REQUEST_LEAST,
                                            .front = pc_request_front,
                                            .root = &root};
static _Atomic uint32_t n_chunks;
static _Atomic uint64_t
    batches; /* count of changes; below it the first record of the newest batch */
static _Atomic(struct pc_request_table *) first_table;
static _Atomic uint64_t shared_since;   /* time at which a second thread had a table; 0: none has */
static _Atomic uint32_t last_displaced; /* list over the words of records (rule 6); 0: empty */

/* Stores new memory at the place, unless another thread was first: then it is left unused. */
static void *install(_Atomic(void *) *place, size_t bytes)
{
    void *mine = pc_core->memory(bytes), *there = NULL;
    if (!mine)
        return NULL;
    if (atomic_compare_exchange_strong(place, &there, mine))
        return mine;
    return there;
}

static void share(void)
{
    uint64_t never = 0;
    atomic_compare_exchange_strong(&shared_since, &never, pc_ticks());
    atomic_store(&pc_requests_plain, false);
    atomic_store(&pc_requests_shared, true);
}

struct pc_request_table *pc_table_make(struct pc_call *call)
{
    if (!atomic_load(&root) && !install((_Atomic(void *) *)&root, sizeof(struct pc_request_root)))
        return NULL;
    struct pc_request_table *t = pc_core->memory(sizeof *t);
    if (!t)
        return NULL;
    struct pc_request_table *none = NULL;
    if (!atomic_compare_exchange_strong(&first_table, &none, t))
        share();
    pc_table_slot(call)->table = t;
    return t;
}

/* ---- Records -------------------------------------------------------------------------------- */

static struct pc_request *record_at(uint32_t number)
{
    struct pc_request_root *r = atomic_load_explicit(&root, memory_order_relaxed);
    struct pc_request *chunk =
        atomic_load_explicit(&r->chunks[number / PC_REQUEST_CHUNK], memory_order_acquire);
    return chunk + number % PC_REQUEST_CHUNK;
}

/* Number 0 is not used, so that a word is never 0. */
static bool take_chunk(struct pc_request_table *t)
{
    struct pc_request_root *r = atomic_load_explicit(&root, memory_order_relaxed);
    uint32_t chunk = atomic_load(&n_chunks);
    do
        if (chunk == PC_REQUEST_CHUNKS)
            return false;
    while (!atomic_compare_exchange_weak(&n_chunks, &chunk, chunk + 1));
    struct pc_request *records = pc_core->memory(PC_REQUEST_CHUNK * sizeof *records);
    if (!records)
        return false;
    for (uint32_t i = 0; i < PC_REQUEST_CHUNK; i++)
        records[i].word = chunk * PC_REQUEST_CHUNK + i;
    atomic_store_explicit(&r->chunks[chunk], records, memory_order_release);
    t->fresh = chunk * PC_REQUEST_CHUNK + (chunk == 0);
    t->fresh_end = (chunk + 1) * PC_REQUEST_CHUNK;
    return true;
}

/* Free records are a list: the low half of a free record's key is the next one's number. A batch is
 * such a list; the high half of its first record's key is the first of the next batch. */
static uint64_t links_of(uint32_t number)
{
    return atomic_load_explicit(&record_at(number)->key, memory_order_relaxed);
}

static bool take_batch(struct pc_request_table *t)
{
    uint64_t head = atomic_load_explicit(&batches, memory_order_acquire), next;
    do {
        if (!(uint32_t)head)
            return false;
        next = ((head >> 32) + 1) << 32 | links_of((uint32_t)head) >> 32;
    } while (!atomic_compare_exchange_weak_explicit(&batches, &head, next, memory_order_acquire,
                                                    memory_order_acquire));
    t->free = (uint32_t)head;
    t->n_free = PC_REQUEST_BATCH;
    return true;
}

static void give_batch(struct pc_request_table *t)
{
    struct pc_request *first = record_at(t->free);
    uint64_t head = atomic_load_explicit(&batches, memory_order_relaxed), next;
    uint64_t list = (uint32_t)links_of(t->free);
    do {
        atomic_store_explicit(&first->key, head << 32 | list, memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | t->free;
    } while (!atomic_compare_exchange_weak_explicit(&batches, &head, next, memory_order_release,
                                                    memory_order_relaxed));
    t->free = t->n_free = 0;
}

static struct pc_request *new_of_tree(struct pc_request_table *t)
{
    if (PC_LIKELY(t->free) || take_batch(t)) {
        struct pc_request *r = record_at(t->free);
        t->free = (uint32_t)atomic_load_explicit(&r->key, memory_order_relaxed);
        t->n_free--;
        return r;
    }
    if (t->fresh == t->fresh_end && !take_chunk(t))
        return NULL;
    return record_at(t->fresh++);
}

static void give_back(struct pc_request_table *t, struct pc_request *r)
{
    if (PC_UNLIKELY(t->n_free == PC_REQUEST_BATCH))
        give_batch(t);
    atomic_store_explicit(&r->flags, 0, memory_order_relaxed);
    atomic_store_explicit(&r->key, t->free, memory_order_relaxed);
    t->free = r->word & PC_REQUEST_NUMBER;
    t->n_free++;
}

/* ---- Displaced records (rule 6) ------------------------------------------------------------- */

/* In the list records of the front have numbers from here on. */
#define FRONT_NUMBERS (PC_REQUEST_NUMBER + 1)

/* True if the first thread may be in a call that completes the request, not looked up before. */
static bool may_be_awaited(const struct pc_start *start)
{
    return start->begin < atomic_load(&shared_since) &&
           pc_thread_slot_of(start->origin.thread)->table == atomic_load(&first_table);
}

static bool is_displaced(const struct pc_request *r)
{
    return atomic_load_explicit(&r->flags, memory_order_acquire) & PC_REQUEST_DISPLACED;
}

static void displace(struct pc_request *r, uint32_t number)
{
    uint32_t last = atomic_load(&last_displaced);
    do
        r->word = last;
    while (!atomic_compare_exchange_weak(&last_displaced, &last, number));
    atomic_fetch_or(&r->flags, PC_REQUEST_DISPLACED);
}

void pc_table_find_displaced(uint64_t key, struct pc_remembered *found)
{
    struct pc_request *r;
    found->record = NULL;
    if (!key) /* the handle is null, and a record that was taken has none */
        return;
    for (uint32_t number = atomic_load(&last_displaced); number; number = r->word) {
        r = number < FRONT_NUMBERS ? record_at(number) : &pc_request_front[number - FRONT_NUMBERS];
        found->word = atomic_load(&r->key);
        if ((found->word & PC_REQUEST_HANDLE) != key)
            continue;
        found->start = r->start;
        found->flags = atomic_load(&r->flags);
        found->place = NULL;
        found->record = r;
        return;
    }
}

/* ---- Places --------------------------------------------------------------------------------- */

static inline uint32_t digit(uint64_t key, unsigned k)
{
    return pc_request_digit(key, PC_REQUEST_SHIFT, k);
}

/* The place of a key; NULL: no key near this one was ever used. */
static inline word *find_place(uint64_t key)
{
    struct pc_request_root *r = atomic_load_explicit(&root, memory_order_acquire);
    struct pc_request_middle *m =
        atomic_load_explicit(&r->middles[digit(key, 2)], memory_order_acquire);
    word *leaf = m ? atomic_load_explicit(&m->leaves[digit(key, 1)], memory_order_acquire) : NULL;
    return leaf ? leaf + digit(key, 0) : NULL;
}

static __attribute__((noinline)) word *make_place(uint64_t key)
{
    struct pc_request_root *r = atomic_load(&root);
    struct pc_request_middle *m = atomic_load(&r->middles[digit(key, 2)]);
    if (!m)
        m = install((_Atomic(void *) *)&r->middles[digit(key, 2)], sizeof *m);
    if (!m)
        return NULL;
    word *leaf = atomic_load(&m->leaves[digit(key, 1)]);
    if (!leaf)
        leaf =
            install((_Atomic(void *) *)&m->leaves[digit(key, 1)], PC_REQUEST_FANOUT * sizeof *leaf);
    return leaf ? leaf + digit(key, 0) : NULL;
}

/* Exchanges the word; without a locked instruction if only one thread makes requests. */
static inline uint32_t exchange(word *place, uint32_t value)
{
    if (pc_table_is_shared())
        return atomic_exchange_explicit(place, value, memory_order_acq_rel);
    uint32_t old = atomic_load_explicit(place, memory_order_relaxed);
    atomic_store_explicit(place, value, memory_order_release);
    return old;
}

void pc_request_unseen(uint32_t flags, struct pc_start start)
{
    if (start.begin < atomic_load(&pc_core->reset_ticks))
        return;
    if (flags & PC_REQUEST_RECEIVE)
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
    if (pc_core->wants & PCOLLECT_WANT_REQUEST) {
        start = pc_request_unreceived(flags, start);
        pc_core->ended(NULL, &start, PCOLLECT_ENDED_FREED, 0);
    }
}

/* Notes that a record was taken out whose completion was not seen. */
static void note_unseen(const struct pc_request *r)
{
    uint32_t flags = atomic_load_explicit(&r->flags, memory_order_relaxed);
    if (flags & PC_REQUEST_ACTIVE)
        pc_request_unseen(flags, r->start);
}

/* If there are other threads, one of them may just be completing the request. */
static __attribute__((noinline)) void forget(struct pc_request_table *t, uint32_t old)
{
    uint32_t number = old & PC_REQUEST_NUMBER;
    struct pc_request *r = record_at(number);
    t->n_live--;
    t->n_tree--;
    if (may_be_awaited(&r->start)) {
        displace(r, number);
        return;
    }
    if (!pc_table_is_shared() || pc_request_is_unsure(&r->start))
        note_unseen(r);
    give_back(t, r);
}

static void void_in_tree(struct pc_request_table *t, uint64_t key)
{
    word *place = find_place(key);
    if (!place || !atomic_load_explicit(place, memory_order_relaxed))
        return;
    uint32_t old = exchange(place, 0);
    if (old)
        forget(t, old);
}

static __attribute__((noinline)) void void_in_front(struct pc_request_table *t,
                                                    struct pc_request *r)
{
    if (pc_table_is_shared()) {
        displace(r, FRONT_NUMBERS + (uint32_t)(r - pc_request_front));
        return;
    }
    note_unseen(r);
    pc_front_free(t, r, atomic_load_explicit(&r->key, memory_order_relaxed));
}

void pc_table_void(struct pc_request_table *t, uint64_t key)
{
    struct pc_request *r = pc_front_at(key);
    if (PC_UNLIKELY(key && pc_front_handle(r) == key && !is_displaced(r)))
        void_in_front(t, r);
    else if (t->n_tree || pc_table_is_shared())
        void_in_tree(t, key);
}

struct pc_request *pc_table_new(struct pc_request_table *t, uint64_t key)
{
    struct pc_request *r = pc_front_at(key);
    pc_table_void(t, key);
    return pc_front_handle(r) || pc_table_is_shared() ? new_of_tree(t) : r;
}

static bool is_of_front(const struct pc_request *r)
{
    return r >= pc_request_front && r < pc_request_front + PC_REQUEST_FRONT;
}

bool pc_table_link(struct pc_request_table *t, struct pc_request *r, uint64_t key, uint32_t flags)
{
    if (is_of_front(r)) {
        pc_front_link(t, r, key, flags);
        return true;
    }
    word *place = find_place(key);
    if (PC_UNLIKELY(!place)) {
        place = make_place(key);
        if (!place) {
            give_back(t, r);
            return false;
        }
    }
    atomic_store_explicit(&r->key, key, memory_order_relaxed);
    atomic_store_explicit(&r->flags, flags, memory_order_relaxed);
    r->word += UINT32_C(1) << PC_REQUEST_TAG_SHIFT;
    uint32_t old = exchange(place, r->word);
    t->n_live++;
    t->n_tree++;
    if (PC_UNLIKELY(old)) /* possible with other threads, after it was voided */
        forget(t, old);
    return true;
}

static struct pc_request *find_in_tree(uint64_t key, struct pc_remembered *found)
{
    word *place = find_place(key);
    uint32_t value = place ? atomic_load_explicit(place, memory_order_acquire) : 0;
    if (!value)
        return NULL;
    struct pc_request *r = record_at(value & PC_REQUEST_NUMBER);
    found->word = value;
    found->place = place;
    return atomic_load_explicit(&r->key, memory_order_relaxed) == key ? r : NULL;
}

void pc_table_find(uint64_t key, struct pc_remembered *found)
{
    struct pc_request *r = pc_front_at(key);
    found->record = NULL;
    found->how_plus_1 = 0;
    if (!key)
        return;
    found->place = NULL;
    found->word = atomic_load_explicit(&r->key, memory_order_acquire);
    if ((found->word & PC_REQUEST_HANDLE) != key || is_displaced(r))
        r = find_in_tree(key, found);
    if (!r)
        return;
    found->start = r->start;
    found->flags = atomic_load_explicit(&r->flags, memory_order_relaxed);
    found->record = r;
}

/* Frees a record that its key alone links: of the front, or displaced. */
static bool take_in_place(struct pc_request_table *t, struct pc_request *r, uint64_t its_key)
{
    if (!pc_table_is_shared())
        pc_front_free(t, r, its_key);
    else if (atomic_compare_exchange_strong(&r->key, &its_key, its_key & ~PC_REQUEST_HANDLE))
        t->n_live--;
    else
        return false;
    return true;
}

bool pc_table_take(struct pc_request_table *t, const struct pc_remembered *found)
{
    uint32_t value = (uint32_t)found->word;
    if (!found->place)
        return take_in_place(t, found->record, found->word);
    if (!atomic_compare_exchange_strong(found->place, &value, 0)) {
        if (may_be_awaited(&found->start)) /* it was displaced, after it had been looked up */
            atomic_store(&found->record->key, 0);
        return may_be_awaited(&found->start);
    }
    t->n_live--;
    t->n_tree--;
    give_back(t, found->record);
    return true;
}

void pc_table_each(void (*fn)(const struct pc_request *r, void *arg), void *arg)
{
    struct pc_request_root *all = atomic_load(&root);
    uint32_t n = all ? atomic_load(&n_chunks) : 0;
    for (uint32_t chunk = 0; chunk < n; chunk++) {
        const struct pc_request *r = atomic_load(&all->chunks[chunk]);
        for (uint32_t i = 0; r && i < PC_REQUEST_CHUNK; i++)
            if (atomic_load_explicit(&r[i].flags, memory_order_relaxed) && r[i].key)
                fn(&r[i], arg);
    }
    for (uint32_t i = 0; i < PC_REQUEST_FRONT; i++)
        if (pc_front_handle(&pc_request_front[i]))
            fn(&pc_request_front[i], arg);
}

/* ---- Scratch -------------------------------------------------------------------------------- */

void *pc_scratch_take(struct pc_request_table *t, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (t->scratch_bytes - t->scratch_used < bytes) {
        /* Twice the size needed, so that it seldom grows again; the outer call keeps the old
         * memory.
         */
        size_t room = 2 * (bytes > 32768 ? bytes : 32768);
        char *fresh = pc_core->memory(room);
        if (!fresh)
            return NULL;
        t->scratch = fresh;
        t->scratch_bytes = room;
        t->scratch_used = 0;
    }
    void *p = t->scratch + t->scratch_used;
    t->scratch_used += bytes;
    return p;
}

void pc_scratch_give(struct pc_request_table *t, size_t used)
{
    t->scratch_used = used < t->scratch_bytes ? used : t->scratch_bytes;
}
