/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The core of libpcollect.so: state of the process and of its threads. For libcollect only.
 *
 * Rules:
 *  1. A thread's state is written by that thread alone. `busy` is set while it is; a signal handler
 *     that makes an MPI call meanwhile is passed on and counted.
 *  2. Nothing on the path of a call whose context is known calls malloc, takes a lock or makes a
 *     system call. What happens for the first time may make system calls, and keeps errno.
 *  3. `pc_live` lives in a page that the kernel wipes in every child: a child sees phase 0 and
 *     collects nothing, however it was made.
 */
#ifndef PC_CORE_PRIVATE_H
#define PC_CORE_PRIVATE_H

#include "cct/cct.h"
#include "config/config.h"
#include "libcollect/core.h"
#include "libcollect/path.h"
#include "libcollect/scope.h"
#include "libcollect/walk/walk.h"

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
    PC_TABLE_SLOTS = 128 /* a power of two */
};

/* Phases of the process, in pc_live.phase. */
enum {
    PC_PHASE_OFF = 0,    /* not started, or a forked child */
    PC_PHASE_MAIN = 1,   /* into the trees that will be merged */
    PC_PHASE_LATE = 2,   /* after the merge, into new trees */
    PC_PHASE_CLOSED = 3, /* after our destructor: every call is written out at once */
};

struct pc_live {
    _Atomic uint32_t phase;
};

extern PC_HIDDEN struct pc_live *pc_live;

/* A context of another thread, or of before the merge, in this thread's tree. */
struct pc_twin {
    pcollect_ref theirs;
    uint32_t phase; /* of this tree */
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

/* Two words of 32 bits as the processor sees them in one of 64. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PC_PAIR(first, second) ((uint64_t)(second) << 32 | (uint32_t)(first))
#else
#define PC_PAIR(first, second) ((uint64_t)(first) << 32 | (uint32_t)(second))
#endif

/* A call in progress. Kept here and not in the wrapper's frame, which may be gone: longjmp and
 * exceptions leave calls without a word. */
struct pc_active {
    uintptr_t cfa;
    void *record;
    uint32_t phase;
    uint16_t op, op_class;
};

struct pc_counting_record;
struct pc_edges;

struct pc_thread {
    /* What every call reads. */
    uint32_t phase;      /* of the tree below; never PC_PHASE_CLOSED */
    uint32_t generation; /* of the load map, for the paths below */
    union {
        struct {
            uint32_t busy;
            uint32_t depth; /* calls in progress */
        };
        _Atomic uint64_t use; /* both: 0 is idle */
    };
    uint32_t countdown; /* calls to the next check by a full walk */
    pcollect_ref scope; /* node under which contexts hang: scope.h */
    struct pc_stack stack;
    struct pcollect_thread *record;
    struct pc_paths paths;
    /* The rest. */
    struct pc_tree *tree;
    uint64_t merge_ticks;     /* spent in the merge inside the current MPI_Finalize */
    struct pc_scopes *scopes; /* scope.c; NULL: neither phases nor regions so far */
    struct pc_thread *next_made;
    uint32_t resets;                     /* of pc_control, that were obeyed */
    uint32_t bumps;                      /* of pc_control, in `generation` */
    struct pc_sampler *sampler;          /* sampler.h; NULL: never interrupted */
    struct pc_counting_record *counting; /* counters.h; NULL: nothing is counted */
    struct pc_edges *edges;              /* edges.h; NULL: nothing is read at MPI calls */
    bool helper;                         /* made by the MPI library for itself */
    uint32_t number;
    int32_t tid;
    struct pc_active active[PC_MAX_DEPTH];
    struct pc_twin twins[PC_TWINS];
    struct pc_domain_slot domains[PC_DOMAIN_SLOTS];
    char adapter_slot[64] __attribute__((aligned(64)));
};

struct pc_loaded_plugin {
    void *state;
    const struct pcollect_comm_plugin *comm;
    uint64_t record_offset;
};

/* What the end of every call goes through. */
struct pc_post {
    void (*post)(void *state, const struct pcollect_event *event, void *record);
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
    const struct pcollect_table *table; /* NULL: no entry */
    pcollect_ref ref;
};

/* Which ranks of the job take part, as far as it can be seen from here. */
enum pc_presence_verdict {
    PC_RANKS_UNKNOWN = 0, /* some are on other nodes, or nothing tells */
    PC_RANKS_HERE,        /* all */
    PC_RANKS_MISSING      /* of this node not all */
};

struct pc_presence {
    enum pc_presence_verdict verdict;
    uint32_t n_here; /* announced on this node; 0: not looked for */
    bool one_node;   /* there is no other */
    bool speaks;     /* the least rank that was seen: says what concerns all */
    /* The least of the ranks with this host's name; rank 0 where the others cannot be seen. */
    bool first_of_host;
};

struct pc_process {
    struct pc_config config;
    struct pc_arena arena;
    struct pcollect_host host;
    struct pc_loaded_plugin plugins[PC_MAX_PLUGINS];
    uint32_t n_plugins, n_posts;
    struct pc_post posts[PC_MAX_PLUGINS + 1]; /* behind the last: NULL */
    struct pc_loaded_compute compute[PC_MAX_COMPUTE];
    uint32_t n_compute;
    uint32_t record_bytes; /* of an OP: of comm plugins, then of compute plugins */
    uint32_t comm_bytes;
    uint32_t n_tables;
    struct pc_loaded_table tables[PC_TABLE_SLOTS]; /* open addressing */
    struct pc_core core;
    struct pc_presence presence;   /* known when MPI_Init has returned */
    char out[PCOLLECT_PATH_BYTES]; /* final path of the profile, once merged */
    bool destructed;
};

extern PC_HIDDEN struct pc_process pc_process;

/* What is written before it is written for a handler of this thread, too: no instruction. AS-safe.
 */
static inline void barrier(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

static inline struct pcollect_arena_header *pc_header(void)
{
    return pc_process.arena.header;
}

/* ---- memory: anonymous, zero-filled, page-rounded; keeps errno. AS-safe, MT-safe. ---- */
void *pc_memory(size_t bytes);
/* The same with what it held so far, at another place perhaps; NULL: it stays where it is, as it
 * is. `memory` may be NULL. */
void *pc_memory_grow(void *memory, size_t old_bytes, size_t new_bytes);
void pc_memory_free(void *memory, size_t bytes);

/* ---- where.c ---- */
/* Notes the path of this library; for the constructor. */
void pc_where_start(void);

/* ---- launch.c ---- */
/* Writes into the header by what the other ranks of the node find this one. Before MPI_Init. */
void pc_launch_announce(void);
/* Whether this process only starts others: a shell, an MPI launcher. Collected programs without MPI
 * are not among them. Needs no configuration. */
bool pc_launch_is_starter(void);
/* Looks for the others; waits a little for those that its launcher promises. After MPI_Init. */
struct pc_presence pc_launch_presence(int n_ranks);

/* ---- threads (thread.c) ---- */
extern __thread struct pc_thread *pc_self __attribute__((tls_model("initial-exec")));

/* The context of another thread for which this one works (pc_scope_lend), also where it has no
 * state; 0: none. */
extern __thread pcollect_ref pc_lent_context __attribute__((tls_model("initial-exec")));

int pc_threads_start(void);
/* The calling thread's state, made or adopted; NULL: it is not measured. */
struct pc_thread *pc_thread_enter(void);
/* The same at the beginning of a thread in `function`; helper: the MPI library made it for itself.
 */
struct pc_thread *pc_thread_enter_as(bool helper, void *function);

/* ---- the table of threads (census.c) ---- */
enum pc_thread_kind {
    PC_THREAD_PROGRAM = 0,
    PC_THREAD_MAIN,
    PC_THREAD_MPI,
    PC_THREAD_RUNTIME,
    PC_THREAD_WITHOUT /* alive at the merge, and never registered */
};
int pc_census_start(void);
void pc_census_init_begin(void);
void pc_census_init_end(void);
/* `function`: in which the thread starts, or NULL. */
enum pc_thread_kind pc_census_kind(int32_t tid, bool helper, void *function);
void pc_census_enter(struct pc_thread *t, enum pc_thread_kind kind, const char *name);
/* Before the merge, in its thread. */
void pc_census_rest(void);
/* Brings phase and generation up to date; false: the process no longer collects. */
bool pc_thread_refresh(struct pc_thread *t);

/* ---- calls (call.c) ---- */
bool pc_call_begin(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
/* The same where plugins ask, so that the wrapper takes the time. */
bool pc_call_begin_asked(struct pc_call *call, unsigned slot, uintptr_t cfa, uintptr_t ret);
void pc_call_prepare(struct pc_call *call);
void pc_call_pre(struct pc_call *call);
void pc_call_end(struct pc_call *call);
void pc_call_complete(struct pc_call *by, const struct pc_origin *origin,
                      const struct pc_arrival *arrival);
void pc_call_ended(struct pc_call *by, const struct pc_start *start, enum pcollect_how how,
                   uint64_t wait);
/* The record that stands in this thread's current tree for a context of another tree; NULL: no
 * room.
 */
void *pc_call_twin_record(struct pc_thread *t, pcollect_ref theirs);
/* A context of another tree, root to leaf, in this thread's tree, found or made; 0: no room. */
pcollect_ref pc_call_copy_context(struct pc_thread *t, pcollect_ref theirs);
uint64_t pc_call_mpi_ticks(const struct pc_thread *t);
/* The same where `time` is the only plugin. */
void pc_call_end_time(struct pc_call *call);
/* The same where `time` comes first. */
void pc_call_end_time_first(struct pc_call *call);
void pc_call_complete_time(struct pc_call *by, const struct pc_origin *origin,
                           const struct pc_arrival *arrival);
void pc_lost(enum pcollect_lost what, uint64_t n);

/* ---- communicators (domain.c) ---- */
void pc_call_domain(struct pc_call *call, uint64_t domain);
void pc_call_tell_domain(struct pc_call *call, const struct pcollect_domain *domain);
void pc_call_part(struct pc_call *call, uint64_t domain, int32_t world_peer, uint64_t bytes_sent);

/* ---- publication in the arena (publish.c) ---- */
/* Reference of a module or 0 if there is no room. AS-safe. */
pcollect_ref pc_publish_module(struct pc_module *module);
static inline pcollect_ref pc_published_module(struct pc_module *module)
{
    pcollect_ref ref = atomic_load_explicit(&module->arena_ref, memory_order_acquire);
    return PC_LIKELY(ref) ? ref : pc_publish_module(module);
}
void pc_publish_op(uint16_t op);
int pc_publish_plugin(const struct pc_loaded_plugin *plugin);
int pc_publish_compute(const struct pc_loaded_compute *compute);

/* ---- tables (table.c) ---- */
/* NULL, or why this table cannot be used. */
const char *pc_table_refused(const struct pcollect_table *table);
/* Makes a table known; `plugin` is a plugin's name, or that of a part of the library. Before the
 * first row of it; a second time it does nothing. PC_ENOMEM: no room. init-only. */
int pc_table_add(const char *plugin, const struct pcollect_table *table);
/* As in struct pcollect_host. */
uint64_t *pc_table_row(void *thread, const struct pcollect_table *table, const uint64_t *keys);
uint64_t *pc_table_row_at(void *thread, uint32_t node, const struct pcollect_table *table,
                          const uint64_t *keys);
uint32_t pc_table_string(const char *text);

/* ---- what the system says of the process (usage.c) ---- */
int pc_usage_start(void);
/* Before the merge. */
void pc_usage_note(void);

/* ---- jobs that this one started, was started by, or met (jobs.c) ---- */
/* core->met_job. */
void pc_jobs_met(struct pc_call *call, int n_local, int n_remote, const char *port);
/* Another job of n_parents processes has spawned this one. Rank 0, when MPI_Init has returned. */
void pc_jobs_spawned(int n_ranks, int n_parents);

/* ---- the table of sockets (machine.c) ---- */
/* After the plugins. */
int pc_machine_start(void);
/* Before the merge. */
void pc_machine_note(void);

/* ---- plugins of both kinds (plugin.c); init-only ---- */
struct pc_plugin_shape {
    const struct pcollect_field *fields;
    const struct pcollect_table *tables;
    uint32_t n_fields, n_tables, record_bytes;
};

/* NULL, or why the descriptor that begins with these words (version, size, kind) is not one of this
 * kind, of at least so many bytes. */
const char *pc_plugin_stranger(const uint32_t *head, uint32_t kind, size_t bytes);
/* NULL, or why a plugin of this name and shape cannot be used. */
const char *pc_plugin_refused(const char *name, const struct pc_plugin_shape *shape);
/* Opens a plugin's file, for good; its descriptor may be NULL. `option` begins the message. */
int pc_plugin_open(const char *option, const char *path, const void **out, struct pc_error *error);
/* Calls `add` for each name of the list. A name that is refused ends it, unless it is a path and
 * the configuration is not strict: then that plugin is left out, and that is said. */
int pc_plugins_each(const char *names, int (*add)(const char *name, struct pc_error *error),
                    struct pc_error *error);

/* ---- communication plugins (host.c) ---- */
/* Finds and checks the plugins of the configuration; fixes the layout of records. */
int pc_plugins_find(struct pc_error *error);
/* Starts them; the arena is open. */
int pc_plugins_start(void);
void pc_plugins_fini(void);

/* ---- compute plugins (host_compute.c): likewise; find after the others, none without samples */
int pc_compute_find(struct pc_error *error);
int pc_compute_start(void);
void pc_compute_fini(void);

/* ---- ends (finish.c) ---- */
void pc_init_begin(void);
void pc_init_end(const struct pc_transport *transport, const char *mpi);
void pc_finalize_begin(void);
void pc_merge_now(const struct pc_transport *transport);
void pc_finalize_end(void);
/* Writes what happened since the merge into the profile. */
void pc_write_late(void);
/* From our destructor. */
void pc_process_exit(void);
/* Notes the second point of the clock line. */
void pc_note_time(void);

#endif
