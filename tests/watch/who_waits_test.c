/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits for whom, in simulated jobs: real deadlocks, and states that only look like one.
 */
#include "watch/who_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 4, WORLD_ID = 77 };

/* Communicators other than MPI_COMM_WORLD, from 1. */
static const struct group {
    int domain, n, members[RANKS];
} groups[] = {{0}, {5, 3, {3, 2, 1}}, {6, 2, {2, 0}}};

/* A rank of a test case; op NULL: it was not seen. */
struct made {
    const char *op;
    int peer, tag, root;
    enum pct_call_comm comm; /* 0: MPI_COMM_WORLD */
    unsigned ms;             /* 0: long */
    bool several, may_act;
    int source; /* of an exchange */
    int among;  /* group: the communicator has its ranks */
    /* Requests of a call that waits: "<1.7" a receive from rank 1 with tag 7, "<*" from any, ">" a
     * send,
     * "(0" a receive among ranks 3, 2 and 1, "?" not known. */
    const char *requests;
};

struct made_case {
    const char *name;
    struct made ranks[RANKS];
    bool elsewhere;     /* ranks that were not seen may be on another node */
    const char *wanted; /* "circle 0 1; others 2 for 3" */
};

#define RECV(from)                                                                                 \
    {                                                                                              \
        "MPI_Recv", from, 0, -1, 0, 0, false, false, 0, 0, NULL                                    \
    }
#define SEND(to)                                                                                   \
    {                                                                                              \
        "MPI_Send", to, 0, -1, 0, 0, false, false, 0, 0, NULL                                      \
    }
#define COLL(op)                                                                                   \
    {                                                                                              \
        op, -1, -1, -1, 0, 0, false, false, 0, 0, NULL                                             \
    }
#define ROOTED(op, root)                                                                           \
    {                                                                                              \
        op, -1, -1, root, 0, 0, false, false, 0, 0, NULL                                           \
    }
#define EXCHANGE(to, from)                                                                         \
    {                                                                                              \
        "MPI_Sendrecv", to, 0, -1, 0, 0, false, false, from, 0, NULL                               \
    }
#define AMONG_GROUP(op, peer, root, group)                                                         \
    {                                                                                              \
        op, peer, 0, root, PCT_COMM_OTHER, 0, false, false, 0, group, NULL                         \
    }
#define AMONG(op, peer, root) AMONG_GROUP(op, peer, root, 1)
#define WAITS(op, requests)                                                                        \
    {                                                                                              \
        op, -1, -1, -1, 0, 0, false, false, 0, 0, requests                                         \
    }
#define OUT                                                                                        \
    {                                                                                              \
        "", -1, -1, -1, 0, 0, false, false, 0, 0, NULL                                             \
    }

static const struct made_case cases[] = {
    {"all compute", {OUT, OUT, OUT, OUT}, false, ""},
    {"each receives from the next", {RECV(1), RECV(2), RECV(3), RECV(0)}, false, "circle 0 1 2 3"},
    {"two of four", {OUT, RECV(2), RECV(1), OUT}, false, "circle 1 2"},
    {"for a circle", {RECV(1), RECV(2), RECV(1), OUT}, false, "circle 1 2"},
    {"for one that computes", {RECV(1), RECV(2), RECV(3), OUT}, false, "others 2 for 3"},
    {"not yet for long",
     {{"MPI_Recv", 1, 0, -1, 0, 1900, false, false, 0, 0, NULL}, RECV(0), OUT, OUT},
     false,
     "others 1 for 0"},
    {"one that may have left its call",
     {{"MPI_Recv", 1, 0, -1, 0, 0, false, true, 0, 0, NULL}, RECV(0), OUT, OUT},
     false,
     "others 1 for 0"},
    {"another thread may send",
     {{"MPI_Recv", 1, 0, -1, 0, 0, true, false, 0, 0, NULL}, RECV(0), OUT, OUT},
     false,
     "others 1 for 0"},
    {"a message under way", {SEND(1), RECV(0), OUT, OUT}, false, ""},
    {"a message that anybody may send",
     {SEND(1), {"MPI_Recv", -1, -1, -1, 0, 0, false, false, 0, 0, NULL}, OUT, OUT},
     false,
     ""},
    {"a message of another tag",
     {SEND(1), {"MPI_Recv", 0, 5, -1, 0, 0, false, false, 0, 0, NULL}, OUT, OUT},
     false,
     "circle 0 1 (0 sends 77.0, 1 receives 77.5)"},
    {"a message on a copy of the communicator",
     {{"MPI_Recv", -1, 0, -1, PCT_COMM_AS_WORLD, 0, false, false, 0, 0, NULL},
      SEND(0),
      RECV(0),
      RECV(0)},
     false,
     "circle 0 1 (1 sends 77.0, 0 receives 5.0)"},
    {"both send", {SEND(1), SEND(0), OUT, OUT}, false, "circle 0 1"},
    {"a barrier and a loop",
     {COLL("MPI_Barrier"), COLL("MPI_Barrier"), OUT, COLL("MPI_Barrier")},
     false,
     "others 0 1 3 for 2"},
    {"all in the barrier",
     {COLL("MPI_Barrier"), COLL("MPI_Barrier"), COLL("MPI_Barrier"), COLL("MPI_Barrier")},
     false,
     ""},
    {"a barrier and its receiver",
     {COLL("MPI_Barrier"), RECV(0), COLL("MPI_Barrier"), OUT},
     false,
     "circle 0 1"},
    {"collectives that differ",
     {COLL("MPI_Barrier"), COLL("MPI_Allreduce"), COLL("MPI_Allreduce"), COLL("MPI_Barrier")},
     false,
     "differ 0 3 and 1 2"},
    {"in MPI_Finalize", {COLL("MPI_Finalize"), COLL("MPI_Barrier"), OUT, OUT}, false, "circle 0 1"},
    {"left a reduction early",
     {ROOTED("MPI_Reduce", 0), COLL("MPI_Barrier"), COLL("MPI_Barrier"), OUT},
     false,
     "others 1 2 for 3"},
    {"left a broadcast early",
     {COLL("MPI_Barrier"), ROOTED("MPI_Bcast", 0), OUT, OUT},
     false,
     "others 0 for 2 3"},
    {"a root that never comes",
     {RECV(1), ROOTED("MPI_Bcast", 0), ROOTED("MPI_Bcast", 0), ROOTED("MPI_Bcast", 0)},
     false,
     "circle 0 1"},
    {"all in the broadcast",
     {ROOTED("MPI_Bcast", 0), ROOTED("MPI_Bcast", 0), ROOTED("MPI_Bcast", 0),
      ROOTED("MPI_Bcast", 0)},
     false,
     ""},
    {"an ended rank",
     {COLL("MPI_Barrier"),
      COLL("MPI_Barrier"),
      {NULL, 0, 0, 0, 0, 0, false, false, 0, 0, NULL},
      COLL("MPI_Barrier")},
     false,
     "gone 0 1 3 for 2"},
    {"a rank on another node",
     {COLL("MPI_Barrier"),
      COLL("MPI_Barrier"),
      {NULL, 0, 0, 0, 0, 0, false, false, 0, 0, NULL},
      COLL("MPI_Barrier")},
     true,
     ""},
    {"ranks of another communicator",
     {{"MPI_Recv", 1, 0, -1, PCT_COMM_OTHER, 0, false, false, 0, 0, NULL},
      {"MPI_Recv", 0, 0, -1, PCT_COMM_OTHER, 0, false, false, 0, 0, NULL},
      OUT,
      OUT},
     false,
     ""},
    {"any message, of those that wait",
     {{"MPI_Recv", -1, -1, -1, 0, 0, false, false, 0, 0, NULL}, RECV(0), RECV(0), RECV(0)},
     false,
     "circle 0 1"},
    {"any message, one computes",
     {{"MPI_Recv", -1, -1, -1, 0, 0, false, false, 0, 0, NULL}, RECV(0), RECV(0), OUT},
     false,
     ""},
    {"a message under way to one of two who wait",
     {SEND(1), {"MPI_Recv", -1, -1, -1, 0, 0, false, false, 0, 0, NULL}, RECV(1), RECV(1)},
     false,
     ""},
    {"a root that still sends",
     {ROOTED("MPI_Bcast", 0), ROOTED("MPI_Bcast", 0), RECV(1), RECV(1)},
     false,
     ""},
    {"a root that may act",
     {{"MPI_Bcast", -1, -1, 0, 0, 0, false, true, 0, 0, NULL},
      ROOTED("MPI_Bcast", 0),
      RECV(1),
      OUT},
     false,
     ""},
    {"exchanges in a ring",
     {EXCHANGE(1, 3), EXCHANGE(2, 0), EXCHANGE(3, 1), EXCHANGE(0, 2)},
     false,
     ""},
    {"exchanges in a ring without one",
     {EXCHANGE(1, 3), EXCHANGE(2, 0), EXCHANGE(3, 1), RECV(0)},
     false,
     ""},
    {"an exchange and a barrier",
     {EXCHANGE(1, 2), COLL("MPI_Barrier"), COLL("MPI_Barrier"), COLL("MPI_Barrier")},
     false,
     "circle 0 2"},
    {"an exchange, one of the two computes",
     {EXCHANGE(1, 2), COLL("MPI_Barrier"), OUT, COLL("MPI_Barrier")},
     false,
     "others 1 3 for 2"},
    {"an exchange with one that computes",
     {EXCHANGE(3, 3), OUT, OUT, OUT},
     false,
     "others 0 for 3"},
    {"an exchange with an ended rank",
     {EXCHANGE(1, 2), COLL("MPI_Barrier"), {NULL, 0, 0, 0, 0, 0, false, false, 0, 0, NULL}, OUT},
     false,
     "gone 0 1 for 2"},
    {"exchanges without a source",
     {EXCHANGE(2, PCT_RANK_NULL), RECV(0), RECV(1), OUT},
     false,
     "circle 0 2 1"},
    {"an exchange without a source, and an ended rank",
     {EXCHANGE(1, PCT_RANK_NULL), {NULL, 0, 0, 0, 0, 0, false, false, 0, 0, NULL}, OUT, OUT},
     false,
     "gone 0 for 1"},
    {"exchanges without a destination",
     {EXCHANGE(PCT_RANK_NULL, 2), RECV(0), RECV(1), OUT},
     false,
     "circle 0 2 1"},
    {"an exchange with nobody",
     {EXCHANGE(PCT_RANK_NULL, PCT_RANK_NULL), RECV(0), OUT, OUT},
     false,
     "others 1 for 0"},
    {"counts of each rank",
     {COLL("MPI_Allgatherv"), RECV(0), COLL("MPI_Allgatherv"), COLL("MPI_Allgatherv")},
     false,
     "circle 0 1"},
    {"counts of each rank, one computes",
     {COLL("MPI_Allgatherv"), RECV(0), COLL("MPI_Allgatherv"), OUT},
     false,
     ""},
    {"counts of each rank, all in it",
     {COLL("MPI_Alltoallv"), COLL("MPI_Alltoallv"), COLL("MPI_Alltoallv"), COLL("MPI_Alltoallv")},
     false,
     ""},
    {"members: a receive of the last of three",
     {RECV(3), AMONG("MPI_Recv", 0, -1), OUT, AMONG("MPI_Recv", 2, -1)},
     false,
     "circle 3 1"},
    {"members: a barrier without one of them",
     {OUT, AMONG("MPI_Barrier", -1, -1), AMONG("MPI_Barrier", -1, -1), RECV(1)},
     false,
     "circle 1 3"},
    {"members: a barrier without one of them that computes",
     {RECV(1), AMONG("MPI_Barrier", -1, -1), AMONG("MPI_Barrier", -1, -1), OUT},
     false,
     "others 1 2 for 3"},
    {"members: all in the barrier",
     {RECV(1), AMONG("MPI_Barrier", -1, -1), AMONG("MPI_Barrier", -1, -1),
      AMONG("MPI_Barrier", -1, -1)},
     false,
     ""},
    {"members: the root is the last",
     {RECV(3), AMONG("MPI_Reduce", -1, 0), AMONG("MPI_Reduce", -1, 0), RECV(2)},
     false,
     "others 3 for 2"},
    {"members: counts of each rank",
     {OUT, RECV(3), AMONG("MPI_Allgatherv", -1, -1), AMONG("MPI_Allgatherv", -1, -1)},
     false,
     "circle 1 3"},
    {"members: barriers of two communicators",
     {AMONG_GROUP("MPI_Barrier", -1, -1, 2), AMONG("MPI_Barrier", -1, -1), OUT, OUT},
     false,
     "others 0 for 2; others 1 for 2 3"},
    {"members: barriers of two communicators, one of which has a receiver",
     {AMONG_GROUP("MPI_Barrier", -1, -1, 2), AMONG("MPI_Barrier", -1, -1), RECV(0),
      AMONG("MPI_Barrier", -1, -1)},
     false,
     "circle 0 2"},
    {"requests of which nothing is known",
     {WAITS("MPI_Waitall", "?<1"), RECV(0), RECV(0), RECV(0)},
     false,
     "others 1 2 3 for 0"},
    {"requests: each receives from the next",
     {WAITS("MPI_Wait", "<1"), WAITS("MPI_Waitany", "<2"), WAITS("MPI_Waitsome", "<3"),
      WAITS("MPI_Waitall", "<0")},
     false,
     "circle 0 1 2 3"},
    {"requests: a ring that meets",
     {WAITS("MPI_Waitall", "<3.7>1.7"), WAITS("MPI_Waitall", "<0.7>2.7"),
      WAITS("MPI_Waitall", "<1.7>3.7"), WAITS("MPI_Waitall", "<2.7>0.7")},
     false,
     ""},
    {"requests: a ring without one, of which one rank still gets its message",
     {WAITS("MPI_Waitall", "<3.7>1.7"), WAITS("MPI_Waitall", "<0.7>2.7"), COLL("MPI_Barrier"),
      COLL("MPI_Barrier")},
     false,
     ""},
    {"requests: a ring whose tags differ",
     {WAITS("MPI_Waitall", "<3.1>1.2"), WAITS("MPI_Waitall", "<0.3>2.4"),
      WAITS("MPI_Waitall", "<1.5>3.6"), WAITS("MPI_Waitall", "<2.7>0.8")},
     false,
     "circle 0 3 2 1 (3 sends 77.8, 0 receives 77.1)"},
    {"requests: a neighbour that has gone on to the barrier",
     {WAITS("MPI_Waitall", ">1.7<2.7"), COLL("MPI_Barrier"), COLL("MPI_Barrier"),
      COLL("MPI_Barrier")},
     false,
     "circle 0 2"},
    {"requests: one of the neighbours computes",
     {WAITS("MPI_Waitall", "<1<2"), RECV(0), OUT, OUT},
     false,
     ""},
    {"requests: all of one rank that computes",
     {WAITS("MPI_Waitall", "<1.1<1.2>1.3"), OUT, OUT, OUT},
     false,
     "others 0 for 1"},
    {"requests: any message, of those that wait",
     {WAITS("MPI_Wait", "<*"), RECV(0), RECV(0), RECV(0)},
     false,
     "circle 0 1"},
    {"requests: any message, one computes",
     {WAITS("MPI_Waitany", "<*<1"), RECV(0), RECV(0), OUT},
     false,
     ""},
    {"requests: a message to a receive that blocks",
     {WAITS("MPI_Wait", ">1.0"), RECV(0), OUT, OUT},
     false,
     ""},
    {"requests: a message of another communicator",
     {WAITS("MPI_Wait", "(2.0"), RECV(0), OUT, SEND(0)},
     false,
     "circle 0 1"},
    {"requests: all complete",
     {WAITS("MPI_Waitall", ""), RECV(0), OUT, OUT},
     false,
     "others 1 for 0"},
    {"requests: to oneself", {WAITS("MPI_Wait", "<0"), RECV(0), OUT, OUT}, false, ""},
    {"requests: of an ended rank",
     {WAITS("MPI_Wait", "<1"), {NULL, 0, 0, 0, 0, 0, false, false, 0, 0, NULL}, OUT, OUT},
     false,
     "gone 0 for 1"},
};

static void put(char *text, const struct pct_wait *w)
{
    static const char *const kinds[] = {"gone", "differ", "circle", "others"};
    char *p = text + strlen(text);
    p += sprintf(p, "%s%s", *text ? "; " : "", kinds[w->kind]);
    for (size_t i = 0; i < w->n_who; i++)
        p += sprintf(p, " %d", w->who[i]);
    p += sprintf(p, "%s", w->kind == PCT_WAIT_DIFFER ? " and" : w->n_whom ? " for" : "");
    for (size_t i = 0; i < w->n_whom; i++)
        p += sprintf(p, " %d", w->whom[i]);
    const struct pct_misfit *m = &w->misfit;
    if (m->found)
        sprintf(p, " (%d sends %d.%d, %d receives %d.%d)", m->sender, (int)m->sent.domain,
                m->sent.tag, m->receiver, (int)m->received.domain, m->received.tag);
}

static void make_requests(const char *text, struct pct_message *messages, struct pct_mpi_call *call)
{
    call->messages = messages;
    for (; text && *text; text++) {
        struct pct_message *m = &messages[call->n_messages];
        if (*text == '?') {
            call->n_unknown++;
            continue;
        }
        bool other = *text == '(';
        *m = (struct pct_message){.send = *text == '>',
                                  .comm = other ? PCT_COMM_OTHER : PCT_COMM_WORLD,
                                  .domain = other ? (uint64_t)groups[1].domain : WORLD_ID,
                                  .members = other ? groups[1].members : NULL,
                                  .n_members = other ? groups[1].n : 0};
        m->peer = *++text == '*' ? -1 : *text - '0';
        m->tag = text[1] == '.' ? text[2] - '0' : -1;
        text += text[1] == '.' ? 2 : 0;
        call->n_messages++;
    }
}

/* Answers are in indices of the ranks that were seen. */
static bool check(const struct made_case *c)
{
    struct pct_waiting ranks[RANKS];
    struct pct_message messages[RANKS][4];
    struct pct_mpi_call calls[RANKS];
    struct pct_waits found = {0};
    char text[1024] = "";
    int n = 0, rank_of[RANKS];
    for (int i = 0; i < RANKS; i++) {
        const struct made *m = &c->ranks[i];
        if (!m->op)
            continue;
        bool none = m->requests || !strcmp(m->op, "MPI_Finalize");
        calls[n] = (struct pct_mpi_call){.known = *m->op != 0,
                                         .comm = none      ? PCT_COMM_NONE
                                                 : m->comm ? m->comm
                                                           : PCT_COMM_WORLD,
                                         .domain = none       ? 0
                                                   : m->among ? (uint64_t)groups[m->among].domain
                                                   : m->comm  ? 5
                                                              : WORLD_ID,
                                         .peer = m->peer,
                                         .tag = m->tag,
                                         .root = m->root,
                                         .source = m->source};
        make_requests(m->requests, messages[n], &calls[n]);
        ranks[n] = (struct pct_waiting){.rank = i,
                                        .op = m->op,
                                        .call = &calls[n],
                                        .ns = (m->ms ? m->ms : 5000) * 1000000ull,
                                        .several = m->several,
                                        .may_act = m->may_act,
                                        .members = m->among ? groups[m->among].members : NULL,
                                        .n_members = groups[m->among].n};
        rank_of[n++] = i;
    }
    pct_waits_find(ranks, (size_t)n, RANKS, !c->elsewhere, &found);
    for (size_t i = 0; i < found.n; i++) {
        struct pct_wait *w = &found.at[i];
        for (size_t k = 0; k < w->n_who; k++)
            w->who[k] = rank_of[w->who[k]];
        for (size_t k = 0; k < w->n_whom && w->kind != PCT_WAIT_GONE; k++)
            w->whom[k] = rank_of[w->whom[k]];
        w->misfit.sender = rank_of[w->misfit.sender];
        w->misfit.receiver = rank_of[w->misfit.receiver];
        put(text, w);
    }
    pct_waits_free(&found);
    if (!strcmp(text, c->wanted))
        return true;
    print_error("%s: '%s', not '%s'\n", c->name, text, c->wanted);
    return false;
}

static void waits_are_found(void **state)
{
    size_t n_wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        n_wrong += !check(&cases[i]);
    assert_int_equal(n_wrong, 0);
}

/* Each second rank waits for the next one: as many waits, of one rank for one each. */
static void waits_take_room_for_their_ranks(void **state)
{
    enum { MANY = 512, LEAST_ROOM = 16 };
    static struct pct_waiting ranks[MANY];
    static struct pct_mpi_call calls[MANY];
    struct pct_waits found = {0};
    size_t n_large = 0;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        calls[i] = (struct pct_mpi_call){.known = i % 2 == 0,
                                         .comm = PCT_COMM_WORLD,
                                         .domain = WORLD_ID,
                                         .peer = i + 1,
                                         .root = -1,
                                         .source = -1};
        ranks[i] = (struct pct_waiting){
            .rank = i, .op = i % 2 ? "" : "MPI_Recv", .call = &calls[i], .ns = 5000000000};
    }
    pct_waits_find(ranks, MANY, MANY, true, &found);
    size_t n = found.n;
    for (size_t i = 0; i < found.n; i++)
        n_large += found.at[i].room_who > LEAST_ROOM || found.at[i].room_whom > LEAST_ROOM;
    pct_waits_free(&found);
    assert_int_equal(n, MANY / 2);
    assert_int_equal(n_large, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_found),
                                       cmocka_unit_test(waits_take_room_for_their_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
