/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What libpcollect.so knows of the process and of its threads: the state that all of libcollect
 * works on. It calls nothing of the rest.
 *
 * Rules:
 *  1. A thread's state is written by that thread alone, but for what others book, clear or take of
 *     it at MPI_Init, at MPI_Pcontrol and before the merge: scope.c, sampler.c and
 *     thread_times_table.c say how. `busy` is set while the thread writes; a signal handler that
 *     makes an MPI call meanwhile is passed on and counted.
 *  2. Nothing on the path of a call whose context is known calls malloc, takes a lock or makes a
 *     system call. What happens for the first time may make system calls, and keeps errno.
 *  3. `pc_live` lives in a page that the kernel wipes in every child: a child sees stage 0 and
 *     collects nothing, however it was made.
 */
#ifndef PC_STATE_H
#define PC_STATE_H

#include "cct/cct.h"
#include "config/config.h"
#include "libcollect/context/path.h"
#include "libcollect/state/core.h"
#include "libcollect/walk/walk.h"
#include "merge/module.h"

#include <stdatomic.h>

enum {
    PC_MAX_THREADS = 4096,
    PC_MAX_PLUGINS = 16,
    PC_MAX_COMPUTE = 4,
    PC_CHECK_EVERY = 1024,
    PC_TWINS = 64,
    PC_DOMAIN_SLOTS = 256,
    PC_MAX_DEPTH = 32,
    PC_MAX_FIELDS = 64,
    PC_MAX_TABLES = 64,
    PC_TABLE_SLOTS = 2 * PC_MAX_TABLES /* a power of two */
};

/* Stages of the process, in pc_live.stage. */
enum {
    PC_STAGE_OFF = 0,    /* not started, or a forked child */
    PC_STAGE_MAIN = 1,   /* calls go into the trees that will be merged */
    PC_STAGE_LATE = 2,   /* after the merge, calls go into new trees */
    PC_STAGE_CLOSED = 3, /* after our destructor: every call is written out at once */
};

struct pc_live {
    _Atomic uint32_t stage;
};

extern PC_HIDDEN struct pc_live *pc_live;

/* Gives pc_live its page. PC_ENOMEM. */
int pc_process_make_live(void);

/* State that MPI_Pcontrol has set, with counts of its changes. Threads that call it at once ask for
 * their changes, and one of them makes these. */
struct pc_control {
    _Atomic uint32_t asked; /* changes that are not made yet (scope.c) */
    _Atomic bool changing;  /* a thread makes them */
    _Atomic uint32_t off;
    _Atomic uint32_t resets;
    _Atomic uint32_t breaks; /* times that collection was switched off or on, or began anew */
    _Atomic uint64_t level;  /* of the phase; 0: none */
    _Atomic uint32_t bumps;  /* of the load map's generation from here */
    uint64_t off_since;      /* ticks */
    uint64_t on_since;       /* ticks; 0: from the start */
    _Atomic bool filtered;   /* the program has installed a seccomp filter */
    _Atomic bool left;       /* pc_core_leave was called: the process takes no further part */
};

extern PC_HIDDEN struct pc_control pc_control;

/* A context of another thread, or of before the merge, in this thread's tree. */
struct pc_twin {
    pcollect_ref theirs;
    uint32_t stage; /* of this tree */
    void *record;
};

/* The part of an OP node that belongs to one communicator. */
struct pc_domain_slot {
    pcollect_ref op, node;
    uint64_t domain;
    void *record; /* NULL: no room */
    bool collapsed;
    bool is_whole; /* it has a record of its own */
};

/* Combines two 32-bit words into one 64-bit word in the processor's byte order. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PC_PAIR(first, second) ((uint64_t)(second) << 32 | (uint32_t)(first))
#else
#define PC_PAIR(first, second) ((uint64_t)(first) << 32 | (uint32_t)(second))
#endif

/* A call in progress. Kept here and not in the wrapper's frame, which may be gone: longjmp and
 * exceptions leave calls without notice. */
struct pc_active {
    uintptr_t cfa;
    void *record;
    uint32_t stage;
    uint16_t op, op_class;
};

struct pc_counting_meter;
struct pc_edges;
struct pc_python_stack;
struct pc_python_paths;

struct pc_thread {
    /* Members that every call reads. */
    uint32_t stage;      /* of the tree below; never PC_STAGE_CLOSED */
    uint32_t generation; /* of the load map, for the paths below */
    union {
        struct {
            uint32_t busy;
            uint32_t depth; /* calls in progress */
        };
        _Atomic uint64_t use; /* both in one word; 0: idle */
    };
    uint32_t countdown; /* calls to the next check by a full walk */
    pcollect_ref scope; /* node under which contexts hang: scope.h */
    struct pc_stack stack;
    struct pcollect_thread *record;
    struct pc_paths paths;
    /* Members that are read less often. */
    struct pc_tree *tree;
    uint64_t merge_ticks;     /* spent in the merge inside the current MPI_Finalize */
    struct pc_scopes *scopes; /* scope.c; NULL: neither phases nor regions so far */
    uint64_t level;           /* of the phase that the thread is in; 0: none */
    pcollect_ref left;        /* scope of the region that it worked for last; 0: works for one */
    struct pc_thread *next_made;
    _Atomic uint32_t resets;              /* value of pc_control.resets that was applied last */
    uint32_t bumps;                       /* value of pc_control.bumps that `generation` contains */
    struct pc_sampler *sampler;           /* sampler.h; NULL: never interrupted */
    struct pc_counting_meter *counting;   /* counter_groups.h; NULL: nothing is counted */
    struct pc_counting_meter *always;     /* counter_groups.h; what counts all the time */
    struct pc_edges *edges;               /* edges.h; NULL: nothing is read at MPI calls */
    struct pc_python_stack *python;       /* python.h; NULL: none was read so far */
    struct pc_python_paths *python_paths; /* python_paths.c; NULL: no call from Python so far */
    uintptr_t followed;                   /* cfa of the followed call in progress; 0: none */
    bool helper;                          /* made by the MPI library for itself */
    _Atomic uint8_t uncounted;            /* threads_table.c; 1 + kind if left out, 0: counted */
    uint8_t kind;                         /* enum pc_thread_kind */
    uint32_t number;
    _Atomic int32_t tid;              /* 0: it has ended; set after the two points below */
    uint64_t *times;                  /* thread_times_table.c; values of its row, NULL: none */
    _Atomic uint64_t cpu_from_ns;     /* of its CPU clock; time before this is booked */
    _Atomic uint64_t delayed_from_ns; /* of pc_thread_delayed_ns; likewise */
    uint64_t entered_ns;              /* pc_mono_ns; before it is the thread's */
    struct pc_active active[PC_MAX_DEPTH];
    struct pc_twin twins[PC_TWINS];
    struct pc_domain_slot domains[PC_DOMAIN_SLOTS];
    struct pcollect_event arrival; /* event for completions */
    pcollect_ref arrival_of;       /* the context of the last one; 0: there was none */
    char adapter_slot[64] __attribute__((aligned(64)));
};

/* True if the address lies on the stack with which the thread was made. Others are stacks of
 * coroutines, and alternate stacks of handlers. AS-safe. */
static inline bool pc_is_on_own_stack(const struct pc_thread *t, uintptr_t address)
{
    return address - t->stack.lo < t->stack.hi - t->stack.lo;
}

struct pc_loaded_plugin {
    void *state;
    const struct pcollect_comm_plugin *comm;
    uint64_t record_offset;
};

/* A function that runs at the end of every call, or at each completion of a receive. */
struct pc_hook {
    void (*hook)(void *state, const struct pcollect_event *event, void *record);
    void *state;
    uint64_t record_offset;
};

struct pc_loaded_compute {
    const struct pcollect_compute_plugin *plugin;
    void *state;
    uint32_t record_offset; /* in the compute part of a record */
};

/* A table by the address of its description. */
struct pc_loaded_table {
    const struct pcollect_table *_Atomic table; /* set last; NULL: no entry */
    pcollect_ref ref;
};

/* Presence of the job's ranks, as far as this process can see it. */
enum pc_presence_verdict {
    PC_RANKS_UNKNOWN = 0, /* some are on other nodes, or nothing is known */
    PC_RANKS_HERE,        /* all ranks take part */
    PC_RANKS_MISSING      /* some ranks of this node do not */
};

struct pc_presence {
    enum pc_presence_verdict verdict;
    uint32_t n_here; /* announced on this node; 0: not looked for */
    bool one_node;   /* the job runs on this node alone */
    bool some_left;  /* some ranks of this node have left: pc_launch_leave */
    bool speaks;     /* this is the least rank seen: it prints what concerns all ranks */
    /* True for the least rank with this host name, or for rank 0 if the others cannot be seen. */
    bool first_of_host;
};

struct pc_process {
    struct pc_config config;
    struct pc_arena arena;
    struct pcollect_host host;
    struct pc_loaded_plugin plugins[PC_MAX_PLUGINS];
    uint32_t n_plugins, n_posts, n_completes;
    bool tells_regions, tells_samples;        /* a comm plugin has that hook */
    struct pc_hook posts[PC_MAX_PLUGINS + 1]; /* the last is followed by NULL */
    struct pc_hook completes[PC_MAX_PLUGINS + 1];
    struct pc_loaded_compute compute[PC_MAX_COMPUTE];
    uint32_t n_compute;
    uint32_t record_bytes; /* of an OP: of comm plugins, then of compute plugins */
    uint32_t comm_bytes;
    uint32_t n_tables;
    struct pc_loaded_table tables[PC_TABLE_SLOTS]; /* open addressing */
    struct pc_core core;
    _Atomic int32_t pid;                 /* process that collects; 0: none yet */
    uint64_t first_ticks, first_mono_ns; /* one point on the clocks, as close to exec as possible */
    struct pc_presence presence;         /* known when MPI_Init has returned */
    struct pc_merged merged;
    bool destructed;
    _Atomic bool refused;              /* nothing is measured: pc_core_refused */
    pc_core_is_counted_fn *is_counted; /* pc_core_set_counted */
};

extern PC_HIDDEN struct pc_process pc_process;

/* True if the caller is a child of the process that collects, on the memory of its parent (vfork)
 * or on a copy (fork, _Fork). It must not end or change what its parent collects. Makes one system
 * call. AS-safe, MT-safe. */
bool pc_process_is_child(void);

/* Orders the writes before it before those after it, also for a handler of this thread. A compiler
 * barrier: it emits no instruction. AS-safe. */
static inline void barrier(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

static inline struct pcollect_arena_header *pc_header(void)
{
    return pc_process.arena.header;
}

extern __thread struct pc_thread *pc_self __attribute__((tls_model("initial-exec")));

/* The context of another thread for which this one works (pc_scope_lend), also if it has no state;
 * 0: none. */
extern __thread pcollect_ref pc_lent_context __attribute__((tls_model("initial-exec")));

/* Counts something left out. AS-safe, MT-safe. */
void pc_lost(enum pcollect_lost what, uint64_t n);

/* ---- memory: anonymous, zero-filled, page-rounded; keeps errno. AS-safe, MT-safe. ---- */
void *pc_memory(size_t bytes);
/* Grows memory and keeps its contents; it may move. NULL: it was not moved and not changed.
 * `memory` may be NULL. */
void *pc_memory_grow(void *memory, size_t old_bytes, size_t new_bytes);
void pc_memory_free(void *memory, size_t bytes);

/* ---- clocks (ticks.c) ---- */
/* Notes the first point of the line from ticks to time, in the constructor, or else at the first
 * call; a second time it does nothing. */
void pc_note_start(void);
/* Estimates the scale of ticks before MPI_Init, when the time since the start is too short for a
 * good measurement. Good to about 0.1 %, and used for the bins of histograms only. */
void pc_guess_scale(void);
/* Notes the second point. */
void pc_note_time(void);

/* ---- install_path.c ---- */
/* Notes the path of this library; for the constructor. */
void pc_where_start(void);

/* ---- times of threads (thread_clock.c) ---- */

/* CPU time of a thread of this process; 0: it has ended, tid is 0, or its clock may not be read.
 * AS-safe. */
uint64_t pc_thread_cpu_ns(int32_t tid);
/* Time in which it could run and no processor was free; 0: it has ended, or the kernel does not
 * count it. Keeps errno. MT-safe. */
uint64_t pc_thread_delayed_ns(int32_t tid);

#endif
