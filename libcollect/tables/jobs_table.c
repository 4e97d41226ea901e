/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `jobs`: relations of this job to others. A row for each MPI_Comm_spawn*, _accept,
 * _connect and _join, by the rank that was its root; and one by rank 0 of a job that was spawned.
 *
 * The other job has a profile of its own, and the two exchange no message for it. A row holds facts
 * that both sides know: the names that the launcher gives jobs, the port, how many processes, and
 * from when to when by the wall clock: a spawned process starts, and is in MPI_Init, while its
 * parent is in MPI_Comm_spawn. The reader finds the profiles that fit (command/related_jobs.c).
 *
 * No function here is on the path of a frequent call.
 */
#include "libcollect/context/thread.h"
#include "libcollect/state/ops.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>

/* Rows of one process; further ones are counted as lost. */
enum { MAX_ROWS = 1024 };

static uint64_t *new_row(struct pc_thread *t)
{
    static _Atomic uint32_t n_rows;
    uint32_t number = atomic_fetch_add(&n_rows, 1) + 1;
    const uint64_t keys[] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, number};
    uint64_t *v = NULL;
    /* The table is made when it is needed: most programs have no such row, and their profiles no
     * such table. */
    if (number <= MAX_ROWS && !pc_table_add("pcollect", &pc_table_jobs))
        v = pc_table_row(t, &pc_table_jobs, keys);
    else
        pc_lost(PCOLLECT_LOST_ROWS, 1);
    return v;
}

static uint32_t string_of(const char *text)
{
    return text && *text ? pc_table_string(text) : 0;
}

void pc_jobs_met(struct pc_call *call, const struct pc_meeting *met)
{
    struct pc_thread *t = call->thread;
    struct pc_config_related related;
    int saved = errno;
    pc_config_related(&related);
    t->busy = 1;
    barrier();
    uint64_t *v = new_row(t);
    if (v) {
        v[PC_JOB_HERE] = string_of(related.job);
        v[PC_JOB_HOW] = pc_table_string(pc_op_name(call->event.op));
        v[PC_JOB_CONTEXT] = pc_process.core.asks ? call->event.node : call->node;
        v[PC_JOB_BEGAN] = pc_process.host.realtime_ns(call->event.begin);
        v[PC_JOB_ENDED] = pc_process.host.realtime_ns(call->event.end);
        v[PC_JOB_N_LOCAL] = (uint64_t)met->n_local;
        v[PC_JOB_N_REMOTE] = (uint64_t)met->n_remote;
        v[PC_JOB_PORT] = string_of(met->port);
        v[PC_JOB_DOMAIN] = met->domain;
    }
    barrier();
    t->busy = 0;
    errno = saved;
}

void pc_jobs_spawned(int n_ranks, int n_parents)
{
    const struct pcollect_arena_header *h = pc_header();
    struct pc_config_related related;
    uint64_t *v = new_row(pc_thread_current());
    if (!v)
        return;
    pc_config_related(&related);
    v[PC_JOB_HERE] = string_of(related.job);
    v[PC_JOB_THERE] = string_of(related.parent);
    v[PC_JOB_THEIR_RANK] = (uint64_t)(related.parent_rank + 1);
    v[PC_JOB_HOW] = pc_table_string("MPI_Comm_get_parent");
    v[PC_JOB_BEGAN] = pc_process.host.realtime_ns(h->start_ticks);
    v[PC_JOB_ENDED] = pc_process.host.realtime_ns(h->init_end_ticks);
    v[PC_JOB_N_LOCAL] = (uint64_t)n_ranks;
    v[PC_JOB_N_REMOTE] = (uint64_t)n_parents;
}
