/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selects targets: the threads of running processes, processors, or a command when it starts. The
 * kernel takes their samples; where it does not, threads are stopped for them.
 */
#include "analysis/allocation.h"
#include "command/launch/run.h"
#include "command/record/record.h"
#include "watch/watch.h"

#include <linux/perf_event.h>

static int say_error(const struct pct_sampling *j, const struct pc_error *error)
{
    pct_say(j->self, "%s", error->text);
    return PCT_DATA;
}

/* Adds the ranks of all jobs; those that have ended meanwhile are left out. */
static void add_jobs(struct pct_watched_job *to)
{
    struct pc_error error;
    int *launchers;
    size_t n = pct_watch_jobs(&launchers);
    for (size_t i = 0; i < n; i++)
        pct_watch_add(to, launchers[i], &error);
    pct_free(launchers);
}

/* Finds the ids to sample; ranks replace their launcher. */
static int find_ids(struct pct_sampling *j)
{
    const struct pct_sampled_who *who = j->who;
    struct pct_watched_job job = {.world = -1};
    int status = PCT_DONE;
    if (who->threads)
        return pct_given_threads(j->self, who->threads, &j->ids, &j->n_ids);
    if (who->jobs)
        add_jobs(&job);
    else
        status = pct_given_processes(j->self, who->pids, *who->job, &job);
    j->n_ids = status ? 0 : job.n;
    j->ids = pct_alloc(job.n, sizeof *j->ids);
    for (size_t i = 0; i < j->n_ids; i++)
        j->ids[i] = job.processes[i].pid;
    pct_watch_job_free(&job);
    return status;
}

struct opening {
    struct pct_sampling *sampling;
    struct pc_error error;
};

static int begin_threads(void *opening)
{
    struct opening *o = opening;
    pct_rings_free(o->sampling->rings);
    o->sampling->rings = NULL;
    return pct_rings_new(&o->sampling->what, &o->sampling->rings, &o->error);
}

static int open_thread(void *opening, int tid)
{
    struct opening *o = opening;
    int err = pct_rings_add(o->sampling->rings, tid, false, &o->error);
    return err == PC_ENOENT ? PC_OK : err;
}

/* Opens events of running processes. Threads inherit the events of the thread that started them. */
static int open_processes(struct pct_sampling *j)
{
    struct opening o = {.sampling = j};
    const struct pct_thread_opener opener = {begin_threads, open_thread, &o};
    bool all;
    if (pct_watch_open_threads(j->ids, j->n_ids, &opener, &all))
        return say_error(j, &o.error);
    if (!all)
        pct_say(j->self, "threads are started all the time: some may not be recorded");
    return PCT_DONE;
}

bool pct_sampling_lives(const struct pct_sampling *j)
{
    return j->who->processors || pct_watch_lives(j->ids, j->n_ids);
}

/* Finds the event. A sample has only one counter. */
static int find_event(struct pct_sampling *j)
{
    struct pc_counting_event event = {.n_terms = 0};
    struct pc_error error = {""};
    int status = pct_event_named(j->self, "--event", j->who->event, &event);
    if (status)
        return status;
    if (event.n_terms != 1)
        return pct_refuse(j->self,
                          "--event: %s is made of %u counters, but samples can be taken from one "
                          "only; `pcollect events --format tsv %s` names them",
                          j->who->event, (unsigned)event.n_terms, j->who->event);
    if (pc_counting_try(&event, &error)) {
        pct_say(j->self, "%s cannot be sampled here: %s", j->who->event, error.text);
        return PCT_DATA;
    }
    j->what.with_event = true;
    j->what.event = event.terms[0];
    return PCT_DONE;
}

static int open_rings(struct pct_sampling *j)
{
    struct pc_error error = {""};
    int status = j->who->event ? find_event(j) : PCT_DONE;
    if (status)
        return status;
    if (j->n_ids && !j->who->threads)
        return open_processes(j);
    int err = pct_rings_new(&j->what, &j->rings, &error);
    if (!err && j->who->processors)
        err = pct_rings_add(j->rings, -1, false, &error);
    for (size_t i = 0; i < j->n_ids && !err; i++)
        err = pct_rings_add(j->rings, j->ids[i], false, &error);
    return err ? say_error(j, &error) : PCT_DONE;
}

/* Takes samples without the kernel's help. why: the reason for that. */
static int open_stops(struct pct_sampling *j, const struct pc_error *why)
{
    struct pc_error error = {""};
    int err = PC_OK;
    if (j->who->event || j->who->processors) {
        pct_say(j->self, "%s cannot be sampled here: %s",
                j->who->event ? j->who->event : "processors", why->text);
        return PCT_DATA;
    }
    j->stops = pct_stops_new(j->who->frequency, j->recorder);
    for (size_t i = 0; i < j->n_ids && !err; i++)
        err = j->who->threads ? pct_stops_add_thread(j->stops, j->ids[i], &error)
                              : pct_stops_add(j->stops, j->ids[i], &error);
    if (err)
        return say_error(j, &error);
    pct_say(j->self,
            "the kernel takes no samples: %s; instead, threads that use CPU time are stopped for a "
            "moment, %d times a second at most; threads and processes that live shorter are not "
            "seen",
            why->text, PCT_STOPS_MOST_HZ);
    return PCT_DONE;
}

/* Selects the targets: by the clock of the thread or of the processor, whichever the kernel
 * allows. */
static int open_targets(struct pct_sampling *j)
{
    struct pc_counting_event clock = {
        .n_terms = 1, .terms = {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}}};
    struct pc_error error = {""};
    int refused = pc_counting_try(&clock, &error);
    j->what = (struct pct_rings_what){
        .clock = clock.terms[0], .frequency = j->who->frequency, .period = j->who->period};
    if (j->who->pids || j->who->threads || j->who->jobs) {
        int status = find_ids(j);
        if (status)
            return status;
        j->who->processors = !j->n_ids;
    }
    return refused ? open_stops(j, &error) : open_rings(j);
}

int pct_sampling_take_option(const struct pct_command *self, const struct pct_option *o,
                             const char *value, struct pct_sampled_who *who)
{
    if (o->letter == 'F')
        return pct_value_number(self, o, value, 1, PCT_MOST_HZ, &who->frequency);
    if (o->letter == 'j')
        return pct_job_option(self, value, who->job, &who->pids);
    if (o->letter == 'a')
        who->processors = true;
    else
        *(o->letter == 'p' ? &who->pids : &who->threads) = value;
    return PCT_DONE;
}

bool pct_sampling_is_of_others(const struct pct_sampled_who *who)
{
    return who->pids || who->threads || who->processors;
}

int pct_sampling_open(struct pct_sampling *j)
{
    pct_open_files_raise();
    int status = pct_check_proc(j->self);
    if (status)
        return status;
    j->recorder = pct_recorder_new(j->who->event);
    if (j->show)
        pct_recorder_show(j->recorder, j->show, j->show_arg);
    return open_targets(j);
}

int pct_sampling_add_command(struct pct_sampling *j, int pid, struct pc_error *error)
{
    return j->stops ? pct_stops_add(j->stops, pid, error)
                    : pct_rings_add(j->rings, pid, true, error);
}

/* Reads what is mapped after the rings have begun to tell of what is mapped from then on. */
void pct_sampling_start(struct pct_sampling *j)
{
    if (!j->rings)
        return;
    pct_rings_start(j->rings);
    for (size_t i = 0; i < j->n_ids; i++)
        pct_recorder_add(j->recorder, j->ids[i]);
}

void pct_sampling_stop(struct pct_sampling *j)
{
    if (j->rings)
        pct_rings_stop(j->rings);
    if (j->stops)
        pct_stops_count(j->stops);
}

struct pct_rings_counts pct_sampling_counts(const struct pct_sampling *j)
{
    if (!j->stops)
        return pct_rings_counts(j->rings);
    uint64_t ns = pct_stops_told(j->stops).counted_ns;
    struct pct_job_cpu cpu = pct_job_cpu(); /* also of what lived too shortly to be found */
    uint64_t all_ns = pct_sampling_is_of_others(j->who) ? 0 : cpu.user_ns + cpu.system_ns;
    return (struct pct_rings_counts){.clock_ns = all_ns > ns ? all_ns : ns};
}

uint64_t pct_sampling_drain(struct pct_sampling *j, bool all)
{
    enum { LEAST_NS = 4000000, MOST_NS = 100000000 };
    if (j->stops)
        return all ? 0 : pct_stops_look(j->stops);
    /* The rate of an event is not known, so the rings are read often. */
    uint64_t ns = j->who->period ? LEAST_NS : 4000000000u / j->who->frequency;
    pct_rings_drain(j->rings, all, pct_recorder_take, j->recorder);
    return ns < LEAST_NS ? LEAST_NS : ns > MOST_NS ? MOST_NS : ns;
}

void pct_sampling_close(struct pct_sampling *j)
{
    pct_stops_free(j->stops);
    pct_recorder_free(j->recorder);
    pct_rings_free(j->rings);
    pct_free(j->ids);
}
