/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where output goes: the one place that asks for the columns of standard output, its characters and
 * whether it shows colours, and whether messages are read by a person.
 */
#include "command/command.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_COLUMNS = 20, MOST_COLUMNS = 10000, DEFAULT_COLUMNS = 100 };
enum color { AUTO, ALWAYS, NEVER }; /* in the order of PCT_OPTION_COLOR */

/* Options of the command line, kept as getopt keeps its own place. */
static uint64_t asked_width;
static enum color asked_color;

int pct_terminal_take(const struct pct_command *self, const struct pct_option *o, const char *value)
{
    if (o->letter == PCT_LETTER_WIDTH)
        return pct_value_number(self, o, value, 1, 1000000, &asked_width);
    asked_color = (enum color)pct_value_word(o, value);
    return PCT_DONE;
}

static bool is_plain(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return (no_color && *no_color) || (term && !strcmp(term, "dumb"));
}

static size_t find_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;
    if (n >= LEAST_COLUMNS && n <= MOST_COLUMNS)
        return n;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= LEAST_COLUMNS)
        return size.ws_col;
    return DEFAULT_COLUMNS;
}

/* Characters only: numbers never follow the locale. */
static bool is_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

bool pct_terminal_shows_messages(void)
{
    return isatty(STDERR_FILENO);
}

struct pct_terminal pct_terminal_look(void)
{
    bool terminal = isatty(STDOUT_FILENO);
    return (struct pct_terminal){
        .width = asked_width ? asked_width : find_width(),
        .cut = terminal || asked_width,
        .utf8 = is_utf8(),
        .color = asked_color == ALWAYS || (asked_color == AUTO && terminal && !is_plain()),
    };
}
