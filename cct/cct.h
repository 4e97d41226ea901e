/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arena and the calling-context trees in it (layout: include/pcollect/arena.h).
 *
 * An arena is one growing mapping: a file in the spool, or anonymous memory where there is none.
 * It is position-independent, append-only in structure and bounded. Each thread's tree has one
 * writer; readers need no lock. Nothing here calls malloc, and every function keeps errno.
 *
 * Space is taken from the system in steps before it is touched, so that a full file system is a
 * refused step and never a SIGBUS. A part of what has been taken is a reserve that new contexts may
 * not use: when the arena is full, calls still find a node per primitive at the root of their
 * thread's tree.
 */
#ifndef PC_CCT_H
#define PC_CCT_H

#include "base/base.h"
#include "include/pcollect/arena.h"

#include <stdatomic.h>
#include <sys/types.h>

/* ---- Arena ------------------------------------------------------------------------------- */

/* Smaller than this an arena is not opened. */
#define PC_ARENA_MIN_BYTES ((size_t)256 << 10)
/* Two threads never write into one block of this size. */
#define PC_ARENA_LINE 64u

/* Ways to make bytes of the mapping safe to touch. */
enum pc_arena_growth {
    PC_ARENA_POPULATE,  /* MADV_POPULATE_WRITE (Linux 5.14): needs no descriptor */
    PC_ARENA_FALLOCATE, /* fallocate: a descriptor is kept */
    PC_ARENA_FREE       /* nothing to do: anonymous memory, ramfs */
};

struct pc_arena {
    char *base; /* NULL: not open */
    struct pcollect_arena_header *header;
    size_t map_bytes;       /* of the mapping: header->total_bytes */
    _Atomic uint64_t next;  /* bytes handed out; a multiple of PC_ARENA_LINE */
    _Atomic uint64_t ready; /* bytes that may be touched */
    _Atomic uint64_t limit; /* bytes to which `ready` may grow; falls when a step is refused */
    _Atomic uint64_t free_trees[2]; /* retired trees: [late], see tree.c */
    _Atomic uint32_t n_trees;       /* ever made */
    bool is_file;                   /* survives its process */
    enum pc_arena_growth growth;
    bool forgotten;         /* forked child */
    int fd;                 /* -1: none is held */
    uint32_t granule_bytes; /* page size of the mapping */
    uint32_t n_sharing;     /* processes of the node that have an arena there: pc_arena_share */
    dev_t dev;              /* identity of the file: descriptors and paths */
    ino_t ino;              /* may have become someone else's */
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
 * link, someone else's, or writable by others). Falls back to anonymous memory if spool is NULL or
 * empty, is in no local file system, has no room, or is refused: then the result is PC_OK, the
 * header has PCOLLECT_NOTE_ANONYMOUS and the text of `error` says why; else the text is empty.
 * Fails with PC_ENOMEM only if not even PC_ARENA_MIN_BYTES can be mapped. Fills magic, version,
 * sizes, state, pid, host, rank = -1; the rest of the header is the caller's. init-only. */
int pc_arena_open(struct pc_arena *a, const char *spool, size_t bytes, struct pc_error *error);

/* Bounds an arena that was just opened by what is for each of so many processes of the node. False:
 * that is less than PC_ARENA_MIN_BYTES. init-only. */
bool pc_arena_share(struct pc_arena *a, unsigned n_processes);

/* Zero-filled space aligned to PC_ARENA_LINE that shares no line with any other, or 0 if the arena
 * is full. AS-safe, MT-safe, lock-free. May make system calls when the arena grows. */
pcollect_ref pc_arena_alloc(struct pc_arena *a, size_t bytes);

/* pc_arena_alloc, from the reserve too: for what calls need in a full arena. AS-safe, MT-safe. */
pcollect_ref pc_arena_alloc_reserve(struct pc_arena *a, size_t bytes);

/* Publish a primitive, a module, a plugin: copy, then link. The fixed part is copied from the given
 * structure (`next` is set here), the variable part from the second pointer, path_bytes or n_fields
 * long. An op is published once, also if threads race; whether a module or plugin is there already
 * is the caller's to know. 0 if the arena is full. AS-safe, MT-safe. */
pcollect_ref pc_arena_add_op(struct pc_arena *a, uint16_t op, uint16_t op_class, const char *name);
pcollect_ref pc_arena_add_module(struct pc_arena *a, const struct pcollect_module *module,
                                 const char *path);
pcollect_ref pc_arena_add_plugin(struct pc_arena *a, const struct pcollect_plugin_rec *plugin,
                                 const struct pcollect_field_rec *fields);

pcollect_ref pc_arena_add_table(struct pc_arena *a, const struct pcollect_table_rec *table,
                                const struct pcollect_column_rec *columns);

/* The one struct pcollect_string of the arena with that text of n bytes (cut to
 * PCOLLECT_STRING_BYTES), found or made; 0: no room, or n is 0. AS-safe, MT-safe. */
pcollect_ref pc_arena_string(struct pc_arena *a, const char *text, size_t n);

/* Removes the file, if it is still this arena's, and its folder, if that is empty; the mapping
 * stays. MT-safe. */
void pc_arena_unlink(struct pc_arena *a);

/* In a forked child: private zero-filled memory over the mapping, descriptor closed if it is still
 * ours. What code in progress still writes goes nowhere; allocation fails from now on. PC_ENOMEM:
 * the mapping could not be replaced and is still shared: nothing may write to it. AS-safe. */
int pc_arena_forget(struct pc_arena *a);

/* Unmaps; the file stays. All trees of the arena are void. init-only. */
void pc_arena_close(struct pc_arena *a);

/* ---- Tree -------------------------------------------------------------------------------- */

struct pc_tree_slot {
    uint32_t hash;
    pcollect_ref node; /* 0: empty */
};

/* The writer's side of one thread's tree. Private memory, a page of its own, never freed. One
 * thread at a time may call the functions below on it; a signal handler that interrupted one of
 * them must not (the caller guards). */
struct pc_tree {
    struct pc_arena *arena;
    pcollect_ref thread; /* struct pcollect_thread */
    pcollect_ref root;
    uint32_t number; /* dense, from 0, of the trees of this arena */
    bool late;
    void *user;      /* the caller's; kept over retirement and adoption */
    uint64_t lo, hi; /* free bytes of the thread's chunk: nodes from lo up, records from hi down */
    uint32_t chunk_bytes;       /* of the next chunk */
    uint32_t n_indexed;         /* nodes in slots: the children of those that have many */
    uint32_t n_slots;           /* a power of two */
    struct pc_tree_slot *slots; /* open addressing, at most 3/4 full */
    uint32_t n_rows, n_row_slots;
    struct pc_tree_slot *row_slots; /* the same for rows of tables; NULL before the first */
    _Atomic(struct pc_tree *) next_free;
};

/* A tree for a thread: adopts one whose thread has ended (same `late`), else makes a new one, with
 * thread record and root, from the reserve if need be. NULL: no memory; the thread's calls are
 * PCOLLECT_LOST_CALLS. `name` may be NULL. AS-safe, MT-safe, lock-free. */
struct pc_tree *pc_tree_open(struct pc_arena *a, int tid, const char *name, bool late);

/* The two halves of pc_tree_open. adopt: NULL if no ended thread has left a tree. */
struct pc_tree *pc_tree_new(struct pc_arena *a, int tid, const char *name, bool late);
struct pc_tree *pc_tree_adopt_any(struct pc_arena *a, int tid, const char *name, bool late);

/* The thread of this tree has ended: the next new thread may have it, as it is. AS-safe, MT-safe.
 */
void pc_tree_retire(struct pc_tree *t);

/* The child of `parent` for that return address, found or made; 0 if there is no room: the context
 * then ends at `parent`, and pc_tree_op is told so. AS-safe. */
pcollect_ref pc_tree_frame(struct pc_tree *t, pcollect_ref parent, pcollect_ref module,
                           uint64_t offset);

/* The node of a primitive called from `parent`, found or made, with a zero-filled record of
 * record_bytes aligned to PC_ARENA_LINE.
 * *collapsed, on entry: `parent` is not the context itself but its innermost ancestor that found
 * room. On return: the node stands for other contexts as well (it is flagged), and the calls booked
 * to it under this context are to be counted as PCOLLECT_LOST_COLLAPSED. A context that finds no
 * room goes to the nearest ancestor that has this primitive, else to a node at the root from the
 * reserve. 0: not even there; the calls are PCOLLECT_LOST_CALLS. AS-safe. */
pcollect_ref pc_tree_op(struct pc_tree *t, pcollect_ref parent, uint16_t op, uint32_t record_bytes,
                        bool *collapsed);

/* Phase or region `key` below `parent` (root, phase or region): contexts hang below it as below the
 * root. 0: no room, take the parent. AS-safe. */
pcollect_ref pc_tree_part(struct pc_tree *t, pcollect_ref parent, enum pcollect_node_kind kind,
                          uint64_t key);

/* The child of `parent` (root, phase or region) under which contexts with unknown outer frames
 * hang. 0: no room, take the parent. AS-safe. */
pcollect_ref pc_tree_cut(struct pc_tree *t, pcollect_ref parent);

/* The calls of OP node `op` on one communicator: the node and its record, found or made. The OP
 * itself then needs no record (pc_tree_op with record_bytes 0). Without room it is the OP, which
 * gets a record from the reserve; *collapsed as in pc_tree_op. 0: not even that. AS-safe. */
pcollect_ref pc_tree_domain(struct pc_tree *t, pcollect_ref op, uint64_t domain,
                            uint32_t record_bytes, bool *collapsed);

/* Node of the place where a thread was interrupted, below the frame that called it; record_bytes of
 * a POINT. *collapsed as in pc_tree_op: the node then is a POINT without place (module 0, offset 0)
 * below the root. 0: not even that. AS-safe. */
pcollect_ref pc_tree_point(struct pc_tree *t, pcollect_ref parent, pcollect_ref module,
                           uint64_t offset, uint32_t record_bytes, bool *collapsed);

/* The values of a row of this thread's part of a table, found or made with values 0; NULL: no room,
 * which the caller counts. `table` is what pc_arena_add_table returned. AS-safe. */
uint64_t *pc_tree_row(struct pc_tree *t, pcollect_ref table, unsigned n_keys, unsigned n_values,
                      const uint64_t *keys);

static inline struct pcollect_node *pc_tree_node(const struct pc_tree *t, pcollect_ref node)
{
    return pc_arena_at(t->arena, node);
}

/* The record of a node, NULL if it has none. */
static inline void *pc_tree_record(const struct pc_tree *t, pcollect_ref node)
{
    pcollect_ref record = pc_tree_node(t, node)->record;
    return record ? pc_arena_at(t->arena, record) : NULL;
}

static inline struct pcollect_thread *pc_tree_thread(const struct pc_tree *t)
{
    return pc_arena_at(t->arena, t->thread);
}

#endif
