/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topology: who talks to whom.
 *
 * Table `pairs`: one row for each pair of world ranks that exchanged messages, class of primitive
 * and communicator. The sender fills the columns of sending, the receiver those of receiving;
 * merged they are one row, and differ where a message was not received or a size was never learnt.
 * One-sided communication is known to one side alone, which fills both. A rank keeps rows for its
 * own partners only. Time is that of the call that sent, or received, or both (MPI_Sendrecv: booked
 * as receiving); waiting elsewhere for a request is not in it.
 *
 * Table `collectives`: one row for each collective primitive, root (world rank) and communicator.
 *
 * Table `place`: where each rank may run and on which socket, as it was when MPI_Init returned,
 * read from the kernel.
 *
 * Both are kept apart by phase: that of the context that sends or posts the receive.
 *
 * The record of a context holds no results: it remembers the rows used last from there, so that a
 * call finds its row by a comparison. Records and rows are of one thread.
 */
#include "plugins/plugins.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_SLOTS = 4 };

struct slot {
    uint64_t *row; /* NULL: free */
    uint64_t domain;
    int32_t source, destination;
};

struct record {
    struct slot slots[N_SLOTS];
};

enum {
    PAIR_MESSAGES,
    PAIR_BYTES,
    PAIR_TIME,
    PAIR_RECEIVED,
    PAIR_RECEIVED_BYTES,
    PAIR_RECEIVE_TIME
};

static const struct pcollect_column pair_columns[] = {
    {"source", "rank that sends", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"destination", "rank that receives", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"class", "class of primitives", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"domain", "communicator", PCOLLECT_COLUMN_DOMAIN, 0, PCOLLECT_UNIT_COUNT, 0},
    {"messages", "messages sent", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"bytes", "bytes sent", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES, 0},
    {"time", "time in calls that send", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_TICKS,
     0},
    {"received", "messages received", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"received_bytes", "bytes received", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES,
     0},
    {"receive_time", "time in calls that receive", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_TICKS, 0},
};

enum { COLL_CALLS, COLL_TIME, COLL_SENT, COLL_RECEIVED };

static const struct pcollect_column coll_columns[] = {
    {"operation", "primitive", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"root", "rank of the root, or none", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"domain", "communicator", PCOLLECT_COLUMN_DOMAIN, 0, PCOLLECT_UNIT_COUNT, 0},
    {"calls", "calls, of all ranks", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"time", "time in the calls", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_TICKS, 0},
    {"bytes_sent", "bytes described by send arguments", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_BYTES, 0},
    {"bytes_received", "bytes described by receive arguments", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_BYTES, 0},
};

static const struct pcollect_column place_columns[] = {
    {"rank", "rank in MPI_COMM_WORLD", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"socket", "1 + number of the socket to which it is bound; 0: to several or none",
     PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT, 0},
    {"cores", "processors on which it may run", PCOLLECT_COLUMN_STRING, PCOLLECT_MIN,
     PCOLLECT_UNIT_COUNT, 0},
};

static const struct pcollect_table tables[] = {
    {"pairs", "messages by pair of ranks", pair_columns, 4, 6, PCOLLECT_TABLE_BY_PHASE},
    {"collectives", "collectives by root and communicator", coll_columns, 3, 4,
     PCOLLECT_TABLE_BY_PHASE},
    {"place", "where ranks were bound in MPI_Init", place_columns, 1, 2, 0},
};

static const char *const class_names[PCOLLECT_N_CLASSES] = {
    [PCOLLECT_CLASS_P2P] = "p2p",
    [PCOLLECT_CLASS_RMA] = "rma",
};

static struct {
    const struct pcollect_host *host;
    uint32_t class_text[PCOLLECT_N_CLASSES];
} topology;

static int start(const struct pcollect_host *host, void **state)
{
    topology.host = host;
    for (unsigned i = 0; i < PCOLLECT_N_CLASSES; i++)
        topology.class_text[i] = class_names[i] ? host->string(class_names[i]) : 0;
    *state = &topology;
    return 0;
}

/* ---- Place: read once, when MPI_COMM_WORLD is made known ------------------------------------- */

/* 1 + the package of a processor, 0 if the system does not say. */
static uint64_t socket_of(int cpu)
{
    char path[96], text[16] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && *text >= '0' && *text <= '9' ? 1 + strtoull(text, NULL, 10) : 0;
}

/* "0-3,8" */
static void list_cores(const cpu_set_t *set, char *out, size_t room)
{
    size_t n = 0;
    *out = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE && n < room; cpu++) {
        int first = cpu;
        if (!CPU_ISSET(cpu, set))
            continue;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
            cpu++;
        int more =
            snprintf(out + n, room - n, cpu > first ? "%s%d-%d" : "%s%d", n ? "," : "", first, cpu);
        n += more > 0 ? (size_t)more : 0;
    }
}

static uint64_t common_socket(const cpu_set_t *set)
{
    uint64_t socket = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set))
            continue;
        uint64_t its = socket_of(cpu);
        if (!its || (socket && its != socket))
            return 0;
        socket = its;
    }
    return socket;
}

static void note_place(void *state, const struct pcollect_domain *d)
{
    int saved = errno;
    cpu_set_t set;
    char cores[256];
    uint64_t key = (uint64_t)(int64_t)PCOLLECT_RANK_SELF;
    (void)state;
    bool is_world = d->change == PCOLLECT_DOMAIN_MADE && d->as_world && !d->parent;
    if (is_world && !sched_getaffinity(0, sizeof set, &set)) {
        uint64_t *row = topology.host->row(d->thread, &tables[2], &key);
        list_cores(&set, cores, sizeof cores);
        if (row) {
            row[0] = common_socket(&set);
            row[1] = topology.host->string(cores);
        }
    }
    errno = saved;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static uint64_t *find_pair(const struct pcollect_event *e, struct slot *slot, int32_t source,
                           int32_t destination)
{
    uint64_t keys[4] = {(uint64_t)(int64_t)source, (uint64_t)(int64_t)destination,
                        topology.class_text[e->op_class], e->domain};
    slot->row = topology.host->row_at(e->thread, e->node, &tables[0], keys);
    slot->source = source;
    slot->destination = destination;
    slot->domain = e->domain;
    return slot->row;
}

/* The row of a pair, NULL if there is no room for one. */
static inline uint64_t *pair_row(const struct pcollect_event *e, struct record *r, int32_t source,
                                 int32_t destination)
{
    struct slot *slot = &r->slots[((uint32_t)source * 2 + (uint32_t)destination) % N_SLOTS];
    if (__builtin_expect(slot->row && slot->source == source && slot->destination == destination &&
                             slot->domain == e->domain,
                         1))
        return slot->row;
    return find_pair(e, slot, source, destination);
}

static inline void add_sent(const struct pcollect_event *e, struct record *r, uint64_t ticks)
{
    uint64_t *row = pair_row(e, r, PCOLLECT_RANK_SELF, e->world_peer);
    if (!row)
        return;
    row[PAIR_MESSAGES]++;
    row[PAIR_BYTES] += e->bytes_sent;
    row[PAIR_TIME] += ticks;
}

static inline void add_received(const struct pcollect_event *e, struct record *r, uint64_t ticks)
{
    uint64_t *row = pair_row(e, r, e->world_source, PCOLLECT_RANK_SELF);
    if (!row)
        return;
    row[PAIR_RECEIVED]++;
    row[PAIR_RECEIVED_BYTES] += e->bytes_received;
    row[PAIR_RECEIVE_TIME] += ticks;
}

/* The other side makes no call, so that both sides' columns are this one's to fill. */
static __attribute__((noinline)) void add_one_sided(const struct pcollect_event *e,
                                                    struct record *r, uint64_t ticks)
{
    bool puts = e->world_peer != PCOLLECT_RANK_NONE, gets = e->world_source != PCOLLECT_RANK_NONE;
    for (int got = 0; got < 2; got++) {
        if (!(got ? gets : puts))
            continue;
        uint64_t bytes = got ? e->bytes_received : e->bytes_sent;
        uint64_t *row = got ? pair_row(e, r, e->world_source, PCOLLECT_RANK_SELF)
                            : pair_row(e, r, PCOLLECT_RANK_SELF, e->world_peer);
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
    struct slot *slot = &r->slots[0];
    if (!slot->row || slot->source != e->world_root || slot->domain != e->domain) {
        const char *name = topology.host->op_name(e->op);
        uint64_t keys[3] = {name ? topology.host->string(name) : 0,
                            (uint64_t)(int64_t)e->world_root, e->domain};
        *slot = (struct slot){topology.host->row_at(e->thread, e->node, &tables[1], keys),
                              e->domain, e->world_root, 0};
    }
    if (!slot->row)
        return;
    slot->row[COLL_CALLS]++;
    slot->row[COLL_TIME] += ticks;
    slot->row[COLL_SENT] += e->bytes_sent;
    slot->row[COLL_RECEIVED] += e->bytes_received;
}

static __attribute__((noinline)) void add_messages(const struct pcollect_event *e, struct record *r,
                                                   uint64_t ticks)
{
    bool receives = e->world_source != PCOLLECT_RANK_NONE;
    if (e->world_peer != PCOLLECT_RANK_NONE)
        add_sent(e, r, receives ? 0 : ticks);
    if (receives)
        add_received(e, r, ticks);
}

/* Most functions of MPI have no peers: those end here, without a frame. */
static void post(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    uint64_t ticks = event->end - event->begin;
    if (event->op_class == PCOLLECT_CLASS_COLL && event->domain)
        add_collective(event, record, ticks);
    else if (event->op_class == PCOLLECT_CLASS_RMA)
        add_one_sided(event, record, ticks);
    else if (event->world_peer != PCOLLECT_RANK_NONE || event->world_source != PCOLLECT_RANK_NONE)
        add_messages(event, record, ticks);
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
    .domain = note_place,
    .wants = PCOLLECT_WANT_COMM | PCOLLECT_WANT_PEERS | PCOLLECT_WANT_THREAD |
             PCOLLECT_WANT_MACHINE | PCOLLECT_WANT_NOT_QUIET,
};
