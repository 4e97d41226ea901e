/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/who_waits.h"

#include "analysis/allocation.h"
#include "base/base.h"

#include <string.h>

enum { NOBODY = -1 };

/* The kinds of waits. */
enum wants { NOTHING, ONE, ANY, ALL };

struct rank {
    const struct pct_waiting *seen; /* NULL: it was not */
    enum wants wants;
    int peer;   /* ONE: the rank */
    bool gone;  /* it has ended */
    bool acts;  /* it may act, now or later */
    bool enter; /* it is in a collective that nobody leaves before all came */
};

struct job {
    const struct pct_waiting *seen;
    struct rank *ranks; /* by rank in MPI_COMM_WORLD */
    int world;
    struct pct_waits *out;
};

/* ---- One call -------------------------------------------------------------------------------- */

static const uint64_t wait_ns = 2000000000;

/* Names without "MPI_", and without the "_c" of large counts. */
static bool is_one_of(const char *op, const char *const *names)
{
    size_t n = strlen(op);
    if (strncmp(op, "MPI_", 4) != 0)
        return false;
    n -= n > 2 && !strcmp(op + n - 2, "_c") ? 2 : 0;
    for (; *names; names++)
        if (strlen(*names) == n - 4 && !strncmp(*names, op + 4, n - 4))
            return true;
    return false;
}

/* Collectives with counts of each rank are not here: where a count is 0 nobody is waited for. */
static bool is_for_all(const char *op)
{
    static const char *const names[] = {
        "Barrier",  "Allreduce",  "Allgather", "Alltoall", "Reduce_scatter_block",
        "Comm_dup", "Comm_split", "Finalize",  NULL};
    return is_one_of(op, names);
}

static bool is_rooted(const struct pct_waiting *w)
{
    static const char *const from_root[] = {"Bcast", "Scatter", NULL};
    static const char *const to_root[] = {"Reduce", "Gather", NULL};
    return is_one_of(w->op, w->call->root == w->rank ? to_root : from_root);
}

static bool is_receive(const char *op)
{
    static const char *const names[] = {"Recv", "Probe", "Mprobe", NULL};
    return is_one_of(op, names);
}

static bool is_send(const char *op)
{
    static const char *const names[] = {"Send", "Ssend", "Rsend", NULL};
    return is_one_of(op, names);
}

/* True if the communicator has the ranks of MPI_COMM_WORLD in their order. */
static bool is_of_all(const struct pct_waiting *w)
{
    return w->call->comm == PCT_COMM_WORLD || w->call->comm == PCT_COMM_AS_WORLD ||
           !strcmp(w->op, "MPI_Finalize");
}

static bool is_same_call(const struct pct_waiting *a, const struct pct_waiting *b)
{
    return !strcmp(a->op, b->op) && a->call->domain == b->call->domain &&
           a->call->root == b->call->root;
}

static void look(struct rank *r)
{
    const struct pct_waiting *w = r->seen;
    const struct pct_mpi_call *c = w->call;
    if (!c->known || w->ns < wait_ns || w->several || w->stopped)
        return;
    r->enter = is_for_all(w->op);
    if (!is_of_all(w))
        return;
    if (is_receive(w->op) || is_send(w->op)) {
        r->wants = c->peer >= 0 ? ONE : is_receive(w->op) ? ANY : NOTHING;
        r->peer = c->peer;
    } else if (r->enter || is_rooted(w)) {
        r->wants = r->enter ? ALL : ANY;
    }
}

/* ---- Who may act ----------------------------------------------------------------------------- */

/* A send and the receive that takes it: they only take long. */
static bool is_pair(const struct rank *a, const struct rank *b)
{
    const struct rank *send = is_send(a->seen->op) ? a : b, *receive = send == a ? b : a;
    int tag = receive->seen->call->tag, from = receive->seen->call->peer;
    return is_send(send->seen->op) && is_receive(receive->seen->op) &&
           send->seen->call->domain == receive->seen->call->domain &&
           send->seen->call->peer == receive->seen->rank &&
           (from < 0 || from == send->seen->rank) && (tag < 0 || tag == send->seen->call->tag);
}

/* True if rank a may have to wait for rank b before it can go on. */
static bool waits_for(const struct job *j, int a, int b)
{
    const struct rank *r = &j->ranks[a], *to = &j->ranks[b];
    if (a == b || r->wants == NOTHING || (r->wants == ONE && r->peer != b))
        return false;
    if (to->seen && !is_send(r->seen->op) && !is_receive(r->seen->op))
        return !is_same_call(r->seen, to->seen);
    return !to->seen || r->wants == ANY || !is_pair(r, to);
}

static bool may_act(const struct job *j, int rank)
{
    const struct rank *r = &j->ranks[rank];
    bool any = false, all = true, none = true;
    if (r->gone)
        return false;
    if (!r->seen || r->wants == NOTHING)
        return true;
    if (r->wants == ONE && r->peer < j->world)
        return !waits_for(j, rank, r->peer) || j->ranks[r->peer].acts;
    for (int i = 0; i < j->world; i++) {
        if (!waits_for(j, rank, i))
            continue;
        none = false;
        any |= j->ranks[i].acts;
        all = all && j->ranks[i].acts;
    }
    return r->wants == ANY ? any || none : all;
}

static void find_acting(struct job *j)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < j->world; i++) {
            if (j->ranks[i].acts || !may_act(j, i))
                continue;
            changed = j->ranks[i].acts = true;
        }
    }
}

/* ---- What is said of it ---------------------------------------------------------------------- */

static struct pct_wait *add(struct job *j, enum pct_wait_kind kind)
{
    j->out->at = pct_grow(j->out->at, j->out->n, &j->out->room, sizeof *j->out->at);
    struct pct_wait *w = &j->out->at[j->out->n++];
    *w = (struct pct_wait){.kind = kind};
    w->who = pct_alloc((size_t)j->world, sizeof *w->who);
    w->whom = pct_alloc((size_t)j->world, sizeof *w->whom);
    return w;
}

static int index_of(const struct job *j, int rank)
{
    return (int)(j->ranks[rank].seen - j->seen);
}

static bool is_waited_for(const struct job *j, int rank)
{
    for (int i = 0; i < j->world; i++)
        if (waits_for(j, i, rank))
            return true;
    return false;
}

static bool waits_for_any(const struct job *j, int rank, const int *whom, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (waits_for(j, rank, whom[i]))
            return true;
    return false;
}

static void add_gone(struct job *j)
{
    struct pct_wait *w = NULL;
    for (int i = 0; i < j->world; i++) {
        if (!j->ranks[i].gone || !is_waited_for(j, i))
            continue;
        w = w ? w : add(j, PCT_WAIT_GONE);
        w->whom[w->n_whom++] = i;
    }
    for (int i = 0; w && i < j->world; i++)
        if (waits_for_any(j, i, w->whom, w->n_whom))
            w->who[w->n_who++] = index_of(j, i);
}

static bool differ(const struct rank *a, const struct rank *b)
{
    return a->enter && b->enter && a->seen->call->domain &&
           a->seen->call->domain == b->seen->call->domain && strcmp(a->seen->op, b->seen->op) != 0;
}

/* The first two that differ, and who is in the same as they. */
static bool add_differing(struct job *j)
{
    for (int a = 0; a < j->world; a++)
        for (int b = a + 1; b < j->world && j->ranks[a].enter; b++) {
            if (!differ(&j->ranks[a], &j->ranks[b]))
                continue;
            struct pct_wait *w = add(j, PCT_WAIT_DIFFER);
            for (int i = a; i < j->world; i++) {
                const struct rank *r = &j->ranks[i];
                if (r->enter && is_same_call(r->seen, j->ranks[a].seen))
                    w->who[w->n_who++] = index_of(j, i);
                else if (r->enter && is_same_call(r->seen, j->ranks[b].seen))
                    w->whom[w->n_whom++] = index_of(j, i);
            }
            return true;
        }
    return false;
}

/* Finds a rank that another waits for and that never acts. */
static int next_of(const struct job *j, int rank)
{
    for (int i = 0; i < j->world; i++)
        if (!j->ranks[i].acts && waits_for(j, rank, i))
            return i;
    return NOBODY;
}

/* From the first rank that never acts on until one comes again. */
static void add_circle(struct job *j)
{
    int *seen_at = pct_alloc((size_t)j->world, sizeof *seen_at), *way;
    int rank = 0, n = 0;
    way = pct_alloc((size_t)j->world, sizeof *way);
    while (rank < j->world && (j->ranks[rank].acts || j->ranks[rank].gone))
        rank++;
    while (rank != NOBODY && rank < j->world && !j->ranks[rank].gone && !seen_at[rank]) {
        way[n++] = rank;
        seen_at[rank] = n;
        rank = next_of(j, rank);
    }
    if (rank != NOBODY && rank < j->world && seen_at[rank]) {
        struct pct_wait *w = add(j, PCT_WAIT_CIRCLE);
        for (int i = seen_at[rank] - 1; i < n; i++)
            w->who[w->n_who++] = index_of(j, way[i]);
    }
    pct_free(seen_at);
    pct_free(way);
}

/* Ranks in one call that wait for ranks which do not. */
static void add_others(struct job *j)
{
    bool *told = pct_alloc((size_t)j->world, sizeof *told);
    for (int a = 0; a < j->world; a++) {
        const struct rank *first = &j->ranks[a];
        if (told[a] || !first->acts || first->wants == NOTHING || first->wants == ANY)
            continue;
        struct pct_wait *w = add(j, PCT_WAIT_OTHERS);
        for (int i = 0; i < j->world; i++)
            if (j->ranks[i].seen && j->ranks[i].wants == NOTHING && waits_for(j, a, i))
                w->whom[w->n_whom++] = index_of(j, i);
        for (int b = a; b < j->world; b++) {
            const struct rank *r = &j->ranks[b];
            if (r->wants != first->wants || r->peer != first->peer ||
                !is_same_call(r->seen, first->seen))
                continue;
            told[b] = true;
            w->who[w->n_who++] = index_of(j, b);
        }
        if (w->n_whom)
            continue;
        pct_free(w->who);
        pct_free(w->whom);
        j->out->n--;
    }
    pct_free(told);
}

void pct_waits_find(const struct pct_waiting *ranks, size_t n, int world, bool all_here,
                    struct pct_waits *out)
{
    struct job j = {.seen = ranks, .world = world, .out = out};
    j.ranks = pct_alloc((size_t)world + 1, sizeof *j.ranks);
    for (size_t i = 0; i < n; i++) {
        if (ranks[i].rank >= world)
            continue;
        j.ranks[ranks[i].rank] = (struct rank){.seen = &ranks[i], .peer = NOBODY};
        look(&j.ranks[ranks[i].rank]);
    }
    for (int i = 0; i < world; i++)
        j.ranks[i].gone = all_here && !j.ranks[i].seen;
    find_acting(&j);
    add_gone(&j);
    if (!add_differing(&j))
        add_circle(&j);
    add_others(&j);
    pct_free(j.ranks);
}

void pct_waits_free(struct pct_waits *w)
{
    for (size_t i = 0; i < w->n; i++) {
        pct_free(w->at[i].who);
        pct_free(w->at[i].whom);
    }
    pct_free(w->at);
}
