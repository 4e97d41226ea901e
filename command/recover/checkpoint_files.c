/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of checkpoints: profiles of running jobs, in the folder of the job's future profile. Their
 * names are made from that of the profile; the processes recorded for their ranks identify the job.
 * A file of this name that is no checkpoint is not touched.
 *
 * Called by the code that writes checkpoints, and by the code that has found or made the profile of
 * a job.
 */
#include "command/recover/recover.h"

#include "analysis/buffer.h"
#include "analysis/tree/totals.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Processes ------------------------------------------------------------------------------- */

static const struct pc_profile_rank *find_rank(const struct pc_profile *p, int32_t rank)
{
    uint32_t place = pct_totals_place_of_rank(p, 0, rank);
    return place < p->n_ranks ? &p->ranks[place] : NULL;
}

/* True if b contains the process of this rank of a; its data may be damaged. */
static bool has_process(const struct pc_profile *b, const struct pc_profile_rank *a)
{
    const struct pc_profile_rank *r = find_rank(b, a->rank);
    return r && r->pid == a->pid && r->start_realtime_ns == a->start_realtime_ns &&
           strcmp(r->host, a->host) == 0;
}

static bool shares_process(const struct pc_profile *a, const struct pc_profile *b)
{
    for (uint32_t i = 0; i < a->n_ranks; i++)
        if (has_process(b, &a->ranks[i]))
            return true;
    return false;
}

/* True if `whole` contains all processes of the checkpoint, so that it can be removed. */
static bool holds_all(const struct pc_profile *whole, const struct pc_profile *checkpoint)
{
    for (uint32_t i = 0; i < checkpoint->n_ranks; i++) {
        const struct pc_profile_rank *r = &checkpoint->ranks[i];
        if (!has_process(whole, r) ||
            find_rank(whole, r->rank)->notes & ~r->notes & PCOLLECT_NOTE_DAMAGED)
            return false;
    }
    return true;
}

bool pct_is_checkpoint(const struct pc_profile *p)
{
    return pc_profile_table(p, PC_TABLE_CHECKPOINT) != NULL;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* "/x/app.4.running.pcol" for "/x/app.4.pcol". Allocated. */
static char *name_checkpoint(const char *wanted)
{
    int stem = (int)pc_pcol_stem(wanted);
    return pct_text("%.*s.running%s", stem, wanted, wanted + stem);
}

/* True for app.4.running.pcol and app.4.running.2.pcol, if the first of them is given. */
static bool is_numbered(const char *entry, const char *first)
{
    size_t stem = pc_pcol_stem(first);
    if (strncmp(entry, first, stem) != 0)
        return false;
    const char *rest = entry + stem;
    if (*rest == '.' && isdigit((unsigned char)rest[1]))
        for (rest++; isdigit((unsigned char)*rest); rest++)
            ;
    return strcmp(rest, first + stem) == 0;
}

/* The checkpoint in this file, without contexts; NULL: it is none. */
static struct pc_profile *read_checkpoint(const char *path)
{
    struct pc_profile *p = NULL;
    struct pc_error error;
    if (pc_pcol_read_ranks(path, &p, &error) != PC_OK)
        return NULL;
    if (pct_is_checkpoint(p))
        return p;
    pc_profile_free(p);
    return NULL;
}

/* Returns true to stop the search. */
typedef bool (*see_fn)(void *arg, const char *path, const struct pc_profile *checkpoint);

/* Passes all checkpoints for this name of a profile to `see`. There may be gaps between their
 * numbers, because each is removed when its job has a profile. */
static void see_checkpoints(const char *wanted, see_fn see, void *arg)
{
    char *name = name_checkpoint(wanted), *slash = strrchr(name, '/');
    char *folder = slash ? pct_text("%.*s", (int)(slash + 1 - name), name) : pct_text("./");
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        if (!is_numbered(e->d_name, slash ? slash + 1 : name))
            continue;
        char *path = pct_text("%s%s", slash ? folder : "", e->d_name);
        struct pc_profile *p = read_checkpoint(path);
        found = p && see(arg, path, p);
        pc_profile_free(p);
        pct_free(path);
    }
    if (dir)
        closedir(dir);
    pct_free(folder);
    pct_free(name);
}

struct sought {
    const struct pc_profile *profile;
    char *path; /* PCOLLECT_PATH_BYTES */
    bool found;
};

static bool see_own(void *arg, const char *path, const struct pc_profile *checkpoint)
{
    struct sought *s = arg;
    s->found = shares_process(s->profile, checkpoint) && strlen(path) < PCOLLECT_PATH_BYTES;
    if (s->found)
        pc_format(s->path, PCOLLECT_PATH_BYTES, "%s", path);
    return s->found;
}

int pct_checkpoint_write(const struct pc_profile *p, const char *wanted, char *path,
                         struct pc_error *error)
{
    struct sought own = {.profile = p, .path = path};
    see_checkpoints(wanted, see_own, &own);
    if (own.found)
        return pc_pcol_write(p, path, PC_PCOL_ON_DISK, error);
    char *name = name_checkpoint(wanted);
    int err = pc_pcol_write_new(p, name, PC_PCOL_ON_DISK, path, error);
    pct_free(name);
    return err;
}

/* ---- Removal when the job has a profile ---------------------------------------------------- */

static bool file_holds_all(const char *path, const struct pc_profile *checkpoint)
{
    struct pc_profile *p = NULL;
    struct pc_error error;
    bool holds = pc_pcol_read_statistics(path, &p, &error) == PC_OK && !pct_is_checkpoint(p) &&
                 holds_all(p, checkpoint);
    pc_profile_free(p);
    return holds;
}

/* True if a file with one of the names that the profile may have got contains all processes. */
static bool is_replaced(const char *wanted, const struct pc_profile *checkpoint)
{
    char path[PCOLLECT_PATH_BYTES];
    struct pc_error error;
    struct stat st;
    for (unsigned i = 1; !pc_pcol_number(wanted, i, path, sizeof path, &error); i++) {
        if (lstat(path, &st) != 0)
            break;
        if (file_holds_all(path, checkpoint))
            return true;
    }
    return false;
}

struct replacing {
    const char *wanted, *profile;
};

static bool drop_replaced(void *arg, const char *path, const struct pc_profile *checkpoint)
{
    const struct replacing *r = arg;
    if ((r->profile && file_holds_all(r->profile, checkpoint)) ||
        is_replaced(r->wanted, checkpoint))
        unlink(path);
    return false;
}

void pct_checkpoint_drop(const char *wanted, const char *profile)
{
    struct replacing r = {wanted, profile};
    see_checkpoints(wanted, drop_replaced, &r);
}
