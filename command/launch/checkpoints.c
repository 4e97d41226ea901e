/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checkpoints: at intervals a profile of the job so far, from the arenas of its processes on this
 * node. `pcollect run`, which waits for the job anyway, starts a process for each checkpoint, at
 * most one at a time. It copies all arenas first, so that all ranks are seen at about the same
 * moment, lowers its priority, and merges and writes the copies. The job is not involved.
 *
 * It is a separate process so that its problems cannot end the run: no memory, a damaged file, a
 * disk that does not respond. The kernel ends it first when memory runs out, it ends with the run,
 * and it notes messages that must appear only once in a page that it shares with the run.
 */
#include "command/launch/run_job.h"
#include "command/recover/recover.h"

#include "analysis/buffer.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Memory shared by the run and the processes that write. */
struct told {
    unsigned n_seen;    /* processes of the job that were copied, in all */
    unsigned n_written; /* checkpoints */
    bool failure, partial;
    uint64_t taken_ns;                /* of the last one, since 1970 */
    char path[PCOLLECT_PATH_BYTES];   /* of the last one */
    char wanted[PCOLLECT_PATH_BYTES]; /* requested name of the profile of its job */
};

struct pct_checkpoints {
    const struct pct_run_job *run;
    struct pct_job_watcher watcher;
    uint64_t interval_ns, due_ns;
    struct told *told;
    pid_t writer; /* 0: none */
    unsigned n_begun;
};

/* ---- Writing, in a process of its own -------------------------------------------------------- */

static void say_failure(const struct pct_checkpoints *c, const char *why)
{
    if (!c->told->failure)
        pct_say(c->run->self, "no checkpoint: %s. The job runs on, and the next one is tried", why);
    c->told->failure = true;
}

/* Prints that ranks of other nodes are missing, whose arenas are there. If the launcher starts this
 * command for each rank, each node has a checkpoint of its own. */
static void say_partial(const struct pct_checkpoints *c, const struct pc_profile *p)
{
    if (c->told->partial || p->n_ranks == p->world_size || pc_config_launch().n_ranks > 1)
        return;
    pct_say(c->run->self,
            "checkpoints have %u of %u ranks, those on this node; see \"CHECKPOINTS\" in "
            "pcollect-run(1)",
            p->n_ranks, p->world_size);
    c->told->partial = true;
}

/* True if the job still runs: jobs at their end write their profile themselves. Ranks of another
 * run belong to another node, whose command handles them. */
static bool is_running(const struct pct_checkpoints *c, const struct pc_merge_found *f, size_t n)
{
    bool alive = false;
    for (size_t i = 0; i < n; i++) {
        if (f[i].state == PCOLLECT_STATE_MERGED)
            return false;
        alive |= f[i].alive && f[i].run_key == c->run->key;
    }
    return alive;
}

/* Copies the arenas of a job. A file that has disappeared belongs to a job that has just ended. */
static void copy_job(const struct pct_checkpoints *c, struct pct_job_copies *j)
{
    struct pc_error error;
    int err = pct_job_copy(j, c->run->key, &error);
    if (err && err != PC_ENOENT)
        say_failure(c, error.text);
    c->told->n_seen += (unsigned)j->n_copies;
}

/* Writes the file. SIGTERM, sent at the end of the job, is blocked until the file has its name. */
static int write_file(const struct pc_profile *p, const char *wanted, char *path,
                      struct pc_error *error)
{
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    int err = pct_checkpoint_write(p, wanted, path, error);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return err;
}

static void write_job(const struct pct_checkpoints *c, const struct pct_job_copies *j)
{
    const struct pct_recovery recovery = {.self = c->run->self, .pattern = c->run->pattern};
    char wanted[PCOLLECT_PATH_BYTES], path[PCOLLECT_PATH_BYTES];
    struct pc_profile *p = NULL;
    struct pc_error error;
    int err = pc_merge_copies(j->copies, j->n_copies, &p, &error);
    if (!err && p->n_data == 0) { /* nothing has been measured yet */
        pc_profile_free(p);
        return;
    }
    if (!err)
        err = pct_job_path(&recovery, j->found, wanted, sizeof wanted, &error);
    if (!err)
        err = write_file(p, wanted, path, &error);
    if (err) {
        say_failure(c, error.text);
    } else {
        if (j->found[0].initialised)
            say_partial(c, p);
        c->told->taken_ns = j->copies[0].taken_ns;
        memcpy(c->told->path, path, sizeof path);
        memcpy(c->told->wanted, wanted, sizeof wanted);
        c->told->n_written++;
    }
    pc_profile_free(p);
}

/* Copies all arenas before anything else, because figures of ranks are compared with each other. */
static void write_all(const struct pct_checkpoints *c)
{
    struct pc_merge_list list = {NULL, 0, 0};
    struct pc_error error;
    size_t n_jobs = 0, n_folders;
    char **folders = pct_spool_folders(&c->run->config, &n_folders);
    for (size_t i = 0; i < n_folders; i++)
        pc_merge_list_add(&list, folders[i], NULL, NULL, &error);
    struct pct_job_copies *jobs = pct_alloc(list.n_jobs, sizeof *jobs);
    for (size_t at = 0, n; at < list.n; at += n) {
        struct pct_job_copies *j = &jobs[n_jobs];
        *j = pct_job_copies(&list, at);
        n = j->n;
        if (!is_running(c, j->found, n))
            continue;
        copy_job(c, j);
        n_jobs++;
    }
    setpriority(PRIO_PROCESS, 0, 19);
    for (size_t k = 0; k < n_jobs; k++) {
        if (jobs[k].n_copies)
            write_job(c, &jobs[k]);
        pct_job_copies_drop(&jobs[k]);
    }
}

/* ---- In the run ------------------------------------------------------------------------------ */

static void begin_one(struct pct_checkpoints *c)
{
    pid_t writer = pct_job_helper();
    if (writer == 0) {
        write_all(c);
        _exit(PCT_DONE);
    }
    c->writer = writer > 0 ? writer : 0;
    c->n_begun++;
    if (writer < 0)
        say_failure(c, "no process can be created for it");
}

static void note_end(struct pct_checkpoints *c, int status)
{
    c->writer = 0;
    if (WIFSIGNALED(status)) {
        char *why = pct_text("the process that writes it was ended by signal %d", WTERMSIG(status));
        say_failure(c, why);
        pct_free(why);
    }
}

static bool is_ready(void *arg, int pid)
{
    (void)arg, (void)pid;
    return true;
}

static void note_begin(void *arg)
{
    struct pct_checkpoints *c = arg;
    c->due_ns = pc_mono_ns() + c->interval_ns;
}

/* Called when a checkpoint is due, and when a process has ended. One that is due while another is
 * being written is skipped. */
static uint64_t tick(void *arg)
{
    struct pct_checkpoints *c = arg;
    uint64_t now = pc_mono_ns();
    int status;
    if (c->writer && waitpid(c->writer, &status, WNOHANG) == c->writer)
        note_end(c, status);
    if (now >= c->due_ns) {
        c->due_ns += (now - c->due_ns) / c->interval_ns * c->interval_ns + c->interval_ns;
        if (!c->writer)
            begin_one(c);
    }
    return c->due_ns - now;
}

const struct pct_job_watcher *pct_checkpoints_watcher(const struct pct_checkpoints *c)
{
    return c ? &c->watcher : NULL;
}

struct pct_checkpoints *pct_checkpoints_new(const struct pct_run_job *r)
{
    if (!r->config.output_every || r->part == PCT_RUN_NOTHING)
        return NULL;
    struct pct_checkpoints *c = pct_alloc(1, sizeof *c);
    *c = (struct pct_checkpoints){.run = r,
                                  .watcher = {is_ready, note_begin, tick, c},
                                  .interval_ns = r->config.output_every * 1000000000u};
    c->told =
        mmap(NULL, sizeof *c->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->told == MAP_FAILED) {
        pct_say(r->self, "not enough memory for checkpoints");
        pct_free(c);
        return NULL;
    }
    return c;
}

void pct_checkpoints_stop(struct pct_checkpoints *c)
{
    if (c == NULL || c->writer == 0)
        return;
    kill(c->writer, SIGTERM);
    bool left = waitpid(c->writer, NULL, WNOHANG) == 0;
    for (int i = 0; left && i < 100; i++) {
        pc_nap_ns(10000000);
        left = waitpid(c->writer, NULL, WNOHANG) == 0;
    }
    if (left && kill(c->writer, SIGKILL) == 0)
        waitpid(c->writer, NULL, 0);
    c->writer = 0;
}

static void say_left(const struct told *t)
{
    time_t seconds = (time_t)(t->taken_ns / 1000000000u);
    struct tm tm = {0};
    char when[64] = "";
    localtime_r(&seconds, &tm);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    char *shown = pct_text_escaped(t->path);
    fprintf(stderr, "pcollect: checkpoint: %s, of %s\n", shown, when);
    pct_free(shown);
}

void pct_checkpoints_end(struct pct_checkpoints *c)
{
    if (c == NULL)
        return;
    const struct told *t = c->told;
    if (t->n_written)
        pct_checkpoint_drop(t->wanted, NULL);
    if (t->n_written && access(t->path, F_OK) == 0)
        say_left(t);
    else if (c->n_begun && !t->n_seen && !t->failure && c->run->part == PCT_RUN_WHOLE)
        pct_say(c->run->self,
                "no checkpoint was written: no process of the job was seen on this node; see "
                "\"CHECKPOINTS\" in pcollect-run(1)");
    munmap(c->told, sizeof *c->told);
    pct_free(c);
}
