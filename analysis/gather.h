/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The source of tables, findings and pictures: the parts of one profile, or a comparison.
 *
 * A part is made at first use, and kept: the table of ranks, for example, reads no symbols and
 * makes no tree. So getters take a constant pct_data: the parts that they make are in `parts`, and
 * are the same at every call. Only some trees may be freed before (pct_data_forget_tree and
 * pct_data_forget_callers).
 */
#ifndef PCT_GATHER_H
#define PCT_GATHER_H

#include "analysis/buffer.h"
#include "analysis/open_calls.h"
#include "analysis/rank_classes.h"
#include "analysis/rank_times.h"
#include "analysis/symbols/symbols.h"
#include "analysis/thread_times.h"
#include "analysis/traffic/traffic.h"
#include "analysis/tree/roll_up.h"
#include "analysis/tree/totals.h"
#include "analysis/tree/tree.h"

/* Tells which member of the union below is set. */
enum pct_data_kind {
    PCT_DATA_PROFILE,
    PCT_DATA_ROWS, /* PCT_DATA_PROFILE with the rows of a plugin's table */
    PCT_DATA_CUBE, /* PCT_DATA_PROFILE with rows by keys */
    PCT_DATA_TREE, /* PCT_DATA_PROFILE with the nodes of a tree */
    PCT_DATA_SCALE,
    PCT_DATA_DIFF,
    PCT_DATA_REPEATS
};

struct pct_parts;

struct pct_data {
    enum pct_data_kind kind;
    struct pct_pool *pool;
    /* Belongs to a profile; NULL in a comparison. */
    const char *file; /* as it was named */
    const struct pc_profile *profile;
    const struct pc_profile *whole; /* the profile of which it is a part; itself, if it is none */
    uint32_t n_added_up;            /* contexts of one rank each that were added up after reading */
    bool was_folded;                /* others were added up in the job */
    size_t n_contexts;              /* of calls before that; 0: none were added up */
    struct pct_totals *totals;
    struct pct_symbols *symbols;
    struct pct_parts *parts;       /* by the getters below */
    struct pct_findings *findings; /* NULL: not looked for */
    union {
        const struct pc_profile_table *rows_of;
        unsigned keys; /* of the cube, enum pct_key */
        const struct pct_tree *tree;
        const struct pct_scale *scale;
        const struct pct_diff *diff;
        const struct pct_repeats *repeats;
    };
};

/* Takes ownership of the symbols; the profile must outlive it. Whoever gives a part sets `whole`.
 */
struct pct_data *pct_data_new(const char *file, const struct pc_profile *p,
                              struct pct_symbols *symbols, const struct pct_tree_options *options);
void pct_data_free(struct pct_data *d);

/* ---- Parts of a profile: never NULL, owned by `d`, init-only --------------------------------- */

/* Calls by line, as tables of calls have them. */
struct pct_tree *pct_data_tree(const struct pct_data *d);
/* Frees this tree, and what is made of it: of many contexts it takes most memory, and makers of
 * another tree may not need it any more. Nothing may point to it; getters make it again. */
void pct_data_forget_tree(const struct pct_data *d);
/* Calls and samples by line. */
struct pct_tree *pct_data_lines(const struct pct_data *d);
/* Calls and samples by function. */
struct pct_tree *pct_data_functions(const struct pct_data *d);
/* The symbols, after every address was looked up: only then are all complaints known. */
struct pct_symbols *pct_data_symbols(const struct pct_data *d);
struct pct_samples *pct_data_samples(const struct pct_data *d);
struct pct_counts *pct_data_counts(const struct pct_data *d);
struct pct_estimates *pct_data_estimates(const struct pct_data *d);
/* keys: enum pct_key, or-ed. */
struct pct_rolled *pct_data_rolled(const struct pct_data *d, unsigned keys);
/* Division of the time of ranks outside MPI. */
const struct pct_rank_times *pct_data_rank_times(const struct pct_data *d);
/* Waits for the rank that is longest outside MPI and does not wait there for its threads that are
 * in MPI. Messages of ranks that exchange none with it, directly or through others, are none. */
struct pct_wait_times pct_data_wait_times(const struct pct_data *d);
const struct pct_partners *pct_data_partners(const struct pct_data *d);
/* Ranks that spend their time alike. */
const struct pct_rank_classes *pct_data_rank_classes(const struct pct_data *d);
const struct pct_thread_times *pct_data_thread_times(const struct pct_data *d);
/* True if time in a runtime of OpenMP may be its own work instead of a wait: runtime_work.h. */
bool pct_data_runtime_works(const struct pct_data *d);
/* True for a threading runtime in which threads wait for each other: it computes nothing for the
 * program. `module`: its path or its name; NULL: false. */
bool pct_data_threads_wait_in(const struct pct_data *d, const char *module);
const struct pct_open_calls *pct_data_open_calls(const struct pct_data *d);
/* All time in MPI: in the contexts, and in the open calls. */
pc_u128 pct_data_mpi_ns(const struct pct_data *d);
/* True if places have their folders: pct_tree_options. */
bool pct_data_full_paths(const struct pct_data *d);
/* By module: nodes of the profile in it. */
const uint32_t *pct_data_frames(const struct pct_data *d);

/* A value of each rank, all 0: whoever uses them leaves them so. */
struct pct_rank_room {
    uint64_t *values;
    bool *present;
};
struct pct_rank_room pct_data_rank_room(const struct pct_data *d);

/* The contexts of MPI calls: OP nodes of the tree, in its order. */
struct pct_contexts {
    uint32_t *node;
    size_t n;
};
const struct pct_contexts *pct_data_contexts(const struct pct_data *d);
/* Their number, for which no tree is made; also with those that were added up. */
size_t pct_data_count_contexts(const struct pct_data *d);
/* Time of the i-th context over ranks. */
struct pct_spread pct_data_context_spread(const struct pct_data *d, size_t i);
/* Time in which ranks waited, by node of pct_data_tree: the wait of a function
 * (pct_data_wait_times) is divided among its contexts by how much longer ranks are there than the
 * one that is waited for. NULL: not known. */
const double *pct_data_waiting(const struct pct_data *d);

/* Nodes of a tree in the order in which they are rows. */
struct pct_tree_rows {
    struct pct_tree *tree;
    uint32_t *row;
    size_t n;
    uint32_t *depth; /* of callers: frames from the root to each node of the tree */
};
/* Calls by line, upside down. */
const struct pct_tree_rows *pct_data_callers(const struct pct_data *d);
/* Samples by function, upside down. */
const struct pct_tree_rows *pct_data_computation(const struct pct_data *d);
const struct pct_tree_rows *pct_data_sample_callers(const struct pct_data *d);
/* Frees the two trees of callers. As pct_data_forget_tree. */
void pct_data_forget_callers(const struct pct_data *d);

/* ---- Comparisons: NULL if `d` is another kind of data ---------------------------------------- */

static inline const struct pct_scale *pct_data_scale(const struct pct_data *d)
{
    return d->kind == PCT_DATA_SCALE ? d->scale : NULL;
}

static inline const struct pct_diff *pct_data_diff(const struct pct_data *d)
{
    return d->kind == PCT_DATA_DIFF ? d->diff : NULL;
}

static inline const struct pct_repeats *pct_data_repeats(const struct pct_data *d)
{
    return d->kind == PCT_DATA_REPEATS ? d->repeats : NULL;
}

/* False if the program was sampled and did not begin MPI: there is no name of an MPI library, and
 * it called at most functions that are allowed before MPI_Init. */
bool pct_data_calls_mpi(const struct pct_data *d);

#endif
