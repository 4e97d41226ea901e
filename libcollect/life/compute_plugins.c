/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host of compute plugins: finds those that the configuration names, refuses those that it
 * cannot use, with name and reason, lays out the second part of the record, and starts them. Runs
 * only before the first interrupt. Without sampling no compute plugin is loaded, and records have
 * no second part.
 */
#include "libcollect/life/plugin_host.h"
#include "libcollect/sampling/counter_groups.h"
#include "libcollect/state/publish.h"
#include "libcollect/state/state.h"
#include "plugins/plugins.h"

#include <string.h>

#define DESCRIPTOR(name, answers) &pc_plugin_##name,
static const void *const built_in[] = {PC_COMPUTE_PLUGINS(DESCRIPTOR)};

static const char *why_refused(const void *plugin)
{
    const struct pcollect_compute_plugin *p = plugin;
    if (!p->name || !p->init || !p->trigger)
        return "its name, init or trigger is missing";
    if (!p->open != !p->read || !p->open != !p->close)
        return "it has one of open, read and close, but not all three";
    return NULL;
}

static const void *at(uint32_t i)
{
    return pc_process.compute[i].plugin;
}

static void take(const void *plugin)
{
    pc_process.compute[pc_process.n_compute++] = (struct pc_loaded_compute){
        .plugin = plugin, .record_offset = pc_process.record_bytes - pc_process.comm_bytes};
}

static const struct pc_plugin_kind kind = {.kind = PCOLLECT_PLUGIN_COMPUTE,
                                           .bytes = sizeof(struct pcollect_compute_plugin),
                                           .option = "[sample] plugins",
                                           .built_in = built_in,
                                           .n_built_in = PC_ARRAY_LEN(built_in),
                                           .why_refused = why_refused,
                                           .n = &pc_process.n_compute,
                                           .most = PC_MAX_COMPUTE,
                                           .at = at,
                                           .take = take};

int pc_compute_find(struct pc_error *error)
{
    pc_process.comm_bytes = pc_process.record_bytes;
    if (!pc_process.config.sample_frequency)
        return PC_OK;
    return pc_plugins_load(&kind, pc_process.config.sample_plugins, error);
}

static void use_counters(void)
{
    const char *rotation = pc_process.config.sample_rotation;
    const struct pc_counted *c = &pc_counters.events;
    pc_counters_ask(&(struct pc_counters_use){c->n_events, c->n_groups, c->strings,
                                              !strcmp(rotation, "round-robin")});
}

int pc_compute_start(void)
{
    uint32_t n = 0;
    use_counters();
    for (uint32_t i = 0; i < pc_process.n_compute; i++) {
        struct pc_loaded_compute *p = &pc_process.compute[i];
        if (p->plugin->init(&pc_process.host, &p->state)) {
            pc_core_complain("plugin %s does not start and is left out%s", p->plugin->name,
                             p->plugin == &pc_plugin_counters
                                 ? ": [sample] events names nothing that can be counted"
                                 : "");
            continue;
        }
        int err = pc_publish_compute(p);
        if (err)
            return err;
        pc_process.compute[n++] = *p;
    }
    pc_process.n_compute = n;
    return PC_OK;
}

void pc_compute_fini(void)
{
    for (uint32_t i = 0; i < pc_process.n_compute; i++)
        if (pc_process.compute[i].plugin->fini)
            pc_process.compute[i].plugin->fini(pc_process.compute[i].state);
}
