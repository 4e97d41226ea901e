/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds where the program made system calls, by its samples. A sample that is due in a system call
 * is taken when the call returns, in the function of the C library that made it; the program's
 * place is the call by which that library was entered. Functions that mostly compute, or enter the
 * kernel only sometimes, are ignored, and so are threads of the MPI library. Finds where threads
 * poll for locks, too. For the rules system-time, blocked, threads and thread-waits.
 */
#include "analysis/findings/findings.h"
#include "analysis/thread_times.h"
#include "analysis/tree/samples.h"

#include <math.h>
#include <string.h>

/* Purposes of system calls, and those in which a thread may be blocked. */
enum kind { OTHER, DATA, FILE_NAME, CHANGE, MEMORY, QUESTION, WAIT, CLOCK, N_KINDS };
static const struct {
    const char *advice;
    bool blocks;
} kinds[N_KINDS] = {
    [OTHER] = {" Read and write larger blocks; look for sleeps, locks and calls that read a clock "
               "in inner loops.",
               true},
    [DATA] = {" Read and write larger blocks.", true},
    [FILE_NAME] = {" Keep files open, and ask less often for their state.", true},
    [CHANGE] = {" Make, rename and remove fewer files and folders.", true},
    [MEMORY] = {" Keep memory instead of freeing and allocating it again.", false},
    [QUESTION] = {" Take it out of inner loops.", false},
    [WAIT] = {" Wait less often and longer.", true},
    [CLOCK] = {" Read the clock less often, or one that needs no system call.", false},
};

/* Names of system calls, without leading underscores and the prefixes and suffixes below. Clocks
 * are read by a system call on some machines, and some clocks on all. */
static const struct call {
    const char *name;
    enum kind kind;
} calls[] = {
    {"access", FILE_NAME},
    {"brk", MEMORY},
    {"clock_getres", CLOCK},
    {"clock_gettime", CLOCK},
    {"clock_nanosleep", WAIT},
    {"clone", OTHER},
    {"close", FILE_NAME},
    {"epoll_pwait", WAIT},
    {"epoll_wait", WAIT},
    {"execve", OTHER},
    {"fallocate", DATA},
    {"fcntl", OTHER},
    {"fdatasync", DATA},
    {"fstat", FILE_NAME},
    {"fstatat", FILE_NAME},
    {"fsync", DATA},
    {"ftruncate", DATA},
    {"futex_abstimed_wait_common", WAIT},
    {"getdents", FILE_NAME},
    {"getpid", QUESTION},
    {"getppid", QUESTION},
    {"getrusage", QUESTION},
    {"gettid", QUESTION},
    {"gettimeofday", CLOCK},
    {"ioctl", OTHER},
    {"kill", OTHER},
    {"lll_lock_wait", WAIT},
    {"lll_lock_wake", WAIT},
    {"lseek", FILE_NAME},
    {"lstat", FILE_NAME},
    {"madvise", MEMORY},
    {"mkdir", CHANGE},
    {"mmap", MEMORY},
    {"mprotect", MEMORY},
    {"mremap", MEMORY},
    {"munmap", MEMORY},
    {"nanosleep", WAIT},
    {"open", FILE_NAME},
    {"openat", FILE_NAME},
    {"pipe", OTHER},
    {"poll", WAIT},
    {"ppoll", WAIT},
    {"pread", DATA},
    {"preadv", DATA},
    {"pselect", WAIT},
    {"pwrite", DATA},
    {"pwritev", DATA},
    {"read", DATA},
    {"readv", DATA},
    {"recv", DATA},
    {"recvfrom", DATA},
    {"recvmsg", DATA},
    {"rename", CHANGE},
    {"sbrk", MEMORY},
    {"sched_yield", WAIT},
    {"select", WAIT},
    {"send", DATA},
    {"sendmsg", DATA},
    {"sendto", DATA},
    {"stat", FILE_NAME},
    {"statx", FILE_NAME},
    {"syscall", OTHER},
    {"times", QUESTION},
    {"truncate", DATA},
    {"unlink", CHANGE},
    {"usleep", WAIT},
    {"wait4", WAIT},
    {"waitpid", WAIT},
    {"write", DATA},
    {"writev", DATA},
};

/* A caller in the program, or in a library that is not the C library. */
struct caller {
    const struct call *call; /* NULL: of a function that polls for a lock */
    const char *name;        /* of the function that is called */
    struct pct_frame frame;
    double ns, samples;
};

/* Callers, and the samples of all calls that are looked at. */
enum { MAX_CALLERS = 256 };
struct callers {
    struct caller list[MAX_CALLERS], most; /* most.ns 0: none */
    size_t n;
    double ns, samples, squares;
};

static const struct call *find_call(const char *function)
{
    static const char *const suffixes[] = {"", "64", "_nocancel", "64_nocancel", "_time64"};
    const char *name = function + strspn(function, "_");
    if (!strncmp(name, "GI_", 3))
        name += 3 + strspn(name + 3, "_");
    if (!strncmp(name, "libc_", 5) || !strncmp(name, "vdso_", 5))
        name += 5;
    for (size_t i = 0; i < PC_ARRAY_LEN(calls); i++) {
        size_t n = strlen(calls[i].name);
        for (size_t k = 0; k < PC_ARRAY_LEN(suffixes) && !strncmp(name, calls[i].name, n); k++)
            if (!strcmp(name + n, suffixes[k]))
                return &calls[i];
    }
    return NULL;
}

const char *pct_finding_system_call(const char *function)
{
    const struct call *call = find_call(function);
    return call && call->kind != CLOCK ? call->name : NULL;
}

static const struct pct_frame *frame_at(const struct pct_evidence *f,
                                        const struct pc_profile_node *n)
{
    uint64_t offset = n->offset + (n->kind == PCOLLECT_NODE_POINT);
    struct pct_place place = pct_symbols_find(f->data->symbols, n->module, offset);
    return &place.frames[place.n_frames - 1];
}

/* True if the sample is not of a thread that the MPI library made for itself. */
static bool is_of_program_thread(const struct pc_profile *p, const struct pc_profile_node *point)
{
    const uint32_t systems =
        PCOLLECT_MODULE_LIBC | PCOLLECT_MODULE_MPI | PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_OWN;
    for (uint32_t i = point->parent; i != PC_NO_INDEX; i = p->nodes[i].parent) {
        const struct pc_profile_node *n = &p->nodes[i];
        bool known = n->kind == PCOLLECT_NODE_FRAME && n->module != PC_NO_INDEX;
        if (known && !(p->modules[n->module].flags & systems))
            return true;
    }
    return false;
}

/* The innermost frame that tail calls removed between a node and the call above it; NULL: none. */
static const struct pct_frame *find_removed(const struct pct_evidence *f, uint32_t node)
{
    struct pct_place place = pct_symbols_node(f->data->symbols, node);
    uint32_t n = 0;
    while (n < place.n_frames && place.frames[n].tail_call)
        n++;
    return n ? &place.frames[n - 1] : NULL;
}

/* The innermost frame outside of the C library and the point's own module; NULL: none is known. */
static const struct pct_frame *find_caller(const struct pct_evidence *f, uint32_t point)
{
    const struct pc_profile *p = f->data->profile;
    uint32_t inside = point, module = p->nodes[point].module;
    for (uint32_t i = p->nodes[point].parent; i != PC_NO_INDEX; i = p->nodes[i].parent) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->kind != PCOLLECT_NODE_FRAME)
            continue;
        if (n->module == PC_NO_INDEX)
            return NULL;
        if (n->module != module && !(p->modules[n->module].flags & PCOLLECT_MODULE_LIBC)) {
            const struct pct_frame *removed = find_removed(f, inside);
            const struct pct_frame *frame = removed ? removed : frame_at(f, n);
            return frame->function ? frame : NULL;
        }
        inside = i;
    }
    return NULL;
}

static bool is_same(const struct caller *c, const char *name, const struct pct_frame *frame)
{
    const char *file = c->frame.file ? c->frame.file : "", *other = frame->file ? frame->file : "";
    return !strcmp(c->name, name) && !strcmp(c->frame.function, frame->function) &&
           !strcmp(file, other);
}

/* Adds samples; caller NULL: it is not known. */
static void add_samples(struct callers *c, const struct call *call, const char *name,
                        const struct pct_frame *caller, struct pct_sampled at)
{
    size_t k = 0;
    c->ns += (double)at.ns;
    c->samples += (double)at.samples;
    c->squares += at.squares;
    while (caller && k < c->n && !is_same(&c->list[k], name, caller))
        k++;
    if (!caller || k == MAX_CALLERS)
        return;
    if (k == c->n)
        c->list[c->n++] = (struct caller){call, name, *caller, 0, 0};
    c->list[k].ns += (double)at.ns;
    c->list[k].samples += (double)at.samples;
    if (c->list[k].ns > c->most.ns)
        c->most = c->list[k];
}

/* Calls to look for. */
enum which { SYSTEM_CALLS, BLOCKING, CLOCKS };

static bool is_looked_for(enum kind kind, enum which which)
{
    return which == CLOCKS ? kind == CLOCK
                           : kind != CLOCK && (which == SYSTEM_CALLS || kinds[kind].blocks);
}

/* Callers of calls. Freed by the caller. */
static struct callers *find_callers(const struct pct_evidence *f, enum which which)
{
    const struct pc_profile *p = f->data->profile;
    struct callers *c = pct_alloc(1, sizeof *c);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        if (node->kind != PCOLLECT_NODE_POINT || node->data == PC_NO_INDEX ||
            !is_of_program_thread(p, node))
            continue;
        const struct pct_frame *frame = frame_at(f, node);
        const struct call *call = frame->function ? find_call(frame->function) : NULL;
        if (call && is_looked_for(call->kind, which))
            add_samples(c, call, call->name, find_caller(f, i),
                        pct_samples_of(pct_data_samples(f->data), i));
    }
    return c;
}

static const char *keep(const struct pct_evidence *f, struct pct_buf *b)
{
    const char *text = pct_pool_intern(f->pool, b->data);
    pct_buf_free(b);
    return text;
}

static void put_most(struct pct_buf *b, const char *what, const struct caller *most)
{
    pct_buf_format(b, " in %s%s, called by ", what, most->name);
    pct_finding_put_function(b, most->frame.function, most->frame.file, most->frame.line);
    pct_buf_text(b, ".");
}

/* CPU time of all threads in the runtime of threads, where they wait for each other. */
static double runtime_ns(const struct pct_evidence *f)
{
    const struct pct_thread_times *t = pct_data_thread_times(f->data);
    double ns = 0;
    for (size_t i = 0; i < t->n; i++)
        ns += pct_thread_is_program(&t->list[i]) ? (double)t->list[i].waits_ns : 0;
    return ns;
}

/* Names the place that reads clocks, if half of the system time is surely there: the computation
 * elsewhere is less than the other half. */
static bool put_clock(struct pct_buf *b, const struct pct_evidence *f, double ns)
{
    const struct pct_samples *samples = pct_data_samples(f->data);
    struct callers *clocks = find_callers(f, CLOCKS);
    const struct caller *most = &clocks->most;
    double all_ns = (double)samples->all.ns - (double)samples->mpi.ns;
    bool is_sure = most->samples >= PCT_SAMPLES_FEW && all_ns - clocks->ns < ns / 2;
    if (is_sure) {
        pct_buf_format(b, " Of the samples of computation %.0f %% are", 100 * most->ns / all_ns);
        put_most(b, "", most);
        pct_buf_text(b, kinds[CLOCK].advice);
    }
    pct_free(clocks);
    return is_sure;
}

const char *pct_finding_system_calls(const struct pct_evidence *f, double ns)
{
    char time[PCT_NUMBER_BYTES];
    struct pct_buf b = {0};
    if (!pct_data_samples(f->data)->all.samples) {
        pct_buf_format(&b, " To see in which function: pcollect run --sample 200.%s",
                       kinds[OTHER].advice);
        return keep(f, &b);
    }
    struct callers *all = find_callers(f, SYSTEM_CALLS);
    const struct caller *most = &all->most;
    double waits_ns = runtime_ns(f);
    if (all->ns >= ns / 2 && most->samples >= PCT_SAMPLES_FEW) {
        pct_buf_format(&b, " Of the samples there %.0f %% are", 100 * most->ns / all->ns);
        put_most(&b, "the system call ", most);
        pct_buf_text(&b, kinds[most->call->kind].advice);
    } else if (waits_ns >= ns / 2) {
        pct_buf_format(&b,
                       " Part of it may be threads that wait for each other: they take %s of CPU "
                       "time in the runtime of threads (pcollect report --by thread).",
                       pct_text_time(time, (pc_u128)llround(waits_ns)));
    } else if (!put_clock(&b, f, ns)) {
        pct_buf_text(&b, kinds[OTHER].advice);
    }
    pct_free(all);
    return keep(f, &b);
}

const char *pct_finding_blocking_calls(const struct pct_evidence *f)
{
    struct pct_buf b = {0};
    if (!pct_data_samples(f->data)->all.samples)
        return " To see in which function: pcollect run --sample 200.";
    struct callers *all = find_callers(f, BLOCKING);
    const struct caller *most = &all->most;
    pct_buf_put(&b, "", 0);
    if (most->ns > 0) {
        if (all->samples == 1)
            pct_buf_text(&b, " The only sample of CPU time in functions that may block is");
        else
            pct_buf_format(&b, " Of %.0f samples of CPU time in functions that may block %.0f %s",
                           all->samples, most->samples, most->samples == 1 ? "is" : "are");
        put_most(&b, "", most);
        pct_buf_text(&b, " Calls that only wait have few samples.");
    }
    pct_free(all);
    return keep(f, &b);
}

/* ---- Polling for locks ----------------------------------------------------------------------- */

/* True for a function that polls for a lock until it has it, by its name. */
static bool is_spin_lock(const char *function)
{
    static const char *const parts[] = {"spin_lock", "spinlock", "spinLock", "SpinLock"};
    if (!function || strstr(function, "unlock") || strstr(function, "Unlock"))
        return false;
    for (size_t i = 0; i < PC_ARRAY_LEN(parts); i++)
        if (strstr(function, parts[i]))
            return true;
    return false;
}

/* Such a function at a sample, inlined or not, and its caller. */
struct spin {
    const char *lock; /* NULL: there is none */
    const struct pct_frame *caller;
};

static struct spin find_spin(const struct pct_evidence *f, uint32_t point)
{
    const struct pc_profile *p = f->data->profile;
    struct spin spin = {NULL, NULL};
    for (uint32_t i = point; i != PC_NO_INDEX && (i == point || spin.lock);
         i = p->nodes[i].parent) {
        struct pct_place place = pct_symbols_node(f->data->symbols, i);
        for (uint32_t k = place.n_frames; k-- > 0 && !spin.caller;) {
            const struct pct_frame *frame = &place.frames[k];
            if (is_spin_lock(frame->function))
                spin.lock = frame->function;
            else if (spin.lock && frame->function)
                spin.caller = frame;
        }
        if (spin.caller)
            break;
    }
    return spin;
}

/* The name without the version of its symbol. */
static const char *plain_name(const struct pct_evidence *f, const char *name)
{
    struct pct_buf b = {0};
    pct_buf_put(&b, name, strcspn(name, "@"));
    return keep(f, &b);
}

struct pct_spinning pct_finding_spinning(const struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    struct callers *all = pct_alloc(1, sizeof *all);
    struct pct_buf b = {0};
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        if (node->kind != PCOLLECT_NODE_POINT || node->data == PC_NO_INDEX ||
            pct_totals_outer(f->data->totals, i) != PC_NO_INDEX || !is_of_program_thread(p, node))
            continue;
        struct spin spin = find_spin(f, i);
        if (spin.lock)
            add_samples(all, NULL, plain_name(f, spin.lock), spin.caller,
                        pct_samples_of(pct_data_samples(f->data), i));
    }
    struct pct_spinning out = {.ns = all->ns, .samples = all->samples};
    out.variance = PCT_SAMPLES_REGULAR * all->squares;
    if (all->most.ns > 0) {
        pct_finding_put_function(&b, all->most.name, NULL, 0);
        pct_buf_text(&b, " called by ");
        pct_finding_put_function(&b, all->most.frame.function, all->most.frame.file,
                                 all->most.frame.line);
        out.place = keep(f, &b);
    }
    pct_free(all);
    return out;
}
