/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by `pcollect record` and `pcollect top`: selects the sampled processes and takes their
 * samples.
 */
#ifndef PCT_RECORD_H
#define PCT_RECORD_H

#include "command/watched_jobs.h"
#include "watch/recorder.h"
#include "watch/stopped_samples.h"

/* Samples in a second, by default and at most. They cost CPU time of the program: at 50,000 they
 * took nine tenths of it. */
#define PCT_DEFAULT_HZ 199
#define PCT_MOST_HZ 10000
#define PCT_TEXT_OF(number) #number
#define PCT_TEXT_OF_HZ(number) PCT_TEXT_OF(number)
#define PCT_DEFAULT_HZ_TEXT PCT_TEXT_OF_HZ(PCT_DEFAULT_HZ)
#define PCT_MOST_HZ_TEXT PCT_TEXT_OF_HZ(PCT_MOST_HZ)

/* Targets and frequency from the options. */
struct pct_sampled_who {
    uint64_t frequency;
    const char *event;          /* sampled beside the clock; NULL: none */
    uint64_t period;            /* of the event; 0: the frequency */
    const char *pids, *threads; /* lists; NULL: none */
    char job[PCT_JOB_ID_BYTES];
    bool processors;
    bool jobs; /* the MPI jobs that run here; where there are none, processors is set */
};

struct pct_sampling {
    const struct pct_command *self;
    struct pct_sampled_who *who;
    /* Receives each sample, with show_arg; NULL: the recorder keeps them. */
    void (*show)(void *arg, const struct pct_sampled_stack *s);
    void *show_arg;
    struct pct_rings_what what;
    struct pct_rings *rings;
    struct pct_stops *stops; /* in place of rings, where the kernel takes no samples; else NULL */
    struct pct_recorder *recorder;
    int *ids; /* processes or threads that are sampled */
    size_t n_ids;
};

/* The options that both commands have for this. */
#define PCT_OPTIONS_SAMPLED_WHO(verb)                                                              \
    {'F', "frequency", "HZ",                                                                       \
     "samples in a second of CPU time of each thread (default: " PCT_DEFAULT_HZ_TEXT ")",          \
     PCT_MOST_HZ_TEXT                                                                              \
     " at most. The clock is that of the thread, of each processor with --all-processors. "        \
     "Each sample costs the thread some 10 to 20 us of CPU time, which its figures contain. "      \
     "At " PCT_MOST_HZ_TEXT " this is a fifth of them, at " PCT_DEFAULT_HZ_TEXT                    \
     " nothing to speak of."},                                                                     \
        {'p',                                                                                      \
         "pid",                                                                                    \
         "PID,...",                                                                                \
         verb " running processes; of a launcher, its ranks on this node",                         \
         "So of a shell that started one. Ranks below any other process are not taken with it: "   \
         "--job takes them.",                                                                      \
         .group = 1},                                                                              \
        PCT_OPTION_JOB(verb, 1), {'t', "thread", "TID,...", verb " running threads", .group = 1},  \
    {                                                                                              \
        'a', "all-processors", NULL, verb " whatever runs on this node", .group = 1                \
    }

int pct_sampling_take_option(const struct pct_command *self, const struct pct_option *o,
                             const char *value, struct pct_sampled_who *who);
/* True if the options name running processes, threads or processors. */
bool pct_sampling_is_of_others(const struct pct_sampled_who *who);

/* Makes the recorder, and selects the running targets. PCT_DONE; PCT_CALL, PCT_DATA: said. */
int pct_sampling_open(struct pct_sampling *s);
/* Selects a process that has yet to exec the command: it is sampled from then on. */
int pct_sampling_add_command(struct pct_sampling *s, int pid, struct pc_error *error);
/* Begins and ends the sampling of running targets. */
void pct_sampling_start(struct pct_sampling *s);
void pct_sampling_stop(struct pct_sampling *s);
/* CPU time of the targets in ns, occurrences of the event, and lost records. */
struct pct_rings_counts pct_sampling_counts(const struct pct_sampling *s);
/* Processes new samples; returns the ns until the next call. */
uint64_t pct_sampling_drain(struct pct_sampling *s, bool all);
/* True if some process or thread of the options still runs; processors always do. */
bool pct_sampling_lives(const struct pct_sampling *s);
void pct_sampling_close(struct pct_sampling *s);

#endif
