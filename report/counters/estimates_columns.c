/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables `estimates` and `ratios`: events in each context by windows, and what they say
 * together.
 */
#include "report/counters/estimates.h"
#include "report/table.h"

#define COLUMN_GETTER(name)                                                                        \
    static void name(const struct pct_data *d, size_t row, struct pct_value *out)

static void set_event(const struct pct_data *d, uint32_t event, struct pct_value *out)
{
    pct_value_text(d, pc_profile_string(d->profile, event), out);
}

/* digits: by which 1 is told from 2 where the table is sorted by the column. */
static void set_estimate(const struct pct_estimate *e, double digits, struct pct_value *out)
{
    double number = e->value * digits;
    out->estimate = e;
    out->number = number < 1e37 ? (pc_u128)number : (pc_u128)1e37;
}

static void set_error(const struct pct_estimate *e, struct pct_value *out)
{
    out->none = e->trust != PCT_TRUST_FULL;
    out->real = e->error;
}

static void set_mark(const struct pct_estimate *e, struct pct_value *out)
{
    out->text = pct_trust_text(e->trust);
    out->none = !*out->text;
}

/* The same columns for both. */
#define CONTEXT_GETTERS(kind)                                                                      \
    static const struct pct_sample_row *kind##_context(const struct pct_data *d, size_t row)       \
    {                                                                                              \
        return &d->samples->contexts.row[kind##_row(d, row)->context];                             \
    }                                                                                              \
    COLUMN_GETTER(kind##_error)                                                                    \
    {                                                                                              \
        set_error(&kind##_row(d, row)->e, out);                                                    \
    }                                                                                              \
    COLUMN_GETTER(kind##_mark)                                                                     \
    {                                                                                              \
        set_mark(&kind##_row(d, row)->e, out);                                                     \
    }                                                                                              \
    COLUMN_GETTER(kind##_readings)                                                                 \
    {                                                                                              \
        out->number = kind##_row(d, row)->e.n;                                                     \
    }                                                                                              \
    COLUMN_GETTER(kind##_function)                                                                 \
    {                                                                                              \
        pct_value_text(d, kind##_context(d, row)->function, out);                                  \
    }                                                                                              \
    COLUMN_GETTER(kind##_path)                                                                     \
    {                                                                                              \
        pct_value_text(d, kind##_context(d, row)->path, out);                                      \
    }

/* ---- estimates ---------------------------------------------------------------------------------
 */

static const struct pct_estimate_row *event_row(const struct pct_data *d, size_t row)
{
    return &d->estimates->rows[row];
}

size_t pct_count_estimates(const struct pct_data *d)
{
    return d->estimates->n;
}

CONTEXT_GETTERS(event)

COLUMN_GETTER(event_name)
{
    set_event(d, event_row(d, row)->event, out);
}

COLUMN_GETTER(event_estimate)
{
    set_estimate(&event_row(d, row)->e, 1, out);
}

COLUMN_GETTER(event_percent)
{
    out->number = (pc_u128)(event_row(d, row)->share * 100000 + 0.5);
}

COLUMN_GETTER(event_seen)
{
    out->number = event_row(d, row)->moments.seen;
}

COLUMN_GETTER(event_window)
{
    out->number = event_row(d, row)->moments.t;
}

COLUMN_GETTER(event_self)
{
    out->number = event_context(d, row)->self.ns;
}

const struct pct_column pct_estimate_columns[PCT_N_ESTIMATE_COLUMNS] = {
    {"event", "event", PCT_TEXT, "as the configuration has it", event_name},
    {"estimate", "estimate", PCT_ESTIMATE,
     "how often it happened right there, all ranks and threads", event_estimate},
    {"error", "+-", PCT_REAL, "half of the 95 % interval of estimate; empty where mark says why",
     event_error},
    {"mark", "mark", PCT_TEXT,
     "few: too few windows or events for an interval; mixed: most windows that began there ended "
     "elsewhere; else empty",
     event_mark},
    {"readings", "readings", PCT_COUNT, "windows that read the event there", event_readings},
    {"seen", "seen", PCT_COUNT, "of these, the ones in which it happened", event_seen},
    {"read_s", "read", PCT_NS, "CPU time of these windows", event_window},
    {"self_s", "self", PCT_NS, "CPU time for which estimate stands, by samples", event_self},
    {"percent", "share", PCT_PERCENT, "estimate as a share of the sum over an event's rows",
     event_percent},
    {"function", "function", PCT_TEXT, "the last function of path", event_function},
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", event_path},
};

/* ---- ratios ------------------------------------------------------------------------------------
 */

static const struct pct_ratio_row *ratio_row(const struct pct_data *d, size_t row)
{
    return &d->estimates->ratios[row];
}

size_t pct_count_ratios(const struct pct_data *d)
{
    return d->estimates->n_ratios;
}

CONTEXT_GETTERS(ratio)

COLUMN_GETTER(ratio_name)
{
    (void)d;
    out->text = ratio_row(d, row)->kind->name;
}

COLUMN_GETTER(ratio_value)
{
    set_estimate(&ratio_row(d, row)->e, 1e9, out);
}

COLUMN_GETTER(ratio_unit)
{
    out->text = ratio_row(d, row)->kind->unit;
}

COLUMN_GETTER(ratio_of)
{
    set_event(d, ratio_row(d, row)->part, out);
}

COLUMN_GETTER(ratio_per)
{
    set_event(d, ratio_row(d, row)->whole, out);
}

COLUMN_GETTER(ratio_percent)
{
    out->number = pct_text_share(ratio_context(d, row)->self.ns, d->samples->all.ns);
}

const struct pct_column pct_ratio_columns[PCT_N_RATIO_COLUMNS] = {
    {"ratio", "ratio", PCT_TEXT, "its name, one of those below", ratio_name},
    {"value", "value", PCT_ESTIMATE, "all ranks and threads, right there", ratio_value},
    {"error", "+-", PCT_REAL, "half of the 95 % interval of value; empty where mark says why",
     ratio_error},
    {"mark", "mark", PCT_TEXT, "few, mixed or empty, as in estimates", ratio_mark},
    {"unit", "unit", PCT_TEXT, "of value and error", ratio_unit},
    {"readings", "readings", PCT_COUNT, "windows of the event that was read less often",
     ratio_readings},
    {"percent", "self", PCT_PERCENT, "CPU time of the context as a share of all samples",
     ratio_percent},
    {"of", "of", PCT_TEXT, "the event that is divided", ratio_of},
    {"per", "per", PCT_TEXT, "the event by which; empty: CPU time", ratio_per},
    {"function", "function", PCT_TEXT, "the last function of path", ratio_function},
    {"path", "path", PCT_TEXT, "functions from the root on, joined by \" > \"", ratio_path},
};
