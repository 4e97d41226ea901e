/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path of the program that a process runs: the script, if Python runs one.
 */
#include "libcollect/life/program_path.h"

#include "base/script.h"
#include "include/pcollect/arena.h"

#include <unistd.h>

void pc_program_path(char *out, size_t n)
{
    char command[2048], folder[PCOLLECT_PATH_BYTES]; /* small: a thread may start the collection */
    bool is_module;
    ssize_t got = readlink("/proc/self/exe", out, n - 1);
    out[got > 0 ? got : 0] = '\0';
    size_t bytes = pc_read_small("/proc/self/cmdline", command, sizeof command);
    const char *script = pc_script_find(out, command, bytes, &is_module);
    while (script && script[0] == '.' && script[1] == '/')
        script += 2;
    if (!script)
        return;
    /* The program may have left the folder that its script was found from. */
    if (is_module || *script == '/' || access(script, F_OK) || !getcwd(folder, sizeof folder))
        pc_format(out, n, "%s", script);
    else
        pc_format(out, n, "%s/%s", folder[1] ? folder : "", script);
}
