/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of programs as text, tsv and JSON.
 */
#ifndef PCT_STAT_PRINT_H
#define PCT_STAT_PRINT_H

#include "view/rows.h"

#include <stdbool.h>
#include <stddef.h>

struct pct_stat_event {
    const char *name;
    const char *first;   /* of its names: ratios and rates are found by it */
    const char *why_not; /* NULL: it is counted */
    bool accounted;      /* it is not counted, but the kernel's accounting has a figure */
    bool user_only;      /* without the kernel's side, which may not be counted */
    bool clock;          /* its count is CPU time in ns */
    bool used;           /* and that of processors, in the ticks of the kernel */
};

struct pct_stat_figure {
    bool known;
    bool estimated;
    double value;  /* of a clock: ns */
    double error;  /* half of the 95 % interval; 0: none; -1: unknown */
    double share;  /* of the time in which the event counted */
    double differ; /* of repeats: least sure difference over the value; -1: unknown */
};

/* The figures of one target, or of all, in one stretch of time. */
struct pct_stat_block {
    const char *who; /* "rank"; NULL: all together */
    int number;
    double at_s;      /* end of the stretch, from the start of the run */
    double elapsed_s; /* its length */
    const struct pct_stat_figure *figures;
    struct pct_stat_figure clock; /* task-clock, which may not be among the events */
    size_t n_processors;          /* that are counted together; 0: other targets are */
};

struct pct_stat {
    const struct pct_stat_event *events;
    size_t n;
    bool repeated; /* figures are means of several runs */
    bool intervals;
    bool processors; /* whole processors are counted */
    bool turns;      /* events take turns */
    size_t width;    /* of lines of text; 0: any */
    /* State of the printer. */
    bool begun;
    size_t n_put; /* blocks of text */
    struct pct_row_writer rows;
};

enum pct_stat_format { PCT_STAT_TEXT, PCT_STAT_TSV, PCT_STAT_JSON };

void pct_stat_put(FILE *out, struct pct_stat *s, enum pct_stat_format format,
                  const struct pct_stat_block *b);
/* Ends the output, after the last block or without any. */
void pct_stat_end(FILE *out, struct pct_stat *s, enum pct_stat_format format);

/* True for an event of which there are figures. */
bool pct_stat_has(const struct pct_stat_event *event);

/* Prints as text why events are not counted: each reason once, with its events. */
void pct_stat_put_reasons(FILE *out, const struct pct_stat *s, size_t width);

#endif
