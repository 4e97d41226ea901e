/* SPDX-License-Identifier: BSD-3-Clause
 *
 * null: does nothing with every call. The shortest plugin that the host accepts: a template, a
 * stand-in for tests, and a way to measure the cost of the library without plugins.
 */
#include "plugins/plugins.h"

#include <stddef.h>

static int start(const struct pcollect_host *host, void **state)
{
    (void)host;
    *state = NULL;
    return 0;
}

static void post(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    (void)event;
    (void)record;
}

const struct pcollect_comm_plugin pc_plugin_null = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = 0,
    .name = "null",
    .doc = "nothing: a template and a test double",
    .fields = NULL,
    .n_fields = 0,
    .init = start,
    .post = post,
};
