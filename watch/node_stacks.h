/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks of one node in bytes, for the `pcollect where` of another node. A watch whose `sent` is
 * set writes each stack there instead of merging it; the receiver adds the stacks of all nodes to a
 * watch of its own, with pct_stack_add. Names of files stay as they are on the sender's node: the
 * receiver reads symbols from its own file of that name.
 *
 * Bytes are not trusted: the end of each text and list is checked.
 */
#ifndef PCT_NODE_STACKS_H
#define PCT_NODE_STACKS_H

#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "format/bytes.h"
#include "watch/watch.h"

/* The name of a frame that is in no file: of Python, or of code that a process made. */
struct pct_sent_name {
    const char *module;
    uint64_t offset;
    struct pct_frame frame;
};

/* Names and other texts of all nodes. */
struct pct_sent_texts {
    struct pct_pool *pool;
    struct pct_sent_name *names;
    size_t n, room;
};
void pct_sent_texts_free(struct pct_sent_texts *t);

/* Adds the names to the symbols of a profile p of the stacks. The texts must outlive s. */
void pct_sent_teach(const struct pct_sent_texts *t, const struct pc_profile *p,
                    struct pct_symbols *s);

struct pct_sent_stack {
    struct pct_watched_stack of; /* its process is an index into those of the node */
    struct pct_stack stack;
};

/* Stacks that a node has sent. */
struct pct_sent {
    const char *exe; /* of its first rank; "": it has none */
    uint64_t key;    /* of the job; 0: not known */
    int world;       /* ranks of the job; -1: not known */
    int n_local;     /* ranks of the job on this node, by its launcher; -1: not known */
    bool whole;      /* as in struct pct_watched_job */
    struct pct_watched *processes;
    size_t n;
    struct pct_sent_stack *stacks; /* those of a process and a time are adjacent */
    size_t n_stacks;
    size_t first; /* of the stacks that were taken last */
    uint32_t n_other, n_lost;
};

/* ---- On the node ----------------------------------------------------------------------------- */

/* Appends a stack: pct_stack_add calls it. */
void pct_sent_put_stack(struct pc_buffer *b, const struct pct_stack_modules *modules,
                        const struct pct_stack *s);

/* Appends a watch with its stacks, whose times in calls (w->stacks[].call_ns) are set; `first`: of
 * those that were taken last. */
void pct_sent_put(struct pc_buffer *b, const struct pct_watch *w, size_t first);

/* ---- On the other one ------------------------------------------------------------------------ */

/* Reads what a node has sent: its stacks into *out, freed with pct_sent_free, its modules and
 * communicators into w. False: the bytes are not whole. */
bool pct_sent_get(struct pc_cursor *c, struct pct_watch *w, struct pct_sent_texts *t,
                  struct pct_sent *out);
void pct_sent_free(struct pct_sent *n);

#endif
