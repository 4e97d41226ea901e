/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Python functions that a thread of another process is in, read from the interpreter's own
 * structures (doc/internals/python.md), and put in place of the interpreter's frames.
 *
 * Nothing that is read is trusted: the type of each object is checked, and lists are bounded.
 */
#ifndef PCT_PYTHON_FRAMES_H
#define PCT_PYTHON_FRAMES_H

#include "analysis/symbols/symbols.h"
#include "libcollect/walk/interpreter.h"
#include "watch/stack_tree.h"

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

/* Functions, files and lines of frames of Python, each once. */
struct pct_python_places {
    struct pct_python_place **at;
    size_t n, room;
};

/* Replaces the interpreter's frames by Python's. A stack whose C frames do not match is left
 * unchanged. */
void pct_python_put(const struct pct_python *py, const struct pct_python_frames *frames,
                    struct pct_stack_modules *modules, struct pct_python_places *places,
                    struct pct_stack *stack);

/* Adds the Python frames of a profile p of such stacks to the symbols s. The places must outlive
 * s. */
void pct_python_teach(const struct pct_python_places *places, const struct pc_profile *p,
                      struct pct_symbols *s);

/* Passes each of them to `take`. */
void pct_python_each(const struct pct_python_places *places,
                     void (*take)(void *arg, uint64_t offset, const struct pct_frame *frame),
                     void *arg);

void pct_python_places_free(struct pct_python_places *places);

#endif
