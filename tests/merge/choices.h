/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All runs of something that chooses: a run is repeated with the choices of the one before, but for
 * the last that has another value. States that were met are kept.
 */
#ifndef TESTS_MERGE_CHOICES_H
#define TESTS_MERGE_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_CHOICES = 4096 };

struct choices {
    /* Those of this run, and how many there were at each place. */
    unsigned choice[MOST_CHOICES], n_of[MOST_CHOICES], depth;
    unsigned prefix;             /* so many are given */
    char told[MOST_CHOICES][48]; /* what they stand for; the caller's */
    uint64_t *seen;
    size_t n_seen, room;
};

bool choices_have_room(const struct choices *c);
/* One of n; 0 where the run is new. */
unsigned choices_take(struct choices *c, unsigned n);
/* Sets the choices of the next run. False: there is none. */
bool choices_go_back(struct choices *c);
bool choices_is_new(struct choices *c, uint64_t state);
/* Forgets all. */
void choices_clear(struct choices *c);

#endif
