/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names in a configuration, looked up before a job starts: a plugin that does not exist would leave
 * the job unmeasured, an event would be missing from its profile. A path is a user's plugin, which
 * may exist only on the nodes of the job, and is not checked.
 */
#include "analysis/buffer.h"
#include "base/nearest.h"
#include "command/command.h"

#include <string.h>

static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(word, *names) == 0)
            return true;
    return false;
}

static void say_unknown(const struct pct_command *self, const char *option, const char *word,
                        const char *const *names)
{
    size_t n = 0;
    struct pc_nearest nearest = {.wanted = word};
    char near[PC_N_NEAREST * (PC_NEAREST_BYTES + 4)] = "", known[512];
    while (names[n])
        pc_nearest_add(&nearest, names[n++]);
    pc_words_text(names, n, known, sizeof known);
    pc_nearest_text(&nearest, near, sizeof near);
    pct_say(self, "%s: there is no plugin '%s'%s%s; give %s, or the path of a plugin of your own",
            option, word, *near ? "; the nearest is " : "", near, known);
}

static bool are_plugins(const struct pct_command *self, const char *option, const char *list,
                        const char *const *names)
{
    char words[PC_CONFIG_TEXT_BYTES], *rest = words, *word;
    bool known = true;
    pc_format(words, sizeof words, "%s", list);
    while ((word = strsep(&rest, ", \t")))
        if (*word && !strchr(word, '/') && !is_one_of(word, names)) {
            say_unknown(self, option, word, names);
            known = false;
        }
    return known;
}

/* Name of an option in messages: "FILE:LINE: [SECTION] KEY" if a file gave it its value, else
 * without the place. */
static const char *name_option(const struct pc_config *c, const char *section, const char *key,
                               struct pct_buf *b)
{
    struct pc_config_setting s;
    b->n = 0;
    for (unsigned i = 0; pc_config_next_setting(c, &i, &s);)
        if (s.origin == PC_CONFIG_FILE && !strcmp(s.section, section) && !strcmp(s.key, key))
            pct_buf_format(b, "%s:%u: ", c->file, s.line);
    pct_buf_format(b, "[%s] %s", section, key);
    return b->data;
}

/* Names that a list was to lose: one that it does not have may be wrong. */
static bool are_missed_known(const struct pct_command *self, const struct pc_config *c)
{
    struct pct_buf b = {0};
    struct pc_config_missed m;
    bool known = true;
    for (size_t next = 0; pc_config_next_missed(c, &next, &m);) {
        const char *option = name_option(c, m.section, m.key, &b);
        if (strcmp(m.key, "plugins") != 0)
            known &= pct_events_known(self, option, m.name);
        else if (!strcmp(m.section, "collect"))
            known &= are_plugins(self, option, m.name, pct_comm_plugins);
        else
            known &= are_plugins(self, option, m.name, pct_compute_plugins);
    }
    pct_buf_free(&b);
    return known;
}

bool pct_names_known(const struct pct_command *self, const struct pc_config *c)
{
    struct pct_buf b = {0};
    bool known = are_plugins(self, name_option(c, "collect", "plugins", &b), c->collect_plugins,
                             pct_comm_plugins);
    known &= are_plugins(self, name_option(c, "sample", "plugins", &b), c->sample_plugins,
                         pct_compute_plugins);
    known &= pct_events_known(self, name_option(c, "sample", "events", &b), c->sample_events);
    known &= pct_events_known(self, name_option(c, "sample", "always", &b), c->sample_always);
    known &= are_missed_known(self, c);
    pct_buf_free(&b);
    return known;
}
