/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps at the end of a job on one rank: meet, merge, mark, announce, remove. All effects on
 * the process go through a table of functions, so that a test can stop at every step.
 */
#ifndef PC_ENDING_H
#define PC_ENDING_H

#include "base/base.h"
#include "merge/route.h"

/* Time limits: for rank 0 to collect votes, for another rank to wait for the decision, and for
 * sending a message that no rank waits for. */
enum { PC_MEET_VOTE_MS = 10000, PC_MEET_ANSWER_MS = 60000, PC_MEET_FAREWELL_MS = 200 };

/* Times after which a waiting rank checks again whether some have left: 2 s, twice as long each
 * time up to 32 s, then 60 s. */
enum { PC_MEET_LOOK_MS = 2000, PC_MEET_LOOKS_MS = 60000 };

/* A rank in the meeting. */
struct pc_guest {
    /* A number that the ranks of this node have in common; 0: not known. It decides on the route:
     * see pc_nodes_find. */
    uint64_t node;
    int limit_ms; /* time limit for waiting for the others; -1: none, they are known to come */
    bool speaks;  /* tells the user that nothing was merged, if rank 0 is missing */
    /* Checks whether all can still come; if not, it changes the two members above. NULL: no
     * check. */
    void (*look)(struct pc_guest *guest);
    /* Announces, where the others look, that this rank takes no part although it was seen: it
     * cannot send them anything. NULL: nobody looks. */
    void (*leave)(struct pc_guest *guest);
    /* Called when this rank knows that all have come: until then it waited for the program, from
     * now on for this library. NULL: nobody asks. */
    void (*met)(struct pc_guest *guest);
};

/* Collective over the ranks that come. PC_OK: all take part, and the collective functions of the
 * transport may be called along *route_out; PC_ENOENT: some do not, and none may be called; another
 * error: this rank cannot. *tells_out: this rank must tell the user. */
int pc_meet(const struct pc_transport *t, const struct pc_guest *guest, struct pc_route *route_out,
            bool *tells_out);

/* Effects of the end on the process. */
struct pc_ending {
    void *self;
    struct pc_guest guest;
    /* The key of the job: all ranks get that of rank 0. */
    uint64_t (*key)(void *self);
    void (*take_key)(void *self, uint64_t key);
    /* Collective: PC_OK if the profile is in its place, the same on all ranks. */
    int (*merge)(void *self, const struct pc_transport *t, struct pc_error *error);
    void (*mark)(void *self);     /* marks the arena: it is in the profile */
    void (*announce)(void *self); /* rank 0: reports the path of the profile */
    void (*remove)(void *self);   /* removes the arena */
};

enum pc_end {
    PC_END_MERGED,
    PC_END_FAILED, /* all ranks met, but there is no profile: the arena stays */
    PC_END_UNMET   /* some ranks did not take part: the arena stays; a text: this one cannot */
};

enum pc_end pc_end_job(const struct pc_ending *e, const struct pc_transport *t, bool *tells_out,
                       struct pc_error *error);

#endif
