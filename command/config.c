/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect config: what is in force, whether a file is right, what there is to set.
 */
#include "command/command.h"

#include <getopt.h>

enum { OPTION_SHOW = 256, OPTION_CHECK, OPTION_TEMPLATE };

static const struct pct_option options[] = {
    {OPTION_SHOW, "show", NULL,
     "print every option with its value and where the value comes from: default, file or "
     "environment"},
    {OPTION_CHECK, "check", "FILE", "say whether a file is right; prints nothing if it is"},
    {OPTION_TEMPLATE, "template", NULL, "print a file with every option, its meaning and default"},
    {'c', "config", "FILE", "with --show: read this file, not the one of PCOLLECT_CONFIG"},
    {0, NULL, NULL, NULL},
};

static int check(const struct pct_command *self, const char *path)
{
    struct pc_config c;
    struct pc_error error;
    int err = pc_config_load_file(&c, path, &error);
    if (err == PC_OK)
        return pct_names_known(self, &c) ? PCT_DONE : PCT_DATA;
    pct_say(self, "%s", error.text);
    return err == PC_ENOENT || err == PC_EIO ? PCT_CALL : PCT_DATA;
}

static int show(const struct pct_command *self, const char *path)
{
    struct pc_config c;
    struct pc_error error;
    if (pc_config_load_with(&c, path, &error)) {
        pct_say(self, "%s", error.text);
        return PCT_DATA;
    }
    pc_config_show(stdout, &c);
    return PCT_DONE;
}

static int run_config(const struct pct_command *self, int argc, char **argv)
{
    int action = 0, letter;
    const char *checked = NULL, *file = NULL;
    while ((letter = pct_options_next(self, argc, argv)) != PCT_OPTION_END) {
        if (letter == PCT_OPTION_HELPED || letter == PCT_OPTION_WRONG)
            return letter == PCT_OPTION_HELPED ? PCT_DONE : PCT_CALL;
        if (letter == 'c') {
            file = optarg;
            continue;
        }
        if (action && action != letter)
            return pct_refuse(self, "--show, --check and --template exclude each other");
        action = letter;
        checked = optarg;
    }
    if (optind < argc)
        return pct_refuse(self, "\"%s\" is one word too many", argv[optind]);
    if (action == 0)
        return pct_refuse(self, "nothing to do: give --show, --check FILE or --template");
    if (file && action != OPTION_SHOW)
        return pct_refuse(self, "-c goes with --show only");
    if (action == OPTION_CHECK)
        return check(self, checked);
    if (action == OPTION_SHOW)
        return show(self, file);
    pc_config_template(stdout);
    return PCT_DONE;
}

const struct pct_command pct_config = {
    .name = "config",
    .synopsis = "--show [-c FILE] | --check FILE | --template",
    .summary = "show, check or begin a configuration",
    .options = options,
    .main = run_config,
};
