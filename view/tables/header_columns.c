/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `header`: one row that describes the run. It is an object in JSON, and the source of
 * the head of the text report.
 */
#include "view/tables/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t count_header(const struct pct_data *d)
{
    (void)d;
    return 1;
}

uint64_t pct_header_taken_ns(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, PC_TABLE_CHECKPOINT);
    uint32_t column = pc_table_column(t, "taken", PCOLLECT_COLUMN_NUMBER);
    uint64_t taken = 0;
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        uint64_t ns = pc_table_cell(t, i, column);
        taken = ns > taken ? ns : taken;
    }
    return taken;
}

size_t pct_header_hosts(const struct pct_data *d, const char ***hosts_out)
{
    const struct pc_profile *p = d->profile;
    const char **sorted = pct_alloc(p->n_ranks, sizeof *sorted);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        sorted[i] = p->ranks[i].host ? p->ranks[i].host : "";
    if (p->n_ranks)
        qsort(sorted, p->n_ranks, sizeof *sorted, pc_by_text);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        if (!n || strcmp(sorted[n - 1], sorted[i]))
            sorted[n++] = sorted[i];
    }
    *hosts_out = sorted;
    return n;
}

pc_u128 pct_header_imbalance(const struct pct_data *d)
{
    return (pc_u128)llround(1e5 * pct_rank_times_imbalance(pct_data_rank_times(d)));
}

const char *pct_header_note(unsigned bit)
{
    static const char *const notes[] = {
        "the data was kept in anonymous memory: it would not have survived a kill of the program",
        "the processor has no invariant counter: clock_gettime was used, calls cost more",
        "a part of what was collected was damaged and is left out: totals are too low",
        "MPI_Pcontrol left parts of the run out: their calls and their time are in no sum, but "
        "ranks may have waited for others there",
        "the program uses SIGURG and SIGWINCH itself, or reads them by signalfd: from then on its "
        "computation was not sampled",
        "the program filters system calls (seccomp): from then on its computation was not sampled",
        "the program ran under valgrind or ThreadSanitizer: its computation was not sampled",
        "sampled from outside (pcollect record): calls of MPI and their times are not known",
        "the program's filter of system calls (seccomp) would have ended it for a call of this "
        "library: the rest of the run is missing",
        "for one or more threads no source of samples could be opened (perf_event was refused or "
        "not asked for, and `ulimit -i` limits timers): they were not sampled, and shares of "
        "contexts lack their computation",
        "the program closed a descriptor with which it was sampled: from then on, or until a wait "
        "showed it, that thread was not sampled, and shares of contexts lack its computation",
    };
    return bit < PC_ARRAY_LEN(notes) ? notes[bit] : NULL;
}

/* ---- Getters --------------------------------------------------------------------------------- */

/* Mean over ranks. */
static void set_mean(const struct pct_data *d, pc_u128 sum, struct pct_value *out)
{
    uint32_t n = d->profile->n_ranks;
    out->none = !n;
    out->number = n ? (sum + n / 2) / n : 0;
}

static void set_end(const struct pct_spread *s, uint64_t value, struct pct_value *out)
{
    out->none = !s->n;
    out->number = value;
}

static void set_rank(const struct pct_spread *s, int32_t rank, struct pct_value *out)
{
    out->none = !s->n;
    out->integer = rank;
}

static void get_program(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->exe, out);
}

static void get_mpi(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->mpi, out);
}

static void get_job(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, c->d->profile->job, out);
}

/* A moment since 1970; 0: none. */
static void set_moment(const struct pct_data *d, uint64_t ns, struct pct_value *out)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm tm;
    char text[64];
    if (seconds && gmtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        pct_value_text(d, text, out);
}

static void get_started(const struct pct_cell *c, struct pct_value *out)
{
    set_moment(c->d, c->d->totals->all.start_ns, out);
}

static void get_ranks(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->profile->n_ranks;
}

static void get_world(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->profile->world_size;
}

static void get_hosts(const struct pct_cell *c, struct pct_value *out)
{
    const char **hosts;
    out->number = pct_header_hosts(c->d, &hosts);
    pct_free(hosts);
}

static void get_wall(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.wall_ns, out);
}

static void get_wall_min(const struct pct_cell *c, struct pct_value *out)
{
    set_end(&c->d->totals->all.wall, c->d->totals->all.wall.min, out);
}

static void get_wall_max(const struct pct_cell *c, struct pct_value *out)
{
    set_end(&c->d->totals->all.wall, c->d->totals->all.wall.max, out);
}

static void get_before(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.before_ns, out);
}

static void get_inside(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.inside_ns, out);
}

static void get_after(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_overall *a = &c->d->totals->all;
    set_mean(c->d, a->after_ns, out);
    out->none |= a->n_open + a->n_incomplete == c->d->profile->n_ranks;
}

static void get_mpi_time(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.threads_mpi_ns, out);
}

static void get_mpi_sum(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->totals->all.threads_mpi_ns;
}

static void get_mpi_main(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.mpi_ns, out);
}

static void get_mpi_calls(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->totals->all.mpi_calls;
}

static void get_calls_inside(const struct pct_cell *c, struct pct_value *out)
{
    out->none = c->d->whole != c->d->profile; /* all other columns are whole */
    out->number = c->d->totals->calls_inside;
}

static void get_share(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_text_share(c->d->totals->all.mpi_ns, c->d->totals->all.wall_ns);
}

static void get_share_min(const struct pct_cell *c, struct pct_value *out)
{
    set_end(&c->d->totals->all.share, c->d->totals->all.share.min, out);
}

static void get_share_min_rank(const struct pct_cell *c, struct pct_value *out)
{
    set_rank(&c->d->totals->all.share, c->d->totals->all.share.min_rank, out);
}

static void get_share_max(const struct pct_cell *c, struct pct_value *out)
{
    set_end(&c->d->totals->all.share, c->d->totals->all.share.max, out);
}

static void get_share_max_rank(const struct pct_cell *c, struct pct_value *out)
{
    set_rank(&c->d->totals->all.share, c->d->totals->all.share.max_rank, out);
}

static void get_compute(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.compute_ns, out);
}

static void get_compute_max(const struct pct_cell *c, struct pct_value *out)
{
    set_end(&c->d->totals->all.compute, c->d->totals->all.compute.max, out);
}

static void get_compute_rank(const struct pct_cell *c, struct pct_value *out)
{
    set_rank(&c->d->totals->all.compute, c->d->totals->all.compute.max_rank, out);
}

static void get_imbalance(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !pct_rank_times_know_imbalance(pct_data_rank_times(c->d));
    out->number = pct_header_imbalance(c->d);
}

static void get_merge(const struct pct_cell *c, struct pct_value *out)
{
    set_mean(c->d, c->d->totals->all.merge_ns, out);
}

static void get_merge_max(const struct pct_cell *c, struct pct_value *out)
{
    set_end(&c->d->totals->all.merge, c->d->totals->all.merge.max, out);
}

static void get_contexts(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_data_count_contexts(c->d);
}

static void get_incomplete(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->totals->all.n_incomplete;
}

static void get_taken(const struct pct_cell *c, struct pct_value *out)
{
    set_moment(c->d, pct_header_taken_ns(c->d->profile), out);
}

static void get_missing(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->totals->all.n_missing;
}

static void get_lost(const struct pct_cell *c, struct pct_value *out)
{
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++)
        out->number += pc_lost_is_of_rank(k) ? c->d->totals->all.lost[k] : 0;
}

static void get_notes(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_buf b = {0};
    for (unsigned k = 0; pct_header_note(k); k++) {
        if (c->d->totals->all.notes >> k & 1)
            pct_buf_format(&b, "%s%s", b.n ? "; " : "", pct_header_note(k));
    }
    pct_value_text(c->d, b.data, out);
    pct_buf_free(&b);
}

static const struct pct_column header_columns[] = {
    {"program", "program", PCT_TEXT, "path of the program, or of the script that Python runs",
     get_program},
    {"mpi", "MPI", PCT_TEXT, "name and version of the MPI library", get_mpi},
    {"job", "job", PCT_TEXT, "id that the batch system or launcher gave", get_job},
    {"started", "started", PCT_TEXT, "start of the first rank, UTC", get_started},
    {"ranks", "ranks", PCT_COUNT, "ranks in the profile", get_ranks},
    {"world_size", "world", PCT_COUNT, "ranks of the job", get_world},
    {"hosts", "hosts", PCT_COUNT, "hosts that the ranks ran on", get_hosts},
    {"wall_s", "wall", PCT_NS, "wall time, mean over ranks", get_wall},
    {"wall_min_s", "min", PCT_NS, "wall time, min over ranks", get_wall_min},
    {"wall_max_s", "max", PCT_NS, "wall time, max over ranks", get_wall_max},
    {"before_init_s", "before", PCT_NS, "part of wall_s before MPI_Init", get_before, .mpi = true},
    {"inside_s", "inside", PCT_NS, "part of wall_s from MPI_Init to the return of MPI_Finalize",
     get_inside, .mpi = true},
    {"after_s", "after", PCT_NS,
     "part of wall_s after MPI_Finalize; empty if it was seen on no rank", get_after, .mpi = true},
    {"mpi_s", "MPI", PCT_NS, "time in MPI of all threads, mean over ranks", get_mpi_time,
     .mpi = true},
    {"mpi_sum_s", "MPI", PCT_NS, "time in MPI of all threads, sum over ranks", get_mpi_sum,
     .mpi = true},
    {"mpi_main_s", "main", PCT_NS,
     "time in MPI of the main thread, the one that called MPI_Init; mean over ranks", get_mpi_main,
     .mpi = true},
    {"mpi_calls", "calls", PCT_COUNT,
     "MPI calls, sum over ranks, without those inside other MPI calls", get_mpi_calls, .mpi = true},
    {"mpi_calls_inside", "inside", PCT_COUNT,
     "MPI calls inside other MPI calls, as by callbacks, sum over ranks and contexts that are "
     "apart",
     get_calls_inside, .mpi = true},
    {"mpi_percent", "of wall", PCT_PERCENT, "mpi_main_s as a share of wall_s", get_share,
     .mpi = true},
    {"mpi_percent_min", "min", PCT_PERCENT, "mpi_percent of single ranks, min over ranks",
     get_share_min, .mpi = true},
    {"mpi_percent_min_rank", "rank", PCT_INTEGER, "the rank of mpi_percent_min", get_share_min_rank,
     .mpi = true},
    {"mpi_percent_max", "max", PCT_PERCENT, "mpi_percent of single ranks, max over ranks",
     get_share_max, .mpi = true},
    {"mpi_percent_max_rank", "rank", PCT_INTEGER, "the rank of mpi_percent_max", get_share_max_rank,
     .mpi = true},
    {"compute_s", "outside MPI", PCT_NS,
     "time between MPI_Init and MPI_Finalize in which the main thread was outside MPI, mean over "
     "ranks",
     get_compute, .mpi = true},
    {"compute_max_s", "max", PCT_NS, "compute_s of single ranks, max over ranks", get_compute_max,
     .mpi = true},
    {"compute_max_rank", "rank", PCT_INTEGER, "the rank of compute_max_s", get_compute_rank,
     .mpi = true},
    {"imbalance_percent", "imbalance", PCT_PERCENT,
     "own_s of the table ranks: max over ranks, in percent above the mean; time outside MPI "
     "without waiting for a processor; empty if the busiest rank is not known, own_s is a guess, "
     "or unsure_s is more than 5 % of compute_s",
     get_imbalance, .mpi = true},
    {"merge_s", "merge", PCT_NS,
     "time in MPI_Finalize that pcollect took for itself, mean over ranks", get_merge, .mpi = true},
    {"merge_max_s", "max", PCT_NS, "merge_s of single ranks, max over ranks", get_merge_max,
     .mpi = true},
    {"contexts", "contexts", PCT_COUNT, "rows of the table contexts", get_contexts},
    {"incomplete_ranks", "incomplete", PCT_COUNT,
     "ranks that did not reach MPI_Finalize, or without MPI their exit: their data was recovered, "
     "or they still ran",
     get_incomplete},
    {"taken", "taken", PCT_TEXT, "moment of this checkpoint of a job that ran on, UTC", get_taken},
    {"missing_ranks", "missing", PCT_COUNT, "ranks of the job that are not in the profile",
     get_missing},
    {"lost", "left out", PCT_COUNT, "things left out, see the table lost", get_lost},
    {"notes", "notes", PCT_TEXT, "circumstances that bear on the data", get_notes},
};

const struct pct_table pct_header_table = {
    .name = "header",
    .doc = "one row: the whole run",
    .count = count_header,
    .in_order = true,
    .of_tree = true,
    PCT_COLUMNS(header_columns),
};
