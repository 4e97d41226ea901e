/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events by the names that perf(1) uses: the generic ones and those of caches, which are numbers in
 * the kernel's interface, raw codes of the processor, and PMU/TERM=VALUE,.../, whose terms each
 * machine describes in sysfs.
 */
#include "counting/counting_private.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define PMUS "/sys/bus/event_source/devices"

/* ---- Generic events -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} generic[] = {
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"cgroup-switches", PERF_TYPE_SOFTWARE, PC_COUNTING_CGROUP_SWITCHES},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
};

/* Second names of some. */
static const struct {
    const char *name, *generic;
} second[] = {
    {"cs", "context-switches"},
    {"migrations", "cpu-migrations"},
    {"faults", "page-faults"},
    {"cpu-cycles", "cycles"},
    {"branch-instructions", "branches"},
    {"idle-cycles-frontend", "stalled-cycles-frontend"},
    {"idle-cycles-backend", "stalled-cycles-backend"},
};

const char *pc_counting_kernel_name(size_t i)
{
    return i < PC_ARRAY_LEN(generic) ? generic[i].name : NULL;
}

static bool is_name(const char *known, const char *name, size_t n)
{
    return strlen(known) == n && !strncmp(known, name, n);
}

const char *pc_counting_first_name(const char *name)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(second); i++)
        if (is_name(second[i].name, name, strcspn(name, ":")))
            return second[i].generic;
    return NULL;
}

static bool find_generic(const char *name, size_t n, struct pc_counting_term *out)
{
    const char *first = pc_counting_first_name(name);
    if (first)
        return find_generic(first, strlen(first), out);
    for (size_t i = 0; i < PC_ARRAY_LEN(generic); i++)
        if (is_name(generic[i].name, name, n)) {
            *out = (struct pc_counting_term){
                .type = generic[i].type, .sign = 1, .config = generic[i].config};
            return true;
        }
    return false;
}

/* Finds CACHE-loads, CACHE-load-misses and the like, in the order of the kernel's numbers. */
static bool find_cache(const char *name, size_t n, struct pc_counting_term *out)
{
    static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                         "iTLB",      "branch",    "node"};
    static const char *const ends[] = {"loads",        "load-misses", "stores",
                                       "store-misses", "prefetches",  "prefetch-misses"};
    char known[32];
    for (size_t i = 0; i < PC_ARRAY_LEN(caches) * PC_ARRAY_LEN(ends); i++) {
        uint64_t cache = i / PC_ARRAY_LEN(ends), end = i % PC_ARRAY_LEN(ends);
        pc_format(known, sizeof known, "%s-%s", caches[cache], ends[end]);
        if (!is_name(known, name, n))
            continue;
        *out = (struct pc_counting_term){.type = PERF_TYPE_HW_CACHE,
                                         .sign = 1,
                                         .config = cache | (end / 2) << 8 | (end % 2) << 16};
        return true;
    }
    return false;
}

bool pc_counting_raw(const char *name, size_t n, struct pc_counting_term *out)
{
    uint64_t code = 0;
    if (name[0] != 'r' || n < 2 || n > 17)
        return false;
    for (size_t i = 1; i < n; i++) {
        if (!isxdigit((unsigned char)name[i]))
            return false;
        int c = tolower((unsigned char)name[i]);
        code = code << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *out = (struct pc_counting_term){.type = PERF_TYPE_RAW, .sign = 1, .config = code};
    return true;
}

bool pc_counting_is_clock(const struct pc_counting_term *term)
{
    return term->type == PERF_TYPE_SOFTWARE &&
           (term->config == PERF_COUNT_SW_CPU_CLOCK || term->config == PERF_COUNT_SW_TASK_CLOCK);
}

int pc_counting_check_sides(const struct pc_counting_term *term, struct pc_error *error)
{
    if (!pc_counting_is_clock(term) || term->user_only == term->kernel_only)
        return PC_OK;
    return pc_error_set(error, PC_EARG,
                        "Linux counts this clock in user mode and in the kernel together, whatever "
                        "is asked for: leave out :%c",
                        term->user_only ? 'u' : 'k');
}

/* Reads the letters after the name: u alone, only user code; k alone, only kernel code. */
static int read_sides(const char *letters, struct pc_counting_term *term, struct pc_error *error)
{
    bool user = strchr(letters, 'u') != NULL, kernel = strchr(letters, 'k') != NULL;
    if (!*letters || letters[strspn(letters, "uk")])
        return pc_error_set(error, PC_EARG,
                            "%safter the colon, give u (user mode), k (the kernel) "
                            "or uk (both)",
                            strchr(letters, 'h') ? "what a hypervisor does belongs to no thread: "
                                                 : "");
    term->user_only = user && !kernel;
    term->kernel_only = kernel && !user;
    return pc_counting_check_sides(term, error);
}

/* ---- PMUs ------------------------------------------------------------------------------------ */

/* Reads a file of a PMU as one line; false: it does not exist. */
static bool read_pmu_file(const char *pmu, const char *folder, const char *name, char *out,
                          size_t size)
{
    char path[512];
    pc_format(path, sizeof path, PMUS "/%s/%s/%s", pmu, folder, name);
    size_t n = pc_read_small(path, out, size);
    while (n && isspace((unsigned char)out[n - 1]))
        n--;
    out[n] = '\0';
    return n != 0;
}

/* Puts the low bits of a value where a format such as "config1:0-7,32-35" says. False: there is no
 * such place, or the value has more bits. */
static bool put_bits(const char *format, uint64_t value, struct pc_counting_term *term)
{
    uint64_t *word = !strncmp(format, "config:", 7)    ? &term->config
                     : !strncmp(format, "config1:", 8) ? &term->config1
                     : !strncmp(format, "config2:", 8) ? &term->config2
                                                       : NULL;
    const char *p = strchr(format, ':');
    while (word && p && *p) {
        char *end;
        unsigned long first = strtoul(p + 1, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long bit = first; bit <= last && bit < 64; bit++, value >>= 1) {
            *word &= ~(1ull << bit);
            *word |= (value & 1) << bit;
        }
        p = *end == ',' ? end : NULL;
    }
    return word && !value;
}

static int put_terms(const char *pmu, const char *terms, bool alias, struct pc_counting_term *out,
                     struct pc_error *error);

/* Reads TERM or TERM=VALUE. A named event of the PMU stands for several terms; `alias`: the term
 * comes from such an event. */
static int put_term(const char *pmu, char *word, bool alias, struct pc_counting_term *out,
                    struct pc_error *error)
{
    static const char *const whole[] = {"config:0-63", "config1:0-63", "config2:0-63"};
    char text[256], *equals = strchr(word, '='), *end = "";
    uint64_t value = 1;
    if (equals) {
        *equals = '\0';
        errno = 0;
        value = strtoull(equals + 1, &end, 0);
        if (end == equals + 1 || *end || errno)
            return pc_error_set(error, PC_EARG, "%s=%s: the value is no number", word, equals + 1);
    } else if (!alias && !strchr(word, '/') &&
               read_pmu_file(pmu, "events", word, text, sizeof text)) {
        return put_terms(pmu, text, true, out, error);
    }
    const char *format = NULL;
    for (size_t i = 0; i < PC_ARRAY_LEN(whole); i++)
        if (!strncmp(whole[i], word, strlen(word)) && whole[i][strlen(word)] == ':')
            format = whole[i];
    if (!format && !strchr(word, '/') && read_pmu_file(pmu, "format", word, text, sizeof text))
        format = text;
    if (!format)
        return pc_error_set(error, PC_EARG,
                            "the PMU %s has neither a term nor an event %s; they "
                            "are in " PMUS "/%s/format and events",
                            pmu, word, pmu);
    if (!put_bits(format, value, out))
        return pc_error_set(error, PC_EARG, "0x%llx does not fit into the term %s (%s)",
                            (unsigned long long)value, word, format);
    return PC_OK;
}

static int put_terms(const char *pmu, const char *terms, bool alias, struct pc_counting_term *out,
                     struct pc_error *error)
{
    char text[256], *rest = text, *word;
    int err = PC_OK;
    if (strlen(terms) >= sizeof text)
        return pc_error_set(error, PC_EARG, "it is longer than %zu characters", sizeof text - 1);
    pc_format(text, sizeof text, "%s", terms);
    while (!err && (word = strsep(&rest, ",")))
        if (*word)
            err = put_term(pmu, word, alias, out, error);
    return err;
}

/* Finds an event by `name`, PMU/TERMS/; its first n characters are the PMU. */
static int find_in_pmu(const char *name, size_t n, struct pc_counting_term *out,
                       struct pc_error *error)
{
    char pmu[64], terms[256], text[32];
    const char *last = strrchr(name, '/');
    size_t n_terms = (size_t)(last - name) - n;
    if (n_terms == 0 || n == 0 || n >= sizeof pmu || n_terms > sizeof terms)
        return pc_error_set(error, PC_EARG, "an event of a PMU is written PMU/TERM=VALUE,.../");
    memcpy(pmu, name, n);
    pmu[n] = '\0';
    memcpy(terms, name + n + 1, n_terms - 1);
    terms[n_terms - 1] = '\0';
    if (!strcmp(pmu, ".") || !strcmp(pmu, "..") ||
        !read_pmu_file(pmu, ".", "type", text, sizeof text))
        return pc_error_set(error, PC_EARG, "this machine has no PMU %s; they are in " PMUS, pmu);
    *out = (struct pc_counting_term){.type = (uint32_t)strtoul(text, NULL, 10), .sign = 1};
    int err = put_terms(pmu, terms, false, out, error);
    return err || !last[1] ? err : read_sides(last + 1 + (last[1] == ':'), out, error);
}

bool pc_counting_is_tracepoint(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t n = strspn(name, letters);
    const char *rest = name + n + 1;
    return n && name[n] == ':' && *rest && !rest[strspn(rest, letters)] &&
           rest[strspn(rest, "ukh")] && !is_name("mem", name, n); /* mem:0x10: a breakpoint */
}

int pc_counting_named(const char *name, struct pc_counting_event *out, struct pc_error *error)
{
    struct pc_counting_event event = {.n_terms = 1};
    size_t n = strcspn(name, ":/");
    int err = PC_OK;
    if (name[n] == '/')
        err = find_in_pmu(name, n, &event.terms[0], error);
    else if (!find_generic(name, n, &event.terms[0]) && !find_cache(name, n, &event.terms[0]) &&
             !pc_counting_raw(name, n, &event.terms[0]))
        err = pc_error_set(error, PC_ENOENT, "no such event");
    else if (name[n])
        err = read_sides(name + n + 1, &event.terms[0], error);
    if (!err)
        *out = event;
    return err;
}
