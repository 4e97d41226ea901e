/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the table of options for users: effective values, a template, the manual. Only for the
 * command; it is not in libpcollect.so.
 */
#include "base/wrap.h"
#include "config/config_private.h"
#include "plugins/names.h"

#include <string.h>

/* Meanings of the words that an option takes: the plugins. */
struct word {
    const char *name, *meaning; /* NULL ends the list */
};

#define WORD(name, answers) {#name, answers},
static const struct word comm_plugins[] = {PC_COMM_PLUGINS(WORD){NULL, NULL}};
static const struct word compute_plugins[] = {PC_COMPUTE_PLUGINS(WORD){NULL, NULL}};
static const struct word no_words[] = {{NULL, NULL}};

static const struct word *words_of(const struct pc_option *o)
{
    if (strcmp(o->key, "plugins") != 0)
        return no_words;
    return strcmp(o->section, "collect") == 0 ? comm_plugins : compute_plugins;
}

/* Prints lines of at most `width` characters, each after `lead`. */
static void put_wrapped(FILE *out, const char *lead, const char *text, size_t width)
{
    for (const char *rest; *text; text = rest) {
        size_t n = pc_wrap(text, width, &rest);
        fprintf(out, "%s%.*s\n", lead, (int)n, text);
    }
}

static void put_section(FILE *out, unsigned i)
{
    if (i == 0 || strcmp(pc_options[i].section, pc_options[i - 1].section) != 0)
        fprintf(out, "%s[%s]\n", i ? "\n" : "", pc_options[i].section);
}

void pc_config_template(FILE *out)
{
    char range[128], variable[PC_OPTION_VARIABLE_BYTES];
    fputs("# Configuration of pcollect: all options with their defaults. See pcollect.conf(5).\n"
          "# Use it with `pcollect run -c FILE` or PCOLLECT_CONFIG=FILE.\n\n",
          out);
    for (unsigned i = 0; i < pc_n_options; i++) {
        const struct pc_option *o = &pc_options[i];
        put_section(out, i);
        pc_option_range(o, range, sizeof range);
        pc_option_variable(o, variable);
        put_wrapped(out, "# ", o->doc, 90);
        for (const struct word *w = words_of(o); w->name; w++)
            fprintf(out, "#   %-9s %s\n", w->name, w->meaning);
        fprintf(out, "# Possible: %s. Environment: %s.\n", range, variable);
        fprintf(out, "%s =%s%s\n", o->key, *o->initial ? " " : "", o->initial);
    }
}

void pc_config_show(FILE *out, const struct pc_config *c)
{
    char value[PC_CONFIG_TEXT_BYTES + 3], variable[PC_OPTION_VARIABLE_BYTES];
    for (unsigned i = 0; i < pc_n_options; i++) {
        const struct pc_option *o = &pc_options[i];
        put_section(out, i);
        pc_option_print(o, c, value, sizeof value);
        pc_option_variable(o, variable);
        int n = fprintf(out, "%s =%s%s", o->key, *value ? " " : "", value);
        const char *origin = "default";
        if (c->origin[i] == PC_CONFIG_FILE)
            origin = c->file;
        if (c->origin[i] == PC_CONFIG_ENVIRONMENT)
            origin = variable;
        fprintf(out, "%*s # %s\n", n < 30 ? 30 - n : 0, "", origin);
    }
}

/* ---- For the command line of `pcollect run` -------------------------------------------------- */

static void put_argument(const struct pc_option *o, char *out, size_t n)
{
    static const char *const names[] = {
        [PC_OPTION_PATTERN] = "PATTERN", [PC_OPTION_FOLDER] = "FOLDER",
        [PC_OPTION_LIST] = "LIST",       [PC_OPTION_SIZE] = "SIZE",
        [PC_OPTION_INTEGER] = "N",       [PC_OPTION_FREQUENCY] = "HZ",
        [PC_OPTION_TIME] = "TIME",       [PC_OPTION_BOOL] = "yes|no",
    };
    if (o->type != PC_OPTION_CHOICE) {
        pc_format(out, n, "%s", names[o->type]);
        return;
    }
    size_t used = 0;
    for (const char *s = o->unit; *s && used + 1 < n; s++) {
        if (*s != ' ')
            out[used++] = *s;
        if (*s == ',')
            out[used - 1] = '|';
    }
    out[used] = '\0';
}

bool pc_config_option(unsigned i, struct pc_config_option *out)
{
    if (i >= pc_n_options)
        return false;
    const struct pc_option *o = &pc_options[i];
    *out = (struct pc_config_option){.section = o->section, .key = o->key};
    pc_format(out->name, sizeof out->name, "%s", o->option ? o->option : o->key);
    for (char *c = out->name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    put_argument(o, out->argument, sizeof out->argument);
    pc_format(out->brief, sizeof out->brief, "%s", o->brief ? o->brief : o->doc);
    if (!o->brief)
        out->brief[strcspn(out->brief, ".")] = '\0';
    return true;
}

int pc_config_set(struct pc_config *c, unsigned i, const char *text, struct pc_error *why)
{
    return pc_option_parse(&pc_options[i], text, c, why);
}

void pc_config_variable(const struct pc_config *c, unsigned i, struct pc_config_variable *out)
{
    _Static_assert(sizeof out->name >= PC_OPTION_VARIABLE_BYTES, "the name of any variable fits");
    pc_option_variable(&pc_options[i], out->name);
    pc_option_raw(&pc_options[i], c, out->value, sizeof out->value);
}

/* ---- The manual ------------------------------------------------------------------------------ */

/* Prints text for man(7), where backslashes, and a dot or quote at the start of a line, are
 * special. */
static void put_roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

void pc_config_manual(FILE *out)
{
    char range[128], variable[PC_OPTION_VARIABLE_BYTES];
    for (unsigned i = 0; i < pc_n_options; i++) {
        const struct pc_option *o = &pc_options[i];
        if (i == 0 || strcmp(o->section, pc_options[i - 1].section) != 0)
            fprintf(out, ".SS [%s]\n", o->section);
        pc_option_range(o, range, sizeof range);
        pc_option_variable(o, variable);
        fprintf(out, ".TP\n.B %s\n", o->key);
        put_roff(out, o->doc);
        const struct word *words = words_of(o);
        fputs(words->name ? "\n.RS\n" : "\n.br\n", out);
        for (const struct word *w = words; w->name; w++) {
            fprintf(out, ".TP 10\n.B %s\n", w->name);
            put_roff(out, w->meaning);
            fputc('\n', out);
        }
        fputs(words->name ? ".RE\n.IP\nPossible: " : "Possible: ", out);
        put_roff(out, range);
        fputs(". Default: ", out);
        put_roff(out, *o->initial ? o->initial : "empty");
        fputs(".\n.br\nEnvironment: ", out);
        put_roff(out, variable);
        fputs("\n", out);
    }
}
