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

const struct pc_option pc_options[] = {
    {"output", "path", PC_OPTION_PATTERN, "%x.%n.pcol", 1, TEXT_MAX, "", AT(output_path),
     "Where the profile is written. %x is the name of the executable, %n the number of ranks, %j "
     "the job id of the batch system or launcher, %t the start time in UTC as YYYYMMDD-HHMMSS, %% "
     "a percent sign. A relative path begins at the working directory of rank 0.",
     "where the profile is written", "output"},
    {"output", "values", PC_OPTION_SIZE, "64M", 0, 1024 * GIB, "", AT(output_values),
     "Most memory that the values of single ranks take on rank 0 while the profile is made; in the "
     "file they take about an eighth of it. Contexts get it in the order of the time spent there, "
     "for all of their ranks or for none. The others keep statistics over ranks: number, sum, sum "
     "of squares, least and greatest value with their ranks. 0 is no bound.",
     "room for values by rank, given to contexts by time"},
    {"output", "per_rank", PC_OPTION_INTEGER, "0", 0, 1000000000, "ranks", AT(output_per_rank),
     "A context that more ranks than this have keeps statistics only, whatever `values` allows. 0 "
     "is no bound.",
     "keep values by rank up to N ranks a context"},
    {"output", "wait", PC_OPTION_INTEGER, "600", 0, 86400, "seconds", AT(output_wait),
     "How long MPI_Finalize waits for ranks of which this library cannot tell whether they have it "
     "loaded: those on other nodes. If they do not come, no profile is written, and what was "
     "collected is left to pcollect recover.",
     "how long MPI_Finalize waits for other nodes"},
    {"spool", "path", PC_OPTION_FOLDER, "/dev/shm", 1, 255, "", AT(spool_path),
     "Folder on each node in which a process collects, best in a memory file system; any local one "
     "is used. What is collected there outlives a killed process. Where no file can be had there, "
     "/tmp and then /var/tmp are used; after them plain memory, which does not outlive it.",
     "where processes collect while they run", "spool"},
    {"collect", "plugins", PC_OPTION_LIST, "time", 0, TEXT_MAX, "plugins", AT(collect_plugins),
     "What is learnt at each MPI call. Plugins are named by their names, in the order in which "
     "they are called; an empty list collects nothing. In this list, as in every other, +NAME adds "
     "to what stood before, and -NAME takes away from it.",
     "what is learnt at MPI calls; +NAME adds"},
    {"collect", "buffer_size", PC_OPTION_SIZE, "64M", MIB, 4 * GIB, "", AT(collect_buffer_size),
     "Most memory that one process takes for its calling contexts. It is taken as it is needed. "
     "When it is full, new contexts are counted at the nearest one that exists, and the report "
     "says so.",
     "most memory of a process for contexts"},
    {"collect", "max_depth", PC_OPTION_INTEGER, "512", 8, 4096, "frames", AT(collect_max_depth),
     "Most frames of a calling context. Of a deeper one the innermost frames are kept, and the "
     "report says how many were cut.",
     "most frames of a calling context"},
    {"collect", "always", PC_OPTION_BOOL, "no", 0, 1, "", AT(collect_always),
     "Collect in processes that do not use MPI, too, one profile each. With no, they are left "
     "alone. `pcollect run` without a launcher says yes for a program that is to be sampled.",
     "collect in programs without MPI, too"},
    {"sample", "frequency", PC_OPTION_FREQUENCY, "100", 0, 10000, "", AT(sample_frequency),
     "How often each thread is interrupted to see what it computes, per second. 0 or off is no "
     "sampling.",
     "interrupts of a thread a second, or off", "sample"},
    {"sample", "plugins", PC_OPTION_LIST, "clock", 0, TEXT_MAX, "plugins", AT(sample_plugins),
     "What is learnt at each interrupt. Plugins are named by their names, in the order in which "
     "they are called.",
     "what is learnt at interrupts", "sample-plugins"},
    {"sample", "source", PC_OPTION_CHOICE, "auto", 1, 15, "auto, cycles, clock, timer",
     AT(sample_source),
     "What interrupts: cycles are those of the processor, clock is perf_event's task clock, timer "
     "a "
     "POSIX timer on the thread's CPU time, which reaches the kernel's own frequency at most (100 "
     "to 1,000 Hz). Where one is refused, or opens and never interrupts, the next one is taken; "
     "auto begins with cycles.",
     "what interrupts", "sample-source"},
    {"sample", "max_overhead", PC_OPTION_INTEGER, "1", 1, 100, "percent", AT(sample_max_overhead),
     "Most of a thread's CPU time that its interrupts may cost. Where they cost more, the "
     "frequency of the thread is halved until they do not, and the profile says so.",
     "most CPU time for interrupts"},
    {"sample", "events", PC_OPTION_LIST, "", 0, TEXT_MAX, "events", AT(sample_events),
     "Events that are counted in each thread, by the names that `pcollect events` lists: presets, "
     "native events, or r and the processor's own code in hexadecimal. What does not open is named "
     "at the start and left out.",
     "events to count; pcollect events lists them"},
    {"sample", "always", PC_OPTION_LIST, "", 0, TEXT_MAX, "events", AT(sample_always),
     "Events that are counted all the time and read at MPI calls, exactly, while the events of "
     "`events` take turns beside them. They have to fit into the processor together. None: the "
     "same is done with `events` where all of them fit.",
     "events to count at all times", "always-events"},
    {"sample", "counters_per_group", PC_OPTION_INTEGER, "0", 0, 15, "counters",
     AT(sample_counters_per_group),
     "Most events that are counted at the same time. 0 is as many as the processor has counters "
     "for. Events that do not all fit are counted in turns.",
     "most events counted at the same time"},
    {"sample", "rotation", PC_OPTION_CHOICE, "random", 1, 15, "random, round-robin",
     AT(sample_rotation),
     "How the plugin counters takes turns. random draws what is counted, from some microseconds to "
     "the next, and what it finds is an unbiased estimate. round-robin, for comparison only, "
     "counts "
     "one group from an interrupt to the next, which come at equal distances, then the next "
     "group.",
     "how events take turns"},
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
