/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of the configuration on the command line of `pcollect run`, made from config/'s
 * table.
 */
#include "command/command.h"
#include "view/query.h"

#include <string.h>

/* True for options that commands have themselves: the path of the profile, because commands that
 * write one check it further, and the page, which is a switch there. */
static bool is_own(const struct pc_config_option *c)
{
    return !strcmp(c->section, "output") && (!strcmp(c->key, "path") || !strcmp(c->key, "html"));
}

static pct_words_fn *known_of(const struct pc_config_option *c)
{
    bool events = !strcmp(c->key, "events") || !strcmp(c->key, "always");
    if (!strcmp(c->section, "sample") && events)
        return pct_kernel_event;
    return strcmp(c->key, "plugins") != 0       ? NULL
           : strcmp(c->section, "collect") != 0 ? pct_compute_plugin
                                                : pct_comm_plugin;
}

const struct pct_option *pct_config_option(unsigned i)
{
    static struct pct_option options[PC_CONFIG_MAX_OPTIONS];
    static struct pc_config_option texts[PC_CONFIG_MAX_OPTIONS];
    static char more[PC_CONFIG_MAX_OPTIONS][160], docs[PC_CONFIG_MAX_OPTIONS][160];
    static unsigned n;
    static bool made;
    for (unsigned k = 0; !made && pc_config_option(k, &texts[n]); k++) {
        struct pc_config_option *c = &texts[n];
        if (is_own(c))
            continue;
        pc_format(more[n], sizeof more[n], "That is %s in [%s] of pcollect.conf(5).", c->key,
                  c->section);
        bool choice = strlen(c->argument) > sizeof "yes|no" && strchr(c->argument, '|');
        pc_format(docs[n], sizeof docs[n], "%s%s", c->brief, choice ? ":" : "");
        options[n] = (struct pct_option){.letter = PCT_LETTER_CONFIG + (int)k,
                                         .name = c->name,
                                         .argument = choice ? "WORD" : c->argument,
                                         .words = choice ? c->argument : NULL,
                                         .doc = docs[n],
                                         .more = more[n],
                                         .known = known_of(c)};
        n++;
    }
    made = true;
    return i < n ? &options[i] : NULL;
}
