/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The second part of a copy of an arena whose owner writes (arena_file.c).
 */
#ifndef PC_MERGE_ARENA_RENEW_H
#define PC_MERGE_ARENA_RENEW_H

#include "cct/cct.h"

/* Reads the records again whose histograms have wide counts: these were copied before or after
 * their bytes. `live` is the arena, of n bytes; `copied` bytes of it are in the copy. */
void pc_arena_renew_records(const char *live, size_t n, char *copy, size_t copied);

#endif
