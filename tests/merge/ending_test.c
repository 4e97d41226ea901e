/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a job, explored (explorer.h): if any ranks come late, are killed, are stopped or have
 * no library, and however late their messages arrive, no rank waits for one that will not come, and
 * no arena is removed before a complete file contains it. The meeting, the merge of real arenas,
 * the file, the late slot and the recovery are the code of the project. Intentionally wrong ends
 * are found.
 */
#include "command/command.h"
#include "command/launch/run.h"
#include "merge/module.h"
#include "tests/folder.h"
#include "tests/merge/explorer.h"
#include "tests/merge/made_arena.h"
#include "tests/merge/other_ends.h"
#include "tests/seed.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct pc_merge_module pc_merge_module;

enum { HERE = -1, SOME_MISSING = 2000, WAIT = 600000 };

static struct made arenas[EXPLORED_RANKS];
static char out[300];
static struct pc_merged merged[EXPLORED_RANKS];
enum { NO_PID = 0x7ffffff0 }; /* nobody has it, nor those after it */

/* ---- Files ---------------------------------------------------------------------------------- */

/* The folder has a board for each node. */
static void make_arenas(const struct exploration *x)
{
    struct stat st;
    int n_ranks = x->n_ranks;
    assert_int_equal(stat(folder, &st), 0);
    static struct fact facts[EXPLORED_RANKS * 4];
    for (int rank = 0; rank < n_ranks; rank++) {
        struct making how = {.rank = rank, .n_ranks = n_ranks, .seed = 1, .bytes = 1 << 20};
        struct fact *f = &facts[rank];
        *f =
            (struct fact){.rank = rank, .depth = 1, .op = 0, .has_data = true, .values = {1, 2, 3}};
        made_arena(&arenas[rank], &how, f, 1);
        struct pcollect_arena_header *h = arenas[rank].arena.header;
        struct pc_arena *a = &arenas[rank].arena;
        h->pid = NO_PID + rank;
        a->is_file = true;
        a->dev = st.st_dev;
        snprintf(a->path, sizeof a->path, "%s/node%d", folder, x->node[rank]);
        mkdir(a->path, 0700);
        snprintf(a->path, sizeof a->path, "%s/node%d/%d.arena", folder, x->node[rank], rank);
        snprintf(h->out, sizeof h->out, "%s", out);
    }
}

static void free_arenas(int n_ranks)
{
    char name[PATH_BYTES];
    for (int node = 0; node < n_ranks; node++) {
        snprintf(name, sizeof name, "%s/node%d", folder, node);
        rmdir(name);
    }
    for (int rank = 0; rank < n_ranks; rank++)
        pc_arena_close(&arenas[rank].arena);
}

/* rank -1: has no module. */
static int merge(int rank, const struct pc_transport *t, struct pc_error *error)
{
    if (rank < 0)
        return pc_merge_absent(t, error);
    return pc_merge_module.job(&arenas[rank].arena, t, rank ? NULL : out, &merged[rank], error);
}

static unsigned long n_changes =
    1;                       /* of files and arenas: what was read before the last one is old */
static bool all_live;        /* those that were killed, too */
static bool adds_meanwhile;  /* see leave_more_meanwhile */
static int writes_late = -1; /* the rank that does */

/* The explorer knows which ranks have a process with the pid. */
bool __real_pc_process_look(int pid, struct pc_process_status *status);
bool __wrap_pc_process_look(int pid, struct pc_process_status *status);
bool __wrap_pc_process_look(int pid, struct pc_process_status *status)
{
    if (pid < NO_PID)
        return __real_pc_process_look(pid, status);
    *status = (struct pc_process_status){.state = 'S', .start = 1};
    return all_live || explored_lives(pid - NO_PID);
}

/* Memory is not what is explored: the files that tell how much is left are not read at each merge.
 */
uint64_t __wrap_pc_memory_available(void);
uint64_t __wrap_pc_memory_available(void)
{
    return UINT64_MAX;
}

static int add_late(int rank, bool ended)
{
    struct pcollect_arena_header *h = arenas[rank].arena.header;
    struct pc_error error;
    n_changes++;
    h->merge_ticks = 1000;
    h->finalize_end_ticks = 2000;
    h->exit_ticks = ended ? 5000 : 0;
    writes_late = rank;
    int err = pc_merge_module.late(&arenas[rank].arena, &merged[rank], ended, &error);
    writes_late = -1;
    return err;
}

/* Destructors of the other ranks, which are in their exit, call MPI while this rank writes: only
 * once, or it would never end. */
static void leave_more_meanwhile(void)
{
    struct pc_error error;
    int writer = writes_late;
    if (!adds_meanwhile || writer < 0)
        return;
    writes_late = -1;
    all_live = true;
    for (int i = 0; i < EXPLORED_RANKS; i++)
        if (i != writer && arenas[i].arena.header && arenas[i].arena.header->exit_ticks) {
            arenas[i].arena.header->exit_ticks += 1000;
            pc_merge_module.late(&arenas[i].arena, &merged[i], true, &error);
        }
    all_live = false;
}

/* The files that one job may leave; NULL: there are not so many. */
static const char *profile_name(unsigned i)
{
    static char name[sizeof out + 16];
    struct pc_error error;
    return i < 4 && !pc_pcol_number(out, i + 1, name, sizeof name, &error) ? name : NULL;
}

/* Answers of a file about each rank. 0: the rank is not in it; else 1 + the number of steps after
 * the merge whose result it contains. */
struct told {
    char file[sizeof out + 16];
    unsigned long read_at; /* n_changes then */
    unsigned of[EXPLORED_RANKS];
};

static void read_told(struct told *t)
{
    struct pc_profile *p;
    struct pc_error error;
    memset(t->of, 0, sizeof t->of);
    if (access(t->file, F_OK) != 0 || pc_pcol_read(t->file, &p, &error))
        return;
    if (error.text[0])
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        const struct pc_profile_rank *r = &p->ranks[i];
        const struct pcollect_arena_header *h = arenas[r->rank].arena.header;
        t->of[r->rank] = 1 + (r->merge_ns > 0) +
                         (r->closed > 0 && r->after_ns == h->exit_ticks - h->finalize_end_ticks);
    }
    pc_profile_free(p);
}

/* The explorer asks for the same files repeatedly. */
static unsigned told_in(const char *file, int rank)
{
    static struct told known[4];
    struct told *t = known;
    while (t < known + PC_ARRAY_LEN(known) - 1 && t->read_at && strcmp(t->file, file) != 0)
        t++;
    if (t->read_at != n_changes || strcmp(t->file, file) != 0) {
        snprintf(t->file, sizeof t->file, "%s", file);
        read_told(t);
        t->read_at = n_changes;
    }
    return t->of[rank];
}

static unsigned told_late(int rank)
{
    unsigned told = told_in(merged[rank].path, rank);
    return told ? told - 1 : 0;
}

static bool is_whole(int rank)
{
    bool found = false;
    for (unsigned i = 0; !found && profile_name(i); i++)
        found = told_in(profile_name(i), rank) > 0;
    return found;
}

static unsigned n_profiles(void)
{
    unsigned n = 0;
    for (unsigned i = 0; profile_name(i); i++)
        n += access(profile_name(i), F_OK) == 0;
    return n;
}

static void begin_run(void)
{
    static unsigned long begun_at;
    char name[PATH_BYTES];
    for (unsigned i = 0; n_changes != begun_at && profile_name(i); i++)
        unlink(profile_name(i));
    for (int i = 0; i < EXPLORED_RANKS && arenas[i].arena.header; i++) {
        struct pcollect_arena_header *h = arenas[i].arena.header;
        h->merge_ticks = h->finalize_end_ticks = h->exit_ticks = 0;
        if (merged[i].board.head)
            munmap(merged[i].board.head, PC_BOARD_BYTES);
        merged[i] = (struct pc_merged){""};
        snprintf(name, sizeof name, "%s/node%d/%x.%x.board", folder, i,
                 (unsigned)(h->job_key >> 32), (unsigned)h->job_key);
        unlink(name); /* of ranks that were killed */
    }
    begun_at = ++n_changes;
}

/* ---- Recovery, in a process that can be killed before each of its effects -------------------- */

static unsigned kill_before, n_done;
static bool has_unnamed_files; /* the file system of the folder */
static bool removes_first;     /* what it has read, before it writes */
static char spool[sizeof folder + 16];

static void effect(void)
{
    n_changes++;
    if (++n_done == kill_before)
        kill(getpid(), SIGKILL);
}

#define EFFECT(function, parameters, arguments)                                                    \
    int __real_##function parameters;                                                              \
    int __wrap_##function parameters;                                                              \
    int __wrap_##function parameters                                                               \
    {                                                                                              \
        effect();                                                                                  \
        return __real_##function arguments;                                                        \
    }
EFFECT(unlink, (const char *file), (file))
EFFECT(rmdir, (const char *file), (file))
EFFECT(rename, (const char *from, const char *to), (from, to))
EFFECT(link, (const char *from, const char *to), (from, to))
EFFECT(linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
       (from_dir, from, to_dir, to, flags))

/* `file` has room for sizeof spool + 32 bytes. */
static const char *arena_name(int rank, char *file)
{
    sprintf(file, "%s/%d.arena", spool, rank);
    return file;
}

ssize_t __real_pwrite(int fd, const void *data, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t n, off_t at)
{
    char file[sizeof spool + 32];
    for (int i = 0; removes_first && i < EXPLORED_RANKS; i++)
        __real_unlink(arena_name(i, file));
    leave_more_meanwhile();
    effect();
    return __real_pwrite(fd, data, n, at);
}

static void write_arena(int rank, bool marked, const char *file)
{
    struct pcollect_arena_header *h = arenas[rank].arena.header;
    uint32_t state = h->state;
    h->state = marked ? PCOLLECT_STATE_MERGED : state;
    made_write(&arenas[rank], file);
    h->state = state;
}

/* Returns its exit status; -1: it was killed. */
static int recover_spool(unsigned kill_at)
{
    int status = 0;
    char hidden[sizeof folder + 64];
    bool replaces = access(out, F_OK) == 0; /* the file then has a hidden name for a moment */
    pid_t pid = fork();
    if (!pid) {
        struct pct_recovered found;
        const struct pct_recovery r = {.self = &pct_recover, .quiet = true};
        if (!freopen("/dev/null", "w", stderr))
            _exit(254);
        kill_before = kill_at;
        n_done = 0;
        bool done = pct_recover_folders(&r, &(char *){spool}, 1, &found);
        _exit(done && !found.n_failed && !found.n_alive && n_done < 250 ? (int)n_done : 255);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        fail_msg("no process to recover in");
    n_changes++;
    snprintf(hidden, sizeof hidden, "%s/.pcollect-%d-0.tmp", folder, pid);
    if (unlink(hidden) == 0 && has_unnamed_files && !replaces)
        fail_msg("recovery that was killed at %u has left %s", kill_at, hidden);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static unsigned recover_in_a_process(unsigned ranks, unsigned marked, unsigned kill_at,
                                     unsigned *n_effects)
{
    char file[sizeof spool + 32];
    unsigned left = 0;
    assert_int_equal(mkdir(spool, 0700), 0);
    for (int i = 0; i < EXPLORED_RANKS; i++)
        if (ranks >> i & 1)
            write_arena(i, marked >> i & 1, arena_name(i, file));
    int status = recover_spool(kill_at);
    if (status < 0 ? !kill_at : kill_at || status > 250)
        fail_msg("recovery to be killed at %u ended with %d", kill_at, status);
    *n_effects = status < 0 ? 0 : (unsigned)status;
    for (int i = 0; i < EXPLORED_RANKS; i++)
        left |= (unsigned)(unlink(arena_name(i, file)) == 0) << i;
    rmdir(spool);
    return left;
}

static const struct explored_files files = {merge,     add_late,   told_late,           is_whole,
                                            begin_run, n_profiles, recover_in_a_process};

static void explore_one(const struct exploration *x, struct explored *found)
{
    struct exploration with_end = *x;
    if (!with_end.end)
        with_end.end = pc_end_job;
    make_arenas(x);
    explore(&with_end, &files, found);
    begin_run(); /* nothing of the last run stays */
    free_arenas(x->n_ranks);
    print_message("%s: %lu runs, %lu states, %lu steps, %lu profiles, %lu recoveries, %lu ms "
                  "waited at most\n",
                  x->name, found->n_runs, found->n_states, found->n_steps, found->n_profiles,
                  found->n_recoveries, (unsigned long)found->longest_wait_ms);
}

/* An emulated processor, 20 times as slow, and a sanitizer only explore jobs of two ranks: these
 * can show all faults that only they find. */
#ifdef __SANITIZE_ADDRESS__
#define IS_SLOW true
#else
#define IS_SLOW (getenv("PC_TEST_EMULATED") != NULL)
#endif

static void explore_all(const struct exploration *list, size_t n)
{
    struct explored found;
    for (size_t i = 0; i < n; i++) {
        if ((list[i].n_ranks > 2 && IS_SLOW) || (list[i].is_long && !test_is_long()))
            continue;
        explore_one(&list[i], &found);
        if (found.wrong[0])
            fail_msg("%s: %s", list[i].name, found.wrong);
    }
}

#define DELAYS .arrivals_ms = {0, 1999, 2000, 2001, 599999, 600000, 600001, 700000}, .n_arrivals = 8
#define AT_ONCE .n_arrivals = 1

static void ranks_that_come_0_to_700_s_late(void **state)
{
    static const struct exploration list[] = {
        {.name = "2 ranks of one node", .n_ranks = 2, .limit_ms = {HERE, HERE}, DELAYS},
        {.name = "2 nodes", .n_ranks = 2, .limit_ms = {WAIT, WAIT}, DELAYS},
        {.name = "3 ranks, all known", .n_ranks = 3, .limit_ms = {HERE, HERE, HERE}, DELAYS},
        {.name = "3 ranks of two nodes",
         .n_ranks = 3,
         .limit_ms = {WAIT, WAIT, WAIT},
         .speaks = {true},
         DELAYS},
        {.name = "rank 0 without a file", /* what the others know of it, and it of them */
         .n_ranks = 3,
         .limit_ms = {WAIT, SOME_MISSING, SOME_MISSING},
         .speaks = {true, true},
         DELAYS},
        {.name = "rank 1 without a file",
         .n_ranks = 3,
         .limit_ms = {SOME_MISSING, WAIT, SOME_MISSING},
         .speaks = {true},
         DELAYS},
        {.name = "rank 0 without the library",
         .n_ranks = 3,
         .kind = {FOREIGN},
         .limit_ms = {0, SOME_MISSING, SOME_MISSING},
         .speaks = {false, true},
         DELAYS},
        {.name = "rank 2 without the library",
         .n_ranks = 3,
         .kind = {MEASURED, MEASURED, FOREIGN},
         .limit_ms = {SOME_MISSING, SOME_MISSING},
         .speaks = {true},
         DELAYS},
        {.name = "rank 1 refused",
         .n_ranks = 3,
         .kind = {MEASURED, REFUSED},
         .limit_ms = {SOME_MISSING, SOME_MISSING, SOME_MISSING},
         .speaks = {true},
         DELAYS},
        {.name = "4 ranks of two nodes",
         .n_ranks = 4,
         .node = {0, 1, 0, 1},
         .limit_ms = {WAIT, WAIT, WAIT, WAIT},
         .speaks = {true},
         .arrivals_ms = {0, 600000, 700000},
         .n_arrivals = 3},
    };
    (void)state;
    explore_all(list, PC_ARRAY_LEN(list));
}

static void what_is_left_while_another_writes_stays(void **state)
{
    static const struct exploration list[] = {
        {.name = "2 ranks that call MPI after their exit",
         .n_ranks = 2,
         .limit_ms = {HERE, HERE},
         DELAYS},
    };
    (void)state;
    adds_meanwhile = true;
    explore_all(list, PC_ARRAY_LEN(list));
    adds_meanwhile = false;
}

/* One of the ranks has left before it came to its end, and the others had known of it. */
static void ranks_that_leave_are_not_waited_for(void **state)
{
    static const struct exploration list[] = {
        {.name = "rank 1 leaves",
         .n_ranks = 2,
         .kind = {MEASURED, LEFT},
         .limit_ms = {HERE, 0},
         .speaks = {true},
         DELAYS},
        {.name = "rank 0 leaves",
         .n_ranks = 3,
         .kind = {LEFT},
         .limit_ms = {0, HERE, HERE},
         .speaks = {false, true},
         DELAYS},
        {.name = "rank 0 cannot begin",
         .n_ranks = 3,
         .mute = {true},
         .limit_ms = {HERE, HERE, WAIT},
         .speaks = {false, true},
         DELAYS},
        {.name = "rank 1 cannot begin",
         .n_ranks = 3,
         .mute = {false, true},
         .limit_ms = {HERE, HERE, WAIT},
         .speaks = {true},
         DELAYS},
        {.name = "rank 1 leaves, another is killed or stopped",
         .n_ranks = 3,
         .kind = {MEASURED, LEFT},
         .limit_ms = {HERE, 0, WAIT},
         .speaks = {true},
         .arrivals_ms = {0, 700000},
         .n_arrivals = 2,
         .n_kills = 1,
         .n_stops = 1},
        {.name = "rank 1 leaves, another is killed or stopped, or comes a little late",
         .is_long = true,
         .n_ranks = 3,
         .kind = {MEASURED, LEFT},
         .limit_ms = {HERE, 0, WAIT},
         .speaks = {true},
         .arrivals_ms = {0, 5000, 700000},
         .n_arrivals = 3,
         .n_kills = 1,
         .n_stops = 1},
    };
    (void)state;
    explore_all(list, PC_ARRAY_LEN(list));
}

static void ranks_that_are_killed_or_stopped_at_any_step(void **state)
{
    static const struct exploration list[] = {
        {.name = "2 ranks, two disturbances",
         .n_ranks = 2,
         .limit_ms = {HERE, HERE},
         .arrivals_ms = {0, 5000},
         .n_arrivals = 2,
         .n_kills = 1,
         .n_stops = 1},
        {.name = "2 ranks with a limit, two disturbances and a slow word",
         .n_ranks = 2,
         .limit_ms = {SOME_MISSING, SOME_MISSING},
         .speaks = {true},
         .arrivals_ms = {0, 1000},
         .n_arrivals = 2,
         .n_stops = 2,
         .n_slow = 1},
        {.name = "2 ranks, in all orders",
         .n_ranks = 2,
         .limit_ms = {SOME_MISSING, WAIT},
         AT_ONCE,
         .n_kills = 1,
         .all_orders = true},
        {.name = "3 ranks, one killed",
         .n_ranks = 3,
         .limit_ms = {HERE, HERE, HERE},
         AT_ONCE,
         .n_kills = 1},
        {.name = "3 ranks with limits, one stopped, a slow word",
         .n_ranks = 3,
         .limit_ms = {WAIT, SOME_MISSING, HERE},
         .speaks = {true},
         .arrivals_ms = {0, 3000},
         .n_arrivals = 2,
         .n_stops = 1,
         .n_slow = 1},
        {.name = "3 ranks, in all orders, one killed",
         .n_ranks = 3,
         .limit_ms = {WAIT, SOME_MISSING, WAIT},
         .speaks = {true},
         AT_ONCE,
         .n_kills = 1,
         .all_orders = true},
        {.name = "3 ranks, in all orders, two killed",
         .is_long = true,
         .n_ranks = 3,
         .limit_ms = {WAIT, SOME_MISSING, WAIT},
         .speaks = {true},
         AT_ONCE,
         .n_kills = 2,
         .all_orders = true},
        {.name = "4 ranks, one killed, one stopped",
         .is_long = true,
         .n_ranks = 4,
         .limit_ms = {WAIT, WAIT, WAIT, WAIT},
         .speaks = {true},
         AT_ONCE,
         .n_kills = 1,
         .n_stops = 1},
        {.name = "4 ranks of two nodes by turns, two killed",
         .n_ranks = 4,
         .limit_ms = {HERE, HERE, HERE, HERE},
         .node = {0, 1, 0, 1},
         AT_ONCE,
         .n_kills = 2},
    };
    (void)state;
    explore_all(list, PC_ARRAY_LEN(list));
}

static void what_is_left_is_recovered_whenever_that_is_killed(void **state)
{
    static const struct exploration list[] = {
        {.name = "2 ranks of one node, both killed, recovered twice",
         .n_ranks = 2,
         .limit_ms = {HERE, HERE},
         AT_ONCE,
         .n_kills = 2,
         .recovers = true,
         .n_killed_recoveries = 2},
        {.name = "2 nodes, one rank killed",
         .n_ranks = 2,
         .limit_ms = {WAIT, WAIT},
         .node = {0, 1},
         AT_ONCE,
         .n_kills = 1,
         .recovers = true,
         .n_killed_recoveries = 1},
        {.name = "2 nodes, both ranks killed",
         .is_long = true,
         .n_ranks = 2,
         .limit_ms = {WAIT, WAIT},
         .node = {0, 1},
         AT_ONCE,
         .n_kills = 2,
         .recovers = true,
         .n_killed_recoveries = 1},
        {.name = "2 nodes, too late for each other",
         .n_ranks = 2,
         .limit_ms = {WAIT, WAIT},
         .node = {0, 1},
         DELAYS,
         .recovers = true,
         .n_killed_recoveries = 1},
        {.name = "3 ranks of two nodes, one killed",
         .is_long = true,
         .n_ranks = 3,
         .limit_ms = {WAIT, WAIT, WAIT},
         .node = {0, 1, 1},
         .speaks = {true},
         AT_ONCE,
         .n_kills = 1,
         .recovers = true,
         .n_killed_recoveries = 1},
    };
    (void)state;
    explore_all(list, PC_ARRAY_LEN(list));
}

/* ---- Ranks of two versions ------------------------------------------------------------------ */

static void ranks_of_two_versions_leave_each_other(void **state)
{
    static const struct exploration x = {.name = "rank 1 of another version",
                                         .n_ranks = 3,
                                         .limit_ms = {HERE, HERE, WAIT},
                                         .speaks = {true},
                                         .arrivals_ms = {0, 5000, 601000},
                                         .n_arrivals = 3,
                                         .end = end_of_another_version};
    struct explored found;
    (void)state;
    explore_one(&x, &found);
    assert_string_equal(found.wrong, "");
    assert_int_equal(found.n_profiles, 0);
}

/* ---- Faults are found ----------------------------------------------------------------------- */

static void what_is_wrong_is_found(void **state)
{
    static const struct {
        struct exploration x;
        const char *found;
    } list[] = {
        {{.name = "the arena goes before the merge",
          .n_ranks = 2,
          .limit_ms = {HERE, HERE},
          AT_ONCE,
          .end = remove_first},
         "has removed its arena"},
        {{.name = "the communicator is made before the vote",
          .n_ranks = 3,
          .kind = {MEASURED, MEASURED, FOREIGN},
          .limit_ms = {SOME_MISSING, SOME_MISSING},
          .speaks = {true},
          AT_ONCE,
          .end = join_first},
         "waits for ever (join"},
        {{.name = "who has voted yes leaves early",
          .n_ranks = 2,
          .limit_ms = {WAIT, WAIT},
          .speaks = {true},
          AT_ONCE,
          .n_slow = 1,
          .end = leave_after_vote},
         "waits for ever (join"},
        {{.name = "rank 0 is waited for without a limit",
          .n_ranks = 3,
          .kind = {FOREIGN},
          .limit_ms = {0, SOME_MISSING, SOME_MISSING},
          .speaks = {false, true},
          AT_ONCE,
          .end = wait_for_answer},
         "waits for ever (await"},
        {{.name = "rank 0 does not see how late it is",
          .n_ranks = 2,
          .limit_ms = {HERE, HERE},
          AT_ONCE,
          .n_stops = 1,
          .end = without_a_clock},
         "waits for ever (join"},
        {{.name = "nobody looks again who has left",
          .n_ranks = 2,
          .kind = {MEASURED, LEFT},
          .limit_ms = {HERE, 0},
          AT_ONCE,
          .end = look_never},
         "waits for ever (await"},
        {{.name = "rank 0 asks nobody",
          .n_ranks = 2,
          .limit_ms = {HERE, SOME_MISSING},
          .speaks = {true, true},
          .arrivals_ms = {0, 3000},
          .n_arrivals = 2,
          .end = do_not_vote},
         "waits for ever (join"},
    };
    struct explored found;
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(list); i++) {
        explore_one(&list[i].x, &found);
        print_message("    %s\n", found.wrong);
        if (!strstr(found.wrong, list[i].found))
            fail_msg("%s: wanted: %s, got: %s", list[i].x.name, list[i].found, found.wrong);
    }
}

static void a_rank_that_misses_its_part_of_the_tree_is_found(void **state)
{
    static const struct exploration x = {.name = "rank 3 has the tree by rank",
                                         .n_ranks = 4,
                                         .limit_ms = {HERE, HERE, HERE, HERE},
                                         .node = {0, 1, 0, 1},
                                         AT_ONCE,
                                         .end = miss_the_route};
    struct explored found;
    (void)state;
    explore_one(&x, &found);
    assert_non_null(strstr(found.wrong, "rank 0 waits for ever (size 1"));
}

static void a_rank_that_leaves_unseen_is_found(void **state)
{
    static const struct exploration x = {.name = "rank 0 cannot begin, and announces nothing",
                                         .n_ranks = 2,
                                         .mute = {true},
                                         .limit_ms = {HERE, HERE},
                                         AT_ONCE,
                                         .end = leave_unseen};
    struct explored found;
    (void)state;
    explore_one(&x, &found);
    print_message("    %s\n", found.wrong);
    assert_non_null(strstr(found.wrong, "a run has no end"));
}

static void a_recovery_that_removes_what_it_has_read_is_found(void **state)
{
    static const struct exploration x = {.name = "arenas go before the profile is written",
                                         .n_ranks = 2,
                                         .limit_ms = {HERE, HERE},
                                         AT_ONCE,
                                         .n_kills = 1,
                                         .recovers = true,
                                         .n_killed_recoveries = 1};
    static const char wanted[] = "recovery has removed the arena of rank 0, and no";
    struct explored found;
    (void)state;
    removes_first = true;
    explore_one(&x, &found);
    removes_first = false;
    print_message("    %s\n", found.wrong);
    if (!strstr(found.wrong, wanted) || !strstr(found.wrong, "killed at"))
        fail_msg("wanted: %s, when it is killed; got: %s", wanted, found.wrong);
}

static void a_board_that_waits_for_the_dead_is_found(void **state)
{
    static const struct exploration x = {.name = "who was killed is taken for alive",
                                         .n_ranks = 2,
                                         .limit_ms = {HERE, HERE},
                                         AT_ONCE,
                                         .n_kills = 1};
    struct explored found;
    (void)state;
    all_live = true;
    explore_one(&x, &found);
    all_live = false;
    print_message("    %s\n", found.wrong);
    assert_non_null(strstr(found.wrong, "the profile lacks what rank"));
}

/* In memory if possible: there are many boards and profiles. */
static int begin(void **state)
{
    if (!access("/dev/shm", W_OK))
        setenv("TMPDIR", "/dev/shm", 0);
    int err = folder_make(state), fd = err ? -1 : open(folder, O_TMPFILE | O_WRONLY, 0600);
    has_unnamed_files = fd >= 0 && !close(fd);
    snprintf(out, sizeof out, "%s/x.pcol", folder);
    snprintf(spool, sizeof spool, "%s/spool", folder);
    return err;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_come_0_to_700_s_late),
        cmocka_unit_test(what_is_left_while_another_writes_stays),
        cmocka_unit_test(ranks_that_leave_are_not_waited_for),
        cmocka_unit_test(ranks_that_are_killed_or_stopped_at_any_step),
        cmocka_unit_test(what_is_left_is_recovered_whenever_that_is_killed),
        cmocka_unit_test(ranks_of_two_versions_leave_each_other),
        cmocka_unit_test(what_is_wrong_is_found),
        cmocka_unit_test(a_rank_that_misses_its_part_of_the_tree_is_found),
        cmocka_unit_test(a_rank_that_leaves_unseen_is_found),
        cmocka_unit_test(a_recovery_that_removes_what_it_has_read_is_found),
        cmocka_unit_test(a_board_that_waits_for_the_dead_is_found),
    };
#ifdef __SANITIZE_THREAD__
    (void)tests;
    puts("1..0 # SKIP ThreadSanitizer does not follow ranks that are contexts of one thread");
    return 0;
#endif
    return cmocka_run_group_tests(tests, begin, folder_remove);
}
