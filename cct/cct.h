/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arena and the calling-context trees in it (layout: include/pcollect/format.h).
 *
 * An arena is one growing mapping: a file in the spool, or anonymous memory where there is none.
 * It is position-independent, append-only in structure and bounded. Each thread's tree has one
 * writer; readers need no lock. Nothing here calls malloc.
 */
#ifndef PC_CCT_H
#define PC_CCT_H

#include "base/base.h"
#include "include/pcollect/format.h"

struct pc_arena {
    char *base; /* NULL: not open */
    struct pcollect_arena_header *header;
    int fd; /* -1: anonymous */
    char path[PCOLLECT_PATH_BYTES];
};

static inline void *pc_arena_at(const struct pc_arena *a, pcollect_ref ref)
{
    return a->base + (size_t)ref * PCOLLECT_REF_UNIT;
}

static inline pcollect_ref pc_arena_ref(const struct pc_arena *a, const void *p)
{
    return (pcollect_ref)((size_t)((const char *)p - a->base) / PCOLLECT_REF_UNIT);
}

/* Opens an arena of at most `bytes` in folder `spool`/pcollect-UID (made 0700; refused if it is a
 * link or someone else's). Falls back to anonymous memory, noted in the header; fails only if no
 * memory can be mapped at all. init-only. */
int pc_arena_open(struct pc_arena *a, const char *spool, size_t bytes, struct pc_error *error);

/* Zero-filled space, aligned to 16, or 0 if the arena is full. AS-safe, MT-safe, lock-free.
 * May make a system call when a new chunk is taken. */
pcollect_ref pc_arena_alloc(struct pc_arena *a, size_t bytes);

/* Removes the file; the mapping stays. */
void pc_arena_unlink(struct pc_arena *a);

/* In a forked child: private memory over the mapping, descriptor closed. AS-safe. */
void pc_arena_forget(struct pc_arena *a);

#endif
