/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the library in a process: rows with the functions of each part for the start of the
 * process, for a thread that enters or leaves, and for the end. Start, fork, merge and end go
 * through the rows and name no part.
 *
 * Invariant: a part depends only on those before it. find, start and enter go from the first row to
 * the last, all others from the last to the first.
 */
#ifndef PC_PARTS_H
#define PC_PARTS_H

#include "libcollect/context/thread.h"

/* Members may be NULL. */
struct pc_part {
    struct pc_thread_part thread;
    /* Reads the configuration; before the arena is there. */
    int (*find)(struct pc_error *error);
    /* The arena is open. A negative enum pc_err: nothing is measured. */
    int (*start)(void);
    /* MPI_Init is about to run / has returned. */
    void (*init_begin)(void);
    void (*init_end)(void);
    /* In the thread that merges, while the trees to be merged still grow. */
    void (*before_merge)(void);
    /* In a forked child: nothing of the parent's stays open. */
    void (*forget)(void);
    /* At the end of the process, after the merge. */
    void (*fini)(void);
};

int pc_parts_find(struct pc_error *error);
int pc_parts_start(void);
void pc_parts_init_begin(void);
void pc_parts_init_end(void);
void pc_parts_before_merge(void);
void pc_parts_forget(void);
void pc_parts_fini(void);

#endif
