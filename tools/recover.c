/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect recover: profiles of jobs that never came to the end of MPI_Finalize.
 */
#include "tools/run.h"

#include <getopt.h>

static const struct pct_option options[] = {
    {'o', "output", "PATTERN", "path of the profile"},
    {'l', "list", NULL, "print what there is"},
    {0, NULL, NULL, NULL},
};

bool pct_recover_folders(const struct pct_recovery *r, char *const *folders, size_t n,
                         struct pct_recovered *out)
{
    (void)r, (void)folders, (void)n;
    *out = (struct pct_recovered){0, 0, 0};
    return true;
}

static int run_recover(const struct pct_command *self, int argc, char **argv)
{
    int letter;
    while ((letter = pct_options_next(self, argc, argv)) != PCT_OPTION_END)
        if (letter == PCT_OPTION_HELPED || letter == PCT_OPTION_WRONG)
            return letter == PCT_OPTION_HELPED ? PCT_DONE : PCT_CALL;
    pct_say(self, "this build cannot recover");
    return PCT_DATA;
}

const struct pct_command pct_recover = {
    .name = "recover",
    .synopsis = "[-o PATTERN] [FOLDER]...",
    .summary = "make profiles of jobs that were killed",
    .options = options,
    .main = run_recover,
};
