/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `pcollect report`: the entry point, called by tools/.
 */
#include "report/report.h"

#include <stdio.h>

static struct {
    const char *columns, *no_color, *term;
} environment;

void pct_report_environment(const char *columns, const char *no_color, const char *term)
{
    environment.columns = columns;
    environment.no_color = no_color;
    environment.term = term;
}

int pct_report_main(int argc, char **argv)
{
    (void)argc;
    fprintf(stderr, "pcollect: %s: this build cannot read profiles\n", argv[0]);
    return 1;
}
