/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions of Python in contexts, in place of the interpreter's (doc/internals/python.md).
 *
 * A Python frame is a node FRAME of the module `python`, whose offset is a hash of function, file
 * and line; the table `symbols` says what it stands for, as it does where the command has stored
 * symbols in a profile. So a profile knows nothing of Python, and the same place has the same node
 * in each process. Invariant: the row is there before the node.
 *
 * A context is booked from the outermost frame inwards. The Python frames that a frame of C runs,
 * or that lie outside of it, are booked before it; a frame of the interpreter itself is not booked.
 */
#ifndef PC_PYTHON_H
#define PC_PYTHON_H

#include "libcollect/state/state.h"
#include "libcollect/walk/interpreter.h"

/* Looks for an interpreter; says so once if its version is not known. */
int pc_python_start(void);

/* The Python frames of the calling thread; NULL: it has none. `handler`: the interpreter may have
 * been interrupted anywhere. The stack is the thread's, for one use. The thread is busy. AS-safe.
 */
struct pc_python_stack *pc_python_read(struct pc_thread *t, bool handler);

/* Work that is left for a context that is being booked: frames [0, left) of the stack. */
struct pc_python_booking {
    struct pc_python_stack *stack; /* NULL: the thread has no Python frames */
    uint32_t left;
    pcollect_ref outside; /* context outside of the frame booked last, if nothing is inside of it */
    uint64_t last;        /* offset of that frame; 0: the frame booked last is not of Python */
};

static inline struct pc_python_booking pc_python_begin(struct pc_python_stack *stack)
{
    return (struct pc_python_booking){.stack = stack, .left = stack ? stack->n : 0};
}

/* Books the frames below `at` that are run by frames of C at or outside of the stack pointer sp.
 * Returns the context that they lead to; 0: no room. AS-safe. */
pcollect_ref pc_python_book(struct pc_thread *t, struct pc_python_booking *b, pcollect_ref at,
                            uintptr_t sp);

/* True for a frame of C that is not booked, because Python frames stand for it. */
static inline bool pc_python_is_folded(const struct pc_python_booking *b,
                                       const struct pc_module *module)
{
    return b->stack && module == pc_interpreter;
}

/* True if the interrupted instruction belongs to the interpreter and works for the Python frame
 * booked last: then the POINT is that frame, and *parent becomes its parent. */
static inline bool pc_python_is_point(const struct pc_python_booking *b,
                                      const struct pc_module *module, pcollect_ref *parent)
{
    if (!pc_python_is_folded(b, module) || !b->last)
        return false;
    *parent = b->outside;
    return true;
}

/* The module `python` in the arena. */
pcollect_ref pc_python_module(void);

/* The context of a call whose frames of C are those of leaf `cached` of the path cache, and whose
 * frames of Python may differ from those of the leaf. May change errno: the caller keeps it. */
struct pc_path_leaf pc_python_leaf(struct pc_thread *t, const struct pc_call *call, unsigned slot,
                                   uint32_t cached);

#endif
