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

/* `top`: no corner. `last`: no sibling follows. */
struct pct_corner pct_branches_corner(const struct pct_branches *b, bool top, bool last);
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

/* Bytes of the part of a name that fits into `room` cells, at least 1: to the last place behind
 * its first third where a part of a C++ or Fortran name ends, else as much as there is room for. */
size_t pct_name_part(const char *name, size_t room);

#endif
