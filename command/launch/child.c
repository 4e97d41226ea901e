/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the job of `pcollect run` as if it had been started by hand: same standard streams, same
 * process group, same status.
 *
 * Signals from the terminal reach the job by themselves, being of our process group; to pass them
 * on would make two of one, which launchers take for impatience. Only what another process sends
 * to us alone is passed on.
 */
#include "command/launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static volatile sig_atomic_t job_pid;

static void forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code <= 0 && job_pid > 0)
        kill((pid_t)job_pid, number);
    errno = saved;
}

/* What was ignored stays so: nohup means the job, too. */
static void install_handlers(struct sigaction old[])
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < PC_ARRAY_LEN(forwarded); i++) {
        sigaction(forwarded[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN)
            sigaction(forwarded[i], &action, NULL);
    }
}

/* The job begins with the signals as this command found them. */
static void restore_signals(const struct sigaction old[], const sigset_t *mask)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(forwarded); i++)
        sigaction(forwarded[i], &old[i], NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

/* In the child. What exec refuses goes through the pipe, which a successful exec closes. */
static void exec_job(char **words, char **variables, int report)
{
    for (; variables && *variables; variables++)
        putenv(*variables);
    execvp(words[0], words);
    int reason = errno;
    if (write(report, &reason, sizeof reason) < 0)
        _exit(125);
    _exit(reason == ENOENT ? 127 : 126);
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 125;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int pct_job_run(const struct pct_command *self, char **words, char **variables)
{
    struct sigaction old[PC_ARRAY_LEN(forwarded)];
    sigset_t all, mask;
    int ends[2], reason = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        pct_say(self, "the job cannot be started: %s", strerror(errno));
        return 126;
    }
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    install_handlers(old);
    pid_t child = fork();
    if (child == 0) {
        restore_signals(old, &mask);
        exec_job(words, variables, ends[1]);
    }
    job_pid = child;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (child < 0)
        reason = errno;
    ssize_t n;
    do
        n = read(ends[0], &reason, sizeof reason);
    while (n < 0 && errno == EINTR);
    close(ends[0]);
    int status = child < 0 ? 126 : wait_for(child);
    job_pid = 0;
    restore_signals(old, &mask);
    if (reason)
        pct_say(self, "%s cannot be started: %s", words[0], strerror(reason));
    return status;
}
