/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arena and the calling-context trees in it (layout: include/pcollect/arena.h).
 *
 * An arena is one growing mapping: a file in the spool, or anonymous memory if there is no spool.
 * It is position-independent, append-only in structure and bounded. Each thread's tree has one
 * writer; readers need no lock. Nothing here calls malloc, and every function keeps errno.
 *
 * Space is allocated in steps before it is touched, so that a full file system leads to a refused
 * step and never to SIGBUS. Part of the allocated space is a reserve that new contexts may not use:
 * when the arena is full, calls still get a node per primitive at the root of their thread's tree.
 */
#ifndef PC_CCT_H
#define PC_CCT_H

#include "base/base.h"
#include "include/pcollect/arena.h"

#include <stdatomic.h>
#include <sys/types.h>

/* ---- Arena ------------------------------------------------------------------------------- */

/* Smallest size of an arena. */
#define PC_ARENA_MIN_BYTES ((size_t)256 << 10)
/* Bytes of a block into which only one thread writes. */
#define PC_ARENA_LINE 64u

/* Methods to make bytes of the mapping safe to touch. */
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
    _Atomic uint64_t free_trees[2]; /* retired trees: [late], see tree_async.c */
    _Atomic uint32_t n_trees;       /* trees made so far */
    bool is_file;                   /* it is a file, which survives its process */
    enum pc_arena_growth growth;
    bool forgotten;         /* this is a forked child */
    int fd;                 /* -1: none is held */
    uint32_t granule_bytes; /* page size of the mapping */
    uint32_t n_sharing;     /* processes of the node that have an arena there: pc_arena_share */
    dev_t dev;              /* identity of the file: descriptors and paths */
    ino_t ino;              /* may belong to another file by now */
    char path[PCOLLECT_PATH_BYTES];
};

static inline void *pc_arena_at(const struct pc_arena *a, pcollect_ref ref)
{
    return a->base + (size_t)ref * PCOLLECT_REF_UNIT;
}

/* Opens an arena of at most `bytes` in folder `spool`/pcollect-UID (made 0700; refused if it is a
 * link, someone else's, or writable by others). Falls back to anonymous memory if spool is NULL or
 * empty, is in no local file system, has no room, or is refused: then the result is PC_OK, the
 * header has PCOLLECT_NOTE_ANONYMOUS and the text of `error` says why; else the text is empty.
 * Fails with PC_ENOMEM only if not even PC_ARENA_MIN_BYTES can be mapped. Fills magic, version,
 * sizes, state, pid, host, rank = -1; the rest of the header is the caller's. init-only. */
int pc_arena_open(struct pc_arena *a, const char *spool, size_t bytes, struct pc_error *error);

/* Limits an arena that was just opened to its share among n_processes on the node. False: the share
 * is less than PC_ARENA_MIN_BYTES. init-only. */
bool pc_arena_share(struct pc_arena *a, unsigned n_processes);

/* Zero-filled space aligned to PC_ARENA_LINE that shares no line with any other, or 0 if the arena
 * is full. AS-safe, MT-safe, lock-free. May make system calls when the arena grows. */
pcollect_ref pc_arena_alloc(struct pc_arena *a, size_t bytes);

/* Does the same as pc_arena_alloc, but may use the reserve: for data that calls need in a full
 * arena. AS-safe, MT-safe. */
pcollect_ref pc_arena_alloc_reserve(struct pc_arena *a, size_t bytes);

/* Publishes a primitive, a module or a plugin: copies it, then links it. The fixed part is copied
 * from the given structure (`next` is set here), the variable part from the second pointer,
 * path_bytes or n_fields long. An op is published once, also if threads race; the caller must know
 * whether a module or plugin has been published already. 0 if the arena is full. AS-safe,
 * MT-safe. */
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

/* Called in a forked child: replaces the mapping by private zero-filled memory, and closes the
 * descriptor if it is still ours. Writes of code in progress are lost; allocation fails from now
 * on. PC_ENOMEM: the mapping could not be replaced and is still shared: nothing may write to it.
 * AS-safe. */
int pc_arena_forget(struct pc_arena *a);

/* Unmaps; the file stays. All trees of the arena are void. init-only. */
void pc_arena_close(struct pc_arena *a);

/* ---- Tree -------------------------------------------------------------------------------- */

struct pc_tree_slot {
    uint32_t hash;
    pcollect_ref node; /* 0: empty */
};

/* The writer's side of one thread's tree. Private memory, a page of its own, never freed. Only one
 * thread at a time may call the functions below on it; a signal handler that interrupted one of
 * them must not call any (the caller guards against this). */
struct pc_tree {
    struct pc_arena *arena;
    pcollect_ref thread; /* struct pcollect_thread */
    pcollect_ref root;
    uint32_t number; /* dense, from 0, of the trees of this arena */
    bool late;
    void *user;      /* belongs to the caller; kept over retirement and adoption */
    uint64_t lo, hi; /* free bytes of the thread's chunk: nodes from lo up, records from hi down */
    uint32_t chunk_bytes;       /* of the next chunk */
    uint32_t n_indexed;         /* nodes in slots: children of nodes with many children */
    uint32_t n_slots;           /* a power of two */
    struct pc_tree_slot *slots; /* open addressing, at most 3/4 full */
    uint32_t n_rows, n_row_slots;
    struct pc_tree_slot *row_slots; /* hash table of rows; NULL before the first row */
    _Atomic(struct pc_tree *) next_free;
};

/* A tree for a thread: adopts one whose thread has ended (same `late`), else makes a new one, with
 * thread record and root, from the reserve if necessary. NULL: no memory; the thread's calls are
 * PCOLLECT_LOST_CALLS. AS-safe, MT-safe, lock-free. */
struct pc_tree *pc_tree_open(struct pc_arena *a, int tid, bool late);

/* The two halves of pc_tree_open. adopt: NULL if no ended thread has left a tree. */
struct pc_tree *pc_tree_new(struct pc_arena *a, int tid, bool late);
struct pc_tree *pc_tree_adopt_any(struct pc_arena *a, int tid, bool late);

/* Retires the tree of a thread that has ended: the next new thread may adopt it, with its contents.
 * AS-safe, MT-safe.
 */
void pc_tree_retire(struct pc_tree *t);

/* The child of `parent` for that return address, found or made; 0 if there is no room: the context
 * then ends at `parent`, and pc_tree_op is told so. AS-safe. */
pcollect_ref pc_tree_frame(struct pc_tree *t, pcollect_ref parent, pcollect_ref module,
                           uint64_t offset);

/* The node of a primitive called from `parent`, found or made, with a zero-filled record of
 * record_bytes aligned to PC_ARENA_LINE. *collapsed, on entry: `parent` is not the context itself
 * but its innermost ancestor that found room. On return: the node stands for other contexts as well
 * (it is flagged), and calls booked to it for this context must be counted as
 * PCOLLECT_LOST_COLLAPSED. A context that finds no room goes to the nearest ancestor that has this
 * primitive, else to a node at the root from the reserve. 0: not even there; the calls are
 * PCOLLECT_LOST_CALLS. AS-safe. */
pcollect_ref pc_tree_op(struct pc_tree *t, pcollect_ref parent, uint16_t op, uint32_t record_bytes,
                        bool *collapsed);

/* The node of phase or region `key` below `parent` (root, phase or region): contexts hang below it
 * as below the root. 0: no room, the caller uses the parent. AS-safe. */
pcollect_ref pc_tree_part(struct pc_tree *t, pcollect_ref parent, enum pcollect_node_kind kind,
                          uint64_t key);

/* The child of `parent` (root, phase or region) under which contexts with unknown outer frames
 * hang. 0: no room, the caller uses the parent. AS-safe. */
pcollect_ref pc_tree_cut(struct pc_tree *t, pcollect_ref parent);

/* The calls of OP node `op` on one communicator: the node and its record, found or made. The OP
 * itself then needs no record (pc_tree_op with record_bytes 0). If there is no room, the result is
 * the OP, which gets a record from the reserve; *collapsed as in pc_tree_op. 0: not even that.
 * AS-safe. */
pcollect_ref pc_tree_domain(struct pc_tree *t, pcollect_ref op, uint64_t domain,
                            uint32_t record_bytes, bool *collapsed);

/* The node of the place where a thread was interrupted, below its caller's frame, with the
 * record_bytes of a POINT. *collapsed as in pc_tree_op: the node then is a POINT without place
 * (module 0, offset 0) below the root. 0: not even that. AS-safe. */
pcollect_ref pc_tree_point(struct pc_tree *t, pcollect_ref parent, pcollect_ref module,
                           uint64_t offset, uint32_t record_bytes, bool *collapsed);

/* The values of a row of this thread's part of a table, found or made with values 0; NULL: no room,
 * which the caller counts. `table` is what pc_arena_add_table returned. AS-safe. */
uint64_t *pc_tree_row(struct pc_tree *t, pcollect_ref table, unsigned n_keys, unsigned n_values,
                      const uint64_t *keys);

/* The references of the wide counts of a histogram, one for each group of bins (arena.h). */
static inline pcollect_ref *pc_hist_refs(const void *histogram, uint32_t n_bins)
{
    return (pcollect_ref *)((const char *)histogram +
                            PCOLLECT_HIST_GROUP * pcollect_hist_groups(n_bins));
}

/* Brings the wide counts of a histogram up to its bytes, and makes room for those of a group when a
 * byte has reached 128. Must be called before 256 more are counted in one bin. Returns the counts
 * that are lost because there is no room. AS-safe. */
uint64_t pc_tree_carry(struct pc_tree *t, void *histogram, uint32_t n_bins);

/* Sets all counts of a histogram to 0; the room of its wide counts stays its own. AS-safe. */
void pc_tree_clear_bins(struct pc_tree *t, void *histogram, uint32_t n_bins);

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
