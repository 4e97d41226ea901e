/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parallel regions of OpenMP. The work of all threads of a region belongs below the function that
 * entered it, which is on the stack of only one of them. GNU's interface passes a function and its
 * argument to the runtime. The runtime gets a function of this library instead, which notes the
 * context that the thread works for and then calls the program's function. LLVM's interface is
 * ompt.c.
 *
 * Several runtimes may be in one process, each for the modules that were linked with it: a call is
 * passed on to the runtime of the module that made it.
 */
#define _GNU_SOURCE 1

#include "libcollect/context/scope.h"
#include "libcollect/context/thread.h"
#include "libcollect/interpose/region.h"
#include "libcollect/state/state.h"

#include <dlfcn.h>
#include <errno.h>

pcollect_ref pc_region_context(struct pc_call *call)
{
    struct pc_thread *t = pc_self;
    if (!t || t->busy || !pc_thread_refresh(t) || t->stage != PC_STAGE_MAIN)
        return 0;
    int saved = errno;
    t->busy = 1;
    barrier();
    pcollect_ref context = pc_paths_context(t, call);
    barrier();
    t->busy = 0;
    errno = saved;
    return context;
}

pcollect_ref pc_region_work_for(pcollect_ref context)
{
    pcollect_ref before = pc_lent_context;
    pc_lent_context = context;
    if (pc_self && before != context)
        pc_scope_lend(pc_self, context);
    return before;
}

/* ---- The program's function in each thread of a region --------------------------------------- */

typedef void body_fn(void *);

struct region {
    void *first; /* first word of the argument: GOMP_parallel_reductions reads it */
    body_fn *body;
    void *argument;
    const struct pc_thread *creator;
    pcollect_ref context;
};

/* The region outlives this: the call that enters it returns when all threads have left. */
static void run_body(void *argument)
{
    const struct region *r = argument;
    if (!r->context || pc_self == r->creator) {
        r->body(r->argument);
        return;
    }
    pcollect_ref before = pc_region_work_for(r->context);
    r->body(r->argument);
    pc_region_work_for(before);
}

/* ---- The next definitions -------------------------------------------------------------------- */

#define ENTRIES(X)                                                                                 \
    X(GOMP_parallel)                                                                               \
    X(GOMP_parallel_reductions)                                                                    \
    X(GOMP_parallel_sections)                                                                      \
    X(GOMP_parallel_loop_static)                                                                   \
    X(GOMP_parallel_loop_dynamic)                                                                  \
    X(GOMP_parallel_loop_guided)                                                                   \
    X(GOMP_parallel_loop_nonmonotonic_dynamic)                                                     \
    X(GOMP_parallel_loop_nonmonotonic_guided)                                                      \
    X(GOMP_parallel_loop_runtime)                                                                  \
    X(GOMP_parallel_loop_nonmonotonic_runtime)                                                     \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)                                               \
    X(omp_get_max_threads)

#define ENTRY_ID(name) ENTRY_##name,
#define ENTRY_NAME(name) #name,
enum entry { ENTRIES(ENTRY_ID) N_ENTRIES };
static const char *const names[] = {ENTRIES(ENTRY_NAME)};

/* Next definitions, by the place of the call and the function called. Entries are written once and
 * stay valid, because the modules that they lead to are kept loaded. */
enum { N_PLACES = 4096, N_PROBES = 8 };
static struct place {
    _Atomic uint64_t key; /* 0: free */
    void *_Atomic next;   /* NULL while it is being written */
} places[N_PLACES];

/* Searches the caller's own module and the libraries it was linked with, then what comes after this
 * library. */
static void *find_next(enum entry which, void *ret)
{
    Dl_info caller, ours, found;
    void *next = NULL;
    if (dladdr(ret, &caller) && dladdr((void *)&find_next, &ours)) {
        void *handle = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        next = handle ? dlsym(handle, names[which]) : NULL;
        if (next && (!dladdr(next, &found) || found.dli_fbase == ours.dli_fbase))
            next = NULL;
        if (handle)
            dlclose(handle);
    }
    if (!next)
        next = dlsym(RTLD_NEXT, names[which]);
    if (next && dladdr(next, &found))
        dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE); /* stays loaded */
    return next;
}

static void *next_of(enum entry which, void *ret)
{
    int saved = errno;
    const uint64_t key = (uint64_t)(uintptr_t)ret * 16 + which;
    uint64_t at = pc_hash_u64(key), known = 1;
    for (unsigned i = 0; i < N_PROBES && known; i++) {
        const struct place *p = &places[(at + i) % N_PLACES];
        known = atomic_load_explicit(&p->key, memory_order_acquire);
        void *next = atomic_load_explicit(&p->next, memory_order_acquire);
        if (PC_LIKELY(known == key && next))
            return next;
    }
    void *next = find_next(which, ret);
    for (unsigned i = 0; next && i < N_PROBES; i++) {
        struct place *p = &places[(at + i) % N_PLACES];
        known = 0;
        if (!atomic_compare_exchange_strong(&p->key, &known, key))
            continue;
        atomic_store_explicit(&p->next, next, memory_order_release);
        break;
    }
    errno = saved;
    return next;
}

_Static_assert(N_ENTRIES <= 16, "a key has four bits for the entry");

/* False if only the thread that enters the region runs it: its own stack shows the context. */
static bool has_team(unsigned n_threads, void *ret)
{
    if (n_threads)
        return n_threads > 1;
    int (*most)(void) = (int (*)(void))next_of(ENTRY_omp_get_max_threads, ret);
    return !most || most() > 1;
}

/* Stands in for an entry that no runtime has: a program with a weak reference to it comes here. Its
 * other arguments are not read. */
static unsigned run_alone(body_fn *body, void *argument)
{
    body(argument);
    return 1; /* number of threads */
}

static void *runtime_of(enum entry which, void *ret)
{
    void *next = next_of(which, ret);
    return next ? next : (void *)run_alone;
}

/* ---- The entries ----------------------------------------------------------------------------- */

/* The region that the calling function enters. Only for the entry functions below, because it reads
 * their frame. */
#define ENTER(name)                                                                                \
    struct pc_call call = {.fp = PC_SAVED_FP,                                                      \
                           .cfa = (uintptr_t)__builtin_dwarf_cfa(),                                \
                           .ret = (uintptr_t)__builtin_return_address(0)};                         \
    struct region r = {NULL, body, data, pc_self, 0};                                              \
    if (has_team(n, (void *)call.ret))                                                             \
        r.context = pc_region_context(&call);                                                      \
    __typeof__(&name) next = (__typeof__(&name))runtime_of(ENTRY_##name, (void *)call.ret)

PC_EXPORT void GOMP_parallel(body_fn *body, void *data, unsigned n, unsigned flags);
PC_EXPORT unsigned GOMP_parallel_reductions(body_fn *body, void *data, unsigned n, unsigned flags);
PC_EXPORT void GOMP_parallel_sections(body_fn *body, void *data, unsigned n, unsigned count,
                                      unsigned flags);

void GOMP_parallel(body_fn *body, void *data, unsigned n, unsigned flags)
{
    ENTER(GOMP_parallel);
    next(run_body, &r, n, flags);
}

unsigned GOMP_parallel_reductions(body_fn *body, void *data, unsigned n, unsigned flags)
{
    ENTER(GOMP_parallel_reductions);
    r.first = *(void **)data;
    return next(run_body, &r, n, flags);
}

void GOMP_parallel_sections(body_fn *body, void *data, unsigned n, unsigned count, unsigned flags)
{
    ENTER(GOMP_parallel_sections);
    next(run_body, &r, n, count, flags);
}

/* Loops with a chunk size. */
#define LOOP(name)                                                                                 \
    PC_EXPORT void name(body_fn *body, void *data, unsigned n, long start, long end, long step,    \
                        long chunk, unsigned flags);                                               \
    void name(body_fn *body, void *data, unsigned n, long start, long end, long step, long chunk,  \
              unsigned flags)                                                                      \
    {                                                                                              \
        ENTER(name);                                                                               \
        next(run_body, &r, n, start, end, step, chunk, flags);                                     \
    }

LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

/* Loops without a chunk size. */
#define RUNTIME_LOOP(name)                                                                         \
    PC_EXPORT void name(body_fn *body, void *data, unsigned n, long start, long end, long step,    \
                        unsigned flags);                                                           \
    void name(body_fn *body, void *data, unsigned n, long start, long end, long step,              \
              unsigned flags)                                                                      \
    {                                                                                              \
        ENTER(name);                                                                               \
        next(run_body, &r, n, start, end, step, flags);                                            \
    }

RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
