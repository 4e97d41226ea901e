/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of hottest contexts as text. A line is a node: its share of MPI time, its time, a
 * picture of its time over ranks, its name and where it was called. A node with one visible child
 * is continued straight below; lines and corners are drawn only where paths part, so that deep
 * paths stay on the screen.
 */
#include "view/report_print.h"

#include <stdlib.h>
#include <string.h>

/* Where paths part this often, what is deeper is left to the table of contexts. */
enum { MAX_BRANCHES = 100 };

struct outline {
    FILE *out;
    const struct pct_data *d;
    const struct pct_options *o;
    struct pct_tree *tree;
    pc_u128 whole;        /* what shares are of */
    int width;            /* of a figure */
    struct pct_buf guide; /* lines left of the current node */
    uint64_t *values;     /* by rank */
    bool *present;
    struct pct_buf bar; /* of bar_node */
    uint32_t bar_node;
};

struct signs {
    const char *fork, *last, *down, *gap, *dots;
};

static const struct signs utf8_signs = {"\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x94\xe2\x94\x80 ",
                                        "\xe2\x94\x82  ", "   ", "\xe2\x80\xa6"};
static const struct signs ascii_signs = {"|- ", "`- ", "|  ", "   ", "..."};

static const struct signs *signs_of(const struct outline *l)
{
    return l->o->utf8 ? &utf8_signs : &ascii_signs;
}

/* A function that made no call, and called none that did, has nothing to be shown. */
static bool has_figure(const struct outline *l, const struct pct_node *n)
{
    const pc_u128 *sum = pct_tree_inclusive(l->tree, n);
    bool any = false;
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        any |= sum[k] != 0;
    return any || n->kind == PCOLLECT_NODE_OP;
}

static bool is_visible(const struct outline *l, const struct pct_node *n)
{
    return has_figure(l, n) && pct_text_share(pct_tree_inclusive(l->tree, n)[l->o->metric],
                                              l->whole) >= l->o->choice.min_percent;
}

struct children {
    size_t n, n_hidden;
    pc_u128 hidden; /* what they come to */
    uint32_t first;
};

static struct children look_at_children(const struct outline *l, uint32_t node)
{
    const struct pct_node *nodes = l->tree->nodes;
    struct children c = {.first = PC_NO_INDEX};
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!has_figure(l, &nodes[i]))
            continue;
        if (!is_visible(l, &nodes[i])) {
            c.n_hidden++;
            c.hidden += l->tree->inclusive[i][l->o->metric];
            continue;
        }
        if (!c.n++)
            c.first = i;
    }
    return c;
}

/* ---- One line ---------------------------------------------------------------------------------
 */

/* An only child has all that its parent has, and the same picture: long runs cost no walks over
 * the tree. */
static void put_bar(struct outline *l, uint32_t node, struct pct_buf *b)
{
    const struct pct_node *n = &l->tree->nodes[node];
    size_t n_ranks = l->d->profile->n_ranks;
    if (!l->bar.n || n->parent != l->bar_node ||
        l->tree->inclusive[node][l->o->metric] != l->tree->inclusive[l->bar_node][l->o->metric]) {
        memset(l->values, 0, n_ranks * sizeof *l->values);
        pct_tree_ranks(l->tree, node, l->o->metric, l->values, l->present);
        pct_buf_clear(&l->bar);
        pct_print_bar(&l->bar, l->values, n_ranks, l->o->utf8);
    }
    l->bar_node = node;
    pct_buf_text(b, l->bar.data);
}

/* Names of functions lose parameters and template arguments where they are long. */
static void put_short_name(struct pct_buf *b, const char *name, size_t cells, bool utf8)
{
    struct pct_buf kept = {0};
    unsigned depth = 0;
    pct_buf_put(&kept, "", 0);
    bool cut = pct_text_cells(name) > cells && !strstr(name, "operator");
    for (const char *s = name; *s; s++) {
        bool open = *s == '<' || *s == '(', close = *s == '>' || *s == ')';
        if (cut && open && !depth++)
            pct_buf_text(&kept, *s == '<' ? "<>" : "()");
        if (!cut || (!depth && !close))
            pct_buf_put(&kept, s, 1);
        if (cut && close && depth)
            depth--;
    }
    pct_text_cut(b, kept.data, cells, utf8);
    pct_buf_free(&kept);
}

/* " at FILE:LINE", where the node was called. */
static void put_call(const struct outline *l, const struct pct_node *n, struct pct_buf *b)
{
    if (!n->call_file)
        return;
    pct_buf_text(b, " at ");
    pct_text_escape(b, l->o->tree.full_paths ? n->call_file : pct_symbols_base_name(n->call_file),
                    PCT_ESCAPE_CELL);
    pct_buf_format(b, ":%u", n->call_line);
}

/* " in FILE": what is not told by the place of the call. */
static void put_home(const struct outline *l, const struct pct_node *n, struct pct_buf *b)
{
    const char *home = n->call_file ? NULL : n->frame.file;
    if (!n->frame.file && n->module != PC_NO_INDEX)
        home = l->d->profile->modules[n->module].path;
    if (!home)
        return;
    pct_buf_text(b, " in ");
    pct_text_escape(b, l->o->tree.full_paths ? home : pct_symbols_base_name(home), PCT_ESCAPE_CELL);
}

static void put_frame(const struct outline *l, const struct pct_node *n, size_t cells,
                      struct pct_buf *b)
{
    struct pct_buf name = {0}, place = {0};
    const struct pct_frame *f = &n->frame;
    pct_buf_put(&place, "", 0);
    put_call(l, n, &place);
    put_home(l, n, &place);
    if (f->inlined)
        pct_buf_text(&place, " [inlined]");
    else if (!l->tree->callers && l->tree->nodes[n->parent].kind == PCOLLECT_NODE_OP)
        pct_buf_text(&place, " [called by MPI]");
    if (f->function)
        pct_text_escape(&name, f->function, PCT_ESCAPE_CELL);
    else
        pct_buf_format(&name, "+0x%llx", (unsigned long long)n->offset);
    size_t taken = pct_text_cells(place.data);
    put_short_name(b, name.data, cells > taken + 16 ? cells - taken : 16, l->o->utf8);
    pct_buf_format(b, "%s%s%s", pct_style(l->o, PCT_STYLE_DIM), place.data,
                   pct_style(l->o, PCT_STYLE_PLAIN));
    pct_buf_free(&name);
    pct_buf_free(&place);
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

static void put_op(const struct outline *l, const struct pct_node *n, size_t cells,
                   struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES], text[PCT_NUMBER_BYTES + 16];
    const char *name = l->d->profile->ops[n->op].name;
    const pc_u128 *sum = l->tree->callers ? pct_tree_inclusive(l->tree, n) : n->own.sum;
    struct pct_buf place = {0}, details = {0};
    pct_buf_put(&place, "", 0);
    pct_buf_put(&details, "", 0);
    put_call(l, n, &place);
    pct_buf_format(b, "%s", pct_style(l->o, PCT_STYLE_NAME));
    pct_text_escape(b, name, PCT_ESCAPE_CELL);
    pct_buf_format(b, "%s%s%s%s: ", pct_style(l->o, PCT_STYLE_PLAIN),
                   pct_style(l->o, PCT_STYLE_DIM), place.data, pct_style(l->o, PCT_STYLE_PLAIN));
    size_t taken = pct_text_cells(name) + pct_text_cells(place.data) + 2;
    size_t room = cells > taken + 16 ? cells - taken : 16;
    snprintf(text, sizeof text, "%s %s", pct_text_count(number, sum[PCT_CALLS]),
             sum[PCT_CALLS] == 1 ? "call" : "calls");
    put_detail(&details, text, room);
    if (sum[PCT_CALLS]) {
        snprintf(text, sizeof text, "mean %s", pct_text_time(number, pct_totals_mean(sum)));
        put_detail(&details, text, room);
    }
    put_bytes(&details, sum[PCT_SENT], "sent", room);
    put_bytes(&details, sum[PCT_RECEIVED], "received", room);
    if (n->flags & PCOLLECT_FLAG_COLLAPSED)
        pct_buf_text(&details, ", with deeper contexts");
    pct_buf_text(b, details.data);
    pct_buf_free(&place);
    pct_buf_free(&details);
}

static void put_figures(const struct outline *l, pc_u128 value, struct pct_buf *b)
{
    char share[PCT_NUMBER_BYTES], figure[PCT_NUMBER_BYTES];
    pc_u128 m = pct_text_share(value, l->whole);
    enum pct_style style = m >= 20000  ? PCT_STYLE_HOT
                           : m >= 5000 ? PCT_STYLE_WARM
                                       : PCT_STYLE_PLAIN;
    if (l->o->metric == PCT_TIME)
        pct_text_time(figure, value);
    else if (l->o->metric == PCT_CALLS)
        pct_text_count(figure, value);
    else
        pct_text_bytes(figure, value);
    pct_buf_format(b, "  %s%7s%s  %*s  ", pct_style(l->o, style), pct_text_percent_1(share, m),
                   pct_style(l->o, PCT_STYLE_PLAIN), l->width, figure);
}

/* sign: the corner before the name; times: how often the node is repeated straight below. */
static void put_node(struct outline *l, uint32_t node, const char *sign, size_t times)
{
    const struct pct_node *n = &l->tree->nodes[node];
    struct pct_buf line = {0};
    put_figures(l, l->tree->inclusive[node][l->o->metric], &line);
    put_bar(l, node, &line);
    pct_buf_format(&line, "  %s%s", l->guide.data, sign);
    size_t before = 15 + (size_t)l->width + PCT_BAR_CELLS + pct_text_cells(l->guide.data) +
                    pct_text_cells(sign);
    size_t width = l->o->width ? l->o->width : 100000;
    size_t room = width > before + 30 ? width - before : 30;
    if (n->kind == PCOLLECT_NODE_OP)
        put_op(l, n, room, &line);
    else if (n->kind == PCOLLECT_NODE_CUT)
        pct_buf_text(&line, "(cut: the callers are unknown)");
    else if (n->kind == PCOLLECT_NODE_PHASE || n->kind == PCOLLECT_NODE_REGION)
        pct_text_cut(&line, n->label, room, l->o->utf8);
    else
        put_frame(l, n, room, &line);
    if (times > 1)
        pct_buf_format(&line, " %s%zu times", l->o->utf8 ? "\xc3\x97 " : "x ", times);
    fprintf(l->out, "%s\n", line.data);
    pct_buf_free(&line);
}

static void put_hidden(struct outline *l, const struct children *c, const char *sign)
{
    struct pct_buf line = {0};
    put_figures(l, c->hidden, &line);
    pct_buf_fill(&line, ' ', PCT_BAR_CELLS);
    pct_buf_format(&line, "  %s%s%s%s %zu more%s", l->guide.data, sign,
                   pct_style(l->o, PCT_STYLE_DIM), signs_of(l)->dots, c->n_hidden,
                   pct_style(l->o, PCT_STYLE_PLAIN));
    fprintf(l->out, "%s\n", line.data);
    pct_buf_free(&line);
}

/* ---- The tree ---------------------------------------------------------------------------------
 */

/* Follows nodes with one visible child; a function that calls itself is one line. `sign` stands
 * before the first line, `below` joins the guide for what follows. Returns the last node of the
 * run, whose children part. */
static uint32_t put_run(struct outline *l, uint32_t node, const char *sign, const char *below)
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
        put_node(l, first, sign, times);
        pct_buf_text(&l->guide, below);
        if (c.n != 1 || c.n_hidden)
            return node;
        sign = below = "";
        node = c.first;
    }
}

/* Top level: no corners. */
static void put_children(struct outline *l, uint32_t node, unsigned depth)
{
    const struct pct_node *nodes = l->tree->nodes;
    const struct signs *signs = signs_of(l);
    struct children c = look_at_children(l, node);
    size_t left = c.n + (c.n_hidden != 0), n_guide = l->guide.n;
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!is_visible(l, &nodes[i]) || depth > MAX_BRANCHES)
            continue;
        bool last = --left == 0;
        const char *sign = !depth ? "" : last ? signs->last : signs->fork;
        const char *below = !depth ? "" : last ? signs->gap : signs->down;
        uint32_t end = put_run(l, i, sign, below);
        put_children(l, end, depth + 1);
        l->guide.n = n_guide;
        l->guide.data[n_guide] = 0;
    }
    if (c.n_hidden)
        put_hidden(l, &c, depth ? signs->last : "");
}

static void put_title(const struct outline *l)
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
    const struct pct_options *o = l->o;
    char share[PCT_NUMBER_BYTES];
    fprintf(l->out, "\n%s%s%s%s", pct_style(o, PCT_STYLE_TITLE),
            o->bottom_up ? titles[o->metric].up : titles[o->metric].down,
            o->bottom_up ? ": callers below what they call" : "", pct_style(o, PCT_STYLE_PLAIN));
    if (o->choice.min_percent)
        fprintf(l->out, " (contexts with %s or more of it)",
                pct_text_percent_1(share, o->choice.min_percent));
    fprintf(l->out, "\n %8s  %*s  by rank   context\n", titles[o->metric].whole, l->width,
            titles[o->metric].figure);
}

void pct_print_outline(FILE *out, const struct pct_data *d, const struct pct_options *o,
                       enum pct_metric sort)
{
    size_t n = d->profile->n_ranks;
    struct outline l = {.out = out, .d = d, .o = o, .width = o->metric == PCT_TIME ? 8 : 11};
    struct pct_tree_options shape = o->tree;
    shape.outline = !o->bottom_up;
    shape.callers = o->bottom_up;
    l.tree = pct_tree_new(d->model, d->symbols, &shape);
    pct_tree_sort(l.tree, sort);
    l.whole = o->metric == PCT_TIME ? d->model->context_mpi_ns : l.tree->inclusive[0][o->metric];
    l.values = pct_alloc(n, sizeof *l.values);
    l.present = pct_alloc(n, sizeof *l.present);
    pct_buf_put(&l.guide, "", 0);
    put_title(&l);
    if (pct_data_contexts(d)->n)
        put_children(&l, 0, 0);
    else
        fprintf(out, "  no MPI function was called\n");
    pct_tree_free(l.tree);
    free(l.values);
    free(l.present);
    pct_buf_free(&l.guide);
    pct_buf_free(&l.bar);
}
