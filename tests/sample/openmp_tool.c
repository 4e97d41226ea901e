/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tool of OpenMP, as OMP_TOOL_LIBRARIES names one: counts the parallel regions that begin, and
 * prints the count at the end. Types and numbers are those of the OpenMP specification 5.0,
 * chapter 4.
 */
#include <stdint.h>
#include <stdio.h>

union data {
    uint64_t value;
    void *pointer;
};

typedef void callback_fn(void);

static unsigned n_regions;

static void parallel_begin(union data *task, const void *frame, union data *parallel,
                           unsigned threads, int flags, const void *code)
{
    (void)task, (void)frame, (void)threads, (void)flags, (void)code;
    parallel->value = ++n_regions;
}

static int initialize(callback_fn *(*lookup)(const char *), int device, union data *tool)
{
    (void)device, (void)tool;
    int (*set)(int, callback_fn *) = (int (*)(int, callback_fn *))lookup("ompt_set_callback");
    return set && set(3, (callback_fn *)parallel_begin);
}

static void finalize(union data *tool)
{
    (void)tool;
    printf("tool: %u regions\n", n_regions);
}

struct start_result {
    int (*initialize)(callback_fn *(*lookup)(const char *), int device, union data *tool);
    void (*finalize)(union data *tool);
    union data tool;
};

struct start_result *ompt_start_tool(unsigned version, const char *runtime);

struct start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start_result result = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return &result;
}
