/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated ranks: each is a coroutine in which the project's own code of the end of a job runs
 * with a transport, a clock and effects of this file. At every step all possible next events are
 * tried: which rank continues, is killed or is stopped for a while, which message is late, when a
 * node is recovered, and at which of its steps that recovery is killed. A run is repeated from its
 * beginning with another choice until there is none left; a run that reaches a known state ends
 * there. (The actions of a rank depend only on the results that it gets, so its state is the list
 * of these results.)
 */
#ifndef TESTS_MERGE_EXPLORER_H
#define TESTS_MERGE_EXPLORER_H

#include "merge/ending.h"

#include <stdbool.h>

enum { EXPLORED_RANKS = 4, MOST_ARRIVALS = 8 };

enum rank_kind {
    MEASURED,
    REFUSED, /* has the library, and nothing to merge */
    FOREIGN, /* has no library: it never answers, and ends like any rank */
    LEFT     /* likewise, from when it would come on; who looks again sees it */
};

/* Options of an exploration. */
struct exploration {
    const char *name;
    bool is_long; /* only in the long form */
    int n_ranks;
    enum rank_kind kind[EXPLORED_RANKS];
    int limit_ms[EXPLORED_RANKS]; /* of each rank; -1: it knows that all come */
    bool speaks[EXPLORED_RANKS];
    bool mute[EXPLORED_RANKS]; /* it can begin no step of the meeting; who looks again sees it */
    uint64_t arrivals_ms[MOST_ARRIVALS]; /* any of these for each rank */
    unsigned n_arrivals;
    unsigned n_kills, n_stops, n_slow; /* how many of each at most */
    bool recovers;                     /* what is left is recovered, on each node by itself */
    int node[EXPLORED_RANKS];
    unsigned n_killed_recoveries;
    bool all_orders; /* of steps that do not depend on each other, too */
    /* The end of a rank, pc_end_job or something that is wrong. */
    enum pc_end (*end)(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                       struct pc_error *error);
};

struct explored {
    unsigned long n_runs, n_states, n_steps, n_profiles, n_recoveries;
    uint64_t longest_wait_ms; /* of a rank, for others that had come or never came */
    char wrong[1000];         /* the first run that went wrong and why; else empty */
};

/* The merge of a rank and its actions after it: the effects on files are the caller's. rank 0 is
 * the one that writes. */
struct explored_files {
    int (*merge)(int rank, const struct pc_transport *t, struct pc_error *error);
    int (*late)(int rank, bool ended); /* twice: behind MPI_Finalize, and at its exit */
    unsigned (*told_late)(int rank);   /* what the profile has of it: 0, after the first, 2 */
    bool (*is_whole)(int rank);        /* the profile holds this rank */
    void (*begin)(void);               /* of a run: there is no profile */
    unsigned (*n_profiles)(void);
    /* Recovers the arenas of these ranks (bit r: rank r); `marked` ones are marked as contained in
     * the profile. kill_at: it is killed before the effect of that number; 0: it reaches its end,
     * and *n_effects is the number of effects. Returns the ranks whose arenas remain. */
    unsigned (*recover)(unsigned ranks, unsigned marked, unsigned kill_at, unsigned *n_effects);
};

void explore(const struct exploration *x, const struct explored_files *files, struct explored *out);

/* While one is explored: neither killed nor at its end. */
bool explored_lives(int rank);

#endif
