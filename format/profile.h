/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile in memory: the merged trees of one or more ranks. It is what the ranks send each
 * other, what a .pcol file holds, and what the report reads.
 *
 * Invariants (pc_profile_check tests them):
 *  - modules are sorted by pc_module_compare and unique; ops are sorted by name and unique;
 *    fields are sorted by (plugin, name) and unique; ranks are sorted by rank and unique;
 *  - nodes are in preorder, node 0 is the root; the children of a node are sorted by
 *    pc_node_compare and unique, so that equal profiles have equal bytes;
 *  - every per-rank list is sorted by rank.
 * Merging two profiles is therefore one linear pass, associative and commutative to the bit.
 */
#ifndef PC_PROFILE_H
#define PC_PROFILE_H

#include "base/base.h"
#include "include/pcollect/format.h"

typedef unsigned __int128 pc_u128;

struct pc_profile_module {
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
    uint32_t build_id_bytes; /* 0: identified by path and identity */
    uint32_t flags;
    uint64_t identity;
    char *path; /* of equal modules the least in byte order */
};

struct pc_profile_op {
    char *name;
    uint16_t op_class; /* enum pcollect_class */
};

struct pc_profile_field {
    char *plugin, *name;
    uint16_t combine; /* enum pcollect_combine */
    uint16_t unit;    /* ticks have become nanoseconds */
    uint16_t bins;
};

/* What is known of one rank. Times in nanoseconds. */
struct pc_profile_rank {
    int32_t rank;
    int32_t pid;
    char *host;
    uint64_t start_realtime_ns; /* since 1970 */
    uint64_t before_init_ns;    /* exec to MPI_Init */
    uint64_t inside_ns;         /* MPI_Init to the return of MPI_Finalize */
    uint64_t after_ns;          /* MPI_Finalize to exit; 0 with `closed` false */
    uint64_t mpi_ns, mpi_calls; /* outermost calls only */
    uint64_t merge_ns;          /* spent by this library in MPI_Finalize; not in mpi_ns */
    uint32_t n_threads;
    uint32_t closed;     /* the process was seen to its end */
    uint32_t incomplete; /* recovered: MPI_Finalize was not reached */
    uint64_t notes;      /* enum pcollect_note */
    uint64_t lost[PCOLLECT_N_LOST];
};

/* Scalar metric of one node over ranks. Ranks without the context are not in it (n counts those
 * that have it). */
struct pc_stat {
    uint64_t n;
    pc_u128 sum;
    pc_u128 sum_squares; /* modulo 2^128 */
    uint64_t min, max;
    int32_t min_rank, max_rank; /* the lowest rank with that value */
};

struct pc_profile_node {
    uint32_t parent; /* UINT32_MAX for the root */
    uint32_t n_descendants;
    uint16_t kind; /* enum pcollect_node_kind */
    uint16_t flags;
    uint32_t module; /* FRAME: index; */
    uint32_t op;     /* OP: index into ops */
    uint32_t data;   /* index into data, or UINT32_MAX */
    uint64_t offset; /* FRAME */
};

/* The record of one node: for the k-th field either a statistic or bins. */
struct pc_profile_data {
    struct pc_stat *stats; /* n_fields; histograms: only n is used */
    uint64_t **bins;       /* n_fields; NULL but for histograms */
    uint32_t n_ranks;      /* entries of the per-rank lists */
    int32_t *ranks;        /* ascending */
    uint64_t *values;      /* n_ranks x n_fields, row per rank; 0 for histograms */
};

struct pc_profile {
    char *exe, *mpi, *job;
    uint64_t job_key;
    uint32_t world_size; /* ranks the job had; n_ranks of them are here */
    uint32_t n_ranks, n_modules, n_ops, n_fields, n_nodes, n_data;
    struct pc_profile_rank *ranks;
    struct pc_profile_module *modules;
    struct pc_profile_op *ops;
    struct pc_profile_field *fields;
    struct pc_profile_node *nodes;
    struct pc_profile_data *data;
    void *memory; /* everything above is in one pool, freed at once */
};

void pc_profile_free(struct pc_profile *p);

/* Total order of modules and of the children of one node. */
int pc_module_compare(const struct pc_profile_module *a, const struct pc_profile_module *b);

/* 0 if the invariants above hold; else PC_EFORMAT with the first that does not. */
int pc_profile_check(const struct pc_profile *p, struct pc_error *error);

/* The profile as bytes, and back. The bytes of equal profiles are equal. Decoding checks every
 * length and index: no input makes it crash. The caller frees *data_out with free(). */
int pc_profile_encode(const struct pc_profile *p, uint8_t **data_out, size_t *n_out);
int pc_profile_decode(const uint8_t *data, size_t n, struct pc_profile **out,
                      struct pc_error *error);

/* ---- .pcol files ---------------------------------------------------------------------------- */

/* Writes to a temporary name beside path, then renames. On failure nothing is left behind and the
 * text says why. */
int pc_pcol_write(const struct pc_profile *p, const char *path, struct pc_error *error);

/* Reads a file, with what its ranks added at their end. */
int pc_pcol_read(const char *path, struct pc_profile **out, struct pc_error *error);

/* After the merge each rank owns a slot of fixed size in the file for what happens later: the end
 * of MPI_Finalize, the time to exit, and calls made meanwhile (`late`, a profile of this rank
 * alone). Overwrites what the slot held. Verifies that path is still the file of job_key. */
int pc_pcol_write_late(const char *path, uint64_t job_key, const struct pc_profile *late,
                       struct pc_error *error);

#endif
