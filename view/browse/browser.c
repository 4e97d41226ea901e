/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a tree that is opened and closed (browser.h).
 */
#include "view/browse/browser.h"

#include "view/node_text.h"

#include <string.h>

enum { OPEN_AT_FIRST = 10000 }; /* thousandths of a percent: nodes with more are open */

static const enum pct_metric metrics[] = {PCT_TIME, PCT_CALLS, PCT_SENT, PCT_RECEIVED};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The first child with a figure, and how many there are. */
static uint32_t first_child(const struct pct_node_figures *f, uint32_t node, size_t *n_out)
{
    const struct pct_node *nodes = f->tree->nodes;
    uint32_t first = PC_NO_INDEX;
    *n_out = 0;
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next)
        if (pct_node_has_figure(f, i) && !(*n_out)++)
            first = i;
    return first;
}

static uint32_t only_child(void *tree, uint32_t node)
{
    size_t n;
    uint32_t first = first_child(&((const struct pct_browser_tree *)tree)->figures, node, &n);
    return n == 1 ? first : PC_NO_INDEX;
}

static bool is_same(const void *tree, uint32_t node, uint32_t other)
{
    return pct_tree_same(((const struct pct_browser_tree *)tree)->figures.tree, node, other);
}

static bool is_same_function(const void *tree, uint32_t node, uint32_t other)
{
    return pct_tree_same_function(((const struct pct_browser_tree *)tree)->figures.tree, node,
                                  other);
}

static void add_row(struct pct_browser_tree *t, uint32_t node, uint32_t indent)
{
    const struct pct_folding folding = {
        .tree = t, .only = only_child, .same = is_same, .same_function = is_same_function};
    struct pct_browser_row row = {
        .first = node, .fold = pct_fold(&folding, node), .indent = indent};
    size_t n;
    row.node = row.fold.last;
    first_child(&t->figures, row.node, &n);
    row.parts = n != 0;
    row.open = row.parts && t->open[row.node];
    t->rows = pct_grow(t->rows, t->n, &t->room, sizeof *t->rows);
    t->rows[t->n++] = row;
}

/* Adds the rows below a node. An only child is not indented, so that deep paths stay on the
 * screen. */
static void add_children(struct pct_browser_tree *t, uint32_t node, uint32_t indent)
{
    const struct pct_node *nodes = t->figures.tree->nodes;
    size_t n;
    for (;;) {
        uint32_t only = first_child(&t->figures, node, &n);
        if (n != 1)
            break;
        add_row(t, only, indent);
        node = t->rows[t->n - 1].node;
        if (!t->rows[t->n - 1].open)
            return;
    }
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!pct_node_has_figure(&t->figures, i))
            continue;
        add_row(t, i, indent);
        if (t->rows[t->n - 1].open)
            add_children(t, t->rows[t->n - 1].node, indent + 1);
    }
}

/* Rebuilds the rows; the cursor stays on its node, or on the nearest shown node above it. */
static void list_rows(struct pct_browser_tree *t, uint32_t node)
{
    t->n = t->cursor = 0;
    add_children(t, 0, 0);
    for (; node && node != PC_NO_INDEX; node = t->figures.tree->nodes[node].parent)
        for (size_t i = 0; i < t->n; i++)
            if (t->rows[i].node == node || t->rows[i].first == node) {
                t->cursor = i;
                return;
            }
}

static void close_tree(struct pct_browser_tree *t)
{
    if (t->figures.tree)
        pct_node_figures_close(&t->figures);
    pct_free(t->open);
    pct_free(t->rows);
    *t = (struct pct_browser_tree){.n = 0};
}

static void make_tree(struct pct_browser *b, struct pct_browser_tree *t)
{
    t->options = b->options;
    t->options.bottom_up = b->view == PCT_BROWSER_FUNCTIONS;
    pct_node_figures_open(&t->figures, b->d, &t->options, t->options.metric);
    t->open = pct_alloc(t->figures.tree->n, sizeof *t->open);
    for (uint32_t i = 0; !t->options.bottom_up && i < t->figures.tree->n; i++)
        t->open[i] =
            pct_text_share(pct_node_figure(&t->figures, i), t->figures.whole) >= OPEN_AT_FIRST;
    list_rows(t, 0);
}

/* ---- The browser ----------------------------------------------------------------------------- */

void pct_browser_open(struct pct_browser *b, const struct pct_data *d, size_t width, bool utf8)
{
    *b =
        (struct pct_browser){.d = d, .options = {.metric = PCT_TIME, .width = width, .utf8 = utf8}};
}

void pct_browser_close(struct pct_browser *b)
{
    for (size_t i = 0; i < PCT_BROWSER_N_VIEWS; i++)
        close_tree(&b->trees[i]);
}

struct pct_browser_tree *pct_browser_shown(struct pct_browser *b)
{
    struct pct_browser_tree *t = &b->trees[b->view];
    if (!t->figures.tree)
        make_tree(b, t);
    return t;
}

const struct pct_browser_row *pct_browser_at(struct pct_browser *b)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    return t->n ? &t->rows[t->cursor] : NULL;
}

void pct_browser_next_metric(struct pct_browser *b)
{
    size_t at = 0;
    while (metrics[at] != b->options.metric)
        at++;
    do
        at = (at + 1) % PC_ARRAY_LEN(metrics);
    while (metrics[at] != PCT_TIME && !b->d->totals->all.mpi_calls);
    b->options.metric = metrics[at];
    for (size_t i = 0; i < PCT_BROWSER_N_VIEWS; i++)
        close_tree(&b->trees[i]);
}

void pct_browser_set_width(struct pct_browser *b, size_t width)
{
    b->options.width = width;
    for (size_t i = 0; i < PCT_BROWSER_N_VIEWS; i++) {
        b->trees[i].options.width = width;
        if (b->trees[i].figures.tree)
            pct_node_figures_fit(&b->trees[i].figures);
    }
}

void pct_browser_move(struct pct_browser *b, long rows)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    size_t last = t->n ? t->n - 1 : 0;
    if (rows < 0)
        t->cursor -= t->cursor < (size_t)-rows ? t->cursor : (size_t)-rows;
    else
        t->cursor = last - t->cursor < (size_t)rows ? last : t->cursor + (size_t)rows;
}

void pct_browser_expand(struct pct_browser *b)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    const struct pct_browser_row *row = pct_browser_at(b);
    if (!row || !row->parts)
        return;
    uint32_t node = row->node;
    size_t n = 1;
    for (uint32_t i = node; n == 1; i = first_child(&t->figures, i, &n))
        t->open[i] = true;
    list_rows(t, node);
}

void pct_browser_collapse(struct pct_browser *b)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    const struct pct_browser_row *row = pct_browser_at(b);
    if (!row)
        return;
    uint32_t above = t->figures.tree->nodes[row->first].parent;
    if (row->open)
        t->open[row->node] = false;
    list_rows(t, row->open || !above ? row->node : above);
}

void pct_browser_expand_all(struct pct_browser *b)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    uint32_t node = t->n ? t->rows[t->cursor].node : 0;
    memset(t->open, true, t->figures.tree->n * sizeof *t->open);
    list_rows(t, node);
}

void pct_browser_collapse_all(struct pct_browser *b)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    uint32_t node = t->n ? t->rows[t->cursor].node : 0;
    memset(t->open, false, t->figures.tree->n * sizeof *t->open);
    list_rows(t, node);
}

/* ---- Search ---------------------------------------------------------------------------------- */

static bool matches(const struct pct_browser_tree *t, uint32_t node, const regex_t *regex)
{
    const struct pct_node *n = &t->figures.tree->nodes[node];
    struct pct_buf text = {0};
    if (!pct_node_has_figure(&t->figures, node))
        return false;
    pct_node_whole_name(&text, t->figures.d->profile, n);
    pct_node_place(&text, t->figures.tree, n, false);
    bool found = !regexec(regex, text.data, 0, NULL, 0);
    pct_buf_free(&text);
    return found;
}

bool pct_browser_find(struct pct_browser *b, const regex_t *regex, bool backwards)
{
    struct pct_browser_tree *t = pct_browser_shown(b);
    const struct pct_tree *tree = t->figures.tree;
    const struct pct_browser_row *row = pct_browser_at(b);
    uint32_t first = PC_NO_INDEX, before = PC_NO_INDEX, behind = PC_NO_INDEX, last = PC_NO_INDEX;
    enum { BEFORE, HERE, BEHIND } place = BEFORE;
    /* In one pass finds the nearest match on either side of the row, and the first and the last
     * match. */
    for (uint32_t i = pct_tree_after(tree, 0, 0, true); row && i != PC_NO_INDEX;
         i = pct_tree_after(tree, 0, i, true)) {
        place = i == row->first ? HERE : place;
        if (place != HERE && matches(t, i, regex)) {
            first = first == PC_NO_INDEX ? i : first;
            before = place == BEFORE ? i : before;
            behind = place == BEHIND && behind == PC_NO_INDEX ? i : behind;
            last = i;
        }
        place = i == row->node ? BEHIND : place;
    }
    uint32_t found = backwards ? (before != PC_NO_INDEX ? before : last)
                               : (behind != PC_NO_INDEX ? behind : first);
    if (found == PC_NO_INDEX)
        return false;
    for (uint32_t i = tree->nodes[found].parent; i != PC_NO_INDEX; i = tree->nodes[i].parent)
        t->open[i] = true;
    list_rows(t, found);
    return true;
}
