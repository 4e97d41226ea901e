/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect report: hands over to report/, which knows nothing of the environment.
 */
#include "command/report.h"

#include "command/command.h"

#include <stdlib.h>

static int run_report(const struct pct_command *self, int argc, char **argv)
{
    (void)self;
    pct_report_environment(getenv("COLUMNS"), getenv("NO_COLOR"), getenv("TERM"));
    return pct_report_main(argc, argv);
}

const struct pct_command pct_report = {
    .name = "report",
    .summary = "show a profile: tables, contexts, ranks",
    .main = run_report,
};
