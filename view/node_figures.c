/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a node as columns of text (node_figures.h).
 */
#include "view/node_figures.h"

#include "view/node_text.h"

#include <string.h>

static enum pct_figure_of figure_of(const struct pct_node_figures *f)
{
    return f->columns == PCT_COLUMNS_METRIC ? PCT_OF_METRIC
           : f->columns == PCT_COLUMNS_CPU  ? PCT_OF_TOTAL
                                            : PCT_OF_TIME;
}

pc_u128 pct_node_figure(const struct pct_node_figures *f, uint32_t node)
{
    return pct_tree_figure(f->tree, node, figure_of(f), f->metric);
}

pc_u128 pct_node_figure_below(const struct pct_node_figures *f, const struct pct_below *below)
{
    return f->columns == PCT_COLUMNS_METRIC ? below->sum[f->metric]
           : f->columns == PCT_COLUMNS_CPU  ? below->total.ns
                                            : below->sum[PCT_TIME] + below->computed.ns;
}

bool pct_node_has_figure(const struct pct_node_figures *f, uint32_t node)
{
    const struct pct_below below = pct_tree_below(f->tree, node);
    bool any = f->tree->nodes[node].kind == PCOLLECT_NODE_OP ||
               (f->columns != PCT_COLUMNS_METRIC && below.total.samples);
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        any |= below.sum[k] != 0;
    return any;
}

/* ---- Columns --------------------------------------------------------------------------------- */

void pct_node_put_heads(const struct pct_node_figures *f, struct pct_buf *b)
{
    static const struct {
        const char *whole, *figure;
    } heads[] = {
        [PCT_CALLS] = {"of calls", "calls"},
        [PCT_TIME] = {"of MPI", "time"},
        [PCT_SENT] = {"of bytes", "sent"},
        [PCT_RECEIVED] = {"of bytes", "received"},
    };
    if (f->columns == PCT_COLUMNS_METRIC)
        pct_buf_format(b, "%9s  %*s  ", heads[f->metric].whole, f->metric == PCT_TIME ? 8 : 11,
                       heads[f->metric].figure);
    else if (f->columns == PCT_COLUMNS_BOTH)
        pct_buf_format(b, "%9s%10s  %17s  ", "share", "in MPI", "computing");
    else
        pct_buf_format(b, "%9s  %17s  ", "share", "CPU time");
    pct_buf_text(b, f->bars ? "by rank   " : "");
}

/* Orders the calls that had not ended as the tree does, so that those below a node are beside each
 * other. Children have greater indices than their parents. */
static void order_open(struct pct_node_figures *f)
{
    const struct pct_tree *t = f->tree;
    size_t n = 0;
    if (!f->open->n)
        return;
    f->calls = pct_alloc(f->open->n, sizeof *f->calls);
    f->begin = pct_alloc(t->n, sizeof *f->begin);
    f->end = pct_alloc(t->n, sizeof *f->end);
    for (size_t i = 0; i < f->open->n; i++)
        f->end[t->shown[f->open->list[i].node]]++;
    for (uint32_t at = 0; at != PC_NO_INDEX; at = pct_tree_after(t, 0, at, true)) {
        f->begin[at] = n;
        n += f->end[at];
        f->end[at] = f->begin[at];
    }
    for (size_t i = 0; i < f->open->n; i++)
        f->calls[f->end[t->shown[f->open->list[i].node]]++] = &f->open->list[i];
    for (size_t i = t->n; i-- > 1;) {
        size_t *all = &f->end[t->nodes[i].parent];
        *all = *all > f->end[i] ? *all : f->end[i];
    }
}

/* Those in the figures of the node, and their number. */
static const struct pct_open_call **open_below(const struct pct_node_figures *f, uint32_t node,
                                               size_t *n_out)
{
    *n_out = f->calls && f->tree->open_ns[node] ? f->end[node] - f->begin[node] : 0;
    return *n_out ? &f->calls[f->begin[node]] : NULL;
}

/* Appends the picture. An only child with all of its parent's time has the same picture, so long
 * chains need no further walks over the tree. */
void pct_node_put_bar(struct pct_node_figures *f, uint32_t node, struct pct_buf *b)
{
    size_t n_ranks = f->d->profile->n_ranks, n_open;
    const struct pct_open_call **open = open_below(f, node, &n_open);
    if (!f->bars)
        return;
    if (!f->bar.n || f->tree->nodes[node].parent != f->bar_node ||
        pct_node_figure(f, node) != pct_node_figure(f, f->bar_node)) {
        memset(f->values, 0, n_ranks * sizeof *f->values);
        if (f->columns != PCT_COLUMNS_CPU)
            pct_tree_ranks(f->tree, node, f->metric, f->values, f->present);
        for (size_t i = 0; i < n_open; i++)
            f->values[open[i]->rank] += open[i]->ns;
        if (f->columns != PCT_COLUMNS_METRIC)
            pct_tree_sampled_ranks(f->tree, node,
                                   f->columns == PCT_COLUMNS_CPU ? PCT_SAMPLED_TOTAL
                                                                 : PCT_SAMPLED_COMPUTED,
                                   f->values, f->present);
        pct_buf_clear(&f->bar);
        pct_print_bar(&f->bar, f->values, n_ranks, f->o->utf8);
    }
    f->bar_node = node;
    pct_buf_format(b, "%s  ", f->bar.data);
}

/* Appends the place where the node was called, or else its own. */
static void put_place(struct pct_node_figures *f, const struct pct_node *n, struct pct_buf *b)
{
    f->any_call |= n->caller != NULL;
    pct_node_place(b, f->tree, n, f->o->tree.full_paths);
    if (n->kind == PCOLLECT_NODE_OP || n->frame->inlined || n->frame->tail_call)
        return;
    if (!f->tree->callers && f->tree->nodes[n->parent].kind == PCOLLECT_NODE_OP)
        pct_buf_text(b, " [called by MPI]");
}

/* Appends ", TEXT" if the line does not become longer than `cells`. */
static void put_detail(struct pct_buf *b, const char *text, size_t cells)
{
    if (pct_text_cells(b->data) + 2 + pct_text_cells(text) <= cells)
        pct_buf_format(b, "%s%s", b->n ? ", " : "", text);
}

static void put_bytes(struct pct_buf *b, pc_u128 bytes, const char *what, size_t cells)
{
    char number[PCT_NUMBER_BYTES], text[PCT_NUMBER_BYTES + 16];
    snprintf(text, sizeof text, "%s %s", pct_text_bytes(number, bytes), what);
    if (bytes)
        put_detail(b, text, cells);
}

/* Appends calls, and further details that fit. */
static void put_calls(const struct pct_node_figures *f, const struct pct_node *n, size_t cells,
                      struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES], text[PCT_NUMBER_BYTES + 16];
    uint32_t node = (uint32_t)(n - f->tree->nodes);
    const bool callers = f->tree->callers;
    struct pct_below below = pct_tree_below(f->tree, node);
    const struct pct_own own = pct_tree_own(f->tree, node);
    const pc_u128 *sum = callers ? below.sum : own.calls.sum;
    size_t n_open = 0, n_below;
    const struct pct_open_call **open = open_below(f, node, &n_below);
    for (size_t i = 0; i < n_below; i++) {
        bool here = callers || f->tree->shown[open[i]->node] == node;
        n_open += here;
        below.sum[PCT_TIME] -= here ? open[i]->ns : 0; /* the mean is of the others */
    }
    struct pct_buf details = {0};
    pct_buf_format(&details, "%s %s", pct_text_count(number, sum[PCT_CALLS]),
                   sum[PCT_CALLS] == 1 ? "call" : "calls");
    if (n_open) {
        pct_text_format(text, sizeof text, "%s not ended", pct_text_count(number, n_open));
        put_detail(&details, text, cells);
    }
    if (sum[PCT_CALLS]) {
        pct_text_format(text, sizeof text, "mean %s",
                        pct_text_time(number, pct_call_sum_mean(sum)));
        put_detail(&details, text, cells);
    }
    put_bytes(&details, sum[PCT_SENT], "sent", cells);
    put_bytes(&details, sum[PCT_RECEIVED], "received", cells);
    if (n->flags & PCOLLECT_FLAG_COLLAPSED)
        pct_buf_text(&details, ", with deeper contexts");
    pct_buf_format(b, ": %s", details.data);
    pct_buf_free(&details);
}

/* Appends the text after the name; false: it does not fit. */
bool pct_node_put_rest(struct pct_node_figures *f, const struct pct_node *n, size_t cells,
                       struct pct_buf *b)
{
    pct_buf_clear(b);
    pct_buf_put(b, "", 0);
    bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    if (frame || n->kind == PCOLLECT_NODE_OP)
        put_place(f, n, b);
    size_t taken = pct_text_cells(b->data) + 2;
    if (n->kind == PCOLLECT_NODE_OP && f->d->totals->has[PCT_CALLS])
        put_calls(f, n, cells > taken ? cells - taken : 0, b);
    return pct_text_cells(b->data) <= cells;
}

/* A time, blank if it is none. */
static void put_time(struct pct_buf *b, pc_u128 ns, int width)
{
    char number[PCT_NUMBER_BYTES] = "";
    if (ns)
        pct_text_time(number, ns);
    pct_buf_format(b, "  %*s", width, number);
}

static void put_sampled(struct pct_node_figures *f, struct pct_sampled what, struct pct_buf *b)
{
    enum { CELLS = 17 };
    struct pct_buf text = {0};
    pct_buf_put(&text, "", 0);
    if (what.samples)
        pct_sampled_text(&text, what, f->tree->samples->whole, false);
    f->any_few |= what.samples && what.samples < PCT_SAMPLES_FEW;
    size_t cells = pct_text_cells(text.data);
    pct_buf_fill(b, ' ', 2 + (cells < CELLS ? CELLS - cells : 0));
    pct_buf_text(b, text.data);
    pct_buf_free(&text);
}

void pct_node_put_figures(struct pct_node_figures *f, const struct pct_below *below, pc_u128 value,
                          struct pct_buf *b)
{
    char share[PCT_NUMBER_BYTES], number[PCT_NUMBER_BYTES];
    pc_u128 m = pct_text_share(value, f->whole);
    enum pct_style style = m >= 20000  ? PCT_STYLE_HOT
                           : m >= 5000 ? PCT_STYLE_WARM
                                       : PCT_STYLE_PLAIN;
    pct_buf_format(b, "  %s%7s%s", pct_style(f->o, style), pct_text_percent_1(share, m),
                   pct_style(f->o, PCT_STYLE_PLAIN));
    if (f->columns != PCT_COLUMNS_METRIC) {
        if (f->columns == PCT_COLUMNS_BOTH)
            put_time(b, below->sum[PCT_TIME], 8);
        put_sampled(f, f->columns == PCT_COLUMNS_BOTH ? below->computed : below->total, b);
    } else if (f->metric == PCT_TIME) {
        pct_buf_format(b, "  %8s", pct_text_time(number, value));
    } else {
        pct_buf_format(b, "  %11s",
                       f->metric == PCT_CALLS ? pct_text_count(number, value)
                                              : pct_text_bytes(number, value));
    }
    pct_buf_text(b, "  ");
}

/* ---- From open to close ---------------------------------------------------------------------- */

static struct pct_tree *make_tree(const struct pct_node_figures *f)
{
    struct pct_tree_options shape = f->o->tree;
    const struct pct_samples *samples =
        f->columns == PCT_COLUMNS_METRIC ? NULL : pct_data_samples(f->d);
    shape.grain = f->o->bottom_up ? PCT_GRAIN_LINE : PCT_GRAIN_CALL;
    shape.callers = f->o->bottom_up;
    return pct_tree_new(f->d->totals, f->d->symbols, samples, &shape);
}

static enum pct_columns columns_of(const struct pct_data *d, const struct pct_options *o,
                                   enum pct_metric sort)
{
    bool time = o->metric == PCT_TIME && sort == PCT_TIME;
    if (!time || !pct_data_samples(d)->all.samples)
        return PCT_COLUMNS_METRIC;
    return d->totals->all.mpi_calls && d->totals->has[PCT_TIME] ? PCT_COLUMNS_BOTH
                                                                : PCT_COLUMNS_CPU;
}

void pct_node_figures_fit(struct pct_node_figures *f)
{
    enum { WIDE = 100 };
    struct pct_buf heads = {0};
    f->bars = f->columns == PCT_COLUMNS_METRIC || !f->o->width || f->o->width >= WIDE;
    pct_node_put_heads(f, &heads);
    f->cells = heads.n;
    pct_buf_free(&heads);
}

void pct_node_figures_open(struct pct_node_figures *f, const struct pct_data *d,
                           const struct pct_options *o, enum pct_metric sort)
{
    static const struct pct_open_calls none;
    size_t n = d->profile->n_ranks;
    *f = (struct pct_node_figures){.d = d, .o = o, .metric = o->metric};
    f->columns = columns_of(d, o, sort);
    bool has_mpi = f->columns != PCT_COLUMNS_CPU && f->metric == PCT_TIME;
    f->open = has_mpi && d->whole == d->profile ? pct_data_open_calls(d) : &none;
    f->tree = make_tree(f);
    pct_tree_add_open(f->tree, f->open);
    pct_tree_sort(f->tree, figure_of(f), sort);
    order_open(f);
    f->mpi = pct_tree_below(f->tree, 0).sum[PCT_TIME];
    f->computed = pct_tree_below(f->tree, 0).computed.ns;
    /* Below the root of callers nested time is there twice. */
    f->whole = has_mpi && f->columns == PCT_COLUMNS_METRIC ? d->totals->context_mpi_ns + f->open->ns
                                                           : pct_node_figure(f, 0);
    f->values = pct_alloc(n, sizeof *f->values);
    f->present = pct_alloc(n, sizeof *f->present);
    pct_node_figures_fit(f);
}

void pct_node_figures_close(struct pct_node_figures *f)
{
    pct_tree_free(f->tree);
    pct_free(f->calls);
    pct_free(f->begin);
    pct_free(f->end);
    pct_free(f->values);
    pct_free(f->present);
    pct_buf_free(&f->bar);
}
