/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shows progress of long work on standard error, if that is a terminal: a line after a second, and
 * again each time that the wait has doubled. An alarm each second checks the current step. So a
 * single long step is reported, too, and a wait for a pager is not.
 *
 * Steps are a stack of finished lines: the handler reads those below `depth` only.
 */
#include "base/progress.h"
#include "command/command.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST_STEPS = 4, LINE_BYTES = 200 };

static char lines[MOST_STEPS][LINE_BYTES];
static size_t n_line[MOST_STEPS];
static volatile sig_atomic_t depth, seconds, due = 1;

static void on_alarm(int number)
{
    int saved = errno, at = depth < MOST_STEPS ? depth : MOST_STEPS;
    (void)number;
    seconds++;
    if (at && seconds >= due) {
        due = 2 * seconds;
        if (write(STDERR_FILENO, lines[at - 1], n_line[at - 1]) < 0)
            due = INT32_MAX; /* no reader */
    }
    errno = saved;
}

static void begin(const char *doing, const char *what, uint64_t done, uint64_t all)
{
    int at = depth;
    if (at < MOST_STEPS) {
        char *line = lines[at];
        size_t n = pc_format(line, LINE_BYTES - 1, "pcollect: %s %s", doing, what);
        if (all)
            n += pc_format(line + n, LINE_BYTES - 1 - n, " (%lu of %lu)", (unsigned long)done,
                           (unsigned long)all);
        for (size_t i = 0; i < n; i++) /* a path may contain control characters */
            line[i] = (unsigned char)line[i] < ' ' || line[i] == 127 ? '?' : line[i];
        line[n++] = '\n';
        n_line[at] = n;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    depth = at + 1;
}

static void end(void)
{
    depth--;
}

void pct_progress_show(void)
{
    static const struct pc_progress_listener listener = {begin, end};
    static const struct itimerval each = {{1, 0}, {1, 0}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    if (pc_progress_listener || !pct_terminal_shows_messages())
        return;
    sigaction(SIGALRM, &action, NULL);
    if (setitimer(ITIMER_REAL, &each, NULL) == 0)
        pc_progress_listener = &listener;
}
