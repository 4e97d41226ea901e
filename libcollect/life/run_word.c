/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file by which the processes of a run report to `pcollect run`:
 * <spool>/pcollect-<uid>/run-<key>.path, in the first spool in which it can be made. A report
 * is two strings, each with a zero byte after it: the path of a profile, and the requested name if
 * another file had that name, or "". Two empty strings mean that this process collects in plain
 * memory. A `pcollect run` in the job of another writes an empty string and a word: it has told
 * what became of its own job.
 *
 * Called by the start and the end of the process. Its reader is command/launch/run_file.c.
 */
#include "libcollect/life/life.h"
#include "libcollect/state/state.h"

#include <fcntl.h>
#include <unistd.h>

static bool add_report(const char *report, size_t n)
{
    char path[PCOLLECT_PATH_BYTES];
    const char *spool = pc_config_spool(&pc_process.config, 0), *why;
    int fd = -1;
    for (unsigned i = 0; fd < 0 && spool; spool = pc_config_spool(&pc_process.config, ++i)) {
        pc_format(path, sizeof path, "%s/pcollect-%u", spool, (unsigned)geteuid());
        int folder = pc_file_open_own_folder(path, &why);
        if (folder < 0)
            continue;
        pc_format(path, sizeof path, "run-%lx.path", (unsigned long)pc_process.config.run_key);
        fd = pc_file_open(folder, path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
        pc_file_close(folder);
    }
    bool written = fd >= 0 && pc_file_write(fd, report, n) == (ssize_t)n;
    if (fd >= 0)
        pc_file_close(fd);
    return written;
}

bool pc_run_tell_profile(const char *path, const char *wanted)
{
    char report[2 * PCOLLECT_PATH_BYTES];
    if (!pc_process.config.run_key)
        return false;
    size_t n = 1 + pc_format(report, PCOLLECT_PATH_BYTES, "%s", path);
    n += 1 + pc_format(report + n, PCOLLECT_PATH_BYTES, "%s", wanted ? wanted : "");
    return add_report(report, n);
}

void pc_run_tell_memory(void)
{
    static const char in_memory[2];
    if (pc_process.config.run_key)
        add_report(in_memory, sizeof in_memory);
}
