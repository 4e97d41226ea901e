/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks reach each other: a table of functions, so that the merge knows neither MPI nor the
 * process it runs in. In a job the adapter fills it with PMPI calls (libcollect/mpi); tests fill it
 * with memory.
 */
#ifndef PC_TRANSPORT_H
#define PC_TRANSPORT_H

#include <stddef.h>

/* Collective services for the merge, over a communicator of its own. All functions
 * return 0 or a negative enum pc_err. */
struct pc_transport {
    void *self;
    int rank, n_ranks;
    int (*send)(void *self, const void *data, size_t n, int to);
    /* Length first, then the data: the caller learns n before it must provide room. */
    int (*receive_size)(void *self, int from, size_t *n_out);
    int (*receive)(void *self, void *data, size_t n, int from);
    int (*broadcast)(void *self, void *data, size_t n, int root);
    /* Called by every rank that can, before anything else is: afterwards all are there. A limit in
     * milliseconds, or -1: PC_ENOENT if not all came within it, and then nothing else may be
     * called. NULL: they are there. */
    int (*meet)(void *self, int limit_ms);
    int n_parents; /* processes of the job that has started this one by MPI_Comm_spawn, or 0 */
};

#endif
