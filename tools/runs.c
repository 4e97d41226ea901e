/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profiles that a command reads and compares.
 */
#include "report/compare/join.h"
#include "report/report.h"
#include "tools/tools.h"

#include <stdlib.h>

struct pct_run *pct_runs_open(const struct pct_command *self, char **paths, size_t n,
                              int *status_out)
{
    pct_report_environment(getenv("COLUMNS"), getenv("NO_COLOR"), getenv("TERM"));
    struct pct_run *runs = pct_alloc(n, sizeof *runs);
    for (size_t i = 0; i < n; i++) {
        struct pc_error error = {""};
        int err = pct_run_open(&runs[i], paths[i], &error);
        if (*error.text)
            pct_say(self, "%s", error.text);
        if (!err)
            continue;
        *status_out = pct_runs_close(self, runs, n, err == PC_ENOENT ? PCT_CALL : PCT_DATA);
        return NULL;
    }
    return runs;
}

int pct_runs_close(const struct pct_command *self, struct pct_run *runs, size_t n, int status)
{
    for (size_t i = 0; i < n; i++) {
        const char *unread = runs[i].profile ? pc_profile_unread(runs[i].profile) : NULL;
        if (unread) {
            pct_say(self, "%s: %s", runs[i].path, unread);
            status = PCT_DATA;
        }
        pct_run_close(&runs[i]);
    }
    free(runs);
    return status;
}
