/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Configuration: one table of options (config/option_table.c) from which the parser, the defaults,
 * the environment override, the help and the manual page are made. No other part of the library
 * calls getenv. No malloc: it runs inside other people's programs, and keeps errno.
 *
 * Two libraries: libpcconfig.la for the process, libpcconfigtext.la (stdio) for the command.
 */
#ifndef PC_CONFIG_H
#define PC_CONFIG_H

#include "base/base.h"

#include <stdio.h>

#define PC_CONFIG_TEXT_BYTES 1024
#define PC_CONFIG_JOB_BYTES 64
#define PC_CONFIG_MISSED_BYTES 512
#define PC_CONFIG_MAX_OPTIONS 64u
#define PC_CONFIG_FILE_BYTES (1u << 20) /* larger files are refused */

/* Origin of an option's value. */
enum pc_config_origin { PC_CONFIG_DEFAULT = 0, PC_CONFIG_FILE, PC_CONFIG_ENVIRONMENT };

struct pc_config {
    char output_path[PC_CONFIG_TEXT_BYTES];     /* [output] path */
    uint64_t output_per_rank;                   /* ranks; 0: no bound */
    uint64_t output_contexts;                   /* of the job; 0: no bound */
    uint64_t output_values;                     /* bytes; 0: no bound */
    uint64_t output_wait;                       /* s */
    bool output_html;                           /* pcollect run writes the page, too */
    uint64_t output_every;                      /* s between checkpoints; 0: none are written */
    char spool_path[PC_CONFIG_TEXT_BYTES];      /* [spool] path, absolute */
    char collect_plugins[PC_CONFIG_TEXT_BYTES]; /* [collect] plugins: a,b,c without blanks */
    uint64_t collect_buffer_size;               /* bytes per process */
    uint64_t collect_max_depth;                 /* frames */
    bool collect_always;
    uint64_t sample_frequency; /* Hz, 0: no sampling */
    char sample_plugins[PC_CONFIG_TEXT_BYTES];
    char sample_source[PC_CONFIG_TEXT_BYTES]; /* "auto", "cycles", "clock", "timer" */
    uint64_t sample_max_overhead;             /* percent of CPU time */
    char sample_always[PC_CONFIG_TEXT_BYTES];
    char sample_events[PC_CONFIG_TEXT_BYTES];
    char sample_rotation[PC_CONFIG_TEXT_BYTES]; /* "random" or "round-robin" */
    uint64_t sample_counters_per_group;         /* 0: as many as the processor takes */
    bool strict;                                /* PCOLLECT_STRICT=1 */
    uint64_t run_key;                      /* PCOLLECT_RUN, set by `pcollect run`; 0 without it */
    char job_id[PC_CONFIG_JOB_BYTES];      /* of the batch system or launcher, or empty */
    char file[PC_CONFIG_TEXT_BYTES];       /* the file that was read, or empty */
    uint8_t origin[PC_CONFIG_MAX_OPTIONS]; /* enum pc_config_origin, in the order of the table */
    uint32_t line[PC_CONFIG_MAX_OPTIONS];  /* of the file, likewise; 0: not in the file */
    char missed[PC_CONFIG_MISSED_BYTES];   /* for pc_config_next_missed */
};

/* Defaults, then the file named by PCOLLECT_CONFIG, then PCOLLECT_<SECTION>_<KEY>. On failure the
 * text names file, line, reason and the nearest valid key, and the options of *c are the defaults;
 * strict, run_key and job_id come from the environment. Environment is ignored in setuid programs.
 * A variable PCOLLECT_* that is not known is a failure. init-only, keeps errno. */
int pc_config_load(struct pc_config *c, struct pc_error *error);

/* Loads one file, without the environment. */
int pc_config_load_file(struct pc_config *c, const char *path, struct pc_error *error);

/* Defaults, then the file `path` (NULL: PCOLLECT_CONFIG), then the environment's options. */
int pc_config_load_with(struct pc_config *c, const char *path, struct pc_error *error);

void pc_config_defaults(struct pc_config *c);

/* An option that was set, by file or environment. */
struct pc_config_setting {
    const char *section, *key;
    char value[PC_CONFIG_TEXT_BYTES + 3]; /* as it would be written in a file */
    enum pc_config_origin origin;         /* never PC_CONFIG_DEFAULT */
    unsigned line;                        /* of the file, with PC_CONFIG_FILE */
};

/* Finds the first option that was set, from option number *next on, and moves *next after it;
 * false: there is none. */
bool pc_config_next_setting(const struct pc_config *c, unsigned *next,
                            struct pc_config_setting *out);

/* A name that -NAME removes from a list, which does not have it: no plugin, or one that is off. */
struct pc_config_missed {
    char section[PC_CONFIG_MISSED_BYTES], key[PC_CONFIG_MISSED_BYTES], name[PC_CONFIG_MISSED_BYTES];
};

/* Finds the next such name; *next is 0 at first. False: there are no more; some of many may be left
 * out. */
bool pc_config_next_missed(const struct pc_config *c, size_t *next, struct pc_config_missed *out);

/* Folders in which a process may collect, in the order in which they are tried: [spool] path, then
 * those of a local disk; NULL after the last. AS-safe. */
const char *pc_config_spool(const struct pc_config *c, unsigned i);

/* Checks that the option takes the value. PC_EARG with a text that says why not. */
int pc_config_check(const char *section, const char *key, const char *value,
                    struct pc_error *error);

/* True if OMP_TOOL_LIBRARIES names a tool for the OpenMP runtime. */
bool pc_config_omp_tool(void);

/* Reads [collect] always for the constructor, in every process; prints no message if the
 * configuration is wrong. Reads only two variables if nothing is configured. */
bool pc_config_always(void);

/* Data about this process from the launcher's environment. */
struct pc_config_launch {
    int rank;                  /* in MPI_COMM_WORLD, or -1 */
    int n_ranks;               /* of the job, or -1 */
    int n_local;               /* ranks on this node, or -1 */
    int local_rank;            /* among them, or -1 */
    const char *rank_variable; /* the variable that contained the rank, or "" */
    const char *name;          /* name of the launcher that sets it, or "" */
    uint64_t key;              /* the same for all ranks of a job; 0: not known */
    uint64_t node_key;         /* of this process only: the same for all ranks of the job on this
                                * node, even after the launcher has ended; 0: not known */
};
struct pc_config_launch pc_config_launch(void);

/* Data about another process from its launcher's environment, in the n bytes of its
 * /proc/PID/environ, which end with a 0. */
struct pc_config_launch pc_config_launch_of(int pid, const char *environment, size_t n);

/* The key of the launcher on this node and of the job: the same for all ranks that it started here;
 * 0: there is no launcher. It combines the job's key and the launching process. */
uint64_t pc_config_launcher(const struct pc_config_launch *l);

/* The rank alone, as in struct pc_config_launch. */
int pc_config_launch_rank(void);

/* The launcher's names of this job and of the job that has spawned it; "" if there is none. All
 * ranks of a job have the same names. Open MPI 4 gives both, MPICH's Hydra neither. */
struct pc_config_related {
    char job[PC_CONFIG_JOB_BYTES];
    char parent[PC_CONFIG_JOB_BYTES];
    int parent_rank; /* root of the spawn in the parent job; -1: not known */
};
void pc_config_related(struct pc_config_related *out);

/* Writes the path as a part of an output pattern: each % is doubled. False: it does not fit into n
 * bytes. AS-safe. */
bool pc_config_pattern(const char *path, char *out, size_t n);

/* Expands %x %n %j %t %% of an output pattern: executable's base name, ranks, job id ("nojob" if
 * there is none), start time in UTC as YYYYMMDD-HHMMSS. '/' and control characters of the values
 * become '_'. names NULL: only checks the pattern, out may be NULL. On failure (PC_EARG, PC_ENOMEM
 * if it does not fit) the text says why and out is not written. AS-safe. */
struct pc_config_names {
    const char *exe; /* path or base name */
    int n_ranks;
    const char *job;
    uint64_t realtime_ns;
};
int pc_config_expand(const char *pattern, const struct pc_config_names *names, char *out, size_t n,
                     struct pc_error *error);

/* ---- libpcconfigtext.la: the command only ---------------------------------------------------- */

/* Prints all options with their values and the origin of each, as a file that parses to the same
 * values. */
void pc_config_show(FILE *out, const struct pc_config *c);

/* Prints a commented file with all defaults; it parses to the defaults. */
void pc_config_template(FILE *out);

/* Prints the options as a part of the manual page, in man(7) macros. */
void pc_config_manual(FILE *out);

/* The i-th option on the command line of `pcollect run`; false: there are no more. */
struct pc_config_option {
    char name[32];     /* without the -- */
    char argument[64]; /* for the help: "HZ", or all values with | between */
    char brief[128];   /* its effect, in a few words */
    const char *section, *key;
};
bool pc_config_option(unsigned i, struct pc_config_option *out);

/* Sets the option from the text of a command line, which may change a list that *c has. PC_EARG
 * with a text.
 */
int pc_config_set(struct pc_config *c, unsigned i, const char *text, struct pc_error *why);

/* The environment variable that passes an option of *c to a process. */
struct pc_config_variable {
    char name[64], value[PC_CONFIG_TEXT_BYTES + 3];
};
void pc_config_variable(const struct pc_config *c, unsigned i, struct pc_config_variable *out);

#endif
