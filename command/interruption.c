/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interrupts of commands that watch processes until these end or the user interrupts: an interrupt
 * ends the wait, not the command, which then prints its results.
 */
#include "command/command.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void pct_interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = interrupt}, before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN) /* as by nohup */
        sigaction(SIGHUP, &action, NULL);
}

bool pct_interrupted(void)
{
    return interrupted;
}
