/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random facts ("rank r called MPI_X along this path, these are the figures"), from a fixed seed;
 * a profile made of them; and an oracle that adds the same facts in a table of strings, without
 * trees, indices or any code of the library.
 */
#ifndef RANDOM_PROFILE_H
#define RANDOM_PROFILE_H

#include "format/build.h"

#define N_TEST_FIELDS 8 /* see test_fields */
#define N_COMM_FIELDS 6 /* of them those of comm plugins; the last is `volume` */
#define TEST_BINS 40
#define MAX_DEPTH 24
#define N_TEST_MODULES 6
#define N_TEST_OPS 7
#define TEST_PATH_BYTES 64
#define N_TEST_TABLES 2
#define N_TEST_STRINGS 5
#define TEST_ROW_CELLS 8

struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n);

struct test_field {
    const char *plugin, *name;
    unsigned combine, unit, bins;
};
extern const struct test_field test_fields[N_TEST_FIELDS]; /* sorted */

/* Fields of a rank in profiles of that shape, as indices into test_fields. Returns their number. */
struct shape;
unsigned test_fields_of(const struct shape *s, int rank, unsigned list[N_TEST_FIELDS]);

/* Tables that also contain the facts; sorted. */
extern const struct pcollect_table test_tables[N_TEST_TABLES];
extern const char *const test_strings[N_TEST_STRINGS]; /* sorted */

extern const char *const test_op_names[N_TEST_OPS]; /* sorted */

/* Module i as rank `rank` knows it, in the order of pc_module_compare; its path is `path`. */
void test_module(int i, int rank, struct pc_profile_module *out, char path[TEST_PATH_BYTES]);

/* One record of one rank in one context. */
struct fact {
    int rank;
    unsigned depth;
    struct {
        int module; /* 0 .. N_TEST_MODULES-1, -1: unknown, -2: cut (first only) */
        uint64_t offset;
    } frames[MAX_DEPTH];
    uint64_t phase;  /* 0: none */
    int region;      /* 1 + index into test_strings; 0: none */
    int op;          /* -1: a frame without a call below it */
    uint64_t domain; /* of the call; 0: none */
    bool is_point;   /* op is -1, and the innermost frame is where the thread was interrupted */
    bool has_data;
    uint64_t values[N_TEST_FIELDS];
    uint64_t bins[TEST_BINS];
};

/* Shape of the trees of a test. */
struct shape {
    const char *name;
    unsigned n_facts;   /* per rank, at most */
    unsigned max_depth; /* frames */
    unsigned n_offsets; /* per module: few make ranks share contexts */
    bool lacks_volume;  /* odd ranks have no `volume` plugin */
    uint64_t max_value; /* of fields */
    bool all_kinds;     /* points, domains, phases, regions, fields of compute plugins */
    bool tables;
    uint32_t per_rank; /* of the profiles */
};
extern const struct shape shapes[];
extern const unsigned n_shapes;

/* Facts of one rank; the same context may come twice (two threads). Freed by the caller. */
struct fact *random_facts(const struct shape *s, uint64_t seed, int rank, unsigned *n_out);

/* True if a fact has a figure that is not 0. Only such facts have rows. */
bool fact_is_used(const struct fact *f);

/* The row of a fact in table i: numbers as a plugin would write them, but strings as 1 + index, and
 * `node` for the context. */
void test_row(const struct fact *f, unsigned table, uint64_t node, uint64_t cells[TEST_ROW_CELLS]);

/* The profile of one rank's facts. */
struct pc_profile *profile_of(const struct shape *s, const struct fact *facts, unsigned n, int rank,
                              unsigned world_size);
struct pc_profile *random_profile(const struct shape *s, uint64_t seed, int rank,
                                  unsigned world_size);

/* Lets two of three records that have values keep their times in steps. */
void round_times(struct pc_profile *p);

/* A job of `n_ranks` whose facts are divided: before and after the merge. */
struct late_job {
    int n_ranks;
    struct pc_profile **late;
    struct pc_profile *main, *whole;
};
struct late_job make_late_job(const struct shape *s, int n_ranks, unsigned n_late);
void free_late_job(struct late_job *j);

/* The overlay of a late part on a copy of p. */
struct pc_profile *overlaid(const struct pc_profile *p, const struct pc_profile *late);

/* Fails the test unless p holds exactly these facts, summed. */
void assert_profile_tells(const struct pc_profile *p, const struct fact *facts, unsigned n);

/* The profile of a file; fails the test if it cannot be read, or only with a message. */
struct pc_profile *must_read(const char *path);

/* Fails the test unless both encode to the same bytes. */
void assert_same_bytes(const struct pc_profile *a, const struct pc_profile *b);

#endif
