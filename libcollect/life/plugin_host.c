/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The common part of the hosts of both kinds of plugins: names, search, checks. The first three
 * words of every descriptor are version, size and kind: nothing after them is read before they have
 * been checked. Called by the hosts (comm_plugins.c, compute_plugins.c), only before the first
 * call.
 */
#include "libcollect/life/plugin_host.h"
#include "base/nearest.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* True for a valid name. Names are stored in arrays of fixed size, and identify the fields. */
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

static const char *why_fields_refused(const struct pcollect_field *fields, uint32_t n,
                                      uint32_t record_bytes)
{
    if (n > PC_MAX_FIELDS || (n && !fields) || record_bytes > 65536)
        return "its record is too large or has too many fields";
    for (uint32_t i = 0; i < n; i++) {
        const struct pcollect_field *f = &fields[i];
        bool is_hist = f->combine == PCOLLECT_HIST;
        uint32_t words = is_hist ? PCOLLECT_HIST_WORDS(f->bins) : 1;
        if (!f->name || f->offset % 8 || f->combine < PCOLLECT_SUM || f->combine > PCOLLECT_HIST ||
            f->offset + 8u * words > record_bytes)
            return "a field lies outside of its record or has no name or kind";
        if (!is_name(f->name) || is_named_before(fields, i))
            return "two fields have one name, or a field's is empty or longer than 31 bytes";
        if (f->unit < PCOLLECT_UNIT_COUNT || f->unit > PCOLLECT_UNIT_NS ||
            (is_hist && (f->bins < 1 || f->bins > 64)))
            return "a field has no unit, or more than 64 bins";
        if (is_hist && f->unit == PCOLLECT_UNIT_TICKS)
            return "a histogram cannot be in ticks: its bins could not be converted";
    }
    return NULL;
}

/* First members of the descriptors of both kinds. */
struct head {
    uint32_t abi, size, kind, record_bytes;
    const char *name, *doc;
    const struct pcollect_field *fields;
    const struct pcollect_table *tables;
    uint32_t n_fields, n_tables;
};

#define IS_HEAD_OF(type, member)                                                                   \
    static_assert(offsetof(struct head, member) == offsetof(type, member), "one head for both")
IS_HEAD_OF(struct pcollect_comm_plugin, kind);
IS_HEAD_OF(struct pcollect_comm_plugin, name);
IS_HEAD_OF(struct pcollect_comm_plugin, tables);
IS_HEAD_OF(struct pcollect_comm_plugin, n_tables);
IS_HEAD_OF(struct pcollect_compute_plugin, kind);
IS_HEAD_OF(struct pcollect_compute_plugin, name);
IS_HEAD_OF(struct pcollect_compute_plugin, tables);
IS_HEAD_OF(struct pcollect_compute_plugin, n_tables);

static const char *why_stranger(const struct head *p, const struct pc_plugin_kind *kind)
{
    if (!p)
        return "its descriptor " PCOLLECT_PLUGIN_SYMBOL " is missing";
    if (p->abi != PCOLLECT_PLUGIN_ABI)
        return "it was built for another version of the plugin interface";
    if (p->size < kind->bytes)
        return "its descriptor is shorter than this version's";
    if (p->kind != kind->kind)
        return kind->kind == PCOLLECT_PLUGIN_COMM ? "it is not a communication plugin"
                                                  : "it is not a compute plugin";
    return NULL;
}

static const char *why_shape_refused(const struct head *p)
{
    if (!is_name(p->name))
        return "its name is empty or longer than 31 bytes";
    if (p->n_tables && !p->tables)
        return "its tables are missing";
    const char *why = why_fields_refused(p->fields, p->n_fields, p->record_bytes);
    for (uint32_t i = 0; !why && i < p->n_tables; i++)
        why = pc_table_refused(&p->tables[i]);
    return why;
}

static const void *find_built_in(const struct pc_plugin_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->n_built_in; i++)
        if (!strcmp(((const struct head *)kind->built_in[i])->name, name))
            return kind->built_in[i];
    return NULL;
}

static int say_unknown(const struct pc_plugin_kind *kind, const char *name, struct pc_error *error)
{
    char known[256];
    const char *names[PC_MAX_PLUGINS];
    size_t n = 0;
    for (; n < kind->n_built_in && n < PC_ARRAY_LEN(names); n++)
        names[n] = ((const struct head *)kind->built_in[n])->name;
    pc_words_text(names, n, known, sizeof known);
    return pc_error_set(error, PC_EARG,
                        "%s: there is no plugin '%s'; give %s, or the path of a plugin of your own",
                        kind->option, name, known);
}

static bool is_loaded(const struct pc_plugin_kind *kind, const struct head *p)
{
    for (uint32_t i = 0; i < *kind->n; i++)
        if (!strcmp(((const struct head *)kind->at(i))->name, p->name))
            return true;
    return false;
}

static int load(const struct pc_plugin_kind *kind, const char *name, struct pc_error *error)
{
    const struct head *p = find_built_in(kind, name);
    if (!p && !strchr(name, '/'))
        return say_unknown(kind, name, error);
    if (!p) {
        void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            return pc_error_set(error, PC_EARG, "%s: %s", kind->option, dlerror());
        p = dlsym(handle, PCOLLECT_PLUGIN_SYMBOL);
    }
    const char *why = why_stranger(p, kind);
    if (!why)
        why = kind->why_refused(p);
    if (!why && is_loaded(kind, p))
        why = "there is a plugin of that name already";
    if (!why)
        why = why_shape_refused(p);
    if (why)
        return pc_error_set(error, PC_EARG, "%s: %s is refused: %s", kind->option, name, why);
    if (*kind->n == kind->most)
        return pc_error_set(error, PC_EARG, "%s: more than %u", kind->option, kind->most);
    kind->take(p);
    pc_process.record_bytes += (p->record_bytes + 7u) & ~7u;
    return PC_OK;
}

int pc_plugins_load(const struct pc_plugin_kind *kind, const char *names, struct pc_error *error)
{
    char list[PC_CONFIG_TEXT_BYTES];
    pc_format(list, sizeof list, "%s", names);
    char *rest = list, *name;
    int err = PC_OK;
    while (!err && (name = strsep(&rest, ", \t"))) {
        if (*name)
            err = load(kind, name, error);
        /* A user's plugin (a path) that fails is left out alone; the others stay. */
        if (err && strchr(name, '/') && !pc_process.config.strict) {
            pc_core_complain("%s; it is left out", error->text);
            err = PC_OK;
        }
    }
    return err;
}
