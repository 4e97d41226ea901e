/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of code that a process makes while it runs, as the compilers of Java, JavaScript and others
 * do: they write them into perf-PID.map in /tmp of the process, with its own number for itself, or
 * into a jitdump file (jit_dump.h), which they map as code to make it known. A line of the map has
 * address and length in hexadecimal, and the name.
 *
 * Such a file may be anything: it is read only if it belongs to root or to the user of the process,
 * a map up to a size, and lines of another form are left out. Nothing here is MT-safe.
 */
#ifndef PCT_JIT_NAMES_H
#define PCT_JIT_NAMES_H

#include "watch/named_places.h"

/* The code of one process; starts as zeros. */
struct pct_jit {
    struct pct_jit_range *ranges; /* by address, of equal addresses the newest last */
    size_t n, room;
    uint64_t n_read, next_look_ns; /* bytes of the map that were read */
    char *dump;                    /* path of the jitdump file for the process; NULL: none */
    uint64_t n_dump_read;          /* bytes of it */
};

/* Notes a file that the process has mapped as code, if it is a jitdump file. */
void pct_jit_note(struct pct_jit *jit, const char *path);

/* Gives a frame without a module its name, and the module of such code. The files are read again
 * when they have grown. False: there is no name. */
bool pct_jit_name(struct pct_jit *jit, int pid, struct pct_named_places *places,
                  struct pct_stack_modules *modules, struct pct_stack_frame *frame);
void pct_jit_clear(struct pct_jit *jit);

#endif
