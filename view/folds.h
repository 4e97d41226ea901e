/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes of a tree that are shown as one line: a function that calls itself, two or three that call
 * each other, in whatever order, each of them more than once, and consecutive frames in a
 * language's runtime library, in another library without lines, or without a name, that only
 * pass a call on. Of these frames two are shown: the outermost function of a library that has a
 * name, and the nearest one with a name around an MPI call or a function without a name that is
 * shown.
 */
#ifndef PCT_FOLDS_H
#define PCT_FOLDS_H

#include "analysis/buffer.h"
#include "analysis/tree/tree.h"
#include "view/node_text.h"

#include <stdbool.h>
#include <stdint.h>

/* A node, as far as it may pass a call on. */
struct pct_passing {
    /* The runtime library of a language, if the code of a frame is there, or its module, if it has
     * no name, or no line and is not of the program. NULL: it is shown. */
    const char *library;
    bool is_frame, has_name;
};

/* A tree as it is shown. */
struct pct_folding {
    void *tree;
    /* The only child that is shown; PC_NO_INDEX: there is none, or more is shown. */
    uint32_t (*only)(void *tree, uint32_t node);
    /* True if both are the same function, with the same label; or whatever lines called it. */
    bool (*same)(const void *tree, uint32_t node, uint32_t other);
    bool (*same_function)(const void *tree, uint32_t node, uint32_t other);
    uint32_t (*parent)(const void *tree, uint32_t node);
    struct pct_passing (*passing)(const void *tree, uint32_t node);
    /* True if a node has a line of its own for what it has beside its only child. The function may
     * be NULL: all have. */
    bool (*has_own)(void *tree, uint32_t node, uint32_t child);
    bool bottom_up; /* a child calls its parent */
};

/* Functions that call each other in a line, at most. */
enum { PCT_FOLD_FUNCTIONS = 3 };

struct pct_fold {
    uint32_t last;      /* node of the line */
    size_t n;           /* number of its nodes, at least 1 */
    const char *passer; /* NULL: calls of a function by itself, or of functions by each other */
    uint32_t functions[PCT_FOLD_FUNCTIONS]; /* the first node of each function, without passer */
    size_t n_functions;
};

/* The line that begins with `node`. */
struct pct_fold pct_fold(const struct pct_folding *f, uint32_t node);

/* True if both nodes of a tree have the same label; or are the same function, whatever lines called
 * it. */
bool pct_tree_same(const struct pct_tree *t, uint32_t node, uint32_t other);
bool pct_tree_same_function(const struct pct_tree *t, uint32_t node, uint32_t other);

/* The library for which a node of a tree may pass a call on, and what is known of it. */
struct pct_passing pct_tree_passing(const struct pc_profile *p, const struct pct_node *n);

/* Appends the names of the functions of a line without passer, and how many nodes it has. */
void pct_fold_names(struct pct_buf *b, const struct pct_tree *t, const struct pct_fold *fold,
                    struct pct_name_form form);

/* Appends how many nodes of a function, or of functions, the line has, if there are several. */
void pct_fold_times(struct pct_buf *b, const struct pct_fold *fold, bool utf8);

/* Appends the text of a line of frames that pass a call on. */
void pct_fold_text(struct pct_buf *b, const struct pct_fold *fold);

/* The legend of such lines; "%s": pct_branches_dots. */
#define PCT_FOLD_LEGEND "%s N frames: they only pass a call on; --full-names shows them"

#endif
