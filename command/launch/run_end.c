/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of `pcollect run`, after its job: it names each profile, makes one from the data of
 * killed ranks, or says why there is none. It relies only on facts: a profile that the job
 * reported, arenas, processes that still run, the libraries of the program.
 */
#include "command/launch/run_job.h"

#include "analysis/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Processes of the run ------------------------------------------------------------------- */

struct of_run {
    const char *key;
    size_t n;
    int pid; /* of one of them */
};

static void count_process(void *arg, int pid)
{
    struct of_run *run = arg;
    struct pc_process_status p;
    if (pc_process_look(pid, &p) && !p.ended &&
        pc_process_has_variable(pid, "PCOLLECT_RUN", run->key)) {
        run->n++;
        run->pid = pid;
    }
}

/* Returns the number of the run's processes; *pid_out: one of them, if there are any. */
static size_t count_processes(const struct pct_run_job *r, int *pid_out)
{
    char *key = pct_text("%016lx", (unsigned long)r->key);
    struct of_run run = {.key = key};
    pc_proc_numbers("/proc", count_process, &run);
    pct_free(key);
    *pid_out = run.pid;
    return run.n;
}

/* Waits up to a second for the end of the run's processes. */
static size_t await_processes(const struct pct_run_job *r, int *pid_out)
{
    size_t n = count_processes(r, pid_out);
    for (int tries = 0; n && tries < 20; tries++) {
        pc_nap_ns(50000000);
        n = count_processes(r, pid_out);
    }
    return n;
}

/* ---- Profiles ------------------------------------------------------------------------------- */

struct seen {
    const struct pct_run_job *run;
    char **named;                         /* profiles */
    size_t n_named, n_in_memory, n_inner; /* inner: `pcollect run` in the job */
    struct pct_recovered found;
};

/* Stores symbols, so that the profile can be read on other machines; on this one it does not need
 * them. */
static void store_symbols(const struct pct_command *self, const char *path)
{
    struct pc_error error = {""};
    if (pct_embed_file(path, path, &(struct pct_embedded){0}, &error))
        pct_say(self, "no symbols are stored in the profile: %s", error.text);
}

/* The number of ranks that may still write into the profile. A process that ended by _exit has left
 * no last part, so those of this node are looked at, too. */
static uint32_t count_writers(const struct pct_run_job *r, const char *path)
{
    int pid;
    uint32_t n = 0;
    struct pc_error error = {""};
    if (pc_pcol_count_running(path, &n, &error) || (r->has_all_ranks && !count_processes(r, &pid)))
        return 0;
    return n;
}

/* If the launcher starts this command for each rank, the others may still run, and write their last
 * parts into the profile. It is not replaced before, for up to 1.5 s. */
static void store_symbols_when_ended(const struct pct_run_job *r, const char *path)
{
    uint32_t n;
    for (int tries = 0; (n = count_writers(r, path)) != 0 && tries < 5; tries++)
        pc_nap_ns(UINT64_C(50000000) << tries);
    struct pct_buf word = {0};
    pct_text_shell(&word, path);
    if (n)
        pct_say(r->self,
                "no symbols are stored in the profile, because what %u of its ranks did last is "
                "not in it yet: a rank still runs, or ended without a word; later, "
                "`pcollect embed %s` stores them",
                n, word.data);
    else
        store_symbols(r->self, path);
    pct_buf_free(&word);
}

static void put_page(void *arg, const char *path)
{
    const struct seen *s = arg;
    char *to = pct_html_name(path);
    if (s->run->config.output_html && pct_html_file(s->run->self, path, to) == PCT_DONE)
        pct_say_file("page", to, NULL);
    pct_free(to);
}

static bool is_named(const struct seen *s, const char *path)
{
    for (size_t i = 0; i < s->n_named; i++)
        if (strcmp(s->named[i], path) == 0)
            return true;
    return false;
}

static void name_profile(void *arg, const char *path, const char *wanted)
{
    struct seen *s = arg;
    if (path == NULL) {
        bool inner = wanted && *wanted;
        s->n_inner += inner;
        s->n_in_memory += !inner;
        return;
    }
    if (is_named(s, path))
        return;
    char **more = pct_alloc(s->n_named + 1, sizeof *more);
    if (s->n_named)
        memcpy(more, s->named, s->n_named * sizeof *more);
    pct_free(s->named);
    s->named = more;
    s->named[s->n_named++] = pct_text("%s", path);
    pct_say_file("profile", path, wanted);
    pct_checkpoint_drop(wanted ? wanted : path, path);
    if (s->run->is_one_of_many)
        store_symbols_when_ended(s->run, path);
    else
        store_symbols(s->run->self, path);
    put_page(s, path);
}

/* Names a profile that the job wrote but could not report. */
static void name_own(void *arg, const char *path)
{
    name_profile(arg, path, NULL);
}

static void name_earlier(void *arg, const char *path, const char *wanted)
{
    if (path == NULL)
        return;
    pct_say(arg, "an earlier run, after its pcollect run was killed, wrote %s", path);
    pct_checkpoint_drop(wanted ? wanted : path, path);
    store_symbols(arg, path);
}

void pct_run_tell_earlier(const struct pct_command *self, char *const *folders, size_t n)
{
    pct_run_file_sweep(folders, n, name_earlier, (void *)self);
}

static void look(const struct pct_run_job *r, char *const *folders, size_t n, struct seen *s)
{
    struct pct_recovery recovery = {.self = r->self,
                                    .run_key = r->key,
                                    .pattern = r->pattern,
                                    .quiet = true,
                                    .own = name_own,
                                    .written = put_page,
                                    .arg = s,
                                    .ended = pct_job_ended()};
    struct pct_recovered before = s->found;
    pct_run_file_take(r, folders, n, name_profile, s);
    pct_recover_folders(&recovery, folders, n, &s->found);
    s->found.n_unmeasured += before.n_unmeasured;
    s->found.n_killed += before.n_killed;
    s->found.n_profiles += before.n_profiles;
    s->found.n_failed += before.n_failed;
    /* Ranks that outlived their launcher may have written meanwhile. */
    pct_run_file_take(r, folders, n, name_profile, s);
}

static bool nothing_seen(const struct seen *s)
{
    return s->n_named + s->n_inner + s->found.n_profiles + s->found.n_failed == 0;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* The names that profiles of the job may have: PROGRAM and RANKS stand for %x and %n. */
static char *profile_names(const struct pct_run_job *r)
{
    struct pct_buf b = {0};
    const char *pattern = r->pattern ? r->pattern : r->config.output_path;
    pct_buf_put(&b, "", 0);
    for (const char *s = pattern; *s; s++) {
        bool known = *s == '%' && (s[1] == 'x' || s[1] == 'n' || s[1] == '%');
        if (known)
            s++;
        if (known && *s != '%')
            pct_buf_text(&b, *s == 'x' ? "PROGRAM" : "RANKS");
        else
            pct_buf_put(&b, s, 1);
    }
    char *names = pct_text("%s", b.data);
    pct_buf_free(&b);
    return names;
}

static char *rights_text(const char *word)
{
    return pct_text("%s runs with rights that you do not have (setuid, setgid or capabilities), so "
                    "the loader does not preload your library into it: it cannot be measured",
                    word);
}

/* Text about a job that may be a program without MPI. */
static const char *without_mpi(const struct pct_run_job *r)
{
    if (pct_launcher_is(r->words[0]) || r->config.collect_always)
        return "";
    if (getenv("PCOLLECT_COLLECT_ALWAYS")) /* has priority over what this command does */
        return ". With --always no (PCOLLECT_COLLECT_ALWAYS) a program without MPI is not "
               "collected";
    if (!r->alone_sampled)
        return ". Sampling is off, and then a program without MPI is collected only with "
               "--always yes";
    return ". A program without MPI is sampled if this command starts it directly; in a script, "
           "put `pcollect run` before it, or set PCOLLECT_COLLECT_ALWAYS=yes";
}

/* Text about a program of a launcher that may do without MPI_Init, as many do on one rank. */
static const char *without_init(const struct pct_run_job *r)
{
    return r->config.collect_always ? ""
                                    : ": a program that runs without it is measured with "
                                      "--always yes";
}

/* Text about a job that a shell runs and that might have been sampled without it; NULL: it is none.
 * Allocated. */
static char *shell_text(const struct pct_run_job *r)
{
    if (!r->alone_sampled || r->config.collect_always || getenv("PCOLLECT_COLLECT_ALWAYS") ||
        !pct_program_is_for_shell(r->words[0]))
        return NULL;
    char *names = profile_names(r);
    char *text =
        pct_text("no process that calls MPI was seen on this node. `%s` is run by a shell, which "
                 "is not measured: put `pcollect run` before the program in it, or set "
                 "PCOLLECT_COLLECT_ALWAYS=yes. If all ranks ran on other nodes, look for %s there",
                 r->words[0], names);
    pct_free(names);
    return text;
}

static char *why_nothing(const struct pct_run_job *r, const struct seen *s)
{
    const char *word;
    char *mpi, *names, *text;
    if (r->musl)
        return pct_text(
            "%s is linked with musl, and the library needs glibc, so it was not loaded; "
            "`pcollect record -- %s%s` samples it",
            r->musl, r->words[0], r->musl == r->words[0] ? "" : " ...");
    if (s->found.n_unmeasured)
        return pct_text("%zu of its processes loaded MPI and ended without having come to the end "
                        "of MPI_Init%s",
                        s->found.n_unmeasured, without_init(r));
    if (s->found.n_killed)
        return pct_text("nothing had been measured of %zu of its processes when a signal, _exit or "
                        "exec ended %s",
                        s->found.n_killed, s->found.n_killed == 1 ? "it" : "them");
    if (s->n_in_memory)
        return pct_text(
            "%zu of its processes collected in plain memory, which does not survive a kill; "
            "`pcollect doctor` says why there was no file",
            s->n_in_memory);
    if ((mpi = pct_program_mpi(r->words, &word)) != NULL) {
        names = profile_names(r);
        text =
            pct_program_gets_rights(word)
                ? rights_text(word)
                : pct_text("%s is linked with MPI (%s), but no measured process of it on this node "
                           "reached MPI_Init as your user%s. Children of fork are not measured, "
                           "nor are processes "
                           "whose LD_PRELOAD was cleared or replaced (by env or a script). If all "
                           "ranks ran on other nodes, look for %s there",
                           word, mpi, without_init(r), names);
        pct_free(mpi);
        pct_free(names);
        return text;
    }
    bool launched = pct_launcher_is(r->words[0]);
    if (!launched && pct_program_gets_rights(r->words[0]))
        return rights_text(r->words[0]);
    if ((word = pct_program_static(r->words, launched ? SIZE_MAX : 1)) != NULL)
        return pct_text("%s is statically linked: no library can be loaded into it; `pcollect "
                        "record -- %s%s` samples it",
                        word, r->words[0], launched ? " ..." : "");
    if ((text = shell_text(r)) != NULL)
        return text;
    names = profile_names(r);
    text =
        pct_text("no process that calls MPI was seen on this node. Is it an MPI program that is "
                 "linked dynamically (ldd shows its MPI library), and does it reach MPI_Init? "
                 "Calls of functions that it takes from the MPI library by dlsym are not seen, nor "
                 "are processes whose LD_PRELOAD was cleared or replaced (by env or a script). "
                 "If all ranks ran on other nodes, look for %s there%s",
                 names, without_mpi(r));
    pct_free(names);
    return text;
}

static void say_nothing(const struct pct_run_job *r, const struct seen *s, bool held, int status)
{
    if (!held) {
        pct_say(r->self,
                "it is not known here whether a profile was written: no spool of this node can be "
                "written, so only the job could say it, on standard error; see `pcollect doctor`");
        return;
    }
    int signal = pct_job_ended().signal;
    char *ended = signal   ? pct_text("`%s` was killed by signal %d, and ", r->words[0], signal)
                  : status ? pct_text("`%s` ended with status %d, and ", r->words[0], status)
                           : NULL;
    char *why = why_nothing(r, s);
    bool refused = status && pct_launcher_is(r->words[0]);
    pct_say(r->self, "no profile was written: %s%s%s", ended ? ended : "", why,
            refused ? ". Where the launcher refused to start the job, its message is above" : "");
    pct_free(why);
    pct_free(ended);
}

static void say_in_memory(const struct pct_run_job *r, const struct seen *s)
{
    pct_say(r->self,
            "%zu %s of this job collected in plain memory, because no file could be created: a "
            "kill would have lost %s data; `pcollect doctor` says why",
            s->n_in_memory, s->n_in_memory == 1 ? "process" : "processes",
            s->n_in_memory == 1 ? "its" : "their");
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Says what becomes of processes that run. Without an arena they may be no measured ones. pid: one
 * of them. */
static void say_running(const struct pct_run_job *r, const struct seen *s, size_t n, int pid)
{
    bool one = n == 1;
    char *unsure = s->found.n_alive
                       ? pct_text("%s", "")
                       : pct_text(", if %s measured: %s not, and `pcollect record -p %d` "
                                  "samples %s from now on",
                                  one ? "it is" : "they are",
                                  one ? "a child of fork is" : "children of fork are", pid,
                                  one ? "it" : "that one");
    pct_say(r->self,
            "%s%zu %s of the job still %s; the next `pcollect run` names %s profile, or "
            "`pcollect recover` makes it%s",
            nothing_seen(s) ? "no profile yet: " : "", n, one ? "process" : "processes",
            one ? "runs" : "run", one ? "its" : "their", unsure);
    pct_free(unsure);
}

static void conclude(const struct pct_run_job *r, char *const *folders, size_t n, struct seen *s,
                     bool held, int status)
{
    bool started = status != 127 && status != 126;
    size_t n_running = 0;
    int pid = 0;
    if (started && (nothing_seen(s) || s->found.n_alive)) {
        n_running = await_processes(r, &pid);
        look(r, folders, n, s);
        /* A process that ends has no environment while the kernel frees its memory. */
        n_running = s->found.n_alive > n_running ? s->found.n_alive : n_running;
    }
    if (n_running && (nothing_seen(s) || s->found.n_alive))
        say_running(r, s, n_running, pid);
    else if (nothing_seen(s) && started)
        say_nothing(r, s, held, status);
    else if (s->n_in_memory)
        say_in_memory(r, s);
}

void pct_run_end(const struct pct_run_job *r, bool held, int status)
{
    size_t n;
    char **folders = pct_spool_folders(&r->config, &n);
    struct seen s = {.run = r};
    if (r->part != PCT_RUN_NOTHING)
        look(r, folders, n, &s);
    if (r->part == PCT_RUN_WHOLE) {
        conclude(r, folders, n, &s, held, status);
        pct_run_file_tell_outer(r, folders, n);
        pct_run_tell_earlier(r->self, folders, n);
        pct_left_tell(r->self, folders, n);
    }
    for (size_t i = 0; i < n; i++)
        pct_spool_remove(folders[i]);
    pct_spool_free(folders, n);
    pct_spool_free(s.named, s.n_named);
}
