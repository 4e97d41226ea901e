/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two notations of a place. Data files have labels, function@file:line, which are joined to
 * paths. Users see "function  file:line" in trees and lists, and "function (file:line)" in a
 * sentence, a path or a cell of a table. Only this file makes them. Both are escaped: they can be
 * used unchanged in a path, in a cell or on a terminal.
 */
#ifndef PCT_LABEL_H
#define PCT_LABEL_H

#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "format/profile.h"

enum pct_label_shape {
    PCT_LABEL_LINE = 1,      /* with the line of the call, or of the computation */
    PCT_LABEL_FULL_PATHS = 2 /* whole paths of files */
};

/* Appends the label of a nameless function without the offset of the call in it. */
void pct_label_put_nameless(struct pct_buf *b, const char *label);

/* Appends function@file:line, function@module or the label of a nameless function: frame `f` of
 * node `n`. */
void pct_label_frame(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n,
                     const struct pct_frame *f, unsigned shape);

/* Appends " at file:line" to a label: the place from which it was called. */
void pct_label_call(struct pct_buf *b, const char *file, uint32_t line);

/* Appends module+0xbegin, with PCT_LABEL_LINE module+0xbegin:0xoffset: a function without a name,
 * of which a node has that offset. Where it begins may be unknown: then module+0xoffset. */
void pct_label_nameless(struct pct_buf *b, const char *module, const struct pct_frame *f,
                        uint64_t offset, unsigned shape);

/* True for an outermost frame in a program, below `up` (NULL: none): in a job of several programs
 * it is below (program NAME). */
bool pct_label_begins_program(const struct pc_profile *p, const struct pc_profile_node *n,
                              const struct pc_profile_node *up);

/* The path of a module or a file as users see it (pct_place_file), of a program with as many
 * folders before it as tell it from other programs of the job. A part of `path`. */
const char *pct_label_module(const struct pc_profile *p, const char *path);

/* Appends (program NAME). */
void pct_label_program(struct pct_buf *b, const struct pc_profile *p, uint32_t module,
                       bool full_path);

/* Appends the label of a region of that name. */
void pct_label_region(struct pct_buf *b, const char *name);
/* Appends the label of any other node: an MPI function, (region NAME), (phase N) or (cut). */
void pct_label_other(struct pct_buf *b, const struct pc_profile *p,
                     const struct pc_profile_node *n);

/* The id of a context, from the id of its caller (0: none) and its own label, without line and
 * without PCT_LABEL_FULL_PATHS. It depends only on the path of functions: not on addresses, lines
 * or the order of ranks. The same path has the same id in every profile and every table. */
uint64_t pct_label_context(uint64_t above, const char *label);

/* ---- For users ------------------------------------------------------------------------------ */

enum pct_place_form {
    PCT_PLACE_ALONE,   /* file:line */
    PCT_PLACE_LIST,    /* two leading blanks: after a function, in a tree or a list */
    PCT_PLACE_SENTENCE /* " (file:line)" after a function, in a sentence, a path or a cell */
};

/* A place as users read it; no file, no line: not known. */
struct pct_place_text {
    const char *file;
    uint32_t line;
    uint32_t call, n_calls; /* instead of the line: number of the call, and of all calls; 0: none */
    bool full_path;
};

/* True for a file of an installed package of Python. */
bool pct_place_is_of_package(const char *path);

/* The part of a path that users see: its last part; of __init__.py, __main__.py and the files of
 * installed packages of Python with its folder, because many files have such names. */
const char *pct_place_file(const char *path);

/* Appends the place; nothing if nothing is known. */
void pct_place_put(struct pct_buf *b, const struct pct_place_text *place, enum pct_place_form form);

/* Appends "[in MODULE]": what users see of code that is in no known function, and of a function
 * that two programs have. */
void pct_place_unnamed(struct pct_buf *b, const char *module);

/* Appends the label of a function without a name as users read it, "module+0xbegin (0xoffset)";
 * false: `function` is the name of one. */
bool pct_place_of_nameless(struct pct_buf *b, const char *function);

/* Appends a label, or labels joined by " > ", as users read them: each as in a sentence.
 * full_names: functions of C++ with all their arguments. */
void pct_place_of_path(struct pct_buf *b, const char *labels, bool full_names);

#endif
