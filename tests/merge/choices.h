/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Explores all runs of code that makes choices: a run is repeated with the choices of the previous
 * one, except the last choice that has another value. States that were reached are stored.
 */
#ifndef TESTS_MERGE_CHOICES_H
#define TESTS_MERGE_CHOICES_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    return pc_hash_u64(hash * 31 + value);
}

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
/* Chooses one of n; 0 in the new part of the run. */
unsigned choices_take(struct choices *c, unsigned n);
/* Sets the choices of the next run. False: there is none. */
bool choices_go_back(struct choices *c);
bool choices_is_new(struct choices *c, uint64_t state);
/* Forgets all choices and states. */
void choices_clear(struct choices *c);

#endif
