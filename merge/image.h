/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An arena being read: its tables as the profile will have them, and the unified tree of its
 * threads. Only for the files of merge/.
 *
 * The image may be a file that was damaged, or memory that its owner writes to. No reference is
 * followed before it has been checked. Bytes that were read as one object are claimed, and are not
 * read again as another: so a circular list ends, and nothing is counted twice.
 */
#ifndef PC_MERGE_IMAGE_H
#define PC_MERGE_IMAGE_H

#include "format/build.h"
#include "merge/merge.h"

struct image_field {
    struct pc_profile_field field;
    uint32_t offset; /* bytes into the record */
    uint32_t place;  /* of its first value: arena_records.c */
    bool in_ticks;   /* in the arena; the profile has nanoseconds */
};

struct image_module {
    pcollect_ref ref;
    struct pc_profile_module module;
    uint32_t index; /* in the profile's table */
};

/* A table being read; its rows are unsorted and have nodes by the unified tree, ticks as they
 * are, until pc_image_write_tables. */
struct image_table {
    pcollect_ref ref;
    struct pc_profile_table table;
    uint32_t capacity; /* capacity of table.cells, in rows */
    uint32_t in_ticks; /* bitset of columns in ticks */
};

struct image_string {
    pcollect_ref ref;
    char *text;
    uint32_t index; /* in the profile's strings */
};

/* Children of a node up to this number are found in its list: most nodes have one, and then no
 * random place of memory is needed for them. */
enum { PC_IMAGE_LISTED = 4 };

/* A node of the unified tree. Index 0 is the root. There are many, each in 32 bytes: to touch
 * memory for the first time takes longer than to fill it. */
struct image_node {
    uint64_t offset; /* as in struct pc_profile_node, and so is what follows */
    uint32_t what;   /* FRAME, POINT: module, OP: primitive, as indices of the profile; others:
                      * PC_NO_INDEX */
    uint32_t parent, first_child, next;
    uint32_t record; /* the first in the arena that was used; 0: none was. With is_sum: number of
                      * the sum of several */
    uint8_t kind;
    uint8_t n_children; /* exact up to PC_IMAGE_LISTED; more: the children are in the index */
    uint8_t flags;      /* PCOLLECT_FLAG_COLLAPSED or 0 */
    bool needed : 1;    /* a record in it or below it has been used */
    bool is_sum : 1;
};

struct image {
    const char *base;
    size_t n;          /* bytes that were readable when reading began */
    size_t most;       /* limit to which n may grow: the owner still allocates */
    uint64_t *claimed; /* bit per unit of a reference */
    const struct pcollect_arena_header *header;
    struct pc_profile *profile;
    struct pc_pool *scratch;
    struct pc_pool *tree;   /* the unified tree, until it is written */
    struct pc_error *error; /* the first thing that was left out */
    bool damaged;
    struct image_module *modules; /* sorted by ref */
    uint32_t n_modules;
    pcollect_ref threads; /* head of the list of threads, and its length, as first read */
    uint32_t n_threads;
    uint64_t last_ticks;        /* the last moment known; 0: calls in progress do not count */
    uint32_t *op_index;         /* by op id; PC_NO_INDEX: not named */
    struct image_field *fields; /* parallel to the profile's */
    uint64_t *values;           /* room for those of one record */
    uint32_t n_values;
    uint64_t **sums; /* values of several records of a node, in scratch */
    uint32_t n_sums, sum_capacity;
    struct image_string *strings; /* sorted by ref */
    uint32_t n_strings;
    struct image_table *tables;
    uint32_t n_tables;
    uint32_t *node_of; /* unified node by ref; 0: not read (or the root) */
    size_t n_refs;     /* of node_of: of what was readable when reading began; 0: it is not kept,
                          because few rows or none refer to nodes */
    int32_t *rank;     /* the list of ranks of every record */
    uint32_t *place;   /* node of the profile by unified node, once it is written */
    struct image_node *nodes;
    uint32_t n_nodes, node_capacity;
    uint32_t *slots; /* index: hash of children of crowded nodes by parent and key; node + 1 */
    uint32_t n_slots;
};

/* ---- Bytes (image.c) ---- */

/* n bytes at ref, or NULL if not all of them are inside the image. */
const void *pc_image_at(const struct image *m, pcollect_ref ref, size_t bytes);

/* Claims n bytes at ref; NULL also if any of them has been claimed before. */
const void *pc_image_claim(struct image *m, pcollect_ref ref, size_t bytes);

/* Copies a text of `most` bytes at most into the profile, which owns it; NULL: no memory. */
static inline char *pc_image_text(struct image *m, const char *text, size_t most)
{
    return pc_pool_text(m->profile->memory, text, strnlen(text, most));
}

/* Ticks as nanoseconds, rounded down, by the line through the two points of the clocks. */
uint64_t pc_image_ns(const struct image *m, uint64_t ticks);

/* Notes that something was damaged and left out. */
void pc_image_damaged(struct image *m, const char *what, pcollect_ref ref);

/* Ticks since the begin of the call that a thread is in, up to the last moment known; 0: none. Only
 * where all data of a process is read: calls in progress during the merge end in its late part. */
static inline uint64_t pc_image_open_ticks(const struct image *m, const struct pcollect_thread *t)
{
    uint64_t begin = pcollect_open_ticks(t);
    return begin && m->last_ticks > begin ? m->last_ticks - begin : 0;
}

/* The length of a list whose elements begin with the reference of the next, and have `bytes` bytes
 * at least; it ends before a damaged element. Claims the elements. */
uint32_t pc_image_count_list(struct image *m, pcollect_ref first, size_t bytes, const char *what);

/* ---- Trees (arena_tree.c) ---- */

/* True if the part has this thread's tree and rows. */
static inline bool pc_image_wants(const struct pcollect_thread *t, enum pc_merge_part part)
{
    return part == PC_MERGE_ALL || (part == PC_MERGE_LATE) == (t->late != 0);
}

/* Reads the trees of a part into the unified tree. */
int pc_image_read_trees(struct image *m, enum pc_merge_part part);

/* The node of the unified tree for a node of the arena, made if its tree is not among those read
 * (rows of late threads may refer to earlier contexts). *out is 0 also for a damaged node. */
int pc_image_node_of(struct image *m, pcollect_ref ref, uint32_t *out);

/* Keeps a node of the unified tree, and those above it, in the profile. */
void pc_image_need(struct image *m, uint32_t node);

/* Puts the nodes that are needed, and their records, into the profile, and frees the unified
 * tree. */
int pc_image_write_tree(struct image *m);

/* ---- Records (arena_records.c) ---- */

/* Finds the places of values from the fields. False: no memory. */
bool pc_image_lay_out_values(struct image *m);

/* Adds a record to those of a node of the unified tree, if it is used. */
int pc_image_add_record(struct image *m, uint32_t node, pcollect_ref ref);

/* A record of the unified tree: a reference, or the number of a sum. */
struct image_record {
    uint32_t number;
    bool is_sum;
};

/* Gives a node of the profile a record. `room`: for the bytes of histograms. False: no memory. */
bool pc_image_write_record(struct image *m, struct image_record from, struct pc_profile_node *to,
                           struct pc_buffer *room);

/* ---- Tables of plugins (arena_rows.c) ---- */

/* Reads strings and descriptions of tables into the profile. Called before the trees are read. */
int pc_image_read_tables(struct image *m, enum pc_merge_part part);

/* Reads the rows of a part, and keeps the nodes that they refer to. Called after the trees have
 * been read. */
int pc_image_read_rows(struct image *m, enum pc_merge_part part);

/* Puts the rows into the profile, sorted and unique. Called after the nodes have been written. */
int pc_image_write_tables(struct image *m);

/* Gives the contexts in the rows of a table other numbers, sorts the rows, and combines those of
 * equal keys. */
void pc_rows_renumber(struct pc_profile_table *t, const uint32_t *place);

/* Leaves out strings to which nothing refers, and tables without rows. */
int pc_image_prune_strings(struct image *m);

/* Rank and job of an arena. Before MPI_Init has returned they come from the launcher, if it gave
 * all of them; else rank -1 of 1, without a job. */
struct pc_identity {
    uint64_t job_key;
    int32_t rank, n_ranks;
};
struct pc_identity pc_image_identity(const struct pcollect_arena_header *h);

/* True if the process called MPI functions, but never MPI_Init. */
bool pc_image_asked_only(const struct pcollect_arena_header *h);
/* True if the process is collected with or without MPI, and has not called MPI_Init. */
bool pc_image_is_alone(const struct pcollect_arena_header *h);

#endif
