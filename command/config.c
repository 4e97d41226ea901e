/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect config: shows the settings in force, checks a file, prints a template.
 */
#include "command/command.h"

enum { OPTION_SHOW = 256, OPTION_CHECK, OPTION_TEMPLATE };
enum { ACTION = 1 }; /* groups of options */

static const struct pct_option options[] = {
    {OPTION_SHOW, "show", NULL, "print every option with its value and where the value comes from",
     "After \"#\" comes \"default\", the name of a file, or the name of a variable. The output can "
     "be used as a configuration file. Names are looked up as with --check.",
     .group = ACTION},
    {OPTION_CHECK, "check", "FILE", "check a file; prints nothing if it is valid",
     "If it is not, the message names file, line, reason and the nearest valid key. Unknown "
     "plugins and misspelt events are reported too. Environment variables are not read.",
     .group = ACTION},
    {OPTION_TEMPLATE, "template", NULL, "print a file with all options, their meaning and default",
     .group = ACTION},
    {'c', "config", "FILE", "with --show: read FILE, not the one named by PCOLLECT_CONFIG"},
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
    return pct_names_known(self, &c) ? PCT_DONE : PCT_DATA;
}

struct request {
    int action;
    const char *checked, *file;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    (void)self;
    if (o->letter == 'c')
        r->file = value;
    else
        r->action = o->letter;
    if (o->letter == OPTION_CHECK)
        r->checked = value;
    return PCT_DONE;
}

static int run_config(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    if (r.action == 0)
        return pct_refuse(self, "missing option: --show, --check FILE or --template");
    if (r.file && r.action != OPTION_SHOW)
        return pct_refuse(self, "--config goes with --show only");
    if (r.action == OPTION_CHECK)
        return check(self, r.checked);
    if (r.action == OPTION_SHOW)
        return show(self, r.file);
    pc_config_template(stdout);
    return PCT_DONE;
}

const struct pct_command pct_config = {
    .name = "config",
    .synopsis = "--show [-c FILE] | --check FILE | --template",
    .summary = "show, check or start a configuration file",
    .options = options,
    .take = take_option,
    .main = run_config,
    .meant = "check",
};
