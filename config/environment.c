/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the environment, except the launcher's variables (launcher_env.c). PCOLLECT_CONFIG names a
 * file, PCOLLECT_<SECTION>_<KEY> overrides one option, PCOLLECT_STRICT and PCOLLECT_RUN are about
 * the process, and the batch system's own variables give the job id. All of it is ignored in setuid
 * programs, whose environment is someone else's.
 */
#include "base/nearest.h"
#include "config/config_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char *const other_variables[] = {"PCOLLECT_CONFIG", "PCOLLECT_STRICT", "PCOLLECT_RUN",
                                              "PCOLLECT_RUN_ALONE"};

/* Searched in this order: the batch system's job id comes before the launcher's. */
static const char *const job_variables[] = {
    "SLURM_JOB_ID",            /* Slurm */
    "PBS_JOBID",               /* PBS, Torque */
    "LSB_JOBID",               /* LSF */
    "FLUX_JOB_ID",             /* Flux */
    "OAR_JOB_ID",              /* OAR */
    "COBALT_JOBID",            /* Cobalt */
    "JOB_ID",                  /* Grid Engine */
    "PMIX_NAMESPACE",          /* launchers that speak PMIx */
    "OMPI_MCA_ess_base_jobid", /* Open MPI 4 */
};

/* True if the variable's name, up to '=', is `name`. */
static bool is_named(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static int refuse_variable(const char *entry, struct pc_error *error)
{
    char name[PC_OPTION_VARIABLE_BYTES], candidate[PC_OPTION_VARIABLE_BYTES];
    char nearest[PC_OPTION_VARIABLE_BYTES] = "PCOLLECT_CONFIG";
    size_t n = strcspn(entry, "=");
    unsigned best = PC_FAR;
    if (n >= sizeof name)
        n = sizeof name - 1;
    memcpy(name, entry, n);
    name[n] = '\0';
    for (unsigned i = 0; i < pc_n_options + PC_ARRAY_LEN(other_variables); i++) {
        if (i < pc_n_options)
            pc_option_variable(&pc_options[i], candidate);
        else
            pc_format(candidate, sizeof candidate, "%s", other_variables[i - pc_n_options]);
        unsigned d = pc_distance(name, candidate);
        if (d < best) {
            best = d;
            memcpy(nearest, candidate, sizeof nearest);
        }
    }
    return pc_error_set(error, PC_EARG,
                        "environment: unknown variable %s; the nearest is %s; unset it, or see "
                        "`pcollect config --template`",
                        name, nearest);
}

/* Takes one entry "PCOLLECT_...=value". */
static int take_entry(struct pc_config *c, const char *entry, struct pc_error *error)
{
    char variable[PC_OPTION_VARIABLE_BYTES];
    struct pc_error why;
    for (unsigned i = 0; i < PC_ARRAY_LEN(other_variables); i++)
        if (is_named(entry, other_variables[i]))
            return PC_OK;
    for (unsigned i = 0; i < pc_n_options; i++) {
        pc_option_variable(&pc_options[i], variable);
        if (!is_named(entry, variable))
            continue;
        if (pc_option_parse(&pc_options[i], entry + strlen(variable) + 1, c, &why))
            return pc_error_set(error, PC_EARG, "environment: %s: %s", variable, why.text);
        c->origin[i] = PC_CONFIG_ENVIRONMENT;
        return PC_OK;
    }
    return refuse_variable(entry, error);
}

int pc_config_read_environment(struct pc_config *c, char *const *environment,
                               struct pc_error *error)
{
    int err = PC_OK;
    for (; environment && *environment && err == PC_OK; environment++)
        if (strncmp(*environment, "PCOLLECT_", 9) == 0)
            err = take_entry(c, *environment, error);
    return err;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int take_run_key(struct pc_config *c, struct pc_error *error)
{
    const char *text = secure_getenv("PCOLLECT_RUN");
    uint64_t key = 0;
    size_t n = 0;
    if (text == NULL || *text == '\0')
        return PC_OK;
    for (; hex_digit(text[n]) >= 0 && n < 17; n++)
        key = key << 4 | (unsigned)hex_digit(text[n]);
    if (text[n] || n > 16)
        return pc_error_set(error, PC_EARG,
                            "environment: PCOLLECT_RUN is not a key of 16 hexadecimal digits; it "
                            "is set by `pcollect run` only: unset it");
    c->run_key = key;
    return PC_OK;
}

static int take_strict(struct pc_config *c, struct pc_error *error)
{
    const char *text = secure_getenv("PCOLLECT_STRICT");
    if (text == NULL || *text == '\0' || strcmp(text, "0") == 0 || strcmp(text, "no") == 0)
        return PC_OK;
    c->strict = true;
    if (strcmp(text, "1") == 0 || strcmp(text, "yes") == 0)
        return PC_OK;
    return pc_error_set(error, PC_EARG, "environment: PCOLLECT_STRICT is neither 0 nor 1");
}

static void take_job_id(struct pc_config *c)
{
    for (unsigned i = 0; i < PC_ARRAY_LEN(job_variables); i++) {
        const char *text = secure_getenv(job_variables[i]);
        if (text && *text) {
            pc_format(c->job_id, sizeof c->job_id, "%s", text);
            return;
        }
    }
}

/* Resets only the options: data about the process from the environment stays. */
static void reset_options(struct pc_config *c)
{
    struct pc_config fresh;
    pc_config_defaults(&fresh);
    fresh.strict = c->strict;
    fresh.run_key = c->run_key;
    memcpy(fresh.job_id, c->job_id, sizeof fresh.job_id);
    memcpy(c, &fresh, sizeof *c);
}

/* True if `pcollect run` started this process itself, without a launcher, and wants it collected
 * with or without MPI. Processes that it starts have another parent. */
static bool is_run_alone(void)
{
    const char *text = secure_getenv("PCOLLECT_RUN_ALONE");
    return text && *text && strtol(text, NULL, 10) == (long)getppid();
}

static int load_options(struct pc_config *c, const char *path, struct pc_error *error)
{
    const char *named_by = path ? "-c" : "PCOLLECT_CONFIG";
    if (path == NULL)
        path = secure_getenv("PCOLLECT_CONFIG");
    int err = path && *path ? pc_config_read(c, path, named_by, error) : PC_OK;
    if (err == PC_OK && is_run_alone())
        c->collect_always = true;
    if (err == PC_OK && !getauxval(AT_SECURE))
        err = pc_config_read_environment(c, environ, error);
    return err;
}

int pc_config_load_with(struct pc_config *c, const char *path, struct pc_error *error)
{
    int saved = errno;
    pc_config_defaults(c);
    take_job_id(c);
    int err = take_strict(c, error);
    int key_err = take_run_key(c, error);
    if (err == PC_OK)
        err = key_err;
    if (err == PC_OK)
        err = load_options(c, path, error);
    if (err)
        reset_options(c);
    errno = saved;
    return err;
}

int pc_config_load(struct pc_config *c, struct pc_error *error)
{
    return pc_config_load_with(c, NULL, error);
}

int pc_config_load_file(struct pc_config *c, const char *path, struct pc_error *error)
{
    int saved = errno;
    pc_config_defaults(c);
    int err = pc_config_read(c, path, "--check", error);
    if (err)
        pc_config_defaults(c);
    errno = saved;
    return err;
}

bool pc_config_omp_tool(void)
{
    const char *text = secure_getenv("OMP_TOOL_LIBRARIES");
    return text && *text;
}

bool pc_config_always(void)
{
    struct pc_config c;
    const char *file = secure_getenv("PCOLLECT_CONFIG");
    const char *text = secure_getenv("PCOLLECT_COLLECT_ALWAYS");
    int i = pc_option_find("collect", "always");
    if ((file == NULL || *file == '\0') && text == NULL)
        return is_run_alone();
    memset(&c, 0, sizeof c);
    if (text)
        return pc_option_parse(&pc_options[i], text, &c, NULL) == PC_OK && c.collect_always;
    return pc_config_load(&c, NULL) == PC_OK && c.collect_always;
}

int pc_config_check(const char *section, const char *key, const char *value, struct pc_error *error)
{
    struct pc_config c;
    struct pc_error why;
    int i = pc_option_find(section, key);
    if (i < 0)
        return pc_error_set(error, PC_EARG, "there is no key \"%s\" in [%s]", key, section);
    pc_config_defaults(&c);
    if (!pc_option_parse(&pc_options[i], value, &c, &why))
        return PC_OK;
    return pc_error_set(error, PC_EARG, "[%s] %s: %s", section, key, why.text);
}

const char *pc_config_spool(const struct pc_config *c, unsigned i)
{
    static const char *const others[] = {"/tmp", "/var/tmp"};
    if (!i)
        return c->spool_path;
    return i <= PC_ARRAY_LEN(others) ? others[i - 1] : NULL;
}
