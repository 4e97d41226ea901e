/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes groups that this machine can count from the names in `[sample] events` and `always`, and
 * the meters of each thread. Runs before the first thread is registered, and at the begin and the
 * end of each thread; never on the path of a call.
 */
#include "libcollect/sampling/counter_groups.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"

#include "base/nearest.h"
#include "plugins/compute/event_names.h"
#include "plugins/plugins.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

struct pc_counters pc_counters;

/* A list of events in the configuration. */
struct list {
    const char *option;
    const char *asked;
    char *words; /* a copy cut into words, in static memory */
    struct pc_counted *counted;
};

/* Events that were asked for and are not counted. */
struct left_out {
    const char *option, *name;
    struct pc_error why;
};
enum { MOST_LEFT_OUT = 2 * (PC_COUNTING_MAX_EVENTS + 1) };
static struct left_out *left_out; /* array of MOST_LEFT_OUT, or NULL */
static uint32_t n_left_out;

static const struct pc_events_module *open_module(struct pc_error *error)
{
    char path[PCOLLECT_PATH_BYTES];
    if (!pc_core_module_path(PC_EVENTS_MODULE, path, sizeof path))
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        pc_error_set(error, PC_EIO, "%s", dlerror());
        return NULL;
    }
    const struct pc_events_module *m = dlsym(handle, PC_EVENTS_SYMBOL);
    if (m && m->abi == PC_EVENTS_ABI && m->size >= sizeof *m)
        return m;
    pc_error_set(error, PC_EIO, "%s is of another version of pcollect", path);
    return NULL;
}

static bool add_near(void *nearest, const struct pc_events_entry *entry)
{
    pc_nearest_add(nearest, entry->name);
    return false;
}

/* Event that a name stands for, if it opens here. */
static int find_event(const struct pc_events_module *m, const char *name,
                      struct pc_counting_event *out, struct pc_error *error)
{
    struct pc_error why = {""};
    int err = m->find(name, out, &why);
    if (!err)
        err = pc_counting_try(out, &why);
    if (err == PC_ENOENT) {
        struct pc_nearest nearest = {.wanted = name};
        char text[PC_N_NEAREST * (PC_NEAREST_BYTES + 4)];
        m->list(add_near, &nearest);
        size_t n = pc_nearest_text(&nearest, text, sizeof text);
        return pc_error_set(error, err, "there is no such event%s%s; `pcollect events` lists them",
                            n ? ": did you mean " : "", text);
    }
    return err ? pc_error_set(error, err, "%s", why.text) : PC_OK;
}

/* The events of a list that can be opened. */
struct found {
    const struct list *list;
    const struct pc_events_module *module;
    struct pc_counting_event events[PC_COUNTING_MAX_EVENTS];
    uint32_t n;
};

/* Notes an event that is left out. `name` is in static memory. */
static void refuse(const struct list *list, const char *name, const struct pc_error *why)
{
    if (!left_out)
        left_out = pc_memory(MOST_LEFT_OUT * sizeof *left_out);
    if (left_out && n_left_out < MOST_LEFT_OUT)
        left_out[n_left_out++] = (struct left_out){list->option, name, *why};
    if (!pc_process.config.strict)
        pc_core_complain("[sample] %s: %s cannot be counted: %s; it is left out", list->option,
                         name, why->text);
}

/* Printed once, before the first event that is left out for this reason. */
static void say_no_hardware(void)
{
    static bool asked;
    struct pc_error none;
    if (asked)
        return;
    asked = true;
    if (pc_counting_hardware(&none))
        pc_core_complain("no processor counters can be opened: %s", none.text);
}

static void find_all(struct found *f)
{
    char *rest = f->list->words, *name;
    struct pc_error why;
    while ((name = strsep(&rest, ", \t"))) {
        if (!*name)
            continue;
        if (f->n == PC_COUNTING_MAX_EVENTS) {
            pc_error_set(&why, PC_EARG, "there are more than %d events", PC_COUNTING_MAX_EVENTS);
            refuse(f->list, name, &why);
            return;
        }
        int err = find_event(f->module, name, &f->events[f->n], &why);
        if (!err) {
            f->list->counted->names[f->n++] = name;
            continue;
        }
        if (err != PC_ENOENT)
            say_no_hardware();
        refuse(f->list, name, &why);
    }
}

/* `steady`: the events count all the time. Their group is pinned, because the kernel makes others
 * take turns with whoever else counts. */
static int set_events(const struct found *f, bool steady, struct pc_error *error)
{
    struct pc_counted *c = f->list->counted;
    bool always = c == &pc_counters.always;
    const struct pc_counting_what what = {
        .events = f->events,
        .n_events = f->n,
        .per_group = always ? 0 : (uint32_t)pc_process.config.sample_counters_per_group,
        .pinned = steady};
    int err = pc_counting_set(c->counting, &what, error);
    if (err)
        return err;
    c->n_events = f->n;
    c->n_groups = pc_counting_n_groups(c->counting);
    return PC_OK;
}

/* True if the kernel lets groups take turns; otherwise only the first one would ever count. */
static bool is_rotated(void)
{
    for (uint32_t i = 0; i < pc_process.n_compute; i++)
        if (pc_process.compute[i].plugin == &pc_plugin_counters)
            return true;
    return false;
}

/* Keeps the events that fit into the first group: only one group can count all the time. */
static void keep_first_group(struct found *f)
{
    struct pc_counted *c = f->list->counted;
    uint64_t first = pc_counting_group_events(c->counting, 0);
    uint32_t n = 0;
    struct pc_error why;
    pc_error_set(&why, PC_EIO,
                 "no more than %d of these events can be counted at a time here; `[sample] plugins "
                 "= clock, counters` estimates more, in turns%s",
                 __builtin_popcountll(first), c == &pc_counters.always ? " (`events`)" : "");
    for (uint32_t e = 0; e < f->n; e++) {
        if (!(first >> e & 1)) {
            refuse(f->list, c->names[e], &why);
            continue;
        }
        c->names[n] = c->names[e];
        f->events[n++] = f->events[e];
    }
    f->n = n;
}

static int make_context(struct found *f, struct pc_error *error)
{
    struct pc_counted *c = f->list->counted;
    bool steady = c == &pc_counters.always || !is_rotated();
    int err = pc_counting_create(&c->counting, error);
    if (err)
        return err;
    err = set_events(f, steady, error);
    if (!err && c->n_groups > 1 && steady) {
        keep_first_group(f);
        err = set_events(f, steady, error);
    }
    if (!err && !steady && pc_counters_steady() == c)
        err = set_events(f, true, error);
    if (err) {
        pc_counting_free(c->counting);
        c->counting = NULL;
        c->n_events = c->n_groups = 0;
    }
    return err;
}

/* True if the list may be counted. If some events count all the time, the others need groups that
 * take turns. */
static bool may_count(const struct list *list, struct pc_error *why)
{
    if (list->counted == &pc_counters.always || !pc_counters.always.counting || is_rotated())
        return true;
    pc_error_set(why, PC_EIO,
                 "with `[sample] always`, `events` are counted in turns only: that needs `[sample] "
                 "plugins = clock, counters`");
    return false;
}

static void find_list(const struct list *list, const struct pc_events_module *module,
                      const struct pc_error *no_module)
{
    struct found f = {.list = list, .module = module};
    struct pc_error why = *no_module;
    if (!list->asked[0])
        return;
    pc_format(list->words, PC_CONFIG_TEXT_BYTES, "%s", list->asked);
    if (!module || !may_count(list, &why)) {
        refuse(list, list->asked, &why);
        return;
    }
    find_all(&f);
    if (f.n && make_context(&f, &why))
        refuse(list, list->asked, &why);
}

int pc_counters_find(struct pc_error *error)
{
    static char words[2][PC_CONFIG_TEXT_BYTES];
    const struct pc_config *c = &pc_process.config;
    const struct list always = {"always", c->sample_always, words[0], &pc_counters.always};
    const struct list events = {"events", c->sample_events, words[1], &pc_counters.events};
    struct pc_counting_meter *taken = NULL;
    struct pc_error why = {""}, none;
    if (!always.asked[0] && !events.asked[0])
        return PC_OK;
    const struct pc_events_module *module = open_module(&why);
    find_list(&always, module, &why);
    /* The steady group counts meanwhile, so that events are sorted into groups that fit beside
     * it. */
    if (pc_counters.always.counting)
        pc_counting_start(pc_counters.always.counting, &taken, 0, &none);
    find_list(&events, module, &why);
    if (taken)
        pc_counting_stop(taken);
    if (c->strict && n_left_out)
        return pc_error_set(error, PC_EARG, "[sample] %s: %s cannot be counted: %s",
                            left_out[0].option, left_out[0].name, left_out[0].why.text);
    return PC_OK;
}

static void take_strings(struct pc_counted *c)
{
    for (uint32_t e = 0; e < c->n_events; e++)
        c->strings[e] = pc_table_string(c->names[e]);
}

int pc_counters_start(void)
{
    take_strings(&pc_counters.always);
    take_strings(&pc_counters.events);
    return pc_counters_any() || n_left_out ? pc_table_add("counters", &pc_table_events) : PC_OK;
}

/* ---- A thread -------------------------------------------------------------------------------- */

static void note_event(struct pc_thread *t, const char *name, const char *why_not, bool in_turns)
{
    const uint64_t keys[2] = {pc_table_string(name), why_not ? pc_table_string(why_not) : 0};
    uint64_t *values = pc_table_row(t, &pc_table_events, keys);
    if (!values)
        return;
    values[0]++;
    values[1] += in_turns;
}

static bool is_always(const char *name)
{
    for (uint32_t e = 0; e < pc_counters.always.n_events; e++)
        if (!strcmp(pc_counters.always.names[e], name))
            return true;
    return false;
}

/* Notes the outcome for each event, once per process. */
static void note_events(struct pc_thread *t)
{
    static _Atomic bool noted;
    const struct pc_counted *steady = pc_counters_steady();
    if (atomic_exchange(&noted, true))
        return;
    for (uint32_t e = 0; e < pc_counters.always.n_events; e++)
        note_event(t, pc_counters.always.names[e], NULL, false);
    for (uint32_t e = 0; e < pc_counters.events.n_events; e++)
        if (!is_always(pc_counters.events.names[e]))
            note_event(t, pc_counters.events.names[e], NULL, steady != &pc_counters.events);
    for (uint32_t i = 0; i < n_left_out; i++)
        note_event(t, left_out[i].name, left_out[i].why.text, false);
}

/* Opens what the thread counts; reports groups for which there is no descriptor. */
static void open_groups(const struct pc_counted *c, struct pc_counting_meter **meter)
{
    struct pc_error error;
    if (!c->counting)
        return;
    if (pc_counting_start(c->counting, meter, 0, &error))
        *meter = NULL;
    uint32_t groups = *meter ? pc_counting_groups(*meter) : 0;
    uint32_t n_missing = c->n_groups - (uint32_t)__builtin_popcount(groups);
    if (n_missing)
        pc_lost(PCOLLECT_LOST_GROUPS, n_missing);
}

void pc_counters_enter(struct pc_thread *t, void *function)
{
    (void)function;
    if (t->stage != PC_STAGE_MAIN)
        return;
    int saved = errno;
    note_events(t);
    open_groups(&pc_counters.always, &t->always);
    open_groups(&pc_counters.events, &t->counting);
    errno = saved;
}

static void stop(struct pc_counting_meter **meter)
{
    if (*meter)
        pc_counting_stop(*meter);
    *meter = NULL;
}

void pc_counters_leave(struct pc_thread *t)
{
    stop(&t->counting);
    stop(&t->always);
}

void pc_counters_forget(void)
{
    pc_counting_forget();
    pc_counters.events.counting = pc_counters.always.counting = NULL;
}
