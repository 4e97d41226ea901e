/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of the browser's rows, and details of the row under the cursor (browser.h).
 */
#include "view/browse/browser.h"

#include "view/node_text.h"

#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

static enum pct_heat heat_of(const struct pct_node_figures *f, uint32_t node)
{
    enum { HOT = 20000, WARM = 5000 }; /* thousandths of a percent */
    pc_u128 share = pct_text_share(pct_node_figure(f, node), f->whole);
    return share >= HOT ? PCT_HEAT_HOT : share >= WARM ? PCT_HEAT_WARM : PCT_HEAT_PLAIN;
}

/* Text longer than `cells` ends in an ellipsis. */
static void put_beginning(struct pct_buf *b, const char *text, size_t cells, bool utf8)
{
    const char *dots = utf8 ? "\xe2\x80\xa6" : "..";
    size_t room = cells > pct_text_cells(dots) ? cells - pct_text_cells(dots) : 0, n = 0;
    pct_buf_put(b, "", 0);
    if (pct_text_cells(text) <= cells) {
        pct_buf_text(b, text);
        return;
    }
    for (; room; room--)
        n += pct_text_utf8(text + n, strlen(text + n));
    pct_buf_put(b, text, n);
    pct_buf_text(b, n ? dots : "");
}

static struct pct_name_form form_of(const struct pct_browser *b)
{
    return (struct pct_name_form){b->options.full_names, b->options.utf8};
}

/* Makes the text of a row. The middle of a name that is too long is left out; words after it are
 * shown if they fit.
 */
void pct_browser_line(struct pct_browser *b, size_t row, struct pct_browser_line *out)
{
    enum { LEAST_CELLS = 12 };
    struct pct_browser_tree *t = pct_browser_shown(b);
    struct pct_node_figures *f = &t->figures;
    const struct pct_browser_row *r = &t->rows[row];
    const struct pct_node *n = &f->tree->nodes[r->first];
    struct pct_buf name = {0}, rest = {0};
    *out =
        (struct pct_browser_line){.heat = heat_of(f, r->first), .op = n->kind == PCOLLECT_NODE_OP};
    const struct pct_below below = pct_tree_below(f->tree, r->first);
    pct_node_put_figures(f, &below, pct_node_figure(f, r->first), &out->figures);
    pct_node_put_bar(f, r->first, &out->figures);
    size_t width = b->options.width, taken = f->cells + 2 + (size_t)2 * r->indent;
    size_t room = width > taken + LEAST_CELLS ? width - taken : LEAST_CELLS;
    pct_buf_fill(&out->name, ' ', (size_t)2 * r->indent);
    pct_buf_format(&out->name, "%c ", !r->parts ? ' ' : r->open ? '-' : '+');
    pct_fold_names(&name, f->tree, &r->fold, form_of(b));
    pct_text_cut(&out->name, name.data, room, b->options.utf8);
    size_t used = pct_text_cells(name.data) < room ? pct_text_cells(name.data) : room;
    if (!pct_node_put_rest(f, n, room - used, &rest)) {
        pct_buf_clear(&rest);
        pct_node_place(&rest, f->tree, n, false);
    }
    put_beginning(&out->rest, rest.n ? rest.data : "", room - used, b->options.utf8);
    pct_buf_free(&name);
    pct_buf_free(&rest);
}

void pct_browser_line_free(struct pct_browser_line *line)
{
    pct_buf_free(&line->figures);
    pct_buf_free(&line->name);
    pct_buf_free(&line->rest);
}

/* ---- Above and below the rows ---------------------------------------------------------------- */

void pct_browser_title(struct pct_browser *b, struct pct_buf *out)
{
    static const char *const views[] = {[PCT_BROWSER_CONTEXTS] = "Contexts",
                                        [PCT_BROWSER_FUNCTIONS] = "Functions and their callers"};
    static const char *const by[] = {[PCT_TIME] = "time",
                                     [PCT_CALLS] = "calls",
                                     [PCT_SENT] = "bytes sent",
                                     [PCT_RECEIVED] = "bytes received"};
    pct_buf_format(out, "%s by %s", views[b->view], by[b->options.metric]);
}

void pct_browser_heads(struct pct_browser *b, struct pct_buf *out)
{
    pct_node_put_heads(&pct_browser_shown(b)->figures, out);
    pct_buf_text(out, "  context");
}

/* Puts a name before a path, if there is room for both; true if it did. */
static bool put_before(struct pct_buf *path, const char *name, size_t room)
{
    struct pct_buf longer = {0};
    if (path->n && pct_text_cells(name) + strlen(" > ") + pct_text_cells(path->data) > room)
        return false;
    pct_buf_format(&longer, "%s%s%s", name, path->n ? " > " : "", path->n ? path->data : "");
    pct_buf_free(path);
    *path = longer;
    return true;
}

/* Names from the root to the node, as many of the last ones as there is room for; in the tree of
 * callers from the outermost caller. A recursion has thousands: no more are made than are shown. */
void pct_browser_path(struct pct_browser *b, struct pct_buf *out)
{
    const struct pct_browser_row *row = pct_browser_at(b);
    const struct pct_tree *t = pct_browser_shown(b)->figures.tree;
    const char *dots = b->options.utf8 ? "\xe2\x80\xa6 " : ".. ";
    bool up = b->view == PCT_BROWSER_FUNCTIONS, fits = true;
    size_t room = b->options.width > 3 ? b->options.width - 3 : 3;
    struct pct_buf path = {0};
    pct_buf_put(&path, "", 0);
    for (uint32_t i = row ? row->node : 0; i && fits; i = t->nodes[i].parent) {
        struct pct_buf name = {0};
        pct_node_name(&name, t, i, form_of(b));
        if (up) {
            pct_buf_format(&path, "%s%s", path.n ? " > " : "", name.data);
            fits = pct_text_cells(path.data) <= room;
        } else {
            fits = put_before(&path, name.data, room);
        }
        pct_buf_free(&name);
    }
    pct_buf_text(out, fits || up ? "" : dots);
    pct_text_cut(out, path.data, room, b->options.utf8);
    pct_buf_free(&path);
}

/* Appends the least and the greatest rank, if the profile has them. */
static void put_spread(struct pct_browser *b, uint32_t node, struct pct_buf *out)
{
    struct pct_node_figures *f = &pct_browser_shown(b)->figures;
    char min[PCT_NUMBER_BYTES], max[PCT_NUMBER_BYTES];
    memset(f->values, 0, b->d->profile->n_ranks * sizeof *f->values);
    memset(f->present, 0, b->d->profile->n_ranks * sizeof *f->present);
    struct pct_spread s = pct_tree_spread(f->tree, node, f->values, f->present);
    if (s.n < 2)
        return;
    pct_buf_format(out, "; in MPI %s on rank %d .. %s on rank %d", pct_text_time(min, s.min),
                   (int)s.min_rank, pct_text_time(max, s.max), (int)s.max_rank);
}

void pct_browser_details(struct pct_browser *b, struct pct_buf *out)
{
    const struct pct_browser_row *row = pct_browser_at(b);
    struct pct_node_figures *f = &pct_browser_shown(b)->figures;
    struct pct_buf rest = {0};
    if (!row)
        return;
    pct_node_name(out, f->tree, row->node, (struct pct_name_form){.full = true});
    pct_node_put_rest(f, &f->tree->nodes[row->node], SIZE_MAX, &rest);
    pct_buf_text(out, rest.data);
    put_spread(b, row->node, out);
    pct_buf_free(&rest);
}

/* ---- About the row under the cursor ---------------------------------------------------------- */

const char *pct_browser_function(struct pct_browser *b, uint32_t *line_out)
{
    const struct pct_browser_row *row = pct_browser_at(b);
    const struct pct_tree *t = pct_browser_shown(b)->figures.tree;
    *line_out = 0;
    if (!row)
        return NULL;
    const struct pct_node *n = &t->nodes[row->node];
    if (n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT) {
        *line_out = t->callers ? n->frame->line : 0;
        return n->frame->function;
    }
    if (n->kind != PCOLLECT_NODE_OP || t->callers)
        return NULL;
    *line_out = n->caller ? n->caller->line : 0;
    return t->nodes[n->parent].frame->function;
}

/* Shows figures of each rank side by side: time in MPI, and computation outside of it. */
void pct_browser_ranks(struct pct_browser *b, FILE *out)
{
    enum { FIGURES = 34 };
    const struct pct_browser_row *row = pct_browser_at(b);
    struct pct_node_figures *f = &pct_browser_shown(b)->figures;
    const struct pc_profile *p = b->d->profile;
    uint64_t *mpi = pct_alloc(p->n_ranks, sizeof *mpi), *cpu = pct_alloc(p->n_ranks, sizeof *cpu);
    uint64_t most = 1;
    size_t room = b->options.width > FIGURES + 10 ? b->options.width - FIGURES : 10;
    memset(f->present, 0, p->n_ranks * sizeof *f->present);
    if (row) {
        pct_tree_ranks(f->tree, row->node, PCT_TIME, mpi, f->present);
        pct_tree_sampled_ranks(f->tree, row->node, PCT_SAMPLED_COMPUTED, cpu, f->present);
    }
    for (uint32_t i = 0; i < p->n_ranks; i++)
        most = mpi[i] + cpu[i] > most ? mpi[i] + cpu[i] : most;
    fprintf(out, "%8s  %10s  %10s  M in MPI, C computing\n", "rank", "in MPI", "computing");
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        char m[PCT_NUMBER_BYTES], c[PCT_NUMBER_BYTES];
        struct pct_buf bar = {0};
        pct_buf_put(&bar, "", 0);
        pct_buf_fill(&bar, 'M', (size_t)((double)mpi[i] / (double)most * (double)room));
        pct_buf_fill(&bar, 'C', (size_t)((double)cpu[i] / (double)most * (double)room));
        if (f->present[i])
            fprintf(out, "%8d  %10s  %10s  %s\n", (int)p->ranks[i].rank, pct_text_time(m, mpi[i]),
                    pct_text_time(c, cpu[i]), bar.data);
        else
            fprintf(out, "%8d  %10s\n", (int)p->ranks[i].rank, "-");
        pct_buf_free(&bar);
    }
    pct_free(mpi);
    pct_free(cpu);
}
