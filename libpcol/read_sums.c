/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums by any keys: each set of keys that is requested becomes a table, in a list of the profile.
 */
#include "libpcol/libpcol_private.h"

struct sums {
    unsigned by;
    struct pct_cube cube;
    struct pcol_table table;
    struct sums *next;
};

static struct sums *find_sums(const struct pcol_profile *p, unsigned by)
{
    struct sums *s = p->sums;
    while (s && s->by != by)
        s = s->next;
    return s;
}

struct asked_sums {
    struct pcol_profile *p;
    unsigned by;
};

static void make_sums(void *asked)
{
    const struct asked_sums *a = asked;
    struct sums *s = pct_alloc(1, sizeof *s);
    unsigned by = 0;
    for (unsigned left = a->by, i = 0; left; left >>= 1, i++)
        by |= left & 1 ? pct_by[i].keys : 0;
    pct_cube_make(&s->cube, a->p->data, by, "sums");
    pct_lib_set_table(&s->table, a->p, &s->cube.table, &s->cube.data);
    s->by = a->by;
    s->next = a->p->sums;
    a->p->sums = s;
}

const struct pcol_table *pcol_sums(struct pcol_profile *p, unsigned by)
{
    if (!by || by >= 2 * PCOL_BY_RANK) /* the last of them */
        return NULL;
    if (!find_sums(p, by))
        pct_lib_run(p, make_sums, &(struct asked_sums){p, by});
    struct sums *s = find_sums(p, by);
    return s ? &s->table : NULL;
}
