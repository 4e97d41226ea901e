/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tells which ranks exchange messages, and which take part in most of them: sums over the rows of
 * the table `pairs`, each of which is read once.
 *
 * Data structure: a forest of ranks, by index in the profile; ranks with one root are linked. All
 * processes that are not in the profile are one more vertex: what they exchange is not known.
 */
#include "analysis/traffic/traffic.h"

#include "analysis/tree/totals.h"

#include <string.h>

/* The root of a vertex; shortens the way to it. */
static uint32_t root_of(uint32_t *up, uint32_t v)
{
    while (up[v] != v) {
        up[v] = up[up[v]];
        v = up[v];
    }
    return v;
}

/* Messages of one pair: the sender counts them, and the receiver. */
struct link {
    uint32_t from, to; /* vertices */
    uint64_t sent, received;
    bool is_transfer; /* of a window */
};

static void add_link(struct pct_partners *all, uint32_t *up, uint64_t *with_next,
                     const struct link *link)
{
    uint32_t n = all->n;
    uint64_t messages = link->sent > link->received ? link->sent : link->received;
    uint32_t low = link->from < link->to ? link->from : link->to,
             high = link->from < link->to ? link->to : link->from;
    up[root_of(up, link->from)] = root_of(up, link->to);
    if (link->is_transfer)
        return;
    all->messages += link->from < n ? link->sent : link->received;
    if (low == high)
        return;
    all->of_rank[low] += messages;
    all->of_rank[high] += messages;
    if (high == low + 1 && high < n)
        with_next[low] += messages;
}

static bool knows_links(const struct pc_profile *p)
{
    static const unsigned lost[] = {PCOLLECT_LOST_CALLS, PCOLLECT_LOST_NESTED, PCOLLECT_LOST_LATE,
                                    PCOLLECT_LOST_ROWS};
    const struct pc_profile_table *far = pc_profile_table(p, "pairs_by_distance");
    bool known = !far || !far->n_rows;
    for (uint32_t r = 0; r < p->n_ranks; r++)
        for (size_t k = 0; k < PC_ARRAY_LEN(lost); k++)
            known &= !pc_rank_lost(&p->ranks[r], lost[k]);
    for (uint32_t i = 0; i < p->n_ops; i++)
        known &= strcmp(p->ops[i].name, "MPI_Session_init") != 0;
    return known;
}

/* Reads the rows; with_hub: NULL the first time, then by vertex, to be set. */
static void read_rows(const struct pc_profile *p, const struct pc_profile_table *t,
                      struct pct_partners *all, uint32_t *up, uint64_t *with_next, bool *with_hub)
{
    uint32_t source = pc_table_column(t, "source", PCOLLECT_COLUMN_RANK),
             destination = pc_table_column(t, "destination", PCOLLECT_COLUMN_RANK),
             of_class = pc_table_column(t, "class", PCOLLECT_COLUMN_STRING),
             sent = pc_table_column(t, "messages", PCOLLECT_COLUMN_NUMBER),
             received = pc_table_column(t, "received", PCOLLECT_COLUMN_NUMBER);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        int64_t from = (int64_t)pc_table_cell(t, row, source),
                to = (int64_t)pc_table_cell(t, row, destination);
        const char *name = pc_profile_string(p, pc_table_cell(t, row, of_class));
        const struct link link = {pct_totals_place_of_rank(p, 0, from),
                                  pct_totals_place_of_rank(p, 0, to), pc_table_cell(t, row, sent),
                                  pc_table_cell(t, row, received), !strcmp(name, "rma")};
        if (!with_hub)
            add_link(all, up, with_next, &link);
        else if (!link.is_transfer && (link.from == all->hub || link.to == all->hub))
            with_hub[link.from == all->hub ? link.to : link.from] = true;
    }
}

struct pct_partners *pct_partners_new(const struct pc_profile *p)
{
    struct pct_partners *all = pct_alloc(1, sizeof *all);
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "pairs"),
                                  *far = pc_profile_table(p, "pairs_by_distance");
    all->n = p->n_ranks;
    all->of_rank = pct_alloc(all->n + 1, sizeof *all->of_rank);
    all->with_hub = pct_alloc(all->n + 1, sizeof *all->with_hub);
    if (!t)
        return all;
    uint32_t *up = pct_alloc(all->n + 1, sizeof *up);
    uint64_t *with_next = pct_alloc(all->n + 1, sizeof *with_next);
    for (uint32_t v = 0; v <= all->n; v++)
        up[v] = v;
    read_rows(p, t, all, up, with_next, NULL);
    all->messages += pct_totals_column(far, "messages");
    for (uint32_t r = 0; r < all->n; r++)
        all->hub = all->of_rank[r] > all->of_rank[all->hub] ? r : all->hub;
    read_rows(p, t, all, up, with_next, all->with_hub);
    all->with_hub[all->hub] = false;
    all->is_line = all->n > 1;
    for (uint32_t r = 0; r + 1 < all->n; r++)
        all->is_line &= with_next[r] > 0;
    pct_free(with_next);
    if (knows_links(p)) {
        for (uint32_t v = 0; v <= all->n; v++)
            up[v] = root_of(up, v);
        all->group = up;
    } else {
        pct_free(up);
    }
    return all;
}

void pct_partners_free(struct pct_partners *all)
{
    if (!all)
        return;
    pct_free(all->group);
    pct_free(all->of_rank);
    pct_free(all->with_hub);
    pct_free(all);
}
