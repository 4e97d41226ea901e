/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU time of the samples of a profile, at a node and over all, and the error of a part.
 *
 * A sample inside an MPI call belongs to the call's function. A sample that stands for w ns adds
 * w^2 to the variance, times p (1 - p) for a part p of the whole: doc/internals/sampling.md derives
 * it, doc/error-bars.md says when it holds.
 */
#ifndef PCT_SAMPLES_H
#define PCT_SAMPLES_H

#include "analysis/buffer.h"
#include "format/profile.h"

/* Samples, and the CPU time that they stand for; of all ranks and threads. */
struct pct_sampled {
    uint64_t samples;
    pc_u128 ns;
    double squares; /* sum of the squares of each one's time in ns */
    double lost_ns; /* of all: time of samples that the kernel left out, at any place; else 0 */
};

struct pct_samples {
    const struct pc_profile *profile;
    struct pct_sampled all;   /* in computation and in MPI calls */
    struct pct_sampled whole; /* `all` of the run: errors of times */
    struct pct_sampled mpi;   /* in MPI functions themselves */
    struct pct_sampled cut;   /* samples whose outer frames are unknown */
    uint32_t cut_module;      /* that has the outermost frame of most of them; PC_NO_INDEX: none */
    uint32_t samples_field, time_field, squares_field; /* of the profile, PC_NO_INDEX: none */
    uint32_t event_field; /* of an event that was sampled beside the clock */
};

/* Never NULL; all.samples is 0 if the profile has none. `whole` is `all`: a part's owner sets it,
 * since the total of a part is an estimate itself. */
struct pct_samples *pct_samples_new(const struct pc_profile *p);
void pct_samples_free(struct pct_samples *s);

/* The field of a plugin, PC_NO_INDEX: the profile has none. */
uint32_t pct_samples_field(const struct pc_profile *p, const char *plugin, const char *name);

/* True if the profile has samples. */
bool pct_samples_any(const struct pc_profile *p);

/* Samples at a node of the profile itself. */
struct pct_sampled pct_samples_of(const struct pct_samples *s, uint32_t node);

/* True if anything was sampled at a node itself, by the clock or an event. */
bool pct_samples_has(const struct pct_samples *s, uint32_t node);

/* Makes it from the values of the fields. */
struct pct_sampled pct_samples_made(const struct pct_samples *s, pc_u128 samples, pc_u128 ns,
                                    pc_u128 squares);

/* CPU time for which samples of computation stand from MPI_Init on, of all threads of a rank, or
 * with NULL of all ranks; below 0: the profile does not say. A program that calls MPI before
 * MPI_Init is sampled from that call on, and nothing tells such samples apart in a context. */
double pct_samples_from_init_ns(const struct pc_profile *p, const int32_t *rank);

/* CPU time of such samples before MPI_Init, of all ranks; 0: none, or not known. */
double pct_samples_early_ns(const struct pct_samples *s);

void pct_sampled_add(struct pct_sampled *to, struct pct_sampled what);

/* Factor by which the variance may be larger if the program's period is close to the sampling
 * period. */
#define PCT_SAMPLES_REGULAR 2.0

/* Variance of part.ns. */
double pct_samples_variance(struct pct_sampled part, struct pct_sampled all);

/* Half of the width of the 95 % interval of part.ns; false: too few samples to say. It covers lost
 * samples wherever they belong: their times are added to it. */
enum { PCT_SAMPLES_FEW = 10 };
bool pct_samples_error(struct pct_sampled part, struct pct_sampled all, pc_u128 *ns_out);

/* Text of a part for users, in time or as a share of all: 1.84 s +- 0.16 s; 41.77 ms few, if there
 * are too few samples. */
void pct_sampled_text(struct pct_buf *b, struct pct_sampled part, struct pct_sampled all,
                      bool share);

#endif
