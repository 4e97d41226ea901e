/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds where the program made system calls, by its samples. A sample that is due in a system call
 * is taken when the call returns, in the function of the C library that made it; the program's
 * place is the call by which that library was entered. Functions that mostly compute, or enter the
 * kernel only sometimes, are ignored, and so are threads of the MPI library. For the rule
 * system-time.
 */
#include "analysis/findings/findings.h"
#include "analysis/tree/samples.h"

#include <string.h>

/* Names of system calls, without leading underscores and without the suffixes below. */
static const char *const calls[] = {
    "access",
    "brk",
    "clock_nanosleep",
    "clone",
    "close",
    "epoll_pwait",
    "epoll_wait",
    "execve",
    "fallocate",
    "fcntl",
    "fdatasync",
    "fstat",
    "fstatat",
    "fsync",
    "ftruncate",
    "futex_abstimed_wait_common",
    "getdents",
    "getpid",
    "getppid",
    "getrusage",
    "gettid",
    "ioctl",
    "kill",
    "lll_lock_wait",
    "lll_lock_wake",
    "lseek",
    "lstat",
    "madvise",
    "mkdir",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "nanosleep",
    "open",
    "openat",
    "pipe",
    "poll",
    "ppoll",
    "pread",
    "preadv",
    "pselect",
    "pwrite",
    "pwritev",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "rename",
    "sbrk",
    "sched_yield",
    "select",
    "send",
    "sendmsg",
    "sendto",
    "stat",
    "statx",
    "syscall",
    "times",
    "truncate",
    "unlink",
    "usleep",
    "wait4",
    "waitpid",
    "write",
    "writev",
};

/* A caller in the program, or in a library that is not the C library. */
struct caller {
    const char *call; /* as above */
    struct pct_frame frame;
    double ns;
};

const char *pct_finding_system_call(const char *function)
{
    static const char *const suffixes[] = {"", "64", "_nocancel", "64_nocancel", "_time64"};
    const char *name = function + strspn(function, "_");
    if (!strncmp(name, "GI_", 3))
        name += 3 + strspn(name + 3, "_");
    if (!strncmp(name, "libc_", 5))
        name += 5;
    for (size_t i = 0; i < PC_ARRAY_LEN(calls); i++) {
        size_t n = strlen(calls[i]);
        for (size_t k = 0; k < PC_ARRAY_LEN(suffixes) && !strncmp(name, calls[i], n); k++)
            if (!strcmp(name + n, suffixes[k]))
                return calls[i];
    }
    return NULL;
}

static const struct pct_frame *frame_at(const struct pct_evidence *f,
                                        const struct pc_profile_node *n)
{
    uint64_t offset = n->offset + (n->kind == PCOLLECT_NODE_POINT);
    struct pct_place place = pct_symbols_find(f->data->symbols, n->module, offset);
    return &place.frames[place.n_frames - 1];
}

/* True if the sample is not of a thread that the MPI library made for itself. */
static bool is_of_program(const struct pc_profile *p, const struct pc_profile_node *point)
{
    const uint32_t systems =
        PCOLLECT_MODULE_LIBC | PCOLLECT_MODULE_MPI | PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_OWN;
    for (uint32_t i = point->parent; i != PC_NO_INDEX; i = p->nodes[i].parent) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->kind == PCOLLECT_NODE_FRAME && !(p->modules[n->module].flags & systems))
            return true;
    }
    return false;
}

/* The innermost frame outside of the point's own module; NULL: none is known. */
static const struct pct_frame *find_caller(const struct pct_evidence *f,
                                           const struct pc_profile_node *point)
{
    const struct pc_profile *p = f->data->profile;
    for (uint32_t i = point->parent; i != PC_NO_INDEX; i = p->nodes[i].parent) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->kind != PCOLLECT_NODE_FRAME || n->module == point->module)
            continue;
        const struct pct_frame *frame = frame_at(f, n);
        return frame->function ? frame : NULL;
    }
    return NULL;
}

static bool is_same(const struct caller *c, const char *call, const struct pct_frame *frame)
{
    const char *file = c->frame.file ? c->frame.file : "", *other = frame->file ? frame->file : "";
    return c->call == call && !strcmp(c->frame.function, frame->function) && !strcmp(file, other);
}

/* The caller and call with most sampled time; *all_ns: the time of all calls; ns 0: none. */
static struct caller find_most(const struct pct_evidence *f, double *all_ns)
{
    enum { ROOM = 256 };
    const struct pc_profile *p = f->data->profile;
    struct caller *list = pct_alloc(ROOM, sizeof *list), most = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        if (node->kind != PCOLLECT_NODE_POINT || node->data == PC_NO_INDEX ||
            !is_of_program(p, node))
            continue;
        const struct pct_frame *frame = frame_at(f, node);
        const char *call = frame->function ? pct_finding_system_call(frame->function) : NULL;
        const struct pct_frame *caller = call ? find_caller(f, node) : NULL;
        double ns = (double)pct_samples_of(pct_data_samples(f->data), i).ns;
        *all_ns += call ? ns : 0;
        size_t k = 0;
        while (caller && k < n && !is_same(&list[k], call, caller))
            k++;
        if (!caller || k == ROOM)
            continue;
        if (k == n)
            list[n++] = (struct caller){call, *caller, 0};
        list[k].ns += ns;
        if (list[k].ns > most.ns)
            most = list[k];
    }
    pct_free(list);
    return most;
}

const char *pct_finding_system_calls(const struct pct_evidence *f)
{
    double all_ns = 0;
    if (!pct_data_samples(f->data)->all.samples)
        return " To see in which function: pcollect run --sample 200.";
    struct caller most = find_most(f, &all_ns);
    if (!(most.ns > 0))
        return "";
    struct pct_buf b = {0};
    pct_buf_format(&b, " Of the samples there %.0f %% are in the system call %s, called by ",
                   100 * most.ns / all_ns, most.call);
    pct_finding_put_function(&b, most.frame.function, most.frame.file, most.frame.line);
    pct_buf_text(&b, ".");
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}
