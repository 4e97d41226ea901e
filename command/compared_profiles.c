/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profiles that a command compares.
 */
#include "analysis/compare/join.h"
#include "command/command.h"
#include "view/compare_print.h"

/* False with a message: the run has nothing that is compared. */
static bool is_comparable(const struct pct_command *self, const char *path,
                          const struct pct_run *run, bool recordings)
{
    struct pct_buf why = {0}, word = {0};
    if (run->n_missing)
        pct_buf_format(&why,
                       "%s has %u of the %u ranks of its job: sums over them cannot be compared",
                       path, run->n_ranks - run->n_missing, run->n_ranks);
    else if (run->outside && !recordings)
        pct_buf_format(&why,
                       "%s: pcollect record knows no calls of MPI and no times of ranks, which are "
                       "compared; `pcollect diff` compares the CPU time of two recordings",
                       path);
    else if (!run->outside && !(run->core_ns > 0))
        pct_buf_format(&why, "%s: there is no time of a rank, which is compared", path);
    else if (!run->outside && !run->timed)
        pct_buf_format(&why,
                       "%s: the plugin time was not loaded: contexts have no calls and no times of "
                       "calls, which are compared",
                       path);
    bool comparable = !why.n;
    pct_text_shell(&word, path);
    if (!comparable)
        pct_say(self, "%s; `pcollect report %s` shows what is known", why.data, word.data);
    pct_buf_free(&word);
    pct_buf_free(&why);
    return comparable;
}

/* False with a message: recordings have CPU time alone, which other profiles do not have so. */
static bool are_alike(const struct pct_command *self, const struct pct_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct pct_run *other = &runs[runs[0].outside ? i : 0];
        const struct pct_run *recording = &runs[runs[0].outside ? 0 : i];
        if (runs[i].outside == runs[0].outside)
            continue;
        pct_say(self,
                "%s is of pcollect record, which knows CPU time alone, %s is not: compare profiles "
                "of one kind",
                recording->path, other->path);
        return false;
    }
    return true;
}

struct pct_run *pct_runs_look(const struct pct_command *self, char **paths, size_t n,
                              bool recordings, int *status_out)
{
    struct pct_run *runs = pct_alloc(n, sizeof *runs);
    pct_progress_show();
    for (size_t i = 0; i < n; i++) {
        struct pc_error error = {""};
        int err = pct_run_look(&runs[i], paths[i], &error);
        if (*error.text)
            pct_say(self, "%s", error.text);
        if (!err && is_comparable(self, paths[i], &runs[i], recordings) &&
            are_alike(self, runs, i + 1))
            continue;
        *status_out = err == PC_ENOENT ? PCT_CALL : PCT_DATA;
        pct_runs_close(runs, n);
        return NULL;
    }
    return runs;
}

int pct_runs_check(const struct pct_command *self, const struct pct_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!pct_runs_are_one(&runs[k], &runs[i]))
                continue;
            pct_say(self, "%s and %s are profiles of one run: give each run once", runs[k].path,
                    runs[i].path);
            return PCT_DATA;
        }
    }
    return PCT_DONE;
}

int pct_runs_unite(const struct pct_command *self, struct pct_run *runs, size_t n)
{
    struct pc_error error = {""};
    if (!pct_runs_agree(runs, n, &error))
        return PCT_DONE;
    pct_say(self, "%s", error.text);
    return PCT_DATA;
}

static void say(void *self, const char *sentence)
{
    pct_say((const struct pct_command *)self, "%s", sentence);
}

void pct_runs_say(const struct pct_command *self, const struct pct_run *runs, size_t n)
{
    pct_runs_remarks(runs, n, say, (void *)self);
}

void pct_runs_close(struct pct_run *runs, size_t n)
{
    for (size_t i = 0; runs && i < n; i++)
        pct_run_close(&runs[i]);
    pct_free(runs);
}
