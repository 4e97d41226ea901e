/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes a manual page from its text and the tables of the code, while the page is built:
 * `make_page -COMMAND <PAGE.in >PAGE`, for pcollect(1) without -COMMAND. A line that is one of
 * these words becomes
 *
 *   @COMMANDS@ the commands, from their table
 *   @OPTIONS@  the options of the command, from its table
 *   @TABLES@   the tables of the report with their columns, and its ratios
 *   @CONFIG@   the options of the configuration
 *   @KEYS@     the keys of pcollect browse
 *   @COMPLETION@  the cases of completion.bash: the options of each command with their values
 *   @COLUMNS@  cases there: the columns of each table
 */
#include "analysis/counters/metrics.h"
#include "command/browse/browse.h"
#include "command/command.h"
#include "view/compare_print.h"

#include <string.h>

/* Backslashes and hyphens stand for themselves. */
static void put_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '-')
            putchar('\\');
        putchar(*text == '\\' ? 'e' : *text);
    }
}

/* As a whole sentence. */
static void put_sentence(const char *text)
{
    char first[] = {*text, '\0'};
    if (first[0] >= 'a' && first[0] <= 'z')
        first[0] = (char)(first[0] - 'a' + 'A');
    put_text(first);
    put_text(text + (*text != '\0'));
}

static void put_words(const char *words)
{
    for (const char *s = words; *s;) {
        int n = (int)strcspn(s, "|");
        char word[64];
        pc_format(word, sizeof word, "%s", s);
        word[n] = '\0';
        put_text(s == words ? " " : s[n] ? ", " : " or ");
        put_text(word);
        s += n + (s[n] == '|');
    }
}

static void put_option(const struct pct_option *o)
{
    fputs(".TP\n", stdout);
    if (o->letter < 256)
        printf(".BR \\-%c \", \" \\-\\-", o->letter);
    else
        fputs(".B \\-\\-", stdout);
    put_text(o->name);
    if (o->argument) {
        fputs(o->letter < 256 ? " \" \\fI" : " \\fI", stdout);
        put_text(o->argument);
        fputs(o->letter < 256 ? "\\fR\"" : "\\fR", stdout);
    }
    putchar('\n');
    put_sentence(o->doc);
    if (o->words)
        put_words(o->words);
    puts(".");
    if (o->more) {
        put_text(o->more);
        putchar('\n');
    }
    if (o->parts) {
        struct pct_buf names = {0};
        pct_parts_put(&names, o->parts);
        fputs("It is for ", stdout);
        put_text(names.data);
        puts(".");
        pct_buf_free(&names);
    }
}

static int put_options(const char *name)
{
    const struct pct_command *command = *name ? NULL : &pct_top;
    for (size_t i = 0; *name && i < pct_n_commands; i++)
        if (!strcmp(pct_commands[i]->name, name + 1))
            command = pct_commands[i];
    if (!command) {
        fprintf(stderr, "make_page: %s: no such command\n", name);
        return 1;
    }
    for (unsigned k = 0; pct_option_at(command, k); k++)
        put_option(pct_option_at(command, k));
    put_option(&pct_help_option);
    return 0;
}

static void put_commands(void)
{
    for (size_t i = 0; i < pct_n_commands; i++) {
        printf(".TP\n.B %s\n", pct_commands[i]->name);
        put_sentence(pct_commands[i]->summary);
        printf(".\nSee\n.BR pcollect\\-%s (1).\n", pct_commands[i]->name);
    }
}

static void put_tables(void)
{
    for (size_t i = 0; i < pct_n_tables; i++) {
        const struct pct_table *t = pct_tables[i];
        printf(".SS %s\n", t->name);
        put_sentence(t->doc);
        puts(".");
        for (size_t k = 0; k < t->n_columns; k++) {
            printf(".TP\n.B %s\n", t->columns[k].name);
            put_text(t->columns[k].doc);
            puts(".");
        }
    }
    puts(".SH RATIOS\nThe table ratios has a row for each of these whose events were counted.");
    for (size_t i = 0; i < pct_n_ratio_kinds; i++) {
        printf(".TP\n.B %s\n", pct_ratio_kinds[i].name);
        put_text(pct_ratio_kinds[i].doc);
        printf(" (%s).\n", pct_ratio_kinds[i].unit);
    }
}

static void put_keys(void)
{
    const char *name, *doc;
    for (size_t i = 0; pct_browse_key(i, &name, &doc); i++) {
        fputs(".TP\n.B ", stdout);
        put_text(name);
        putchar('\n');
        put_sentence(doc);
        puts(".");
    }
}

/* The values of an option that are known, with blanks between. "RULE=P" takes words before a sign
 * of equality. */
static void put_values(const struct pct_option *o)
{
    bool divided = strchr(o->argument, '=') != NULL;
    const char *words = o->words ? o->words : strchr(o->argument, '|') ? o->argument : "";
    putchar('=');
    for (; *words; words++)
        putchar(*words == '|' ? ' ' : *words);
    for (size_t i = 0; o->known && o->known(NULL, i); i++)
        printf("%s%s%s", i ? " " : "", o->known(NULL, i), divided ? "=" : "");
}

static void put_known(const char *dashes, const char *name, const struct pct_option *o)
{
    printf("                '%s%s", dashes, name);
    if (o->argument)
        put_values(o);
    puts("' \\");
}

static void put_case(const struct pct_command *c)
{
    printf("        '%s')\n            printf '%%s\\n' \\\n", c->name);
    for (unsigned k = 0; pct_option_at(c, k); k++) {
        const struct pct_option *o = pct_option_at(c, k);
        put_known("--", o->name, o);
        if (o->argument && o->letter < 256)
            put_known("-", (char[]){(char)o->letter, '\0'}, o);
    }
    if (c->starts)
        puts("                PROGRAM \\");
    for (size_t i = 0; c == &pct_top && i < pct_n_commands; i++)
        printf("                '%s' \\\n", pct_commands[i]->name);
    printf("                --%s ;;\n", pct_help_option.name);
}

static void put_cases(void)
{
    put_case(&pct_top);
    for (size_t i = 0; i < pct_n_commands; i++)
        put_case(pct_commands[i]);
}

/* Prints the case of a table in completion.bash: `when` is a pattern in quotes. */
static void put_columns(const char *when, const struct pct_table *t)
{
    printf("        %s) echo", when);
    for (size_t k = 0; k < t->n_columns; k++)
        printf(" %s", t->columns[k].name);
    puts(" ;;");
}

static void put_columns_by(const char *what, unsigned keys)
{
    struct pct_cube cube;
    pct_cube_make(&cube, NULL, keys, "");
    put_columns(what, &cube.table);
    pct_cube_free(&cube);
}

static void put_described(const char *when, const struct pcollect_table *of)
{
    struct pct_data d = {.pool = pct_pool_new()};
    struct pct_rows_table t;
    pct_rows_table_described(&t, &d, of);
    put_columns(when, &t.table);
    pct_pool_free(d.pool);
}

/* Prints the cases of `report --by`: those that have no table of their own under another name. */
static void put_all_by(void)
{
    const struct pct_option *o = pct_report.options;
    char *words, *rest;
    unsigned all = 0;
    while (strcmp(o->name, "by") != 0)
        o++;
    words = rest = pct_copy(o->words);
    for (size_t i = 0; rest; i++) {
        char when[64];
        const char *table = pct_by[i].table;
        pc_format(when, sizeof when, "'report by %s'", strsep(&rest, "|"));
        if (!table)
            put_columns_by(when, pct_by[i].keys);
        else if (pct_table_find(table))
            put_columns(when, pct_table_find(table));
        else
            put_described(when, pct_described(table));
        all |= pct_by[i].keys & PCT_KEY_CONTEXT ? 0 : pct_by[i].keys;
    }
    put_columns_by("'report by '*", all);
    pct_free(words);
}

/* Prints the cases of tables. */
static void put_tables_columns(void)
{
    char when[80];
    for (size_t i = 0; i < pct_n_tables; i++) {
        pc_format(when, sizeof when, "'report table %s'", pct_tables[i]->name);
        put_columns(when, pct_tables[i]);
    }
    for (size_t i = 0; pct_described_at(i); i++) {
        pc_format(when, sizeof when, "'report table %s'", pct_described_at(i)->name);
        put_described(when, pct_described_at(i));
    }
    for (size_t i = 0; i < pct_n_scale_tables; i++) {
        pc_format(when, sizeof when, "'scale table %s'", pct_scale_tables[i].name);
        put_columns(when, &pct_scale_tables[i]);
    }
    put_all_by();
    put_columns("'diff '*", &pct_diff_table);
    put_columns("'average '*", &pct_repeats_table);
}

int main(int argc, char **argv)
{
    char line[4096];
    int err = 0;
    while (!err && fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "@OPTIONS@\n"))
            err = put_options(argc > 1 ? argv[1] : "");
        else if (!strcmp(line, "@COMMANDS@\n"))
            put_commands();
        else if (!strcmp(line, "@TABLES@\n"))
            put_tables();
        else if (!strcmp(line, "@CONFIG@\n"))
            pc_config_manual(stdout);
        else if (!strcmp(line, "@KEYS@\n"))
            put_keys();
        else if (!strcmp(line, "@COMPLETION@\n"))
            put_cases();
        else if (!strcmp(line, "@COLUMNS@\n"))
            put_tables_columns();
        else
            fputs(line, stdout);
    }
    return err || ferror(stdout) || fflush(stdout) ? 1 : 0;
}
