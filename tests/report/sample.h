/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Profiles made by hand, for tests of the report: a builder, and one run whose figures are all
 * known.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "analysis/rank_times.h"
#include "analysis/symbols/symbols.h"
#include "format/profile.h"

enum {
    SAMPLE_NODES = 64,
    SAMPLE_RANKS = 16,
    SAMPLE_OPS = 8,
    SAMPLE_MODULES = 5,
    SAMPLE_FIELDS = 7,
    SAMPLE_CLOCK_FIELDS = 2 /* of the plugin clock, behind the others */
};

/* Place of a field in the profile, sorted by name. */
enum sample_field { RECEIVED, SENT, COUNT, DURATIONS, MAX, MIN, TIME, SAMPLES, SAMPLED };

struct sample {
    struct pc_profile p;
    struct pc_profile_rank ranks[SAMPLE_RANKS];
    uint64_t lost[SAMPLE_RANKS][PCOLLECT_N_LOST];
    struct pc_profile_module modules[SAMPLE_MODULES];
    struct pc_profile_op ops[SAMPLE_OPS];
    struct pc_profile_field fields[SAMPLE_FIELDS + SAMPLE_CLOCK_FIELDS];
    struct pc_profile_node nodes[SAMPLE_NODES];
    struct pc_profile_data data[SAMPLE_NODES];
    struct pc_stat stats[SAMPLE_NODES][SAMPLE_FIELDS + SAMPLE_CLOCK_FIELDS];
    uint64_t bins[SAMPLE_NODES][40];
    uint64_t *bin_lists[SAMPLE_NODES][SAMPLE_FIELDS + SAMPLE_CLOCK_FIELDS];
    int32_t rank_lists[SAMPLE_NODES][SAMPLE_RANKS];
    uint64_t values[SAMPLE_NODES][SAMPLE_RANKS * (SAMPLE_FIELDS + SAMPLE_CLOCK_FIELDS)];
    struct pc_profile_table resources;
    struct pc_profile_column resource_columns[2];
    uint64_t resource_cells[2 * SAMPLE_RANKS];
};

/* Figures of one rank in one context. */
struct sample_calls {
    int32_t rank;
    uint64_t count, time, min, max, sent, received;
};

/* Divides the times of the ranks of a profile. */
static inline struct pct_rank_times *rank_times_of(const struct pc_profile *p)
{
    struct pct_totals *m = pct_totals_new(p);
    struct pct_rank_times *t = pct_rank_times_new(m);
    pct_totals_free(m);
    return t;
}

/* An empty profile with a root and the fields of the plugin time. */
void sample_begin(struct sample *s);
/* Sets what a rank has lost. */
void sample_lose(struct sample *s, int32_t rank, unsigned what, uint64_t n);
/* Adds the fields of samples to the profile; must be called before any node is added. */
void sample_clock(struct sample *s);
/* Nodes are added in preorder; siblings in their order. Each returns the new node. */
uint32_t sample_frame(struct sample *s, uint32_t parent, uint32_t module, uint64_t offset);
/* A phase or a region. */
uint32_t sample_around(struct sample *s, uint32_t parent, uint16_t kind, uint64_t offset);
uint32_t sample_cut(struct sample *s, uint32_t parent);
uint32_t sample_op(struct sample *s, uint32_t parent, uint32_t op);
/* Adds the figures of one rank in the last context; in ascending order of ranks. */
void sample_add(struct sample *s, const struct sample_calls *calls);
/* Adds an instruction that computes; and the time of one rank there, in ns. */
uint32_t sample_point(struct sample *s, uint32_t parent, uint32_t module, uint64_t offset);
void sample_add_samples(struct sample *s, int32_t rank, uint64_t ns);
/* Makes every part of the run longer by a factor, and adds the table `resources`, by which no
 * processor was free meanwhile. All contexts need figures of all ranks. */
void sample_stretch(struct sample *s, double factor);
/* Fills the statistics from the lists. */
void sample_end(struct sample *s);

/* The run: four ranks on two hosts, rank 3 was killed, a solver with a halo exchange that is
 * inlined, a reduction whose callback sends, a library without symbols. */
void sample_solver(struct sample *s);
void sample_teach_solver(struct pct_symbols *symbols);

/* One rank, names full of separators, control characters and bytes that are not UTF-8; two
 * addresses with the same text; and the names themselves, outermost first, NULL at the end. */
void sample_hostile(struct sample *s);
void sample_teach_hostile(struct pct_symbols *symbols);
extern const char *const sample_hostile_names[];

/* One rank and two contexts, whose bytes and times are the greatest numbers of four bytes and of
 * those that are exact in a double; their sums are one more. */
void sample_limits(struct sample *s);
/* One rank and two contexts. The nanoseconds of one are too many to be exact in a double; the
 * seconds of the other, times 1e9, are in doubles no whole number. */
void sample_great(struct sample *s);

/* The solver with tables of a plugin that have the names of ours and of their columns, but numbers
 * that are no references in all of them. */
void sample_mistyped(struct sample *s);

/* The solver with a table of two equal rows, which no reader accepts. */
void sample_unsorted(struct sample *s);

/* 4,096 ranks, 64 on each host, that all call two functions; one rank in the middle waits far
 * longer than the others. Only one such sample can exist in a process. */
void sample_wide(struct sample *s);
/* Samples of two ranks as `pcollect record` takes them: outside MPI and in calls, which it does not
 * know otherwise. */
void sample_recorded(struct sample *s);
/* The run of many ranks, in which the last rank of the job is missing, but not its messages. */
void sample_gap(struct sample *s);
/* The ranks of the solver without the plugin time: no fields and no contexts. */
void sample_timeless(struct sample *s);

#endif
