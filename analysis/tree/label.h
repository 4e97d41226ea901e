/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two notations of a place. Files of data and machines have labels, function@file:line, which
 * are joined to paths; people read "function  file:line" in trees and lists, and "function
 * (file:line)" in a sentence, a path or a cell of a table. No other file makes them. Both are
 * escaped: they can stand in a path, a cell or on a terminal as they are.
 */
#ifndef PCT_LABEL_H
#define PCT_LABEL_H

#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "format/profile.h"

enum pct_label_shape {
    PCT_LABEL_LINE = 1,      /* with the line of the call, or of what computes */
    PCT_LABEL_FULL_PATHS = 2 /* whole paths of files */
};

/* Appends function@file:line, function@module or module+0xoffset: frame `f` of node `n`. */
void pct_label_frame(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n,
                     const struct pct_frame *f, unsigned shape);

/* Appends " at file:line" to a label: where it was called from. */
void pct_label_call(struct pct_buf *b, const char *file, uint32_t line);

/* Appends module+0xoffset: code that has no name. */
void pct_label_offset(struct pct_buf *b, const char *module, uint64_t offset);

/* Appends what any other node reads as: an MPI function, (region NAME), (phase N) or (cut). */
void pct_label_other(struct pct_buf *b, const struct pc_profile *p,
                     const struct pc_profile_node *n);

/* The id of a context: of that which it is called from (0: nothing), and its label without line and
 * with PCT_LABEL_FULL_PATHS unset. The path of functions decides it, and nothing else: no address,
 * no line, no order of ranks. The same path has the same id in every profile and every table. */
uint64_t pct_label_context(uint64_t above, const char *label);

/* ---- For people ------------------------------------------------------------------------------ */

enum pct_place_form {
    PCT_PLACE_ALONE,   /* file:line */
    PCT_PLACE_LIST,    /* two blanks before it: behind a function, in a tree or a list */
    PCT_PLACE_SENTENCE /* " (file:line)" behind a function, in a sentence, a path or a cell */
};

/* A place as people read it; no file, no line: not known. */
struct pct_place_text {
    const char *file;
    uint32_t line;
    uint32_t call, n_calls; /* in place of the line: which of how many calls; 0: none */
    bool full_path;
};

/* Appends the place; nothing if nothing is known. */
void pct_place_put(struct pct_buf *b, const struct pct_place_text *place, enum pct_place_form form);

/* Appends a label, or labels that are joined by " > ", as people read them: each as in a sentence.
 * full_names: functions of C++ with all their arguments. */
void pct_place_of_path(struct pct_buf *b, const char *labels, bool full_names);

#endif
