/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds where a line of text ends: see wrap.h.
 */
#include "base/wrap.h"

#include <string.h>

/* True if the blanks at `at` stand between a number and its unit. */
static bool is_before_unit(const char *text, size_t at)
{
    static const char *const units[] = {"%",   "ns",  "us",  "ms", "s", "B", "KiB",
                                        "MiB", "GiB", "TiB", "k",  "M", "G", "T"};
    const char *word = text + at + strspn(text + at, " ");
    size_t n = strcspn(word, " \n,.;:)");
    if (text[at - 1] < '0' || text[at - 1] > '9')
        return false;
    for (size_t i = 0; i < PC_ARRAY_LEN(units); i++)
        if (n == strlen(units[i]) && !strncmp(word, units[i], n))
            return true;
    return false;
}

size_t pc_wrap(const char *text, size_t columns, const char **rest_out)
{
    size_t n = 0, last_blank = 0, used = 0;
    for (; text[n] && text[n] != '\n'; n++) {
        if (text[n] == '\033') {
            n += strcspn(text + n, "m") - 1;
            n += text[n + 1] != '\0';
            continue;
        }
        if (n && text[n] == ' ' && text[n - 1] != ' ' && !is_before_unit(text, n))
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
