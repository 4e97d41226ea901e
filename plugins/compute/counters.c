/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counters: what the processor did in each context, from more events than can be counted at a time.
 *
 * Events are in groups of which one counts at a time. With random rotation a window is opened at
 * the end of an interrupt: a group is drawn, read, and read again when the program has computed for
 * WINDOW_NS more. If both readings are in one context they are booked there. The group does not
 * depend on what the program does, nor does the length of the window, so that what was read is a
 * sample of what was not: doc/internals/rotation.md derives the estimates.
 *
 * With round-robin, for comparison only, groups take turns from interrupt to interrupt, and all
 * that was counted since the last one is booked to where it ended, as multiplexing does.
 *
 * A window gives to each event of its group: the number of windows, of those with an event, and
 * sums of x, t, x^2, t^2, x t. Squares are in two columns, of which one counts 2^32: sums of
 * columns are sums of such numbers, whatever is added first.
 */
#include "plugins/plugins.h"

#include <stdbool.h>
#include <stddef.h>

enum { WINDOW_NS = 20000 };

struct record {
    uint64_t begun, stayed;
};

static const struct pcollect_field fields[] = {
    {"begun", "windows in which events were counted that began here", PCOLLECT_SUM,
     PCOLLECT_UNIT_COUNT, 0, offsetof(struct record, begun)},
    {"stayed", "of these, the ones that ended here too", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
     offsetof(struct record, stayed)},
};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Values of a row, in the order of the columns. */
struct moments {
    uint64_t readings, seen, count, time_ns;
    struct {
        uint64_t low, high; /* low + 2^32 high; low < 2^32 in one thread */
    } count_squared, time_squared, product;
};

#define SUM(name, doc)                                                                             \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0                    \
    }
#define MOMENTS                                                                                    \
    SUM("readings", "windows that read the event"),                                                \
        SUM("seen", "of these, the ones in which it happened"), SUM("count", "events in them"),    \
        {"time", "CPU time of them", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0},   \
        SUM("count_squared_low", "sum of squares of count, modulo 2^32"),                          \
        SUM("count_squared_high", "and the rest, in 2^32"),                                        \
        SUM("time_squared_low", "sum of squares of time in ns"),                                   \
        SUM("time_squared_high", "and the rest, in 2^32"),                                         \
        SUM("product_low", "sum of count times time in ns"),                                       \
        SUM("product_high", "and the rest, in 2^32")
#define EVENT                                                                                      \
    {                                                                                              \
        "event", "its name", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0                     \
    }

static const struct pcollect_column context_columns[] = {
    {"context", "where the windows began and ended", PCOLLECT_COLUMN_NODE, 0, PCOLLECT_UNIT_COUNT,
     0},
    EVENT,
    MOMENTS};

static const struct pcollect_column group_columns[] = {
    {"group", "number of the group", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    EVENT,
    MOMENTS};

enum { N_MOMENTS = sizeof(struct moments) / sizeof(uint64_t) };
_Static_assert(sizeof context_columns / sizeof context_columns[0] == 2 + N_MOMENTS,
               "a column for each moment");

static const struct pcollect_table tables[] = {
    {.name = "readings",
     .doc = "events in windows of each context",
     .columns = context_columns,
     .n_keys = 2,
     .n_values = N_MOMENTS},
    {.name = "rotation",
     .doc = "events in all windows",
     .columns = group_columns,
     .n_keys = 2,
     .n_values = N_MOMENTS},
};

/* ---- The process ----------------------------------------------------------------------------- */

static struct pc_counters_use use;
static const struct pcollect_host *services;

void pc_counters_ask(const struct pc_counters_use *asked)
{
    use = *asked;
}

/* Of one thread: zero-filled by the host. */
struct own {
    struct pc_counting_record *record;
    bool ended;    /* the window was read at its end */
    uint32_t turn; /* of round-robin: 0: nothing counts so far */
    struct pc_counting_values before, after;
    struct moments *sums[PC_COUNTING_MAX_EVENTS]; /* rows of `rotation` */
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = NULL;
    services = host;
    if (use.n_events)
        return 0;
    host->log("plugin counters: [sample] events names nothing that can be counted");
    return -1;
}

/* ---- Moments --------------------------------------------------------------------------------- */

static void add_product(uint64_t a, uint64_t b, uint64_t *low, uint64_t *high)
{
    unsigned __int128 p = (unsigned __int128)a * b + *low;
    *low = (uint32_t)p;
    *high += (uint64_t)(p >> 32);
}

static void add_reading(struct moments *m, uint64_t count, uint64_t ns)
{
    m->readings++;
    m->seen += count > 0;
    m->count += count;
    m->time_ns += ns;
    add_product(count, count, &m->count_squared.low, &m->count_squared.high);
    add_product(ns, ns, &m->time_squared.low, &m->time_squared.high);
    add_product(count, ns, &m->product.low, &m->product.high);
}

/* The row of `rotation`: does not change, and is found before it is needed where no row may be
 * made.
 */
static void find_sums(struct own *own, void *thread)
{
    for (uint32_t e = 0; e < use.n_events; e++) {
        const uint64_t keys[2] = {own->before.group + 1, use.strings[e]};
        if (own->before.held >> e & 1 && !own->sums[e])
            own->sums[e] = (struct moments *)services->row(thread, &tables[1], keys);
    }
}

/* What was counted from `before` to `after`. What a group does not hold is not booked: it is not 0,
 * it is not known. Nor is what was not counted all the time because others use the counters. */
static void book(struct own *own, void *thread, uint32_t node, uint64_t ns)
{
    const struct pc_counting_values *a = &own->before, *b = &own->after;
    if (b->enabled_ns - a->enabled_ns != b->running_ns - a->running_ns)
        return;
    for (uint32_t e = 0; e < use.n_events; e++) {
        if (!(b->held >> e & 1))
            continue;
        const uint64_t keys[2] = {node, use.strings[e]};
        uint64_t count = b->value[e] - a->value[e];
        struct moments *m = node ? (struct moments *)services->row(thread, &tables[0], keys) : NULL;
        if (m)
            add_reading(m, count, ns);
        if (own->sums[e])
            add_reading(own->sums[e], count, ns);
    }
}

/* The group of that number, among those that the thread has, counts from now on. */
static bool begin(struct own *own, const struct pcollect_sample *sample, uint64_t number)
{
    own->record = sample->counting;
    uint32_t groups = own->record ? pc_counting_groups(own->record) : 0;
    if (!groups)
        return false;
    for (uint64_t left = number % (unsigned)__builtin_popcount(groups); left; left--)
        groups &= groups - 1;
    if (pc_counting_switch(own->record, (uint32_t)__builtin_ctz(groups)) ||
        pc_counting_get(own->record, &own->before))
        return false;
    find_sums(own, sample->thread);
    return true;
}

/* ---- Windows --------------------------------------------------------------------------------- */

static uint64_t open_window(void *state, const struct pcollect_sample *sample)
{
    (void)state;
    return !use.round_robin && begin(sample->own, sample, sample->draw) ? WINDOW_NS : 0;
}

static void read_window(void *state, void *kept)
{
    struct own *own = kept;
    (void)state;
    own->ended = !pc_counting_get(own->record, &own->after);
    /* What counts always is read by others too. */
    if (use.n_groups > 1)
        pc_counting_pause(own->record);
}

static void close_window(void *state, const struct pcollect_sample *sample, void *data, int stayed)
{
    struct own *own = sample->own;
    struct record *r = data;
    (void)state;
    if (!own->ended)
        return;
    r->begun++;
    r->stayed += stayed != 0;
    book(own, sample->thread, stayed ? sample->node : 0, sample->period_ns);
}

/* ---- Round-robin ----------------------------------------------------------------------------- */

static void take_turn(void *state, const struct pcollect_sample *sample, void *data)
{
    struct own *own = sample->own;
    struct record *r = data;
    (void)state;
    if (!use.round_robin || !own)
        return;
    if (own->turn && !pc_counting_get(own->record, &own->after)) {
        r->begun++;
        r->stayed++;
        book(own, sample->thread, sample->node, sample->period_ns);
    }
    own->turn = begin(own, sample, own->turn) ? own->turn + 1 : 0;
}

const struct pcollect_compute_plugin pc_plugin_counters = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_compute_plugin),
    .kind = PCOLLECT_PLUGIN_COMPUTE,
    .record_bytes = sizeof(struct record),
    .name = "counters",
    .doc = "events of the processor in each context, more than can be counted at a time",
    .fields = fields,
    .tables = tables,
    .n_fields = sizeof fields / sizeof fields[0],
    .n_tables = sizeof tables / sizeof tables[0],
    .init = start,
    .trigger = take_turn,
    .thread_bytes = sizeof(struct own),
    .open = open_window,
    .read = read_window,
    .close = close_window,
};
