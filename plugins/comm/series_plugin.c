/* SPDX-License-Identifier: BSD-3-Clause
 *
 * series: when. For the rank, calls, bytes and time in MPI over the course of the run; for each
 * context, how the intervals between its calls are distributed.
 *
 * The table `series` has a row for each rank and bin of time. A bin is a span of the wall clock
 * whose width is a power of two of a nanosecond and whose start is a multiple of it, so that bins
 * of all ranks and of all widths fit into each other. The width follows from how long the process
 * has run: it is the least from 2^24 ns (17 ms) on with which that is less than 128 bins. So the
 * width doubles as the run grows, and no bin is ever moved: the first part of a run stays finer, at
 * any kill all that is there is right, and a thread needs 128 rows and 64 for each doubling.
 *
 * A call is counted where it begins, its bytes where it ends, its time in every bin that it
 * touches. Where a bin lies in two phases it has a row for each: a call is in the phase of its
 * context, and so are the bytes of a receive that was posted there. So with communicators, where
 * some plugin wants them; but only the first TOLD_APART that a process uses have rows of their own.
 * What goes over others is in the row without a communicator, and counted there.
 *
 * The record of a context remembers the bin used last from there, by its ticks: as long as the time
 * is in it, a call finds its row by comparisons. Records and rows are of one thread.
 */
#include "plugins/plugins.h"

#include <stddef.h>

enum { BINS = 40, LEAST_SHIFT = 24, MOST_BINS = 128, TOLD_APART = 32 };

struct series_record {
    uint64_t last_end; /* ticks; 0: no call yet */
    uint64_t intervals[BINS];
    /* The bin used last, over this communicator: from (included) until (excluded) these ticks. */
    uint64_t *row;
    uint64_t from, until;
    uint64_t domain;
    uint64_t other; /* 1: that communicator has no row of its own */
};

struct series {
    const struct pcollect_host *host;
    uint64_t start_ns;            /* of the process's first call, on the wall clock */
    uint64_t domains[TOLD_APART]; /* in the order in which they were met; 0: free */
};

static struct series series;

static const struct pcollect_field fields[] = {
    {"intervals",
     "from the end of a call to the begin of the next from here, in powers of two of a nanosecond",
     PCOLLECT_HIST, PCOLLECT_UNIT_NS, BINS, offsetof(struct series_record, intervals)},
};

enum { CALLS, SENT, RECEIVED, TIME_IN_MPI, OTHER_CALLS };

static const struct pcollect_column columns[] = {
    {"rank", "rank in MPI_COMM_WORLD", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT, 0},
    {"start", "of the bin, nanoseconds since 1970", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT,
     0},
    {"width", "of the bin, nanoseconds", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    {"domain", "communicator, of the first that the process used; else none",
     PCOLLECT_COLUMN_DOMAIN, 0, PCOLLECT_UNIT_COUNT, 0},
    {"calls", "MPI calls that began in it", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_COUNT, 0},
    {"bytes_sent", "bytes described by send arguments", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_BYTES, 0},
    {"bytes_received", "bytes received", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_BYTES,
     0},
    {"mpi_time", "time in MPI, of all threads", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_TICKS, 0},
    {"other_calls", "calls over communicators that are not told apart", PCOLLECT_COLUMN_NUMBER,
     PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
};

static const struct pcollect_table table = {
    .name = "series",
    .doc = "calls, bytes and time in MPI over the course of the run",
    .columns = columns,
    .n_keys = 4,
    .n_values = sizeof columns / sizeof columns[0] - 4,
    .flags = PCOLLECT_TABLE_BY_PHASE,
};

static int start(const struct pcollect_host *host, void **state)
{
    series = (struct series){.host = host};
    *state = &series;
    return 0;
}

/* The communicator as the table has it: itself, or none where others came before. */
static uint64_t told_apart(struct series *s, uint64_t domain)
{
    for (unsigned i = 0; domain && i < TOLD_APART; i++) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&s->domains[i], &there, domain, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            there == domain)
            return domain;
    }
    return 0;
}

static uint64_t *find_bin(struct series *s, const struct pcollect_event *e, uint64_t ns,
                          unsigned shift)
{
    const uint64_t keys[4] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, ns >> shift << shift,
                              (uint64_t)1 << shift, told_apart(s, e->domain)};
    return s->host->row_at(e->thread, e->node, &table, keys);
}

/* The first call of all threads begins the series; of several that race one is the first. */
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

/* A call that ends in another bin than it begins in: each gets its part, the last what is left. */
static void add_long(struct series *s, const struct pcollect_event *e, uint64_t begin_ns,
                     uint64_t end_ns, unsigned shift)
{
    uint64_t left = e->end - e->begin;
    for (uint64_t at = begin_ns; at < end_ns;) {
        uint64_t next = ((at >> shift) + 1) << shift;
        uint64_t part = next < end_ns ? to_ticks(s->host, next - at) : left;
        uint64_t *v = find_bin(s, e, at, shift);
        part = part < left ? part : left;
        if (v)
            v[TIME_IN_MPI] += part;
        left -= part;
        at = next;
    }
}

/* Notes the bin of a time that is `now` in ticks. It ends for calls where a wider one begins, if
 * the run has become so long by then. A call that was left is in a phase that nothing tells. */
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
    r->other = e->domain && !told_apart(s, e->domain);
}

static void add_interval(const struct series *s, const struct pcollect_event *e,
                         struct series_record *r)
{
    if (r->last_end && e->begin >= r->last_end) {
        uint64_t ns =
            (uint64_t)(((unsigned __int128)(e->begin - r->last_end) * s->host->ns_per_tick_q32) >>
                       32);
        unsigned bin = 63u - (unsigned)__builtin_clzll(ns | 1);
        r->intervals[bin < BINS ? bin : BINS - 1]++;
    }
    r->last_end = e->end;
}

static __attribute__((noinline)) void add_slowly(struct series *s, const struct pcollect_event *e,
                                                 struct series_record *r)
{
    uint64_t end_ns = s->host->realtime_ns(e->end);
    uint64_t length_ns =
        (uint64_t)(((unsigned __int128)(e->end - e->begin) * s->host->ns_per_tick_q32) >> 32);
    uint64_t begin_ns = end_ns - length_ns;
    unsigned shift = shift_for(since_start(s, begin_ns) + length_ns);
    uint64_t *last = find_bin(s, e, end_ns, shift), *first = last;
    remember(s, e, r, last, end_ns, shift);
    if (begin_ns >> shift != end_ns >> shift) {
        first = find_bin(s, e, begin_ns, shift);
        add_long(s, e, begin_ns, end_ns, shift);
    } else if (last) {
        last[TIME_IN_MPI] += e->end - e->begin;
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

const struct pcollect_comm_plugin pc_plugin_series = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = sizeof(struct series_record),
    .name = "series",
    .doc = "calls, bytes and time in MPI over the course of the run; intervals between calls",
    .fields = fields,
    .tables = &table,
    .n_fields = sizeof fields / sizeof fields[0],
    .n_tables = 1,
    .init = start,
    .post = post,
    .complete = complete,
    .wants = PCOLLECT_WANT_THREAD,
};
