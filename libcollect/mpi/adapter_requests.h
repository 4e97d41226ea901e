/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Requests whose end has to be noticed: nonblocking and persistent receives, whose bytes are known
 * when they complete and belong to the call that posted or started them; persistent sends, whose
 * bytes are known when they are made and belong to each start; and what plugins and readers from
 * outside want to know of, such as sends under way.
 *
 * Rules (after a successful call) and watches (around a completing call) of functions.tbl.
 */
#ifndef PC_ADAPTER_REQUESTS_H
#define PC_ADAPTER_REQUESTS_H

#include "libcollect/mpi/adapter_bytes.h"
#include "libcollect/requests.h"

struct pc_request_table;

/* Copy of a request that was found, with the word that is needed to forget it. */
struct pc_remembered {
    struct pc_start start;
    struct pc_request *record; /* NULL: nothing is remembered */
    _Atomic uint32_t *place;   /* NULL: the record is of the front */
    uint64_t word;             /* value of *place, or the key of the record, when it was found */
    uint32_t flags;            /* flags when it was found */
    uint32_t how_plus_1;       /* 1 + enum pcollect_how if it has ended in this call, else 0 */
};

#define PC_WATCH_FEW 4

/* A communicator that a call frees, as it was before the call. */
struct pc_freed_comm {
    uint32_t number; /* 0: not known */
    uint64_t id, made;
};

/* A call in progress that completes requests, as they were before it, or that frees a communicator.
 */
struct pc_watch {
    struct pc_freed_comm freed;
    /* Members for calls that complete requests. */
    struct pc_request_table *mine; /* NULL: nothing is remembered, nothing to do */
    MPI_Request *requests;
    MPI_Status *statuses; /* where the real call writes them */
    /* One for each request if they were looked up before the call; else those that have ended. */
    struct pc_remembered *records;
    int n_records, n_ended;
    bool looked_up;
    size_t scratch_used;
    MPI_Request few_requests[PC_WATCH_FEW];
    MPI_Status few_statuses[PC_WATCH_FEW];
    struct pc_remembered few_records[PC_WATCH_FEW];
};

/* A collective, or another operation that is no plain send or receive, was started. Comes after the
 * rule of its bytes. */
void pc_rule_posted(struct pc_call *call, const MPI_Request *request);
/* A send was started. Comes after the rule of its bytes. */
void pc_rule_posted_send(struct pc_call *call, const MPI_Request *request);
/* A receive was started; nothing is expected from MPI_PROC_NULL. */
void pc_rule_posted_receive(struct pc_call *call, int source, const MPI_Request *request);
/* MPI_Imrecv: a message that was matched before. */
void pc_rule_posted_message(struct pc_call *call, const MPI_Request *request);
/* A read of a file was started. */
void pc_rule_posted_read(struct pc_call *call, const MPI_Request *request);
/* A persistent or partitioned request was made. Comes after the rule of its bytes, which belong to
 * each start and are taken out of the event. */
void pc_rule_made(struct pc_call *call, const MPI_Request *request);
/* A persistent receive was made, whose bytes are known when it completes. */
void pc_rule_made_receive(struct pc_call *call, int source, const MPI_Request *request);

/* Watches of completing calls: one function before the call, one after it, which may be of another
 * name. `status` may be replaced if the program ignores it. Watches of one request are in
 * adapter_single.h. */
void pc_watch_all(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                  MPI_Status **statuses);
void pc_watched_all(struct pc_watch *w, struct pc_call *call, int rc, int n,
                    const MPI_Request *requests, MPI_Status **statuses);
void pc_watched_testall(struct pc_watch *w, struct pc_call *call, int rc, int n,
                        const MPI_Request *requests, const int *flag, MPI_Status **statuses);
void pc_watch_any(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests,
                  MPI_Status **status);
void pc_watched_any(struct pc_watch *w, struct pc_call *call, int rc, int n,
                    const MPI_Request *requests, const int *index, MPI_Status **status);
void pc_watched_testany(struct pc_watch *w, struct pc_call *call, int rc, int n,
                        const MPI_Request *requests, const int *index, const int *flag,
                        MPI_Status **status);
void pc_watched_some(struct pc_watch *w, struct pc_call *call, int rc, int n, const int *n_done,
                     const int *indices, MPI_Status **statuses);
/* MPI_Request_get_status: completes without freeing. */
void pc_watched_peek(struct pc_watch *w, struct pc_call *call, int rc, const int *flag,
                     MPI_Status **status);
/* MPI_Request_free. */
void pc_watch_free(struct pc_watch *w, struct pc_call *call, const MPI_Request *request);
void pc_watched_free(struct pc_watch *w, struct pc_call *call, int rc);
/* MPI_Start, MPI_Startall. */
void pc_watch_start(struct pc_watch *w, struct pc_call *call, int n, const MPI_Request *requests);
void pc_watched_start(struct pc_watch *w, struct pc_call *call, int rc, int n);

/* Reports, at the end of the run, operations that have not completed. */
void pc_requests_close(void);

#endif
