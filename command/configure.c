/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Puts the options of `pcollect run` that set the configuration into environment variables, which
 * pass them to the ranks.
 */
#include "command/command.h"

#include <stdlib.h>

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
    struct pc_config_missed missed;
    size_t next = 0;
    while (pc_config_next_missed(&c, &next, &missed))
        ; /* of the file and the environment, looked up with what the ranks read */
    for (unsigned i = 0; pc_config_option(i, &option); i++) {
        struct pc_config_variable variable;
        const char *value = given->values[i];
        if (!value)
            continue;
        if (pc_config_set(&c, i, value, &error))
            return pct_refuse(self, "--%s %s: %s", option.name, value, error.text);
        pc_config_variable(&c, i, &variable);
        setenv(variable.name, variable.value, 1);
    }
    /* Variables have the lists that result, not the names that these were to lose. */
    bool lost = pc_config_next_missed(&c, &next, &missed);
    return lost && !pct_names_known(self, &c) ? PCT_CALL : PCT_DONE;
}
