/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calling-context tree as text. A line is a node with all below it: its share, time in MPI and
 * CPU time outside of it side by side, a picture over ranks, its name and where it was called. A
 * node with one visible child is continued straight below; lines and corners are drawn only where
 * paths part, so that deep paths stay on the screen. A function that calls itself is one line.
 *
 * What is hidden, for its share is small, is one line "N more" with what it comes to, if that is
 * enough for a line. Where no threshold is asked for, it is that with which the tree fits a screen.
 */
#include "view/branches.h"
#include "view/node_text.h"
#include "view/report_print.h"

#include <string.h>

/* Where paths part this often, what is deeper is left to the table of contexts. */
enum { MAX_BRANCHES = 100 };

/* One of them is the threshold where none is asked for, see put_short; thousandths of a percent. */
static const unsigned shares[] = {1000, 2000, 3000, 5000, 7000, 10000, 15000, 20000, 30000};

/* What the columns are. */
enum columns {
    OF_METRIC, /* one figure of MPI calls */
    OF_CPU,    /* samples, of a program without MPI calls */
    OF_BOTH    /* time in MPI, CPU time outside of it, and their sum */
};

struct printer {
    const struct pct_data *d;
    const struct pct_options *o;
    struct pct_tree *tree;
    enum columns columns;
    enum pct_metric metric;
    bool bars;
    pc_u128 whole;         /* what shares are of */
    pc_u128 mpi, computed; /* OF_BOTH: of all */
    pc_u128 least;         /* what has less is not shown; thousandths of a percent */
    struct pct_branches branches;
    uint64_t *values; /* by rank */
    bool *present;
    struct pct_buf bar; /* of bar_node */
    uint32_t bar_node;
    bool any_few, any_call, any_slight; /* said in the legend */
};

static enum pct_figure_of figure_of(const struct printer *l)
{
    return l->columns == OF_METRIC ? PCT_OF_METRIC
           : l->columns == OF_CPU  ? PCT_OF_TOTAL
                                   : PCT_OF_TIME;
}

static pc_u128 figure(const struct printer *l, uint32_t node)
{
    return pct_tree_figure(l->tree, node, figure_of(l), l->metric);
}

/* A function that made no call, called none that did, and was not sampled has nothing to show. */
static bool has_figure(const struct printer *l, uint32_t node)
{
    const struct pct_below *below = &l->tree->below[node];
    bool any = l->tree->nodes[node].kind == PCOLLECT_NODE_OP ||
               (l->columns != OF_METRIC && below->total.samples);
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        any |= below->sum[k] != 0;
    return any;
}

/* Enough of what is shown. Of both, what matters to the one of them is shown if it is not next to
 * nothing in the sum. */
static bool is_enough(const struct printer *l, pc_u128 value, const struct pct_below *below)
{
    enum { NEXT_TO_NOTHING = 5 };
    pc_u128 least = l->least, share = pct_text_share(value, l->whole);
    if (share * NEXT_TO_NOTHING < least)
        return false;
    return share >= least ||
           (l->columns == OF_BOTH && (pct_text_share(below->sum[PCT_TIME], l->mpi) >= least ||
                                      pct_text_share(below->computed.ns, l->computed) >= least));
}

static bool is_visible(const struct printer *l, uint32_t node)
{
    return has_figure(l, node) && is_enough(l, figure(l, node), &l->tree->below[node]);
}

/* n_hidden: of those that together are enough for a line. */
struct children {
    size_t n, n_hidden;
    struct pct_below hidden; /* what they come to */
    uint32_t first;
};

static void add_below(struct pct_below *to, const struct pct_below *what)
{
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        to->sum[k] += what->sum[k];
    pct_sampled_add(&to->total, what->total);
    pct_sampled_add(&to->computed, what->computed);
}

static pc_u128 figure_below(const struct printer *l, const struct pct_below *below)
{
    return l->columns == OF_METRIC ? below->sum[l->metric]
           : l->columns == OF_CPU  ? below->total.ns
                                   : below->sum[PCT_TIME] + below->computed.ns;
}

static struct children look_at_children(struct printer *l, uint32_t node)
{
    const struct pct_node *nodes = l->tree->nodes;
    struct children c = {.first = PC_NO_INDEX};
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!has_figure(l, i))
            continue;
        if (!is_visible(l, i)) {
            c.n_hidden++;
            add_below(&c.hidden, &l->tree->below[i]);
            continue;
        }
        if (!c.n++)
            c.first = i;
    }
    if (c.n_hidden && !is_enough(l, figure_below(l, &c.hidden), &c.hidden)) {
        l->any_slight = true;
        c.n_hidden = 0;
    }
    return c;
}

/* ---- One line ---------------------------------------------------------------------------------
 */

/* An only child has all that its parent has, and the same picture: long runs cost no walks over
 * the tree. */
static void put_bar(struct printer *l, uint32_t node, struct pct_buf *b)
{
    size_t n_ranks = l->d->profile->n_ranks;
    if (!l->bars)
        return;
    if (!l->bar.n || l->tree->nodes[node].parent != l->bar_node ||
        figure(l, node) != figure(l, l->bar_node)) {
        memset(l->values, 0, n_ranks * sizeof *l->values);
        if (l->columns != OF_CPU)
            pct_tree_ranks(l->tree, node, l->metric, l->values, l->present);
        if (l->columns != OF_METRIC)
            pct_tree_sampled_ranks(l->tree, node,
                                   l->columns == OF_CPU ? PCT_SAMPLED_TOTAL : PCT_SAMPLED_COMPUTED,
                                   l->values, l->present);
        pct_buf_clear(&l->bar);
        pct_print_bar(&l->bar, l->values, n_ranks, l->o->utf8);
    }
    l->bar_node = node;
    pct_buf_format(b, "%s  ", l->bar.data);
}

/* Where it was called, or is. */
static void put_place(struct printer *l, const struct pct_node *n, struct pct_buf *b)
{
    l->any_call |= n->call_file != NULL;
    pct_node_place(b, l->d->profile, n, l->o->tree.full_paths);
    if (n->kind == PCOLLECT_NODE_OP || n->frame.inlined || n->frame.tail_call)
        return;
    if (!l->tree->callers && l->tree->nodes[n->parent].kind == PCOLLECT_NODE_OP)
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

/* Calls, and what else of them fits. */
static void put_calls(const struct printer *l, const struct pct_node *n, size_t cells,
                      struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES], text[PCT_NUMBER_BYTES + 16];
    const pc_u128 *sum = l->tree->callers ? l->tree->below[n - l->tree->nodes].sum : n->own.sum;
    struct pct_buf details = {0};
    pct_buf_format(&details, "%s %s", pct_text_count(number, sum[PCT_CALLS]),
                   sum[PCT_CALLS] == 1 ? "call" : "calls");
    if (sum[PCT_CALLS]) {
        pct_text_format(text, sizeof text, "mean %s", pct_text_time(number, pct_totals_mean(sum)));
        put_detail(&details, text, cells);
    }
    put_bytes(&details, sum[PCT_SENT], "sent", cells);
    put_bytes(&details, sum[PCT_RECEIVED], "received", cells);
    if (n->flags & PCOLLECT_FLAG_COLLAPSED)
        pct_buf_text(&details, ", with deeper contexts");
    pct_buf_format(b, ": %s", details.data);
    pct_buf_free(&details);
}

/* What stands behind the name; false: it does not fit. */
static bool put_rest(struct printer *l, const struct pct_node *n, size_t cells, struct pct_buf *b)
{
    pct_buf_clear(b);
    pct_buf_put(b, "", 0);
    bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    if (frame || n->kind == PCOLLECT_NODE_OP)
        put_place(l, n, b);
    size_t taken = pct_text_cells(b->data) + 2;
    if (n->kind == PCOLLECT_NODE_OP && l->d->model->has[PCT_CALLS])
        put_calls(l, n, cells > taken ? cells - taken : 0, b);
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

static void put_sampled(struct printer *l, struct pct_sampled what, struct pct_buf *b)
{
    enum { CELLS = 17 };
    struct pct_buf text = {0};
    pct_buf_put(&text, "", 0);
    if (what.samples)
        pct_sampled_text(&text, what, l->tree->samples->all, false);
    l->any_few |= what.samples && what.samples < PCT_SAMPLES_FEW;
    size_t cells = pct_text_cells(text.data);
    pct_buf_fill(b, ' ', 2 + (cells < CELLS ? CELLS - cells : 0));
    pct_buf_text(b, text.data);
    pct_buf_free(&text);
}

static void put_figures(struct printer *l, const struct pct_below *below, pc_u128 value,
                        struct pct_buf *b)
{
    char share[PCT_NUMBER_BYTES], number[PCT_NUMBER_BYTES];
    pc_u128 m = pct_text_share(value, l->whole);
    enum pct_style style = m >= 20000  ? PCT_STYLE_HOT
                           : m >= 5000 ? PCT_STYLE_WARM
                                       : PCT_STYLE_PLAIN;
    pct_buf_format(b, "  %s%7s%s", pct_style(l->o, style), pct_text_percent_1(share, m),
                   pct_style(l->o, PCT_STYLE_PLAIN));
    if (l->columns != OF_METRIC) {
        if (l->columns == OF_BOTH)
            put_time(b, below->sum[PCT_TIME], 8);
        put_sampled(l, l->columns == OF_BOTH ? below->computed : below->total, b);
    } else if (l->metric == PCT_TIME) {
        pct_buf_format(b, "  %8s", pct_text_time(number, value));
    } else {
        pct_buf_format(b, "  %11s",
                       l->metric == PCT_CALLS ? pct_text_count(number, value)
                                              : pct_text_bytes(number, value));
    }
    pct_buf_text(b, "  ");
}

/* times: how often the node is repeated straight below. */
static void put_node(struct printer *l, uint32_t node, struct pct_corner corner, size_t times)
{
    const struct pct_node *n = &l->tree->nodes[node];
    bool op = n->kind == PCOLLECT_NODE_OP;
    struct pct_buf figures = {0}, name = {0}, rest = {0};
    put_figures(l, &l->tree->below[node], figure(l, node), &figures);
    put_bar(l, node, &figures);
    size_t room = pct_branches_room(&l->branches, corner);
    pct_node_name(&name, l->d->profile, n, l->o->full_names);
    if (times > 1)
        pct_buf_format(&name, " %s%zu times", l->o->utf8 ? "\xc3\x97 " : "x ", times);
    size_t taken = pct_text_cells(name.data) < room ? pct_text_cells(name.data) : room;
    bool beside = put_rest(l, n, room - taken, &rest);
    if (!beside)
        put_rest(l, n, pct_branches_rest_room(&l->branches, corner), &rest);
    pct_branches_put(&l->branches, figures.data, corner,
                     &(struct pct_branch){.name = name.data,
                                          .name_color = op ? pct_style(l->o, PCT_STYLE_NAME) : "",
                                          .rest = rest.data,
                                          .rest_color = pct_style(l->o, PCT_STYLE_DIM),
                                          .plain = pct_style(l->o, PCT_STYLE_PLAIN),
                                          .beside = beside});
    pct_buf_free(&figures);
    pct_buf_free(&name);
    pct_buf_free(&rest);
}

static void put_hidden(struct printer *l, const struct children *c, struct pct_corner corner)
{
    struct pct_buf figures = {0}, more = {0};
    put_figures(l, &c->hidden, figure_below(l, &c->hidden), &figures);
    pct_buf_fill(&figures, ' ', l->bars ? PCT_BAR_CELLS + 2 : 0);
    pct_buf_format(&more, "%s %zu more", pct_branches_dots(&l->branches), c->n_hidden);
    pct_branches_put(&l->branches, figures.data, corner,
                     &(struct pct_branch){.name = more.data,
                                          .name_color = pct_style(l->o, PCT_STYLE_DIM),
                                          .rest = "",
                                          .rest_color = "",
                                          .plain = pct_style(l->o, PCT_STYLE_PLAIN),
                                          .beside = true});
    pct_buf_free(&figures);
    pct_buf_free(&more);
}

/* ---- The tree ---------------------------------------------------------------------------------
 */

/* Follows nodes with one visible child; a function that calls itself is one line. `corner` is that
 * of the first line; what is below it joins the guide. Returns the last node of the run, whose
 * children part. */
static uint32_t put_run(struct printer *l, uint32_t node, struct pct_corner corner)
{
    const struct pct_node *nodes = l->tree->nodes;
    for (;;) {
        size_t times = 1;
        uint32_t first = node;
        struct children c = look_at_children(l, node);
        while (c.n == 1 && !c.n_hidden && nodes[c.first].label == nodes[first].label &&
               nodes[c.first].kind == nodes[first].kind) {
            node = c.first;
            times++;
            c = look_at_children(l, node);
        }
        put_node(l, first, corner, times);
        pct_buf_text(&l->branches.guide, corner.below);
        if (c.n != 1 || c.n_hidden)
            return node;
        corner = pct_branches_corner(&l->branches, true, false);
        node = c.first;
    }
}

/* Top level: no corners. */
static void put_children(struct printer *l, uint32_t node, unsigned depth)
{
    const struct pct_node *nodes = l->tree->nodes;
    struct pct_buf *guide = &l->branches.guide;
    struct children c = look_at_children(l, node);
    size_t left = c.n + (c.n_hidden != 0), n_guide = guide->n;
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!is_visible(l, i) || depth > MAX_BRANCHES)
            continue;
        bool last = --left == 0;
        uint32_t end = put_run(l, i, pct_branches_corner(&l->branches, !depth, last));
        put_children(l, end, depth + 1);
        guide->n = n_guide;
        guide->data[n_guide] = 0;
    }
    if (c.n_hidden)
        put_hidden(l, &c, pct_branches_corner(&l->branches, !depth, true));
}

static void put_head(const struct printer *l, const char *title)
{
    const struct pct_options *o = l->o;
    char share[PCT_NUMBER_BYTES];
    struct pct_buf head = {0}, shown = {0};
    pct_buf_text(&head, title);
    pct_buf_text(&shown, o->bottom_up ? "(callers below what they call" : "");
    if (l->least)
        pct_buf_format(&shown, "%scontexts with %s or more%s", o->bottom_up ? "; " : "(",
                       pct_text_percent_1(share, l->least),
                       l->columns == OF_BOTH ? " of one of them" : " of it");
    pct_buf_text(&shown, shown.n ? ")" : "");
    size_t cells = pct_text_cells(head.data) + 1 + pct_text_cells(shown.data);
    fprintf(l->branches.out, "\n%s%s%s%s%s\n", pct_style(o, PCT_STYLE_TITLE), head.data,
            pct_style(o, PCT_STYLE_PLAIN),
            !shown.n                       ? ""
            : o->width && cells > o->width ? "\n  "
                                           : " ",
            shown.data);
    pct_buf_free(&head);
    pct_buf_free(&shown);
}

/* How much was sampled. */
static void put_samples(const struct printer *l)
{
    const struct pct_samples *s = l->tree->samples;
    char n[PCT_NUMBER_BYTES], time[PCT_NUMBER_BYTES], share[PCT_NUMBER_BYTES];
    fprintf(l->branches.out, "  %s samples stand for %s of CPU time",
            pct_text_count(n, s->all.samples), pct_text_time(time, s->all.ns));
    if (s->mpi.samples)
        fprintf(l->branches.out, ", %s of it in MPI calls",
                pct_text_percent_1(share, pct_text_share(s->mpi.ns, s->all.ns)));
    if (s->cut.samples)
        fprintf(l->branches.out, ", %s in contexts whose outer part is unknown",
                pct_text_percent_1(share, pct_text_share(s->cut.ns, s->all.ns)));
    fputc('\n', l->branches.out);
}

static void put_title(const struct printer *l)
{
    static const struct {
        const char *down, *up, *whole, *figure;
    } titles[] = {
        [PCT_CALLS] = {"Where MPI is called", "From where MPI is called", "of calls", "calls"},
        [PCT_TIME] = {"Where the time in MPI goes", "From where the time in MPI is spent", "of MPI",
                      "time"},
        [PCT_SENT] = {"Where bytes are sent", "From where bytes are sent", "of bytes", "sent"},
        [PCT_RECEIVED] = {"Where bytes are received", "From where bytes are received", "of bytes",
                          "received"},
    };
    const char *bars = l->bars ? "by rank   " : "";
    if (l->columns == OF_METRIC) {
        put_head(l, l->o->bottom_up ? titles[l->metric].up : titles[l->metric].down);
        fprintf(l->branches.out, "%9s  %*s  %scontext\n", titles[l->metric].whole,
                l->metric == PCT_TIME ? 8 : 11, titles[l->metric].figure, bars);
        return;
    }
    bool both = l->columns == OF_BOTH;
    put_head(l, both ? "Where the time goes: in MPI, and CPU time outside of it"
                     : "Where CPU time goes");
    put_samples(l);
    fprintf(l->branches.out, "%9s%s  %17s  %scontext\n", "share", both ? "    in MPI" : "",
            both ? "computing" : "CPU time", bars);
}

static void put_legend(const struct printer *l)
{
    char share[PCT_NUMBER_BYTES];
    if (l->any_few)
        fprintf(l->branches.out, "  few: less than %d samples, too few to tell the error\n",
                PCT_SAMPLES_FEW);
    if (l->any_call && !l->o->bottom_up)
        fputs("  at FILE:LINE: where it was called\n", l->branches.out);
    if (l->any_slight)
        fprintf(l->branches.out,
                "  left out: branches of a function that together have less than %s\n",
                pct_text_percent_1(share, l->least));
    if (!l->o->has_min_percent && l->least > shares[0])
        fputs("  --min-percent 1 shows more\n", l->branches.out);
}

static void put_all(struct printer *l, FILE *out, pc_u128 least)
{
    l->branches.out = out;
    l->least = least;
    l->any_few = l->any_call = l->any_slight = false;
    put_title(l);
    if (l->tree->n > 1)
        put_children(l, 0, 0);
    else
        fprintf(out, "  no MPI function was called\n");
    put_legend(l);
}

static ssize_t count_lines(void *lines, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        *(size_t *)lines += text[k] == '\n';
    return (ssize_t)n;
}

static void close_counter(void *counter)
{
    fclose(counter);
}

/* With the least share of which the tree is no longer than a screen: it is printed to where lines
 * are counted first. */
static void put_short(struct printer *l, FILE *out)
{
    enum { MOST_LINES = 40 };
    size_t lines, i = 0;
    do {
        lines = 0;
        FILE *counter = fopencookie(&lines, "w", (cookie_io_functions_t){.write = count_lines});
        if (!counter)
            break;
        pct_hold(counter, close_counter);
        put_all(l, counter, shares[i]);
        pct_end(counter, close_counter);
    } while (lines > MOST_LINES && ++i + 1 < PC_ARRAY_LEN(shares));
    put_all(l, out, shares[i]);
}

static struct pct_tree *make_tree(const struct printer *l)
{
    struct pct_tree_options shape = l->o->tree;
    const struct pct_samples *samples = l->columns == OF_METRIC ? NULL : pct_data_samples(l->d);
    shape.grain = l->o->bottom_up ? PCT_GRAIN_LINE : PCT_GRAIN_CALL;
    shape.callers = l->o->bottom_up;
    return pct_tree_new(l->d->model, l->d->symbols, samples, &shape);
}

static enum columns columns_of(const struct pct_data *d, const struct pct_options *o,
                               enum pct_metric sort)
{
    bool time = o->metric == PCT_TIME && sort == PCT_TIME;
    if (!time || !pct_data_samples(d)->all.samples)
        return OF_METRIC;
    return d->model->all.mpi_calls ? OF_BOTH : OF_CPU;
}

void pct_print_tree(FILE *out, const struct pct_data *d, const struct pct_options *o,
                    enum pct_metric sort)
{
    enum { WIDE = 100 };
    size_t n = d->profile->n_ranks;
    struct printer l = {.branches = {.out = out, .width = o->width, .utf8 = o->utf8},
                        .d = d,
                        .o = o,
                        .metric = o->metric};
    l.columns = columns_of(d, o, sort);
    l.bars = l.columns == OF_METRIC || !o->width || o->width >= WIDE;
    l.tree = make_tree(&l);
    pct_tree_sort(l.tree, figure_of(&l), sort);
    l.mpi = l.tree->below[0].sum[PCT_TIME];
    l.computed = l.tree->below[0].computed.ns;
    l.whole =
        l.columns == OF_METRIC && l.metric == PCT_TIME ? d->model->context_mpi_ns : figure(&l, 0);
    l.branches.figures = 9 +
                         (l.columns == OF_METRIC ? (l.metric == PCT_TIME ? 10 : 13)
                          : l.columns == OF_CPU  ? 19
                                                 : 29) +
                         2 + (l.bars ? (int)PCT_BAR_CELLS + 2 : 0);
    l.values = pct_alloc(n, sizeof *l.values);
    l.present = pct_alloc(n, sizeof *l.present);
    pct_buf_put(&l.branches.guide, "", 0);
    if (o->has_min_percent || l.tree->n <= 1)
        put_all(&l, out, o->has_min_percent ? o->choice.min_percent : shares[0]);
    else
        put_short(&l, out);
    pct_tree_free(l.tree);
    pct_free(l.values);
    pct_free(l.present);
    pct_buf_free(&l.branches.guide);
    pct_buf_free(&l.bar);
}
