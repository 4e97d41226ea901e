/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect stat: counts of a command, of running processes, or of whole processors.
 *
 * A command is held before its exec until its counters are open; they start with the exec, and
 * threads and processes that it starts inherit them. Running targets are counted from the moment
 * when all their threads are open until they end, the command ends, or the user interrupts.
 */
#include "command/stat/stat.h"
#include "analysis/allocation.h"
#include "analysis/student.h"
#include "command/launch/run.h"
#include "view/sentence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_PER = 256, OPTION_FORMAT, OPTION_PER_GROUP };

static const struct pct_option options[] = {
    {'e', "events", "LIST", "the events, with commas between",
     "Generic names of the kernel (page-faults, cycles:u), PMU/TERM=VALUE,.../ with the terms of "
     "/sys/bus/event_source/devices, names of PAPI and libpfm as pcollect events lists them, or "
     "r and the processor's own code in hexadecimal. An event that is named twice is counted once.",
     .known = pct_kernel_event},
    {'r', "repeat", "N",
     "run the command N times; print means, and the least difference that would be significant",
     .group = 1},
    {'I', "interval", "MS", "print the counts of each MS milliseconds", .group = 1},
    {'p', "pid", "PID,...", "count running processes; of a launcher, its ranks on this node",
     "So of a shell that started one. Ranks below any other process are not counted with it: --job "
     "counts them. Until they end, COMMAND ends, or Ctrl-C. Threads and processes that they start "
     "meanwhile are "
     "counted with them.",
     .group = 2},
    PCT_OPTION_JOB("count", 2),
    {'t', "thread", "TID,...", "count running threads", .group = 2},
    {'a', "all-processors", NULL, "count whatever runs on this node", .group = 2},
    {OPTION_PER, "per", "rank|process|thread|processor", "print the counts of each",
     "rank needs --pid, --job or a COMMAND that starts ranks here, process --pid or --job, "
     "processor --all-processors. thread gives those that a process has when the counting begins; "
     "what a thread starts afterwards is counted with it."},
    {OPTION_FORMAT, "format", "text|tsv|json", "text for people (default), or for programs"},
    {'o', "output", "FILE",
     "write to FILE, which must be new (default: standard error with a COMMAND, else standard "
     "output)",
     "A pipe or a device, as /dev/stdout, may be there."},
    {OPTION_PER_GROUP, "counters-per-group", "N",
     "let events take turns, N at a time (default: as many as the processor can count)"},
    PCT_OPTION_WIDTH,
    {0, NULL, NULL, NULL},
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct pct_stat_request *r = request;
    switch (o->letter) {
    case 'r':
        return pct_value_number(self, o, value, 2, 100000, &r->repeat);
    case 'I':
        return pct_value_number(self, o, value, 10, 86400000, &r->interval_ms);
    case OPTION_PER_GROUP:
        return pct_value_number(self, o, value, 1, 15, &r->per_group);
    case OPTION_PER:
        r->per = PCT_PER_RANK + pct_value_word(o, value);
        break;
    case 'o':
        if (!*value)
            return pct_refuse(self, "--output: the path is empty; name a file");
        r->output = value;
        break;
    case OPTION_FORMAT:
        r->format = (enum pct_stat_format)pct_value_word(o, value);
        break;
    case 'j':
        return pct_job_option(self, value, r->job, &r->pids);
    case 'a':
        r->processors = true;
        break;
    default:
        *(o->letter == 'e' ? &r->events : o->letter == 'p' ? &r->pids : &r->threads) = value;
    }
    return PCT_DONE;
}

/* Refuses options that do not go together. */
static int check(const struct pct_command *self, const struct pct_stat_request *r)
{
    bool attached = r->pids || r->threads || r->processors;
    if (!attached && !r->n_words)
        return pct_refuse(self,
                          "missing argument: COMMAND, --pid, --job, --thread or --all-processors");
    if (r->repeat && (attached || !r->n_words))
        return pct_refuse(self, "--repeat is for a COMMAND that is counted itself");
    if (r->per == PCT_PER_RANK && r->repeat)
        return pct_refuse(self,
                          "--repeat gives the means of all that COMMAND starts, not --per rank");
    if (r->per == PCT_PER_RANK && attached && !r->pids)
        return pct_refuse(self, "--per rank needs --pid, --job or a COMMAND that starts ranks");
    if (r->per > PCT_PER_RANK && !attached)
        return pct_refuse(self, "--per process, thread and processor need --pid, --thread or "
                                "--all-processors: a COMMAND is counted with all that it starts");
    if (r->per == PCT_PER_PROCESS && !r->pids)
        return pct_refuse(self, "--per process needs --pid or --job");
    if (r->per == PCT_PER_THREAD && r->processors)
        return pct_refuse(self, "--per thread needs --pid or --thread");
    if (r->per == PCT_PER_PROCESSOR && !r->processors)
        return pct_refuse(self, "--per processor needs --all-processors");
    return PCT_DONE;
}

/* ---- Figures --------------------------------------------------------------------------------- */

static struct pct_stat_figure copy(struct pct_count_figure f)
{
    return (struct pct_stat_figure){f.known, f.estimated, f.value, f.error, f.share, -1};
}

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(to_ns - from_ns) / 1e9;
}

/* The figure of an event, of a target or, behind the last one, of all. */
static struct pct_stat_figure figure(const struct pct_stat_job *j, size_t target, size_t e)
{
    bool all = target == pct_count_n_targets(j->count);
    if (j->names[e].used)
        return all ? j->all_used : j->used[target];
    if (j->names[e].accounted)
        return pct_stat_accounted(j, e);
    return copy(all ? pct_count_total(j->count, j->numbers[e])
                    : pct_count_figure(j->count, target, j->numbers[e]));
}

/* The CPU time of a target or, behind the last one, of all. */
static struct pct_stat_figure clock_of(const struct pct_stat_job *j, size_t target)
{
    if (j->accounted)
        return pct_stat_accounted_clock(j);
    return copy(target == pct_count_n_targets(j->count)
                    ? pct_count_total(j->count, PCT_COUNT_CLOCK)
                    : pct_count_figure(j->count, target, PCT_COUNT_CLOCK));
}

/* Prints the figures taken last, for each target if requested, then for all. */
static void put_figures(struct pct_stat_job *j, uint64_t now)
{
    size_t n = pct_count_n_targets(j->count), from = j->request->per ? 0 : n;
    struct pct_stat_figure figures[PCT_COUNT_MAX_EVENTS];
    for (size_t i = from; i <= n; i++) {
        size_t t = i < n ? j->order[i] : n;
        struct pct_stat_block b = {.figures = figures,
                                   .who = t < n          ? j->who
                                          : j->rank >= 0 ? "rank"
                                                         : NULL,
                                   .number = t < n ? j->targets[t] : j->rank,
                                   .at_s = seconds(j->start_ns, now),
                                   .elapsed_s = seconds(j->last_ns, now)};
        b.n_processors = !j->stat.processors ? 0 : t < n ? 1 : n;
        for (size_t e = 0; e < j->stat.n; e++)
            figures[e] = figure(j, t, e);
        b.clock = clock_of(j, t);
        if (t == n && from < n && j->request->format == PCT_STAT_TEXT)
            fprintf(j->out, j->stat.intervals ? "all\n" : "\nall\n");
        pct_stat_put(j->out, &j->stat, j->request->format, &b);
    }
    fflush(j->out);
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* Opens the stream of the counts, which writes whole blocks: several ranks may share standard
 * error. Rows for a file or a pipe are not cut, unless a width is given. */
static void open_stream(struct pct_stat_job *j, int fd)
{
    const struct pct_terminal terminal = pct_terminal_look_at(fd);
    j->stat.width = terminal.cut ? terminal.width : 0;
    j->sentence_width = terminal.width;
    j->out = pct_stream_open(&j->stream, fd);
    if (!j->out)
        exit((pct_say(j->self, "not enough memory"), PCT_DATA));
}

static bool open_output(struct pct_stat_job *j)
{
    const struct pct_stat_request *r = j->request;
    int fd = r->output    ? pct_new_file(j->self, r->output, &j->made)
             : r->n_words ? STDERR_FILENO
                          : STDOUT_FILENO;
    if (fd >= 0)
        open_stream(j, fd);
    return fd >= 0;
}

/* A file that is not kept is removed. */
static void close_output(struct pct_stat_job *j, bool keep)
{
    fclose(j->out);
    if (j->stream.fd <= STDERR_FILENO)
        return;
    close(j->stream.fd);
    if (!keep && j->made)
        remove(j->request->output);
}

/* Ends the file behind its last whole interval: of the next one a part may be there, whose last
 * number may be cut. False: it has no whole interval, or is none of this command. */
static bool end_file(struct pct_stat_job *j)
{
    int fd = j->stream.fd;
    if (!j->made || fd <= STDERR_FILENO || j->whole_bytes <= 0 || ftruncate(fd, j->whole_bytes) ||
        lseek(fd, j->whole_bytes, SEEK_SET) < 0)
        return false;
    j->stream.err = 0;
    pct_stat_end(j->out, &j->stat, j->request->format);
    fflush(j->out);
    return true;
}

/* True if the last counts were not written. It is said, and the counts go to standard error from
 * now on: they may not come again. Whole intervals stay in the file. */
static bool change_output(struct pct_stat_job *j)
{
    bool again = j->stream.err && j->stream.fd != STDERR_FILENO;
    if (j->stream.err)
        pct_say_unwritten(j->self, j->request->output ? j->request->output : "the counts",
                          j->stream.err);
    else
        j->whole_bytes = lseek(j->stream.fd, 0, SEEK_CUR);
    j->unwritten |= j->stream.err != 0;
    if (again) {
        close_output(j, end_file(j));
        open_stream(j, STDERR_FILENO);
        j->stat.begun = false;
        j->stat.n_put = 0;
    }
    return again;
}

/* ---- While it runs --------------------------------------------------------------------------- */

static void note_begin(void *arg)
{
    struct pct_stat_job *j = arg;
    j->begun = true;
    j->last_ns = j->start_ns;
    j->due_ns =
        j->request->interval_ms ? j->start_ns + j->request->interval_ms * 1000000 : UINT64_MAX;
}

/* Takes the counts up to now, or of the time since they were taken last. */
static void take_counts(struct pct_stat_job *j, uint64_t now)
{
    pct_count_take(j->count);
    if (j->request->processors)
        pct_stat_take_used(j, now - j->last_ns);
    j->counted_ns += (uint64_t)fmax(0, pct_count_total(j->count, PCT_COUNT_CLOCK).value);
}

/* Counters of a command have begun with its exec. */
static void begin_command(void *arg)
{
    struct pct_stat_job *j = arg;
    pct_count_start(j->count);
    note_begin(j);
}

/* Turns and intervals. If this process is late, it skips an interval instead of printing two. */
static uint64_t tick(void *arg)
{
    struct pct_stat_job *j = arg;
    uint64_t turn = pct_count_turn(j->count), now = pc_mono_ns();
    uint64_t look = j->started ? pct_stat_find_ranks(j) : UINT64_MAX;
    uint64_t step = j->request->interval_ms * 1000000;
    if (now >= j->due_ns) {
        take_counts(j, now);
        put_figures(j, now);
        if (change_output(j))
            put_figures(j, now);
        j->last_ns = now;
        j->due_ns += step * ((now - j->due_ns) / step + 1);
    }
    uint64_t next = j->due_ns == UINT64_MAX ? UINT64_MAX : j->due_ns - now;
    next = look < next ? look : next;
    return turn < next ? turn : next;
}

static bool add_command(void *arg, int pid)
{
    struct pct_stat_job *j = arg;
    struct pc_error error = {""};
    const struct pc_counting_viewee who = {.tid = pid, .cpu = -1, .from_exec = true};
    pct_count_keep(j->count, 0, 0);
    if (!pct_count_add(j->count, 0, &who, &error)) {
        j->start_ns = pc_mono_ns();
        return true;
    }
    pct_say(j->self, "%s cannot be counted: %s", j->request->words[0], error.text);
    return false;
}

static bool await_ranks(void *arg, int pid)
{
    struct pct_stat_job *j = arg;
    j->start_ns = pc_mono_ns();
    return pct_stat_await_ranks(j, pid);
}

/* Starts counters of running targets, before the command whose length limits the count. */
static bool begin_attached(void *arg, int pid)
{
    struct pct_stat_job *j = arg;
    (void)pid;
    j->start_ns = pc_mono_ns();
    pct_count_start(j->count);
    if (j->request->processors)
        pct_stat_take_used(j, 0);
    return true;
}

/* Waits until all targets have ended, or the user interrupts. */
static void wait_for_targets(struct pct_stat_job *j)
{
    enum { LOOK_NS = 50000000 };
    pct_interrupt_catch();
    begin_attached(j, -1);
    note_begin(j);
    while (!pct_interrupted() &&
           (j->request->processors || pct_watch_lives(j->living, j->n_living))) {
        uint64_t ns = tick(j);
        pc_nap_ns(ns < LOOK_NS ? ns : LOOK_NS);
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Columns of a run; each event has two, its value and its share. */
enum { RUN_ELAPSED, RUN_CLOCK, RUN_EVENTS };

static void keep_run(struct pct_stat_job *j, double elapsed_s)
{
    struct pct_stat_runs *r = &j->runs;
    size_t all = pct_count_n_targets(j->count);
    double *row = r->values + r->n++ * r->width;
    row[RUN_ELAPSED] = elapsed_s;
    row[RUN_CLOCK] = clock_of(j, all).value;
    for (size_t e = 0; e < j->stat.n; e++) {
        struct pct_stat_figure f = figure(j, all, e);
        row[RUN_EVENTS + 2 * e] = f.known ? f.value : NAN;
        row[RUN_EVENTS + 2 * e + 1] = f.share;
    }
}

/* Mean of a column, its interval, and the least significant difference between two such series.
 * Unknown if one run has no value. */
static struct pct_stat_figure mean(const struct pct_stat_runs *r, size_t column)
{
    struct pct_stat_figure f = {.known = true, .share = 1, .differ = -1};
    double squares = 0;
    for (size_t i = 0; i < r->n; i++)
        f.value += r->values[i * r->width + column] / (double)r->n;
    for (size_t i = 0; i < r->n; i++)
        squares += pow(r->values[i * r->width + column] - f.value, 2);
    f.known = !isnan(f.value);
    double deviation = r->n > 1 ? sqrt(squares / (double)(r->n - 1)) : 0;
    f.error = pct_student_error(deviation, r->n);
    if (r->n > 1 && f.value != 0)
        f.differ = pct_student_95(2 * r->n - 2) * deviation * sqrt(2 / (double)r->n) / f.value;
    return f;
}

static void put_means(struct pct_stat_job *j)
{
    const struct pct_stat_runs *r = &j->runs;
    struct pct_stat_figure figures[PCT_COUNT_MAX_EVENTS];
    struct pct_stat_block b = {
        .figures = figures, .who = j->rank >= 0 ? "rank" : NULL, .number = j->rank};
    b.at_s = b.elapsed_s = mean(r, RUN_ELAPSED).value;
    b.clock = mean(r, RUN_CLOCK);
    for (size_t e = 0; e < j->stat.n; e++) {
        figures[e] = mean(r, RUN_EVENTS + 2 * e);
        figures[e].share = mean(r, RUN_EVENTS + 2 * e + 1).value;
    }
    pct_stat_put(j->out, &j->stat, j->request->format, &b);
}

static void put_words(const struct pct_stat_job *j, struct pct_buf *out)
{
    struct pct_buf line = {0};
    for (size_t i = 0; i < j->request->n_words; i++) {
        pct_buf_text(&line, i ? " " : "");
        pct_text_shell(&line, j->request->words[i]);
    }
    pct_text_escape(out, line.data, PCT_ESCAPE_CELL);
    pct_buf_free(&line);
}

static void put_watched(const struct pct_stat_job *j, struct pct_buf *out)
{
    size_t n = j->n_targets;
    pct_buf_format(out, "%zu %s%s", n, j->who,
                   n == 1                       ? ""
                   : !strcmp(j->who, "process") ? "es"
                                                : "s");
    if (!strcmp(j->who, "rank") && j->world > 0)
        pct_buf_format(out, " of %d", j->world);
    if (j->started) {
        pct_buf_text(out, ", counted from their exec on, at the latest after ");
        pct_text_estimate(out, (double)j->late_ns, 0, PCT_UNIT_NS);
    }
}

/* A line before the counts, once they are known. */
static void put_head(const struct pct_stat_job *j)
{
    struct pct_stat_figure elapsed = {.value = seconds(j->start_ns, j->end_ns)};
    struct pct_buf what = {0}, time = {0};
    if (j->runs.n)
        elapsed = mean(&j->runs, RUN_ELAPSED);
    if (j->who)
        put_watched(j, &what);
    else
        put_words(j, &what);
    pct_text_estimate(&time, elapsed.value * 1e9, fmax(elapsed.error, 0) * 1e9, PCT_UNIT_NS);
    fprintf(j->out, "\n  %s: %s", what.data, time.data);
    if (j->runs.n > 1)
        fprintf(j->out, ", mean of %zu runs", j->runs.n);
    fprintf(j->out, "\n\n");
    pct_buf_free(&what);
    pct_buf_free(&time);
}

/* Prints what is known at the end. */
static void put_result(struct pct_stat_job *j)
{
    bool text = j->request->format == PCT_STAT_TEXT;
    if (text && !j->stat.intervals)
        put_head(j);
    if (j->request->repeat)
        put_means(j);
    else
        put_figures(j, j->end_ns);
    if (text && j->uncounted_ns) {
        fputs("\n  ", j->out);
        pct_print_sentence(j->out, j->sentence_width, 2,
                           "in these counts, %.3g s of the CPU time are missing",
                           (double)j->uncounted_ns / 1e9);
    }
    if (text)
        pct_stat_put_reasons(j->out, &j->stat, j->sentence_width);
    if (text && j->accounted)
        pct_stat_put_accounted(j);
    pct_stat_end(j->out, &j->stat, j->request->format);
    fflush(j->out);
}

/* Says why there are no further runs. */
static void tell_last(const struct pct_stat_job *j, int status, bool left_out)
{
    const struct pct_stat_runs *r = &j->runs;
    if (left_out)
        pct_say(j->self, "run %zu was interrupted: it is left out, and there are no further runs",
                r->n + 1);
    else if (status && r->n && r->n < j->request->repeat)
        pct_say(j->self, "run %zu ended with status %d: there are no further runs", r->n, status);
}

/* Runs the command as often as requested. A run that fails is the last, and is included. A run that
 * the user interrupts is the last, too; of several runs it is left out. */
static int run_command(struct pct_stat_job *j)
{
    const struct pct_job_watcher watcher = {add_command, begin_command, tick, j};
    size_t times = j->request->repeat ? j->request->repeat : 1;
    int status = PCT_DONE;
    bool left_out = false;
    const struct pct_job_cpu before = pct_job_cpu();
    j->runs.width = RUN_EVENTS + 2 * j->stat.n;
    j->runs.values = pct_alloc(times, j->runs.width * sizeof *j->runs.values);
    while (j->runs.n < times && !status && !left_out) {
        j->begun = false;
        pct_stat_begin_accounted(j);
        status = pct_job_run(j->self, j->request->words, NULL, &watcher);
        j->end_ns = pc_mono_ns();
        if (!j->begun)
            break;
        left_out = j->request->repeat && pct_job_interrupted();
        pct_stat_take_accounted(j);
        take_counts(j, j->end_ns);
        if (!left_out)
            keep_run(j, seconds(j->start_ns, j->end_ns));
    }
    tell_last(j, status, left_out);
    if (j->begun && !j->nothing)
        j->uncounted_ns =
            pct_job_tell_uncounted(j->self, j->request->words[0], before, j->counted_ns, "counted");
    j->begun = j->begun && j->runs.n;
    return status || j->runs.n ? status : PCT_DATA;
}

/* Counts running targets; a command, if there is one, limits the time. */
static int run_attached(struct pct_stat_job *j)
{
    pct_open_files_raise();
    int status = pct_stat_find_targets(j);
    if (status)
        return status;
    if (j->request->n_words) {
        const struct pct_job_watcher watcher = {begin_attached, note_begin, tick, j};
        status = pct_job_run(j->self, j->request->words, NULL, &watcher);
    } else {
        wait_for_targets(j);
    }
    j->end_ns = pc_mono_ns();
    if (j->begun)
        take_counts(j, j->end_ns);
    return status;
}

/* Counts the ranks that a command starts. */
static int run_launcher(struct pct_stat_job *j)
{
    const struct pct_job_watcher watcher = {await_ranks, begin_command, tick, j};
    j->who = "rank";
    int status = pct_job_run(j->self, j->request->words, NULL, &watcher);
    j->end_ns = pc_mono_ns();
    if (!j->begun)
        return status;
    uint64_t missed = pct_started_missed(j->started);
    if (missed)
        pct_say(j->self, "processes that ended before it was known whether they are ranks: %llu",
                (unsigned long long)missed);
    if (j->n_targets) {
        pct_count_take(j->count);
    } else {
        pct_say(j->self,
                "%s has started no ranks that are found: processes below it on this node, with the "
                "variables of a launcher; for srun, put pcollect stat before the program",
                j->request->words[0]);
        j->failed = PCT_DATA;
        j->begun = false;
    }
    return status ? status : j->failed;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool counts_any(const struct pct_stat_job *j)
{
    for (size_t e = 0; e < j->stat.n; e++)
        if (pct_stat_has(&j->stat.events[e]))
            return true;
    return false;
}

static int count(struct pct_stat_job *j)
{
    const struct pct_stat_request *r = j->request;
    bool attached = r->pids || r->threads || r->processors;
    int status = pct_stat_find_events(j);
    if (status)
        return status;
    j->stat.repeated = r->repeat != 0;
    j->stat.intervals = r->interval_ms != 0;
    j->stat.processors = r->processors;
    j->rank = attached || r->per ? -1 : pc_config_launch().rank;
    if (!open_output(j))
        return PCT_CALL;
    status = attached ? run_attached(j) : r->per ? run_launcher(j) : run_command(j);
    if (j->begun && r->n_words)
        pct_job_tell_killed(j->self, r->words[0]);
    if (j->begun)
        put_result(j);
    if (j->begun && change_output(j))
        put_result(j);
    close_output(j, j->begun);
    return status || !j->begun ? status : !j->unwritten && counts_any(j) ? PCT_DONE : PCT_DATA;
}

static int run_stat(const struct pct_command *self, int argc, char **argv)
{
    struct pct_stat_request r = {.per = PCT_PER_ALL};
    struct pct_stat_job j = {.self = self, .request = &r, .world = -1};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    r.words = line.words;
    r.n_words = line.n_words;
    int status = check(self, &r);
    status = status ? status : count(&j);
    pct_stat_free_events(&j);
    pct_started_free(j.started);
    pct_free(j.targets);
    pct_free(j.order);
    pct_free(j.living);
    pct_free(j.used_ns);
    pct_free(j.used);
    pct_free(j.runs.values);
    return status;
}

const struct pct_command pct_stat_command = {
    .name = "stat",
    .synopsis = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
    .summary = "count events of a command, of running processes, or of this node",
    .details =
        "COMMAND is counted from its exec on, with all that it starts, but for programs that "
        "gain rights (setuid, file capabilities) or that you may not read; nothing is loaded "
        "into it. With --pid, --job, --thread or --all-processors these are counted "
        "instead, while COMMAND runs. The exit status is that of COMMAND.",
    .options = options,
    .starts = true,
    .argument = "COMMAND",
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_stat,
};
