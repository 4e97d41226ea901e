/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path of the program that a process runs.
 */
#ifndef PC_PROGRAM_PATH_H
#define PC_PROGRAM_PATH_H

#include "base/base.h"

/* Writes the absolute path of this process's program: the script, if Python runs one, or the name
 * of the module (python -m). Empty: unknown. May change errno. */
void pc_program_path(char *out, size_t n);

#endif
