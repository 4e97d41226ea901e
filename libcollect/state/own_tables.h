/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the library itself, except those that its own readers alone use: what their columns
 * are and mean. Data alone, which calls nothing: the command has it too, for the meaning of
 * columns, of which a profile has the names alone. The values are filled in where they are known.
 */
#ifndef PC_OWN_TABLES_H
#define PC_OWN_TABLES_H

#include "include/pcollect/plugin.h"

#include <stddef.h>

extern const struct pcollect_table pc_table_resources, pc_table_thread_records, pc_table_jobs,
    pc_table_machine, pc_table_place, pc_table_threads, pc_table_command_lines, pc_table_settings,
    pc_table_regions, pc_table_events, pc_table_open_calls, pc_table_ends, pc_table_sampling,
    pc_table_placement, pc_table_counters, pc_table_edges, pc_table_edge_samples;

/* All of them. */
extern const struct pcollect_table *const pc_own_tables[];
extern const size_t pc_n_own_tables;

/* Values of a row of `resources`. */
enum {
    PC_RESOURCE_MEMORY,
    PC_RESOURCE_USER,
    PC_RESOURCE_SYSTEM,
    PC_RESOURCE_MINOR,
    PC_RESOURCE_MAJOR,
    PC_RESOURCE_WAITS,
    PC_RESOURCE_PREEMPTED,
    PC_RESOURCE_CPU,
    PC_RESOURCE_CPUS,
    PC_RESOURCE_BOUND,
    PC_RESOURCE_DELAYED,
    PC_RESOURCE_MIGRATIONS,
    PC_RESOURCE_ON_CPU,
    PC_RESOURCE_BLOCKED,
    PC_RESOURCE_PAUSED,
    PC_RESOURCE_BEFORE,
    PC_RESOURCE_CHILDREN,
    PC_RESOURCE_N
};

/* Values of a row of `thread_records`. */
enum {
    PC_TIMES_KIND,
    PC_TIMES_NAME,
    PC_TIMES_THREADS,
    PC_TIMES_CALLS,
    PC_TIMES_TIME,
    PC_TIMES_CPU,
    PC_TIMES_KNOWN,
    PC_TIMES_IN_RUNTIME,
    PC_TIMES_IN_BINDINGS,
    PC_TIMES_DELAYED,
    PC_TIMES_N
};

/* Values of a row of `place`. */
enum { PC_PLACE_SOCKET, PC_PLACE_CORES, PC_PLACE_N };

/* Values of a row of `ends`. */
enum { PC_END_HOW, PC_END_PLACE, PC_END_N };

/* Values of a row of `jobs`. */
enum {
    PC_JOB_HOW,
    PC_JOB_CONTEXT,
    PC_JOB_BEGAN,
    PC_JOB_ENDED,
    PC_JOB_N_LOCAL,
    PC_JOB_N_REMOTE,
    PC_JOB_HERE,
    PC_JOB_THERE,
    PC_JOB_THEIR_RANK,
    PC_JOB_PORT,
    PC_JOB_DOMAIN,
    PC_JOB_N
};

/* Values of a row of `machine`. */
enum {
    PC_MACHINE_CORES,
    PC_MACHINE_PROCESSORS,
    PC_MACHINE_MEMORIES,
    PC_MACHINE_MEMORY,
    PC_MACHINE_LIST,
    PC_MACHINE_N
};

/* Values of a row of `regions`. */
enum { PC_REGION_ENTERED, PC_REGION_TIME, PC_REGION_IN_MPI };

/* Counts of one thread, in its row of the table `sampling`, in this order. */
enum pc_sample_count {
    PC_SAMPLE_INTERRUPTS, /* handler calls for the sampler's own interrupts */
    PC_SAMPLE_BOOKED,     /* booked by a walk */
    PC_SAMPLE_IN_MPI,     /* booked to the MPI call in progress */
    PC_SAMPLE_OWN,        /* in code of this library: its own cost, not booked */
    PC_SAMPLE_OFF,        /* not booked: collection was off (MPI_Pcontrol) */
    PC_SAMPLE_CUT,        /* booked, but the outer frames are unknown */
    PC_SAMPLE_DEEP,       /* booked, but cut at max_depth */
    PC_SAMPLE_NO_CODE,    /* cut: the instruction itself is in no module */
    PC_SAMPLE_COLLAPSED,  /* booked to an ancestor: the arena was full */
    PC_SAMPLE_DROPPED,    /* not booked: no memory */
    PC_SAMPLE_LATE,       /* not booked: after the merge */
    PC_SAMPLE_MISSED,     /* periods that passed without an interrupt: signals blocked */
    PC_SAMPLE_COST_NS,    /* cost of the interrupts: handler and kernel */
    PC_SAMPLE_SEEN_NS,    /* CPU time that the interrupts stand for */
    PC_SAMPLE_CPU_NS,     /* CPU time since it was armed, to its last interrupt or end */
    PC_SAMPLE_PERIOD_NS,  /* mean period at present */
    PC_SAMPLE_LOWERED,    /* times that the frequency was halved to keep max_overhead */
    PC_SAMPLE_OWN_NS,     /* CPU time that the interrupts in our code stand for */
    PC_SAMPLE_KERNEL_NS,  /* the kernel's part of the cost of one interrupt */
    PC_SAMPLE_SOURCE,     /* name of the source that interrupted the thread last */
    /* CPU time from the end of MPI_Init on that the samples stand for, and the sum of its squares
     * in us squared. */
    PC_SAMPLE_COMPUTE_NS,
    PC_SAMPLE_COMPUTE_SQUARES,
    PC_SAMPLE_MPI_NS,
    PC_SAMPLE_MPI_SQUARES,
    PC_SAMPLE_N_COUNTS
};

/* Values of a row of `placement`. */
enum { PC_PLACEMENT_SAMPLES, PC_PLACEMENT_TIME, PC_PLACEMENT_ARRIVALS, PC_PLACEMENT_N };

/* Values of a row of `counters`. */
enum pc_edges_count {
    PC_EDGES_TOTAL,
    PC_EDGES_OWN,
    PC_EDGES_READ,
    PC_EDGES_SKIPPED,
    PC_EDGES_UNPLACED,
    PC_EDGES_N_COUNTS
};

#endif
