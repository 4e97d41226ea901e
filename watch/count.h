/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of a command, of running threads and processes, or of whole processors, from outside.
 *
 * Software events of the kernel are counted all the time; task-clock is always counted, and is the
 * time of a target. The other events are in groups that fit the processor's counters. Of several
 * groups one counts at a time, for a turn of random length; the full count of an event is then
 * estimated from the ratio of its counts to the time of its turns. The scatter of the turns about
 * that ratio gives the interval.
 *
 * Nothing here is MT-safe.
 */
#ifndef PCT_COUNT_H
#define PCT_COUNT_H

#include "counting/counting.h"

struct pct_count;

/* Figures of one event and one target, between two calls of pct_count_take. */
struct pct_count_figure {
    bool known;
    bool estimated;
    double value; /* task-clock: ns */
    double error; /* of an estimate: half of the 95 % interval; -1: too few turns */
    double share; /* part of the target's time in which the event counted; 0 to 1 */
};

enum {
    PCT_COUNT_CLOCK = 0, /* the number of the event task-clock, which is added */
    PCT_COUNT_MAX_EVENTS = PC_COUNTING_MAX_EVENTS - 1 /* beside it */
};

/* Counts these events, at most PCT_COUNT_MAX_EVENTS, each of which counts here (pc_counting_try).
 * per_group: as in struct pc_counting_what. PC_EIO, with the reason. */
int pct_count_new(const struct pc_counting_event *events, size_t n, uint32_t per_group,
                  struct pct_count **out, struct pc_error *error);

/* Counts nothing, where no event counts: targets can be added, and all figures are 0. */
struct pct_count *pct_count_nothing(void);

/* Adds a viewee to a target. Targets are numbered from 0; a new one has the next number. After
 * pct_count_start it is counted at once. */
int pct_count_add(struct pct_count *c, size_t target, const struct pc_counting_viewee *who,
                  struct pc_error *error);
size_t pct_count_n_viewees(const struct pct_count *c, size_t target);
/* Closes the viewees of a target except the first n; the target and its figures stay. */
void pct_count_keep(struct pct_count *c, size_t target, size_t n);

/* Starts to count; a viewee that waits for its exec starts then. */
void pct_count_start(struct pct_count *c);
/* Ends a turn if it is time, and begins the next. Returns the ns until it should be called again;
 * UINT64_MAX: never, all events count all the time. */
uint64_t pct_count_turn(struct pct_count *c);

/* Makes the figures of the time since the last call. */
void pct_count_take(struct pct_count *c);

size_t pct_count_n_targets(const struct pct_count *c);
/* True if events take turns. */
bool pct_count_turns(const struct pct_count *c);
/* The figure of an event: PCT_COUNT_CLOCK, or 1 + its index in the list. */
struct pct_count_figure pct_count_figure(const struct pct_count *c, size_t target, size_t event);
/* The sum over all targets. */
struct pct_count_figure pct_count_total(const struct pct_count *c, size_t event);

void pct_count_free(struct pct_count *c); /* NULL is allowed */

#endif
