/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Watches of one request (adapter_requests.h), which most completing calls have. The part that sees
 * that nothing is remembered, or notes the request, is inline in the wrappers.
 */
#ifndef PC_ADAPTER_SINGLE_H
#define PC_ADAPTER_SINGLE_H

#include "libcollect/mpi/adapter_table.h"

/* Notes only the request: the rest of the watch is filled in when it is needed. A program may give
 * none, which the MPI calls an error. */
static inline void pc_watch_begin_single(struct pc_watch *w, struct pc_request_table *mine,
                                         const MPI_Request *request, MPI_Status **status)
{
    w->mine = request ? mine : NULL;
    if (PC_UNLIKELY(!request))
        return;
    w->few_requests[0] = *request;
    w->looked_up = false;
    if (*status == MPI_STATUS_IGNORE)
        *status = w->few_statuses;
}

/* Path for a thread that is not the only one or has made no request so far, or if a plugin wants to
 * know of all requests. */
void pc_watch_single(struct pc_watch *w, struct pc_call *call, const MPI_Request *request,
                     MPI_Status **status);
/* The request has completed, or the call has failed. */
void pc_watched_single(struct pc_watch *w, struct pc_call *call, int rc, const MPI_Request *request,
                       const MPI_Status *status);

static inline void pc_watch_one(struct pc_watch *w, struct pc_call *call,
                                const MPI_Request *request, MPI_Status **status)
{
    struct pc_request_table *t = pc_table_slot(call)->table;
    if (PC_UNLIKELY(!t || !pc_table_is_plain()))
        pc_watch_single(w, call, request, status);
    else if (t->n_live)
        pc_watch_begin_single(w, t, request, status);
    else
        w->mine = NULL;
}

static inline void pc_watched_one(struct pc_watch *w, struct pc_call *call, int rc,
                                  const MPI_Request *request, MPI_Status **status)
{
    if (w->mine)
        pc_watched_single(w, call, rc, request, *status);
}

static inline void pc_watched_test(struct pc_watch *w, struct pc_call *call, int rc,
                                   const MPI_Request *request, const int *flag, MPI_Status **status)
{
    if (w->mine && (rc != MPI_SUCCESS || *flag))
        pc_watched_single(w, call, rc, request, *status);
}

#endif
