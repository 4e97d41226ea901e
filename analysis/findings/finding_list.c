/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of findings, to which the rules add sentences.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <stdarg.h>

/* Part of the saving that is certainly not waiting for processors. */
static double surely_ns(const struct pct_evidence *f, const struct pct_rule *rule, double saves_ns)
{
    return rule->knows_delay ? saves_ns : fmax(0, saves_ns - f->delayed_ns);
}

/* Verb for a part of the time in MPI that is waiting for a processor, as far as that is known. */
static const char *is_delayed(const struct pct_evidence *f)
{
    return f->times->all_delayed_ns > 0 ? "is" : "may be";
}

double pct_finding_own_core_ns(const struct pct_evidence *f)
{
    return fmax(f->core_ns - f->times->all_delayed_ns,
                f->times->list[f->times->busiest].own_ns * (double)f->n_ranks);
}

bool pct_finding_counts(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        double saves_ns)
{
    return surely_ns(f, rule, saves_ns) >= threshold * f->core_ns;
}

/* True if a saving can be told as it is: enough of it is certain by the rule's own threshold, or
 * all of it. So the user's threshold decides whether there is a sentence, not what it says. */
static bool is_certain(const struct pct_evidence *f, const struct pct_rule *rule, double saves_ns)
{
    return surely_ns(f, rule, saves_ns) >= fmin(saves_ns, rule->threshold * f->core_ns);
}

const char *pct_finding_number(const struct pct_evidence *f, double n)
{
    char number[PCT_NUMBER_BYTES];
    return pct_pool_intern(f->pool, pct_text_count(number, (pc_u128)llround(fmax(0, n))));
}

const char *pct_finding_share(const struct pct_evidence *f, double ns)
{
    char text[64];
    bool late = pct_totals_begins_late(&f->data->totals->all);
    pct_text_format(text, sizeof text, "%.0f %% of the run%s", pct_finding_percent(f, ns),
                    late ? " after MPI_Init" : "");
    return pct_pool_intern(f->pool, text);
}

/* Waiting for processors is told if it may be this part of the saving. */
#define DELAY_TOLD 0.1

const char *pct_finding_loss(const struct pct_evidence *f, const struct pct_rule *rule, double ns)
{
    char text[160];
    double sure_ns = surely_ns(f, rule, ns);
    const char *share = pct_finding_share(f, ns);
    bool differ = lround(pct_finding_percent(f, sure_ns)) < lround(pct_finding_percent(f, ns));
    if (sure_ns >= (1 - DELAY_TOLD) * ns || !differ)
        return share;
    pct_text_format(text, sizeof text, "%.0f %% to %s (a part %s waiting for a processor)",
                    pct_finding_percent(f, sure_ns), share, is_delayed(f));
    return pct_pool_intern(f->pool, text);
}

const char *pct_finding_outside(const struct pct_evidence *f)
{
    return f->data->totals->all.inside_ns ? " outside MPI" : "";
}

struct pct_more pct_more_rank(const char *table, int32_t rank)
{
    return (struct pct_more){table, 0, rank};
}

struct pct_more pct_more_table(const char *table)
{
    return pct_more_rank(table, -1);
}

/* Waiting for paused ranks is mentioned from this part of the cost of the calls on. */
#define PAUSES_TOLD 0.25

/* Appends a remark on pauses. Waiting for the rank that was paused longest is subtracted. But ranks
 * that were paused for equal times, one after the other, have also waited for each other, which is
 * not known. */
static void put_pauses(const struct pct_evidence *f, const struct pct_rule *rule, double saves_ns,
                       struct pct_buf *text)
{
    char time[PCT_NUMBER_BYTES];
    double most_ns = f->paused_ns * (double)(f->n_ranks - 1);
    if (!rule->knows_delay && f->paused_ns > 0 && most_ns >= PAUSES_TOLD * saves_ns)
        pct_buf_format(text,
                       " Part of this may be waiting for ranks while MPI_Pcontrol had switched "
                       "their collection off, at most %s on one rank.",
                       pct_text_time(time, (pc_u128)llround(f->paused_ns)));
}

static void append(struct pct_findings *out, const struct pct_evidence *f,
                   const struct pct_rule *rule, struct pct_call_cost cost, struct pct_more more,
                   const char *format, va_list args)
{
    struct pct_buf text = {0}, options = {0};
    double saves_ns = cost.saves_ns;
    pct_buf_vformat(&text, format, args);
    put_pauses(f, rule, saves_ns, &text);
    if (saves_ns > 0 && !rule->knows_delay && f->data->totals->all.n_incomplete &&
        !f->times->divided)
        pct_buf_text(&text, " How much of it is waiting for a processor is not known.");
    pct_buf_format(&options, "--table %s", more.table);
    out->list = pct_grow(out->list, out->n, &out->room, sizeof *out->list);
    out->list[out->n++] = (struct pct_finding){.rule = rule->name,
                                               .saves = saves_ns / f->core_ns,
                                               .sure = surely_ns(f, rule, saves_ns) / f->core_ns,
                                               .most = cost.most_ns / f->core_ns,
                                               .text = pct_pool_intern(out->pool, text.data),
                                               .more = pct_pool_intern(out->pool, options.data),
                                               .context = more.context,
                                               .rank = more.rank};
    pct_buf_free(&options);
    pct_buf_free(&text);
}

void pct_finding_say(struct pct_findings *out, const struct pct_evidence *f,
                     const struct pct_rule *rule, double saves_ns, struct pct_more more,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(out, f, rule, (struct pct_call_cost){NULL, saves_ns, saves_ns}, more, format, args);
    va_end(args);
}

void pct_finding_add(struct pct_findings *out, const struct pct_evidence *f,
                     const struct pct_rule *rule, double threshold, double saves_ns,
                     struct pct_more more, const char *format, ...)
{
    va_list args;
    if (!pct_finding_counts(f, rule, threshold, saves_ns))
        return;
    va_start(args, format);
    append(out, f, rule, (struct pct_call_cost){NULL, saves_ns, saves_ns}, more, format, args);
    va_end(args);
}

void pct_finding_say_cost(struct pct_findings *out, const struct pct_evidence *f,
                          const struct pct_rule *rule, struct pct_call_cost cost,
                          struct pct_more more, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(out, f, rule, cost, more, format, args);
    va_end(args);
}

/* This many times the rule's limit: enough to report the count even if its time is uncertain. */
#define VERY_MANY 10.0

/* True if so much is certainly waiting for ranks that are late, even if each delay held up all
 * ranks. Bounds leave it to the values by rank. */
static bool is_late(const struct pct_evidence *f, const struct pct_rule *rule, double late_ns)
{
    double surely_ns = late_ns - f->delayed_ns * (double)f->n_ranks;
    return !f->bounds && surely_ns >= rule->threshold * f->core_ns;
}

struct pct_call_cost pct_finding_cost(const struct pct_evidence *f, const struct pct_rule *rule,
                                      double threshold, double saves_ns, double shown_ns,
                                      double most_ns, double times_many)
{
    char text[160];
    bool counts = pct_finding_counts(f, rule, threshold, saves_ns);
    if (is_certain(f, rule, saves_ns)) {
        return (struct pct_call_cost){counts ? pct_finding_loss(f, rule, shown_ns) : NULL, saves_ns,
                                      saves_ns};
    }
    if (is_late(f, rule, most_ns - shown_ns))
        most_ns = shown_ns;
    bool speaks = counts || (times_many >= VERY_MANY && most_ns >= threshold * f->core_ns);
    const char *late =
        most_ns > shown_ns ? ", and a part may be waiting for ranks that are late" : "";
    pct_text_format(text, sizeof text, "at most %s, of which a part %s waiting for a processor%s",
                    pct_finding_share(f, most_ns), is_delayed(f), late);
    return (struct pct_call_cost){speaks ? pct_pool_intern(f->pool, text) : NULL, 0, most_ns};
}

void pct_findings_free(struct pct_findings *f)
{
    if (!f)
        return;
    pct_free(f->list);
    pct_pool_free(f->pool);
    pct_free(f);
}
