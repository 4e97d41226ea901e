/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ends of a job that differ from pc_end_job, for ending_test.c: one of another version of the
 * library, and some that are intentionally wrong, which the explorer must find.
 */
#ifndef TESTS_MERGE_OTHER_ENDS_H
#define TESTS_MERGE_OTHER_ENDS_H

#include "merge/ending.h"

typedef enum pc_end other_end_fn(const struct pc_ending *e, const struct pc_transport *t,
                                 bool *tells, struct pc_error *error);

/* Rank 1 is of another version: each side sees the other's yes as an unknown message. */
other_end_fn end_of_another_version;

/* The arena is removed before the merge. */
other_end_fn remove_first;
/* The communicator is made before the vote. */
other_end_fn join_first;
/* Rank 3 of four has the tree by rank, whatever rank 0 has told it. */
other_end_fn miss_the_route;
/* A rank that has voted yes leaves after a second. */
other_end_fn leave_after_vote;
/* The wait for rank 0 has no limit. */
other_end_fn wait_for_answer;
/* No rank that has left looks again. */
other_end_fn look_never;
/* A rank that cannot begin does not announce that it leaves. */
other_end_fn leave_unseen;
/* Rank 0 does not see how late it is. */
other_end_fn without_a_clock;
/* Rank 0 asks nobody. */
other_end_fn do_not_vote;

#endif
