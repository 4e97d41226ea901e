/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/started_ranks.h"
#include "analysis/allocation.h"
#include "watch/sample_rings.h"
#include "watch/watch.h"

#include <linux/perf_event.h>

/* Longest time for which a process without variables may be in its exec. */
enum { NO_VARIABLES_NS = 500000000 };

/* A process whose variables are to be read. */
struct execed {
    int pid;
    uint64_t ns;
};

/* A process that is counted, and whose children inherit that from this time on. */
struct inside {
    int pid;
    uint64_t since_ns;
};

struct pct_started {
    struct pct_rings *rings;
    struct pc_config_launch own; /* of this command; what it starts has the same variables */
    struct inside *inside;       /* living processes of ranks */
    size_t n, room;
    struct execed *execed;
    size_t n_execed, execed_room;
    uint64_t n_missed;
    void (*found)(void *arg, const struct pct_started_rank *rank);
    void *arg;
};

int pct_started_new(int pid, struct pct_started **out, struct pc_error *error)
{
    struct pc_counting_event nothing = {
        .n_terms = 1, .terms = {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY}}};
    struct pct_started *s = pct_alloc(1, sizeof *s);
    s->own = pc_config_launch();
    int err = pc_counting_try(&nothing, error);
    if (!err)
        err = pct_rings_new(&(struct pct_rings_what){.clock = nothing.terms[0]}, &s->rings, error);
    if (!err)
        err = pct_rings_add(s->rings, pid, true, error);
    if (err)
        pct_started_free(s);
    else
        *out = s;
    return err;
}

/* Index of a process in `inside`, or n. */
static size_t find(const struct pct_started *s, int pid)
{
    size_t i = 0;
    while (i < s->n && s->inside[i].pid != pid)
        i++;
    return i;
}

static void add(struct pct_started *s, int pid, uint64_t since_ns)
{
    s->inside = pct_grow(s->inside, s->n, &s->room, sizeof *s->inside);
    s->inside[s->n++] = (struct inside){pid, since_ns};
}

static void add_exec(struct pct_started *s, int pid, uint64_t ns)
{
    s->execed = pct_grow(s->execed, s->n_execed, &s->execed_room, sizeof *s->execed);
    s->execed[s->n_execed++] = (struct execed){pid, ns};
}

/* Reads the variables of a process. False: it has none yet, since the kernel reports an exec before
 * it has written them. */
static bool read_launch(int pid, struct pc_config_launch *out)
{
    size_t n = 0;
    char *environment = pct_watch_file(pid, "environ", &n);
    *out = n ? pc_config_launch_of(pid, environment, n) : (struct pc_config_launch){.rank = -1};
    pct_free(environment);
    return n > 0;
}

static bool lives(int pid)
{
    struct pc_process_status p;
    return pc_process_look(pid, &p) && !p.ended;
}

/* Decides whether a process is a rank; false: later. */
static bool look_at(struct pct_started *s, const struct execed *e)
{
    struct pc_config_launch l;
    if (!read_launch(e->pid, &l)) {
        bool later = lives(e->pid) && pc_mono_ns() - e->ns < NO_VARIABLES_NS;
        s->n_missed += !later && !lives(e->pid);
        return !later;
    }
    if (l.rank < 0 || (l.rank == s->own.rank && l.key == s->own.key))
        return true;
    s->found(s->arg, &(struct pct_started_rank){e->pid, l.rank, l.n_ranks, l.n_local, e->ns});
    add(s, e->pid, pc_mono_ns());
    return true;
}

/* Looks at processes whose exec is known. */
static void look_at_all(struct pct_started *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_execed; i++) {
        struct execed e = s->execed[i];
        if (find(s, e.pid) == s->n && !look_at(s, &e))
            s->execed[kept++] = e;
    }
    s->n_execed = kept;
}

/* True for a child that inherits the counters of a rank. */
static bool inherits(const struct pct_started *s, const struct pct_ring_record *fork)
{
    size_t parent = find(s, fork->parent);
    return parent < s->n && fork->time_ns >= s->inside[parent].since_ns;
}

static void take(void *arg, const struct pct_ring_record *record)
{
    struct pct_started *s = arg;
    size_t at = find(s, record->pid);
    if (record->type == PCT_RING_LOST)
        s->n_missed += record->n;
    else if (record->type == PCT_RING_EXEC && at == s->n)
        add_exec(s, record->pid, record->time_ns);
    else if (record->type == PCT_RING_FORK && at == s->n && inherits(s, record))
        add(s, record->pid, record->time_ns);
    else if (record->type == PCT_RING_EXIT && at < s->n && record->pid == record->tid)
        s->inside[at] = s->inside[--s->n];
}

void pct_started_look(struct pct_started *s,
                      void (*found)(void *arg, const struct pct_started_rank *rank), void *arg)
{
    s->found = found;
    s->arg = arg;
    /* The second time passes on what the first has read. */
    for (int i = 0; i < 2; i++)
        pct_rings_drain(s->rings, false, take, s);
    look_at_all(s);
}

uint64_t pct_started_missed(const struct pct_started *s)
{
    return s->n_missed;
}

void pct_started_free(struct pct_started *s)
{
    if (!s)
        return;
    pct_rings_free(s->rings);
    pct_free(s->inside);
    pct_free(s->execed);
    pct_free(s);
}
