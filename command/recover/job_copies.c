/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies of the arenas of a job that runs, from which its checkpoints are made.
 */
#include "command/recover/recover.h"

#include "analysis/allocation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct pct_job_copies pct_job_copies(const struct pc_merge_list *list, size_t first)
{
    size_t n = 1;
    while (first + n < list->n && list->found[first + n].job == list->found[first].job)
        n++;
    return (struct pct_job_copies){.found = &list->found[first], .n = n};
}

void pct_job_copies_drop(struct pct_job_copies *j)
{
    for (size_t i = 0; i < j->n_copies; i++)
        free(j->copies[i].data);
    pct_free(j->copies);
    j->copies = NULL;
    j->n_copies = 0;
}

int pct_job_copy(struct pct_job_copies *j, uint64_t run_key, struct pc_error *error)
{
    int err = PC_OK;
    j->copies = pct_alloc(j->n, sizeof *j->copies);
    for (size_t i = 0; i < j->n && !err; i++) {
        if (j->found[i].asked_only || (run_key && j->found[i].run_key != run_key))
            continue;
        err = pc_merge_copy(j->found[i].path, j->found[i].alive, &j->copies[j->n_copies], error);
        j->n_copies += !err;
    }
    if (err)
        pct_job_copies_drop(j);
    return err;
}

void pct_job_goes_first(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? write(fd, "1000", 4) : 0;
    (void)n;
    if (fd >= 0)
        close(fd);
}
