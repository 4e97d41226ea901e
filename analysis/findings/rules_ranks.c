/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules that compare ranks: who computes longest, who handles most messages, who waits in a row.
 */
#include "analysis/findings/findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double percent(const struct pct_facts *f, double ns)
{
    return 100 * ns / f->core_ns;
}

static int32_t rank_at(const struct pct_facts *f, size_t index)
{
    return f->data->profile->ranks[index].rank;
}

/* The context in which most waiting was excused; NULL: none. */
static const struct pct_fact *main_wait(const struct pct_facts *f)
{
    const struct pct_fact *most = NULL;
    for (size_t i = 0; i < f->n; i++) {
        if (f->list[i].excused_ns > 0 && (!most || f->list[i].excused_ns > most->excused_ns))
            most = &f->list[i];
    }
    return most;
}

/* ---- Where the busiest rank computes longer, if it was sampled ------------------------------- */

struct sampled {
    const char *function, *file;
    uint32_t line;
    double excess; /* samples of the busiest rank above the mean */
};

static uint32_t find_field(const struct pc_profile *p, const char *plugin, const char *name)
{
    for (uint32_t i = 0; i < p->n_fields; i++) {
        if (!strcmp(p->fields[i].plugin, plugin) && !strcmp(p->fields[i].name, name))
            return i;
    }
    return PC_NO_INDEX;
}

/* Value of the field at the busiest rank above the mean of all ranks. */
static double excess_of(const struct pct_facts *f, const struct pc_profile_data *d, uint32_t field)
{
    const struct pc_profile *p = f->data->profile;
    double own = 0, sum = 0;
    struct pc_by_rank by = pc_data_by_rank(p, d, field);
    for (uint32_t i = 0; i < by.n; i++) {
        double value = (double)by.values[i * by.stride];
        sum += value;
        if (by.ranks[i] == rank_at(f, f->busiest))
            own = value;
    }
    return own - sum / (double)f->n_ranks;
}

static void add_sampled(struct sampled *list, size_t *n, size_t room, const struct pct_frame *frame,
                        double excess)
{
    size_t i = 0;
    while (i < *n && list[i].function != frame->function)
        i++;
    if (i == room)
        return;
    if (i == *n)
        list[(*n)++] = (struct sampled){frame->function, frame->file, frame->line, 0};
    list[i].excess += excess;
}

/* The function in whose own code the busiest rank has most samples more than the mean. */
static struct sampled busiest_function(const struct pct_facts *f)
{
    enum { ROOM = 512 };
    const struct pc_profile *p = f->data->profile;
    uint32_t field = find_field(p, "clock", "samples");
    struct sampled *list = pct_alloc(ROOM, sizeof *list), most = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_nodes && field != PC_NO_INDEX; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        if (node->kind != PCOLLECT_NODE_POINT || node->data == PC_NO_INDEX)
            continue;
        struct pct_place place = pct_symbols_find(f->data->symbols, node->module, node->offset + 1);
        const struct pct_frame *frame = &place.frames[place.n_frames - 1];
        if (frame->function)
            add_sampled(list, &n, ROOM, frame, excess_of(f, &p->data[node->data], field));
    }
    for (size_t i = 0; i < n; i++) {
        if (list[i].excess > most.excess)
            most = list[i];
    }
    free(list);
    return most;
}

/* " in solve (a.c:30)" of the function that makes the difference; "" if nothing was sampled. */
static void put_sampled(const struct pct_facts *f, struct pct_buf *b)
{
    struct sampled where = busiest_function(f);
    pct_buf_put(b, "", 0);
    if (!where.function)
        return;
    pct_buf_text(b, " in ");
    pct_finding_put_function(b, where.function, where.file, where.line);
}

/* "the other rank waits", "the other 3 ranks wait" */
static const char *others_wait(const struct pct_facts *f)
{
    char text[64];
    if (f->n_ranks == 2)
        return "the other rank waits";
    snprintf(text, sizeof text, "the other %zu ranks wait", f->n_ranks - 1);
    return pct_pool_intern(f->pool, text);
}

/* How much longer than the mean of the others the busiest rank computes, of itself. */
static double lead(const struct pct_facts *f)
{
    double own = f->compute_ns[f->busiest] - f->use[f->busiest].delayed_ns;
    double others = f->compute_mean_ns * (double)f->n_ranks - f->compute_ns[f->busiest];
    return others > 0 ? own * (double)(f->n_ranks - 1) / others : HUGE_VAL;
}

enum { ALONE = 4 }; /* times the mean of the others */

static void find_serial(const struct pct_facts *f, const struct pct_rule *rule, double threshold,
                        struct pct_findings *out)
{
    if (f->n_ranks < 2 || !(f->compute_mean_ns > 0) || lead(f) <= ALONE ||
        !pct_finding_counts(f, rule, threshold, f->waiting_ns))
        return;
    const struct pct_fact *wait = main_wait(f);
    struct pct_buf b = {0};
    put_sampled(f, &b);
    pct_finding_add(out, f, rule, threshold, f->waiting_ns, "--table ranks",
                    "Rank %d alone computes%s: %s %.0f %% of the run%s%s. Divide this work, or let "
                    "all ranks do it.",
                    rank_at(f, f->busiest), b.data, others_wait(f), percent(f, f->waiting_ns),
                    wait ? ", most in " : "", wait ? wait->place : "");
    pct_buf_free(&b);
}

static void find_imbalance(const struct pct_facts *f, const struct pct_rule *rule, double threshold,
                           struct pct_findings *out)
{
    if (f->n_ranks < 2 || !(f->compute_mean_ns > 0) || lead(f) > ALONE || !(f->waiting_ns > 0) ||
        !pct_finding_counts(f, rule, threshold, f->waiting_ns))
        return;
    const struct pct_fact *wait = main_wait(f);
    double own = f->compute_ns[f->busiest] - f->use[f->busiest].delayed_ns;
    double longer = own / f->compute_mean_ns - 1;
    struct pct_buf b = {0};
    put_sampled(f, &b);
    pct_finding_add(out, f, rule, threshold, f->waiting_ns, "--table ranks",
                    "Rank %d computes %.0f %% longer than the mean%s: %s %.0f %% of the run%s%s.%s",
                    rank_at(f, f->busiest), 100 * longer, b.data, others_wait(f),
                    percent(f, f->waiting_ns), wait ? ", most in " : "", wait ? wait->place : "",
                    pct_finding_why_longer(f, longer));
    pct_buf_free(&b);
}

/* ---- Hub and chain ---------------------------------------------------------------------------
 */

static void find_hub(const struct pct_facts *f, const struct pct_rule *rule, double threshold,
                     struct pct_findings *out)
{
    const struct pct_fact *most = NULL;
    double waits = 0, longest = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        double others =
            pct_finding_is_message(fact) ? fmax(0, fact->off_hub_ns - fact->excused_ns) : 0;
        waits += others;
        if (others > longest) {
            longest = others;
            most = fact;
        }
    }
    if (most && pct_finding_has_hub(f))
        pct_finding_add(out, f, rule, threshold, waits, "--table ranks",
                        "Rank %d takes part in almost every message: the other %zu ranks spend "
                        "%.0f %% of the run in exchanges with it, most in %s. Let ranks talk to "
                        "each other, or use a collective operation.",
                        rank_at(f, f->hub), f->n_ranks - 1, percent(f, waits), most->place);
}

/* The time to receive grows from rank to rank. */
static void find_chain(const struct pct_facts *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    for (size_t i = 0; i < f->n && f->n_ranks >= 3; i++) {
        const struct pct_fact *fact = &f->list[i];
        double saves = fact->ns - fact->excused_ns;
        if (fabs(fact->trend) >= 0.9 &&
            fmin(fact->first_ns, fact->last_ns) < 0.25 * fmax(fact->first_ns, fact->last_ns))
            pct_finding_add(out, f, rule, threshold, saves, "--table contexts",
                            "The ranks wait for each other in a row: the wait in %s grows from "
                            "rank to rank, %.0f %% of the run in all. Pass the data on in smaller "
                            "pieces, or all at once.",
                            fact->place, percent(f, saves));
    }
}

/* ---- All --------------------------------------------------------------------------------------
 */

static const struct pct_rule rows[] = {
    {"serial", 0.05, "one rank alone computes", find_serial, true},
    {"imbalance", 0.05, "one rank computes longer than the others, which wait for it",
     find_imbalance, true},
    {"hub", 0.05, "one rank exchanges most messages", find_hub, false},
    {"chain", 0.05, "ranks wait for each other in a row", find_chain, false},
};
const struct pct_rules pct_rank_rules = {rows, PC_ARRAY_LEN(rows)};
