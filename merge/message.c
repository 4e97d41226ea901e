/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of the reduction, and the part that a rank takes in it if it cannot merge. Linked into
 * the merge module and into libpcollect.so: needs base/ alone. Must not: call malloc.
 */
#include "merge/message.h"

#include "merge/module.h"
#include "merge/route.h"

static size_t piece_of(uint64_t left)
{
    return left < PC_MESSAGE_PIECE_BYTES ? (size_t)left : PC_MESSAGE_PIECE_BYTES;
}

int pc_message_send(const struct pc_transport *t, const void *data, size_t n, int to)
{
    uint64_t length = n;
    int err = t->send(t->self, &length, sizeof length, to);
    for (size_t done = 0, piece; !err && done < n; done += piece) {
        piece = piece_of(n - done);
        err = t->send(t->self, (const char *)data + done, piece, to);
    }
    return err;
}

/* Receives one transfer whose length both sides know. */
static int receive_exactly(const struct pc_transport *t, void *data, size_t n, int from)
{
    size_t there;
    int err = t->receive_size(t->self, from, &there);
    if (err)
        return err;
    return there == n ? t->receive(t->self, data, n, from) : PC_EFORMAT;
}

int pc_message_size(const struct pc_transport *t, int from, uint64_t *n_out)
{
    return receive_exactly(t, n_out, sizeof *n_out, from);
}

int pc_message_receive(const struct pc_transport *t, void *data, uint64_t n, int from)
{
    static char dropped[PC_MESSAGE_PIECE_BYTES]; /* only one thread of a process merges */
    int err = PC_OK;
    size_t piece;
    for (uint64_t done = 0; !err && done < n; done += piece) {
        piece = piece_of(n - done);
        err = receive_exactly(t, data ? (char *)data + done : dropped, piece, from);
    }
    return err;
}

static void drop_message(const struct pc_transport *t, int from)
{
    uint64_t n;
    if (!pc_message_size(t, from, &n))
        pc_message_receive(t, NULL, n, from);
}

/* Takes part in one step of reduce.c with empty messages: n_messages from each child, then to the
 * parent. */
static void go_up(const struct pc_transport *t, int n_messages)
{
    for (int k = 0; k < t->route->n_children; k++)
        for (int i = 0; i < n_messages; i++)
            drop_message(t, t->route->children[k]);
    for (int i = 0; i < n_messages && t->rank; i++)
        pc_message_send(t, NULL, 0, t->route->parent);
}

static void go_down(const struct pc_transport *t)
{
    if (t->rank)
        drop_message(t, t->route->parent);
    for (int k = t->route->n_children; k-- > 0;)
        pc_message_send(t, NULL, 0, t->route->children[k]);
}

int pc_merge_absent(const struct pc_transport *t, struct pc_error *error)
{
    struct pc_merge_verdict v = {.err = PC_ENOENT, .text = "rank 0 cannot merge"};
    go_up(t, 1);
    go_down(t);
    go_up(t, 2);
    int sent = t->broadcast(t->self, &v, sizeof v, 0);
    v.text[sizeof v.text - 1] = '\0';
    return pc_error_set(error, sent ? sent : PC_ENOENT, "%s", v.text);
}
