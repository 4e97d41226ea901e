/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From the names in `[sample] events` to the groups that this machine counts, and the record of
 * each thread. Before the first thread is registered, and at the begin and the end of each thread;
 * never on the path of a call.
 */
#include "libcollect/counters.h"

#include "base/nearest.h"
#include "plugins/compute/events.h"
#include "plugins/plugins.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

struct pc_counters pc_counters;

/* The list of the configuration, cut into words. */
static char words[PC_CONFIG_TEXT_BYTES];

/* What is asked for and not counted. */
struct left_out {
    const char *name;
    struct pc_error why;
};
enum { MOST_LEFT_OUT = PC_COUNTING_MAX_EVENTS + 1 };
static struct left_out *left_out; /* MOST_LEFT_OUT, or NULL */
static uint32_t n_left_out;

static const struct pcollect_column event_columns[] = {
    {"event", "as the configuration has it", PCOLLECT_COLUMN_STRING, 0, PCOLLECT_UNIT_COUNT, 0},
    {"why_not", "why it was not counted; none: it was", PCOLLECT_COLUMN_STRING, 0,
     PCOLLECT_UNIT_COUNT, 0},
    {"ranks", "on so many", PCOLLECT_COLUMN_NUMBER, PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
    {"in_turns", "of them, those where it took turns with others", PCOLLECT_COLUMN_NUMBER,
     PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0},
};
static const struct pcollect_table event_table = {.name = "events",
                                                  .doc = "events that were asked for",
                                                  .columns = event_columns,
                                                  .n_keys = 2,
                                                  .n_values = 2};

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

/* What a name stands for, if it opens here. */
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

/* The events that open. */
struct found {
    const struct pc_events_module *module;
    struct pc_counting_event events[PC_COUNTING_MAX_EVENTS];
    uint32_t n;
    bool hardware_asked;
};

/* The name is of static memory. */
static void refuse(const char *name, const struct pc_error *why)
{
    if (!left_out)
        left_out = pc_memory(MOST_LEFT_OUT * sizeof *left_out);
    if (left_out && n_left_out < MOST_LEFT_OUT)
        left_out[n_left_out++] = (struct left_out){name, *why};
    if (!pc_process.config.strict)
        pc_core_complain("[sample] events: %s cannot be counted: %s; it is left out", name,
                         why->text);
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

static void find_all(struct found *f)
{
    char *rest = words, *name;
    struct pc_error why;
    while ((name = strsep(&rest, ", \t"))) {
        if (!*name)
            continue;
        if (f->n == PC_COUNTING_MAX_EVENTS) {
            pc_error_set(&why, PC_EARG, "there are more than %d events", PC_COUNTING_MAX_EVENTS);
            refuse(name, &why);
            return;
        }
        int err = find_event(f->module, name, &f->events[f->n], &why);
        if (!err) {
            pc_counters.names[f->n++] = name;
            continue;
        }
        if (err != PC_ENOENT)
            say_no_hardware(f);
        refuse(name, &why);
    }
}

static int set_events(const struct found *f, struct pc_error *error)
{
    const struct pc_counting_what what = {f->events, f->n,
                                          (uint32_t)pc_process.config.sample_counters_per_group};
    int err = pc_counting_set(pc_counters.context, &what, error);
    if (err)
        return err;
    pc_counters.n_events = f->n;
    pc_counters.n_groups = pc_counting_n_groups(pc_counters.context);
    pc_counters.cycles = pc_counting_anchor_is_cycles(pc_counters.context);
    return PC_OK;
}

/* Whether groups take turns: else only the first one would ever count. */
static bool is_rotated(void)
{
    for (uint32_t i = 0; i < pc_process.n_compute; i++)
        if (pc_process.compute[i].plugin == &pc_plugin_counters)
            return true;
    return false;
}

/* Without turns, what is counted is what fits into the first group. */
static void keep_first_group(struct found *f)
{
    uint64_t first = pc_counting_group_events(pc_counters.context, 0);
    uint32_t n = 0;
    struct pc_error why;
    pc_error_set(&why, PC_EIO,
                 "no more than %d of these events count at a time here; `[sample] plugins = clock, "
                 "counters` estimates more, in turns",
                 __builtin_popcountll(first));
    for (uint32_t e = 0; e < f->n; e++) {
        if (!(first >> e & 1)) {
            refuse(pc_counters.names[e], &why);
            continue;
        }
        pc_counters.names[n] = pc_counters.names[e];
        f->events[n++] = f->events[e];
    }
    f->n = n;
}

static int make_context(struct found *f, struct pc_error *error)
{
    int err = pc_counting_create(&pc_counters.context, error);
    if (err)
        return err;
    err = set_events(f, error);
    if (!err && pc_counters.n_groups > 1 && !is_rotated()) {
        keep_first_group(f);
        err = set_events(f, error);
    }
    if (err) {
        pc_counting_free(pc_counters.context);
        pc_counters.context = NULL;
        pc_counters.n_events = pc_counters.n_groups = 0;
    }
    return err;
}

int pc_counters_find(struct pc_error *error)
{
    struct found f = {.n = 0};
    struct pc_error why = {""};
    const char *asked = pc_process.config.sample_events;
    if (!asked[0])
        return PC_OK;
    pc_format(words, sizeof words, "%s", asked);
    f.module = open_module(&why);
    if (f.module)
        find_all(&f);
    if (!f.module || (f.n && make_context(&f, &why)))
        refuse(asked, &why);
    if (pc_process.config.strict && n_left_out)
        return pc_error_set(error, PC_EARG, "[sample] events: %s cannot be counted: %s",
                            left_out[0].name, left_out[0].why.text);
    return PC_OK;
}

int pc_counters_start(void)
{
    for (uint32_t e = 0; e < pc_counters.n_events; e++)
        pc_counters.strings[e] = pc_table_string(pc_counters.names[e]);
    if ((pc_counters.n_events || n_left_out) && pc_table_add("counters", &event_table))
        return PC_ENOMEM;
    return PC_OK;
}

/* ---- A thread -----------------------------------------------------------------------------------
 */

static void note_event(struct pc_thread *t, const char *name, const char *why_not)
{
    const uint64_t keys[2] = {pc_table_string(name), why_not ? pc_table_string(why_not) : 0};
    uint64_t *values = pc_table_row(t, &event_table, keys);
    if (!values)
        return;
    values[0]++;
    values[1] += !why_not && pc_counters.n_groups > 1;
}

/* What became of each event, once a process. */
static void note_events(struct pc_thread *t)
{
    static _Atomic bool noted;
    if (atomic_exchange(&noted, true))
        return;
    for (uint32_t e = 0; e < pc_counters.n_events; e++)
        note_event(t, pc_counters.names[e], NULL);
    for (uint32_t i = 0; i < n_left_out; i++)
        note_event(t, left_out[i].name, left_out[i].why.text);
}

/* Opens what the thread counts; groups for which there is no descriptor are said to be missing. */
static void open_groups(struct pc_thread *t)
{
    struct pc_error error;
    if (pc_counting_start(pc_counters.context, &t->counting, 0, &error))
        t->counting = NULL;
    uint32_t groups = t->counting ? pc_counting_groups(t->counting) : 0;
    uint32_t n_missing = pc_counters.n_groups - (uint32_t)__builtin_popcount(groups);
    if (n_missing)
        pc_lost(PCOLLECT_LOST_GROUPS, n_missing);
}

void pc_counters_enter(struct pc_thread *t)
{
    if (t->phase != PC_PHASE_MAIN)
        return;
    int saved = errno;
    note_events(t);
    if (pc_counters.context)
        open_groups(t);
    errno = saved;
}

void pc_counters_leave(struct pc_thread *t)
{
    if (!t->counting)
        return;
    pc_counting_stop(t->counting);
    t->counting = NULL;
}

void pc_counters_forget(void)
{
    struct pc_thread *t = pc_self;
    if (t && t->counting)
        pc_counting_forget(t->counting);
    pc_counters.context = NULL;
}
