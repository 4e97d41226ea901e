/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Targets that are counted: the threads of running processes, or processors.
 */
#include "analysis/allocation.h"
#include "command/stat/stat.h"
#include "watch/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct opening {
    struct pct_stat_job *job;
    size_t target, n_before; /* viewees of the target */
};

static int begin_threads(void *opening)
{
    const struct opening *o = opening;
    pct_count_keep(o->job->count, o->target, o->n_before);
    return PCT_DONE;
}

static int open_thread(void *opening, int tid)
{
    const struct opening *o = opening;
    return add_viewee(o->job, o->target, tid, -1);
}

int pct_stat_add_process(struct pct_stat_job *j, size_t target, int pid)
{
    struct opening o = {j, target, pct_count_n_viewees(j->count, target)};
    const struct pct_thread_opener opener = {begin_threads, open_thread, &o};
    bool all;
    int status = pct_watch_open_threads(&pid, 1, &opener, &all);
    if (!all && !status)
        pct_say(j->self, "%d starts threads all the time: some may not be counted", pid);
    return status;
}

/* Makes each thread of the process a target. */
static int add_each_thread(struct pct_stat_job *j, int pid)
{
    size_t n;
    int status = PCT_DONE, *threads = pct_watch_threads(pid, &n);
    for (size_t i = 0; i < n && !status; i++)
        status = add_viewee(j, add_target(j, threads[i]), threads[i], -1);
    pct_free(threads);
    return status;
}

static int add_processes(struct pct_stat_job *j)
{
    struct pct_watched_job job = {.world = -1};
    int status = pct_given_processes(j->self, j->request->pids, *j->request->job, &job);
    pct_watch_sort(&job);
    bool one = pct_watch_is_one_job(&job);
    bool ranks = !status && job.n && job.processes[0].rank >= 0 && one;
    if (!status && j->request->per == PCT_PER_RANK && !ranks)
        status = pct_refuse(j->self,
                            one ? "--per rank: %s is no MPI job"
                                : "--per rank: the ranks of %s are of several jobs; give the "
                                  "process id of one launcher",
                            j->request->pids);
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
    return status;
}

/* ---- Threads, processors --------------------------------------------------------------------- */

static int add_threads(struct pct_stat_job *j)
{
    int *threads;
    size_t n;
    int status = pct_given_threads(j->self, j->request->threads, &threads, &n);
    j->who = "thread";
    for (size_t i = 0; i < n && !status; i++) {
        status = add_viewee(j, add_target(j, threads[i]), threads[i], -1);
        add_living(j, threads[i]);
    }
    pct_free(threads);
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

/* Each of up to five sums is cut to whole ticks: their difference between two moments has a
 * standard deviation of 0.41 ticks, that of all five one of 0.91 ticks. */
void pct_stat_take_used(struct pct_stat_job *j, uint64_t elapsed_ns)
{
    const double error = 2e9 / (double)sysconf(_SC_CLK_TCK);
    uint64_t *now = pct_alloc(j->n_targets, sizeof *now);
    struct pct_stat_figure all = {.known = j->used_ns != NULL, .share = 1};
    if (!j->used)
        j->used = pct_alloc(j->n_targets, sizeof *j->used);
    pct_watch_used_ns(j->targets, j->n_targets, now);
    for (size_t t = 0; t < j->n_targets && j->used_ns; t++) {
        uint64_t before = j->used_ns[t];
        struct pct_stat_figure f = {.share = 1, .error = error};
        f.known = now[t] != UINT64_MAX && before <= now[t];
        f.value = f.known ? fmin((double)(now[t] - before), (double)elapsed_ns) : 0;
        all.known &= f.known;
        all.value += f.value;
        j->used[t] = f;
    }
    all.error = error * sqrt((double)j->n_targets);
    pct_free(j->used_ns);
    j->used_ns = now;
    j->all_used = all;
}

int pct_stat_find_targets(struct pct_stat_job *j)
{
    if (j->request->processors)
        return add_processors(j);
    return j->request->pids ? add_processes(j) : add_threads(j);
}
