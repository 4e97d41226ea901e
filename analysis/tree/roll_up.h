/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls and samples of a profile summed in other ways than by context: by the place of the call, by
 * line, function, file, module and communicator.
 *
 * A call belongs to the frame that made it, inlined or not, and is below every frame above that. A
 * sample belongs to the frame that computed; samples inside MPI are below the frame that called. In
 * the rows of code (PCT_BY_CODE_...) an MPI function is a row as any other, which has its samples.
 */
#ifndef PCT_ROLL_UP_H
#define PCT_ROLL_UP_H

#include "analysis/symbols/symbols.h"
#include "analysis/tree/samples.h"
#include "analysis/tree/totals.h"

enum pct_by {
    PCT_BY_SITE, /* function, file, line and MPI function */
    PCT_BY_LINE,
    PCT_BY_FUNCTION,
    PCT_BY_FILE,
    PCT_BY_MODULE,
    PCT_BY_COMMUNICATOR, /* communicator and MPI function */
    PCT_BY_CODE_LINE,
    PCT_BY_CODE_FUNCTION,
    PCT_N_BY
};

/* What the rows are not told apart by is NULL, and 0. */
struct pct_rolled_row {
    const char *function; /* of code: where it is (module+0xoffset) if no name is known */
    const char *file;
    const char *module; /* its path; of code the last part of it */
    uint32_t line;
    const char *primitive;
    uint64_t domain;                /* id of the communicator; 0: none */
    struct pct_totals own;          /* calls made right there */
    pc_u128 below_ns;               /* time in MPI there and in all that was called from there */
    struct pct_sampled self, total; /* right there; with what was called from there */
    uint32_t
        first_node; /* chain of the profile's nodes: whose calls are its own, of code samples */
    uint32_t seen;  /* while totals are added */
    bool has_spread;
    struct pct_spread spread;
};

struct pct_rolled {
    struct pct_rolled_row *row;
    size_t n;
    enum pct_by by;
    uint32_t *next; /* by node of the profile: next of its chain */
    const struct pct_model *model;
    const struct pct_samples *samples;
    struct pct_pool *pool;
};

struct pct_rolled *pct_roll_up(const struct pct_model *m, struct pct_symbols *s,
                               const struct pct_samples *samples, enum pct_by by);
void pct_rolled_free(struct pct_rolled *r);

/* Adds the time of a row's own calls, of code the CPU time of its own samples, to values[k] of the
 * k-th rank of the profile, as pct_model_add_ranks. */
void pct_rolled_ranks(const struct pct_rolled *r, size_t row, uint64_t *values, bool *present);

/* The least and the greatest of them. Made when it is first asked for. */
struct pct_spread pct_rolled_spread(const struct pct_rolled *r, size_t row);

#endif
