/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Samples of a profile, and their error: see samples.h.
 */
#include "analysis/tree/samples.h"
#include "analysis/tree/fields.h"
#include "format/contexts.h"

#include <math.h>
#include <string.h>

uint32_t pct_samples_field(const struct pc_profile *p, const char *plugin, const char *name)
{
    for (uint32_t k = 0; k < p->n_fields; k++)
        if (!strcmp(p->fields[k].plugin, plugin) && !strcmp(p->fields[k].name, name))
            return k;
    return PC_NO_INDEX;
}

bool pct_samples_any(const struct pc_profile *p)
{
    uint32_t samples = pct_samples_field(p, "clock", "samples");
    struct pc_contexts c;
    bool any = false;
    if (samples == PC_NO_INDEX || pct_samples_field(p, "clock", "time") == PC_NO_INDEX)
        return false;
    pc_contexts_open(&c, p);
    while (!any && pc_contexts_next(&c))
        any = c.data && pc_data_sum(p, c.data, samples) != 0;
    if (pc_contexts_close(&c))
        pct_memory_refuse();
    return any;
}

/* Squares are stored in us^2. In an older profile without squares, all samples count as equal. */
struct pct_sampled pct_samples_made(const struct pct_samples *s, pc_u128 samples, pc_u128 ns,
                                    pc_u128 squares)
{
    struct pct_sampled made = {.samples = (uint64_t)samples, .ns = ns};
    if (s->squares_field != PC_NO_INDEX)
        made.squares = (double)squares * 1e6;
    else if (samples)
        made.squares = (double)ns * (double)ns / (double)samples;
    return made;
}

struct pct_sampled pct_samples_of(const struct pct_samples *s, uint32_t node)
{
    struct pct_sampled none = {.samples = 0};
    const struct pc_profile *p = s->profile;
    uint32_t data = p->nodes[node].data;
    if (data == PC_NO_INDEX || s->samples_field == PC_NO_INDEX || s->time_field == PC_NO_INDEX)
        return none;
    const struct pc_profile_data *d = &p->data[data];
    return pct_samples_made(
        s, pc_data_sum(p, d, s->samples_field), pc_data_sum(p, d, s->time_field),
        s->squares_field == PC_NO_INDEX ? 0 : pc_data_sum(p, d, s->squares_field));
}

bool pct_samples_has(const struct pct_samples *s, uint32_t node)
{
    uint32_t data = s->profile->nodes[node].data;
    if (pct_samples_of(s, node).samples)
        return true;
    if (data == PC_NO_INDEX || s->event_field == PC_NO_INDEX)
        return false;
    return pc_data_sum(s->profile, &s->profile->data[data], s->event_field) != 0;
}

static uint32_t find_event(const struct pc_profile *p)
{
    for (uint32_t k = 0; k < p->n_fields; k++)
        if (pct_field_is_event(&p->fields[k]))
            return k;
    return PC_NO_INDEX;
}

/* Finds the module in which more than half of the time is cut. */
static void find_cut_module(struct pct_samples *s, const pc_u128 *cut_ns)
{
    s->cut_module = PC_NO_INDEX;
    for (uint32_t m = 0; m < s->profile->n_modules; m++)
        if (cut_ns[m] > s->cut.ns / 2)
            s->cut_module = m;
}

static void sum_all(struct pct_samples *s)
{
    const struct pc_profile *p = s->profile;
    uint32_t cut = 0, end = 0;
    uint32_t outermost = PC_NO_INDEX; /* the module of the outermost frame below the cut */
    pc_u128 *cut_ns = pct_alloc(p->n_modules, sizeof *cut_ns);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        struct pct_sampled what = pct_samples_of(s, i);
        pct_sampled_add(&s->all, what);
        if (n->kind != PCOLLECT_NODE_POINT)
            pct_sampled_add(&s->mpi, what);
        uint32_t before = end;
        if (!pc_node_is_within(n, i, n->kind == PCOLLECT_NODE_CUT, &end))
            continue;
        cut = end != before ? i : cut;
        outermost = i == cut || n->parent == cut ? n->module : outermost;
        pct_sampled_add(&s->cut, what);
        if (outermost != PC_NO_INDEX)
            cut_ns[outermost] += what.ns;
    }
    find_cut_module(s, cut_ns);
    pct_free(cut_ns);
}

/* Each lost sample stands for the time of a mean one. */
static void add_lost(struct pct_samples *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->profile->n_ranks; i++)
        n += pc_rank_lost(&s->profile->ranks[i], PCOLLECT_LOST_SAMPLES);
    if (s->all.samples)
        s->all.lost_ns = (double)n * (double)s->all.ns / (double)s->all.samples;
}

struct pct_samples *pct_samples_new(const struct pc_profile *p)
{
    struct pct_samples *s = pct_alloc(1, sizeof *s);
    s->profile = p;
    s->samples_field = pct_samples_field(p, "clock", "samples");
    s->time_field = pct_samples_field(p, "clock", "time");
    s->squares_field = pct_samples_field(p, "clock", "squares");
    s->event_field = find_event(p);
    sum_all(s);
    add_lost(s);
    s->whole = s->all;
    return s;
}

double pct_samples_from_init_ns(const struct pc_profile *p, const int32_t *rank)
{
    const struct pc_profile_table *t = pc_profile_table_in_order(p, "sampling");
    uint32_t compute = pc_table_column(t, "compute_time", PCOLLECT_COLUMN_NUMBER);
    double ns = 0;
    if (compute == PC_NO_INDEX || pc_table_column(t, "rank", PCOLLECT_COLUMN_RANK) != 0)
        return -1;
    for (uint32_t row = 0; row < t->n_rows; row++)
        if (!rank || (int64_t)pc_table_cell(t, row, 0) == *rank)
            ns += (double)pc_table_cell(t, row, compute);
    return ns;
}

double pct_samples_early_ns(const struct pct_samples *s)
{
    double later_ns = pct_samples_from_init_ns(s->profile, NULL);
    return later_ns < 0 ? 0 : fmax(0, (double)(s->all.ns - s->mpi.ns) - later_ns);
}

void pct_samples_free(struct pct_samples *s)
{
    pct_free(s);
}

void pct_sampled_add(struct pct_sampled *to, struct pct_sampled what)
{
    to->samples += what.samples;
    to->ns += what.ns;
    to->squares += what.squares;
}

/* The variance of a part: a sample in the part deviates by w (1 - p), one elsewhere by -w p. */
double pct_samples_variance(struct pct_sampled part, struct pct_sampled all)
{
    if (!part.samples || all.samples < part.samples || !all.ns)
        return 0;
    double p = (double)part.ns / (double)all.ns, others = all.squares - part.squares;
    return part.squares * (1 - p) * (1 - p) + (others > 0 ? others * p * p : 0);
}

bool pct_samples_error(struct pct_sampled part, struct pct_sampled all, pc_u128 *ns_out)
{
    if (part.samples < PCT_SAMPLES_FEW || all.samples < part.samples)
        return false;
    *ns_out = (pc_u128)(1.96 * sqrt(pct_samples_variance(part, all)) + all.lost_ns + 0.5);
    return true;
}

/* The error of a share: with lost samples the whole is larger too. */
static double share_error(double error_ns, struct pct_sampled all)
{
    double ns = (double)all.ns;
    return (error_ns - all.lost_ns + all.lost_ns * ns / (ns + all.lost_ns)) / ns;
}

void pct_sampled_text(struct pct_buf *b, struct pct_sampled part, struct pct_sampled all,
                      bool share)
{
    char number[PCT_NUMBER_BYTES];
    pc_u128 error;
    double unit = share ? 100 / (double)all.ns : 1;
    if (pct_samples_error(part, all, &error))
        pct_text_estimate(b, (double)part.ns * unit,
                          share ? 100 * share_error((double)error, all) : (double)error,
                          share ? PCT_UNIT_PERCENT : PCT_UNIT_NS);
    else
        pct_buf_format(b, "%s%s",
                       share ? pct_text_percent_1(number, pct_text_share(part.ns, all.ns))
                             : pct_text_time(number, part.ns),
                       part.samples ? " few" : "");
}
