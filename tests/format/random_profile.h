/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random facts ("rank r called MPI_X along this path, these are the figures"), from a fixed seed;
 * a profile made of them; and an oracle that adds the same facts in a table of strings, without
 * trees, indices or any code of the library.
 */
#ifndef RANDOM_PROFILE_H
#define RANDOM_PROFILE_H

#include "format/build.h"

#define N_TEST_FIELDS 6 /* see test_fields */
#define TEST_BINS 40
#define MAX_DEPTH 24
#define N_TEST_MODULES 6
#define N_TEST_OPS 7
#define TEST_PATH_BYTES 64

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
    int op; /* -1: a frame without a call below it */
    bool has_data;
    uint64_t values[N_TEST_FIELDS];
    uint64_t bins[TEST_BINS];
};

/* How trees of a test look. */
struct shape {
    const char *name;
    unsigned n_facts;   /* per rank, at most */
    unsigned max_depth; /* frames */
    unsigned n_offsets; /* per module: few make ranks share contexts */
    bool lacks_volume;  /* odd ranks have no `volume` plugin */
    uint64_t max_value; /* of fields */
};
extern const struct shape shapes[];
extern const unsigned n_shapes;

/* Facts of one rank; the same context may come twice (two threads). Freed by the caller. */
struct fact *random_facts(const struct shape *s, uint64_t seed, int rank, unsigned *n_out);

/* The profile of one rank's facts. */
struct pc_profile *profile_of(const struct shape *s, const struct fact *facts, unsigned n, int rank,
                              unsigned world_size);
struct pc_profile *random_profile(const struct shape *s, uint64_t seed, int rank,
                                  unsigned world_size);

/* Fails the test unless p holds exactly these facts, summed. */
void assert_profile_tells(const struct pc_profile *p, const struct fact *facts, unsigned n);

/* Fails the test unless both encode to the same bytes. */
void assert_same_bytes(const struct pc_profile *a, const struct pc_profile *b);

#endif
