/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of options as text for people: effective values, a template, the manual. For the
 * command; it is not in libpcollect.so.
 */
#include "base/wrap.h"
#include "config/config_private.h"

#include <string.h>

/* In lines of at most `width` characters, each after `lead`. */
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

/* Text for man(7): backslashes, and a dot or quote at the start of a line, are special. */
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
        fputs("\n.br\nPossible: ", out);
        put_roff(out, range);
        fputs(". Default: ", out);
        put_roff(out, *o->initial ? o->initial : "empty");
        fputs(".\n.br\nEnvironment: ", out);
        put_roff(out, variable);
        fputs("\n", out);
    }
}
