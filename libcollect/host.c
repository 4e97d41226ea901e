/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin host: finds the plugins that the configuration names, refuses by name with the reason
 * what it cannot use, lays out the record, starts them. Before the first call only.
 */
#include "libcollect/core_private.h"
#include "plugins/plugins.h"

#include <dlfcn.h>
#include <string.h>

static const struct pcollect_comm_plugin *const built_in[] = {
    &pc_plugin_time,   &pc_plugin_request, &pc_plugin_volume, &pc_plugin_topology,
    &pc_plugin_domain, &pc_plugin_series,  &pc_plugin_object, &pc_plugin_null};

/* Names go into fields of fixed size, and are what fields are known by. */
static bool is_name(const char *name)
{
    return *name && strlen(name) < PCOLLECT_NAME_BYTES;
}

static bool is_named_before(const struct pcollect_field *fields, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(fields[k].name, fields[i].name))
            return true;
    return false;
}

const char *pc_fields_refused(const struct pcollect_field *fields, uint32_t n,
                              uint32_t record_bytes)
{
    if (n > PC_MAX_FIELDS || (n && !fields) || record_bytes > 65536)
        return "its record is too large or has too many fields";
    for (uint32_t i = 0; i < n; i++) {
        const struct pcollect_field *f = &fields[i];
        uint32_t words = f->combine == PCOLLECT_HIST ? f->bins : 1;
        if (!f->name || f->offset % 8 || f->combine < PCOLLECT_SUM || f->combine > PCOLLECT_HIST ||
            f->offset + 8u * words > record_bytes)
            return "a field lies outside of its record or has no name or kind";
        if (!is_name(f->name) || is_named_before(fields, i))
            return "two fields have one name, or a field's is empty or longer than 31 bytes";
        if (f->unit < PCOLLECT_UNIT_COUNT || f->unit > PCOLLECT_UNIT_NS || words < 1 || words > 64)
            return "a field has no unit, or more than 64 bins";
        if (f->combine == PCOLLECT_HIST && f->unit == PCOLLECT_UNIT_TICKS)
            return "a histogram cannot be in ticks: its bins could not be converted";
    }
    return NULL;
}

static const char *why_refused(const struct pcollect_comm_plugin *p)
{
    if (!p)
        return "its descriptor " PCOLLECT_PLUGIN_SYMBOL " is missing";
    if (p->abi != PCOLLECT_PLUGIN_ABI)
        return "it was built for another version of the plugin interface";
    if (p->size < sizeof *p)
        return "its descriptor is shorter than this version's";
    if (p->kind != PCOLLECT_PLUGIN_COMM)
        return "it is not a communication plugin";
    if (!p->name || !p->init || !p->post)
        return "its name, init or post is missing";
    if (!is_name(p->name))
        return "its name is empty or longer than 31 bytes";
    for (uint32_t i = 0; i < pc_process.n_plugins; i++)
        if (!strcmp(pc_process.plugins[i].comm->name, p->name))
            return "there is a plugin of that name already";
    if (p->n_tables && !p->tables)
        return "its tables are missing";
    const char *why = pc_fields_refused(p->fields, p->n_fields, p->record_bytes);
    for (uint32_t i = 0; !why && i < p->n_tables; i++)
        why = pc_table_refused(&p->tables[i]);
    return why;
}

static const struct pcollect_comm_plugin *find_built_in(const char *name)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(built_in); i++)
        if (!strcmp(built_in[i]->name, name))
            return built_in[i];
    return NULL;
}

static int add_plugin(const char *name, struct pc_error *error)
{
    const struct pcollect_comm_plugin *p = find_built_in(name);
    if (!p && !strchr(name, '/'))
        return pc_error_set(
            error, PC_EARG,
            "[collect] plugins: there is no plugin '%s'; known are time, volume, request, "
            "topology, domain, series, object and null, a plugin of your own is named by its path",
            name);
    if (!p) {
        void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            return pc_error_set(error, PC_EARG, "[collect] plugins: %s", dlerror());
        p = dlsym(handle, PCOLLECT_PLUGIN_SYMBOL);
    }
    const char *why = why_refused(p);
    if (why)
        return pc_error_set(error, PC_EARG, "[collect] plugins: %s is refused: %s", name, why);
    if (pc_process.n_plugins == PC_MAX_PLUGINS)
        return pc_error_set(error, PC_EARG, "[collect] plugins: more than %d", PC_MAX_PLUGINS);
    pc_process.plugins[pc_process.n_plugins++] = (struct pc_loaded_plugin){
        .post = p->post, .comm = p, .record_offset = pc_process.record_bytes};
    pc_process.record_bytes += (p->record_bytes + 7u) & ~7u;
    return PC_OK;
}

int pc_plugins_find(struct pc_error *error)
{
    char list[PC_CONFIG_TEXT_BYTES];
    pc_format(list, sizeof list, "%s", pc_process.config.collect_plugins);
    char *rest = list, *name;
    int err = PC_OK;
    while (!err && (name = strsep(&rest, ", \t"))) {
        if (*name)
            err = add_plugin(name, error);
        /* One of the user's own takes nothing with it but itself. */
        if (err && strchr(name, '/') && !pc_process.config.strict) {
            pc_core_complain("%s; it is left out", error->text);
            err = PC_OK;
        }
    }
    return err;
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
        if (pc_publish_plugin(p))
            return PC_ENOMEM;
        pc_process.core.wants |= p->comm->wants;
        pc_process.core.asks |= p->comm->pre || p->comm->wants || !pc_clock_is_counter;
        pc_process.plugins[n++] = *p;
    }
    pc_process.n_plugins = n;
    if (n == 1 && pc_process.plugins[0].comm == &pc_plugin_time &&
        !pc_process.plugins[0].record_offset) {
        pc_process.core.end = pc_call_end_time;
        pc_process.core.complete = pc_call_complete_time;
    }
    return PC_OK;
}

void pc_plugins_fini(void)
{
    for (uint32_t i = 0; i < pc_process.n_plugins; i++)
        if (pc_process.plugins[i].comm->fini)
            pc_process.plugins[i].comm->fini(pc_process.plugins[i].state);
}
