/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The limit of open files, which commands raise that need a descriptor for each thread and
 * processor, or for each node. It stays raised: with all of the old number taken, nothing else
 * could be opened. A job that is started begins with the limit that this command was given.
 */
#include "command/command.h"

#include <sys/resource.h>

static struct rlimit given;
static bool raised;

void pct_open_files_raise(void)
{
    if (raised || getrlimit(RLIMIT_NOFILE, &given) || given.rlim_cur == given.rlim_max)
        return;
    raised = !setrlimit(RLIMIT_NOFILE, &(struct rlimit){given.rlim_max, given.rlim_max});
}

void pct_open_files_restore(void)
{
    if (raised)
        setrlimit(RLIMIT_NOFILE, &given);
    raised = false;
}
