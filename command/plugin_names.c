/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of the plugins of the library, and the kernel's names of events, for completions.
 */
#include "command/command.h"
#include "counting/counting.h"
#include "plugins/names.h"

#define NAME(name, answers) #name,
const char *const pct_comm_plugins[] = {PC_COMM_PLUGINS(NAME) NULL};
const char *const pct_compute_plugins[] = {PC_COMPUTE_PLUGINS(NAME) NULL};

const char *pct_comm_plugin(const void *arg, size_t i)
{
    (void)arg;
    return pct_comm_plugins[i];
}

const char *pct_compute_plugin(const void *arg, size_t i)
{
    (void)arg;
    return pct_compute_plugins[i];
}

const char *pct_kernel_event(const void *arg, size_t i)
{
    (void)arg;
    return pc_counting_kernel_name(i);
}
