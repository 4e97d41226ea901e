/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect record: a profile of a command, of running processes, or of all that runs on this node,
 * from samples that the kernel takes. Nothing is loaded into what is recorded.
 */
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "command/command.h"
#include "command/launch/run.h"
#include "watch/recorder.h"
#include "watch/watch.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const struct pct_option options[] = {
    {'F', "frequency", "HZ", "samples in a second of CPU time of each thread (default: 199)",
     "The clock is that of the thread, of each processor with --all-processors."},
    {'p', "pid", "PID,...", "record running processes; of a launcher, its ranks on this node",
     "Until they end, COMMAND ends, or Ctrl-C. Threads and processes that they start meanwhile are "
     "recorded with them.",
     .group = 1},
    {'t', "thread", "TID,...", "record running threads", .group = 1},
    {'a', "all-processors", NULL, "record whatever runs on this node", .group = 1},
    {'o', "output", "FILE",
     "write the profile to FILE (default: PROGRAM.RANKS.pcol in the working directory)",
     "FILE must be new. The default gets a number if there is a profile of that name."},
    {0, NULL, NULL, NULL},
};

struct request {
    uint64_t frequency;
    const char *pids, *threads, *output;
    bool processors;
    char **words; /* of the command, up to NULL */
    size_t n_words;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    if (o->letter == 'F')
        return pct_value_number(self, o, value, 1, 50000, &r->frequency);
    if (o->letter == 'a')
        r->processors = true;
    else
        *(o->letter == 'p' ? &r->pids : o->letter == 't' ? &r->threads : &r->output) = value;
    return PCT_DONE;
}

/* ---- Who is recorded ------------------------------------------------------------------------- */

struct job {
    const struct pct_command *self;
    const struct request *request;
    struct pct_rings_what what;
    struct pct_rings *rings;
    struct pct_recorder *recorder;
    int *ids; /* processes or threads that are recorded */
    size_t n_ids;
    bool begun;
    uint64_t begin_ns, end_ns;
};

static int say_error(const struct job *j, const struct pc_error *error)
{
    pct_say(j->self, "%s", error->text);
    return PCT_DATA;
}

/* The ids of the request; of a launcher those of its ranks. */
static int find_ids(struct job *j)
{
    struct pct_watched_job job = {.world = -1};
    struct pc_error error = {""};
    struct pc_process_status p;
    bool threads = j->request->threads != NULL;
    int *given,
        status = pct_value_ids(j->self, threads ? "thread" : "pid",
                               threads ? j->request->threads : j->request->pids, &given, &j->n_ids);
    j->ids = given;
    for (size_t i = 0; i < j->n_ids && !status; i++) {
        if (threads && !pc_process_look(given[i], &p)) {
            pct_say(j->self, "%d: there is no such thread", given[i]);
            status = PCT_DATA;
        } else if (!threads && pct_watch_add(&job, given[i], &error)) {
            status = say_error(j, &error);
        }
    }
    if (!status && !threads) {
        pct_free(given);
        j->n_ids = job.n;
        j->ids = pct_alloc(job.n, sizeof *j->ids);
        for (size_t i = 0; i < job.n; i++)
            j->ids[i] = job.processes[i].pid;
    }
    pct_watch_job_free(&job);
    return status;
}

static size_t count_threads(const struct job *j)
{
    size_t n = 0, n_all = 0;
    for (size_t i = 0; i < j->n_ids; i++, n_all += n)
        pct_free(pct_watch_threads(j->ids[i], &n));
    return n_all;
}

static int add_threads(struct job *j, int pid, struct pc_error *error)
{
    size_t n;
    int err = PC_OK, *threads = pct_watch_threads(pid, &n);
    for (size_t i = 0; i < n && !err; i++) {
        err = pct_rings_add(j->rings, threads[i], false, error);
        err = err == PC_ENOENT ? PC_OK : err;
    }
    pct_free(threads);
    return err;
}

/* Events of a thread are inherited by what it starts. A thread that another has started meanwhile
 * may be missing or have two events: then all are opened again. */
static int open_running(struct job *j)
{
    enum { TRIES = 20 };
    struct pc_error error = {""};
    int err = PC_OK;
    bool changed = true;
    for (int k = 0; k < TRIES && changed && !err; k++) {
        size_t before = count_threads(j);
        pct_rings_free(j->rings);
        j->rings = NULL;
        err = pct_rings_new(&j->what, &j->rings, &error);
        for (size_t i = 0; i < j->n_ids && !err; i++)
            err = j->request->threads ? pct_rings_add(j->rings, j->ids[i], false, &error)
                                      : add_threads(j, j->ids[i], &error);
        changed = !j->request->threads && before != count_threads(j);
    }
    if (err)
        return say_error(j, &error);
    if (changed)
        pct_say(j->self, "threads are started all the time: some may not be recorded");
    for (size_t i = 0; i < j->n_ids && !j->request->threads; i++)
        pct_recorder_add(j->recorder, j->ids[i]);
    return PCT_DONE;
}

static bool lives(const struct job *j)
{
    struct pc_process_status p;
    for (size_t i = 0; i < j->n_ids; i++)
        if (pc_process_look(j->ids[i], &p) && p.state != 'Z' && p.state != 'X')
            return true;
    return j->request->processors;
}

/* ---- While it runs --------------------------------------------------------------------------- */

static void begin(void *arg)
{
    struct job *j = arg;
    j->begun = true;
}

/* Reads the rings before they are full: they hold some dozens of samples. */
static uint64_t tick(void *arg)
{
    enum { LEAST_NS = 4000000, MOST_NS = 100000000 };
    struct job *j = arg;
    uint64_t ns = 4000000000u / j->request->frequency;
    pct_rings_drain(j->rings, false, pct_recorder_take, j->recorder);
    return ns < LEAST_NS ? LEAST_NS : ns > MOST_NS ? MOST_NS : ns;
}

static bool add_command(void *arg, int pid)
{
    struct job *j = arg;
    struct pc_error error = {""};
    if (pct_rings_add(j->rings, pid, true, &error)) {
        pct_say(j->self, "%s cannot be recorded: %s", j->request->words[0], error.text);
        return false;
    }
    j->begin_ns = pc_mono_ns();
    return true;
}

/* Others begin before the command that gives the length. */
static bool begin_others(void *arg, int pid)
{
    struct job *j = arg;
    (void)pid;
    j->begin_ns = pc_mono_ns();
    pct_rings_start(j->rings);
    return true;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void wait_for_others(struct job *j)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    begin_others(j, -1);
    begin(j);
    while (!interrupted && lives(j))
        nanosleep(&(struct timespec){0, (long)tick(j)}, NULL);
}

/* Returns the status of the command. */
static int run(struct job *j)
{
    const struct request *r = j->request;
    bool others = r->pids || r->threads || r->processors;
    const struct pct_job_watcher watcher = {others ? begin_others : add_command, begin, tick, j};
    int status = PCT_DONE;
    if (r->n_words)
        status = pct_job_run(j->self, r->words, NULL, &watcher);
    else
        wait_for_others(j);
    j->end_ns = pc_mono_ns();
    pct_rings_stop(j->rings);
    pct_rings_drain(j->rings, true, pct_recorder_take, j->recorder);
    return status;
}

/* ---- The profile ----------------------------------------------------------------------------- */

/* CPU time of which no sample tells: a thread has its first one when it has computed for a whole
 * period. */
static void tell_missed(const struct job *j, uint64_t sampled_ns)
{
    uint64_t counted_ns = pct_rings_counted(j->rings);
    uint64_t missed_ns = counted_ns > sampled_ns ? counted_ns - sampled_ns : 0;
    if (missed_ns * 20 > counted_ns && !j->request->processors)
        pct_say(j->self,
                "threads used %.3g s of CPU time before their first sample or after their last: "
                "not in the profile; a higher --frequency or --all-processors sees more of it",
                (double)missed_ns / 1e9);
}

/* What is worth knowing of how it was recorded. */
static void tell(const struct job *j, const struct pct_recorded *told)
{
    double n = (double)told->n_samples;
    fprintf(stderr, "pcollect: %llu samples at %llu Hz", (unsigned long long)told->n_samples,
            (unsigned long long)j->request->frequency);
    if (told->n_ranks)
        fprintf(stderr, ", %d of %d ranks", told->n_ranks, told->world);
    else if (told->n_processes > 1)
        fprintf(stderr, ", %llu processes", (unsigned long long)told->n_processes);
    fputc('\n', stderr);
    if (j->what.term.user_only)
        pct_say(j->self, "what the kernel does for a thread is not sampled: "
                         "kernel.perf_event_paranoid forbids it");
    if (told->n_lost)
        pct_say(j->self, "%llu records were lost: the rings were full; lower --frequency",
                (unsigned long long)told->n_lost);
    if (told->n_cut * 100 > told->n_samples)
        pct_say(j->self,
                "%.0f %% of the samples have no outer frames: code without unwind tables, or more "
                "stack than the kernel copies",
                100 * (double)told->n_cut / n);
    tell_missed(j, told->sampled_ns);
    if (told->other_ns)
        pct_say(j->self, "processes that are no ranks took %.3g s of CPU time, not in the profile",
                (double)told->other_ns / 1e9);
}

static int write_profile(const struct job *j, const struct pc_profile *p)
{
    char written[PCOLLECT_PATH_BYTES];
    struct pc_error error = {""};
    const char *base = pct_symbols_base_name(p->exe);
    char *to = j->request->output ? pct_text("%s", j->request->output)
                                  : pct_text("%s.%u.pcol", *base ? base : "record", p->n_ranks);
    int err = pc_pcol_write_new(p, to, 0, written, &error);
    if (err) {
        pct_say(j->self, "%s", error.text);
    } else {
        fprintf(stderr, "pcollect: profile: %s", written);
        fprintf(stderr, strcmp(written, to) ? " (there is a %s already)\n" : "\n", to);
        if (pct_embed_file(written, written, false, &error))
            pct_say(j->self, "no symbols are stored in the profile: %s", error.text);
    }
    free(to);
    return err ? PCT_DATA : PCT_DONE;
}

static int finish(struct job *j)
{
    struct pct_recorded told;
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int status = PCT_DATA;
    int err = pct_recorder_profile(j->recorder, !j->request->processors, j->begin_ns, j->end_ns,
                                   &told, &p, &error);
    if (err) {
        pct_say(j->self, "%s", *error.text ? error.text : pc_err_text(err));
    } else if (!p) {
        pct_say(j->self,
                "no sample was taken in %.3g s: no thread used CPU time, or not enough of it",
                (double)(j->end_ns - j->begin_ns) / 1e9);
        tell_missed(j, 0);
    } else {
        tell(j, &told);
        status = write_profile(j, p);
    }
    pc_profile_free(p);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* The clock of the thread, or of the processor, as far as the kernel lets us. */
static int open_rings(struct job *j)
{
    struct pc_counting_event clock = {
        .n_terms = 1, .terms = {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}}};
    struct pc_error error = {""};
    if (pc_counting_try(&clock, &error)) {
        pct_say(j->self, "the kernel does not let you take samples: %s", error.text);
        return PCT_DATA;
    }
    j->what = (struct pct_rings_what){.term = clock.terms[0], .frequency = j->request->frequency};
    if (j->request->pids || j->request->threads) {
        int status = find_ids(j);
        return status ? status : open_running(j);
    }
    int err = pct_rings_new(&j->what, &j->rings, &error);
    if (!err && j->request->processors)
        err = pct_rings_add(j->rings, -1, false, &error);
    return err ? say_error(j, &error) : PCT_DONE;
}

static int record(struct job *j)
{
    struct rlimit limit = {0}, most;
    bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    most = (struct rlimit){limit.rlim_max, limit.rlim_max};
    if (known)
        setrlimit(RLIMIT_NOFILE, &most);
    int status = open_rings(j);
    if (known)
        setrlimit(RLIMIT_NOFILE, &limit);
    if (status)
        return status;
    status = run(j);
    if (!j->begun)
        return status;
    int done = finish(j);
    return status ? status : done;
}

/* Before anything starts. */
static int check_output(const struct pct_command *self, const char *path)
{
    struct pc_error error = {""};
    if (!path || !pc_pcol_may_write(path, &error)) {
        if (!path || access(path, F_OK) != 0)
            return PCT_DONE;
        return pct_refuse(self, "%s exists: remove it, or name another file", path);
    }
    pct_say(self, "%s", error.text);
    return PCT_CALL;
}

static int run_record(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.frequency = 199};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    r.words = line.words;
    r.n_words = line.n_words;
    if (!r.pids && !r.threads && !r.processors && !r.n_words)
        return pct_refuse(self, "missing argument: COMMAND, --pid, --thread or --all-processors");
    int status = check_output(self, r.output);
    if (status)
        return status;
    struct job j = {.self = self, .request = &r, .recorder = pct_recorder_new()};
    status = record(&j);
    pct_recorder_free(j.recorder);
    pct_rings_free(j.rings);
    pct_free(j.ids);
    return status;
}

const struct pct_command pct_record_command = {
    .name = "record",
    .synopsis = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
    .summary = "sample a command, running processes, or this node, from outside",
    .details =
        "COMMAND is sampled with all that it starts, from its exec on; nothing is loaded into it. "
        "With --pid, --thread or --all-processors those are sampled while COMMAND runs. The "
        "profile is one that every other command reads: of an MPI job with its ranks, else of one "
        "rank, with a region for each program. The exit status is that of COMMAND.",
    .options = options,
    .starts = true,
    .argument = "COMMAND",
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_record,
};
