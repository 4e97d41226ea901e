/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `ranks`.
 */
#include "view/tables/tables.h"

#include <math.h>

static size_t count_ranks(const struct pct_data *d)
{
    return d->profile->n_ranks;
}

static const struct pc_profile_rank *rank_of(const struct pct_cell *c)
{
    return &c->d->profile->ranks[c->row];
}

static void rank_number(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = rank_of(c)->rank;
}

static void rank_host(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, rank_of(c)->host, out);
}

static void rank_pid(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = rank_of(c)->pid;
}

static void rank_wall(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_totals_wall_ns(rank_of(c));
}

static void rank_mpi(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->mpi_ns;
}

static void rank_mpi_main(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_totals_mpi_ns(rank_of(c));
}

static void rank_before(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->before_init_ns;
}

static void rank_inside(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->inside_ns;
}

static void rank_after(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->after_ns;
    out->none = !rank_of(c)->closed;
}

static void rank_mpi_calls(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->mpi_calls;
}

static void rank_threads(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->n_threads;
}

static void rank_complete(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = !rank_of(c)->incomplete;
}

static void rank_closed(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = rank_of(c)->closed != 0;
}

static void rank_mpi_percent(const struct pct_cell *c, struct pct_value *out)
{
    const struct pc_profile_rank *r = rank_of(c);
    out->number = pct_text_share(pct_totals_mpi_ns(r), pct_totals_wall_ns(r));
}

static void rank_compute(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_totals_compute_ns(rank_of(c));
}

static void rank_merge(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->merge_ns;
}

static void rank_start(const struct pct_cell *c, struct pct_value *out)
{
    out->number = rank_of(c)->start_realtime_ns;
    out->none = !out->number;
}

static void rank_later(const struct pct_cell *c, struct pct_value *out)
{
    uint64_t first = c->d->totals->all.start_ns, start = rank_of(c)->start_realtime_ns;
    out->none = !start;
    out->number = start ? start - first : 0;
}

static const struct pct_rank_time *time_of(const struct pct_cell *c)
{
    return &pct_data_rank_times(c->d)->list[c->row];
}

static void set_ns(double ns, struct pct_value *out)
{
    out->number = (pc_u128)llround(ns);
}

static void rank_own(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(time_of(c)->own_ns, out);
}

static void rank_cpu(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_rank_times *t = pct_data_rank_times(c->d);
    out->none = !t->divided || t->guessed;
    set_ns(time_of(c)->cpu_ns, out);
}

static void rank_blocked(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_rank_times *t = pct_data_rank_times(c->d);
    out->none = !t->divided || t->guessed;
    set_ns(time_of(c)->blocked_ns, out);
}

static void rank_turns(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_rank_times *t = pct_data_rank_times(c->d);
    out->none = !t->divided || t->guessed;
    set_ns(time_of(c)->either_ns, out);
}

static void rank_for_mpi(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(time_of(c)->for_mpi_ns, out);
}

static void rank_delayed(const struct pct_cell *c, struct pct_value *out)
{
    out->none = pct_data_rank_times(c->d)->guessed;
    set_ns(time_of(c)->delayed_ns, out);
}

static void rank_unsure(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_rank_times *t = pct_data_rank_times(c->d);
    out->none = !t->divided || t->guessed;
    set_ns(time_of(c)->unsure_ns, out);
}

static void rank_bindings(const struct pct_cell *c, struct pct_value *out)
{
    set_ns(time_of(c)->bindings_ns, out);
}

static void rank_lost(const struct pct_cell *c, struct pct_value *out)
{
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++)
        out->number += pc_lost_is_of_rank(k) ? pc_rank_lost(rank_of(c), k) : 0;
}

static void rank_waiting(const struct pct_cell *c, struct pct_value *out)
{
    struct pct_wait_times waiting = pct_data_wait_times(c->d);
    out->none = !waiting.known || c->d->whole != c->d->profile; /* all other columns are whole */
    set_ns(waiting.rank_ns[c->row], out);
}

static const struct pct_column rank_columns[] = {
    {"rank", "rank", PCT_INTEGER, "rank in MPI_COMM_WORLD", rank_number},
    {"host", "host", PCT_TEXT, "host that it ran on", rank_host},
    {"pid", "pid", PCT_INTEGER, "process id on that host", rank_pid},
    {"wall_s", "wall", PCT_NS, "time from the start of the program to its exit", rank_wall},
    {"mpi_s", "MPI", PCT_NS, "time in MPI calls of all threads, nested calls not counted twice",
     rank_mpi, .mpi = true},
    {"before_init_s", "before", PCT_NS, "part of wall_s before MPI_Init", rank_before, .mpi = true},
    {"inside_s", "inside", PCT_NS, "part of wall_s from MPI_Init to the return of MPI_Finalize",
     rank_inside, .mpi = true},
    {"after_s", "after", PCT_NS, "part of wall_s after MPI_Finalize; empty if it was not seen",
     rank_after, .mpi = true},
    {"mpi_calls", "calls", PCT_COUNT, "MPI calls, without those made inside others", rank_mpi_calls,
     .mpi = true},
    {"threads", "threads", PCT_COUNT,
     "threads that called MPI; of a run with samples all threads that pcollect saw", rank_threads,
     .mpi = true},
    {"complete", "complete", PCT_YES_NO,
     "no: MPI_Finalize, or without MPI the exit, was not reached: the data was recovered",
     rank_complete, .mpi = true},
    {"closed", "closed", PCT_YES_NO, "yes: the process was seen to its end", rank_closed,
     .mpi = true},
    {"mpi_percent", "of wall", PCT_PERCENT, "mpi_main_s as a share of wall_s", rank_mpi_percent,
     .mpi = true},
    {"compute_s", "outside MPI", PCT_NS,
     "inside_s without mpi_main_s and merge_s; of a process that does not begin MPI, wall_s "
     "without mpi_main_s",
     rank_compute, .mpi = true},
    {"merge_s", "merge", PCT_NS, "time in MPI_Finalize that pcollect took for itself", rank_merge,
     .mpi = true},
    {"start_s", "start", PCT_NS, "start of the program, in seconds since 1970 UTC", rank_start,
     .exact = true},
    {"lost", "left out", PCT_COUNT, "things left out, see the table lost", rank_lost},
    {"own_s", "own", PCT_NS,
     "compute_s without what samples find in pcollect, bindings_s, and waiting for a processor or "
     "for "
     "other threads that are in MPI, at least: with unsure_s at most",
     rank_own, .mpi = true},
    {"cpu_s", "CPU", PCT_NS,
     "part of compute_s on a processor, also in pcollect, at most: with turns_s; empty if it is "
     "not "
     "known",
     rank_cpu},
    {"blocked_s", "blocked", PCT_NS,
     "part of own_s in which the main thread slept or waited for a file or a lock, and no thread "
     "can have computed, at least; empty if it is not known",
     rank_blocked},
    {"delayed_s", "no processor", PCT_NS,
     "part of compute_s in which the main thread could run and no processor was free, or was "
     "blocked while other threads may have waited for one, at most; empty if it is not known",
     rank_delayed, .mpi = true},
    {"waiting_s", "waiting", PCT_NS,
     "part of mpi_s in which it waited for the rank that is longest outside MPI: by how much it is "
     "longer in each function than that one (in those of messages only if these link the two, "
     "directly or through others), all ranks together at most by its lead over them; empty if it "
     "is not known, and in a part of the run",
     rank_waiting},
    {"later_s", "later", PCT_NS,
     "start of the program after that of the rank that started first, by the clocks of the hosts; "
     "empty if it is not known",
     rank_later},
    {"mpi_main_s", "MPI of main", PCT_NS,
     "part of mpi_s of the main thread, the one that called MPI_Init", rank_mpi_main, .mpi = true},
    {"for_mpi_s", "for MPI", PCT_NS,
     "part of compute_s in which the main thread may have waited for other threads that were in "
     "MPI: while it was blocked or polled in a threading runtime",
     rank_for_mpi, .mpi = true},
    {"turns_s", "turns", PCT_NS,
     "part of cpu_s in which the main thread was blocked and other threads may have computed by "
     "turns; empty if it is not known",
     rank_turns},
    {"unsure_s", "unsure", PCT_NS,
     "part of delayed_s in which the main thread may have been blocked instead: the kernel counts "
     "both in MPI as well, and nothing tells where they were; empty if it is not known",
     rank_unsure, .mpi = true},
    {"bindings_s", "bindings", PCT_NS,
     "part of cpu_s in the MPI library, but in no call that is measured, as in bindings of "
     "Fortran, "
     "by samples of the main thread; no part of own_s",
     rank_bindings, .mpi = true},
};

const struct pct_table pct_ranks_table = {
    .name = "ranks",
    .doc = "one row for each rank",
    .count = count_ranks,
    .in_order = true,
    .of_whole = true,
    PCT_COLUMNS(rank_columns),
};
