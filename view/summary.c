/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of the text report: program, length and division of the time, and data that the profile
 * lacks.
 */
#include "analysis/traffic/traffic.h"
#include "view/report_print.h"
#include "view/sentence.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

struct head {
    FILE *out;
    const struct pct_data *d;
    const struct pct_options *o;
};

/* Number of cells of a word; control sequences take none. */
static size_t word_cells(const char *word, size_t n)
{
    size_t cells = 0;
    for (size_t i = 0; i < n; i++) {
        if (word[i] == '\033')
            i += strcspn(word + i, "m");
        else
            cells += ((uint8_t)word[i] & 0xc0) != 0x80;
    }
    return cells;
}

/* Prints an item. Long texts continue in the column where they begin. */
static void put_item(const struct head *h, const char *name, const char *text)
{
    enum { INDENT = 14 };
    size_t at = INDENT, width = h->o->width ? h->o->width : SIZE_MAX;
    fprintf(h->out, "  %s%-12s%s", pct_style(h->o, PCT_STYLE_DIM), name,
            pct_style(h->o, PCT_STYLE_PLAIN));
    while (*text) {
        size_t n = strcspn(text, " "), cells = word_cells(text, n) + 1;
        if (at + cells > width && at > INDENT) {
            fprintf(h->out, "\n%*s", INDENT, "");
            at = INDENT;
        }
        fprintf(h->out, " %.*s", (int)n, text);
        at += cells;
        text += n + (text[n] == ' ');
    }
    fputc('\n', h->out);
}

/* Puts the item and empties the buffer. */
static void put_buf(const struct head *h, const char *name, struct pct_buf *b)
{
    put_item(h, name, b->data);
    pct_buf_clear(b);
}

static void put_time(struct pct_buf *b, pc_u128 ns)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_time(number, ns));
}

static void put_percent(struct pct_buf *b, pc_u128 m)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_percent_1(number, m));
}

static void put_count(struct pct_buf *b, pc_u128 n)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_text(b, pct_text_count(number, n));
}

static pc_u128 mean(const struct head *h, pc_u128 sum)
{
    uint32_t n = h->d->profile->n_ranks;
    return n ? (sum + n / 2) / n : 0;
}

/* ---- Program and hosts
 * -------------------------------------------------------------------------- */

static void put_hosts(struct pct_buf *b, const struct pct_data *d)
{
    enum { SHOWN = 4 };
    const char **hosts;
    size_t n = pct_header_hosts(d, &hosts);
    size_t shown = n == SHOWN + 1 ? n : SHOWN;
    pct_buf_format(b, " on %zu %s: ", n, n == 1 ? "host" : "hosts");
    for (size_t i = 0; i < n && i < shown; i++) {
        pct_buf_text(b, i ? ", " : "");
        pct_text_escape(b, hosts[i], PCT_ESCAPE_CELL);
    }
    if (n > shown)
        pct_buf_format(b, " and %zu more", n - shown);
    pct_free(hosts);
}

/* A moment since 1970, by the reader's clock; 0: none. */
static void put_moment(struct pct_buf *b, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char text[64];
    if (seconds && localtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm))
        pct_buf_text(b, text);
}

static void put_started(const struct head *h, struct pct_buf *b)
{
    put_moment(b, h->d->totals->all.start_ns);
    if (b->n && *h->d->profile->job)
        pct_buf_text(b, ", ");
    if (*h->d->profile->job) {
        pct_buf_text(b, "job ");
        pct_text_escape(b, h->d->profile->job, PCT_ESCAPE_CELL);
    }
    if (b->n)
        put_buf(h, "started", b);
}

static void put_run(const struct head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    pct_text_escape(b, *p->exe ? p->exe : "unknown", PCT_ESCAPE_CELL);
    put_buf(h, "program", b);
    put_count(b, p->n_ranks);
    if (h->d->totals->all.n_missing)
        pct_buf_format(b, " of %u", p->world_size);
    if (p->n_ranks)
        put_hosts(b, h->d);
    put_buf(h, "ranks", b);
    put_started(h, b);
    if (!*p->mpi && h->d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE)
        return;
    const char *unknown =
        pct_data_calls_mpi(h->d) ? "unknown" : "none: the program calls no MPI function";
    pct_text_escape(b, *p->mpi ? p->mpi : unknown, PCT_ESCAPE_CELL);
    put_buf(h, "MPI", b);
}

/* ---- Division of the time
 * --------------------------------------------------------------------- */

static void put_times(const struct head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    put_time(b, mean(h, a->wall_ns));
    if (a->wall.n > 1) {
        pct_buf_text(b, " (");
        put_time(b, a->wall.min);
        pct_buf_text(b, " .. ");
        put_time(b, a->wall.max);
        pct_buf_text(b, ")");
    }
    if (pct_data_calls_mpi(h->d)) {
        pct_buf_text(b, ": ");
        put_time(b, mean(h, a->before_ns));
        pct_buf_text(b, " before MPI_Init, ");
        put_time(b, mean(h, a->inside_ns));
        pct_buf_text(b, " inside");
        if (a->n_open + a->n_incomplete < h->d->profile->n_ranks) {
            pct_buf_text(b, ", ");
            put_time(b, mean(h, a->after_ns));
            pct_buf_text(b, " after MPI_Finalize");
        }
    }
    put_buf(h, "wall time", b);
}

static void put_share(const struct head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    if (!pct_data_calls_mpi(h->d))
        return;
    pct_buf_text(b, pct_style(h->o, PCT_STYLE_TITLE));
    put_percent(b, pct_text_share(a->mpi_ns, a->wall_ns));
    pct_buf_format(b, "%s of wall time", pct_style(h->o, PCT_STYLE_PLAIN));
    if (a->share.n > 1) {
        pct_buf_text(b, " (");
        put_percent(b, a->share.min);
        pct_buf_format(b, " on rank %d .. ", a->share.min_rank);
        put_percent(b, a->share.max);
        pct_buf_format(b, " on rank %d)", a->share.max_rank);
    }
    pct_buf_text(b, ", ");
    put_time(b, mean(h, a->mpi_ns));
    pct_buf_text(b, a->mpi.n > 1 ? " per rank, " : ", ");
    if (a->most_callers > 1) {
        pct_buf_format(b, "in the main thread; all threads of a rank, up to %u: ", a->most_callers);
        put_time(b, mean(h, a->threads_mpi_ns));
        pct_buf_text(b, ", ");
    }
    put_count(b, a->mpi_calls);
    pct_buf_text(b, a->mpi_calls == 1 ? " call" : " calls");
    put_buf(h, "in MPI", b);
}

/* Prints the time of MPI_Init and MPI_Finalize, which does not depend on the length of the run and
 * dominates short runs. */
static void put_start(const struct head *h, struct pct_buf *b)
{
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"};
    const struct pct_totals *m = h->d->totals;
    pc_u128 ns = 0;
    for (uint32_t i = 0; i < h->d->profile->n_ops; i++) {
        for (size_t k = 0; k < PC_ARRAY_LEN(names); k++) {
            if (!strcmp(h->d->profile->ops[i].name, names[k]))
                ns += m->ops[i].calls.sum[PCT_EXCLUSIVE];
        }
    }
    if (!ns || ns * 20 < m->context_mpi_ns || ns > m->all.mpi_ns)
        return;
    pct_buf_text(b, "without MPI_Init and MPI_Finalize ");
    put_percent(b, pct_text_share(m->all.mpi_ns - ns, m->all.wall_ns));
    pct_buf_text(b, ", ");
    put_time(b, mean(h, m->all.mpi_ns - ns));
    pct_buf_text(b, h->d->profile->n_ranks > 1 ? " per rank" : "");
    put_buf(h, "", b);
}

/* Pattern of messages, in a line. The pattern is left out if some messages are not known by
 * pair. */
static void put_messages(const struct head *h, struct pct_buf *b)
{
    uint32_t n_pairs = pc_profile_rows(h->d->profile, "pairs");
    if (h->d->profile->world_size < 2 || !n_pairs || n_pairs > PCT_MANY_PAIRS)
        return;
    struct pct_topology *t = pct_topology_new(h->d->profile, &(const struct pct_pair_filter){0});
    char messages[PCT_NUMBER_BYTES], bytes[PCT_NUMBER_BYTES];
    struct pct_reach_sum sum = {0};
    for (size_t i = 0; i < t->n_pairs; i++) {
        sum.messages += t->pairs[i].messages;
        sum.bytes += t->pairs[i].bytes;
    }
    for (size_t i = 0; i < t->n_distances; i++) {
        sum.messages += t->distances[i].messages;
        sum.bytes += t->distances[i].bytes;
    }
    if (sum.messages) {
        pct_buf_format(b, "%s, %s", pct_text_count(messages, sum.messages),
                       pct_text_bytes(bytes, sum.bytes));
        if (!t->n_distances) {
            pct_buf_text(b, "; pattern: ");
            pct_topology_pattern(t, b);
        }
        put_buf(h, "messages", b);
    }
    pct_topology_free(t);
}

static void put_ns(struct pct_buf *b, double ns)
{
    put_time(b, (pc_u128)llround(ns));
}

/* A part below this share of the time outside MPI is not mentioned; if less than this may be
 * another part, that is not. */
#define LITTLE 0.01
#define UNSURE 0.05

/* Appends the mean over ranks, unless it is small. */
static void put_part(struct pct_buf *b, double ns, double wall_ns, size_t n, const char *what)
{
    if (ns <= LITTLE * wall_ns)
        return;
    pct_buf_text(b, ", ");
    put_ns(b, ns / (double)n);
    pct_buf_text(b, what);
}

/* Prints the division of the time outside MPI: if ranks waited for a processor or slept, wall time
 * does not show computation. */
static void put_division(const struct head *h, struct pct_buf *b)
{
    const struct pct_rank_times *t = pct_data_rank_times(h->d);
    double n = (double)t->n, wall = 0, cpu = 0;
    for (size_t r = 0; r < t->n; r++) {
        wall += t->list[r].wall_ns;
        cpu += t->list[r].cpu_ns;
    }
    if (t->delayed_ns <= LITTLE * wall && t->blocked_ns <= LITTLE * wall)
        return;
    put_ns(b, wall / n);
    pct_buf_text(b, t->n > 1 ? " per rank: " : ": ");
    put_ns(b, cpu / n);
    pct_buf_text(b, " computing");
    if (t->unsure_ns > UNSURE * wall) {
        put_part(b, t->blocked_ns + t->delayed_ns, wall, t->n,
                 " blocked (asleep, files, locks) or waiting for a processor");
        put_part(b, t->blocked_ns, wall, t->n, " or more of it blocked");
        put_part(b, t->delayed_ns - t->unsure_ns, wall, t->n, " or more of it waiting");
    } else {
        put_part(b, t->blocked_ns, wall, t->n, " blocked (asleep, files, locks)");
        put_part(b, t->delayed_ns, wall, t->n, " waiting for a processor");
    }
    put_buf(h, "outside MPI", b);
}

/* Prints the wall time of a program without MPI, divided by the state of its main thread. */
static void put_main_thread(const struct head *h, struct pct_buf *b)
{
    const struct pct_thread_times *t = pct_data_thread_times(h->d);
    double wall = (double)h->d->totals->all.wall_ns;
    for (size_t i = 0; i < t->n && !pct_data_calls_mpi(h->d); i++) {
        const struct pct_thread_time *own = &t->list[i];
        double ran = (double)own->cpu_ns + (double)own->delayed_ns;
        if (strcmp(own->kind, "main") != 0 || !own->has_cpu ||
            (double)own->cpu_ns > wall * (1 - LITTLE))
            continue;
        put_ns(b, (double)own->cpu_ns);
        pct_buf_text(b, " computing");
        put_part(b, fmax(0, wall - ran), wall, 1, " blocked (asleep, files, locks)");
        put_part(b, (double)own->delayed_ns, wall, 1, " waiting for a processor");
        put_buf(h, t->n > 1 ? "main thread" : "", b);
    }
}

/* Prints the part of the threads' CPU time in which they wait for each other: it counts as
 * computing. */
static void put_waits(const struct head *h, struct pct_buf *b)
{
    const struct pct_thread_times *t = pct_data_thread_times(h->d);
    const struct pct_thread_time *last = NULL;
    pc_u128 outside_ns = 0, waits_ns = 0;
    bool several = false; /* some rank has two threads of the program */
    for (size_t i = 0; i < t->n; i++) {
        if (!pct_thread_is_program(&t->list[i]))
            continue;
        several |= last && last->rank == t->list[i].rank;
        last = &t->list[i];
        outside_ns += last->outside_ns;
        waits_ns += last->waits_ns;
    }
    if (!several || (double)waits_ns <= LITTLE * (double)outside_ns)
        return;
    pct_buf_text(b, "for ");
    put_percent(b, pct_text_share(waits_ns, outside_ns));
    pct_buf_text(b, " of their CPU time outside MPI they wait for each other, in a runtime library "
                    "(--by thread)");
    put_buf(h, "threads", b);
}

static void put_imbalance(const struct head *h, struct pct_buf *b)
{
    const struct pct_rank_times *t = pct_data_rank_times(h->d);
    const struct pc_profile_rank *ranks = h->d->profile->ranks;
    size_t least = 0;
    if (t->n < 2 || !(t->mean_ns > 0))
        return;
    for (size_t r = 0; r < t->n; r++)
        least = t->list[r].own_ns < t->list[least].own_ns ? r : least;
    pct_buf_text(b, pct_style(h->o, PCT_STYLE_TITLE));
    put_percent(b, pct_header_imbalance(h->d));
    pct_buf_format(b, "%s: rank %d %s ", pct_style(h->o, PCT_STYLE_PLAIN), ranks[t->busiest].rank,
                   !t->divided ? "is outside MPI for"
                   : t->blocked_ns > LITTLE * t->mean_ns * (double)t->n
                       ? "computes or is blocked for"
                       : "computes");
    put_ns(b, t->list[t->busiest].own_ns);
    pct_buf_text(b, ", the mean rank ");
    put_ns(b, t->mean_ns);
    pct_buf_format(b, ", rank %d ", ranks[least].rank);
    put_ns(b, t->list[least].own_ns);
    struct pct_lead lead = pct_rank_times_lead(t);
    if (!lead.real || !(lead.low_ns > 0))
        pct_buf_text(b, "; within noise");
    put_buf(h, "imbalance", b);
}

static void put_cost(const struct head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    if (!a->merge_ns)
        return;
    put_time(b, mean(h, a->merge_ns));
    pct_buf_text(b, pct_data_calls_mpi(h->d) ? " per rank to merge the profile in MPI_Finalize"
                                             : " to write the profile at the end");
    if (a->merge.n > 1) {
        pct_buf_text(b, ", at most ");
        put_time(b, a->merge.max);
        pct_buf_format(b, " on rank %d", a->merge.max_rank);
    }
    put_buf(h, "pcollect", b);
}

/* The sum of a column of numbers over the rows of a table; 0 if there is none. */
static uint64_t sum_of(const struct pc_profile_table *t, const char *name)
{
    uint32_t column = pc_table_column(t, name, PCOLLECT_COLUMN_NUMBER);
    uint64_t sum = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++)
        sum += pc_table_cell(t, row, column);
    return sum;
}

/* The last of a column's texts in the order of strings; "" if there is none. */
static const char *last_text_of(const struct pc_profile *p, const struct pc_profile_table *t,
                                const char *name)
{
    uint32_t column = pc_table_column(t, name, PCOLLECT_COLUMN_STRING);
    uint64_t last = 0;
    for (uint32_t row = 0; t && row < t->n_rows; row++) {
        uint64_t cell = pc_table_cell(t, row, column);
        last = cell > last ? cell : last;
    }
    return pc_profile_string(p, last);
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

static void put_sampling(const struct head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    const struct pc_profile_table *t = pc_profile_table(p, "sampling");
    uint64_t n = sum_of(t, "interrupts"), cpu = sum_of(t, "cpu"), cost = sum_of(t, "cost");
    const char *source = last_text_of(p, t, "source");
    if (!n || !cpu)
        return;
    put_count(b, n);
    pct_buf_text(b, n == 1 ? " interrupt" : " interrupts");
    if (*source)
        pct_buf_format(b, " by %s", source);
    pct_buf_text(b, ", ");
    put_count(b, (pc_u128)n * 1000000000u / cpu);
    pct_buf_text(b, " per second of CPU time; they cost ");
    put_percent(b, pct_text_share(cost, cpu));
    pct_buf_text(b, " of it, ");
    put_time(b, cost / n);
    pct_buf_text(b, " each");
    /* Samples in the library itself, which measures calls and regions; a few are not mentioned. */
    uint64_t own = sum_of(t, "own_time");
    if (sum_of(t, "own") >= PCT_SAMPLES_FEW) {
        pct_buf_text(b, "; pcollect took about ");
        put_percent(b, pct_text_share(own, cpu));
        pct_buf_text(b, " more in MPI calls and OpenMP regions");
    }
    put_lowered(t, b);
    put_buf(h, "sampling", b);
}

/* ---- What was counted --------------------------------------------------------------------------
 */

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
static unsigned put_events(const struct head *h, const struct pc_profile_table *t, uint64_t why_not,
                           bool in_turns, struct pct_buf *b)
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
static void put_uncounted(const struct head *h, const struct pc_profile_table *t, struct pct_buf *b)
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
        put_buf(h, "not counted", b);
    }
}

/* Prints the share of points at which the counters were read, from the rows of the first event: all
 * events of a group are read at once. */
static void put_points(const struct head *h, struct pct_buf *b)
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
    put_count(b, read);
    pct_buf_text(b, " of ");
    put_count(b, read + skipped);
    pct_buf_text(b, " begins and ends of calls and threads: the others followed too soon");
}

static void put_counters(const struct head *h, struct pct_buf *b)
{
    const struct pc_profile_table *t = find_events(h->d->profile);
    if (!t)
        return;
    if (put_events(h, t, 0, false, b)) {
        put_points(h, b);
        put_buf(h, "counted", b);
    }
    if (put_events(h, t, 0, true, b)) {
        pct_buf_text(b, ": in turns, estimated");
        put_buf(h, "counted", b);
    }
    put_uncounted(h, t, b);
}

/* ---- Missing data
 * ------------------------------------------------------------------------------ */

/* "rank 3" or "ranks 1, 4-7, 9 and 12 more" of the ranks in the list. */
static void put_ranks(struct pct_buf *b, const int32_t *ranks, size_t n)
{
    enum { MOST_RUNS = 6 };
    pct_buf_text(b, n == 1 ? "rank " : "ranks ");
    size_t shown = pct_print_set(b, ranks, n, ", ", MOST_RUNS);
    if (shown < n)
        pct_buf_format(b, " and %zu more", n - shown);
}

enum which { INCOMPLETE, MISSING, WITH_LOSS };

static bool is_listed(const struct pc_profile_rank *r, enum which which, size_t kind)
{
    return which == INCOMPLETE ? r->incomplete != 0 : r->lost[kind] != 0;
}

static int32_t *list_ranks(const struct head *h, enum which which, size_t kind, size_t *n_out)
{
    const struct pc_profile *p = h->d->profile;
    int32_t *list = NULL;
    size_t n = 0, room = 0;
    int64_t expected = 0;
    for (uint32_t i = 0; i <= p->n_ranks; i++) {
        int64_t rank = i < p->n_ranks ? p->ranks[i].rank : (int64_t)p->world_size;
        /* Lists the gaps between the ranks that are present; the text shows only a few. */
        for (; which == MISSING && expected < rank && n < 100000; expected++) {
            list = pct_grow(list, n, &room, sizeof *list);
            list[n++] = (int32_t)expected;
        }
        expected = rank + 1;
        if (which == MISSING || i == p->n_ranks || !is_listed(&p->ranks[i], which, kind))
            continue;
        list = pct_grow(list, n, &room, sizeof *list);
        list[n++] = (int32_t)rank;
    }
    *n_out = n;
    return list;
}

static void put_listed(const struct head *h, enum which which, size_t kind, struct pct_buf *b)
{
    size_t n;
    int32_t *list = list_ranks(h, which, kind, &n);
    put_ranks(b, list, n);
    pct_free(list);
}

/* Appends which rank ended the job by MPI_Abort: the cause of all ranks that are not complete. */
static void put_abort(const struct head *h, struct pct_buf *b)
{
    const struct pct_totals *t = h->d->totals;
    for (uint32_t op = 0; op < t->profile->n_ops; op++) {
        if (strcmp(t->profile->ops[op].name, "MPI_Abort") != 0 || !t->ops[op].calls.sum[PCT_CALLS])
            continue;
        struct pct_spread who = pct_totals_op_time(t, op);
        if (who.n == 1)
            pct_buf_format(b, "rank %d called MPI_Abort; ", who.min_rank);
        else if (who.n)
            pct_buf_format(b, "%u ranks called MPI_Abort; ", who.n);
    }
}

static void put_incomplete(const struct head *h, struct pct_buf *b)
{
    uint64_t taken_ns = pct_header_taken_ns(h->d->profile);
    put_abort(h, b);
    put_listed(h, INCOMPLETE, 0, b);
    pct_buf_text(b, taken_ns ? " ran on: a checkpoint of "
                             : " did not reach MPI_Finalize: recovered, up to the last moment "
                               "known");
    put_moment(b, taken_ns);
    if (!pct_data_rank_times(h->d)->divided)
        pct_buf_text(b, ". How long ranks waited for a processor is not known");
}

static void put_lost(const struct head *h, struct pct_buf *b)
{
    const struct pct_overall *a = &h->d->totals->all;
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++) {
        if (!a->lost[k])
            continue;
        put_count(b, a->lost[k]);
        pct_buf_format(b, " %s (", pcollect_lost_names[k]);
        put_listed(h, WITH_LOSS, k, b);
        pct_buf_text(b, ")");
        put_buf(h, "left out", b);
    }
}

/* Prints a difference between the counters of ranks and the sums over contexts, which are kept
 * separately: it is an uncounted loss. */
static void put_disagreement(const struct head *h, struct pct_buf *b)
{
    pc_u128 contexts = h->d->totals->context_mpi_ns, ranks = h->d->totals->all.threads_mpi_ns;
    pc_u128 difference = contexts > ranks ? contexts - ranks : ranks - contexts;
    if (!h->d->totals->has[PCT_TIME]) {
        if (!(h->d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE))
            put_item(h, "note", "the plugin time was not loaded: there are no calls and times");
        return;
    }
    if (difference * 100 <= ranks || difference < 1000000)
        return;
    pct_buf_text(b, "the contexts hold ");
    put_time(b, contexts);
    pct_buf_text(b, " in MPI, the ranks counted ");
    put_time(b, ranks);
    put_buf(h, "note", b);
}

static void put_notes(const struct head *h, struct pct_buf *b)
{
    for (unsigned k = 0; pct_header_note(k); k++) {
        if (h->d->totals->all.notes >> k & 1)
            put_item(h, "note", pct_header_note(k));
    }
    bool off = false;
    for (uint32_t i = 0; i < h->d->profile->n_modules; i++)
        off |= pct_symbols_state(pct_data_symbols(h->d), i) == PCT_SYMBOLS_OFF;
    if (off)
        put_item(h, "symbols", "pcollect was built without libdw: functions are shown as offsets");
    for (uint32_t i = 0; i < h->d->profile->n_modules; i++) {
        const char *complaint = pct_symbols_complaint(pct_data_symbols(h->d), i);
        if (complaint)
            put_item(h, "symbols", complaint);
    }
    put_disagreement(h, b);
}

static void put_filter(const struct head *h)
{
    const struct pct_filter *f = &h->o->filter;
    if (f->has_phase || f->region || f->domain)
        put_item(h, "part",
                 "functions and contexts below are those of the selected part; the figures of the "
                 "run and its ranks are of the whole run");
}

/* Prints the event that was sampled beside the clock, and the options that show its contexts. */
static void put_event(const struct head *h, struct pct_buf *b)
{
    const struct pc_profile *p = h->d->profile;
    uint32_t field = pct_data_samples(h->d)->event_field;
    pc_u128 sum = 0;
    if (field == PC_NO_INDEX)
        return;
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += pc_data_stat(p, &p->data[i], field).sum;
    pct_text_escape(b, p->fields[field].name, PCT_ESCAPE_CELL);
    pct_buf_text(b, ": the samples stand for ");
    put_count(b, sum);
    pct_buf_text(b, "; --by function --sort event.");
    pct_text_escape(b, p->fields[field].name, PCT_ESCAPE_NAME);
    pct_buf_text(b, " shows where");
    put_buf(h, "event", b);
}

void pct_print_head(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    const struct head h = {out, d, o};
    const struct pct_overall *a = &d->totals->all;
    struct pct_buf b = {0};
    pct_text_escape(&b, d->file, PCT_ESCAPE_CELL);
    fprintf(out, "%spcollect report%s %s\n", pct_style(o, PCT_STYLE_TITLE),
            pct_style(o, PCT_STYLE_PLAIN), b.data);
    pct_findings_print(out, d->findings, b.data, o->width);
    fputc('\n', out);
    pct_buf_clear(&b);
    put_run(&h, &b);
    put_times(&h, &b);
    put_main_thread(&h, &b);
    put_share(&h, &b);
    put_start(&h, &b);
    put_messages(&h, &b);
    put_division(&h, &b);
    put_waits(&h, &b);
    put_imbalance(&h, &b);
    put_cost(&h, &b);
    put_sampling(&h, &b);
    put_event(&h, &b);
    put_counters(&h, &b);
    if (a->n_incomplete) {
        put_incomplete(&h, &b);
        put_buf(&h, "incomplete", &b);
    }
    if (a->n_missing) {
        put_listed(&h, MISSING, 0, &b);
        pct_buf_text(&b, ": not in this profile");
        put_buf(&h, "missing", &b);
    }
    put_filter(&h);
    put_lost(&h, &b);
    put_notes(&h, &b);
    pct_buf_free(&b);
}
