/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Contexts of calls in a program of Python.
 *
 * Data structure: for each thread a hash table from (leaf of the path cache, digest of the Python
 * frames) to the context and its record. The path cache compares the words of the C stack, which
 * determine the frames of C. Python functions that call one another leave no such words; the digest
 * tells them apart. An entry is valid until the cache is emptied, because its key has the number of
 * times that this happened. The table is bounded and is emptied when it is full.
 */
#include "libcollect/context/python.h"

#include <string.h>

enum { FIRST_SLOTS = 256, MOST_SLOTS = 1 << 16 };

struct slot {
    uint64_t key; /* 0: free */
    struct pc_path_leaf leaf;
};

struct pc_python_paths {
    uint32_t n, n_slots;
    struct slot *slots;
};

static struct slot *find_slot(const struct pc_python_paths *p, uint64_t key)
{
    uint32_t i = (uint32_t)key & (p->n_slots - 1);
    while (p->slots[i].key && p->slots[i].key != key)
        i = (i + 1) & (p->n_slots - 1);
    return &p->slots[i];
}

/* Makes room for one more entry: doubles the slots, or empties the table. */
static bool make_room(struct pc_python_paths *p)
{
    if ((p->n + 1) * 2 <= p->n_slots)
        return true;
    if (p->n_slots >= MOST_SLOTS) {
        memset(p->slots, 0, p->n_slots * sizeof *p->slots);
        p->n = 0;
        return true;
    }
    struct pc_python_paths bigger = {.n = p->n,
                                     .n_slots = p->n_slots ? p->n_slots * 2 : FIRST_SLOTS};
    bigger.slots = pc_memory(bigger.n_slots * sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].key)
            *find_slot(&bigger, p->slots[i].key) = p->slots[i];
    if (p->slots)
        pc_memory_free(p->slots, p->n_slots * sizeof *p->slots);
    *p = bigger;
    return true;
}

static struct pc_python_paths *get_paths(struct pc_thread *t)
{
    if (!t->python_paths)
        t->python_paths = pc_memory(sizeof *t->python_paths);
    return t->python_paths;
}

struct pc_path_leaf pc_python_leaf(struct pc_thread *t, const struct pc_call *call, unsigned slot,
                                   uint32_t cached)
{
    struct pc_python_paths *p = get_paths(t);
    struct pc_python_stack *s = pc_python_read(t, false);
    uint64_t of_cache = (uint64_t)t->paths.clears << 32 | cached;
    uint64_t key = pc_hash_u64((s ? pc_interpreter_digest(s) : 0) + pc_hash_u64(of_cache)) | 1;
    if (!p || !make_room(p))
        return pc_paths_walk(t, call, slot);
    struct slot *at = find_slot(p, key);
    if (!at->key) {
        struct pc_path_leaf leaf = pc_paths_walk(t, call, slot);
        if (!leaf.node)
            return leaf;
        *at = (struct slot){key, leaf};
        p->n++;
    }
    return at->leaf;
}
