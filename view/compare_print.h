/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comparisons of profiles as text, tsv and JSON.
 */
#ifndef PCT_COMPARE_PRINT_H
#define PCT_COMPARE_PRINT_H

#include "analysis/compare/difference.h"
#include "analysis/compare/join_tree.h"
#include "analysis/compare/repeats.h"
#include "analysis/compare/scaling.h"
#include "view/query.h"
#include "view/table.h"

/* Text of a comparison. */
struct pct_compare_print {
    size_t width; /* 0: no limit; at least 40 */
    bool utf8, full_names;
    unsigned depth; /* levels of the tree; 0: all */
    bool has_least; /* else chosen by pct_compare_fit */
    unsigned least; /* branches with less are hidden; thousandths of a percent */
};

/* A comparison as text: what stands around its tree, which depends on how->least. */
typedef void pct_compare_print_fn(FILE *out, const void *comparison,
                                  const struct pct_compare_print *how);
struct pct_compare_text {
    pct_compare_print_fn *before, *tree, *after; /* after: may be NULL */
    const void *comparison;
};

/* Prints it with how->least, or with a threshold with which it fits on two screens, or the tree on
 * half of one; with full names, with which it has no more rows than these have lines. Each part may
 * be printed several times. */
void pct_compare_fit(FILE *out, const struct pct_compare_text *text,
                     const struct pct_compare_print *how);

/* The trees of all runs as one (join_tree_print.c). */
struct pct_compare_tree {
    const struct pct_join_tree *tree; /* in order */
    const double *weight;             /* by node, inclusive, at least 0: small ones are hidden */
    double whole;                     /* of which how->least is a part */
    const char *whole_name;           /* "core time" */
    const char *but;                  /* what the tree is without, ", without ...", or "" */
    const char *title, *heads;        /* a sentence; the line above the figures */
    /* Appends the figures of nodes together, in PCT_COMPARE_CELLS cells. */
    void (*put_figures)(void *arg, const uint32_t *nodes, size_t n, struct pct_buf *b);
    void *arg;
};
/* Cells of the three figures before a name, with their blanks. */
#define PCT_COMPARE_CELLS (2 + 9 + 2 + 9 + 2 + 9 + 2)

/* Prints title, heads and tree, or that no context has so much of the whole below it. */
void pct_compare_tree_print(FILE *out, const struct pct_compare_tree *t,
                            const struct pct_compare_print *how);

/* Prints the option that shows more, if pct_compare_fit has raised the threshold. */
void pct_compare_hidden(FILE *out, const struct pct_compare_print *how);

/* Part of the time from which on what is left out is worth a sentence. */
#define PCT_COMPARE_DELAYED 0.05
/* Parts that are left out of a time: the wait for a processor with its part in which main threads
 * were blocked, at most, and the library's own time. */
struct pct_left_out {
    double delayed_ns, others_ns, library_ns;
    double all_ns, init_ns; /* the time, and its part in MPI_Init, before whose end none is known */
};
/* Ends what is said of such a time. */
#define PCT_LEFT_OUT "is left out of the figures below, but for the wall time."
/* Writes a sentence on this; nothing if it is little of the time without MPI_Init. True: it is
 * about a wait for a processor. `where`: "On 4 ranks". */
bool pct_left_out_put(struct pct_buf *b, const char *where, const struct pct_left_out *left);
/* Follows such sentences, if one of them is about delays. */
#define PCT_DELAY_STAYS                                                                            \
    "MPI calls still contain the time in which ranks waited for others that had no processor."

/* A remark, a sentence. */
typedef void pct_remark_fn(void *arg, const char *sentence);
/* Prints the remark in lines of a width, below each other. */
struct pct_remark_text {
    FILE *out;
    size_t width;
};
pct_remark_fn pct_remark_print; /* arg: struct pct_remark_text */

/* Calls `put` with what the figures of single runs do not have. */
void pct_runs_remarks(const struct pct_run *runs, size_t n, pct_remark_fn *put, void *arg);

/* Calls `put` if a context is not called as often in one of the runs [first, end) as in another,
 * though these are repeats. */
void pct_calls_remark(const struct pct_join *j, const struct pct_run *runs, size_t first,
                      size_t end, pct_remark_fn *put, void *arg);

/* Calls `put` if contexts are matched by function, because the runs are not known to be of one
 * build. */
void pct_builds_remark(const struct pct_join *j, const struct pct_run *runs, pct_remark_fn *put,
                       void *arg);

/* Appends a remark if the runs seem to be of two programs: they begin in two files, or few MPI
 * calls are in all of them; else nothing. */
void pct_programs_put(struct pct_buf *b, const struct pct_join *j, const struct pct_run *runs);

/* Says which programs are compared with one of another name, in jobs of several. */
void pct_renamed_remark(const struct pct_join *j, const struct pct_run *runs, pct_remark_fn *put,
                        void *arg);

/* Calls `put` with what is to be said of how well the runs can be matched: that remark, and that
 * inlined functions are missing in runs without lines, if only some have none; and the one above.
 */
void pct_programs_remarks(const struct pct_join *j, const struct pct_run *runs, pct_remark_fn *put,
                          void *arg);
void pct_print_programs(FILE *out, const struct pct_join *j, const struct pct_run *runs,
                        size_t width);

/* ---- Difference (diff_print.c) ---- */

extern const struct pct_table pct_diff_table; /* contexts: columns read pct_data.diff */
/* Calls `put` with how the repeats of a side differ, that computation is CPU time, and with what
 * the figures of single runs do not have. */
void pct_diff_remarks(const struct pct_diff *d, pct_remark_fn *put, void *arg);
void pct_diff_print(FILE *out, const struct pct_diff *d, const struct pct_compare_print *how);
/* Appends what the time of one side is, behind it: " per rank without MPI_Init". */
void pct_diff_time_put(struct pct_buf *b, const struct pct_diff *d, bool after);
/* Appends how long MPI_Init takes, which is left out, a sentence; nothing if it is little. */
void pct_diff_init_put(struct pct_buf *b, const struct pct_diff *d);
/* Appends that sentence for one side. True: it is about delays of ranks that call MPI. */
bool pct_diff_delay_put(struct pct_buf *b, const struct pct_diff *d, bool after);
/* Appends how much longer or shorter the run takes, a sentence, for the metric time. */
void pct_diff_run_put(struct pct_buf *b, const struct pct_diff *d);
/* Appends the sum of the figures of all contexts on both sides, a sentence. Of times it says how
 * much that changes if the sides have different numbers of ranks, or computation is CPU time. */
void pct_diff_total_put(struct pct_buf *b, const struct pct_diff *d);
/* Figures of both sides as pcollect report has them (diff_told.c): a row of each, its texts; a
 * table with a title, and keys of JSON after others. */
typedef void pct_diff_told_fn(void *arg, const char *name, const char *before, const char *after);
void pct_diff_told(const struct pct_diff *d, pct_diff_told_fn *put, void *arg);
/* Wall time of one side, mean of its runs. */
double pct_diff_wall_ns(const struct pct_diff *d, bool after);
const char *pct_diff_told_title(const struct pct_diff *d);
void pct_diff_told_print(FILE *out, const struct pct_diff *d);
void pct_diff_told_json(FILE *out, const struct pct_diff *d);
/* The command line of one side, if it is known and the other one differs; else nothing. */
void pct_diff_command_put(struct pct_buf *b, const struct pct_diff *d, bool after);
void pct_diff_command_print(FILE *out, const struct pct_diff *d, bool after, size_t width);
void pct_diff_json(FILE *out, const struct pct_diff *d, const struct pct_choice *choice);
void pct_diff_tsv(FILE *out, const struct pct_diff *d, const struct pct_choice *choice);

/* ---- Repeats (repeats_print.c) ---- */

extern const struct pct_table pct_repeats_table; /* contexts: columns read pct_data.repeats */
/* Calls `put` with how the runs differ, and with what the figures of single runs do not have. */
void pct_repeats_remarks(const struct pct_repeats *r, pct_remark_fn *put, void *arg);
void pct_repeats_print(FILE *out, const struct pct_repeats *r, size_t width, bool utf8);
void pct_repeats_tsv(FILE *out, const struct pct_repeats *r, const struct pct_choice *choice);
void pct_repeats_json(FILE *out, const struct pct_repeats *r, const struct pct_choice *choice);

/* ---- Scaling (scale_print.c, scale_reason.c, tables/scale_columns.c) ---- */

/* Tables `scales` and `contexts`: columns read pct_data.scale. */
extern const struct pct_table pct_scale_tables[];
extern const size_t pct_n_scale_tables;

void pct_scale_print(FILE *out, const struct pct_scale *s, const struct pct_compare_print *how);

/* Reason why a row loses, in words; interned (scale_reason.c). */
const char *pct_scale_reason(const struct pct_scale *s, const struct pct_scale_row *row);
/* Appends sentences on a function that loses with all that it calls. */
void pct_scale_put_branch(const struct pct_scale *s, const struct pct_scale_branch *branch,
                          struct pct_buf *b);
/* table NULL: all. */
void pct_scale_json(FILE *out, const struct pct_scale *s, const struct pct_table *table,
                    const struct pct_choice *choice);
void pct_scale_tsv(FILE *out, const struct pct_scale *s, const struct pct_table *table,
                   const struct pct_choice *choice);
/* Calls `put` with each remark on the whole, a sentence: how the runs are matched, what is left out
 * of the figures, what is not known. pct_scale_remark_loss: with what is lost, with how much of it
 * may be the machine's fault, and that no context is to blame, or "Look first at", which
 * pct_scale_remark_first goes on: a sentence on each context that loses most. */
void pct_scale_remarks(const struct pct_scale *s, pct_remark_fn *put, void *arg);
void pct_scale_remark_loss(const struct pct_scale *s, pct_remark_fn *put, void *arg);
void pct_scale_remark_first(const struct pct_scale *s, pct_remark_fn *put, void *arg);
/* True if time of MPI functions is counted where a rank makes others wait. */
bool pct_scale_has_waits(const struct pct_scale *s);
/* Efficiency and its factors as a picture. */
void pct_scale_svg(FILE *out, const struct pct_scale *s);
/* One table as text. */
void pct_scale_text(FILE *out, const struct pct_scale *s, const struct pct_table *table,
                    const struct pct_aligned *how);

#endif
