/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes texts of users safe to show in messages. AS-safe.
 */
#include "config/config_private.h"

#include <string.h>

const char *pc_config_shown(const char *text, char out[PC_SHOWN_BYTES])
{
    size_t i = 0;
    for (; text[i] && i < 60; i++)
        out[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
    if (text[i])
        memcpy(out + i - 3, "...", 3);
    out[i] = '\0';
    return out;
}
