/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect where: the stacks of running processes, merged into one tree.
 */
#include "base/progress.h"
#include "command/watched_jobs.h"
#include "command/where_nodes.h"
#include "view/sentence.h"
#include "view/where_print.h"
#include "watch/code_files.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    OPTION_EVERY = 256,
    OPTION_FORMAT,
    OPTION_TABLE,
    OPTION_FULL_NAMES,
    OPTION_HOSTS,
    OPTION_SHELL,
    OPTION_AGENT,
    OPTION_WHOLE_JOB
};

static const struct pct_option options[] = {
    {'p', "pid", "PID,...", "show running processes; of a launcher, its ranks on this node",
     "As JOB does.", .group = 1},
    PCT_OPTION_JOB("show", 1),
    {'n', "times", "N", "take the stacks N times (default: 1)",
     "A rank that stays at one place hangs or waits; for the others, the share of each place says "
     "where the time goes."},
    {OPTION_EVERY, "every", "MS", "milliseconds from one time to the next (default: 100)",
     .parts = PCT_PART_TIMES},
    {'a', "all-threads", NULL, "show also threads without a frame of the program",
     "MPI libraries and runtimes have threads of their own. Without this option they are only "
     "counted."},
    {OPTION_WHOLE_JOB, "whole-job", NULL, "for a rank, show all ranks of its job",
     "All that run on this node, as for the launcher. A debugger knows the rank that it holds, and "
     "not always the launcher."},
    {OPTION_FORMAT, "format", "text|tsv|json", "text for people (default), or for programs",
     "tsv has the rows of one --table. json is an object with all of them, as arrays."},
    {OPTION_TABLE, "table", "stacks|calls|requests|waits",
     "with --format tsv: a row for each place at which stacks end (default), for each rank in MPI, "
     "for each request that such a rank waits for, or for each sentence on who waits for whom",
     .parts = PCT_PART_ROWS},
    {OPTION_HOSTS, "hosts", "HOST,...", "show the ranks on these nodes",
     "The default is this node. The command starts itself on each of them, from the same path, "
     "with "
     "--agent, and reads the answers. With --debuginfod, each node asks the servers that its own "
     "DEBUGINFOD_URLS names. A node is reported if its answer takes more than 60 s, and "
     "the "
     "others are shown. Deadlocks between ranks of different nodes are named too."},
    {OPTION_SHELL, "remote-shell", "COMMAND",
     "start commands on nodes by COMMAND HOST (default: ssh)",
     "COMMAND may have options, divided by spaces. In a job of Slurm: 'srun --overlap --jobid 123 "
     "-N 1 -n 1 -w'. This node needs none.",
     .parts = PCT_PART_NODES},
    {OPTION_AGENT, "agent", NULL, "answer the pcollect where of another node"},
    {OPTION_FULL_NAMES, "full-names", NULL, "long C++ names with all their arguments"},
    PCT_OPTION_WIDTH,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

enum format { TEXT, TSV, JSON };
enum table { STACKS, CALLS, REQUESTS, WAITS };

struct request {
    uint64_t times, every_ms;
    bool all_threads, full_names, agent, whole_job;
    const char *hosts, *shell;
    const char *pids, *named; /* of --pid and --job */
    enum format format;
    enum table table;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    int status = PCT_DONE;
    switch (o->letter) {
    case 'p':
        r->pids = value;
        break;
    case 'j':
        r->named = value;
        break;
    case 'n':
        status = pct_value_number(self, o, value, 1, 10000, &r->times);
        break;
    case OPTION_EVERY:
        status = pct_value_number(self, o, value, 0, 3600000, &r->every_ms);
        break;
    case 'a':
        r->all_threads = true;
        break;
    case OPTION_FORMAT:
        r->format = (enum format)pct_value_word(o, value);
        break;
    case OPTION_TABLE:
        r->table = (enum table)pct_value_word(o, value);
        break;
    case OPTION_HOSTS:
        r->hosts = value;
        break;
    case OPTION_SHELL:
        r->shell = value;
        break;
    case OPTION_AGENT:
        r->agent = true;
        break;
    case OPTION_WHOLE_JOB:
        r->whole_job = true;
        break;
    default:
        r->full_names = true;
    }
    return status;
}

static int add_process(const struct pct_command *self, const struct request *r, int pid,
                       struct pct_watched_job *job)
{
    struct pc_error error = {""};
    struct pc_config_launch launch = pct_watch_launch(pid);
    size_t n = job->n;
    if (r->whole_job && launch.rank >= 0 && launch.key)
        pct_watch_add_keyed(job, launch.key);
    if (job->n > n || !pct_watch_add(job, pid, &error))
        return PCT_DONE;
    pct_say(self, "%s", error.text);
    return PCT_DATA;
}

/* Finds what to show. *missing: a status after a message that some of it is not there. */
static int find_processes(const struct pct_command *self, const struct request *r,
                          const struct pct_line *line, struct pct_watched_job *job, int *missing)
{
    int pid, status = line->n_words ? PCT_DONE : pct_find_only_job(self, &pid);
    if (!line->n_words && !status)
        status = add_process(self, r, pid, job);
    for (size_t i = 0; i < line->n_words; i++) {
        int found = pct_find_job(self, line->words[i], &pid);
        found = found ? found : add_process(self, r, pid, job);
        *missing = found ? found : *missing;
    }
    status = status || job->n ? status : *missing;
    pct_watch_sort(job);
    return status || pct_watch_is_one_job(job) ? status : pct_say_several_jobs(self, job);
}

static bool has_ended(int pid)
{
    struct pc_process_status p;
    return !pc_process_look(pid, &p) || p.ended;
}

/* Takes stacks. A process that cannot be read is reported, once, and the others are shown. If the
 * user interrupts, they are taken a last time, and r->times is cut. */
static int take_stacks(const struct pct_command *self, struct request *r, struct pct_watch *w,
                       struct pct_watched_job *job, struct pct_where_time *last)
{
    int status = PCT_DONE;
    uint32_t most_other = 0, n_failed = 0;
    bool *failed = pct_alloc(w->job->n, sizeof *failed);
    pc_progress_begin("reading the stacks of", "processes", 0, r->times * w->job->n);
    if (r->times > 1 && !r->agent)
        pct_interrupt_catch();
    for (uint64_t k = 0; k < r->times && n_failed < w->job->n; k++) {
        if (k && !pct_interrupted())
            pc_nap_ns(r->every_ms * 1000000);
        r->times = pct_interrupted() ? k + 1 : r->times;
        w->calls = k + 1 == r->times;
        w->n_other = 0;
        last->first = w->n_stacks;
        last->ticks = pc_ticks();
        uint64_t begin_ns = pc_mono_ns();
        for (uint32_t i = 0; i < w->job->n; i++) {
            struct pc_error error = {""};
            pc_progress_next("reading the stacks of", "processes", k * w->job->n + i,
                             r->times * w->job->n);
            if (failed[i] || !pct_watch_take(w, i, &error))
                continue;
            failed[i] = true;
            n_failed++;
            status = PCT_DATA;
            pct_say(self, "%s", error.text);
        }
        most_other = w->n_other > most_other ? w->n_other : most_other;
        uint64_t ns = pc_mono_ns() - begin_ns;
        last->longest_ns = ns > last->longest_ns ? ns : last->longest_ns;
    }
    w->n_other = most_other;
    for (uint32_t i = 0; i < job->n; i++)
        job->processes[i].ended = failed[i] && has_ended(job->processes[i].pid);
    pc_progress_end();
    pct_free(failed);
    return status;
}

/* Name of what is listed: ranks, processes if there are several, threads of a single one. */
static struct pct_where_stack *name_stacks(const struct pct_watch *w, struct pct_where *out)
{
    const struct pct_watched *processes = w->job->processes;
    bool ranks = processes[0].rank >= 0, several = w->job->n > 1;
    struct pct_where_stack *stacks = pct_alloc(w->n_stacks, sizeof *stacks);
    for (size_t i = 0; i < w->n_stacks; i++) {
        const struct pct_watched_stack *s = &w->stacks[i];
        const struct pct_watched *p = &processes[s->process];
        stacks[i].number = ranks ? p->rank : several ? p->pid : s->tid;
        stacks[i].state = s->state;
        stacks[i].tells = (!ranks && !several) || s->tid == p->pid;
    }
    out->ranks = ranks;
    out->one = ranks ? "rank" : several ? "process" : "thread";
    out->many = ranks ? "ranks" : several ? "processes" : "threads";
    return stacks;
}

/* Says how many ranks of the job are shown, and what shows the others. nodes: "N nodes"; NULL: this
 * one. */
static void put_ranks(const struct pct_watched_job *job, const struct request *r,
                      const struct pct_where *out, const char *name, const char *nodes)
{
    struct pc_config_launch launch = pct_watch_launch(job->processes[0].pid);
    int n = (int)job->n, world = job->world > 0 ? job->world : n;
    const char *ranks_are = world == 1 ? "rank is" : "ranks are";
    bool chosen =
        !nodes && !job->whole && !r->whole_job && launch.key && n < world && launch.n_local != n;
    if (chosen)
        pct_print_sentence(stdout, out->width, 2, "%s: %d of %d %s shown", name, n, world,
                           ranks_are);
    else
        pct_print_sentence(stdout, out->width, 2, "%s: %d of %d %s on %s", name, n, world,
                           ranks_are, nodes ? nodes : "this node");
    if (nodes || n >= world)
        return;
    if (chosen && launch.n_local == world)
        pct_print_sentence(stdout, out->width, 2, "  --whole-job shows the others too");
    else if (chosen)
        pct_print_sentence(stdout, out->width, 2,
                           "  --whole-job shows the others on this node too, --hosts those on "
                           "other nodes");
    else
        pct_print_sentence(stdout, out->width, 2, "  --hosts shows the others too");
}

/* Says that a tree is no snapshot, if it took long to look at its threads. */
static void put_span(const struct pct_watch *w, const struct pct_where_time *last,
                     const struct pct_where *out)
{
    const uint64_t long_ns = 1000000000;
    char span[PCT_NUMBER_BYTES];
    if (last->longest_ns > long_ns && w->n_stacks - last->first > 1)
        pct_print_sentence(
            stdout, out->width, 2, "  the threads were looked at one after the other, %swithin %s",
            out->times > 1 ? "each time " : "", pct_text_time(span, last->longest_ns));
}

static void put_head(const struct pct_watch *w, const struct request *r,
                     const struct pct_where_time *last, const struct pct_where *out,
                     const struct pct_where_nodes *nodes)
{
    char exe[4096], where[64];
    size_t n = w->job->n, n_nodes = nodes ? pct_where_nodes_count(nodes) : 0;
    if (nodes)
        snprintf(exe, sizeof exe, "%s", pct_where_nodes_exe(nodes));
    else
        pct_watch_exe(w->job->processes[0].pid, exe, sizeof exe);
    if (nodes)
        snprintf(where, sizeof where, "%zu node%s", n_nodes, n_nodes == 1 ? "" : "s");
    char *name = pct_text_escaped(*exe ? exe : "?");
    if (w->job->processes[0].rank >= 0)
        put_ranks(w->job, r, out, name, nodes ? where : NULL);
    else
        pct_print_sentence(stdout, out->width, 2, "%s: %zu %s", name, n,
                           n == 1 ? "process" : "processes");
    pct_free(name);
    if (r->times > 1)
        printf("  %llu times, %llu ms apart%s\n", (unsigned long long)r->times,
               (unsigned long long)r->every_ms,
               pct_interrupted() ? ", the last when it was interrupted" : "");
    put_span(w, last, out);
    if (w->n_other)
        printf("  and %s%u thread%s without a frame of the program: --all-threads shows %s\n",
               out->times > 1 ? "each time up to " : "", w->n_other, w->n_other == 1 ? "" : "s",
               w->n_other == 1 ? "it" : "them");
    if (w->n_lost)
        printf("  %u stack%s could not be read\n", w->n_lost, w->n_lost == 1 ? "" : "s");
    fputc('\n', stdout);
}

static void put_text(const struct pct_where *out, const struct pct_where_calls *calls)
{
    pct_where_waits_print(stdout, calls, out->width);
    pct_where_calls_print(stdout, calls, out->width);
    pct_where_print(stdout, out);
}

static void put_tsv(enum table table, const struct pct_where *out,
                    const struct pct_where_calls *calls)
{
    if (table == CALLS)
        pct_where_calls_rows(stdout, calls, false);
    else if (table == REQUESTS)
        pct_where_requests_rows(stdout, calls, false);
    else if (table == WAITS)
        pct_where_waits_rows(stdout, calls, false);
    else
        pct_where_rows(stdout, out, false);
}

static void put_json(const struct pct_where *out, const struct pct_where_calls *calls)
{
    fputs("{\"pcollect_where\": 1,\n\"stacks\": ", stdout);
    pct_where_rows(stdout, out, true);
    fputs(",\n\"calls\": ", stdout);
    pct_where_calls_rows(stdout, calls, true);
    fputs(",\n\"requests\": ", stdout);
    pct_where_requests_rows(stdout, calls, true);
    fputs(",\n\"waits\": ", stdout);
    pct_where_waits_rows(stdout, calls, true);
    fputs("}\n", stdout);
}

static void conclude(struct pct_where_calls *calls, struct pct_watch *w,
                     struct pct_where_nodes *nodes)
{
    const struct pct_watched_job *job = w->job;
    int n_known = job->whole ? pct_watch_launch(job->processes[0].pid).n_local : -1;
    if (nodes)
        pct_where_calls_conclude(calls, job->world, pct_where_nodes_ranks(nodes),
                                 pct_where_nodes_look_again, nodes);
    else
        pct_where_calls_conclude(calls, job->world, n_known, pct_where_look_again, w);
}

/* Names files that were removed or replaced and cannot be opened. */
static void tell_removed(const struct pct_command *self, const struct pc_profile *p,
                         struct pct_symbols *symbols)
{
    for (uint32_t m = 0; m < p->n_modules; m++) {
        const char *path = p->modules[m].path;
        size_t n = pct_code_gone_bytes(path);
        if (n && !pct_symbols_has_file(symbols, m))
            pct_say(self,
                    "%.*s was removed or replaced, and cannot be opened: its functions and their "
                    "callers are not known; root can open it",
                    (int)n, path);
    }
}

static void tell_tableless(const struct pct_command *self, const struct pct_watch *w)
{
    const struct pct_tableless t = pct_code_frames_tableless(&w->frames);
    struct pct_buf text = {0};
    if (!t.n)
        return;
    pct_tableless_put(&text, &t);
    pct_say(self, "%llu stack%s %s", (unsigned long long)t.n, t.n == 1 ? " is cut" : "s are cut",
            text.data);
    pct_buf_free(&text);
}

/* nodes: those that w was taken on; NULL: this one. */
static int show(const struct pct_command *self, const struct request *r, struct pct_watch *w,
                struct pct_where_time *last, struct pct_where_nodes *nodes)
{
    static const struct pct_tree_options whole = {0};
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    struct pct_terminal terminal = pct_terminal_look();
    int err = pct_watch_profile(w, &p, &error);
    if (err || !p) {
        if (err)
            pct_say(self, "%s", *error.text ? error.text : pc_err_text(err));
        else if (w->n_other)
            pct_say(self, "no stack has a frame of the program%s",
                    r->all_threads ? "" : ": --all-threads shows those of other threads");
        return PCT_DATA;
    }
    struct pct_symbols *symbols = pct_symbols_new(p);
    if (nodes)
        pct_where_nodes_name(nodes, w, p, symbols);
    else
        pct_code_files_show(w->frames.files, p, symbols);
    pct_named_teach(&w->frames.named, p, symbols);
    struct pct_data *d = pct_data_new("", p, symbols, &whole);
    struct pct_where out = {.d = d,
                            .width = terminal.width,
                            .utf8 = terminal.utf8,
                            .full_names = r->full_names,
                            .times = r->times};
    struct pct_where_stack *stacks = name_stacks(w, &out);
    out.stacks = stacks;
    struct pct_where_calls calls = {0};
    pct_where_calls_collect(&calls, w, last);
    conclude(&calls, w, nodes);
    if (r->format == TEXT) {
        put_head(w, r, last, &out, nodes);
        put_text(&out, &calls);
    } else if (r->format == TSV) {
        put_tsv(r->table, &out, &calls);
    } else {
        put_json(&out, &calls);
    }
    if (!nodes) {
        tell_removed(self, p, symbols);
        tell_tableless(self, w);
    }
    pct_where_calls_free(&calls);
    pct_free(stacks);
    pct_data_free(d);
    pc_profile_free(p);
    return PCT_DONE;
}

/* Takes the stacks of processes on this node, and shows them or, as an agent, sends them. */
static int look_here(const struct pct_command *self, struct request *r, const struct pct_line *line,
                     struct pct_watch *w, struct pct_watched_job *job)
{
    struct pct_where_time last = {0};
    struct pc_buffer sent = {0};
    int missing = PCT_DONE, status = pct_check_proc(self);
    if (status)
        return status;
    status = r->agent ? pct_where_agent_find(self, line->words[0], job)
                      : find_processes(self, r, line, job, &missing);
    if (status)
        return status;
    w->sent = r->agent ? &sent : NULL;
    if (!r->agent)
        pct_progress_show();
    status = take_stacks(self, r, w, job, &last);
    int shown = r->agent ? pct_where_agent(w, &last) : show(self, r, w, &last, NULL);
    free(sent.data);
    status = status ? status : shown;
    return status ? status : missing;
}

static int look_at_nodes(const struct pct_command *self, struct request *r,
                         const struct pct_line *line, struct pct_watch *w,
                         struct pct_watched_job *job)
{
    struct pct_where_time last = {0};
    int status = PCT_DONE;
    pct_progress_show();
    struct pct_where_nodes *nodes =
        pct_where_nodes_take(self,
                             &(struct pct_where_order){.hosts = r->hosts,
                                                       .shell = r->shell ? r->shell : "ssh",
                                                       .job = line->words[0],
                                                       .times = r->times,
                                                       .every_ms = r->every_ms,
                                                       .all_threads = r->all_threads},
                             w, job, &last, &status);
    int shown = nodes ? show(self, r, w, &last, nodes) : status;
    pct_where_nodes_free(nodes);
    return status ? status : shown;
}

/* Checks the list that --pid names; NULL: none. Its numbers are taken as words: another node may
 * have the processes. */
static int check_pids(const struct pct_command *self, const char *pids)
{
    int *ids = NULL, status = PCT_DONE;
    size_t n;
    if (pids)
        status = pct_value_ids(self, "pid", pids, &ids, &n);
    pct_free(ids);
    return status;
}

/* Appends the jobs that options name to the words. pids is cut into them; the words are the
 * caller's. */
static char **add_named(const struct request *r, char *pids, struct pct_line *line)
{
    char **words = pct_alloc(line->n_words + strlen(pids) + 1, sizeof *words), *rest;
    memcpy(words, line->words, line->n_words * sizeof *words);
    for (char *pid = strtok_r(pids, ",", &rest); pid; pid = strtok_r(NULL, ",", &rest))
        words[line->n_words++] = pid;
    if (r->named)
        words[line->n_words++] = (char *)r->named;
    return words;
}

static int check(const struct pct_command *self, const struct request *r,
                 const struct pct_line *line)
{
    int status = check_pids(self, r->pids);
    if (status)
        return status;
    unsigned parts = (r->times > 1 || r->agent ? PCT_PART_TIMES : 0) |
                     (r->hosts ? PCT_PART_NODES : 0) | (r->format == TSV ? PCT_PART_ROWS : 0);
    if (r->agent && (r->hosts || line->n_words != 1))
        return pct_refuse(self, "--agent is for --hosts of another node: use that");
    if (r->hosts && line->n_words > 1)
        return pct_refuse(self, "--hosts: give one JOB");
    return pct_line_check_parts(self, line, parts);
}

static int run_where(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.times = 1, .every_ms = 100};
    struct pct_line line;
    struct pct_watched_job job = {.world = -1};
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    struct pct_watch w = {.job = &job, .all_threads = r.all_threads};
    char *pids = pct_copy(r.pids ? r.pids : "");
    line.words = add_named(&r, pids, &line);
    int status = check(self, &r, &line);
    pc_clock_init();
    if (!status)
        status = (r.hosts ? look_at_nodes : look_here)(self, &r, &line, &w, &job);
    pct_watch_free(&w);
    pct_watch_job_free(&job);
    pct_free(line.words);
    pct_free(pids);
    return status;
}

const struct pct_command pct_where_command = {
    .name = "where",
    .synopsis = "[OPTION]... [JOB]...",
    .summary = "show where the ranks of a running job are: one tree of their stacks",
    .details = "JOB is the process id of a launcher, whose ranks on this node are shown, or of any "
               "process; a number in Slurm; or the name of an MPI program or Python script. "
               "Without it, the one MPI job of this node is shown, or the jobs are listed. For a "
               "job under `pcollect run` it shows for which ranks, on which communicator and for "
               "how long each MPI call waits, and names deadlocks that follow from that. The job "
               "is not changed: running threads are stopped for a moment, most waiting threads "
               "not at all.",
    .options = options,
    .argument = "JOB",
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_where,
};
