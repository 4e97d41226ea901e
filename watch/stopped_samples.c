/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CPU times are those of /proc, in clock ticks of 10 ms. What a thread has used since its last
 * sample goes to the next one, so nothing is lost by a look that comes too early, or by a thread
 * that sleeps when it is looked at.
 *
 * A thread that waits for a processor stops where it lost it, which is often the end of a system
 * call. Such a stop is no sample, unless the thread was seen nowhere else for long, as on a
 * processor that it shares with this process.
 *
 * The kernel tells nobody of new processes, programs and libraries. Processes are found by their
 * parents, several times a second. A program is known by its auxiliary vector, which has random
 * addresses, and the size of its mapped code tells when its mappings are to be read again.
 */
#include "watch/stopped_samples.h"
#include "analysis/allocation.h"
#include "watch/caught.h"
#include "watch/refusal.h"
#include "watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The inner part of a stack; the pause between searches for new processes; the part of the time
 * that looks may take, one in so many; and the CPU time after which any stop is a sample. */
enum { STACK_BYTES = 60 << 10, SEARCH_NS = 100000000, LOOK_PARTS = 5, UNSEEN_NS = 100000000 };

struct thread {
    int tid;
    uint64_t ticks; /* CPU time up to its last sample */
};

struct process {
    int pid;
    int only;       /* the thread that is sampled; 0: all */
    uint64_t start; /* tells it from a later one of the same number */
    uint64_t begin_ticks, ticks;
    uint64_t program;       /* hash of its auxiliary vector */
    uint64_t code_kb;       /* size of mapped code */
    struct thread *threads; /* those of the last look */
    size_t n, room;
};

struct pct_stops {
    struct pct_recorder *recorder;
    uint64_t period_ns, tick_ns;
    uint64_t next_ns, search_ns; /* of the next look; of the next search */
    uint64_t n_looks;
    struct pct_stops_told told;
    uint64_t ended_ticks; /* of processes that have ended */
    struct process *processes;
    size_t n, room;
    struct pct_caught *late; /* threads that did not stop in time */
    size_t n_late, late_room;
    struct pct_caught caught;
};

struct pct_stops *pct_stops_new(uint64_t frequency, struct pct_recorder *recorder)
{
    struct pct_stops *s = pct_alloc(1, sizeof *s);
    s->recorder = recorder;
    s->period_ns = 1000000000u / (frequency < PCT_STOPS_MOST_HZ ? frequency : PCT_STOPS_MOST_HZ);
    s->tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    s->caught.room = STACK_BYTES;
    s->caught.stack = pct_alloc(STACK_BYTES, 1);
    return s;
}

void pct_stops_free(struct pct_stops *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        pct_free(s->processes[i].threads);
    pct_free(s->processes);
    pct_free(s->late);
    pct_free(s->caught.stack);
    pct_free(s);
}

/* ---- Processes ------------------------------------------------------------------------------- */

/* CPU time of a thread up to its last sample; of one that is new, none. */
static uint64_t ticks_before(const struct process *p, int tid)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->threads[i].tid == tid)
            return p->threads[i].ticks;
    return 0;
}

static struct process *add_process(struct pct_stops *s, const struct pc_process_status *found)
{
    s->processes = pct_grow(s->processes, s->n, &s->room, sizeof *s->processes);
    struct process *p = &s->processes[s->n++];
    *p = (struct process){.pid = found->pid, .start = found->start};
    return p;
}

/* Notes what the threads of a process have used before. */
static void begin_here(struct process *p, const struct pc_process_status *now)
{
    size_t n;
    struct pc_process_status t;
    int *threads = pct_watch_threads(p->pid, &n);
    p->begin_ticks = p->ticks = now->cpu_ticks;
    for (size_t i = 0; i < n; i++) {
        if ((p->only && threads[i] != p->only) || !pc_thread_look(p->pid, threads[i], &t))
            continue;
        p->threads = pct_grow(p->threads, p->n, &p->room, sizeof *p->threads);
        p->threads[p->n++] = (struct thread){threads[i], t.cpu_ticks};
    }
    pct_free(threads);
}

/* Opens the memory, which needs the right to stop its threads. */
static int check_right(int pid, struct pc_error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", pct_watch_view(pid));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pct_refusal_explain(pid, errno, error);
    close(fd);
    return pct_refusal_filtered(pid, true, error);
}

int pct_stops_add(struct pct_stops *s, int pid, struct pc_error *error)
{
    struct pc_process_status now;
    int err = check_right(pid, error);
    if (!err && !pc_process_look(pid, &now))
        err = pct_refusal_explain(pid, ESRCH, error);
    if (!err)
        begin_here(add_process(s, &now), &now);
    return err;
}

int pct_stops_add_thread(struct pct_stops *s, int tid, struct pc_error *error)
{
    static const char name[] = "\nTgid:";
    size_t n;
    struct pc_process_status now;
    char *status = pct_watch_file(tid, "status", &n), *line = status ? strstr(status, name) : NULL;
    int pid = line ? atoi(line + sizeof name - 1) : tid;
    pct_free(status);
    int err = check_right(pid, error);
    if (!err && !pc_thread_look(pid, tid, &now))
        err = pct_refusal_explain(tid, ESRCH, error);
    if (err)
        return err;
    now.pid = pid;
    struct process *p = add_process(s, &now);
    p->only = tid;
    begin_here(p, &now);
    return PC_OK;
}

static bool look_at(const struct process *p, struct pc_process_status *now)
{
    bool found = p->only ? pc_thread_look(p->pid, p->only, now) : pc_process_look(p->pid, now);
    return found && now->start == p->start && !now->ended;
}

void pct_stops_count(struct pct_stops *s)
{
    size_t kept = 0;
    struct pc_process_status now;
    for (size_t i = 0; i < s->n; i++) {
        struct process *p = &s->processes[i];
        if (look_at(p, &now)) {
            p->ticks = now.cpu_ticks;
            s->processes[kept++] = *p;
            continue;
        }
        s->ended_ticks += p->ticks - p->begin_ticks;
        pct_recorder_take(s->recorder, &(struct pct_ring_record){
                                           .type = PCT_RING_EXIT, .pid = p->pid, .tid = p->pid});
        pct_free(p->threads);
    }
    s->n = kept;
}

static const struct process *find(const struct pct_stops *s, int pid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->processes[i].pid == pid)
            return &s->processes[i];
    return NULL;
}

static void adopt(void *stops, int pid)
{
    struct pct_stops *s = stops;
    struct pc_process_status now;
    if (find(s, pid) || !pc_process_look(pid, &now) || now.ended)
        return;
    const struct process *parent = find(s, now.parent);
    if (parent && !parent->only)
        add_process(s, &now)->ticks = now.cpu_ticks;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Tells the recorder of another program, or of other mapped code. */
static void follow_code(struct pct_stops *s, struct process *p)
{
    static const char name[] = "\nVmLib:";
    size_t n;
    int view = pct_watch_view(p->pid);
    uint64_t program = pct_watch_program(view);
    char *text = pct_watch_file(view, "status", &n);
    const char *line = text ? strstr(text, name) : NULL;
    uint64_t code_kb = line ? strtoull(line + sizeof name - 1, NULL, 10) : p->code_kb;
    pct_free(text);
    if (program && program != p->program)
        pct_recorder_add(s->recorder, p->pid);
    else if (code_kb != p->code_kb)
        pct_recorder_map(s->recorder, p->pid);
    p->program = program ? program : p->program;
    p->code_kb = code_kb;
}

/* Number of times that a thread has got a processor; 0: this kernel does not count them. */
static uint64_t count_turns(const struct pct_caught *c)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", c->pid, c->tid);
    const char *last = pc_read_small(path, text, sizeof text) ? strrchr(text, ' ') : NULL;
    return last ? strtoull(last, NULL, 10) : 0;
}

/* Stops a thread for a moment. True: it was on a processor until then, or may have waited for one.
 */
static bool stop(struct pct_stops *s, bool may_have_waited)
{
    uint64_t turns = count_turns(&s->caught);
    bool same;
    switch (pct_catch_stopped(&s->caught)) {
    case PCT_CATCH_DONE:
        same = count_turns(&s->caught) == turns;
        pct_caught_release(&s->caught);
        s->told.n_waited += !same && may_have_waited;
        return same || may_have_waited;
    case PCT_CATCH_LATE:
        s->late = pct_grow(s->late, s->n_late, &s->late_room, sizeof *s->late);
        s->late[s->n_late++] = s->caught;
        return false;
    case PCT_CATCH_REFUSED:
        s->told.n_refused++;
        return false;
    default:
        return false;
    }
}

/* Takes a sample of a thread that stands for this CPU time. */
static bool take(struct pct_stops *s, struct process *p, int tid, uint64_t ns)
{
    uint64_t registers[PCT_CAUGHT_REGISTERS];
    s->caught.pid = p->pid;
    s->caught.tid = tid;
    if (!stop(s, ns >= UNSEEN_NS))
        return false;
    pct_caught_registers(&s->caught, registers);
    follow_code(s, p);
    pct_recorder_take(s->recorder, &(struct pct_ring_record){.type = PCT_RING_SAMPLE,
                                                             .pid = p->pid,
                                                             .tid = tid,
                                                             .time_ns = pc_mono_ns(),
                                                             .n = ns,
                                                             .registers = registers,
                                                             .stack = s->caught.stack,
                                                             .n_stack = s->caught.n_stack});
    return true;
}

/* True while the thread is not to be stopped: it is stopping since an earlier look. */
static bool is_late(const struct pct_stops *s, int tid)
{
    for (size_t i = 0; i < s->n_late; i++)
        if (s->late[i].tid == tid)
            return true;
    return false;
}

static void look_at_threads(struct pct_stops *s, struct process *p)
{
    size_t n, n_now = 0, room = 0;
    struct thread *now = NULL;
    int *threads = pct_watch_threads(p->pid, &n);
    for (size_t i = 0; i < n; i++) {
        struct pc_process_status t;
        if ((p->only && threads[i] != p->only) || !pc_thread_look(p->pid, threads[i], &t))
            continue;
        uint64_t before = ticks_before(p, threads[i]);
        if (t.cpu_ticks < before) /* another thread that has got its number */
            before = 0;
        if (t.state == 'R' && t.cpu_ticks > before && !is_late(s, threads[i]) &&
            take(s, p, threads[i], (t.cpu_ticks - before) * s->tick_ns))
            before = t.cpu_ticks;
        now = pct_grow(now, n_now, &room, sizeof *now);
        now[n_now++] = (struct thread){threads[i], before};
    }
    pct_free(threads);
    pct_free(p->threads);
    p->threads = now;
    p->n = n_now;
    p->room = room;
}

static void release_late(struct pct_stops *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_late; i++)
        if (!pct_caught_late(&s->late[i]))
            s->late[kept++] = s->late[i];
    s->n_late = kept;
}

uint64_t pct_stops_look(struct pct_stops *s)
{
    uint64_t begin_ns = pc_mono_ns();
    if (begin_ns < s->next_ns)
        return s->next_ns - begin_ns;
    release_late(s);
    pct_stops_count(s);
    if (begin_ns >= s->search_ns) {
        pc_proc_numbers("/proc", adopt, s);
        s->search_ns = begin_ns + SEARCH_NS;
    }
    for (size_t i = 0; i < s->n; i++)
        look_at_threads(s, &s->processes[i]);
    /* From half a period to one and a half, not in step with what the programs do. */
    uint64_t pause_ns = s->period_ns / 2 + pc_hash_u64(++s->n_looks) % s->period_ns;
    uint64_t end_ns = pc_mono_ns(), least_ns = (end_ns - begin_ns) * (LOOK_PARTS - 1);
    s->next_ns = begin_ns + pause_ns;
    if (s->next_ns < end_ns + least_ns)
        s->next_ns = end_ns + least_ns;
    return s->next_ns - end_ns;
}

struct pct_stops_told pct_stops_told(const struct pct_stops *s)
{
    struct pct_stops_told told = s->told;
    uint64_t ticks = s->ended_ticks;
    for (size_t i = 0; i < s->n; i++)
        ticks += s->processes[i].ticks - s->processes[i].begin_ticks;
    told.counted_ns = ticks * s->tick_ns;
    return told;
}
