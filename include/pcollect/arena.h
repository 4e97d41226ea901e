/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layout of an arena: the memory-mapped file in which one process collects.
 *
 * Readers (merge, recovery, live view, debugger) map it read-only while its owner may be writing
 * or may have been killed at any instruction. The rules that make this work:
 *  1. An object is filled first and linked last, with release order. What can be reached from the
 *     header is whole. Objects never move and are never freed.
 *  2. Fields of one record may differ by the call in progress.
 *  3. References are u32: bytes from the start of the arena divided by 16. 0 is none.
 *  4. Every reference is checked against `used_bytes` by readers of files.
 * All integers are in the byte order of the machine that wrote them; `byte_order` tells.
 */
#ifndef PCOLLECT_ARENA_H
#define PCOLLECT_ARENA_H

#include <stdint.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* the last members of records have no fixed length */
extern "C" {
#endif

#define PCOLLECT_ARENA_MAGIC "PCOLARN"
#define PCOLLECT_ARENA_VERSION 8u
#define PCOLLECT_BYTE_ORDER 0x01020304u
#define PCOLLECT_REF_UNIT 16u
#define PCOLLECT_MAX_OPS 1024u
#define PCOLLECT_HOST_BYTES 256u
#define PCOLLECT_PATH_BYTES 1024u
#define PCOLLECT_NAME_BYTES 32u
#define PCOLLECT_BUILD_ID_BYTES 32u
#define PCOLLECT_STRING_BUCKETS 256u
#define PCOLLECT_STRING_BYTES 1023u /* longer texts are cut */

typedef uint32_t pcollect_ref;

/* States that a process reaches, in the order of time. */
enum pcollect_arena_state {
    PCOLLECT_STATE_COLLECTING = 1,
    PCOLLECT_STATE_INITIALISED = 2, /* MPI_Init has returned; rank and n_ranks are valid */
    PCOLLECT_STATE_MERGED = 3,      /* in a .pcol file: not to be recovered */
    PCOLLECT_STATE_EXITED = 4       /* left by exit without MPI_Finalize */
};

/* Things that were left out, each counted. The names printed for them are in pcollect_lost_names.
 */
enum pcollect_lost {
    PCOLLECT_LOST_COLLAPSED = 0, /* calls booked to an ancestor because the arena was full */
    PCOLLECT_LOST_CALLS,         /* calls not booked at all: no room, or inside of 32 others */
    PCOLLECT_LOST_NESTED,        /* calls from a signal handler that interrupted the library */
    PCOLLECT_LOST_CUT,           /* contexts whose walk did not reach the start of the thread */
    PCOLLECT_LOST_DEEP,          /* contexts cut because they were deeper than max_depth */
    PCOLLECT_LOST_DISAGREED,     /* cached contexts that a check by full walk found wrong */
    PCOLLECT_LOST_UNCACHED,      /* contexts that had to be walked in full at every call */
    PCOLLECT_LOST_RECEIVES,      /* nonblocking receives whose size was never learnt */
    PCOLLECT_LOST_LATE,          /* calls after the merge for which the file had no room */
    PCOLLECT_LOST_ROWS,    /* entries of tables (pcollect_host.row) for which no room was left */
    PCOLLECT_LOST_REGIONS, /* regions that found no room, booked in what is around them */
    PCOLLECT_LOST_GROUPS,  /* groups of events that a thread could not open */
    PCOLLECT_LOST_COUNTS,  /* threads whose counters could not be read to the end */
    PCOLLECT_LOST_BINS,    /* counts of histograms for whose upper bits no room was left */
    PCOLLECT_LOST_SAMPLES, /* samples from outside, and other records, that the kernel left out */
    /* From here on of the whole of a recording from outside; its first rank has them. */
    PCOLLECT_LOST_CPU_MS,    /* CPU time that no sample stands for */
    PCOLLECT_LOST_OTHERS_MS, /* CPU time of processes that are not ranks */
    PCOLLECT_LOST_PLACES,    /* samples of threads that waited for a processor */
    PCOLLECT_LOST_FUNCTIONS, /* samples without functions */
    PCOLLECT_LOST_OF_EVENT,  /* samples of an event that the kernel left out */
    PCOLLECT_LOST_EVENTS,    /* events that no sample stands for */
    PCOLLECT_LOST_LENT, /* work of one rank in parallel regions, booked outside of their context */
    PCOLLECT_LOST_OPEN, /* regions that were open at the end of an outer one, or of the thread */
    PCOLLECT_LOST_ENDS, /* ends of regions that were not open */
    PCOLLECT_N_LOST
};

struct pcollect_arena_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes;
    uint32_t state;       /* enum pcollect_arena_state */
    uint64_t used_bytes;  /* readable bytes from the start of the arena */
    uint64_t total_bytes; /* to which it may grow */
    uint64_t run_key;     /* given by `pcollect run`, or 0 */
    uint64_t job_key; /* first by the launcher's word or 0, then by MPI_Init, at last by rank 0 */
    int32_t rank;     /* in MPI_COMM_WORLD; -1 until MPI_Init has returned */
    int32_t n_ranks;  /* likewise first by the launcher's word, or 0 */
    int32_t pid;
    uint32_t ops_bytes; /* of struct pcollect_op */
    /* Key of the launcher on this node that started the process, 0 without one; with it the rank
     * that the launcher gave. By these the ranks of a node know which of them are measured. */
    uint64_t launch_key;
    int32_t launch_rank;
    uint32_t flags;    /* enum pcollect_arena_flag */
    int32_t init_tid;  /* thread that called MPI_Init, 0: none */
    uint32_t contexts; /* of the job that are kept apart; 0: all */
    /* Two points on both clocks: ticks are converted by the line through them. */
    uint64_t ticks_0, mono_0_ns;
    uint64_t ticks_1, mono_1_ns;
    uint64_t realtime_0_ns; /* wall-clock time of point 0, since 1970 */
    /* Moments of the process, in ticks; 0: not reached. start is as near to exec as can be had. */
    uint64_t start_ticks, init_begin_ticks, init_end_ticks;
    uint64_t finalize_begin_ticks, finalize_end_ticks, exit_ticks;
    /* Last interrupt of any thread, or look for other ranks in MPI_Finalize: the process was alive
     * then. */
    uint64_t seen_ticks;
    uint64_t merge_ticks; /* length of this library's own work inside MPI_Finalize */
    /* Between MPI_Init and MPI_Finalize: off, or before what was collected was forgotten. */
    uint64_t unmeasured_ticks;
    pcollect_ref modules;  /* newest struct pcollect_module */
    pcollect_ref threads;  /* newest struct pcollect_thread */
    pcollect_ref plugins;  /* newest struct pcollect_plugin_rec */
    pcollect_ref tables;   /* newest struct pcollect_table_rec */
    uint32_t record_bytes; /* of an OP or DOMAIN: comm_bytes, then those of compute plugins */
    uint32_t comm_bytes;   /* the rest, record_bytes - comm_bytes, is the record of a POINT */
    uint32_t per_rank;     /* a context of more ranks keeps statistics only; 0: no bound */
    uint32_t values_kib;   /* what values by rank may take at rank 0; 0: no bound */
    uint64_t lost[PCOLLECT_N_LOST];
    uint64_t notes; /* bit set of enum pcollect_note */
    char host[PCOLLECT_HOST_BYTES];
    char exe[PCOLLECT_PATH_BYTES];      /* absolute path of the program, or of its script */
    char out[PCOLLECT_PATH_BYTES];      /* pattern of the output path, absolute */
    char job[64];                       /* id given by the batch system or launcher, or empty */
    char mpi[128];                      /* name and version of the MPI library */
    pcollect_ref ops[PCOLLECT_MAX_OPS]; /* struct pcollect_op by op id; filled at first use */
    pcollect_ref strings[PCOLLECT_STRING_BUCKETS]; /* newest struct pcollect_string of hash % n */
};

enum pcollect_arena_flag {
    PCOLLECT_ARENA_ALWAYS = 1u << 0, /* collects whether or not MPI is ever started */
    PCOLLECT_ARENA_LEFT = 1u << 1,   /* takes no part in the end of the job */
    PCOLLECT_ARENA_OFF = 1u << 2     /* MPI_Pcontrol has switched collection off */
};

/* Circumstances that the report must tell. */
enum pcollect_note {
    PCOLLECT_NOTE_ANONYMOUS = 1u << 0,  /* no spool: the arena would not have survived a kill */
    PCOLLECT_NOTE_SLOW_CLOCK = 1u << 1, /* no invariant counter: clock_gettime is used */
    PCOLLECT_NOTE_DAMAGED = 1u << 2,    /* set by the reader: parts of the arena were left out */
    PCOLLECT_NOTE_PAUSED = 1u << 3,     /* MPI_Pcontrol left parts of the run out */
    PCOLLECT_NOTE_NO_SIGNAL = 1u << 4,  /* the program used all signals of the sampler */
    PCOLLECT_NOTE_FILTERED = 1u << 5,   /* it installed a filter of system calls */
    PCOLLECT_NOTE_CHECKED = 1u << 6,    /* under valgrind or ThreadSanitizer: not sampled */
    PCOLLECT_NOTE_OUTSIDE = 1u << 7,    /* sampled from outside by pcollect record */
    PCOLLECT_NOTE_LEFT = 1u << 8,       /* collection ended with the program's filter */
    PCOLLECT_NOTE_NO_SOURCE = 1u << 9,  /* threads without perf_event and timer: not sampled */
    PCOLLECT_NOTE_CLOSED = 1u << 10,    /* the program closed an event of the sampler */
    PCOLLECT_NOTE_STATUS = 1u << 11,    /* exit without MPI_Finalize: the notes have its status */
    PCOLLECT_NOTE_SIGNAL = 1u << 12     /* set by the reader: they have the signal that ended it */
};

/* The first of the eight bits of the notes that have the status of exit, or a signal. */
enum { PCOLLECT_NOTE_STATUS_BIT = 32 };

struct pcollect_op {
    uint16_t op;
    uint16_t op_class;
    char name[60];
};

/* A loaded object. Code addresses are kept as offsets from `bias` (address minus load bias), so
 * that they agree between processes. */
struct pcollect_module {
    pcollect_ref next;
    uint32_t flags; /* enum pcollect_module_flag */
    uint64_t bias, lo, hi;
    uint64_t identity; /* hash of size and program headers: for modules without build-id */
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
    uint32_t build_id_bytes;
    uint32_t path_bytes;
    char path[]; /* not terminated; path_bytes long */
};

enum pcollect_module_flag {
    PCOLLECT_MODULE_EXE = 1u << 0,
    PCOLLECT_MODULE_LIBC = 1u << 1, /* libc or the dynamic loader */
    PCOLLECT_MODULE_MPI = 1u << 2,
    PCOLLECT_MODULE_OWN = 1u << 3,
    PCOLLECT_MODULE_RUNTIME = 1u << 4, /* what MPI libraries and OpenMP stand on */
    PCOLLECT_MODULE_STARTS = 1u << 5, /* a runtime: samples from outside saw threads start in one */
    PCOLLECT_MODULE_TEAM = 1u << 6    /* a runtime of OpenMP: threads wait for each other in it */
};

/* Path of the module whose frames are Python's; the offset is of a row of the table `symbols`. */
#define PCOLLECT_MODULE_PYTHON "python"

/* Path of the module whose frames are code that a process has made while it ran. */
#define PCOLLECT_MODULE_JIT "jit"

/* The region below which threads that the MPI library made are shown: the program did not name
 * it. */
#define PCOLLECT_HELPERS_REGION "MPI helper threads"

enum pcollect_node_kind {
    PCOLLECT_NODE_ROOT = 1, /* of one thread's tree */
    PCOLLECT_NODE_FRAME,    /* module + offset of a return address */
    PCOLLECT_NODE_OP,       /* a primitive, called from its parent frame; has a record */
    PCOLLECT_NODE_CUT,      /* the frames outside of this point could not be found */
    PCOLLECT_NODE_POINT,    /* where a thread was interrupted: module + offset of the instruction;
                               has the compute part of a record alone */
    PCOLLECT_NODE_DOMAIN,   /* child of an OP: its calls on one communicator (offset: its id); has a
                               record like an OP, which then has none or one that is not used */
    PCOLLECT_NODE_PHASE,    /* child of the root; offset: the level given to MPI_Pcontrol */
    PCOLLECT_NODE_REGION,   /* child of ROOT, PHASE or REGION; offset: pcollect_string.hash of its
                               name, which is in the strings */
    PCOLLECT_N_NODE_KINDS
};

/* Node kinds with a record. */
static inline int pcollect_node_has_record(unsigned kind)
{
    return kind == PCOLLECT_NODE_OP || kind == PCOLLECT_NODE_DOMAIN || kind == PCOLLECT_NODE_POINT;
}

enum pcollect_node_flag {
    PCOLLECT_FLAG_COLLAPSED = 1u << 0, /* holds calls of descendants that found no room */
    PCOLLECT_FLAG_INDEXED = 1u << 1    /* its children are in the index of its writer */
};

struct pcollect_node {
    uint64_t offset;     /* FRAME, POINT: address minus the module's bias; others: see their kind */
    pcollect_ref module; /* FRAME, POINT: struct pcollect_module */
    uint8_t kind;        /* enum pcollect_node_kind */
    uint8_t flags;
    uint16_t op; /* OP: id of the primitive */
    pcollect_ref parent, first_child, next;
    pcollect_ref record; /* header.record_bytes bytes, of a POINT less comm_bytes; or 0 */
};

/* A histogram in a record (PCOLLECT_HIST): a byte for each bin, the lowest bits of its count, as
 * many as are whole words of 8; then a pcollect_ref for each eight bins: 0, or that of eight
 * uint64_t, wide counts. A byte runs ahead of its wide count, by less than 256. */
#define PCOLLECT_HIST_GROUP 8u /* bins with one reference */

static inline uint32_t pcollect_hist_groups(uint32_t n_bins)
{
    return (n_bins + PCOLLECT_HIST_GROUP - 1) / PCOLLECT_HIST_GROUP;
}

/* The count of a bin from its byte and its wide count, 0 if there is none. */
static inline uint64_t pcollect_hist_value(uint8_t low, uint64_t wide)
{
    return wide + (uint8_t)(low - wide);
}

/* The table with one row for each thread, in its list `rows`. A reader of the arena fills the
 * columns `threads`, `calls` and `time` from the record of the thread. */
#define PCOLLECT_TABLE_THREAD_RECORDS "thread_records"

/* The table of the calls of MPI in which threads are. A reader of the arena makes its rows. */
#define PCOLLECT_TABLE_OPEN_CALLS "open_calls"

struct pcollect_thread {
    pcollect_ref next;
    pcollect_ref root;
    int32_t tid;        /* of the thread that owns or last owned the tree */
    uint32_t n_adopted; /* threads that have used this tree, one after the other */
    uint32_t late;      /* 1: collected after the merge */
    pcollect_ref rows;  /* newest struct pcollect_row, of all tables */
    uint64_t mpi_ticks; /* in calls that are not inside another call */
    uint64_t mpi_calls;
    uint64_t end_ticks; /* end of the last of them */
    /* The call in progress, which is in no other figure. There is one if it began after the last
     * end. */
    uint64_t open_ticks;    /* its begin */
    pcollect_ref open_node; /* its context, written before its begin */
    uint32_t reserved;
};

/* The begin of the call that a thread is in, or 0. */
static inline uint64_t pcollect_open_ticks(const struct pcollect_thread *t)
{
    return t->open_node && t->open_ticks > t->end_ticks ? t->open_ticks : 0;
}

enum pcollect_group {
    PCOLLECT_GROUP_COMM = 0,   /* fields of comm plugins: first in a record */
    PCOLLECT_GROUP_COMPUTE = 1 /* fields of compute plugins */
};

struct pcollect_plugin_rec {
    pcollect_ref next;
    uint32_t record_offset; /* of this plugin's part in the record of an OP */
    uint32_t record_bytes;
    uint32_t n_fields;
    uint32_t group; /* enum pcollect_group */
    uint32_t reserved[3];
    char name[PCOLLECT_NAME_BYTES];
    struct pcollect_field_rec {
        char name[PCOLLECT_NAME_BYTES];
        uint16_t combine, unit, bins, offset; /* as in struct pcollect_field */
    } fields[];
};

/* A table of a plugin (struct pcollect_table). */
struct pcollect_table_rec {
    pcollect_ref next;
    uint16_t n_keys, n_values;
    char name[PCOLLECT_NAME_BYTES];
    char plugin[PCOLLECT_NAME_BYTES];
    uint32_t flags; /* as in struct pcollect_table */
    uint32_t reserved;
    struct pcollect_column_rec {
        char name[PCOLLECT_NAME_BYTES];
        uint16_t type, combine, unit, reserved; /* as in struct pcollect_column */
    } columns[];
};

/* A row of one thread's part of a table: filled and linked with its keys, values 0; only the values
 * change then. */
struct pcollect_row {
    pcollect_ref next;  /* older row of the thread, of any table */
    pcollect_ref table; /* struct pcollect_table_rec */
    uint64_t cells[];   /* n_keys keys, n_values values */
};

struct pcollect_string {
    pcollect_ref next;
    uint32_t n_bytes;
    uint64_t hash; /* pc_hash_bytes(text, n_bytes, 0) */
    char text[];   /* not terminated; n_bytes long */
};

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
