/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The host of communication plugins: finds the plugins that the configuration names, refuses those
 * that it cannot use, with name and reason, lays out the record, and starts them. Runs only before
 * the first call.
 */
#include "libcollect/call/call.h"
#include "libcollect/life/plugin_host.h"
#include "libcollect/state/publish.h"
#include "libcollect/state/state.h"
#include "plugins/plugins.h"

#include <string.h>

#define DESCRIPTOR(name, answers) &pc_plugin_##name,
static const void *const built_in[] = {PC_COMM_PLUGINS(DESCRIPTOR)};

static const char *why_refused(const void *plugin)
{
    const struct pcollect_comm_plugin *p = plugin;
    if (!p->name || !p->init || (!p->post && !p->ended && !p->domain))
        return "its name or init is missing, or all of post, ended and domain";
    return NULL;
}

static const void *at(uint32_t i)
{
    return pc_process.plugins[i].comm;
}

static void take(const void *plugin)
{
    pc_process.plugins[pc_process.n_plugins++] =
        (struct pc_loaded_plugin){.comm = plugin, .record_offset = pc_process.record_bytes};
}

static const struct pc_plugin_kind kind = {.kind = PCOLLECT_PLUGIN_COMM,
                                           .bytes = sizeof(struct pcollect_comm_plugin),
                                           .option = "[collect] plugins",
                                           .built_in = built_in,
                                           .n_built_in = PC_ARRAY_LEN(built_in),
                                           .why_refused = why_refused,
                                           .n = &pc_process.n_plugins,
                                           .most = PC_MAX_PLUGINS,
                                           .at = at,
                                           .take = take};

int pc_plugins_find(struct pc_error *error)
{
    return pc_plugins_load(&kind, pc_process.config.collect_plugins, error);
}

/* True if `time` comes first and no other plugin has to be told of quiet calls. */
static bool time_serves_quiet(bool time_first)
{
    for (uint32_t i = 1; i < pc_process.n_plugins; i++)
        if (!(pc_process.plugins[i].comm->wants & PCOLLECT_WANT_NOT_QUIET))
            return false;
    return time_first && pc_clock_is_counter;
}

/* Chooses the functions that a call goes through, by the needs of the plugins. */
static void choose_ways(void)
{
    struct pc_core *core = &pc_process.core;
    const struct pc_loaded_plugin *first = pc_process.plugins;
    bool time_first =
        pc_process.n_plugins && first->comm == &pc_plugin_time && !first->record_offset;
    /* A wrapper that asks nobody reads the counter after the call. */
    if (!pc_clock_is_counter) {
        core->begin = pc_call_begin_by_clock;
        core->asks = true;
    }
    core->begin_quiet = core->begin;
    if (time_first) {
        core->end = pc_process.n_plugins == 1 ? pc_call_end_time : pc_call_end_time_first;
        core->complete = pc_call_complete_time;
    }
    if (time_serves_quiet(time_first)) {
        core->end_quiet = pc_call_end_time;
        return;
    }
    core->asks_quiet = core->asks;
    core->end_quiet = core->end;
}

int pc_plugins_start(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < pc_process.n_plugins; i++) {
        struct pc_loaded_plugin *p = &pc_process.plugins[i];
        if (p->comm->init(&pc_process.host, &p->state)) {
            pc_core_complain("plugin %s does not start and is left out", p->comm->name);
            continue;
        }
        int err = pc_publish_plugin(p);
        if (err)
            return err;
        pc_process.core.wants |= p->comm->wants;
        pc_process.core.asks |= p->comm->pre || p->comm->wants;
        pc_process.tells_regions |= p->comm->region != NULL;
        pc_process.tells_samples |= p->comm->sample != NULL;
        if (p->comm->pre)
            pc_process.core.pre = pc_call_pre;
        if (p->comm->post)
            pc_process.posts[pc_process.n_posts++] =
                (struct pc_hook){p->comm->post, p->state, p->record_offset};
        if (p->comm->complete)
            pc_process.completes[pc_process.n_completes++] =
                (struct pc_hook){p->comm->complete, p->state, p->record_offset};
        pc_process.plugins[n++] = *p;
    }
    pc_process.n_plugins = n;
    choose_ways();
    return PC_OK;
}

void pc_plugins_fini(void)
{
    for (uint32_t i = 0; i < pc_process.n_plugins; i++)
        if (pc_process.plugins[i].comm->fini)
            pc_process.plugins[i].comm->fini(pc_process.plugins[i].state);
}
