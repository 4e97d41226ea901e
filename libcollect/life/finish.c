/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps around MPI_Init and MPI_Finalize, and at the end of the process.
 *
 * After the merge every thread collects into a new tree. This late part, MPI_Finalize itself
 * included, is written into this rank's slot of the profile, at the end of MPI_Finalize and again
 * at the end of the process.
 */
#include "base/shell.h"
#include "format/profile.h"
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/life/life.h"
#include "libcollect/life/parts.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"
#include "merge/ending.h"
#include "merge/module.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library may lack it. */
int on_exit(void (*)(int, void *), void *) __attribute__((weak));

static uint64_t exit_notes; /* of the process that ends */

/* Runs in exit, also behind main. */
static void note_status(int status, void *unused)
{
    (void)unused;
    exit_notes = PCOLLECT_NOTE_STATUS | (uint64_t)(status & 0xff) << PCOLLECT_NOTE_STATUS_BIT;
}

void pc_init_begin(void)
{
    int saved = errno;
    if (!pc_header() || pc_header()->init_begin_ticks)
        return;
    if (on_exit)
        on_exit(note_status, NULL);
    pc_parts_init_begin();
    pc_header()->init_tid = (int32_t)syscall(SYS_gettid);
    pc_launch_arrive();
    errno = saved;
}

static uint64_t draw_key(void)
{
    uint64_t key = 0;
    if (syscall(SYS_getrandom, &key, sizeof key, GRND_NONBLOCK) != sizeof key)
        key = pc_hash_u64(pc_ticks() ^ (uint64_t)getpid() << 40);
    return key ? key : 1;
}

/* The key of the job as this rank alone can know it, which marks the arenas of a killed job as one
 * group. The merge replaces it by the key of rank 0. */
static uint64_t find_key(int n_ranks)
{
    const struct pc_presence *p = &pc_process.presence;
    struct pc_config_launch l = pc_config_launch();
    uint64_t launcher = pc_header()->launch_key;
    l.n_ranks = n_ranks;
    if (n_ranks < 2 || (!launcher && !l.key))
        return draw_key();
    return pc_launch_job(&l, launcher, launcher && (p->verdict == PC_RANKS_HERE || p->one_node));
}

/* Names the profile of a job that another job has spawned. It has inherited the environment, and
 * with it the name of that job's profile: it gets a name of its own that begins like it. */
static void name_spawned(struct pcollect_arena_header *h)
{
    char stem[PCOLLECT_PATH_BYTES];
    uint64_t key = pc_config_launch().key;
    bool named = pc_pcol_stem(h->out) < strlen(h->out);
    pc_format(stem, sizeof stem, "%s", h->out);
    stem[pc_pcol_stem(stem)] = '\0';
    pc_format(h->out, sizeof h->out, "%s.spawned-%x%s", stem,
              (unsigned)(key ? key >> 32 : (uint64_t)getpid()), named ? ".pcol" : "");
}

/* Makes no MPI call that needs another rank: a rank without this library would never answer. */
void pc_init_end(const struct pc_transport *transport, const char *mpi)
{
    int saved = errno;
    struct pcollect_arena_header *h = pc_header();
    pc_stack_reserve();
    if (!h) /* the start was refused */
        return;
    pc_parts_init_end();
    pc_launch_check(transport, mpi);
    h->rank = transport->rank;
    pc_process.presence = pc_launch_presence(transport->n_ranks);
    h->job_key = find_key(transport->n_ranks);
    h->n_ranks = transport->n_ranks;
    if (transport->n_parents)
        name_spawned(h);
    pc_format(h->mpi, sizeof h->mpi, "%s", mpi);
    pc_note_time();
    h->init_end_ticks = pc_ticks();
    if (transport->n_parents && h->rank == 0)
        pc_jobs_spawned(h->n_ranks, transport->n_parents);
    __atomic_store_n(&h->state, PCOLLECT_STATE_INITIALISED, __ATOMIC_RELEASE);
    errno = saved;
}

void pc_finalize_begin(void)
{
    if (pc_header())
        pc_header()->finalize_begin_ticks = pc_ticks();
}

void pc_note_alive(void)
{
    if (pc_header())
        __atomic_store_n(&pc_header()->seen_ticks, pc_ticks(), __ATOMIC_RELAXED);
}

/* Path of the profile. Only rank 0 makes it; the others get it in the merge. */
static int expand_out(char *out, size_t n, struct pc_error *error)
{
    const struct pcollect_arena_header *h = pc_header();
    struct pc_config_names names = {.exe = h->exe[0] ? h->exe : "unknown",
                                    .n_ranks = h->n_ranks,
                                    .job = h->job,
                                    .realtime_ns = h->realtime_0_ns};
    return pc_config_expand(h->out, &names, out, n, error);
}

/* ---- The end of the job, for merge/ending.h ------------------------------------------------- */

/* Data of this rank for the end of the job. */
struct end_here {
    char wanted[PCOLLECT_PATH_BYTES]; /* rank 0: the requested name of the profile */
};

static uint64_t end_key(void *self)
{
    (void)self;
    return pc_header() ? pc_header()->job_key : 0;
}

static void end_take_key(void *self, uint64_t key)
{
    (void)self;
    if (pc_header())
        pc_header()->job_key = key;
}

static int end_merge(void *self, const struct pc_transport *transport, struct pc_error *error)
{
    struct end_here *end = self;
    const struct pc_merge_module *m = pc_core_refused() ? NULL : pc_merge_module();
    if (!m)
        return pc_merge_absent(transport, error);
    if (transport->rank == 0 && expand_out(end->wanted, sizeof end->wanted, error)) {
        pc_log("%s", error->text);
        pc_format(end->wanted, sizeof end->wanted, "pcollect-%u.pcol", (unsigned)getpid());
    }
    error->text[0] = '\0';
    int err = m->job(&pc_process.arena, transport, end->wanted, &pc_process.merged, error);
    if (pc_process.merged.unwritten.text[0])
        pc_log("%s", pc_process.merged.unwritten.text);
    return err;
}

static void end_mark(void *self)
{
    (void)self;
    __atomic_store_n(&pc_header()->state, PCOLLECT_STATE_MERGED, __ATOMIC_RELEASE);
}

/* Tells `pcollect run` where the profile is; without `pcollect run` it tells the user, also if a
 * file with the requested name existed already. */
static void end_announce(void *self)
{
    const struct end_here *end = self;
    bool numbered = strcmp(end->wanted, pc_process.merged.path) != 0;
    if (!pc_run_tell_profile(pc_process.merged.path, numbered ? end->wanted : NULL))
        pc_log("profile written to %s%s%s", pc_process.merged.path, numbered ? ", not to " : "",
               numbered ? end->wanted : "");
}

static void end_remove(void *self)
{
    (void)self;
    pc_arena_unlink(&pc_process.arena);
}

/* Time in ms that MPI_Finalize waits for ranks that may not have this library. SOME_MISSING_MS:
 * some ranks of this node are certainly missing, or have no arena; such ranks come at once or
 * never. */
enum { SOME_MISSING_MS = 2000, FOR_EVER = -1 };

static int wait_limit_ms(void)
{
    if (pc_core_refused() || pc_process.presence.verdict == PC_RANKS_MISSING)
        return SOME_MISSING_MS;
    return pc_process.presence.verdict == PC_RANKS_HERE ? FOR_EVER
                                                        : (int)pc_process.config.output_wait * 1000;
}

/* Checks again while waiting for ranks that were seen: they may leave meanwhile. */
static void look_again(struct pc_guest *guest)
{
    int saved = errno;
    struct pc_presence now = {.some_left = false};
    if (!pc_core_refused())
        now = pc_launch_presence(pc_header()->n_ranks);
    if (now.some_left) {
        pc_process.presence = now;
        guest->limit_ms = SOME_MISSING_MS;
        guest->speaks = now.speaks;
    }
    errno = saved;
}

static void leave_others(struct pc_guest *guest)
{
    (void)guest;
    if (!pc_core_refused())
        pc_launch_leave();
}

/* The moment at which this rank knew that all others have come to MPI_Finalize; 0: it never did. */
static uint64_t met_ticks;

static void note_met(struct pc_guest *guest)
{
    (void)guest;
    met_ticks = pc_ticks();
}

/* `why`: this rank could not ask the others; or empty. */
static void say_missing(int n_ranks, const char *why)
{
    const struct pc_presence *seen = &pc_process.presence;
    if (*why)
        pc_log("no profile was written: %s", why);
    else if (seen->some_left)
        pc_log("no profile was written: some of the %d ranks have left: their own filter of system "
               "calls (seccomp) would have ended them, or they could not reach the others",
               n_ranks);
    else if (seen->verdict == PC_RANKS_HERE)
        pc_log("no profile was written: some of the %d ranks did not answer in MPI_Finalize within "
               "%d s",
               n_ranks, PC_MEET_VOTE_MS / 1000);
    else if (seen->verdict == PC_RANKS_MISSING)
        pc_log("no profile was written: this library measures only %u of the %d ranks on this "
               "host, and the others did not come to MPI_Finalize within %d s",
               seen->n_here, pc_config_launch().n_local, SOME_MISSING_MS / 1000);
    else
        pc_log("no profile was written: some of the %d ranks do not load this library, or did not "
               "come to MPI_Finalize in time",
               n_ranks);
    if (pc_process.arena.is_file)
        pc_log("the data stays in the spool: `pcollect recover` makes a profile of it");
}

static void say_failed(void)
{
    const char *path = pc_process.arena.path;
    char folder[PCOLLECT_PATH_BYTES];
    pc_format(folder, sizeof folder, "%s", path);
    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = '\0';
    if (pc_core_refused())
        pc_log(
            "no profile was written, because rank 0 was not measured; if other ranks were, their "
            "data stays in the spool: `pcollect recover` makes a profile of it");
    else if (pc_process.arena.is_file)
        pc_log(
            "no profile was written; the data stays in %s: `pcollect recover -o PATH %s` makes a "
            "profile of it",
            path, folder);
    else
        pc_log("no profile was written, and without a file in a spool nothing is kept of the run");
}

/* The id of this node, which is its host name, as in the profile. If it is the same on two nodes,
 * they count as one, and the merge sends more messages between them. Shares of values are made in
 * the order of ranks (merge/reduce.c). */
static uint64_t find_node(void)
{
    const struct pcollect_arena_header *h = pc_header();
    if (!h || !h->host[0] || !h->values_kib || pc_process.presence.one_node)
        return 0;
    uint64_t id = pc_hash_bytes(h->host, strnlen(h->host, sizeof h->host), 0);
    return id ? id : 1;
}

/* Runs also if the start was refused on this rank, which then has nothing to merge: otherwise the
 * others would wait for it. */
static void end_job(const struct pc_transport *transport)
{
    struct end_here here = {""};
    struct pc_error error;
    bool tells;
    const struct pc_ending ending = {.self = &here,
                                     .guest = {.limit_ms = wait_limit_ms(),
                                               .node = find_node(),
                                               .speaks = pc_process.presence.speaks,
                                               .look = look_again,
                                               .leave = leave_others,
                                               .met = note_met},
                                     .key = end_key,
                                     .take_key = end_take_key,
                                     .merge = end_merge,
                                     .mark = end_mark,
                                     .announce = end_announce,
                                     .remove = end_remove};
    enum pc_end end = pc_end_job(&ending, transport, &tells, &error);
    if (end != PC_END_MERGED)
        pc_process.merged.path[0] = '\0';
    if (!tells)
        return;
    if (end != PC_END_UNMET && error.text[0] && !pc_core_refused())
        pc_log("%s", error.text);
    if (end == PC_END_UNMET)
        say_missing(transport->n_ranks, error.text);
    else if (end == PC_END_FAILED)
        say_failed();
}

static void merge_now(void *arg)
{
    const struct pc_transport *transport = arg;
    struct pc_thread *t = pc_self;
    if (atomic_load(&pc_control.left))
        return;
    if (pc_core_refused()) {
        int kept = errno;
        end_job(transport);
        errno = kept;
        return;
    }
    if (!atomic_load(&pc_live->stage) || pc_header()->merge_ticks)
        return;
    int saved = errno;
    pc_scope_settle();
    uint64_t begin = pc_ticks();
    pc_note_time();
    pc_thread_current(); /* it may have left, and parts need it: enters before times are settled */
    pc_parts_before_merge();
    atomic_store_explicit(&pc_live->stage, PC_STAGE_LATE, memory_order_release);
    uint64_t came = pc_ticks();
    end_job(transport);
    /* The wait for ranks that come later is one of MPI_Finalize, as it would be without us. */
    uint64_t waited = met_ticks > came ? met_ticks - came : 0;
    uint64_t spent = pc_ticks() - begin - waited;
    pc_header()->merge_ticks = spent ? spent : 1;
    if (t)
        t->merge_ticks += spent;
    errno = saved;
}

void pc_merge_now(const struct pc_transport *transport)
{
    pc_stack_run(merge_now, (void *)transport);
}

void pc_finalize_end(uint64_t ticks)
{
    int saved = errno;
    if (!pc_header())
        return;
    pc_header()->finalize_end_ticks = ticks;
    pc_write_late();
    if (pc_process.destructed)
        atomic_store_explicit(&pc_live->stage, PC_STAGE_CLOSED, memory_order_release);
    errno = saved;
}

/* Transport for `[collect] always`, where a process merges alone. */
static int alone_refuse(void *self, const void *data, size_t n, int to)
{
    (void)self, (void)data, (void)n, (void)to;
    return PC_EARG;
}

static int alone_broadcast(void *self, void *data, size_t n, int root)
{
    (void)self, (void)data, (void)n, (void)root;
    return PC_OK;
}

static void merge_alone(void)
{
    struct pcollect_arena_header *h = pc_header();
    const struct pc_transport alone = {
        .rank = 0, .n_ranks = 1, .send = alone_refuse, .broadcast = alone_broadcast};
    h->rank = 0;
    h->n_ranks = 1;
    h->job_key = draw_key();
    pc_merge_now(&alone);
}

/* Runs last of all, because libraries whose destructors come after ours may still call
 * MPI_Finalize. */
static void say_unfinished(void *unused)
{
    const struct pcollect_arena_header *h = pc_header();
    (void)unused;
    if (h->state != PCOLLECT_STATE_EXITED || h->rank > 0 || pc_process.config.run_key ||
        h->merge_ticks)
        return;
    if (!pc_process.arena.is_file) {
        pc_log("the program ended without MPI_Finalize, and without a file in a spool nothing is "
               "kept of the run");
        return;
    }
    char folder[PCOLLECT_PATH_BYTES];
    pc_format(folder, sizeof folder, "%s", pc_process.arena.path);
    *strrchr(folder, '/') = '\0';
    const char *quote = pc_shell_is_plain(folder) ? "" : "'";
    if (strchr(folder, '\'')) /* no shell word without more ado */
        pc_log("the program ended without MPI_Finalize; `pcollect recover` makes a profile of its "
               "data, which is in %s",
               folder);
    else
        pc_log("the program ended without MPI_Finalize; `pcollect recover %s%s%s` makes a profile "
               "of its data",
               quote, folder, quote);
}

/* Called without a DSO handle, so that the function does not run with the destructors of this
 * library. */
int __cxa_atexit(void (*)(void *), void *, void *);

void pc_process_exit(void)
{
    struct pcollect_arena_header *h = pc_header();
    pc_process.destructed = true;
    h->exit_ticks = pc_ticks();
    pc_note_time();
    if (h->state == PCOLLECT_STATE_COLLECTING && pc_process.config.collect_always)
        merge_alone();
    if (h->state == PCOLLECT_STATE_MERGED) {
        pc_parts_fini();
        pc_write_late();
        atomic_store_explicit(&pc_live->stage, PC_STAGE_CLOSED, memory_order_release);
        return;
    }
    bool has_merged = h->merge_ticks != 0; /* without success: the data is all that is left */
    if (h->state == PCOLLECT_STATE_COLLECTING && !h->init_begin_ticks && !has_merged) {
        /* The program called an MPI function but never MPI_Init: there is nothing to report. */
        pc_arena_unlink(&pc_process.arena);
        return;
    }
    __atomic_fetch_or(&h->notes, exit_notes, __ATOMIC_RELAXED);
    __atomic_store_n(&h->state, PCOLLECT_STATE_EXITED, __ATOMIC_RELEASE);
    __cxa_atexit(say_unfinished, NULL, NULL);
}
