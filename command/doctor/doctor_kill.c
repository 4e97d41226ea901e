/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect doctor: checks that collected data survives a killed process on this machine. A child
 * collects in the spool as a rank does and counts calls until it is killed; its arena is recovered
 * as by `pcollect recover`, and compared with the child's count. No file is left.
 */
#include "command/doctor/doctor.h"

#include "cct/cct.h"
#include "command/launch/run.h"
#include "include/pcollect/plugin.h"
#include "include/pcollect/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OP = 3, RECORD_BYTES = 64, LEAST_CALLS = 1000 };

/* A primitive in one context, whose record is the number of its calls. */
static struct pc_tree *add_context(struct pc_arena *a, uint64_t **count_out)
{
    static const char path[] = "/usr/bin/pcollect-doctor";
    struct pcollect_plugin_rec plugin = {.record_bytes = 8, .n_fields = 1, .name = "time"};
    struct pcollect_field_rec field = {
        .name = "count", .combine = PCOLLECT_SUM, .unit = PCOLLECT_UNIT_COUNT};
    struct pcollect_module module = {
        .flags = PCOLLECT_MODULE_EXE, .identity = 7, .path_bytes = sizeof path - 1};
    bool collapsed = false;
    a->header->record_bytes = a->header->comm_bytes = RECORD_BYTES;
    pc_arena_add_plugin(a, &plugin, &field);
    pcollect_ref m = pc_arena_add_module(a, &module, path);
    pc_arena_add_op(a, OP, PCOLLECT_CLASS_P2P, "MPI_Send");
    struct pc_tree *t = pc_tree_open(a, getpid(), false);
    pcollect_ref op =
        pc_tree_op(t, pc_tree_frame(t, t->root, m, 0x1234), OP, RECORD_BYTES, &collapsed);
    *count_out = pc_tree_record(t, op);
    return t;
}

/* Runs in the child. Uses the first spool with room for a file, like a rank; writes its name, or
 * the reason why there is none, to fd, then each count. */
static void collect(const struct pc_config *c, uint64_t key, int fd)
{
    static struct pc_arena a;
    struct pc_error error = {""};
    const char *spool = pc_config_spool(c, 0);
    for (unsigned i = 0; spool && !a.is_file; spool = pc_config_spool(c, ++i))
        if (pc_arena_open(&a, spool, 4 * PC_ARENA_MIN_BYTES, &error))
            break;
    if (!a.is_file)
        return;
    struct pcollect_arena_header *h = a.header;
    uint64_t *count;
    h->run_key = h->job_key = key;
    h->rank = 0;
    h->n_ranks = 1;
    pc_clock_init();
    pc_clock_pair(&h->ticks_0, &h->mono_0_ns);
    h->start_ticks = h->init_begin_ticks = h->ticks_0;
    h->realtime_0_ns = pc_clock_ns(CLOCK_REALTIME);
    struct pc_tree *t = add_context(&a, &count);
    h->state = PCOLLECT_STATE_INITIALISED;
    if (write(fd, a.path, sizeof a.path) != (ssize_t)sizeof a.path)
        return;
    for (;;) {
        ++*count;
        pc_tree_thread(t)->mpi_calls = *count;
        if (write(fd, count, sizeof *count) != (ssize_t)sizeof *count)
            return;
    }
}

struct trial {
    char path[PCOLLECT_PATH_BYTES]; /* of the arena */
    uint64_t least;                 /* calls that had been counted for certain */
};

static bool read_whole(int fd, void *data, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = read(fd, (char *)data + done, n - done);
        if (got <= 0 && (got == 0 || errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Makes a child leave an arena. False: no spool has room for a file. */
static bool leave_arena(const struct pc_config *c, uint64_t key, struct trial *t)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        collect(c, key, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    bool collects = child > 0 && read_whole(ends[0], t->path, sizeof t->path);
    while (collects && t->least < LEAST_CALLS && read_whole(ends[0], &t->least, sizeof t->least))
        ;
    /* Another command may recover it between the kill and the recovery. */
    if (collects)
        pct_left_pass(t->path);
    if (child > 0) {
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return collects && t->least == LEAST_CALLS;
}

/* NULL if the profile has the child's count, else the error. Allocated. */
static char *compare(const char *path, const struct trial *t)
{
    struct pcol_error error;
    struct pcol_profile *p = pcol_open(path, 0, &error);
    if (!p)
        return pct_text("%s", error.text);
    const struct pcol_table *ranks = pcol_table(p, "ranks");
    int column = pcol_table_find(ranks, "mpi_calls");
    uint64_t calls = (uint64_t)pcol_table_value(ranks, 0, (size_t)column).whole;
    char *wrong = NULL;
    if (pcol_table_rows(ranks) != 1 || calls < t->least ||
        !pcol_table_rows(pcol_table(p, "contexts")))
        wrong = pct_text("of %lu calls %lu are in the profile", (unsigned long)t->least,
                         (unsigned long)calls);
    pcol_close(p);
    return wrong;
}

/* Runs in a child whose output goes to /dev/null. Writes to fd: the folder, and on the next line
 * the error, if any. */
static void try_kill(int fd, const void *arg)
{
    const struct pct_examined *d = arg;
    struct trial t = {.least = 0};
    struct pct_recovered found;
    uint64_t key = 0;
    if (getrandom(&key, sizeof key, 0) != sizeof key || !key || !leave_arena(&d->config, key, &t))
        return;
    char *folder = pct_text("%.*s", (int)(strrchr(t.path, '/') - t.path), t.path);
    char *profile = pct_text("%s/doctor-%lx.pcol", folder, (unsigned long)key);
    const struct pct_recovery r = {
        .self = d->self, .run_key = key, .pattern = profile, .quiet = true};
    pct_recover_folders(&r, &folder, 1, &found);
    char *wrong = found.n_profiles == 1 ? compare(profile, &t) : pct_text("it was not recovered");
    unlink(profile);
    unlink(t.path); /* if it was not recovered */
    pct_spool_remove(folder);
    dprintf(fd, "%s\n%s", folder, wrong ? wrong : "");
}

void pct_doctor_kill(struct pct_examined *d)
{
    char *said = pct_doctor_apart(try_kill, d);
    char *wrong = said ? strchr(said, '\n') : NULL;
    if (wrong)
        *wrong++ = '\0';
    if (!wrong)
        pct_doctor_add(d, PCT_LESS, "kill", pct_text("no file can be created in any spool"),
                       "the data of a killed job is lost",
                       "name a folder on a local disk: [spool] path");
    else if (*wrong)
        pct_doctor_add(d, PCT_BAD, "kill",
                       pct_text("a process that collected in %s was killed: %s", said, wrong),
                       "the data of a killed job is lost", "name another folder: [spool] path");
    else
        pct_doctor_add(d, PCT_GOOD, "kill",
                       pct_text("a process that collected in %s was killed, and all that it had "
                                "counted was recovered",
                                said),
                       NULL, NULL);
    pct_free(said);
}
