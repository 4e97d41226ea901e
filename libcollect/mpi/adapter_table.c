/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of remembered requests (adapter_table.h says how they are shared without a lock).
 * Called by adapter_requests.c only.
 */
#include "libcollect/mpi/adapter_table.h"

static _Atomic(struct pc_request_table *) tables;

struct thread_slot {
    struct pc_request_table *table;
};

static struct pc_request_table *make_table(void)
{
    struct pc_request_table *t = pc_core->memory(sizeof *t);
    if (!t)
        return NULL;
    t->next = atomic_load(&tables);
    while (!atomic_compare_exchange_weak(&tables, &t->next, t))
        ;
    return t;
}

struct pc_request_table *pc_table_of(struct pc_call *call)
{
    struct thread_slot *slot = pc_core->thread_slot(call->thread);
    if (PC_UNLIKELY(!slot->table))
        slot->table = make_table();
    if (slot->table && call->depth == 0)
        slot->table->scratch_used = 0; /* an outer call may have been left by longjmp */
    return slot->table;
}

bool pc_table_is_shared(void)
{
    struct pc_request_table *first = atomic_load_explicit(&tables, memory_order_acquire);
    return first && first->next;
}

static bool has_any(const struct pc_request_table *t)
{
    return atomic_load_explicit(&t->n_put, memory_order_relaxed) !=
           atomic_load_explicit(&t->n_taken, memory_order_relaxed) +
               atomic_load_explicit(&t->n_taken_by_others, memory_order_relaxed);
}

bool pc_table_any(const struct pc_request_table *mine)
{
    if (has_any(mine))
        return true;
    for (struct pc_request_table *t = atomic_load_explicit(&tables, memory_order_acquire); t;
         t = t->next)
        if (t != mine && has_any(t))
            return true;
    return false;
}

/* ---- Places --------------------------------------------------------------------------------- */

static uint32_t count_segments(struct pc_request_table *t)
{
    return atomic_load_explicit(&t->n_segments, memory_order_acquire);
}

static uint32_t bucket_of(const struct pc_request_segment *s, uint64_t hash)
{
    return ((uint32_t)(hash >> 32) & (s->n_buckets - 1)) * PC_BUCKET;
}

static bool add_segment(struct pc_request_table *t)
{
    uint32_t n = count_segments(t);
    if (n == PC_MAX_SEGMENTS)
        return false;
    struct pc_request_segment *s = &t->segments[n];
    size_t places = (size_t)(PC_FIRST_BUCKETS << 3 * n) * PC_BUCKET;
    char *memory = pc_core->memory(places * (sizeof *s->words + sizeof *s->values));
    if (!memory)
        return false;
    s->n_buckets = PC_FIRST_BUCKETS << 3 * n;
    s->words = (void *)memory;
    s->values = (void *)(memory + places * sizeof *s->words);
    atomic_store_explicit(&t->n_segments, n + 1, memory_order_release);
    return true;
}

static void count_taken(struct pc_request_table *mine, struct pc_request_table *owner)
{
    if (mine == owner)
        atomic_store_explicit(&owner->n_taken,
                              atomic_load_explicit(&owner->n_taken, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&owner->n_taken_by_others, 1, memory_order_relaxed);
}

void pc_table_void(struct pc_request_table *t, uint64_t key)
{
    uint64_t hash = pc_hash_u64(key);
    uint32_t n = has_any(t) ? count_segments(t) : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct pc_request_segment *s = &t->segments[i];
        _Atomic uint64_t *words = s->words + bucket_of(s, hash);
        for (unsigned j = 0; j < PC_BUCKET; j++) {
            uint64_t word = atomic_load_explicit(&words[j], memory_order_relaxed);
            uint64_t flags =
                atomic_load_explicit(&s->values[&words[j] - s->words].flags, memory_order_relaxed);
            if ((word & PC_KEY_MASK) != key || !atomic_compare_exchange_strong(&words[j], &word, 0))
                continue;
            count_taken(t, t);
            /* With other threads it may just be in the hands of the one that completes it. */
            if (flags & PC_REQUEST_ACTIVE && !pc_table_is_shared())
                pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
        }
    }
}

static void fill_place(struct pc_request_table *t, struct pc_request_segment *s, uint32_t place,
                       uint64_t key, const struct pc_request_value *value)
{
    struct pc_request_value *v = &s->values[place];
    atomic_store_explicit(&v->context, value->context, memory_order_relaxed);
    atomic_store_explicit(&v->thread, value->thread, memory_order_relaxed);
    atomic_store_explicit(&v->flags, value->flags, memory_order_relaxed);
    atomic_store_explicit(&v->bytes, value->bytes, memory_order_relaxed);
    atomic_store_explicit(&v->born, value->born, memory_order_relaxed);
    atomic_store_explicit(&t->n_put, atomic_load_explicit(&t->n_put, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&s->words[place], ++t->sequence << PC_KEY_BITS | key,
                          memory_order_release);
}

/* The node, four bits of epoch (it is a phase of the core), the communicator. */
static uint64_t pack_context(const struct pc_origin *origin)
{
    return (uint64_t)origin->comm << 36 | (uint64_t)(origin->epoch & 15) << 32 | origin->node;
}

static struct pc_origin unpack_context(uint64_t context, struct pc_thread *thread)
{
    return (struct pc_origin){(pcollect_ref)context, context >> 32 & 15, (uint32_t)(context >> 36),
                              thread};
}

bool pc_table_put(struct pc_request_table *t, uint64_t key, const struct pc_origin *origin,
                  uint64_t flags, uint64_t bytes, uint64_t now)
{
    uint64_t hash = pc_hash_u64(key);
    struct pc_request_value value = {pack_context(origin), (uintptr_t)origin->thread, flags, bytes,
                                     now};
    pc_table_void(t, key);
    for (uint32_t i = 0; i < PC_MAX_SEGMENTS; i++) {
        if (i == count_segments(t) && !add_segment(t))
            return false;
        struct pc_request_segment *s = &t->segments[i];
        uint32_t first = bucket_of(s, hash);
        for (uint32_t place = first; place < first + PC_BUCKET; place++)
            if (atomic_load_explicit(&s->words[place], memory_order_acquire) == 0) {
                fill_place(t, s, place, key, &value);
                return true;
            }
    }
    return false;
}

/* ---- Finding and taking --------------------------------------------------------------------- */

/* Copies a place if it still holds the key and is younger than what was found before. */
static void read_place(struct pc_request_segment *s, uint32_t place, uint64_t word,
                       struct pc_remembered *found, uint64_t *born)
{
    struct pc_request_value *v = &s->values[place];
    uint64_t context = atomic_load_explicit(&v->context, memory_order_relaxed);
    uintptr_t thread = atomic_load_explicit(&v->thread, memory_order_relaxed);
    uint64_t flags = atomic_load_explicit(&v->flags, memory_order_relaxed);
    uint64_t bytes = atomic_load_explicit(&v->bytes, memory_order_relaxed);
    uint64_t its_birth = atomic_load_explicit(&v->born, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&s->words[place], memory_order_relaxed) != word ||
        (found->word && its_birth <= *born))
        return;
    *born = its_birth;
    *found = (struct pc_remembered){
        .origin = unpack_context(context, (struct pc_thread *)thread),
        .bytes = bytes,
        .word = &s->words[place],
        .value = word,
        .flags = flags,
        .flags_at = &v->flags,
    };
}

static void find_in(struct pc_request_table *t, uint64_t key, struct pc_remembered *found,
                    uint64_t *born)
{
    uint64_t hash = pc_hash_u64(key);
    uint32_t n = has_any(t) ? count_segments(t) : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct pc_request_segment *s = &t->segments[i];
        uint32_t first = bucket_of(s, hash);
        for (uint32_t place = first; place < first + PC_BUCKET; place++) {
            uint64_t word = atomic_load_explicit(&s->words[place], memory_order_acquire);
            if ((word & PC_KEY_MASK) == key)
                read_place(s, place, word, found, born);
        }
    }
}

void pc_table_find(struct pc_request_table *mine, uint64_t key, struct pc_remembered *found)
{
    uint64_t born = 0;
    found->word = NULL;
    if (key == 0)
        return;
    find_in(mine, key, found, &born);
    if (PC_LIKELY(!pc_table_is_shared()))
        return;
    for (struct pc_request_table *t = atomic_load_explicit(&tables, memory_order_acquire); t;
         t = t->next)
        if (t != mine)
            find_in(t, key, found, &born);
}

static struct pc_request_table *owner_of(const _Atomic uint64_t *word)
{
    for (struct pc_request_table *t = atomic_load_explicit(&tables, memory_order_acquire); t;
         t = t->next)
        for (uint32_t i = 0, n = count_segments(t); i < n; i++) {
            struct pc_request_segment *s = &t->segments[i];
            if (word >= s->words && word < s->words + s->n_buckets * PC_BUCKET)
                return t;
        }
    return NULL;
}

void pc_table_take(struct pc_request_table *mine, const struct pc_remembered *found)
{
    uint64_t value = found->value;
    struct pc_request_table *owner = owner_of(found->word);
    if (owner && atomic_compare_exchange_strong(found->word, &value, 0))
        count_taken(mine, owner);
}

void pc_table_restart(const struct pc_remembered *found, const struct pc_origin *origin,
                      uint64_t flags)
{
    struct pc_request_value *v =
        (struct pc_request_value *)((char *)found->flags_at -
                                    offsetof(struct pc_request_value, flags));
    atomic_store_explicit(&v->context, pack_context(origin), memory_order_relaxed);
    atomic_store_explicit(&v->thread, (uintptr_t)origin->thread, memory_order_relaxed);
    atomic_store_explicit(&v->flags, flags, memory_order_release);
}

/* ---- Scratch -------------------------------------------------------------------------------- */

void *pc_scratch_take(struct pc_request_table *t, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (t->scratch_bytes - t->scratch_used < bytes) {
        /* Twice the need, so that growing ends soon; a nested call leaves the old one to its user.
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
