/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect events: what can be counted on this machine, by the names that `[sample] events` takes.
 * Each event is opened here to see whether it counts.
 */
#include "plugins/compute/events.h"
#include "tools/tools.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORMAT = 256 };

static const struct pct_option options[] = {
    {'a', "all", NULL, "also presets that this processor has no counter for"},
    {OPTION_FORMAT, "format", "FORMAT", "text (default) or tsv"},
    {0, NULL, NULL, NULL},
};

struct search {
    const struct pc_events_module *module;
    const char *pattern; /* NULL: all */
    bool all, tsv;
    unsigned n_shown, n_open, n_hidden;
};

/* ---- Which ---------------------------------------------------------------------------------- */

static char *lower(const char *text)
{
    char *out = pct_text("%s", text);
    for (char *p = out; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return out;
}

/* A pattern of the shell for the whole name, or a part of the name; case does not matter. */
static bool matches(const char *pattern, const char *name)
{
    if (!pattern)
        return true;
    char *p = lower(pattern), *n = lower(name);
    bool found = strpbrk(p, "*?[") ? fnmatch(p, n, 0) == 0 : strstr(n, p) != NULL;
    free(p);
    free(n);
    return found;
}

/* ---- One event --------------------------------------------------------------------------------
 */

/* NULL, or why the event cannot be counted here. */
static const char *why_not(const struct search *s, const char *name, struct pc_error *error,
                           bool *user_only)
{
    struct pc_counting_event event = {.n_terms = 0};
    int err = s->module->find(name, &event, error);
    if (!err)
        err = pc_counting_try(&event, error);
    *user_only = !err && event.terms[0].user_only;
    return err ? error->text : NULL;
}

static bool show(void *arg, const struct pc_events_entry *entry)
{
    struct search *s = arg;
    struct pc_error error;
    bool user_only;
    if (!matches(s->pattern, entry->name))
        return false;
    if (!entry->made && !s->all) {
        s->n_hidden++;
        return false;
    }
    const char *why = why_not(s, entry->name, &error, &user_only);
    s->n_shown++;
    s->n_open += why == NULL;
    if (s->tsv) {
        printf("%s\t%s\t%s\t%s\n", entry->name, why ? "no" : "yes", why ? why : "",
               entry->doc ? entry->doc : "");
        return false;
    }
    printf("%-3s  %s\n", why ? "no" : "yes", entry->name);
    if (entry->doc && entry->doc[0])
        printf("       %s\n", entry->doc);
    if (why)
        printf("       not here: %s\n", why);
    else if (user_only)
        printf("       the kernel's side is not counted\n");
    return false;
}

/* ---- The command ------------------------------------------------------------------------------
 */

static const struct pc_events_module *open_module(const struct pct_command *self)
{
    char *why = NULL, *library = pct_library_path(&why);
    if (!library) {
        pct_say(self, "%s", why);
        return NULL;
    }
    *strrchr(library, '/') = '\0';
    char *path = pct_text("%s/pcollect/%s", library, PC_EVENTS_MODULE);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct pc_events_module *m = handle ? dlsym(handle, PC_EVENTS_SYMBOL) : NULL;
    if (!handle)
        pct_say(self, "%s; names of events need PAPI, at the build and here", dlerror());
    else if (!m || m->abi != PC_EVENTS_ABI || m->size < sizeof *m)
        pct_say(self, "%s is of another version of pcollect", path);
    free(path);
    free(library);
    return handle && m && m->abi == PC_EVENTS_ABI && m->size >= sizeof *m ? m : NULL;
}

static bool add_near(void *nearest, const struct pc_events_entry *entry)
{
    pc_config_nearest_add(nearest, entry->name);
    return false;
}

static int say_none(const struct pct_command *self, const struct search *s)
{
    struct pc_config_nearest nearest = {.wanted = s->pattern};
    char text[PC_CONFIG_N_NEAREST * (PC_CONFIG_NEAREST_BYTES + 4)] = "";
    if (s->n_hidden) {
        pct_say(self,
                "%u events match \"%s\", but this processor has no counter for them; --all "
                "shows them",
                s->n_hidden, s->pattern ? s->pattern : "");
        return PCT_DATA;
    }
    if (s->pattern) {
        s->module->list(add_near, &nearest);
        pc_config_nearest_text(&nearest, text, sizeof text);
    }
    pct_say(self, "no event matches \"%s\"%s%s", s->pattern ? s->pattern : "",
            *text ? "; the nearest is " : "", text);
    return PCT_DATA;
}

static void put_sum(const struct search *s)
{
    struct pc_error none;
    printf("\n%u events, %u of which count here", s->n_shown, s->n_open);
    if (s->n_hidden)
        printf("; %u presets without a counter are left out (--all)", s->n_hidden);
    printf("\n");
    if (pc_counting_hardware(&none))
        printf("no counters of the processor can be had: %s\n", none.text);
}

static int events_main(const struct pct_command *self, int argc, char **argv)
{
    struct search s = {.pattern = NULL};
    int option;
    while ((option = pct_options_next(self, argc, argv)) != PCT_OPTION_END) {
        if (option == PCT_OPTION_WRONG)
            return PCT_CALL;
        if (option == PCT_OPTION_HELPED)
            return PCT_DONE;
        if (option == 'a')
            s.all = true;
        if (option == OPTION_FORMAT) {
            s.tsv = !strcmp(optarg, "tsv");
            if (!s.tsv && strcmp(optarg, "text"))
                return pct_refuse(self, "--format %s: unknown; known are text, tsv", optarg);
        }
    }
    if (argc - optind > 1)
        return pct_refuse(self, "one pattern only");
    s.pattern = optind < argc ? argv[optind] : NULL;
    s.module = open_module(self);
    if (!s.module)
        return PCT_DATA;
    if (s.tsv)
        printf("event\tcounts\twhy_not\tdescription\n");
    s.module->list(show, &s);
    if (!s.n_shown)
        return say_none(self, &s);
    if (!s.tsv)
        put_sum(&s);
    return PCT_DONE;
}

const struct pct_command pct_events = {
    .name = "events",
    .synopsis = "[OPTION]... [PATTERN]",
    .summary = "list the events that can be counted here",
    .details = "PATTERN is a part of a name, or a pattern of the shell for the whole name. Each "
               "event is opened: \"no\" comes with the reason.",
    .options = options,
    .mixed = true,
    .main = events_main,
};
