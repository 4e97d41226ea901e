/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of the text report: samples, and events that were counted or sampled.
 */
#include "view/summary_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Appends " by clock and timer": the sources of threads that were interrupted, in the order of
 * strings. Ranks can have different ones. */
static void put_sources(const struct pc_profile *p, const struct pc_profile_table *t,
                        struct pct_buf *b)
{
    uint32_t source = pc_table_column(t, "source", PCOLLECT_COLUMN_STRING),
             interrupts = pc_table_column(t, "interrupts", PCOLLECT_COLUMN_NUMBER);
    uint64_t next = 0;
    for (uint64_t last = 0;; last = next) {
        next = 0;
        for (uint32_t row = 0; row < t->n_rows; row++) {
            uint64_t cell = pc_table_cell(t, row, source);
            if (pc_table_cell(t, row, interrupts) && cell > last && (!next || cell < next))
                next = cell;
        }
        if (!next)
            return;
        pct_buf_text(b, last ? " and " : " by ");
        pct_text_escape(b, pc_profile_string(p, next), PCT_ESCAPE_CELL);
    }
}

/* The limit of the cost of samples in percent, the highest that a process had. */
static uint64_t find_limit(const struct pc_profile *p)
{
    enum { DEFAULT = 1 }; /* of the option: the table has other values */
    const struct pc_profile_table *t = pc_profile_table(p, "settings");
    uint32_t option = pc_table_column(t, "option", PCOLLECT_COLUMN_STRING),
             value = pc_table_column(t, "value", PCOLLECT_COLUMN_STRING);
    uint64_t limit = DEFAULT;
    for (uint32_t row = 0; t && row < t->n_rows; row++) {
        if (strcmp(pc_profile_string(p, pc_table_cell(t, row, option)), "[sample] max_overhead"))
            continue;
        uint64_t set = strtoull(pc_profile_string(p, pc_table_cell(t, row, value)), NULL, 10);
        limit = set > limit ? set : limit;
    }
    return limit;
}

/* Appends why samples may cost more than their limit, if they do. */
static void put_unlimited(const struct pc_profile *p, uint64_t cpu, uint64_t cost,
                          struct pct_buf *b)
{
    uint64_t limit = find_limit(p);
    if ((pc_u128)cost * 100 > (pc_u128)cpu * limit)
        pct_buf_format(
            b, " (max_overhead, %" PRIu64 " %%, does not limit the first 64 of a thread)", limit);
}

/* Appends the number of threads whose frequency was lowered, and the lowest frequency. */
static void put_lowered(const struct pc_profile_table *t, struct pct_buf *b)
{
    uint32_t lowered = pc_table_column(t, "lowered", PCOLLECT_COLUMN_NUMBER),
             period = pc_table_column(t, "period", PCOLLECT_COLUMN_NUMBER);
    uint64_t n = 0, longest_ns = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++) {
        uint64_t ns = pc_table_cell(t, row, period);
        if (!pc_table_cell(t, row, lowered) || !ns)
            continue;
        n++;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    if (n)
        pct_buf_format(b,
                       "; the frequency of %" PRIu64 " %s was lowered, to as little as %.3g Hz, to "
                       "stay below max_overhead",
                       n, n == 1 ? "thread" : "threads", 1e9 / (double)longest_ns);
}

/* Appends the number of interrupts that were due and are missing, if they are many beside those
 * that came. */
static void put_missed(uint64_t came, uint64_t missed, struct pct_buf *b)
{
    if (missed < PCT_SAMPLES_FEW || missed < came / 10)
        return;
    pct_buf_text(b, "; ");
    pct_head_count(b, missed);
    pct_buf_text(b, " more were due, but came too late or not at all");
}

/* Prints that no interrupt came at all. */
static void put_none(const struct pct_head *h, uint64_t missed, struct pct_buf *b)
{
    pct_buf_text(b, "none of ");
    pct_head_count(b, missed);
    pct_buf_text(b, " interrupts that were due came");
    pct_head_put(h, "sampling", b);
}

/* Appends the time of samples in the library itself, which measures calls and regions. If they are
 * few, it is told from 1 % of the CPU time on, with their number. */
static void put_own(const struct pc_profile_table *t, uint64_t cpu, struct pct_buf *b)
{
    uint64_t n = pct_totals_column(t, "own"), own = pct_totals_column(t, "own_time");
    bool few = n < PCT_SAMPLES_FEW;
    if (!n || (few && own < cpu / 100))
        return;
    pct_buf_text(b, "; pcollect took about ");
    pct_head_percent(b, pct_text_share(own, cpu));
    pct_buf_text(b, " more in its own code");
    if (few)
        pct_buf_format(b, " (%" PRIu64 " %s)", n, n == 1 ? "sample" : "samples");
}

static void put_sampling(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    const struct pc_profile_table *t = pc_profile_table(p, "sampling");
    uint64_t n = pct_totals_column(t, "interrupts"), cpu = pct_totals_column(t, "cpu"),
             cost = pct_totals_column(t, "cost");
    uint64_t missed = pct_totals_column(t, "missed");
    if (!n && missed >= PCT_SAMPLES_FEW)
        put_none(h, missed, b);
    if (!n || !cpu)
        return;
    pct_head_count(b, n);
    pct_buf_text(b, n == 1 ? " interrupt" : " interrupts");
    put_sources(p, t, b);
    pct_buf_text(b, ", ");
    pct_head_count(b, (pc_u128)n * 1000000000u / cpu);
    pct_buf_text(b, " per second of CPU time; they cost ");
    pct_head_percent(b, pct_text_share(cost, cpu));
    pct_buf_text(b, " of it, ");
    pct_head_time(b, cost / n);
    pct_buf_text(b, " each");
    put_unlimited(p, cpu, cost, b);
    put_own(t, cpu, b);
    put_lowered(t, b);
    put_missed(n, missed, b);
    pct_head_put(h, "sampling", b);
}

/* ---- What was counted ------------------------------------------------------------------------ */

/* Cells of a row of the table `events`. */
enum { EVENT, WHY_NOT, EVENT_RANKS, IN_TURNS, N_EVENT_CELLS };

static const uint64_t *event_row(const struct pc_profile_table *t, uint32_t row)
{
    return t->cells + (size_t)row * N_EVENT_CELLS;
}

static const struct pc_profile_table *find_events(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "events");
    bool known = pc_table_column(t, "event", PCOLLECT_COLUMN_STRING) == EVENT &&
                 pc_table_column(t, "why_not", PCOLLECT_COLUMN_STRING) == WHY_NOT &&
                 t->n_columns == N_EVENT_CELLS;
    return known ? t : NULL;
}

/* Appends the names of events with that state: "A, B (3 of 4 ranks)". */
static unsigned put_events(const struct pct_head *h, const struct pc_profile_table *t,
                           uint64_t why_not, bool in_turns, struct pct_buf *b)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < t->n_rows; i++) {
        const uint64_t *row = event_row(t, i);
        if (row[WHY_NOT] != why_not || !row[IN_TURNS] == in_turns)
            continue;
        pct_buf_text(b, n++ ? ", " : "");
        pct_text_escape(b, pc_profile_string(h->d->profile, row[EVENT]), PCT_ESCAPE_CELL);
        if (row[EVENT_RANKS] < h->d->profile->n_ranks)
            pct_buf_format(b, " (on %" PRIu64 " of %u ranks)", row[EVENT_RANKS],
                           h->d->profile->n_ranks);
    }
    return n;
}

/* Prints requested events that were not counted, grouped by reason. */
static void put_uncounted(const struct pct_head *h, const struct pc_profile_table *t,
                          struct pct_buf *b)
{
    enum { MOST_ROWS = 256 };
    for (uint32_t i = 0; i < t->n_rows && i < MOST_ROWS; i++) {
        uint64_t why = event_row(t, i)[WHY_NOT];
        bool met = why == 0;
        for (uint32_t k = 0; k < i && !met; k++)
            met = event_row(t, k)[WHY_NOT] == why;
        if (met)
            continue;
        put_events(h, t, why, false, b);
        pct_buf_text(b, ": ");
        pct_text_escape(b, pc_profile_string(h->d->profile, why), PCT_ESCAPE_CELL);
        pct_head_put(h, "not counted", b);
    }
}

/* Prints the share of points at which the counters were read, from the rows of the first event: all
 * events of a group are read at once. */
static void put_points(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile_table *t = pc_profile_table(h->d->profile, "counters");
    pc_u128 read = 0, skipped = 0;
    uint32_t event_at = pc_table_column(t, "event", PCOLLECT_COLUMN_STRING),
             read_at = pc_table_column(t, "read", PCOLLECT_COLUMN_NUMBER),
             skipped_at = pc_table_column(t, "skipped", PCOLLECT_COLUMN_NUMBER);
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        bool first = pc_table_cell(t, i, event_at) == pc_table_cell(t, 0, event_at);
        read += first ? pc_table_cell(t, i, read_at) : 0;
        skipped += first ? pc_table_cell(t, i, skipped_at) : 0;
    }
    if (!skipped)
        return;
    pct_buf_text(b, ", read at ");
    pct_head_count(b, read);
    pct_buf_text(b, " of ");
    pct_head_count(b, read + skipped);
    pct_buf_text(b, " begins and ends of calls and threads: the others followed too soon");
}

static void put_counters(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile_table *t = find_events(h->d->profile);
    if (!t)
        return;
    if (put_events(h, t, 0, false, b)) {
        put_points(h, b);
        pct_head_put(h, "counted", b);
    }
    if (put_events(h, t, 0, true, b)) {
        pct_buf_text(b, ": in turns, estimated");
        pct_head_put(h, "counted", b);
    }
    put_uncounted(h, t, b);
}

/* Prints the event that was sampled beside the clock, and the options that show its contexts. */
static void put_event(const struct pct_head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    uint32_t field = pct_data_samples(h->d)->event_field;
    uint64_t missed = h->d->totals->all.lost[PCOLLECT_LOST_EVENTS];
    pc_u128 sum = 0;
    if (field == PC_NO_INDEX)
        return;
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += pc_data_sum(p, &p->data[i], field);
    pct_text_escape(b, p->fields[field].name, PCT_ESCAPE_CELL);
    pct_buf_text(b, ": the samples stand for ");
    pct_head_count(b, sum);
    if (missed) {
        pct_buf_text(b, " of ");
        pct_head_count(b, sum + missed);
    }
    pct_buf_text(b, "; --by function --sort event.");
    pct_text_escape(b, p->fields[field].name, PCT_ESCAPE_NAME);
    pct_buf_text(b, " shows where");
    pct_head_put(h, "event", b);
}

void pct_head_counted(const struct pct_head *h, struct pct_buf *b)
{
    put_sampling(h, b);
    put_event(h, b);
    put_counters(h, b);
}
