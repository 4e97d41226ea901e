/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of the processor, for three purposes. A rule: a function that misses a cache much more
 * often per instruction than the rest of the program; it uses estimates from windows, and reports
 * only those with an error. A reason why a rank computes longer: its instructions between calls,
 * which are exact. The place of page faults, also from estimates.
 */
#include "analysis/findings/findings.h"

#include "analysis/counters/attribution.h"
#include "analysis/counters/estimates.h"
#include "analysis/student.h"
#include "analysis/tree/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Assumed cost of a miss: the latency of the next cache, or of memory, on current processors. */
static const struct miss {
    const char *ratio; /* name of a pct_ratio_kind, per thousand instructions */
    const char *cache;
    double cost_ns;
} misses[] = {
    {"last_cache_misses", "last", 80}, {"l3_misses", "third", 80},     {"l2_misses", "second", 12},
    {"l2_data_misses", "second", 12},  {"l1_data_misses", "first", 4}, {"l1_misses", "first", 4},
};

enum { TIMES = 3 };                    /* times the rate of the rest of the program: unusual */
static const double LEAST_REST = 0.05; /* part of all instructions, enough to know the rate */

/* Estimates of one function, or of one of its contexts. */
struct missing {
    const char *label;
    double misses, instructions, ns;
    double variance; /* of misses per instruction, weighted by squared instructions */
};

static int compare_functions(const void *a, const void *b)
{
    const struct missing *x = a, *y = b;
    return strcmp(x->label, y->label);
}

/* The functions for which this ratio has an error; the caller frees them. */
static struct missing *gather_functions(const struct pct_data *d, const struct miss *miss,
                                        size_t *n_out)
{
    const struct pct_estimates *e = pct_data_estimates(d);
    struct missing *list = pct_alloc(e->n_ratios, sizeof *list);
    size_t n = 0, n_united = 0;
    for (size_t i = 0; i < e->n_ratios; i++) {
        const struct pct_ratio_row *ratio = &e->ratios[i];
        const struct pct_tree *functions = pct_data_functions(d);
        const struct pct_node *at = &functions->nodes[ratio->context];
        if (strcmp(ratio->kind->name, miss->ratio) != 0 || ratio->e.trust != PCT_TRUST_FULL ||
            !*at->label)
            continue;
        double instructions = ratio->whole_count;
        double each = ratio->e.value / ratio->kind->scale;
        double deviation = sqrt(ratio->e.variance) / ratio->kind->scale * instructions;
        list[n++] = (struct missing){at->label, each * instructions, instructions,
                                     (double)pct_tree_own(functions, ratio->context).self.ns,
                                     deviation * deviation};
    }
    if (n)
        qsort(list, n, sizeof *list, compare_functions);
    for (size_t i = 0; i < n; i++) {
        struct missing *to = n_united ? &list[n_united - 1] : NULL;
        if (!to || compare_functions(to, &list[i]) != 0) {
            list[n_united++] = list[i];
            continue;
        }
        to->misses += list[i].misses;
        to->instructions += list[i].instructions;
        to->ns += list[i].ns;
        to->variance += list[i].variance;
    }
    *n_out = n_united;
    return list;
}

/* Time that a function loses by its unusual misses, minus its error: the cost of the misses above
 * the usual rate, at most all of its time. */
static double excess_ns(const struct missing *of, const struct missing *all,
                        const struct miss *miss)
{
    double rest_instructions = all->instructions - of->instructions;
    if (!(of->instructions > 0) || rest_instructions < LEAST_REST * all->instructions)
        return 0;
    double rest = (all->misses - of->misses) / rest_instructions;
    double least = of->misses - 2 * sqrt(of->variance);
    if (!(least > TIMES * rest * of->instructions))
        return 0;
    return fmin(of->ns, (of->misses - rest * of->instructions) * miss->cost_ns);
}

static void tell(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                 const struct missing *of, const struct missing *all, const struct miss *miss,
                 double saves, struct pct_findings *out)
{
    double rest = (all->misses - of->misses) / (all->instructions - of->instructions);
    struct pct_buf place = {0};
    pct_place_of_path(&place, of->label, false);
    pct_finding_add(out, f, rule, threshold, saves, pct_more_table("ratios"),
                    "%s misses the %s cache %.3g times per thousand instructions, the rest of the "
                    "program %.2g times: this costs up to %s. Access memory in "
                    "order, and work on blocks that fit into the cache.",
                    place.data, miss->cache, 1000 * of->misses / of->instructions, 1000 * rest,
                    pct_finding_share(f, saves));
    pct_buf_free(&place);
}

/* Adds one sentence, for the cache and function that would save most. */
static void find_misses(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    struct missing most = {0}, all_of_most = {0};
    const struct miss *miss_of_most = NULL;
    double saves = 0;
    for (size_t k = 0; k < PC_ARRAY_LEN(misses); k++) {
        size_t n;
        struct missing *list = gather_functions(f->data, &misses[k], &n), all = {0};
        for (size_t i = 0; i < n; i++) {
            all.misses += list[i].misses;
            all.instructions += list[i].instructions;
        }
        for (size_t i = 0; i < n; i++) {
            double ns = excess_ns(&list[i], &all, &misses[k]);
            if (ns <= saves)
                continue;
            saves = ns;
            most = list[i];
            all_of_most = all;
            miss_of_most = &misses[k];
        }
        pct_free(list);
    }
    if (miss_of_most)
        tell(f, rule, threshold, &most, &all_of_most, miss_of_most, saves, out);
}

/* ---- Places of page faults ------------------------------------------------------------------- */

/* Estimate for one function of the program, with the libraries that it calls: of its page faults,
 * or of ns that it computes. */
struct share {
    const char *label;
    double value, variance;
    uint64_t samples; /* 0: of page faults */
    bool in_library;  /* a part of it is there */
    bool is_root;     /* it contains all that its thread does */
};

/* True for main, and for a function without a caller. */
static bool is_root(const struct pct_tree *t, const struct pct_node *n)
{
    return (n->frame->function && !strcmp(n->frame->function, "main")) ||
           t->nodes[n->parent].parent == PC_NO_INDEX;
}

/* The share of a node, without figures: that of the function of the program around it, if there is
 * one. */
static struct share share_of(const struct pct_tree *t, uint32_t node)
{
    const struct pc_profile *p = t->totals->profile;
    for (uint32_t i = node; i != PC_NO_INDEX; i = t->nodes[i].parent) {
        const struct pct_node *n = &t->nodes[i];
        bool is_frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
        if (is_frame && n->frame->function && n->module != PC_NO_INDEX &&
            pct_symbols_is_program(&p->modules[n->module]))
            return (struct share){
                .label = n->label, .in_library = i != node, .is_root = is_root(t, n)};
    }
    return (struct share){.label = t->nodes[node].label};
}

static int compare_shares(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    return strcmp(x->label, y->label);
}

/* The cell with the name of the event; 0: page faults were not counted in windows. */
static uint32_t find_fault_event(const struct pct_estimates *e)
{
    for (size_t i = 0; i < e->n_ratios; i++) {
        if (!strcmp(e->ratios[i].kind->name, "page_faults"))
            return e->ratios[i].part;
    }
    return 0;
}

/* The function with most; label NULL: the list is empty. *all_out is the sum of all. */
static struct share find_most(struct share *list, size_t n, struct share *all_out)
{
    struct share most = {0}, one = {0};
    if (n)
        qsort(list, n, sizeof *list, compare_shares);
    *all_out = (struct share){0};
    for (size_t i = 0; i < n; i++) {
        bool same = i && !strcmp(list[i].label, list[i - 1].label);
        all_out->value += list[i].value;
        all_out->variance += list[i].variance;
        one = (struct share){list[i].label,
                             list[i].value + (same ? one.value : 0),
                             list[i].variance + (same ? one.variance : 0),
                             list[i].samples + (same ? one.samples : 0),
                             list[i].in_library || (same && one.in_library),
                             list[i].is_root || (same && one.is_root)};
        if (one.value > most.value)
            most = one;
    }
    return most;
}

/* Variance of an estimate. One without an error bar may be wrong by as much as it is. */
static double variance_of(const struct pct_estimate *e)
{
    double common = e->common * e->value;
    return e->trust == PCT_TRUST_FULL ? e->variance + common * common : e->value * e->value;
}

/* The function with most page faults. */
static struct share find_faulting(const struct pct_data *d, uint32_t event, struct share *all_out)
{
    const struct pct_estimates *e = pct_data_estimates(d);
    struct share *list = pct_alloc(e->n + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        const struct pct_estimate_row *row = &e->rows[i];
        if (row->event != event)
            continue;
        list[n] = share_of(pct_data_functions(d), row->context);
        list[n].value = row->e.value;
        list[n++].variance = variance_of(&row->e);
    }
    struct share most = find_most(list, n, all_out);
    pct_free(list);
    return most;
}

/* The function in which most computation was sampled. */
static struct share find_computing(const struct pct_data *d, struct share *all_out)
{
    const struct pct_tree *t = pct_data_functions(d);
    struct share *list = pct_alloc(t->n + 1, sizeof *list);
    size_t n = 0;
    for (uint32_t i = 0; i < t->n && t->samples; i++) {
        const struct pct_sampled own = pct_tree_own(t, i).computed;
        if (!own.samples)
            continue;
        list[n] = share_of(t, i);
        list[n].value = (double)own.ns;
        list[n].samples = own.samples;
        list[n++].variance = pct_samples_variance(own, t->samples->all);
    }
    struct share most = find_most(list, n, all_out);
    pct_free(list);
    return most;
}

/* Appends the part of a share in all that were counted, as its 95 % interval. False: an error of
 * half of it or more. */
static bool put_counted(const struct share *most, const struct share *all, struct pct_buf *b)
{
    double part = most->value / all->value, rest = all->variance - most->variance;
    double error = pct_normal_above(0.025) / all->value *
                   sqrt((1 - part) * (1 - part) * most->variance + part * part * fmax(0, rest));
    double low = round(100 * (part - error)), high = round(100 * fmin(1, part + error));
    if (error >= part / 2)
        return false;
    if (low < high)
        pct_buf_format(b, " Of those that were counted %.0f to %.0f %% are in ", low, high);
    else
        pct_buf_format(b, " Of those that were counted %.0f %% are in ", high);
    return true;
}

/* Appends the part in all samples of computation. False: it is not more than half, or of few. */
static bool put_sampled(const struct share *most, const struct share *all, struct pct_buf *b)
{
    if (most->value <= all->value / 2 || most->samples < PCT_SAMPLES_FEW)
        return false;
    pct_buf_format(b, " Of the samples of computation %.0f %% are in ",
                   100 * most->value / all->value);
    return true;
}

const char *pct_finding_page_faults(const struct pct_evidence *f)
{
    uint32_t event = find_fault_event(pct_data_estimates(f->data));
    struct share all;
    struct pct_buf b = {0};
    struct share most = event ? find_faulting(f->data, event, &all) : find_computing(f->data, &all);
    /* A root with the libraries that it calls is everything, and no place. */
    bool sure =
        most.label && most.value > 2 * sqrt(most.variance) && !(most.is_root && most.in_library);
    pct_buf_put(&b, "", 0);
    if (sure && (event ? put_counted(&most, &all, &b) : put_sampled(&most, &all, &b))) {
        pct_place_of_path(&b, most.label, false);
        pct_buf_text(&b, most.in_library ? " and the libraries that it calls." : ".");
    }
    if (!event)
        pct_buf_text(&b,
                     " To see in which function the page faults are: pcollect run --sample 1000 "
                     "--sample-plugins +counters --events perf::PAGE-FAULTS.");
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

/* ---- Reason why a rank computes longer ------------------------------------------------------- */

/* Figures of the other ranks, beside the busiest rank. */
struct comparison {
    double more; /* instructions of the busiest rank outside MPI, relative to the mean, minus 1 */
    bool sure;   /* the others' instructions do not include waiting */
};

/* Up to this part more instructions are no more work: the number of the same work differs a little
 * from rank to rank. */
#define EQUAL_WORK 0.05

/* Compares instructions. If a point was not read, instructions of an MPI call count as the
 * program's. In ranks that wait, this could hide a difference in work, but it cannot make one
 * up. */
static bool compare_instructions(const struct pct_evidence *f, struct comparison *out)
{
    enum { FEW = 4 }; /* at most 1 of 4 points was skipped */
    struct pct_rank_instructions *list = pct_instructions_by_rank(f->data->profile);
    double own = 0, all = 0, read = 0, skipped = 0;
    bool known = list;
    for (size_t r = 0; r < f->n_ranks && known; r++) {
        known = list[r].outside > 0;
        all += list[r].outside;
        if (r == f->times->busiest) {
            own = list[r].outside;
            continue;
        }
        read += list[r].read;
        skipped += list[r].skipped;
    }
    pct_free(list);
    if (known)
        *out = (struct comparison){own * (double)f->n_ranks / all - 1,
                                   skipped * FEW <= read + skipped};
    return known;
}

const char *pct_finding_why_longer(const struct pct_evidence *f, double longer)
{
    char text[160];
    struct comparison c;
    if (!compare_instructions(f, &c) || !(longer > 0))
        return "";
    if (c.more >= 2 * longer / 3)
        pct_text_format(text, sizeof text,
                        " It executes %.0f %% more instructions than the mean: it has more work.",
                        100 * c.more);
    else if (!c.sure)
        return "";
    else if (c.more <= fmin(longer / 3, EQUAL_WORK))
        pct_text_format(text, sizeof text,
                        " It has no more work (%+.0f %% instructions) but is slower: look at its "
                        "processor, memory and caches.",
                        100 * c.more);
    else
        pct_text_format(
            text, sizeof text,
            " It executes %.0f %% more instructions than the mean, which is a part of the "
            "reason.",
            100 * c.more);
    return pct_pool_intern(f->pool, text);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct pct_rule rows[] = {
    {"cache-misses", 0.05, "a function that misses a cache more often than the rest", find_misses,
     true},
};
const struct pct_rules pct_counter_rules = {rows, PC_ARRAY_LEN(rows)};
