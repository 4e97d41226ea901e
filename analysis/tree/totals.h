/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals that follow from a profile: per primitive, per rank, over all. No symbols, no text.
 *
 * Time inside a nested call (made in a user's callback inside another call) is inside the outer
 * call's time too. `exclusive` is a call's time without nested calls: exclusive times of all
 * contexts add up to the time in MPI, inclusive ones may count nested time twice.
 */
#ifndef PCT_TOTALS_H
#define PCT_TOTALS_H

#include "analysis/tree/programs.h"

enum pct_metric {
    PCT_CALLS,
    PCT_TIME, /* inclusive, ns */
    PCT_SENT,
    PCT_RECEIVED,
    PCT_EXCLUSIVE, /* ns */
    PCT_N_METRICS
};

/* A sum over contexts and ranks. */
struct pct_call_sum {
    pc_u128 sum[PCT_N_METRICS];
    uint64_t min_ns, max_ns; /* shortest and longest call; 0 without calls */
};

/* Mean time of a call in ns, rounded; 0 without calls. */
static inline pc_u128 pct_call_sum_mean(const pc_u128 *sum)
{
    return sum[PCT_CALLS] ? (sum[PCT_TIME] + sum[PCT_CALLS] / 2) / sum[PCT_CALLS] : 0;
}

/* Distribution of one metric over the ranks that have it. */
struct pct_spread {
    uint32_t n; /* ranks */
    uint64_t min, max;
    int32_t min_rank, max_rank; /* the lowest rank with that value */
};

struct pct_op {
    struct pct_call_sum calls;
    uint32_t n_contexts;
    bool is_init, is_end; /* pct_totals_is_init and _end */
};

/* Sums over all ranks. mpi and compute are times between MPI_Init and MPI_Finalize of the main
 * threads (format/profile.h): in MPI, and outside of it. */
struct pct_overall {
    pc_u128 wall_ns, before_ns, inside_ns, after_ns, mpi_ns, compute_ns, merge_ns;
    struct pct_spread wall, mpi, compute, merge;
    struct pct_spread share; /* mpi of wall of each rank, thousandths of a percent */
    pc_u128 threads_mpi_ns;  /* time in MPI of all threads */
    pc_u128 threads_wall_ns; /* wall time of all threads that called MPI at the same time */
    uint32_t most_callers;   /* threads of a rank that called MPI at the same time */
    pc_u128 mpi_calls;
    uint64_t start_ns;             /* pct_totals_start_ns */
    uint32_t n_incomplete, n_open; /* ranks whose end was not seen, but that were merged */
    uint32_t n_missing;            /* ranks of the job that are not in the profile */
    uint64_t notes;                /* of any rank */
    uint64_t lost[PCOLLECT_N_LOST];
    uint32_t lost_ranks[PCOLLECT_N_LOST]; /* ranks that lost some */
};

/* Time in MPI_Finalize: of all ranks, and its own cost, which is taken as the shortest time for
 * each rank; the rest is waiting for later ranks. */
struct pct_end {
    double all_ns, own_ns;
};

struct pct_totals {
    const struct pc_profile *profile;
    bool has[PCT_N_METRICS]; /* the profile has the field */
    struct pct_op *ops;      /* profile->n_ops */
    struct pct_op_times *op_times;
    struct pct_overall all;
    pc_u128 context_mpi_ns; /* time in outermost calls, over contexts */
    pc_u128 calls_inside;   /* calls in others, over contexts; all.mpi_calls is without them */
    double init_ns;         /* time in MPI_Init of all ranks */
    double *rank_init_ns;   /* of each rank; their mean where values by rank are not kept */
    struct pct_end end;
    struct pct_programs programs;
    pc_u128 *exclusive_ns;         /* by node; NULL: no call was made in another one */
    uint32_t *outer;               /* by node; NULL: nothing is in a call */
    uint32_t field[PCT_N_METRICS]; /* index of the field, PC_NO_INDEX: not there */
    uint32_t min_field, max_field;
};

struct pct_totals *pct_totals_new(const struct pc_profile *p);
void pct_totals_free(struct pct_totals *m);

/* Time of the record of a call without the calls inside it; 0: it is none. */
pc_u128 pct_totals_exclusive(const struct pct_totals *m, uint32_t node);

/* The nearest OP above a node, or PC_NO_INDEX; a DOMAIN is part of its OP. */
static inline uint32_t pct_totals_outer(const struct pct_totals *m, uint32_t node)
{
    return m->outer ? m->outer[node] : PC_NO_INDEX;
}

/* True if ranks ran for long before MPI_Init: a share of the time from there on is much less of the
 * wall time. */
bool pct_totals_begins_late(const struct pct_overall *a);

/* The OP that a DOMAIN is part of; any other node is its own. */
uint32_t pct_totals_call(const struct pc_profile *p, uint32_t node);

/* Adds the record of node `node` to *t. */
void pct_totals_add(const struct pct_totals *m, uint32_t node, struct pct_call_sum *t);

/* Sums over the contexts that are added up in those around them (merge/fold.h); false: there are
 * none. */
bool pct_totals_folded(const struct pct_totals *m, struct pct_call_sum *sum_out);

/* PCT_TIME of a primitive by rank. Reads the values of all records, once. */
struct pct_spread pct_totals_op_time(const struct pct_totals *m, uint32_t op);

/* PCT_TIME of a primitive by index of the rank; 0 where it is not known. Belongs to m. */
const uint64_t *pct_totals_op_values(const struct pct_totals *m, uint32_t op);

/* False for functions in which a rank never waits for others: those of the process's environment,
 * local ones, and those that read or write a file of one rank alone. An unknown one may wait. */
bool pct_op_may_wait(const char *name);

/* Time in which ranks waited in MPI for the rank that is longest outside MPI, as far as values by
 * rank show it. The wait of a rank in a function is the time by which it is longer there (without
 * calls inside) than that rank; functions that do not wait are left out. All ranks
 * together wait at most for the time by which that rank is ahead of them, of which those that have
 * no wait in messages have at most the others: if the sum is more, all waits are reduced in
 * proportion. outside_ns: time of each rank outside MPI. group: if not NULL, ranks with another
 * number than that rank have no wait for it in messages. Both count in the first call. Reads the
 * values of all records, once; the arrays belong to m. */
struct pct_wait_times {
    bool known;                    /* values of at least one rank are kept */
    uint32_t longest;              /* index of the rank that is waited for */
    double most_ns;                /* all ranks together wait at most so long */
    const double *rank_ns, *op_ns; /* by index of the rank, and by primitive; the sums are equal */
    const double *message_ns;      /* by rank: all time in messages */
    const bool *op_is_message;     /* the primitive exchanges messages, or waits for them alone */
};
struct pct_wait_times pct_totals_wait_times(const struct pct_totals *m, const double *outside_ns,
                                            const uint32_t *group);

/* True if two ranks do not wait for each other in messages: `group` is not NULL, and has different
 * numbers for them. */
static inline bool pct_totals_are_apart(const uint32_t *group, size_t a, size_t b)
{
    return group && group[a] != group[b];
}

/* Spread of one record, from its statistics, without values; n 0: it has none. */
struct pct_spread pct_totals_record_time(const struct pct_totals *m, uint32_t node);

/* Ranks [first, end) of the profile; end 0: none. */
struct pct_range {
    uint32_t first, end;
};

static inline struct pct_range pct_range_join(struct pct_range a, struct pct_range b)
{
    if (!a.end || !b.end)
        return a.end ? a : b;
    return (struct pct_range){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

/* Adds a metric of the node's record (not PCT_EXCLUSIVE) to values[k] of the k-th rank of the
 * profile, and marks present[k]. Returns where it marked some; none: no values are known. */
struct pct_range pct_totals_add_ranks(const struct pct_totals *m, uint32_t node,
                                      enum pct_metric metric, uint64_t *values, bool *present);

/* Adds any field of the profile to values[k] in the same way, and marks present[k]. */
struct pct_range pct_totals_add_field(const struct pc_profile *p, uint32_t node, uint32_t field,
                                      uint64_t *values, bool *present);

/* The index of a rank in the profile, from `at` on; n_ranks: not there. */
uint32_t pct_totals_place_of_rank(const struct pc_profile *p, uint32_t at, int64_t rank);

/* Sets *at to the index of the rank that is the first key of a row; false: the profile does not
 * have it. For all rows in their order, *at is 0 before the first. */
bool pct_totals_rank_of_row(const struct pc_profile *p, const struct pc_profile_table *t,
                            uint32_t row, uint32_t *at);

/* The spread of such lists over the ranks of the range. */
struct pct_spread pct_totals_spread(const struct pc_profile *p, struct pct_range range,
                                    const uint64_t *values, const bool *present);

/* Sum of a column of numbers; 0 if there is no such table or column. */
pc_u128 pct_totals_column(const struct pc_profile_table *t, const char *name);

/* False: the plugin time was not loaded, so that contexts have no times of calls. */
bool pct_totals_has_times(const struct pc_profile *p);

bool pct_totals_is_init(const struct pc_profile_op *op);
bool pct_totals_is_end(const struct pc_profile_op *op);

/* Start of the rank that started first, ns since 1970; 0: unknown. */
uint64_t pct_totals_start_ns(const struct pc_profile *p);

/* Time of a rank of which the figures of its run are made: from MPI_Init to the return of
 * MPI_Finalize, without what pcollect took there. A process that does not begin MPI has all its
 * time, in which its profile is not written yet; one that was sampled from outside has none, since
 * it is not known what it did. */
uint64_t pct_totals_run_ns(const struct pc_profile_rank *r);

/* Times of the main thread: in MPI, and outside of it in the time of the run. */
uint64_t pct_totals_mpi_ns(const struct pc_profile_rank *r);
uint64_t pct_totals_compute_ns(const struct pc_profile_rank *r);
uint64_t pct_totals_wall_ns(const struct pc_profile_rank *r);

#endif
