/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile of one job from the arenas it left. An arena is removed only if a file that was read
 * again and is intact contains the process that wrote it, without omissions; all others stay and
 * are named.
 */
#include "command/recover/recover.h"

#include "analysis/buffer.h"
#include "merge/board.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { START_BYTES = 32 };

/* ---- Names ---------------------------------------------------------------------------------- */

int pct_job_path(const struct pct_recovery *r, const struct pc_merge_found *f, char *path, size_t n,
                 struct pc_error *error)
{
    struct pc_config defaults;
    struct pc_config_names names = {.exe = f->exe,
                                    .n_ranks = f->n_ranks > 0 ? f->n_ranks : 1,
                                    .job = f->job_id,
                                    .realtime_ns = f->realtime_0_ns};
    const char *pattern = r->pattern ? r->pattern : f->out;
    if (*pattern == '\0') {
        pc_config_defaults(&defaults);
        pattern = defaults.output_path;
    }
    return pc_config_expand(pattern, &names, path, n, error);
}

/* The profile at path, if it is of this job: some of its ranks are there already, merged by
 * themselves or recovered on another node. */
static struct pc_profile *read_same_job(const char *path, uint64_t job_key)
{
    struct pc_profile *p = NULL;
    struct pc_error error;
    if (!pc_pcol_is_of_job(path, job_key) || pc_pcol_read(path, &p, &error) != PC_OK)
        return NULL;
    if (!pct_is_checkpoint(p))
        return p;
    pc_profile_free(p);
    return NULL;
}

/* The row of the arena's rank in a profile, or NULL. */
static const struct pc_profile_rank *rank_of(const struct pc_profile *p,
                                             const struct pc_merge_found *f)
{
    int32_t rank = f->rank < 0 ? 0 : f->rank;
    for (uint32_t i = 0; p && i < p->n_ranks; i++)
        if (p->ranks[i].rank == rank)
            return &p->ranks[i];
    return NULL;
}

/* True if the profile contains the process of the arena; its data may be damaged. */
static bool has_process(const struct pc_profile *p, const struct pc_merge_found *f)
{
    const struct pc_profile_rank *r = rank_of(p, f);
    return r && r->pid == f->pid && r->start_realtime_ns == f->realtime_0_ns &&
           strcmp(r->host, f->host) == 0;
}

/* True if the profile has all data of the arena: it contains this process, without omissions. */
static bool holds(const struct pc_profile *p, const struct pc_merge_found *f)
{
    return has_process(p, f) && !p->lacks_values && !(rank_of(p, f)->notes & PCOLLECT_NOTE_DAMAGED);
}

/* True if the file can be extended by an arena of the job. */
static bool takes_more(const struct pc_profile *there, const struct pct_job *job)
{
    bool adds = there->job_key && (int64_t)there->world_size == job->found[0]->n_ranks;
    for (size_t i = 0; i < job->n; i++)
        if (adds && !rank_of(there, job->found[i]))
            return true;
    return false;
}

/* True if a file contains a process of the job, or can be extended by one. For a process without a
 * job it must contain it. */
static bool joins(const struct pc_profile *there, const struct pct_job *job)
{
    for (size_t i = 0; there && i < job->n; i++)
        if (has_process(there, job->found[i]))
            return true;
    return there && takes_more(there, job);
}

/* The file of the same job with one of the names that the profile may get, and its path, if the
 * arenas can be added: it does not have other processes for all their ranks. NULL: the profile is
 * new. */
static struct pc_profile *find_own(const char *path, const struct pct_job *job, char *found)
{
    struct pc_error error;
    struct stat st;
    for (unsigned i = 1; !pc_pcol_number(path, i, found, PCOLLECT_PATH_BYTES, &error); i++) {
        if (lstat(found, &st) != 0)
            break;
        struct pc_profile *there = read_same_job(found, job->found[0]->job_key);
        if (joins(there, job))
            return there;
        pc_profile_free(there);
    }
    return NULL;
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void say_merged_line(void *arg, const char *line)
{
    const struct pct_recovery *r = arg;
    pct_say(r->self, "%s", line);
}

static void say_alive(const struct pct_recovery *r, const struct pct_job *job)
{
    if (!r->quiet)
        pct_say(r->self, "%s: %zu of its %zu %s on this node still %s: left alone",
                pc_base_name(job->found[0]->exe), job->n_alive, job->n,
                job->n == 1 ? "process" : "processes", job->n_alive == 1 ? "runs" : "run");
}

/* True if ranks are missing, or ended before MPI_Finalize was over. */
static bool is_incomplete(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_ranks; i++)
        if (p->ranks[i].incomplete)
            return true;
    return p->n_ranks < p->world_size;
}

static bool calls_mpi(const struct pc_profile *p)
{
    bool calls = *p->mpi || p->n_ranks != 1 || p->world_size != 1;
    for (uint32_t i = 0; i < p->n_ranks; i++)
        calls |= p->ranks[i].mpi_calls != 0;
    return calls;
}

/* Names the profile of a program that calls no MPI function and was not seen to exit. Both names
 * are escaped. */
static void say_killed(const struct pct_recovery *r, bool by_exec, const struct pc_profile *p,
                       const char *name, const char *path)
{
    const struct pct_ended *e = &r->ended;
    bool known = p->ranks[0].pid == e->pid;
    char *what;
    if (by_exec)
        what = pct_text("an exec");
    else if (known && e->signal)
        what = pct_text("signal %d (%s)", e->signal, strsignal(e->signal));
    else if (known) /* an exec of a program that is not measured leaves no trace */
        what = pct_text("_exit with status %d, or exec,", e->status);
    else
        what = pct_text("a signal, _exit or exec");
    fprintf(stderr, "pcollect: profile: %s (recovered up to the last moment known: %s ended %s)\n",
            path, what, name);
    pct_free(what);
}

static void say_written(const struct pct_recovery *r, bool by_exec, const struct pc_profile *p,
                        const char *path)
{
    bool incomplete = is_incomplete(p);
    const char *ranks = p->world_size == 1 ? "rank" : "ranks";
    char *shown = pct_text_escaped(path), *name = pct_text_escaped(pc_base_name(p->exe));
    if (r->quiet && incomplete && !calls_mpi(p))
        say_killed(r, by_exec, p, name, shown);
    else if (r->quiet)
        fprintf(stderr, "pcollect: profile: %s (%s: %u of %u %s, recovered because %s)\n", shown,
                incomplete ? "incomplete" : "complete", p->n_ranks, p->world_size, ranks,
                incomplete ? "MPI_Finalize was not reached" : "the job could not write it");
    else
        printf("%s: %s, %u of %u %s, %s\n", shown, name, p->n_ranks, p->world_size, ranks,
               incomplete ? "incomplete" : "complete");
    pct_free(shown);
    pct_free(name);
}

static void say_kept(const struct pct_recovery *r, const struct pct_job *job, const char *reason)
{
    char *folder = pct_text("%s", job->found[0]->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    struct pct_buf word = {0};
    pct_text_shell(&word, folder);
    pct_say(r->self, "%s; %zu %s: `pcollect recover -o PATH %s` tries again", reason, job->n,
            job->n == 1 ? "arena stays" : "arenas stay", word.data);
    pct_buf_free(&word);
    pct_free(folder);
    for (size_t i = 0; i < job->n; i++)
        pct_left_pass(job->found[i]->path); /* told by this */
}

/* ---- Work ----------------------------------------------------------------------------------- */

static void remove_arena(struct pc_merge_found *f)
{
    char *folder = f->path, *slash = strrchr(folder, '/');
    unlink(folder);
    if (slash == NULL)
        return;
    *slash = '\0';
    pc_board_remove(folder, f->job_key);
    pct_spool_remove(folder);
    *slash = '/';
}

/* Removes the checkpoints of the job, which this profile replaces: in its folder, and in the folder
 * of the job's requested profile. */
static void drop_checkpoints(const struct pct_recovery *r, const struct pct_job *job,
                             const char *profile)
{
    const struct pct_recovery own = {.self = r->self};
    char path[PCOLLECT_PATH_BYTES];
    struct pc_error error;
    if (pct_job_path(&own, job->found[0], path, sizeof path, &error) == PC_OK)
        pct_checkpoint_drop(path, profile);
    if (r->pattern && pct_job_path(r, job->found[0], path, sizeof path, &error) == PC_OK)
        pct_checkpoint_drop(path, profile);
}

static void remove_all(struct pct_job *job)
{
    for (size_t i = 0; i < job->n; i++)
        remove_arena(job->found[i]);
    job->n = 0;
}

/* Removes the arenas contained in the profile, which was read from a file and is intact. Returns
 * their number; the others stay in the list. */
static size_t remove_held(struct pct_job *job, const struct pc_profile *in_file)
{
    size_t kept = 0, n = job->n;
    for (size_t i = 0; i < n; i++) {
        if (holds(in_file, job->found[i]))
            remove_arena(job->found[i]);
        else
            job->found[kept++] = job->found[i];
    }
    job->n = kept;
    return n - kept;
}

/* Removes the arenas contained in a profile that the job itself wrote, wherever the new profile is
 * written. */
static void remove_held_by_own(const struct pct_recovery *r, struct pct_job *job)
{
    const struct pct_recovery own = {.self = r->self};
    const struct pc_merge_found *f = job->found[0];
    char path[PCOLLECT_PATH_BYTES], found[PCOLLECT_PATH_BYTES];
    struct pc_error error;
    if (f->state != PCOLLECT_STATE_MERGED || pct_job_path(&own, f, path, sizeof path, &error))
        return;
    struct pc_profile *p = find_own(path, job, found);
    if (p)
        pct_checkpoint_drop(path, found);
    if (remove_held(job, p) && r->own)
        r->own(r->arg, found);
    pc_profile_free(p);
}

/* Replaces a profile that is for writing by one that can be added to a file with values. */
static int unpack(struct pc_profile **p, struct pc_error *error)
{
    struct pc_profile *out = NULL;
    uint8_t *data = NULL;
    size_t n = 0;
    int err = pc_profile_encode(*p, &data, &n);
    if (!err)
        err = pc_profile_decode(data, n, &out, error);
    else
        pc_error_set(error, err, "no memory to add the arenas to the profile");
    free(data);
    pc_profile_free(*p);
    *p = out;
    return err;
}

/* The sum of the arenas and of the existing profile; a rank that is in the profile is not added
 * again. */
static struct pc_profile *merge_arenas(const struct pct_recovery *r, const struct pct_job *job,
                                       const struct pc_profile *there, struct pc_error *error)
{
    struct pc_profile *fresh = NULL, *sum = NULL;
    char **paths = pct_alloc(job->n, sizeof *paths);
    size_t n = 0;
    for (size_t i = 0; i < job->n; i++)
        if (!rank_of(there, job->found[i]))
            paths[n++] = job->found[i]->path;
    int err = pc_merge_files(paths, n, &fresh, say_merged_line, (void *)r, error);
    pct_free(paths);
    if (err || there == NULL)
        return err ? NULL : fresh;
    err = unpack(&fresh, error);
    if (!err)
        err = pc_profile_merge(there, fresh, &sum, error);
    pc_profile_free(fresh);
    return err ? NULL : sum;
}

/* True if the processes ended before they had measured anything, so that no file is needed. */
static bool is_empty(const struct pc_profile *p, const struct pct_job *job)
{
    if (p->n_data || p->n_ranks != job->n)
        return false;
    for (size_t i = 0; i < job->n; i++)
        if (job->found[i]->initialised || !p->ranks[i].incomplete ||
            p->ranks[i].notes & PCOLLECT_NOTE_DAMAGED)
            return false;
    return true;
}

/* Writes the profile: over the file whose contents it extends, else without replacing anything. */
static bool write_profile(const struct pc_profile *p, const char *path,
                          const struct pc_profile *there, char *written, struct pc_error *error)
{
    if (there == NULL)
        return pc_pcol_write_new(p, path, 0, written, error) == PC_OK;
    pc_format(written, PCOLLECT_PATH_BYTES, "%s", path);
    return pc_pcol_write(p, path, 0, error) == PC_OK;
}

/* Reads a file that was written, a few records at a time. NULL: it is damaged. */
static struct pc_profile *read_back(const char *path, struct pc_error *error)
{
    struct pc_profile *p = NULL;
    struct pc_error why;
    if (pc_pcol_read_contexts(path, true, &p, error) != PC_OK || !pc_profile_check_values(p, &why))
        return p;
    pc_error_set(error, PC_EFORMAT, "%s: %s", path, why.text);
    pc_profile_free(p);
    return NULL;
}

/* Notes in the profile the signal that ended a process of the job. */
static void note_signal(const struct pct_recovery *r, const struct pct_job *job,
                        struct pc_profile *p)
{
    for (size_t i = 0; i < job->n; i++) {
        const struct pc_merge_found *f = job->found[i];
        if (!r->ended.signal || f->pid != r->ended.pid || !has_process(p, f))
            continue;
        struct pc_profile_rank *rank = &p->ranks[rank_of(p, f) - p->ranks];
        if (!(rank->notes & PCOLLECT_NOTE_STATUS))
            rank->notes |= PCOLLECT_NOTE_SIGNAL | (uint64_t)r->ended.signal
                                                      << PCOLLECT_NOTE_STATUS_BIT;
    }
}

/* Writes data that no file contains yet, to `path` if `there` is from it, or to the first free
 * name; reads the file again, and removes the arenas contained in it. Returns their number. */
static size_t write_rest(const struct pct_recovery *r, struct pct_job *job, const char *path,
                         const struct pc_profile *there, struct pct_recovered *out,
                         struct pc_error *error)
{
    char written[PCOLLECT_PATH_BYTES];
    size_t removed = 0;
    struct pc_profile *profile = merge_arenas(r, job, there, error), *in_file = NULL;
    if (profile)
        note_signal(r, job, profile);
    bool is_unmeasured = profile && is_empty(profile, job);
    bool is_written =
        profile && !is_unmeasured && write_profile(profile, path, there, written, error);
    pc_profile_free(profile);
    if (is_unmeasured) {
        removed = job->n;
        for (size_t i = 0; i < job->n; i++)
            *(job->found[i]->alone ? &out->n_killed : &out->n_unmeasured) += 1;
        remove_all(job);
    }
    if (is_written)
        in_file = read_back(written, error);
    if (in_file) {
        drop_checkpoints(r, job, written);
        removed = remove_held(job, in_file);
        say_written(r, job->by_exec, in_file, written);
        if (r->written)
            r->written(r->arg, written);
        out->n_profiles++;
        if (job->n)
            pc_error_set(error, PC_EFORMAT, "%s does not hold all data that was collected",
                         written);
    }
    pc_profile_free(in_file);
    return removed;
}

/* Takes the arenas whose process is in the file, though not all of its data, out of the list: they
 * stay, and are not written again. Returns their number. */
static size_t set_aside(struct pct_job *job, const struct pc_profile *in_file,
                        struct pct_job *aside)
{
    size_t kept = 0, n = job->n;
    for (size_t i = 0; i < n; i++) {
        if (has_process(in_file, job->found[i]))
            aside->found[aside->n++] = job->found[i];
        else
            job->found[kept++] = job->found[i];
    }
    job->n = kept;
    return n - kept;
}

/* Recovers the rest. Several processes with one rank, started by a script one after the other, need
 * a file each. */
static void recover_rest(const struct pct_recovery *r, struct pct_job *job, const char *expanded,
                         struct pct_recovered *out)
{
    size_t done = 1;
    struct pct_job damaged = {.found = pct_alloc(job->n, sizeof *damaged.found)};
    struct pc_error error = {""}, why = {""};
    while (job->n && done) {
        char found[PCOLLECT_PATH_BYTES];
        struct pc_profile *there = find_own(expanded, job, found);
        done = remove_held(job, there);
        if (set_aside(job, there, &damaged)) {
            done++;
            pc_error_set(&why, PC_EFORMAT, "%s does not hold all data that was collected", found);
        }
        if (job->n && (!there || takes_more(there, job)))
            done += write_rest(r, job, there ? found : expanded, there, out, &error);
        pc_profile_free(there);
    }
    if (job->n)
        say_kept(r, job, error.text);
    if (damaged.n)
        say_kept(r, &damaged, why.text);
    out->n_failed += job->n || damaged.n;
    pct_free(damaged.found);
}

static bool is_rank_elsewhere(const struct pct_job *job, const struct pc_merge_found *f)
{
    for (size_t i = 0; i < job->n; i++)
        if (!job->found[i]->asked_only && job->found[i]->rank == f->rank)
            return true;
    return false;
}

/* Removes arenas of processes that called MPI functions but never MPI_Init, if they were no ranks:
 * a helper of a shell, or a rank before its exec. Ranks of a job in which others reached MPI_Init
 * may have been killed before it. Returns the number of arenas. */
static size_t remove_asked(struct pct_job *job)
{
    size_t n_asked = 0, kept = 0, n = job->n;
    for (size_t i = 0; i < n; i++)
        n_asked += job->found[i]->asked_only;
    for (size_t i = 0; i < n; i++) {
        struct pc_merge_found *f = job->found[i];
        f->asked_only &= n_asked == n || is_rank_elsewhere(job, f);
    }
    for (size_t i = 0; i < n; i++) {
        if (job->found[i]->asked_only)
            remove_arena(job->found[i]);
        else
            job->found[kept++] = job->found[i];
    }
    job->n = kept;
    return n - kept;
}

void pct_job_recover(const struct pct_recovery *r, const struct pct_job *all,
                     struct pct_recovered *out)
{
    struct pct_job job = *all;
    struct pc_error error = {""};
    char expanded[PCOLLECT_PATH_BYTES];
    if (job.n_alive) {
        say_alive(r, &job);
        out->n_alive += job.n_alive;
        return;
    }
    out->n_unmeasured += remove_asked(&job);
    if (job.n == 0)
        return;
    if (pct_job_path(r, job.found[0], expanded, sizeof expanded, &error)) {
        say_kept(r, &job, error.text);
        out->n_failed++;
    } else {
        int lock = pct_recover_lock_beside(r, expanded);
        remove_held_by_own(r, &job);
        recover_rest(r, &job, expanded, out);
        if (lock >= 0)
            close(lock);
    }
}

static const char *state_of(const struct pct_job *job)
{
    if (job->n_alive)
        return "running";
    for (size_t i = 0; i < job->n; i++)
        if (job->found[i]->state != PCOLLECT_STATE_MERGED)
            return "ended";
    return "merged";
}

/* The start of a job in UTC. */
static void put_start(const struct pct_job *job, char when[START_BYTES])
{
    time_t started = (time_t)(job->found[0]->realtime_0_ns / 1000000000u);
    struct tm tm = {0};
    gmtime_r(&started, &tm);
    when[strftime(when, START_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm)] = '\0';
}

bool pct_job_is_called(const struct pct_job *job, const char *name)
{
    const struct pc_merge_found *f = job->found[0];
    char when[START_BYTES];
    put_start(job, when);
    return !strcmp(name, f->exe) || !strcmp(name, pc_base_name(f->exe)) ||
           !strcmp(name, f->job_id) || !strcmp(name, when);
}

void pct_job_list(const struct pct_recovery *r, const struct pct_job *job)
{
    const struct pc_merge_found *f = job->found[0];
    struct pc_error error;
    char when[START_BYTES], path[PCOLLECT_PATH_BYTES] = "";
    put_start(job, when);
    pct_job_path(r, f, path, sizeof path, &error);
    char *shown = pct_text_escaped(path), *name = pct_text_escaped(pc_base_name(f->exe));
    printf("%s\t%zu\t%d\t%s\t%s\t%s\n", name, job->n, f->n_ranks, state_of(job), when, shown);
    pct_free(shown);
    pct_free(name);
}
