/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The meeting of the ranks at the end of a job, and the steps after it. A rank without this library
 * never answers, and a rank that gave up is already in the real MPI_Finalize: so no call that
 * another rank must answer is made before it is known that all take part.
 *
 *   step      rank 0                              another rank
 *   HELLO     says that it is there               knows then who will tell the user
 *   HERE      collects, up to its limit           says that it is there
 *   OPEN      all came: yes; else no, and leaves  listens, up to its limit; no: leaves
 *   VOTE      collects for at most VOTE_MS        yes if it heard this yes; else no, and leaves
 *   DECISION  all are yes: yes; else no           listens for at most ANSWER_MS; no yes: leaves
 *
 * Rank 0 says yes only after the yes of all, and a rank that has voted yes stays until rank 0 must
 * have decided: rank 0 decides within VOTE_MS of its own clock, or says no. So no rank continues
 * without a rank that has left. A rank that leaves before rank 0 came votes no, and its vote says
 * whether the user was told. A rank that cannot begin a step can tell the others nothing in this
 * way: it announces that it has left where they look (pc_guest). A hole: if another rank has voted
 * yes and cannot begin DECISION, rank 0 says yes and waits for it in join.
 *
 * The tree of the merge (route.h) follows from the ids of nodes, which come with HERE. Rank 0 sends
 * each rank its part with OPEN, so a rank that votes yes has it.
 *
 * Linked into libpcollect.so; called by its end (libcollect/life/finish.c). Needs base/ alone. Must
 * not: call malloc, wait without a limit for a rank that may be missing.
 */
#include "merge/ending.h"

#include <string.h>

/* A yes contains this version: it must be raised with any change of the meeting, of the messages of
 * the merge or of their contents, so that ranks of two versions do not merge. */
enum { VERSION = 5 };
enum { NO = 1, NO_AND_TOLD, YES = 0x10 + VERSION };

static bool was_told(const struct pc_transport *t)
{
    for (int rank = 1; rank < t->n_ranks; rank++)
        if (t->word(t->self, PC_MEET_VOTE, rank) == NO_AND_TOLD)
            return true;
    return false;
}

static bool all_agree(const struct pc_transport *t)
{
    for (int rank = 0; rank < t->n_ranks; rank++)
        if (t->word(t->self, PC_MEET_VOTE, rank) != YES)
            return false;
    return true;
}

/* Waits for the others up to the guest's limit, and subtracts the time from it. */
static int await_others(const struct pc_transport *t, struct pc_guest *g, enum pc_meeting_step step)
{
    int ms = PC_MEET_LOOK_MS;
    while (g->look && (g->limit_ms < 0 || g->limit_ms > ms)) {
        int err = t->await(t->self, step, ms);
        if (err != PC_ENOENT)
            return err;
        g->limit_ms -= g->limit_ms < 0 ? 0 : ms;
        ms = ms < PC_MEET_LOOKS_MS / 2 ? 2 * ms : PC_MEET_LOOKS_MS;
        g->look(g);
    }
    return t->await(t->self, step, g->limit_ms);
}

/* Begins the step if the one before it could be begun. */
static int begin(int err, const struct pc_transport *t, enum pc_meeting_step step, char word)
{
    return err ? err : t->begin(t->self, step, word);
}

/* The meeting on rank 0. Returns like pc_meet. */
static int lead(const struct pc_transport *t, struct pc_guest *g, bool *tells)
{
    *tells = true;
    int err = begin(begin(PC_OK, t, PC_MEET_HELLO, YES), t, PC_MEET_HERE, YES);
    if (err)
        return err;
    bool all = await_others(t, g, PC_MEET_HERE) == PC_OK;
    if (all && g->met)
        g->met(g);
    if (all)
        pc_route_make(t);
    uint64_t opened = t->now_ms(t->self);
    err = begin(begin(PC_OK, t, PC_MEET_OPEN, all ? YES : NO), t, PC_MEET_VOTE, YES);
    if (err)
        return err;
    if (!all)
        t->await(t->self, PC_MEET_OPEN, PC_MEET_FAREWELL_MS);
    bool voted = t->await(t->self, PC_MEET_VOTE, all ? PC_MEET_VOTE_MS : 0) == PC_OK;
    *tells = !was_told(t);
    if (!all)
        return PC_ENOENT;
    all = voted && all_agree(t) && t->now_ms(t->self) - opened <= PC_MEET_VOTE_MS;
    err = begin(PC_OK, t, PC_MEET_DECISION, all ? YES : NO);
    if (err)
        return err;
    t->await(t->self, PC_MEET_DECISION, PC_MEET_FAREWELL_MS);
    return all ? PC_OK : PC_ENOENT;
}

static int follow(const struct pc_transport *t, struct pc_guest *g, bool *tells)
{
    *tells = false;
    int err = begin(begin(PC_OK, t, PC_MEET_HELLO, 0), t, PC_MEET_HERE, YES);
    err = begin(err, t, PC_MEET_OPEN, 0);
    if (err)
        return err;
    if (await_others(t, g, PC_MEET_OPEN)) {
        *tells = g->speaks && t->await(t->self, PC_MEET_HELLO, 0);
        t->begin(t->self, PC_MEET_VOTE, *tells ? NO_AND_TOLD : NO);
        return PC_ENOENT;
    }
    bool agrees = t->word(t->self, PC_MEET_OPEN, 0) == YES;
    if (agrees && g->met)
        g->met(g);
    err = begin(PC_OK, t, PC_MEET_VOTE, agrees ? YES : NO);
    if (!err && !agrees)
        return PC_ENOENT;
    err = begin(err, t, PC_MEET_DECISION, 0);
    if (err)
        return err;
    bool merges = !t->await(t->self, PC_MEET_DECISION, PC_MEET_ANSWER_MS) &&
                  t->word(t->self, PC_MEET_DECISION, 0) == YES;
    return merges ? PC_OK : PC_ENOENT;
}

int pc_meet(const struct pc_transport *t, const struct pc_guest *guest, struct pc_route *route_out,
            bool *tells_out)
{
    struct pc_guest own = *guest;
    bool tells = t->rank == 0;
    int err = PC_OK;
    if (t->begin && t->n_ranks > 1) {
        memcpy(t->with_word(t->self, PC_MEET_HERE, t->rank), &own.node, sizeof own.node);
        err = t->rank == 0 ? lead(t, &own, &tells) : follow(t, &own, &tells);
        memcpy(route_out, t->with_word(t->self, PC_MEET_OPEN, t->rank), pc_route_bytes(t->n_ranks));
    } else {
        pc_route_by_rank(route_out, t->rank, t->n_ranks);
    }
    *tells_out = tells;
    if (err && err != PC_ENOENT && own.leave)
        own.leave(&own);
    return err || !t->join ? err : t->join(t->self);
}

/* Distributes the job's key. If it does not arrive, rank 0 gets a profile with another key, and
 * writes none. */
static void agree(const struct pc_ending *e, const struct pc_transport *t)
{
    uint64_t key = t->rank == 0 ? e->key(e->self) : 0;
    if (!t->broadcast(t->self, &key, sizeof key, 0) && key)
        e->take_key(e->self, key);
}

enum pc_end pc_end_job(const struct pc_ending *e, const struct pc_transport *t, bool *tells_out,
                       struct pc_error *error)
{
    error->text[0] = '\0';
    struct pc_route route;
    struct pc_transport along = *t;
    int err = pc_meet(t, &e->guest, &route, tells_out);
    if (err && err != PC_ENOENT)
        pc_error_set(error, err, "rank %d cannot reach the other ranks: %s", t->rank,
                     err == PC_ENOMEM ? "there is no memory for it" : "MPI refuses it");
    if (err)
        return PC_END_UNMET;
    along.route = &route;
    agree(e, t);
    *tells_out = t->rank == 0;
    if (e->merge(e->self, &along, error))
        return PC_END_FAILED;
    e->mark(e->self);
    /* The note is written first: without an arena in it the folder may be removed. */
    if (t->rank == 0)
        e->announce(e->self);
    e->remove(e->self);
    return PC_END_MERGED;
}
