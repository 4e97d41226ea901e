/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interactive view of a profile: rows of a tree that can be opened and closed, the current node,
 * and texts about it. Does not use a terminal: `pcollect browse` shows these rows and handles keys.
 *
 * Data structure: a view has a tree with figures, a flag for each node that is open, and the list
 * of rows that follows from the flags. Invariants: a row's node has a figure, and all above it are
 * open; a function that calls itself, or some that call each other, are one row (view/folds.h),
 * whose node is the last of them, so that the children of a row are those of its node; the cursor
 * is a row.
 */
#ifndef PCT_BROWSER_H
#define PCT_BROWSER_H

#include "view/folds.h"
#include "view/node_figures.h"

#include <regex.h>

enum pct_browser_view {
    PCT_BROWSER_CONTEXTS,  /* from main to the calls */
    PCT_BROWSER_FUNCTIONS, /* functions by exclusive time, their callers below them */
    PCT_BROWSER_N_VIEWS
};

struct pct_browser_row {
    uint32_t first, node; /* first and last of the nodes that are one row */
    struct pct_fold fold;
    uint32_t indent;
    bool parts, open; /* it has children; they are shown */
};

/* A tree with its rows. */
struct pct_browser_tree {
    struct pct_options options;
    struct pct_node_figures figures;
    bool *open; /* by node */
    struct pct_browser_row *rows;
    size_t n, room;
    size_t cursor;
};

struct pct_browser {
    const struct pct_data *d;
    struct pct_options options; /* with metric, width and form of names */
    enum pct_browser_view view;
    struct pct_browser_tree trees[PCT_BROWSER_N_VIEWS]; /* figures.tree NULL: not made yet */
};

/* d must outlive it. */
void pct_browser_open(struct pct_browser *b, const struct pct_data *d, size_t width, bool utf8);
void pct_browser_close(struct pct_browser *b);

/* The tree that is shown. */
struct pct_browser_tree *pct_browser_shown(struct pct_browser *b);
const struct pct_browser_row *pct_browser_at(struct pct_browser *b);

/* The next metric that the profile has: time, calls, bytes sent, bytes received. */
void pct_browser_next_metric(struct pct_browser *b);
void pct_browser_set_width(struct pct_browser *b, size_t width);

/* Moves the cursor by rows; stops at the first and the last. */
void pct_browser_move(struct pct_browser *b, long rows);
/* Opens the row, and the rows below it as long as there is only one child. */
void pct_browser_expand(struct pct_browser *b);
/* Closes the row; if it is closed already, goes to its parent row. */
void pct_browser_collapse(struct pct_browser *b);
void pct_browser_expand_all(struct pct_browser *b);
void pct_browser_collapse_all(struct pct_browser *b);

/* Goes to the next node, in the order of the whole tree, whose text matches, and opens the nodes
 * above it. False: there is none, and nothing changes. */
bool pct_browser_find(struct pct_browser *b, const regex_t *regex, bool backwards);

/* ---- Texts: escaped, without a newline ------------------------------------------------------- */

enum pct_heat { PCT_HEAT_PLAIN, PCT_HEAT_WARM, PCT_HEAT_HOT };

struct pct_browser_line {
    struct pct_buf figures, name, rest;
    enum pct_heat heat; /* of the figures */
    bool op;            /* the name is that of an MPI function */
};
void pct_browser_line(struct pct_browser *b, size_t row, struct pct_browser_line *out);
void pct_browser_line_free(struct pct_browser_line *line);

/* Title of the view: "Contexts by time", and the heads of its columns. */
void pct_browser_title(struct pct_browser *b, struct pct_buf *out);
void pct_browser_heads(struct pct_browser *b, struct pct_buf *out);

/* The path to the row under the cursor, cut at its beginning to the width; and the figures of its
 * node, as far as they fit. */
void pct_browser_path(struct pct_browser *b, struct pct_buf *out);
void pct_browser_details(struct pct_browser *b, struct pct_buf *out);

/* ---- Texts of many lines about the row under the cursor -------------------------------------- */

/* Figures of each rank. */
void pct_browser_ranks(struct pct_browser *b, FILE *out);
/* The function of the row, or for an MPI function its caller; NULL: there is none. *line_out: line
 * of the call in the caller; 0: not known. */
const char *pct_browser_function(struct pct_browser *b, uint32_t *line_out);

#endif
