/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of the ranks that a command starts. Each rank has its own counters, with all that it
 * starts. They are opened when its exec is known, so that they miss its first moments; the longest
 * such time is printed. The launcher itself is not counted: its counters would be inherited by the
 * ranks, and compete with theirs for those of the processor.
 */
#include "command/stat/stat.h"

bool pct_stat_await_ranks(struct pct_stat_job *j, int pid)
{
    struct pc_error error = {""};
    pct_open_files_raise();
    j->n_local = -1;
    if (!pct_started_new(pid, &j->started, &error))
        return true;
    pct_say(j->self, "%s cannot be watched: %s", j->request->words[0], error.text);
    return false;
}

static void take_rank(void *arg, const struct pct_started_rank *rank)
{
    struct pct_stat_job *j = arg;
    int status = pct_stat_add_process(j, pct_stat_rank_target(j, rank->rank), rank->pid);
    uint64_t late_ns = pc_mono_ns() - rank->exec_ns;
    j->failed = status ? status : j->failed;
    j->late_ns = late_ns > j->late_ns ? late_ns : j->late_ns;
    j->world = rank->world > j->world ? rank->world : j->world;
    j->n_local = rank->n_local;
    j->n_begun++;
}

/* Looks often while ranks of a launch are missing. */
uint64_t pct_stat_find_ranks(struct pct_stat_job *j)
{
    enum { SOON_NS = 1000000, LATER_NS = 10000000 };
    pct_started_look(j->started, take_rank, j);
    return j->n_local > 0 && j->n_begun % (size_t)j->n_local == 0 ? LATER_NS : SOON_NS;
}
