/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of any length for the subcommands, and the output of a child.
 */
#include "analysis/buffer.h"
#include "command/command.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

char *pct_text(const char *format, ...)
{
    struct pct_buf text = {0};
    va_list args;
    va_start(args, format);
    pct_buf_vformat(&text, format, args);
    va_end(args);
    return text.data;
}

void pct_read_answer(int fd, char *text, size_t n)
{
    uint64_t end = pc_mono_ns() + UINT64_C(20000000000);
    size_t have = 0;
    while (have + 1 < n) {
        uint64_t now = pc_mono_ns();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (now >= end || poll(&p, 1, (int)((end - now) / 1000000) + 1) == 0)
            break;
        ssize_t got = read(fd, text + have, n - 1 - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    text[have] = '\0';
}
