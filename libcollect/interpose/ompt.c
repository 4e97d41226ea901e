/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel regions by OMPT, the interface of OpenMP 5 for tools: LLVM's runtime (and Intel's, which
 * is the same) looks for ompt_start_tool when it starts. Two of its callbacks are used: a region
 * begins; a thread begins or ends its part of it. A runtime has one tool, and the word that it
 * keeps for each region belongs to that tool. So if another tool comes after this library, or if
 * OMP_TOOL_LIBRARIES names one, that tool is used, and this library does not know regions.
 *
 * Types and numbers are those of the OpenMP specification 5.0, chapter 4.
 */
#define _GNU_SOURCE 1

#include "libcollect/interpose/region.h"
#include "libcollect/sampling/sampler.h"

#include <dlfcn.h>

union data {
    uint64_t value;
    void *pointer;
};

typedef void callback_fn(void);
typedef callback_fn *lookup_fn(const char *name);
typedef int set_callback_fn(int event, callback_fn *callback);

struct start_result {
    int (*initialize)(lookup_fn *lookup, int device, union data *tool);
    void (*finalize)(union data *tool);
    union data tool;
};

enum { CALLBACK_PARALLEL_BEGIN = 3, CALLBACK_IMPLICIT_TASK = 7 };
enum { SCOPE_BEGIN = 1, TASK_INITIAL = 1 };

/* Called in the thread that enters the region. */
static void parallel_begin(union data *task, const void *frame, union data *parallel,
                           unsigned threads, int flags, const void *code)
{
    struct pc_call call = {.fp = PC_SAVED_FP,
                           .cfa = (uintptr_t)__builtin_dwarf_cfa(),
                           .ret = (uintptr_t)__builtin_return_address(0)};
    (void)task, (void)frame, (void)threads, (void)flags, (void)code;
    parallel->value = pc_region_context(&call);
}

/* Called in each thread of a region; thread 0 is the one that entered it. At the end the region may
 * be gone. */
static void implicit_task(int endpoint, union data *parallel, union data *task, unsigned threads,
                          unsigned index, int flags)
{
    (void)task, (void)threads;
    if (flags & TASK_INITIAL || index == 0)
        return;
    pc_region_work_for(endpoint == SCOPE_BEGIN && parallel ? (pcollect_ref)parallel->value : 0);
}

static int initialize(lookup_fn *lookup, int device, union data *tool)
{
    (void)device, (void)tool;
    set_callback_fn *set = (set_callback_fn *)lookup("ompt_set_callback");
    if (!set)
        return 0;
    set(CALLBACK_PARALLEL_BEGIN, (callback_fn *)parallel_begin);
    set(CALLBACK_IMPLICIT_TASK, (callback_fn *)implicit_task);
    return 1;
}

static void finalize(union data *tool)
{
    (void)tool;
}

typedef struct start_result *start_fn(unsigned version, const char *runtime);
PC_EXPORT start_fn ompt_start_tool;

struct start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start_result result = {initialize, finalize, {0}};
    start_fn *next = (start_fn *)dlsym(RTLD_NEXT, "ompt_start_tool");
    struct start_result *other = next ? next(version, runtime) : NULL;
    if (!other && !pc_config_omp_tool())
        return &result;
    if (pc_sampler_signal)
        pc_core_complain("another OpenMP tool is active: parallel regions are not known");
    return other;
}
