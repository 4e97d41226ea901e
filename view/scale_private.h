/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures in the texts of pcollect scale. Used by scale_print.c and scale_reason.c.
 */
#ifndef PCT_SCALE_PRIVATE_H
#define PCT_SCALE_PRIVATE_H

#include "analysis/compare/scaling.h"
#include "view/compare_print.h"

#include <stdio.h>

static inline double pct_scale_per(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static inline const char *pct_scale_time(double ns, char out[PCT_NUMBER_BYTES])
{
    return pct_text_time(out, pct_text_whole(ns));
}

static inline const char *pct_scale_count(double n, char out[PCT_NUMBER_BYTES])
{
    return pct_text_count(out, pct_text_whole(n));
}

enum { PCT_SCALE_RANKS_BYTES = PCT_NUMBER_BYTES + 8 };

/* Writes "1 rank", "4 ranks". */
static inline void pct_scale_ranks(const struct pct_scale_point *p, char out[PCT_SCALE_RANKS_BYTES])
{
    char n[PCT_NUMBER_BYTES];
    snprintf(out, PCT_SCALE_RANKS_BYTES, "%s %s", pct_scale_count(p->ranks, n),
             p->ranks == 1 ? "rank" : "ranks");
}

#endif
