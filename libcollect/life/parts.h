/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the library in a process: rows with the functions of each part for the start of the
 * process, for a thread that enters or leaves, and for the end. Start, fork, merge and end go
 * through the rows and name no part.
 *
 * Invariant: a part depends only on those before it. find, tables, start and enter go from the
 * first row to the last, all others from the last to the first.
 */
#ifndef PC_PARTS_H
#define PC_PARTS_H

#include "libcollect/context/thread.h"

/* Members may be NULL. */
struct pc_part {
    struct pc_thread_part thread;
    /* Reads the configuration. The arena is not open yet. */
    int (*find)(struct pc_error *error);
    /* The arena is open. If one of these returns a negative enum pc_err, nothing is measured.
     * Tables are added first of all, so that no plugin takes their names. */
    int (*tables)(void);
    int (*start)(void);
    /* MPI_Init is about to run / has returned. */
    void (*init_begin)(void);
    void (*init_end)(void);
    /* Runs in the thread that merges, while the trees to be merged may still grow. */
    void (*before_merge)(void);
    /* Runs in a forked child: closes everything of the parent. */
    void (*forget)(void);
    /* Runs at the end of the process, after the merge. */
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
