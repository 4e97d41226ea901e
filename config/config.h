/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Configuration: one table of options (config/options.c) from which the parser, the defaults, the
 * environment override, the help and the manual page are made. Nothing else in the project calls
 * getenv. No malloc: it runs inside other people's programs.
 */
#ifndef PC_CONFIG_H
#define PC_CONFIG_H

#include "base/base.h"

#include <stdio.h>

#define PC_CONFIG_TEXT_BYTES 1024

struct pc_config {
    char output_path[PC_CONFIG_TEXT_BYTES];     /* [output] path */
    char spool_path[PC_CONFIG_TEXT_BYTES];      /* [spool] path */
    char collect_plugins[PC_CONFIG_TEXT_BYTES]; /* [collect] plugins, comma-separated */
    uint64_t collect_buffer_size;               /* bytes a process */
    uint64_t collect_max_depth;                 /* frames */
    bool collect_always;
    uint64_t sample_frequency; /* Hz, 0: no sampling */
    char sample_events[PC_CONFIG_TEXT_BYTES];
    bool strict;      /* PCOLLECT_STRICT=1 */
    uint64_t run_key; /* PCOLLECT_RUN, given by `pcollect run`; 0 without */
    char job_id[64];  /* of the batch system or launcher, from its environment; or empty */
};

/* Defaults, then the file named by PCOLLECT_CONFIG, then PCOLLECT_<SECTION>_<KEY>. On failure the
 * text names file, line, reason and the nearest valid key, and *c holds the defaults. Environment
 * is ignored in setuid programs. AS-safe but for open and read. */
int pc_config_load(struct pc_config *c, struct pc_error *error);

/* The same for one file and no environment. */
int pc_config_load_file(struct pc_config *c, const char *path, struct pc_error *error);

void pc_config_defaults(struct pc_config *c);

/* For the constructor, in every process: [collect] always, without a message if anything is wrong
 * with the configuration. Looks at two variables where nothing is configured. */
bool pc_config_always(void);

/* This process's rank as the launcher's environment tells it, or -1. */
int pc_config_launch_rank(void);

/* Expands %x %n %j %t %% of an output pattern (executable's base name, ranks, job id, start time as
 * YYYYMMDD-HHMMSS). */
struct pc_config_names {
    const char *exe; /* path or base name */
    int n_ranks;
    const char *job;
    uint64_t realtime_ns;
};
int pc_config_expand(const char *pattern, const struct pc_config_names *names, char *out, size_t n,
                     struct pc_error *error);

/* The command only: all options with their values, origin and doc; a commented template; the
 * options section of the manual page. */
void pc_config_show(FILE *out, const struct pc_config *c);
void pc_config_template(FILE *out);
void pc_config_manual(FILE *out);

#endif
