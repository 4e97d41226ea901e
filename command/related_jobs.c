/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profiles of jobs that one job started, was started by, or met, for pcollect info. Each
 * profile has the actions of its own job (table `jobs`, libcollect/tables/jobs_table.c); this file
 * matches the profiles of one folder. Two rows match if all data that both have agree; of several
 * such pairs, the one whose times overlap most is taken: a spawned process starts, and is in
 * MPI_Init, while its parent is in MPI_Comm_spawn.
 */
#include "command/related_jobs.h"

#include "analysis/buffer.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* Largest difference of the clocks of two nodes, in ns. */
#define CLOCKS_NS 1000000000

static const char spawned[] = "MPI_Comm_get_parent", spawns[] = "MPI_Comm_spawn";

/* A row of the table. Texts are the profile's. */
struct meeting {
    const char *how, *job, *parent, *port;
    uint64_t rank, number, n_processes, n_others, parent_rank;
    int64_t began, ended;
    int64_t together; /* overlap in ns with the best row so far; 0: none */
    char *file;       /* file of that row */
    bool by_multiple; /* that row is MPI_Comm_spawn_multiple */
    uint64_t their_rank, their_number;
};

struct meetings {
    struct meeting *all;
    size_t n;
};

/* ---- Rows ----------------------------------------------------------------------------------- */

static uint64_t number_in(const struct pc_profile_table *t, uint32_t row, const char *name)
{
    return pc_table_cell(t, row, pc_table_column(t, name, PCOLLECT_COLUMN_NUMBER));
}

static const char *text_in(const struct pc_profile *p, const struct pc_profile_table *t,
                           uint32_t row, const char *name)
{
    uint32_t column = pc_table_column(t, name, PCOLLECT_COLUMN_STRING);
    return pc_profile_string(p, pc_table_cell(t, row, column));
}

static struct meetings read_meetings(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "jobs");
    struct meetings m = {NULL, t ? t->n_rows : 0};
    if (!m.n)
        return m;
    m.all = pct_alloc(m.n, sizeof *m.all);
    for (uint32_t i = 0; i < m.n; i++)
        m.all[i] = (struct meeting){
            .how = text_in(p, t, i, "made_by"),
            .job = text_in(p, t, i, "job"),
            .parent = text_in(p, t, i, "parent"),
            .port = text_in(p, t, i, "port"),
            .rank = pc_table_cell(t, i, pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK)),
            .number = number_in(t, i, "number"),
            .n_processes = number_in(t, i, "processes"),
            .n_others = number_in(t, i, "others"),
            .parent_rank = number_in(t, i, "parent_rank"),
            .began = (int64_t)number_in(t, i, "began"),
            .ended = (int64_t)number_in(t, i, "ended")};
    return m;
}

static bool is_spawn(const struct meeting *m)
{
    return strncmp(m->how, spawns, sizeof spawns - 1) == 0;
}

static bool is_birth(const struct meeting *parent, const struct meeting *child)
{
    return is_spawn(parent) && strcmp(child->how, spawned) == 0 &&
           (!*parent->job || !*child->parent || strcmp(parent->job, child->parent) == 0) &&
           (!child->parent_rank || child->parent_rank == parent->rank + 1);
}

static bool is_meeting(const struct meeting *a, const struct meeting *b)
{
    bool joined = strcmp(a->how, "MPI_Comm_join") == 0 && strcmp(b->how, a->how) == 0;
    return joined || (*a->port && strcmp(a->how, b->how) != 0 && strcmp(a->port, b->port) == 0);
}

/* Overlap of two rows in time; at most 0: they do not match. */
static int64_t time_together(const struct meeting *a, const struct meeting *b)
{
    if (a->n_processes != b->n_others || a->n_others != b->n_processes ||
        !(is_birth(a, b) || is_birth(b, a) || is_meeting(a, b)))
        return 0;
    int64_t from = a->began > b->began ? a->began : b->began;
    int64_t to = a->ended < b->ended ? a->ended : b->ended;
    return to - from + CLOCKS_NS;
}

/* Assigns a row of another profile to our best matching row; each of ours keeps its best match. */
static void match_row(struct meetings *ours, const struct meeting *theirs, const char *file)
{
    struct meeting *best = NULL;
    int64_t longest = 0;
    for (size_t i = 0; i < ours->n; i++) {
        int64_t together = &ours->all[i] == theirs ? 0 : time_together(&ours->all[i], theirs);
        if (together > longest) {
            longest = together;
            best = &ours->all[i];
        }
    }
    if (!best || longest <= best->together)
        return;
    pct_free(best->file);
    best->file = pct_text("%s", file);
    best->by_multiple = strcmp(theirs->how, "MPI_Comm_spawn_multiple") == 0;
    best->together = longest;
    best->their_rank = theirs->rank;
    best->their_number = theirs->number;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void match_file(struct meetings *ours, const char *path)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    if (pc_pcol_read_contexts(path, false, &p, &error))
        return;
    struct meetings theirs = read_meetings(p);
    for (size_t i = 0; i < theirs.n; i++)
        match_row(ours, &theirs.all[i], path);
    pct_free(theirs.all);
    pc_profile_free(p);
}

/* True if a file can be of the other job: a profile is written when its job ends, so it cannot be
 * older. */
static bool can_be_of(const struct stat *st, const struct stat *own, int64_t began)
{
    return S_ISREG(st->st_mode) && (st->st_ino != own->st_ino || st->st_dev != own->st_dev) &&
           (int64_t)st->st_mtime + 2 >= began / 1000000000;
}

static void match_folder(struct meetings *ours, const char *path)
{
    char *folder = pct_text("%s", path), *slash = strrchr(folder, '/');
    struct stat own = {0}, st;
    int64_t began = INT64_MAX;
    for (size_t i = 0; i < ours->n; i++)
        began = ours->all[i].began < began ? ours->all[i].began : began;
    if (slash)
        slash[1] = '\0';
    else
        folder[0] = '\0';
    stat(path, &own);
    for (size_t i = 0; i < ours->n; i++) /* parts of one job may have met each other */
        match_row(ours, &ours->all[i], path);
    DIR *dir = opendir(*folder ? folder : ".");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        char *other = pct_text("%s%s", folder, e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".pcol") == 0 && !stat(other, &st) &&
            can_be_of(&st, &own, began))
            match_file(ours, other);
        pct_free(other);
    }
    if (dir)
        closedir(dir);
    pct_free(folder);
}

/* ---- Output --------------------------------------------------------------------------------- */

static void put_meeting(const struct meeting *m)
{
    const char *file = m->file ? m->file : "no profile of it in this folder";
    struct pct_buf b = {0};
    if (strcmp(m->how, spawned) != 0)
        pct_buf_format(&b, "%s: %llu process%s, by %s (rank %lld, number %llu): %s",
                       is_spawn(m) ? "spawned" : "met", (unsigned long long)m->n_others,
                       m->n_others == 1 ? "" : "es", m->how, (long long)m->rank,
                       (unsigned long long)m->number, file);
    else if (m->file)
        pct_buf_format(&b, "spawned by: MPI_Comm_spawn%s (rank %lld, number %llu): %s",
                       m->by_multiple ? "_multiple" : "", (long long)m->their_rank,
                       (unsigned long long)m->their_number, file);
    else
        pct_buf_format(&b, "spawned by: job %s: %s", *m->parent ? m->parent : "of unknown name",
                       file);
    struct pct_buf safe = {0};
    pct_text_escape(&safe, b.data, PCT_ESCAPE_CELL);
    printf("%s\n", safe.data);
    pct_buf_free(&safe);
    pct_buf_free(&b);
}

void pct_related_put(const char *path, const struct pc_profile *p)
{
    struct meetings ours = read_meetings(p);
    if (ours.n)
        match_folder(&ours, path);
    for (size_t i = 0; i < ours.n; i++) {
        put_meeting(&ours.all[i]);
        pct_free(ours.all[i].file);
    }
    pct_free(ours.all);
}
