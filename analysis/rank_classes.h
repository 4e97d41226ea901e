/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Classes of ranks that spend their time alike: found from the time of each rank outside MPI and in
 * the contexts of calls whose values by rank the profile keeps, those with most time; MPI_Init,
 * MPI_Finalize and their kin are left out. Groups are
 * made by clusters.h of
 *
 *   2 * share of the context in the time of all ranks * ln((value + m) / (2 m)),
 *
 * m being the mean of the context: near the mean this is the difference as a share of the time of
 * the run, so what ranks differ by counts by the time that it takes; below it counts up to twice.
 * Ranks that are less than 0.01 apart are not separated. Of N ranks at most N / 16 contexts are
 * used, because few ranks do not show many differences.
 *
 * Invariants: each rank of the profile is in exactly one class; classes are numbered in the order
 * of their first ranks; sums, least and greatest values are those of the values by rank, which are
 * exact but for contexts with times in steps. No symbols are read.
 */
#ifndef PCT_RANK_CLASSES_H
#define PCT_RANK_CLASSES_H

#include "analysis/tree/totals.h"

enum { PCT_CLASSES_MOST = 40, PCT_CLASSES_LEAST_RANKS = 32, PCT_CLASS_ASPECTS = 31 };

/* One class in one aspect: the values of its ranks, 0 for those without the context. */
struct pct_class_time {
    pc_u128 sum;
    uint64_t min, max;
    int32_t min_rank, max_rank; /* the lowest with that value */
    double deviation_ns;        /* root mean square deviation from the mean of the class */
};

struct pct_rank_class {
    uint32_t n;       /* ranks */
    char *ranks;      /* 0-1023:8,2048 */
    double error_ns;  /* as deviation_ns, over all aspects together */
    int32_t far_rank; /* the rank that is farthest from the means of its class */
    double far_ns;    /* by how much, over all aspects together */
    uint32_t aspect;  /* aspect in which its mean is farthest from that of all ranks */
};

struct pct_rank_classes {
    uint32_t n, n_aspects;
    bool in_steps;               /* some of the times are within 1 / PC_STEPS */
    uint32_t *node;              /* of each aspect; PC_NO_INDEX: time outside MPI, which is first */
    uint16_t *of_rank;           /* by place of the rank in the profile */
    struct pct_rank_class *list; /* n */
    struct pct_class_time *times; /* class by class, an element for each aspect */
    struct pct_class_time *all;   /* of all ranks */
};

/* Never NULL; has no class if the profile has fewer ranks than PCT_CLASSES_LEAST_RANKS or no times
 * by rank. */
struct pct_rank_classes *pct_rank_classes_new(const struct pct_totals *m);
void pct_rank_classes_free(struct pct_rank_classes *c);

/* Ascending ranks as 0-62:2,70 for 0, 2, 4, ... 62 and 70; the caller frees the text. NULL: there
 * are none. */
char *pct_rank_set_text(const int32_t *ranks, uint32_t n);

#endif
