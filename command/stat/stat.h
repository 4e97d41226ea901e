/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of `pcollect stat`: the request, its events (stat_events.c), its targets
 * (stat_targets.c), ranks that a command starts (stat_ranks.c), figures of a command where no
 * counter may be used (stat_accounted.c), and the time of counting (stat.c).
 */
#ifndef PCT_STAT_H
#define PCT_STAT_H

#include "command/watched_jobs.h"
#include "command/whole_file.h"
#include "view/stat_print.h"
#include "watch/count.h"
#include "watch/started_ranks.h"

#include <sys/resource.h>

enum pct_stat_per { PCT_PER_ALL, PCT_PER_RANK, PCT_PER_PROCESS, PCT_PER_THREAD, PCT_PER_PROCESSOR };

struct pct_stat_request {
    const char *events; /* list; NULL: the usual ones */
    const char *pids, *threads, *output;
    char job[PCT_JOB_ID_BYTES];
    uint64_t repeat, interval_ms, per_group;
    enum pct_stat_format format;
    enum pct_stat_per per;
    bool processors;
    char **words; /* of the command, up to NULL */
    size_t n_words;
};

/* Values of the runs so far. */
struct pct_stat_runs {
    double *values; /* `width` columns for each run (stat.c) */
    size_t n, width;
};

struct pct_stat_job {
    const struct pct_command *self;
    const struct pct_stat_request *request;
    struct pct_stat stat;
    struct pct_stat_event *names; /* those of stat */
    size_t *numbers;              /* of each in `count` */
    struct pct_count *count;
    /* Targets that are counted. */
    const char *who; /* kind of target */
    int *targets;    /* the number of each */
    size_t *order;   /* indices of targets as they are printed */
    size_t n_targets, room, order_room;
    uint64_t *used_ns; /* of processors: CPU time that each had used when it was taken last */
    struct pct_stat_figure *used, all_used; /* in the stretch before: of each, of all */
    int *living; /* counting ends when these processes or threads have ended */
    size_t n_living, living_room;
    int world; /* ranks of the job, on all nodes; -1: no job */
    int rank;  /* rank of the command, if a launcher started it; -1: none */
    /* Ranks that the command starts, if they are counted; else NULL. */
    struct pct_started *started;
    int n_local;      /* of the last launch, on this node; -1: unknown */
    size_t n_begun;   /* ranks that were found, each time that they were started */
    uint64_t late_ns; /* longest time from the exec of a rank to the begin of its counts */
    int failed;       /* PCT_DATA: a rank could not be counted, said */
    /* The run. */
    bool begun;
    uint64_t start_ns, end_ns, last_ns, due_ns;
    uint64_t counted_ns;   /* CPU time in all that was counted */
    uint64_t uncounted_ns; /* that the kernel did not count, said */
    /* Accounting of the kernel, where nothing counts (stat_accounted.c). */
    bool nothing;                /* no event counts here */
    bool accounted;              /* figures of the command are from there */
    struct rusage before, after; /* of ended processes: before the run, and behind it */
    struct pct_stat_runs runs;
    /* Output. */
    struct pct_stream stream;
    FILE *out;             /* on the stream */
    bool made;             /* it is a file that this command has made */
    size_t sentence_width; /* of the reasons why events are not counted */
    off_t whole_bytes; /* of the file, up to the end of its last whole interval; -1: it is a pipe */
    bool unwritten;    /* some counts could not be written where they should be, said */
};

/* Looks the events up and opens them. PCT_DONE, for a command even if nothing can be counted,
 * unless its ranks are wanted; PCT_CALL: a name is wrong, said; PCT_DATA: nothing can be counted,
 * said. */
int pct_stat_find_events(struct pct_stat_job *j);
void pct_stat_free_events(struct pct_stat_job *j);

/* Finds the events of which the kernel's accounting of ended processes has figures, if these are
 * figures of what is to be counted: of a whole command. */
void pct_stat_find_accounted(struct pct_stat_job *j);
/* Around a run of the command, when it has been waited for. */
void pct_stat_begin_accounted(struct pct_stat_job *j);
void pct_stat_take_accounted(struct pct_stat_job *j);
/* The figure of an event that is accounted, and that of the clock. */
struct pct_stat_figure pct_stat_accounted(const struct pct_stat_job *j, size_t e);
struct pct_stat_figure pct_stat_accounted_clock(const struct pct_stat_job *j);
/* Says where the figures are from. */
void pct_stat_put_accounted(const struct pct_stat_job *j);

/* Adds the processes, threads or processors that the request names; a command is added when it
 * starts. PCT_DONE; PCT_CALL, PCT_DATA: said. */
int pct_stat_find_targets(struct pct_stat_job *j);
/* Takes the CPU time that processors, the targets, have used since the last call, elapsed_ns ago.
 */
void pct_stat_take_used(struct pct_stat_job *j, uint64_t elapsed_ns);
/* The target of a rank; a new one is printed after those of lower numbers. */
size_t pct_stat_rank_target(struct pct_stat_job *j, int rank);
/* Adds the threads of a process to a target. PCT_DONE; PCT_DATA: said. */
int pct_stat_add_process(struct pct_stat_job *j, size_t target, int pid);

/* Prepares to count the ranks that a command starts, before its exec. False: said. */
bool pct_stat_await_ranks(struct pct_stat_job *j, int pid);
/* Begins to count the ranks that have been started. Returns the ns to the next call. */
uint64_t pct_stat_find_ranks(struct pct_stat_job *j);

#endif
