/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of cct/ and by tests/cct.
 */
#ifndef PC_CCT_PRIVATE_H
#define PC_CCT_PRIVATE_H

#include "cct/cct.h"

/* An arena grows by this many bytes, or by the requested size if that is more: about 50 us of page
 * clearing, paid inside a call. */
#define PC_ARENA_STEP_BYTES ((uint64_t)256 << 10)
/* A thread's chunks double from the first size to the last: a thousand threads with one call each
 * take 4 MiB, and a busy thread touches the shared counter once per 64 KiB. */
#define PC_TREE_CHUNK_FIRST 4096u
#define PC_TREE_CHUNK_LAST 65536u

/* The least multiple of `unit` that is not below n. */
static inline uint64_t pc_round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Bytes that stay ready beyond `end` for pc_arena_alloc_reserve. */
static inline uint64_t pc_arena_reserve_bytes(uint64_t end)
{
    return ((uint64_t)32 << 10) + end / 16;
}

/* All arenas of a node together take this fraction (1/8) of the free space of their file system. */
#define PC_ARENA_PART 8u

/* Makes [from, to) safe to touch, by the arena's method. */
bool pc_arena_take(struct pc_arena *a, uint64_t from, uint64_t to);

/* True if the descriptor a->fd is still our file. The program may have closed it and opened another
 * file with its number. */
bool pc_arena_fd_is_ours(const struct pc_arena *a);

/* Functions shared by tree_async.c and rows_async.c: slots of an index, and bytes of the tree's own
 * chunk. */

/* Puts a slot into a table with room. */
void pc_tree_put_slot(struct pc_tree_slot *slots, uint32_t n_slots, struct pc_tree_slot slot);

/* A table of n_new slots with the contents of the old one; NULL: no memory. Keeps errno. */
struct pc_tree_slot *pc_tree_grow_slots(const struct pc_tree_slot *old, uint32_t n_old,
                                        uint32_t n_new);

/* Unmaps a table of pc_tree_grow_slots. Keeps errno. */
void pc_tree_free_slots(struct pc_tree_slot *slots, uint32_t n_slots);

/* `bytes`, a multiple of 32, from the low end of the tree's chunk; 0: no room. */
pcollect_ref pc_tree_take(struct pc_tree *t, uint64_t bytes);

/* Puts a filled thread record at the head of the header's list. */
void pc_arena_link_thread(struct pc_arena *a, pcollect_ref ref);

#endif
