/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect-events.so: finds the counters for perf_event_open from names. libpfm knows native names
 * and their encodings; PAPI knows the native events of a preset on this processor. Neither is used
 * to count.
 *
 * Runs before the first event is counted, in one thread, or in the command.
 */
#include "plugins/compute/event_names.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>

static bool start_pfm(struct pc_error *error)
{
    int err = pfm_initialize();
    if (err != PFM_SUCCESS)
        pc_error_set(error, PC_EIO, "libpfm does not start: %s", pfm_strerror(err));
    return err == PFM_SUCCESS;
}

/* Starts PAPI, only if a preset is requested, because it inspects the machine at its start. */
static bool start_papi(struct pc_error *error)
{
    if (PAPI_is_initialized())
        return true;
    int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT)
        pc_error_set(error, PC_EIO, "PAPI does not start: %s",
                     version < 0 ? PAPI_strerror(version) : "it is of another version");
    return version == PAPI_VER_CURRENT;
}

/* ---- Native events --------------------------------------------------------------------------- */

static int find_native(const char *name, struct pc_counting_term *out, struct pc_error *error)
{
    struct perf_event_attr attr;
    pfm_perf_encode_arg_t encoding = {.attr = &attr, .size = sizeof encoding};
    memset(&attr, 0, sizeof attr);
    if (!start_pfm(error))
        return PC_EIO;
    int err = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &encoding);
    if (err == PFM_ERR_NOTFOUND || err == PFM_ERR_INVAL)
        return pc_error_set(error, PC_ENOENT, "no such event");
    if (err != PFM_SUCCESS)
        return pc_error_set(error, PC_EARG, "%s", pfm_strerror(err));
    *out = (struct pc_counting_term){.type = attr.type,
                                     .sign = 1,
                                     .config = attr.config,
                                     .config1 = attr.config1,
                                     .config2 = attr.config2,
                                     .user_only = attr.exclude_kernel,
                                     .kernel_only = attr.exclude_user};
    return pc_counting_check_sides(out, error);
}

/* ---- Presets --------------------------------------------------------------------------------- */

/* The signs with which the natives of a postfix formula add up, such as N0|N1|-|. False: the
 * formula has more than sums and differences. */
static bool read_postfix(const char *p, int32_t signs[PC_COUNTING_MAX_TERMS])
{
    struct {
        int32_t of[PC_COUNTING_MAX_TERMS];
    } stack[8];
    int depth = 0;
    for (; *p; p++) {
        if (*p == '|') {
            continue;
        } else if (*p == 'N' && p[1] >= '0' && p[1] < '0' + PC_COUNTING_MAX_TERMS &&
                   !isdigit((unsigned char)p[2]) && depth < 8) {
            memset(&stack[depth], 0, sizeof stack[0]);
            stack[depth++].of[*++p - '0'] = 1;
        } else if ((*p == '+' || *p == '-') && depth >= 2) {
            depth--;
            for (int i = 0; i < PC_COUNTING_MAX_TERMS; i++)
                stack[depth - 1].of[i] += *p == '+' ? stack[depth].of[i] : -stack[depth].of[i];
        } else {
            return false;
        }
    }
    if (depth != 1)
        return false;
    memcpy(signs, stack[0].of, sizeof stack[0].of);
    return true;
}

/* Reads the signs of a preset's native events; false: it is not a sum with signs. */
static bool read_signs(const PAPI_event_info_t *info, int32_t signs[PC_COUNTING_MAX_TERMS])
{
    for (int i = 0; i < PC_COUNTING_MAX_TERMS; i++)
        signs[i] = strcmp(info->derived, "DERIVED_SUB") || i == 0 ? 1 : -1;
    if (!strcmp(info->derived, "NOT_DERIVED") || !strcmp(info->derived, "DERIVED_CMPD"))
        return info->count == 1;
    if (!strcmp(info->derived, "DERIVED_ADD") || !strcmp(info->derived, "DERIVED_SUB"))
        return true;
    return !strcmp(info->derived, "DERIVED_POSTFIX") && read_postfix(info->postfix, signs);
}

static int find_preset(const char *name, struct pc_counting_event *out, struct pc_error *error)
{
    PAPI_event_info_t info;
    int32_t signs[PC_COUNTING_MAX_TERMS];
    int code;
    if (!start_papi(error))
        return PC_EIO;
    if (PAPI_event_name_to_code(name, &code) != PAPI_OK ||
        PAPI_get_event_info(code, &info) != PAPI_OK)
        return pc_error_set(error, PC_ENOENT, "no such event");
    if (info.count == 0)
        return pc_error_set(error, PC_EARG, "PAPI knows no counter for it on this processor");
    if (info.count > PC_COUNTING_MAX_TERMS)
        return pc_error_set(error, PC_EARG, "it is made of %u counters, more than %d", info.count,
                            PC_COUNTING_MAX_TERMS);
    if (!read_signs(&info, signs))
        return pc_error_set(error, PC_EARG,
                            "it is computed from several counters (%s), and not as a sum or "
                            "difference",
                            info.derived);
    for (uint32_t i = 0; i < info.count; i++) {
        int err = find_native(info.name[i], &out->terms[i], error);
        if (err)
            return pc_error_set(error, PC_EARG, "libpfm does not know its counter %s",
                                info.name[i]);
        out->terms[i].sign = signs[i];
    }
    out->n_terms = info.count;
    return PC_OK;
}

/* Finds a native event, or one that the kernel names and libpfm does not know (4.13 lacks
 * alignment-faults). */
static int find_named(const char *name, struct pc_counting_event *out, struct pc_error *error)
{
    struct pc_error of_kernel;
    int err = find_native(name, &out->terms[0], error);
    return err == PC_ENOENT && !pc_counting_named(name, out, &of_kernel) ? PC_OK : err;
}

static int find(const char *name, struct pc_counting_event *out, struct pc_error *error)
{
    struct pc_counting_event event = {.n_terms = 1};
    int saved = errno, err = PC_OK;
    if (!strncmp(name, "PAPI_", 5))
        err = find_preset(name, &event, error);
    else if (strchr(name, '/'))
        err = pc_error_set(error, PC_EARG,
                           "events of the form PMU/TERM/ are not counted in jobs; `pcollect stat` "
                           "counts them");
    else if (!pc_counting_raw(name, strlen(name), &event.terms[0]))
        err = find_named(name, &event, error);
    if (!err)
        *out = event;
    errno = saved;
    return err;
}

/* ---- The list -------------------------------------------------------------------------------- */

struct listing {
    bool (*fn)(void *arg, const struct pc_events_entry *entry);
    void *arg;
};

static bool list_presets(const struct listing *l)
{
    PAPI_event_info_t info;
    int code = 0 | PAPI_PRESET_MASK;
    if (!start_papi(NULL) || PAPI_enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK)
        return false;
    do {
        if (PAPI_get_event_info(code, &info) != PAPI_OK)
            continue;
        const struct pc_events_entry entry = {PC_EVENTS_PRESET, info.count != 0, info.symbol,
                                              info.long_descr};
        if (l->fn(l->arg, &entry))
            return true;
    } while (PAPI_enum_event(&code, PAPI_ENUM_EVENTS) == PAPI_OK);
    return false;
}

static bool list_event(const struct listing *l, const char *pmu, int index)
{
    char name[256];
    pfm_event_info_t event = {.size = sizeof event};
    pfm_event_attr_info_t mask = {.size = sizeof mask};
    struct pc_events_entry entry = {.kind = PC_EVENTS_NATIVE, .made = 1, .name = name};
    bool masked = false;
    if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
        return false;
    for (int i = 0; i < event.nattrs; i++) {
        if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        masked = true;
        entry.doc = mask.desc;
        pc_format(name, sizeof name, "%s::%s:%s", pmu, event.name, mask.name);
        if (l->fn(l->arg, &entry))
            return true;
    }
    entry.doc = event.desc;
    pc_format(name, sizeof name, "%s::%s", pmu, event.name);
    return !masked && l->fn(l->arg, &entry);
}

static void list_natives(const struct listing *l)
{
    if (!start_pfm(NULL))
        return;
    for (pfm_pmu_t p = PFM_PMU_NONE; p < PFM_PMU_MAX; p++) {
        pfm_pmu_info_t pmu = {.size = sizeof pmu};
        if (pfm_get_pmu_info(p, &pmu) != PFM_SUCCESS || !pmu.is_present)
            continue;
        for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i))
            if (list_event(l, pmu.name, i))
                return;
    }
}

static void list(bool (*fn)(void *arg, const struct pc_events_entry *entry), void *arg)
{
    const struct listing l = {fn, arg};
    int saved = errno;
    if (!list_presets(&l))
        list_natives(&l);
    errno = saved;
}

PC_EXPORT extern const struct pc_events_module pc_events_module;
const struct pc_events_module pc_events_module = {
    .abi = PC_EVENTS_ABI, .size = sizeof(struct pc_events_module), .find = find, .list = list};
