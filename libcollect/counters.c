/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the names in `[sample] events` to the groups that this machine counts, and the record of
 * each thread. Before the first thread is registered, and at the begin and the end of each thread;
 * never on the path of a call.
 */
#include "libcollect/counters.h"

#include "libcollect/edges.h"
#include "plugins/compute/events.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

struct pc_counters pc_counters;

/* The list of the configuration, cut into words. */
static char words[PC_CONFIG_TEXT_BYTES];

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
    pc_config_nearest_add(nearest, entry->name);
    return false;
}

/* What a name stands for, if it opens here. */
static int find_event(const struct pc_events_module *m, const char *name,
                      struct pc_counting_event *out, struct pc_error *error)
{
    struct pc_error why = {""};
    int err = m->find(name, out, &why);
    if (!err)
        err = pc_counting_try(out, &why);
    if (err == PC_ENOENT) {
        struct pc_config_nearest nearest = {.wanted = name};
        char text[PC_CONFIG_N_NEAREST * (PC_CONFIG_NEAREST_BYTES + 4)];
        m->list(add_near, &nearest);
        size_t n = pc_config_nearest_text(&nearest, text, sizeof text);
        return pc_error_set(error, err, "there is no event %s%s%s; `pcollect events` lists them",
                            name, n ? ": did you mean " : "", text);
    }
    return err ? pc_error_set(error, err, "%s cannot be counted: %s", name, why.text) : PC_OK;
}

/* The events that open, and the first reason of those that do not. */
struct found {
    struct pc_counting_event events[PC_COUNTING_MAX_EVENTS];
    uint32_t n, n_refused;
    bool hardware_asked;
    struct pc_error why;
};

static void refuse(struct found *f, const char *text)
{
    if (f->n_refused++ == 0)
        pc_error_set(&f->why, PC_EIO, "%s", text);
    if (!pc_process.config.strict)
        pc_core_complain("[sample] events: %s; it is left out", text);
}

/* Once, before the first event that is left out for it. */
static void say_no_hardware(struct found *f)
{
    struct pc_error none;
    if (f->hardware_asked)
        return;
    f->hardware_asked = true;
    if (pc_counting_hardware(&none))
        pc_core_complain("no counters of the processor can be had: %s", none.text);
}

static void find_all(const struct pc_events_module *m, struct found *f)
{
    char *rest = words, *name;
    struct pc_error error;
    pc_format(words, sizeof words, "%s", pc_process.config.sample_events);
    while ((name = strsep(&rest, ", \t"))) {
        if (!*name)
            continue;
        if (f->n == PC_COUNTING_MAX_EVENTS) {
            refuse(f, "there are more than 32 events");
            return;
        }
        int err = find_event(m, name, &f->events[f->n], &error);
        if (!err) {
            pc_counters.names[f->n++] = name;
            continue;
        }
        if (err != PC_ENOENT)
            say_no_hardware(f);
        refuse(f, error.text);
    }
}

static int make_context(struct found *f, struct pc_error *error)
{
    const struct pc_counting_what what = {f->events, f->n,
                                          (uint32_t)pc_process.config.sample_counters_per_group};
    int err = pc_counting_create(&pc_counters.context, error);
    if (err)
        return err;
    err = pc_counting_set(pc_counters.context, &what, error);
    if (err) {
        pc_counting_free(pc_counters.context);
        pc_counters.context = NULL;
        return err;
    }
    pc_counters.n_events = f->n;
    pc_counters.n_groups = pc_counting_n_groups(pc_counters.context);
    pc_counters.cycles = pc_counting_anchor_is_cycles(pc_counters.context);
    return PC_OK;
}

int pc_counters_find(struct pc_error *error)
{
    struct found f = {.n = 0};
    struct pc_error why = {""};
    if (!pc_process.config.sample_events[0])
        return PC_OK;
    const struct pc_events_module *m = open_module(&why);
    if (m)
        find_all(m, &f);
    int err = m ? PC_OK : PC_EIO;
    if (!err && f.n)
        err = make_context(&f, &why);
    if (err)
        pc_error_set(&f.why, err, "%s", why.text);
    if (pc_process.config.strict && (err || f.n_refused))
        return pc_error_set(error, PC_EARG, "[sample] events: %s", f.why.text);
    if (err)
        pc_core_complain("[sample] events: nothing is counted: %s", why.text);
    return PC_OK;
}

int pc_counters_start(void)
{
    for (uint32_t e = 0; e < pc_counters.n_events; e++)
        pc_counters.strings[e] = pc_table_string(pc_counters.names[e]);
    return pc_edges_start();
}

void pc_counters_enter(struct pc_thread *t)
{
    struct pc_error error;
    if (!pc_counters.context || t->phase != PC_PHASE_MAIN)
        return;
    int saved = errno;
    if (pc_counting_start(pc_counters.context, &t->counting, 0, &error))
        t->counting = NULL;
    pc_edges_enter(t);
    errno = saved;
}

void pc_counters_leave(struct pc_thread *t)
{
    if (!t->counting)
        return;
    pc_edges_leave(t);
    pc_counting_stop(t->counting);
    t->counting = NULL;
}

void pc_counters_end(void)
{
    if (pc_self && pc_self->counting)
        pc_edges_leave(pc_self);
}

void pc_counters_forget(void)
{
    struct pc_thread *t = pc_self;
    if (t && t->counting)
        pc_counting_forget(t->counting);
    pc_counters.context = NULL;
}
