/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The runtimes of OpenMP, by the names of their files.
 */
#ifndef PC_TEAM_RUNTIME_H
#define PC_TEAM_RUNTIME_H

#include <stdbool.h>
#include <string.h>

/* True for the library, named without its folder, in which threads of a team wait for each other.
 * AS-safe. */
static inline bool pc_is_team_runtime(const char *name)
{
    return !strncmp(name, "libgomp", 7) || !strncmp(name, "libiomp5.", 9) ||
           !strncmp(name, "libomp.", 7) || !strncmp(name, "libomp-", 7);
}

#endif
