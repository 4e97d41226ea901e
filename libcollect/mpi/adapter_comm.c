/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of communicators (adapter_comm.h): an index by handle over entries that never move, and
 * for each entry a map from rank to world rank. It calls no other part of the adapter.
 *
 * Publication: an entry is filled before its number is in the index; a word of a map is both key
 * and value. If two threads race and both make an entry, one of the two is used and the other is
 * wasted.
 */
#include "libcollect/mpi/adapter_comm.h"

enum {
    INDEX_BITS = 16,
    INDEX_SIZE = 1 << INDEX_BITS,
    MAX_ENTRIES = INDEX_SIZE / 4 * 3,
    FIRST_MAP = 32,
    N_ASIDE = 4096
};

static _Atomic uint32_t index_of[INDEX_SIZE]; /* entry numbers, 0: free */
_Atomic(struct pc_comm *) pc_comm_chunks[INDEX_SIZE / PC_COMM_CHUNK];
static _Atomic uint32_t n_entries = 1; /* 0 is PC_COMM_NONE */
static MPI_Group world_group;
_Atomic bool pc_comm_started;
uint64_t pc_comm_predefined_id[PC_COMM_SELF + 1];
struct pc_seen_comm pc_comm_seen[PC_SEEN_COMMS];

/* Words with rank + 1 in the high half and world rank in the low half; 0: free. */
struct pc_rank_map {
    uint32_t mask;
    _Atomic uint32_t n;
    _Atomic uint64_t words[];
};

static uint64_t key_of(MPI_Comm comm)
{
    return (uint64_t)(uintptr_t)comm;
}

static uint32_t place_of(uint64_t key)
{
    return (uint32_t)(pc_hash_u64(key) >> (64 - INDEX_BITS));
}

/* ---- Entries -------------------------------------------------------------------------------- */

static bool make_chunk(uint32_t number)
{
    _Atomic(struct pc_comm *) *place = &pc_comm_chunks[number / PC_COMM_CHUNK];
    struct pc_comm *none = NULL;
    if (atomic_load_explicit(place, memory_order_acquire))
        return true;
    struct pc_comm *chunk = pc_core->memory(PC_COMM_CHUNK * sizeof *chunk);
    if (chunk) /* the loser of a race never touches its pages */
        atomic_compare_exchange_strong(place, &none, chunk);
    return chunk != NULL;
}

static uint32_t new_entry(void)
{
    uint32_t number = atomic_load(&n_entries);
    do {
        if (number >= MAX_ENTRIES || !make_chunk(number))
            return PC_COMM_NONE;
    } while (!atomic_compare_exchange_weak(&n_entries, &number, number + 1));
    return number;
}

bool pc_comm_are_full(void)
{
    return atomic_load_explicit(&n_entries, memory_order_relaxed) >= MAX_ENTRIES;
}

/* The entry with this handle, or the place where it would be. */
static uint32_t probe(uint64_t key, uint32_t *place_out)
{
    uint32_t place = place_of(key), number;
    while ((number = atomic_load_explicit(&index_of[place], memory_order_acquire))) {
        if (pc_comm_at(number)->key == key)
            break;
        place = (place + 1) % INDEX_SIZE;
    }
    *place_out = place;
    return number;
}

uint32_t pc_comm_find_other(MPI_Comm comm)
{
    uint32_t place;
    uint32_t number = probe(key_of(comm), &place);
    if (number &&
        atomic_load_explicit(&pc_comm_at(number)->flags, memory_order_relaxed) & PC_COMM_FREED)
        return PC_COMM_NONE;
    return number;
}

static void clear_map(struct pc_rank_map *map)
{
    if (!map || atomic_load(&map->n) == 0)
        return;
    for (uint32_t i = 0; i <= map->mask; i++)
        atomic_store_explicit(&map->words[i], 0, memory_order_relaxed);
    atomic_store(&map->n, 0);
}

static void free_group(struct pc_comm *c)
{
    uint64_t word = atomic_exchange(&c->group, 0);
    MPI_Group group = (MPI_Group)(uintptr_t)word;
    if (word)
        PC_REAL(Group_free)(&group);
}

/* Puts an entry aside; the oldest entry put aside, or a new one, takes its place. */
static uint32_t replace_entry(uint32_t number)
{
    static _Atomic uint32_t aside[N_ASIDE], n_aside;
    uint32_t place = atomic_fetch_add(&n_aside, 1) % N_ASIDE;
    uint32_t oldest = atomic_exchange(&aside[place], number);
    return oldest ? oldest : new_entry();
}

/* The size is stored last, with release: once it is set, the other members are valid. */
void pc_comm_show(uint32_t number, int rank, int size)
{
    if (number >= PC_SEEN_COMMS)
        return;
    struct pc_seen_comm *seen = &pc_comm_seen[number];
    __atomic_store_n(&seen->size, 0, __ATOMIC_RELEASE);
    seen->id = pc_comm_at(number)->id;
    seen->rank = (uint32_t)rank & INT32_MAX;
    seen->as_world = (atomic_load(&pc_comm_at(number)->flags) & PC_COMM_AS_WORLD) != 0;
    __atomic_store_n(&seen->size, size, __ATOMIC_RELEASE);
}

static void fill_entry(uint32_t number, uint64_t key, uint64_t id, uint32_t flags)
{
    struct pc_comm *c = pc_comm_at(number);
    free_group(c);
    clear_map(atomic_load(&c->map));
    c->key = key;
    c->id = id;
    c->depth = 0;
    atomic_store(&c->n_made, 0);
    atomic_store(&c->flags, flags);
}

uint32_t pc_comm_enter(MPI_Comm comm, uint64_t id, uint32_t flags)
{
    uint32_t place, known = probe(key_of(comm), &place), number = known, none = 0;
    if (!known)
        number = new_entry();
    else if (pc_comm_at(known)->flags & PC_COMM_POSTED)
        number = replace_entry(known);
    if (!number)
        return PC_COMM_NONE;
    fill_entry(number, key_of(comm), id, flags);
    if (known) {
        atomic_store_explicit(&index_of[place], number, memory_order_release);
        return number;
    }
    while (!atomic_compare_exchange_strong(&index_of[place], &none, number)) {
        place = (place + 1) % INDEX_SIZE;
        none = 0;
    }
    return number;
}

void pc_comm_drop(uint32_t number)
{
    atomic_fetch_or(&pc_comm_at(number)->flags, PC_COMM_FREED);
}

void pc_comm_restore(uint32_t number)
{
    atomic_fetch_and(&pc_comm_at(number)->flags, ~(uint32_t)PC_COMM_FREED);
}

void pc_comm_hide(uint32_t number)
{
    if (atomic_load(&pc_comm_at(number)->flags) & PC_COMM_FREED)
        pc_comm_show(number, 0, 0);
}

/* ---- World ranks ---------------------------------------------------------------------------- */

bool pc_comm_is_inter(MPI_Comm comm)
{
    int flag = 0;
    return PC_REAL(Comm_test_inter)(comm, &flag) == MPI_SUCCESS && flag;
}

int32_t pc_comm_group_rank(MPI_Group group, int rank)
{
    int world = MPI_UNDEFINED;
    if (!pc_comm_has_started())
        return PCOLLECT_RANK_NONE;
    if (PC_REAL(Group_translate_ranks)(group, 1, &rank, world_group, &world) != MPI_SUCCESS)
        return PCOLLECT_RANK_NONE;
    return world == MPI_UNDEFINED ? PCOLLECT_RANK_OUTSIDE : world;
}

uint64_t pc_comm_hash_group(MPI_Group group)
{
    int ranks[256], worlds[256], size = 0;
    uint64_t hash = 0;
    if (!pc_comm_has_started())
        return 0;
    PC_REAL(Group_size)(group, &size);
    for (int done = 0; done < size;) {
        int n = size - done < 256 ? size - done : 256;
        for (int i = 0; i < n; i++)
            ranks[i] = done + i;
        if (PC_REAL(Group_translate_ranks)(group, n, ranks, world_group, worlds) != MPI_SUCCESS)
            return 0;
        for (int i = 0; i < n; i++)
            hash = pc_comm_mix(hash, worlds[i] == MPI_UNDEFINED ? UINT32_MAX : (uint32_t)worlds[i]);
        done += n;
    }
    return hash;
}

static uint64_t hash_side(MPI_Comm comm, bool remote)
{
    MPI_Group group;
    int rc = remote ? PC_REAL(Comm_remote_group)(comm, &group) : PC_REAL(Comm_group)(comm, &group);
    if (rc != MPI_SUCCESS)
        return 0;
    uint64_t hash = pc_comm_hash_group(group);
    PC_REAL(Group_free)(&group);
    return hash;
}

uint64_t pc_comm_hash_members(MPI_Comm comm)
{
    uint64_t hash = hash_side(comm, false);
    return pc_comm_is_inter(comm) ? hash + hash_side(comm, true) : hash;
}

void pc_comm_take_group(uint32_t number, MPI_Comm comm)
{
    struct pc_comm *c = pc_comm_at(number);
    MPI_Group group;
    uint64_t none = 0;
    if (atomic_load_explicit(&c->group, memory_order_acquire) || c->flags & PC_COMM_AS_WORLD)
        return;
    int rc = c->flags & PC_COMM_IS_INTER ? PC_REAL(Comm_remote_group)(comm, &group)
                                         : PC_REAL(Comm_group)(comm, &group);
    if (rc == MPI_SUCCESS &&
        !atomic_compare_exchange_strong(&c->group, &none, (uint64_t)(uintptr_t)group))
        PC_REAL(Group_free)(&group);
}

static inline uint32_t place_in_map(uint32_t rank)
{
    return (uint32_t)(rank * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static uint64_t find_word(struct pc_rank_map *map, uint32_t rank)
{
    uint64_t word;
    uint32_t i = place_in_map(rank);
    while ((word = atomic_load_explicit(&map->words[i & map->mask], memory_order_relaxed)))
        if (word >> 32 == rank + 1)
            break;
        else
            i++;
    return word;
}

static uint32_t room_of(const struct pc_rank_map *map)
{
    return (map->mask + 1) / 4 * 3;
}

/* Enters a word unless the map has no room. It is counted first: however many threads do this, some
 * words stay free, at which a search ends. */
static void put_word(struct pc_rank_map *map, uint64_t word)
{
    uint32_t i = place_in_map((uint32_t)(word >> 32) - 1);
    bool entered = false;
    if (atomic_fetch_add(&map->n, 1) < room_of(map)) {
        uint64_t there;
        do {
            there = 0;
            entered = atomic_compare_exchange_strong(&map->words[i++ & map->mask], &there, word);
        } while (!entered && there != word);
    }
    if (!entered)
        atomic_fetch_sub(&map->n, 1);
}

/* A map with room for one more. An entry that another thread adds to the old map meanwhile is lost,
 * and looked up again later. */
static struct pc_rank_map *reserve(struct pc_comm *c)
{
    struct pc_rank_map *old = atomic_load_explicit(&c->map, memory_order_acquire), *map;
    if (old && atomic_load(&old->n) < room_of(old))
        return old;
    uint32_t size = old ? 2 * (old->mask + 1) : FIRST_MAP;
    map = pc_core->memory(sizeof *map + size * sizeof map->words[0]);
    if (!map)
        return NULL;
    map->mask = size - 1;
    for (uint32_t i = 0; old && i <= old->mask; i++)
        if (old->words[i])
            put_word(map, old->words[i]);
    return atomic_compare_exchange_strong(&c->map, &old, map) ? map : NULL;
}

int32_t pc_comm_world_rank_other(uint32_t number, MPI_Comm comm, int rank)
{
    if (number == PC_COMM_NONE || rank < 0)
        return PCOLLECT_RANK_NONE;
    struct pc_comm *c = pc_comm_at(number);
    if (c->flags & PC_COMM_AS_WORLD)
        return rank;
    struct pc_rank_map *map = atomic_load_explicit(&c->map, memory_order_acquire);
    uint64_t word = map ? find_word(map, (uint32_t)rank) : 0;
    if (PC_LIKELY(word))
        return (int32_t)(uint32_t)word;
    if (comm != MPI_COMM_NULL)
        pc_comm_take_group(number, comm);
    uint64_t group = atomic_load_explicit(&c->group, memory_order_acquire);
    if (!group)
        return PCOLLECT_RANK_NONE;
    int size = 0;
    PC_REAL(Group_size)((MPI_Group)(uintptr_t)group, &size);
    if (rank >= size) /* the MPI could report an error */
        return PCOLLECT_RANK_NONE;
    int32_t world = pc_comm_group_rank((MPI_Group)(uintptr_t)group, rank);
    map = reserve(c);
    if (map)
        put_word(map, (uint64_t)((uint32_t)rank + 1) << 32 | (uint32_t)world);
    return world;
}

/* ---- Start ---------------------------------------------------------------------------------- */

bool pc_comm_start(void)
{
    PC_REAL(Comm_group)(MPI_COMM_WORLD, &world_group);
    uint32_t world = new_entry(), self = new_entry(), place;
    if (world != PC_COMM_WORLD || self != PC_COMM_SELF)
        return false;
    *pc_comm_at(world) = (struct pc_comm){.key = key_of(MPI_COMM_WORLD),
                                          .id = pc_comm_id_of("MPI_COMM_WORLD"),
                                          .flags = PC_COMM_AS_WORLD};
    *pc_comm_at(self) =
        (struct pc_comm){.key = key_of(MPI_COMM_SELF), .id = pc_comm_id_of("MPI_COMM_SELF")};
    pc_comm_predefined_id[PC_COMM_WORLD] = pc_comm_at(world)->id;
    pc_comm_predefined_id[PC_COMM_SELF] = pc_comm_at(self)->id;
    probe(key_of(MPI_COMM_SELF), &place);
    atomic_store(&index_of[place], self);
    probe(key_of(MPI_COMM_WORLD), &place);
    atomic_store(&index_of[place], world);
    atomic_store_explicit(&pc_comm_started, true, memory_order_release);
    return true;
}

void pc_comm_stop(void)
{
    atomic_store_explicit(&pc_comm_started, false, memory_order_release);
}
