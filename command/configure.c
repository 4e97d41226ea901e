/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Puts the options of `pcollect run` that set the configuration into environment variables, which
 * pass them to the ranks.
 */
#include "analysis/buffer.h"
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

/* True if all names exist. Names that an option removes from a list are looked up, too, in the list
 * before. */
static bool names_are_known(const struct pct_command *self, const struct pc_config *before,
                            unsigned i, const char *value)
{
    struct pc_config c = *before;
    struct pc_error ignored;
    char *names = pct_copy(value), *end = names;
    for (const char *s = value; *s; s++)
        if (!((*s == '-' || *s == '+') && (s == value || strchr(", \t", s[-1]))))
            *end++ = *s;
    *end = '\0';
    bool known = pc_config_set(&c, i, names, &ignored) || pct_names_known(self, &c);
    free(names);
    return known;
}

int pct_configure(const struct pct_command *self, const struct pct_configured *given,
                  const char *file)
{
    struct pc_config c;
    struct pc_error error;
    if (pc_config_load_with(&c, file, &error)) {
        pct_say(self, "%s", error.text);
        return PCT_CALL;
    }
    struct pc_config_option option;
    for (unsigned i = 0; pc_config_option(i, &option); i++) {
        struct pc_config_variable variable;
        const char *value = given->values[i];
        if (!value)
            continue;
        if (strchr("+-", *value) && !names_are_known(self, &c, i, value))
            return PCT_CALL;
        if (pc_config_set(&c, i, value, &error))
            return pct_refuse(self, "--%s %s: %s", option.name, value, error.text);
        pc_config_variable(&c, i, &variable);
        setenv(variable.name, variable.value, 1);
    }
    return PCT_DONE;
}
