/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the programs of a job and their ranks: see programs.h.
 */
#include "analysis/tree/programs.h"

#include "analysis/tree/label.h"

#include <stdlib.h>
#include <string.h>

static bool is_from_outside(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_ranks; i++)
        if (p->ranks[i].notes & PCOLLECT_NOTE_OUTSIDE)
            return true;
    return false;
}

/* Sets the only program, which all ranks run. */
static void set_one(struct pct_programs *out, const struct pc_profile *p)
{
    int32_t *ranks = pct_alloc(p->n_ranks, sizeof *ranks);
    for (uint32_t i = 0; i < p->n_ranks; i++)
        ranks[i] = p->ranks[i].rank;
    out->list[0] = (struct pct_program){p->exe, PC_NO_INDEX, ranks, p->n_ranks};
    out->n = 1;
}

void pct_programs_begin(struct pct_programs *out, const struct pc_profile *p)
{
    *out = (struct pct_programs){.n = 0};
    if (is_from_outside(p))
        return;
    out->list = pct_alloc((size_t)p->n_modules + 1, sizeof *out->list);
    for (uint32_t i = 0; i < p->n_modules; i++)
        if (p->modules[i].flags & PCOLLECT_MODULE_EXE)
            out->list[out->n++] = (struct pct_program){.path = p->modules[i].path, .module = i};
    if (out->n < 2)
        set_one(out, p);
    else
        for (uint32_t i = 0; i < out->n; i++)
            out->list[i].ranks = pct_alloc(p->n_ranks, sizeof *out->list[i].ranks);
}

/* Takes the ranks of the record, from any field that is kept of them, if they are more. Memory is
 * there already: while contexts are read, none may be refused. A damaged record may have more ranks
 * than the profile. */
static void take_ranks(const struct pc_profile *p, const struct pc_profile_data *d,
                       struct pct_program *to)
{
    struct pc_by_rank by = {.n = 0};
    for (uint32_t k = 0; d->n_ranks > to->n_ranks && !by.n && k < p->n_fields; k++)
        by = pc_data_by_rank(p, d, k);
    if (by.n <= to->n_ranks || by.n > p->n_ranks)
        return;
    memcpy(to->ranks, by.ranks, by.n * sizeof *to->ranks);
    to->n_ranks = by.n;
}

/* The program whose contexts begin with the one that was read last, or NULL. */
static struct pct_program *find_begun(const struct pct_programs *programs,
                                      const struct pc_contexts *c)
{
    const struct pc_profile_node *up = c->level ? pc_contexts_at(c, c->level - 1) : NULL;
    if (pct_label_begins_program(c->p, c->node, up))
        for (uint32_t i = 0; i < programs->n; i++)
            if (programs->list[i].module == c->node->module)
                return &programs->list[i];
    return NULL;
}

void pct_programs_take(struct pct_programs *programs, const struct pc_contexts *c)
{
    if (programs->n < 2)
        return;
    if (!programs->in || c->level <= programs->level) {
        programs->in = find_begun(programs, c);
        programs->level = c->level;
    }
    if (programs->in && c->data)
        take_ranks(c->p, c->data, programs->in);
}

static int by_first_rank(const void *a, const void *b)
{
    const struct pct_program *x = a, *y = b;
    return (x->ranks[0] > y->ranks[0]) - (x->ranks[0] < y->ranks[0]);
}

void pct_programs_end(struct pct_programs *programs, const struct pc_profile *p)
{
    uint64_t n_ranks = 0;
    programs->in = NULL;
    programs->known = true;
    for (uint32_t i = 0; i < programs->n; i++) {
        programs->known &= programs->list[i].n_ranks != 0;
        n_ranks += programs->list[i].n_ranks;
    }
    programs->known &= n_ranks == p->n_ranks;
    if (programs->n > 1)
        qsort(programs->list, programs->n, sizeof *programs->list,
              programs->known ? by_first_rank : pc_by_text);
}

void pct_programs_free(struct pct_programs *programs)
{
    for (uint32_t i = 0; i < programs->n; i++)
        pct_free(programs->list[i].ranks);
    pct_free(programs->list);
}
