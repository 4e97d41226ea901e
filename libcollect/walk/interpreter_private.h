/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interpreter found in this process.
 */
#ifndef PC_INTERPRETER_PRIVATE_H
#define PC_INTERPRETER_PRIVATE_H

#include "libcollect/walk/interpreter.h"

/* Written once, before the first thread reads it. */
struct pc_python {
    const struct pc_python_layout *layout; /* NULL: nothing is read */
    void *(*thread_state)(void);           /* PyGILState_GetThisThreadState */
    int (*finalizing)(void);               /* NULL: not exported */
    uintptr_t code_type, text_type, bytes_type;
    _Atomic bool trusted; /* a guarded reading has shown that the layout is right */
};

extern PC_HIDDEN struct pc_python pc_python;

#endif
