/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `counts`: the count of each event in each context.
 */
#include "analysis/counters/attribution.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

static const struct pct_attributed *row_of(const struct pct_cell *c)
{
    return &pct_data_counts(c->d)->rows[c->row];
}

static size_t count_counts(const struct pct_data *d)
{
    return pct_data_counts(d)->n;
}

static void get_event(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_text(c->d, pc_profile_string(c->d->profile, row_of(c)->event), out);
}

static void get_count(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->count;
}

static void get_percent(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_attributed *r = row_of(c);
    out->number = pct_text_share(r->count, pct_counts_total(pct_data_counts(c->d), r->event));
}

static void get_certain(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->certain;
}

static void get_ancestor(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->ancestor;
}

static void get_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_path_value(pct_data_tree(c->d), row_of(c)->node, out);
}

static void get_frame(const struct pct_cell *c, struct pct_value *out)
{
    pct_frame_value(row_of(c)->node, out);
}

static void get_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, pct_data_tree(c->d)->nodes[row_of(c)->node].context, out);
}

static const struct pct_column count_columns[] = {
    {"event", "event", PCT_TEXT, "as the configuration has it", get_event},
    {"count", "count", PCT_COUNT, "all ranks and threads; exact in the sum over an event's rows",
     get_count},
    {"percent", "share", PCT_PERCENT, "count as a share of that sum", get_percent},
    {"in_call", "in call", PCT_COUNT,
     "part of count that is certain: the counter was read at the begin and the end of the call",
     get_certain},
    {"unsampled", "unsampled", PCT_COUNT,
     "part of count for which there is no sample: it is given to the innermost context that both "
     "ends have in common",
     get_ancestor},
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"; empty for the root",
     get_path, .labels = true},
    PCT_CONTEXT_COLUMN(get_context, 0),
    PCT_FRAME_COLUMN(get_frame, 0, "number of the last frame of path"),
};

const struct pct_table pct_counts_table = {
    .name = "counts",
    .doc =
        "events counted in each calling context; samples divide what was counted between MPI calls",
    .count = count_counts,
    .sort = "count",
    .percent = "percent",
    .of_tree = true,
    PCT_COLUMNS(count_columns),
};
