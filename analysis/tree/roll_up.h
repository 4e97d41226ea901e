/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls and samples of a profile summed in other ways than by context: by any set of keys.
 *
 * A call belongs to the frame that made it, inlined or not, and is below every frame of its path.
 * What a module of Python or its import passes on belongs to the function of Python. A sample
 * belongs to the frame that computed; samples inside MPI are below the calling frame, and belong to
 * a row of the MPI function. With PCT_KEY_CODE an MPI function is a row as any other, which has its
 * samples.
 *
 * Invariant: each record of the profile belongs to one row (with PCT_KEY_RANK its part of a rank
 * does), so that sums of calls, bytes, exclusive time and samples do not depend on the keys.
 *
 * Of a record whose times are kept in steps each rank has its time, within 1 / PC_STEPS; a row
 * without a rank has the rest: the calls and their bytes.
 */
#ifndef PCT_ROLL_UP_H
#define PCT_ROLL_UP_H

#include "analysis/symbols/symbols.h"
#include "analysis/tree/samples.h"
#include "analysis/tree/totals.h"
#include "analysis/tree/tree.h"

/* Keys of rows, or-ed. */
enum pct_key {
    PCT_KEY_FUNCTION = 1 << 0,
    PCT_KEY_FILE = 1 << 1, /* and the module of what has no file */
    PCT_KEY_LINE = 1 << 2,
    PCT_KEY_MODULE = 1 << 3,
    PCT_KEY_PRIMITIVE = 1 << 4, /* computation has none */
    PCT_KEY_COMMUNICATOR = 1 << 5,
    PCT_KEY_PHASE = 1 << 6,
    PCT_KEY_REGION = 1 << 7,  /* the innermost that was open */
    PCT_KEY_RANK = 1 << 8,    /* one row without a rank has what is not known by rank */
    PCT_KEY_CONTEXT = 1 << 9, /* a node of a tree; not with keys of frames */
    /* Options of a roll-up. */
    PCT_KEY_CODE = 1 << 10, /* MPI functions are rows, and so is all code without a name */
    PCT_KEY_HERE = 1 << 11, /* only the row's own calls, nothing called from it */
    /* Computation only: that of libraries belongs to the line of the program that called them, if
     * the function there is known. */
    PCT_KEY_PROGRAM = 1 << 12,
    /* Only code without lines that a line called, and MPI calls of such code: they belong to the
     * innermost line above them. */
    PCT_KEY_CALLED = 1 << 13
};

/* Sets of keys that tables have. */
enum {
    PCT_KEYS_OF_FRAMES = PCT_KEY_FUNCTION | PCT_KEY_FILE | PCT_KEY_LINE | PCT_KEY_MODULE,
    PCT_BY_FUNCTION = PCT_KEY_FUNCTION | PCT_KEY_FILE | PCT_KEY_MODULE,
    PCT_BY_LINE = PCT_KEYS_OF_FRAMES,
    PCT_BY_PROGRAM_LINE = PCT_KEYS_OF_FRAMES | PCT_KEY_PROGRAM,
    PCT_BY_PROGRAM_FUNCTION = PCT_BY_FUNCTION | PCT_KEY_PROGRAM,
    PCT_BY_CALLED = PCT_KEYS_OF_FRAMES | PCT_KEY_CALLED,
    PCT_BY_FILE = PCT_KEY_FILE,
    PCT_BY_MODULE = PCT_KEY_MODULE,
    PCT_BY_SITE = PCT_KEYS_OF_FRAMES | PCT_KEY_PRIMITIVE | PCT_KEY_HERE,
    PCT_BY_COMMUNICATOR = PCT_KEY_COMMUNICATOR | PCT_KEY_PRIMITIVE | PCT_KEY_HERE,
    PCT_BY_CODE_LINE = PCT_KEYS_OF_FRAMES | PCT_KEY_CODE,
    PCT_BY_CODE_FUNCTION = PCT_BY_FUNCTION | PCT_KEY_CODE
};

/* A row. Keys that are not in the set are NULL or 0. */
struct pct_rolled_row {
    /* Without a name: module+0xbegin, of a call site and of a line of code with the offset behind
     * it. NULL: where it begins is not known, either; then code is module+0xoffset. */
    const char *function;
    const char *file;
    const char *module; /* its path; of code the last part of it */
    uint32_t line;
    const char *library; /* path of the library that computed; NULL: the code of the row itself */
    /* PCT_KEY_CALLED, PCT_KEY_PROGRAM: function in `library` that the line called; NULL: it has no
     * name, or with PCT_KEY_PROGRAM there are several. */
    const char *called;
    const char *primitive;
    uint64_t domain;    /* id of the communicator; 0: none */
    uint64_t phase;     /* 0: none */
    const char *region; /* its name */
    /* Entries of that region. Known with PCT_KEY_REGION and no other key but the phase. */
    bool has_entries;   /* the profile knows */
    uint64_t entered;   /* times */
    uint64_t region_ns; /* in it, inner regions included, of all threads */
    uint32_t context;   /* the node of the tree; 0: none */
    bool has_rank;
    bool in_steps; /* its times and its calls are not of the same records */
    int32_t rank;
    struct pct_call_sum own;        /* calls made by the row itself */
    pc_u128 below_ns;               /* inclusive time in MPI */
    struct pct_sampled self, total; /* exclusive; inclusive */
    uint32_t whole;                 /* PCT_BY_LINE: its line in `lines` */
    uint32_t first_node;            /* chain of the profile's nodes whose records are its own; with
                                       PCT_KEY_RANK there is none */
    uint32_t seen;                  /* while totals are added */
    bool has_spread;
    struct pct_spread spread;
};

/* Inclusive figures of a line, whatever functions and modules it is in. Those of its rows may add
 * up to more: a function may call another one of the line. */
struct pct_rolled_line {
    pc_u128 below_ns;
    struct pct_sampled total;
    uint32_t seen; /* while totals are added */
};

struct pct_rolled {
    struct pct_rolled_row *row;
    size_t n;
    struct pct_rolled_line *lines; /* PCT_BY_LINE */
    unsigned keys;
    uint32_t *next; /* by node of the profile: next of its chain */
    const struct pct_totals *totals;
    const struct pct_samples *samples;
    struct pct_pool *pool;
};

/* Makes the sums. `tree`: calls and samples, with PCT_KEY_CONTEXT; else NULL. */
struct pct_rolled *pct_roll_up(const struct pct_totals *m, struct pct_symbols *s,
                               const struct pct_samples *samples, const struct pct_tree *tree,
                               unsigned keys);
void pct_rolled_free(struct pct_rolled *r);

/* Adds the time of a row's own calls, or for code the CPU time of its own samples, to values[k] of
 * the k-th rank of the profile, like pct_totals_add_ranks. */
struct pct_range pct_rolled_ranks(const struct pct_rolled *r, size_t row, uint64_t *values,
                                  bool *present);

/* The least and the greatest of these values. Made at first use. */
struct pct_spread pct_rolled_spread(const struct pct_rolled *r, size_t row);

#endif
