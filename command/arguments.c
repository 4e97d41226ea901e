/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options of a subcommand from its table: parsing, --help, and answers to what is wrong with a
 * call.
 */
#include "analysis/symbols/symbols.h"
#include "base/nearest.h"
#include "base/wrap.h"
#include "command/command.h"
#include "view/query.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 24, HELP_COLUMNS = 78 };

static const struct pct_option help_option = {'h', "help", NULL, "print this text"};

static unsigned count_options(const struct pct_command *self)
{
    unsigned n = 0;
    while (self->options && self->options[n].name)
        n++;
    return n;
}

/* ---- Help ----------------------------------------------------------------------------------- */

/* In lines of at most HELP_COLUMNS, each after the first indented. */
static void put_wrapped(FILE *out, const char *text, int indent)
{
    for (const char *rest; *text; text = rest) {
        size_t n = pc_wrap(text, HELP_COLUMNS - (size_t)indent, &rest);
        fprintf(out, "%.*s\n%*s", (int)n, text, *rest ? indent : 0, "");
    }
}

static void put_option(FILE *out, const struct pct_option *o)
{
    enum { INDENT = 26 };
    int n = o->letter < 256 ? fprintf(out, "  -%c, ", o->letter) : fprintf(out, "      ");
    n += fprintf(out, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    if (n >= INDENT)
        fprintf(out, "\n%*s", INDENT, "");
    else
        fprintf(out, "%*s", INDENT - n, "");
    put_wrapped(out, o->doc, INDENT);
}

void pct_help(const struct pct_command *self, FILE *out)
{
    fprintf(out, "Usage: pcollect%s%s %s\n\n", *self->name ? " " : "", self->name, self->synopsis);
    put_wrapped(out, self->summary, 0);
    fputs("\nOptions:\n", out);
    for (unsigned i = 0; i < count_options(self); i++)
        put_option(out, &self->options[i]);
    put_option(out, &help_option);
    if (self->details) {
        fputs("\n", out);
        put_wrapped(out, self->details, 0);
    }
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* Messages quote files and the command line, which may hold anything: what would steer a terminal
 * is shown, not sent. */
static void put_message(const struct pct_command *self, const char *format, va_list args)
{
    struct pct_buf b = {0};
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    pct_text_escape(&b, text ? text : format, PCT_ESCAPE_CELL);
    fprintf(stderr, "pcollect%s%s: %s\n", *self->name ? " " : "", self->name, b.data);
    free(text);
    pct_buf_free(&b);
}

void pct_say(const struct pct_command *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_message(self, format, args);
    va_end(args);
}

int pct_refuse(const struct pct_command *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_message(self, format, args);
    va_end(args);
    fprintf(stderr, "pcollect%s%s: `pcollect%s%s --help` tells how it is called\n",
            *self->name ? " " : "", self->name, *self->name ? " " : "", self->name);
    return PCT_CALL;
}

/* ---- Parsing -------------------------------------------------------------------------------- */

static const struct pct_option *nearest_option(const struct pct_command *self, const char *word)
{
    const struct pct_option *best = &help_option;
    unsigned least = pc_distance(word, best->name);
    for (unsigned i = 0; i < count_options(self); i++) {
        unsigned d = pc_distance(word, self->options[i].name);
        if (d < least) {
            least = d;
            best = &self->options[i];
        }
    }
    return pc_is_near(least, strlen(word)) ? best : NULL;
}

static const struct pct_option *option_of(const struct pct_command *self, int letter)
{
    for (unsigned i = 0; i < count_options(self); i++)
        if (self->options[i].letter == letter)
            return &self->options[i];
    return NULL;
}

/* `word` is the argument that getopt stopped at; it is named in full, with its value cut off. */
static int answer_unknown(const struct pct_command *self, const char *word)
{
    const struct pct_option *known = optopt ? option_of(self, optopt) : NULL;
    int n = (int)strcspn(word, "=");
    if (known || optopt == 'h')
        pct_refuse(self, "option --%s takes no value", known ? known->name : "help");
    else if (optopt)
        pct_refuse(self, "unknown option -%c", optopt);
    else {
        char *name = pct_text("%.*s", n > 2 ? n - 2 : 0, word + 2);
        const struct pct_option *nearest = nearest_option(self, name);
        if (nearest)
            pct_refuse(self, "unknown option --%s: did you mean --%s?", name, nearest->name);
        else
            pct_refuse(self, "unknown option --%s", name);
    }
    return PCT_OPTION_WRONG;
}

/* Whether an option has one value only, as far as it was read. What was read before is kept as
 * getopt keeps its own place: of one command line at a time. */
static bool is_single(const struct pct_command *self, int letter)
{
    static const char *values[MAX_OPTIONS];
    static const struct pct_command *of;
    const struct pct_option *o = option_of(self, letter);
    if (of != self)
        memset(values, 0, sizeof values);
    of = self;
    if (!o || !o->argument || letter == PCT_LETTER_WHERE)
        return true;
    const char **value = &values[o - self->options];
    if (*value && strcmp(*value, optarg) != 0) {
        pct_refuse(self, "--%s %s and --%s %s: give one of them", o->name, *value, o->name, optarg);
        return false;
    }
    *value = optarg;
    return true;
}

int pct_options_next(const struct pct_command *self, int argc, char **argv)
{
    struct option longs[MAX_OPTIONS + 2] = {{"help", no_argument, NULL, 'h'}};
    char letters[2 * MAX_OPTIONS + 8] = "+:h", *p = letters + 3;
    for (unsigned i = 0; i < count_options(self) && i < MAX_OPTIONS; i++) {
        const struct pct_option *o = &self->options[i];
        longs[i + 1] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL,
                                       o->letter};
        if (o->letter > 255)
            continue;
        *p++ = (char)o->letter;
        if (o->argument)
            *p++ = ':';
    }
    *p = '\0';
    opterr = 0;
    optopt = 0;
    int at = optind ? optind : 1;
    int letter = getopt_long(argc, argv, self->mixed ? letters + 1 : letters, longs, NULL);
    const struct pct_option *o = letter == ':' ? option_of(self, optopt) : NULL;
    switch (letter) {
    case 'h':
        pct_help(self, stdout);
        return PCT_OPTION_HELPED;
    case '?':
        return answer_unknown(self, argv[self->mixed ? optind - 1 : at]);
    case ':':
        pct_refuse(self, "option --%s needs a value: %s", o ? o->name : "", o ? o->argument : "");
        return PCT_OPTION_WRONG;
    case PCT_LETTER_DEBUGINFOD:
        pct_symbols_allow_servers();
        return pct_options_next(self, argc, argv);
    default:
        return is_single(self, letter) ? letter : PCT_OPTION_WRONG;
    }
}

bool pct_choice_option(struct pct_choice *c, int letter, const char *value)
{
    if (letter == PCT_LETTER_COLUMNS)
        c->columns = value;
    else if (letter == PCT_LETTER_SORT)
        c->sort = value;
    else if (letter == PCT_LETTER_WHERE)
        pct_choice_add(c, value);
    else
        return false;
    return true;
}

int pct_choice_refuse(const struct pct_command *self, const struct pct_choice *c,
                      const struct pct_table *table, const char *cure)
{
    if (!c->columns && !c->n_where && !c->sort)
        return PCT_DONE;
    if (!table)
        return pct_refuse(self, "--columns, --where and --sort are for one table: give %s", cure);
    return pct_choice_check(c, table, self->name) ? PCT_CALL : PCT_DONE;
}
