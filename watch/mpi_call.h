/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The current MPI call of a thread, in a process that libpcollect measures: the wrapper has struct
 * pc_call, with the arguments, on the stack during the real call. Without the library there is
 * none.
 */
#ifndef PCT_MPI_CALL_H
#define PCT_MPI_CALL_H

#include "watch/caught.h"

enum pct_call_comm {
    PCT_COMM_NONE, /* the call has none, or it is not known */
    PCT_COMM_WORLD,
    PCT_COMM_SELF,
    PCT_COMM_AS_WORLD, /* another one, with the ranks of MPI_COMM_WORLD in the same order */
    PCT_COMM_OTHER
};

enum { PCT_RANK_NULL = -2 }; /* MPI_PROC_NULL, whose number each MPI chooses */

/* A message that a call waits for: a receive or a send of one of its requests. */
struct pct_message {
    bool send;
    enum pct_call_comm comm; /* never PCT_COMM_NONE */
    uint64_t domain;
    int peer, tag; /* peer in the communicator; negative: any */
    /* World ranks of the members of another communicator; set by the user of this structure. */
    const int *members;
    int n_members;
};

struct pct_mpi_call {
    bool known;
    const char *op; /* "MPI_Send" */
    uint64_t begin; /* ticks */
    enum pct_call_comm comm;
    uint64_t domain; /* of the communicator, on all ranks the same; 0: not known */
    /* In the communicator; negative: none, or for a tag any. The peer of a call that only receives
     * is its source. */
    int peer, root, tag;
    /* Source of an exchange, whose peer is its destination. A source is negative for any or not
     * known, PCT_RANK_NULL for none. */
    int source;
    uint64_t at; /* address in the stack */
    /* Addresses, of a call that waits for requests. */
    uint64_t requests;
    int n_requests;
    /* The messages of these that are not complete, freed with pct_free, and the number of unknown
     * requests (waited_messages.h). */
    struct pct_message *messages;
    int n_messages, n_unknown;
};

struct pc_adapter;

/* Reads the descriptor of libpcollect's adapter in a process. False: there is none at this address,
 * or it is one of another version. */
bool pct_mpi_adapter_read(int pid, uint64_t at, struct pc_adapter *out);

/* Finds the call in the copy of the stack; of nested calls the outermost. adapter: address of the
 * adapter's descriptor; 0: none, then a receive without a source counts as one with any. */
void pct_mpi_call_find(struct pct_caught *c, uint64_t adapter, struct pct_mpi_call *out);

#endif
