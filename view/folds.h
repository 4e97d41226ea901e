/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes of a tree that text shows as one line: a function that calls itself, and consecutive frames
 * in a language's runtime library, or without a name, that only pass a call on.
 */
#ifndef PCT_FOLDS_H
#define PCT_FOLDS_H

#include "analysis/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* A tree as it is shown. */
struct pct_folding {
    void *tree;
    /* The only child that is shown; PC_NO_INDEX: there is none, or more is shown. */
    uint32_t (*only)(void *tree, uint32_t node);
    /* True if both are the same function. */
    bool (*same)(const void *tree, uint32_t node, uint32_t other);
    /* For what a frame passes a call on, of pct_passer; NULL: it is shown. */
    const char *(*passer)(const void *tree, uint32_t node);
};

struct pct_fold {
    uint32_t last;      /* node of the line */
    size_t n;           /* number of its nodes, at least 1 */
    const char *passer; /* NULL: calls of a function by itself */
};

/* The line that begins with `node`. */
struct pct_fold pct_fold(const struct pct_folding *f, uint32_t node);

/* The runtime library of a language, if the frame is in its code; `module`, if its function has no
 * name. Else NULL. */
const char *pct_passer(const char *function, const char *file, const char *module);

/* Appends the text of a line of frames that pass a call on. `named`: their functions have names. */
void pct_fold_text(struct pct_buf *b, const struct pct_fold *fold, bool named);

/* The legend of such lines; "%s": pct_branches_dots. */
#define PCT_FOLD_LEGEND "%s N frames: they only pass a call on; --full-names shows them"

#endif
