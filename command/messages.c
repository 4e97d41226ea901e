/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of a command on standard error.
 */
#include "analysis/buffer.h"
#include "command/command.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* The path of a file, escaped; without `..` inside, if the file is there. */
static char *plain_path(const char *path)
{
    char plain[PATH_MAX];
    return pct_text_escaped(strstr(path, "/../") && realpath(path, plain) ? plain : path);
}

void pct_say_file(const char *kind, const char *path, const char *wanted)
{
    char *shown = plain_path(path), *other = wanted ? plain_path(wanted) : NULL;
    if (other)
        fprintf(stderr, "pcollect: %s: %s (there is a %s already)\n", kind, shown, other);
    else
        fprintf(stderr, "pcollect: %s: %s\n", kind, shown);
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
