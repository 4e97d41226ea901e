/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/choices.h"

#include <stdlib.h>

bool choices_have_room(const struct choices *c)
{
    return c->depth < MOST_CHOICES;
}

unsigned choices_take(struct choices *c, unsigned n)
{
    if (c->depth >= c->prefix) {
        c->choice[c->depth] = 0;
        c->n_of[c->depth] = n;
    }
    return c->choice[c->depth++];
}

bool choices_go_back(struct choices *c)
{
    while (c->depth && c->choice[c->depth - 1] + 1 == c->n_of[c->depth - 1])
        c->depth--;
    if (!c->depth)
        return false;
    c->choice[c->depth - 1]++;
    c->prefix = c->depth;
    return true;
}

static void grow(struct choices *c)
{
    uint64_t *old = c->seen;
    size_t n = c->room;
    c->room = n ? 2 * n : 1 << 16;
    c->seen = calloc(c->room, sizeof *c->seen);
    c->n_seen = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i])
            choices_is_new(c, old[i]);
    free(old);
}

bool choices_is_new(struct choices *c, uint64_t state)
{
    if (2 * (c->n_seen + 1) > c->room)
        grow(c);
    state = state ? state : 1;
    size_t at = state % c->room;
    while (c->seen[at] && c->seen[at] != state)
        at = (at + 1) % c->room;
    if (c->seen[at])
        return false;
    c->seen[at] = state;
    c->n_seen++;
    return true;
}

void choices_clear(struct choices *c)
{
    free(c->seen);
    c->seen = NULL;
    c->n_seen = c->room = 0;
    c->depth = c->prefix = 0;
}
