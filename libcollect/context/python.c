/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prepares contexts of Python: finds the interpreter, and adds the table that describes what their
 * nodes stand for.
 */
#include "libcollect/context/python.h"
#include "libcollect/context/python_private.h"
#include "plugins/columns.h"

static const char module_name[] = PCOLLECT_MODULE_PYTHON;
struct pc_python_texts pc_python_texts;

static const struct pcollect_column columns[] = {
    PC_KEY("module", "python", STRING),
    PC_KEY("offset", "of a Python frame", NUMBER),
    PC_KEY("depth", "0", NUMBER),
    PC_VALUE("function", "qualified name", STRING, MAX, COUNT),
    PC_VALUE("file", "as the interpreter names it", STRING, MAX, COUNT),
    PC_MAX("line", "at which the function is", COUNT),
    PC_MAX("inlined", "0", COUNT)};
const struct pcollect_table pc_python_symbols = {.name = "symbols",
                                                 .doc = "functions of Python",
                                                 .columns = columns,
                                                 .n_keys = 3,
                                                 .n_values = 4,
                                                 .flags = PCOLLECT_TABLE_KEPT};

int pc_python_start(void)
{
    const struct pcollect_module module = {.path_bytes = sizeof module_name - 1};
    uint32_t version;
    enum pc_interpreter_found found = pc_interpreter_find(&version);
    if (found == PC_INTERPRETER_UNKNOWN)
        pc_core_complain("this version of Python is not known (3.11 to 3.13 are): functions of the "
                         "interpreter are shown, not those of Python");
    if (found != PC_INTERPRETER_READ)
        return PC_OK;
    pc_python_texts.module = pc_arena_add_module(&pc_process.arena, &module, module_name);
    pc_python_texts.module_name = pc_table_string(module_name);
    if (!pc_python_texts.module || !pc_python_texts.module_name)
        return PC_ENOMEM;
    return pc_table_add("pcollect", &pc_python_symbols);
}
