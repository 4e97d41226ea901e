/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules and watches of requests (adapter_requests.h), over the tables of adapter_table.h. Called by
 * the wrappers. A completing call's requests are copied before it, as it overwrites them, and get
 * statuses where the program ignores them; nothing else of its arguments is changed, and nothing at
 * all while no request is remembered.
 */
#include "libcollect/mpi/adapter_table.h"

/* ---- Making requests ------------------------------------------------------------------------ */

static void remember(struct pc_call *call, MPI_Request request, uint64_t flags, uint64_t bytes)
{
    struct pc_request_table *t = pc_table_of(call);
    uint64_t key = pc_request_key(request);
    struct pc_origin origin = pc_core->origin(call);
    if (!t || key == 0 || !pc_table_put(t, key, &origin, flags, bytes, call->event.end))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
}

void pc_rule_posted(struct pc_call *call, const MPI_Request *request)
{
    struct pc_request_table *t = pc_table_of(call);
    uint64_t key = pc_request_key(*request);
    if (t && key)
        pc_table_void(t, key);
}

void pc_rule_posted_receive(struct pc_call *call, int source, const MPI_Request *request)
{
    if (source == MPI_PROC_NULL)
        pc_rule_posted(call, request);
    else
        remember(call, *request, PC_REQUEST_ACTIVE, 0);
}

void pc_rule_posted_message(struct pc_call *call, const MPI_Request *request)
{
    if (pc_request_key(*request)) /* else it was MPI_MESSAGE_NO_PROC */
        remember(call, *request, PC_REQUEST_ACTIVE, 0);
}

void pc_rule_made_receive(struct pc_call *call, int source, const MPI_Request *request)
{
    if (source == MPI_PROC_NULL)
        pc_rule_posted(call, request);
    else
        remember(call, *request, PC_REQUEST_PERSISTENT, 0);
}

void pc_rule_made_send(struct pc_call *call, int count, MPI_Datatype type, int dest,
                       const MPI_Request *request)
{
    uint64_t bytes = dest == MPI_PROC_NULL ? 0 : pc_block_bytes(count, type);
    if (bytes == 0)
        pc_rule_posted(call, request);
    else
        remember(call, *request, PC_REQUEST_PERSISTENT | PC_REQUEST_SEND, bytes);
}

/* ---- Watching ------------------------------------------------------------------------------- */

enum { IF_SHARED = 0, ALWAYS = 1 }; /* when requests are looked up before the call */

static bool make_room(struct pc_watch *w, int n, bool own_statuses)
{
    size_t m = (size_t)n;
    w->requests = w->few_requests;
    w->statuses = w->few_statuses;
    w->found = w->few_found;
    if (n <= PC_WATCH_FEW)
        return true;
    w->requests = pc_scratch_take(w->mine, m * sizeof *w->requests);
    w->statuses = own_statuses ? pc_scratch_take(w->mine, m * sizeof *w->statuses) : NULL;
    w->found = pc_scratch_take(w->mine, m * sizeof *w->found);
    return w->requests && w->found && (w->statuses || !own_statuses);
}

static void begin_watch(struct pc_watch *w, struct pc_call *call, int n,
                        const MPI_Request *requests, MPI_Status **statuses, int lookup)
{
    struct pc_request_table *t = pc_table_of(call);
    bool own_statuses = statuses && *statuses == MPI_STATUSES_IGNORE;
    w->mine = NULL;
    if (!t || n <= 0 || !requests || !pc_table_any(t))
        return;
    w->mine = t;
    w->scratch_used = t->scratch_used;
    if (!make_room(w, n, own_statuses)) {
        pc_scratch_give(t, w->scratch_used);
        w->mine = NULL;
        return;
    }
    __builtin_memcpy(w->requests, requests, (size_t)n * sizeof *requests);
    if (own_statuses)
        *statuses = w->statuses;
    if (lookup == ALWAYS || pc_table_is_shared())
        for (int i = 0; i < n; i++)
            pc_table_find(t, pc_request_key(w->requests[i]), &w->found[i]);
    else
        w->found = NULL;
}

static void end_watch(struct pc_watch *w)
{
    if (w->mine)
        pc_scratch_give(w->mine, w->scratch_used);
}

/* Request i has completed; status NULL: without data. */
static void complete(struct pc_watch *w, struct pc_call *call, int i, const MPI_Status *status)
{
    struct pc_remembered fresh, *found = w->found ? &w->found[i] : &fresh;
    if (!w->found)
        pc_table_find(w->mine, pc_request_key(w->requests[i]), &fresh);
    if (!found->word || !(found->flags & PC_REQUEST_ACTIVE))
        return;
    struct pc_arrival arrival = {status ? pc_status_bytes(status) : 0, 0, PCOLLECT_RANK_NONE};
    pc_core->complete(call, &found->origin, &arrival);
    if (found->flags & PC_REQUEST_PERSISTENT)
        atomic_store_explicit(found->flags_at, found->flags & ~(uint64_t)PC_REQUEST_ACTIVE,
                              memory_order_release);
    else
        pc_table_take(w->mine, found);
}

static int class_of(int rc)
{
    int class = rc;
    if (rc != MPI_SUCCESS)
        PC_REAL(Error_class)(rc, &class);
    return class;
}

/* One request after a call that may have failed: if it is gone all the same, it has completed. */
static void complete_one(struct pc_watch *w, struct pc_call *call, int rc, int i,
                         const MPI_Request *requests, const MPI_Status *status)
{
    if (rc == MPI_SUCCESS)
        complete(w, call, i, status);
    else if (requests[i] == MPI_REQUEST_NULL && w->requests[i] != MPI_REQUEST_NULL)
        complete(w, call, i, NULL);
}

/* One of several whose status says how it went. */
static void complete_by_status(struct pc_watch *w, struct pc_call *call, int rc, int i,
                               const MPI_Status *status)
{
    int class = rc == MPI_SUCCESS ? MPI_SUCCESS : class_of(status->MPI_ERROR);
    if (class != MPI_ERR_PENDING)
        complete(w, call, i, class == MPI_SUCCESS ? status : NULL);
}

void pc_watch_one(struct pc_watch *w, struct pc_call *call, const MPI_Request *request,
                  MPI_Status **status)
{
    begin_watch(w, call, 1, request, status, IF_SHARED);
}

void pc_watched_one(struct pc_watch *w, struct pc_call *call, int rc, const MPI_Request *request,
                    MPI_Status **status)
{
    if (w->mine)
        complete_one(w, call, rc, 0, request, *status);
}

void pc_watch_test(struct pc_watch *w, struct pc_call *call, const MPI_Request *request,
                   const int *flag, MPI_Status **status)
{
    (void)flag;
    begin_watch(w, call, 1, request, status, IF_SHARED);
}

void pc_watched_test(struct pc_watch *w, struct pc_call *call, int rc, const MPI_Request *request,
                     const int *flag, MPI_Status **status)
{
    if (w->mine && (rc != MPI_SUCCESS || *flag))
        complete_one(w, call, rc, 0, request, *status);
}

void pc_watch_all(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                  MPI_Status **statuses)
{
    begin_watch(w, call, n, requests, statuses, IF_SHARED);
}

void pc_watched_all(struct pc_watch *w, struct pc_call *call, int rc, int n,
                    const MPI_Request *requests, MPI_Status **statuses)
{
    if (!w->mine)
        return;
    bool by_status = rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_IN_STATUS;
    for (int i = 0; i < n; i++)
        if (by_status)
            complete_by_status(w, call, rc, i, &(*statuses)[i]);
        else
            complete_one(w, call, rc, i, requests, NULL);
    end_watch(w);
}

void pc_watch_testall(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                      const int *flag, MPI_Status **statuses)
{
    (void)flag;
    begin_watch(w, call, n, requests, statuses, IF_SHARED);
}

void pc_watched_testall(struct pc_watch *w, struct pc_call *call, int rc, int n,
                        const MPI_Request *requests, const int *flag, MPI_Status **statuses)
{
    if (w->mine && (rc != MPI_SUCCESS || *flag))
        pc_watched_all(w, call, rc, n, requests, statuses);
    else
        end_watch(w);
}

void pc_watch_any(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                  const int *index, MPI_Status **status)
{
    bool own_status = *status == MPI_STATUS_IGNORE;
    (void)index;
    begin_watch(w, call, n, requests, NULL, IF_SHARED);
    if (w->mine && own_status)
        *status = &w->few_statuses[0];
}

void pc_watched_any(struct pc_watch *w, struct pc_call *call, int rc, int n,
                    const MPI_Request *requests, const int *index, MPI_Status **status)
{
    if (w->mine && *index >= 0 && *index < n)
        complete_one(w, call, rc, *index, requests, *status);
    end_watch(w);
}

void pc_watch_testany(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                      const int *index, const int *flag, MPI_Status **status)
{
    (void)flag;
    pc_watch_any(w, call, n, requests, index, status);
}

void pc_watched_testany(struct pc_watch *w, struct pc_call *call, int rc, int n,
                        const MPI_Request *requests, const int *index, const int *flag,
                        MPI_Status **status)
{
    if (rc != MPI_SUCCESS || *flag)
        pc_watched_any(w, call, rc, n, requests, index, status);
    else
        end_watch(w);
}

void pc_watch_some(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                   const int *n_done, const int *indices, MPI_Status **statuses)
{
    (void)n_done;
    (void)indices;
    begin_watch(w, call, n, requests, statuses, IF_SHARED);
}

void pc_watched_some(struct pc_watch *w, struct pc_call *call, int rc, int n,
                     const MPI_Request *requests, const int *n_done, const int *indices,
                     MPI_Status **statuses)
{
    (void)requests;
    if (w->mine && (rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_IN_STATUS))
        for (int i = 0; i < *n_done; i++)
            if (indices[i] >= 0 && indices[i] < n)
                complete_by_status(w, call, rc, indices[i], &(*statuses)[i]);
    end_watch(w);
}

void pc_watch_peek(struct pc_watch *w, struct pc_call *call, MPI_Request request, const int *flag,
                   MPI_Status **status)
{
    (void)flag;
    begin_watch(w, call, 1, &request, status, IF_SHARED);
}

/* The size is booked now; the call that frees the request finds it done. */
void pc_watched_peek(struct pc_watch *w, struct pc_call *call, int rc, MPI_Request request,
                     const int *flag, MPI_Status **status)
{
    (void)request;
    if (w->mine && rc == MPI_SUCCESS && *flag)
        complete(w, call, 0, *status);
}

void pc_watch_free(struct pc_watch *w, struct pc_call *call, const MPI_Request *request)
{
    begin_watch(w, call, 1, request, NULL, ALWAYS);
}

void pc_watched_free(struct pc_watch *w, struct pc_call *call, int rc, const MPI_Request *request)
{
    (void)call;
    (void)request;
    if (!w->mine || rc != MPI_SUCCESS || !w->found[0].word)
        return;
    if (w->found[0].flags & PC_REQUEST_ACTIVE)
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
    pc_table_take(w->mine, &w->found[0]);
}

/* Receives are marked before the call: once it has run, another thread may complete them. */
void pc_watch_start(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests)
{
    begin_watch(w, call, n, requests, NULL, ALWAYS);
    if (!w->mine)
        return;
    struct pc_origin origin = pc_core->origin(call);
    for (int i = 0; i < n; i++)
        if (w->found[i].word && !(w->found[i].flags & PC_REQUEST_SEND))
            pc_table_restart(&w->found[i], &origin, PC_REQUEST_PERSISTENT | PC_REQUEST_ACTIVE);
}

void pc_watched_start(struct pc_watch *w, struct pc_call *call, int rc, int n,
                      const MPI_Request *requests)
{
    (void)requests;
    for (int i = 0; w->mine && i < n; i++) {
        const struct pc_remembered *found = &w->found[i];
        if (found->word && rc == MPI_SUCCESS && found->flags & PC_REQUEST_SEND)
            call->event.bytes_sent += found->bytes;
        else if (found->word && rc != MPI_SUCCESS && !(found->flags & PC_REQUEST_SEND))
            pc_table_restart(found, &found->origin, found->flags);
    }
    end_watch(w);
}
