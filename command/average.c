/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect average: repeats of one run as one table of means and their scatter.
 */
#include "command/command.h"
#include "view/compare_print.h"

#include <stdlib.h>
#include <string.h>

static const struct pct_option options[] = {
    {'f', "format", "text|json|tsv", "text for people (default), or for programs"},
    PCT_OPTIONS_CHOICE,
    PCT_OPTION_WIDTH,
    PCT_OPTION_DEBUGINFOD,
    {0, NULL, NULL, NULL},
};

enum format { TEXT, JSON, TSV };

struct request {
    enum format format;
    struct pct_choice choice;
};

/* False with a message: the runs seem to be of two programs. */
static bool is_one_program(const struct pct_command *self, const struct pct_repeats *r)
{
    struct pct_buf why = {0};
    pct_programs_put(&why, r->join, r->runs);
    bool one = !why.n;
    if (!one)
        pct_say(self, "%s These are not repeats of one run.", why.data);
    pct_buf_free(&why);
    return one;
}

static void say(void *self, const char *sentence)
{
    pct_say(self, "%s", sentence);
}

static void print(const struct pct_repeats *r, const struct request *q)
{
    struct pct_terminal terminal = pct_terminal_look();
    if (q->format == JSON)
        pct_repeats_json(stdout, r, &q->choice);
    else if (q->format == TSV)
        pct_repeats_tsv(stdout, r, &q->choice);
    else
        pct_repeats_print(stdout, r, terminal.width, terminal.utf8);
}

static int average(const struct pct_command *self, struct pct_run *runs, size_t n,
                   const struct request *q)
{
    struct pct_repeats *r;
    struct pc_error error = {""};
    if (pct_repeats_make(runs, n, &r, &error)) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    bool one = is_one_program(self, r);
    if (one && q->format != TEXT)
        pct_repeats_remarks(r, say, (void *)self);
    if (one)
        print(r, q);
    pct_repeats_free(r);
    return one ? PCT_DONE : PCT_DATA;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *q = request;
    (void)self;
    if (!pct_choice_option(&q->choice, o, value))
        q->format = (enum format)pct_value_word(o, value);
    return PCT_DONE;
}

static int run_average(const struct pct_command *self, int argc, char **argv)
{
    struct request q = {0};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &q, &line))
        return line.status;
    int status = pct_choice_refuse(self, &q.choice, q.format == TEXT ? NULL : &pct_repeats_table,
                                   "--format tsv");
    struct pct_run *runs =
        status ? NULL : pct_runs_look(self, line.words, line.n_words, false, &status);
    if (runs)
        status = pct_runs_check(self, runs, line.n_words);
    if (runs && !status)
        status = average(self, runs, line.n_words, &q);
    pct_runs_close(runs, line.n_words);
    return status;
}

const struct pct_command pct_average_command = {
    .name = "average",
    .synopsis = "[OPTION]... FILE...",
    .summary = "average repeated runs, and show how far they differ",
    .options = options,
    .argument = "FILE",
    .n_least = 1,
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_average,
};
