/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses, opens and closes the interrupt source of each thread; installs the signal's handler;
 * keeps the table `sampling` with the outcome of each thread's interrupts. The handler is in
 * sampler_async.c.
 *
 * A source is a perf_event on the thread's cycles or task clock, or a POSIX timer on its CPU clock.
 * All stand still while the thread waits.
 */
#include "libcollect/sampling/sampler.h"

#include "libcollect/context/scope.h"
#include "libcollect/sampling/early_threads.h"
#include "libcollect/state/next.h"
#include "libcollect/state/plugin_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 32768 };

static uint64_t period_ns;
static _Atomic bool works[PC_N_SOURCES]; /* it was not refused so far */

/* ---- The process ----------------------------------------------------------------------------- */

static const char *const source_names[PC_N_SOURCES] = {"none", "cycles", "clock", "timer"};

/* Marks as usable the source that the configuration names, and those after it. */
static void choose_sources(void)
{
    const char *asked = pc_process.config.sample_source;
    bool from_here = !strcmp(asked, "auto");
    for (int i = PC_SOURCE_CYCLES; i < PC_N_SOURCES; i++) {
        from_here |= !strcmp(asked, source_names[i]);
        works[i] = from_here;
    }
}

static int is_valgrind(struct pc_module *module, void *unused)
{
    (void)unused;
    return strstr(module->path, "/vgpreload_core") != NULL;
}

extern void __tsan_init(void) __attribute__((weak));

bool pc_sampler_is_under_tsan(void)
{
    return __tsan_init != NULL;
}

/* Jobs of Open MPI whose threads are interrupted under valgrind 3.19 end with a segmentation fault;
 * most of the CPU time there is valgrind's in any case. ThreadSanitizer (gcc 12) calls handlers
 * later, with the old registers: the stack that they point to is gone. */
static const char *find_checker(void)
{
    if (pc_loadmap_each(is_valgrind, NULL))
        return "valgrind";
    return pc_sampler_is_under_tsan() ? "ThreadSanitizer" : NULL;
}

static bool is_checked(void)
{
    const char *checker = find_checker();
    if (!checker)
        return false;
    pc_header()->notes |= PCOLLECT_NOTE_CHECKED;
    pc_core_complain("the program runs under %s: its computation is not sampled", checker);
    return true;
}

int pc_sampler_start(void)
{
    const struct pc_config *c = &pc_process.config;
    if (!c->sample_frequency || is_checked())
        return PC_OK;
    int err = pc_table_add("sample", &pc_table_sampling);
    if (!err)
        err = pc_table_add("sample", &pc_table_placement);
    if (err)
        return err;
    period_ns = 1000000000u / c->sample_frequency;
    choose_sources();
    if (!pc_sampler_choose_signal()) {
        pc_header()->notes |= PCOLLECT_NOTE_NO_SIGNAL;
        pc_core_complain("no signal is free: computation is not sampled");
    }
    return PC_OK;
}

/* ---- Sources --------------------------------------------------------------------------------- */

static bool open_perf(struct pc_sampler *s, enum pc_sample_source source)
{
    struct pc_sampler_event e = {.source = source,
                                 .tid = s->tid,
                                 .period = period_ns,
                                 .signal = pc_sampler_signal,
                                 .with_kernel = true};
    if (!pc_sampler_open_event(&e)) {
        if (errno != EMFILE && errno != ENFILE)
            works[source] = false;
        return false;
    }
    s->fd = e.fd;
    s->signal = e.signal;
    s->event_id = e.id;
    return true;
}

static size_t ring_bytes(void)
{
    return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps the ring into which the kernel writes the time of each interrupt; needed for windows only.
 * NULL: none; the memory for rings is limited per user. */
static void *map_ring(const struct pc_sampler *s)
{
    void *ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    return ring == MAP_FAILED ? NULL : ring;
}

static void close_perf(struct pc_sampler *s)
{
    void *ring = s->ring;
    s->ring = NULL; /* cleared first: a signal may still come */
    barrier();
    if (ring)
        munmap(ring, ring_bytes());
    pc_sampler_close_event(s->fd, s->event_id);
}

static bool open_source(struct pc_sampler *s, enum pc_sample_source source)
{
    s->pace = source == PC_SOURCE_CYCLES ? 2 << 16 : 1 << 16; /* initially 2 GHz */
    s->source = source;
    if (source == PC_SOURCE_TIMER)
        return !pc_sampler_make_timer(s, pc_sampler_signal);
    return open_perf(s, source);
}

static uint64_t set_note(enum pcollect_note note)
{
    return __atomic_fetch_or(&pc_header()->notes, (uint64_t)note, __ATOMIC_RELAXED) & note;
}

/* Finds the first source that works; if there is none, the thread is not sampled. Some virtual
 * machines have counters that open and count but never interrupt. */
static void find_source(struct pc_sampler *s)
{
    for (int i = PC_SOURCE_CYCLES; i < PC_N_SOURCES; i++) {
        if (!works[i] || !open_source(s, (enum pc_sample_source)i))
            continue;
        if (pc_sampler_measure(s) || i == PC_SOURCE_TIMER) {
            s->source_name = pc_table_string(source_names[i]);
            pc_sampler_describe(s);
            return;
        }
        close_perf(s);
        if (atomic_exchange(&works[i], false))
            pc_core_complain("source %s opens here but never interrupts: the next one is taken",
                             source_names[i]);
    }
    s->source = PC_SOURCE_NONE;
    if (!set_note(PCOLLECT_NOTE_NO_SOURCE))
        pc_core_complain("no source of samples can be opened for a thread (perf_event is refused "
                         "or not asked for, and `ulimit -i` limits timers): it is not sampled");
}

/* ---- A thread -------------------------------------------------------------------------------- */

/* Made once for each thread's state. A thread that adopts the state continues with its period and
 * its account for max_overhead: otherwise a program of many short threads could not be kept below
 * max_overhead. */
static struct pc_sampler *make_sampler(void)
{
    uint32_t n = (uint32_t)pc_process.config.collect_max_depth;
    size_t frames = n * sizeof(struct pc_sample_frame);
    struct pc_sampler *s = pc_memory(sizeof *s + 2 * frames + 2 * STACK_BYTES);
    if (!s)
        return NULL;
    s->fd = -1;
    s->max_frames = n;
    s->path = (struct pc_sample_frame *)(s + 1);
    s->last = s->path + n;
    uintptr_t top = (uintptr_t)(s->last + n) + 2 * STACK_BYTES - 64;
    s->stack_top = (char *)(top & ~(uintptr_t)63);
    s->max_overhead = pc_process.config.sample_max_overhead;
    s->period_ns = period_ns;
    s->regular = !strcmp(pc_process.config.sample_rotation, "round-robin");
    s->next = atomic_load(&pc_samplers);
    while (!atomic_compare_exchange_weak(&pc_samplers, &s->next, s))
        ;
    return s;
}

/* Memory of plugins, zero-filled: it may hold data of an earlier thread. */
static bool give_memory(struct pc_sampler *s)
{
    bool windows = false;
    for (uint32_t k = 0; k < pc_process.n_compute; k++) {
        const struct pcollect_compute_plugin *p = pc_process.compute[k].plugin;
        if (p->thread_bytes && !s->own[k] && !(s->own[k] = pc_memory(p->thread_bytes)))
            return false;
        if (p->thread_bytes)
            memset(s->own[k], 0, p->thread_bytes);
        windows |= p->open != NULL;
    }
    return windows;
}

static void take_row(struct pc_thread *t, struct pc_sampler *s)
{
    const uint64_t keys[2] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, t->number};
    uint64_t *counts = pc_table_row(t, &pc_table_sampling, keys);
    s->counts = counts ? counts : s->no_counts;
    s->number = t->number;
    s->counts[PC_SAMPLE_PERIOD_NS] = s->period_ns;
}

void pc_sampler_enter(struct pc_thread *t, void *function)
{
    (void)function;
    if (!pc_sampler_signal || t->stage != PC_STAGE_MAIN)
        return;
    int saved = errno;
    struct pc_sampler *s = t->sampler ? t->sampler : make_sampler();
    if (s) {
        uint64_t next_ns = s->next_ns;
        int64_t owed_ns = s->owed_ns;
        s->n_last = 0;
        s->tid = t->tid;
        s->random = pc_hash_u64((uint64_t)t->tid << 32 ^ pc_ticks()) | 1;
        take_row(t, s);
        s->place = NULL;
        t->sampler = s;
        s->last_ticks = pc_ticks();
        s->cpu_ns = pc_sampler_cpu_ns();
        find_source(s);
        if (s->source != PC_SOURCE_NONE) {
            s->has_windows = give_memory(s) && pc_sampler_is_perf(s);
            s->window = (struct pc_window){.open = false};
            if (s->has_windows) {
                pc_sampler_measure_return(s);
                s->ring = map_ring(s);
                pc_sampler_measure_windows(s);
            }
            s->cpu_ns = pc_sampler_cpu_ns();
            if (next_ns || (t->number && !t->helper))
                pc_sampler_arm_rest(s, next_ns, owed_ns);
            else
                pc_sampler_arm(s);
        }
    }
    errno = saved;
}

/* Waits until the handler of a thread has ended, but not for ever. A handler that begins later sees
 * what the caller has written before. */
static void await_handler(const struct pc_sampler *s)
{
    enum { LONGEST_NS = 100000000 };
    for (uint64_t begin = pc_mono_ns(); s->handling && pc_mono_ns() - begin < LONGEST_NS;)
        sched_yield();
}

/* Sets to 0 the sums of a thread, which may be another one, that count from MPI_Init on. The
 * handler writes `handling` and then reads `clearing`, this does the reverse, all sequentially
 * consistent: so either this waits for the handler, or the handler leaves its sample out of the
 * sums. */
static void clear_sums(struct pc_thread *t)
{
    struct pc_sampler *s = t->sampler;
    if (!s || !s->counts)
        return;
    s->clearing = true;
    await_handler(s);
    for (unsigned k = PC_SAMPLE_COMPUTE_NS; k <= PC_SAMPLE_MPI_SQUARES; k++)
        s->counts[k] = 0;
    if (t->times)
        t->times[PC_TIMES_IN_RUNTIME] = t->times[PC_TIMES_IN_BINDINGS] = 0;
    s->clearing = false;
}

void pc_sampler_init_end(void)
{
    for (struct pc_thread *t = pc_scope_newest_thread(); t; t = t->next_made)
        clear_sums(t);
}

/* Counts what a thread has missed since its last interrupt, if that is longer ago than any
 * interrupt can be late: the thread blocks signals, maybe since its start. Returns that time, or
 * 0. */
static uint64_t count_missed(struct pc_sampler *s, uint64_t now_ns)
{
    uint64_t then_ns = __atomic_load_n(&s->cpu_ns, __ATOMIC_RELAXED);
    uint64_t late_ns = s->due_ns + PC_SAMPLER_LATEST_TICK_NS;
    if (now_ns < then_ns + late_ns)
        return 0;
    s->counts[PC_SAMPLE_MISSED] += (now_ns - then_ns) / s->period_ns;
    return now_ns - then_ns;
}

static bool has_closed(const struct pc_sampler *s)
{
    return pc_sampler_is_perf(s) && !pc_sampler_is_event(s->fd, s->event_id);
}

static void note_closed(const struct pc_sampler *s)
{
    if (has_closed(s))
        set_note(PCOLLECT_NOTE_CLOSED);
}

/* Brings the counts of the calling thread up to date when its source is armed no more. After the
 * merge nothing is missed: sources are not armed again. */
static void settle(struct pc_sampler *s)
{
    if (atomic_load(&pc_live->stage) == PC_STAGE_MAIN) {
        note_closed(s);
        count_missed(s, pc_sampler_cpu_ns());
    }
    pc_sampler_settle(s);
}

void pc_sampler_look(struct pc_sampler *s)
{
    int saved = errno;
    s->looked_ticks = pc_ticks();
    /* A vfork child has descriptors of its own, which it may close. */
    if (has_closed(s) && atomic_load(&pc_live->stage) == PC_STAGE_MAIN &&
        (int32_t)syscall(SYS_gettid) == s->tid) {
        settle(s);
        close_perf(s);
        find_source(s);
        s->window.open = false;
        s->has_windows &= pc_sampler_is_perf(s);
        if (s->has_windows)
            s->ring = map_ring(s);
        s->cpu_ns = pc_sampler_cpu_ns();
        if (s->source != PC_SOURCE_NONE)
            pc_sampler_arm(s);
    }
    errno = saved;
}

void pc_sampler_leave(struct pc_thread *t)
{
    struct pc_sampler *s = t->sampler;
    if (!s || s->source == PC_SOURCE_NONE || !pc_sampler_signal)
        return;
    int saved = errno;
    pc_sampler_disarm(s);
    s->owed_ns += (int64_t)(pc_sampler_cpu_ns() - s->cpu_ns);
    settle(s);
    if (s->source == PC_SOURCE_TIMER)
        syscall(SYS_timer_delete, s->timer);
    else
        close_perf(s);
    s->source = PC_SOURCE_NONE;
    errno = saved;
}

/* Counts the CPU time of another thread if that blocks signals: it does not write here
 * meanwhile. */
static void settle_blocked(struct pc_sampler *s)
{
    if (s->source == PC_SOURCE_NONE)
        return;
    note_closed(s);
    s->counts[PC_SAMPLE_CPU_NS] += count_missed(s, pc_thread_cpu_ns(s->tid));
}

void pc_sampler_end(void)
{
    struct pc_sampler *own = pc_self ? pc_self->sampler : NULL;
    int saved = errno;
    if (!pc_sampler_signal)
        return;
    pc_early_end();
    if (own && own->source != PC_SOURCE_NONE) {
        pc_sampler_disarm(own);
        settle(own);
    }
    for (struct pc_sampler *s = atomic_load(&pc_samplers); s; s = s->next)
        if (s != own)
            settle_blocked(s);
    errno = saved;
}

/* Adds rows to the calling thread: the rows of the threads themselves have already been merged. */
void pc_sampler_tell_late(struct pc_thread *(*find_thread)(void))
{
    int saved = errno;
    for (struct pc_sampler *s = atomic_load(&pc_samplers); s; s = s->next) {
        uint64_t late = __atomic_load_n(&s->late, __ATOMIC_RELAXED);
        struct pc_thread *t = late > s->late_told ? find_thread() : NULL;
        const uint64_t keys[2] = {(uint64_t)(int64_t)PCOLLECT_RANK_SELF, s->number};
        uint64_t *row = t && t->tree->late ? pc_table_row(t, &pc_table_sampling, keys) : NULL;
        if (row) {
            row[PC_SAMPLE_LATE] += late - s->late_told;
            s->late_told = late;
        }
    }
    errno = saved;
}

void pc_sampler_forget(void)
{
    for (struct pc_sampler *s = atomic_load(&pc_samplers); s; s = s->next)
        if (pc_sampler_is_perf(s)) {
            s->ring = NULL; /* the kernel does not map it in children */
            close_perf(s);
        }
    pc_early_forget();
    pc_sampler_signal = 0;
    pc_sampler_give_back();
}

/* ---- Permanent end --------------------------------------------------------------------------- */

static void silence(struct pc_sampler *s)
{
    static const struct itimerspec never;
    if (s->source == PC_SOURCE_TIMER)
        syscall(SYS_timer_settime, s->timer, 0, &never, NULL);
    else if (pc_sampler_is_perf(s))
        pc_sampler_silence_event(s->fd, s->event_id);
}

bool pc_sampler_stop(enum pcollect_note why)
{
    struct pc_sampler *own = pc_self ? pc_self->sampler : NULL;
    int saved = errno;
    if (!pc_sampler_signal || pc_process_is_child() || !atomic_exchange(&pc_sampler_signal, 0))
        return false;
    for (struct pc_sampler *s = atomic_load(&pc_samplers); s; s = s->next) {
        if (s != own)
            await_handler(s);
        silence(s);
    }
    pc_early_end();
    if (own && own->source != PC_SOURCE_NONE)
        settle(own);
    pc_sampler_give_back();
    set_note(why);
    errno = saved;
    return true;
}

/* ---- exec ------------------------------------------------------------------------------------ */

bool pc_sampler_pause(void)
{
    if (!pc_self && pc_early_any)
        pc_early_wait();
    struct pc_thread *t = pc_self;
    struct pc_sampler *s = t ? t->sampler : NULL;
    /* A vfork child runs in its parent's memory and has no source of its own. */
    if (!s || s->source == PC_SOURCE_NONE || !pc_sampler_signal ||
        (int32_t)syscall(SYS_gettid) != t->tid)
        return false;
    int saved = errno;
    pc_sampler_disarm(s);
    /* An overflow may be on its way: the kernel sends the signal from an interrupt of its own, up
     * to a tick later. Without this flag (O_ASYNC) it sends nothing. */
    if (pc_sampler_is_perf(s) && !has_closed(s))
        fcntl(s->fd, F_SETFL, 0);
    /* An interrupt that was due before may be pending, if the program blocks the signal. */
    pc_sampler_take_pending(s, s->fd, s->signal);
    errno = saved;
    return true;
}

void pc_sampler_resume(void)
{
    struct pc_sampler *s = pc_self->sampler;
    int saved = errno;
    pc_sampler_look(s);
    if (pc_sampler_is_perf(s) && !has_closed(s))
        fcntl(s->fd, F_SETFL, O_ASYNC);
    if (s->source != PC_SOURCE_NONE && !has_closed(s))
        pc_sampler_arm(s);
    errno = saved;
}
