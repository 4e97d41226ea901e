/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of Python's contexts share: the table that says what their nodes stand for.
 */
#ifndef PC_PYTHON_PRIVATE_H
#define PC_PYTHON_PRIVATE_H

#include "libcollect/state/plugin_table.h"

/* Values of a row; keys are module, offset, depth. Must agree with
 * analysis/symbols/symbols_stored.c. */
enum { PC_PYTHON_FUNCTION, PC_PYTHON_SOURCE, PC_PYTHON_LINE, PC_PYTHON_INLINED };

extern PC_HIDDEN const struct pcollect_table pc_python_symbols;

/* In the arena, set when the process starts. */
struct pc_python_texts {
    pcollect_ref module, module_name;
};

extern PC_HIDDEN struct pc_python_texts pc_python_texts;

#endif
