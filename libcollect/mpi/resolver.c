/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fills the slots at the first MPI call: finds out which MPI the process has loaded, opens the
 * adapter that was built against its mpi.h, and gives every entry point its target.
 *
 *   no MPI loaded     nothing is decided: an MPI may be opened later; the call gets a stand-in
 *   not measured, or no adapter the next definition after this library
 *   else              the adapter's wrapper, which calls the next definition
 *
 * Threads. One thread resolves (the one that moves `state` from OPEN to BUSY); nobody holds a lock.
 * Another thread that calls meanwhile waits, because its call may be MPI_Init, which has to be
 * measured. But its call may come from the constructor of a module, inside dlopen: then it holds
 * the loader's lock, which the resolving thread may need, and waiting for ever would be a deadlock.
 * So the wait is bounded; after it the call goes to the real function, found under the lock that
 * the thread already holds. From then on (LATE) no other thread waits: its calls go there, too,
 * until the slots are filled. The resolving thread itself (a signal handler that calls MPI) never
 * waits.
 *
 * dlsym(RTLD_NEXT) looks at its return address: it is called from this file, never as a tail call.
 */
#include "base/exports.h"
#include "libcollect/mpi/mpi_private.h"
#include "libcollect/state/core.h"
#include "libcollect/state/ops.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

enum { OPEN, BUSY, LATE, DONE };

static _Atomic int state;
static _Atomic(pthread_t) resolving_thread;

/* Written by the resolving thread before state becomes DONE. */
static void *real_functions[2][PC_N_OPS]; /* next MPI_X, next PMPI_X */
static void *fortran_functions[PC_N_FORTRAN];
static void *wrappers[PC_N_SLOTS];
static int err_other = 15;
static _Atomic(void *) local_mpi; /* handle of an MPI that was opened RTLD_LOCAL, else NULL */

static _Atomic unsigned char said_missing[PC_N_OPS];

/* ---- The next definition after this library ------------------------------------------------- */

static void *find_next(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(p)); /* no tail call */
    if (!p && local_mpi)
        p = dlsym(local_mpi, name);
    return p;
}

/* The object that the library itself uses: the program may hold a copy of it (copy relocation),
 * which comes first in search order. */
static void *find_data(const char *name)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    __asm__ volatile("" : "+r"(p));
    if (!p && local_mpi)
        p = dlsym(local_mpi, name);
    return p;
}

struct local_search {
    char path[PCOLLECT_PATH_BYTES];
};

static int find_local(struct pc_module *module, void *arg)
{
    struct local_search *s = arg;
    struct pc_exports elf;
    uintptr_t here = (uintptr_t)&pc_mpi_resolve;
    if ((here >= module->lo && here < module->hi) ||
        !pc_exports_open(&elf, module->bias, module->lo, module->hi) ||
        !pc_exports_find(&elf, "PMPI_Init"))
        return 0;
    memcpy(s->path, module->path, sizeof s->path);
    return 1;
}

/* True if any MPI is loaded. Also finds one that RTLD_NEXT does not see. */
static bool find_mpi(void)
{
    void *init = find_next("PMPI_Init");
    Dl_info info;
    if (init && dladdr(init, &info))
        dlopen(info.dli_fname,
               RTLD_LAZY | RTLD_NOLOAD); /* keeps it loaded: the slots will point into it */
    if (init)
        return true;
    struct local_search s;
    if (!pc_loadmap_each(find_local, &s))
        return false;
    local_mpi = dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
    return local_mpi && find_next("PMPI_Init");
}

static void find_real_functions(void)
{
    for (unsigned op = 0; op < PC_N_OPS; op++) {
        char name[64];
        pc_format(name, sizeof name, "P%s", pc_op_rows[op].name);
        real_functions[1][op] = find_next(name);
        real_functions[0][op] = find_next(pc_op_rows[op].name);
        if (!real_functions[0][op])
            real_functions[0][op] = real_functions[1][op];
    }
}

/* ---- Choice of the adapter ------------------------------------------------------------------ */

/* The file of the adapter, or NULL if there is none for this MPI. */
static const char *choose_adapter(void)
{
    /* Holds MPI_MAX_LIBRARY_VERSION_STRING bytes, at most 8192 in any MPI. Static, because only one
     * thread gets here. */
    static char version[8193];
    int n = 0;
    if (find_data("ompi_mpi_comm_world")) {
        err_other = 16;
        return "adapter-openmpi.so";
    }
    int (*get_version)(char *, int *) =
        (int (*)(char *, int *))real_functions[1][PC_OP_Get_library_version];
    if (!get_version || get_version(version, &n) != 0)
        return NULL;
    if (strstr(version, "MPICH") || strstr(version, "MVAPICH") || strstr(version, "Intel(R) MPI"))
        return "adapter-mpich.so";
    return NULL;
}

static const struct pc_adapter *open_adapter(const char *file)
{
    char path[PCOLLECT_PATH_BYTES];
    if (!pc_core_module_path(file, path, sizeof path)) {
        pc_core_complain("the path of %s is too long: MPI calls are not measured", file);
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct pc_adapter *adapter = handle ? dlsym(handle, PC_ADAPTER_SYMBOL) : NULL;
    if (!adapter) {
        const char *reason = dlerror();
        pc_core_complain("cannot open the adapter, MPI calls are not measured: %s",
                         reason ? reason : path);
        return NULL;
    }
    if (adapter->abi != PC_CORE_ABI || adapter->size != sizeof *adapter ||
        adapter->n_ops != PC_N_OPS) {
        pc_core_complain(
            "%s belongs to another version of this library: MPI calls are not measured", path);
        return NULL;
    }
    return adapter;
}

static bool use_adapter(void)
{
    const char *file = choose_adapter();
    if (!file) {
        pc_core_complain("there is no adapter for this MPI library: its calls are not measured");
        return false;
    }
    const struct pc_adapter *adapter = open_adapter(file);
    static struct pc_mpi_symbols symbols;
    symbols =
        (struct pc_mpi_symbols){real_functions[0], real_functions[1], fortran_functions, find_data};
    if (!adapter)
        return false;
    if (adapter->init(pc_core_table(), &symbols, wrappers) == 0) {
        /* Enters the adapter into the load map, so that its frames are known as ours whatever its
         * path is. */
        pc_loadmap_prepare((uintptr_t)adapter->init);
        struct pc_module *module = pc_loadmap_find((uintptr_t)adapter->init);
        if (module)
            module->flags |= PCOLLECT_MODULE_OWN;
        return true;
    }
    pc_core_complain("%s refused to start: MPI calls are not measured", file);
    memset(wrappers, 0, sizeof wrappers);
    return false;
}

/* ---- Stand-ins ------------------------------------------------------------------------------ */

static int answer_false(int *flag)
{
    *flag = 0;
    return 0;
}

static int answer_error(void)
{
    return err_other;
}

static void *stand_in_without_mpi(unsigned op)
{
    if (op == PC_OP_Initialized || op == PC_OP_Finalized)
        return (void *)answer_false;
    return (void *)answer_error;
}

static void *stand_in_for_missing(unsigned op)
{
    if (atomic_exchange(&said_missing[op], 1) == 0)
        pc_log("%s was called, which this MPI library does not have: it returns MPI_ERR_OTHER",
               pc_op_rows[op].name);
    return (void *)answer_error;
}

/* ---- The resolver --------------------------------------------------------------------------- */

static void *target_of(unsigned slot)
{
    void *real = real_functions[PC_SLOT_IS_PMPI(slot)][PC_SLOT_OP(slot)];
    return real && wrappers[slot] ? wrappers[slot] : real;
}

/* Real functions and wrappers are stored before the slots; a slot is read with acquire, or by a
 * plain load on targets with total store order and where the stubs have an address dependency. */
static void fill_slots(void)
{
    for (unsigned slot = 0; slot < 2 * PC_N_OPS; slot++)
        if (target_of(slot))
            atomic_store_explicit(&pc_mpi_slots[slot], target_of(slot), memory_order_release);
}

/* A rank that does not measure still meets the others in MPI_Finalize. */
static void keep_collective_part(void)
{
    for (unsigned slot = 0; slot < PC_N_SLOTS; slot++) {
        unsigned op = PC_SLOT_OP(slot);
        if (op != PC_OP_Init && op != PC_OP_Init_thread && op != PC_OP_Finalize)
            wrappers[slot] = NULL;
    }
}

/* True when the slots are filled. */
static bool resolve(void)
{
    int expected = OPEN;
    if (atomic_load_explicit(&state, memory_order_acquire) == DONE)
        return true;
    if (!atomic_compare_exchange_strong(&state, &expected, BUSY)) {
        if (expected == BUSY)
            pc_core_await(&state, BUSY, LATE, atomic_load(&resolving_thread));
        return atomic_load(&state) == DONE;
    }
    atomic_store(&resolving_thread, pthread_self());
    pc_loadmap_set_is_mpi(pc_mpi_is_family);
    if (!find_mpi()) {
        atomic_store(&state, OPEN);
        return false;
    }
    find_real_functions();
    pc_core_set_counted(pc_mpi_counts);
    bool measured = pc_core_start();
    bool adapted = (measured || pc_core_refused()) && use_adapter();
    if (adapted && !measured)
        keep_collective_part();
    if (measured && !adapted)
        pc_core_abandon();
    fill_slots();
    atomic_store_explicit(&state, DONE, memory_order_release);
    return true;
}

/* ---- Fortran names -------------------------------------------------------------------------- */

struct export_search {
    const char *name;
    uintptr_t address;
};

static int find_export(struct pc_module *module, void *arg)
{
    struct export_search *s = arg;
    struct pc_exports elf;
    uintptr_t here = (uintptr_t)&pc_mpi_resolve;
    if ((here < module->lo || here >= module->hi) &&
        pc_exports_open(&elf, module->bias, module->lo, module->hi))
        s->address = pc_exports_find(&elf, s->name);
    return s->address != 0;
}

/* Finds a Fortran function when it is called: the library of the Fortran binding may be loaded
 * later than that of C, and may have been opened RTLD_LOCAL. */
static void *resolve_fortran(unsigned slot)
{
    unsigned i = slot - 2 * PC_N_OPS;
    bool ready = resolve();
    void *real = find_next(pc_fortran_names[i]);
    if (!real) {
        struct export_search s = {pc_fortran_names[i], 0};
        pc_loadmap_each(find_export, &s);
        real = (void *)s.address;
    }
    if (!real)
        return (void *)answer_error;
    if (!ready)
        return real;
    __atomic_store_n(&fortran_functions[i], real, __ATOMIC_RELAXED);
    void *target = wrappers[slot] ? wrappers[slot] : real;
    atomic_store_explicit(&pc_mpi_slots[slot], target, memory_order_release);
    return target;
}

/* ---- Called by the stubs -------------------------------------------------------------------- */

static void *resolve_function(unsigned slot)
{
    unsigned op = PC_SLOT_OP(slot);
    void *target;
    if (resolve()) {
        target = target_of(slot);
        if (!target)
            target = stand_in_for_missing(op);
    } else {
        char name[64];
        pc_format(name, sizeof name, "%s%s", PC_SLOT_IS_PMPI(slot) ? "P" : "", pc_op_rows[op].name);
        target = find_next(name);
        if (!target)
            target = stand_in_without_mpi(op);
    }
    return target;
}

/* A thread that is cancelled as it makes the first call gets through: constructors of the adapter
 * and of plugins may come to cancellation points. */
void *pc_mpi_resolve(unsigned slot)
{
    int saved = errno, cancel = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    void *target = slot < 2 * PC_N_OPS ? resolve_function(slot) : resolve_fortran(slot);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return target;
}
