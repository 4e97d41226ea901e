/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect report: hands over to report/, which knows nothing of the environment.
 */
#include "tools/tools.h"

static int run_report(const struct pct_command *self, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    pct_say(self, "this build has no reader of profiles");
    return PCT_DATA;
}

const struct pct_command pct_report = {
    .name = "report",
    .summary = "show a profile: tables, contexts, ranks",
    .main = run_report,
};
