/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The script that an interpreter runs: what people call the program.
 */
#ifndef PC_SCRIPT_H
#define PC_SCRIPT_H

#include "base/base.h"

/* Finds the script or module that Python runs, from its own path and its command line of n bytes,
 * with a terminator behind each word and one more behind the last. NULL: `exe` is no Python, or the
 * code has no name. The result is in `command`. AS-safe, MT-safe. */
const char *pc_script_find(const char *exe, const char *command, size_t n, bool *is_module);

#endif
