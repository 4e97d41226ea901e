/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that are threads: a transport in memory, with faults on demand. Messages of one sender keep
 * their order. A failed transfer is a failure for its receiver, too.
 */
#ifndef TESTS_MERGE_NET_H
#define TESTS_MERGE_NET_H

#include "merge/route.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct net;

struct net_rank {
    struct pc_transport transport;
    struct pc_route route; /* of the transport: by rank until net_place */
    struct net *net;
    pthread_cond_t changed;    /* a message to it has come, or one of its own was taken */
    unsigned n_calls, fail_at; /* of the transport's functions; fail_at 0: never */
    bool fails_on;             /* all later calls fail, too */
};

/* waits: a sender waits until its message has been taken, as with large messages in MPI. */
struct net *net_new(int n_ranks, bool waits);
void net_free(struct net *net);
struct net_rank *net_rank(struct net *net, int rank);

/* Gives each rank the tree that fits its node: ids[rank] is a number of it. */
void net_place(struct net *net, const uint64_t *ids);

/* Bytes that were sent, without broadcasts. */
uint64_t net_bytes(const struct net *net);

/* Number of messages that no rank received. */
unsigned net_left(const struct net *net);

/* Calls fn(rank) in a thread for each rank; returns when all have ended. */
void net_run(struct net *net, void (*fn)(struct net_rank *rank, void *arg), void *arg);

#endif
