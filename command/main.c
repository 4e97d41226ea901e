/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process `pcollect`.
 */
#include "analysis/buffer.h"
#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void end_without_memory(size_t n, size_t size)
{
    fprintf(stderr, "pcollect: not enough memory: %zu x %zu bytes refused\n", n, size);
    exit(PCT_DATA);
}

int main(int argc, char **argv)
{
    pct_memory_refused = end_without_memory;
    int status = pct_command_line(argc, argv);
    /* A full disk behind standard output is found here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pcollect: standard output cannot be written: %s\n", strerror(errno));
        if (status == PCT_DONE)
            status = PCT_DATA;
    }
    return status;
}
