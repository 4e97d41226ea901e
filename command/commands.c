/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of subcommands, one file each, and the line that names one of them. Exit status: 0
 * done, 1 error in the data, 2 usage error; `pcollect run` ends as the job did.
 */
#include "config.h"

#include "command/command.h"
#include "command/launch/run.h"
#include "view/query.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct pct_command *const pct_commands[] = {
    &pct_run,
    &pct_report,
    &pct_browse_command,
    &pct_annotate_command,
    &pct_html,
    &pct_export,
    &pct_scale_command,
    &pct_diff_command,
    &pct_topology_command,
    &pct_average_command,
    &pct_model,
    &pct_embed,
    &pct_events,
    &pct_info,
    &pct_verify,
    &pct_recover,
    &pct_checkpoint,
    &pct_where_command,
    &pct_stat_command,
    &pct_record_command,
    &pct_top_command,
    &pct_doctor,
    &pct_config,
};
const size_t pct_n_commands = PC_ARRAY_LEN(pct_commands);

static const struct pct_option own_options[] = {
    {'V', "version", NULL, "print the version"},
    {0, NULL, NULL, NULL},
};

static bool help_all(const struct pct_command *self, const void *request, FILE *out)
{
    (void)request;
    pct_help(self, out);
    fputs("\nCommands:\n", out);
    for (size_t i = 0; i < pct_n_commands; i++)
        fprintf(out, "  %-10s %s\n", pct_commands[i]->name, pct_commands[i]->summary);
    fputs("\n`pcollect -- JOB` is `pcollect run -- JOB`.\n"
          "For more: `pcollect COMMAND --help` and the manual pages pcollect(1),\n"
          "pcollect-COMMAND(1) and pcollect.conf(5).\n"
          "Exit status: 0 done, 1 error in the data, 2 usage error; with run, the job's.\n",
          out);
    return true;
}

static int take_own(const struct pct_command *self, const struct pct_option *o, const char *value,
                    void *request)
{
    (void)self;
    (void)o;
    (void)value;
    *(bool *)request = true;
    return PCT_DONE;
}

const struct pct_command pct_top = {
    .name = "",
    .synopsis = "COMMAND [ARGUMENT]...",
    .summary =
        "show where MPI programs spend their time: in which calling contexts, on which ranks",
    .options = own_options,
    .starts = true,
    .argument = "COMMAND",
    .n_most = PCT_ANY_NUMBER,
    .take = take_own,
    .help = help_all,
};

static const struct pct_command *find_command(const char *name)
{
    for (size_t i = 0; i < pct_n_commands; i++)
        if (strcmp(pct_commands[i]->name, name) == 0)
            return pct_commands[i];
    return NULL;
}

static const char *next_command(const void *arg, size_t i)
{
    (void)arg;
    return i < pct_n_commands ? pct_commands[i]->name : NULL;
}

/* The command that takes a word which is none; NULL: not known. */
static const char *find_taker(const char *word)
{
    struct stat st;
    bool is_file = stat(word, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file && (pc_pcol_stem(word) != strlen(word) || access(word, X_OK) != 0))
        return "report";
    return is_file || pct_launcher_is(word) ? "run --" : NULL;
}

static int refuse_command(const char *name)
{
    if (!strcmp(name, "merge")) /* its name before 1.0 */
        return pct_refuse(&pct_top, "unknown command \"merge\": it is `pcollect average` now");
    const char *nearest = pct_nearest(name, next_command, NULL);
    const char *taker = find_taker(name);
    if (taker) {
        struct pct_buf word = {0};
        pct_text_shell(&word, name);
        pct_refuse(&pct_top, "unknown command \"%s\": did you mean `pcollect %s %s%s`?", name,
                   taker, word.data, pct_launcher_is(name) ? " ..." : "");
        pct_buf_free(&word);
        return PCT_CALL;
    }
    if (nearest)
        return pct_refuse(&pct_top, "unknown command \"%s\": did you mean `pcollect %s`?", name,
                          nearest);
    return pct_refuse(&pct_top, "unknown command \"%s\"", name);
}

static int run_command(char **words, size_t n)
{
    const struct pct_command *command = find_command(words[0]);
    return command ? command->main(command, (int)n, words) : refuse_command(words[0]);
}

/* Runs `help COMMAND`, a form that other programs have. */
static int help_command(char **words, size_t n)
{
    char *help[] = {words[n > 1], (char *)"--help", NULL};
    return n > 1 ? run_command(help, 2) : pct_command_line(2, help);
}

int pct_command_line(int argc, char **argv)
{
    struct pct_line line;
    bool version = false;
    if (!pct_line_read(&pct_top, argc, argv, &version, &line))
        return line.status;
    if (version) {
        printf("pcollect %s\n", PACKAGE_VERSION);
        return PCT_DONE;
    }
    if (!line.n_words) {
        help_all(&pct_top, NULL, stderr);
        return PCT_CALL;
    }
    if (!line.n_before) { /* "--": a job, without the word `run` */
        line.words[-1] = (char *)pct_run.name;
        return run_command(line.words - 1, line.n_words + 1);
    }
    return !strcmp(line.words[0], "help") ? help_command(line.words, line.n_words)
                                          : run_command(line.words, line.n_words);
}
