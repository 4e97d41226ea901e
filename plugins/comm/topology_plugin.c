/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topology: which ranks communicate.
 *
 * Table `pairs`: one row for each pair of world ranks that exchanged messages, class of primitive
 * and communicator. The sender fills the columns of sending, the receiver those of receiving;
 * merged they are one row, and differ if a message was not received or its size was not learnt.
 * One-sided communication is known to one side only, which fills both. Time is that of the call
 * that sent, received, or did both (MPI_Sendrecv with a source: booked as receiving); it does not
 * include waiting for a request in another call.
 *
 * A rank keeps rows for its first partners only, so that the rows of the job are bounded. Messages
 * to and from the others are in the table `pairs_by_distance`: sums by the distance of the two
 * ranks. On each side a message is in one of the two tables.
 *
 * Table `collectives`: one row for each collective primitive, root (world rank) and communicator.
 *
 * Pairs and collectives have separate rows for each phase: that of the context that sends or posts
 * the receive.
 *
 * The record of a context holds no results: it remembers the rows used last from there, so that a
 * call finds its row by a comparison. Records and rows belong to one thread.
 */
#include "plugins/plugins.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { N_SLOTS = 4 };

/* Limits on the partners of a rank: together about PAIRS_OF_JOB pairs. A block in three dimensions
 * has 26 neighbours. */
enum { PAIRS_OF_JOB = 1 << 19, LEAST_PARTNERS = 32, MOST_PARTNERS = 1024, PARTNER_BITS = 11 };

/* Rows and what tells them apart, beside the communicator, which is in the row itself. Not an array
 * of structures, which would have holes: each context has this record. */
struct record {
    uint64_t *rows[N_SLOTS]; /* NULL: free */
    int32_t others[N_SLOTS]; /* destination, or received_from(source); of collectives the root */
};

enum {
    PAIR_MESSAGES,
    PAIR_BYTES,
    PAIR_TIME,
    PAIR_RECEIVED,
    PAIR_RECEIVED_BYTES,
    PAIR_RECEIVE_TIME
};

#define PAIR_VALUES                                                                                \
    PC_SUM("messages", "messages sent", COUNT), PC_SUM("bytes", "bytes sent", BYTES),              \
        PC_SUM("time", "time in calls that send", TICKS),                                          \
        PC_SUM("received", "messages received", COUNT),                                            \
        PC_SUM("received_bytes", "bytes received", BYTES),                                         \
        PC_SUM("receive_time", "time in calls that receive", TICKS)

static const struct pcollect_column pair_columns[] = {
    PC_KEY("source", "rank that sends", RANK),
    PC_KEY("destination", "rank that receives", RANK),
    PC_KEY("class", "class of primitives", STRING),
    PC_KEY_DOMAIN,
    PAIR_VALUES,
};

static const struct pcollect_column distance_columns[] = {
    PC_KEY("distance", "least distance of the ranks, a power of two; the most is below its double",
           NUMBER),
    PC_KEY("class", "class of primitives", STRING),
    PC_KEY_DOMAIN,
    PAIR_VALUES,
};

enum { COLL_CALLS, COLL_TIME, COLL_SENT, COLL_RECEIVED };

static const struct pcollect_column coll_columns[] = {
    PC_KEY("operation", "primitive", STRING),
    PC_KEY("root", "rank of the root, or none", RANK),
    PC_KEY_DOMAIN,
    PC_SUM("calls", "calls, of all ranks", COUNT),
    PC_SUM("time", "time in the calls", TICKS),
    PC_SUM("bytes_sent", "bytes described by send arguments", BYTES),
    PC_SUM("bytes_received", "bytes described by receive arguments", BYTES),
};

enum { PAIRS, COLLECTIVES, PAIRS_BY_DISTANCE };

static const struct pcollect_table tables[] = {
    [PAIRS] = {"pairs", "messages by pair of ranks", pair_columns, 4, 6, PCOLLECT_TABLE_BY_PHASE},
    [COLLECTIVES] = {"collectives", "collectives by root and communicator", coll_columns, 3, 4,
                     PCOLLECT_TABLE_BY_PHASE},
    [PAIRS_BY_DISTANCE] = {"pairs_by_distance",
                           "messages of the pairs that are not in the table pairs, by distance",
                           distance_columns, 3, 6, PCOLLECT_TABLE_BY_PHASE},
};

static const char *const class_names[PCOLLECT_N_CLASSES] = {
    [PCOLLECT_CLASS_P2P] = "p2p",
    [PCOLLECT_CLASS_RMA] = "rma",
};

static struct {
    const struct pcollect_host *host;
    uint32_t class_text[PCOLLECT_N_CLASSES];
    int32_t rank; /* of this process in MPI_COMM_WORLD */
    uint32_t most_partners;
    uint32_t n_partners;
    uint32_t partners[1 << PARTNER_BITS]; /* hash table of 1 + rank; 0: free; at most half full */
} topology;
_Static_assert(2 * MOST_PARTNERS <= 1 << PARTNER_BITS, "a search meets a free entry");

static int start(const struct pcollect_host *host, void **state)
{
    memset(&topology, 0, sizeof topology);
    topology.host = host;
    topology.most_partners = MOST_PARTNERS;
    for (unsigned i = 0; i < PCOLLECT_N_CLASSES; i++)
        topology.class_text[i] = class_names[i] ? host->string(class_names[i]) : 0;
    *state = &topology;
    return 0;
}

static uint32_t choose_most_partners(int32_t n_ranks)
{
    uint32_t most = n_ranks > 0 ? PAIRS_OF_JOB / (uint32_t)n_ranks : MOST_PARTNERS;
    if (most < LEAST_PARTNERS)
        return LEAST_PARTNERS;
    return most < MOST_PARTNERS ? most : MOST_PARTNERS;
}

static void note_world(void *state, const struct pcollect_domain *d)
{
    (void)state;
    if (d->change != PCOLLECT_DOMAIN_MADE || !d->as_world || d->parent)
        return;
    topology.rank = d->rank;
    topology.most_partners = choose_most_partners(d->n_local);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* True if this rank is one of the first partners; adds it if there is room. Several threads may
 * call it at once: an entry is written once, after the count is raised. */
static bool is_partner(int32_t rank)
{
    uint32_t value = 1 + (uint32_t)rank;
    uint32_t at = value * UINT32_C(2654435769) >> (32 - PARTNER_BITS);
    for (;; at = (at + 1) % (1 << PARTNER_BITS)) {
        uint32_t there = __atomic_load_n(&topology.partners[at], __ATOMIC_RELAXED);
        if (!there) {
            bool room =
                __atomic_load_n(&topology.n_partners, __ATOMIC_RELAXED) < topology.most_partners &&
                __atomic_fetch_add(&topology.n_partners, 1, __ATOMIC_RELAXED) <
                    topology.most_partners;
            if (!room)
                return false;
            if (__atomic_compare_exchange_n(&topology.partners[at], &there, value, 0,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return true;
            __atomic_fetch_sub(&topology.n_partners, 1, __ATOMIC_RELAXED);
        }
        if (there == value)
            return true;
    }
}

/* The greatest power of two not above the distance of the two ranks, which differ. */
static uint64_t distance_to(int32_t rank)
{
    return UINT64_C(1) << (31 - __builtin_clz((unsigned)abs(rank - topology.rank)));
}

/* A source as none of a message that is sent. */
static inline int32_t received_from(int32_t source)
{
    return source ^ INT32_MIN;
}

static inline uint32_t slot_of(int32_t source, int32_t destination)
{
    return ((uint32_t)source * 2 + (uint32_t)destination) % N_SLOTS;
}

/* Processes outside of the job count as one partner, which is always kept. */
static uint64_t *find_pair(const struct pcollect_event *e, struct record *r, int32_t source,
                           int32_t destination)
{
    uint32_t slot = slot_of(source, destination);
    int32_t other = source == PCOLLECT_RANK_SELF ? destination : source;
    uint64_t class_text = topology.class_text[e->op_class];
    if (other < 0 || other == topology.rank || is_partner(other)) {
        uint64_t keys[4] = {(uint64_t)(int64_t)source, (uint64_t)(int64_t)destination, class_text,
                            e->domain};
        r->rows[slot] = topology.host->row_at(e->thread, e->node, &tables[PAIRS], keys);
    } else {
        uint64_t keys[3] = {distance_to(other), class_text, e->domain};
        r->rows[slot] = topology.host->row_at(e->thread, e->node, &tables[PAIRS_BY_DISTANCE], keys);
    }
    r->others[slot] = source == PCOLLECT_RANK_SELF ? destination : received_from(source);
    return r->rows[slot];
}

/* The communicator is the last key in each of the tables; the phase follows. */
static inline uint64_t domain_of(const uint64_t *row)
{
    return row[-2];
}

/* The row of that slot if it is the one wanted, else NULL. */
static inline uint64_t *held(const struct record *r, uint32_t slot, int32_t other, uint64_t domain)
{
    uint64_t *row = r->rows[slot];
    return __builtin_expect(row && r->others[slot] == other && domain_of(row) == domain, 1) ? row
                                                                                            : NULL;
}

static inline uint64_t *held_sent(const struct pcollect_event *e, const struct record *r)
{
    return held(r, slot_of(PCOLLECT_RANK_SELF, e->world_peer), e->world_peer, e->domain);
}

static inline uint64_t *held_received(const struct pcollect_event *e, const struct record *r)
{
    return held(r, slot_of(e->world_source, PCOLLECT_RANK_SELF), received_from(e->world_source),
                e->domain);
}

static inline void add_sent_to(uint64_t *row, const struct pcollect_event *e, uint64_t ticks)
{
    row[PAIR_MESSAGES]++;
    row[PAIR_BYTES] += e->bytes_sent;
    row[PAIR_TIME] += ticks;
}

static inline void add_received_to(uint64_t *row, const struct pcollect_event *e, uint64_t ticks)
{
    row[PAIR_RECEIVED]++;
    row[PAIR_RECEIVED_BYTES] += e->bytes_received;
    row[PAIR_RECEIVE_TIME] += ticks;
}

/* These two make a tail call if the row is not the one used last, so that they need no frame if it
 * is. */
static __attribute__((noinline)) void find_and_add_sent(const struct pcollect_event *e,
                                                        struct record *r, uint64_t ticks)
{
    uint64_t *row = find_pair(e, r, PCOLLECT_RANK_SELF, e->world_peer);
    if (row)
        add_sent_to(row, e, ticks);
}

static inline void add_sent(const struct pcollect_event *e, struct record *r, uint64_t ticks)
{
    uint64_t *row = held_sent(e, r);
    if (row)
        add_sent_to(row, e, ticks);
    else
        find_and_add_sent(e, r, ticks);
}

static __attribute__((noinline)) void find_and_add_received(const struct pcollect_event *e,
                                                            struct record *r, uint64_t ticks)
{
    uint64_t *row = find_pair(e, r, e->world_source, PCOLLECT_RANK_SELF);
    if (row)
        add_received_to(row, e, ticks);
}

static inline void add_received(const struct pcollect_event *e, struct record *r, uint64_t ticks)
{
    uint64_t *row = held_received(e, r);
    if (row)
        add_received_to(row, e, ticks);
    else
        find_and_add_received(e, r, ticks);
}

/* Fills the columns of both sides, because the other side makes no call. */
static __attribute__((noinline)) void add_one_sided(const struct pcollect_event *e,
                                                    struct record *r, uint64_t ticks)
{
    bool puts = e->world_peer != PCOLLECT_RANK_NONE, gets = e->world_source != PCOLLECT_RANK_NONE;
    for (int got = 0; got < 2; got++) {
        if (!(got ? gets : puts))
            continue;
        uint64_t bytes = got ? e->bytes_received : e->bytes_sent;
        uint64_t *row = got ? held_received(e, r) : held_sent(e, r);
        if (!row)
            row = got ? find_pair(e, r, e->world_source, PCOLLECT_RANK_SELF)
                      : find_pair(e, r, PCOLLECT_RANK_SELF, e->world_peer);
        if (!row)
            continue;
        row[PAIR_MESSAGES]++;
        row[PAIR_RECEIVED]++;
        row[PAIR_BYTES] += bytes;
        row[PAIR_RECEIVED_BYTES] += bytes;
        row[got ? PAIR_RECEIVE_TIME : PAIR_TIME] += got && puts ? 0 : ticks;
    }
}

static __attribute__((noinline)) void add_collective(const struct pcollect_event *e,
                                                     struct record *r, uint64_t ticks)
{
    uint64_t *row = held(r, 0, e->world_root, e->domain);
    if (!row) {
        const char *name = topology.host->op_name(e->op);
        uint64_t keys[3] = {name ? topology.host->string(name) : 0,
                            (uint64_t)(int64_t)e->world_root, e->domain};
        row = topology.host->row_at(e->thread, e->node, &tables[COLLECTIVES], keys);
        r->rows[0] = row;
        r->others[0] = e->world_root;
    }
    if (!row)
        return;
    row[COLL_CALLS]++;
    row[COLL_TIME] += ticks;
    row[COLL_SENT] += e->bytes_sent;
    row[COLL_RECEIVED] += e->bytes_received;
}

/* Books MPI_Sendrecv, with its time as receiving. */
static __attribute__((noinline)) void add_both(const struct pcollect_event *e, struct record *r,
                                               uint64_t ticks)
{
    add_sent(e, r, 0);
    add_received(e, r, ticks);
}

/* Most MPI functions have no peers, and most of those with peers only send or only receive: all of
 * these end here, without a frame. */
static void post(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    uint64_t ticks = event->end - event->begin;
    bool sends = event->world_peer != PCOLLECT_RANK_NONE;
    bool receives = event->world_source != PCOLLECT_RANK_NONE;
    if (event->op_class == PCOLLECT_CLASS_COLL && event->domain)
        add_collective(event, record, ticks);
    else if (event->op_class == PCOLLECT_CLASS_RMA)
        add_one_sided(event, record, ticks);
    else if (sends && receives)
        add_both(event, record, ticks);
    else if (sends)
        add_sent(event, record, ticks);
    else if (receives)
        add_received(event, record, ticks);
}

static void complete(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    if (event->world_source != PCOLLECT_RANK_NONE)
        add_received(event, record, 0);
}

static void part(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    if (event->world_peer != PCOLLECT_RANK_NONE)
        add_sent(event, record, 0);
}

const struct pcollect_comm_plugin pc_plugin_topology = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct record),
    .name = "topology",
    .doc = "messages, bytes and time of each pair of ranks, collectives by root",
    .tables = tables,
    .n_tables = sizeof tables / sizeof tables[0],
    .init = start,
    .post = post,
    .complete = complete,
    .part = part,
    .domain = note_world,
    .wants = PCOLLECT_WANT_COMM | PCOLLECT_WANT_PEERS | PCOLLECT_WANT_THREAD |
             PCOLLECT_WANT_MACHINE | PCOLLECT_WANT_NOT_QUIET,
};
