/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of rules, the order of findings, and how they are printed.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct pct_rule pct_rules[] = {
    {"imbalance", 0.05, "one rank computes longer than the others, which wait for it",
     pct_rule_imbalance, true},
    {"serial", 0.05, "one rank alone computes", pct_rule_serial, true},
    {"shared-processors", 0.05, "ranks that could run wait for a processor", pct_rule_shared, true},
    {"page-faults", 0.05, "memory taken from the system again and again", pct_rule_faults, true},
    {"system-time", 0.05, "system calls outside MPI", pct_rule_system, true},
    {"placement", 0.05, "ranks that talk much are on different nodes", pct_rule_placement, false},
    {"unfinished", 0, "operations that were started and never completed", pct_rule_unfinished,
     true},
    {"hub", 0.05, "one rank exchanges most messages", pct_rule_hub, false},
    {"chain", 0.05, "ranks wait for each other in a row", pct_rule_chain, false},
    {"small-messages", 0.05, "many messages of few bytes", pct_rule_small, false},
    {"barrier", 0.05, "time in MPI_Barrier", pct_rule_barrier, false},
    {"many-collectives", 0.05, "many collective operations of few bytes", pct_rule_reductions,
     false},
    {"rooted", 0.05, "all data go to or come from one rank", pct_rule_rooted, false},
    {"dense-collective", 0.05, "an exchange of all with all that few ranks need", pct_rule_dense,
     false},
    {"synchronous-send", 0.05, "sends that wait for their receiver", pct_rule_synchronous, false},
    {"polling", 0.05, "tests and probes called again and again", pct_rule_polling, false},
    {"overlap", 0.05, "nonblocking operations that are waited for at once", pct_rule_overlap,
     false},
    {"communicators", 0.02, "communicators made again and again", pct_rule_communicators, false},
    {"datatypes", 0.02, "datatypes made again and again", pct_rule_datatypes, false},
    {"small-io", 0.05, "files read or written in small pieces", pct_rule_files, false},
    {"window-synchronisation", 0.05, "one-sided communication that waits for synchronisation",
     pct_rule_windows, false},
    {"cache-misses", 0.05, "a function that misses a cache more often than the rest",
     pct_rule_misses, true},
};
const size_t pct_n_rules = PC_ARRAY_LEN(pct_rules);

/* ---- Findings ---------------------------------------------------------------------------------
 */

static int compare_findings(const void *a, const void *b)
{
    const struct pct_finding *x = a, *y = b;
    if (x->saves != y->saves)
        return x->saves > y->saves ? -1 : 1;
    return strcmp(x->text, y->text);
}

struct pct_findings *pct_findings_look(const struct pct_data *d, const double *thresholds,
                                       bool bounds)
{
    struct pct_findings *out = pct_alloc(1, sizeof *out);
    struct pct_facts f;
    out->pool = pct_pool_new();
    pct_facts_gather(&f, d, out->pool, bounds);
    for (size_t i = 0; i < pct_n_rules && f.core_ns > 0; i++) {
        double threshold =
            thresholds && thresholds[i] >= 0 ? thresholds[i] : pct_rules[i].threshold;
        pct_rules[i].look(&f, &pct_rules[i], threshold, out);
    }
    pct_facts_forget(&f);
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

void pct_findings_free(struct pct_findings *f)
{
    if (!f)
        return;
    free(f->list);
    pct_pool_free(f->pool);
    free(f);
}
