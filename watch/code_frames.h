/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of walked stacks: what file and function an address is in.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_CODE_FRAMES_H
#define PCT_CODE_FRAMES_H

#include "watch/copied_walk.h"
#include "watch/jit_names.h"

/* Names of the code of all processes; starts as zeros but for the files. */
struct pct_code_frames {
    struct pct_code_files *files;
    struct pct_stack_modules modules;
    struct pct_named_places named; /* places that are in no file */
    struct pct_known_frame *known; /* those in files, each once */
    size_t n_known, known_room;
    struct pct_hash_index by_place;
};

/* The frame of an address in the code of a process, whose made code has the names of `jit`. */
struct pct_stack_frame pct_code_frame(struct pct_code_frames *f, int pid,
                                      const struct pct_code *code, struct pct_jit *jit,
                                      const struct pct_walked *walked);

void pct_code_frames_free(struct pct_code_frames *f);

#endif
