/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ends of a job that differ from the project's own: see other_ends.h. Each changes the arguments of
 * the real end.
 */
#include "tests/merge/other_ends.h"

#include <stddef.h>

/* ---- Another version ------------------------------------------------------------------------- */

static int (*real_begin)(void *self, enum pc_meeting_step step, char word);
static char (*real_word)(void *self, enum pc_meeting_step step, int rank);

/* Each rank sees the other's yes as an unknown message. */
static int begin_otherwise(void *self, enum pc_meeting_step step, char word)
{
    return real_begin(self, step, (char)(word > 3 ? word + 1 : word));
}

static char word_otherwise(void *self, enum pc_meeting_step step, int rank)
{
    char word = real_word(self, step, rank);
    return (char)(word > 3 ? word - 1 : word);
}

enum pc_end end_of_another_version(const struct pc_ending *e, const struct pc_transport *t,
                                   bool *tells, struct pc_error *error)
{
    struct pc_transport other = *t;
    real_begin = t->begin;
    real_word = t->word;
    other.begin = begin_otherwise;
    other.word = word_otherwise;
    return pc_end_job(e, t->rank == 1 ? &other : t, tells, error);
}

/* ---- Ends that are wrong --------------------------------------------------------------------- */

enum pc_end remove_first(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                         struct pc_error *error)
{
    e->remove(e->self);
    return pc_end_job(e, t, tells, error);
}

enum pc_end join_first(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                       struct pc_error *error)
{
    struct pc_transport joined = *t;
    joined.join = NULL;
    return t->join(t->self) ? PC_END_UNMET : pc_end_job(e, &joined, tells, error);
}

static void *(*real_with_word)(void *self, enum pc_meeting_step step, int rank);

static void *by_rank_of_four(void *self, enum pc_meeting_step step, int rank)
{
    void *p = real_with_word(self, step, rank);
    if (step == PC_MEET_OPEN)
        pc_route_by_rank(p, rank, 4);
    return p;
}

enum pc_end miss_the_route(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                           struct pc_error *error)
{
    struct pc_transport missing = *t;
    real_with_word = t->with_word;
    missing.with_word = by_rank_of_four;
    return pc_end_job(e, t->rank == 3 ? &missing : t, tells, error);
}

/* Bounds each limit of the code: no wait for the step is longer than `hurried_ms`. */
static enum pc_meeting_step hurried;
static int hurried_ms;
static int (*real_await)(void *self, enum pc_meeting_step step, int limit_ms);

static int await_hurried(void *self, enum pc_meeting_step step, int limit_ms)
{
    return real_await(self, step, step == hurried ? hurried_ms : limit_ms);
}

static enum pc_end hurry(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                         struct pc_error *error)
{
    struct pc_transport hurrying = *t;
    real_await = t->await;
    hurrying.await = await_hurried;
    return pc_end_job(e, &hurrying, tells, error);
}

enum pc_end leave_after_vote(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                             struct pc_error *error)
{
    hurried = PC_MEET_DECISION;
    hurried_ms = 1000;
    return hurry(e, t, tells, error);
}

enum pc_end wait_for_answer(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                            struct pc_error *error)
{
    hurried = PC_MEET_OPEN;
    hurried_ms = -1;
    return hurry(e, t, tells, error);
}

enum pc_end look_never(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                       struct pc_error *error)
{
    struct pc_ending blind = *e;
    blind.guest.look = NULL;
    return pc_end_job(&blind, t, tells, error);
}

enum pc_end leave_unseen(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                         struct pc_error *error)
{
    struct pc_ending silent = *e;
    silent.guest.leave = NULL;
    return pc_end_job(&silent, t, tells, error);
}

static uint64_t stopped_clock(void *self)
{
    (void)self;
    return 0;
}

enum pc_end without_a_clock(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                            struct pc_error *error)
{
    struct pc_transport timeless = *t;
    timeless.now_ms = stopped_clock;
    return pc_end_job(e, &timeless, tells, error);
}

enum pc_end do_not_vote(const struct pc_ending *e, const struct pc_transport *t, bool *tells,
                        struct pc_error *error)
{
    const struct pc_transport known = {.self = t->self,
                                       .rank = t->rank,
                                       .n_ranks = t->n_ranks,
                                       .join = t->join,
                                       .send = t->send,
                                       .receive_size = t->receive_size,
                                       .receive = t->receive,
                                       .broadcast = t->broadcast};
    return pc_end_job(e, t->rank ? t : &known, tells, error);
}
