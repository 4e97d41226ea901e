/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The common part of the hosts of both kinds of plugins: names, search, checks. The first three
 * words of every descriptor are version, size and kind: nothing after them is read before they have
 * been checked. Called by the hosts (comm_plugins.c, compute_plugins.c), only before the first
 * call.
 */
#include "libcollect/life/plugin_host.h"
#include "base/nearest.h"
#include "format/profile.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/state.h"
#include "plugins/plugins.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

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

/* ---- Checks of what a plugin describes ------------------------------------------------------ */

/* True for 1 to 31 printable ASCII characters. Names are stored in arrays of fixed size, identify
 * fields, tables and columns, and are printed. */
static bool is_name(const char *name)
{
    size_t n = 0;
    while (name && name[n] >= ' ' && name[n] <= '~' && n < PCOLLECT_NAME_BYTES)
        n++;
    return n && n < PCOLLECT_NAME_BYTES && !name[n];
}

#define NO_NAME "has no name of 1 to 31 printable ASCII characters"

static uint32_t end_of(const struct pcollect_field *f)
{
    return f->offset + 8u * (f->combine == PCOLLECT_HIST ? PCOLLECT_HIST_WORDS(f->bins) : 1);
}

/* The fields before field i have been checked. */
static const char *why_field_clashes(const struct pcollect_field *fields, uint32_t i)
{
    const struct pcollect_field *f = &fields[i];
    for (uint32_t k = 0; k < i; k++) {
        if (!strcmp(fields[k].name, f->name))
            return "has the name of another field";
        if (fields[k].offset < end_of(f) && f->offset < end_of(&fields[k]))
            return "lies where another field lies";
    }
    return NULL;
}

static const char *why_field_refused(const struct pcollect_field *f, uint32_t record_bytes)
{
    bool is_hist = f->combine == PCOLLECT_HIST;
    if (!pc_field_may_be(f->combine, f->unit, f->bins))
        return is_hist ? "has no unit, or not 1 to 64 bins"
                       : "has no kind or unit, or has bins and is no histogram";
    if (f->offset % 8 || end_of(f) > record_bytes)
        return "lies outside of its record, or not at a multiple of 8 bytes";
    if (is_hist && f->unit == PCOLLECT_UNIT_TICKS)
        return "is a histogram in ticks: its bins could not be converted";
    return NULL;
}

static int check_fields(const struct head *p, struct pc_error *why)
{
    if (p->n_fields > PC_MAX_FIELDS || (p->n_fields && !p->fields) || p->record_bytes > 65536)
        return pc_error_set(why, PC_EARG, "its record is too large or has too many fields");
    for (uint32_t i = 0; i < p->n_fields; i++) {
        const struct pcollect_field *f = &p->fields[i];
        if (!is_name(f->name))
            return pc_error_set(why, PC_EARG, "field %u " NO_NAME, i + 1);
        const char *reason = why_field_refused(f, p->record_bytes);
        if (!reason)
            reason = why_field_clashes(p->fields, i);
        if (reason)
            return pc_error_set(why, PC_EARG, "field %u, '%s', %s", i + 1, f->name, reason);
    }
    return PC_OK;
}

static const char *why_column_refused(const struct pcollect_column *c, bool is_key)
{
    if (c->type < PCOLLECT_COLUMN_NUMBER || c->type > PCOLLECT_COLUMN_DOMAIN)
        return "has no type";
    if (c->unit < PCOLLECT_UNIT_COUNT || c->unit > PCOLLECT_UNIT_NS)
        return "has no unit";
    if (is_key ? c->combine != 0 : c->combine < PCOLLECT_SUM || c->combine > PCOLLECT_MAX)
        return "does not say how it is combined, or is a key and does";
    if (c->unit == PCOLLECT_UNIT_TICKS && (is_key || c->type != PCOLLECT_COLUMN_NUMBER))
        return "is a key, or no number, and cannot be in ticks";
    return NULL;
}

/* True if a column before column i has its name; a table by phase gets a column `phase`. */
static bool is_column_before(const struct pcollect_table *t, uint32_t i)
{
    const char *name = t->columns[i].name;
    bool found = t->flags & PCOLLECT_TABLE_BY_PHASE && !strcmp(name, "phase");
    for (uint32_t k = 0; k < i && !found; k++)
        found = !strcmp(t->columns[k].name, name);
    return found;
}

enum { KNOWN_FLAGS = PCOLLECT_TABLE_BY_PHASE | PCOLLECT_TABLE_KEPT };

/* The table has a valid name. */
static int check_columns(const struct pcollect_table *t, struct pc_error *why)
{
    if (!t->columns || t->n_keys < 1 || t->n_keys > PCOLLECT_MAX_KEYS || t->n_values < 1 ||
        t->n_values > PCOLLECT_MAX_VALUES)
        return pc_error_set(why, PC_EARG, "table '%s' has no columns, or too many", t->name);
    if (t->flags & ~(uint32_t)KNOWN_FLAGS)
        return pc_error_set(why, PC_EARG, "table '%s' has flags that are not known", t->name);
    if (t->flags & PCOLLECT_TABLE_BY_PHASE && t->n_keys == PCOLLECT_MAX_KEYS)
        return pc_error_set(why, PC_EARG, "table '%s' is by phase and has no room for its last key",
                            t->name);
    for (uint32_t i = 0; i < (uint32_t)t->n_keys + t->n_values; i++) {
        const struct pcollect_column *c = &t->columns[i];
        if (!is_name(c->name))
            return pc_error_set(why, PC_EARG, "column %u of table '%s' " NO_NAME, i + 1, t->name);
        const char *reason = is_column_before(t, i) ? "has the name of another column"
                                                    : why_column_refused(c, i < t->n_keys);
        if (reason)
            return pc_error_set(why, PC_EARG, "column %u of table '%s', '%s', %s", i + 1, t->name,
                                c->name, reason);
    }
    return PC_OK;
}

#define DESCRIPTOR(name, answers) (const struct head *)&pc_plugin_##name,
static const struct head *const own_plugins[] = {PC_COMM_PLUGINS(DESCRIPTOR)
                                                     PC_COMPUTE_PLUGINS(DESCRIPTOR)};

static bool has_table(const struct head *p, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(p->tables[i].name, name))
            return true;
    return false;
}

/* True if the library, its plugins or the command have a table of that name. */
static bool is_own_table(const char *name)
{
#define NAME(table) #table,
    static const char *const others[] = {PC_REPORT_TABLES(NAME) PC_STORED_TABLES(NAME)
                                             PC_TABLE_CHECKPOINT};
    bool found = false;
    for (size_t i = 0; i < PC_ARRAY_LEN(others) && !found; i++)
        found = !strcmp(others[i], name);
    for (size_t i = 0; i < pc_n_own_tables && !found; i++)
        found = !strcmp(pc_own_tables[i]->name, name);
    for (size_t i = 0; i < PC_ARRAY_LEN(own_plugins) && !found; i++)
        found = has_table(own_plugins[i], own_plugins[i]->n_tables, name);
    return found;
}

/* Tables of users' plugins that have been loaded. */
static uint32_t n_users_tables;

/* The most tables that users' plugins can have together: the room of all but those that the library
 * and its plugins can have, with the one of Python's symbols. */
static uint32_t most_users_tables(void)
{
    size_t n = pc_n_own_tables + 1;
    for (size_t i = 0; i < PC_ARRAY_LEN(own_plugins); i++)
        n += own_plugins[i]->n_tables;
    return PC_MAX_TABLES - (uint32_t)n;
}

static bool is_loaded_table(const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < pc_process.n_plugins && !found; i++) {
        const struct head *p = (const struct head *)pc_process.plugins[i].comm;
        found = has_table(p, p->n_tables, name);
    }
    for (uint32_t i = 0; i < pc_process.n_compute && !found; i++) {
        const struct head *p = (const struct head *)pc_process.compute[i].plugin;
        found = has_table(p, p->n_tables, name);
    }
    return found;
}

static int check_tables(const struct head *p, struct pc_error *why)
{
    uint32_t most = most_users_tables();
    if (p->n_tables && !p->tables)
        return pc_error_set(why, PC_EARG, "its tables are missing");
    if (p->n_tables > most - n_users_tables)
        return pc_error_set(why, PC_EARG,
                            "it has %u tables; plugins of your own can have %u together, of which "
                            "%u are taken",
                            p->n_tables, most, n_users_tables);
    for (uint32_t i = 0; i < p->n_tables; i++) {
        const char *name = p->tables[i].name;
        if (!is_name(name))
            return pc_error_set(why, PC_EARG, "table %u " NO_NAME, i + 1);
        if (is_own_table(name) || is_loaded_table(name) || has_table(p, i, name))
            return pc_error_set(why, PC_EARG, "there is a table '%s' already; give it another name",
                                name);
        int err = check_columns(&p->tables[i], why);
        if (err)
            return err;
    }
    return PC_OK;
}

static int check_shape(const struct head *p, struct pc_error *why)
{
    if (!is_name(p->name))
        return pc_error_set(why, PC_EARG, "it " NO_NAME);
    int err = check_fields(p, why);
    return err ? err : check_tables(p, why);
}

/* ---- Loading --------------------------------------------------------------------------------- */

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

static int check(const struct pc_plugin_kind *kind, const struct head *p, bool is_users,
                 struct pc_error *why)
{
    const char *reason = why_stranger(p, kind);
    if (!reason)
        reason = kind->why_refused(p);
    if (!reason && is_loaded(kind, p))
        reason = "there is a plugin of that name already";
    if (reason)
        return pc_error_set(why, PC_EARG, "%s", reason);
    return is_users ? check_shape(p, why) : PC_OK;
}

static int load(const struct pc_plugin_kind *kind, const char *name, struct pc_error *error)
{
    struct pc_error why;
    const struct head *p = find_built_in(kind, name);
    bool is_users = !p;
    if (is_users && !strchr(name, '/'))
        return say_unknown(kind, name, error);
    if (is_users) {
        void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            return pc_error_set(error, PC_EARG, "%s: %s", kind->option, dlerror());
        p = dlsym(handle, PCOLLECT_PLUGIN_SYMBOL);
    }
    int err = check(kind, p, is_users, &why);
    if (err)
        return pc_error_set(error, err, "%s: %s is refused: %s", kind->option, name, why.text);
    if (*kind->n == kind->most)
        return pc_error_set(error, PC_EARG, "%s: more than %u", kind->option, kind->most);
    kind->take(p);
    pc_process.record_bytes += (p->record_bytes + 7u) & ~7u;
    n_users_tables += is_users ? p->n_tables : 0;
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
