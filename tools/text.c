/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of any length for the subcommands.
 */
#include "tools/tools.h"

#include <stdlib.h>

char *pct_text(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    if (text == NULL) {
        fprintf(stderr, "pcollect: no memory\n");
        exit(PCT_DATA);
    }
    return text;
}
