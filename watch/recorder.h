/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From samples to contexts while processes run: each sample is walked as it comes and adds one to a
 * tree, or is shown to the caller; no sample is kept. There is a tree for each rank and program, or
 * for each program where there are no ranks, whatever number of processes and threads came and
 * went.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_RECORDER_H
#define PCT_RECORDER_H

#include "analysis/symbols/symbols.h"
#include "watch/sample_rings.h"
#include "watch/stack_tree.h"

struct pct_recorder;

struct pct_recorded {
    uint64_t n_samples;
    uint64_t n_of_event;     /* of them: those of the event */
    uint64_t sampled_ns;     /* that those of the clock stand for */
    uint64_t sampled_events; /* that those of the event stand for */
    uint64_t n_cut;          /* of them: the outer frames could not be found */
    uint64_t n_unknown;      /* of them: no code of a program, as in threads of the kernel */
    uint64_t n_lost;         /* records that the kernel had no room for */
    uint64_t n_processes;
    int n_ranks, world; /* 0: no ranks */
    uint64_t
        other_ns; /* of processes that are no ranks where there are ranks: not in the profile */
};

/* A sample and whose it is. It is valid during the call; the names in it, as long as the recorder.
 */
struct pct_sampled_stack {
    int pid, rank;       /* rank -1: none */
    bool mpi;            /* an MPI library is mapped */
    const char *program; /* path; "": a thread of the kernel */
    const struct pct_stack *stack;
    const struct pct_shown_frames *shown;
    uint64_t ns;
};

/* event: the name of what is sampled beside the clock, which outlives the recorder; NULL: nothing.
 */
struct pct_recorder *pct_recorder_new(const char *event);
/* Shows every sample from now on, in place of keeping it: then there is no profile. */
void pct_recorder_show(struct pct_recorder *r,
                       void (*show)(void *arg, const struct pct_sampled_stack *s), void *arg);
/* A process that runs already: what it has mapped is read. */
void pct_recorder_add(struct pct_recorder *r, int pid);
/* Callback for pct_rings_drain. */
void pct_recorder_take(void *recorder, const struct pct_ring_record *record);
/* Profile of what is known so far; valid until the recorder is freed. */
const struct pct_recorded *pct_recorder_told(const struct pct_recorder *r);
/* Samples recorded between two times, as a profile, which the caller frees; NULL: nothing was. Of
 * one MPI job it has the ranks, if they are wanted. Ends the collection: afterwards only show_files
 * and free are allowed. */
int pct_recorder_profile(struct pct_recorder *r, bool ranks, uint64_t begin_ns, uint64_t end_ns,
                         struct pct_recorded *told, struct pc_profile **out,
                         struct pc_error *error);
/* Tells the symbols of such a profile where files of containers are, while the recorder lives. */
void pct_recorder_show_files(const struct pct_recorder *r, const struct pc_profile *p,
                             struct pct_symbols *symbols);
void pct_recorder_free(struct pct_recorder *r); /* NULL is allowed */

#endif
