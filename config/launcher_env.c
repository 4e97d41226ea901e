/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the launcher's variables of this process: its rank, the number of ranks on the node, the
 * job. They are not trusted: a wrong value can cost the profile, but never the job.
 */
#include "config/config_private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *variable, *launcher;
} rank_variables[] = {
    {"OMPI_COMM_WORLD_RANK", "Open MPI"},
    {"PMIX_RANK", "PMIx"},
    {"PMI_RANK", "MPICH"}, /* Hydra, also in Intel MPI */
    {"MV2_COMM_WORLD_RANK", "MVAPICH"},
    {"PALS_RANKID", "Cray PALS"},
    {"ALPS_APP_PE", "Cray ALPS"},
    {"FLUX_TASK_RANK", "Flux"},
    {"SLURM_PROCID", "Slurm"}, /* last: others inherit it from the batch script */
};

static const char *const local_size_variables[] = {
    "OMPI_COMM_WORLD_LOCAL_SIZE", /* Open MPI */
    "MPI_LOCALNRANKS",            /* MPICH's Hydra, Intel MPI */
    "MV2_COMM_WORLD_LOCAL_SIZE",  /* MVAPICH */
    "PALS_LOCAL_SIZE",            /* Cray PALS */
};

static const char *const local_rank_variables[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI */
    "MPI_LOCALRANKID",            /* MPICH's Hydra, Intel MPI */
    "MV2_COMM_WORLD_LOCAL_RANK",  /* MVAPICH */
    "PALS_LOCAL_RANKID",          /* Cray PALS */
    "FLUX_TASK_LOCAL_ID",         /* Flux */
    "SLURM_LOCALID",              /* srun */
};

static const char *const size_variables[] = {
    "OMPI_COMM_WORLD_SIZE", /* Open MPI */
    "PMI_SIZE",             /* MPICH's Hydra, Intel MPI */
    "MV2_COMM_WORLD_SIZE",  /* MVAPICH */
    "FLUX_JOB_SIZE",        /* Flux */
    "SLURM_STEP_NUM_TASKS", /* srun; size of the step, not of the batch job */
};

/* Open MPI sets it to a random value for each job. The key also contains the name of a spawned
 * job. */
#define DRAWN_VARIABLE "OMPI_MCA_orte_precondition_transports"

/* Together their values identify a job. All ranks of one job have the same. */
static const char *const key_variables[] = {
    DRAWN_VARIABLE,
    "PMIX_NAMESPACE",          /* launchers that speak PMIx */
    "OMPI_MCA_ess_base_jobid", /* Open MPI 4 */
    "PALS_APID",
    "ALPS_APP_ID",
    "FLUX_JOB_ID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "PBS_JOBID",
    "LSB_JOBID",
};

/* Variables with the launcher's own name of the job, not the batch system's. */
static const char *const job_variables[] = {
    "PMIX_NAMESPACE",          /* launchers that speak PMIx */
    "OMPI_MCA_ess_base_jobid", /* Open MPI 4 */
};

/* The number in the text; -1: it is none. */
static int read_number(const char *text)
{
    int n = 0;
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *text - '0', &n))
            return -1;
    return n;
}

/* NAME=VALUE, each terminated, as in /proc/PID/environ. `text` NULL: the environment of this
 * process. */
struct variables {
    const char *text;
    size_t n;
};

static const char *value_of(const struct variables *v, const char *name)
{
    size_t n = strlen(name);
    if (v->text == NULL)
        return secure_getenv(name);
    for (const char *at = v->text, *end = v->text + v->n; at < end; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
    return NULL;
}

/* The number in the first of the variables that has one, or -1. */
static int read_first(const struct variables *v, const char *const *names, unsigned n, int least)
{
    int number = -1;
    for (unsigned i = 0; i < n && number < least; i++)
        number = read_number(value_of(v, names[i]));
    return number < least ? -1 : number;
}

static uint64_t hash_variables(const struct variables *v)
{
    uint64_t key = 0;
    for (unsigned i = 0; i < PC_ARRAY_LEN(key_variables); i++) {
        const char *text = value_of(v, key_variables[i]);
        if (text && *text)
            key = pc_hash_bytes(text, strlen(text), key + i + 1);
    }
    return key;
}

static struct pc_config_launch read_launch(const struct variables *v)
{
    struct pc_config_launch l = {.rank = -1, .rank_variable = "", .name = ""};
    for (unsigned i = 0; i < PC_ARRAY_LEN(rank_variables) && l.rank < 0; i++) {
        const char *text = value_of(v, rank_variables[i].variable);
        if (text == NULL || *text < '0' || *text > '9')
            continue;
        l.rank = read_number(text);
        l.rank_variable = rank_variables[i].variable;
        l.name = rank_variables[i].launcher;
        break;
    }
    l.n_local = read_first(v, local_size_variables, PC_ARRAY_LEN(local_size_variables), 1);
    l.local_rank = read_first(v, local_rank_variables, PC_ARRAY_LEN(local_rank_variables), 0);
    l.n_ranks = read_first(v, size_variables, PC_ARRAY_LEN(size_variables), 1);
    l.key = hash_variables(v);
    return l;
}

/* Finds the nearest ancestor that has no rank: between it and a rank there may be shells, which
 * inherit the rank. An ancestor that ends meanwhile leaves its children to another: then the search
 * begins again. */
static bool find_launcher(int pid, const char *rank_variable, struct pc_process_status *out)
{
    enum { MAX_STEPS = 32 };
    bool known = pc_process_look(pid, out);
    for (int i = 0; i < MAX_STEPS && known && out->parent > 0; i++)
        if (!pc_process_look(out->parent, out))
            known = pc_process_look(pid, out);
        else if (!pc_process_has_variable(out->pid, rank_variable, NULL))
            return true;
    return false;
}

/* Key from the command line of Hydra's proxy. Hydra gives ranks no name of their job, but its
 * proxies, one on each node, have the launcher's address and the number of the process group among
 * their arguments. */
static uint64_t proxy_key(int proxy)
{
    static const char *const options[] = {"--control-port", "--pgid"};
    char path[64], words[4096];
    uint64_t key = 0;
    pc_format(path, sizeof path, "/proc/%d/cmdline", proxy);
    size_t n = pc_read_small(path, words, sizeof words);
    for (const char *at = words; at < words + n; at += strlen(at) + 1) {
        const char *value = at + strlen(at) + 1;
        for (unsigned i = 0; i < PC_ARRAY_LEN(options) && value < words + n; i++)
            if (!strcmp(at, options[i]))
                key = pc_hash_bytes(value, strlen(value), key + i + 1);
    }
    return key;
}

static struct pc_config_launch launch_of(int pid, const struct variables *v)
{
    struct pc_process_status launcher;
    struct pc_config_launch l = read_launch(v);
    if (l.rank >= 0 && !l.key && find_launcher(pid, l.rank_variable, &launcher))
        l.key = proxy_key(launcher.pid);
    return l;
}

/* Key from the socket between proxy and launcher, which ranks of Hydra inherit: its inode number is
 * unique on the node as long as one of them lives. */
static uint64_t control_key(const struct variables *v)
{
    struct stat st;
    int fd = read_number(value_of(v, "HYDI_CONTROL_FD"));
    return fd < 0 || fstat(fd, &st) || !S_ISSOCK(st.st_mode) ? 0 : pc_hash_u64(st.st_ino);
}

struct pc_config_launch pc_config_launch(void)
{
    const struct variables own = {NULL, 0};
    struct pc_config_launch l = launch_of(getpid(), &own);
    if (l.rank >= 0)
        l.node_key = value_of(&own, DRAWN_VARIABLE) ? l.key : control_key(&own);
    return l;
}

struct pc_config_launch pc_config_launch_of(int pid, const char *environment, size_t n)
{
    return launch_of(pid, &(struct variables){environment, n});
}

uint64_t pc_config_launcher(const struct pc_config_launch *l)
{
    struct pc_process_status p;
    if (l->rank < 0 || !find_launcher(getpid(), l->rank_variable, &p))
        return 0;
    return pc_hash_u64(pc_hash_u64(p.start << 22 ^ (uint64_t)p.pid) ^ l->key);
}

int pc_config_launch_rank(void)
{
    return read_launch(&(struct variables){NULL, 0}).rank;
}

/* Open MPI gives a spawned process the port of the rank that spawned it: job.rank:number (4.1). */
static void read_parent(const char *port, struct pc_config_related *out)
{
    const char *end = strrchr(port, ':'), *dot = strchr(port, '.');
    if (end == NULL || dot == NULL || dot > end || (size_t)(dot - port) >= sizeof out->parent)
        return;
    memcpy(out->parent, port, (size_t)(dot - port));
    out->parent_rank = read_number(dot + 1);
}

void pc_config_related(struct pc_config_related *out)
{
    const char *text = NULL, *port = secure_getenv("OMPI_PARENT_PORT");
    *out = (struct pc_config_related){.parent_rank = -1};
    for (unsigned i = 0; i < PC_ARRAY_LEN(job_variables) && !text; i++)
        text = secure_getenv(job_variables[i]);
    if (text && strlen(text) < sizeof out->job)
        pc_format(out->job, sizeof out->job, "%s", text);
    if (port)
        read_parent(port, out);
}
