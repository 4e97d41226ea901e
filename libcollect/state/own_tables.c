/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptions of the library's own tables (own_tables.h).
 */
#include "libcollect/state/own_tables.h"

#include "base/base.h"
#include "include/pcollect/arena.h"
#include "plugins/columns.h"

static const struct pcollect_column resource_columns[] = {
    PC_KEY("rank", "in MPI_COMM_WORLD", RANK),
    [1 + PC_RESOURCE_MEMORY] =
        PC_MAX("memory", "most memory of the process at a time (resident)", BYTES),
    [1 + PC_RESOURCE_USER] =
        PC_SUM("user", "CPU time in the program after MPI_Init, all threads", NS),
    [1 + PC_RESOURCE_SYSTEM] =
        PC_SUM("system", "CPU time in the kernel after MPI_Init, all threads", NS),
    [1 + PC_RESOURCE_MINOR] =
        PC_SUM("minor_faults", "page faults after MPI_Init without a disk", COUNT),
    [1 + PC_RESOURCE_MAJOR] =
        PC_SUM("major_faults", "page faults after MPI_Init that waited for a disk", COUNT),
    [1 + PC_RESOURCE_WAITS] =
        PC_SUM("waits", "context switches after MPI_Init because a thread waited", COUNT),
    [1 + PC_RESOURCE_PREEMPTED] =
        PC_SUM("preempted", "context switches after MPI_Init because another was to run", COUNT),
    [1 + PC_RESOURCE_CPU] = PC_MAX("cpu", "processor on which the merging thread ran then", COUNT),
    [1 + PC_RESOURCE_CPUS] =
        PC_MAX("cpus", "processors on which the threads of the process may run", COUNT),
    [1 + PC_RESOURCE_BOUND] =
        PC_VALUE("bound", "their numbers; empty if the list is longer than 1,023 characters",
                 STRING, MAX, COUNT),
    [1 + PC_RESOURCE_DELAYED] =
        PC_SUM("delayed",
               "time after MPI_Init in which the main thread could run and no processor was "
               "free; 0 where the kernel does not count it",
               NS),
    [1 + PC_RESOURCE_MIGRATIONS] =
        PC_SUM("migrations",
               "times that a thread moved to another processor, of the threads that "
               "were there at the end; 0 where the kernel does not count it",
               COUNT),
    [1 + PC_RESOURCE_ON_CPU] = PC_SUM("on_cpu", "CPU time of the main thread after MPI_Init", NS),
    [1 + PC_RESOURCE_BLOCKED] =
        PC_SUM("blocked",
               "time after MPI_Init in which the main thread could not run: it slept, or waited "
               "for a file, a lock or a message; 0 where the kernel does not count delayed",
               NS),
    [1 + PC_RESOURCE_PAUSED] =
        PC_SUM("paused",
               "time that MPI_Pcontrol left out: it is in no other figure but the lifetime "
               "of communicators, but other ranks may have waited for it",
               NS),
    [1 + PC_RESOURCE_BEFORE] =
        PC_SUM("before", "CPU time up to the end of MPI_Init, all threads", NS),
    [1 + PC_RESOURCE_CHILDREN] =
        PC_SUM("children",
               "CPU time of processes that it started, for whose end it waited after MPI_Init, and "
               "of those for which these did: it is in no other figure",
               NS),
};
_Static_assert(PC_ARRAY_LEN(resource_columns) == 1 + PC_RESOURCE_N, "a column for each value");

const struct pcollect_table pc_table_resources = {
    .name = "resources",
    .doc = "what the system says of each rank: without MPI_Init from "
           "the start of the program",
    .columns = resource_columns,
    .n_keys = 1,
    .n_values = PC_RESOURCE_N};

static const struct pcollect_column thread_record_columns[] = {
    PC_KEY("rank", "of the process", RANK),
    PC_KEY("thread", "its number", NUMBER),
    [2 + PC_TIMES_KIND] = PC_TEXT("kind", "main, program, MPI library or runtime"),
    [2 + PC_TIMES_NAME] = PC_TEXT("name", "that it was given"),
    [2 + PC_TIMES_THREADS] = PC_SUM("threads", "that had this number", COUNT),
    [2 + PC_TIMES_CALLS] = PC_SUM("calls", "MPI calls, without those made inside others", COUNT),
    [2 + PC_TIMES_TIME] = PC_SUM("time", "in MPI calls", TICKS),
    [2 + PC_TIMES_CPU] = PC_SUM("cpu", "CPU time after MPI_Init", NS),
    [2 + PC_TIMES_KNOWN] = PC_MAX("known", "1: cpu is that of the whole time", COUNT),
    [2 + PC_TIMES_IN_RUNTIME] =
        PC_SUM("in_runtime", "CPU time that samples in the runtime of OpenMP stand for", NS),
    [2 + PC_TIMES_IN_BINDINGS] = PC_SUM(
        "in_bindings",
        "CPU time that samples in the MPI library stand for, outside of measured calls, as in "
        "bindings of Fortran",
        NS),
    [2 + PC_TIMES_DELAYED] =
        PC_SUM("delayed",
               "time in which it could run and no processor was free, after MPI_Init; of threads "
               "that lived for 1 ms and more",
               NS),
};

const struct pcollect_table pc_table_thread_records = {.name = PCOLLECT_TABLE_THREAD_RECORDS,
                                                       .doc = "MPI and CPU time by thread",
                                                       .columns = thread_record_columns,
                                                       .n_keys = 2,
                                                       .n_values = PC_TIMES_N,
                                                       .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column open_call_columns[] = {
    PC_KEY("rank", "that did not reach its end", RANK),
    PC_KEY("thread", "its number", NUMBER),
    PC_VALUE("call", "of MPI that it was in when its data ends", NODE, MAX, COUNT),
    PC_MAX("time", "since its begin: in the times of ranks and threads, but in no context", TICKS),
};

const struct pcollect_table pc_table_open_calls = {.name = PCOLLECT_TABLE_OPEN_CALLS,
                                                   .doc = "calls that had not ended",
                                                   .columns = open_call_columns,
                                                   .n_keys = 2,
                                                   .n_values = 2};

static const struct pcollect_column end_columns[] = {
    PC_KEY("rank", "that ended before MPI_Finalize, and called a function for it", RANK),
    [1 + PC_END_HOW] = PC_TEXT("how", "function that was called; assert: one that failed"),
    [1 + PC_END_PLACE] =
        PC_VALUE("place", "where, or the call of MPI in which that was", NODE, MIN, COUNT),
};

const struct pcollect_table pc_table_ends = {
    .name = "ends",
    .doc =
        "where ranks called exit, _exit, _Exit, quick_exit or abort, or failed an assert, before "
        "MPI_Finalize",
    .columns = end_columns,
    .n_keys = 1,
    .n_values = PC_END_N,
    .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column job_columns[] = {
    PC_KEY("rank", "in MPI_COMM_WORLD, root of the call", RANK),
    PC_KEY("number", "from 1, in the order of the rank's calls", NUMBER),
    [2 + PC_JOB_HOW] =
        PC_TEXT("made_by", "the primitive; MPI_Comm_get_parent: this job was spawned"),
    [2 + PC_JOB_CONTEXT] = PC_VALUE("context", "where it was called", NODE, MIN, COUNT),
    [2 + PC_JOB_BEGAN] = PC_MAX("began", "of the call, since 1970; of a spawned process", NS),
    [2 + PC_JOB_ENDED] =
        PC_MAX("ended", "of the call, since 1970; of a spawned process's MPI_Init", NS),
    [2 + PC_JOB_N_LOCAL] = PC_MAX("processes", "of this job", COUNT),
    [2 + PC_JOB_N_REMOTE] = PC_MAX("others", "processes of the other job", COUNT),
    [2 + PC_JOB_HERE] = PC_TEXT("job", "the launcher's name of this job"),
    [2 + PC_JOB_THERE] = PC_TEXT("parent", "the launcher's name of the job that spawned this one"),
    [2 + PC_JOB_THEIR_RANK] =
        PC_MAX("parent_rank", "1 + the rank in it that did so; 0: not known", COUNT),
    [2 + PC_JOB_PORT] = PC_TEXT("port", "at which the two met"),
    [2 + PC_JOB_DOMAIN] =
        PC_VALUE("domain", "communicator that the call made; 0: not known", DOMAIN, MAX, COUNT),
};
_Static_assert(PC_ARRAY_LEN(job_columns) == 2 + PC_JOB_N, "a column for each value");

const struct pcollect_table pc_table_jobs = {.name = "jobs",
                                             .doc = "jobs that this one started or met",
                                             .columns = job_columns,
                                             .n_keys = 2,
                                             .n_values = PC_JOB_N,
                                             .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column machine_columns[] = {
    PC_KEY("host", "node", STRING),
    PC_KEY("socket", "1 + its number, in the order of the processors", NUMBER),
    [2 + PC_MACHINE_CORES] = PC_MAX("cores", "cores of the socket", COUNT),
    [2 + PC_MACHINE_PROCESSORS] = PC_MAX("processors", "hardware threads of the socket", COUNT),
    [2 + PC_MACHINE_MEMORIES] = PC_MAX("memories", "NUMA nodes of the socket", COUNT),
    [2 + PC_MACHINE_MEMORY] = PC_MAX("memory", "memory of the socket; 0: not known", BYTES),
    [2 + PC_MACHINE_LIST] = PC_TEXT("list", "numbers of its processors"),
};

const struct pcollect_table pc_table_machine = {.name = "machine",
                                                .doc = "sockets of the nodes",
                                                .columns = machine_columns,
                                                .n_keys = 2,
                                                .n_values = PC_MACHINE_N};

static const struct pcollect_column place_columns[] = {
    PC_KEY("rank", "rank in MPI_COMM_WORLD", RANK),
    [1 + PC_PLACE_SOCKET] = PC_MAX(
        "socket", "1 + number of the socket to which it is bound; 0: to several or none", COUNT),
    [1 + PC_PLACE_CORES] = PC_TEXT("cores", "processors on which it may run"),
};

const struct pcollect_table pc_table_place = {
    .name = "place",
    .doc = "where ranks were bound in MPI_Init or MPI_Session_init",
    .columns = place_columns,
    .n_keys = 1,
    .n_values = PC_PLACE_N,
    .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column thread_columns[] = {
    PC_KEY("rank", "of the process", RANK),
    PC_KEY("kind", "main, program, MPI library, runtime, or without MPI: never seen calling MPI",
           STRING),
    PC_KEY("name", "that the thread was given; digits at its end are one *", STRING),
    PC_SUM("threads", "of that kind and name", COUNT),
};

const struct pcollect_table pc_table_threads = {.name = "threads",
                                                .doc = "threads by kind and name",
                                                .columns = thread_columns,
                                                .n_keys = 3,
                                                .n_values = 1,
                                                .flags = PCOLLECT_TABLE_KEPT};

#define PROCESSES PC_SUM("processes", "that had this", COUNT)

static const struct pcollect_column command_columns[] = {
    PC_KEY("command", "the program and its arguments, as a shell would take them", STRING),
    PROCESSES};
const struct pcollect_table pc_table_command_lines = {.name = "command_lines",
                                                      .doc = "what was run",
                                                      .columns = command_columns,
                                                      .n_keys = 1,
                                                      .n_values = 1,
                                                      .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column setting_columns[] = {
    PC_KEY("option", "[section] key", STRING),
    PC_KEY("value", "as in a configuration file", STRING),
    PC_KEY("from", "the file, or the environment, where options of pcollect run are, too", STRING),
    PROCESSES};
const struct pcollect_table pc_table_settings = {.name = "settings",
                                                 .doc = "options that are not the defaults",
                                                 .columns = setting_columns,
                                                 .n_keys = 3,
                                                 .n_values = 1,
                                                 .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column region_columns[] = {
    PC_KEY("region", "phase or region, inside of others", NODE),
    PC_SUM("entered", "times entered", COUNT),
    PC_SUM("time", "time in it, of all threads", TICKS),
    PC_SUM("mpi_time", "of that in MPI", TICKS),
};

const struct pcollect_table pc_table_regions = {.name = "regions",
                                                .doc = "phases and regions of the program",
                                                .columns = region_columns,
                                                .n_keys = 1,
                                                .n_values = 3};

static const struct pcollect_column event_columns[] = {
    PC_KEY("event", "as the configuration has it", STRING),
    PC_KEY("why_not", "why it was not counted; none: it was", STRING),
    PC_SUM("ranks", "on so many", COUNT),
    PC_SUM("in_turns", "of them, those where it took turns with others", COUNT),
};
const struct pcollect_table pc_table_events = {.name = "events",
                                               .doc = "events that were asked for",
                                               .columns = event_columns,
                                               .n_keys = 2,
                                               .n_values = 2,
                                               .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column sampling_columns[] = {
    PC_KEY("rank", "in MPI_COMM_WORLD", RANK),
    PC_KEY("thread", "number of the thread's tree", NUMBER),
    [2 + PC_SAMPLE_INTERRUPTS] = PC_SUM("interrupts", "interrupts of the thread", COUNT),
    [2 + PC_SAMPLE_BOOKED] = PC_SUM("booked", "samples of computation", COUNT),
    [2 + PC_SAMPLE_IN_MPI] = PC_SUM("in_mpi", "samples inside MPI calls", COUNT),
    [2 + PC_SAMPLE_OWN] = PC_SUM("own", "interrupts in the profiler itself, not booked", COUNT),
    [2 + PC_SAMPLE_OFF] = PC_SUM("off", "interrupts while collection was off, not booked", COUNT),
    [2 + PC_SAMPLE_CUT] = PC_SUM("cut", "samples whose outer frames are unknown", COUNT),
    [2 + PC_SAMPLE_DEEP] = PC_SUM("deep", "samples deeper than max_depth", COUNT),
    [2 + PC_SAMPLE_NO_CODE] = PC_SUM("no_code", "samples in code of no module", COUNT),
    [2 + PC_SAMPLE_COLLAPSED] =
        PC_SUM("collapsed", "samples without a context: buffer full", COUNT),
    [2 + PC_SAMPLE_DROPPED] = PC_SUM("dropped", "samples lost: no memory", COUNT),
    [2 + PC_SAMPLE_LATE] = PC_SUM("late", "interrupts after the merge, not booked", COUNT),
    [2 + PC_SAMPLE_MISSED] =
        PC_SUM("missed", "interrupts that were due, but came too late or not at all", COUNT),
    [2 + PC_SAMPLE_COST_NS] =
        PC_SUM("cost", "CPU time of the interrupts, kernel part included", NS),
    [2 + PC_SAMPLE_SEEN_NS] = PC_SUM("seen", "CPU time that the interrupts stand for", NS),
    [2 + PC_SAMPLE_CPU_NS] = PC_SUM("cpu", "CPU time while interrupts were armed", NS),
    [2 + PC_SAMPLE_PERIOD_NS] = PC_MAX("period", "mean distance of two interrupts, at the end", NS),
    [2 + PC_SAMPLE_LOWERED] = PC_SUM("lowered", "times that the frequency was halved", COUNT),
    [2 + PC_SAMPLE_OWN_NS] =
        PC_SUM("own_time", "CPU time that the interrupts of own stand for", NS),
    [2 + PC_SAMPLE_KERNEL_NS] = PC_MAX("kernel", "of cost, the kernel's for one interrupt", NS),
    [2 + PC_SAMPLE_SOURCE] = PC_VALUE("source", "what interrupts", STRING, MAX, COUNT),
    [2 + PC_SAMPLE_COMPUTE_NS] =
        PC_SUM("compute_time", "CPU time that samples outside MPI stand for, from MPI_Init on", NS),
    [2 + PC_SAMPLE_COMPUTE_SQUARES] =
        PC_SUM("compute_squares", "sum of the squares of what each stands for, in us", COUNT),
    [2 + PC_SAMPLE_MPI_NS] = PC_SUM(
        "mpi_time", "CPU time that samples inside MPI calls stand for, from MPI_Init on", NS),
    [2 + PC_SAMPLE_MPI_SQUARES] =
        PC_SUM("mpi_squares", "sum of the squares of what each stands for, in us", COUNT),
};
_Static_assert(PC_ARRAY_LEN(sampling_columns) == 2 + PC_SAMPLE_N_COUNTS, "a column for each count");

const struct pcollect_table pc_table_sampling = {
    .name = "sampling",
    .doc = "interrupts of each thread and what became of them",
    .columns = sampling_columns,
    .n_keys = 2,
    .n_values = PC_SAMPLE_N_COUNTS};

static const struct pcollect_column counter_columns[] = {
    PC_KEY("event", "as the configuration has it", STRING),
    PC_KEY("rank", "in MPI_COMM_WORLD", RANK),
    PC_KEY("thread", "number of the thread's tree", NUMBER),
    [3 + PC_EDGES_TOTAL] = PC_SUM("total", "counted on all edges", COUNT),
    [3 + PC_EDGES_OWN] =
        PC_SUM("own", "counted in the profiler while it booked, not on an edge", COUNT),
    [3 + PC_EDGES_READ] =
        PC_SUM("read", "begins and ends of MPI calls at which the counter was read", COUNT),
    [3 + PC_EDGES_SKIPPED] =
        PC_SUM("skipped", "those at which it was not, being too near to the last", COUNT),
    [3 + PC_EDGES_UNPLACED] = PC_SUM("unplaced", "samples that no edge had room for", COUNT),
};
const struct pcollect_table pc_table_counters = {.name = "counters",
                                                 .doc = "events counted by each thread",
                                                 .columns = counter_columns,
                                                 .n_keys = 3,
                                                 .n_values = PC_EDGES_N_COUNTS};

static const struct pcollect_column edge_columns[] = {
    PC_KEY("event", "as the configuration has it", STRING),
    PC_KEY("rank", "in MPI_COMM_WORLD", RANK),
    PC_KEY("thread", "number of the thread's tree", NUMBER),
    PC_KEY("from",
           "context at which it was read before; none: where the thread or its collection began",
           NODE),
    PC_KEY("to", "context at which it was read; none: the thread's end, or the merge", NODE),
    PC_KEY("inside", "1: both are the ends of one MPI call", NUMBER),
    PC_SUM("count", "of the event", COUNT),
    PC_SUM("times", "edges with such a count", COUNT),
};
const struct pcollect_table pc_table_edges = {.name = "edges",
                                              .doc = "counts between two points that are certain",
                                              .columns = edge_columns,
                                              .n_keys = 6,
                                              .n_values = 2};

static const struct pcollect_column sample_columns[] = {
    PC_KEY("rank", "in MPI_COMM_WORLD", RANK),
    PC_KEY("thread", "number of the thread's tree", NUMBER),
    PC_KEY("from", "as in edges", NODE),
    PC_KEY("to", "as in edges", NODE),
    PC_KEY("inside", "as in edges", NUMBER),
    PC_KEY("context", "of the samples", NODE),
    PC_SUM("samples", "on such edges", COUNT),
};
const struct pcollect_table pc_table_edge_samples = {.name = "edge_samples",
                                                     .doc = "samples between two such points",
                                                     .columns = sample_columns,
                                                     .n_keys = 6,
                                                     .n_values = 1};

static const struct pcollect_column placement_columns[] = {
    PC_KEY("rank", "in MPI_COMM_WORLD", RANK),
    PC_KEY("thread", "number of the thread's tree", NUMBER),
    PC_KEY("processor", "on which it ran", NUMBER),
    [3 + PC_PLACEMENT_SAMPLES] = PC_SUM("samples", "interrupts of it there", COUNT),
    [3 + PC_PLACEMENT_TIME] = PC_SUM("time", "CPU time that they stand for", NS),
    [3 + PC_PLACEMENT_ARRIVALS] =
        PC_SUM("arrivals", "of them, after one on another processor", COUNT),
};

const struct pcollect_table pc_table_placement = {.name = "placement",
                                                  .doc = "where each thread ran, by its samples",
                                                  .columns = placement_columns,
                                                  .n_keys = 3,
                                                  .n_values = PC_PLACEMENT_N};

const struct pcollect_table *const pc_own_tables[] = {
    &pc_table_resources,   &pc_table_placement,     &pc_table_thread_records, &pc_table_open_calls,
    &pc_table_ends,        &pc_table_jobs,          &pc_table_machine,        &pc_table_place,
    &pc_table_threads,     &pc_table_command_lines, &pc_table_settings,       &pc_table_regions,
    &pc_table_events,      &pc_table_sampling,      &pc_table_counters,       &pc_table_edges,
    &pc_table_edge_samples};
const size_t pc_n_own_tables = PC_ARRAY_LEN(pc_own_tables);
