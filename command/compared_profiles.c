/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profiles that a command compares.
 */
#include "analysis/compare/join.h"
#include "command/command.h"

#include <stdlib.h>

/* False with a message: the run has nothing that is compared. */
static bool is_comparable(const struct pct_command *self, const char *path,
                          const struct pct_run *run)
{
    if (run->n_missing) {
        pct_say(
            self,
            "%s has %u of the %u ranks of its job: sums over them cannot be compared; `pcollect "
            "report %s` shows what is known",
            path, run->n_ranks - run->n_missing, run->n_ranks, path);
        return false;
    }
    if (run->core_ns > 0)
        return true;
    struct pct_buf word = {0};
    pct_text_shell(&word, path);
    pct_say(self,
            "%s: there is no time between MPI_Init and MPI_Finalize, which is compared: %s; "
            "`pcollect report %s` shows what is known",
            path,
            run->outside ? "pcollect record knows no calls of MPI"
                         : "no rank of it got so far, or the program calls no MPI function",
            word.data);
    pct_buf_free(&word);
    return false;
}

struct pct_run *pct_runs_look(const struct pct_command *self, char **paths, size_t n,
                              int *status_out)
{
    struct pct_run *runs = pct_alloc(n, sizeof *runs);
    pct_progress_show();
    for (size_t i = 0; i < n; i++) {
        struct pc_error error = {""};
        int err = pct_run_look(&runs[i], paths[i], &error);
        if (*error.text)
            pct_say(self, "%s", error.text);
        if (!err && is_comparable(self, paths[i], &runs[i])) {
            if (runs[i].n_incomplete)
                pct_say(self,
                        "%s: %u of %u ranks did not reach MPI_Finalize: their times end with the "
                        "last moment known",
                        paths[i], runs[i].n_incomplete, runs[i].n_ranks);
            continue;
        }
        *status_out = err == PC_ENOENT ? PCT_CALL : PCT_DATA;
        pct_runs_close(runs, n);
        return NULL;
    }
    return runs;
}

void pct_runs_close(struct pct_run *runs, size_t n)
{
    for (size_t i = 0; runs && i < n; i++)
        pct_run_close(&runs[i]);
    free(runs);
}
