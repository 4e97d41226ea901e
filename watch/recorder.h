/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns samples into contexts while processes run: each sample is walked when it arrives and added
 * to a tree, or passed to the caller; no sample is kept. There is a tree for each rank and program,
 * or for each program without ranks, for any number of processes and threads.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_RECORDER_H
#define PCT_RECORDER_H

#include "analysis/symbols/symbols.h"
#include "watch/code_frames.h"
#include "watch/sample_rings.h"
#include "watch/stack_tree.h"

struct pct_recorder;

struct pct_recorded {
    uint64_t n_samples;
    uint64_t n_of_event;     /* samples of the event */
    uint64_t sampled_ns;     /* time that the samples of the clock stand for */
    uint64_t sampled_events; /* events that the samples of the event stand for */
    /* Samples whose outer frames could not be found, by reason. */
    uint64_t n_cut[PCT_N_CUTS];
    uint64_t n_hidden;              /* the same, of processes whose mappings we may not read */
    uint64_t n_gone;                /* the same, in files that could not be opened */
    bool starved;                   /* too few descriptors were a reason for that */
    uint64_t n_foreign;             /* the same, of processes outside of our pid namespace */
    struct pct_tableless tableless; /* those of PCT_CUT_TABLE by file */
    uint64_t n_java;                /* samples in code that Java made, without names */
    uint64_t n_made;                /* samples in code that other programs made, likewise */
    uint64_t n_unknown;             /* samples without code of a program, as in kernel threads */
    /* Records that the kernel had no room for: of the clock and of actions; of the event. */
    uint64_t n_lost, n_lost_of_event;
    uint64_t n_processes; /* with samples */
    size_t n_programs;    /* with samples; in a profile without ranks each is a region */
    int n_ranks, world;   /* 0: no ranks */
    uint64_t
        other_ns; /* time of processes that are no ranks, if there are ranks: not in the profile */
};

/* A sample with its process. Valid during the call; its names are valid as long as the recorder. */
struct pct_sampled_stack {
    int pid;      /* 0: outside of our pid namespace; -1: it has ended */
    int rank;     /* -1: none */
    uint64_t job; /* of the rank, from its launcher; 0: unknown */
    bool mpi;     /* an MPI library is mapped */
    /* The name of its program, or "(unknown program)"; "": the kernel, or a process in exec. */
    const char *program;
    const struct pct_stack *stack;
    const struct pct_shown_frames *shown;
    uint64_t ns;
};

/* Makes a recorder. event: name of the event sampled beside the clock, which must outlive the
 * recorder; NULL: none.
 */
struct pct_recorder *pct_recorder_new(const char *event);
/* Passes every sample to the function from now on, instead of keeping it: then there is no
 * profile. */
void pct_recorder_show(struct pct_recorder *r,
                       void (*show)(void *arg, const struct pct_sampled_stack *s), void *arg);
/* Adds a running process, and reads its mappings. */
void pct_recorder_add(struct pct_recorder *r, int pid);
/* Reads the mappings of such a process again. */
void pct_recorder_map(struct pct_recorder *r, int pid);
/* One of the recorded processes that run still; 0: none is known. *n: their number. */
int pct_recorder_living(const struct pct_recorder *r, size_t *n);
/* Callback for pct_rings_drain. */
void pct_recorder_take(void *recorder, const struct pct_ring_record *record);
/* Profile of what is known so far; valid until the recorder is freed. */
const struct pct_recorded *pct_recorder_told(const struct pct_recorder *r);
/* Takes the number of records that were lost in all. share_events: samples of the event share out
 * how often it has happened. At a frequency they stand for what the kernel guesses when it sets
 * their distance. */
void pct_recorder_counted(struct pct_recorder *r, const struct pct_rings_counts *counts,
                          bool share_events);
/* Names what is recorded, which has no ranks: the profile of several programs gets this name if
 * none of them has nine tenths of the time, or `always`. Without it the one with most time gives
 * its own. The name must outlive the recorder. */
void pct_recorder_name(struct pct_recorder *r, const char *name, bool always);
/* Samples recorded between two times, as a profile, which the caller frees; NULL: there are none.
 * If all belong to one MPI job, it has its ranks, if `ranks` is set. Ends the collection:
 * afterwards only show_files and free are allowed. */
int pct_recorder_profile(struct pct_recorder *r, bool ranks, uint64_t begin_ns, uint64_t end_ns,
                         struct pct_recorded *told, struct pc_profile **out,
                         struct pc_error *error);
/* Number of files for whose functions' names there was no memory while samples were taken. A
 * profile has them nevertheless: it looks them up when it is written. */
size_t pct_recorder_unnamed(const struct pct_recorder *r);

/* Tells the symbols of such a profile where files of containers are, and the names of code that
 * processes made, while the recorder lives. */
void pct_recorder_show_files(const struct pct_recorder *r, const struct pc_profile *p,
                             struct pct_symbols *symbols);
void pct_recorder_free(struct pct_recorder *r); /* NULL is allowed */

#endif
