/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/recorder.h"
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Time of one rank in one program; rank -1: a program that no launcher has started. */
struct unit {
    int rank, pid;
    uint64_t job;  /* job of the rank, from its launcher; 0: unknown */
    bool mpi;      /* an MPI library was mapped */
    char *program; /* path */
    char *name;    /* by which it is known: known_name */
    struct pct_stack_tree *tree;
    uint64_t n_lost; /* records that the kernel left out while it ran */
};

struct process {
    struct process *next; /* of the same chain */
    int pid;
    struct pct_code code;
    struct pct_jit jit;
    char *program;                      /* path; NULL: not known yet */
    char comm[PCT_COMM_BYTES];          /* its name; "": not known */
    char *mpi_folder;                   /* NULL: no MPI library is mapped */
    bool hidden;                        /* the kernel does not let us read its mappings */
    bool in_exec;                       /* no code of the program was seen since its exec */
    bool headless;                      /* its main thread has ended */
    bool sampled;                       /* it has a sample */
    bool java;                          /* it has mapped Java's machine */
    struct pct_stack_sampled in_kernel; /* since its exec, before the program was known */
    struct unit *unit;                  /* NULL: to be found */
};

enum { N_CHAINS = 4096 };

struct pct_recorder {
    const char *event; /* NULL: the clock alone is sampled */
    struct pct_code_frames known;
    /* Samples of the kernel: for a process before the code of its program runs; all others without
     * registers of a program, as those of its own threads. */
    struct pct_stack_frame exec, kernel;
    struct process *chains[N_CHAINS];
    struct unit **units;
    size_t n_units, units_room;
    struct pct_stack_frame *frames;
    struct pct_walked *walked;
    struct pct_recorded told;
    const char *name; /* of what is recorded; NULL: that of the program with most time */
    bool named_always;
    uint64_t events_counted; /* 0: samples of the event keep their own numbers */
    void (*show)(void *arg, const struct pct_sampled_stack *s); /* NULL: samples are kept */
    void *show_arg;
};

/* A frame of the kernel, of which nothing more is known. */
static struct pct_stack_frame kernel_frame(struct pct_recorder *r, const char *function)
{
    struct pct_stack_frame f = {.module = pct_stack_module(&r->known.modules, "[kernel]", NULL, 0),
                                .function = function,
                                .exact = true};
    f.offset =
        pct_named_make(&r->known.named, f.module, &(struct pct_frame){.function = function}) - 1;
    return f;
}

struct pct_recorder *pct_recorder_new(const char *event)
{
    struct pct_recorder *r = pct_alloc(1, sizeof *r);
    r->event = event;
    r->known.files = pct_code_files_new();
    r->frames = pct_alloc(PCT_STACK_FRAMES, sizeof *r->frames);
    r->walked = pct_alloc(PCT_STACK_FRAMES, sizeof *r->walked);
    r->exec = kernel_frame(r, "(kernel: exec)");
    r->kernel = kernel_frame(r, "(kernel)");
    return r;
}

void pct_recorder_show(struct pct_recorder *r,
                       void (*show)(void *arg, const struct pct_sampled_stack *s), void *arg)
{
    r->show = show;
    r->show_arg = arg;
}

const struct pct_recorded *pct_recorder_told(const struct pct_recorder *r)
{
    return &r->told;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int pct_recorder_living(const struct pct_recorder *r, size_t *n)
{
    struct pc_process_status now;
    int one = 0;
    *n = 0;
    for (size_t i = 0; i < N_CHAINS; i++)
        for (const struct process *p = r->chains[i]; p; p = p->next) {
            if (p->pid <= 0 || !pc_process_look(p->pid, &now) || now.ended)
                continue;
            one = p->pid;
            ++*n;
        }
    return one;
}

void pct_recorder_counted(struct pct_recorder *r, const struct pct_rings_counts *counts,
                          bool share_events)
{
    struct pct_recorded *told = &r->told;
    told->n_lost = most_of(told->n_lost, counts->n_lost);
    told->n_lost_of_event = most_of(told->n_lost_of_event, counts->n_lost_of_event);
    r->events_counted = share_events ? counts->events : 0;
}

void pct_recorder_name(struct pct_recorder *r, const char *name, bool always)
{
    r->name = name;
    r->named_always = always;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static struct process **find_link(struct pct_recorder *r, int pid)
{
    struct process **at = &r->chains[(unsigned)pid % N_CHAINS];
    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

/* The name by which people know a program: that of the process, if the file has another one, as
 * behind a symbolic link or as the interpreter of a script; else that of the file, which may be
 * longer. */
static const char *known_name(const char *program, const char *comm)
{
    const char *file = pc_base_name(program);
    size_t n = strlen(comm);
    bool of_file = !strncmp(file, comm, n) && (!file[n] || n + 1 == PCT_COMM_BYTES);
    return *program != '/' || !n || of_file ? file : comm;
}

static struct unit *unit_of(struct pct_recorder *r, struct process *p)
{
    if (p->unit)
        return p->unit;
    const char *program = p->program ? p->program : "", *name = known_name(program, p->comm);
    struct pc_config_launch l = pct_watch_launch(p->pid);
    bool mpi = p->mpi_folder != NULL;
    for (size_t i = 0; i < r->n_units && !p->unit; i++)
        if (r->units[i]->rank == l.rank && r->units[i]->job == l.key && r->units[i]->mpi == mpi &&
            !strcmp(r->units[i]->program, program) && !strcmp(r->units[i]->name, name))
            p->unit = r->units[i];
    if (p->unit)
        return p->unit;
    struct unit *u = pct_alloc(1, sizeof *u);
    *u = (struct unit){.rank = l.rank,
                       .pid = p->pid,
                       .job = l.key,
                       .mpi = mpi,
                       .program = pct_copy(program),
                       .name = pct_copy(name),
                       .tree = pct_stack_tree_new()};
    r->units = pct_grow(r->units, r->n_units, &r->units_room, sizeof(struct unit *));
    r->units[r->n_units++] = u;
    if (l.rank >= 0 && l.n_ranks > r->told.world)
        r->told.world = l.n_ranks;
    return p->unit = u;
}

/* Adds what the kernel did for an exec to the program that came of it. */
static void add_in_kernel(struct pct_recorder *r, struct process *p)
{
    struct pct_stack_frame frame = r->exec;
    const struct pct_stack s = {.frames = &frame, .n = 1};
    const struct pct_shown_frames shown = pct_shown_frames(&s);
    if (p->in_kernel.samples || p->in_kernel.events)
        pct_stack_tree_add(unit_of(r, p)->tree, &s, &shown, &p->in_kernel);
    p->in_kernel = (struct pct_stack_sampled){0};
}

static void forget_program(struct pct_recorder *r, struct process *p)
{
    add_in_kernel(r, p);
    pct_code_clear(&p->code);
    p->hidden = p->headless = p->java = false;
    pct_jit_clear(&p->jit);
    pct_free(p->program);
    pct_free(p->mpi_folder);
    p->program = p->mpi_folder = NULL;
    p->comm[0] = '\0';
    p->unit = NULL;
}

static struct process *add_process(struct pct_recorder *r, int pid)
{
    struct process **at = find_link(r, pid);
    if (*at) {
        forget_program(r, *at);
    } else {
        *at = pct_alloc(1, sizeof **at);
        (*at)->pid = pid;
    }
    return *at;
}

static void remove_process(struct pct_recorder *r, int pid)
{
    struct process **at = find_link(r, pid), *p = *at;
    if (!p)
        return;
    *at = p->next;
    forget_program(r, p);
    pct_code_free(&p->code);
    pct_free(p);
}

/* Removes the process of a thread that has ended, unless others go on after the main thread. */
static void end_thread(struct pct_recorder *r, int pid, int tid)
{
    struct pc_process_status now;
    struct process *p = *find_link(r, pid);
    if (!p)
        return;
    p->headless |= pid == tid;
    if (p->headless && (!pc_process_look(pid, &now) || now.ended))
        remove_process(r, pid);
}

/* Notes a mapped file. The first file that a new program maps is its own. */
static void note_file(struct process *p, const char *path)
{
    const char *base = pc_base_name(path);
    if (*path != '/')
        return;
    pct_jit_note(&p->jit, path);
    p->java |= !strcmp(base, "libjvm.so");
    if (!p->program) {
        p->program = pct_copy(path);
        p->unit = NULL;
    }
    if (p->mpi_folder || !pct_watch_is_mpi(path))
        return;
    p->mpi_folder = pct_copy(path);
    p->mpi_folder[base - path] = '\0';
    p->unit = NULL;
}

static void note_mapping(void *process, const struct pct_mapping *m)
{
    note_file(process, m->path);
}

static void read_mappings(struct pct_recorder *r, struct process *p)
{
    p->hidden = !pct_code_read(&p->code, r->known.files, pct_watch_view(p->pid), note_mapping, p) &&
                (errno == EACCES || errno == EPERM);
}

static void read_process(struct pct_recorder *r, struct process *p)
{
    char path[4096];
    pct_watch_exe(p->pid, path, sizeof path);
    pct_watch_comm(p->pid, p->comm);
    note_file(p, path);
    read_mappings(r, p);
}

void pct_recorder_add(struct pct_recorder *r, int pid)
{
    read_process(r, add_process(r, pid));
}

void pct_recorder_map(struct pct_recorder *r, int pid)
{
    struct process *p = *find_link(r, pid);
    if (p)
        read_mappings(r, p);
}

static struct process *find_process(struct pct_recorder *r, int pid)
{
    struct process *p = *find_link(r, pid);
    if (!p) {
        p = add_process(r, pid);
        read_process(r, p);
    }
    return p;
}

static void fork_process(struct pct_recorder *r, int parent, int pid)
{
    if (pid == parent)
        return;
    if (!parent) { /* it has come into our pid namespace */
        pct_recorder_add(r, pid);
        return;
    }
    struct process *from = find_process(r, parent), *p = add_process(r, pid);
    pct_code_copy(&p->code, &from->code);
    p->hidden = from->hidden;
    p->java = from->java;
    p->program = from->program ? pct_copy(from->program) : NULL;
    p->mpi_folder = from->mpi_folder ? pct_copy(from->mpi_folder) : NULL;
    memcpy(p->comm, from->comm, sizeof p->comm);
    p->unit = from->unit;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* True during exec: the registers are those of the previous program, whose code is gone, and the
 * kernel runs. */
static bool is_exec(struct process *p, const struct pct_stack *s, const struct pct_walked *walked)
{
    p->in_exec = p->in_exec && s->n == 1 && !pct_code_is_mapped(&p->code, walked->there);
    return p->in_exec;
}

/* Counts a stack without outer frames by its reason: that of its outermost frame. */
static void count_cut(struct pct_recorder *r, const struct process *p, const struct pct_stack *s,
                      enum pct_cut cut)
{
    struct pct_recorded *told = &r->told;
    const struct pct_walked *outermost = &r->walked[s->n - 1];
    uint64_t offset;
    if (!p->pid) /* the kernel gives no other number to what has none here */
        told->n_foreign++;
    else if (p->hidden)
        told->n_hidden++;
    else if (pct_code_gone(&p->code, outermost->there - !outermost->exact, &offset))
        told->n_gone++;
    else if (++told->n_cut[cut] && cut == PCT_CUT_TABLE)
        pct_code_frames_cut(&r->known, &p->code, outermost, &s->frames[s->n - 1]);
}

/* Adds a stack to its program, or shows it. */
static void keep(struct pct_recorder *r, struct process *p, const struct pct_stack *s,
                 const struct pct_ring_record *record)
{
    const struct pct_stack_sampled sampled =
        record->of_event ? (struct pct_stack_sampled){.events = record->n}
                         : (struct pct_stack_sampled){.samples = 1, .ns = record->n};
    if (p->in_exec && !p->program && !r->show) {
        p->in_kernel.samples += sampled.samples;
        p->in_kernel.ns += sampled.ns;
        p->in_kernel.events += sampled.events;
        return;
    }
    const struct pct_shown_frames shown = pct_shown_frames(s);
    struct unit *u = unit_of(r, p);
    if (r->show)
        r->show(r->show_arg, &(struct pct_sampled_stack){p->pid, u->rank, u->job, u->mpi, u->name,
                                                         s, &shown, record->n});
    else
        pct_stack_tree_add(u->tree, s, &shown, &sampled);
}

/* Reads a word of the stack that a sample has. */
static bool read_sample(void *record, uint64_t address, uint64_t *out)
{
    const struct pct_ring_record *s = record;
    uint64_t at = address - pct_copied_sp(s->registers);
    if (at > s->n_stack || s->n_stack - at < sizeof *out)
        return false;
    memcpy(out, s->stack + at, sizeof *out);
    return true;
}

/* True for code that the process made, without a name. */
static bool is_nameless(const struct pct_stack_frame *f)
{
    return f->function && !strcmp(f->function, PCT_MADE_CODE);
}

static void take_sample(struct pct_recorder *r, const struct pct_ring_record *record)
{
    struct process *p = find_process(r, record->pid);
    struct pct_stack s = {.frames = r->frames, .mpi_folder = p->mpi_folder};
    enum pct_cut cut = PCT_CUT_NOT;
    r->told.n_samples++;
    r->told.n_processes += p->pid > 0 && !p->sampled; /* not what has ended, or is not seen here */
    p->sampled = true;
    if (record->of_event) {
        r->told.n_of_event++;
        r->told.sampled_events += record->n;
    } else {
        r->told.sampled_ns += record->n;
    }
    if (record->registers) {
        const struct pct_copied thread = {.names = pct_code_files_names(r->known.files),
                                          .registers = record->registers,
                                          .read = read_sample,
                                          .arg = (void *)record};
        s.n = pct_copied_walk(&thread, &p->code, r->walked, PCT_STACK_FRAMES, &cut);
    }
    bool nameless = false;
    for (size_t i = 0; i < s.n; i++) {
        s.frames[i] = pct_code_frame(&r->known, p->pid, &p->code, &p->jit, &r->walked[i]);
        nameless |= is_nameless(&s.frames[i]);
    }
    r->told.n_java += nameless && p->java;
    r->told.n_made += s.n && is_nameless(&s.frames[0]) && !p->java;
    if (is_exec(p, &s, r->walked))
        s.n = cut = 0;
    if (!s.n) {
        r->told.n_unknown++;
        s.frames[s.n++] = p->in_exec ? r->exec : r->kernel;
    } else if (!p->program) {
        p->program = pct_copy("(unknown program)");
        p->unit = NULL;
    }
    s.cut = cut != PCT_CUT_NOT;
    if (s.cut)
        count_cut(r, p, &s, cut);
    keep(r, p, &s, record);
}

/* Records are lost by processor. They count for the process that runs there when there is room
 * again, which is likely to have run before. */
static void note_lost(struct pct_recorder *r, const struct pct_ring_record *record)
{
    const struct process *p = *find_link(r, record->pid);
    if (record->of_event) {
        r->told.n_lost_of_event += record->n;
        return;
    }
    r->told.n_lost += record->n;
    if (p && p->unit)
        p->unit->n_lost += record->n;
}

void pct_recorder_take(void *recorder, const struct pct_ring_record *record)
{
    struct pct_recorder *r = recorder;
    struct process *p;
    /* All processes outside of our pid namespace have the number 0: what one does is of no other.
     */
    if (!record->pid && record->type != PCT_RING_SAMPLE && record->type != PCT_RING_LOST)
        return;
    switch (record->type) {
    case PCT_RING_SAMPLE:
        take_sample(r, record);
        break;
    case PCT_RING_MAP:
        p = find_process(r, record->pid);
        pct_code_map(&p->code, r->known.files, pct_watch_view(p->pid), &record->map);
        note_file(p, record->map.path);
        break;
    case PCT_RING_EXEC:
        p = find_process(r, record->pid);
        forget_program(r, p);
        snprintf(p->comm, sizeof p->comm, "%s", record->name);
        p->in_exec = true;
        break;
    case PCT_RING_FORK:
        fork_process(r, record->parent, record->pid);
        break;
    case PCT_RING_EXIT:
        end_thread(r, record->pid, record->tid);
        break;
    case PCT_RING_LOST:
        note_lost(r, record);
    }
}

/* ---- The profile ----------------------------------------------------------------------------- */

static int compare_units(const void *left, const void *right)
{
    const struct unit *a = *(struct unit *const *)left, *b = *(struct unit *const *)right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->mpi != b->mpi)
        return a->mpi ? -1 : 1;
    int program = strcmp(a->program, b->program);
    return program ? program : strcmp(a->name, b->name);
}

/* The program of a profile: the path of its file, or the name by which it is known. */
static const char *exe_of(const struct unit *u)
{
    return strcmp(u->name, pc_base_name(u->program)) ? u->name : u->program;
}

static int add_profile(struct pc_profile_sum *sum, const struct pct_stack_tree *t,
                       const struct pct_stack_rank *rank, struct pc_error *error)
{
    struct pc_profile *p = pct_stack_tree_profile(t, rank);
    return p ? pc_profile_sum_add(sum, p, error) : PC_ENOMEM;
}

/* True for the unit that stands for its rank; last: the rank of the one before. */
static bool is_of_rank(const struct unit *u, bool mpi, int last)
{
    return u->rank >= 0 && u->mpi == mpi && u->rank != last;
}

/* Number of lost records of no rank that is added. */
static uint64_t count_other_lost(const struct pct_recorder *r, bool mpi)
{
    uint64_t n = r->told.n_lost;
    int last = -1;
    for (size_t i = 0; i < r->n_units; i++)
        if (is_of_rank(r->units[i], mpi, last)) {
            last = r->units[i]->rank;
            n -= r->units[i]->n_lost;
        }
    return n;
}

/* Adds ranks: units with an MPI library, or all units of ranks if there are none. Lost records of
 * others count for the first: they may have been of any. */
static int add_ranks(struct pct_recorder *r, struct pct_stack_rank rank, struct pc_profile_sum *sum,
                     struct pc_error *error)
{
    bool mpi = false;
    int err = PC_OK, last = -1;
    for (size_t i = 0; i < r->n_units; i++)
        mpi |= r->units[i]->mpi && r->units[i]->rank >= 0;
    for (size_t i = 0; i < r->n_units; i++)
        r->told.n_ranks =
            r->units[i]->rank > r->told.n_ranks - 1 ? r->units[i]->rank + 1 : r->told.n_ranks;
    rank.world = r->told.world > r->told.n_ranks ? r->told.world : r->told.n_ranks;
    r->told.world = rank.world;
    r->told.n_ranks = 0;
    uint64_t other_lost = count_other_lost(r, mpi);
    for (size_t i = 0; i < r->n_units && !err; i++) {
        const struct unit *u = r->units[i];
        if (!is_of_rank(u, mpi, last)) {
            r->told.other_ns += pct_stack_tree_ns(u->tree);
            continue;
        }
        last = rank.rank = u->rank;
        rank.pid = u->pid;
        rank.exe = exe_of(u);
        rank.n_lost = u->n_lost + other_lost;
        other_lost = 0;
        r->told.n_ranks++;
        err = add_profile(sum, u->tree, &rank, error);
    }
    return err;
}

/* True if there are ranks, of one launch. */
static bool is_one_job(const struct pct_recorder *r)
{
    const struct unit *first = NULL;
    for (size_t i = 0; i < r->n_units; i++) {
        if (r->units[i]->rank < 0)
            continue;
        first = first ? first : r->units[i];
        if (r->units[i]->job != first->job)
            return false;
    }
    return first != NULL;
}

/* The region of a program: its name, or its path where another one has that name. */
static const char *region_of(const struct pct_recorder *r, const struct unit *u)
{
    for (size_t i = 0; i < r->n_units; i++)
        if (!strcmp(r->units[i]->name, u->name) && strcmp(r->units[i]->program, u->program) != 0)
            return u->program;
    return *u->name ? u->name : "kernel";
}

static size_t count_programs(const struct pct_recorder *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_units; i++) {
        size_t k = 0;
        while (k < i && (strcmp(r->units[k]->program, r->units[i]->program) != 0 ||
                         strcmp(r->units[k]->name, r->units[i]->name) != 0))
            k++;
        n += k == i && *r->units[i]->program;
    }
    return n;
}

/* Adds all programs as one rank; if there are several, each is a region. */
static int add_programs(struct pct_recorder *r, struct pct_stack_rank rank,
                        struct pc_profile_sum *sum, struct pc_error *error)
{
    const struct unit *most = r->units[0];
    uint64_t all_ns = 0;
    rank.world = 1;
    rank.n_lost = r->told.n_lost;
    r->told.n_programs = count_programs(r);
    for (size_t i = 0; i < r->n_units; i++) {
        all_ns += pct_stack_tree_ns(r->units[i]->tree);
        if (pct_stack_tree_ns(r->units[i]->tree) > pct_stack_tree_ns(most->tree))
            most = r->units[i];
    }
    bool mixed = pct_stack_tree_ns(most->tree) < all_ns / 10 * 9;
    rank.pid = most->pid;
    rank.exe = r->name && (mixed || r->named_always) ? r->name : exe_of(most);
    if (r->n_units == 1)
        return add_profile(sum, most->tree, &rank, error);
    struct pct_stack_tree *all = pct_stack_tree_new();
    for (size_t i = 0; i < r->n_units; i++)
        pct_stack_tree_add_region(all, region_of(r, r->units[i]), r->units[i]->tree);
    int err = add_profile(sum, all, &rank, error);
    pct_stack_tree_free(all);
    return err;
}

int pct_recorder_profile(struct pct_recorder *r, bool ranks, uint64_t begin_ns, uint64_t end_ns,
                         struct pct_recorded *told, struct pc_profile **out, struct pc_error *error)
{
    char host[256] = "";
    struct timespec now;
    struct pc_profile_sum sum = {{NULL}};
    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ago_ns = pc_mono_ns() - begin_ns;
    struct pct_stack_rank rank = {.host = host,
                                  .event = r->event,
                                  .events_counted = r->events_counted,
                                  .events_sampled = r->told.sampled_events,
                                  .start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u +
                                                       (uint64_t)now.tv_nsec - ago_ns,
                                  .elapsed_ns = end_ns - begin_ns,
                                  .complete = true};
    *out = NULL;
    for (size_t i = 0; i < N_CHAINS; i++)
        for (struct process *p = r->chains[i]; p; p = p->next)
            add_in_kernel(r, p);
    if (r->n_units)
        qsort(r->units, r->n_units, sizeof(struct unit *), compare_units);
    int err = ranks && is_one_job(r) ? add_ranks(r, rank, &sum, error)
              : r->n_units           ? add_programs(r, rank, &sum, error)
                                     : PC_OK;
    if (r->events_counted && r->told.sampled_events)
        r->told.sampled_events = r->events_counted;
    r->told.starved = pct_code_files_starved(r->known.files);
    r->told.tableless = pct_code_frames_tableless(&r->known);
    *told = r->told;
    if (err) {
        pc_profile_sum_free(&sum);
        return err;
    }
    return pc_profile_sum_finish(&sum, out, error);
}

size_t pct_recorder_unnamed(const struct pct_recorder *r)
{
    return pct_code_files_unnamed(r->known.files);
}

void pct_recorder_show_files(const struct pct_recorder *r, const struct pc_profile *p,
                             struct pct_symbols *symbols)
{
    pct_code_files_show(r->known.files, p, symbols);
    pct_named_teach(&r->known.named, p, symbols);
}

void pct_recorder_free(struct pct_recorder *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < N_CHAINS; i++)
        while (r->chains[i])
            remove_process(r, r->chains[i]->pid);
    for (size_t i = 0; i < r->n_units; i++) {
        pct_free(r->units[i]->program);
        pct_free(r->units[i]->name);
        pct_stack_tree_free(r->units[i]->tree);
        pct_free(r->units[i]);
    }
    pct_code_frames_free(&r->known);
    pct_free(r->units);
    pct_free(r->frames);
    pct_free(r->walked);
    pct_free(r);
}
