/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `lost`: what the profile lacks.
 */
#include "view/tables/tables.h"

static size_t count_lost(const struct pct_data *d)
{
    (void)d;
    return PCOLLECT_N_LOST;
}

static void lost_what(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(pcollect_lost_names[c->row], out);
}

static void lost_count(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->totals->all.lost[c->row];
}

static void lost_ranks(const struct pct_cell *c, struct pct_value *out)
{
    out->number = c->d->totals->all.lost_ranks[c->row];
}

static const struct pct_column lost_columns[] = {
    {"what", "what", PCT_TEXT, "what was left out", lost_what},
    {"count", "count", PCT_COUNT, "how often, in all ranks", lost_count},
    {"ranks", "ranks", PCT_COUNT, "ranks that left some out", lost_ranks},
};

const struct pct_table pct_lost_table = {
    .name = "lost",
    .doc = "what the profile lacks, by kind",
    .count = count_lost,
    .of_ranks = true,
    .of_whole = true,
    PCT_COLUMNS(lost_columns),
};
