/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Takes stacks of threads: each thread is caught (caught.h), and its frames are found in the copy
 * of its stack (copied_walk.h), with the unwind tables of the files that the process has mapped.
 *
 * The frame pointer of a thread that was caught without a stop is not known. If its stack cannot be
 * walked to the end for that reason, the thread is stopped, provided that this does not disturb it.
 */
#include "config.h"

#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "analysis/symbols/vdso.h"
#include "libcollect/adapter.h"
#include "libcollect/state/ops.h"
#include "watch/caught.h"
#include "watch/refusal.h"
#include "watch/stack_profile.h"
#include "watch/waited_messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WATCHER_MS = 5000 }; /* longest wait for another watcher */

#ifdef HAVE_LIBDW
static const bool names_functions = true;
#else
static const bool names_functions = false;
#endif

/* A process while its threads are examined. */
struct view {
    struct pct_watch *watch;
    uint32_t process;
    int pid;          /* by which /proc shows it */
    uint64_t program; /* that it ran when its mappings were read */
    struct pct_code code;
    struct pct_caught caught;
    struct pct_walked *walked;
    size_t n_walked;
    enum pct_cut cut; /* why the outer frames could not be found */
    struct pct_stack stack;
    uint64_t adapter;   /* the descriptor of libpcollect's adapter; 0: none */
    struct pct_jit jit; /* names of code that the process made */
    struct pct_python python;
    struct pct_python_frames *in_python; /* Python frames of the thread, when it was caught */
    int patience_ms;                     /* rest of WATCHER_MS */
};

/* ---- Files ----------------------------------------------------------------------------------- */

/* The address of a symbol in the process; 0: the file has none. */
static uint64_t find_symbol(struct view *v, const struct pct_mapping *m, const char *name)
{
    uintptr_t here = pct_code_here(&v->code, m->lo), found = 0;
    if (here)
        found = pct_code_names_symbol(pct_code_files_names(v->watch->frames.files), here, name);
    return found ? found - here + m->lo : 0;
}

/* Examines a file that may be the program python3.x, or libpython. */
static void look_at_python(struct view *v, const struct pct_mapping *m)
{
    uint64_t version = 0, at;
    struct pct_python py = {.pid = v->pid};
    const struct pct_walked inside = {pct_code_here(&v->code, m->lo), m->lo, true};
    if (!find_symbol(v, m, "_PyEval_EvalFrameDefault") || !(at = find_symbol(v, m, "Py_Version")) ||
        pct_caught_read(v->pid, at, &version, sizeof version) != sizeof version)
        return;
    py.layout = pc_python_layout_of((uint32_t)version);
    py.runtime = find_symbol(v, m, "_PyRuntime");
    py.code_type = find_symbol(v, m, "PyCode_Type");
    py.text_type = find_symbol(v, m, "PyUnicode_Type");
    py.bytes_type = find_symbol(v, m, "PyBytes_Type");
    py.module = pct_code_frame(&v->watch->frames, v->pid, &v->code, &v->jit, &inside).module;
    if (py.layout && py.runtime && py.code_type && py.text_type && py.bytes_type)
        v->python = py;
}

/* Notes the folder of the MPI library, the adapter, and files of made code and of Python. */
static void look_at_file(void *arg, const struct pct_mapping *m)
{
    struct view *v = arg;
    struct pct_watch *w = v->watch;
    const char *base_name = pc_base_name(m->path);
    pct_jit_note(&v->jit, m->path);
    if (pct_watch_is_mpi(m->path) && !w->mpi_folder) {
        w->mpi_folder = pct_copy(m->path);
        w->mpi_folder[base_name - m->path] = '\0';
    }
    if (!strncmp(base_name, "python", 6) || !strncmp(base_name, "libpython", 9))
        look_at_python(v, m);
    if (w->calls && !strncmp(base_name, "adapter-", 8))
        v->adapter = find_symbol(v, m, PC_ADAPTER_SYMBOL);
}

/* Reads what code is where. PC_ENOENT: there is none, as of a process that has ended. */
static int read_code(struct view *v, struct pc_error *error)
{
    struct pct_watch *w = v->watch;
    pct_free(w->mpi_folder);
    w->mpi_folder = NULL;
    v->stack.mpi_folder = NULL;
    pct_jit_clear(&v->jit);
    v->python = (struct pct_python){0};
    v->adapter = 0;
    v->program = pct_watch_program(v->pid);
    if (!pct_code_read(&v->code, w->frames.files, v->pid, look_at_file, v))
        return pct_refusal_explain(v->pid, errno, error);
    v->stack.mpi_folder = w->mpi_folder;
    return v->code.n ? PC_OK : pct_refusal_explain(v->pid, ESRCH, error);
}

/* ---- One stack ------------------------------------------------------------------------------- */

static bool read_word(void *caught, uint64_t address, uint64_t *out)
{
    return pct_caught_word(caught, address, out);
}

static void walk(struct view *v)
{
    uint64_t registers[PCT_CAUGHT_REGISTERS];
    const struct pct_copied thread = {.names = pct_code_files_names(v->watch->frames.files),
                                      .registers = registers,
                                      .only_sp = !v->caught.all,
                                      .pointers = true,
                                      .read = read_word,
                                      .arg = &v->caught};
    pct_caught_registers(&v->caught, registers);
    v->n_walked = pct_copied_walk(&thread, &v->code, v->walked, PCT_STACK_FRAMES, &v->cut);
}

/* Tries to walk the stack; false: there is none. */
static bool try_stack(struct view *v)
{
    enum { TRIES = 3 };
    bool blocked = false;
    for (int i = 0; i < TRIES && !blocked; i++) {
        errno = 0;
        blocked = pct_catch_blocked(&v->caught);
        if (errno == EACCES || errno == EPERM || errno == ENOENT)
            break;
    }
    if (blocked) {
        pct_python_read(&v->python, v->caught.tid, v->in_python);
        walk(v);
    }
    if (blocked && (!v->cut || v->caught.holder || !pct_caught_may_stop(&v->caught)))
        return true;
    if (pct_catch_stopped(&v->caught) != PCT_CATCH_DONE)
        return blocked;
    pct_python_read(&v->python, v->caught.tid, v->in_python);
    pct_caught_release(&v->caught);
    walk(v);
    /* Words outside of the copy may have changed since, if a handler has its own stack. This stop
     * lasts until the end of the stack is read, which is short, because the rules are known now. */
    if (v->caught.beyond && pct_catch_stopped(&v->caught) == PCT_CATCH_DONE) {
        pct_python_read(&v->python, v->caught.tid, v->in_python);
        walk(v);
        pct_caught_release(&v->caught);
    }
    return true;
}

/* True for another process of this command, which releases a thread as soon as it gets a
 * processor. */
static bool is_watcher(int pid)
{
    char path[64], comm[32];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    return pc_read_small(path, comm, sizeof comm) && !strcmp(comm, "pcollect\n");
}

/* Takes the stack; false: there is none. Waits for watchers, and briefly for other tracers; of a
 * thread that a debugger holds, takes what is known without its registers. */
static bool take_stack(struct view *v)
{
    enum { OTHERS = WATCHER_MS / 100 };
    bool taken = try_stack(v);
    while (v->caught.holder && (!taken || v->cut) && v->patience_ms > 0) {
        pc_nap_ns(1000000);
        v->patience_ms -= is_watcher(v->caught.holder) ? 1 : OTHERS;
        taken = try_stack(v);
    }
    return taken;
}

/* True if the walk has come to code that was mapped after the mappings were read. */
static bool has_left_code(const struct view *v)
{
    const struct pct_walked *last = &v->walked[v->n_walked - 1];
    return v->cut && !pct_code_is_mapped(&v->code, last->there - !last->exact);
}

/* Takes the stack by the code that the process has now, which may be that of another program. */
static bool take_current_stack(struct view *v)
{
    enum { TRIES = 3 };
    struct pc_error error;
    bool taken = take_stack(v);
    for (int i = 0; taken && i < TRIES && pct_watch_program(v->pid) != v->program; i++)
        taken = !read_code(v, &error) && take_stack(v);
    if (taken && has_left_code(v) && !read_code(v, &error))
        walk(v);
    return taken;
}

/* ---- One process ----------------------------------------------------------------------------- */

static void find_frames(struct view *v)
{
    struct pct_watch *w = v->watch;
    v->stack.n = v->n_walked;
    v->stack.cut = v->cut != PCT_CUT_NOT;
    for (size_t i = 0; i < v->n_walked; i++)
        v->stack.frames[i] = pct_code_frame(&w->frames, w->job->processes[v->process].pid, &v->code,
                                            &v->jit, &v->walked[i]);
    if (v->cut == PCT_CUT_TABLE)
        pct_code_frames_cut(&w->frames, &v->code, &v->walked[v->n_walked - 1],
                            &v->stack.frames[v->n_walked - 1]);
    pct_python_put(&v->python, v->in_python, &w->frames.modules, &w->frames.named, &v->stack);
}

static void find_messages(const struct view *v, struct pct_mpi_call *call)
{
    if (call->op && pc_op_traits_of(call->op) & PCOLLECT_TRAIT_WAITS)
        pct_waited_messages(&v->caught, v->adapter, call);
}

/* Adds the stack that was taken. */
static int add_stack(struct view *v, int tid, char state, struct pc_error *error)
{
    struct pct_watch *w = v->watch;
    struct pct_watched_stack of = {.process = v->process, .tid = tid, .state = state};
    size_t before = w->n_stacks;
    find_frames(v);
    pct_mpi_call_find(&v->caught, v->adapter, &of.call);
    v->stack.op = of.call.op;
    int err = pct_stack_add(w, &of, &v->stack, error);
    if (w->calls && w->n_stacks > before)
        find_messages(v, &w->stacks[before].call);
    return err;
}

/* True if a process has ended, or does so within 20 ms: its threads end one after the other. */
static bool ends(int pid)
{
    struct pc_process_status p;
    for (int i = 0; i < 20; i++) {
        if (!pc_process_look(pid, &p) || p.ended)
            return true;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return false;
}

/* Explains why stacks of n threads are missing; PC_OK if others were taken, and the process goes
 * on. */
static int explain_missing(const struct view *v, size_t n, size_t n_taken, int why,
                           struct pc_error *error)
{
    int pid = v->watch->job->processes[v->process].pid;
    if (n_taken < n && n_taken && ends(pid))
        return pc_error_set(error, PC_ENOENT,
                            "%d: the process ended while it was read: the stacks of %zu of its %zu "
                            "threads are missing",
                            pid, n - n_taken, n);
    return n_taken ? PC_OK : pct_refusal_explain(pid, why, error);
}

static int take_threads(struct view *v, struct pc_error *error)
{
    size_t n, n_taken = 0;
    int err = PC_OK, why = ESRCH, *threads = pct_watch_threads(v->pid, &n);
    for (size_t i = 0; i < n && !err; i++) {
        struct pc_process_status p, after;
        v->caught.tid = threads[i];
        /* A thread that was stopped briefly appears as running afterwards. */
        if (!pc_process_look(threads[i], &p))
            continue;
        errno = 0;
        bool taken = take_current_stack(v);
        int failed = errno;
        if (!pc_process_look(threads[i], &after) || after.state == 'Z')
            continue;
        if (!taken) {
            why = failed ? failed : why;
            v->watch->n_lost++;
            continue;
        }
        n_taken++;
        err = add_stack(v, threads[i], p.state, error);
    }
    pct_free(threads);
    return err ? err : explain_missing(v, n, n_taken, why, error);
}

int pct_watch_take(struct pct_watch *w, uint32_t process, struct pc_error *error)
{
    const struct pct_watched *of = &w->job->processes[process];
    struct view v = {.watch = w, .process = process, .pid = pct_watch_view(of->pid)};
    int err = pct_refusal_filtered(v.pid, false, error);
    if (!err && !names_functions)
        err = pc_error_set(error, PC_EIO,
                           "this pcollect was built without libdw, which names functions");
    if (err)
        return err;
    if (!w->frames.files)
        w->frames.files = pct_code_files_new();
    v.patience_ms = WATCHER_MS;
    v.caught.pid = v.pid;
    v.caught.room = PCT_CAUGHT_STACK;
    v.caught.stack = pct_alloc(v.caught.room, 1);
    v.walked = pct_alloc(PCT_STACK_FRAMES, sizeof *v.walked);
    v.stack.frames = pct_alloc(PCT_STACK_FRAMES, sizeof *v.stack.frames);
    v.in_python = pct_alloc(1, sizeof *v.in_python);
    err = read_code(&v, error);
    err = err ? err : take_threads(&v, error);
    if (v.adapter && of->rank >= 0)
        pct_comm_places_read(&w->comms, v.pid, of->rank, v.adapter);
    pct_jit_clear(&v.jit);
    pct_code_free(&v.code);
    pct_free(v.in_python);
    pct_free(v.stack.frames);
    pct_free(v.walked);
    pct_free(v.caught.stack);
    return err;
}
