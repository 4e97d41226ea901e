/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of the parts (parts.h), and the functions that go through them. Called by core.c and
 * finish.c.
 */
#include "libcollect/life/parts.h"

#include "libcollect/context/python.h"
#include "libcollect/context/thread.h"
#include "libcollect/life/plugin_host.h"
#include "libcollect/sampling/early_threads.h"
#include "libcollect/sampling/edges.h"
#include "libcollect/sampling/sampler.h"
#include "libcollect/tables/process_tables.h"

static void watch_early_threads(void)
{
    const int32_t *tids;
    uint32_t n = pc_threads_table_early(&tids);
    pc_early_watch(tids, n);
}

static const struct pc_part parts[] = {
    {.find = pc_plugins_find, .start = pc_plugins_start, .fini = pc_plugins_fini},
    {.find = pc_compute_find, .start = pc_compute_start, .fini = pc_compute_fini},
    {.tables = pc_threads_table_start,
     .thread = {pc_threads_table_enter, pc_threads_table_leave},
     .init_begin = pc_threads_table_init_begin,
     .init_end = pc_threads_table_init_end,
     .before_merge = pc_threads_table_rest},
    {.find = pc_counters_find,
     .start = pc_counters_start,
     .thread = {pc_counters_enter, pc_counters_leave},
     .forget = pc_counters_forget},
    {.start = pc_python_start},
    {.start = pc_edges_start,
     .thread = {pc_edges_enter, pc_edges_leave},
     .before_merge = pc_edges_before_merge},
    {.start = pc_sampler_start,
     .thread = {pc_sampler_enter, pc_sampler_leave},
     .init_end = pc_sampler_init_end,
     .before_merge = pc_sampler_end,
     .forget = pc_sampler_forget},
    {.init_end = watch_early_threads},
    {.start = pc_place_start, .init_end = pc_place_note},
    {.start = pc_machine_start, .before_merge = pc_machine_note},
    {.tables = pc_run_tables_start,
     .init_end = pc_run_tables_note,
     .before_merge = pc_run_tables_note},
    /* Must be the last rows: before the merge they come first, so that they do not book the work of
     * the other parts. */
    {.tables = pc_usage_start, .init_end = pc_usage_init_end, .before_merge = pc_usage_note},
    {.tables = pc_thread_times_start,
     .thread = {pc_thread_times_enter, pc_thread_times_leave},
     .init_end = pc_thread_times_init_end,
     .before_merge = pc_thread_times_settle},
};

int pc_parts_find(struct pc_error *error)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(parts); i++) {
        int err = parts[i].find ? parts[i].find(error) : PC_OK;
        if (err)
            return err;
    }
    return PC_OK;
}

int pc_parts_start(void)
{
    int err = PC_OK;
    for (size_t i = 0; !err && i < PC_ARRAY_LEN(parts); i++)
        err = parts[i].tables ? parts[i].tables() : PC_OK;
    if (err)
        return err;
    for (size_t i = 0; i < PC_ARRAY_LEN(parts); i++) {
        err = parts[i].start ? parts[i].start() : PC_OK;
        if (err)
            return err;
        pc_threads_take_part(&parts[i].thread);
    }
    return PC_OK;
}

static void call(void (*fn)(void))
{
    if (fn)
        fn();
}

void pc_parts_init_begin(void)
{
    for (size_t i = PC_ARRAY_LEN(parts); i-- > 0;)
        call(parts[i].init_begin);
}

void pc_parts_init_end(void)
{
    for (size_t i = PC_ARRAY_LEN(parts); i-- > 0;)
        call(parts[i].init_end);
}

void pc_parts_before_merge(void)
{
    for (size_t i = PC_ARRAY_LEN(parts); i-- > 0;)
        call(parts[i].before_merge);
}

void pc_parts_forget(void)
{
    for (size_t i = PC_ARRAY_LEN(parts); i-- > 0;)
        call(parts[i].forget);
}

void pc_parts_fini(void)
{
    for (size_t i = PC_ARRAY_LEN(parts); i-- > 0;)
        call(parts[i].fini);
}
