/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Help of a subcommand from its row and its table of options, and of tables from their columns.
 */
#include "base/wrap.h"
#include "command/command.h"
#include "view/table.h"

#include <ctype.h>
#include <string.h>

/* Names of the options of the configuration are longer. */
enum { HELP_COLUMNS = 80, INDENT = 28, LONG_INDENT = 30 };

const struct pct_option pct_help_option = {'h', "help", NULL, "print this help"};

const struct pct_option *pct_option_at(const struct pct_command *self, unsigned i)
{
    unsigned n = 0;
    while (self->options && self->options[n].name) {
        if (n == i)
            return &self->options[n];
        n++;
    }
    return self->configures ? pct_config_option(i - n) : NULL;
}

/* Prints lines of at most HELP_COLUMNS; those after the first are indented. */
static void put_wrapped(FILE *out, const char *text, int indent)
{
    for (const char *rest; *text; text = rest) {
        size_t n = pc_wrap(text, HELP_COLUMNS - (size_t)indent, &rest);
        fprintf(out, "%.*s\n%*s", (int)n, text, *rest ? indent : 0, "");
    }
}

/* Prints the second column, the meaning; `n` characters of the first are printed already. */
static void put_meaning(FILE *out, int n, int indent, const char *doc)
{
    if (n + 2 > indent)
        fprintf(out, "\n%*s", indent, "");
    else
        fprintf(out, "%*s", indent - n, "");
    put_wrapped(out, doc, indent);
}

static void put_option(FILE *out, const struct pct_option *o, int indent)
{
    struct pct_buf doc = {0};
    int n = o->letter < 256 ? fprintf(out, "  -%c, ", o->letter) : fprintf(out, "      ");
    n += fprintf(out, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    pct_buf_text(&doc, o->doc);
    for (const char *s = o->words; s && *s; s += strspn(s, "|")) {
        pct_buf_text(&doc, s == o->words ? " " : ", ");
        pct_buf_put(&doc, s, strcspn(s, "|"));
        s += strcspn(s, "|");
    }
    put_meaning(out, n, indent, doc.data);
    pct_buf_free(&doc);
}

void pct_help(const struct pct_command *self, FILE *out)
{
    static const char usage[] = "Usage: ";
    char *call = pct_text("pcollect%s%s %s", *self->name ? " " : "", self->name, self->synopsis);
    fputs(usage, out);
    put_wrapped(out, call, (int)strlen(usage));
    pct_free(call);
    fputc('\n', out);
    call = pct_text("%c%s.", toupper((unsigned char)*self->summary), self->summary + 1);
    put_wrapped(out, call, 0);
    pct_free(call);
    fputs("\nOptions:\n", out);
    int indent = self->configures ? LONG_INDENT : INDENT;
    for (unsigned i = 0; pct_option_at(self, i); i++)
        put_option(out, pct_option_at(self, i), indent);
    put_option(out, &pct_help_option, indent);
    if (self->details) {
        fputs("\n", out);
        put_wrapped(out, self->details, 0);
    }
}

void pct_help_table(FILE *out, const struct pct_table *t)
{
    put_meaning(out, fprintf(out, "  %s", t->name), INDENT, t->doc);
}

static void put_column(FILE *out, const struct pct_column *c)
{
    char *what = pct_text("%s%s", c->doc, c->asked ? "; only if --columns names it" : "");
    put_meaning(out, fprintf(out, "  %s", c->name), INDENT, what);
    pct_free(what);
}

void pct_help_columns(FILE *out, const struct pct_table *t)
{
    char *what = pct_text("Table %s: %s", t->name, t->doc);
    put_wrapped(out, what, 0);
    pct_free(what);
    fputs("\nColumns:\n", out);
    for (size_t i = 0; i < t->n_columns; i++)
        put_column(out, &t->columns[i]);
}
