/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile of one job from the arenas it left. Arenas are removed only after their profile is in
 * place; where it cannot be written they stay and are named.
 */
#include "command/recover/recover.h"

#include "analysis/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Names ---------------------------------------------------------------------------------- */

void pct_names_free(struct pct_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->at[i]);
    free(names->at);
}

static void add_name(struct pct_names *names, const char *path)
{
    char **at = pct_alloc(names->n + 1, sizeof *at);
    if (names->n)
        memcpy(at, names->at, names->n * sizeof *at);
    free(names->at);
    at[names->n++] = pct_text("%s", path);
    names->at = at;
}

static bool has_name(const struct pct_names *names, const char *path)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->at[i], path) == 0)
            return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool expand(const struct pct_recovery *r, const struct pc_merge_found *f, char *path,
                   size_t n, struct pc_error *error)
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
    return pc_config_expand(pattern, &names, path, n, error) == PC_OK;
}

/* The profile at path, if it is of this job: some of its ranks are there already, merged by
 * themselves or recovered on another node. */
static struct pc_profile *read_same_job(const char *path, uint64_t job_key)
{
    struct pc_profile *p = NULL;
    struct pc_error error;
    if (job_key == 0 || pc_pcol_read_statistics(path, &p, &error) != PC_OK)
        return NULL;
    bool same = p->job_key == job_key;
    pc_profile_free(p);
    return same && pc_pcol_read(path, &p, &error) == PC_OK ? p : NULL;
}

/* Where the profile goes. A file of the same job is added to: it is given back. Of others nothing
 * that this call wrote is overwritten, and nothing at all unless that is wanted: -2, -3, ... is put
 * before the suffix. */
static char *choose_path(const struct pct_recovery *r, const struct pct_names *written,
                         const char *path, uint64_t job_key, struct pc_profile **there_out)
{
    const char *dot = strrchr(base_name(path), '.');
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    char *candidate = pct_text("%s", path);
    for (int k = 2;; k++) {
        *there_out = NULL;
        bool exists = access(candidate, F_OK) == 0;
        if (!exists && !has_name(written, candidate))
            return candidate;
        *there_out = read_same_job(candidate, job_key);
        if (*there_out || (r->overwrite && !has_name(written, candidate)))
            return candidate;
        free(candidate);
        candidate = pct_text("%.*s-%d%s", stem, path, k, dot ? dot : "");
    }
}

/* ---- Words ---------------------------------------------------------------------------------- */

static void say_merged_line(void *arg, const char *line)
{
    const struct pct_recovery *r = arg;
    pct_say(r->self, "%s", line);
}

static void say_alive(const struct pct_recovery *r, const struct pct_job *job)
{
    pct_say(r->self, "%s: %zu of its %zu processes on this node still run: left alone",
            base_name(job->found[0]->exe), job->n_alive, job->n);
}

/* Whether ranks are missing, or ended before MPI_Finalize was over. */
static bool is_incomplete(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_ranks; i++)
        if (p->ranks[i].incomplete)
            return true;
    return p->n_ranks < p->world_size;
}

static void say_written(const struct pct_recovery *r, const struct pc_profile *p, const char *path)
{
    bool incomplete = is_incomplete(p);
    if (r->quiet)
        fprintf(stderr, "pcollect: profile: %s (%s: %u of %u ranks, recovered since %s)\n", path,
                incomplete ? "incomplete" : "complete", p->n_ranks, p->world_size,
                incomplete ? "MPI_Finalize was not reached" : "the job could not write it");
    else
        printf("%s: %s, %u of %u ranks, %s\n", path, base_name(p->exe), p->n_ranks, p->world_size,
               incomplete ? "incomplete" : "complete");
}

static void say_kept(const struct pct_recovery *r, const struct pct_job *job, const char *reason)
{
    char *folder = pct_text("%s", job->found[0]->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    pct_say(r->self, "%s; the %zu arenas stay: `pcollect recover -o PATH %s` tries again", reason,
            job->n, folder);
    free(folder);
}

/* ---- Work ----------------------------------------------------------------------------------- */

static void remove_arenas(const struct pct_job *job)
{
    for (size_t i = 0; i < job->n; i++) {
        char *folder = job->found[i]->path, *slash = strrchr(folder, '/');
        unlink(folder);
        if (slash == NULL)
            continue;
        *slash = '\0';
        rmdir(folder); /* succeeds if it is empty */
        *slash = '/';
    }
}

static bool has_rank(const struct pc_profile *p, int32_t rank)
{
    for (uint32_t i = 0; p && i < p->n_ranks; i++)
        if (p->ranks[i].rank == rank)
            return true;
    return false;
}

/* Leaves only what no profile has yet; the rest is removed. */
static void drop_merged(struct pct_job *job, const struct pc_profile *there)
{
    struct pct_job merged = {pct_alloc(job->n, sizeof *merged.found), 0, 0};
    size_t kept = 0;
    for (size_t i = 0; i < job->n; i++) {
        struct pc_merge_found *f = job->found[i];
        if (f->state == PCOLLECT_STATE_MERGED || has_rank(there, f->rank))
            merged.found[merged.n++] = f;
        else
            job->found[kept++] = f;
    }
    job->n = kept;
    remove_arenas(&merged);
    free(merged.found);
}

/* The sum of the arenas and of what is there already. */
static struct pc_profile *merge_arenas(const struct pct_recovery *r, const struct pct_job *job,
                                       const struct pc_profile *there, struct pc_error *error)
{
    struct pc_profile *fresh = NULL, *sum = NULL;
    char **paths = pct_alloc(job->n, sizeof *paths);
    for (size_t i = 0; i < job->n; i++)
        paths[i] = job->found[i]->path;
    int err = pc_merge_files(paths, job->n, &fresh, say_merged_line, (void *)r, error);
    free(paths);
    if (err || there == NULL)
        return err ? NULL : fresh;
    err = pc_profile_merge(there, fresh, &sum, error);
    pc_profile_free(fresh);
    return err ? NULL : sum;
}

/* Counts and says what has become of the arenas that no profile had. */
static void recover_rest(const struct pct_recovery *r, const struct pct_job *job, const char *path,
                         const struct pc_profile *there, struct pct_names *written,
                         struct pct_recovered *out)
{
    struct pc_error error = {""};
    struct pc_profile *profile = merge_arenas(r, job, there, &error);
    /* A process that ended before it had measured anything leaves nothing worth a file. */
    bool empty = profile && profile->n_data == 0 && job->found[0]->job_key == 0;
    if (empty || (profile && pc_pcol_write(profile, path, 0, &error) == PC_OK)) {
        remove_arenas(job);
        if (!empty) {
            add_name(written, path);
            say_written(r, profile, path);
            out->n_profiles++;
        }
    } else {
        say_kept(r, job, error.text);
        out->n_failed++;
    }
    pc_profile_free(profile);
}

void pct_job_recover(const struct pct_recovery *r, const struct pct_job *all,
                     struct pct_names *written, struct pct_recovered *out)
{
    struct pct_job job = *all;
    struct pc_error error = {""};
    struct pc_profile *there = NULL;
    char expanded[PCOLLECT_PATH_BYTES];
    if (job.n_alive) {
        say_alive(r, &job);
        out->n_alive++;
        return;
    }
    if (!expand(r, job.found[0], expanded, sizeof expanded, &error)) {
        say_kept(r, &job, error.text);
        out->n_failed++;
        return;
    }
    if (job.found[0]->asked_only) { /* a shell's helper, or what a rank was before exec */
        remove_arenas(&job);
        return;
    }
    char *path = choose_path(r, written, expanded, job.found[0]->job_key, &there);
    drop_merged(&job, there);
    if (job.n)
        recover_rest(r, &job, path, there, written, out);
    pc_profile_free(there);
    free(path);
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

void pct_job_list(const struct pct_recovery *r, const struct pct_job *job)
{
    const struct pc_merge_found *f = job->found[0];
    time_t started = (time_t)(f->realtime_0_ns / 1000000000u);
    struct tm tm = {0};
    struct pc_error error;
    char when[32] = "", path[PCOLLECT_PATH_BYTES] = "";
    gmtime_r(&started, &tm);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
    expand(r, f, path, sizeof path, &error);
    printf("%s\t%zu\t%d\t%s\t%s\t%s\n", base_name(f->exe), job->n, f->n_ranks, state_of(job), when,
           path);
}
