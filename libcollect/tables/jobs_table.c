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
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>

/* Rows of one process; further ones are counted as lost. */
enum { MAX_ROWS = 1024 };

enum { HOW, CONTEXT, BEGAN, ENDED, N_LOCAL, N_REMOTE, HERE, THERE, THEIR_RANK, PORT, N_VALUES };

#define NUMBER(name, doc, unit)                                                                    \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_##unit, 0                   \
    }
#define TEXT(name, doc)                                                                            \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT, 0                    \
    }

static const struct pcollect_column columns[] = {
    {"rank", "in MPI_COMM_WORLD, root of the call", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT,
     0},
    {"number", "from 1, in the order of the rank's calls", PCOLLECT_COLUMN_NUMBER, 0,
     PCOLLECT_UNIT_COUNT, 0},
    [2 + HOW] = TEXT("made_by", "the primitive; MPI_Comm_get_parent: this job was spawned"),
    [2 + CONTEXT] = {"context", "where it was called", PCOLLECT_COLUMN_NODE, PCOLLECT_MIN,
                     PCOLLECT_UNIT_COUNT, 0},
    [2 + BEGAN] = NUMBER("began", "of the call, since 1970; of a spawned process", NS),
    [2 + ENDED] = NUMBER("ended", "of the call, since 1970; of a spawned process's MPI_Init", NS),
    [2 + N_LOCAL] = NUMBER("processes", "of this job", COUNT),
    [2 + N_REMOTE] = NUMBER("others", "processes of the other job", COUNT),
    [2 + HERE] = TEXT("job", "the launcher's name of this job"),
    [2 + THERE] = TEXT("parent", "the launcher's name of the job that spawned this one"),
    [2 + THEIR_RANK] = NUMBER("parent_rank", "1 + the rank in it that did so; 0: not known", COUNT),
    [2 + PORT] = TEXT("port", "at which the two met"),
};
_Static_assert(PC_ARRAY_LEN(columns) == 2 + N_VALUES, "a column for each value");

static const struct pcollect_table table = {.name = "jobs",
                                            .doc = "jobs that this one started or met",
                                            .columns = columns,
                                            .n_keys = 2,
                                            .n_values = N_VALUES,
                                            .flags = PCOLLECT_TABLE_KEPT};

static uint64_t *new_row(struct pc_thread *t)
{
    static _Atomic uint32_t n_rows;
    uint32_t number = atomic_fetch_add(&n_rows, 1) + 1;
    const uint64_t keys[] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, number};
    uint64_t *v = NULL;
    /* The table is made when it is needed: most programs have no such row, and their profiles no
     * such table. */
    if (number <= MAX_ROWS && !pc_table_add("pcollect", &table))
        v = pc_table_row(t, &table, keys);
    else
        pc_lost(PCOLLECT_LOST_ROWS, 1);
    return v;
}

static uint32_t string_of(const char *text)
{
    return text && *text ? pc_table_string(text) : 0;
}

void pc_jobs_met(struct pc_call *call, int n_local, int n_remote, const char *port)
{
    struct pc_thread *t = call->thread;
    struct pc_config_related related;
    int saved = errno;
    pc_config_related(&related);
    t->busy = 1;
    barrier();
    uint64_t *v = new_row(t);
    if (v) {
        v[HERE] = string_of(related.job);
        v[HOW] = pc_table_string(pc_op_name(call->event.op));
        v[CONTEXT] = pc_process.core.asks ? call->event.node : call->node;
        v[BEGAN] = pc_process.host.realtime_ns(call->event.begin);
        v[ENDED] = pc_process.host.realtime_ns(call->event.end);
        v[N_LOCAL] = (uint64_t)n_local;
        v[N_REMOTE] = (uint64_t)n_remote;
        v[PORT] = string_of(port);
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
    v[HERE] = string_of(related.job);
    v[THERE] = string_of(related.parent);
    v[THEIR_RANK] = (uint64_t)(related.parent_rank + 1);
    v[HOW] = pc_table_string("MPI_Comm_get_parent");
    v[BEGAN] = pc_process.host.realtime_ns(h->start_ticks);
    v[ENDED] = pc_process.host.realtime_ns(h->init_end_ticks);
    v[N_LOCAL] = (uint64_t)n_ranks;
    v[N_REMOTE] = (uint64_t)n_parents;
}
