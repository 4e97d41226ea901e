/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that wait for each other, concluded from the current MPI calls of the ranks of a job.
 *
 * A rank waits if its only thread with code of the program has been in one call for two seconds at
 * least, and the call cannot end before others act:
 *
 *     a receive from one rank, a probe, a send to one     that rank
 *     a receive from any rank                             one of the others
 *     an exchange: MPI_Sendrecv; MPI_Wait, MPI_Waitall,   one of those of their messages that are
 *     MPI_Waitany, MPI_Waitsome                           not known to be complete at least, or all
 *     a collective that nobody leaves before all came     all members that are not in it
 *     a broadcast or a scatter, but for its root; a       one of the members: others have been
 *     reduction or a gather, its root; a collective with  there and left, or need nothing of it
 *     counts of each rank, as MPI_Allgatherv
 *
 * Ranks that do not wait may act; a rank that waits may act if the ranks for which it waits may
 * act. The others never will. All ranks that wait were in their calls before the first of them was
 * examined, so the calls belong to one moment. They did not need to run since: a job that was
 * suspended has calls that last and can end at once. So the caller looks at them twice.
 *
 * One case looks like a deadlock and is none: a message of a nonblocking send that takes longer
 * than the two seconds to arrive.
 *
 * Nothing is concluded from calls with unknown partners: those with an unknown request, and those
 * on communicators with unknown members.
 */
#ifndef PCT_WHO_WAITS_H
#define PCT_WHO_WAITS_H

#include "watch/mpi_call.h"

/* A rank waits if its call has lasted that long. */
static const uint64_t pct_waits_least_ns = 2000000000;

/* A rank, as it was seen. */
struct pct_waiting {
    int rank;
    const char *op; /* the MPI function; "": outside MPI, or not known */
    const struct pct_mpi_call *call;
    uint64_t ns;  /* duration so far; 0: not known */
    bool several; /* other threads also run code of the program */
    bool may_act; /* it was stopped by a signal, or may have left the call since */
    /* World ranks of the members of the call's communicator, if these are not all ranks; NULL: not
     * known. */
    const int *members;
    int n_members;
};

enum pct_wait_kind {
    PCT_WAIT_GONE,   /* ranks `who` wait for ranks `whom`, which have no process any more */
    PCT_WAIT_DIFFER, /* on one communicator `who` are in one collective, `whom` in another */
    PCT_WAIT_CIRCLE, /* each rank of `who` waits for the next one, the last for the first */
    PCT_WAIT_OTHERS  /* `who` wait in one call for `whom`, which do not wait */
};

/* A send and a receive between two ranks that do not match, because their communicators or their
 * tags differ. */
struct pct_misfit {
    bool found;
    int sender, receiver;              /* indices into the given ranks */
    struct pct_message sent, received; /* communicators and tags */
};

/* Numbers are indices into the given ranks; for PCT_WAIT_GONE `whom` has ranks. */
struct pct_wait {
    enum pct_wait_kind kind;
    int *who, *whom;
    size_t n_who, n_whom, room_who, room_whom;
    struct pct_misfit misfit; /* of a circle: between two ranks one of which waits for the other */
};

struct pct_waits {
    struct pct_wait *at;
    size_t n, room;
};

/* Finds waits among the n ranks seen, ascending, of `world`; all_here: ranks that were not seen
 * have ended. */
void pct_waits_find(const struct pct_waiting *ranks, size_t n, int world, bool all_here,
                    struct pct_waits *out);
void pct_waits_free(struct pct_waits *w);

#endif
