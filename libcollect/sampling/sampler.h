/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sampler: each thread is interrupted as its CPU time passes, and what it was computing is
 * booked as a POINT of its own tree. For libcollect only; doc/internals/sampling.md says why.
 *
 * Rules:
 *  1. The handler touches its own thread's state only. It enters the tree only if `busy` of struct
 *     pc_thread is 0, sets it, and clears it before it returns; so it never meets a tree, a path
 *     cache or a record in the middle of a change, and the code that it interrupted sees at most a
 *     tree that has grown between two of its operations.
 *  2. At most one interrupt of a thread is pending: a source fires once and is armed again by the
 *     handler.
 *  3. A process that is replaced (exec) has no source armed and no interrupt pending.
 *  4. What is due and not booked is counted under a reason (enum pc_sample_count).
 */
#ifndef PC_SAMPLER_H
#define PC_SAMPLER_H

#include "libcollect/state/own_tables.h"
#include "libcollect/state/state.h"

#include <signal.h>

/* Lateness, in CPU time, above which an interrupt shows that the program has blocked signals. The
 * kernel checks a POSIX timer when the system's tick finds the thread running: with other threads
 * on the processor that can be many ticks of 1 to 10 ms later. */
enum { PC_SAMPLER_LATEST_NS = 10000000, PC_SAMPLER_LATEST_TICK_NS = 200000000 };

enum pc_sample_source {
    PC_SOURCE_NONE = 0,
    PC_SOURCE_CYCLES, /* perf_event, cycles of the processor */
    PC_SOURCE_CLOCK,  /* perf_event, task clock */
    PC_SOURCE_TIMER,  /* POSIX timer on the thread's CPU clock */
    PC_N_SOURCES
};

/* A frame of a path: its program counter, and the stack words that the step to its caller read. */
struct pc_sample_frame {
    uintptr_t pc, sp, fp, fp_loc;
    struct {
        uintptr_t addr, value;
    } words[PC_STEP_MAX_WORDS];
    struct pc_module *module;
    pcollect_ref context; /* of this frame and all outside of it */
    uint8_t n_words;
    bool exact;
    bool registers; /* the step outwards read registers other than sp and fp */
    bool start;     /* part of libc's start-up: not shown */
};

/* The place of a thread at an interrupt. */
struct pc_window_place {
    char *record;       /* its compute part; NULL: nothing is booked */
    pcollect_ref node;  /* the POINT; 0: in an MPI call */
    uintptr_t function; /* start of the interrupted function, for POINTs; 0: unknown */
};

/* A window (struct pcollect_compute_plugin), from the end of an interrupt to the next one. */
struct pc_window {
    bool open;         /* the source is armed for its end */
    uint64_t asked_ns; /* time that the program should run in it */
    uint64_t lead_ns;  /* mean part of the armed time that leaving a sample's handler takes */
    uint64_t n;        /* windows so far */
    uint32_t weight;   /* number of windows that it stands for */
    const struct pc_loaded_compute *plugin;
    struct pc_window_place place; /* place where it began */
};

struct pc_sampler {
    struct pc_sampler *next; /* list of all samplers (sampler.c) */
    int32_t tid;             /* thread that is sampled */
    uint32_t source;         /* enum pc_sample_source; NONE: not armed */
    int signal;              /* signal that the source sends */
    _Atomic bool handling;   /* the handler runs */
    _Atomic bool clearing;   /* the sums from MPI_Init on are being set to 0 */
    int fd;                  /* perf_event */
    void *ring;              /* ring of the perf_event with times of interrupts; NULL: none */
    int timer;               /* kernel's id */
    uint64_t event_id;       /* identifies the perf_event */
    uint64_t random;
    uint64_t period_ns; /* mean period */
    uint32_t lowered;   /* number of times that the period was doubled */
    uint64_t next_ns;   /* from the last sample's point to the next one's */
    int64_t owed_ns;    /* program's time from the last sample's point to the handler's end */
    uint64_t due_ns;    /* CPU time after which the armed interrupt is due */
    uint64_t armed_ns;  /* CPU time of the thread when it was armed */
    uint64_t pace;      /* counts of the source per ns, times 2^16 */
    uint64_t last_ticks;
    uint64_t cpu_ns;    /* CPU time of the thread when it was last read */
    uint64_t kernel_ns; /* kernel's part of an interrupt: a median, measured at the start */
    uint64_t value;     /* value of the task clock at the last interrupt; 0: not known */
    int64_t usual_ns;   /* usual delay of the handler, if the thread was not in a system call */
    uint64_t point_ns;  /* program's time from the last handler's end to the interrupt's point */
    int64_t late_ns;    /* from that point to the signal, while the program was in the kernel */
    uint64_t lead_ns;   /* part of due_ns that passes before the program continues */
    uint64_t return_ns; /* part of lead_ns for the return from the handler */
    bool regular;       /* periods are not random; for comparison only */
    bool has_windows;   /* a plugin wants them, and the source is fine enough */
    struct pc_window window;
    char *own[PC_MAX_COMPUTE]; /* memory of plugins for the thread */
    uint64_t sample_ns;        /* time that the current sample stands for */
    /* Account for max_overhead, which is in percent. */
    uint64_t window_interrupts, window_cost_ns, window_ns, max_overhead;
    uint64_t *place;                        /* values of the row for `processor`; NULL: none yet */
    uint32_t processor;                     /* processor of the last interrupt */
    uint64_t *counts;                       /* [PC_SAMPLE_N_COUNTS], in the arena */
    uint64_t no_counts[PC_SAMPLE_N_COUNTS]; /* used if the arena has no room */
    uint64_t late, late_told;               /* interrupts after the merge; those in a table */
    uint32_t number;                        /* number of the thread */
    uint32_t source_name;                   /* of the source, as a string of the arena */
    /* Set while the kernel's part is measured (sampler_cost.c). */
    bool trying;
    volatile bool empty;          /* empty windows are measured; false: no more are wanted */
    volatile uint32_t tries;      /* handler calls so far */
    volatile uint64_t again_ns;   /* the handler arms the source again for this time; 0: not */
    volatile bool held;           /* the thread waits with our signal blocked, and no handler of the
                                   * program has interrupted it (interpose/wait.c) */
    volatile uintptr_t waited_in; /* the function that an interrupt is shown in while the library
                                   * unblocks our signal */
    uint64_t looked_ticks;        /* when pc_sampler_look last looked */
    uint32_t generation;          /* of the load map, for the last path */
    /* The last path, outermost frame first, and the path being walked, innermost frame first. */
    uint32_t n_last, n_path, max_frames, joined;
    bool cut, deep;
    bool in_runtime;  /* the last sample was in a threading runtime */
    bool in_bindings; /* the last sample was in the MPI library, or in libc called by it */
    struct pc_sample_frame *last, *path;
    char *stack_top; /* top of the stack on which the handler runs */
};

static inline bool pc_sampler_is_perf(const struct pc_sampler *s)
{
    return s->source == PC_SOURCE_CYCLES || s->source == PC_SOURCE_CLOCK;
}

/* Makes the contexts of the last path void, because the scope has changed. */
static inline void pc_sampler_moved(struct pc_thread *t)
{
    if (t->sampler)
        t->sampler->n_last = 0;
}

/* Writes into the row of the thread what describes its interrupts and is not a count of them. */
static inline void pc_sampler_describe(struct pc_sampler *s)
{
    s->counts[PC_SAMPLE_PERIOD_NS] = s->period_ns;
    s->counts[PC_SAMPLE_LOWERED] = s->lowered;
    s->counts[PC_SAMPLE_KERNEL_NS] = s->kernel_ns;
    s->counts[PC_SAMPLE_SOURCE] = s->source_name;
}

/* ---- sampler.c: not in handlers ---- */

/* True if ThreadSanitizer's runtime was there when this library was loaded. AS-safe, MT-safe. */
bool pc_sampler_is_under_tsan(void);
/* Chooses the signal and installs the handler, if the configuration asks for samples. */
int pc_sampler_start(void);
/* The calling thread has been registered / is about to end. */
void pc_sampler_enter(struct pc_thread *t, void *function);
void pc_sampler_leave(struct pc_thread *t);
/* MPI_Init has returned in the calling thread: the sums that count from there begin anew, in all
 * threads. */
void pc_sampler_init_end(void);
/* Called in a forked child: closes what the parent's threads had open. */
void pc_sampler_forget(void);
/* Called before exec: disarms the calling thread's source and takes pending signals. True:
 * pc_sampler_resume must be called if exec fails. */
bool pc_sampler_pause(void);
void pc_sampler_resume(void);
/* Opens the source of the calling thread anew if the program has closed its descriptor; the thread
 * is not busy. Keeps errno. */
void pc_sampler_look(struct pc_sampler *s);
/* Called before the merge: disarms the calling thread's source and brings its counts up to date. */
void pc_sampler_end(void);
/* Called after the merge: interrupts since then become rows of the calling thread, which are
 * written by rank. find_thread is called only if there were any. */
void pc_sampler_tell_late(struct pc_thread *(*find_thread)(void));
/* Ends sampling in all threads, for good: when it returns no source is armed, no interrupt is on
 * its way, and signals are handled as the program asked. The reason is noted in the profile. Does
 * nothing in a child. True: this call has ended it. AS-safe, MT-safe. */
bool pc_sampler_stop(enum pcollect_note why);

/* ---- sampler_event.c ---- */

/* An event of the kernel; what is asked for, and what was found. */
struct pc_sampler_event {
    enum pc_sample_source source; /* cycles or clock */
    int32_t tid;                  /* thread of this process that it interrupts */
    uint64_t period;              /* counts of the source to the first interrupt */
    int signal;                   /* that it sends to the thread */
    bool with_kernel;             /* time in the kernel counts, where that is permitted */
    int fd;
    uint64_t id; /* identifies the event: the program may close the descriptor */
};

/* Opens an event, which is not armed. False with errno; EMFILE: there are enough. */
bool pc_sampler_open_event(struct pc_sampler_event *e);
/* Closes it, if the descriptor is still its own. AS-safe. */
void pc_sampler_close_event(int fd, uint64_t id);
/* Disarms it for good. AS-safe. */
void pc_sampler_silence_event(int fd, uint64_t id);

/* ---- sampler_signal.c ---- */

/* Chooses a signal number at the start. False: none is free. init-only. */
bool pc_sampler_choose_signal(void);
/* True if a set names the signal explicitly: a set of all signals does not. AS-safe. */
bool pc_sampler_is_named(const sigset_t *set, int signal);
/* Takes another signal number, because the program uses this one. False: none is free, and nothing
 * is changed. AS-safe, MT-safe. */
bool pc_sampler_leave_signal(void);
/* Sets the action that the program asks for on a signal that the sampler has. 0, or -1 with errno.
 * AS-safe. */
int pc_sampler_ask(int signal, const struct sigaction *action);

/* ---- sampler_program.c ---- */

/* True if the sampler's handler is installed for the signal. AS-safe, MT-safe. */
bool pc_sampler_has(int signal);
/* Installs the sampler's handler, with the flags that the program asks for on that signal. 0, or
 * -1. AS-safe. */
int pc_sampler_install(int signal);
/* Installs the sampler's handler again for all signals that have it, after the program asked for
 * another action. */
int pc_sampler_install_all(void);
/* Installs the actions that the program has asked for, on all signals; pending signals of the
 * sampler are lost. AS-safe. */
void pc_sampler_give_back(void);
/* Like sigaction, for a signal that the sampler does not use: the program's handler is delayed
 * while the sampler's runs. AS-safe, MT-safe. */
int pc_sampler_set_action(int signal, const struct sigaction *action, struct sigaction *old);
/* Begins to delay the program's handlers, also those that are installed already; ends it for one
 * signal. A vfork child changes nothing. AS-safe, MT-safe. */
void pc_sampler_defer_all(void);
void pc_sampler_undefer(int signal);
/* True if stand-ins of this library may be installed for the program's handlers. AS-safe,
 * MT-safe. */
bool pc_sampler_stands_in(void);

/* ---- sampler_source_async.c ---- */

/* The signal that sources send; 0: there is no sampling. */
extern _Atomic int pc_sampler_signal;
/* The samplers of all threads, linked by `next`; none is ever removed. */
extern struct pc_sampler *_Atomic pc_samplers;

/* True if the signal was sent by an event with this descriptor. AS-safe. */
bool pc_sampler_is_of_event(int fd, const siginfo_t *info);
/* True if the signal was sent by this thread's source; s = NULL: by the source of any thread.
 * AS-safe. */
bool pc_sampler_is_ours(const struct pc_sampler *s, const siginfo_t *info);
/* Makes a timer that sends the signal to the thread, which is the calling one. 0, or -1. AS-safe.
 */
int pc_sampler_make_timer(struct pc_sampler *s, int signal);
/* Makes the source of the calling thread send the process's current signal, if it sent another.
 * True: it must be armed, because a pending interrupt is lost or its timer was disarmed. AS-safe.
 */
bool pc_sampler_follow_signal(struct pc_sampler *s);
/* Takes an interrupt by this signal that is pending in the calling thread, which blocks it. False:
 * there was none. `s` NULL: one by the event `fd`. AS-safe. */
bool pc_sampler_take_pending(const struct pc_sampler *s, int fd, int signal);
/* True if the descriptor is still that of the event. The program may have closed it, and another
 * file may have its number. AS-safe. */
bool pc_sampler_is_event(int fd, uint64_t id);
/* Arms the source of the calling thread, to fire once after so much CPU time; disarms it. It is
 * armed only where it was just opened, interrupted the thread or was found to be ours. AS-safe. */
void pc_sampler_arm_for(struct pc_sampler *s, uint64_t ns);
void pc_sampler_disarm(struct pc_sampler *s);
/* CPU time of the calling thread. AS-safe. */
uint64_t pc_sampler_cpu_ns(void);

/* ---- sampler_place_async.c ---- */

/* Books the current sample to the processor on which the thread runs now. The thread is busy.
 * AS-safe. */
void pc_sampler_book_place(struct pc_thread *t, struct pc_sampler *s);

/* ---- sampler_cost.c ---- */

/* Measures the cost of an interrupt outside of the handler, once for each process and source: the
 * first thread with the source takes some interrupts. Fills s->kernel_ns. False: none came. */
bool pc_sampler_measure(struct pc_sampler *s);

/* Measures the time of the return from the handler, once as well. Fills s->return_ns. */
void pc_sampler_measure_return(struct pc_sampler *s);

/* Passes empty windows to the plugin that asks for them. */
void pc_sampler_measure_windows(struct pc_sampler *s);

/* ---- sampler_async.c ---- */

/* The interrupt was in the library's own code. */
static inline void pc_sampler_met_own(struct pc_sampler *s)
{
    s->counts[PC_SAMPLE_OWN]++;
    s->counts[PC_SAMPLE_OWN_NS] += s->sample_ns;
}

/* Actions that the program set for our signals. The program gets the signals that are not ours. */
enum { PC_SAMPLER_N_SIGNALS = 32 }; /* signals below are not queued */
extern struct sigaction pc_sampler_program_action[PC_SAMPLER_N_SIGNALS];

void pc_sampler_handle(int signal, siginfo_t *info, void *context);
/* Arms the source of the calling thread for the next sample. */
void pc_sampler_arm(struct pc_sampler *s);
/* Arms it for the first sample of a thread. next_ns and owed_ns are those that the last thread with
 * this state has left: it goes on with them. If there was none, they are 0, and a part of the
 * distance is taken as passed. So threads shorter than a period have as many samples as one long
 * thread. */
void pc_sampler_arm_rest(struct pc_sampler *s, uint64_t next_ns, int64_t owed_ns);
/* The handler ends at this CPU time; the armed time counts from the moment of arming. */
static inline void pc_sampler_go_on(struct pc_sampler *s, uint64_t now)
{
    s->lead_ns = now - s->armed_ns + s->return_ns;
}
/* Reads the thread's CPU clock and brings its counts up to date. */
void pc_sampler_settle(struct pc_sampler *s);

/* ---- sampler_pair_async.c ---- */

struct pc_plugin_sample;

/* Opens a window at the end of a sample in this place, if a plugin wants one. Empty windows get the
 * `draw` of the sample. */
void pc_window_open(struct pc_thread *t, struct pc_sampler *s,
                    const struct pc_plugin_sample *sample, const struct pc_window_place *place);
/* Arms the next deadline: the end of a window, or the next sample. */
void pc_window_arm(struct pc_sampler *s);
/* Begins the window if it was armed: reads the counts, as the last action. */
void pc_window_begin(const struct pc_sampler *s);
/* Ends the window: reads the counts, as the first action. */
void pc_window_read(struct pc_sampler *s);
/* Length of the window, from the sample's point to its own end point; 0: not known. */
uint64_t pc_window_time(const struct pc_sampler *s);
/* `stayed`: the window has ended in the place where it began. */
void pc_window_close(struct pc_thread *t, struct pc_sampler *s, uint64_t program_ns, bool stayed);

/* ---- sampler_walk_async.c ---- */

/* The context of the interrupted function, without the POINT; 0: it is in our own code, or there is
 * no room. Counts nothing. */
pcollect_ref pc_sampler_parent(struct pc_thread *t, struct pc_sampler *s, const void *context);

/* The POINT of the interrupted context in the thread's tree, found or made. 0: not booked but
 * counted (own code, or no memory). */
pcollect_ref pc_sampler_point(struct pc_thread *t, struct pc_sampler *s, const void *context);

#endif
