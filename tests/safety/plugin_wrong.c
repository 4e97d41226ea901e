/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plugin that counts calls. With -DWRONG_... it has one error, that of this name.
 */
#include <pcollect/plugin.h>

#include <stdlib.h>

static int start(const struct pcollect_host *host, void **state)
{
    (void)host;
    *state = NULL;
#ifdef WRONG_INIT
    return 1;
#else
    return 0;
#endif
}

static void post(void *state, const struct pcollect_event *event, void *record)
{
    (void)state;
    (void)event;
    ++*(uint64_t *)record;
}

#define FIELD(text, place)                                                                         \
    {                                                                                              \
        .name = text, .doc = "calls", .combine = PCOLLECT_SUM, .unit = PCOLLECT_UNIT_COUNT,        \
        .offset = place                                                                            \
    }

static const struct pcollect_field fields[] = {
    FIELD("calls", 0),
#ifdef WRONG_TWICE
    FIELD("calls", 0),
#endif
#ifdef WRONG_FIELD
    FIELD("far", 8),
#endif
#ifdef WRONG_OVERLAP
    FIELD("again", 0),
#endif
};

#ifdef WRONG_SYMBOL
#define pcollect_plugin another_plugin
#endif
extern struct pcollect_comm_plugin pcollect_plugin;
struct pcollect_comm_plugin pcollect_plugin = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = 8,
    .name = "counter",
    .doc = "calls",
    .fields = fields,
    .n_fields = sizeof fields / sizeof fields[0],
    .init = start,
    .post = post,
};

/* Runs when the plugin is opened, before the library reads its description. */
__attribute__((constructor)) static void spoil(void)
{
#if defined WRONG_ABI
    pcollect_plugin.abi = 9999;
#elif defined WRONG_SIZE
    pcollect_plugin.size = 16;
#elif defined WRONG_KIND
    pcollect_plugin.kind = 77;
#elif defined WRONG_NAME
    pcollect_plugin.name = "time";
#elif defined WRONG_HOOK
    pcollect_plugin.post = NULL;
#endif
}
