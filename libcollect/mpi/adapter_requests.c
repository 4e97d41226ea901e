/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules and watches of requests (adapter_requests.h), over the tables of adapter_table.h. Called by
 * the wrappers. The requests of a completing call are copied before the call, because it overwrites
 * them, and a status array is passed where the program ignores statuses. Its other arguments are
 * not changed, and none are while no request is remembered.
 */
#include "libcollect/mpi/adapter_single.h"
#include "libcollect/mpi/adapter_want.h"

/* True if a plugin wants to know of all operations with requests, not only of receives. */
static inline bool wants_all(void)
{
    return PC_UNLIKELY(pc_core->wants & PCOLLECT_WANT_REQUEST);
}

/* Flags of a message that can be remembered plainly, beside its direction. */
enum { PLAIN = PC_REQUEST_LINKED | PC_REQUEST_ACTIVE };

/* ---- Making requests ------------------------------------------------------------------------ */

static struct pc_start start_of(const struct pc_call *call)
{
    return (struct pc_start){.origin = pc_origin_of(call),
                             .begin = call->event.begin,
                             .mpi_ticks = wants_all() ? pc_core->mpi_ticks(call->thread) : 0,
                             .bytes_sent = call->event.bytes_sent,
                             .bytes_received = call->event.bytes_received};
}

static inline void note_envelope(struct pc_start *start, const struct pc_call *call)
{
    start->peer = call->event.peer;
    start->tag = call->event.tag;
}

/* Remembers a receive or a send in the usual case: only one thread makes requests, and the place in
 * the front is free. The members of the start that only wants_all needs are left out. */
static inline bool remember_plainly(struct pc_call *call, MPI_Request request, uint32_t flags)
{
    struct pc_request_table *t = pc_table_slot(call)->table;
    uint64_t key = pc_request_key(request);
    struct pc_request *r = pc_front_at(key);
    if (!pc_table_is_plain() || !t || t->n_tree || !key || pc_front_handle(r))
        return false;
    r->start.origin = pc_origin_of(call);
    r->start.begin = call->event.begin;
    r->start.type = call->event.type;
    note_envelope(&r->start, call);
    pc_front_link(t, r, key, PLAIN | flags);
    return true;
}

/* Remembers the request that the call has made. False: there is no room, or it has no handle. */
static bool remember(struct pc_call *call, MPI_Request request, uint32_t flags)
{
    struct pc_request_table *t = pc_table_of(call);
    uint64_t key = pc_request_key(request);
    struct pc_request *r = t && key ? pc_table_new(t, key) : NULL;
    if (PC_UNLIKELY(!r))
        return false;
    r->start = start_of(call);
    if ((flags & (PC_REQUEST_RECEIVE | PC_REQUEST_PERSISTENT)) == PC_REQUEST_RECEIVE)
        r->start.type = call->event.type;
    if (flags & PC_REQUEST_MESSAGE || (flags & PC_REQUEST_RECEIVE && !(flags & PC_REQUEST_READ)))
        note_envelope(&r->start, call);
    if (wants_all())
        call->event.request = key;
    return pc_table_link(t, r, key, flags | PC_REQUEST_LINKED);
}

/* Forgets what was known by the handle. For operations that are not remembered because no plugin
 * wants all. */
static void void_handle(struct pc_call *call, const MPI_Request *request)
{
    struct pc_request_table *t = pc_table_of(call);
    if (t && pc_table_any(t))
        pc_table_void(t, pc_request_key(*request));
}

static void end_at_once(struct pc_call *call)
{
    struct pc_start start = start_of(call);
    pc_core->ended(call, &start, PCOLLECT_ENDED_AT_ONCE, 0);
}

void pc_rule_posted(struct pc_call *call, const MPI_Request *request)
{
    if (!wants_all())
        void_handle(call, request);
    else if (!pc_request_key(*request))
        end_at_once(call);
    else if (!remember(call, *request, PC_REQUEST_ACTIVE))
        pc_core->lost(PCOLLECT_LOST_ROWS, 1);
}

/* `where` concludes nothing of processes in which several threads make requests. */
static __attribute__((noinline)) void posted_send_otherwise(struct pc_call *call,
                                                            const MPI_Request *request)
{
    bool complete = !pc_request_key(*request);
    bool is_message = pc_comm_is_wanted() && call->event.peer >= 0 && !complete &&
                      (wants_all() || !pc_table_is_shared());
    if (complete && !wants_all())
        return;
    if (!is_message) {
        pc_rule_posted(call, request);
        return;
    }
    if (call->comm && !pc_comm_is_predefined(call->comm))
        pc_comm_note_posted(call->comm);
    if (!remember(call, *request, PC_REQUEST_ACTIVE | PC_REQUEST_MESSAGE) && wants_all())
        pc_core->lost(PCOLLECT_LOST_ROWS, 1);
}

void pc_rule_posted_send(struct pc_call *call, const MPI_Request *request)
{
    bool easy = pc_comm_is_wanted() && pc_comm_is_predefined(call->comm) && call->event.peer >= 0;
    if (PC_UNLIKELY(!easy || !remember_plainly(call, *request, PC_REQUEST_MESSAGE)))
        posted_send_otherwise(call, request);
}

static __attribute__((noinline)) void posted_otherwise(struct pc_call *call, int source,
                                                       const MPI_Request *request)
{
    if (pc_comm_is_wanted())
        pc_want_posted(call);
    if (source == MPI_PROC_NULL)
        pc_rule_posted(call, request);
    else if (!remember_plainly(call, *request, PC_REQUEST_RECEIVE) &&
             !remember(call, *request, PC_REQUEST_ACTIVE | PC_REQUEST_RECEIVE))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
}

void pc_rule_posted_receive(struct pc_call *call, int source, const MPI_Request *request)
{
    bool easy = !pc_comm_is_wanted() || pc_comm_is_predefined(call->comm);
    call->peers = easy ? 0 : call->peers; /* ranks of a predefined one can be looked up later */
    if (PC_UNLIKELY(!easy || source == MPI_PROC_NULL ||
                    !remember_plainly(call, *request, PC_REQUEST_RECEIVE)))
        posted_otherwise(call, source, request);
}

void pc_rule_posted_message(struct pc_call *call, const MPI_Request *request)
{
    if (pc_comm_is_wanted())
        pc_want_posted(call);
    if (!pc_request_key(*request)) /* it was MPI_MESSAGE_NO_PROC */
        pc_rule_posted(call, request);
    else if (!remember(call, *request, PC_REQUEST_ACTIVE | PC_REQUEST_RECEIVE | PC_REQUEST_MATCHED))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
}

void pc_rule_posted_read(struct pc_call *call, const MPI_Request *request)
{
    if (!remember(call, *request, PC_REQUEST_ACTIVE | PC_REQUEST_RECEIVE | PC_REQUEST_READ))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
}

/* Remembers a persistent send to a rank: each start is a message, also without bytes. */
static bool made_message(struct pc_call *call, const MPI_Request *request)
{
    struct pc_request_table *t = pc_table_of(call);
    if (!call->handle || !(call->peers & PC_CALL_PEERS) || call->dest < 0)
        return false;
    pc_want_posted(call);
    if (!t || !remember(call, *request, PC_REQUEST_PERSISTENT | PC_REQUEST_MESSAGE))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
    call->event.bytes_sent = 0;
    return true;
}

void pc_rule_made(struct pc_call *call, const MPI_Request *request)
{
    struct pcollect_event *e = &call->event;
    if (pc_comm_is_wanted() && made_message(call, request))
        return;
    if (!e->bytes_sent && !e->bytes_received && !wants_all() && !pc_comm_is_wanted())
        void_handle(call, request);
    else if (!remember(call, *request, PC_REQUEST_PERSISTENT))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
    e->bytes_sent = e->bytes_received = 0;
}

void pc_rule_made_receive(struct pc_call *call, int source, const MPI_Request *request)
{
    if (pc_comm_is_wanted())
        pc_want_posted(call);
    if (source == MPI_PROC_NULL)
        pc_rule_made(call, request);
    else if (!remember(call, *request, PC_REQUEST_PERSISTENT | PC_REQUEST_RECEIVE))
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
}

static void close_one(const struct pc_request *r, void *arg)
{
    uint32_t flags = atomic_load_explicit(&r->flags, memory_order_relaxed);
    (void)arg;
    if (!(flags & PC_REQUEST_ACTIVE))
        return;
    if (pc_request_is_unsure(&r->start)) {
        pc_request_unseen(flags, r->start);
        return;
    }
    if (flags & PC_REQUEST_RECEIVE)
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
    struct pc_start start = pc_request_unreceived(flags, r->start);
    if (wants_all())
        pc_core->ended(NULL, &start, PCOLLECT_ENDED_NEVER, 0);
}

void pc_requests_close(void)
{
    pc_table_each(close_one, NULL);
}

/* ---- Watching ------------------------------------------------------------------------------- */

enum { IF_SHARED = 0, ALWAYS = 1 }; /* when requests are looked up before the call */

static bool make_room(struct pc_watch *w, int n, bool own_statuses)
{
    size_t m = (size_t)n;
    w->requests = w->few_requests;
    w->statuses = w->few_statuses;
    w->records = w->few_records;
    if (n <= PC_WATCH_FEW)
        return true;
    w->requests = pc_scratch_take(w->mine, m * sizeof *w->requests);
    w->statuses = own_statuses ? pc_scratch_take(w->mine, m * sizeof *w->statuses) : NULL;
    w->records = pc_scratch_take(w->mine, m * sizeof *w->records);
    return w->requests && w->records && (w->statuses || !own_statuses);
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
    w->n_records = w->n_ended = 0;
    w->looked_up = lookup == ALWAYS || pc_table_is_shared();
    w->n_records = w->looked_up ? n : 0;
    for (int i = 0; i < w->n_records; i++)
        pc_table_find(pc_request_key(w->requests[i]), &w->records[i]);
    if (n > PC_WATCH_FEW) /* for few this is shorter than a time stamp: part of the duration */
        call->event.begin = pc_ticks();
}

void pc_watch_single(struct pc_watch *w, struct pc_call *call, const MPI_Request *request,
                     MPI_Status **status)
{
    struct pc_request_table *t = pc_table_of(call);
    w->mine = NULL;
    if (!t || !pc_table_any(t))
        return;
    pc_watch_begin_single(w, t, request, status);
    w->looked_up = w->mine && pc_table_is_shared();
    if (w->looked_up)
        pc_table_find(pc_request_key(*request), w->few_records);
}

/* Fills in what pc_watch_begin_single has left out. */
static void fill_single(struct pc_watch *w)
{
    w->requests = w->few_requests;
    w->records = w->few_records;
    w->n_records = w->looked_up;
    w->n_ended = 0;
    w->scratch_used = w->mine->scratch_used;
}

/* Tells the plugins what has ended in this call: the call's time is divided equally among them, and
 * the first ones get the remainder, so that the shares add up. */
static __attribute__((noinline)) void tell_ended(struct pc_watch *w, struct pc_call *call)
{
    uint64_t time = call->event.end - call->event.begin, n = (uint64_t)w->n_ended;
    uint64_t more = time % n;
    for (int i = 0; i < w->n_records; i++) {
        const struct pc_remembered *r = &w->records[i];
        if (!r->how_plus_1)
            continue;
        pc_core->ended(call, &r->start, (enum pcollect_how)(r->how_plus_1 - 1),
                       time / n + (more > 0));
        more -= more > 0;
    }
}

static inline void end_watch(struct pc_watch *w, struct pc_call *call)
{
    if (!w->mine)
        return;
    if (PC_UNLIKELY(w->n_ended))
        tell_ended(w, call);
    pc_scratch_give(w->mine, w->scratch_used);
}

/* Data of request i as it was before the call. If it is looked up only now, the first other thread
 * may have got its handle in the meantime. */
static struct pc_remembered *find_record(struct pc_watch *w, struct pc_call *call, int i)
{
    struct pc_remembered *found = &w->records[w->looked_up ? i : w->n_records];
    if (w->looked_up)
        return found;
    pc_table_find(pc_request_key(w->requests[i]), found);
    if (PC_UNLIKELY(pc_table_is_shared()) &&
        (!found->record || found->start.origin.thread != call->thread))
        pc_table_find_displaced(pc_request_key(w->requests[i]), found);
    return found;
}

/* A persistent request has completed, unless another thread has started it again since. */
static void deactivate(const struct pc_remembered *found)
{
    uint32_t flags = found->flags;
    atomic_compare_exchange_strong(&found->record->flags, &flags,
                                   flags & ~(uint32_t)PC_REQUEST_ACTIVE);
}

static void note_ended(struct pc_watch *w, struct pc_remembered *found, uint64_t bytes,
                       enum pcollect_how how)
{
    found->start = pc_request_unreceived(found->flags, found->start);
    if (found->flags & PC_REQUEST_RECEIVE)
        found->start.bytes_received = bytes;
    found->how_plus_1 = (uint32_t)how + 1;
    w->n_ended++;
    if (!w->looked_up)
        w->n_records++;
}

static __attribute__((noinline)) void book_arrival_on(struct pc_call *call,
                                                      const struct pc_start *start, uint64_t bytes,
                                                      const MPI_Status *status)
{
    uint32_t comm = start->origin.comm;
    int32_t source = PCOLLECT_RANK_NONE;
    if (status && !pc_status_cancelled(status))
        source = pc_comm_world_rank(comm, MPI_COMM_NULL, status->MPI_SOURCE);
    pc_core->complete(call, start, bytes, pc_comm_at(comm)->id, source);
}

/* Books the bytes that a receive has brought; status NULL: no data. */
static inline void book_arrival(struct pc_call *call, const struct pc_start *start, uint64_t bytes,
                                const MPI_Status *status)
{
    uint32_t comm = pc_comm_is_wanted() ? start->origin.comm : PC_COMM_NONE;
    if (PC_UNLIKELY(comm > PC_COMM_SELF)) {
        book_arrival_on(call, start, bytes, status);
        return;
    }
    int32_t source = PCOLLECT_RANK_NONE;
    if (comm && status && !pc_status_cancelled(status))
        source = pc_comm_predefined_rank(comm, status->MPI_SOURCE);
    pc_core->complete(call, start, bytes, pc_comm_predefined_id[comm], source);
}

/* Takes the record of a completed request in the usual case of a receive or a send; else NULL. The
 * record is free already, but keeps its contents until the only thread makes another request. */
static inline const struct pc_request *take_plainly(struct pc_watch *w, MPI_Request request)
{
    const uint32_t directions = PC_REQUEST_RECEIVE | PC_REQUEST_MESSAGE;
    uint64_t key = pc_request_key(request);
    struct pc_request *r = pc_front_at(key);
    uint64_t word = atomic_load_explicit(&r->key, memory_order_relaxed);
    uint32_t flags = atomic_load_explicit(&r->flags, memory_order_relaxed);
    if (PC_UNLIKELY(!key || !pc_table_is_plain() || (word & PC_REQUEST_HANDLE) != key ||
                    (flags & ~directions) != PLAIN || pc_request_is_unsure(&r->start)))
        return NULL;
    pc_front_free(w->mine, r, word);
    return r;
}

static inline bool is_receive(const struct pc_request *r)
{
    return atomic_load_explicit(&r->flags, memory_order_relaxed) & PC_REQUEST_RECEIVE;
}

/* Forgets an operation that has ended: its request, or of a persistent one that it was started.
 * False: another thread has forgotten it meanwhile. */
static bool forget_ended(struct pc_watch *w, const struct pc_remembered *found)
{
    if (!(found->flags & PC_REQUEST_PERSISTENT))
        return pc_table_take(w->mine, found);
    deactivate(found);
    return true;
}

/* Handles all other completed requests, also unknown ones; status NULL: no data. */
static __attribute__((noinline)) void complete_otherwise(struct pc_watch *w, struct pc_call *call,
                                                         int i, const MPI_Status *status)
{
    uint64_t key = pc_request_key(w->requests[i]);
    if (pc_table_is_plain() && !w->mine->n_tree && pc_front_handle(pc_front_at(key)) != key)
        return;
    struct pc_remembered *found = find_record(w, call, i);
    if (!found->record || !(found->flags & PC_REQUEST_ACTIVE))
        return;
    if (pc_request_is_unsure(&found->start)) {
        if (forget_ended(w, found))
            pc_request_unseen(found->flags, found->start);
        return;
    }
    uint64_t bytes = 0;
    if (status)
        bytes = found->flags & PC_REQUEST_READ ? pc_status_count(status) : pc_status_bytes(status);
    if (found->flags & PC_REQUEST_RECEIVE)
        book_arrival(call, &found->start, bytes, status);
    forget_ended(w, found);
    if (wants_all())
        note_ended(w, found, bytes,
                   !status                       ? PCOLLECT_ENDED_FAILED
                   : pc_status_cancelled(status) ? PCOLLECT_ENDED_CANCELLED
                                                 : PCOLLECT_ENDED_DONE);
}

/* Request i has completed; status NULL: no data. */
static inline void complete(struct pc_watch *w, struct pc_call *call, int i,
                            const MPI_Status *status)
{
    const struct pc_request *r = take_plainly(w, w->requests[i]);
    if (PC_UNLIKELY(!r))
        complete_otherwise(w, call, i, status);
    else if (is_receive(r))
        book_arrival(call, &r->start, status ? pc_status_bytes(status) : 0, status);
}

static int class_of(int rc)
{
    int class = rc;
    if (rc != MPI_SUCCESS)
        PC_REAL(Error_class)(rc, &class);
    return class;
}

/* Handles one request after a call that may have failed: if the request is gone all the same, it
 * has completed. */
static void complete_one(struct pc_watch *w, struct pc_call *call, int rc, int i,
                         const MPI_Request *requests, const MPI_Status *status)
{
    if (rc == MPI_SUCCESS)
        complete(w, call, i, status);
    else if (requests[i] == MPI_REQUEST_NULL && w->requests[i] != MPI_REQUEST_NULL)
        complete(w, call, i, NULL);
}

/* Handles one of several requests by the error in its status. */
static void complete_by_status(struct pc_watch *w, struct pc_call *call, int rc, int i,
                               const MPI_Status *status)
{
    int class = rc == MPI_SUCCESS ? MPI_SUCCESS : class_of(status->MPI_ERROR);
    if (class != MPI_ERR_PENDING)
        complete(w, call, i, class == MPI_SUCCESS ? status : NULL);
}

static __attribute__((noinline)) void ended_otherwise(struct pc_watch *w, struct pc_call *call,
                                                      int rc, const MPI_Request *request,
                                                      const MPI_Status *status)
{
    fill_single(w);
    complete_one(w, call, rc, 0, request, status);
    end_watch(w, call);
}

void pc_watched_single(struct pc_watch *w, struct pc_call *call, int rc, const MPI_Request *request,
                       const MPI_Status *status)
{
    const struct pc_request *r =
        PC_LIKELY(rc == MPI_SUCCESS) ? take_plainly(w, w->few_requests[0]) : NULL;
    if (PC_UNLIKELY(!r))
        ended_otherwise(w, call, rc, request, status);
    else if (is_receive(r))
        book_arrival(call, &r->start, pc_status_bytes(status), status);
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
    end_watch(w, call);
}

void pc_watched_testall(struct pc_watch *w, struct pc_call *call, int rc, int n,
                        const MPI_Request *requests, const int *flag, MPI_Status **statuses)
{
    if (w->mine && (rc != MPI_SUCCESS || *flag))
        pc_watched_all(w, call, rc, n, requests, statuses);
    else
        end_watch(w, call);
}

void pc_watch_any(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                  MPI_Status **status)
{
    bool own_status = *status == MPI_STATUS_IGNORE;
    begin_watch(w, call, n, requests, NULL, IF_SHARED);
    if (w->mine && own_status)
        *status = &w->few_statuses[0];
}

/* The program may give no index, which the MPI calls an error. */
void pc_watched_any(struct pc_watch *w, struct pc_call *call, int rc, int n,
                    const MPI_Request *requests, const int *index, MPI_Status **status)
{
    if (w->mine && index && *index >= 0 && *index < n)
        complete_one(w, call, rc, *index, requests, *status);
    end_watch(w, call);
}

void pc_watched_testany(struct pc_watch *w, struct pc_call *call, int rc, int n,
                        const MPI_Request *requests, const int *index, const int *flag,
                        MPI_Status **status)
{
    if (rc != MPI_SUCCESS || *flag)
        pc_watched_any(w, call, rc, n, requests, index, status);
    else
        end_watch(w, call);
}

void pc_watched_some(struct pc_watch *w, struct pc_call *call, int rc, int n, const int *n_done,
                     const int *indices, MPI_Status **statuses)
{
    if (w->mine && (rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_IN_STATUS))
        for (int i = 0; i < *n_done; i++)
            if (indices[i] >= 0 && indices[i] < n)
                complete_by_status(w, call, rc, indices[i], &(*statuses)[i]);
    end_watch(w, call);
}

/* Books the bytes now; the call that frees the request finds that this is done. */
void pc_watched_peek(struct pc_watch *w, struct pc_call *call, int rc, const int *flag,
                     MPI_Status **status)
{
    if (!w->mine || rc != MPI_SUCCESS || !*flag)
        return;
    fill_single(w);
    complete(w, call, 0, *status);
    end_watch(w, call);
}

void pc_watch_free(struct pc_watch *w, struct pc_call *call, const MPI_Request *request)
{
    begin_watch(w, call, 1, request, NULL, ALWAYS);
}

void pc_watched_free(struct pc_watch *w, struct pc_call *call, int rc)
{
    struct pc_remembered *found = w->records;
    if (!w->mine || rc != MPI_SUCCESS || !found->record)
        return;
    bool active = found->flags & PC_REQUEST_ACTIVE, unsure = pc_request_is_unsure(&found->start);
    if (active && !unsure && found->flags & PC_REQUEST_RECEIVE)
        pc_core->lost(PCOLLECT_LOST_RECEIVES, 1);
    bool taken = pc_table_take(w->mine, found);
    if (active && unsure && taken)
        pc_request_unseen(found->flags, found->start);
    else if (active && !unsure && wants_all())
        note_ended(w, found, 0, PCOLLECT_ENDED_FREED);
    end_watch(w, call);
}

/* Makes the record that of the current start. */
static void restart(const struct pc_remembered *found, struct pc_call *call)
{
    struct pc_request *r = found->record;
    r->start.origin = pc_origin_of(call);
    r->start.origin.comm = found->start.origin.comm;
    r->start.begin = call->event.begin;
    r->start.mpi_ticks = wants_all() ? pc_core->mpi_ticks(call->thread) : 0;
    atomic_store_explicit(&r->flags, (found->flags | PC_REQUEST_ACTIVE) + PC_REQUEST_START,
                          memory_order_release);
}

/* The communicator of all requests that are started, if plugins ask; none if they are on several,
 * or one of them is not known. */
static uint32_t common_comm(const struct pc_watch *w, int n)
{
    uint32_t comm = PC_COMM_NONE;
    for (int i = 0; pc_comm_is_wanted() && w->mine && i < n; i++) {
        const struct pc_remembered *found = &w->records[i];
        uint32_t own = found->record ? found->start.origin.comm : PC_COMM_NONE;
        if (!own || (i && own != comm))
            return PC_COMM_NONE;
        comm = own;
    }
    return comm;
}

/* Marks the requests before the call, because another thread may complete them as soon as it has
 * run. */
void pc_watch_start(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests)
{
    begin_watch(w, call, n, requests, NULL, ALWAYS);
    call->event.begin = pc_ticks();
    uint32_t comm = common_comm(w, n);
    if (comm)
        pc_want_known(call, comm);
    for (int i = 0; w->mine && i < n; i++)
        if (w->records[i].record)
            restart(&w->records[i], call);
}

static void start_message(struct pc_call *call, const struct pc_remembered *found)
{
    uint32_t comm = found->start.origin.comm;
    call->event.bytes_sent += found->start.bytes_sent;
    if (comm)
        pc_core->part(call, pc_comm_at(comm)->id,
                      pc_comm_world_rank(comm, MPI_COMM_NULL, found->start.peer),
                      found->start.bytes_sent);
}

void pc_watched_start(struct pc_watch *w, struct pc_call *call, int rc, int n)
{
    uint32_t comm = common_comm(w, n);
    if (comm)
        call->event.domain = pc_comm_at(comm)->id;
    for (int i = 0; w->mine && i < n; i++) {
        const struct pc_remembered *found = &w->records[i];
        if (!found->record)
            continue;
        if (rc == MPI_SUCCESS && found->flags & PC_REQUEST_ACTIVE)
            pc_request_unseen(found->flags, found->start); /* of the start before */
        if (rc == MPI_SUCCESS && found->flags & PC_REQUEST_MESSAGE) {
            start_message(call, found);
        } else if (rc == MPI_SUCCESS) {
            call->event.bytes_sent += found->start.bytes_sent;
            if (!(found->flags & PC_REQUEST_RECEIVE))
                call->event.bytes_received += found->start.bytes_received;
        } else {
            atomic_store_explicit(&found->record->flags, found->flags, memory_order_release);
        }
    }
    end_watch(w, call);
}
