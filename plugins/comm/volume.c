/* SPDX-License-Identifier: BSD-3-Clause
 *
 * volume: how large messages are, and what they are made of.
 *
 * Per context: calls by the bytes that they sent and received, in powers of two. Bin k counts sizes
 * n with 2^k <= n < 2^(k+1) bytes, the last bin all that are larger; nothing is counted in a bin
 * where nothing was moved. A receive that completes later is counted then, for the context that
 * posted it. What a call moved is one size, also where it went to many ranks.
 *
 * Table `sizes`: the same bins by primitive. Table `datatypes`: calls, elements and bytes by
 * primitive and name of the datatype: that of what is sent, else of what is received. Table
 * `operators`: reductions by primitive, operator and datatype, with the number of operands. A
 * datatype without a name is known by how it was made:
 * "(vector)".
 */
#include "plugins/plugins.h"

#include <stddef.h>

enum { N_BINS = 48, MAX_OPS = 1024 };

struct record {
    uint64_t largest_sent, largest_received;
    uint64_t sent[N_BINS], received[N_BINS];
};

static const struct pcollect_field fields[] = {
    {"largest_sent", "most bytes that one call sent", PCOLLECT_MAX, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct record, largest_sent)},
    {"largest_received", "most bytes that one call received", PCOLLECT_MAX, PCOLLECT_UNIT_BYTES, 0,
     offsetof(struct record, largest_received)},
    {"sent_sizes", "calls by bytes sent, in powers of two", PCOLLECT_HIST, PCOLLECT_UNIT_BYTES,
     N_BINS, offsetof(struct record, sent)},
    {"received_sizes", "calls by bytes received, in powers of two", PCOLLECT_HIST,
     PCOLLECT_UNIT_BYTES, N_BINS, offsetof(struct record, received)},
};

#define KEY(name, doc)                                                                             \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0                               \
    }
#define VALUE(name, doc, combine, unit)                                                            \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_NUMBER, combine, unit, 0                                        \
    }

enum { TYPE_CALLS, TYPE_ELEMENTS, TYPE_SENT, TYPE_RECEIVED };

static const struct pcollect_column type_columns[] = {
    KEY("primitive", "primitive"),
    KEY("datatype", "name of the datatype, or how it was made"),
    VALUE("calls", "calls, of all ranks", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT),
    VALUE("elements", "elements that the arguments describe", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT),
    VALUE("bytes_sent", "bytes sent", PCOLLECT_SUM, PCOLLECT_UNIT_BYTES),
    VALUE("bytes_received", "bytes received when the call returned", PCOLLECT_SUM,
          PCOLLECT_UNIT_BYTES),
};

enum { OPERATOR_CALLS, OPERATOR_OPERANDS, OPERATOR_MOST };

static const struct pcollect_column operator_columns[] = {
    KEY("primitive", "primitive"),
    KEY("operator", "name of the operator"),
    KEY("datatype", "name of the datatype, or how it was made"),
    VALUE("calls", "calls, of all ranks", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT),
    VALUE("operands", "elements given by the ranks", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT),
    VALUE("most", "most elements of one call", PCOLLECT_MAX, PCOLLECT_UNIT_COUNT),
};

enum { SIZE_SENT, SIZE_RECEIVED };

static const struct pcollect_column size_columns[] = {
    KEY("primitive", "primitive"),
    {"from", "least size of the bin; it ends before twice that", PCOLLECT_COLUMN_NUMBER, 0,
     PCOLLECT_UNIT_BYTES, 0},
    VALUE("sent", "calls that sent that much", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT),
    VALUE("received", "calls that received that much", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT),
};

static const struct pcollect_table tables[] = {
    {"datatypes", "datatypes by primitive", type_columns, 2, 4, PCOLLECT_TABLE_BY_PHASE},
    {"operators", "reductions by operator", operator_columns, 3, 3, PCOLLECT_TABLE_BY_PHASE},
    {"sizes", "calls by bytes that they moved", size_columns, 2, 2, PCOLLECT_TABLE_BY_PHASE},
};

static struct {
    const struct pcollect_host *host;
    uint32_t names[MAX_OPS]; /* of primitives, interned at first use */
} volume;

static int start(const struct pcollect_host *host, void **state)
{
    volume.host = host;
    *state = &volume;
    return 0;
}

/* Threads may do this at once: they get the same number. */
static uint32_t name_of(uint16_t op)
{
    if (op >= MAX_OPS)
        return 0;
    uint32_t name = __atomic_load_n(&volume.names[op], __ATOMIC_RELAXED);
    if (!name) {
        name = volume.host->string(volume.host->op_name(op));
        __atomic_store_n(&volume.names[op], name, __ATOMIC_RELAXED);
    }
    return name;
}

static inline void add_size(const struct pcollect_event *event, uint64_t bins[N_BINS],
                            uint64_t *largest, uint64_t bytes, unsigned direction)
{
    if (!bytes)
        return;
    unsigned bin = 63u - (unsigned)__builtin_clzll(bytes);
    bin = bin < N_BINS ? bin : N_BINS - 1;
    bins[bin]++;
    if (bytes > *largest)
        *largest = bytes;
    uint64_t keys[2] = {name_of(event->op), UINT64_C(1) << bin};
    uint64_t *row = volume.host->row(event->thread, &tables[2], keys);
    if (row)
        row[direction]++;
}

static void post(void *state, const struct pcollect_event *event, void *data)
{
    struct record *r = data;
    (void)state;
    add_size(event, r->sent, &r->largest_sent, event->bytes_sent, SIZE_SENT);
    add_size(event, r->received, &r->largest_received, event->bytes_received, SIZE_RECEIVED);
    if (!event->type)
        return;
    uint64_t keys[3] = {name_of(event->op), event->type, 0};
    uint64_t *row = volume.host->row(event->thread, &tables[0], keys);
    if (row) {
        row[TYPE_CALLS]++;
        row[TYPE_ELEMENTS] += event->n_elements;
        row[TYPE_SENT] += event->bytes_sent;
        row[TYPE_RECEIVED] += event->bytes_received;
    }
    if (!event->operator_)
        return;
    keys[1] = event->operator_;
    keys[2] = event->type;
    row = volume.host->row(event->thread, &tables[1], keys);
    if (row) {
        row[OPERATOR_CALLS]++;
        row[OPERATOR_OPERANDS] += event->n_elements;
        if (event->n_elements > row[OPERATOR_MOST])
            row[OPERATOR_MOST] = event->n_elements;
    }
}

static void complete(void *state, const struct pcollect_event *event, void *data)
{
    struct record *r = data;
    (void)state;
    add_size(event, r->received, &r->largest_received, event->bytes_received, SIZE_RECEIVED);
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
