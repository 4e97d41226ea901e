/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of a command on standard error.
 */
#include "analysis/buffer.h"
#include "command/command.h"

#include <stdarg.h>

/* Prints a message. Messages quote files and the command line, which may contain anything: terminal
 * control characters are escaped. */
static void put_message(const struct pct_command *self, const char *format, va_list args)
{
    struct pct_buf text = {0}, b = {0};
    pct_buf_vformat(&text, format, args);
    pct_text_escape(&b, text.data, PCT_ESCAPE_CELL);
    fprintf(stderr, "pcollect%s%s: %s\n", *self->name ? " " : "", self->name, b.data);
    pct_buf_free(&text);
    pct_buf_free(&b);
}

void pct_say(const struct pct_command *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_message(self, format, args);
    va_end(args);
}

void pct_say_profile(const char *path, const char *wanted)
{
    char *shown = pct_text_escaped(path), *other = wanted ? pct_text_escaped(wanted) : NULL;
    if (other)
        fprintf(stderr, "pcollect: profile: %s (there is a %s already)\n", shown, other);
    else
        fprintf(stderr, "pcollect: profile: %s\n", shown);
    pct_free(other);
    pct_free(shown);
}

int pct_refuse_above(const struct pct_command *self)
{
    pct_say(self, "see `pcollect%s%s --help`", *self->name ? " " : "", self->name);
    return PCT_CALL;
}

int pct_refuse(const struct pct_command *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_message(self, format, args);
    va_end(args);
    return pct_refuse_above(self);
}
