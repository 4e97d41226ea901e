/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pcollect command: a table of subcommands, one file each. Exit status: 0 done, 1 the data is
 * at fault, 2 the call is at fault; `pcollect run` ends as the job did.
 */
#include "base/nearest.h"
#include "command/command.h"

#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

static const struct pct_command *const commands[] = {
    &pct_run,           &pct_report,       &pct_annotate_command,
    &pct_scale_command, &pct_diff_command, &pct_topology_command,
    &pct_merge_command, &pct_model,        &pct_embed,
    &pct_events,        &pct_info,         &pct_verify,
    &pct_recover,       &pct_doctor,       &pct_config,
};

static const struct pct_option own_options[] = {
    {'V', "version", NULL, "print the version"},
    {0, NULL, NULL, NULL},
};

static const struct pct_command own = {
    .name = "",
    .synopsis = "COMMAND [ARGUMENT]...",
    .summary = "Where the time of MPI programs goes: in which calling context, on which rank.",
    .options = own_options,
};

static void put_commands(FILE *out)
{
    fputs("\nCommands:\n", out);
    for (size_t i = 0; i < PC_ARRAY_LEN(commands); i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n`pcollect COMMAND --help` and the manual pages pcollect(1), pcollect-COMMAND(1) and\n"
          "pcollect.conf(5) tell more.\n",
          out);
}

static const struct pct_command *find_command(const char *name)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    const char *nearest = "";
    unsigned least = PC_FAR;
    for (size_t i = 0; i < PC_ARRAY_LEN(commands); i++) {
        unsigned d = pc_distance(name, commands[i]->name);
        if (d < least) {
            least = d;
            nearest = commands[i]->name;
        }
    }
    if (!access(name, F_OK))
        return pct_refuse(&own, "unknown command \"%s\": did you mean `pcollect report %s`?", name,
                          name);
    if (pc_is_near(least, strlen(name)))
        return pct_refuse(&own, "unknown command \"%s\": did you mean `pcollect %s`?", name,
                          nearest);
    return pct_refuse(&own, "unknown command \"%s\"", name);
}

static int run_command(int argc, char **argv)
{
    int letter = pct_options_next(&own, argc, argv);
    if (letter == PCT_OPTION_WRONG)
        return PCT_CALL;
    if (letter == 'V')
        printf("pcollect %s\n", PACKAGE_VERSION);
    if (letter == PCT_OPTION_HELPED)
        put_commands(stdout);
    if (letter != PCT_OPTION_END)
        return PCT_DONE;
    if (optind >= argc) {
        pct_help(&own, stderr);
        put_commands(stderr);
        return PCT_CALL;
    }
    argc -= optind;
    argv += optind;
    char *help[] = {argv[argc > 1], (char *)"--help", NULL};
    if (!strcmp(argv[0], "help")) { /* as other commands have it */
        optind = 0;
        if (argc < 2)
            return run_command(2, help);
        argv = help;
        argc = 2;
    }
    const struct pct_command *command = find_command(argv[0]);
    if (command == NULL)
        return refuse_command(argv[0]);
    optind = 0; /* begin anew: the command may let options and words mix */
    return command->main(command, argc, argv);
}

int main(int argc, char **argv)
{
    int status = run_command(argc, argv);
    /* A full disk behind standard output is found here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        pct_say(&own, "standard output cannot be written: %s", strerror(errno));
        if (status == PCT_DONE)
            status = PCT_DATA;
    }
    return status;
}
