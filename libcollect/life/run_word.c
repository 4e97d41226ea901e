/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file by which the processes of a run report to `pcollect run`:
 * <spool>/pcollect-<uid>/run-<key>.path, in the first spool in which it can be made. Each line is
 * one report, of fields with a zero byte between them: the path of a profile, then, if another file
 * had that name, the requested name; an empty first field means that this process collects in plain
 * memory. A `pcollect run` in the job of another writes an empty field and a word: it has told what
 * became of its own job.
 *
 * Called by the start and the end of the process. Its reader is command/launch/run_file.c.
 */
#include "libcollect/life/life.h"
#include "libcollect/state/state.h"

#include <fcntl.h>
#include <unistd.h>

static bool add_line(const char *line, size_t n)
{
    char path[PCOLLECT_PATH_BYTES];
    const char *spool = pc_config_spool(&pc_process.config, 0);
    int fd = -1;
    for (unsigned i = 0; fd < 0 && spool; spool = pc_config_spool(&pc_process.config, ++i)) {
        pc_format(path, sizeof path, "%s/pcollect-%u/run-%lx.path", spool, (unsigned)geteuid(),
                  (unsigned long)pc_process.config.run_key);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    }
    bool written = fd >= 0 && write(fd, line, n) == (ssize_t)n;
    if (fd >= 0)
        close(fd);
    return written;
}

bool pc_run_tell_profile(const char *path, const char *wanted)
{
    char line[2 * PCOLLECT_PATH_BYTES];
    if (!pc_process.config.run_key)
        return false;
    size_t n = pc_format(line, PCOLLECT_PATH_BYTES, "%s", path);
    if (wanted)
        n += 1 + pc_format(line + n + 1, PCOLLECT_PATH_BYTES - 1, "%s", wanted);
    line[n++] = '\n';
    return add_line(line, n);
}

void pc_run_tell_memory(void)
{
    if (pc_process.config.run_key)
        add_line("\0\n", 2);
}
