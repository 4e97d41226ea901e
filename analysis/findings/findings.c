/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All rules, and the order of findings.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct pct_rules *const files[] = {
    &pct_rank_rules, &pct_thread_rules, &pct_end_rules,    &pct_machine_rules,
    &pct_job_rules,  &pct_call_rules,   &pct_object_rules, &pct_counter_rules};

const struct pct_rule *pct_rule_at(size_t i)
{
    for (size_t k = 0; k < PC_ARRAY_LEN(files); i -= files[k++]->n)
        if (i < files[k]->n)
            return &files[k]->rows[i];
    return NULL;
}

/* ---- Findings -------------------------------------------------------------------------------- */

static int compare_findings(const void *a, const void *b)
{
    const struct pct_finding *x = a, *y = b;
    if (x->sure != y->sure)
        return x->sure > y->sure ? -1 : 1;
    if (x->most != y->most)
        return x->most > y->most ? -1 : 1;
    return strcmp(x->text, y->text);
}

struct pct_findings *pct_findings_look(const struct pct_data *d, const double *thresholds,
                                       bool bounds)
{
    struct pct_findings *out = pct_alloc(1, sizeof *out);
    struct pct_evidence f;
    out->pool = pct_pool_new();
    pct_evidence_gather(&f, d, out->pool, bounds);
    pct_ends_gather(&f);
    const struct pct_rule *rule;
    for (size_t i = 0; f.core_ns > 0 && (rule = pct_rule_at(i)); i++)
        rule->look(&f, rule, thresholds && thresholds[i] >= 0 ? thresholds[i] : rule->threshold,
                   out);
    pct_evidence_forget(&f);
    if (out->n)
        qsort(out->list, out->n, sizeof *out->list, compare_findings);
    return out;
}

struct pct_findings *pct_findings_make(const struct pct_data *d, const double *thresholds)
{
    struct pct_findings *most = pct_findings_look(d, thresholds, true);
    if (!most->n)
        return most;
    pct_findings_free(most);
    return pct_findings_look(d, thresholds, false);
}
