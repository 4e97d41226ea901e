/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is left on this machine. Used by reduce.c.
 */
#ifndef PC_MERGE_ROOM_H
#define PC_MERGE_ROOM_H

#include <stdint.h>

/* Bytes that processes of this machine can still take without swapping; UINT64_MAX: not known.
 * Limits of groups of processes (cgroups) are not considered. Keeps errno. MT-safe. */
uint64_t pc_memory_available(void);

#endif
