/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `findings`.
 */
#include "analysis/findings/findings.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <math.h>

static size_t count_findings(const struct pct_data *d)
{
    return d->findings ? d->findings->n : 0;
}

static void finding_rule(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(c->d->findings->list[c->row].rule, out);
}

static void finding_saves(const struct pct_cell *c, struct pct_value *out)
{
    out->number = (pc_u128)llround(c->d->findings->list[c->row].saves * 100000);
}

static void finding_text(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(c->d->findings->list[c->row].text, out);
}

static void finding_more(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(c->d->findings->list[c->row].more, out);
}

static void finding_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, c->d->findings->list[c->row].context, out);
}

static void finding_rank(const struct pct_cell *c, struct pct_value *out)
{
    int32_t rank = c->d->findings->list[c->row].rank;
    out->none = rank < 0;
    out->integer = rank;
}

static const struct pct_column finding_columns[] = {
    {"rule", "rule", PCT_TEXT, "name of the rule: an entry of doc/findings.md", finding_rule},
    {"saves_percent", "saves", PCT_PERCENT,
     "what would be saved at most, of the core-seconds between MPI_Init and the end of "
     "MPI_Finalize",
     finding_saves},
    {"finding", "finding", PCT_TEXT, "what was found, and where", finding_text, .wraps = true},
    {"more", "more", PCT_TEXT, "options of pcollect report that show more", finding_more},
    {"context", "context", PCT_TEXT, "id of the context that it is about, if it is one",
     finding_context},
    {"rank", "rank", PCT_INTEGER, "the rank that it is about, if it is one", finding_rank},
};

const struct pct_table pct_findings_table = {
    .name = "findings",
    .doc = "what the run loses, greatest saving first (doc/findings.md)",
    .count = count_findings,
    .of_tree = true,
    PCT_COLUMNS(finding_columns),
};
