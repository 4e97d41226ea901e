/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptions of the library's own tables (own_tables.h).
 */
#include "libcollect/state/own_tables.h"

#include "base/base.h"
#include "include/pcollect/arena.h"

#define KEY(name, doc, type)                                                                       \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_##type, 0, PCOLLECT_UNIT_COUNT, 0                               \
    }
#define NUMBER(name, doc, combine, unit)                                                           \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_NUMBER, combine, PCOLLECT_UNIT_##unit, 0                        \
    }
#define COUNT(name, doc) NUMBER(name, doc, PCOLLECT_SUM, COUNT)
#define TIME(name, doc) NUMBER(name, doc, PCOLLECT_SUM, NS)
#define TEXT(name, doc)                                                                            \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_STRING, PCOLLECT_MIN, PCOLLECT_UNIT_COUNT, 0                    \
    }

static const struct pcollect_column resource_columns[] = {
    KEY("rank", "in MPI_COMM_WORLD", RANK),
    [1 + PC_RESOURCE_MEMORY] =
        NUMBER("memory", "most memory of the process at a time (resident)", PCOLLECT_MAX, BYTES),
    [1 + PC_RESOURCE_USER] =
        NUMBER("user", "CPU time in the program after MPI_Init, all threads", PCOLLECT_SUM, NS),
    [1 + PC_RESOURCE_SYSTEM] =
        NUMBER("system", "CPU time in the kernel after MPI_Init, all threads", PCOLLECT_SUM, NS),
    [1 + PC_RESOURCE_MINOR] =
        NUMBER("minor_faults", "page faults after MPI_Init without a disk", PCOLLECT_SUM, COUNT),
    [1 + PC_RESOURCE_MAJOR] = NUMBER(
        "major_faults", "page faults after MPI_Init that waited for a disk", PCOLLECT_SUM, COUNT),
    [1 + PC_RESOURCE_WAITS] = NUMBER(
        "waits", "context switches after MPI_Init because a thread waited", PCOLLECT_SUM, COUNT),
    [1 + PC_RESOURCE_PREEMPTED] =
        NUMBER("preempted", "context switches after MPI_Init because another was to run",
               PCOLLECT_SUM, COUNT),
    [1 + PC_RESOURCE_CPU] =
        NUMBER("cpu", "processor on which the merging thread ran then", PCOLLECT_MAX, COUNT),
    [1 + PC_RESOURCE_CPUS] = NUMBER(
        "cpus", "processors on which the threads of the process may run", PCOLLECT_MAX, COUNT),
    [1 + PC_RESOURCE_BOUND] = {"bound",
                               "their numbers; empty if the list is longer than 1,023 characters",
                               PCOLLECT_COLUMN_STRING, PCOLLECT_MAX, PCOLLECT_UNIT_COUNT, 0},
    [1 + PC_RESOURCE_DELAYED] =
        NUMBER("delayed",
               "time after MPI_Init in which the main thread could run and no processor was "
               "free; 0 where the kernel does not count it",
               PCOLLECT_SUM, NS),
    [1 + PC_RESOURCE_MIGRATIONS] =
        NUMBER("migrations",
               "times that a thread moved to another processor, of the threads that "
               "were there at the end; 0 where the kernel does not count it",
               PCOLLECT_SUM, COUNT),
    [1 + PC_RESOURCE_ON_CPU] =
        NUMBER("on_cpu", "CPU time of the main thread after MPI_Init", PCOLLECT_SUM, NS),
    [1 + PC_RESOURCE_BLOCKED] =
        NUMBER("blocked",
               "time after MPI_Init in which the main thread could not run: it slept, or waited "
               "for a file, a lock or a message; 0 where the kernel does not count delayed",
               PCOLLECT_SUM, NS),
    [1 + PC_RESOURCE_PAUSED] =
        NUMBER("paused",
               "time that MPI_Pcontrol left out: it is in no other figure but the lifetime "
               "of communicators, but other ranks may have waited for it",
               PCOLLECT_SUM, NS),
    [1 + PC_RESOURCE_BEFORE] =
        NUMBER("before", "CPU time up to the end of MPI_Init, all threads", PCOLLECT_SUM, NS),
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
    KEY("rank", "of the process", RANK),
    KEY("thread", "its number", NUMBER),
    [2 + PC_TIMES_KIND] = TEXT("kind", "main, program, MPI library or runtime"),
    [2 + PC_TIMES_NAME] = TEXT("name", "that it was given"),
    [2 + PC_TIMES_THREADS] = NUMBER("threads", "that had this number", PCOLLECT_SUM, COUNT),
    [2 + PC_TIMES_CALLS] =
        NUMBER("calls", "MPI calls, without those made inside others", PCOLLECT_SUM, COUNT),
    [2 + PC_TIMES_TIME] = NUMBER("time", "in MPI calls", PCOLLECT_SUM, TICKS),
    [2 + PC_TIMES_CPU] = NUMBER("cpu", "CPU time after MPI_Init", PCOLLECT_SUM, NS),
    [2 + PC_TIMES_KNOWN] = NUMBER("known", "1: cpu is that of the whole time", PCOLLECT_MAX, COUNT),
    [2 + PC_TIMES_IN_RUNTIME] = NUMBER(
        "in_runtime", "CPU time that samples in the runtime of OpenMP stand for", PCOLLECT_SUM, NS),
    [2 + PC_TIMES_DELAYED] =
        NUMBER("delayed",
               "time in which it could run and no processor was free, from its "
               "beginning; of threads with 10 ms of CPU time and more",
               PCOLLECT_SUM, NS),
};

const struct pcollect_table pc_table_thread_records = {.name = PCOLLECT_TABLE_THREAD_RECORDS,
                                                       .doc = "MPI and CPU time by thread",
                                                       .columns = thread_record_columns,
                                                       .n_keys = 2,
                                                       .n_values = PC_TIMES_N,
                                                       .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column open_call_columns[] = {
    KEY("rank", "that did not reach its end", RANK),
    KEY("thread", "its number", NUMBER),
    {"call", "of MPI that it was in when its data ends", PCOLLECT_COLUMN_NODE, PCOLLECT_MAX,
     PCOLLECT_UNIT_COUNT, 0},
    NUMBER("time", "since its begin: in the times of ranks and threads, but in no context",
           PCOLLECT_MAX, TICKS),
};

const struct pcollect_table pc_table_open_calls = {.name = PCOLLECT_TABLE_OPEN_CALLS,
                                                   .doc = "calls that had not ended",
                                                   .columns = open_call_columns,
                                                   .n_keys = 2,
                                                   .n_values = 2};

static const struct pcollect_column job_columns[] = {
    {"rank", "in MPI_COMM_WORLD, root of the call", PCOLLECT_COLUMN_RANK, 0, PCOLLECT_UNIT_COUNT,
     0},
    {"number", "from 1, in the order of the rank's calls", PCOLLECT_COLUMN_NUMBER, 0,
     PCOLLECT_UNIT_COUNT, 0},
    [2 + PC_JOB_HOW] = TEXT("made_by", "the primitive; MPI_Comm_get_parent: this job was spawned"),
    [2 + PC_JOB_CONTEXT] = {"context", "where it was called", PCOLLECT_COLUMN_NODE, PCOLLECT_MIN,
                            PCOLLECT_UNIT_COUNT, 0},
    [2 + PC_JOB_BEGAN] =
        NUMBER("began", "of the call, since 1970; of a spawned process", PCOLLECT_MAX, NS),
    [2 + PC_JOB_ENDED] = NUMBER("ended", "of the call, since 1970; of a spawned process's MPI_Init",
                                PCOLLECT_MAX, NS),
    [2 + PC_JOB_N_LOCAL] = NUMBER("processes", "of this job", PCOLLECT_MAX, COUNT),
    [2 + PC_JOB_N_REMOTE] = NUMBER("others", "processes of the other job", PCOLLECT_MAX, COUNT),
    [2 + PC_JOB_HERE] = TEXT("job", "the launcher's name of this job"),
    [2 + PC_JOB_THERE] = TEXT("parent", "the launcher's name of the job that spawned this one"),
    [2 + PC_JOB_THEIR_RANK] =
        NUMBER("parent_rank", "1 + the rank in it that did so; 0: not known", PCOLLECT_MAX, COUNT),
    [2 + PC_JOB_PORT] = TEXT("port", "at which the two met"),
};
_Static_assert(PC_ARRAY_LEN(job_columns) == 2 + PC_JOB_N, "a column for each value");

const struct pcollect_table pc_table_jobs = {.name = "jobs",
                                             .doc = "jobs that this one started or met",
                                             .columns = job_columns,
                                             .n_keys = 2,
                                             .n_values = PC_JOB_N,
                                             .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column machine_columns[] = {
    {"host", "node", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"socket", "1 + its number, in the order of the processors", PCOLLECT_COLUMN_NUMBER, 0,
     PCOLLECT_UNIT_COUNT, 0},
    [2 + PC_MACHINE_CORES] = NUMBER("cores", "cores of the socket", PCOLLECT_MAX, COUNT),
    [2 + PC_MACHINE_PROCESSORS] =
        NUMBER("processors", "hardware threads of the socket", PCOLLECT_MAX, COUNT),
    [2 + PC_MACHINE_MEMORIES] = NUMBER("memories", "NUMA nodes of the socket", PCOLLECT_MAX, COUNT),
    [2 + PC_MACHINE_MEMORY] =
        NUMBER("memory", "memory of the socket; 0: not known", PCOLLECT_MAX, BYTES),
    [2 + PC_MACHINE_LIST] = {"list", "numbers of its processors", PCOLLECT_COLUMN_STRING,
                             PCOLLECT_MIN, PCOLLECT_UNIT_COUNT, 0},
};

const struct pcollect_table pc_table_machine = {.name = "machine",
                                                .doc = "sockets of the nodes",
                                                .columns = machine_columns,
                                                .n_keys = 2,
                                                .n_values = PC_MACHINE_N};

static const struct pcollect_column thread_columns[] = {
    {.name = "rank",
     .doc = "of the process",
     .type = PCOLLECT_COLUMN_RANK,
     .unit = PCOLLECT_UNIT_COUNT},
    {.name = "kind",
     .doc = "main, program, MPI library, runtime, or without MPI: never seen calling MPI",
     .type = PCOLLECT_COLUMN_STRING,
     .unit = PCOLLECT_UNIT_COUNT},
    {.name = "name",
     .doc = "that the thread was given; digits at its end are one *",
     .type = PCOLLECT_COLUMN_STRING,
     .unit = PCOLLECT_UNIT_COUNT},
    {.name = "threads",
     .doc = "of that kind and name",
     .type = PCOLLECT_COLUMN_NUMBER,
     .combine = PCOLLECT_SUM,
     .unit = PCOLLECT_UNIT_COUNT},
};

const struct pcollect_table pc_table_threads = {.name = "threads",
                                                .doc = "threads by kind and name",
                                                .columns = thread_columns,
                                                .n_keys = 3,
                                                .n_values = 1,
                                                .flags = PCOLLECT_TABLE_KEPT};

#define PROCESSES                                                                                  \
    {                                                                                              \
        .name = "processes", .doc = "that had this", .type = PCOLLECT_COLUMN_NUMBER,               \
        .combine = PCOLLECT_SUM, .unit = PCOLLECT_UNIT_COUNT                                       \
    }

static const struct pcollect_column command_columns[] = {
    KEY("command", "the program and its arguments, as a shell would take them", STRING), PROCESSES};
const struct pcollect_table pc_table_command_lines = {.name = "command_lines",
                                                      .doc = "what was run",
                                                      .columns = command_columns,
                                                      .n_keys = 1,
                                                      .n_values = 1,
                                                      .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column setting_columns[] = {
    KEY("option", "[section] key", STRING), KEY("value", "as in a configuration file", STRING),
    KEY("from", "the file, or the environment, where options of pcollect run are, too", STRING),
    PROCESSES};
const struct pcollect_table pc_table_settings = {.name = "settings",
                                                 .doc = "options that are not the defaults",
                                                 .columns = setting_columns,
                                                 .n_keys = 3,
                                                 .n_values = 1,
                                                 .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column region_columns[] = {
    {"region", "phase or region, inside of others", PCOLLECT_COLUMN_NODE, 0, PCOLLECT_UNIT_COUNT,
     0},
    {"entered", "times entered", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"time", "time in it, of all threads", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM,
     PCOLLECT_UNIT_TICKS, 0},
    {"mpi_time", "of that in MPI", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_TICKS, 0},
};

const struct pcollect_table pc_table_regions = {.name = "regions",
                                                .doc = "phases and regions of the program",
                                                .columns = region_columns,
                                                .n_keys = 1,
                                                .n_values = 3};

static const struct pcollect_column event_columns[] = {
    {"event", "as the configuration has it", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"why_not", "why it was not counted; none: it was", PCOLLECT_COLUMN_STRING, 0,
     PCOLLECT_UNIT_COUNT, 0},
    {"ranks", "on so many", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"in_turns", "of them, those where it took turns with others", PCOLLECT_COLUMN_NUMBER,
     PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
};
const struct pcollect_table pc_table_events = {.name = "events",
                                               .doc = "events that were asked for",
                                               .columns = event_columns,
                                               .n_keys = 2,
                                               .n_values = 2,
                                               .flags = PCOLLECT_TABLE_KEPT};

static const struct pcollect_column sampling_columns[] = {
    KEY("rank", "in MPI_COMM_WORLD", RANK),
    {"thread", "number of the thread's tree", PCOLLECT_COLUMN_NUMBER, 0, PCOLLECT_UNIT_COUNT, 0},
    [2 + PC_SAMPLE_INTERRUPTS] = COUNT("interrupts", "interrupts of the thread"),
    [2 + PC_SAMPLE_BOOKED] = COUNT("booked", "samples of computation"),
    [2 + PC_SAMPLE_IN_MPI] = COUNT("in_mpi", "samples inside MPI calls"),
    [2 + PC_SAMPLE_OWN] = COUNT("own", "interrupts in the profiler itself, not booked"),
    [2 + PC_SAMPLE_OFF] = COUNT("off", "interrupts while collection was off, not booked"),
    [2 + PC_SAMPLE_CUT] = COUNT("cut", "samples whose outer frames are unknown"),
    [2 + PC_SAMPLE_DEEP] = COUNT("deep", "samples deeper than max_depth"),
    [2 + PC_SAMPLE_NO_CODE] = COUNT("no_code", "samples in code of no module"),
    [2 + PC_SAMPLE_COLLAPSED] = COUNT("collapsed", "samples without a context: buffer full"),
    [2 + PC_SAMPLE_DROPPED] = COUNT("dropped", "samples lost: no memory"),
    [2 + PC_SAMPLE_LATE] = COUNT("late", "interrupts after the merge, not booked"),
    [2 + PC_SAMPLE_MISSED] =
        COUNT("missed", "interrupts that were due, but came too late or not at all"),
    [2 + PC_SAMPLE_COST_NS] = TIME("cost", "CPU time of the interrupts, kernel part included"),
    [2 + PC_SAMPLE_SEEN_NS] = TIME("seen", "CPU time that the interrupts stand for"),
    [2 + PC_SAMPLE_CPU_NS] = TIME("cpu", "CPU time while interrupts were armed"),
    [2 + PC_SAMPLE_PERIOD_NS] = {"period", "mean distance of two interrupts, at the end",
                                 PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0},
    [2 + PC_SAMPLE_LOWERED] = COUNT("lowered", "times that the frequency was halved"),
    [2 + PC_SAMPLE_OWN_NS] = TIME("own_time", "CPU time that the interrupts of own stand for"),
    [2 + PC_SAMPLE_KERNEL_NS] = {"kernel", "of cost, the kernel's for one interrupt",
                                 PCOLLECT_COLUMN_NUMBER, PCOLLECT_MAX, PCOLLECT_UNIT_NS, 0},
    [2 + PC_SAMPLE_SOURCE] = {"source", "what interrupts", PCOLLECT_COLUMN_STRING, PCOLLECT_MAX,
                              PCOLLECT_UNIT_COUNT, 0},
    [2 + PC_SAMPLE_COMPUTE_NS] =
        TIME("compute_time", "CPU time that samples outside MPI stand for, from MPI_Init on"),
    [2 + PC_SAMPLE_COMPUTE_SQUARES] =
        COUNT("compute_squares", "sum of the squares of what each stands for, in us"),
    [2 + PC_SAMPLE_MPI_NS] =
        TIME("mpi_time", "CPU time that samples inside MPI calls stand for, from MPI_Init on"),
    [2 + PC_SAMPLE_MPI_SQUARES] =
        COUNT("mpi_squares", "sum of the squares of what each stands for, in us"),
};
_Static_assert(PC_ARRAY_LEN(sampling_columns) == 2 + PC_SAMPLE_N_COUNTS, "a column for each count");

const struct pcollect_table pc_table_sampling = {
    .name = "sampling",
    .doc = "interrupts of each thread and what became of them",
    .columns = sampling_columns,
    .n_keys = 2,
    .n_values = PC_SAMPLE_N_COUNTS};

static const struct pcollect_column counter_columns[] = {
    KEY("event", "as the configuration has it", STRING),
    KEY("rank", "in MPI_COMM_WORLD", RANK),
    KEY("thread", "number of the thread's tree", NUMBER),
    [3 + PC_EDGES_TOTAL] = COUNT("total", "counted on all edges"),
    [3 + PC_EDGES_OWN] = COUNT("own", "counted in the profiler while it booked, not on an edge"),
    [3 + PC_EDGES_READ] =
        COUNT("read", "begins and ends of MPI calls at which the counter was read"),
    [3 + PC_EDGES_SKIPPED] =
        COUNT("skipped", "those at which it was not, being too near to the last"),
    [3 + PC_EDGES_UNPLACED] = COUNT("unplaced", "samples that no edge had room for"),
};
const struct pcollect_table pc_table_counters = {.name = "counters",
                                                 .doc = "events counted by each thread",
                                                 .columns = counter_columns,
                                                 .n_keys = 3,
                                                 .n_values = PC_EDGES_N_COUNTS};

static const struct pcollect_column edge_columns[] = {
    KEY("event", "as the configuration has it", STRING),
    KEY("rank", "in MPI_COMM_WORLD", RANK),
    KEY("thread", "number of the thread's tree", NUMBER),
    KEY("from",
        "context at which it was read before; none: where the thread or its collection began",
        NODE),
    KEY("to", "context at which it was read; none: the thread's end, or the merge", NODE),
    KEY("inside", "1: both are the ends of one MPI call", NUMBER),
    COUNT("count", "of the event"),
    COUNT("times", "edges with such a count"),
};
const struct pcollect_table pc_table_edges = {.name = "edges",
                                              .doc = "counts between two points that are certain",
                                              .columns = edge_columns,
                                              .n_keys = 6,
                                              .n_values = 2};

static const struct pcollect_column sample_columns[] = {
    KEY("rank", "in MPI_COMM_WORLD", RANK), KEY("thread", "number of the thread's tree", NUMBER),
    KEY("from", "as in edges", NODE),       KEY("to", "as in edges", NODE),
    KEY("inside", "as in edges", NUMBER),   KEY("context", "of the samples", NODE),
    COUNT("samples", "on such edges"),
};
const struct pcollect_table pc_table_edge_samples = {.name = "edge_samples",
                                                     .doc = "samples between two such points",
                                                     .columns = sample_columns,
                                                     .n_keys = 6,
                                                     .n_values = 1};

static const struct pcollect_column placement_columns[] = {
    KEY("rank", "in MPI_COMM_WORLD", RANK),
    KEY("thread", "number of the thread's tree", NUMBER),
    KEY("processor", "on which it ran", NUMBER),
    [3 + PC_PLACEMENT_SAMPLES] = COUNT("samples", "interrupts of it there"),
    [3 + PC_PLACEMENT_TIME] = TIME("time", "CPU time that they stand for"),
    [3 + PC_PLACEMENT_ARRIVALS] = COUNT("arrivals", "of them, after one on another processor"),
};

const struct pcollect_table pc_table_placement = {.name = "placement",
                                                  .doc = "where each thread ran, by its samples",
                                                  .columns = placement_columns,
                                                  .n_keys = 3,
                                                  .n_values = PC_PLACEMENT_N};

const struct pcollect_table *const pc_own_tables[] = {
    &pc_table_resources, &pc_table_placement, &pc_table_thread_records, &pc_table_open_calls,
    &pc_table_jobs,      &pc_table_machine,   &pc_table_threads,        &pc_table_command_lines,
    &pc_table_settings,  &pc_table_regions,   &pc_table_events,         &pc_table_sampling,
    &pc_table_counters,  &pc_table_edges,     &pc_table_edge_samples};
const size_t pc_n_own_tables = PC_ARRAY_LEN(pc_own_tables);
