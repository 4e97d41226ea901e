/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is left to this process. Used by reduce.c.
 */
#ifndef PC_MERGE_ROOM_H
#define PC_MERGE_ROOM_H

#include <stdint.h>

/* Bytes that this process can still take without swapping: on this machine, and within the limits
 * of its groups of processes (cgroups of version 1 and 2, with all groups above them). UINT64_MAX:
 * not known. Keeps errno. MT-safe. */
uint64_t pc_memory_available(void);

/* Does so by the files in a copy of / that is in the folder `root`. */
uint64_t pc_memory_available_in(const char *root);

#endif
