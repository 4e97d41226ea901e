/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of hottest contexts as text. A line is a node: its share of MPI time, its time, a
 * picture of its time over ranks, its name. A node with one visible child is continued straight
 * below; lines and corners are drawn only where paths part, so that deep paths stay on the screen.
 */
#include "report/report_private.h"

#include <stdlib.h>
#include <string.h>

/* Where paths part this often, what is deeper is left to the table of contexts. */
enum { MAX_BRANCHES = 100 };

struct outline {
    FILE *out;
    const struct pct_data *d;
    const struct pct_options *o;
    struct pct_buf guide; /* lines left of the current node */
    uint64_t *values;     /* by rank */
    bool *present;
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

static bool is_visible(const struct outline *l, const struct pct_node *n)
{
    const struct pct_model *m = l->d->model;
    return pct_text_share(n->inclusive[PCT_TIME], m->context_mpi_ns) >= l->o->min_percent;
}

struct children {
    size_t n, n_hidden;
    pc_u128 hidden_ns;
    uint32_t first;
};

static struct children look_at_children(const struct outline *l, uint32_t node)
{
    const struct pct_node *nodes = l->d->tree->nodes;
    struct children c = {.first = PC_NO_INDEX};
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!is_visible(l, &nodes[i])) {
            c.n_hidden++;
            c.hidden_ns += nodes[i].inclusive[PCT_TIME];
            continue;
        }
        if (!c.n++)
            c.first = i;
    }
    return c;
}

/* ---- One line ---------------------------------------------------------------------------------
 */

static void put_bar(struct outline *l, uint32_t node, struct pct_buf *b)
{
    size_t n = l->d->profile->n_ranks;
    memset(l->values, 0, n * sizeof *l->values);
    pct_tree_ranks(l->d->tree, node, l->values, l->present);
    pct_print_bar(b, l->values, n, l->o->utf8);
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

static void put_frame(const struct outline *l, const struct pct_node *n, size_t cells,
                      struct pct_buf *b)
{
    struct pct_buf name = {0}, place = {0};
    const struct pct_frame *f = &n->frame;
    if (!f->function) {
        pct_text_cut(b, n->label, cells, l->o->utf8);
        return;
    }
    pct_text_escape(&name, f->function, PCT_ESCAPE_CELL);
    if (f->file && l->o->tree.full_paths)
        pct_text_escape(&place, f->file, PCT_ESCAPE_CELL);
    else if (f->file)
        pct_text_escape(&place, pct_symbols_base_name(f->file), PCT_ESCAPE_CELL);
    else if (n->module != PC_NO_INDEX)
        pct_text_escape(&place, pct_symbols_base_name(l->d->profile->modules[n->module].path),
                        PCT_ESCAPE_CELL);
    if (f->file)
        pct_buf_format(&place, ":%u", f->line);
    if (f->inlined)
        pct_buf_text(&place, " [inlined]");
    size_t taken = pct_text_cells(place.data) + 2;
    put_short_name(b, name.data, cells > taken + 16 ? cells - taken : 16, l->o->utf8);
    pct_buf_format(b, "  %s%s%s", pct_style(l->o, PCT_STYLE_DIM), place.data,
                   pct_style(l->o, PCT_STYLE_PLAIN));
    pct_buf_free(&name);
    pct_buf_free(&place);
}

static void put_bytes(struct pct_buf *b, pc_u128 bytes, const char *what)
{
    char number[PCT_NUMBER_BYTES];
    if (bytes)
        pct_buf_format(b, ", %s %s", pct_text_bytes(number, bytes), what);
}

static void put_op(const struct outline *l, const struct pct_node *n, struct pct_buf *b)
{
    char number[PCT_NUMBER_BYTES];
    const pc_u128 *sum = n->own.sum;
    pct_buf_format(b, "%s%s%s", pct_style(l->o, PCT_STYLE_NAME), n->label,
                   pct_style(l->o, PCT_STYLE_PLAIN));
    if (!sum[PCT_CALLS])
        return;
    pct_buf_format(b, "  %s %s", pct_text_count(number, sum[PCT_CALLS]),
                   sum[PCT_CALLS] == 1 ? "call" : "calls");
    pct_buf_format(b, ", mean %s", pct_text_time(number, sum[PCT_TIME] / sum[PCT_CALLS]));
    put_bytes(b, sum[PCT_SENT], "sent");
    put_bytes(b, sum[PCT_RECEIVED], "received");
    if (n->flags & PCOLLECT_FLAG_COLLAPSED)
        pct_buf_text(b, " [with deeper contexts]");
}

static void put_figures(const struct outline *l, pc_u128 ns, struct pct_buf *b)
{
    char share[PCT_NUMBER_BYTES], time[PCT_NUMBER_BYTES];
    pc_u128 m = pct_text_share(ns, l->d->model->context_mpi_ns);
    enum pct_style style = m >= 20000  ? PCT_STYLE_HOT
                           : m >= 5000 ? PCT_STYLE_WARM
                                       : PCT_STYLE_PLAIN;
    pct_buf_format(b, "  %s%7s%s  %8s  ", pct_style(l->o, style), pct_text_percent_1(share, m),
                   pct_style(l->o, PCT_STYLE_PLAIN), pct_text_time(time, ns));
}

/* sign: the corner before the name; times: how often the node is repeated straight below. */
static void put_node(struct outline *l, uint32_t node, const char *sign, size_t times)
{
    const struct pct_node *n = &l->d->tree->nodes[node];
    struct pct_buf line = {0};
    put_figures(l, n->inclusive[PCT_TIME], &line);
    put_bar(l, node, &line);
    pct_buf_format(&line, "  %s%s", l->guide.data, sign);
    size_t before = 23 + PCT_BAR_CELLS + pct_text_cells(l->guide.data) + pct_text_cells(sign);
    size_t width = l->o->width ? l->o->width : 100000;
    size_t room = width > before + 30 ? width - before : 30;
    if (n->kind == PCOLLECT_NODE_OP)
        put_op(l, n, &line);
    else if (n->kind == PCOLLECT_NODE_CUT)
        pct_buf_text(&line, "(cut: the callers are unknown)");
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
    put_figures(l, c->hidden_ns, &line);
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
    const struct pct_node *nodes = l->d->tree->nodes;
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
    const struct pct_node *nodes = l->d->tree->nodes;
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

void pct_print_outline(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    size_t n = d->profile->n_ranks;
    struct outline l = {.out = out, .d = d, .o = o};
    char share[PCT_NUMBER_BYTES];
    l.values = pct_alloc(n, sizeof *l.values);
    l.present = pct_alloc(n, sizeof *l.present);
    pct_buf_put(&l.guide, "", 0);
    fprintf(out, "\n%sWhere the time in MPI goes%s", pct_style(o, PCT_STYLE_TITLE),
            pct_style(o, PCT_STYLE_PLAIN));
    if (o->min_percent)
        fprintf(out, " (contexts with %s or more of it)",
                pct_text_percent_1(share, o->min_percent));
    fprintf(out, "\n   of MPI      time  by rank   context\n");
    if (d->n_contexts)
        put_children(&l, 0, 0);
    else
        fprintf(out, "  no MPI function was called\n");
    free(l.values);
    free(l.present);
    pct_buf_free(&l.guide);
}
