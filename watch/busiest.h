/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Samples of an interval, summed by function, by context and by process as they arrive.
 *
 * A sum is made for its first sample, and pct_busiest_clear removes all: memory is bounded by the
 * data of one interval. Every sample is in one cell for each function of its stack, in one context
 * and in one process. Nothing here is MT-safe.
 */
#ifndef PCT_BUSIEST_H
#define PCT_BUSIEST_H

#include "watch/recorder.h"

enum { PCT_BUSY_NONE = -1 };

/* A function, or an MPI function. */
struct pct_busy_place {
    const char *function;                  /* its name, or else its label; NULL: unknown */
    const struct pct_stack_module *module; /* NULL: no file, or an MPI function */
    bool mpi;                              /* an MPI function */
};

/* A process in a program: one that execs has two. */
struct pct_busy_process {
    int pid, rank; /* as of struct pct_sampled_stack */
    uint64_t job;  /* of the rank; 0: unknown */
    bool mpi;      /* an MPI library is mapped */
    const char *program;
    uint64_t ns, mpi_ns; /* mpi_ns: part of ns in MPI */
    uint64_t samples;
};

/* A function in a process. */
struct pct_busy_cell {
    uint32_t place, process;
    uint64_t self_ns, total_ns; /* in the function itself; with all that it called */
    uint64_t samples;           /* of total_ns */
};

/* The innermost frame of a context; the others are those of `parent` and its parents. */
struct pct_busy_context {
    int64_t parent; /* index, or PCT_BUSY_NONE */
    uint32_t place;
    uint64_t ns; /* samples that ended here */
    uint64_t samples;
};

struct pct_busiest_index;

struct pct_busiest {
    struct pct_busy_place *places;
    struct pct_busy_process *processes;
    struct pct_busy_cell *cells;
    struct pct_busy_context *contexts;
    size_t n_places, n_processes, n_cells, n_contexts;
    uint64_t ns, mpi_ns, samples;
    struct pct_busiest_index *index;
};

void pct_busiest_init(struct pct_busiest *b);
void pct_busiest_clear(struct pct_busiest *b);
void pct_busiest_free(struct pct_busiest *b);

/* Adds a sample; a callback for pct_recorder_show. */
void pct_busiest_add(void *busiest, const struct pct_sampled_stack *s);

#endif
