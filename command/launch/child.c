/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a job as if it had been started by hand: same standard streams, same process group, same
 * exit status.
 *
 * Signals to our process group reach the job by themselves, because it is in it: those from the
 * terminal, and those that a process sends to the group. If we passed them on, the job would get
 * two, after which launchers abort at once. So only signals to us alone are passed on.
 */
#include "command/launch/run_job.h"
#include "command/launch/witness.h"
#include "command/recover/recover.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static volatile sig_atomic_t job_pid, interrupted;
static struct pct_ended last_ended;

/* Signal handlers and mask at the start of this command. */
static struct {
    struct sigaction actions[PC_ARRAY_LEN(forwarded)];
    sigset_t mask;
} found;

static bool was_ignored(int number)
{
    bool ignored = false;
    for (size_t i = 0; i < PC_ARRAY_LEN(forwarded); i++)
        ignored |= forwarded[i] == number && found.actions[i].sa_handler == SIG_IGN;
    return ignored;
}

static void forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (number != SIGUSR1 && number != SIGUSR2 && !was_ignored(number))
        interrupted = 1;
    if (info->si_code <= 0 && job_pid > 0 && !pct_witness_saw(number))
        kill((pid_t)job_pid, number);
    errno = saved;
}

/* Installs handlers. The job ignores what this command was told to ignore (nohup), unless it says
 * otherwise: launchers do. So these signals are passed on as well. */
static void install_handlers(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < PC_ARRAY_LEN(forwarded); i++) {
        sigaction(forwarded[i], &action, &found.actions[i]);
    }
}

/* Restores the initial signal state for the job. */
static void restore_signals(void)
{
    for (size_t i = 0; i < PC_ARRAY_LEN(forwarded); i++)
        sigaction(forwarded[i], &found.actions[i], NULL);
    sigprocmask(SIG_SETMASK, &found.mask, NULL);
}

struct pct_ended pct_job_ended(void)
{
    return last_ended;
}

bool pct_job_interrupted(void)
{
    return interrupted;
}

void pct_job_tell_killed(const struct pct_command *self, const char *word)
{
    if (last_ended.signal && !interrupted)
        pct_say(self, "`%s` was killed by signal %d", word, last_ended.signal);
}

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static uint64_t last_started(void)
{
    char text[128];
    size_t n = pc_read_small("/proc/loadavg", text, sizeof text);
    const char *last = n ? strrchr(text, ' ') : NULL;
    return last ? strtoull(last, NULL, 10) : 0;
}

struct pct_job_cpu pct_job_cpu(void)
{
    struct rusage all;
    if (getrusage(RUSAGE_CHILDREN, &all))
        return (struct pct_job_cpu){.last_started = last_started()};
    return (struct pct_job_cpu){ns_of(all.ru_utime), ns_of(all.ru_stime), last_started()};
}

/* True if the kernel certainly leaves the program out. */
static bool is_left_out(const char *word)
{
    char *file = pct_program_file(word);
    bool is = pct_program_gets_rights(word) || (file && access(file, R_OK) != 0);
    pct_free(file);
    return is;
}

/* The kernel does not count a process before its first instruction and after its last: on a virtual
 * machine with Linux 6, 0.1 ms of each. */
uint64_t pct_job_tell_uncounted(const struct pct_command *self, const char *word,
                                struct pct_job_cpu before, uint64_t counted_ns, const char *done)
{
    enum { LEAST_NS = 50000000, PART = 20, START_NS = 500000 };
    struct pct_job_cpu now = pct_job_cpu();
    uint64_t used_ns = now.user_ns - before.user_ns + now.system_ns - before.system_ns;
    uint64_t ns = used_ns > counted_ns ? used_ns - counted_ns : 0;
    bool left_out = is_left_out(word), again = now.last_started < before.last_started;
    bool starts = again || ns < (now.last_started - before.last_started) * START_NS;
    if (ns <= used_ns / PART || (ns <= LEAST_NS && !left_out))
        return 0;
    pct_say(self,
            "%.3g s of CPU time were not %s; a reason may be that the kernel leaves out %sprograms "
            "that gain rights (setuid, file capabilities)%s",
            (double)ns / 1e9, done,
            starts && !left_out ? "the start and end of processes, or " : "",
            geteuid() ? ", and those that you may not read" : "");
    return ns;
}

int pct_job_helper(void)
{
    pid_t run = getpid(), helper = fork();
    if (helper == 0) {
        signal(SIGCHLD, SIG_DFL);
        restore_signals();
        pct_job_goes_first();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != run)
            _exit(PCT_DONE);
    }
    return (int)helper;
}

static bool is_elf(const char *file)
{
    char magic[SELFMAG];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
    if (fd >= 0)
        close(fd);
    return is;
}

/* Like execvp, which lets a shell run what the kernel does not, but not programs for other
 * processors. Returns the errno. */
static int exec_words(char **words)
{
    char *file = pct_program_file(words[0]);
    if (file)
        execv(file, words);
    if (file && errno == ENOEXEC && is_elf(file))
        return ENOEXEC;
    execvp(words[0], words);
    return errno;
}

/* Runs in the child, once its parent allows it. An error of exec goes through the pipe, which a
 * successful exec closes. */
static void exec_job(char **words, char **variables, int allowed, int report)
{
    char go;
    if (read(allowed, &go, 1) != 1)
        _exit(126);
    for (; variables && *variables; variables++)
        putenv(*variables);
    int reason = exec_words(words);
    if (write(report, &reason, sizeof reason) < 0)
        _exit(125);
    _exit(reason == ENOENT ? 127 : 126);
}

static void wake(int number)
{
    (void)number;
}

/* Calls the watcher as often as it requests, and when a child has ended, until the child of the job
 * has. SIGCHLD is unblocked only during the pause, so none is missed. */
static void watch(pid_t child, const struct pct_job_watcher *w)
{
    const struct sigaction action = {.sa_handler = wake, .sa_flags = SA_NOCLDSTOP};
    struct sigaction before;
    siginfo_t info = {.si_pid = 0};
    sigset_t ended, mask, pausing;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &mask);
    sigaction(SIGCHLD, &action, &before);
    pausing = mask;
    sigdelset(&pausing, SIGCHLD);
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && !info.si_pid) {
        uint64_t ns = w->tick(w->arg), most = 3600000000000u;
        ns = ns < most ? ns : most;
        struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
        ppoll(NULL, 0, &pause, &pausing);
    }
    sigaction(SIGCHLD, &before, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 125;
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    last_ended = (struct pct_ended){(int)child, signal, signal ? 0 : WEXITSTATUS(status)};
    return signal ? 128 + signal : last_ended.status;
}

/* Lets the child begin; returns 0, or the errno of its exec. */
static int begin(int allow, int report)
{
    int reason = 0;
    ssize_t n;
    if (write(allow, "", 1) != 1)
        return errno;
    do
        n = read(report, &reason, sizeof reason);
    while (n < 0 && errno == EINTR);
    return reason;
}

/* Returns the status of a forked child, and in *reason the errno if it did not begin. Both ends of
 * `allow` stay open until then: a child that is killed before it reads causes no SIGPIPE. */
static int follow(pid_t child, const int allow[2], int report, const struct pct_job_watcher *w,
                  int *reason)
{
    bool refused = w && !w->ready(w->arg, (int)child);
    if (!refused)
        *reason = begin(allow[1], report);
    close(allow[0]);
    close(allow[1]);
    if (w && !refused && !*reason) {
        w->running(w->arg);
        watch(child, w);
    }
    return wait_for(child);
}

/* The limit that is a reason for an errno, and its cure, to be put behind it; "": none. */
static const char *limit_of(int reason)
{
    return reason == EMFILE   ? "; raise the limit of open files (ulimit -n)"
           : reason == EAGAIN ? "; raise the limit of processes (ulimit -u), or end some"
                              : "";
}

/* Says that the job cannot be started. The number of a process in the place of the command is
 * probably meant for --pid. */
static void say_not_started(const struct pct_command *self, const char *word, int reason)
{
    struct pc_process_status p;
    char *end;
    long pid = strtol(word, &end, 10);
    bool other = (!strcmp(self->name, "stat") || !strcmp(self->name, "record")) &&
                 reason == ENOENT && !*end && pid > 0 && pid <= INT_MAX &&
                 pc_process_look((int)pid, &p) && !p.ended;
    struct stat st;
    bool path = strchr(word, '/') != NULL;
    bool file = path && stat(word, &st) == 0 && S_ISREG(st.st_mode);
    if (other)
        pct_say(self, "%s cannot be started: %s; did you mean -p %s?", word, strerror(reason),
                word);
    else if (reason == ENOENT && !path)
        pct_say(self, "%s cannot be started: it is not found on PATH%s%s", word,
                access(word, F_OK) ? "" : "; for the file here, give ./",
                access(word, F_OK) ? "" : word);
    else if (reason == EACCES && file && !(st.st_mode & 0111))
        pct_say(self, "%s cannot be started: %s; chmod +x makes it executable", word,
                strerror(reason));
    else
        pct_say(self, "%s cannot be started: %s%s", word, strerror(reason),
                reason == ENOEXEC          ? ": it is damaged, or for another processor"
                : reason == ENOENT && file ? ": what its first line or its loader names is missing"
                                           : limit_of(reason));
}

int pct_job_run(const struct pct_command *self, char **words, char **variables,
                const struct pct_job_watcher *watcher)
{
    sigset_t all;
    int report[2], allow[2], reason = 0, status = 126;
    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(allow, O_CLOEXEC) != 0) {
        pct_say(self, "the job cannot be started: %s%s", strerror(errno), limit_of(errno));
        return 126;
    }
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &found.mask);
    install_handlers();
    pct_witness_start();
    pid_t child = fork();
    if (child == 0) {
        restore_signals();
        pct_open_files_restore();
        close(allow[1]);
        exec_job(words, variables, allow[0], report[1]);
    }
    reason = child < 0 ? errno : 0;
    job_pid = child;
    sigprocmask(SIG_SETMASK, &found.mask, NULL);
    close(report[1]);
    if (child > 0)
        status = follow(child, allow, report[0], watcher, &reason);
    close(report[0]);
    job_pid = 0;
    pct_witness_end();
    restore_signals();
    if (reason)
        say_not_started(self, words[0], reason);
    return status;
}
