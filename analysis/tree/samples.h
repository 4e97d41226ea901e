/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the samples of a profile say: by line, by function, and by calling context, each with its
 * own samples and with those of what it called.
 *
 * A sample inside an MPI call belongs to the call's function. A sample that stands for w ns adds
 * w^2 to the variance, times p (1 - p) for a part p of the whole: doc/internals/sampling.md derives
 * it, doc/error-bars.md says when it holds.
 */
#ifndef PCT_SAMPLES_H
#define PCT_SAMPLES_H

#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tree/keys.h"
#include "analysis/tree/totals.h"

/* Samples, and the CPU time that they stand for; of all ranks and threads. */
struct pct_sampled {
    uint64_t samples;
    pc_u128 ns;
    double squares; /* sum of the squares of each one's time in ns */
};

struct pct_sample_row {
    const char *function; /* contexts, callers: the label, escaped */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown, or all of the function */
    const char *module;   /* NULL: an MPI function, or no module */
    const char *path;     /* contexts: labels with what it was called from; else NULL */
    uint64_t context;     /* contexts: of label.h */
    uint32_t parent;      /* contexts: PC_NO_INDEX for the outermost */
    struct pct_sampled self, total;
    uint32_t first_node; /* of the profile, whose samples are `self`; PC_NO_INDEX: none */
    bool has_spread;
    struct pct_spread spread; /* of self.ns over ranks, once it was asked for */
    uint32_t seen;            /* while totals are added */
};

/* A node's own samples are in one row at most: next_node[i] is the next of the same row. */
struct pct_sample_rows {
    struct pct_sample_row *row;
    size_t n, room;
    uint32_t *next_node;
    struct pct_keys keys;
};

struct pct_samples {
    const struct pc_profile *profile;
    struct pct_sampled all; /* booked: in computation and in MPI calls */
    struct pct_sampled mpi;
    struct pct_sampled cut; /* whose outer frames are unknown */
    struct pct_sample_rows lines, functions, contexts;
    struct pct_sample_rows callers; /* of pct_samples_callers */
    uint32_t *context; /* by node of the profile: row of contexts, or PC_NO_INDEX; NULL without
                          fields of samples */
    struct pct_pool *pool;
    uint32_t samples_field, time_field, squares_field; /* of the profile, PC_NO_INDEX: none */
};

/* Never NULL; all.samples is 0 if the profile has none. */
struct pct_samples *pct_samples_new(const struct pc_profile *p, struct pct_symbols *symbols);
void pct_samples_free(struct pct_samples *s);

/* The field of a plugin, PC_NO_INDEX: the profile has none. */
uint32_t pct_samples_field(const struct pc_profile *p, const char *plugin, const char *name);

/* Whether the profile has samples. */
bool pct_samples_any(const struct pc_profile *p);

/* What was sampled at a node of the profile itself. */
struct pct_sampled pct_samples_of(const struct pct_samples *s, const struct pc_profile *p,
                                  uint32_t node);

/* Adds the CPU time of a row's own samples to values[k] of the k-th rank of the profile, and marks
 * present[k]. Nothing is known of what more ranks have than the profile keeps values of. */
void pct_samples_ranks(const struct pct_samples *s, const struct pct_sample_rows *rows, size_t row,
                       uint64_t *values, bool *present);

/* The least and the greatest of them, of ranks that were sampled there. */
struct pct_spread pct_samples_spread(const struct pct_samples *s, struct pct_sample_rows *rows,
                                     size_t row);

/* pct_samples_ranks of a row and all below it, of contexts or callers. */
void pct_samples_total_ranks(const struct pct_samples *s, const struct pct_sample_rows *rows,
                             size_t row, uint64_t *values, bool *present);

/* The contexts turned round: the outermost rows are what computed, below each is what called it.
 * `total` is what was sampled in the outermost row when it was called like this; `self` is the part
 * of it of which no caller is known. Made when it is first asked for. */
struct pct_sample_rows *pct_samples_callers(struct pct_samples *s);

void pct_sampled_add(struct pct_sampled *to, struct pct_sampled what);

/* Variance of part.ns. */
double pct_samples_variance(struct pct_sampled part, struct pct_sampled all);

/* Half of the width of the 95 % interval of part.ns; false: too few samples to say. */
enum { PCT_SAMPLES_FEW = 10 };
bool pct_samples_error(struct pct_sampled part, struct pct_sampled all, pc_u128 *ns_out);

/* What a part comes to as people read it, in time or as a share of all: 1.84 s +- 0.16 s; 41.77 ms
 * few, where there are too few samples. */
void pct_sampled_text(struct pct_buf *b, struct pct_sampled part, struct pct_sampled all,
                      bool share);

#endif
