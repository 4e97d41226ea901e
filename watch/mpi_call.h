/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The MPI call that a thread is in, of a process that libpcollect measures: its wrapper keeps
 * struct pc_call on the stack, with the arguments, from before the real call on. Where the library
 * is not loaded there is none.
 */
#ifndef PCT_MPI_CALL_H
#define PCT_MPI_CALL_H

#include "watch/caught.h"

enum pct_call_comm {
    PCT_COMM_NONE, /* the call has none, or it is not known */
    PCT_COMM_WORLD,
    PCT_COMM_SELF,
    PCT_COMM_AS_WORLD, /* another one, of the ranks of MPI_COMM_WORLD in their order */
    PCT_COMM_OTHER
};

struct pct_mpi_call {
    bool known;
    uint64_t begin; /* ticks */
    enum pct_call_comm comm;
    uint64_t domain; /* of the communicator, on all ranks the same; 0: not known */
    /* In the communicator; negative: none, or for a source and a tag any. */
    int peer, root, tag;
    int source; /* of an exchange, whose peer is the rank to which it sends */
};

/* Looks for it in the copy of the stack; of calls inside of each other, the outermost. */
void pct_mpi_call_find(struct pct_caught *c, struct pct_mpi_call *out);

#endif
