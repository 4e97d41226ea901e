/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The configuration: accepted text gives the value, refused text gives a message with the line and
 * the cure, and no file of any content has another result.
 */
#include "base/nearest.h"
#include "config/config_private.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t first_seed;
static char scratch[] = "/tmp/pcollect-config-XXXXXX";

static int make_scratch(void **state)
{
    (void)state;
    int fd = mkstemp(scratch);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static int remove_scratch(void **state)
{
    (void)state;
    return unlink(scratch);
}

static void write_scratch(const void *data, size_t n)
{
    FILE *f = fopen(scratch, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int load_text(const char *text, struct pc_config *c, struct pc_error *error)
{
    error->text[0] = '\0';
    write_scratch(text, strlen(text));
    return pc_config_load_file(c, scratch, error);
}

static void defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    struct pc_config c;
    pc_config_defaults(&c);
    assert_string_equal(c.output_path, "%x.%n.pcol");
    assert_string_equal(c.spool_path, "/dev/shm");
    assert_string_equal(c.collect_plugins, "time,topology");
    assert_int_equal(c.collect_buffer_size, 64 << 20);
    assert_int_equal(c.collect_max_depth, 512);
    assert_false(c.collect_always);
    assert_int_equal(c.sample_frequency, 100);
    assert_string_equal(c.sample_events, "");
}

/* A default that the parser refuses would silently be zero. */
static void every_default_is_accepted_by_its_own_parser(void **state)
{
    (void)state;
    for (unsigned i = 0; i < pc_n_options; i++) {
        struct pc_config c;
        struct pc_error why = {""};
        memset(&c, 0, sizeof c);
        assert_int_equal(pc_option_parse(&pc_options[i], pc_options[i].initial, &c, &why), 0);
        assert_non_null(pc_options[i].doc);
        assert_int_equal(pc_option_find(pc_options[i].section, pc_options[i].key), i);
    }
}

/* ---- What is accepted ----------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *section, *key, *shown; /* as pc_option_print writes it */
} good[] = {
    {"[collect]\nbuffer_size = 2M\n", "collect", "buffer_size", "2M"},
    {"[collect]\nbuffer_size=1048577", "collect", "buffer_size", "1048577"},
    {"[collect]\r\nbuffer_size = 4 GiB\r\n", "collect", "buffer_size", "4G"},
    {"[collect]\nbuffer_size = 2048k # two\n", "collect", "buffer_size", "2M"},
    {"\xef\xbb\xbf[ collect ] # byte order mark\n  max_depth =   8  ", "collect", "max_depth", "8"},
    {"[collect]\nmax_depth = 12 frames\n", "collect", "max_depth", "12"},
    {"[output]\nper_rank = 10 ranks\n", "output", "per_rank", "10"},
    {"[sample]\nmax_overhead = 5%\n", "sample", "max_overhead", "5"},
    {"[sample]\nmax_overhead = 5 percent\n", "sample", "max_overhead", "5"},
    {"[collect]\nalways = Yes\n", "collect", "always", "yes"},
    {"[collect]\nplugins = time , volume,x\n", "collect", "plugins", "time,volume,x"},
    {"[collect]\nplugins =\n", "collect", "plugins", ""},
    {"[collect]\nplugins = +request\n", "collect", "plugins", "time,topology,request"},
    {"[collect]\nplugins = +request , -time\n", "collect", "plugins", "topology,request"},
    {"[collect]\nplugins = -time,+a,+b,+time,-a\n", "collect", "plugins", "topology,b,time"},
    {"[collect]\nplugins = +time,-other\n", "collect", "plugins", "time,topology"},
    {"[collect]\nplugins = -time,-topology\n", "collect", "plugins", ""},
    {"[sample]\nfrequency = off\n", "sample", "frequency", "0"},
    {"[sample]\nfrequency = 2 kHz\n", "sample", "frequency", "2000Hz"},
    {"[sample]\nfrequency = 0\n", "sample", "frequency", "0"},
    {"[output]\nevery = 600\n", "output", "every", "10min"},
    {"[output]\nevery = off\n", "output", "every", "0"},
    {"[output]\nwait = 2h\n", "output", "wait", "2h"},
    {"[output]\nwait = 600\n", "output", "wait", "10min"},
    {"[output]\nwait = 90 MIN\n", "output", "wait", "90min"},
    {"[output]\nwait = off\n", "output", "wait", "0"},
    {"[output]\nwait = 61\n", "output", "wait", "61s"},
    {"[sample]\nevents = perf::TASK-CLOCK:u\n", "sample", "events", "perf::TASK-CLOCK:u"},
    {"[output]\npath = a#b c.pcol # note\n", "output", "path", "\"a#b c.pcol\""},
    {"[output]\npath = \"a # b\" # note\n", "output", "path", "\"a # b\""},
    {"[output]\npath = /x/%x-%j-%t-%%.pcol\n", "output", "path", "/x/%x-%j-%t-%%.pcol"},
    {"[output]\npath = a=b\n", "output", "path", "a=b"},
    {"[spool]\npath = /tmp\n[collect]\n[spool]\n", "spool", "path", "/tmp"},
    {"", "spool", "path", "/dev/shm"},
    {"\n\n# only comments\n   \t\n#", "spool", "path", "/dev/shm"},
};

static void files_set_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(good); i++) {
        struct pc_config c;
        struct pc_error error;
        char shown[PC_CONFIG_TEXT_BYTES + 3];
        int err = load_text(good[i].text, &c, &error);
        if (err)
            fail_msg("row %zu: %s", i, error.text);
        int o = pc_option_find(good[i].section, good[i].key);
        assert_true(o >= 0);
        pc_option_print(&pc_options[o], &c, shown, sizeof shown);
        assert_string_equal(shown, good[i].shown);
        assert_string_equal(c.file, scratch);
        assert_int_equal(c.origin[o],
                         strstr(good[i].text, "path") || strstr(good[i].text, good[i].key)
                             ? PC_CONFIG_FILE
                             : PC_CONFIG_DEFAULT);
    }
}

static void long_comments_are_skipped(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    char text[9000];
    memset(text, 'x', sizeof text);
    memcpy(text, "  #", 3);
    strcpy(text + sizeof text - 40, "\n[spool]\npath = /tmp\n");
    assert_int_equal(load_text(text, &c, &error), 0);
    assert_string_equal(c.spool_path, "/tmp");
}

/* ---- What is refused ------------------------------------------------------------------------ */

static const struct {
    const char *text;
    unsigned line;
    const char *says[4];
} bad[] = {
    {"[collect]\nbufer_size = 2M\n",
     2,
     {"unknown key \"bufer_size\" in [collect]", "\"buffer_size\""}},
    {"[collect]\nplugin = time\n", 2, {"did you mean \"plugins\"?"}},
    {"[collect]\n\nmaxdepth = 9\n", 3, {"did you mean \"max_depth\"?"}},
    {"[collect]\nmax-depth = 9\n", 2, {"did you mean \"max_depth\"?"}},
    {"[sample]\nfreqeuncy = 9\n", 2, {"did you mean \"frequency\"?"}},
    {"[collect]\nfrequency = 9\n", 2, {"did you mean \"frequency\" in [sample]?"}},
    {"[spool]\nxyzzyabc = 9\n", 2, {"unknown key", "nearest", "pcollect config --template"}},
    {"[colect]\n", 1, {"did you mean [collect]?"}},
    {"[nonsense]\n", 1, {"unknown section [nonsense]: there are "}},
    {"[]\n", 1, {"unknown section []"}},
    {"[collect\nalways = yes\n", 1, {"no closing bracket"}},
    {"[collect] always = yes\n", 1, {"text after the closing bracket"}},
    {"path = x\n", 1, {"before the first section", "[output]"}},
    {"# c\nbuffer_size = 2M\n", 2, {"before the first section", "[collect]"}},
    {"zzzzzzzzz = 2M\n", 1, {"before the first section", "[section]"}},
    {"[collect]\nalways\n", 2, {"neither [section] nor key = value"}},
    {"[collect]\n= yes\n", 2, {"there is no key before \"=\""}},
    {"[collect]\nalways = maybe\n", 2, {"always", "\"maybe\"", "yes nor no"}},
    {"[collect]\nalways =\n", 2, {"yes nor no"}},
    {"[collect]\nbuffer_size = 0x10\n", 2, {"\"0x10\" is not a whole number in decimal digits"}},
    {"[sample]\nmax_overhead = 5 ranks\n", 2, {"unknown unit \"ranks\"", "of percent"}},
    {"[collect]\nbuffer_size = 64X\n", 2, {"unknown unit \"X\"", "K, M or G"}},
    {"[collect]\nbuffer_size = 64 MHz\n", 2, {"unknown unit \"MHz\""}},
    {"[collect]\nbuffer_size = -5\n", 2, {"\"-5\" is negative"}},
    {"[collect]\nbuffer_size = 1.5G\n", 2, {"\"1.5G\" is not a whole number"}},
    {"[collect]\nbuffer_size = 512K\n", 2, {"too small", "1M to 4G"}},
    {"[collect]\nbuffer_size = 5G\n", 2, {"too large", "1M to 4G"}},
    {"[collect]\nbuffer_size = 99999999999999999999999\n", 2, {"too large"}},
    {"[collect]\nbuffer_size = 18446744073709551615G\n", 2, {"too large"}},
    {"[collect]\nmax_depth = 7\n", 2, {"too small", "8 to 4096 frames"}},
    {"[collect]\nmax_depth = 12K\n", 2, {"unknown unit \"K\"", "a whole number of frames"}},
    {"[sample]\nfrequency = 100 ms\n", 2, {"unknown unit \"ms\"", "Hz or kHz"}},
    {"[sample]\nfrequency = 20kHz\n", 2, {"too large", "0 to 10000Hz"}},
    {"[output]\nevery =\n", 2, {"not a number"}},
    {"[output]\nevery = 31d\n", 2, {"too large", "0 to 30d"}},
    {"[output]\nevery = -1s\n", 2, {"\"-1s\" is negative", "s, min, h or d"}},
    {"[output]\nevery = 0.5h\n", 2, {"\"0.5h\" is not a whole number"}},
    {"[output]\nwait = 10m\n", 2, {"unknown unit \"m\"", "s, min, h or d", "10min"}},
    {"[output]\nwait = 25h\n", 2, {"too large", "0 to 1d"}},
    {"[sample]\nfrequency = fast\n", 2, {"\"fast\" is not a number"}},
    {"[sample]\nfrequency = -1\n", 2, {"\"-1\" is negative", "whole number"}},
    {"[sample]\nfrequency = -\n", 2, {"\"-\" is not a number"}},
    {"[output]\npath =\n", 2, {"empty"}},
    {"[output]\npath = %q.pcol\n", 2, {"\"%q\"", "%x", "%n", "%j"}},
    {"[output]\npath = a%\n", 2, {"stands for nothing"}},
    {"[output]\npath = \"a\n", 2, {"closing quote"}},
    {"[output]\npath = \"a\" b\n", 2, {"closing quote"}},
    {"[output]\npath = a\"b\n", 2, {"double quote"}},
    {"[output]\npath = a\001b\n", 2, {"control character"}},
    {"[output]\npath = a\n[output]\npath = b\n", 4, {"given twice", "line 2"}},
    {"[spool]\npath = tmp\n", 2, {"relative path", "absolute"}},
    {"[collect]\nplugins = time,,volume\n", 2, {"item", "empty"}},
    {"[collect]\nplugins = time,\n", 2, {"item", "empty"}},
    {"[collect]\nplugins = time volume\n", 2, {"comma is missing before \"volume\""}},
    {"[collect]\nplugins = time, time\n", 2, {"twice"}},
};

static void errors_name_line_reason_and_cure(void **state)
{
    (void)state;
    struct pc_config defaults;
    pc_config_defaults(&defaults);
    for (size_t i = 0; i < PC_ARRAY_LEN(bad); i++) {
        struct pc_config c;
        struct pc_error error;
        char place[64];
        if (load_text(bad[i].text, &c, &error) != PC_EARG)
            fail_msg("row %zu was not refused: %s", i, bad[i].text);
        snprintf(place, sizeof place, "%s:%u: ", scratch, bad[i].line);
        if (strncmp(error.text, place, strlen(place)) != 0)
            fail_msg("row %zu: wrong place: %s", i, error.text);
        for (int k = 0; k < 4 && bad[i].says[k]; k++)
            if (strstr(error.text, bad[i].says[k]) == NULL)
                fail_msg("row %zu: \"%s\" is missing in: %s", i, bad[i].says[k], error.text);
        assert_memory_equal(&c, &defaults, sizeof c);
    }
}

static void an_unknown_section_is_answered_with_all(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    assert_int_equal(load_text("[nonsense]\n", &c, &error), PC_EARG);
    const char *known = strstr(error.text, "there are ");
    assert_non_null(known);
    for (unsigned i = 0; i < pc_n_options; i++) {
        char word[40];
        snprintf(word, sizeof word, " %s", pc_options[i].section);
        const char *at = strstr(known, word);
        assert_non_null(at);
        assert_null(strstr(at + 1, word)); /* once */
    }
}

static void refused_values_change_nothing(void **state)
{
    (void)state;
    static const char *const values[] = {"-foo,bar", "-foo,+", "-foo,-time,++volume", "-foo bar"};
    struct pc_config c, defaults;
    struct pc_error why;
    const struct pc_option *o = &pc_options[pc_option_find("collect", "plugins")];
    pc_config_defaults(&defaults);
    for (size_t i = 0; i < PC_ARRAY_LEN(values); i++) {
        pc_config_defaults(&c);
        assert_int_equal(pc_option_parse(o, values[i], &c, &why), PC_EARG);
        assert_memory_equal(&c, &defaults, sizeof c);
    }
}

static void files_that_are_no_text_are_refused(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    static const char nul[] = "[spool]\n\npath = /t\0mp\n";
    write_scratch(nul, sizeof nul - 1);
    assert_int_equal(pc_config_load_file(&c, scratch, &error), PC_EARG);
    assert_non_null(strstr(error.text, ":3: a NUL byte"));

    char *line = malloc(5000);
    memset(line, 'x', 5000);
    write_scratch(line, 5000);
    assert_int_equal(pc_config_load_file(&c, scratch, &error), PC_EARG);
    assert_non_null(strstr(error.text, ":1: the line is longer"));
    free(line);

    char *huge = malloc(PC_CONFIG_FILE_BYTES + 4096);
    memset(huge, '\n', PC_CONFIG_FILE_BYTES + 4096);
    memset(huge + PC_CONFIG_FILE_BYTES - 4096, '#', 8192);
    write_scratch(huge, PC_CONFIG_FILE_BYTES + 4096);
    assert_int_equal(pc_config_load_file(&c, scratch, &error), PC_EARG);
    assert_non_null(strstr(error.text, "larger than 1024 KiB"));
    free(huge);

    assert_int_equal(pc_config_load_file(&c, "/", &error), PC_EARG);
    assert_string_equal(error.text, "/: is not a regular file; it is named by --check");
    assert_int_equal(pc_config_load_file(&c, "/nowhere/x.conf", &error), PC_ENOENT);
    assert_non_null(strstr(error.text, "there is no such file; it is named by --check"));
}

static void a_pipe_is_refused_without_waiting(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    char path[sizeof scratch + 8];
    snprintf(path, sizeof path, "%s.fifo", scratch);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(5);
    assert_int_equal(pc_config_load_file(&c, path, &error), PC_EARG);
    alarm(0);
    unlink(path);
}

static void a_long_path_leaves_room_for_the_reason(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    char path[900];
    memset(path, 'd', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_int_not_equal(pc_config_load_file(&c, path, &error), 0);
    assert_non_null(strstr(error.text, "too long"));
}

/* Mutations of valid text, and random bytes: the result is 0 or an error text, nothing else;
 * refused text leaves the defaults. The seed is fixed. */
static void noise_gives_an_answer(void **state)
{
    (void)state;
    static const char base[] = "[output]\npath = \"%x # %n\"\n[collect]\r\nplugins = a , b\n"
                               "buffer_size = 64M\n[sample]\nfrequency = 1kHz # Hz\n";
    static const char alphabet[] = "[]=#\"\\%,\n\r\t 0K\0\xff\xef";
    struct pc_config c, defaults;
    struct pc_error error;
    uint64_t seed = first_seed;
    pc_config_defaults(&defaults);
    for (int round = 0; round < 3000; round++) {
        char text[sizeof base];
        memcpy(text, base, sizeof base);
        for (unsigned k = 0; k < 1 + (unsigned)round % 9; k++) {
            seed = pc_hash_u64(seed + 1);
            text[seed % (sizeof base - 1)] = alphabet[(seed >> 20) % (sizeof alphabet - 1)];
        }
        write_scratch(text, sizeof base - 1 - seed % 7);
        memset(&error, 0, sizeof error);
        int err = pc_config_load_file(&c, scratch, &error);
        assert_int_equal(err != 0, error.text[0] != '\0');
        if (err)
            assert_memory_equal(&c, &defaults, sizeof c);
        assert_non_null(memchr(c.output_path, 0, sizeof c.output_path));
    }
}

/* ---- Environment ---------------------------------------------------------------------------- */

static int read_entry(const char *entry, struct pc_config *c, struct pc_error *error)
{
    char copy[1200];
    snprintf(copy, sizeof copy, "%s", entry);
    char *environment[] = {(char *)"HOME=/", copy, (char *)"PCOLLECTED=1", NULL};
    memset(error, 0, sizeof *error);
    pc_config_defaults(c);
    return pc_config_read_environment(c, environment, error);
}

static void environment_overrides_options(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    assert_int_equal(read_entry("PCOLLECT_COLLECT_BUFFER_SIZE=8M", &c, &error), 0);
    assert_int_equal(c.collect_buffer_size, 8 << 20);
    assert_int_equal(c.origin[pc_option_find("collect", "buffer_size")], PC_CONFIG_ENVIRONMENT);
    assert_int_equal(read_entry("PCOLLECT_OUTPUT_PATH=/x/%x # a", &c, &error), 0);
    assert_string_equal(c.output_path, "/x/%x # a");
    assert_int_equal(read_entry("PCOLLECT_CONFIG=whatever", &c, &error), 0);
    assert_int_equal(read_entry("PCOLLECT_RUN=1", &c, &error), 0);
}

static void environment_errors_name_the_variable(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    assert_int_equal(read_entry("PCOLLECT_COLLECT_BUFER_SIZE=8M", &c, &error), PC_EARG);
    assert_non_null(strstr(error.text, "unknown variable PCOLLECT_COLLECT_BUFER_SIZE"));
    assert_non_null(strstr(error.text, "nearest is PCOLLECT_COLLECT_BUFFER_SIZE"));
    assert_int_equal(read_entry("PCOLLECT_CONF=a", &c, &error), PC_EARG);
    assert_non_null(strstr(error.text, "nearest is PCOLLECT_CONFIG"));
    assert_int_equal(read_entry("PCOLLECT_SAMPLE_FREQUENCY=5 MHz", &c, &error), PC_EARG);
    assert_non_null(strstr(error.text, "PCOLLECT_SAMPLE_FREQUENCY: unknown unit"));
    assert_int_equal(read_entry("PCOLLECT_OUTPUT_PATH=a\nb", &c, &error), PC_EARG);
    char longer[1100] = "PCOLLECT_OUTPUT_PATH=";
    memset(longer + strlen(longer), 'a', 1060);
    assert_int_equal(read_entry(longer, &c, &error), PC_EARG);
    assert_non_null(strstr(error.text, "bytes long"));
}

static void forget_jobs(void)
{
    static const char *const names[] = {
        "SLURM_JOB_ID", "PBS_JOBID",      "LSB_JOBID",
        "FLUX_JOB_ID",  "OAR_JOB_ID",     "COBALT_JOBID",
        "JOB_ID",       "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"};
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++)
        unsetenv(names[i]);
}

static void load_reads_file_then_environment_and_keeps_errno(void **state)
{
    (void)state;
    struct pc_config c;
    struct pc_error error;
    static const char text[] = "[spool]\npath = /tmp\n[collect]\nmax_depth = 9\n";
    write_scratch(text, sizeof text - 1);
    forget_jobs();
    setenv("PCOLLECT_CONFIG", scratch, 1);
    setenv("PCOLLECT_COLLECT_MAX_DEPTH", "10", 1);
    setenv("PCOLLECT_STRICT", "1", 1);
    setenv("PCOLLECT_RUN", "00ab00000000cdEF", 1);
    setenv("JOB_ID", "77", 1);
    errno = 4711;
    assert_int_equal(pc_config_load(&c, &error), 0);
    assert_int_equal(errno, 4711);
    assert_string_equal(c.spool_path, "/tmp");
    assert_int_equal(c.collect_max_depth, 10);
    assert_true(c.strict);
    assert_true(c.run_key == 0xab00000000cdefu);
    assert_string_equal(c.job_id, "77");
    setenv("SLURM_JOB_ID", "99", 1);
    assert_int_equal(pc_config_load(&c, &error), 0);
    assert_string_equal(c.job_id, "99");

    setenv("PCOLLECT_CONFIG", "/nowhere", 1);
    assert_int_equal(pc_config_load(&c, &error), PC_ENOENT);
    assert_int_equal(errno, 4711);
    assert_true(c.strict); /* read before other options */
    assert_int_equal(c.collect_max_depth, 512);
    unsetenv("PCOLLECT_CONFIG");
    setenv("PCOLLECT_RUN", "12345678901234567", 1);
    assert_int_equal(pc_config_load(&c, &error), PC_EARG);
    unsetenv("PCOLLECT_RUN");
    setenv("PCOLLECT_STRICT", "perhaps", 1);
    assert_int_equal(pc_config_load(&c, &error), PC_EARG);
    unsetenv("PCOLLECT_STRICT");
    unsetenv("PCOLLECT_COLLECT_MAX_DEPTH");
    forget_jobs();
    assert_int_equal(pc_config_load(&c, &error), 0);
    assert_string_equal(c.job_id, "");
}

static void constructor_asks_for_always_and_rank(void **state)
{
    (void)state;
    static const char text[] = "[collect]\nalways = yes\n";
    unsetenv("PCOLLECT_CONFIG");
    assert_false(pc_config_always());
    write_scratch(text, sizeof text - 1);
    setenv("PCOLLECT_CONFIG", scratch, 1);
    assert_true(pc_config_always());
    setenv("PCOLLECT_COLLECT_ALWAYS", "no", 1);
    assert_false(pc_config_always());
    setenv("PCOLLECT_COLLECT_ALWAYS", "yes", 1);
    unsetenv("PCOLLECT_CONFIG");
    assert_true(pc_config_always());
    setenv("PCOLLECT_COLLECT_ALWAYS", "perhaps", 1);
    assert_false(pc_config_always());
    unsetenv("PCOLLECT_COLLECT_ALWAYS");
    static const char wrong[] = "[collect]\nalways = yes\nfoo = 1\n";
    write_scratch(wrong, sizeof wrong - 1);
    setenv("PCOLLECT_CONFIG", scratch, 1);
    assert_false(pc_config_always());
    unsetenv("PCOLLECT_CONFIG");

    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "ALPS_APP_PE",
                                        "FLUX_TASK_RANK",       "SLURM_PROCID"};
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    assert_int_equal(pc_config_launch_rank(), -1);
    setenv("SLURM_PROCID", "0", 1);
    setenv("PMI_RANK", "123", 1);
    assert_int_equal(pc_config_launch_rank(), 123);
    unsetenv("PMI_RANK");
    assert_int_equal(pc_config_launch_rank(), 0);
    setenv("SLURM_PROCID", "99999999999", 1);
    assert_int_equal(pc_config_launch_rank(), -1);
    unsetenv("SLURM_PROCID");
}

/* ---- Output patterns ------------------------------------------------------------------------ */

static void patterns_expand(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *exe, *job;
        int n;
        uint64_t s;
        const char *expected;
    } rows[] = {
        {"%x.%n.pcol", "/usr/bin/solver", "", 64, 0, "solver.64.pcol"},
        {"%x", "solver", "", 1, 0, "solver"},
        {"%x", "dir/", "", 1, 0, "program"},
        {"%x", "", "", 1, 0, "program"},
        {"/a/%j/b", "x", "12/34", 1, 0, "/a/12_34/b"},
        {"%j", "x", "1\n2", 1, 0, "1_2"},
        {"%j", "x", "", 1, 0, "nojob"},
        {"%j", "x", NULL, 1, 0, "nojob"},
        {"%t", "x", "", 1, 0, "19700101-000000"},
        {"%t", "x", "", 1, 951827696, "20000229-123456"},
        {"%t", "x", "", 1, 4107542399, "21000228-235959"},
        {"100%%", "x", "", 1, 0, "100%"},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        struct pc_config_names names = {rows[i].exe, rows[i].n, rows[i].job,
                                        rows[i].s * 1000000000u};
        char out[200];
        assert_int_equal(pc_config_expand(rows[i].pattern, &names, out, sizeof out, NULL), 0);
        assert_string_equal(out, rows[i].expected);
    }
}

static void a_path_as_pattern_stands_for_itself(void **state)
{
    (void)state;
    static const char *const paths[] = {"", "/", "/run%n", "100%", "/%%/%x/", "%"};
    struct pc_config_names names = {"solver", 4, "1", 0};
    char pattern[32], out[32];
    for (size_t i = 0; i < PC_ARRAY_LEN(paths); i++) {
        assert_true(pc_config_pattern(paths[i], pattern, sizeof pattern));
        assert_int_equal(pc_config_expand(pattern, &names, out, sizeof out, NULL), 0);
        assert_string_equal(out, paths[i]);
    }
    assert_true(pc_config_pattern("a%b", pattern, 5));
    assert_false(pc_config_pattern("a%b", pattern, 4));
}

/* The calendar against libc's, over leap years and centuries. */
static void pattern_times_agree_with_gmtime(void **state)
{
    (void)state;
    for (time_t t = 0; t < 8000000000; t += 86400 * 13 + 3607) {
        struct pc_config_names names = {"x", 1, "", (uint64_t)t * 1000000000u};
        char ours[32], theirs[32];
        struct tm tm;
        assert_int_equal(pc_config_expand("%t", &names, ours, sizeof ours, NULL), 0);
        gmtime_r(&t, &tm);
        strftime(theirs, sizeof theirs, "%Y%m%d-%H%M%S", &tm);
        assert_string_equal(ours, theirs);
    }
}

static void patterns_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct pc_config_names names = {"solver", 4, "1", 0};
    struct pc_error error;
    char out[8] = "before";
    assert_int_equal(pc_config_expand("%x.pcol", &names, out, sizeof out, &error), PC_ENOMEM);
    assert_string_equal(out, "before");
    assert_int_equal(pc_config_expand("%y", &names, out, sizeof out, &error), PC_EARG);
    assert_non_null(strstr(error.text, "\"%y\""));
    assert_int_equal(pc_config_expand("%x%%%n%j%t", NULL, NULL, 0, &error), 0);
}

/* ---- Text for people ------------------------------------------------------------------------ */

static void template_parses_to_the_defaults(void **state)
{
    (void)state;
    struct pc_config c, defaults;
    struct pc_error error = {""};
    FILE *f = fopen(scratch, "w");
    pc_config_template(f);
    fclose(f);
    pc_config_defaults(&defaults);
    if (pc_config_load_file(&c, scratch, &error))
        fail_msg("%s", error.text);
    for (unsigned i = 0; i < pc_n_options; i++)
        assert_int_equal(c.origin[i], PC_CONFIG_FILE); /* every option is in it */
    memset(c.origin, 0, sizeof c.origin);
    memset(c.line, 0, sizeof c.line);
    memset(c.file, 0, sizeof c.file);
    assert_memory_equal(&c, &defaults, sizeof c);
}

static void what_show_prints_parses_to_the_same(void **state)
{
    (void)state;
    struct pc_config c, again;
    struct pc_error error;
    assert_int_equal(load_text("[output]\npath = \"a # %n\"\n[collect]\nplugins = a,b\n"
                               "buffer_size = 1234567\nalways = yes\n[sample]\nfrequency = 7Hz\n",
                               &c, &error),
                     0);
    FILE *f = fopen(scratch, "w");
    pc_config_show(f, &c);
    fclose(f);
    if (pc_config_load_file(&again, scratch, &error))
        fail_msg("%s", error.text);
    memcpy(again.origin, c.origin, sizeof c.origin);
    memcpy(again.line, c.line, sizeof c.line);
    assert_memory_equal(&c, &again, sizeof c);
}

static void manual_has_every_option(void **state)
{
    (void)state;
    char text[16384] = "", heading[64];
    FILE *f = fmemopen(text, sizeof text - 1, "w");
    pc_config_manual(f);
    fclose(f);
    for (unsigned i = 0; i < pc_n_options; i++) {
        snprintf(heading, sizeof heading, ".B %s\n", pc_options[i].key);
        assert_non_null(strstr(text, heading));
        snprintf(heading, sizeof heading, ".SS [%s]\n", pc_options[i].section);
        assert_non_null(strstr(text, heading));
    }
}

static void distance_counts_edits(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        unsigned d;
    } rows[] = {{"", "", 0},         {"a", "", 1},       {"path", "path", 0},
                {"paht", "path", 1}, {"pth", "path", 1}, {"paths", "path", 1},
                {"bath", "path", 1}, {"abc", "xyz", 3},  {"frequency", "freqeuncy", 1}};
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        assert_int_equal(pc_distance(rows[i].a, rows[i].b), rows[i].d);
        assert_int_equal(pc_distance(rows[i].b, rows[i].a), rows[i].d);
    }
    char longer[200];
    memset(longer, 'x', sizeof longer);
    longer[199] = '\0';
    assert_int_equal(pc_distance(longer, "x"), PC_FAR);
}

static void nearest_words_are_found(void **state)
{
    static const struct {
        const char *wanted, *text;
    } rows[] = {
        {"perf::PAGE-FALTS", "perf::PAGE-FAULTS"},
        {"page-faults", "perf::PAGE-FAULTS"},
        {"PAPI_TOT_INX", "PAPI_TOT_INS"},
        {"PAPI_L4_TCM", "PAPI_L1_TCM, PAPI_L2_TCM or PAPI_L3_TCM"},
        {"nothing-like-it-at-all", ""},
    };
    static const char *const words[] = {"PAPI_TOT_INS", "perf::PAGE-FAULTS",
                                        "PAPI_L1_TCM",  "PAPI_L2_TCM",
                                        "PAPI_L3_TCM",  "perf::CONTEXT-SWITCHES"};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        struct pc_nearest n = {.wanted = rows[i].wanted};
        char text[200];
        for (size_t w = 0; w < PC_ARRAY_LEN(words); w++)
            pc_nearest_add(&n, words[w]);
        pc_nearest_text(&n, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

/* Removes the variables that configure the tests: they are no options, and would be refused. */
static void forget_what_tests_are_told(void)
{
    static const char prefix[] = "PCOLLECT_TEST_";
    for (char **v = environ; *v;) {
        char name[64];
        size_t n = strcspn(*v, "=");
        if (strncmp(*v, prefix, sizeof prefix - 1) == 0 && n < sizeof name) {
            memcpy(name, *v, n);
            name[n] = '\0';
            unsetenv(name);
            v = environ;
        } else {
            v++;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_manual),
        cmocka_unit_test(every_default_is_accepted_by_its_own_parser),
        cmocka_unit_test(files_set_options),
        cmocka_unit_test(long_comments_are_skipped),
        cmocka_unit_test(errors_name_line_reason_and_cure),
        cmocka_unit_test(an_unknown_section_is_answered_with_all),
        cmocka_unit_test(refused_values_change_nothing),
        cmocka_unit_test(files_that_are_no_text_are_refused),
        cmocka_unit_test(a_pipe_is_refused_without_waiting),
        cmocka_unit_test(a_long_path_leaves_room_for_the_reason),
        cmocka_unit_test(noise_gives_an_answer),
        cmocka_unit_test(environment_overrides_options),
        cmocka_unit_test(environment_errors_name_the_variable),
        cmocka_unit_test(load_reads_file_then_environment_and_keeps_errno),
        cmocka_unit_test(constructor_asks_for_always_and_rank),
        cmocka_unit_test(patterns_expand),
        cmocka_unit_test(a_path_as_pattern_stands_for_itself),
        cmocka_unit_test(pattern_times_agree_with_gmtime),
        cmocka_unit_test(patterns_that_do_not_fit_are_refused),
        cmocka_unit_test(template_parses_to_the_defaults),
        cmocka_unit_test(what_show_prints_parses_to_the_same),
        cmocka_unit_test(manual_has_every_option),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(nearest_words_are_found),
    };
    first_seed = test_seed(42);
    forget_what_tests_are_told();
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
