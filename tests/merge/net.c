/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/net.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

struct message {
    struct message *next;
    uint64_t number; /* an address may be that of a later message */
    int from, to;
    bool broken, broadcast;
    size_t n;
    char data[];
};

struct net {
    pthread_mutex_t lock;
    struct message *first;
    uint64_t n_messages, n_bytes;
    int n_ranks;
    bool waits;
    struct net_rank ranks[];
};

static bool fails(struct net_rank *r)
{
    unsigned n = ++r->n_calls;
    return n == r->fail_at || (r->fails_on && n > r->fail_at);
}

static bool is_queued(const struct net *net, uint64_t number)
{
    for (const struct message *at = net->first; at; at = at->next)
        if (at->number == number)
            return true;
    return false;
}

static void put(struct net_rank *r, const void *data, size_t n, int to, bool broken, bool broadcast)
{
    struct net *net = r->net;
    struct message *m = malloc(sizeof *m + n), **at = &net->first;
    *m = (struct message){NULL, 0, r->transport.rank, to, broken, broadcast, n};
    if (n)
        memcpy(m->data, data, n);
    pthread_mutex_lock(&net->lock);
    uint64_t number = m->number = ++net->n_messages;
    net->n_bytes += broadcast ? 0 : n;
    while (*at)
        at = &(*at)->next;
    *at = m;
    pthread_cond_signal(&net->ranks[to].changed);
    while (net->waits && n && !broadcast && is_queued(net, number))
        pthread_cond_wait(&r->changed, &net->lock);
    pthread_mutex_unlock(&net->lock);
}

/* The next message from there, with the lock held; it stays in the queue. */
static struct message **wait_for(struct net_rank *r, int from, bool broadcast)
{
    for (;;) {
        for (struct message **at = &r->net->first; *at; at = &(*at)->next)
            if ((*at)->from == from && (*at)->to == r->transport.rank &&
                (*at)->broadcast == broadcast)
                return at;
        pthread_cond_wait(&r->changed, &r->net->lock);
    }
}

static void take(struct net *net, struct message **at)
{
    struct message *m = *at;
    *at = m->next;
    pthread_cond_signal(&net->ranks[m->from].changed);
    free(m);
}

static int net_send(void *self, const void *data, size_t n, int to)
{
    struct net_rank *r = self;
    bool broken = fails(r);
    put(r, data, broken ? 0 : n, to, broken, false);
    return broken ? PC_EIO : PC_OK;
}

static int net_receive_size(void *self, int from, size_t *n_out)
{
    struct net_rank *r = self;
    bool broken = fails(r);
    pthread_mutex_lock(&r->net->lock);
    struct message **at = wait_for(r, from, false);
    broken |= (*at)->broken;
    *n_out = broken ? 12345 : (*at)->n;
    if (broken || !(*at)->n)
        take(r->net, at);
    pthread_mutex_unlock(&r->net->lock);
    return broken ? PC_EIO : PC_OK;
}

static int net_receive(void *self, void *data, size_t n, int from)
{
    struct net_rank *r = self;
    bool broken = fails(r);
    pthread_mutex_lock(&r->net->lock);
    struct message **at = wait_for(r, from, false);
    broken |= (*at)->n != n;
    if (!broken)
        memcpy(data, (*at)->data, n);
    take(r->net, at);
    pthread_mutex_unlock(&r->net->lock);
    return broken ? PC_EIO : PC_OK;
}

static int net_broadcast(void *self, void *data, size_t n, int root)
{
    struct net_rank *r = self;
    int me = r->transport.rank;
    bool broken = fails(r);
    for (int to = 0; me == root && to < r->net->n_ranks; to++)
        if (to != me)
            put(r, data, n, to, broken, true);
    if (me != root) {
        pthread_mutex_lock(&r->net->lock);
        struct message **at = wait_for(r, root, true);
        broken |= (*at)->broken || (*at)->n != n;
        if (!broken)
            memcpy(data, (*at)->data, n);
        take(r->net, at);
        pthread_mutex_unlock(&r->net->lock);
    }
    return broken ? PC_EIO : PC_OK;
}

struct net *net_new(int n_ranks, bool waits)
{
    struct net *net = calloc(1, sizeof *net + (size_t)n_ranks * sizeof net->ranks[0]);
    pthread_mutex_init(&net->lock, NULL);
    net->n_ranks = n_ranks;
    net->waits = waits;
    for (int i = 0; i < n_ranks; i++) {
        net->ranks[i] = (struct net_rank){.net = net,
                                          .transport = {.self = &net->ranks[i],
                                                        .rank = i,
                                                        .n_ranks = n_ranks,
                                                        .route = &net->ranks[i].route,
                                                        .send = net_send,
                                                        .receive_size = net_receive_size,
                                                        .receive = net_receive,
                                                        .broadcast = net_broadcast}};
        pc_route_by_rank(&net->ranks[i].route, i, n_ranks);
        pthread_cond_init(&net->ranks[i].changed, NULL);
    }
    return net;
}

void net_place(struct net *net, const uint64_t *ids)
{
    struct pc_nodes nodes;
    int32_t *room = calloc(pc_nodes_room(net->n_ranks), sizeof *room);
    if (pc_nodes_find(&nodes, ids, net->n_ranks, room))
        for (int i = 0; i < net->n_ranks; i++)
            pc_route_by_node(&net->ranks[i].route, &nodes, i);
    free(room);
}

void net_free(struct net *net)
{
    while (net->first)
        take(net, &net->first);
    for (int i = 0; i < net->n_ranks; i++)
        pthread_cond_destroy(&net->ranks[i].changed);
    pthread_mutex_destroy(&net->lock);
    free(net);
}

struct net_rank *net_rank(struct net *net, int rank)
{
    return &net->ranks[rank];
}

uint64_t net_bytes(const struct net *net)
{
    return net->n_bytes;
}

unsigned net_left(const struct net *net)
{
    unsigned n = 0;
    for (const struct message *m = net->first; m; m = m->next)
        n++;
    return n;
}

struct start {
    void (*fn)(struct net_rank *rank, void *arg);
    struct net_rank *rank;
    void *arg;
};

static void *run_one(void *arg)
{
    struct start *s = arg;
    s->fn(s->rank, s->arg);
    return NULL;
}

void net_run(struct net *net, void (*fn)(struct net_rank *rank, void *arg), void *arg)
{
    pthread_t *threads = calloc((size_t)net->n_ranks, sizeof *threads);
    struct start *starts = calloc((size_t)net->n_ranks, sizeof *starts);
    for (int i = 0; i < net->n_ranks; i++) {
        starts[i] = (struct start){fn, &net->ranks[i], arg};
        if (pthread_create(&threads[i], NULL, run_one, &starts[i]))
            abort();
    }
    for (int i = 0; i < net->n_ranks; i++)
        pthread_join(threads[i], NULL);
    free(starts);
    free(threads);
}
