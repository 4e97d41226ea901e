/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of walked stacks: what file and function an address is in.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_CODE_FRAMES_H
#define PCT_CODE_FRAMES_H

#include "analysis/buffer.h"
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

/* Stacks that were cut in code of files without an unwind table. */
struct pct_tableless {
    uint64_t n;
    size_t n_files;
    const char *most; /* the file in which most are; NULL: there are none. Valid as long as the
                         names */
    enum pct_tableless_kind kind; /* of that file */
};

/* Counts such a stack in the code of a process, by its outermost frame and where that was found. */
void pct_code_frames_cut(struct pct_code_frames *f, const struct pct_code *code,
                         const struct pct_walked *walked, const struct pct_stack_frame *outermost);
struct pct_tableless pct_code_frames_tableless(const struct pct_code_frames *f);
/* Appends where that was, and what cures it if anything does: "in FILE, which has no unwind table
 * (...)". */
void pct_tableless_put(struct pct_buf *b, const struct pct_tableless *t);

void pct_code_frames_free(struct pct_code_frames *f);

#endif
