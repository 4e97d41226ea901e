/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of a subcommand from its row and its table of options: parsing, --help, and the
 * messages for usage errors. No command has a parser of its own.
 */
#include "analysis/symbols/symbols.h"
#include "command/command.h"
#include "view/compare_print.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

enum { N_GIVEN = 64, MAX_OPTIONS = 32 + PC_CONFIG_MAX_OPTIONS };

struct parse {
    const struct pct_command *self;
    struct pct_line *line;
    void *request;
    bool helped;
    const char *values[MAX_OPTIONS]; /* values given, by option; "" for options without a value */
};

static const char *next_option(const void *arg, size_t i)
{
    const struct pct_command *self = arg;
    const struct pct_option *o = pct_option_at(self, (unsigned)i);
    if (o)
        return o->name;
    return i == 0 || pct_option_at(self, (unsigned)i - 1) ? pct_help_option.name : NULL;
}

static const struct pct_option *option_of(const struct pct_command *self, int letter)
{
    for (unsigned i = 0; pct_option_at(self, i); i++)
        if (pct_option_at(self, i)->letter == letter)
            return pct_option_at(self, i);
    return letter == pct_help_option.letter ? &pct_help_option : NULL;
}

/* True for a name that other programs give to the time for which they look at what runs. */
static bool is_time(const struct pct_command *self, const char *name)
{
    static const char *const names[] = {"seconds", "duration", "time", "timeout"};
    bool same = false;
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++)
        same |= !strcmp(name, names[i]);
    return same && self->starts && option_of(self, 'p');
}

/* `word` is the argument that getopt stopped at; it is named in full, with its value cut off. */
static int refuse_unknown(const struct pct_command *self, const char *word)
{
    const struct pct_option *known = optopt ? option_of(self, optopt) : NULL;
    if (known)
        return pct_refuse(self, "option --%s takes no value", known->name);
    if (self->starts && (!strcmp(word, "-n") || !strcmp(word, "-np")))
        return pct_refuse(self, "unknown option %s: did you mean `pcollect %s%s-- mpirun %s ...`?",
                          word, self->name, *self->name ? " " : "", word);
    if (optopt)
        return pct_refuse(self, "unknown option -%c", optopt);
    char *name = pct_text("%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = pct_nearest(name, next_option, self);
    if (is_time(self, name))
        pct_refuse(self,
                   "unknown option --%s: a command limits the time: "
                   "`pcollect %s --pid PID -- sleep SECONDS`",
                   name, self->name);
    else if (nearest)
        pct_refuse(self, "unknown option --%s: did you mean --%s?", name, nearest);
    else
        pct_refuse(self, "unknown option --%s", name);
    pct_free(name);
    return PCT_CALL;
}

static bool takes_list(const struct pct_option *o)
{
    return o->argument && (o->list || strstr(o->argument, ",...") || !strcmp(o->argument, "LIST"));
}

/* One value only, of one option of its group. */
static int check_single(struct parse *p, const struct pct_option *o, const char *value)
{
    const struct pct_option *k;
    unsigned at = 0;
    for (unsigned i = 0; (k = pct_option_at(p->self, i)); i++) {
        bool same = k == o, rival = o->group && k->group == o->group;
        at = same ? i : at;
        if (!p->values[i] || (same ? o->many || !strcmp(p->values[i], value) : !rival))
            continue;
        return pct_refuse(p->self, "--%s%s%s and --%s%s%s: give %s", k->name,
                          *p->values[i] ? " " : "", p->values[i], o->name, *value ? " " : "", value,
                          same && takes_list(o) ? "one list, with commas between" : "one of them");
    }
    p->values[at] = value;
    p->line->given |= at < N_GIVEN ? UINT64_C(1) << at : 0;
    return PCT_DONE;
}

/* The words of an option, which stand in one text with | between. */
struct words {
    char *text;
    const char *list[MAX_OPTIONS];
};

static const char *next_word(const void *arg, size_t i)
{
    return ((const struct words *)arg)->list[i];
}

static int check_word(const struct pct_command *self, const struct pct_option *o, const char *value)
{
    const char *all = o->words ? o->words : o->argument;
    struct words words = {NULL};
    size_t n = 0;
    if (!all || !strchr(all, '|'))
        return PCT_DONE;
    words.text = pct_copy(all);
    for (char *word, *rest = words.text; n + 1 < MAX_OPTIONS && (word = strsep(&rest, "|"));)
        words.list[n++] = word;
    char *copy = pct_copy(value), *rest = copy;
    bool seen[MAX_OPTIONS] = {false};
    int status = PCT_DONE;
    for (char *word; !status && (word = o->list ? strsep(&rest, ",") : rest);
         rest = o->list ? rest : NULL) {
        unsigned i = pct_value_word(o, word);
        if (i >= n)
            status = pct_refuse_word(self, o->name, word, next_word, &words);
        else if (seen[i])
            status = pct_refuse(self, "--%s: %s is given twice", o->name, word);
        else
            seen[i] = true;
    }
    pct_free(copy);
    pct_free(words.text);
    return status;
}

/* Passes an option to the function that handles it. PCT_DONE: continue. */
static int take_option(struct parse *p, const struct pct_option *o, const char *value)
{
    int status = o->argument ? check_word(p->self, o, value) : PCT_DONE;
    if (!status && o != &pct_help_option)
        status = check_single(p, o, value);
    if (status)
        return status;
    switch (o->letter) {
    case 'h':
        p->helped = true;
        return PCT_DONE;
    case PCT_LETTER_WIDTH:
    case PCT_LETTER_COLOR:
        return pct_terminal_take(p->self, o, value);
    case PCT_LETTER_DEBUGINFOD:
        pct_symbols_allow_servers();
        return PCT_DONE;
    default:
        status = p->self->take ? p->self->take(p->self, o, value, p->request) : PCT_DONE;
        p->helped |= status == PCT_HELP;
        return status == PCT_HELP ? PCT_DONE : status;
    }
}

/* True if a word that is no argument may be a value of the option that is meant: where an argument
 * is a file, a path is none. */
static bool may_be_meant(const struct pct_command *self, const char *word)
{
    return self->meant &&
           (!self->argument || (!strchr(word, '/') && pc_pcol_stem(word) == strlen(word)));
}

/* The first word that is too many; if it is a file, the first that is none instead. */
static const char *find_meant(const struct pct_line *line, size_t most)
{
    for (size_t i = 0; i < line->n_words && access(line->words[most], F_OK) == 0; i++)
        if (access(line->words[i], F_OK))
            return line->words[i];
    return line->words[most];
}

static int refuse_number(const struct parse *p)
{
    const struct pct_command *self = p->self;
    const struct pct_line *line = p->line;
    size_t most = self->argument ? self->n_most : 0;
    if (line->n_words > most) {
        const char *word = self->meant ? find_meant(line, most) : line->words[most];
        if (may_be_meant(self, word))
            return pct_refuse(self, "unexpected argument: %s: did you mean --%s %s?", word,
                              self->meant, word);
        return pct_refuse(self, "unexpected argument: %s", word);
    }
    if (self->n_least > 1)
        return pct_refuse(self, "missing argument: %s, %u%s of them", self->argument, self->n_least,
                          self->n_most > self->n_least ? " or more" : "");
    return pct_refuse(self, "missing argument: %s", self->argument);
}

/* True if a file or another argument is an empty text, as of a variable of a shell that is not set.
 */
static bool has_empty_word(const struct pct_command *self, const struct pct_line *line)
{
    bool empty = false;
    for (size_t i = 0; i < line->n_words && !self->starts; i++)
        empty |= !*line->words[i];
    return empty;
}

static int put_help(const struct parse *p)
{
    if (!p->self->help || !p->self->help(p->self, p->request, stdout))
        pct_help(p->self, stdout);
    return PCT_DONE;
}

/* The two descriptions of the options that getopt needs. */
struct known {
    struct option longs[MAX_OPTIONS + 2];
    char letters[2 * MAX_OPTIONS + 8];
};

static void describe(const struct pct_command *self, struct known *out)
{
    char *p = out->letters;
    *out = (struct known){.longs = {{"help", no_argument, NULL, 'h'}}};
    p += pc_format(p, sizeof out->letters, self->starts ? "+:h" : "-:h");
    const struct pct_option *o;
    for (unsigned i = 0; i < MAX_OPTIONS && (o = pct_option_at(self, i)); i++) {
        out->longs[i + 1] = (struct option){o->name, o->argument ? required_argument : no_argument,
                                            NULL, o->letter};
        if (o->letter < 256)
            p += pc_format(p, 3, o->argument ? "%c:" : "%c", o->letter);
    }
}

/* Reads options; PCT_DONE: all were read. Words overwrite options that were read before them in
 * argv, and NULL follows the last one. */
static int read_options(struct parse *p, int argc, char **argv)
{
    const struct pct_command *self = p->self;
    struct pct_line *line = p->line;
    line->words = argv + 1;
    struct known known;
    describe(self, &known);
    optind = 0; /* resets getopt: another command may have read words before */
    opterr = 0;
    for (;;) {
        optopt = 0;
        int at = optind ? optind : 1, status;
        int letter = getopt_long(argc, argv, known.letters, known.longs, NULL);
        const struct pct_option *o = option_of(self, letter == ':' ? optopt : letter);
        if (letter == -1) {
            bool separated = optind > at;
            size_t n_rest = (size_t)(argc - optind);
            memmove(&line->words[line->n_words], &argv[optind], (n_rest + 1) * sizeof *argv);
            line->n_before = separated ? line->n_words : line->n_words + n_rest;
            line->n_words += n_rest;
            return PCT_DONE;
        }
        if (letter == 1) {
            line->words[line->n_words++] = argv[at];
            continue;
        }
        if (letter == '?')
            return refuse_unknown(self, argv[at]);
        if (letter == ':')
            return pct_refuse(self, "option --%s needs a value: %s", o->name, o->argument);
        status = take_option(p, o, optarg ? optarg : "");
        if (status)
            return status;
    }
}

bool pct_line_read(const struct pct_command *self, int argc, char **argv, void *request,
                   struct pct_line *out)
{
    struct parse p = {.self = self, .line = out, .request = request};
    *out = (struct pct_line){.n_words = 0};
    out->status = read_options(&p, argc, argv);
    if (out->status)
        return false;
    if (p.helped) {
        out->status = put_help(&p);
        return false;
    }
    size_t most = self->argument ? self->n_most : 0;
    if (out->n_words < self->n_least || out->n_words > most)
        out->status = refuse_number(&p);
    else if (has_empty_word(self, out))
        out->status = pct_refuse(self, "the argument %s is empty", self->argument);
    else if (out->n_words && may_be_meant(self, out->words[0]) && access(out->words[0], F_OK))
        out->status = pct_refuse(self, "%s: no such file: did you mean --%s %s?", out->words[0],
                                 self->meant, out->words[0]);
    else if (!out->n_words && self->newest && !pct_newest_profile(self, out))
        out->status = PCT_CALL;
    return !out->status;
}

/* ---- Options without an effect --------------------------------------------------------------- */

/* In the order of enum pct_output_part. */
static const char *const part_names[] = {
    "the trees of the text",
    "tables with a column of shares",
    "contexts",
    "findings of the whole run",
    "the pairs of the text",
    "a placement: the text, json or a file",
    "the models of contexts",
    "several --times",
    "--hosts",
    "--format tsv",
    "--format folded",
    "source lines",
    "source lines and instructions",
};

void pct_parts_put(struct pct_buf *b, unsigned parts)
{
    const char *before = "";
    for (size_t i = 0; i < PC_ARRAY_LEN(part_names); i++) {
        if (parts >> i & 1) {
            pct_buf_format(b, "%s%s", before, part_names[i]);
            before = " and ";
        }
    }
}

int pct_line_check_parts(const struct pct_command *self, const struct pct_line *line,
                         unsigned parts)
{
    int status = PCT_DONE;
    for (unsigned i = 0; i < N_GIVEN && self->options[i].name && !status; i++) {
        const struct pct_option *o = &self->options[i];
        struct pct_buf names = {0};
        pct_parts_put(&names, o->parts);
        if (line->given >> i & 1 && o->parts && !(o->parts & parts))
            status = pct_refuse(self, "--%s has no effect here: it is for %s", o->name, names.data);
        pct_buf_free(&names);
    }
    return status;
}

bool pct_choice_option(struct pct_choice *c, const struct pct_option *o, const char *value)
{
    if (o->letter == PCT_LETTER_COLUMNS)
        c->columns = value;
    else if (o->letter == PCT_LETTER_SORT)
        c->sort = value;
    else if (o->letter == PCT_LETTER_WHERE)
        pct_choice_add(c, value);
    else
        return false;
    return true;
}

bool pct_compare_option(const struct pct_command *self, const struct pct_option *o,
                        const char *value, struct pct_compare_print *out, int *status_out)
{
    uint64_t n = 0;
    if (o->letter == PCT_LETTER_DEPTH) {
        *status_out = pct_value_number(self, o, value, 1, 1000000, &n);
        out->depth = (unsigned)n;
    } else if (o->letter == PCT_LETTER_LEAST) {
        *status_out = pct_value_percent(self, o, value, 100, &n);
        out->has_least = true;
        out->least = (unsigned)n;
    } else if (o->letter == PCT_LETTER_FULL_NAMES) {
        out->full_names = true;
    } else {
        return false;
    }
    return true;
}

int pct_choice_refuse(const struct pct_command *self, const struct pct_choice *c,
                      const struct pct_table *table, const char *cure)
{
    struct pct_buf why = {0};
    if (!c->columns && !c->n_where && !c->sort)
        return PCT_DONE;
    if (!table)
        return pct_refuse(self, "--columns, --where and --sort are for one table: give %s", cure);
    int status = pct_choice_check(c, table, &why) ? pct_refuse(self, "%s", why.data) : PCT_DONE;
    pct_buf_free(&why);
    return status;
}
