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
 * A thread can have 1,023 different regions and phases, where one name in two outer regions is two,
 * and 64 regions inside each other. Those beyond are counted, and booked in what is around them: so
 * name what the program does, and not each step.
 *
 * Not to be called in signal handlers. The first call of a function in a source looks for the
 * library, and then dlerror() returns NULL, also if there was an error before. With a C library
 * before glibc 2.34: link with -ldl.
 */
#ifndef PCOLLECT_H
#define PCOLLECT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's function of that name, looked up once; NULL without the library: then `known` holds
 * its own address, and the error that dlsym leaves is cleared. RTLD_DEFAULT is a null pointer with
 * glibc; its name asks for _GNU_SOURCE. */
static inline void *pcollect_find_(void **known, const char *function)
{
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(NULL, function);
        if (!found) {
            dlerror();
            found = known;
        }
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found == known ? NULL : found;
}

static inline void pcollect_region_call_(void **known, const char *which, const char *name)
{
    union {
        void *object;
        void (*call)(const char *name);
    } function;
    function.object = pcollect_find_(known, which);
    if (function.object)
        function.call(name);
}

static inline void pcollect_region_begin(const char *name)
{
    static void *known;
    pcollect_region_call_(&known, "pcollect_region_begin", name);
}

static inline void pcollect_region_end(const char *name)
{
    static void *known;
    pcollect_region_call_(&known, "pcollect_region_end", name);
}

/* CPU time in nanoseconds that the profiler has cost the calling thread so far: its interrupts, and
 * its own code as far as they met it. An estimate; 0 in a thread that is not sampled. */
static inline uint64_t pcollect_overhead_ns(void)
{
    static void *known;
    union {
        void *object;
        uint64_t (*call)(void);
    } function;
    function.object = pcollect_find_(&known, "pcollect_overhead_ns");
    return function.object ? function.call() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
