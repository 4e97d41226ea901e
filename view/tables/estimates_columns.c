/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables `estimates` and `ratios`: events in each context from windows, and their ratios.
 */
#include "analysis/counters/estimates.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

static void set_event(const struct pct_data *d, uint32_t event, struct pct_value *out)
{
    pct_value_text(d, pc_profile_string(d->profile, event), out);
}

/* `digits`: factor under which differences survive as whole numbers, by which the column is
 * sorted. */
static void set_estimate(const struct pct_estimate *e, double digits, struct pct_value *out)
{
    double number = e->value * digits;
    out->estimate = e;
    out->number = number < 1e37 ? (pc_u128)number : (pc_u128)1e37;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const struct pct_estimate_row *event_row(const struct pct_cell *c)
{
    return &pct_data_estimates(c->d)->rows[c->row];
}

static const struct pct_ratio_row *ratio_row(const struct pct_cell *c)
{
    return &pct_data_estimates(c->d)->ratios[c->row];
}

/* Columns that both kinds of rows have. */
enum { OF_EVENTS, OF_RATIOS };

static const struct pct_estimate *estimate_of(const struct pct_cell *c)
{
    return c->column->of == OF_EVENTS ? &event_row(c)->e : &ratio_row(c)->e;
}

static uint32_t node_of(const struct pct_cell *c)
{
    return c->column->of == OF_EVENTS ? event_row(c)->context : ratio_row(c)->context;
}

static const struct pct_node *context_of(const struct pct_cell *c)
{
    return &pct_data_functions(c->d)->nodes[node_of(c)];
}

static void get_error(const struct pct_cell *c, struct pct_value *out)
{
    out->none = estimate_of(c)->trust != PCT_TRUST_FULL;
    out->real = estimate_of(c)->error;
}

static void get_mark(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(pct_trust_text(estimate_of(c)->trust), out);
    out->none = !*out->text;
}

static void get_readings(const struct pct_cell *c, struct pct_value *out)
{
    out->number = estimate_of(c)->n;
}

static void get_function(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(context_of(c)->label, out);
}

static void get_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_path_value(pct_data_functions(c->d), node_of(c), out);
}

static void get_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, context_of(c)->context, out);
}

/* ---- estimates ------------------------------------------------------------------------------- */

static size_t count_estimates(const struct pct_data *d)
{
    return pct_data_estimates(d)->n;
}

static void event_name(const struct pct_cell *c, struct pct_value *out)
{
    set_event(c->d, event_row(c)->event, out);
}

static void event_estimate(const struct pct_cell *c, struct pct_value *out)
{
    set_estimate(&event_row(c)->e, 1, out);
}

static void event_percent(const struct pct_cell *c, struct pct_value *out)
{
    out->number = (pc_u128)(event_row(c)->share * 100000 + 0.5);
}

static void event_seen(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_readings_used(&event_row(c)->readings).seen;
}

static void event_window(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_readings_used(&event_row(c)->readings).t;
}

static void event_self(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_tree_own(pct_data_functions(c->d), node_of(c)).self.ns;
}

static const struct pct_column estimate_columns[] = {
    {"event", "event", PCT_TEXT, "as the configuration has it", event_name},
    {"estimate", "estimate", PCT_ESTIMATE,
     "how often it happened right there, all ranks and threads", event_estimate, 0, OF_EVENTS,
     "error"},
    {"error", "+-", PCT_REAL, "half of the 95 % interval of estimate; empty where mark says why",
     get_error, 0, OF_EVENTS},
    {"mark", "mark", PCT_TEXT,
     "few: too few windows or events for an interval; mixed: most windows that began there ended "
     "elsewhere; else empty",
     get_mark, 0, OF_EVENTS},
    {"readings", "readings", PCT_COUNT, "windows that read the event there", get_readings, 0,
     OF_EVENTS},
    {"seen", "seen", PCT_COUNT, "of these, the ones in which it happened", event_seen},
    {"read_s", "read", PCT_NS, "CPU time of these windows", event_window},
    {"cpu_exclusive_s", "self", PCT_NS, "CPU time for which estimate stands, by samples",
     event_self, 0, OF_EVENTS},
    {"percent", "share", PCT_PERCENT, "estimate as a share of the sum over an event's rows",
     event_percent},
    {"function", "function", PCT_TEXT, "the last function of path", get_function, 0, OF_EVENTS,
     .labels = true},
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", get_path, 0,
     OF_EVENTS, .labels = true},
    PCT_CONTEXT_COLUMN(get_context, OF_EVENTS),
};

const struct pct_table pct_estimates_table = {
    .name = "estimates",
    .doc = "events estimated in each calling context, by windows (doc/error-bars.md)",
    .count = count_estimates,
    .percent = "percent",
    PCT_COLUMNS(estimate_columns),
};

/* ---- ratios ---------------------------------------------------------------------------------- */

static size_t count_ratios(const struct pct_data *d)
{
    return pct_data_estimates(d)->n_ratios;
}

static void ratio_name(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(ratio_row(c)->kind->name, out);
}

static void ratio_value(const struct pct_cell *c, struct pct_value *out)
{
    set_estimate(&ratio_row(c)->e, 1e9, out);
}

static void ratio_unit(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(ratio_row(c)->kind->unit, out);
}

static void ratio_of(const struct pct_cell *c, struct pct_value *out)
{
    set_event(c->d, ratio_row(c)->part, out);
}

static void ratio_per(const struct pct_cell *c, struct pct_value *out)
{
    set_event(c->d, ratio_row(c)->whole, out);
}

static void ratio_percent(const struct pct_cell *c, struct pct_value *out)
{
    out->number = pct_text_share(pct_tree_own(pct_data_functions(c->d), node_of(c)).self.ns,
                                 pct_data_samples(c->d)->all.ns);
}

static const struct pct_column ratio_columns[] = {
    {"ratio", "ratio", PCT_TEXT, "name of the ratio, as RATIOS in pcollect-report(1) lists them",
     ratio_name},
    {"value", "value", PCT_ESTIMATE, "all ranks and threads, right there", ratio_value, 0,
     OF_RATIOS, "error"},
    {"error", "+-", PCT_REAL, "half of the 95 % interval of value; empty where mark says why",
     get_error, 0, OF_RATIOS},
    {"mark", "mark", PCT_TEXT, "few, mixed or empty, as in estimates", get_mark, 0, OF_RATIOS},
    {"unit", "unit", PCT_TEXT, "of value and error", ratio_unit},
    {"readings", "readings", PCT_COUNT,
     "windows of that of the two events that was read less often", get_readings, 0, OF_RATIOS},
    {"percent", "self", PCT_PERCENT, "CPU time of the context as a share of all samples",
     ratio_percent, 0, OF_RATIOS},
    {"of", "of", PCT_TEXT, "the event that is divided", ratio_of},
    {"per", "per", PCT_TEXT, "the event by which it is divided; empty: CPU time", ratio_per},
    {"function", "function", PCT_TEXT, "the last function of path", get_function, 0, OF_RATIOS,
     .labels = true},
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", get_path, 0,
     OF_RATIOS, .labels = true},
    PCT_CONTEXT_COLUMN(get_context, OF_RATIOS),
};

const struct pct_table pct_ratios_table = {
    .name = "ratios",
    .doc = "ratios of events, in each calling context",
    .count = count_ratios,
    .percent = "percent",
    PCT_COLUMNS(ratio_columns),
};
