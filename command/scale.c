/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale: one program at several numbers of ranks or threads.
 */
#include "command/command.h"
#include "view/compare_print.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_STRONG = 256,
    OPTION_WEAK,
    OPTION_PREDICT,
    OPTION_SIZES,
    OPTION_FORMAT,
    OPTION_SVG,
    OPTION_TABLE
};
enum { SCALING = 1, FORM }; /* groups of options */
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TSV, FORMAT_SVG };

static const char *next_table(const void *arg, size_t i)
{
    (void)arg;
    return i < pct_n_scale_tables ? pct_scale_tables[i].name : NULL;
}

static const struct pct_option options[] = {
    {OPTION_STRONG, "strong", NULL,
     "the problem is the same in all runs (default: judged from the runs)", .group = SCALING},
    {OPTION_WEAK, "weak", NULL, "the problem grows with the number of ranks, or threads",
     .group = SCALING},
    {OPTION_PREDICT, "predict", "RANKS[,N]",
     "predict the time of each context on RANKS ranks; with --sizes, for a problem of size N "
     "(default: the largest)",
     "Models of the time per rank are as in pcollect-model(1). They need three numbers of ranks; "
     "with fewer than five they are a guess. If threads are compared, it is a number of threads.",
     .parts = PCT_PART_MODELS},
    {OPTION_SIZES, "sizes", "N,N,...",
     "problem sizes, in the order of the files: models then depend on ranks and size",
     "This needs runs of several sizes at several numbers of ranks. Efficiencies compare runs of "
     "one size; losses are those of the largest."},
    {OPTION_FORMAT, "format", "text|json|tsv", "text for people (default), or for programs",
     .group = FORM},
    {OPTION_SVG, "svg", NULL,
     "a picture of the efficiency and its factors over the numbers of ranks, or threads, at the "
     "largest size",
     .group = FORM},
    {OPTION_TABLE, "table", "NAME",
     "one table only, as tsv without --format; help lists the tables", .known = next_table},
    PCT_OPTIONS_COMPARE,
    PCT_OPTIONS_CHOICE,
    PCT_OPTION_WIDTH,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    struct pct_scale_options scale;
    enum format format;
    bool has_format;
    const char *table_name;
    const struct pct_table *table;
    struct pct_choice choice;
    double *sizes;
    size_t n_sizes;
    struct pct_compare_print how;
};

static int read_table(const struct pct_command *self, const char *word, struct request *r)
{
    r->table_name = word;
    for (size_t i = 0; i < pct_n_scale_tables; i++) {
        if (!strcmp(word, pct_scale_tables[i].name))
            r->table = &pct_scale_tables[i];
    }
    if (!strcmp(word, "help"))
        return PCT_HELP;
    return r->table ? PCT_DONE : pct_refuse_word(self, "table", word, next_table, NULL);
}

static bool help_table(const struct pct_command *self, const void *request, FILE *out)
{
    const struct request *r = request;
    (void)self;
    if (!r->table_name)
        return false;
    if (r->table)
        pct_help_columns(out, r->table);
    for (size_t i = 0; !r->table && i < pct_n_scale_tables; i++)
        pct_help_table(out, &pct_scale_tables[i]);
    return true;
}

/* Reads a number of at least 1, and skips the comma after it. */
static bool read_number(const char **word, double *out)
{
    char *end;
    double value = strtod(*word, &end);
    if (end == *word || !(value >= 1 && value <= 1e15) || (*end && *end != ','))
        return false;
    *out = value;
    *word = end + (*end == ',');
    return true;
}

static bool read_predict(const char *word, struct request *r)
{
    return read_number(&word, &r->scale.predict) &&
           (!*word || (read_number(&word, &r->scale.predict_size) && !*word));
}

static bool read_sizes(const char *word, struct request *r)
{
    size_t room = 0;
    pct_free(r->sizes);
    r->sizes = NULL;
    for (r->n_sizes = 0; *word; r->n_sizes++) {
        r->sizes = pct_grow(r->sizes, r->n_sizes, &room, sizeof *r->sizes);
        if (!read_number(&word, &r->sizes[r->n_sizes]))
            return false;
    }
    return r->n_sizes > 0;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    int status = PCT_DONE;
    if (pct_choice_option(&r->choice, o, value) ||
        pct_compare_option(self, o, value, &r->how, &status))
        return status;
    switch (o->letter) {
    case OPTION_STRONG:
        r->scale.scaling = PCT_SCALING_STRONG;
        return PCT_DONE;
    case OPTION_WEAK:
        r->scale.scaling = PCT_SCALING_WEAK;
        return PCT_DONE;
    case OPTION_FORMAT:
        r->format = (enum format)pct_value_word(o, value);
        r->has_format = true;
        return PCT_DONE;
    case OPTION_SVG:
        r->format = FORMAT_SVG;
        r->has_format = true;
        return PCT_DONE;
    case OPTION_TABLE:
        return read_table(self, value, r);
    case OPTION_PREDICT:
        return read_predict(value, r)
                   ? PCT_DONE
                   : pct_refuse(self,
                                "--predict %s: give a number of ranks from 1, and with --sizes a "
                                "size from 1 behind a comma",
                                value);
    default:
        return read_sizes(value, r) ? PCT_DONE
                                    : pct_refuse(self,
                                                 "--sizes %s: give numbers from 1 with commas "
                                                 "between",
                                                 value);
    }
}

/* Checks that need only the number of files. */
static int check_sizes(const struct pct_command *self, size_t n, struct request *r)
{
    double largest = 1;
    if (r->sizes && r->n_sizes != n)
        return pct_refuse(self, "--sizes: %zu %s for %zu files; give one for each file", r->n_sizes,
                          r->n_sizes == 1 ? "size" : "sizes", n);
    if (!r->sizes && r->scale.predict_size > 0)
        return pct_refuse(self, "--predict: a size needs --sizes");
    for (size_t i = 0; i < r->n_sizes; i++)
        largest = r->sizes[i] > largest ? r->sizes[i] : largest;
    if (!(r->scale.predict_size > 0))
        r->scale.predict_size = largest;
    r->scale.sizes = r->sizes;
    return PCT_DONE;
}

static unsigned parts_of(const struct request *r)
{
    bool trees = r->format == FORMAT_TEXT && !r->table;
    bool models = r->format != FORMAT_SVG && (!r->table || !strcmp(r->table->name, "contexts"));
    return (trees ? PCT_PART_TREES : 0) | (models ? PCT_PART_MODELS : 0);
}

static int check(const struct pct_command *self, const struct pct_line *line, struct request *r)
{
    if (r->table && !r->has_format)
        r->format = FORMAT_TSV;
    if (r->format == FORMAT_TSV && !r->table)
        return pct_refuse(self, "--format tsv shows one table: give --table NAME too");
    if (r->format == FORMAT_SVG && r->table)
        return pct_refuse(self, "--svg shows no table: leave --table out");
    int status = pct_choice_refuse(self, &r->choice, r->table, "--table NAME");
    if (!status)
        status = pct_line_check_parts(self, line, parts_of(r));
    return status ? status : check_sizes(self, line->n_words, r);
}

static void print(const struct pct_scale *s, const struct request *r)
{
    struct pct_terminal terminal = pct_terminal_look();
    struct pct_compare_print text = r->how;
    struct pct_aligned how = {.choice = &r->choice,
                              .indent = "",
                              .width = terminal.cut ? terminal.width : 0,
                              .people = {terminal.utf8, r->how.full_names}};
    text.width = terminal.width;
    text.utf8 = terminal.utf8;
    if (r->format == FORMAT_JSON)
        pct_scale_json(stdout, s, r->table, &r->choice);
    else if (r->format == FORMAT_TSV)
        pct_scale_tsv(stdout, s, r->table, &r->choice);
    else if (r->format == FORMAT_SVG)
        pct_scale_svg(stdout, s);
    else if (r->table)
        pct_scale_text(stdout, s, r->table, &how);
    else
        pct_scale_print(stdout, s, &text);
}

static int compare(const struct pct_command *self, struct pct_run *runs, size_t n,
                   const struct request *r)
{
    struct pct_scale *s;
    struct pc_error error = {""};
    int err = pct_scale_make(runs, n, &r->scale, &s, &error);
    if (!err)
        pct_scale_find_branches(s);
    if (err == PC_EARG)
        return pct_refuse(self, "%s", error.text);
    if (err) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    if (r->how.full_names)
        pct_scale_name_places(s, true);
    if (r->format != FORMAT_TEXT || r->table)
        pct_runs_say(self, runs, n);
    print(s, r);
    pct_scale_free(s);
    return PCT_DONE;
}

static int run_scale(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    struct pct_line line;
    bool going = pct_line_read(self, argc, argv, &r, &line);
    int status = going ? check(self, &line, &r) : line.status;
    struct pct_run *runs = NULL;
    if (going && !status)
        runs = pct_runs_look(self, line.words, line.n_words, false, &status);
    if (runs)
        status = pct_runs_check(self, runs, line.n_words);
    if (runs && !status)
        status = pct_runs_unite(self, runs, line.n_words);
    if (runs && !status)
        status = compare(self, runs, line.n_words, &r);
    pct_runs_close(runs, line.n_words);
    pct_free(r.sizes);
    return status;
}

const struct pct_command pct_scale_command = {
    .name = "scale",
    .synopsis = "[OPTION]... FILE FILE...",
    .summary = "compare runs at several numbers of ranks or threads, by context",
    .options = options,
    .argument = "FILE",
    .n_least = 2,
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .help = help_table,
    .main = run_scale,
};
