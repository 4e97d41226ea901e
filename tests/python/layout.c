/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares the offsets that libcollect has for structures of CPython with the headers that it is
 * compiled with. Prints "same", or the differences.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>

#include "libcollect/walk/interpreter.c"

#include <stdio.h>

static int n_other;

static void compare(const char *what, size_t ours, size_t theirs)
{
    if (ours == theirs)
        return;
    printf("%s: %zu here, %zu there\n", what, ours, theirs);
    n_other++;
}

#define COMPARE(member, type, theirs) compare(#member, l->member, offsetof(type, theirs))

int main(void)
{
    const struct pc_python_layout *l = pc_python_layout_of(PY_VERSION_HEX);
    if (!l) {
        puts("not known");
        return 1;
    }
#if PY_VERSION_HEX < 0x030d0000
    COMPARE(thread_head, PyThreadState, cframe);
    COMPARE(cframe_frame, _PyCFrame, current_frame);
    COMPARE(cframe_previous, _PyCFrame, previous);
    COMPARE(frame_code, _PyInterpreterFrame, f_code);
    COMPARE(frame_instruction, _PyInterpreterFrame, prev_instr);
#else
    COMPARE(thread_head, PyThreadState, current_frame);
    COMPARE(frame_code, _PyInterpreterFrame, f_executable);
    COMPARE(frame_instruction, _PyInterpreterFrame, instr_ptr);
#endif
#if PY_VERSION_HEX >= 0x030c0000
    compare("c_stack", l->c_stack, FRAME_OWNED_BY_CSTACK);
#endif
    COMPARE(runtime_head, _PyRuntimeState, interpreters.head);
    COMPARE(interpreter_next, PyInterpreterState, next);
    COMPARE(interpreter_threads, PyInterpreterState, threads.head);
    COMPARE(thread_next, PyThreadState, next);
    COMPARE(thread_tid, PyThreadState, native_thread_id);
    COMPARE(frame_previous, _PyInterpreterFrame, previous);
    COMPARE(frame_owner, _PyInterpreterFrame, owner);
    COMPARE(code_first_line, PyCodeObject, co_firstlineno);
    COMPARE(code_file, PyCodeObject, co_filename);
    COMPARE(code_name, PyCodeObject, co_qualname);
    COMPARE(code_lines, PyCodeObject, co_linetable);
    COMPARE(code_first, PyCodeObject, co_code_adaptive);
    compare("ascii_bytes", l->ascii_bytes, sizeof(PyASCIIObject));
    compare("compact_bytes", l->compact_bytes, sizeof(PyCompactUnicodeObject));
    if (!n_other)
        puts("same");
    return n_other != 0;
}
