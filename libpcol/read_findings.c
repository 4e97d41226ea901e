/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings as structures of profile.h.
 */
#include "libpcol/libpcol_private.h"

#include "analysis/findings/findings.h"
#include "view/tables/figures.h"

#include <string.h>

const struct pct_findings *pct_lib_findings(struct pcol_profile *p)
{
    if (!p->data->findings)
        p->data->findings = pct_findings_make(p->data, NULL);
    return p->data->findings;
}

static const struct pct_rule *rule_named(const char *name)
{
    const struct pct_rule *rule = NULL;
    for (size_t i = 0; (rule = pct_rule_at(i)) && strcmp(rule->name, name) != 0;)
        i++;
    return rule;
}

static void make_findings(void *profile)
{
    struct pcol_profile *p = profile;
    const struct pct_findings *from = pct_lib_findings(p);
    struct pcol_finding *list = pct_alloc(from->n + 1, sizeof *list);
    for (size_t i = 0; i < from->n; i++) {
        const struct pct_finding *f = &from->list[i];
        const struct pct_rule *rule = rule_named(f->rule);
        struct pct_value context = {0};
        pct_id_value(p->data, f->context, &context);
        list[i] = (struct pcol_finding){.rule = f->rule,
                                        .meaning = rule->doc,
                                        .saves = f->saves,
                                        .threshold = rule->threshold,
                                        .sentence = f->text,
                                        .evidence = f->more,
                                        .context = context.none ? NULL : context.text,
                                        .rank = f->rank};
    }
    p->findings = list;
}

const struct pcol_finding *pcol_finding(struct pcol_profile *p, size_t i)
{
    if (!p->findings)
        pct_lib_run(p, make_findings, p);
    for (size_t k = 0; p->findings && p->findings[k].rule; k++)
        if (k == i)
            return &p->findings[k];
    return NULL;
}
