/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Puts the options of `pcollect run` that set the configuration into environment variables, which
 * pass them to the ranks.
 */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

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
        if (pc_config_set(&c, i, value, &error))
            return pct_refuse(self, "--%s %s: %s", option.name, value, error.text);
        /* The variable has the list that results, not what it has lost. */
        if (strchr("+-", *value) && !pct_names_known(self, &c))
            return PCT_CALL;
        pc_config_variable(&c, i, &variable);
        setenv(variable.name, variable.value, 1);
    }
    return PCT_DONE;
}
