/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The handler of the sampler's signal, which also arms the thread's source for the next interrupt.
 *
 * The handler is not interrupted by those of the program (sampler_program.c). It uses a few words
 * of the interrupted stack and then runs on a stack of its own: so it is safe for a thread whose
 * stack is nearly used up, a coroutine or a small alternate stack, which need room for the kernel's
 * signal frame and little more.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/sampling/edges.h"
#include "libcollect/sampling/sampler.h"

#include "libcollect/sampling/early_threads.h"
#include "plugins/plugins.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { WINDOW = 64 };
static const uint64_t longest_period_ns = 1000000000;

struct sigaction pc_sampler_program_action[PC_SAMPLER_N_SIGNALS];

/* Registers of the interrupted thread. */
struct where {
    uintptr_t pc, sp;
    bool in_call; /* the thread was in a system call, which has ended or will be restarted */
};

struct interrupt {
    struct pc_thread *thread;
    struct pc_sampler *sampler;
    const ucontext_t *context;
    struct where where;
    uint64_t begin, begin_ns, clock_ns; /* ticks; CPU time of the thread; CLOCK_MONOTONIC */
};

/* ---- The next interrupt ---------------------------------------------------------------------- */

/* A random period, uniform in [period/2, 3 period/2): so a program whose own period is a multiple
 * of ours is not sampled at the same point each time. */
static uint64_t draw_period(struct pc_sampler *s)
{
    if (s->regular)
        return s->period_ns;
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->period_ns / 2 + s->random % s->period_ns;
}

/* Regular periods are multiples on the thread's CPU clock, like those of a fixed timer: they do not
 * drift by the cost of interrupts. */
static void arm_next(struct pc_sampler *s)
{
    pc_sampler_follow_signal(s);
    if (s->regular)
        pc_sampler_arm_for(s, s->period_ns - pc_sampler_cpu_ns() % s->period_ns);
    else
        pc_window_arm(s);
}

void pc_sampler_arm(struct pc_sampler *s)
{
    s->owed_ns = 0;
    s->next_ns = draw_period(s);
    arm_next(s);
}

void pc_sampler_arm_rest(struct pc_sampler *s, uint64_t next_ns, int64_t owed_ns)
{
    bool is_new = !next_ns;
    s->next_ns = next_ns;
    s->owed_ns = owed_ns;
    if (is_new || owed_ns < 0 || (uint64_t)owed_ns >= next_ns) {
        s->next_ns = draw_period(s);
        s->owed_ns = is_new ? (int64_t)(s->random % s->next_ns) : 0;
    }
    arm_next(s);
}

/* ---- Division of the CPU time ---------------------------------------------------------------- */

/* Cycles have no fixed rate per ns: the rate of the thread is followed. */
static void follow_pace(struct pc_sampler *s, uint64_t passed)
{
    if (s->source != PC_SOURCE_CYCLES || !passed || passed >> 36)
        return;
    uint64_t now = s->pace * s->due_ns / passed;
    now = now < s->pace / 2 ? s->pace / 2 : now > s->pace * 2 ? s->pace * 2 : now;
    s->pace = (s->pace * 7 + now) / 8;
    s->pace = s->pace < 1 << 10 ? 1 << 10 : s->pace > 64 << 16 ? 64 << 16 : s->pace;
}

static void count_time(struct pc_sampler *s, uint64_t now, uint64_t passed, uint64_t cost)
{
    s->counts[PC_SAMPLE_CPU_NS] += passed;
    s->counts[PC_SAMPLE_COST_NS] += cost;
    s->window_cost_ns += cost;
    s->window_ns += passed;
    s->cpu_ns = now;
}

/* Record that the kernel writes at an interrupt of perf_event. */
struct record {
    struct perf_event_header header;
    uint64_t ip, time, value; /* time by CLOCK_MONOTONIC; value of the task clock */
};

/* The last record; NULL: there is none. Records of this length do not wrap around the end of the
 * ring. */
static const struct record *find_record(const struct pc_sampler *s)
{
    struct perf_event_mmap_page *page = s->ring;
    if (!page || s->source != PC_SOURCE_CLOCK)
        return NULL;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t at = head - sizeof(struct record);
    bool is_new = head != page->data_tail && at % sizeof(struct record) == 0;
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    const struct record *r =
        (const void *)((const char *)page + page->data_offset + at % page->data_size);
    return is_new && r->header.type == PERF_RECORD_SAMPLE && r->header.size == sizeof *r ? r : NULL;
}

/* Delay of the signal beyond the usual delay, if the thread was in a system call: the signal comes
 * at the end of the call, and interrupts may be delayed there. From the due time to the interrupt
 * it is measured by the task clock, from the interrupt to the handler by CLOCK_MONOTONIC, but at
 * most by the thread's own time, `rest`, because the thread may have been switched out. */
static int64_t find_lateness(struct pc_sampler *s, const struct interrupt *i, uint64_t rest)
{
    const struct record *r = find_record(s);
    if (!r)
        return 0;
    int64_t came = (int64_t)(r->value - s->value - s->due_ns);
    int64_t way = (int64_t)(i->clock_ns - r->time);
    int64_t ns = came + (way < (int64_t)rest ? way : (int64_t)rest);
    if (i->where.in_call)
        return s->usual_ns ? ns - s->usual_ns : 0;
    if (!s->usual_ns)
        s->usual_ns = ns;
    /* Limits the effect of one value: the first handlers are slow, and single ones are far too
     * late. */
    int64_t most = s->usual_ns / 8, by = ns - s->usual_ns;
    s->usual_ns += (by > most ? most : by < -most ? -most : by) / 4;
    return 0;
}

/* Splits the CPU time since the last handler: up to the interrupt's point, from there until the
 * signal came, and the cost of the interrupt. The task clock fires when it is due; the part of the
 * due time that the previous handler needed after arming is subtracted. The rest is the cost of the
 * interrupt, which varies, most of all in a virtual machine. Other sources have no such exact time:
 * for them the kernel's part is the measured median. False: the interrupt is later than that, so
 * signals were blocked; then the rest is counted as missed. */
static bool find_point(struct pc_sampler *s, uint64_t passed, const struct interrupt *i)
{
    uint64_t not_late_ns = s->ring ? 1000000 : 20000 + 3 * s->kernel_ns;
    uint64_t latest =
        s->source == PC_SOURCE_TIMER ? PC_SAMPLER_LATEST_TICK_NS : PC_SAMPLER_LATEST_NS;
    uint64_t due = s->due_ns > s->lead_ns ? s->due_ns - s->lead_ns : 0;
    uint64_t rest = passed > due ? passed - due : 0;
    s->late_ns = find_lateness(s, i, rest);
    s->point_ns = due < passed ? due : passed;
    if (s->source != PC_SOURCE_CLOCK || (!s->late_ns && rest > not_late_ns))
        s->point_ns = passed > s->kernel_ns ? passed - s->kernel_ns : 0;
    int64_t late = (int64_t)(s->point_ns - due) + s->late_ns;
    if (late <= (int64_t)latest)
        return true;
    s->counts[PC_SAMPLE_MISSED] += (uint64_t)late / s->period_ns;
    s->point_ns = due;
    s->late_ns = 0;
    return false;
}

/* Divides the CPU time since the last handler. */
static bool divide_time(struct pc_sampler *s, const struct interrupt *i)
{
    uint64_t now = i->begin_ns, passed = now - s->cpu_ns;
    bool known = find_point(s, passed, i);
    uint64_t program = s->point_ns + (uint64_t)s->late_ns;
    follow_pace(s, s->point_ns);
    count_time(s, now, passed, known && passed > program ? passed - program : s->kernel_ns);
    return known;
}

void pc_sampler_settle(struct pc_sampler *s)
{
    uint64_t now = pc_sampler_cpu_ns();
    count_time(s, now, now - s->cpu_ns, 0);
}

/* Counts the handler's own time by the thread's CPU clock, which does not count other threads. */
static void count_handler(struct pc_sampler *s, uint64_t begin_ns)
{
    s->cpu_ns = pc_sampler_cpu_ns();
    pc_sampler_go_on(s, s->cpu_ns);
    s->counts[PC_SAMPLE_COST_NS] += s->cpu_ns - begin_ns;
    s->counts[PC_SAMPLE_CPU_NS] += s->cpu_ns - begin_ns;
    s->window_cost_ns += s->cpu_ns - begin_ns;
    s->window_ns += s->cpu_ns - begin_ns;
}

/* Keeps max_overhead: halves the frequency if the last WINDOW interrupts cost more. */
static void keep_ceiling(struct pc_sampler *s)
{
    if (++s->window_interrupts < WINDOW)
        return;
    if (s->window_cost_ns * 100 > s->window_ns * s->max_overhead &&
        s->period_ns < longest_period_ns) {
        s->period_ns *= 2;
        s->lowered++;
        s->counts[PC_SAMPLE_PERIOD_NS] = s->period_ns;
        s->counts[PC_SAMPLE_LOWERED]++;
    }
    s->window_interrupts = s->window_cost_ns = s->window_ns = 0;
}

/* ---- One sample ------------------------------------------------------------------------------ */

static uintptr_t read_sp(const ucontext_t *uc)
{
#if defined __x86_64__
    return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    return uc->uc_mcontext.sp;
#else
    (void)uc;
    return 0;
#endif
}

#if defined __x86_64__
/* True if `bytes` bytes of code near the pc can be read. Modules can be read on the page of the pc.
 * Code that is made at run time may be for execution only, or lie next to a page without rights. */
static bool can_read_code(uintptr_t pc, uintptr_t at, size_t bytes)
{
    const uintptr_t page = ~(uintptr_t)4095, first = at & page, last = (at + bytes - 1) & page;
    if (first == (pc & page) && last == first && pc_loadmap_find(pc))
        return true;
    return pc_walk_can_read(first) && (last == first || pc_walk_can_read(last));
}

/* A function that was called by `call *%rcx` begins with its own address in that register, too. */
static struct where read_where(const ucontext_t *uc)
{
    const greg_t *r = uc->uc_mcontext.gregs;
    struct where w = {(uintptr_t)r[REG_RIP], read_sp(uc), false};
    uintptr_t returns = (uintptr_t)r[REG_RCX]; /* `syscall` leaves the return address there */
    if ((returns == w.pc || returns == w.pc + 2) && can_read_code(w.pc, returns - 2, 2))
        w.in_call = !memcmp((const void *)(returns - 2), "\x0f\x05", 2);
    return w;
}
#elif defined __aarch64__
static struct where read_where(const ucontext_t *uc)
{
    static const char call[] = "\x01\x00\x00\xd4";
    struct where w = {uc->uc_mcontext.pc, read_sp(uc), false};
    if (!pc_loadmap_find(w.pc))
        return w;
    w.in_call = (w.pc & 4095) >= 4 && !memcmp((const void *)(w.pc - 4), call, 4);
    w.in_call |= !memcmp((const void *)w.pc, call, 4);
    return w;
}
#else
static struct where read_where(const ucontext_t *uc)
{
    (void)uc;
    return (struct where){0, 0, false};
}
#endif

/* More than an MPI library takes of a stack below a call: many coroutines have less in all. */
enum { INSIDE_BYTES = 65536 };

/* True if the stack pointer shows nothing against being inside the call with stack address `cfa`,
 * as in the depth guard (call.c). On one stack, what runs inside a call is below it. A handler on
 * an alternate stack, or a coroutine that a callback resumes, is inside a call on the thread's own
 * stack. That stack goes on when a coroutine has given control back: so it is not inside the
 * coroutine's call. The bounds of other stacks are not known: what is near below a call on one of
 * them is inside of it; what is far is on a third stack. There the call may have been left by an
 * exception, and another coroutine computes: this is more frequent than a coroutine that a callback
 * resumes in a coroutine. */
static bool is_inside(const struct pc_thread *t, uintptr_t cfa, uintptr_t sp)
{
    if (pc_is_on_own_stack(t, cfa))
        return sp < cfa || !pc_is_on_own_stack(t, sp);
    return !pc_is_on_own_stack(t, sp) && sp < cfa && cfa - sp < INSIDE_BYTES;
}

/* The MPI call in progress; NULL if the thread has left it by longjmp or an exception. */
static const struct pc_active *call_in_progress(const struct pc_thread *t, uintptr_t sp)
{
    const struct pc_active *a = t->depth ? &t->active[t->depth - 1] : NULL;
    return a && is_inside(t, a->cfa, sp) && a->stage == t->stage ? a : NULL;
}

static char *record_of_call(const struct pc_active *call)
{
    return (char *)call->record + pc_process.comm_bytes;
}

static bool is_in_own(const struct where *w)
{
    const struct pc_module *m = pc_loadmap_find(w->pc);
    return m && m->flags & PCOLLECT_MODULE_OWN;
}

static void count_at_place(struct pc_thread *t, struct pc_sampler *s,
                           const struct pc_window_place *place)
{
    if (s->clearing)
        return;
    uint64_t us = (s->sample_ns + 500) / 1000;
    uint64_t *sums = &s->counts[place->node ? PC_SAMPLE_COMPUTE_NS : PC_SAMPLE_MPI_NS];
    sums[0] += s->sample_ns;
    sums[1] += us * us;
    if (place->node && s->in_runtime && t->times)
        t->times[PC_TIMES_IN_RUNTIME] += s->sample_ns;
    if (place->node && s->in_bindings && t->times)
        t->times[PC_TIMES_IN_BINDINGS] += s->sample_ns;
}

/* The place with the record that plugins add to: that of the call in progress, or of the point. */
static struct pc_window_place find_place(const struct interrupt *i)
{
    struct pc_thread *t = i->thread;
    struct pc_sampler *s = i->sampler;
    const struct pc_active *call = call_in_progress(t, i->where.sp);
    struct pc_window_place place = {NULL, 0, 0};
    if (call) {
        if (is_in_own(&i->where)) {
            pc_sampler_met_own(s);
            return place;
        }
        s->counts[PC_SAMPLE_IN_MPI]++;
        place.record = record_of_call(call);
    } else {
        if (t->depth) /* the thread has left its calls */
            t->record->open_ticks = 0;
        place.node = pc_sampler_point(t, s, i->context);
        if (place.node)
            place.record = pc_tree_record(t->tree, place.node);
    }
    if (place.record)
        count_at_place(t, s, &place);
    if (place.record && t->edges)
        pc_edges_sample(t->edges, place.node);
    return place;
}

/* True if the window of the thread ends in the context in which it began: the same call, or the
 * same function called along the same path. */
static bool is_same_place(const struct interrupt *i)
{
    struct pc_thread *t = i->thread;
    const struct pc_window_place *began = &i->sampler->window.place;
    const struct pc_active *call = call_in_progress(t, i->where.sp);
    if (call || !began->node)
        return call && !is_in_own(&i->where) && record_of_call(call) == began->record;
    const struct pcollect_node *point = pc_tree_node(t->tree, began->node);
    return point->module && pc_walk_function_start(i->where.pc) == began->function &&
           pc_sampler_parent(t, i->sampler, i->context) == point->parent;
}

/* Tells comm plugins, which keep tables of samples but no records. */
static void tell_sample(const struct pcollect_sample *sample)
{
    for (uint32_t k = 0; k < pc_process.n_plugins; k++) {
        const struct pc_loaded_plugin *p = &pc_process.plugins[k];
        if (p->comm->sample)
            p->comm->sample(p->state, sample);
    }
}

static void take_sample(const struct interrupt *i)
{
    struct pc_thread *t = i->thread;
    struct pc_sampler *s = i->sampler;
    if (t->busy) {
        pc_sampler_met_own(s);
        return;
    }
    if (pc_scope_is_off()) {
        s->counts[PC_SAMPLE_OFF]++;
        return;
    }
    t->busy = 1;
    barrier();
    pc_sampler_book_place(t, s);
    struct pc_window_place place = find_place(i);
    struct pc_plugin_sample to = {.sample = {.size = sizeof to.sample,
                                             .now = i->begin,
                                             .interval = i->begin - s->last_ticks,
                                             .period_ns = s->sample_ns,
                                             .thread = t,
                                             .node = place.node,
                                             .weight = 1,
                                             .draw = s->regular ? i->begin_ns / s->period_ns : 0},
                                  .counting = t->counting};
    for (uint32_t k = 0; place.record && k < pc_process.n_compute; k++) {
        const struct pc_loaded_compute *p = &pc_process.compute[k];
        to.sample.own = s->own[k];
        p->plugin->trigger(p->state, &to.sample, place.record + p->record_offset);
    }
    if (place.record && pc_process.tells_samples)
        tell_sample(&to.sample);
    pc_scope_book(t, i->begin);
    if (place.record && s->has_windows) {
        place.function = pc_walk_function_start(i->where.pc);
        pc_window_open(t, s, &to, &place);
    }
    barrier();
    t->busy = 0;
}

/* Ends a window. A thread in the library's own code has left the place where the window began. */
static void end_window(const struct interrupt *i)
{
    struct pc_thread *t = i->thread;
    bool was_busy = t->busy;
    t->busy = 1;
    barrier();
    if (!pc_scope_is_off())
        pc_window_close(t, i->sampler, pc_window_time(i->sampler), !was_busy && is_same_place(i));
    barrier();
    t->busy = was_busy;
}

/* ---- The handler ----------------------------------------------------------------------------- */

/* Calls fn(argument) on another stack. Has hand-written unwind information, with which debuggers
 * and watchers find the interrupted program: a compiler's is wrong inside a function that changes
 * its stack. Sanitizers know only the ordinary stack. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SAME_STACK 1
#elif defined __x86_64__
__asm__(".pushsection .text\n"
        "        .type call_on_stack, @function\n"
        "call_on_stack:\n"
        "        .cfi_startproc\n"
        "        pushq %rbp\n"
        "        .cfi_def_cfa_offset 16\n"
        "        .cfi_offset rbp, -16\n"
        "        movq %rsp, %rbp\n"
        "        .cfi_def_cfa_register rbp\n"
        "        movq %rdi, %rsp\n"
        "        movq %rdx, %rdi\n"
        "        call *%rsi\n"
        "        leave\n"
        "        .cfi_def_cfa rsp, 8\n"
        "        ret\n"
        "        .cfi_endproc\n"
        "        .size call_on_stack, . - call_on_stack\n"
        "        .popsection\n");
#elif defined __aarch64__
__asm__(".pushsection .text\n"
        "        .balign 4\n"
        "        .type call_on_stack, %function\n"
        "call_on_stack:\n"
        "        .cfi_startproc\n"
        "        stp x29, x30, [sp, #-16]!\n"
        "        .cfi_def_cfa_offset 16\n"
        "        .cfi_offset x29, -16\n"
        "        .cfi_offset x30, -8\n"
        "        mov x29, sp\n"
        "        .cfi_def_cfa_register x29\n"
        "        mov sp, x0\n"
        "        mov x0, x2\n"
        "        blr x1\n"
        "        mov sp, x29\n"
        "        .cfi_def_cfa_register sp\n"
        "        ldp x29, x30, [sp], #16\n"
        "        .cfi_def_cfa_offset 0\n"
        "        ret\n"
        "        .cfi_endproc\n"
        "        .size call_on_stack, . - call_on_stack\n"
        "        .popsection\n");
#else
#define SAME_STACK 1
#endif

#ifdef SAME_STACK
static void call_on_stack(char *top, void (*fn)(void *), void *argument)
{
    (void)top;
    fn(argument);
}
#else
void call_on_stack(char *top, void (*fn)(void *), void *argument);
#endif

/* Delivers a signal that is the program's own, as if the sampler were not there. */
static void pass_on(int signal, siginfo_t *info, ucontext_t *uc)
{
    const struct sigaction action = pc_sampler_program_action[signal];
    uint64_t mask, more;
    if (action.sa_handler == SIG_IGN ||
        action.sa_handler == SIG_DFL) /* the default is to ignore it */
        return;
    if (action.sa_flags & SA_RESETHAND)
        pc_sampler_program_action[signal].sa_handler = SIG_DFL;
    memcpy(&mask, &uc->uc_sigmask, sizeof mask);
    memcpy(&more, &action.sa_mask, sizeof more);
    mask |= more;
    if (!(action.sa_flags & SA_NODEFER))
        mask |= 1ull << (signal - 1);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signal, info, uc);
    else
        action.sa_handler(signal);
}

/* Counts an interrupt. A sample stands for the time from the last point to its own. Several points
 * in the same system call, or while signals are blocked, are one sample. */
static void count_interrupt(struct pc_sampler *s, uint64_t sample_ns, int64_t owed_ns)
{
    s->next_ns = draw_period(s);
    while (owed_ns >= (int64_t)s->next_ns) {
        sample_ns += s->next_ns;
        owed_ns -= (int64_t)s->next_ns;
        s->next_ns = draw_period(s);
    }
    s->sample_ns = sample_ns;
    s->owed_ns = owed_ns;
    keep_ceiling(s);
    s->counts[PC_SAMPLE_INTERRUPTS]++;
    s->counts[PC_SAMPLE_SEEN_NS] += sample_ns;
}

static void answer(struct pc_sampler *s, struct interrupt *i)
{
    i->begin_ns = pc_sampler_cpu_ns();
    bool window = s->window.open, known = divide_time(s, i);
    int64_t since = s->owed_ns + (int64_t)s->point_ns;
    s->window.open = false;
    if (window && known)
        end_window(i);
    if (window && since + s->late_ns < (int64_t)s->next_ns) {
        s->owed_ns = since + s->late_ns;
    } else {
        int64_t stands_for = window ? (int64_t)s->next_ns : since;
        count_interrupt(s, (uint64_t)(stands_for > 0 ? stands_for : 0),
                        since + s->late_ns - stands_for);
        take_sample(i);
        s->last_ticks = i->begin;
    }
    /* For a reader after a kill: nothing is ordered by it. */
    __atomic_store_n(&pc_header()->seen_ticks, i->begin, __ATOMIC_RELAXED);
    arm_next(s);
    pc_window_begin(s);
    count_handler(s, i->begin_ns);
}

/* Ends one empty window and begins the next. */
static void try_window(const struct interrupt *i)
{
    struct pc_sampler *s = i->sampler;
    const struct pc_plugin_sample to = {
        .sample = {.size = sizeof to.sample, .empty = 1, .draw = s->tries, .thread = i->thread},
        .counting = i->thread->counting};
    const struct pc_window_place nowhere = {NULL, 0, 0};
    if (s->window.open && find_point(s, i->begin_ns - s->cpu_ns, i))
        pc_window_close(i->thread, s, pc_window_time(s), false);
    s->owed_ns = 0;
    s->next_ns = longest_period_ns;
    pc_window_open(i->thread, s, &to, &nowhere);
    s->empty = s->window.open;
}

/* Serves an interrupt while the cost of interrupts is measured. */
static void try(struct pc_sampler *s, struct interrupt *i)
{
    uint64_t again_ns = s->again_ns;
    if (s->empty) {
        i->begin_ns = pc_sampler_cpu_ns();
        try_window(i);
    }
    s->tries++;
    s->again_ns = 0;
    if (s->empty) {
        pc_window_arm(s);
        pc_window_begin(s);
    } else if (again_ns) {
        pc_sampler_arm_for(s, again_ns);
    } else {
        return;
    }
    s->cpu_ns = pc_sampler_cpu_ns();
    pc_sampler_go_on(s, s->cpu_ns);
}

/* Serves an interrupt, on the sampler's stack. */
static void handle(void *argument)
{
    struct interrupt *i = argument;
    const struct pc_thread *t = i->thread;
    struct pc_sampler *s = i->sampler;
    i->begin = pc_ticks();
    if (s->ring)
        i->clock_ns = pc_mono_ns();
    if (s->window.open)
        pc_window_read(s);
    if (s->trying) {
        try(s, i);
        return;
    }
    i->where = read_where(i->context);
    uint32_t stage = atomic_load_explicit(&pc_live->stage, memory_order_relaxed);
    if (stage == PC_STAGE_MAIN && t->stage == PC_STAGE_MAIN)
        answer(s, i);
    else
        __atomic_store_n(&s->late, s->late + 1, __ATOMIC_RELAXED);
}

struct early_interrupt {
    const ucontext_t *context;
    int fd;
    uintptr_t sp; /* 0: there is no room below */
    bool met;
};

static void serve_early(void *argument)
{
    struct early_interrupt *e = argument;
    bool in_own = false;
    if (e->sp) {
        struct where w = read_where(e->context);
        in_own = is_in_own(&w);
    }
    e->met = pc_early_meet(e->fd, e->sp, in_own);
}

/* A thread without a state has no stack of the sampler: it is served on its own stack. An alternate
 * stack may be too small for that, and for the search of the module. */
static bool meet_early(const siginfo_t *info, const ucontext_t *context)
{
    enum { RED_ZONE = 128, ALIGNMENT = 64 };
    if (!pc_sampler_is_of_event(info->si_fd, info))
        return false;
    uintptr_t sp = read_sp(context), other = (uintptr_t)context->uc_stack.ss_sp;
    size_t size = context->uc_stack.ss_size;
    bool has_room = sp - other >= size && pc_thread_has_room(sp);
    struct early_interrupt e = {context, info->si_fd, has_room ? sp : 0, false};
    if (has_room && (uintptr_t)__builtin_frame_address(0) - other < size)
        call_on_stack((char *)((sp - RED_ZONE) & ~(uintptr_t)(ALIGNMENT - 1)), serve_early, &e);
    else
        serve_early(&e);
    return e.met;
}

/* The handler writes `handling` and then reads the signal; pc_sampler_stop writes the signal and
 * then reads `handling`, both sequentially consistent: so either it waits for this handler, or this
 * handler does nothing. */
void pc_sampler_handle(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct pc_thread *t = pc_self;
    struct pc_sampler *s = t ? t->sampler : NULL;
    bool ours = pc_sampler_is_ours(s, info);
    if ((!ours || !s) && meet_early(info, context)) {
        /* it was the first interrupt of a thread that had no state */
    } else if (!ours) {
        pass_on(signal, info, context);
    } else if (s && s->source != PC_SOURCE_NONE) {
        s->handling = true;
        struct interrupt i = {.thread = t, .sampler = s, .context = context};
        if (pc_sampler_signal)
            call_on_stack(s->stack_top, handle, &i);
        atomic_store_explicit(&s->handling, false, memory_order_release);
    }
    errno = saved;
}
