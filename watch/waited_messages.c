/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each request is looked up in the memory of the process like the adapter does: first in the front,
 * then in the tree. A waiting thread was not stopped, so its call is read again after the requests:
 * if it has ended meanwhile, they are unknown.
 */
#include "watch/waited_messages.h"

#include "analysis/allocation.h"
#include "libcollect/requests.h"

#include <string.h>

enum { MOST_REQUESTS = 1 << 16 };

struct tables {
    int pid;
    struct pc_adapter adapter;
    struct pc_seen_requests seen;
    uint64_t root;
};

static bool read_all(int pid, uint64_t from, void *to, size_t n)
{
    return pct_caught_read(pid, from, to, n) == n;
}

static bool open_tables(struct tables *t, int pid, uint64_t adapter)
{
    struct pc_adapter *a = &t->adapter;
    t->pid = pid;
    return pct_mpi_adapter_read(pid, adapter, a) &&
           read_all(pid, (uintptr_t)a->requests, &t->seen, sizeof t->seen) &&
           read_all(pid, (uintptr_t)t->seen.root, &t->root, sizeof t->root);
}

/* Pointer number i of an array at an address of the process; 0: none. */
static uint64_t pointer_at(const struct tables *t, uint64_t at, size_t i)
{
    uint64_t pointer;
    return at && read_all(t->pid, at + i * sizeof pointer, &pointer, sizeof pointer) ? pointer : 0;
}

static bool read_of_tree(const struct tables *t, uint64_t handle, struct pc_request *out)
{
    uint32_t word, shift = t->seen.shift;
    uint64_t root = t->root;
    if (!root)
        return false;
    uint64_t middle = pointer_at(t, root + offsetof(struct pc_request_root, middles),
                                 pc_request_digit(handle, shift, 2));
    uint64_t leaf = pointer_at(t, middle, pc_request_digit(handle, shift, 1));
    if (!leaf || !read_all(t->pid, leaf + pc_request_digit(handle, shift, 0) * sizeof word, &word,
                           sizeof word))
        return false;
    uint32_t number = word & PC_REQUEST_NUMBER;
    uint64_t chunk =
        pointer_at(t, root + offsetof(struct pc_request_root, chunks), number / PC_REQUEST_CHUNK);
    return word && chunk &&
           read_all(t->pid, chunk + number % PC_REQUEST_CHUNK * sizeof *out, out, sizeof *out) &&
           out->key == handle;
}

static bool read_record(const struct tables *t, uint64_t handle, struct pc_request *out)
{
    uint64_t at = (uintptr_t)(t->seen.front + pc_request_place(handle, t->seen.shift));
    if (read_all(t->pid, at, out, sizeof *out) && (out->key & PC_REQUEST_HANDLE) == handle)
        return true;
    return read_of_tree(t, handle, out);
}

/* False: it is not known, or not of one group of ranks. */
static bool find_comm(const struct tables *t, uint32_t number, struct pct_message *out)
{
    struct pc_seen_comm seen;
    if (!number || number == PC_CALL_SELF || number >= PC_SEEN_COMMS ||
        !read_all(t->pid, (uintptr_t)(t->adapter.comms + number), &seen, sizeof seen) ||
        seen.size <= 0)
        return false;
    out->comm = number == PC_CALL_WORLD ? PCT_COMM_WORLD
                : seen.as_world         ? PCT_COMM_AS_WORLD
                                        : PCT_COMM_OTHER;
    out->domain = seen.id;
    return true;
}

static bool find_message(const struct tables *t, const struct pc_request *r, uint32_t flags,
                         struct pct_message *out)
{
    bool send = flags & PC_REQUEST_MESSAGE;
    if (!send && !(flags & PC_REQUEST_RECEIVE))
        return false;
    if (flags & (PC_REQUEST_READ | PC_REQUEST_MATCHED))
        return false;
    /* Receives from MPI_PROC_NULL are not remembered as such: a negative number is any rank. */
    int peer = r->start.peer < 0 ? -1 : r->start.peer;
    *out = (struct pct_message){.send = send, .peer = peer, .tag = r->start.tag};
    return find_comm(t, r->start.origin.comm, out);
}

static bool is_none(const struct tables *t, uint64_t handle)
{
    return handle < t->seen.least || handle == t->seen.none[0] || handle == t->seen.none[1];
}

static void add_request(const struct tables *t, uint64_t handle, struct pct_mpi_call *call)
{
    struct pc_request r;
    if (is_none(t, handle))
        return;
    if (!read_record(t, handle, &r)) {
        call->n_unknown++;
        return;
    }
    uint32_t flags = r.flags;
    if (!(flags & PC_REQUEST_ACTIVE))
        return;
    if (find_message(t, &r, flags, &call->messages[call->n_messages]))
        call->n_messages++;
    else
        call->n_unknown++;
}

static bool has_gone_on(const struct pct_caught *c, const struct pct_mpi_call *call)
{
    struct pc_call now;
    return !read_all(c->pid, call->at, &now, sizeof now) ||
           memcmp(c->stack + (call->at - c->sp), &now, sizeof now) != 0;
}

static void add_requests(const struct pct_caught *c, const struct tables *t,
                         struct pct_mpi_call *call)
{
    size_t n = (size_t)call->n_requests, each = t->seen.handle_bytes;
    uint8_t *handles = pct_alloc(n, each);
    call->messages = pct_alloc(n, sizeof *call->messages);
    bool done = read_all(c->pid, call->requests, handles, n * each);
    for (size_t i = 0; i < n && done; i++) {
        uint64_t handle = 0; /* supported processors are little-endian */
        memcpy(&handle, handles + i * each, each);
        add_request(t, handle, call);
    }
    if (!done || has_gone_on(c, call)) {
        call->n_messages = 0;
        call->n_unknown = call->n_requests;
    }
    pct_free(handles);
}

void pct_waited_messages(const struct pct_caught *c, uint64_t adapter, struct pct_mpi_call *call)
{
    struct tables t;
    if (!call->known || call->n_requests <= 0)
        return;
    if (call->n_requests <= MOST_REQUESTS && open_tables(&t, c->pid, adapter) &&
        t.seen.handle_bytes && t.seen.handle_bytes <= sizeof(uint64_t))
        add_requests(c, &t, call);
    else
        call->n_unknown = call->n_requests;
}
