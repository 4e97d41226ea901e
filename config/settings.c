/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists the options of a configuration that are not the defaults. Called by the library at the
 * begin of a run, which stores it in the profile.
 */
#include "config/config_private.h"

bool pc_config_next_setting(const struct pc_config *c, unsigned *next,
                            struct pc_config_setting *out)
{
    while (*next < pc_n_options && c->origin[*next] == PC_CONFIG_DEFAULT)
        ++*next;
    if (*next >= pc_n_options)
        return false;
    const struct pc_option *o = &pc_options[(*next)++];
    out->section = o->section;
    out->key = o->key;
    out->origin = (enum pc_config_origin)c->origin[o - pc_options];
    out->line = c->line[o - pc_options];
    pc_option_print(o, c, out->value, sizeof out->value);
    return true;
}
