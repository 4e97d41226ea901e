/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `programs`: figures of the table `ranks`, summed by program.
 */
#include "analysis/rank_classes.h"
#include "view/tables/tables.h"

#include <math.h>

static size_t count_programs(const struct pct_data *d)
{
    return d->totals->programs.n;
}

static const struct pct_program *program_of(const struct pct_cell *c)
{
    return &c->d->totals->programs.list[c->row];
}

static bool has_ranks(const struct pct_cell *c)
{
    return c->d->totals->programs.known;
}

static void program_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, program_of(c)->path, out);
}

static void program_ranks(const struct pct_cell *c, struct pct_value *out)
{
    char *text =
        has_ranks(c) ? pct_rank_set_text(program_of(c)->ranks, program_of(c)->n_ranks) : NULL;
    pct_value_plain(text ? pct_pool_intern(c->d->pool, text) : NULL, out);
    pct_free(text);
}

static void program_n_ranks(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !has_ranks(c);
    out->number = program_of(c)->n_ranks;
}

/* ---- Times ----------------------------------------------------------------------------------- */

enum time { WALL, COMPUTE, MPI, WAITING };
enum figure { SUM, OF_ALL, OF_WALL, MEAN, LEAST, LEAST_RANK, MOST, MOST_RANK };

/* Times of the ranks of a program. */
struct times {
    pc_u128 sum;
    uint64_t least, most;
    int32_t least_rank, most_rank; /* the lowest with that time */
};

static uint64_t time_of(const struct pct_data *d, uint32_t place, enum time time)
{
    const struct pc_profile_rank *r = &d->profile->ranks[place];
    switch (time) {
    case WALL:
        return pct_totals_wall_ns(r);
    case COMPUTE:
        return pct_totals_compute_ns(r);
    case MPI:
        return pct_totals_mpi_ns(r);
    default:
        return (uint64_t)llround(pct_data_wait_times(d).rank_ns[place]);
    }
}

static struct times find_times(const struct pct_cell *c, enum time time)
{
    const struct pc_profile *p = c->d->profile;
    const struct pct_program *of = program_of(c);
    struct times t = {.sum = 0};
    for (uint32_t i = 0, place = 0; i < of->n_ranks; i++, place++) {
        place = pct_totals_place_of_rank(p, place, of->ranks[i]);
        if (place == p->n_ranks)
            break;
        uint64_t ns = time_of(c->d, place, time);
        t.sum += ns;
        if (!i || ns < t.least) {
            t.least = ns;
            t.least_rank = of->ranks[i];
        }
        if (!i || ns > t.most) {
            t.most = ns;
            t.most_rank = of->ranks[i];
        }
    }
    return t;
}

/* The time `which` and the figure `of` of the column. */
static void program_time(const struct pct_cell *c, struct pct_value *out)
{
    enum time time = (enum time)c->column->which;
    out->none = !has_ranks(c) || (time == WAITING && !pct_data_wait_times(c->d).known);
    if (out->none)
        return;
    struct times t = find_times(c, time);
    switch ((enum figure)c->column->of) {
    case SUM:
        out->number = t.sum;
        break;
    case OF_ALL:
        out->number = pct_text_share(t.sum, c->d->totals->all.wall_ns);
        break;
    case OF_WALL:
        out->number = pct_text_share(t.sum, find_times(c, WALL).sum);
        break;
    case MEAN:
        out->number = (t.sum + program_of(c)->n_ranks / 2) / program_of(c)->n_ranks;
        break;
    case LEAST:
        out->number = t.least;
        break;
    case LEAST_RANK:
        out->integer = t.least_rank;
        break;
    case MOST:
        out->number = t.most;
        break;
    case MOST_RANK:
        out->integer = t.most_rank;
        break;
    }
}

#define SPREAD(prefix, what, time)                                                                 \
    {prefix "mean_s", "mean", PCT_NS, "mean of " what " of a rank", program_time, time, MEAN},     \
        {prefix "min_s", "least", PCT_NS, "least of these", program_time, time, LEAST},            \
        {prefix "min_rank", "on rank", PCT_INTEGER, "lowest rank with that value",                 \
         program_time,      time,      LEAST_RANK},                                                \
        {prefix "max_s", "most", PCT_NS, "greatest of these", program_time, time, MOST},           \
    {                                                                                              \
        prefix "max_rank", "on rank", PCT_INTEGER, "lowest rank with that value", program_time,    \
            time, MOST_RANK                                                                        \
    }

static const struct pct_column program_columns[] = {
    {"program", "program", PCT_TEXT, "path of the program", program_path, .path = true},
    {"ranks", "ranks", PCT_TEXT,
     "its ranks: 0-62:2,70 for 0, 2, 4, ... 62 and 70; empty if the profile does not say which "
     "ranks ran it: then it has no figures",
     program_ranks},
    {"n_ranks", "number", PCT_COUNT, "number of ranks", program_n_ranks},
    {"wall_s", "wall", PCT_NS, "sum of wall_s (table ranks)", program_time, WALL, SUM},
    {"wall_percent", "of all", PCT_PERCENT, "wall_s as a share of that of all ranks", program_time,
     WALL, OF_ALL},
    {"compute_s", "outside MPI", PCT_NS, "sum of compute_s (table ranks)", program_time, COMPUTE,
     SUM},
    {"mpi_main_s", "MPI", PCT_NS, "sum of mpi_main_s (table ranks)", program_time, MPI, SUM},
    {"mpi_percent", "of wall", PCT_PERCENT, "mpi_main_s as a share of wall_s", program_time, MPI,
     OF_WALL},
    {"waiting_s", "waiting", PCT_NS,
     "sum of waiting_s (table ranks): for the rank of the job that is longest outside MPI; empty "
     "if it is not known",
     program_time, WAITING, SUM},
    SPREAD("compute_", "compute_s", COMPUTE),
    SPREAD("mpi_", "mpi_main_s", MPI),
};

const struct pct_table pct_programs_table = {
    .name = "programs",
    .doc = "one row for each program that ranks of the job run",
    .count = count_programs,
    .percent = "wall_percent",
    .in_order = true,
    .of_whole = true,
    PCT_COLUMNS(program_columns),
    .n_shown = 14,
};
