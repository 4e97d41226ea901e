/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a job on one rank, in its order: meet, merge, mark, tell, remove. All effects on the
 * process go through a table of functions, so that a test can stop at every step.
 */
#ifndef PC_ENDING_H
#define PC_ENDING_H

#include "base/base.h"
#include "merge/transport.h"

/* Limits of time: for rank 0 to collect votes, for another rank to wait for the decision, and for a
 * message to leave for which no rank waits. */
enum { PC_MEET_VOTE_MS = 10000, PC_MEET_ANSWER_MS = 60000, PC_MEET_FAREWELL_MS = 200 };

/* Times after which a waiting rank checks again if some have left: 2 s, 4 s, 8 s, then each minute.
 */
enum { PC_MEET_LOOK_MS = 2000, PC_MEET_LOOKS_MS = 60000 };

/* A rank that comes to the meeting. */
struct pc_guest {
    int limit_ms; /* for which it waits for the others; -1: they are known to come */
    bool speaks;  /* tells the user that nothing was merged, if rank 0 is not there to do so */
    /* Checks if all can still come, and if not changes the two members above; NULL: no check. */
    void (*look)(struct pc_guest *guest);
};

/* Collective as far as there are others. PC_OK: all take part, and the collective functions of the
 * transport may be called; PC_ENOENT: not all, nothing may be called. *tells_out: this rank is the
 * one that tells the user. */
int pc_meet(const struct pc_transport *t, const struct pc_guest *guest, bool *tells_out);

/* Effects of the end on the process. */
struct pc_ending {
    void *self;
    struct pc_guest guest;
    /* The key of the job: rank 0's is given to all. */
    uint64_t (*key)(void *self);
    void (*take_key)(void *self, uint64_t key);
    /* Collective: PC_OK if the profile is in its place, the same on all ranks. */
    int (*merge)(void *self, const struct pc_transport *t, struct pc_error *error);
    void (*mark)(void *self);     /* the arena: it is in the profile */
    void (*announce)(void *self); /* rank 0: where the profile is */
    void (*remove)(void *self);   /* the arena */
};

enum pc_end {
    PC_END_MERGED,
    PC_END_FAILED, /* all met, and there is no profile: the arena stays */
    PC_END_UNMET   /* likewise, since some did not take part */
};

enum pc_end pc_end_job(const struct pc_ending *e, const struct pc_transport *t, bool *tells_out,
                       struct pc_error *error);

#endif
