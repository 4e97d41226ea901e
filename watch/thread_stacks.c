/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Takes stacks of threads: each thread is caught (caught.h), and libdwfl finds its frames in the
 * copy of its stack, with the unwind tables of the files that the process has mapped.
 *
 * The frame pointer of a thread that was caught without a stop is not known. If its stack cannot be
 * walked to the end for that reason, the thread is stopped, provided that this does not disturb it.
 */
#include "config.h"

#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "libcollect/adapter.h"
#include "libcollect/state/ops.h"
#include "watch/caught.h"
#include "watch/code_files.h"
#include "watch/refusal.h"
#include "watch/stack_profile.h"
#include "watch/vdso_names.h"
#include "watch/waited_messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdwfl.h>

enum { WATCHER_MS = 5000 }; /* longest wait for another watcher */

/* A process while its threads are examined. */
struct view {
    struct pct_watch *watch;
    uint32_t process;
    int pid;
    Dwfl *dwfl;
    struct pct_mappings mappings;
    struct pct_caught caught;
    struct pct_stack stack;
    Dwarf_Addr outermost; /* in the last frame that was found */
    Dwarf_Addr adapter;   /* the descriptor of libpcollect's adapter; 0: none */
    struct pct_jit jit;   /* names of code that the process made */
    struct pct_python python;
    struct pct_python_frames *in_python; /* Python frames of the thread, when it was caught */
    int patience_ms;                     /* rest of WATCHER_MS */
};

/* ---- Files ----------------------------------------------------------------------------------- */

static const struct pct_mapping *find_mapping(const struct view *v, Dwarf_Addr address)
{
    for (size_t i = 0; i < v->mappings.n; i++)
        if (address >= v->mappings.at[i].lo && address < v->mappings.at[i].hi)
            return &v->mappings.at[i];
    return NULL;
}

/* Opens the file of a module. */
static int find_file(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file,
                     Elf **elf)
{
    const struct view *v = *user;
    struct pct_code_opened o;
    if (*name != '/')
        return dwfl_linux_proc_find_elf(m, user, name, base, file, elf);
    const struct pct_mapping *mapping = find_mapping(v, base);
    if (!mapping)
        return -1;
    pct_code_open(v->pid, mapping, &o);
    *file = o.fd >= 0 ? strdup(o.path) : NULL;
    return o.fd;
}

/* Finds no separate debug information: unwind tables are in the files themselves. */
static int find_no_debuginfo(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)m, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
    return -1;
}

static Dwarf_Addr find_symbol(Dwfl_Module *m, const char *wanted)
{
    GElf_Sym symbol;
    GElf_Addr address;
    for (int i = 0, n = dwfl_module_getsymtab(m); i < n; i++) {
        const char *name = dwfl_module_getsym_info(m, i, &symbol, &address, NULL, NULL, NULL);
        if (name && !strcmp(name, wanted))
            return address;
    }
    return 0;
}

/* Keeps a module, with the path by which its file was opened last. Its build-id is known once that
 * has been done. */
static const struct pct_stack_module *keep_module(struct view *v, Dwfl_Module *m)
{
    struct pct_code_opened o;
    const unsigned char *id = NULL;
    const char *opened = NULL;
    GElf_Addr address;
    Dwarf_Addr start;
    int n = dwfl_module_build_id(m, &id, &address);
    const char *path = dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, &opened, NULL);
    const struct pct_mapping *mapping = *path == '/' && !opened ? find_mapping(v, start) : NULL;
    if (mapping) {
        pct_code_open(v->pid, mapping, &o); /* for the name */
        if (o.fd >= 0)
            close(o.fd);
    }
    if (!strncmp(path, "[vdso: ", 7)) /* libdwfl adds the number of the process */
        path = PCT_VDSO;
    struct pct_stack_module *kept =
        pct_stack_module(&v->watch->modules, mapping ? o.name : path, id,
                         n > 0 && n <= (int)PCOLLECT_BUILD_ID_BYTES ? (uint32_t)n : 0);
    if (opened && (!kept->opened || strcmp(kept->opened, opened) != 0)) {
        pct_free(kept->opened);
        kept->opened = pct_copy(opened);
    }
    return kept;
}

/* Examines a module that may be the program python3.x, or libpython. */
static void look_at_python(struct view *v, Dwfl_Module *m)
{
    uint64_t version = 0, at;
    struct pct_python py = {.pid = v->pid};
    if (!find_symbol(m, "_PyEval_EvalFrameDefault") || !(at = find_symbol(m, "Py_Version")) ||
        pct_caught_read(v->pid, at, &version, sizeof version) != sizeof version)
        return;
    py.layout = pc_python_layout_of((uint32_t)version);
    py.runtime = find_symbol(m, "_PyRuntime");
    py.code_type = find_symbol(m, "PyCode_Type");
    py.text_type = find_symbol(m, "PyUnicode_Type");
    py.bytes_type = find_symbol(m, "PyBytes_Type");
    py.module = keep_module(v, m);
    if (py.layout && py.runtime && py.code_type && py.text_type && py.bytes_type)
        v->python = py;
}

/* Prepares find_file. Notes the folder of the MPI library, and the adapter. */
static int look_at_module(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, void *arg)
{
    struct view *v = arg;
    const char *base_name = pc_base_name(name);
    (void)base;
    *user = arg;
    pct_jit_note(&v->jit, name);
    if (pct_watch_is_mpi(name) && !v->watch->mpi_folder) {
        v->watch->mpi_folder = pct_copy(name);
        v->watch->mpi_folder[base_name - name] = '\0';
    }
    if (!strncmp(base_name, "python", 6) || !strncmp(base_name, "libpython", 9))
        look_at_python(v, m);
    if (v->watch->calls && !strncmp(base_name, "adapter-", 8))
        v->adapter = find_symbol(m, PC_ADAPTER_SYMBOL);
    return DWARF_CB_OK;
}

/* ---- Threads, for libdwfl -------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
    (void)dwfl, (void)arg, (void)thread;
    return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = arg;
    return true;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *out, void *arg)
{
    struct view *v = arg;
    uint64_t word;
    (void)dwfl;
    bool done = pct_caught_word(&v->caught, address, &word);
    *out = word;
    return done;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct pct_caught *c = &((const struct view *)arg)->caught;
    for (unsigned i = 0; i < PCT_CAUGHT_REGISTERS; i++) {
        Dwarf_Word word = c->registers[i];
        if (c->known >> i & 1 && !dwfl_thread_state_registers(thread, (int)i, 1, &word))
            return false;
    }
#if defined(__x86_64__)
    enum { SP = 7, PC = 16 };
    Dwarf_Word pc = c->pc;
    dwfl_thread_state_registers(thread, PC, 1, &pc);
#else
    enum { SP = 31 };
#endif
    if (!c->known) {
        Dwarf_Word sp = c->sp;
        dwfl_thread_state_registers(thread, SP, 1, &sp);
    }
    dwfl_thread_state_register_pc(thread, c->pc);
    return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                       .get_thread = get_thread,
                                                       .memory_read = read_word,
                                                       .set_initial_registers = set_registers};

/* ---- One stack ------------------------------------------------------------------------------- */

/* Adds a frame. Names belong to dwfl. */
static int add_frame(Dwfl_Frame *frame, void *arg)
{
    struct view *v = arg;
    struct pct_stack *s = &v->stack;
    struct pct_stack_frame *f = &s->frames[s->n];
    Dwarf_Addr pc, bias = 0;
    if (s->n == PCT_STACK_FRAMES || !dwfl_frame_pc(frame, &pc, &f->exact))
        return DWARF_CB_ABORT;
    v->outermost = pc - !f->exact;
    Dwfl_Module *m = dwfl_addrmodule(v->dwfl, v->outermost);
    *f = (struct pct_stack_frame){.exact = f->exact, .offset = pc};
    s->n++;
    const char *path = m ? dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
    if (!path)
        return DWARF_CB_OK;
    dwfl_module_getelf(m, &bias);
    f->offset = pc - bias;
    f->function = dwfl_module_addrname(m, v->outermost);
    f->module = keep_module(v, m);
    return DWARF_CB_OK;
}

/* True if the unwind table says that the function of a frame has no caller. A walk that lacks a
 * register ends in the same way. */
static bool is_outermost(const struct view *v, Dwarf_Addr pc)
{
    Dwarf_Op room[3], *ops = room;
    Dwarf_Addr bias = 0, begin, end;
    Dwarf_Frame *rule = NULL;
    size_t n = 1;
    bool signal;
    Dwfl_Module *m = dwfl_addrmodule(v->dwfl, pc);
    Dwarf_CFI *table = m ? dwfl_module_eh_cfi(m, &bias) : NULL;
    if (!table || dwarf_cfi_addrframe(table, pc - bias, &rule))
        return false;
    int caller = dwarf_frame_info(rule, &begin, &end, &signal);
    bool undefined =
        caller >= 0 && !dwarf_frame_register(rule, caller, room, &ops, &n) && !n && ops == room;
    free(rule);
    return undefined;
}

static void unwind(struct view *v)
{
    v->stack.n = 0;
    v->outermost = 0;
    bool ended = dwfl_getthread_frames(v->dwfl, v->caught.tid, add_frame, v) == 0;
    v->stack.cut = !ended || !is_outermost(v, v->outermost);
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
        unwind(v);
    }
    if (blocked && (!v->stack.cut || v->caught.holder || !pct_caught_may_stop(&v->caught)))
        return v->stack.n > 0;
    size_t n = blocked ? v->stack.n : 0;
    if (pct_catch_stopped(&v->caught) != PCT_CATCH_DONE)
        return n > 0;
    pct_python_read(&v->python, v->caught.tid, v->in_python);
    pct_caught_release(&v->caught);
    unwind(v);
    /* Words outside of the copy may have changed since, if a handler has its own stack. This stop
     * lasts until the end of the stack is read, which is short, because the tables are loaded now.
     */
    if (v->caught.beyond && pct_catch_stopped(&v->caught) == PCT_CATCH_DONE) {
        pct_python_read(&v->python, v->caught.tid, v->in_python);
        unwind(v);
        pct_caught_release(&v->caught);
    }
    return v->stack.n > 0;
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
    while (v->caught.holder && (!taken || v->stack.cut) && v->patience_ms > 0) {
        pc_nap_ns(1000000);
        v->patience_ms -= is_watcher(v->caught.holder) ? 1 : OTHERS;
        taken = try_stack(v);
    }
    return taken;
}

/* ---- One process ----------------------------------------------------------------------------- */

/* Names the frames that are in no file. */
static void name_made_code(struct view *v)
{
    struct pct_watch *w = v->watch;
    for (size_t i = 0; i < v->stack.n; i++) {
        pct_vdso_name(&w->named, &v->stack.frames[i]);
        if (v->stack.frames[i].module)
            continue;
        pct_jit_name(&v->jit, w->job->processes[v->process].pid, &w->named, &w->modules,
                     &v->stack.frames[i]);
    }
}

static void find_messages(const struct view *v, struct pct_mpi_call *call)
{
    if (call->op && pc_op_traits_of(call->op) & PCOLLECT_TRAIT_WAITS)
        pct_waited_messages(&v->caught, v->adapter, call);
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
        bool taken = take_stack(v);
        int failed = errno;
        if (!pc_process_look(threads[i], &after) || after.state == 'Z')
            continue;
        if (!taken) {
            why = failed ? failed : why;
            v->watch->n_lost++;
            continue;
        }
        n_taken++;
        name_made_code(v);
        pct_python_put(&v->python, v->in_python, &v->watch->modules, &v->watch->named, &v->stack);
        struct pct_watched_stack of = {.process = v->process, .tid = threads[i], .state = p.state};
        pct_mpi_call_find(&v->caught, v->adapter, &of.call);
        v->stack.op = of.call.op;
        size_t before = v->watch->n_stacks;
        err = pct_stack_add(v->watch, &of, &v->stack, error);
        if (v->watch->calls && v->watch->n_stacks > before)
            find_messages(v, &v->watch->stacks[before].call);
    }
    pct_free(threads);
    if (!n)
        return pc_error_set(error, PC_ENOENT, "%d: the process has ended", v->pid);
    return err || n_taken ? err : pct_refusal_explain(v->pid, why, error);
}

int pct_watch_take(struct pct_watch *w, uint32_t process, struct pc_error *error)
{
    static const Dwfl_Callbacks files = {.find_elf = find_file,
                                         .find_debuginfo = find_no_debuginfo};
    struct view v = {
        .watch = w, .process = process, .pid = pct_watch_view(w->job->processes[process].pid)};
    int err = pct_refusal_filtered(v.pid, false, error);
    if (err)
        return err;
    v.caught.pid = v.pid;
    v.patience_ms = WATCHER_MS;
    v.dwfl = dwfl_begin(&files);
    if (!v.dwfl)
        return PC_ENOMEM;
    errno = 0;
    int failed = dwfl_linux_proc_report(v.dwfl, v.pid);
    if (failed || dwfl_report_end(v.dwfl, NULL, NULL)) {
        err = pct_refusal_explain(v.pid, failed > 0 ? failed : errno, error);
        dwfl_end(v.dwfl);
        return err;
    }
    v.caught.room = PCT_CAUGHT_STACK;
    v.caught.stack = pct_alloc(v.caught.room, 1);
    pct_mappings_read(v.pid, &v.mappings);
    v.stack.frames = pct_alloc(PCT_STACK_FRAMES, sizeof *v.stack.frames);
    v.in_python = pct_alloc(1, sizeof *v.in_python);
    pct_free(w->mpi_folder);
    w->mpi_folder = NULL;
    dwfl_getmodules(v.dwfl, look_at_module, &v, 0);
    v.stack.mpi_folder = w->mpi_folder;
    if (!dwfl_attach_state(v.dwfl, NULL, v.pid, &thread_callbacks, &v))
        err = pc_error_set(error, PC_EIO, "%d: %s", v.pid, dwfl_errmsg(-1));
    else
        err = take_threads(&v, error);
    dwfl_end(v.dwfl);
    if (v.adapter && w->job->processes[process].rank >= 0)
        pct_comm_places_read(&w->comms, v.pid, w->job->processes[process].rank, v.adapter);
    pct_jit_clear(&v.jit);
    pct_mappings_free(&v.mappings);
    pct_free(v.in_python);
    pct_free(v.stack.frames);
    pct_free(v.caught.stack);
    return err;
}

#else

int pct_watch_take(struct pct_watch *w, uint32_t process, struct pc_error *error)
{
    (void)w;
    (void)process;
    return pc_error_set(error, PC_EIO, "this pcollect was built without libdw, which reads stacks");
}

#endif
