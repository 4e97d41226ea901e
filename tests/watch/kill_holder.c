/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kill_holder PID COMMAND...: starts the command, and kills it by SIGKILL while it traces a thread
 * of the process. This is checked while the command is itself stopped, so that it stays true.
 * Prints "held"; fails if the command ends before.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_traced_by(const char *pid, const char *tid, int tracer)
{
    char path[300], text[4096];
    snprintf(path, sizeof path, "/proc/%s/task/%s/status", pid, tid);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, "\nTracerPid:");
    return at && atoi(at + strlen("\nTracerPid:")) == tracer;
}

static int holds_one(const char *pid, int tracer)
{
    char path[64];
    int held = 0;
    snprintf(path, sizeof path, "/proc/%s/task", pid);
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && !held && (e = readdir(folder));)
        held = *e->d_name != '.' && is_traced_by(pid, e->d_name, tracer);
    if (folder)
        closedir(folder);
    return held;
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 3)
        return 2;
    int child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (!holds_one(argv[1], child))
            continue;
        kill(child, SIGSTOP);
        if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
            break;
        if (holds_one(argv[1], child)) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            puts("held");
            return 0;
        }
        kill(child, SIGCONT);
    }
    return 1;
}
