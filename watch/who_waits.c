/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/who_waits.h"

#include "analysis/allocation.h"
#include "base/base.h"
#include "include/pcollect/plugin.h"
#include "libcollect/state/ops.h"

#include <string.h>

enum { NOBODY = -1, ANYBODY = -2 };

/* Kinds of waits: PARTS for at least one of the parts of the call, ANY for at least one of the
 * other ranks of the communicator, ALL for all of them. */
enum wants { NOTHING, PARTS, ANY, ALL };

/* Ranks of a communicator. */
struct group {
    bool all; /* all ranks of MPI_COMM_WORLD in the same order */
    const int *members;
    int n;
};

/* A message that the call sends or receives. */
struct part {
    int peer; /* rank in MPI_COMM_WORLD, or ANYBODY */
    int tag;  /* negative: any, or not known */
    bool send;
    enum pct_call_comm comm;
    uint64_t domain;
    struct group group;
};

struct rank {
    const struct pct_waiting *seen; /* NULL: it was not seen */
    enum wants wants;
    struct part *parts; /* receives first */
    int n_parts;
    bool met;   /* another rank is in the matching call of a part: a message is under way */
    bool gone;  /* it has ended */
    bool acts;  /* it may act, now or later */
    bool enter; /* it is in a collective that no rank leaves before all have entered */
};

/* The members of one group, that which was asked for last: most questions in a row are of one. */
struct marks {
    struct group of;
    bool *on; /* by rank in MPI_COMM_WORLD */
};

struct job {
    const struct pct_waiting *seen;
    struct marks *marks;
    struct rank *ranks; /* by rank in MPI_COMM_WORLD */
    int world;
    struct pct_waits *out;
};

/* ---- One call -------------------------------------------------------------------------------- */

static struct group group_of(enum pct_call_comm comm, const int *members, int n)
{
    bool all = comm == PCT_COMM_WORLD || comm == PCT_COMM_AS_WORLD;
    return (struct group){all, members, members ? n : 0};
}

static struct group group_of_call(const struct pct_waiting *w)
{
    struct group g = group_of(w->call->comm, w->members, w->n_members);
    g.all = g.all || !strcmp(w->op, "MPI_Finalize");
    return g;
}

static bool is_known(const struct group *g)
{
    return g->all || g->members;
}

/* The rank in MPI_COMM_WORLD of one in the communicator, or NOBODY. */
static int world_of(const struct group *g, int rank)
{
    if (rank < 0 || g->all)
        return rank < 0 ? NOBODY : rank;
    return rank < g->n ? g->members[rank] : NOBODY;
}

/* Marks the members of a group, or takes their marks away. */
static void mark(const struct job *j, const struct group *g, bool on)
{
    for (int i = 0; i < g->n; i++)
        if (g->members[i] >= 0 && g->members[i] < j->world)
            j->marks->on[g->members[i]] = on;
}

static bool is_member(const struct job *j, const struct group *g, int rank)
{
    if (g->all || !g->members)
        return g->all;
    if (j->marks->of.members != g->members) {
        mark(j, &j->marks->of, false);
        mark(j, g, true);
        j->marks->of = *g;
    }
    return j->marks->on[rank];
}

static bool is_rooted(const struct pct_waiting *w, uint32_t traits)
{
    struct group group = group_of_call(w);
    bool is_root = world_of(&group, w->call->root) == w->rank;
    return traits & (is_root ? PCOLLECT_TRAIT_TO_ROOT : PCOLLECT_TRAIT_FROM_ROOT);
}

static bool is_same_call(const struct pct_waiting *a, const struct pct_waiting *b)
{
    return a->call->domain == b->call->domain && a->call->root == b->call->root &&
           !strcmp(a->op, b->op);
}

static void add_part(struct rank *r, struct part part)
{
    if (part.send ? part.peer < 0 : part.peer == PCT_RANK_NULL)
        return;
    part.peer = part.peer < 0 ? ANYBODY : world_of(&part.group, part.peer);
    r->parts[r->n_parts++] = part;
    r->wants = PARTS;
}

/* Adds the parts of a call. The tag of an exchange is that of its send. */
static void add_parts_of_call(struct rank *r, uint32_t traits)
{
    const struct pct_waiting *w = r->seen;
    const struct pct_mpi_call *c = w->call;
    struct part send = {c->peer, c->tag, true, c->comm, c->domain, group_of_call(w)};
    struct part receive = send;
    bool sends = traits & PCOLLECT_TRAIT_DEST, receives = traits & PCOLLECT_TRAIT_SOURCE;
    bool exchange = sends && receives;
    receive.send = false;
    receive.peer = exchange ? c->source : c->peer;
    receive.tag = exchange ? -1 : c->tag;
    r->parts = pct_alloc(2, sizeof *r->parts);
    if (receives)
        add_part(r, receive);
    if (sends)
        add_part(r, send);
}

/* Adds the parts of requests. A call with an unknown request does not count as waiting. */
static void add_parts_of_requests(struct rank *r)
{
    const struct pct_mpi_call *c = r->seen->call;
    bool known = !c->n_unknown;
    for (int i = 0; i < c->n_messages; i++) {
        const struct pct_message *m = &c->messages[i];
        struct group group = group_of(m->comm, m->members, m->n_members);
        known = known && is_known(&group);
    }
    if (!known)
        return;
    r->parts = pct_alloc((size_t)c->n_messages, sizeof *r->parts);
    for (int send = 0; send < 2; send++)
        for (int i = 0; i < c->n_messages; i++) {
            const struct pct_message *m = &c->messages[i];
            if (m->send == send)
                add_part(r, (struct part){m->peer, m->tag, m->send, m->comm, m->domain,
                                          group_of(m->comm, m->members, m->n_members)});
        }
}

static void look(struct rank *r)
{
    const struct pct_waiting *w = r->seen;
    struct group group = group_of_call(w);
    if (!w->call->known || w->ns < pct_waits_least_ns || w->several || w->may_act)
        return;
    uint32_t traits = pc_op_traits_of(w->op);
    r->enter = traits & PCOLLECT_TRAIT_ENTER;
    if (traits & PCOLLECT_TRAIT_WAITS)
        add_parts_of_requests(r);
    else if (traits & PCOLLECT_TRAIT_BLOCKS && is_known(&group))
        add_parts_of_call(r, traits);
    if (r->enter && is_known(&group))
        r->wants = ALL;
    else if (is_known(&group) && (is_rooted(w, traits) || traits & PCOLLECT_TRAIT_COUNTS))
        r->wants = ANY;
}

/* ---- Ranks that may act -------------------------------------------------------------------- */

static bool is_of(const struct part *p, int rank)
{
    return p->peer == ANYBODY || p->peer == rank;
}

/* True for a send and its matching receive, which only take long. */
static bool is_pair(const struct rank *a, const struct part *p, const struct rank *b,
                    const struct part *q)
{
    const struct part *send = p->send ? p : q, *receive = p->send ? q : p;
    return p->send != q->send && p->domain == q->domain && is_of(p, b->seen->rank) &&
           is_of(q, a->seen->rank) && (receive->tag < 0 || receive->tag == send->tag);
}

static bool is_met_by(const struct rank *a, const struct part *p, const struct rank *b)
{
    for (int i = 0; b->seen && a != b && i < b->n_parts; i++)
        if (is_pair(a, p, b, &b->parts[i]))
            return true;
    return false;
}

/* True if a message of the rank is under way. */
static bool is_met(const struct job *j, const struct rank *r)
{
    for (int k = 0; k < r->n_parts; k++) {
        const struct part *p = &r->parts[k];
        if (p->peer >= 0 && p->peer < j->world && is_met_by(r, p, &j->ranks[p->peer]))
            return true;
        for (int i = 0; p->peer == ANYBODY && i < j->world; i++)
            if (is_met_by(r, p, &j->ranks[i]))
                return true;
    }
    return false;
}

static bool waits_for_by(const struct job *j, int a, const struct part *p, int b)
{
    return a != b && is_of(p, b) && is_member(j, &p->group, b) &&
           !is_met_by(&j->ranks[a], p, &j->ranks[b]);
}

/* True if rank a may have to wait for rank b before it can continue. */
static bool waits_for(const struct job *j, int a, int b)
{
    const struct rank *r = &j->ranks[a], *to = &j->ranks[b];
    if (a == b || r->wants == NOTHING)
        return false;
    for (int i = 0; i < r->n_parts; i++)
        if (waits_for_by(j, a, &r->parts[i], b))
            return true;
    if (r->wants == PARTS || (to->seen && is_same_call(r->seen, to->seen)))
        return false;
    struct group group = group_of_call(r->seen);
    return is_member(j, &group, b);
}

/* True if another rank in the same collective may act. It may be the one waited for, such as a root
 * that sends to one rank after the other. */
static bool goes_on(const struct job *j, int rank)
{
    const struct rank *r = &j->ranks[rank];
    for (int i = 0; r->wants == ANY && i < j->world; i++) {
        const struct rank *o = &j->ranks[i];
        if (i != rank && o->seen && o->acts && is_same_call(r->seen, o->seen))
            return true;
    }
    return false;
}

/* True if a rank may have to wait for one that may act, or for one that never acts. For a part with
 * a fixed peer only that rank is examined, because there can be many parts. */
static bool awaits(const struct job *j, int rank, bool acting)
{
    const struct rank *r = &j->ranks[rank];
    bool anybody = r->wants != PARTS;
    for (int k = 0; k < r->n_parts; k++) {
        int peer = r->parts[k].peer;
        anybody = anybody || peer == ANYBODY;
        if (peer >= 0 && peer < j->world && peer != rank && j->ranks[peer].acts == acting)
            return true;
    }
    for (int i = 0; anybody && i < j->world; i++)
        if (j->ranks[i].acts == acting && waits_for(j, rank, i))
            return true;
    return false;
}

static bool may_act(const struct job *j, int rank)
{
    const struct rank *r = &j->ranks[rank];
    if (r->gone)
        return false;
    if (!r->seen || r->wants == NOTHING || r->met || goes_on(j, rank))
        return true;
    return (r->wants != ALL && awaits(j, rank, true)) || !awaits(j, rank, false);
}

/* Looks at the ranks up and down by turns: in a chain of ranks each may act because its neighbour
 * may. */
static void find_acting(struct job *j)
{
    bool changed = true;
    for (int turn = 0; changed; turn++) {
        changed = false;
        for (int k = 0; k < j->world; k++) {
            int i = turn % 2 ? j->world - 1 - k : k;
            if (j->ranks[i].acts || !may_act(j, i))
                continue;
            changed = j->ranks[i].acts = true;
        }
    }
}

/* ---- Conclusions --------------------------------------------------------------------------- */

static struct pct_wait *add(struct job *j, enum pct_wait_kind kind)
{
    j->out->at = pct_grow(j->out->at, j->out->n, &j->out->room, sizeof *j->out->at);
    struct pct_wait *w = &j->out->at[j->out->n++];
    *w = (struct pct_wait){.kind = kind};
    return w;
}

static void add_who(struct pct_wait *w, int who)
{
    w->who = pct_grow(w->who, w->n_who, &w->room_who, sizeof *w->who);
    w->who[w->n_who++] = who;
}

static void add_whom(struct pct_wait *w, int whom)
{
    w->whom = pct_grow(w->whom, w->n_whom, &w->room_whom, sizeof *w->whom);
    w->whom[w->n_whom++] = whom;
}

static int index_of(const struct job *j, int rank)
{
    return (int)(j->ranks[rank].seen - j->seen);
}

/* True if it needs each rank that it may have to wait for. */
static bool is_for_each(const struct rank *r)
{
    bool same = r->wants == PARTS && r->parts[0].peer >= 0;
    for (int i = 1; i < r->n_parts && same; i++)
        same = r->parts[i].peer == r->parts[0].peer;
    return r->wants == ALL || same;
}

static bool waits_for_any(const struct job *j, int rank, const int *whom, size_t n)
{
    if (j->ranks[rank].acts && !is_for_each(&j->ranks[rank]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (waits_for(j, rank, whom[i]))
            return true;
    return false;
}

static bool is_waited_for(const struct job *j, int rank)
{
    for (int i = 0; i < j->world; i++)
        if (waits_for_any(j, i, &rank, 1))
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
        add_whom(w, i);
    }
    for (int i = 0; w && i < j->world; i++)
        if (waits_for_any(j, i, w->whom, w->n_whom))
            add_who(w, index_of(j, i));
}

static bool differ(const struct rank *a, const struct rank *b)
{
    return a->enter && b->enter && a->seen->call->domain &&
           a->seen->call->domain == b->seen->call->domain && strcmp(a->seen->op, b->seen->op) != 0;
}

/* Adds the first two ranks in different collectives, each with the ranks in the same one. */
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
                    add_who(w, index_of(j, i));
                else if (r->enter && is_same_call(r->seen, j->ranks[b].seen))
                    add_whom(w, index_of(j, i));
            }
            return true;
        }
    return false;
}

/* Finds a rank that another one waits for and that never acts: for an exchange the source first. */
static int next_of(const struct job *j, int rank)
{
    const struct rank *r = &j->ranks[rank];
    for (int k = 0; k < r->n_parts; k++)
        for (int i = 0; i < j->world; i++)
            if (!j->ranks[i].acts && waits_for_by(j, rank, &r->parts[k], i))
                return i;
    for (int i = 0; i < j->world; i++)
        if (!j->ranks[i].acts && waits_for(j, rank, i))
            return i;
    return NOBODY;
}

static struct pct_message message_of(const struct part *p)
{
    return (struct pct_message){.comm = p->comm, .domain = p->domain, .tag = p->tag};
}

/* Finds a message that one rank sends and the other one receives, but not the same. */
static void find_misfit(const struct job *j, int a, int b, struct pct_misfit *out)
{
    const struct rank *one = &j->ranks[a], *other = &j->ranks[b];
    for (int i = 0; i < one->n_parts; i++)
        for (int k = 0; k < other->n_parts; k++) {
            const struct part *p = &one->parts[i], *q = &other->parts[k];
            if (p->send == q->send || !is_of(p, b) || !is_of(q, a))
                continue;
            *out = (struct pct_misfit){true, index_of(j, p->send ? a : b),
                                       index_of(j, p->send ? b : a), message_of(p->send ? p : q),
                                       message_of(p->send ? q : p)};
            return;
        }
}

/* Follows ranks from the first one that never acts until one repeats. */
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
            add_who(w, index_of(j, way[i]));
        for (int i = seen_at[rank]; i < n && !w->misfit.found; i++)
            find_misfit(j, way[i - 1], way[i], &w->misfit);
    }
    pct_free(seen_at);
    pct_free(way);
}

/* Adds ranks in one call that wait for ranks which do not wait. */
static void add_others(struct job *j)
{
    bool *told = pct_alloc((size_t)j->world, sizeof *told);
    for (int a = 0; a < j->world; a++) {
        const struct rank *first = &j->ranks[a];
        if (told[a] || !first->acts || !is_for_each(first))
            continue;
        struct pct_wait *w = add(j, PCT_WAIT_OTHERS);
        for (int i = 0; i < j->world; i++)
            if (j->ranks[i].seen && j->ranks[i].wants == NOTHING && waits_for(j, a, i))
                add_whom(w, index_of(j, i));
        for (int b = a; b < j->world; b++) {
            const struct rank *r = &j->ranks[b];
            if (r->wants != first->wants || !is_for_each(r) ||
                (r->wants == PARTS && r->parts[0].peer != first->parts[0].peer) ||
                !is_same_call(r->seen, first->seen))
                continue;
            told[b] = true;
            add_who(w, index_of(j, b));
        }
        if (w->n_whom)
            continue;
        pct_free(w->who);
        j->out->n--;
    }
    pct_free(told);
}

void pct_waits_find(const struct pct_waiting *ranks, size_t n, int world, bool all_here,
                    struct pct_waits *out)
{
    struct marks marks = {.on = pct_alloc((size_t)world + 1, sizeof *marks.on)};
    struct job j = {.seen = ranks, .marks = &marks, .world = world, .out = out};
    j.ranks = pct_alloc((size_t)world + 1, sizeof *j.ranks);
    for (size_t i = 0; i < n; i++) {
        if (ranks[i].rank >= world)
            continue;
        j.ranks[ranks[i].rank] = (struct rank){.seen = &ranks[i]};
        look(&j.ranks[ranks[i].rank]);
    }
    for (int i = 0; i < world; i++)
        j.ranks[i].gone = all_here && !j.ranks[i].seen;
    for (int i = 0; i < world; i++)
        j.ranks[i].met = is_met(&j, &j.ranks[i]);
    find_acting(&j);
    add_gone(&j);
    if (!add_differing(&j))
        add_circle(&j);
    add_others(&j);
    for (int i = 0; i < world; i++)
        pct_free(j.ranks[i].parts);
    pct_free(marks.on);
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
