/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of the structures of one version of CPython, as built for 64 bits with its global
 * lock.
 */
#ifndef PC_INTERPRETER_PRIVATE_H
#define PC_INTERPRETER_PRIVATE_H

#include "libcollect/walk/interpreter.h"

struct pc_python_layout {
    uint16_t version; /* PY_VERSION_HEX >> 16 */
    /* Ways in which the frames of one run of the loop are told from those outside of it.
     * by_cframes: each run has a _PyCFrame on the stack of C, which leads to its innermost frame
     * and to the _PyCFrame of the run outside. Else the outermost frame of a run is one of owner
     * c_stack, on the stack of C itself, that stands for no function. */
    bool by_cframes;
    uint8_t c_stack;
    /* PyThreadState: to the _PyCFrame (has_cframe) or to the innermost frame. */
    bool has_cframe;
    uint8_t thread_head, cframe_frame, cframe_previous;
    /* _PyInterpreterFrame. */
    uint8_t frame_code, frame_previous, frame_instruction, frame_owner;
    /* PyCodeObject. */
    uint8_t code_first_line, code_file, code_name, code_lines, code_first;
    /* Size of the head of a str: compact and all ASCII, compact. */
    uint8_t ascii_bytes, compact_bytes;
};

/* Facts found in the process. Written before the first thread reads it. */
struct pc_python {
    const struct pc_python_layout *layout; /* NULL: nothing is read */
    void *(*thread_state)(void);           /* PyGILState_GetThisThreadState */
    int (*finalizing)(void);               /* NULL: not exported */
    uintptr_t code_type, text_type, bytes_type;
    _Atomic bool trusted; /* a guarded reading has shown that the layout is right */
};

extern PC_HIDDEN struct pc_python pc_python;

#endif
