/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one table of options. To add one: a field in struct pc_config, a row here. Parser,
 * environment, `pcollect config` and pcollect.conf(5) follow.
 */
#include "config/config_private.h"

#include <string.h>

#define AT(field) offsetof(struct pc_config, field)
#define TEXT_MAX (PC_CONFIG_TEXT_BYTES - 1)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define DAY_S 86400

const struct pc_option pc_options[] = {
    {"output", "path", PC_OPTION_PATTERN, "%x.%n.pcol", 1, TEXT_MAX, "", AT(output_path),
     "Path of the profile. %x is the name of the executable, or of the script that Python runs, %n "
     "the number of ranks, %j the job id of the batch system or launcher, %t the start time in UTC "
     "as YYYYMMDD-HHMMSS, %% a percent sign. A relative path begins at the working directory of "
     "rank 0.",
     "path of the profile, or its folder", "output"},
    {"output", "values", PC_OPTION_SIZE, "64M", 0, 1024 * GIB, "", AT(output_values),
     "Memory limit on rank 0 for the values of each rank while the profile is made; in the file "
     "they take at most about an eighth of it. If the values of all contexts do not fit into this "
     "limit and half of the memory that rank 0 has left, the 100 contexts with most time keep the "
     "time of each rank within 0.8 %, as far as that fits; what is left is for exact values, in "
     "the "
     "order of time as well. All contexts keep exact statistics over ranks: number, sum, sum of "
     "squares, min and max with their ranks. 0 means no limit: then all values are exact, and if "
     "they take more than 16 MiB, several ranks write them into the file.",
     "memory limit for values by rank"},
    {"output", "per_rank", PC_OPTION_INTEGER, "0", 0, 1000000000, "ranks", AT(output_per_rank),
     "A context that occurs on more ranks than this keeps statistics only, whatever `values` "
     "allows. 0 means no limit.",
     "no values by rank in contexts of more than N ranks"},
    {"output", "contexts", PC_OPTION_INTEGER, "1000000", 0, UINT32_MAX, "", AT(output_contexts),
     "Number of calling contexts of the whole job that the profile keeps apart, those with most "
     "time. If the ranks have more in all, for example because each has contexts of its own, the "
     "others are added up by MPI function in the calling context around them. 0 means no limit.",
     "contexts of the job that are kept apart"},
    {"output", "wait", PC_OPTION_TIME, "10min", 0, DAY_S, "", AT(output_wait),
     "Time for which MPI_Finalize waits for ranks on other nodes, which may not have loaded this "
     "library. If they do not answer, the job writes no profile; pcollect recover makes it from "
     "the data that was collected.",
     "time for which MPI_Finalize waits for other nodes"},
    {"output", "html", PC_OPTION_BOOL, "no", 0, 1, "", AT(output_html),
     "Write the page of `pcollect html` beside each profile when the job has ended. `pcollect run` "
     "does this; a job that was started without it writes no page.",
     "write the page of pcollect html beside the profile"},
    {"output", "every", PC_OPTION_TIME, "off", 0, 30 * DAY_S, "", AT(output_every),
     "Time between checkpoints: profiles of the job so far, in app.4.running.pcol for app.4.pcol. "
     "Each replaces the one before it, and is removed when the profile of the job is written. "
     "`pcollect run` writes checkpoints of the ranks on its own node, without a call of the ranks; "
     "a job that was started without it writes none. 0 or off means no checkpoints.",
     "time between checkpoints of the profile, or off"},
    {"spool", "path", PC_OPTION_FOLDER, "/dev/shm", 1, 255, "", AT(spool_path),
     "Folder on each node in which a process collects. A memory file system is best; any local "
     "file system works. What is collected there survives if the process is killed. If no file can "
     "be made there, /tmp and then /var/tmp are used, and after them plain memory, which does not "
     "survive.",
     "folder in which processes collect while they run", "spool"},
    {"collect", "plugins", PC_OPTION_LIST, "time,topology", 0, TEXT_MAX, "plugins",
     AT(collect_plugins),
     "Plugins that are called at each MPI call, in this order. An empty list collects nothing. In "
     "this list, as in every other, +NAME adds to the list so far, and -NAME removes from it.",
     "plugins for MPI calls; +NAME adds, -NAME removes"},
    {"collect", "buffer_size", PC_OPTION_SIZE, "64M", MIB, 4 * GIB, "", AT(collect_buffer_size),
     "Memory limit of one process for its calling contexts. Memory is taken only as it is needed. "
     "When the limit is reached, new contexts are counted at the nearest one that exists, and the "
     "report says so.",
     "memory limit of a process for contexts"},
    {"collect", "max_depth", PC_OPTION_INTEGER, "512", 8, 4096, "frames", AT(collect_max_depth),
     "Limit for the depth of a calling context. A deeper one keeps its innermost frames, and the "
     "report says how many were cut.",
     "frames kept of a calling context"},
    {"collect", "always", PC_OPTION_BOOL, "no", 0, 1, "", AT(collect_always),
     "Collect also in processes that do not use MPI, one profile each. With no, they are left "
     "alone. `pcollect run` without a launcher sets yes for the program that it starts, if samples "
     "or events are requested.",
     "collect also in programs without MPI"},
    {"sample", "frequency", PC_OPTION_FREQUENCY, "100", 0, 10000, "", AT(sample_frequency),
     "Samples per second of CPU time, in each thread. 0 or off means no sampling.",
     "samples per second of CPU time of a thread, or off", "sample"},
    {"sample", "plugins", PC_OPTION_LIST, "clock", 0, TEXT_MAX, "plugins", AT(sample_plugins),
     "Plugins that are called at each sample, in this order.", "plugins for samples",
     "sample-plugins"},
    {"sample", "source", PC_OPTION_CHOICE, "auto", 1, 15, "auto, cycles, clock, timer",
     AT(sample_source),
     "Source of the interrupts at which samples are taken. cycles: a counter of the processor; "
     "clock: the task clock of perf_event; timer: a POSIX timer on the thread's CPU time, at most "
     "at the frequency of the kernel's own timer (100 to 1,000 Hz). If one is refused, or never "
     "interrupts, the next one is used; auto begins with cycles.",
     "source of interrupts", "sample-source"},
    {"sample", "max_overhead", PC_OPTION_INTEGER, "1", 1, 100, "percent", AT(sample_max_overhead),
     "Limit for the part of a thread's CPU time that samples may cost. If 64 of them cost more, "
     "the frequency of the thread is halved, until they do not, and the profile says so. The first "
     "64 samples of a thread are not limited.",
     "limit for the CPU time of samples, in percent"},
    {"sample", "events", PC_OPTION_LIST, "", 0, TEXT_MAX, "events", AT(sample_events),
     "Events that are counted in each thread: presets and native events by the names that "
     "`pcollect events` lists, or r and the processor's own code in hexadecimal. Events that "
     "cannot be opened are named at the start and left out.",
     "events to count, from the list of pcollect events"},
    {"sample", "always", PC_OPTION_LIST, "", 0, TEXT_MAX, "events", AT(sample_always),
     "Events that are counted all the time and read at MPI calls, exactly, while the events of "
     "`events` take turns beside them. The processor must have counters for all of them together. "
     "If the list is empty, `events` are counted all the time where all of them fit.",
     "events to count all the time", "always-events"},
    {"sample", "counters_per_group", PC_OPTION_INTEGER, "0", 0, 15, "counters",
     AT(sample_counters_per_group),
     "Limit for the events that are counted at the same time. 0 means as many as the processor has "
     "counters for. Events that do not all fit are counted in turns by the plugin counters, "
     "and left out without it.",
     "limit for events counted at the same time"},
    {"sample", "rotation", PC_OPTION_CHOICE, "random", 1, 15, "random, round-robin",
     AT(sample_rotation),
     "Order in which the plugin counters counts groups of events. random draws a new group every "
     "few microseconds, which gives unbiased estimates. round-robin is for comparison only: it "
     "counts one group from one interrupt to the next, at equal distances, then the next group.",
     "order of turns of events"},
};

const unsigned pc_n_options = PC_ARRAY_LEN(pc_options);
_Static_assert(PC_ARRAY_LEN(pc_options) <= PC_CONFIG_MAX_OPTIONS, "their origins have room");

int pc_option_find(const char *section, const char *key)
{
    for (unsigned i = 0; i < pc_n_options; i++)
        if (strcmp(pc_options[i].section, section) == 0 && strcmp(pc_options[i].key, key) == 0)
            return (int)i;
    return -1;
}

void pc_config_defaults(struct pc_config *c)
{
    memset(c, 0, sizeof *c);
    for (unsigned i = 0; i < pc_n_options; i++)
        pc_option_parse(&pc_options[i], pc_options[i].initial, c, NULL);
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

void pc_option_variable(const struct pc_option *o, char *out)
{
    size_t n = pc_format(out, PC_OPTION_VARIABLE_BYTES, "PCOLLECT_%s_%s", o->section, o->key);
    for (size_t i = 0; i < n; i++)
        out[i] = upper(out[i]);
}
