/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides which frames of a stack a context shows, for contexts of MPI calls (path_walk.c) and of
 * samples (sampler_walk_async.c). The outermost frames, in which libc and the loader start the
 * program or a thread, mean nothing to its author: paths start at main, at the thread's function,
 * or at the constructor that made the call. Frames of this library are never shown, nor is the code
 * from which the kernel calls a handler.
 *
 * The two kinds of context differ in frames of an MPI library or of a threading runtime. On the
 * stack of a counted call such frames only lie between two frames of the program. A sample may be
 * taken inside such a library: then its frames are the code that computes, and they are left out
 * only between frames of the program.
 *
 * AS-safe.
 */
#ifndef PC_SHOWN_H
#define PC_SHOWN_H

#include "libcollect/walk/walk.h"

#include <sys/auxv.h>

enum {
    /* Modules whose frames contexts of MPI calls leave out. */
    PC_SHOWN_NOT_IN_CALLS = PCOLLECT_MODULE_OWN | PCOLLECT_MODULE_MPI | PCOLLECT_MODULE_RUNTIME,
    /* Modules whose functions an MPI library may call when a signal interrupts it, in a call or in
     * a thread of its own: itself, the libraries below it, libc. */
    PC_SHOWN_INSIDE_MPI = PC_SHOWN_NOT_IN_CALLS | PCOLLECT_MODULE_LIBC,
    /* Modules that are not the program's: a runtime, and what it calls in libc. */
    PC_SHOWN_NOT_PROGRAM = PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_LIBC | PCOLLECT_MODULE_OWN
};

/* True for the loader. Its start code has no unwind table and no caller, so a walk that stops there
 * is complete. */
static inline bool pc_shown_is_loader(const struct pc_module *module)
{
    return module && module->bias == getauxval(AT_BASE);
}

/* True for the vdso, code of the kernel from which libraries read clocks. */
static inline bool pc_shown_is_vdso(const struct pc_module *module)
{
    return module->path[0] == '[';
}

/* True if a frame belongs to the start-up, provided that all frames outside of it do. */
static inline bool pc_shown_is_start(const struct pc_module *module, uintptr_t pc)
{
    if (!module)
        return false;
    if (module->flags & PCOLLECT_MODULE_EXE)
        return pc_walk_function_start(pc) == getauxval(AT_ENTRY);
    return module->flags & PCOLLECT_MODULE_LIBC;
}

#endif
