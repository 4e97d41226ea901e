/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect recover: its command line and what it prints. The work is in recover_folders.c.
 */
#include "command/recover/recover.h"

#include "analysis/buffer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_LIST = 'l' };

static const struct pct_option options[] = {
    {'o', "output", "PATTERN",
     "path of the profile, as for pcollect run (default: the path that the job was given)",
     "Only a profile of the same job is replaced; otherwise a number is added, app.4.2.pcol. So it "
     "is where several jobs have left arenas: --job takes one of them."},
    {'j', "job", "JOB", "recover one job, of several that left arenas",
     "JOB is its program, its number in the batch system, or its start as --list shows it; it may "
     "name several."},
    {OPTION_LIST, "list", NULL, "list the jobs that left arenas; write and remove nothing",
     "The first line has the names of the columns, which are separated by tabs: program, processes "
     "on this node, ranks of the job, state (running, ended, merged), start in UTC, and path of "
     "the profile that would be written, without a number that another file makes necessary."},
    {0, NULL, NULL, NULL},
};

/* The folders on the command line: each itself and, if it is a spool, this user's folder in it. */
static char **name_folders(const struct pct_command *self, char **words, size_t n, size_t *n_out)
{
    char **folders = pct_alloc(2 * n + 1, sizeof *folders);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (!pct_is_folder(words[i])) {
            pct_refuse(self, "%s: %s", words[i],
                       access(words[i], F_OK) == 0 ? "is not a folder" : strerror(errno));
            pct_free(folders);
            return NULL;
        }
        char *below = pct_text("%s/pcollect-%u", words[i], (unsigned)geteuid());
        folders[(*n_out)++] = pct_is_folder(below) ? below : words[i];
    }
    return folders;
}

/* The folders of this user in the spools of the configuration. */
static char **default_folders(const struct pct_command *self, size_t *n_out)
{
    struct pc_config config;
    struct pc_error error;
    if (pc_config_load(&config, &error)) {
        pct_say(self, "%s", error.text);
        return NULL;
    }
    return pct_spool_folders(&config, n_out);
}

/* Removes report files of runs whose command was killed, and empty folders. */
static void sweep(const struct pct_recovery *r, char *const *folders, size_t n)
{
    pct_run_tell_earlier(r->self, folders, n);
    for (size_t i = 0; i < n; i++)
        pct_spool_remove(folders[i]);
}

static void say_none(const char *folder)
{
    char *shown = pct_text_escaped(folder);
    printf("nothing to recover in %s\n", shown);
    pct_free(shown);
}

static int recover(struct pct_recovery *r, char **folders, size_t n)
{
    struct pct_recovered found;
    pct_progress_show();
    if (r->list_only)
        fputs("program\tprocesses\tranks\tstate\tstarted\toutput\n", stdout);
    if (!pct_recover_folders(r, folders, n, &found))
        return PCT_CALL;
    if (!r->list_only)
        sweep(r, folders, n);
    if (r->pattern && !strchr(r->pattern, '%') && found.n_profiles > 1)
        pct_say(r->self,
                "%zu jobs have a profile each; --job recovers one of several, which --list shows; "
                "%%x, %%n, %%j and %%t in PATTERN name them apart",
                found.n_profiles);
    if (r->job && !found.n_jobs) {
        pct_say(r->self,
                "no job %s has left arenas here; `pcollect recover --list` shows those that did",
                r->job);
        return PCT_DATA;
    }
    if (!r->list_only && found.n_profiles + found.n_failed + found.n_alive == 0)
        for (size_t i = 0; i < n; i++)
            say_none(folders[i]);
    return found.n_failed ? PCT_DATA : PCT_DONE;
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct pct_recovery *r = request;
    if (o->letter == OPTION_LIST) {
        r->list_only = true;
        return PCT_DONE;
    }
    if (o->letter == 'j') {
        r->job = value;
        return PCT_DONE;
    }
    r->pattern = pct_output_pattern(self, value, NULL);
    return r->pattern ? PCT_DONE : PCT_CALL;
}

static int run_recover(const struct pct_command *self, int argc, char **argv)
{
    struct pct_recovery r = {.self = self};
    struct pct_line line;
    size_t n = 0;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    r.named = line.n_words > 0;
    char **folders =
        line.n_words ? name_folders(self, line.words, line.n_words, &n) : default_folders(self, &n);
    return folders ? recover(&r, folders, n) : PCT_CALL;
}

const struct pct_command pct_recover = {
    .name = "recover",
    .synopsis = "[-o PATTERN] [--job JOB] [--list] [FOLDER]...",
    .summary = "make profiles from what killed jobs left",
    .details =
        "FOLDER holds arenas, the files in which processes collect; the default is "
        "pcollect-UID in the spool, on each node where the job ran. Jobs that still run "
        "are left alone. Arenas are removed when their profile has been written, and pcollect-UID "
        "when it is empty.",
    .options = options,
    .argument = "FOLDER",
    .n_most = PCT_ANY_NUMBER,
    .take = take_option,
    .main = run_recover,
};
