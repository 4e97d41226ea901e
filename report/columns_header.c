/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `header`: one row that describes the run. It is an object in JSON, and what
 * the head of the text report is made of.
 */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COLUMN_GETTER(name)                                                                        \
    static void name(const struct pct_data *d, size_t row, struct pct_value *out)

size_t pct_header_count(const struct pct_data *d)
{
    (void)d;
    return 1;
}

uint64_t pct_header_start_ns(const struct pc_profile *p)
{
    uint64_t start = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        uint64_t t = p->ranks[i].start_realtime_ns;
        if (t && (!start || t < start))
            start = t;
    }
    return start;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t pct_header_hosts(const struct pct_data *d, const char ***hosts_out)
{
    const struct pc_profile *p = d->profile;
    const char **sorted = pct_alloc(p->n_ranks, sizeof *sorted);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        sorted[i] = p->ranks[i].host ? p->ranks[i].host : "";
    if (p->n_ranks)
        qsort(sorted, p->n_ranks, sizeof *sorted, compare_texts);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        if (!n || strcmp(sorted[n - 1], sorted[i]))
            sorted[n++] = sorted[i];
    }
    *hosts_out = sorted;
    return n;
}

pc_u128 pct_header_imbalance(const struct pct_data *d)
{
    const struct pct_overall *a = &d->model->all;
    pc_u128 most = (pc_u128)a->compute.max * a->compute.n;
    return a->compute_ns ? pct_text_share(most - a->compute_ns, a->compute_ns) : 0;
}

const char *pct_header_note(unsigned bit)
{
    static const char *const notes[] = {
        "the data was kept in anonymous memory: it would not have survived a kill of the program",
        "the processor has no invariant counter: clock_gettime was used, calls cost more",
        "a part of what was collected was damaged and is left out: totals are too low",
        "MPI_Pcontrol left parts of the run out: they are in no figure",
    };
    return bit < PC_ARRAY_LEN(notes) ? notes[bit] : NULL;
}

/* ---- Getters ----------------------------------------------------------------------------------
 */

static void set_text(const struct pct_data *d, const char *text, struct pct_value *out)
{
    struct pct_buf b = {0};
    if (!text || !*text)
        return;
    pct_text_escape(&b, text, PCT_ESCAPE_CELL);
    out->text = pct_pool_intern(d->pool, b.data);
    pct_buf_free(&b);
}

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

COLUMN_GETTER(get_program)
{
    (void)row;
    set_text(d, d->profile->exe, out);
}

COLUMN_GETTER(get_mpi)
{
    (void)row;
    set_text(d, d->profile->mpi, out);
}

COLUMN_GETTER(get_job)
{
    (void)row;
    set_text(d, d->profile->job, out);
}

COLUMN_GETTER(get_started)
{
    (void)row;
    time_t seconds = (time_t)(pct_header_start_ns(d->profile) / 1000000000u);
    struct tm tm;
    char text[64];
    if (seconds && gmtime_r(&seconds, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        set_text(d, text, out);
}

COLUMN_GETTER(get_ranks)
{
    (void)row;
    out->number = d->profile->n_ranks;
}

COLUMN_GETTER(get_world)
{
    (void)row;
    out->number = d->profile->world_size;
}

COLUMN_GETTER(get_hosts)
{
    (void)row;
    const char **hosts;
    out->number = pct_header_hosts(d, &hosts);
    free(hosts);
}

COLUMN_GETTER(get_wall)
{
    (void)row;
    set_mean(d, d->model->all.wall_ns, out);
}

COLUMN_GETTER(get_wall_min)
{
    (void)row;
    set_end(&d->model->all.wall, d->model->all.wall.min, out);
}

COLUMN_GETTER(get_wall_max)
{
    (void)row;
    set_end(&d->model->all.wall, d->model->all.wall.max, out);
}

COLUMN_GETTER(get_before)
{
    (void)row;
    set_mean(d, d->model->all.before_ns, out);
}

COLUMN_GETTER(get_inside)
{
    (void)row;
    set_mean(d, d->model->all.inside_ns, out);
}

COLUMN_GETTER(get_after)
{
    (void)row;
    set_mean(d, d->model->all.after_ns, out);
}

COLUMN_GETTER(get_mpi_time)
{
    (void)row;
    set_mean(d, d->model->all.mpi_ns, out);
}

COLUMN_GETTER(get_mpi_sum)
{
    (void)row;
    out->number = d->model->all.mpi_ns;
}

COLUMN_GETTER(get_mpi_calls)
{
    (void)row;
    out->number = d->model->all.mpi_calls;
}

COLUMN_GETTER(get_share)
{
    (void)row;
    out->number = pct_text_share(d->model->all.mpi_ns, d->model->all.wall_ns);
}

COLUMN_GETTER(get_share_min)
{
    (void)row;
    set_end(&d->model->all.share, d->model->all.share.min, out);
}

COLUMN_GETTER(get_share_min_rank)
{
    (void)row;
    set_rank(&d->model->all.share, d->model->all.share.min_rank, out);
}

COLUMN_GETTER(get_share_max)
{
    (void)row;
    set_end(&d->model->all.share, d->model->all.share.max, out);
}

COLUMN_GETTER(get_share_max_rank)
{
    (void)row;
    set_rank(&d->model->all.share, d->model->all.share.max_rank, out);
}

COLUMN_GETTER(get_compute)
{
    (void)row;
    set_mean(d, d->model->all.compute_ns, out);
}

COLUMN_GETTER(get_compute_max)
{
    (void)row;
    set_end(&d->model->all.compute, d->model->all.compute.max, out);
}

COLUMN_GETTER(get_compute_rank)
{
    (void)row;
    set_rank(&d->model->all.compute, d->model->all.compute.max_rank, out);
}

COLUMN_GETTER(get_imbalance)
{
    (void)row;
    out->number = pct_header_imbalance(d);
}

COLUMN_GETTER(get_merge)
{
    (void)row;
    set_mean(d, d->model->all.merge_ns, out);
}

COLUMN_GETTER(get_merge_max)
{
    (void)row;
    set_end(&d->model->all.merge, d->model->all.merge.max, out);
}

COLUMN_GETTER(get_contexts)
{
    (void)row;
    out->number = d->n_contexts;
}

COLUMN_GETTER(get_incomplete)
{
    (void)row;
    out->number = d->model->all.n_incomplete;
}

COLUMN_GETTER(get_missing)
{
    (void)row;
    out->number = d->model->all.n_missing;
}

COLUMN_GETTER(get_lost)
{
    (void)row;
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++)
        out->number += d->model->all.lost[k];
}

COLUMN_GETTER(get_notes)
{
    (void)row;
    struct pct_buf b = {0};
    for (unsigned k = 0; pct_header_note(k); k++) {
        if (d->model->all.notes >> k & 1)
            pct_buf_format(&b, "%s%s", b.n ? "; " : "", pct_header_note(k));
    }
    set_text(d, b.data, out);
    pct_buf_free(&b);
}

const struct pct_column pct_header_columns[PCT_N_HEADER_COLUMNS] = {
    {"program", "program", PCT_TEXT, "path of the program", get_program},
    {"mpi", "MPI", PCT_TEXT, "name and version of the MPI library", get_mpi},
    {"job", "job", PCT_TEXT, "id that the batch system or launcher gave", get_job},
    {"started", "started", PCT_TEXT, "start of the first rank, UTC", get_started},
    {"ranks", "ranks", PCT_COUNT, "ranks in the profile", get_ranks},
    {"world_size", "world", PCT_COUNT, "ranks of the job", get_world},
    {"hosts", "hosts", PCT_COUNT, "hosts that the ranks ran on", get_hosts},
    {"wall_s", "wall", PCT_NS, "wall time of a rank, mean", get_wall},
    {"wall_min_s", "least", PCT_NS, "least wall time of a rank", get_wall_min},
    {"wall_max_s", "most", PCT_NS, "greatest wall time of a rank", get_wall_max},
    {"before_init_s", "before", PCT_NS, "part of wall_s before MPI_Init", get_before},
    {"inside_s", "inside", PCT_NS, "part of wall_s from MPI_Init to the return of MPI_Finalize",
     get_inside},
    {"after_s", "after", PCT_NS, "part of wall_s after MPI_Finalize", get_after},
    {"mpi_s", "MPI", PCT_NS, "time in MPI of a rank, mean", get_mpi_time},
    {"mpi_sum_s", "MPI", PCT_NS, "time in MPI of all ranks", get_mpi_sum},
    {"mpi_calls", "calls", PCT_COUNT, "MPI calls of all ranks, without those inside others",
     get_mpi_calls},
    {"mpi_percent", "of wall", PCT_PERCENT, "time in MPI as a share of wall time", get_share},
    {"mpi_percent_min", "least", PCT_PERCENT, "the least share of a rank", get_share_min},
    {"mpi_percent_min_rank", "rank", PCT_INTEGER, "that rank", get_share_min_rank},
    {"mpi_percent_max", "most", PCT_PERCENT, "the greatest share of a rank", get_share_max},
    {"mpi_percent_max_rank", "rank", PCT_INTEGER, "that rank", get_share_max_rank},
    {"compute_s", "outside MPI", PCT_NS,
     "time between MPI_Init and MPI_Finalize outside MPI, mean of the ranks", get_compute},
    {"compute_max_s", "most", PCT_NS, "the greatest of them", get_compute_max},
    {"compute_max_rank", "rank", PCT_INTEGER, "its rank", get_compute_rank},
    {"imbalance_percent", "imbalance", PCT_PERCENT,
     "(compute_max_s - compute_s) / compute_s: what the slowest rank is above the mean",
     get_imbalance},
    {"merge_s", "merge", PCT_NS, "time of a rank in MPI_Finalize that pcollect took, mean",
     get_merge},
    {"merge_max_s", "most", PCT_NS, "the greatest of them", get_merge_max},
    {"contexts", "contexts", PCT_COUNT, "rows of the table contexts", get_contexts},
    {"incomplete_ranks", "incomplete", PCT_COUNT,
     "ranks that did not reach MPI_Finalize; their data was recovered", get_incomplete},
    {"missing_ranks", "missing", PCT_COUNT, "ranks of the job that are not in the profile",
     get_missing},
    {"lost", "left out", PCT_COUNT, "things left out, see the table lost", get_lost},
    {"notes", "notes", PCT_TEXT, "circumstances that bear on the data", get_notes},
};
