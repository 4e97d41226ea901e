/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds where a line of text ends: see wrap.h.
 */
#include "base/wrap.h"

#include <string.h>

size_t pc_wrap(const char *text, size_t columns, const char **rest_out)
{
    size_t n = 0, last_blank = 0, used = 0;
    for (; text[n] && text[n] != '\n'; n++) {
        if (n && text[n] == ' ' && text[n - 1] != ' ')
            last_blank = n;
        used += ((uint8_t)text[n] & 0xc0) != 0x80;
        if (columns && used > columns) {
            n = last_blank ? last_blank : strcspn(text, " \n");
            break;
        }
    }
    *rest_out = text + n + (text[n] == '\n');
    if (text[n] == ' ')
        *rest_out += strspn(text + n, " ");
    return n;
}
