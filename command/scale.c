/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale: one program at several numbers of ranks.
 */
#include "command/command.h"
#include "command/report.h"
#include "view/compare_print.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_STRONG = 256,
    OPTION_WEAK,
    OPTION_PREDICT,
    OPTION_SIZES,
    OPTION_FORMAT,
    OPTION_TABLE
};
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TSV };

static const struct pct_option options[] = {
    {OPTION_STRONG, "strong", NULL,
     "the runs solve the same problem (default: told from the runs)"},
    {OPTION_WEAK, "weak", NULL, "the problem grows with the number of ranks"},
    {OPTION_PREDICT, "predict", "RANKS[,N]",
     "say what the contexts will cost on that many ranks; with --sizes: for a problem of size N "
     "(default: the largest)"},
    {OPTION_SIZES, "sizes", "N,N,...",
     "sizes of the problem, in the order of the files: models are of ranks and size"},
    {OPTION_FORMAT, "format", "FORMAT", "text (default), json or tsv"},
    {OPTION_TABLE, "table", "NAME",
     "one table only: scales, contexts or costs; as tsv if no format is given"},
    PCT_OPTIONS_CHOICE,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

struct request {
    struct pct_scale_options scale;
    enum format format;
    bool has_format;
    const struct pct_table *table;
    struct pct_choice choice;
    double *sizes;
    size_t n_sizes;
};

static bool read_format(const char *word, struct request *r)
{
    static const char *const names[] = {"text", "json", "tsv"};
    for (unsigned i = 0; i < PC_ARRAY_LEN(names); i++) {
        if (!strcmp(word, names[i])) {
            r->format = (enum format)i;
            r->has_format = true;
            return true;
        }
    }
    return false;
}

static bool read_table(const char *word, struct request *r)
{
    for (size_t i = 0; i < pct_n_scale_tables; i++) {
        if (!strcmp(word, pct_scale_tables[i].name))
            r->table = &pct_scale_tables[i];
    }
    return r->table && !strcmp(word, r->table->name);
}

/* A number from 1; the comma behind it is passed over. */
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
    free(r->sizes);
    r->sizes = NULL;
    for (r->n_sizes = 0; *word; r->n_sizes++) {
        r->sizes = pct_grow(r->sizes, r->n_sizes, &room, sizeof *r->sizes);
        if (!read_number(&word, &r->sizes[r->n_sizes]))
            return false;
    }
    return r->n_sizes > 0;
}

static int read_scaling(const struct pct_command *self, int letter, enum pct_scaling *out)
{
    enum pct_scaling scaling = letter == OPTION_WEAK ? PCT_SCALING_WEAK : PCT_SCALING_STRONG;
    if (*out != PCT_SCALING_UNKNOWN && *out != scaling)
        return pct_refuse(self, "--strong and --weak: give one of them");
    *out = scaling;
    return PCT_DONE;
}

static int read_option(const struct pct_command *self, int letter, struct request *r)
{
    if (pct_choice_option(&r->choice, letter, optarg))
        return PCT_DONE;
    if (letter == OPTION_STRONG || letter == OPTION_WEAK)
        return read_scaling(self, letter, &r->scale.scaling);
    if (letter == OPTION_FORMAT && !read_format(optarg, r))
        return pct_refuse(self, "--format %s: text, json and tsv are known", optarg);
    else if (letter == OPTION_TABLE && !read_table(optarg, r))
        return pct_refuse(self, "--table %s: scales, contexts and costs are known", optarg);
    else if (letter == OPTION_PREDICT && !read_predict(optarg, r))
        return pct_refuse(self, "--predict %s: give a number of ranks", optarg);
    else if (letter == OPTION_SIZES && !read_sizes(optarg, r))
        return pct_refuse(self, "--sizes %s: give numbers from 1 with commas between", optarg);
    return PCT_DONE;
}

/* What can be checked when the files are counted. */
static int check_sizes(const struct pct_command *self, size_t n, struct request *r)
{
    double largest = 1;
    if (r->sizes && r->n_sizes != n)
        return pct_refuse(self, "--sizes: %zu sizes for %zu files", r->n_sizes, n);
    if (!r->sizes && r->scale.predict_size > 0)
        return pct_refuse(self, "--predict: a size needs --sizes");
    for (size_t i = 0; i < r->n_sizes; i++)
        largest = r->sizes[i] > largest ? r->sizes[i] : largest;
    if (!(r->scale.predict_size > 0))
        r->scale.predict_size = largest;
    r->scale.sizes = r->sizes;
    return PCT_DONE;
}

/* PCT_OPTION_END: go on. Else the exit status. */
static int read_options(const struct pct_command *self, int argc, char **argv, struct request *r)
{
    int letter;
    while ((letter = pct_options_next(self, argc, argv)) >= 0) {
        int status = read_option(self, letter, r);
        if (status)
            return status;
    }
    if (letter == PCT_OPTION_HELPED)
        return PCT_DONE;
    if (letter == PCT_OPTION_WRONG)
        return PCT_CALL;
    if (argc - optind < 2)
        return pct_refuse(self, "give the profiles of two numbers of ranks or more");
    if (r->table && !r->has_format)
        r->format = FORMAT_TSV;
    if (r->format == FORMAT_TSV && !r->table)
        return pct_refuse(self, "--format tsv: which table? Give --table NAME too");
    int status = pct_choice_refuse(self, &r->choice, r->table, "--table NAME");
    if (!status)
        status = check_sizes(self, (size_t)(argc - optind), r);
    return status ? status : PCT_OPTION_END;
}

static void print(const struct pct_scale *s, const struct request *r)
{
    size_t width;
    bool utf8;
    pct_report_terminal(&width, &utf8);
    struct pct_aligned how = {.choice = &r->choice, .indent = "", .width = width, .utf8 = utf8};
    if (r->format == FORMAT_JSON)
        pct_scale_json(stdout, s, r->table, &r->choice);
    else if (r->format == FORMAT_TSV)
        pct_scale_tsv(stdout, s, r->table, &r->choice);
    else if (r->table)
        pct_scale_text(stdout, s, r->table, &how);
    else
        pct_scale_print(stdout, s, width, utf8);
}

static int compare(const struct pct_command *self, struct pct_run *runs, size_t n,
                   const struct request *r)
{
    struct pct_scale *s;
    struct pc_error error = {""};
    int err = pct_scale_make(runs, n, &r->scale, &s, &error);
    if (err == PC_EARG)
        return pct_refuse(self, "%s", error.text);
    if (err) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    print(s, r);
    pct_scale_free(s);
    return PCT_DONE;
}

static int run_scale(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    int status = read_options(self, argc, argv, &r);
    if (status != PCT_OPTION_END) {
        free(r.sizes);
        return status;
    }
    size_t n = (size_t)(argc - optind);
    struct pct_run *runs = pct_runs_look(self, argv + optind, n, &status);
    if (runs)
        status = compare(self, runs, n, &r);
    pct_runs_close(runs, n);
    free(r.sizes);
    return status;
}

const struct pct_command pct_scale_command = {
    .name = "scale",
    .synopsis =
        "[--strong|--weak] [--sizes N,N,...] [--predict RANKS[,N]] [OPTION]... FILE FILE...",
    .summary = "compare runs at several numbers of ranks, context by context",
    .options = options,
    .mixed = true,
    .main = run_scale,
};
