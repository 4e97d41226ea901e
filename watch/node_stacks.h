/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks of one node in bytes, for the `pcollect where` of another node. A watch whose `sent` is
 * set writes each stack there instead of merging it; the receiver adds the stacks of all nodes to a
 * watch of its own, with pct_stack_add. Names of files stay as they are on the sender's node: the
 * receiver reads symbols from its own file of that name. If it has none, it asks for the names that
 * the sender finds in its file (pct_watch_look_up).
 *
 * Bytes are not trusted: the end of each text and list is checked.
 */
#ifndef PCT_NODE_STACKS_H
#define PCT_NODE_STACKS_H

#include "format/bytes.h"
#include "watch/watch.h"

struct pct_sent_stack {
    struct pct_watched_stack of; /* its process is an index into those of the node */
    struct pct_stack stack;
};

/* Stacks that a node has sent. Texts and modules are those of the watch that they were read into.
 */
struct pct_sent {
    const char *exe; /* of its first rank; "": it has none */
    uint64_t key;    /* of the job; 0: not known */
    int world;       /* ranks of the job; -1: not known */
    int n_local;     /* ranks of the job on this node, by its launcher; -1: not known */
    bool whole;      /* as in struct pct_watched_job */
    struct pct_watched *processes;
    size_t n;
    const struct pct_stack_module **modules; /* by the number that the node gives them, minus 1 */
    size_t n_modules;
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

/* Appends the names of places that the watch knows. */
void pct_sent_put_named(struct pc_buffer *b, const struct pct_watch *w);

/* ---- On the other one ------------------------------------------------------------------------ */

/* Reads what a node has sent: its stacks into *out, freed with pct_sent_free, its modules, named
 * places and communicators into w. False: the bytes are not whole. */
bool pct_sent_get(struct pc_cursor *c, struct pct_watch *w, struct pct_sent *out);
/* Reads the names that this node has sent later into w. */
bool pct_sent_get_named(struct pc_cursor *c, struct pct_watch *w, const struct pct_sent *from);
void pct_sent_free(struct pct_sent *n);

#endif
