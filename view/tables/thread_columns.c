/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `thread_times`: MPI and CPU time by thread.
 */
#include "view/tables/tables.h"

#include <math.h>

static const struct pct_thread_time *row_of(const struct pct_cell *c)
{
    return &pct_data_thread_times(c->d)->list[c->row];
}

static size_t count_threads(const struct pct_data *d)
{
    return pct_data_thread_times(d)->n;
}

static void get_rank(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = c->d->profile->ranks[row_of(c)->rank].rank;
}

static void get_thread(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->number;
}

static void get_kind(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->kind, out);
}

static void get_name(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, row_of(c)->name, out);
}

static void get_threads(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->n_threads;
}

static void get_calls(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->mpi_calls;
}

static void get_mpi(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->mpi_ns;
}

static void get_cpu(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->has_cpu;
    out->number = row_of(c)->cpu_ns;
}

static void get_outside(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->is_sampled;
    out->number = row_of(c)->outside_ns;
}

static void get_waits(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->is_sampled;
    out->number = row_of(c)->waits_ns;
}

static void get_delayed(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !row_of(c)->has_cpu;
    out->number = row_of(c)->delayed_ns;
}

static void get_share(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !(row_of(c)->share > 0);
    out->number = (pc_u128)llround(1e5 * row_of(c)->share);
}

static const struct pct_column thread_columns[] = {
    {"rank", "rank", PCT_INTEGER, "rank in MPI_COMM_WORLD", get_rank},
    {"thread", "thread", PCT_COUNT,
     "number of the thread in its rank; used again when the thread has ended", get_thread},
    {"kind", "kind", PCT_TEXT,
     "main, program, runtime (of OpenMP), or MPI library (with its transports)", get_kind},
    {"name", "name", PCT_TEXT, "name that the thread was given", get_name},
    {"threads", "threads", PCT_COUNT, "threads that had this number, one after the other",
     get_threads},
    {"mpi_calls", "MPI calls", PCT_COUNT,
     "MPI calls, without those made inside others and without MPI_Finalize", get_calls},
    {"mpi_s", "in MPI", PCT_NS, "time in these calls", get_mpi},
    {"cpu_s", "CPU", PCT_NS,
     "CPU time after MPI_Init, in MPI and outside; empty if it is not known", get_cpu},
    {"outside_s", "CPU outside", PCT_NS,
     "CPU time outside MPI after MPI_Init that samples stand for; empty without samples",
     get_outside},
    {"waits_s", "waiting", PCT_NS,
     "part of outside_s in the runtime of OpenMP, where a thread polls for others, or the runtime "
     "works; 0 if the rank has one thread; empty without samples",
     get_waits},
    {"of_mean_percent", "of mean", PCT_PERCENT,
     "outside_s without waits_s and what is in bindings of MPI, as a share of its mean over the "
     "threads of the rank, without those of the MPI library; empty if there is one thread",
     get_share},
    {"delayed_s", "no processor", PCT_NS,
     "time after MPI_Init in which the thread could run and no processor was free; without "
     "that of threads that lived for less than 1 ms; empty if it is not known",
     get_delayed},
};

const struct pct_table pct_thread_times_table = {
    .name = "thread_times",
    .doc = "MPI and CPU time of each thread",
    .count = count_threads,
    .of_ranks = true,
    .of_whole = true,
    PCT_COLUMNS(thread_columns),
};
