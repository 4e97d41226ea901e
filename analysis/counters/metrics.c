/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ratios of the table `ratios`. An event has several names: a preset of PAPI, and the kernel's
 * name. The columns of a row say which one it uses.
 */
#include "analysis/counters/metrics.h"

#include "base/base.h"

#include <string.h>
#include <strings.h>

#define INSTRUCTIONS "PAPI_TOT_INS perf::INSTRUCTIONS perf::PERF_COUNT_HW_INSTRUCTIONS"
#define CYCLES "PAPI_TOT_CYC perf::CYCLES perf::CPU-CYCLES perf::PERF_COUNT_HW_CPU_CYCLES"
#define BRANCHES                                                                                   \
    "PAPI_BR_CN PAPI_BR_INS perf::BRANCHES perf::BRANCH-INSTRUCTIONS "                             \
    "perf::PERF_COUNT_HW_BRANCH_INSTRUCTIONS"

static const char per_cycle[] = "per cycle", per_thousand[] = "per 1,000 instructions",
                  percent[] = "%", per_ms[] = "per ms", per_second[] = "GB/s";

/* Bytes of a cache line, on most processors; the profile does not have it. */
enum { LINE_BYTES = 64 };

const struct pct_ratio_kind pct_ratio_kinds[] = {
    {"ipc", INSTRUCTIONS, CYCLES, 1, per_cycle, "instructions"},
    {"frequency", CYCLES, NULL, 1, "GHz", "cycles per CPU time"},
    {"l1_misses", "PAPI_L1_TCM", INSTRUCTIONS, 1000, per_thousand,
     "misses of the first cache, data and code"},
    {"l1_data_misses", "PAPI_L1_DCM perf::L1-DCACHE-LOAD-MISSES", INSTRUCTIONS, 1000, per_thousand,
     "misses of the first cache of data; with the kernel's name, misses of loads only"},
    {"l2_misses", "PAPI_L2_TCM", INSTRUCTIONS, 1000, per_thousand, "misses of the second cache"},
    {"l2_data_misses", "PAPI_L2_DCM", INSTRUCTIONS, 1000, per_thousand,
     "misses of the second cache, data"},
    {"l3_misses", "PAPI_L3_TCM", INSTRUCTIONS, 1000, per_thousand, "misses of the third cache"},
    {"last_cache_misses", "perf::CACHE-MISSES perf::PERF_COUNT_HW_CACHE_MISSES", INSTRUCTIONS, 1000,
     per_thousand, "misses of the last cache, as the kernel defines them"},
    {"l2_bandwidth", "PAPI_L2_TCM PAPI_L2_DCM", NULL, LINE_BYTES, per_second,
     "lines of 64 bytes that missed the second cache, per CPU time"},
    {"memory_bandwidth",
     "PAPI_L3_TCM perf::LLC-LOAD-MISSES perf::CACHE-MISSES perf::PERF_COUNT_HW_CACHE_MISSES", NULL,
     LINE_BYTES, per_second,
     "lines of 64 bytes that missed the last cache, per CPU time, without those written back or "
     "fetched ahead"},
    {"mispredicted", "PAPI_BR_MSP perf::BRANCH-MISSES perf::PERF_COUNT_HW_BRANCH_MISSES", BRANCHES,
     100, percent, "branches that were predicted wrongly, as a share of all branches"},
    {"tlb_misses", "PAPI_TLB_DM perf::DTLB-LOAD-MISSES",
     "PAPI_LST_INS PAPI_LD_INS perf::DTLB-LOADS", 100, percent,
     "misses of the address translation of data, as a share of the accesses"},
    {"stalled", "PAPI_RES_STL perf::STALLED-CYCLES-BACKEND", CYCLES, 100, percent,
     "cycles that waited for a resource, as a share of all cycles"},
    {"starved", "perf::STALLED-CYCLES-FRONTEND", CYCLES, 100, percent,
     "cycles that waited for instructions, as a share of all cycles"},
    {"page_faults", "perf::PAGE-FAULTS perf::FAULTS perf::PERF_COUNT_SW_PAGE_FAULTS", NULL, 1e6,
     per_ms, "page faults per CPU time"},
    {"switches", "perf::CONTEXT-SWITCHES perf::CS perf::PERF_COUNT_SW_CONTEXT_SWITCHES", NULL, 1e6,
     per_ms, "context switches per CPU time"},
};

const size_t pct_n_ratio_kinds = PC_ARRAY_LEN(pct_ratio_kinds);

/* ---- Names with modifiers -------------------------------------------------------------------- */

/* Sides that a modifier of libpfm or the kernel of this length selects; 0: it is no modifier, but
 * part of the name. */
static unsigned modifier_side(const char *text, size_t length)
{
    static const struct {
        const char *name;
        unsigned side;
    } modifiers[] = {{"u", PCT_SIDE_USER},
                     {"k", PCT_SIDE_KERNEL},
                     {"uk", PCT_SIDE_USER | PCT_SIDE_KERNEL},
                     {"ku", PCT_SIDE_USER | PCT_SIDE_KERNEL},
                     {"h", PCT_SIDE_OTHER},
                     {"mg", PCT_SIDE_OTHER},
                     {"mh", PCT_SIDE_OTHER},
                     {"period", PCT_SIDE_OTHER},
                     {"freq", PCT_SIDE_OTHER},
                     {"precise", PCT_SIDE_OTHER},
                     {"excl", PCT_SIDE_OTHER},
                     {"pinned", PCT_SIDE_OTHER}};
    for (size_t i = 0; i < PC_ARRAY_LEN(modifiers); i++)
        if (strlen(modifiers[i].name) == length && !strncasecmp(modifiers[i].name, text, length))
            return modifiers[i].side;
    return 0;
}

/* Reads modifiers from the end: `:u`, `:u=1`, `:k=0`. */
size_t pct_event_base(const char *event, unsigned *sides_out)
{
    const unsigned both = PCT_SIDE_USER | PCT_SIDE_KERNEL;
    unsigned on = 0, off = 0, side;
    size_t length = strlen(event);
    for (;;) {
        size_t colon = length;
        while (colon && event[colon - 1] != ':')
            colon--;
        size_t name = strcspn(event + colon, "=:");
        if (colon < 2 || event[colon - 2] == ':' || !(side = modifier_side(event + colon, name)))
            break;
        bool no = event[colon + name] == '=' && event[colon + name + 1] == '0';
        *(no ? &off : &on) |= side & both;
        length = colon - 1;
    }
    *sides_out = (on ? on : both) & ~off;
    return length;
}

static bool is_named(const char *event, size_t length, const char *names)
{
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (n == length && !strncasecmp(event, names, n))
            return true;
    }
    return false;
}

bool pct_event_is_instructions(const char *event)
{
    unsigned sides;
    size_t length = pct_event_base(event, &sides);
    return sides & PCT_SIDE_USER && is_named(event, length, INSTRUCTIONS);
}
