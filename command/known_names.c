/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names in a configuration, looked up before a job starts: a plugin that does not exist would leave
 * the job unmeasured, an event would be missing from its profile. A path is a user's plugin, which
 * may exist only on the nodes of the job, and is not checked.
 */
#include "base/nearest.h"
#include "command/command.h"
#include "plugins/names.h"

#include <string.h>

#define NAME(name, answers) #name,
static const char *const comm_plugins[] = {PC_COMM_PLUGINS(NAME)};
static const char *const compute_plugins[] = {PC_COMPUTE_PLUGINS(NAME)};

static bool is_one_of(const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static void say_unknown(const struct pct_command *self, const char *option, const char *word,
                        const char *const *names, size_t n)
{
    struct pc_nearest nearest = {.wanted = word};
    char near[PC_N_NEAREST * (PC_NEAREST_BYTES + 4)] = "", known[512];
    for (size_t i = 0; i < n; i++)
        pc_nearest_add(&nearest, names[i]);
    pc_words_text(names, n, known, sizeof known);
    pc_nearest_text(&nearest, near, sizeof near);
    pct_say(self, "%s: there is no plugin '%s'%s%s; give %s, or the path of a plugin of your own",
            option, word, *near ? "; the nearest is " : "", near, known);
}

static bool are_plugins(const struct pct_command *self, const char *option, const char *list,
                        const char *const *names, size_t n)
{
    char words[PC_CONFIG_TEXT_BYTES], *rest = words, *word;
    bool known = true;
    pc_format(words, sizeof words, "%s", list);
    while ((word = strsep(&rest, ", \t")))
        if (*word && !strchr(word, '/') && !is_one_of(word, names, n)) {
            say_unknown(self, option, word, names, n);
            known = false;
        }
    return known;
}

bool pct_names_known(const struct pct_command *self, const struct pc_config *c)
{
    bool comm = are_plugins(self, "[collect] plugins", c->collect_plugins, comm_plugins,
                            PC_ARRAY_LEN(comm_plugins));
    bool compute = are_plugins(self, "[sample] plugins", c->sample_plugins, compute_plugins,
                               PC_ARRAY_LEN(compute_plugins));
    bool events = pct_events_known(self, "[sample] events", c->sample_events);
    bool always = pct_events_known(self, "[sample] always", c->sample_always);
    return comm && compute && events && always;
}
