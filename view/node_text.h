/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of a node of the calling-context tree: its name, and the place where it was called or is.
 */
#ifndef PCT_NODE_TEXT_H
#define PCT_NODE_TEXT_H

#include "analysis/tree/tree.h"

/* Appends the name for data and searches, whole. */
void pct_node_whole_name(struct pct_buf *b, const struct pc_profile *p, const struct pct_node *n);

/* The form of names. full: those of C++ have all their arguments. */
struct pct_name_form {
    bool full, utf8;
};
/* Appends the name of a node of t for text. If it is shortened, and siblings that were called at
 * the same place are shortened to the same, it says in what it differs. */
void pct_node_name(struct pct_buf *b, const struct pct_tree *t, uint32_t node,
                   struct pct_name_form form);

/* The legend below a tree with places of calls. */
#define PCT_PLACE_LEGEND "FUNCTION  FILE:LINE: where the function was called"

/* Appends the place where a node of t was called, or else its file or module, as of a module of
 * Python that an import runs, and further marks of a frame: " [in MODULE]", or " [in FILE]" where
 * that tells siblings of one name apart, " [inlined]" and " [tail call]". */
void pct_node_place(struct pct_buf *b, const struct pct_tree *t, const struct pct_node *n,
                    bool full_paths);

#endif
