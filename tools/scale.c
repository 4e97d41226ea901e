/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale: one program at several numbers of ranks.
 */
#include "report/compare/scale.h"
#include "report/report.h"
#include "tools/tools.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_STRONG = 256, OPTION_WEAK, OPTION_PREDICT, OPTION_FORMAT, OPTION_TABLE };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_TSV };

static const struct pct_option options[] = {
    {OPTION_STRONG, "strong", NULL,
     "the runs solve the same problem (default: told from the runs)"},
    {OPTION_WEAK, "weak", NULL, "the problem grows with the number of ranks"},
    {OPTION_PREDICT, "predict", "RANKS", "say what the contexts will cost on that many ranks"},
    {OPTION_FORMAT, "format", "FORMAT", "text (default), json or tsv"},
    {OPTION_TABLE, "table", "NAME",
     "one table only: scales, contexts or costs; as tsv if no format "
     "is given"},
    {0, NULL, NULL, NULL},
};

struct request {
    struct pct_scale_options scale;
    enum format format;
    bool has_format;
    const struct pct_table *table;
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

static bool read_ranks(const char *word, struct request *r)
{
    char *end;
    r->scale.predict = strtod(word, &end);
    return end != word && !*end && r->scale.predict >= 1 && r->scale.predict <= 1e12;
}

static int read_option(const struct pct_command *self, int letter, struct request *r)
{
    if (letter == OPTION_STRONG || letter == OPTION_WEAK)
        r->scale.scaling = letter == OPTION_WEAK ? PCT_SCALING_WEAK : PCT_SCALING_STRONG;
    else if (letter == OPTION_FORMAT && !read_format(optarg, r))
        return pct_refuse(self, "--format %s: text, json and tsv are known", optarg);
    else if (letter == OPTION_TABLE && !read_table(optarg, r))
        return pct_refuse(self, "--table %s: scales, contexts and costs are known", optarg);
    else if (letter == OPTION_PREDICT && !read_ranks(optarg, r))
        return pct_refuse(self, "--predict %s: give a number of ranks", optarg);
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
    return PCT_OPTION_END;
}

static void print(const struct pct_scale *s, const struct request *r)
{
    size_t width;
    bool utf8;
    if (r->format == FORMAT_JSON) {
        pct_scale_json(stdout, s, r->table);
    } else if (r->format == FORMAT_TSV) {
        pct_scale_tsv(stdout, s, r->table);
    } else {
        pct_report_terminal(&width, &utf8);
        pct_scale_print(stdout, s, width, utf8);
    }
}

static int compare(const struct pct_command *self, struct pct_run *runs, size_t n, char **paths,
                   const struct request *r)
{
    struct pct_scale *s;
    struct pc_error error = {""};
    for (size_t i = 0; i < n; i++) {
        int err = pct_run_open(&runs[i], paths[i], &error);
        if (*error.text)
            pct_say(self, "%s", error.text);
        if (err)
            return err == PC_ENOENT ? PCT_CALL : PCT_DATA;
        error.text[0] = '\0';
    }
    if (pct_scale_make(runs, n, &r->scale, &s, &error))
        return pct_refuse(self, "%s", error.text);
    print(s, r);
    pct_scale_free(s);
    return PCT_DONE;
}

static int run_scale(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    int status = read_options(self, argc, argv, &r);
    if (status != PCT_OPTION_END)
        return status;
    pct_report_environment(getenv("COLUMNS"), getenv("NO_COLOR"), getenv("TERM"));
    size_t n = (size_t)(argc - optind);
    struct pct_run *runs = pct_alloc(n, sizeof *runs);
    status = compare(self, runs, n, argv + optind, &r);
    for (size_t i = 0; i < n; i++)
        pct_run_close(&runs[i]);
    free(runs);
    return status;
}

const struct pct_command pct_scale_command = {
    .name = "scale",
    .synopsis = "[--strong|--weak] [--predict RANKS] [OPTION]... FILE FILE...",
    .summary = "compare runs at several numbers of ranks, context by context",
    .options = options,
    .mixed = true,
    .main = run_scale,
};
