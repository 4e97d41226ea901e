/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structures inside libpcol: the data of a profile. All of it except `profile` is memory of its
 * runs, made at first use, and kept until the profile is closed.
 */
#ifndef PCOL_PRIVATE_H
#define PCOL_PRIVATE_H

#include "include/pcollect/profile.h"

#include "analysis/gather.h"
#include "view/table.h"

struct pcol_table {
    struct pcol_profile *of;
    const struct pct_table *table;
    const struct pct_data *data;
    struct pcol_column *columns;
};

enum { N_SHAPES = PCOL_TREE_CALLERS + 1 };

struct sums;
struct stored_source;

struct pcol_profile {
    struct pct_memory *memory;
    bool refused;
    struct pc_profile *profile;
    struct pct_data *data;
    struct pct_tree_options options;
    struct pct_rows_table *plugins; /* one for each table of the profile */
    struct pcol_table *tables;      /* pct_tables, then plugins */
    size_t n_tables;
    struct sums *sums; /* sums made so far */
    struct pcol_tree *trees[N_SHAPES];
    struct pcol_finding *findings; /* the last one has no rule */
    struct pcol_address *addresses;
    size_t n_addresses;
    struct stored_source *sources;
    struct pc_error damage; /* parts that could not be read; empty: none */
    struct pc_error unread; /* the same of what is read when it is asked for */
};

/* Calls work(arg), which may allocate. If memory is refused, the profile remembers it. */
void pct_lib_run(struct pcol_profile *p, void (*work)(void *arg), void *arg);

/* ---- In a run ---- */

/* Fills in a table of the profile. */
void pct_lib_set_table(struct pcol_table *out, struct pcol_profile *p,
                       const struct pct_table *table, const struct pct_data *data);

/* Computes the findings, once. */
const struct pct_findings *pct_lib_findings(struct pcol_profile *p);

#endif
