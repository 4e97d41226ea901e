/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The board on which the ranks of a node leave what they did after the merge, so that one of them
 * writes it into the profile for all. It is a small file in the folder of the arenas that each rank
 * maps before the merge; after the merge its name is removed, and it disappears with the last
 * process that maps it. No rank waits for another: each leaves its part, and writes only if every
 * living rank has reached the same state. A rank without a file in a spool has no board and writes
 * for itself.
 *
 * Invariants: a rank is on one board at most, and the ranks of a board do not change after the
 * merge, so no two boards write to the same bytes of the profile. The part of a rank is complete
 * before its state is set. The last rank that sets its state sees the parts of all. One rank of a
 * board writes at a time, and writes again if a part was left meanwhile: so the profile finally has
 * the parts of all.
 */
#ifndef PC_BOARD_H
#define PC_BOARD_H

#include "cct/cct.h"

struct pc_profile;

enum { PC_BOARD_BYTES = (8 + 2 * 512) * 4096 };

/* The place of one rank. Zero-initialised: no place. */
struct pc_board {
    struct pc_board_head *head; /* the mapping; NULL: no board */
    uint32_t place;
};

/* Opens the board. Called before the merge, when all ranks know the key of the job. Keeps errno. */
void pc_board_join(struct pc_board *b, const struct pc_arena *arena);

/* Removes the name of the file. Called after the merge, when no more ranks will join. Keeps
 * errno. */
void pc_board_close(const struct pc_arena *arena);

/* Removes the name of the board of a job that was killed before it could do so. */
void pc_board_remove(const char *folder, uint64_t job_key);

/* Progress of a rank. */
enum pc_board_state {
    PC_BOARD_JOINED = 1,
    PC_BOARD_FINALIZED, /* has left MPI_Finalize */
    PC_BOARD_ENDED      /* is at its exit */
};

/* Leaves what this rank did after the merge up to that state; writes the parts of all into the
 * profile if it is the last to reach it. Without a board it writes its own part. */
int pc_board_leave(const struct pc_board *b, enum pc_board_state state, const char *path,
                   const struct pc_profile *late, struct pc_error *error);

#endif
