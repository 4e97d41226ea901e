/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The process `pcollect`.
 */
#include "command/command.h"

#include <errno.h>
#include <string.h>

int main(int argc, char **argv)
{
    int status = pct_command_line(argc, argv);
    /* A full disk behind standard output is found here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "pcollect: standard output cannot be written: %s\n", strerror(errno));
        if (status == PCT_DONE)
            status = PCT_DATA;
    }
    return status;
}
