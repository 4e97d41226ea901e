/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin interface: all that a plugin sees of the library.
 *
 * A plugin owns one fixed-size record in every context that it is called for (a context is one
 * MPI primitive called along one call path). The host allocates the record, zero-filled, when the
 * context is first met, and keeps it for the life of the process; the plugin describes its fields,
 * and by that description, not by the plugin's code, records are merged, stored and printed.
 *
 * A plugin is one descriptor, static or exported from a shared object as `pcollect_plugin`.
 * `abi` and `size` come first and are checked before anything else is read.
 *
 * Rules for the hooks pre, post and complete: no malloc, no lock, no system call, no MPI call,
 * no thread-local variables; touch the given record and the plugin's own state only. Two threads
 * never get the same record.
 */
#ifndef PCOLLECT_PLUGIN_H
#define PCOLLECT_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCOLLECT_PLUGIN_ABI 3u

/* The symbol that a plugin in a shared object exports. */
#define PCOLLECT_PLUGIN_SYMBOL "pcollect_plugin"

enum pcollect_plugin_kind {
    PCOLLECT_PLUGIN_COMM = 1,    /* called around communication: struct pcollect_comm_plugin */
    PCOLLECT_PLUGIN_COMPUTE = 2, /* called at an interrupt: struct pcollect_compute_plugin */
};

/* Ways in which two values of a field become one, for threads of a rank and for ranks. */
enum pcollect_combine {
    PCOLLECT_SUM = 1, /* u64 added; statistics over ranks and each rank's value are kept */
    PCOLLECT_MIN = 2, /* least u64; 0 in a context without calls means "none yet" */
    PCOLLECT_MAX = 3, /* greatest u64 */
    PCOLLECT_HIST = 4 /* `bins` counts, made by pcollect_count in PCOLLECT_HIST_WORDS(bins) u64,
                         added bin by bin; bin k counts values v, 2^k <= v < 2^(k+1) */
};

/* Units change how a value is converted and printed. Ticks become nanoseconds at the merge. */
enum pcollect_unit {
    PCOLLECT_UNIT_COUNT = 1,
    PCOLLECT_UNIT_TICKS = 2, /* of the host's clock; stored as nanoseconds; not for histograms */
    PCOLLECT_UNIT_BYTES = 3,
    PCOLLECT_UNIT_NS = 4
};

/* Words of a histogram in a record. First a byte for each bin, the lowest eight bits of its count,
 * as many bytes as are whole words; then for each eight bins a u32, by which the host finds the
 * upper bits. Only pcollect_count writes there. So a context that is called seldom has a small
 * record. */
#define PCOLLECT_HIST_WORDS(bins) (((bins) + 7u) / 8u + ((bins) + 15u) / 16u)

/* Names of plugins, fields, tables and columns have 1 to 31 printable ASCII characters; by
 * convention they are short and in lower case. A plugin with another name is refused. */

struct pcollect_field {
    const char *name; /* unique in the plugin */
    const char *doc;  /* one line */
    uint16_t combine; /* enum pcollect_combine */
    uint16_t unit;    /* enum pcollect_unit */
    uint16_t bins;    /* of PCOLLECT_HIST 1 to 64, else 0 */
    uint16_t offset;  /* bytes into the record, a multiple of 8; no two fields overlap */
};

/* ---- Tables: what does not belong to one context ----------------------------------------------
 *
 * A table is rows of key columns and value columns; there is one row for each combination of keys
 * that was met. Threads and ranks are merged row by row: rows with equal keys become one. */

enum pcollect_column_type {
    PCOLLECT_COLUMN_NUMBER = 1,
    PCOLLECT_COLUMN_RANK,   /* in MPI_COMM_WORLD, widened with its sign; a negative value is none */
    PCOLLECT_COLUMN_NODE,   /* a context: pcollect_event.node, or 0 for none; remapped in a merge */
    PCOLLECT_COLUMN_STRING, /* what pcollect_host.string returned; 0: none */
    PCOLLECT_COLUMN_DOMAIN  /* id of a communicator; 0: none */
};

/* In a RANK column, beside ranks and what else stands for one in an event: the rank of this
 * process, also where it is not known yet. Replaced when the arena is read. */
enum { PCOLLECT_RANK_SELF = -3 };

struct pcollect_column {
    const char *name; /* unique in the table */
    const char *doc;  /* one line */
    uint16_t type;    /* enum pcollect_column_type */
    /* Values: enum pcollect_combine, but no histogram; 0 is "none yet" for PCOLLECT_MIN. Of two
     * values of type STRING or NODE the least that is not 0 is kept, whatever stands here: least
     * text, first context in the order of the profile. Keys: 0. */
    uint16_t combine;
    uint16_t unit; /* enum pcollect_unit; values in ticks become ns; keys are never converted. With
                      a rank as key and more than 65,536 rows, a profile has sums of ticks or ns
                      rounded, each to within 0.8 % */
    uint16_t reserved;
};

enum { PCOLLECT_MAX_KEYS = 8, PCOLLECT_MAX_VALUES = 24 };

/* Flags of a table. */
enum {
    /* Kept apart by phase (MPI_Pcontrol): the host adds a last key, `phase`, the number of the
     * phase or 0, and fills it in. Such a table has at most PCOLLECT_MAX_KEYS - 1 keys of its own.
     */
    PCOLLECT_TABLE_BY_PHASE = 1,
    /* Says what is, not what was done: MPI_Pcontrol(2), which begins the run anew, leaves its
     * rows. */
    PCOLLECT_TABLE_KEPT = 2
};

struct pcollect_table {
    /* `pcollect report --table NAME`. Unique over all plugins and the library's own tables, which
     * `pcollect report --table help` shows: else the plugin is refused. */
    const char *name;
    const char *doc;
    const struct pcollect_column *columns; /* n_keys keys, then n_values values */
    uint16_t n_keys, n_values;             /* each at least 1 */
    uint32_t flags;                        /* PCOLLECT_TABLE_..., or-ed */
};

/* Class of an MPI primitive. */
enum pcollect_class {
    PCOLLECT_CLASS_OTHER = 0,
    PCOLLECT_CLASS_ENV,        /* Init, Finalize, Abort, Pcontrol, ... */
    PCOLLECT_CLASS_P2P,        /* point-to-point, blocking and nonblocking */
    PCOLLECT_CLASS_COLL,       /* collectives, blocking and nonblocking */
    PCOLLECT_CLASS_COMPLETION, /* Wait, Test, Probe */
    PCOLLECT_CLASS_COMM,       /* making and freeing communicators */
    PCOLLECT_CLASS_TYPE,       /* datatypes, packing */
    PCOLLECT_CLASS_GROUP,
    PCOLLECT_CLASS_IO,      /* files */
    PCOLLECT_CLASS_RMA,     /* windows and one-sided communication */
    PCOLLECT_CLASS_TOPO,    /* Cartesian and graph topologies */
    PCOLLECT_CLASS_ATTR,    /* attributes and their keys */
    PCOLLECT_CLASS_INFO,    /* MPI_Info_... */
    PCOLLECT_CLASS_ERROR,   /* error handlers, classes and codes */
    PCOLLECT_CLASS_PROCESS, /* spawn, connect, accept, ports, names */
    PCOLLECT_CLASS_SESSION, /* sessions and what is made from their groups */
    PCOLLECT_CLASS_TOOL,    /* MPI_T_... */
    PCOLLECT_N_CLASSES
};

/* Properties of a primitive beside its class, or-ed (pcollect_host.op_traits). */
enum pcollect_trait {
    /* Sends, starts or completes something, and waits for no other process. */
    PCOLLECT_TRAIT_PROMPT = 1 << 0,
    PCOLLECT_TRAIT_BLOCKS = 1 << 1,   /* may wait for other processes */
    PCOLLECT_TRAIT_TOGETHER = 1 << 2, /* collective */
    PCOLLECT_TRAIT_TESTS = 1 << 3,    /* asks whether something has completed or arrived */
    PCOLLECT_TRAIT_OUTSIDE = 1 << 4,  /* connects with processes of another MPI_COMM_WORLD */
    /* Makes or frees a communicator or a window; opens or closes a file; makes, commits or frees a
     * datatype. */
    PCOLLECT_TRAIT_MAKES = 1 << 5,
    PCOLLECT_TRAIT_EPOCH = 1 << 6, /* begins or ends accesses to a window, or completes some */
    /* Asks about a window, names it, sets its hints or its memory. */
    PCOLLECT_TRAIT_ASKS = 1 << 7,
    PCOLLECT_TRAIT_SYNCHRONOUS = 1 << 8, /* a send that waits until its receive has started */
    PCOLLECT_TRAIT_SAME = 1 << 9, /* collective: all have the same data, which the root sends */
    /* Primitives that block, by whom they wait for: */
    PCOLLECT_TRAIT_ENTER = 1 << 10,     /* no process leaves before all have entered */
    PCOLLECT_TRAIT_FROM_ROOT = 1 << 11, /* all wait for the root */
    PCOLLECT_TRAIT_TO_ROOT = 1 << 12,   /* the root waits for all */
    PCOLLECT_TRAIT_COUNTS = 1 << 13,    /* a process waits for those whose counts are not 0 */
    PCOLLECT_TRAIT_PARTS = 1 << 14,     /* the root has a part for each process, or of each */
    PCOLLECT_TRAIT_EACH = 1 << 15,      /* a message to each of the others, or to each neighbour */
    /* Time beyond that of its messages is waiting for processes that come late. */
    PCOLLECT_TRAIT_LATE = 1 << 16,
    /* Primitives of which the arguments tell it: */
    PCOLLECT_TRAIT_SOURCE = 1 << 17,     /* of a message from a given rank, or from any */
    PCOLLECT_TRAIT_DEST = 1 << 18,       /* of a message to a given rank */
    PCOLLECT_TRAIT_STARTS = 1 << 19,     /* starts an operation that a request stands for */
    PCOLLECT_TRAIT_PERSISTENT = 1 << 20, /* makes a persistent or partitioned request */
    PCOLLECT_TRAIT_MOVES = 1 << 21,      /* moves data between processes or files, or prepares to */
    PCOLLECT_TRAIT_WAITS = 1 << 22,      /* blocks until requests have completed */
    /* Lets a process see what others have written to its memory. */
    PCOLLECT_TRAIT_SEES = 1 << 23
};

/* Facts that a plugin needs to be told about a call beyond what costs nothing to know. The host
 * prepares what some plugin wants; members that no plugin wants have no value. */
enum pcollect_want {
    PCOLLECT_WANT_DOMAIN = 1,    /* domain; the record belongs to (context, domain), not to the
                                    context alone */
    PCOLLECT_WANT_COMM = 2,      /* domain; the record is the context's */
    PCOLLECT_WANT_PEERS = 4,     /* world_peer, world_source, world_root */
    PCOLLECT_WANT_TYPES = 8,     /* type, operator_, n_elements */
    PCOLLECT_WANT_REQUEST = 16,  /* request; `ended` is called for all operations with requests */
    PCOLLECT_WANT_OBJECT = 32,   /* object, window_name */
    PCOLLECT_WANT_THREAD = 64,   /* thread */
    PCOLLECT_WANT_MACHINE = 128, /* no member: the tables `machine`, sockets of the nodes, and
                                    `place`, where ranks were bound */
    /* No member: `pre` and `post` may be left out for quiet calls. Such a call moves no data,
       starts no operation, and makes, names and frees no communicator: MPI_Comm_rank, MPI_Iprobe,
       MPI_Wait (what that completes comes to `complete` and `ended`). */
    PCOLLECT_WANT_NOT_QUIET = 256
};

/* World ranks of an event that are none. */
enum {
    PCOLLECT_RANK_NONE = -1,   /* no such part, or MPI_PROC_NULL, or not known */
    PCOLLECT_RANK_OUTSIDE = -2 /* a process that is not of this MPI_COMM_WORLD */
};

/* One communication call, in terms that no MPI library owns. */
struct pcollect_event {
    uint32_t size;     /* of this structure as the host knows it */
    uint16_t op;       /* id of the primitive, see pcollect_host.op_name */
    uint16_t op_class; /* enum pcollect_class */
    uint64_t begin;    /* ticks, set before `pre` */
    uint64_t end;      /* ticks, set before `post` */
    /* Data that this rank's send and receive arguments describe; set before `post`, 0 in `pre`. */
    uint64_t bytes_sent;
    uint64_t bytes_received;
    int32_t peer;   /* rank in the communicator, or a negative value for none; of a call that sends
                       and receives the destination */
    int32_t root;   /* rank in the communicator, or a negative value for none */
    int32_t tag;    /* or a negative value for none */
    int32_t result; /* what the MPI function returned, set before `post` */
    /* From here on: see enum pcollect_want. What is known from the arguments alone is set before
     * `pre`, the rest before `post`. */
    uint64_t domain;      /* communicator, the same on all ranks; 0: none */
    int32_t world_peer;   /* destination of what is sent, world rank or PCOLLECT_RANK_... */
    int32_t world_source; /* source of what is received; a wildcard as it was matched */
    int32_t world_root;   /* of a collective that has one */
    uint32_t type;        /* name of the datatype that is sent, else received, as interned by
                             the host; 0: none */
    uint32_t operator_;   /* name of the reduction operator */
    uint32_t node;        /* the context of the call, for columns of type NODE; 0: not known */
    uint64_t n_elements;  /* of that datatype */
    uint64_t request;     /* made by the call; 0: none */
    uint64_t object;      /* file or window; 0: none */
    void *thread;         /* of the caller, for the host's functions that take one */
    uint32_t window_name; /* where object is a window: as interned by the host; 0: none */
    uint32_t reserved;
};

/* Ways in which an operation with a request ends. */
enum pcollect_how {
    PCOLLECT_ENDED_DONE = 0,
    PCOLLECT_ENDED_AT_ONCE,   /* when it was started: MPI gave a request that says nothing more */
    PCOLLECT_ENDED_CANCELLED, /* by MPI_Cancel */
    PCOLLECT_ENDED_FAILED,    /* with an error */
    PCOLLECT_ENDED_FREED,     /* unseen: its request was freed while it was under way */
    PCOLLECT_ENDED_NEVER      /* not before MPI_Finalize */
};

/* The end of a nonblocking, persistent or partitioned operation. */
struct pcollect_end {
    uint32_t size;
    uint32_t how;        /* enum pcollect_how */
    uint32_t start_node; /* context that started it */
    uint32_t end_node;   /* context of the call that completed it; 0: none (NEVER) */
    uint64_t bytes_sent, bytes_received;
    uint64_t flight;  /* ticks from the start's beginning to the completing call's end */
    uint64_t wait;    /* ticks of the completing call, shared equally by all that it completed */
    uint64_t overlap; /* ticks in which the thread that started it was outside of MPI */
    void *thread;     /* of the completing call, for pcollect_host.row */
};

enum pcollect_domain_change {
    PCOLLECT_DOMAIN_MADE = 1,
    PCOLLECT_DOMAIN_NAMED = 2, /* name is set */
    PCOLLECT_DOMAIN_FREED = 3
};

/* Something has happened to a communicator. */
struct pcollect_domain {
    uint32_t size;
    uint16_t change; /* enum pcollect_domain_change */
    uint16_t op;     /* by this primitive */
    uint64_t id;
    uint64_t parent;   /* MADE: from this one; 0: none */
    uint64_t now;      /* ticks */
    uint64_t made;     /* ticks: when it was made in this process */
    const char *name;  /* NAMED; MADE: of a predefined one, else NULL */
    int32_t n_local;   /* MADE: members */
    int32_t n_remote;  /* MADE: members of the other side of an intercommunicator, else 0; where
                          both sides are of this world n_remote is the smaller */
    int32_t rank;      /* MADE: of this process in it */
    uint32_t as_world; /* MADE: 1: it has the members of MPI_COMM_WORLD in the same order */
    uint32_t node;     /* context of the call, for columns of type NODE */
    uint32_t reserved;
    void *thread; /* for pcollect_host.row */
};

/* A stretch of a phase (MPI_Pcontrol) or region (pcollect.h) of the program: until its end, or as
 * far as it has come, at most ten times a second. The time of a phase is that of the thread that
 * began it. */
struct pcollect_region {
    uint32_t size;
    uint32_t node;       /* for columns of type NODE */
    uint64_t id;         /* of it and those around it: the same in all threads of the process */
    uint64_t begin, end; /* ticks */
    void *thread;        /* for pcollect_host.row */
};

/* Services of the host, valid for the life of the process. */
struct pcollect_host {
    uint32_t abi;
    uint32_t size;
    uint64_t ns_per_tick_q32; /* nanoseconds a tick, times 2^32 */
    /* Name of a primitive ("MPI_Send"), or NULL. AS-safe, MT-safe. */
    const char *(*op_name)(uint16_t op);
    /* One line on standard error, at most 500 bytes. AS-safe, MT-safe. */
    void (*log)(const char *text);
    /* The values of the row with these keys (table->n_keys of them) in the given thread's part of
     * the table: found, or made with all values 0. They are this thread's alone until the hook
     * returns. Before them lie the keys, and between the two the phase if the table is BY_PHASE.
     * `thread` is that of the event or sample; NULL stands for the calling thread, outside of hooks
     * only. NULL: no room, or the table is not of a loaded plugin; counted as PCOLLECT_LOST_ROWS.
     * AS-safe in hooks; MT-safe. */
    uint64_t *(*row)(void *thread, const struct pcollect_table *table, const uint64_t *keys);
    /* A number that stands for the text in this process, the same for equal texts; 0: no room. At
     * most 1,023 bytes of it are kept. Takes time: not for every event. AS-safe, MT-safe. */
    uint32_t (*string)(const char *text);
    /* Ticks as nanoseconds of the wall clock since 1970. AS-safe, MT-safe. */
    uint64_t (*realtime_ns)(uint64_t ticks);
    /* As `row`, in the phase of a context (pcollect_event.node) and not in that in which the thread
     * is now: for rows that a record remembers. 0: as `row`. */
    uint64_t *(*row_at)(void *thread, uint32_t node, const struct pcollect_table *table,
                        const uint64_t *keys);
    /* Keeps the upper bits of the counts of a histogram: after at most 128 of a bin, see
     * pcollect_count. AS-safe in hooks; MT-safe. */
    void (*carry)(void *histogram, uint32_t n_bins);
    /* Properties of a primitive: enum pcollect_trait, or-ed. AS-safe, MT-safe. */
    uint32_t (*op_traits)(uint16_t op);
};

/* Counts one value in bin `bin` of a histogram of n_bins in a record. In hooks that are given the
 * record. */
static inline void pcollect_count(const struct pcollect_host *host, void *histogram,
                                  uint32_t n_bins, uint32_t bin)
{
    uint8_t *low = (uint8_t *)histogram + bin;
    if (!(++*low & 127))
        host->carry(histogram, n_bins);
}

struct pcollect_sample;

struct pcollect_comm_plugin {
    uint32_t abi;  /* PCOLLECT_PLUGIN_ABI */
    uint32_t size; /* sizeof(struct pcollect_comm_plugin) */
    uint32_t kind; /* PCOLLECT_PLUGIN_COMM */
    uint32_t record_bytes;
    const char *name;
    const char *doc;
    const struct pcollect_field *fields;
    const struct pcollect_table *tables;
    uint32_t n_fields, n_tables;
    /* Called once before the first event; *state is handed to the other hooks. Not 0: the plugin
     * is left out. Required. */
    int (*init)(const struct pcollect_host *host, void **state);
    /* Before the real function runs; may be NULL. */
    void (*pre)(void *state, const struct pcollect_event *event, void *record);
    /* After the real function has returned. Required, unless there is `ended` or `domain`. */
    void (*post)(void *state, const struct pcollect_event *event, void *record);
    /* A nonblocking receive has completed: event->bytes_received, world_source, domain and type
     * belong to `record`, the context that posted it; a persistent receive has no type. begin is
     * 0, end that of the completing call. May be NULL. */
    void (*complete)(void *state, const struct pcollect_event *event, void *record);
    /* Called once at the end, records are final; may be NULL. */
    void (*fini)(void *state);
    uint64_t wants; /* enum pcollect_want, or-ed */
    /* An operation with a request has ended; `record` is that of the context that started it.
     * With PCOLLECT_WANT_REQUEST; may be NULL. */
    void (*ended)(void *state, const struct pcollect_end *end, void *record);
    /* A communicator was made, named or freed; before `post` of the call. Only where some plugin
     * wants communicators or peers. May be NULL. */
    void (*domain)(void *state, const struct pcollect_domain *domain);
    /* One of the messages that a call has started (MPI_Startall): bytes_sent, world_peer and domain
     * are those of the message; `post` follows with the sum of all and without a peer. May be NULL.
     */
    void (*part)(void *state, const struct pcollect_event *event, void *record);
    /* A stretch of a phase or region has ended; also in the handler of the sampler. May be NULL. */
    void (*region)(void *state, const struct pcollect_region *region);
    /* The thread was interrupted, in an MPI call or outside: for tables. Runs in the signal
     * handler, where the rules of the other hooks hold. May be NULL. */
    void (*sample)(void *state, const struct pcollect_sample *sample);
};

/* A timer or counter interrupt in one thread. */
struct pcollect_sample {
    uint32_t size;
    uint32_t empty;     /* of a window: not 0: the thread only looks at its clock (empty_windows) */
    uint64_t now;       /* ticks */
    uint64_t interval;  /* ticks since the thread's previous sample */
    uint64_t period_ns; /* CPU time of the thread that the sample stands for */
    void *thread;       /* for pcollect_host.row */
    uint32_t node;      /* the context, for columns of type NODE; 0: inside of an MPI call */
    uint32_t weight;    /* of a window: how many it stands for, 1, or 2^k where the frequency was
                           halved k times to keep max_overhead */
    uint64_t draw; /* random, from a generator that does not depend on the program; the draws of
                      neighbouring ranks differ by 1, so that they draw different ones of a few;
                      with round-robin, the number of the turn */
    void *own;     /* of this plugin and thread: thread_bytes, zero-filled when the thread begins */
};

struct pcollect_compute_plugin {
    uint32_t abi;
    uint32_t size;
    uint32_t kind; /* PCOLLECT_PLUGIN_COMPUTE */
    uint32_t record_bytes;
    const char *name;
    const char *doc;
    const struct pcollect_field *fields;
    const struct pcollect_table *tables;
    uint32_t n_fields, n_tables;
    int (*init)(const struct pcollect_host *host, void **state);
    void (*trigger)(void *state, const struct pcollect_sample *sample, void *record);
    void (*fini)(void *state);
    uint32_t thread_bytes;
    uint32_t empty_windows; /* not 0: the plugin asks for those, see below */
    /* Windows: two looks at the thread a little apart, which tell whether it has stayed where it
     * was. All three or none; of one plugin only, the first that has them.
     * open: in an interrupt. A window is to begin, and to end when the program has computed for as
     * many ns as are returned; 0: no window.
     * read: as late as can be in that interrupt, with ended = 0, and again as the first thing of
     * that in which the window ends, with ended = 1. `own` as in the sample. If nothing can be
     * armed, or the window was over before it could begin because the signal came late, there is
     * neither: nothing happened in it. close: `sample` and `record` are of the context in which the
     * window began, period_ns is the time that the program has computed in it; stayed: not 0 if it
     * ended in the same context.
     *
     * Empty windows tell what the windows themselves add to what is counted: before the first
     * sample of a thread, while it does nothing but look at its clock, the hooks are called with
     * `empty` set, `draw` counted up from 0 and without a record, until open returns 0. */
    uint64_t (*open)(void *state, const struct pcollect_sample *sample);
    void (*read)(void *state, void *own, int ended);
    void (*close)(void *state, const struct pcollect_sample *sample, void *record, int stayed);
};

#ifdef __cplusplus
}
#endif

#endif
