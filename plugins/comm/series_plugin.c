/* SPDX-License-Identifier: BSD-3-Clause
 *
 * series: the course of the run in time. For each rank: calls, bytes, time in MPI and CPU time over
 * the run, and the phases and regions of the program that it was in. For each context: the
 * distribution of the intervals between its calls.
 *
 * The table `series` has a row for each rank and bin of time. A bin is a span of the wall clock
 * whose width is a power of two of a nanosecond and whose start is a multiple of it, so that bins
 * of all ranks and of all widths fit into each other. The width follows from how long the process
 * has run: it is the least from 2^24 ns (17 ms) on with which that is less than 128 bins. So the
 * width doubles as the run grows, and no bin is ever moved: the first part of a run stays finer,
 * the data is correct if the process is killed at any moment, and a thread needs 128 rows plus 64
 * for each doubling.
 *
 * A call is counted where it begins, its bytes where it ends, its time in every bin that it
 * touches. A bin that lies in two phases has a row for each: a call is in the phase of its context,
 * and so are the bytes of a receive that was posted there. Communicators have separate rows, too,
 * if some plugin wants them; but only the first TOLD_APART that a process uses. Calls on the others
 * are in the row without a communicator.
 *
 * A sample and the CPU time that it stands for are in the bin in which it was taken, in the row
 * without a communicator.
 *
 * The table `series_regions` has the same bins: the time in each phase and region, inner ones
 * included, for the first TOLD_APART of which the process books time; the time of the others is in
 * the row without one.
 *
 * The record of a context remembers the bin used last from there, by its ticks: as long as the time
 * is in this bin, a call finds its row by comparisons. Records and rows belong to one thread.
 */
#include "plugins/plugins.h"

#include <stdbool.h>
#include <stddef.h>

enum { BINS = 40, LEAST_SHIFT = 24, MOST_BINS = 128, TOLD_APART = 32 };

struct series_record {
    uint64_t last_end; /* ticks; 0: no call yet */
    uint64_t intervals[PCOLLECT_HIST_WORDS(BINS)];
    /* The bin used last, over this communicator: from (included) until (excluded) these ticks. */
    uint64_t *row;
    uint64_t from, until;
    uint64_t domain;
    uint64_t other; /* 1: the communicator has no row of its own */
};

struct series {
    const struct pcollect_host *host;
    uint64_t start_ns;            /* time of the process's first call, by the wall clock */
    uint64_t domains[TOLD_APART]; /* in the order of first use; 0: free */
    uint64_t regions[TOLD_APART]; /* by their ids, the same */
};

static struct series series;

static const struct pcollect_field fields[] = {
    {"intervals",
     "from the end of a call to the begin of the next from here, in powers of two of a nanosecond",
     PCOLLECT_HIST, PCOLLECT_UNIT_NS, BINS, offsetof(struct series_record, intervals)},
};

enum { CALLS, SENT, RECEIVED, TIME_IN_MPI, OTHER_CALLS, SAMPLES, CPU_TIME, COMPUTED };

static const struct pcollect_column columns[] = {
    PC_KEY("rank", "rank in MPI_COMM_WORLD", RANK),
    PC_KEY("start", "of the bin, nanoseconds since 1970", NUMBER),
    PC_KEY("width", "of the bin, nanoseconds", NUMBER),
    PC_KEY("domain", "communicator, of the first that the process used; else none", DOMAIN),
    PC_SUM("calls", "MPI calls that began in it", COUNT),
    PC_SUM("bytes_sent", "bytes described by send arguments", BYTES),
    PC_SUM("bytes_received", "bytes received", BYTES),
    PC_SUM("mpi_time", "time in MPI, of all threads", TICKS),
    PC_SUM("other_calls", "calls over communicators that are not told apart", COUNT),
    PC_SUM("samples", "samples", COUNT),
    PC_SUM("cpu_time", "CPU time that they stand for", NS),
    PC_SUM("computed", "of that outside of MPI calls", NS),
};

enum { TIME_IN_REGION };

static const struct pcollect_column region_columns[] = {
    PC_KEY("rank", "rank in MPI_COMM_WORLD", RANK),
    PC_KEY("start", "of the bin, nanoseconds since 1970", NUMBER),
    PC_KEY("width", "of the bin, nanoseconds", NUMBER),
    PC_KEY("region",
           "phase or region, inside of others; of the first whose time was booked, else none",
           NODE),
    PC_SUM("time", "time in it, of all threads", TICKS),
};

enum { COURSE, REGIONS };

static const struct pcollect_table tables[] = {
    [COURSE] = {.name = "series",
                .doc = "calls, bytes, time in MPI and CPU time over the course of the run",
                .columns = columns,
                .n_keys = 4,
                .n_values = sizeof columns / sizeof columns[0] - 4,
                .flags = PCOLLECT_TABLE_BY_PHASE},
    [REGIONS] = {.name = "series_regions",
                 .doc = "time in each phase and region over the course of the run",
                 .columns = region_columns,
                 .n_keys = 4,
                 .n_values = 1},
};

static int start(const struct pcollect_host *host, void **state)
{
    series = (struct series){.host = host};
    *state = &series;
    return 0;
}

/* The id of a communicator or region in the table: its own, or none if too many came before it. */
static uint64_t told_apart(uint64_t *met, uint64_t id)
{
    for (unsigned i = 0; id && i < TOLD_APART; i++) {
        uint64_t there = __atomic_load_n(&met[i], __ATOMIC_RELAXED);
        bool mine = !there && __atomic_compare_exchange_n(&met[i], &there, id, 0, __ATOMIC_RELAXED,
                                                          __ATOMIC_RELAXED);
        if (mine || there == id)
            return id;
    }
    return 0;
}

/* The row of the bin that contains a time, with `key` as last key. */
static uint64_t *find_row(const struct series *s, void *thread, uint32_t node,
                          const struct pcollect_table *table, uint64_t ns, unsigned shift,
                          uint64_t key)
{
    const uint64_t keys[4] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, ns >> shift << shift,
                              (uint64_t)1 << shift, key};
    return s->host->row_at(thread, node, table, keys);
}

static uint64_t *find_bin(struct series *s, const struct pcollect_event *e, uint64_t ns,
                          unsigned shift)
{
    return find_row(s, e->thread, e->node, &tables[COURSE], ns, shift,
                    told_apart(s->domains, e->domain));
}

/* Time since the start of the series, which is the first call or sample of any thread; if several
 * race, one of them wins.
 */
static uint64_t since_start(struct series *s, uint64_t now_ns)
{
    uint64_t start_ns = __atomic_load_n(&s->start_ns, __ATOMIC_RELAXED);
    if (__builtin_expect(!start_ns, 0)) {
        __atomic_compare_exchange_n(&s->start_ns, &start_ns, now_ns, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        start_ns = __atomic_load_n(&s->start_ns, __ATOMIC_RELAXED);
    }
    return now_ns > start_ns ? now_ns - start_ns : 0;
}

static unsigned shift_for(uint64_t elapsed_ns)
{
    unsigned shift = LEAST_SHIFT;
    while (elapsed_ns >> shift >= MOST_BINS)
        shift++;
    return shift;
}

static uint64_t to_ticks(const struct pcollect_host *host, uint64_t ns)
{
    return (uint64_t)(((unsigned __int128)ns << 32) / host->ns_per_tick_q32);
}

/* A stretch of time and the place where it is booked. */
struct stretch {
    uint64_t begin_ns, end_ns, ticks;
    unsigned shift; /* bins have a width of 2^shift ns */
    void *thread;
    uint32_t node;
    uint64_t key;
};

static struct stretch stretch_of(struct series *s, uint64_t begin, uint64_t end)
{
    struct stretch x = {.end_ns = s->host->realtime_ns(end), .ticks = end - begin};
    uint64_t length_ns = (uint64_t)(((unsigned __int128)x.ticks * s->host->ns_per_tick_q32) >> 32);
    x.begin_ns = x.end_ns - length_ns;
    x.shift = shift_for(since_start(s, x.begin_ns) + length_ns);
    return x;
}

/* Divides a stretch among its bins; the last gets the remainder. */
static void add_stretch(const struct series *s, const struct stretch *x,
                        const struct pcollect_table *table, unsigned value)
{
    uint64_t left = x->ticks;
    for (uint64_t at = x->begin_ns, next; at < x->end_ns; at = next) {
        next = ((at >> x->shift) + 1) << x->shift;
        uint64_t part = next < x->end_ns ? to_ticks(s->host, next - at) : left;
        uint64_t *v = find_row(s, x->thread, x->node, table, at, x->shift, x->key);
        part = part < left ? part : left;
        if (v)
            v[value] += part;
        left -= part;
    }
}

/* Notes the bin of a time that is `now` in ticks. For calls it ends where bins become wider, if the
 * run has become long enough by then. The phase of a call that was left early is not known. */
static void remember(struct series *s, const struct pcollect_event *e, struct series_record *r,
                     uint64_t *row, uint64_t now_ns, unsigned shift)
{
    uint64_t start_ns = now_ns >> shift << shift, end_ns = start_ns + ((uint64_t)1 << shift);
    uint64_t wider_ns =
        __atomic_load_n(&s->start_ns, __ATOMIC_RELAXED) + ((uint64_t)MOST_BINS << shift);
    end_ns = wider_ns < end_ns ? wider_ns : end_ns;
    r->row = e->node ? row : NULL;
    r->from = e->end - to_ticks(s->host, now_ns - start_ns);
    r->until = r->row && end_ns > now_ns ? e->end + to_ticks(s->host, end_ns - now_ns) : 0;
    r->domain = e->domain;
    r->other = e->domain && !told_apart(s->domains, e->domain);
}

static void add_interval(const struct series *s, const struct pcollect_event *e,
                         struct series_record *r)
{
    if (r->last_end && e->begin >= r->last_end) {
        uint64_t ns =
            (uint64_t)(((unsigned __int128)(e->begin - r->last_end) * s->host->ns_per_tick_q32) >>
                       32);
        unsigned bin = 63u - (unsigned)__builtin_clzll(ns | 1);
        pcollect_count(s->host, r->intervals, BINS, bin < BINS ? bin : BINS - 1);
    }
    r->last_end = e->end;
}

static __attribute__((noinline)) void add_slowly(struct series *s, const struct pcollect_event *e,
                                                 struct series_record *r)
{
    struct stretch x = stretch_of(s, e->begin, e->end);
    uint64_t *last = find_bin(s, e, x.end_ns, x.shift), *first = last;
    remember(s, e, r, last, x.end_ns, x.shift);
    if (x.begin_ns >> x.shift != x.end_ns >> x.shift) {
        first = find_bin(s, e, x.begin_ns, x.shift);
        x.thread = e->thread;
        x.node = e->node;
        x.key = told_apart(s->domains, e->domain);
        add_stretch(s, &x, &tables[COURSE], TIME_IN_MPI);
    } else if (last) {
        last[TIME_IN_MPI] += x.ticks;
    }
    if (first) {
        first[CALLS]++;
        first[OTHER_CALLS] += r->other;
    }
    if (last) {
        last[SENT] += e->bytes_sent;
        last[RECEIVED] += e->bytes_received;
    }
}

static inline int is_remembered(const struct pcollect_event *e, const struct series_record *r,
                                uint64_t begin)
{
    return begin >= r->from && e->end < r->until && e->domain == r->domain;
}

static void post(void *state, const struct pcollect_event *e, void *record)
{
    struct series_record *r = record;
    if (__builtin_expect(is_remembered(e, r, e->begin), 1)) {
        r->row[CALLS]++;
        r->row[SENT] += e->bytes_sent;
        r->row[RECEIVED] += e->bytes_received;
        r->row[TIME_IN_MPI] += e->end - e->begin;
        r->row[OTHER_CALLS] += r->other;
    } else {
        add_slowly(state, e, r);
    }
    add_interval(state, e, r);
}

static void complete(void *state, const struct pcollect_event *e, void *record)
{
    struct series *s = state;
    struct series_record *r = record;
    uint64_t *row = r->row;
    if (!is_remembered(e, r, e->end)) {
        uint64_t now_ns = s->host->realtime_ns(e->end);
        unsigned shift = shift_for(since_start(s, now_ns));
        row = find_bin(s, e, now_ns, shift);
        remember(s, e, r, row, now_ns, shift);
    }
    if (row)
        row[RECEIVED] += e->bytes_received;
}

/* Adds a region. One that was left before the first call has bins by its own length. */
static void add_region(void *state, const struct pcollect_region *region)
{
    struct series *s = state;
    struct stretch x = stretch_of(s, region->begin, region->end);
    x.thread = region->thread;
    x.node = region->node;
    x.key = told_apart(s->regions, region->id) ? region->node : 0;
    add_stretch(s, &x, &tables[REGIONS], TIME_IN_REGION);
}

static void add_sample(void *state, const struct pcollect_sample *sample)
{
    struct series *s = state;
    uint64_t now_ns = s->host->realtime_ns(sample->now);
    unsigned shift = shift_for(since_start(s, now_ns));
    uint64_t *v = find_row(s, sample->thread, sample->node, &tables[COURSE], now_ns, shift, 0);
    if (!v)
        return;
    v[SAMPLES]++;
    v[CPU_TIME] += sample->period_ns;
    v[COMPUTED] += sample->node ? sample->period_ns : 0;
}

const struct pcollect_comm_plugin pc_plugin_series = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct series_record),
    .name = "series",
    .doc = "calls, bytes, times and regions over the course of the run; intervals between calls",
    .fields = fields,
    .tables = tables,
    .n_fields = sizeof fields / sizeof fields[0],
    .n_tables = sizeof tables / sizeof tables[0],
    .init = start,
    .post = post,
    .complete = complete,
    .region = add_region,
    .sample = add_sample,
    .wants = PCOLLECT_WANT_THREAD,
};
