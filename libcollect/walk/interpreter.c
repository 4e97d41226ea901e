/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds an interpreter of CPython in the process, the program itself or libpython, and the layout
 * of its version. This happens once, when collecting starts: an interpreter that is loaded later is
 * not read.
 */
#include "base/exports.h"
#include "libcollect/walk/interpreter_private.h"

#include <string.h>

/* Layouts from the headers of 3.11.2, 3.12.1 and 3.13.0; tests/python/structures.test compares them
 * with the headers that are installed. */
static const struct pc_python_layout layouts[] = {
    {.version = 0x030b,
     .by_cframes = true,
     .has_cframe = true,
     .thread_head = 56,
     .cframe_frame = 8,
     .cframe_previous = 16,
     .runtime_head = 40,
     .interpreter_next = 0,
     .interpreter_threads = 16,
     .thread_next = 8,
     .thread_tid = 160,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_instruction = 56,
     .frame_owner = 69,
     .code_first_line = 72,
     .code_file = 112,
     .code_name = 128,
     .code_lines = 136,
     .code_first = 184,
     .ascii_bytes = 48,
     .compact_bytes = 72},
    {.version = 0x030c,
     .has_cframe = true,
     .thread_head = 56,
     .cframe_frame = 0,
     .cframe_previous = 8,
     .runtime_head = 40,
     .interpreter_next = 0,
     .interpreter_threads = 72,
     .thread_next = 8,
     .thread_tid = 144,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_instruction = 56,
     .frame_owner = 70,
     .c_stack = 3,
     .code_first_line = 68,
     .code_file = 112,
     .code_name = 128,
     .code_lines = 136,
     .code_first = 192,
     .ascii_bytes = 40,
     .compact_bytes = 56},
    {.version = 0x030d,
     .thread_head = 72,
     .runtime_head = 632,
     .interpreter_next = 7264,
     .interpreter_threads = 7344,
     .thread_next = 8,
     .thread_tid = 160,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_instruction = 56,
     .frame_owner = 70,
     .c_stack = 3,
     .code_first_line = 68,
     .code_file = 112,
     .code_name = 128,
     .code_lines = 136,
     .code_first = 200,
     .ascii_bytes = 40,
     .compact_bytes = 56},
};

struct pc_python pc_python;
struct pc_module *pc_interpreter;

struct search {
    struct pc_module *module;
    struct pc_exports elf;
};

static int find_module(struct pc_module *module, void *arg)
{
    struct search *s = arg;
    if (!pc_exports_open(&s->elf, module->bias, module->lo, module->hi) ||
        !pc_exports_find(&s->elf, "_PyEval_EvalFrameDefault") ||
        !pc_exports_find(&s->elf, "PyGILState_GetThisThreadState"))
        return 0;
    s->module = module;
    return 1;
}

/* The version of the interpreter; 0 before 3.11, which has no such variable. */
static uint32_t read_version(const struct pc_exports *elf)
{
    const unsigned long *version = (const void *)pc_exports_find(elf, "Py_Version");
    return version ? (uint32_t)*version : 0;
}

const struct pc_python_layout *pc_python_layout_of(uint32_t version)
{
    bool fits = sizeof(void *) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (size_t i = 0; fits && i < PC_ARRAY_LEN(layouts); i++)
        if (layouts[i].version == version >> 16)
            return &layouts[i];
    return NULL;
}

enum pc_interpreter_found pc_interpreter_find(uint32_t *version_out)
{
    struct search s = {.module = NULL};
    *version_out = 0;
    pc_loadmap_each(find_module, &s);
    if (!s.module)
        return PC_INTERPRETER_NONE;
    *version_out = read_version(&s.elf);
    const struct pc_python_layout *layout = pc_python_layout_of(*version_out);
    pc_python.thread_state =
        (void *(*)(void))pc_exports_find(&s.elf, "PyGILState_GetThisThreadState");
    pc_python.finalizing = (int (*)(void))pc_exports_find(&s.elf, "_Py_IsFinalizing");
    if (!pc_python.finalizing)
        pc_python.finalizing = (int (*)(void))pc_exports_find(&s.elf, "Py_IsFinalizing");
    pc_python.code_type = pc_exports_find(&s.elf, "PyCode_Type");
    pc_python.text_type = pc_exports_find(&s.elf, "PyUnicode_Type");
    pc_python.bytes_type = pc_exports_find(&s.elf, "PyBytes_Type");
    if (!layout || !pc_python.code_type || !pc_python.text_type || !pc_python.bytes_type)
        return PC_INTERPRETER_UNKNOWN;
    pc_python.layout = layout;
    pc_interpreter = s.module;
    return PC_INTERPRETER_READ;
}
