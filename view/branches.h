/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of a tree as text: figures, the lines and corners that lead to a node, its name, which may
 * take several lines, and the text after the name: on the same line, or on separate lines if it
 * does not fit.
 */
#ifndef PCT_BRANCHES_H
#define PCT_BRANCHES_H

#include "analysis/buffer.h"

#include <stdio.h>

struct pct_branches {
    FILE *out;
    size_t width; /* of a line; 0: no limit */
    bool utf8;
    size_t figures;       /* cells of the figures, with their blanks */
    struct pct_buf guide; /* lines left of the current node */
};

/* Text before a node, and under it. */
struct pct_corner {
    const char *sign, *below;
};

const char *pct_branches_dots(const struct pct_branches *b);

/* Cells for the name of a node and what is behind it. */
size_t pct_branches_room(const struct pct_branches *b, struct pct_corner corner);

/* Colours are control sequences, or empty. */
struct pct_branch {
    const char *name, *name_color;
    const char *rest, *rest_color; /* rest begins with a blank */
    const char *plain;             /* ends a colour */
    bool beside;                   /* `rest` is on the line of the name */
};
void pct_branches_put(const struct pct_branches *b, const char *figures, struct pct_corner corner,
                      const struct pct_branch *what);

/* Cells for a rest on a separate line. */
size_t pct_branches_rest_room(const struct pct_branches *b, struct pct_corner corner);

/* A tree as it is shown. `more`: a line of its own stands for the children that are not. */
struct pct_shown_tree {
    void *tree;
    /* The first child that is shown, or the next one after `before`; PC_NO_INDEX: none. */
    uint32_t (*next)(void *tree, uint32_t node, uint32_t before);
    bool (*has_more)(void *tree, uint32_t node); /* NULL: never */
    /* Prints the line that begins with `node`, and returns the last node of it. */
    uint32_t (*put)(void *tree, uint32_t node, struct pct_corner corner);
    void (*put_more)(void *tree, uint32_t node, struct pct_corner corner);
    unsigned depth; /* lines below one another; 0: no limit */
};

/* The only child, if it is all that is shown; else PC_NO_INDEX. */
uint32_t pct_shown_only(const struct pct_shown_tree *t, uint32_t node);

/* Prints the lines below `node`. A single child is not indented, nor is a single root. */
void pct_branches_put_tree(struct pct_branches *b, const struct pct_shown_tree *t, uint32_t node);

/* Bytes of the part of a name that fits into `room` cells, at least 1: to the last place behind
 * its first third where a part of a C++ or Fortran name ends, or an address begins; else where a
 * word ends; else as much as there is room for. */
size_t pct_name_part(const char *name, size_t room);

#endif
