/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect record: a profile of a command, of running processes, or of everything that runs on this
 * node, from samples that the kernel takes. Nothing is loaded into recorded processes.
 */
#include "analysis/buffer.h"
#include "analysis/symbols/symbols.h"
#include "command/launch/run.h"
#include "command/record/command_lines.h"
#include "command/record/record.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct pct_option options[] = {
    PCT_OPTIONS_SAMPLED_WHO("record"),
    {'e', "event", "EVENT", "sample EVENT as well: how often it happened in each context",
     "A name that `pcollect events` lists, as page-faults or cache-misses:u. The CPU time is "
     "sampled "
     "beside it. The profile has it as a metric: `pcollect report --by function`.",
     .known = pct_kernel_event},
    {'c', "count", "N", "take a sample each time that EVENT has happened N times in a thread",
     "Without it, EVENT is sampled as often as --frequency says."},
    {'o', "output", "FILE",
     "write the profile to FILE (default: PROGRAM.RANKS.pcol in the working directory)",
     "FILE must be new. The default gets a number if there is a profile of that name. PROGRAM is "
     "`processors` with --all-processors."},
    {0, NULL, NULL, NULL},
};

/* Samples of an event: fewer do not tell where it happened, and a number that does. */
enum { FEW_OF_EVENT = 100, ENOUGH_OF_EVENT = 1000 };

struct request {
    struct pct_sampled_who who;
    const char *output;
    char **words; /* of the command, up to NULL */
    size_t n_words;
};

struct job {
    struct pct_sampling sampling;
    struct request *request;
    bool begun, unwritten;
    uint64_t begin_ns, end_ns;
    struct pct_rings_counts counts; /* at the end */
    bool have_children;             /* the processes of --pid, at the begin */
    struct pct_command_lines lines; /* of what is recorded; none with --all-processors */
    uint64_t uncounted_ns;          /* CPU time that the kernel did not count, said */
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    if (o->letter == 'c')
        return pct_value_number(self, o, value, 1, 1000000000000, &r->who.period);
    if (o->letter == 'o' && !*value)
        return pct_refuse(self, "--output: the path is empty; name a file");
    if (o->letter == 'o')
        r->output = value;
    else if (o->letter == 'e')
        r->who.event = value;
    else
        return pct_sampling_take_option(self, o, value, &r->who);
    return PCT_DONE;
}

/* ---- While it runs --------------------------------------------------------------------------- */

static void begin(void *arg)
{
    struct job *j = arg;
    j->begun = true;
}

static uint64_t tick(void *arg)
{
    struct job *j = arg;
    return pct_sampling_drain(&j->sampling, false);
}

static bool add_command(void *arg, int pid)
{
    struct job *j = arg;
    struct pc_error error = {""};
    if (pct_sampling_add_command(&j->sampling, pid, &error)) {
        pct_say(j->sampling.self, "%s cannot be recorded: %s", j->request->words[0], error.text);
        return false;
    }
    j->begin_ns = pc_mono_ns();
    pct_command_lines_start(&j->lines, j->request->words, j->request->n_words);
    return true;
}

/* Starts recording of running processes, before the command whose length limits it. */
static bool begin_others(void *arg, int pid)
{
    struct job *j = arg;
    (void)pid;
    pct_command_lines_look(&j->lines, j->sampling.ids, j->sampling.n_ids);
    j->begin_ns = pc_mono_ns();
    pct_sampling_start(&j->sampling);
    return true;
}

static void wait_for_others(struct job *j)
{
    pct_interrupt_catch();
    begin_others(j, -1);
    begin(j);
    while (!pct_interrupted() && pct_sampling_lives(&j->sampling))
        pc_nap_ns(tick(j));
}

/* Says that processes go on after the command, as one that becomes a daemon. */
static void tell_living(const struct job *j)
{
    size_t n;
    int pid = pct_recorder_living(j->sampling.recorder, &n);
    if (n == 1)
        pct_say(j->sampling.self,
                "process %d, which %s started, still runs: what it does from now on is not in the "
                "profile; -p %d records it",
                pid, j->request->words[0], pid);
    else if (n)
        pct_say(j->sampling.self,
                "%zu processes that %s started still run, as %d: what they do from now on is not "
                "in the profile; -p records them",
                n, j->request->words[0], pid);
}

/* Returns the status of the command. */
static int run(struct job *j)
{
    const struct request *r = j->request;
    const struct pct_job_watcher watcher = {
        pct_sampling_is_of_others(&r->who) ? begin_others : add_command, begin, tick, j};
    const struct pct_job_cpu before = pct_job_cpu();
    j->have_children = r->who.pids && pct_watch_have_children(j->sampling.ids, j->sampling.n_ids);
    int status = PCT_DONE;
    if (r->n_words)
        status = pct_job_run(j->sampling.self, r->words, NULL, &watcher);
    else
        wait_for_others(j);
    if (j->begun && r->n_words)
        pct_job_tell_killed(j->sampling.self, r->words[0]);
    j->end_ns = pc_mono_ns();
    pct_sampling_stop(&j->sampling);
    pct_sampling_drain(&j->sampling, true);
    j->counts = pct_sampling_counts(&j->sampling);
    if (r->n_words && !pct_sampling_is_of_others(&r->who) && !j->sampling.stops)
        j->uncounted_ns = pct_job_tell_uncounted(j->sampling.self, r->words[0], before,
                                                 j->counts.clock_ns, "sampled");
    if (j->begun && r->n_words && !pct_sampling_is_of_others(&r->who))
        tell_living(j);
    return status;
}

/* ---- The profile ----------------------------------------------------------------------------- */

/* CPU time that has no samples, in ns. */
static uint64_t missed(const struct job *j, const struct pct_recorded *told)
{
    uint64_t counted_ns = j->counts.clock_ns;
    return counted_ns > told->sampled_ns ? counted_ns - told->sampled_ns : 0;
}

/* The part of it that lost records would have had, in ns. */
static uint64_t lost(const struct job *j, const struct pct_recorded *told)
{
    uint64_t lost_ns = told->n_lost * (1000000000u / j->request->who.frequency);
    uint64_t missed_ns = missed(j, told);
    return lost_ns < missed_ns ? lost_ns : missed_ns;
}

/* The rest of it, in ns, if it is worth telling: a thread has its first sample after a whole period
 * of CPU time. */
static uint64_t unseen(const struct job *j, const struct pct_recorded *told)
{
    uint64_t missed_ns = missed(j, told), all_ns = missed_ns + told->sampled_ns;
    missed_ns -= lost(j, told);
    return missed_ns * 20 > all_ns && !j->request->who.processors ? missed_ns : 0;
}

/* Number of samples of threads that waited for a processor, if it is worth telling. */
static uint64_t waited(const struct job *j, const struct pct_recorded *told)
{
    uint64_t n = j->sampling.stops ? pct_stops_told(j->sampling.stops).n_waited : 0;
    return n * 10 > told->n_samples ? n : 0;
}

/* Number of events that no sample stands for, if it is worth keeping: of each thread those after
 * its last sample always have none. */
static uint64_t missed_events(const struct job *j, const struct pct_recorded *told)
{
    uint64_t counted = j->counts.events, sampled = told->sampled_events;
    return counted > sampled && (counted - sampled) * 20 > counted ? counted - sampled : 0;
}

/* Keeps in the profile what is said below, for those who read it later. */
static void note_losses(const struct job *j, const struct pct_recorded *told, struct pc_profile *p)
{
    uint64_t *to = pc_rank_losses(p, &p->ranks[0]);
    if (!to)
        return;
    to[PCOLLECT_LOST_CPU_MS] = unseen(j, told) / 1000000;
    to[PCOLLECT_LOST_OTHERS_MS] = told->other_ns / 1000000;
    to[PCOLLECT_LOST_PLACES] = waited(j, told);
    to[PCOLLECT_LOST_FUNCTIONS] = told->n_hidden + told->n_gone + told->n_foreign;
    to[PCOLLECT_LOST_OF_EVENT] = told->n_lost_of_event;
    to[PCOLLECT_LOST_EVENTS] = missed_events(j, told);
}

static void tell_missed(const struct job *j, const struct pct_recorded *told)
{
    uint64_t missed_ns = unseen(j, told);
    if (missed_ns)
        pct_say(
            j->sampling.self,
            "threads used %.3g s of CPU time %sbefore their first sample or after their last: "
            "not in the profile%s",
            (double)missed_ns / 1e9, j->sampling.what.clock.user_only ? "in the kernel, or " : "",
            j->sampling.stops ? "" : "; a higher --frequency or --all-processors sees more of it");
}

static void tell_event(const struct job *j, const struct pct_recorded *told)
{
    const char *event = j->request->who.event;
    uint64_t counted = j->counts.events;
    fprintf(stderr, "pcollect: %llu %s of %s %s for %llu of the %llu that were counted\n",
            (unsigned long long)told->n_of_event, told->n_of_event == 1 ? "sample" : "samples",
            event, told->n_of_event == 1 ? "stands" : "stand",
            (unsigned long long)told->sampled_events, (unsigned long long)counted);
    if (!j->request->who.period && told->n_of_event < FEW_OF_EVENT && counted > told->n_of_event)
        pct_say(j->sampling.self,
                "so few samples do not tell where %s happened: --count %llu takes more", event,
                (unsigned long long)(counted / ENOUGH_OF_EVENT + 1));
    if (told->n_lost_of_event)
        pct_say(j->sampling.self, "%llu %s of %s %s lost: the rings were full; %s",
                (unsigned long long)told->n_lost_of_event,
                told->n_lost_of_event == 1 ? "sample" : "samples", event,
                told->n_lost_of_event == 1 ? "was" : "were",
                j->request->who.period ? "raise --count" : "lower --frequency");
    if (j->sampling.what.event.user_only && !strchr(event, ':'))
        pct_say(j->sampling.self,
                "%s in the kernel are not counted: kernel.perf_event_paranoid forbids it", event);
}

static void tell_stops(const struct job *j, const struct pct_recorded *told)
{
    struct pct_stops_told stops = pct_stops_told(j->sampling.stops);
    uint64_t n_waited = waited(j, told);
    if (n_waited)
        pct_say(j->sampling.self,
                "%.0f %% of the samples are of threads that waited for a processor: they are where "
                "it was taken away, often in a system call; use fewer threads, or more processors",
                100 * (double)n_waited / (double)told->n_samples);
    if (stops.n_refused)
        pct_say(j->sampling.self,
                "%llu %s missing: another tool held the thread, or it runs with more rights",
                (unsigned long long)stops.n_refused,
                stops.n_refused == 1 ? "sample is" : "samples are");
}

static void tell_lost(const struct job *j, const struct pct_recorded *told)
{
    char time[64] = "";
    if (!j->request->who.processors)
        snprintf(time, sizeof time, ": %.3g s of CPU time are not in the profile",
                 (double)lost(j, told) / 1e9);
    pct_say(j->sampling.self, "%llu %s lost: the rings were full%s; lower --frequency",
            (unsigned long long)told->n_lost, told->n_lost == 1 ? "record was" : "records were",
            time);
}

static void tell_gone(const struct job *j, const struct pct_recorded *told)
{
    pct_say(j->sampling.self, "%.3g %% of the samples have no functions: %s",
            100 * (double)told->n_gone / (double)told->n_samples,
            told->starved ? "there were too few descriptors to open the files of their code; raise "
                            "the limit of open files (ulimit -n)"
                          : "the files of their code were removed or replaced, or cannot be read; "
                            "root can open them while the process runs");
}

/* Samples without outer frames: why, and what gives them some. */
static void tell_cut(const struct job *j, const struct pct_recorded *told)
{
    static const char *const why[PCT_N_CUTS] = {
        [PCT_CUT_MADE] =
            "at an address that is in no program or library file, and whose caller no frame "
            "pointer tells",
        [PCT_CUT_STACK] = "with more stack than the kernel copies, or a page of it that was never "
                          "written, where the copy ends",
        [PCT_CUT_DEEP] = "with more frames than are kept of a stack, which are the innermost 1,024",
        [PCT_CUT_OTHER] = "where an unwind table does not lead to the caller"};
    uint64_t all = 0;
    double n = (double)told->n_samples;
    const char *between = ":";
    struct pct_buf text = {0};
    for (size_t i = 0; i < PCT_N_CUTS; i++)
        all += told->n_cut[i];
    if (all * 100 <= told->n_samples)
        return;
    pct_buf_format(&text, "%.0f %% of the samples have no outer frames", 100 * (double)all / n);
    for (size_t i = 0; i < PCT_N_CUTS; i++) {
        if (!told->n_cut[i])
            continue;
        pct_buf_format(&text, "%s %.3g %% ", between, 100 * (double)told->n_cut[i] / n);
        between = ";";
        if (why[i])
            pct_buf_text(&text, why[i]);
        else
            pct_tableless_put(&text, &told->tableless);
    }
    pct_say(j->sampling.self, "%s", text.data);
    pct_buf_free(&text);
}

/* Remarks on how it was recorded. */
static void tell(const struct job *j, const struct pct_recorded *told)
{
    double n = (double)told->n_samples;
    uint64_t clock_n = told->n_samples - told->n_of_event;
    fprintf(stderr, "pcollect: %llu sample%s", (unsigned long long)clock_n,
            clock_n == 1 ? "" : "s");
    if (!j->sampling.stops)
        fprintf(stderr, " at %llu Hz", (unsigned long long)j->request->who.frequency);
    else if (clock_n)
        fprintf(stderr, ", one in %.2g s of CPU time",
                (double)told->sampled_ns / 1e9 / (double)clock_n);
    if (told->n_ranks)
        fprintf(stderr, ", %d of %d %s", told->n_ranks, told->world,
                told->world == 1 ? "rank" : "ranks");
    else if (told->n_processes > 1)
        fprintf(stderr, ", of %llu processes", (unsigned long long)told->n_processes);
    if (told->n_programs > 1)
        fprintf(stderr, "; samples are of %zu programs: `pcollect report --by region` shows each",
                told->n_programs);
    fputc('\n', stderr);
    if (j->request->who.event)
        tell_event(j, told);
    if (j->sampling.what.clock.user_only)
        pct_say(j->sampling.self,
                "time in the kernel is not sampled: kernel.perf_event_paranoid forbids it");
    if (told->n_lost)
        tell_lost(j, told);
    tell_cut(j, told);
    if (told->n_hidden)
        pct_say(j->sampling.self,
                "%.3g %% of the samples have no functions: they are of processes whose code the "
                "kernel does not let you see; CAP_SYS_PTRACE, as root has it, is needed",
                100 * (double)told->n_hidden / n);
    if (told->n_foreign)
        pct_say(j->sampling.self,
                "%.3g %% of the samples have no functions: they are of processes outside of this "
                "container (pid namespace), which cannot be seen from here",
                100 * (double)told->n_foreign / n);
    if (told->n_gone)
        tell_gone(j, told);
    if (told->n_java * 100 > told->n_samples)
        pct_say(j->sampling.self,
                "%.3g %% of the samples are in code without names that Java made: `jcmd PID "
                "Compiler.perfmap`, of Java 17 and later, names what is recorded after it",
                100 * (double)told->n_java / n);
    if (told->n_made * 100 > told->n_samples)
        pct_say(j->sampling.self,
                "%.3g %% of the samples are in code without names that programs made while they "
                "ran: " PCT_MADE_CODE_CURE,
                100 * (double)told->n_made / n);
    tell_missed(j, told);
    if (j->sampling.stops)
        tell_stops(j, told);
    if (told->other_ns)
        pct_say(j->sampling.self,
                "processes that are not ranks took %.3g s of CPU time, not in the profile",
                (double)told->other_ns / 1e9);
}

/* Reports that there is no profile, and why. */
static void tell_none(const struct job *j, const struct pct_recorded *told)
{
    enum { LEAST_NS = 1000000 };
    char why[160] = "none was on a processor when it was looked at, or had used 0.1 s without a "
                    "sample";
    double elapsed = (double)(j->end_ns - j->begin_ns) / 1e9;
    uint64_t missed_ns = j->request->who.processors ? 0 : missed(j, told);
    if (missed_ns < LEAST_NS) {
        pct_say(j->sampling.self, "no sample was taken in %.3g s%s%s", elapsed,
                j->uncounted_ns ? "" : ": no thread used CPU time, or not enough of it",
                j->have_children ? "; processes that these started before are not recorded with "
                                   "them: add their ids to --pid"
                                 : "");
        return;
    }
    if (told->n_lost)
        snprintf(why, sizeof why, "the rings were full; lower --frequency");
    else if (!j->sampling.stops)
        snprintf(
            why, sizeof why,
            "a thread has none in its first %.3g s; a higher --frequency or --all-processors takes "
            "more",
            1 / (double)j->request->who.frequency);
    pct_say(j->sampling.self,
            "no sample was taken in %.3g s, although threads used %.3g s of CPU time: %s", elapsed,
            (double)missed_ns / 1e9, why);
}

static void show_files(void *recorder, const struct pc_profile *p, struct pct_symbols *symbols)
{
    pct_recorder_show_files(recorder, p, symbols);
}

/* Writes the profile to a path, or to a name beside it if there is a file. */
static int write_to(const struct job *j, const struct pc_profile *p, const char *to,
                    struct pc_error *error)
{
    char written[PCOLLECT_PATH_BYTES];
    const struct pct_embedded embedded = {.show_files = show_files, .arg = j->sampling.recorder};
    int err = pc_pcol_write_new(p, to, 0, written, error);
    if (err)
        return err;
    pct_say_file("profile", written, strcmp(written, to) ? to : NULL);
    if (pct_embed_file(written, written, &embedded, error))
        pct_say(j->sampling.self, "no symbols are stored in the profile: %s", error->text);
    return PC_OK;
}

/* Writes the profile, in the folder of temporary files if not where it should be: what was recorded
 * may not come again. */
static void write_profile(struct job *j, const struct pc_profile *p)
{
    struct pc_error error = {""};
    const char *base = j->request->who.processors ? "processors" : pc_base_name(p->exe);
    const char *folder = getenv("TMPDIR");
    char *to = j->request->output ? pct_text("%s", j->request->output)
                                  : pct_text("%s.%u.pcol", *base ? base : "record", p->n_ranks);
    char *other = pct_text("%s/%s", folder && *folder ? folder : "/tmp", pc_base_name(to));
    j->unwritten = write_to(j, p, to, &error) != PC_OK;
    if (j->unwritten) {
        pct_say(j->sampling.self, "%s", error.text);
        if (write_to(j, p, other, &error))
            pct_say(j->sampling.self, "%s", error.text);
    }
    pct_free(other);
    pct_free(to);
}

static int finish(struct job *j)
{
    struct pct_recorded told;
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int status = PCT_DATA;
    if (j->request->who.processors)
        pct_recorder_name(j->sampling.recorder, "all processors", true);
    else if (j->request->n_words && !pct_sampling_is_of_others(&j->request->who))
        pct_recorder_name(j->sampling.recorder, j->request->words[0], false);
    pct_recorder_counted(j->sampling.recorder, &j->counts, !j->request->who.period);
    int err = pct_recorder_profile(j->sampling.recorder, !j->request->who.processors, j->begin_ns,
                                   j->end_ns, &told, &p, &error);
    if (err) {
        pct_say(j->sampling.self, "%s", *error.text ? error.text : pc_err_text(err));
    } else if (!p) {
        tell_none(j, &told);
    } else {
        tell(j, &told);
        note_losses(j, &told, p);
        pct_command_lines_keep(&j->lines, p);
        write_profile(j, p);
        status = j->unwritten ? PCT_DATA : PCT_DONE;
    }
    pc_profile_free(p);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int record(struct job *j)
{
    int status = pct_sampling_open(&j->sampling);
    if (status)
        return status;
    status = run(j);
    if (!j->begun)
        return status;
    int done = finish(j);
    return status && !j->unwritten ? status : done;
}

/* Checks the output path, or the working directory, before anything starts. */
static int check_output(const struct pct_command *self, const char *path)
{
    struct pc_error error = {""};
    if (!path || !pc_pcol_may_write(path, 0, &error)) {
        if (!path || access(path, F_OK) != 0)
            return pct_folder_takes_files(self, path ? path : "") ? PCT_DONE : PCT_CALL;
        return pct_refuse(self, "%s exists: remove it, or name another file", path);
    }
    pct_say(self, "%s", error.text);
    return PCT_CALL;
}

static int run_record(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.who = {.frequency = PCT_DEFAULT_HZ}};
    struct job j = {.sampling = {.self = self, .who = &r.who}, .request = &r};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    r.words = line.words;
    r.n_words = line.n_words;
    if (!pct_sampling_is_of_others(&r.who) && !r.n_words)
        return pct_refuse(self,
                          "missing argument: COMMAND, --pid, --job, --thread or --all-processors");
    if (r.who.period && !r.who.event)
        return pct_refuse(self, "--count: give the event with --event, as in -e page-faults");
    int status = check_output(self, r.output);
    status = status ? status : record(&j);
    pct_command_lines_free(&j.lines);
    pct_sampling_close(&j.sampling);
    return status;
}

const struct pct_command pct_record_command = {
    .name = "record",
    .synopsis = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
    .summary = "sample a command, running processes, or this node, from outside",
    .details =
        "COMMAND is sampled from its exec on, with all that it starts, but for programs that "
        "gain rights (setuid, file capabilities) or that you may not read; nothing is loaded "
        "into it. With --pid, --job, --thread or --all-processors these are sampled "
        "instead, with the threads and processes that they start meanwhile, while COMMAND "
        "runs, or until they end, or until Ctrl-C. Every other command reads the profile. "
        "For an MPI job it has the ranks of the job; otherwise it has one rank, with a "
        "region for each program. The exit status is that of COMMAND, or 1 if the profile "
        "could not be written.",
    .options = options,
    .starts = true,
    .argument = "COMMAND",
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_record,
};
