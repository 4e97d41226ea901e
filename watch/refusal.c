/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/refusal.h"
#include "analysis/allocation.h"
#include "watch/watch.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* A number in the status of this process; 0: it has none. */
static uint64_t own_status(const char *name, int base)
{
    size_t n;
    char *text = pct_watch_file(getpid(), "status", &n);
    const char *at = text ? strstr(text, name) : NULL;
    uint64_t number = at ? strtoull(at + strlen(name), NULL, base) : 0;
    pct_free(text);
    return number;
}

/* True for a process of this user. One that may not be read by its user belongs to root here. */
static bool is_own(int pid)
{
    char path[64];
    struct stat st;
    pc_format(path, sizeof path, "/proc/%d", pid);
    return !stat(path, &st) && st.st_uid == geteuid();
}

static const char *cure_of_scope(char scope)
{
    return scope == '3' ? "nobody reads processes until the next boot"
                        : "CAP_SYS_PTRACE is needed, or the administrator's `sysctl "
                          "kernel.yama.ptrace_scope=0`";
}

static int explain_refusal(int pid, struct pc_error *error)
{
    char scope[8] = "0";
    bool able = own_status("\nCapEff:", 16) >> CAP_SYS_PTRACE & 1, own = is_own(pid);
    pc_read_small("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    if (*scope == '3' || (*scope > '0' && own && !able))
        return pc_error_set(error, PC_EIO,
                            "%d: the kernel does not let you read it: kernel.yama.ptrace_scope is "
                            "%c; %s",
                            pid, *scope, cure_of_scope(*scope));
    if ((own || able) && own_status("\nSeccomp:", 10))
        return pc_error_set(error, PC_EIO,
                            "%d: the kernel does not let you read it: a filter of system calls "
                            "(seccomp) may forbid ptrace and process_vm_readv; start the container "
                            "with a filter that allows them",
                            pid);
    return pc_error_set(error, PC_EIO, "%d: the kernel does not let you read it: %s", pid,
                        able ? "you have CAP_SYS_PTRACE, but a debugger may watch it, it may be "
                               "outside of your user namespace, or a security module protects it"
                             : "it belongs to another user or runs with more rights, for which "
                               "CAP_SYS_PTRACE is needed, or a debugger watches it");
}

/* True if it runs and has no program. */
static bool is_kernel_thread(int pid)
{
    struct pc_process_status p;
    char path[64], program[8];
    pc_format(path, sizeof path, "/proc/%d/exe", pid);
    return readlink(path, program, sizeof program) < 0 && errno == ENOENT &&
           pc_process_look(pid, &p) && !p.ended;
}

int pct_refusal_foreign(struct pc_error *error)
{
    char self[16] = "";
    if (readlink("/proc/self", self, sizeof self - 1) > 0 && strtol(self, NULL, 10) == getpid())
        return PC_OK;
    return pc_error_set(error, PC_EIO,
                        "/proc is of another pid namespace: mount it (unshare --mount-proc)");
}

int pct_refusal_explain(int pid, int error_number, struct pc_error *error)
{
    if ((error_number == ENOENT || error_number == ESRCH) && is_kernel_thread(pid))
        return pc_error_set(error, PC_EIO, "%d: a kernel thread has no stack of a program", pid);
    if (error_number == ENOENT || error_number == ESRCH)
        return pc_error_set(error, PC_ENOENT, "%d: the process has ended", pid);
    if (error_number == EPERM || error_number == EACCES)
        return explain_refusal(pid, error);
    return pc_error_set(error, PC_EIO, "%d: its stacks cannot be read: %s", pid,
                        error_number ? strerror(error_number) : "no frames were found");
}

int pct_refusal_filtered(int pid, bool stops, struct pc_error *error)
{
    /* Without a filter no byte is copied, and a process that is not traced is not found. */
    bool filtered = process_vm_readv(pid, NULL, 0, NULL, 0, 0) ||
                    (stops && ptrace(PTRACE_GETREGSET, pid, NULL, NULL) && errno != ESRCH);
    return filtered ? pct_refusal_explain(pid, EPERM, error) : PC_OK;
}
