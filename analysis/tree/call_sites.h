/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls and samples of a profile summed in other ways than by context: by the place of the
 * call, by line, function, file, module and communicator.
 *
 * A call belongs to the frame that made it, inlined or not, and is below every frame above that. A
 * sample belongs to the frame that computed; samples inside MPI are below the frame that called.
 */
#ifndef PCT_CALLS_H
#define PCT_CALLS_H

#include "analysis/tree/samples.h"
#include "analysis/tree/totals.h"

enum pct_calls_by {
    PCT_BY_SITE, /* function, file, line and MPI function */
    PCT_BY_LINE,
    PCT_BY_FUNCTION,
    PCT_BY_FILE,
    PCT_BY_MODULE,
    PCT_BY_COMMUNICATOR, /* communicator and MPI function */
    PCT_N_CALLS_BY
};

/* What the rows are not told apart by is NULL, and 0. */
struct pct_call_row {
    const char *function, *file, *module;
    uint32_t line;
    const char *primitive;
    uint64_t domain;       /* id of the communicator; 0: none */
    struct pct_totals own; /* calls made right there */
    pc_u128 below_ns;      /* time in MPI there and in all that was called from there */
    struct pct_sampled self, total;
    struct pct_spread spread; /* PCT_TIME of own */
    uint32_t first_call;      /* chain of the profile's nodes, PC_NO_INDEX: none */
    uint32_t seen;
};

struct pct_call_rows {
    struct pct_call_row *row;
    size_t n;
    uint32_t *next; /* by node of the profile: next of its chain */
    const struct pct_model *model;
    struct pct_pool *pool;
};

struct pct_call_rows *pct_calls_new(const struct pct_model *m, struct pct_symbols *s,
                                    const struct pct_samples *samples, enum pct_calls_by by);
void pct_calls_free(struct pct_call_rows *c);

/* Adds the time of a row's own calls to values[k] of the k-th rank of the profile, as
 * pct_model_add_ranks. */
void pct_calls_ranks(const struct pct_call_rows *c, size_t row, uint64_t *values, bool *present);

#endif
