/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Python functions that a thread of another process is in, read from the interpreter's own
 * structures (doc/internals/python.md), and put in place of the interpreter's frames.
 *
 * Nothing that is read is trusted: the type of each object is checked, and lists are bounded.
 */
#ifndef PCT_PYTHON_FRAMES_H
#define PCT_PYTHON_FRAMES_H

#include "libcollect/walk/interpreter.h"
#include "watch/named_places.h"

/* The interpreter of a process; layout NULL: there is none whose version is known. */
struct pct_python {
    int pid;
    const struct pc_python_layout *layout;
    const struct pct_stack_module *module;
    uint64_t runtime, code_type, text_type, bytes_type; /* addresses in that process */
};

struct pct_python_frame {
    uint64_t code; /* the code object */
    int64_t place; /* of the instruction: bytes from the first one */
    uint32_t run;  /* number of the run, which one frame of C executes; 0: the innermost */
};

/* Frames of one thread, the innermost first. */
struct pct_python_frames {
    size_t n;
    uint32_t n_runs;
    struct pct_python_frame list[PCT_STACK_FRAMES];
};

/* Reads the frames of a thread; n is 0 if there are none. The thread must not run meanwhile. */
void pct_python_read(const struct pct_python *py, int tid, struct pct_python_frames *out);

/* Replaces the interpreter's frames by Python's. A stack whose C frames do not match is left
 * unchanged. */
void pct_python_put(const struct pct_python *py, const struct pct_python_frames *frames,
                    struct pct_stack_modules *modules, struct pct_named_places *places,
                    struct pct_stack *stack);

#endif
