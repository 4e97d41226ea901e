/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/open_calls.h"

#include "analysis/buffer.h"
#include "analysis/tree/totals.h"

#include <string.h>

static void read_table(const struct pc_profile *p, struct pct_open_calls *out, size_t *room)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "open_calls");
    uint32_t thread = pc_table_column(t, "thread", PCOLLECT_COLUMN_NUMBER),
             call = pc_table_column(t, "call", PCOLLECT_COLUMN_NODE),
             time = pc_table_column(t, "time", PCOLLECT_COLUMN_NUMBER), at = 0;
    if (pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) != 0 || call == PC_NO_INDEX)
        return;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        if (!pct_totals_rank_of_row(p, t, row, &at))
            continue;
        out->list = pct_grow(out->list, out->n, room, sizeof *out->list);
        struct pct_open_call *c = &out->list[out->n++];
        *c = (struct pct_open_call){.rank = at,
                                    .thread = pc_table_cell(t, row, thread),
                                    .node = (uint32_t)pc_table_cell(t, row, call),
                                    .ns = pc_table_cell(t, row, time)};
        out->ns += c->ns;
    }
}

bool pct_open_call_is_abort(const struct pc_profile *p, uint32_t node)
{
    const struct pc_profile_node *n = &p->nodes[node];
    return n->kind == PCOLLECT_NODE_OP && n->op < p->n_ops &&
           !strcmp(p->ops[n->op].name, "MPI_Abort");
}

bool pct_open_calls_abort(const struct pc_profile *p)
{
    bool any = false;
    for (uint32_t op = 0; op < p->n_ops && !any; op++)
        any = !strcmp(p->ops[op].name, "MPI_Abort");
    return any;
}

/* Adds the calls of MPI_Abort, which are booked before they are made: a rank that ended its job did
 * not leave this call. Which thread made it is not known. */
static void add_aborts(const struct pc_profile *p, struct pct_open_calls *out, size_t *room)
{
    if (!pct_open_calls_abort(p))
        return;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    for (uint32_t i = 0; i < p->n_nodes && p->n_fields; i++) {
        uint32_t call = pct_totals_call(p, i);
        if (!pct_open_call_is_abort(p, call))
            continue;
        struct pct_range range = pct_totals_add_field(p, i, 0, values, present);
        for (uint32_t r = range.first; r < range.end; r++) {
            if (present[r] && p->ranks[r].incomplete) {
                out->list = pct_grow(out->list, out->n, room, sizeof *out->list);
                out->list[out->n++] = (struct pct_open_call){.rank = r, .node = call};
            }
            present[r] = false;
        }
    }
    pct_free(values);
    pct_free(present);
}

struct pct_open_calls *pct_open_calls_new(const struct pc_profile *p)
{
    struct pct_open_calls *out = pct_alloc(1, sizeof *out);
    size_t room = 0;
    read_table(p, out, &room);
    add_aborts(p, out, &room);
    return out;
}

/* True if a call says more of where its rank was than another one does. */
static bool comes_first(const struct pct_open_call *call, const struct pct_open_call *than)
{
    if (!than || !call->thread != !than->thread)
        return !than || !call->thread;
    return call->ns > than->ns;
}

const struct pct_open_call **pct_open_calls_of_ranks(const struct pct_open_calls *c,
                                                     const struct pc_profile *p)
{
    const struct pct_open_call **of_rank = pct_alloc(p->n_ranks, sizeof *of_rank);
    for (size_t i = 0; i < c->n; i++)
        if (comes_first(&c->list[i], of_rank[c->list[i].rank]))
            of_rank[c->list[i].rank] = &c->list[i];
    return of_rank;
}

void pct_open_calls_free(struct pct_open_calls *c)
{
    if (!c)
        return;
    pct_free(c->list);
    pct_free(c);
}
