/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counters: processor events in each context, more than can be counted at a time.
 *
 * Events are in groups of which one counts at a time. With random rotation a window is opened at
 * the end of an interrupt: a group is drawn at random, read, and read again when the program has
 * computed for one of two lengths of time, also drawn. If both readings are in one context they are
 * booked there. Neither group nor length depends on the program, so that the counted windows are a
 * random sample: doc/internals/rotation.md derives the estimates.
 *
 * Between the two readings lies not only the program, but also the return from one interrupt and
 * the entry into the next. This part is equal in windows of both lengths, and cancels in their
 * difference. For contexts that are too short for a long window it is measured by empty windows.
 *
 * With round-robin, for comparison only, groups take turns from interrupt to interrupt, and the
 * counts since the last interrupt are booked to the context in which they end, as multiplexing
 * does.
 *
 * For each event of its group a window adds to: the number of windows, the number of windows with
 * an event, and the sums of x, t, x^2, t^2, x t. Squares are in two columns, one of which counts
 * units of 2^32, so that columns can be added in any order.
 */
#include "plugins/plugins.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Number of empty windows of each length for a group. */
enum { EMPTY_WINDOWS = 15, LEAST_EMPTY_WINDOWS = 3 };

enum length { BRIEF, LONG, N_LENGTHS };
static const uint64_t length_ns[N_LENGTHS] = {20000, 80000};

struct record {
    struct {
        uint64_t begun, stayed;
    } windows[N_LENGTHS];
};

static const struct pcollect_field fields[] = {
    {"begun", "brief windows in which events were counted that began here", PCOLLECT_SUM,
     PCOLLECT_UNIT_COUNT, 0, offsetof(struct record, windows[BRIEF].begun)},
    {"stayed", "of these, the ones that ended here too", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
     offsetof(struct record, windows[BRIEF].stayed)},
    {"begun_long", "the same of long windows", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
     offsetof(struct record, windows[LONG].begun)},
    {"stayed_long", "of these, the ones that ended here too", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
     offsetof(struct record, windows[LONG].stayed)},
};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Values of a row, in the order of the columns. */
struct moments {
    uint64_t readings, weight, seen, count, time_ns;
    struct {
        uint64_t low, high; /* low + 2^32 high; low < 2^32 in one thread */
    } count_squared, time_squared, product;
    uint64_t added; /* thousandths */
};

#define MOMENTS                                                                                    \
    PC_SUM("readings", "windows that read the event", COUNT),                                      \
        PC_SUM("weight", "as how many of them they count", COUNT),                                 \
        PC_SUM("seen", "of these, the ones in which it happened", COUNT),                          \
        PC_SUM("count", "events in them, of each as often as it counts", COUNT),                   \
        PC_SUM("time", "CPU time of them, likewise", NS),                                          \
        PC_SUM("count_squared_low", "sum of squares of count, modulo 2^32", COUNT),                \
        PC_SUM("count_squared_high", "and the rest, in 2^32", COUNT),                              \
        PC_SUM("time_squared_low", "sum of squares of time in ns", COUNT),                         \
        PC_SUM("time_squared_high", "and the rest, in 2^32", COUNT),                               \
        PC_SUM("product_low", "sum of count times time in ns", COUNT),                             \
        PC_SUM("product_high", "and the rest, in 2^32", COUNT),                                    \
        PC_SUM("added", "of count, what the windows themselves did, in thousandths of an event",   \
               COUNT)
#define EVENT PC_KEY("event", "its name", STRING)
#define WINDOW                                                                                     \
    {                                                                                              \
        "window", "how long they were to be; 0: a turn of round-robin", PCOLLECT_COLUMN_NUMBER, 0, \
            PCOLLECT_UNIT_NS, 0                                                                    \
    }

static const struct pcollect_column context_columns[] = {
    PC_KEY("context", "where the windows began and ended", NODE), EVENT, WINDOW, MOMENTS};

static const struct pcollect_column group_columns[] = {
    PC_KEY("group", "number of the group", NUMBER), EVENT, WINDOW, MOMENTS};

enum { N_MOMENTS = sizeof(struct moments) / sizeof(uint64_t) };
_Static_assert(sizeof context_columns / sizeof context_columns[0] == 3 + N_MOMENTS,
               "a column for each moment");

static const struct pcollect_table tables[] = {
    {.name = "readings",
     .doc = "events in windows of each context",
     .columns = context_columns,
     .n_keys = 3,
     .n_values = N_MOMENTS},
    {.name = "rotation",
     .doc = "events in all windows",
     .columns = group_columns,
     .n_keys = 3,
     .n_values = N_MOMENTS},
};

/* ---- The process ----------------------------------------------------------------------------- */

static struct pc_counters_use use;
static const struct pcollect_host *services;

void pc_counters_ask(const struct pc_counters_use *asked)
{
    use = *asked;
}

/* State of one thread: zero-filled by the host. */
struct own {
    struct pc_counting_meter *meter;
    bool begun, ended; /* the window was read at its begin; at its end */
    bool over;         /* it was over before it could begin, and never read */
    bool counts;       /* round-robin: a group has counted since the last interrupt */
    enum length length;
    uint32_t known; /* bit g: the rows of `rotation` of group g are found */
    uint32_t empty; /* bit g: group g has its empty windows in this thread */
    struct pc_counting_values before, after;
    struct moments *sums[N_LENGTHS][PC_COUNTING_MAX_EVENTS]; /* rows of `rotation` */
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = NULL;
    services = host;
    return use.n_events ? 0 : -1; /* the library says so, once for the job */
}

/* ---- Counts that windows themselves add ---------------------------------------------------- */

/* Empty windows of one event, in the thread that measures the group: counts and lengths, each
 * sorted. */
struct empty {
    uint32_t n[N_LENGTHS];
    uint64_t count[N_LENGTHS][EMPTY_WINDOWS], ns[N_LENGTHS][EMPTY_WINDOWS];
};
static struct empty empty[PC_COUNTING_MAX_EVENTS];

/* Counts that one window adds to each event, in thousandths. */
static _Atomic uint64_t added[PC_COUNTING_MAX_EVENTS];

static void insert(uint64_t *sorted, uint32_t n, uint64_t value)
{
    for (; n && sorted[n - 1] > value; n--)
        sorted[n] = sorted[n - 1];
    sorted[n] = value;
}

/* Counts that a window of length 0 would have: the value at 0 of the line through the medians of
 * the two lengths, because a program that only reads its clock has constant rates. Medians are used
 * because the system's tick falls into some windows. */
static uint64_t find_added(const struct empty *of)
{
    uint64_t few = of->count[BRIEF][of->n[BRIEF] / 2], many = of->count[LONG][of->n[LONG] / 2];
    uint64_t brief = of->ns[BRIEF][of->n[BRIEF] / 2], lasting = of->ns[LONG][of->n[LONG] / 2];
    if (lasting <= brief || few * lasting <= many * brief)
        return 0;
    return (uint64_t)((unsigned __int128)(few * lasting - many * brief) * 1000 / (lasting - brief));
}

static void note_empty(const struct own *own, const struct pcollect_sample *sample)
{
    enum length length = own->length;
    for (uint32_t e = 0; e < use.n_events; e++) {
        struct empty *of = &empty[e];
        if (!(own->after.held >> e & 1) || of->n[length] == EMPTY_WINDOWS)
            continue;
        insert(of->count[length], of->n[length], own->after.value[e] - own->before.value[e]);
        insert(of->ns[length], of->n[length]++, sample->period_ns);
        if (of->n[BRIEF] >= LEAST_EMPTY_WINDOWS && of->n[LONG] >= LEAST_EMPTY_WINDOWS)
            atomic_store_explicit(&added[e], find_added(of), memory_order_relaxed);
    }
}

/* ---- Moments --------------------------------------------------------------------------------- */

static void add_product(uint64_t a, uint64_t b, uint64_t *low, uint64_t *high)
{
    unsigned __int128 p = (unsigned __int128)a * b + *low;
    *low = (uint32_t)p;
    *high += (uint64_t)(p >> 32);
}

static void add_reading(struct moments *m, uint64_t count, uint64_t ns, uint32_t weight,
                        uint64_t of_window)
{
    m->readings++;
    m->weight += weight;
    m->seen += count > 0;
    m->count += count;
    m->time_ns += ns;
    add_product(count, count, &m->count_squared.low, &m->count_squared.high);
    add_product(ns, ns, &m->time_squared.low, &m->time_squared.high);
    add_product(count, ns, &m->product.low, &m->product.high);
    m->added += of_window * weight;
}

static uint64_t window_ns(enum length length)
{
    return use.round_robin ? 0 : length_ns[length];
}

/* Finds the rows of `rotation` for the group that counts. They do not change, and must be found
 * before a place where no row may be made. */
static bool find_sums(struct own *own, void *thread, uint32_t group)
{
    if (own->known >> group & 1)
        return true;
    if (pc_counting_get(own->meter, &own->before))
        return false;
    for (uint32_t e = 0; e < use.n_events; e++) {
        if (!(own->before.held >> e & 1))
            continue;
        for (enum length k = BRIEF; k < N_LENGTHS; k++) {
            const uint64_t keys[3] = {group + 1, use.strings[e], window_ns(k)};
            own->sums[k][e] = (struct moments *)services->row(thread, &tables[1], keys);
        }
    }
    own->known |= 1u << group;
    return true;
}

/* Books the counts from `before` to `after`. Events that are not in the group are not booked: they
 * are not 0 but unknown. Nor are counts that are incomplete because others used the counters. */
static void book(struct own *own, const struct pcollect_sample *sample, uint32_t node)
{
    const struct pc_counting_values *a = &own->before, *b = &own->after;
    if (b->enabled_ns - a->enabled_ns != b->running_ns - a->running_ns)
        return;
    uint64_t ns = sample->period_ns * sample->weight;
    for (uint32_t e = 0; e < use.n_events; e++) {
        if (!(b->held >> e & 1))
            continue;
        const uint64_t keys[3] = {node, use.strings[e], window_ns(own->length)};
        uint64_t count = (b->value[e] - a->value[e]) * sample->weight;
        uint64_t of_window = use.round_robin || own->over
                                 ? 0
                                 : atomic_load_explicit(&added[e], memory_order_relaxed);
        struct moments *m =
            node ? (struct moments *)services->row(sample->thread, &tables[0], keys) : NULL;
        struct moments *sum = own->sums[own->length][e];
        if (m)
            add_reading(m, count, ns, sample->weight, of_window);
        if (sum)
            add_reading(sum, count, ns, sample->weight, of_window);
    }
}

static uint32_t groups_of(struct own *own, const struct pcollect_sample *sample)
{
    own->meter = ((const struct pc_plugin_sample *)sample)->counting;
    return own->meter ? pc_counting_groups(own->meter) : 0;
}

/* Switches to the group of that number among the groups of the thread. */
static bool turn_to(struct own *own, const struct pcollect_sample *sample, uint32_t groups,
                    uint64_t number)
{
    if (!groups)
        return false;
    for (uint64_t left = number % (unsigned)__builtin_popcount(groups); left; left--)
        groups &= groups - 1;
    uint32_t group = (uint32_t)__builtin_ctz(groups);
    return !pc_counting_switch(own->meter, group) && find_sums(own, sample->thread, group);
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Opens empty windows: each group once per process, in the first thread that has it. */
static uint64_t open_empty(struct own *own, const struct pcollect_sample *sample, uint32_t groups)
{
    static _Atomic uint32_t taken;
    if (!sample->draw)
        own->empty = groups & ~atomic_fetch_or(&taken, groups);
    if (sample->draw / 2 >= EMPTY_WINDOWS * (unsigned)__builtin_popcount(own->empty) ||
        !turn_to(own, sample, own->empty, sample->draw / 2))
        return 0;
    own->length = sample->draw & 1 ? LONG : BRIEF;
    return length_ns[own->length];
}

static uint64_t open_window(void *state, const struct pcollect_sample *sample)
{
    struct own *own = sample->own;
    (void)state;
    if (use.round_robin)
        return 0;
    uint32_t groups = groups_of(own, sample);
    if (sample->empty)
        return open_empty(own, sample, groups);
    own->begun = own->ended = false;
    /* The length comes from a bit of the draw that group and rank do not influence. */
    own->length = sample->draw >> 40 & 1 ? LONG : BRIEF;
    return turn_to(own, sample, groups, sample->draw) ? length_ns[own->length] : 0;
}

static void read_window(void *state, void *kept, int ended)
{
    struct own *own = kept;
    (void)state;
    if (!ended) {
        own->begun = !pc_counting_get(own->meter, &own->before);
        return;
    }
    own->ended = !pc_counting_get(own->meter, &own->after);
    /* Events that count all the time must not be paused, because others read them too. */
    if (use.n_groups > 1)
        pc_counting_pause(own->meter);
}

static void close_window(void *state, const struct pcollect_sample *sample, void *data, int stayed)
{
    struct own *own = sample->own;
    struct record *r = data;
    (void)state;
    own->over = !own->begun && !own->ended;
    if (own->over) {
        own->begun = own->ended = !pc_counting_get(own->meter, &own->before);
        own->after = own->before;
    }
    if (!own->begun || !own->ended)
        return;
    if (sample->empty) {
        note_empty(own, sample);
        return;
    }
    r->windows[own->length].begun++;
    r->windows[own->length].stayed += stayed != 0;
    book(own, sample, stayed ? sample->node : 0);
}

/* ---- Round-robin ----------------------------------------------------------------------------- */

static void take_turn(void *state, const struct pcollect_sample *sample, void *data)
{
    struct own *own = sample->own;
    struct record *r = data;
    (void)state;
    if (!use.round_robin || !own)
        return;
    if (own->counts && !pc_counting_get(own->meter, &own->after)) {
        r->windows[BRIEF].begun++;
        r->windows[BRIEF].stayed++;
        book(own, sample, sample->node);
    }
    own->counts = turn_to(own, sample, groups_of(own, sample), sample->draw) &&
                  !pc_counting_get(own->meter, &own->before);
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
    .empty_windows = 1,
    .open = open_window,
    .read = read_window,
    .close = close_window,
};
