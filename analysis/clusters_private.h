/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that find clusters share: the points that are used, parts of them, and the gap
 * between two parts. clusters.c says how.
 */
#ifndef PCT_CLUSTERS_PRIVATE_H
#define PCT_CLUSTERS_PRIVATE_H

#include "analysis/clusters.h"

#include <stdbool.h>
#include <stddef.h>

/* PCT_CLUSTER_PARTS: parts that the trees leave apart. */
enum {
    PCT_CLUSTER_PARTS = 256,
    PCT_LINE_UNIT = 32,   /* bins between two means */
    PCT_LINE_BEFORE = 16, /* bins before the first mean, and behind the second */
    PCT_LINE_BINS = PCT_LINE_UNIT + 2 * PCT_LINE_BEFORE
};

/* The points that are used, in the order of all. */
struct pct_sample {
    float *x;
    uint32_t n, d, n_parts;
    double least;   /* means that are nearer are not apart */
    uint16_t *part; /* of each point */
};

struct pct_part {
    double n, sum[PCT_POINTS_COORDINATES];
};

/* The line through two means, 0 at the first and 1 at the second, and the points along it. */
struct pct_line {
    double along[PCT_POINTS_COORDINATES], offset, length2;
    uint32_t n[PCT_LINE_BINS];
};

static inline const float *pct_sample_point(const struct pct_sample *s, uint32_t i)
{
    return s->x + (size_t)i * s->d;
}

static inline void pct_part_put(struct pct_part *p, const float *x, uint32_t d)
{
    p->n++;
    for (uint32_t j = 0; j < d; j++)
        p->sum[j] += (double)x[j];
}

static inline void pct_part_add(struct pct_part *to, const struct pct_part *p, uint32_t d)
{
    to->n += p->n;
    for (uint32_t j = 0; j < d; j++)
        to->sum[j] += p->sum[j];
}

static inline void pct_part_mean(const struct pct_part *p, uint32_t d, float *mean)
{
    for (uint32_t j = 0; j < d; j++)
        mean[j] = (float)(p->sum[j] / p->n);
}

/* Lays an empty line. Returns false if the means are too near, or of no point. MT-safe. */
bool pct_line_lay(const struct pct_sample *s, const struct pct_part *a, const struct pct_part *b,
                  struct pct_line *l);

/* Puts a point onto the line, and returns its position. MT-safe. */
double pct_line_put(struct pct_line *l, const float *x, uint32_t d);

/* The evidence for the clearest gap between the means, in nats; 0: there is none. MT-safe. */
double pct_line_gap(const struct pct_line *l);

/* Divides the points into parts by trees of planes, and sets s->part and s->n_parts. MT-safe. */
void pct_sample_divide(struct pct_sample *s);

/* Makes groups of the parts. Writes their means, room for s->n_parts, and returns their number.
 * MT-safe: changes s->part. */
uint32_t pct_sample_groups(struct pct_sample *s, float *mean);

#endif
