/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `mix`: point-to-point calls that block, and random traffic.
 */
#include "tests/mpi/mix.h"

#include <stdbool.h>
#include <stdlib.h>

#define N 64

static int out[4 * N], in[4 * N];

/* True on ranks that send first. A single rank does not: a send to itself may block. */
static bool sends(const struct place *p)
{
    return p->rank % 2 == 0 && p->rank + 1 < p->n;
}

static bool receives(const struct place *p)
{
    return p->rank % 2 == 1;
}

TRUTH_FUNCTION static void pairs(const struct place *p)
{
    MPI_Comm c = p->c;
    int to = p->rank + 1, from = p->rank - 1;
    MPI_Status s;
    ENTER;
    if (sends(p)) {
        MPI(Send, 40, 0, (out, 10, MPI_INT, to, 1, c));
        MPI(Ssend, 8 * p->rank, 0, (out, p->rank, MPI_DOUBLE, to, 1, c));
        MPI(Send, 0, 0, (NULL, 0, MPI_INT, to, 1, c));
        MPI(Send, 3, 0, (out, 3, MPI_BYTE, to, 1, c));
    }
    if (receives(p)) {
        MPI(Recv, 0, 40, (in, N, MPI_INT, from, 1, c, &s));
        MPI(Recv, 0, 8 * from, (in, N, MPI_DOUBLE, from, 1, c, MPI_STATUS_IGNORE));
        MPI(Recv, 0, 0, (in, N, MPI_INT, MPI_ANY_SOURCE, 1, c, MPI_STATUS_IGNORE));
        MPI(Recv, 0, 3, (in, N, MPI_BYTE, from, MPI_ANY_TAG, c, &s));
    }
    LEAVE;
}

TRUTH_FUNCTION static void buffered(const struct place *p)
{
    MPI_Comm c = p->c;
    char room[1024 + MPI_BSEND_OVERHEAD], *old;
    int size;
    ENTER;
    MPI(Buffer_attach, 0, 0, (room, sizeof room));
    MPI(Bsend, 4 * p->rank, 0, (out, p->rank, MPI_INT, p->right, 2, c));
    MPI(Recv, 0, 4 * p->left, (in, N, MPI_INT, p->left, 2, c, MPI_STATUS_IGNORE));
    MPI(Buffer_detach, 0, 0, (&old, &size));
    LEAVE;
}

TRUTH_FUNCTION static void ready(const struct place *p)
{
    MPI_Comm c = p->c;
    MPI_Request r;
    ENTER;
    MPI(Irecv, 0, 24, (in, N, MPI_INT, p->left, 3, c, &r));
    MPI(Barrier, 0, 0, (c));
    MPI(Rsend, 24, 0, (out, 6, MPI_INT, p->right, 3, c));
    MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void exchanged(const struct place *p)
{
    MPI_Comm c = p->c;
    int n = 1 + p->rank, m = 1 + p->left, r = p->right, l = p->left;
    MPI_Status s;
    ENTER;
    MPI(Sendrecv, 4 * n, 4 * m, (out, n, MPI_INT, r, 4, in, N, MPI_INT, l, 4, c, &s));
    MPI(Sendrecv, 4, 4, (out, 1, MPI_INT, r, 4, in, 1, MPI_INT, l, 4, c, MPI_STATUS_IGNORE));
    MPI(Sendrecv_replace, 16, 16, (in, 2, MPI_DOUBLE, r, 5, l, 5, c, MPI_STATUS_IGNORE));
    LEAVE;
}

TRUTH_FUNCTION static void nobody(const struct place *p)
{
    MPI_Comm c = p->c;
    int none = MPI_PROC_NULL;
    MPI_Request r;
    MPI_Status s;
    ENTER;
    MPI(Send, 0, 0, (out, 5, MPI_INT, none, 6, c));
    MPI(Recv, 0, 0, (in, 5, MPI_INT, none, 6, c, &s));
    MPI(Recv, 0, 0, (in, 5, MPI_INT, none, 6, c, MPI_STATUS_IGNORE));
    MPI(Sendrecv, 0, 0, (out, 5, MPI_INT, none, 6, in, 5, MPI_INT, none, 6, c, &s));
    MPI(Irecv, 0, 20, (in, 5, MPI_INT, p->left, 6, c, &r));
    MPI(Sendrecv, 20, 0, (out, 5, MPI_INT, p->right, 6, in, 5, MPI_INT, none, 6, c, &s));
    MPI(Wait, 0, 0, (&r, &s));
    LEAVE;
}

/* Types whose size differs from their extent and from count times a basic size. */
TRUTH_FUNCTION static void derived(const struct place *p)
{
    MPI_Comm c = p->c;
    MPI_Datatype column, pair, wide;
    int lengths[2] = {1, 3}, r = p->right, l = p->left;
    MPI_Aint where[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_SHORT};
    MPI_Status s;
    ENTER;
    MPI(Type_vector, 0, 0, (5, 2, 8, MPI_INT, &column));
    MPI(Type_create_struct, 0, 0, (2, lengths, where, parts, &pair));
    MPI(Type_create_resized, 0, 0, (MPI_CHAR, 0, 16, &wide));
    MPI(Type_commit, 0, 0, (&column));
    MPI(Type_commit, 0, 0, (&pair));
    MPI(Type_commit, 0, 0, (&wide));
    MPI(Sendrecv, 40, 40, (out, 1, column, r, 7, in, 10, MPI_INT, l, 7, c, &s));
    MPI(Sendrecv, 28, 28, (out, 2, pair, r, 7, in, 4, pair, l, 7, c, MPI_STATUS_IGNORE));
    MPI(Sendrecv, 9, 9, (out, 9, wide, r, 7, in, 9, wide, l, 7, c, &s));
    MPI(Type_free, 0, 0, (&column));
    MPI(Type_free, 0, 0, (&pair));
    MPI(Type_free, 0, 0, (&wide));
    LEAVE;
}

void mix_blocking(const struct place *p)
{
    ENTER;
    DO(pairs(p));
    DO(buffered(p));
    DO(ready(p));
    DO(exchanged(p));
    DO(nobody(p));
    DO(derived(p));
    LEAVE;
}

/* ---- Random traffic: all ranks draw the same messages and handle them in the same order ------ */

struct message {
    int from, to, tag, n; /* n integers */
    int send_mode, receive_mode;
};

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % below;
}

TRUTH_FUNCTION static void send_one(const struct place *p, const struct message *m)
{
    MPI_Request r;
    int bytes = 4 * m->n, n = m->n, to = m->to, tag = m->tag;
    ENTER;
    switch (m->send_mode) {
    case 0:
        MPI(Send, bytes, 0, (out, n, MPI_INT, to, tag, p->c));
        break;
    case 1:
        MPI(Ssend, bytes, 0, (out, n, MPI_INT, to, tag, p->c));
        break;
    case 2:
        MPI(Isend, bytes, 0, (out, n, MPI_INT, to, tag, p->c, &r));
        MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
        break;
    default:
        MPI(Issend, bytes, 0, (out, n, MPI_INT, to, tag, p->c, &r));
        MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    }
    LEAVE;
}

TRUTH_FUNCTION static void probe_one(const struct place *p, const struct message *m)
{
    int from = m->from, tag = m->tag, bytes = 4 * m->n, flag = 0, any = MPI_ANY_SOURCE;
    MPI_Message message;
    MPI_Request r;
    MPI_Status s;
    ENTER;
    switch (m->receive_mode) {
    case 3:
        MPI(Probe, 0, 0, (from, tag, p->c, &s));
        MPI(Recv, 0, bytes, (in, N, MPI_INT, s.MPI_SOURCE, tag, p->c, MPI_STATUS_IGNORE));
        break;
    case 4:
        while (!flag)
            MPI(Iprobe, 0, 0, (any, tag, p->c, &flag, MPI_STATUS_IGNORE));
        MPI(Recv, 0, bytes, (in, N, MPI_INT, from, tag, p->c, &s));
        break;
    case 5:
        MPI(Mprobe, 0, 0, (any, tag, p->c, &message, &s));
        MPI(Mrecv, 0, bytes, (in, N, MPI_INT, &message, MPI_STATUS_IGNORE));
        break;
    default:
        while (!flag)
            MPI(Improbe, 0, 0, (from, tag, p->c, &flag, &message, MPI_STATUS_IGNORE));
        MPI(Imrecv, 0, bytes, (in, N, MPI_INT, &message, &r));
        MPI(Wait, 0, 0, (&r, &s));
    }
    LEAVE;
}

TRUTH_FUNCTION static void receive_one(const struct place *p, const struct message *m)
{
    int from = m->from, tag = m->tag, bytes = 4 * m->n, flag = 0, any = MPI_ANY_SOURCE;
    MPI_Request r;
    MPI_Status s;
    ENTER;
    switch (m->receive_mode) {
    case 0:
        MPI(Recv, 0, bytes, (in, N, MPI_INT, from, tag, p->c, MPI_STATUS_IGNORE));
        break;
    case 1:
        MPI(Recv, 0, bytes, (in, N, MPI_INT, any, tag, p->c, &s));
        break;
    case 2:
        MPI(Irecv, 0, bytes, (in, N, MPI_INT, any, tag, p->c, &r));
        while (!flag)
            MPI(Test, 0, 0, (&r, &flag, MPI_STATUS_IGNORE));
        break;
    default:
        DO(probe_one(p, m));
    }
    LEAVE;
}

void mix_traffic(const struct place *p)
{
    static uint64_t seed = 20;
    ENTER;
    for (int i = 0; i < 200; i++) {
        struct message m = {.from = (int)draw(&seed, (unsigned)p->n), .tag = 1000 + i};
        m.to = (int)draw(&seed, (unsigned)p->n);
        m.n = (int)draw(&seed, N);
        m.send_mode = (int)draw(&seed, 4);
        m.receive_mode = (int)draw(&seed, 7);
        if (m.from == m.to)
            continue;
        if (p->rank == m.from)
            DO(send_one(p, &m));
        if (p->rank == m.to)
            DO(receive_one(p, &m));
    }
    LEAVE;
}
