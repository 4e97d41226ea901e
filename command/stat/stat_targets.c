/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Targets that are counted: the threads of running processes, or processors.
 *
 * A counter of a thread is inherited by what the thread starts afterwards. While the threads of a
 * process are opened one after the other, one of them may start another: if the list of threads has
 * changed at the end, all are closed and opened again, so that none is missed or counted twice.
 */
#include "analysis/allocation.h"
#include "command/stat/stat.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct numbers {
    int *at;
    size_t n;
};

static size_t add_target(struct pct_stat_job *j, int number)
{
    j->targets = pct_grow(j->targets, j->n_targets, &j->room, sizeof *j->targets);
    j->order = pct_grow(j->order, j->n_targets, &j->order_room, sizeof *j->order);
    j->targets[j->n_targets] = number;
    j->order[j->n_targets] = j->n_targets;
    return j->n_targets++;
}

size_t pct_stat_rank_target(struct pct_stat_job *j, int rank)
{
    for (size_t t = 0; t < j->n_targets; t++)
        if (j->targets[t] == rank)
            return t;
    size_t made = add_target(j, rank), at = made;
    for (; at > 0 && j->targets[j->order[at - 1]] > rank; at--)
        j->order[at] = j->order[at - 1];
    j->order[at] = made;
    return made;
}

static void add_living(struct pct_stat_job *j, int id)
{
    j->living = pct_grow(j->living, j->n_living, &j->living_room, sizeof *j->living);
    j->living[j->n_living++] = id;
}

static int add_viewee(struct pct_stat_job *j, size_t target, int tid, int cpu)
{
    struct pc_error error = {""};
    const struct pc_counting_viewee who = {.tid = tid, .cpu = cpu};
    int err = pct_count_add(j->count, target, &who, &error);
    if (!err || err == PC_ENOENT)
        return PCT_DONE;
    pct_say(j->self, "%s", error.text);
    return PCT_DATA;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static struct numbers list_threads(int pid)
{
    struct numbers l = {0};
    l.at = pct_watch_threads(pid, &l.n);
    return l;
}

/* True if `after` has a number that `before` lacks. Both are sorted. */
static bool has_more(const struct numbers *before, const struct numbers *after)
{
    size_t i = 0;
    for (size_t k = 0; k < after->n; k++, i++) {
        while (i < before->n && before->at[i] != after->at[k])
            i++;
        if (i == before->n)
            return true;
    }
    return false;
}

/* Opens the threads that a process has. *changed: others are there now. */
static int open_threads(struct pct_stat_job *j, size_t target, int pid, bool *changed)
{
    struct numbers before = list_threads(pid);
    int status = PCT_DONE;
    for (size_t i = 0; i < before.n && !status; i++)
        status = add_viewee(j, target, before.at[i], -1);
    struct numbers after = list_threads(pid);
    *changed = has_more(&before, &after);
    pct_free(before.at);
    pct_free(after.at);
    return status;
}

int pct_stat_add_process(struct pct_stat_job *j, size_t target, int pid)
{
    enum { TRIES = 20 };
    size_t before = pct_count_n_viewees(j->count, target);
    bool changed = true;
    int status = PCT_DONE;
    for (int i = 0; i < TRIES && changed && !status; i++) {
        pct_count_keep(j->count, target, before);
        status = open_threads(j, target, pid, &changed);
    }
    if (changed && !status)
        pct_say(j->self, "%d starts threads all the time: some may not be counted", pid);
    return status;
}

/* Makes each thread of the process a target. */
static int add_each_thread(struct pct_stat_job *j, int pid)
{
    struct numbers l = list_threads(pid);
    int status = PCT_DONE;
    for (size_t i = 0; i < l.n && !status; i++)
        status = add_viewee(j, add_target(j, l.at[i]), l.at[i], -1);
    pct_free(l.at);
    return status;
}

static int add_processes(struct pct_stat_job *j)
{
    struct numbers pids = {0};
    struct pct_watched_job job = {.world = -1};
    struct pc_error error = {""};
    int status = pct_value_ids(j->self, "pid", j->request->pids, &pids.at, &pids.n);
    for (size_t i = 0; i < pids.n && !status; i++)
        if (*j->request->job ? pct_watch_add(&job, pids.at[i], &error)
                             : pct_add_given(j->self, &job, pids.at[i], &error)) {
            pct_say(j->self, "%s", error.text);
            status = PCT_DATA;
        }
    pct_watch_sort(&job);
    bool ranks = !status && job.n && job.processes[0].rank >= 0;
    if (!status && j->request->per == PCT_PER_RANK && !ranks)
        status = pct_refuse(j->self, "--per rank: %s is no MPI job", j->request->pids);
    j->world = ranks ? job.world : -1;
    j->who = j->request->per == PCT_PER_THREAD ? "thread" : ranks ? "rank" : "process";
    if (ranks && j->request->per == PCT_PER_PROCESS)
        j->who = "process";
    for (size_t i = 0; i < job.n && !status; i++) {
        const struct pct_watched *p = &job.processes[i];
        bool by_rank = ranks && j->request->per != PCT_PER_PROCESS;
        status = j->request->per == PCT_PER_THREAD
                     ? add_each_thread(j, p->pid)
                     : pct_stat_add_process(j, add_target(j, by_rank ? p->rank : p->pid), p->pid);
    }
    for (size_t i = 0; i < job.n; i++)
        add_living(j, job.processes[i].pid);
    pct_watch_job_free(&job);
    pct_free(pids.at);
    return status;
}

/* ---- Threads, processors --------------------------------------------------------------------- */

static int add_threads(struct pct_stat_job *j)
{
    struct numbers l = {0};
    struct pc_process_status p;
    int status = pct_value_ids(j->self, "thread", j->request->threads, &l.at, &l.n);
    j->who = "thread";
    for (size_t i = 0; i < l.n && !status; i++) {
        if (!pc_process_look(l.at[i], &p)) {
            pct_say(j->self, "%d: there is no such thread", l.at[i]);
            status = PCT_DATA;
        } else {
            status = add_viewee(j, add_target(j, l.at[i]), l.at[i], -1);
            add_living(j, l.at[i]);
        }
    }
    pct_free(l.at);
    return status;
}

static int add_processors(struct pct_stat_job *j)
{
    size_t n;
    int status = PCT_DONE, *cpus = pct_watch_processors(&n);
    j->who = "processor";
    for (size_t i = 0; i < n && !status; i++)
        status = add_viewee(j, add_target(j, cpus[i]), -1, cpus[i]);
    pct_free(cpus);
    if (!n) {
        pct_say(j->self, "/sys/devices/system/cpu/online does not list the processors");
        status = PCT_DATA;
    }
    return status;
}

int pct_stat_find_targets(struct pct_stat_job *j)
{
    if (j->request->processors)
        return add_processors(j);
    return j->request->pids ? add_processes(j) : add_threads(j);
}

bool pct_stat_lives(const struct pct_stat_job *j)
{
    struct pc_process_status p;
    for (size_t i = 0; i < j->n_living; i++)
        if (pc_process_look(j->living[i], &p) && !p.ended)
            return true;
    return j->request->processors;
}
