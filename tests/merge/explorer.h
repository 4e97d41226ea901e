/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that are run by hand: each is a coroutine in which the project's own code of the end of a
 * job runs over a transport, a clock and effects of this file. At every step all that may happen
 * next is tried: which rank goes on, who is killed, who is stopped for a while, which word is slow,
 * when a node is recovered, and at which of its steps that recovery is killed.
 * A run is repeated from its beginning with another choice until there is none left; a state that
 * was met before is not gone on from. (A rank does nothing but what its results tell it, so its
 * state is the list of these results.)
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
    int n_ranks;
    enum rank_kind kind[EXPLORED_RANKS];
    int limit_ms[EXPLORED_RANKS]; /* of each rank; -1: it knows that all come */
    bool speaks[EXPLORED_RANKS];
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

/* The merge of a rank and what it did after it: the effects on files are the caller's. rank 0 is
 * the one that writes. */
struct explored_files {
    int (*merge)(int rank, const struct pc_transport *t, struct pc_error *error);
    int (*late)(int rank, bool ended); /* twice: behind MPI_Finalize, and at its exit */
    unsigned (*told_late)(int rank);   /* what the profile has of it: 0, after the first, 2 */
    bool (*is_whole)(int rank);        /* the profile holds this rank */
    void (*begin)(void);               /* of a run: there is no profile */
    unsigned (*n_profiles)(void);
    /* Recovers the arenas of these ranks (bit r: rank r); `marked` ones say that they are in the
     * profile. kill_at: it is killed before its effect of that number; 0: it comes to its end, and
     * *n_effects is how many there were. Returns whose arenas are left. */
    unsigned (*recover)(unsigned ranks, unsigned marked, unsigned kill_at, unsigned *n_effects);
};

void explore(const struct exploration *x, const struct explored_files *files, struct explored *out);

/* While one is explored: neither killed nor at its end. */
bool explored_lives(int rank);

#endif
