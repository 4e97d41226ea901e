/* SPDX-License-Identifier: BSD-3-Clause
 *
 * volume: sizes and datatypes of messages.
 *
 * Per context: calls by the bytes that they sent and received, in powers of two. Bin k counts sizes
 * n with 2^k <= n < 2^(k+1) bytes, the last bin all that are larger; a call that moved nothing is
 * in no bin. A receive that completes later is counted then, for the context that posted it, and
 * its bytes are added to those of its datatype. A call has one size, also if its data went to many
 * ranks.
 *
 * Table `sizes`: the same bins by primitive. Table `datatypes`: calls, elements and bytes by
 * primitive and name of the datatype: the send type, else the receive type. Table `operators`:
 * reductions by primitive, operator and datatype, with the number of operands. A datatype without a
 * name is named after its constructor: "(vector)". All rows are by phase, and by communicator if
 * some plugin wants communicators.
 *
 * The record of a context remembers the rows used last from there, so that a call finds its rows by
 * comparisons. Records and rows belong to one thread.
 */
#include "plugins/plugins.h"

#include <stddef.h>

enum { N_BINS = 48 };

/* The row used last, with its communicator and the other key of its table. */
struct slot {
    uint64_t *row; /* NULL: none */
    uint64_t domain, what;
};

struct record {
    uint64_t largest_sent, largest_received;
    uint64_t sent[PCOLLECT_HIST_WORDS(N_BINS)], received[PCOLLECT_HIST_WORDS(N_BINS)];
    struct slot type, operator_, sent_size, received_size;
};

static const struct pcollect_field fields[] = {
    {"largest_sent", "most bytes that one call sent or wrote", PCOLLECT_MAX, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct record, largest_sent)},
    {"largest_received", "most bytes that one call received or read", PCOLLECT_MAX,
     PCOLLECT_UNIT_BYTES, 0, offsetof(struct record, largest_received)},
    {"sent_sizes", "calls by bytes sent or written, in powers of two", PCOLLECT_HIST,
     PCOLLECT_UNIT_BYTES, N_BINS, offsetof(struct record, sent)},
    {"received_sizes", "calls by bytes received or read, in powers of two", PCOLLECT_HIST,
     PCOLLECT_UNIT_BYTES, N_BINS, offsetof(struct record, received)},
};

enum { TYPE_CALLS, TYPE_ELEMENTS, TYPE_SENT, TYPE_RECEIVED };

static const struct pcollect_column type_columns[] = {
    PC_KEY("primitive", "primitive", STRING),
    PC_KEY("datatype", "name of the datatype, or how it was made", STRING),
    PC_KEY_DOMAIN,
    PC_SUM("calls", "calls, of all ranks", COUNT),
    PC_SUM("elements", "elements that the arguments describe", COUNT),
    PC_SUM("bytes_sent", "bytes sent", BYTES),
    PC_SUM("bytes_received", "bytes received", BYTES),
};

enum { OPERATOR_CALLS, OPERATOR_OPERANDS, OPERATOR_MOST };

static const struct pcollect_column operator_columns[] = {
    PC_KEY("primitive", "primitive", STRING),
    PC_KEY("operator", "name of the operator", STRING),
    PC_KEY("datatype", "name of the datatype, or how it was made", STRING),
    PC_KEY_DOMAIN,
    PC_SUM("calls", "calls, of all ranks", COUNT),
    PC_SUM("operands", "elements given by the ranks", COUNT),
    PC_MAX("most", "most elements of one call", COUNT),
};

enum { SIZE_SENT, SIZE_RECEIVED };

static const struct pcollect_column size_columns[] = {
    PC_KEY("primitive", "primitive", STRING),
    {"from", "least size of the bin; it ends before twice that", PCOLLECT_COLUMN_NUMBER, 0,
     PCOLLECT_UNIT_BYTES, 0},
    PC_KEY_DOMAIN,
    PC_SUM("sent", "calls that sent or wrote that much", COUNT),
    PC_SUM("received", "calls that received or read that much", COUNT),
};

enum { DATATYPES, OPERATORS, SIZES };

static const struct pcollect_table tables[] = {
    [DATATYPES] = {"datatypes",
                   "datatypes by primitive, without the bytes of persistent requests (MPI_Start)",
                   type_columns, 3, 4, PCOLLECT_TABLE_BY_PHASE},
    [OPERATORS] = {"operators", "reductions by operator", operator_columns, 4, 3,
                   PCOLLECT_TABLE_BY_PHASE},
    [SIZES] = {"sizes", "calls by bytes that they moved", size_columns, 3, 2,
               PCOLLECT_TABLE_BY_PHASE},
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = (void *)host;
    return 0;
}

/* The key that distinguishes rows of one primitive and communicator: the name of a datatype; the
 * name of an operator, above that of the datatype; the bin of a size. */
static __attribute__((noinline)) uint64_t *find_row(const struct pcollect_host *host,
                                                    const struct pcollect_event *e, unsigned table,
                                                    struct slot *slot, uint64_t what)
{
    const char *name = host->op_name(e->op);
    uint64_t keys[4] = {name ? host->string(name) : 0, what, e->domain};
    if (table == SIZES)
        keys[1] = UINT64_C(1) << what;
    if (table == OPERATORS) {
        keys[1] = what >> 32;
        keys[2] = (uint32_t)what;
        keys[3] = e->domain;
    }
    *slot = (struct slot){host->row_at(e->thread, e->node, &tables[table], keys), e->domain, what};
    return slot->row;
}

/* The row for an event; NULL: no room. */
static inline uint64_t *row_of(const struct pcollect_host *host, const struct pcollect_event *e,
                               unsigned table, struct slot *slot, uint64_t what)
{
    if (__builtin_expect(slot->row && slot->what == what && slot->domain == e->domain, 1))
        return slot->row;
    return find_row(host, e, table, slot, what);
}

static inline unsigned bin_of(uint64_t bytes)
{
    unsigned bin = 63u - (unsigned)__builtin_clzll(bytes);
    return bin < N_BINS ? bin : N_BINS - 1;
}

static inline void add_sent(const struct pcollect_host *host, const struct pcollect_event *e,
                            struct record *r)
{
    unsigned bin = bin_of(e->bytes_sent);
    pcollect_count(host, r->sent, N_BINS, bin);
    if (e->bytes_sent > r->largest_sent)
        r->largest_sent = e->bytes_sent;
    uint64_t *row = row_of(host, e, SIZES, &r->sent_size, bin);
    if (row)
        row[SIZE_SENT]++;
}

static inline void add_received(const struct pcollect_host *host, const struct pcollect_event *e,
                                struct record *r)
{
    unsigned bin = bin_of(e->bytes_received);
    pcollect_count(host, r->received, N_BINS, bin);
    if (e->bytes_received > r->largest_received)
        r->largest_received = e->bytes_received;
    uint64_t *row = row_of(host, e, SIZES, &r->received_size, bin);
    if (row)
        row[SIZE_RECEIVED]++;
}

static inline void add_type(const struct pcollect_host *host, const struct pcollect_event *e,
                            struct record *r)
{
    uint64_t *row = row_of(host, e, DATATYPES, &r->type, e->type);
    if (!row)
        return;
    row[TYPE_CALLS]++;
    row[TYPE_ELEMENTS] += e->n_elements;
    row[TYPE_SENT] += e->bytes_sent;
    row[TYPE_RECEIVED] += e->bytes_received;
}

static inline void add_operator(const struct pcollect_host *host, const struct pcollect_event *e,
                                struct record *r)
{
    uint64_t what = (uint64_t)e->operator_ << 32 | e->type;
    uint64_t *row = row_of(host, e, OPERATORS, &r->operator_, what);
    if (!row)
        return;
    row[OPERATOR_CALLS]++;
    row[OPERATOR_OPERANDS] += e->n_elements;
    if (e->n_elements > row[OPERATOR_MOST])
        row[OPERATOR_MOST] = e->n_elements;
}

static __attribute__((noinline)) void add_data(const struct pcollect_host *host,
                                               const struct pcollect_event *e, struct record *r)
{
    if (e->bytes_sent)
        add_sent(host, e, r);
    if (e->bytes_received)
        add_received(host, e, r);
    if (e->type)
        add_type(host, e, r);
    if (e->type && e->operator_)
        add_operator(host, e, r);
}

/* Most MPI functions move no data: these end here, without a frame. */
static void post(void *state, const struct pcollect_event *event, void *record)
{
    if (event->bytes_sent | event->bytes_received | event->type)
        add_data(state, event, record);
}

static void complete(void *state, const struct pcollect_event *event, void *record)
{
    struct record *r = record;
    if (!event->bytes_received)
        return;
    add_received(state, event, r);
    uint64_t *row = event->type ? row_of(state, event, DATATYPES, &r->type, event->type) : NULL;
    if (row)
        row[TYPE_RECEIVED] += event->bytes_received;
}

const struct pcollect_comm_plugin pc_plugin_volume = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct record),
    .name = "volume",
    .doc = "sizes of messages, datatypes, reduction operators",
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .tables = tables,
    .n_tables = sizeof tables / sizeof tables[0],
    .init = start,
    .post = post,
    .complete = complete,
    .wants = PCOLLECT_WANT_TYPES | PCOLLECT_WANT_THREAD,
};
