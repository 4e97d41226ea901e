/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Name the parts of your program: what MPI calls and samples happen between begin and end appears
 * in the profile under that name, as the outermost part of its context.
 *
 *     #include <pcollect/pcollect.h>
 *
 *     pcollect_region_begin("solve");
 *     ...
 *     pcollect_region_end("solve");
 *
 * Nothing has to be linked: in a process without libpcollect.so these functions do nothing. Regions
 * are the calling thread's own and nest. An end without a name ends the innermost region; one with
 * a name ends those inside of it as well, if they were left open, and these are counted. Names have
 * at most 1,023 bytes, the rest is cut off. A region that was met before costs a hash of its name.
 *
 * Not to be called in signal handlers. With a C library before glibc 2.34: link with -ldl.
 */
#ifndef PCOLLECT_H
#define PCOLLECT_H

#include <dlfcn.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*pcollect_region_fn)(const char *name);

/* The library's function of that name, or one that does nothing. RTLD_DEFAULT is a null pointer
 * with glibc; its name asks for _GNU_SOURCE. */
static inline void pcollect_region_nothing_(const char *name)
{
    (void)name;
}

static inline pcollect_region_fn pcollect_region_find_(const char *function)
{
    union {
        void *object;
        pcollect_region_fn call;
    } found;
    found.object = dlsym((void *)0, function);
    return found.object ? found.call : pcollect_region_nothing_;
}

static inline void pcollect_region_begin(const char *name)
{
    static pcollect_region_fn begin;
    pcollect_region_fn call = __atomic_load_n(&begin, __ATOMIC_RELAXED);
    if (!call) {
        call = pcollect_region_find_("pcollect_region_begin");
        __atomic_store_n(&begin, call, __ATOMIC_RELAXED);
    }
    call(name);
}

static inline void pcollect_region_end(const char *name)
{
    static pcollect_region_fn end;
    pcollect_region_fn call = __atomic_load_n(&end, __ATOMIC_RELAXED);
    if (!call) {
        call = pcollect_region_find_("pcollect_region_end");
        __atomic_store_n(&end, call, __ATOMIC_RELAXED);
    }
    call(name);
}

/* CPU time in nanoseconds that the profiler has cost the calling thread so far: its interrupts, and
 * its own code as far as they met it. An estimate; 0 in a thread that is not sampled. */
static inline uint64_t pcollect_overhead_ns(void)
{
    union {
        void *object;
        uint64_t (*call)(void);
    } found;
    found.object = dlsym((void *)0, "pcollect_overhead_ns");
    return found.object ? found.call() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
