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

/* A time summed over ranks, from one for each thread. */
static inline double pct_scale_of_ranks(const struct pct_scale_point *p, double ns)
{
    return ns / pct_scale_per_rank(p);
}

enum { PCT_SCALE_WIDTH_BYTES = PCT_NUMBER_BYTES + 8 };

/* Writes "1 rank", "4 ranks", "8 threads". */
static inline void pct_scale_width(const struct pct_scale *s, const struct pct_scale_point *p,
                                   char out[PCT_SCALE_WIDTH_BYTES])
{
    char n[PCT_NUMBER_BYTES];
    snprintf(out, PCT_SCALE_WIDTH_BYTES, "%s %s", pct_scale_count(p->width, n),
             pct_scale_unit(s, p->width));
}

#endif
