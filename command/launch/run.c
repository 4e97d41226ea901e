/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect run: finds errors before the job starts, and runs the job as if started by hand;
 * run_end.c does the rest.
 *
 * The key of the run is drawn here and goes to the ranks in PCOLLECT_RUN: by it the data and the
 * reports (run_file.c) of the job are found.
 */
#include "command/launch/run_job.h"

#include "analysis/allocation.h"
#include "format/profile.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTION_FORCE = 'f', OPTION_HTML = 256 };

static const struct pct_option options[] = {
    {'c', "config", "FILE", "configuration file; see pcollect.conf(5)",
     "Without it, PCOLLECT_CONFIG names the file, if it is set."},
    {'o', "output", "PATTERN", "path of the profile, or its folder",
     "%x is the name of the executable, %n the number of ranks, %j the job id, %t the start time "
     "in UTC, %% a percent sign. A relative path begins at the working directory of this command. "
     "If it is a folder, which must exist, the profile gets the default name, %x.%n.pcol. If the "
     "pattern holds none of these signs and a profile of that name exists, the job is not started "
     "unless --force is given. In all other cases a number is added: app.4.2.pcol."},
    {OPTION_FORCE, "force", NULL, "rename a profile that exists at -o to FILE~"},
    {OPTION_HTML, "html", NULL, "write the page of pcollect html, too",
     "The page is beside the profile, with .html in place of .pcol. It has the text of source "
     "files; that of pcollect html --no-sources has not."},
    {0, NULL, NULL, NULL},
};

/* ---- Before the job ------------------------------------------------------------------------- */

static char *find_library(const struct pct_command *self)
{
    char *why = NULL, *path = pct_library_path(&why);
    if (!path)
        pct_say(self, "%s", why);
    pct_free(why);
    return path;
}

static uint64_t draw_key(void)
{
    uint64_t key = 0;
    while (key == 0)
        if (getrandom(&key, sizeof key, 0) != sizeof key)
            key = pc_hash_u64(pc_mono_ns() ^ (uint64_t)getpid() << 32);
    return key;
}

/* Finds the part of this command. A launcher may start this command for each rank: together they
 * are one run, and one of them prints messages.
 */
static void find_part(struct pct_run_job *r)
{
    struct pc_config_launch l = pc_config_launch();
    r->key = l.n_ranks > 1 ? pc_config_launcher(&l) : 0;
    r->is_one_of_many = r->key != 0;
    r->has_all_ranks = l.n_local == l.n_ranks;
    if (!r->key)
        r->key = draw_key();
    else if (l.rank > 0)
        r->part = l.local_rank == 0 ? PCT_RUN_NODE : PCT_RUN_NOTHING;
}

static void add_variable(struct pct_run_job *r, char *variable)
{
    r->variables = pct_grow(r->variables, r->n_variables + 1, &r->room, sizeof *r->variables);
    r->variables[r->n_variables++] = variable;
    r->variables[r->n_variables] = NULL;
}

static bool is_named(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* True if this command must pass the variable to the ranks: all PCOLLECT_* that the user set,
 * because launchers do not pass them to other nodes. */
static bool is_passed_on(const struct pct_run_job *r, const char *entry)
{
    if (strncmp(entry, "PCOLLECT_", 9) != 0 || is_named(entry, "PCOLLECT_RUN") ||
        is_named(entry, "PCOLLECT_RUN_ALONE") || is_named(entry, "PCOLLECT_CONFIG"))
        return false;
    return !(r->pattern && is_named(entry, "PCOLLECT_OUTPUT_PATH"));
}

/* Collects the variables. `alone`: there is no launcher. Such a program may have no MPI: if
 * sampling is on, it is collected all the same, but not the processes that it starts. The user's
 * own setting has priority. */
static void collect_variables(struct pct_run_job *r, bool alone)
{
    const char *existing = getenv("LD_PRELOAD");
    bool joined = existing && *existing;
    if (!r->musl)
        add_variable(r, pct_text("LD_PRELOAD=%s%s%s", r->library, joined ? ":" : "",
                                 joined ? existing : ""));
    add_variable(r, pct_text("PCOLLECT_RUN=%016lx", (unsigned long)r->key));
    if (r->config_file)
        add_variable(r, pct_text("PCOLLECT_CONFIG=%s", r->config_file));
    if (r->pattern)
        add_variable(r, pct_text("PCOLLECT_OUTPUT_PATH=%s", r->pattern));
    if (alone &&
        (r->config.sample_frequency || r->config.sample_events[0] || r->config.sample_always[0])) {
        r->alone_sampled = true;
        add_variable(r, pct_text("PCOLLECT_RUN_ALONE=%d", (int)getpid()));
    }
    for (char **entry = environ; *entry; entry++)
        if (is_passed_on(r, *entry))
            add_variable(r, *entry);
}

/* Reads the configuration as the ranks will. */
static bool check_config(struct pct_run_job *r, const char *file)
{
    struct pc_error error;
    char absolute[PATH_MAX];
    if (pc_config_load_with(&r->config, file, &error)) {
        pct_say(r->self, "%s", error.text);
        pct_say(r->self, "the job was not started");
        return false;
    }
    if (!pct_names_known(r->self, &r->config)) {
        pct_say(r->self, "the job was not started");
        return false;
    }
    if (*r->config.file)
        r->config_file = realpath(r->config.file, absolute) ? pct_text("%s", absolute) : file;
    return true;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* Checks the file at -o: NULL if the job may start, or the reason why not. */
static char *find_old(struct pct_run_job *r, bool force)
{
    char path[PCOLLECT_PATH_BYTES];
    if (!pct_output_is_fixed(r->pattern, path))
        return force ? pct_text("--force: the name of the profile is known only when the job ends; "
                                "no file is replaced then, a number is added")
                     : NULL;
    if (access(path, F_OK) != 0)
        return NULL;
    if (!force)
        return pct_text("%s exists: --force renames it to %s~, or name another file", path, path);
    r->old = pct_text("%s", path);
    return NULL;
}

/* Renames the old file to FILE~. Of several commands that start the ranks of one job, only one
 * finds it. */
static bool keep_old(const struct pct_run_job *r)
{
    struct pc_error error = {""};
    if (r->old == NULL)
        return true;
    char *kept = pct_text("%s~", r->old);
    bool done = pc_pcol_may_write(kept, 0, &error) == PC_OK;
    if (done && rename(r->old, kept) != 0 && errno != ENOENT) {
        pc_error_set(&error, PC_EIO, "%s cannot be renamed to %s: %s", r->old, kept,
                     strerror(errno));
        done = false;
    }
    if (!done)
        pct_say(r->self, "--force: %s", error.text);
    pct_free(kept);
    return done;
}

struct ending {
    const struct pct_run_job *run;
    struct pct_checkpoints *checkpoints;
    bool held;
    int status;
};

static void end_run(void *ending)
{
    const struct ending *e = ending;
    pct_progress_show();
    pct_run_end(e->run, e->held, e->status);
    pct_checkpoints_end(e->checkpoints);
}

static void say_unfinished(const struct pct_command *self, int status)
{
    char *why = WIFSIGNALED(status) ? pct_text("was ended by signal %d", WTERMSIG(status))
                                    : pct_text("had not enough memory");
    pct_say(
        self,
        "the process that works on the profile after the job %s: if there is no profile, "
        "`pcollect recover` makes it; `pcollect embed` stores symbols, `pcollect html` makes the "
        "page",
        why);
    pct_free(why);
}

/* Does the work after the job in a process of its own: the job's status stays if memory runs out,
 * or if a library ends the process for that (an assertion of libdw 0.188). */
static void end_apart(struct ending *e)
{
    int status = 0;
    fflush(NULL);
    pid_t helper = pct_job_helper();
    if (helper < 0) {
        end_run(e);
    } else if (helper == 0) {
        int err = pct_memory_run(NULL, end_run, e);
        fflush(NULL);
        _exit(err ? PCT_DATA : PCT_DONE);
    } else {
        while (waitpid(helper, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (status)
        say_unfinished(e->run->self, status);
}

static int run_job(struct pct_run_job *r)
{
    const struct pct_launcher *launcher = NULL;
    enum pct_passing passing = PCT_PASS_INHERIT;
    struct pct_env_list list;
    if (pct_launcher_is(r->words[0])) {
        launcher = pct_launcher_ask(r->words[0]);
        if (launcher)
            passing = launcher->passing;
        else if (pct_program_is(r->words[0])) /* a missing one fails at its start */
            pct_say(r->self,
                    "`%s --version` names no known launcher: this works only if the ranks "
                    "inherit its environment",
                    r->words[0]);
    }
    if (!pct_launcher_may_pass(r, launcher))
        return PCT_CALL;
    collect_variables(r, !pct_launcher_is(r->words[0]));
    if (!pct_launcher_list(r, launcher, &list))
        return PCT_CALL;
    char **words = pct_launcher_words(passing, r->words, r->variables, &list);
    bool held = r->part == PCT_RUN_WHOLE && pct_run_file_hold(r);
    if (!keep_old(r))
        return PCT_CALL;
    struct ending e = {.run = r, .checkpoints = pct_checkpoints_new(r), .held = held};
    e.status = pct_job_run(r->self, words, passing == PCT_PASS_INHERIT ? r->variables : NULL,
                           pct_checkpoints_watcher(e.checkpoints));
    pct_checkpoints_stop(e.checkpoints);
    end_apart(&e);
    return e.status;
}

static void do_nothing(int number)
{
    (void)number;
}

/* Goes on if the reader of the messages has gone. A handler, not SIG_IGN, because exec gives the
 * job the default action then. */
static void outlive_readers(void)
{
    if (signal(SIGPIPE, do_nothing) == SIG_IGN)
        signal(SIGPIPE, SIG_IGN);
}

struct given {
    const char *file, *output;
    bool force, html;
    struct pct_configured configured;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct given *given = request;
    (void)self;
    if (o->letter == 'c')
        given->file = value;
    else if (o->letter == 'o')
        given->output = value;
    else if (o->letter == OPTION_FORCE)
        given->force = true;
    else if (o->letter == OPTION_HTML)
        given->html = true;
    else
        given->configured.values[o->letter - PCT_LETTER_CONFIG] = value;
    return PCT_DONE;
}

static int run_run(const struct pct_command *self, int argc, char **argv)
{
    struct pct_run_job r = {.self = self};
    struct given given = {0};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &given, &line))
        return line.status;
    if (given.file && !*given.file)
        return pct_refuse(self, "-c: the path is empty");
    outlive_readers();
    r.words = line.words;
    find_part(&r);
    if (pct_configure(self, &given.configured, given.file) || !check_config(&r, given.file))
        return PCT_CALL;
    r.config.output_html |= given.html;
    if (given.output ? (r.pattern = pct_output_pattern(self, given.output, NULL)) == NULL
                     : !pct_output_may_be(self, r.config.output_path, PC_PCOL_LATE_SLOTS))
        return PCT_CALL;
    if (given.force && !given.output)
        return pct_refuse(self, "--force needs -o FILE");
    char *why = given.output ? find_old(&r, given.force) : NULL;
    if (why) {
        if (r.part == PCT_RUN_WHOLE)
            pct_say(self, "-o: %s", why);
        return PCT_CALL;
    }
    if (!given.output && r.part == PCT_RUN_WHOLE)
        pct_output_warn(self, r.config.output_path);
    bool launched = pct_launcher_is(r.words[0]);
    r.musl = pct_program_musl(r.words + launched, launched ? SIZE_MAX : 1);
    r.library = find_library(self);
    return r.library ? run_job(&r) : PCT_CALL;
}

const struct pct_command pct_run = {
    .name = "run",
    .synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]...",
    .summary = "run a job and collect its profile",
    .details = "COMMAND is a launcher with its arguments, or a program. The exit status is the "
               "job's: 128 + N after signal N; 127: not found, 126: not started, 2: refused.",
    .options = options,
    .configures = true,
    .starts = true,
    .argument = "COMMAND",
    .n_least = 1,
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_run,
};
