/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stack as a profile of one rank with one context, as the library would have collected it: from
 * main, or the function of a thread, to an MPI function, or to where the thread computes. What is
 * inside of an MPI function is left out, and so are the frames of libpcollect and those by which
 * libc starts a program or a thread.
 */
#include "watch/stack_profile.h"
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "format/build.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any job has: stacks are numbered through. */
enum { WORLD = 1 << 30 };

enum { SAMPLES, TIME, N_FIELDS };

/* ---- What is shown --------------------------------------------------------------------------- */

/* Whether the frame is of the program, or of a library that came with it: neither the system's nor
 * MPI's. */
static bool is_program(const struct pct_watch *w, const struct pct_stack_frame *f)
{
    if (!f->path || !pct_symbols_is_program(&(struct pc_profile_module){.path = (char *)f->path}))
        return false;
    size_t n = (size_t)(pct_symbols_base_name(f->path) - f->path);
    return !(w->mpi_folder && strlen(w->mpi_folder) == n && !memcmp(w->mpi_folder, f->path, n) &&
             !strncmp(f->path + n, "lib", 3));
}

/* Whether the frame is of a function that MPI's standard names so: in C, in its profiling
 * interface, or in Fortran as compilers write it, outside of the program. Its name in C is in
 * `name`, of n bytes. */
static bool is_mpi(const struct pct_watch *w, const struct pct_stack_frame *f, char *name, size_t n)
{
    const char *function = f->function ? f->function : "";
    function += *function == 'P' || *function == 'p';
    size_t length = strlen(function);
    if (length < 5 || length >= n || strncasecmp(function, "MPI_", 4) != 0)
        return false;
    bool fortran = *function == 'm';
    if (fortran ? function[length - 1] != '_' || is_program(w, f)
                : !isupper((unsigned char)function[4]))
        return false;
    snprintf(name, n, "MPI_%c%s", toupper((unsigned char)function[4]), function + 5);
    while (fortran && name[length - 1] == '_')
        name[--length] = '\0';
    return true;
}

static bool is_own(const struct pct_stack_frame *f)
{
    const char *base = f->path ? pct_symbols_base_name(f->path) : "";
    return !strncmp(base, "libpcollect.so", 14) || !strncmp(base, "pcollect-", 9) ||
           !strncmp(base, "adapter-", 8);
}

/* By which libc or the loader starts the program or a thread, if all frames outside of it do. */
static bool is_start(const struct pct_stack_frame *f)
{
    static const char *const libc[] = {"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl"};
    const char *base = f->path ? pct_symbols_base_name(f->path) : "";
    for (size_t i = 0; i < PC_ARRAY_LEN(libc); i++)
        if (!strncmp(base, libc[i], strlen(libc[i])))
            return true;
    return false;
}

/* frames[from..to) are shown, the innermost first; op is the MPI function below them, or "". */
struct shown {
    size_t from, to;
    char op[64];
};

static struct shown choose(const struct pct_watch *w, const struct pct_stack *s)
{
    struct shown shown = {.from = 0, .to = s->n};
    /* The program's entry, which libc's start was called from. */
    if (!s->cut && s->n > 2 && is_program(w, &s->frames[s->n - 1]) &&
        is_start(&s->frames[s->n - 2]))
        shown.to--;
    while (!s->cut && shown.to > 1 && is_start(&s->frames[shown.to - 1]))
        shown.to--;
    for (size_t i = shown.to; i-- > 0;) {
        if (!is_mpi(w, &s->frames[i], shown.op, sizeof shown.op))
            continue;
        shown.from = i + 1;
        /* What a binding calls is the same call: its name in C is the one to show. */
        while (i-- > 0 && is_mpi(w, &s->frames[i], shown.op, sizeof shown.op))
            ;
        break;
    }
    return shown;
}

/* ---- The profile ----------------------------------------------------------------------------- */

static int compare_modules(const void *a, const void *b)
{
    return pc_module_compare(a, b);
}

static struct pc_profile_module module_of(struct pc_profile *p, const struct pct_stack_frame *f)
{
    struct pc_profile_module m = {.build_id_bytes = f->n_build_id};
    memcpy(m.build_id, f->build_id, f->n_build_id);
    m.path = pc_pool_text(p->memory, f->path, strlen(f->path));
    return m;
}

/* Sorted and each once. */
static void add_modules(struct pc_profile *p, const struct pct_stack *s, const struct shown *shown)
{
    uint32_t n = 0, kept = 0;
    p->modules = pc_pool_array(p->memory, shown->to - shown->from, sizeof *p->modules);
    for (size_t i = shown->from; p->modules && i < shown->to; i++)
        if (s->frames[i].path && !is_own(&s->frames[i]))
            p->modules[n++] = module_of(p, &s->frames[i]);
    if (n)
        qsort(p->modules, n, sizeof *p->modules, compare_modules);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || pc_module_compare(&p->modules[i], &p->modules[kept - 1]))
            p->modules[kept++] = p->modules[i];
    p->n_modules = kept;
}

static void add_node(struct pc_profile *p, uint16_t kind)
{
    uint32_t node = p->n_nodes++;
    p->nodes[node] = (struct pc_profile_node){.parent = node ? node - 1 : PC_NO_INDEX,
                                              .kind = kind,
                                              .module = PC_NO_INDEX,
                                              .op = PC_NO_INDEX,
                                              .data = PC_NO_INDEX};
}

static void add_frame(struct pc_profile *p, const struct pct_stack_frame *f, uint16_t kind)
{
    add_node(p, kind);
    struct pc_profile_node *node = &p->nodes[p->n_nodes - 1];
    node->offset = f->offset;
    if (!f->path)
        return;
    struct pc_profile_module wanted = module_of(p, f);
    const struct pc_profile_module *found =
        bsearch(&wanted, p->modules, p->n_modules, sizeof *p->modules, compare_modules);
    node->module = found ? (uint32_t)(found - p->modules) : PC_NO_INDEX;
}

/* The root, where outer frames are missing the cut, the frames, and an MPI function or the place of
 * a computation. */
static void add_nodes(struct pc_profile *p, const struct pct_stack *s, const struct shown *shown)
{
    bool op = *shown->op != '\0';
    add_node(p, PCOLLECT_NODE_ROOT);
    if (s->cut)
        add_node(p, PCOLLECT_NODE_CUT);
    for (size_t i = shown->to; i-- > shown->from;)
        if (!is_own(&s->frames[i]))
            add_frame(p, &s->frames[i],
                      i > shown->from || op ? PCOLLECT_NODE_FRAME : PCOLLECT_NODE_POINT);
    if (op) {
        add_node(p, PCOLLECT_NODE_OP);
        p->nodes[p->n_nodes - 1].op = 0;
        p->ops[0].name = pc_pool_text(p->memory, shown->op, strlen(shown->op));
        p->n_ops = 1;
    }
}

static bool add_record(struct pc_profile *p, int32_t number)
{
    struct pc_profile_node *last = &p->nodes[p->n_nodes - 1];
    if (!pc_profile_data_init(p, &p->data[0], last->kind, 1))
        return false;
    p->data[0].first_rank = p->data[0].ranks[0] = number;
    for (uint32_t k = p->data[0].first_field; k < p->n_fields; k++)
        p->data[0].values[k - p->data[0].first_field] = 1;
    pc_profile_data_derive(p, &p->data[0]);
    last->data = 0;
    p->n_data = 1;
    return true;
}

static void add_fields(struct pc_profile *p)
{
    static const struct pc_profile_field fields[N_FIELDS] = {
        [SAMPLES] = {(char *)"clock", (char *)"samples", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
                     PCOLLECT_GROUP_COMPUTE},
        [TIME] = {(char *)"clock", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0,
                  PCOLLECT_GROUP_COMPUTE},
    };
    memcpy(p->fields, fields, sizeof fields);
    p->n_fields = N_FIELDS;
    pc_profile_count_groups(p);
}

/* NULL: no memory. */
static struct pc_profile *make_profile(const struct pct_stack *s, const struct shown *shown,
                                       int pid, int32_t number)
{
    struct pc_profile *p = pc_profile_new();
    if (!p)
        return NULL;
    p->job_key = 1;
    p->world_size = WORLD;
    p->ranks = pc_pool_array(p->memory, 1, sizeof *p->ranks);
    p->ops = pc_pool_array(p->memory, 1, sizeof *p->ops);
    p->fields = pc_pool_array(p->memory, N_FIELDS, sizeof *p->fields);
    p->nodes = pc_pool_array(p->memory, shown->to - shown->from + 3, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, 1, sizeof *p->data);
    char *host = pc_pool_text(p->memory, "", 0);
    bool done = p->ranks && p->ops && p->fields && p->nodes && p->data && host;
    if (done) {
        p->ranks[0] = (struct pc_profile_rank){.rank = number, .pid = pid, .host = host};
        p->n_ranks = 1;
        add_fields(p);
        add_modules(p, s, shown);
        add_nodes(p, s, shown);
        pc_profile_count_descendants(p);
        done = p->modules && add_record(p, number);
    }
    if (!done) {
        pc_profile_free(p);
        return NULL;
    }
    return p;
}

static bool is_worth_showing(const struct pct_watch *w, const struct pct_stack *s)
{
    bool any = w->all_threads || s->main;
    for (size_t i = 0; i < s->n && !any; i++)
        any = is_program(w, &s->frames[i]) && !is_own(&s->frames[i]);
    return any;
}

int pct_stack_add(struct pct_watch *w, uint32_t process, int tid, const struct pct_stack *s,
                  struct pc_error *error)
{
    struct shown shown = choose(w, s);
    if (!is_worth_showing(w, s) || (shown.from == shown.to && !*shown.op)) {
        w->n_other++;
        return PC_OK;
    }
    struct pc_profile *p =
        make_profile(s, &shown, w->job->processes[process].pid, (int32_t)w->n_stacks);
    if (!p)
        return PC_ENOMEM;
    w->stacks = pct_grow(w->stacks, w->n_stacks, &w->room, sizeof *w->stacks);
    w->stacks[w->n_stacks++] = (struct pct_watched_stack){process, tid, s->state};
    return pc_profile_sum_add(&w->sum, p, error);
}

int pct_watch_profile(struct pct_watch *w, struct pc_profile **out, struct pc_error *error)
{
    return pc_profile_sum_finish(&w->sum, out, error);
}

void pct_watch_free(struct pct_watch *w)
{
    pc_profile_sum_free(&w->sum);
    pct_free(w->stacks);
    pct_free(w->mpi_folder);
    w->stacks = NULL;
    w->mpi_folder = NULL;
}

int pct_stack_refused(int pid, int why, struct pc_error *error)
{
    char scope[8] = "";
    if (why == ENOENT || why == ESRCH)
        return pc_error_set(error, PC_ENOENT, "%d: the process has ended", pid);
    if (why != EPERM && why != EACCES)
        return pc_error_set(error, PC_EIO, "%d: its stacks cannot be read: %s", pid,
                            why ? strerror(why) : "no frames were found");
    pc_read_small("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    if (*scope > '0')
        return pc_error_set(error, PC_EIO,
                            "%d: the kernel does not let you read it: kernel.yama.ptrace_scope is "
                            "%c; run this as root, or ask the administrator for "
                            "`sysctl kernel.yama.ptrace_scope=0`",
                            pid, *scope);
    return pc_error_set(error, PC_EIO,
                        "%d: the kernel does not let you read it: it belongs to another user, runs "
                        "with more rights, or is watched by a debugger",
                        pid);
}
