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

/* Keys by bit of enum pcol_by. */
static const unsigned keys_of[] = {
    PCT_BY_FUNCTION,   PCT_BY_LINE,          PCT_BY_FILE,
    PCT_BY_MODULE,     PCT_BY_SITE,          PCT_KEY_CONTEXT | PCT_KEY_PRIMITIVE,
    PCT_KEY_PRIMITIVE, PCT_KEY_COMMUNICATOR, PCT_KEY_PHASE,
    PCT_KEY_REGION,    PCT_KEY_RANK,
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
    unsigned keys = 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(keys_of); i++)
        keys |= a->by >> i & 1 ? keys_of[i] : 0;
    pct_cube_make(&s->cube, a->p->data, keys, "sums");
    pct_lib_set_table(&s->table, a->p, &s->cube.table, &s->cube.data);
    s->by = a->by;
    s->next = a->p->sums;
    a->p->sums = s;
}

const struct pcol_table *pcol_sums(struct pcol_profile *p, unsigned by)
{
    if (!by || by >> PC_ARRAY_LEN(keys_of))
        return NULL;
    if (!find_sums(p, by))
        pct_lib_run(p, make_sums, &(struct asked_sums){p, by});
    struct sums *s = find_sums(p, by);
    return s ? &s->table : NULL;
}
