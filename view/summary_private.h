/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of the text report in parts: summary.c, summary_counted.c, summary_missing.c. They print
 * items by summary_item.c; all use one buffer, which is empty between two items. The page has some
 * of these texts, too.
 */
#ifndef PCT_SUMMARY_PRIVATE_H
#define PCT_SUMMARY_PRIVATE_H

#include "view/report_print.h"

struct pct_head {
    FILE *out;
    const struct pct_data *d;
    const struct pct_options *o;
};

/* ---- summary_item.c ---- */

/* Prints an item. */
void pct_head_item(const struct pct_head *h, const char *name, const char *text);
/* Prints the buffer as an item, unless it is empty, and empties it. */
void pct_head_put(const struct pct_head *h, const char *name, struct pct_buf *b);

void pct_head_time(struct pct_buf *b, pc_u128 ns);
/* m: thousandths of a percent. */
void pct_head_percent(struct pct_buf *b, pc_u128 m);
void pct_head_count(struct pct_buf *b, pc_u128 n);

/* Appends "rank 3" or "ranks 1, 4-7, 9 and 12 more" of the ascending ranks. */
void pct_head_ranks(struct pct_buf *b, const int32_t *ranks, size_t n);

/* ---- summary.c ---- */

/* Appends the program and its arguments (not of recordings), or several programs: then it returns
 * true. Several are in the order of their ranks, with these, if these are known; else by name. */
bool pct_head_program(const struct pct_head *h, struct pct_buf *b);
/* Appends the command that was recorded, or that of a recorded process, or the first of several
 * command lines of a job, with the number of their processes: then it returns true. Nothing if none
 * is known, and for a job with one, whose program has its arguments. */
bool pct_head_command(const struct pct_head *h, struct pct_buf *b);
/* Appends to an empty buffer which job has spawned this one, and how many processes it has spawned;
 * nothing if neither is so. */
void pct_head_jobs(const struct pct_head *h, struct pct_buf *b);
/* Append the division of the time outside MPI (if ranks waited for a processor or slept, wall time
 * does not show computation) and the imbalance; nothing where nothing is to be said. */
void pct_head_division(const struct pct_head *h, struct pct_buf *b);
void pct_head_imbalance(const struct pct_head *h, struct pct_buf *b);
/* Words for the time in which main threads poll in a runtime: they wait for others, or it works. */
const char *pct_head_for_threads(const struct pct_data *d);

/* Wall time of a program without MPI by the state of its main thread. */
struct pct_alone {
    double computing_ns, blocked_ns, delayed_ns;
};

/* Divides it. False if the program calls MPI, or if it is not known. */
bool pct_head_alone(const struct pct_head *h, struct pct_alone *out);
/* Appends it in words; nothing if it is not divided, or if the thread computed nearly all the time.
 */
void pct_head_main_thread(const struct pct_head *h, struct pct_buf *b);

/* ---- the rest of the head ---- */

void pct_head_counted(const struct pct_head *h, struct pct_buf *b);
void pct_head_missing(const struct pct_head *h, struct pct_buf *b);
/* Appends what of a kind (enum pcollect_lost) is left out; false: nothing that is worth saying. */
bool pct_head_lost(const struct pct_head *h, size_t kind, struct pct_buf *b);
/* Append to an empty buffer which ranks did not end and why, and in which calls of MPI they were at
 * the end; nothing if all ended, or if none was in MPI. */
void pct_head_incomplete(const struct pct_head *h, struct pct_buf *b);
void pct_head_ended(const struct pct_head *h, struct pct_buf *b);
/* Functions that append a note on what the contexts lack, or nothing; NULL after the last. */
extern void (*const pct_head_context_notes[])(const struct pct_head *h, struct pct_buf *b);

#endif
