/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output of pcollect top as text and tsv: functions, contexts or processes, those with most time
 * first.
 */
#ifndef PCT_TOP_PRINT_H
#define PCT_TOP_PRINT_H

#include "watch/busiest.h"

#include <stdio.h>

enum pct_top_by { PCT_TOP_FUNCTION, PCT_TOP_CONTEXT, PCT_TOP_PROCESS };

/* Watched processes that live and have no sample; threads where these were given. */
struct pct_top_quiet {
    bool threads;        /* n is that of all of them, and 0 if any process has a sample */
    size_t n, n_stopped; /* n_stopped: by a signal, of n */
};

struct pct_top {
    const struct pct_busiest *busiest;
    uint64_t elapsed_ns;
    uint64_t counted_ns; /* CPU time as the kernel counts it; 0: it is not counted */
    double most_busy;    /* CPUs that are there; ticks and samples may round up to more */
    const char *cure;    /* how more of it is sampled; NULL: it cannot be */
    uint64_t n_lost;     /* records */
    struct pct_top_quiet quiet;
    enum pct_top_by by;
    size_t width;    /* 0: no limit */
    size_t max_rows; /* 0: all */
    bool utf8;
};

/* Prints a summary line, and a row for each function, context or process. */
void pct_top_print(FILE *out, const struct pct_top *t);
void pct_top_tsv(FILE *out, const struct pct_top *t);

#endif
