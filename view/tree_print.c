/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calling-context tree as text. A line shows the inclusive figures of a node: its share, time
 * in MPI and CPU time outside of it side by side, a picture over ranks, its name and the place
 * where it was called. A single visible child is not indented; lines and corners are drawn only at
 * branches, so that deep paths stay on the screen. Some nodes are folded into one line (folds.h).
 *
 * Nodes that are hidden because their share is small are one line "N more" with their sum, if the
 * sum is worth a line. Without a threshold from the user, the tree uses one with which it fits a
 * screen.
 */
#include "view/branches.h"
#include "view/fit_lines.h"
#include "view/folds.h"
#include "view/node_figures.h"
#include "view/node_text.h"
#include "view/sentence.h"

#include <string.h>

/* Lines of a tree if the user gives no threshold. */
enum { MOST_LINES = 40 };

struct printer {
    struct pct_node_figures figures;
    pc_u128 least; /* nodes with less are not shown; thousandths of a percent */
    struct pct_branches branches;
    struct pct_shown_tree shown;
    bool any_slight, any_passing; /* explained in the legend */
};

/* True if the figure is large enough. With both kinds of time, a node that is large in one of them
 * is shown unless it is negligible in the sum. */
static bool is_enough(const struct printer *l, pc_u128 value, const struct pct_below *below)
{
    enum { NEXT_TO_NOTHING = 5 };
    pc_u128 least = l->least, share = pct_text_share(value, l->figures.whole);
    if (share * NEXT_TO_NOTHING < least)
        return false;
    return share >= least || (l->figures.columns == PCT_COLUMNS_BOTH &&
                              (pct_text_share(below->sum[PCT_TIME], l->figures.mpi) >= least ||
                               pct_text_share(below->computed.ns, l->figures.computed) >= least));
}

static bool is_visible(const struct printer *l, uint32_t node)
{
    const struct pct_below below = pct_tree_below(l->figures.tree, node);
    return pct_node_has_figure(&l->figures, node) &&
           is_enough(l, pct_node_figure(&l->figures, node), &below);
}

static uint32_t next_child(void *printer, uint32_t node, uint32_t before)
{
    struct printer *l = printer;
    const struct pct_node *nodes = l->figures.tree->nodes;
    uint32_t i = before == PC_NO_INDEX ? nodes[node].first_child : nodes[before].next;
    while (i != PC_NO_INDEX && !is_visible(l, i))
        i = nodes[i].next;
    return i;
}

/* Hidden children: their number, and their sum. n 0: together they are not enough for a line. */
struct hidden {
    size_t n;
    struct pct_below sum;
};

static struct hidden find_hidden(struct printer *l, uint32_t node)
{
    const struct pct_node *nodes = l->figures.tree->nodes;
    struct hidden h = {0};
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (!pct_node_has_figure(&l->figures, i) || is_visible(l, i))
            continue;
        const struct pct_below below = pct_tree_below(l->figures.tree, i);
        h.n++;
        pct_below_add(&h.sum, &below);
    }
    if (h.n && !is_enough(l, pct_node_figure_below(&l->figures, &h.sum), &h.sum)) {
        l->any_slight = true;
        h.n = 0;
    }
    return h;
}

static bool has_hidden(void *printer, uint32_t node)
{
    return find_hidden(printer, node).n != 0;
}

/* ---- One line -------------------------------------------------------------------------------- */

/* Prints a node, with those that are folded into its line. */
static void put_node(struct printer *l, uint32_t node, struct pct_corner corner,
                     const struct pct_fold *fold)
{
    const struct pct_node *n = &l->figures.tree->nodes[node];
    bool op = n->kind == PCOLLECT_NODE_OP;
    struct pct_buf figures = {0}, name = {0}, rest = {0};
    const struct pct_below below = pct_tree_below(l->figures.tree, node);
    pct_node_put_figures(&l->figures, &below, pct_node_figure(&l->figures, node), &figures);
    pct_node_put_bar(&l->figures, node, &figures);
    size_t room = pct_branches_room(&l->branches, corner);
    pct_fold_names(&name, l->figures.tree, fold,
                   (struct pct_name_form){l->figures.o->full_names, l->figures.o->utf8});
    size_t taken = pct_text_cells(name.data) < room ? pct_text_cells(name.data) : room;
    bool beside = pct_node_put_rest(&l->figures, n, room - taken, &rest);
    if (!beside)
        pct_node_put_rest(&l->figures, n, pct_branches_rest_room(&l->branches, corner), &rest);
    pct_branches_put(
        &l->branches, figures.data, corner,
        &(struct pct_branch){.name = name.data,
                             .name_color = op ? pct_style(l->figures.o, PCT_STYLE_NAME) : "",
                             .rest = rest.data,
                             .rest_color = pct_style(l->figures.o, PCT_STYLE_DIM),
                             .plain = pct_style(l->figures.o, PCT_STYLE_PLAIN),
                             .beside = beside});
    pct_buf_free(&figures);
    pct_buf_free(&name);
    pct_buf_free(&rest);
}

/* A line that is not a node: figures of *what, and a text. */
static void put_note(struct printer *l, const struct pct_below *what, const char *text,
                     struct pct_corner corner)
{
    struct pct_buf figures = {0}, name = {0};
    pct_node_put_figures(&l->figures, what, pct_node_figure_below(&l->figures, what), &figures);
    pct_buf_fill(&figures, ' ', l->figures.bars ? PCT_BAR_CELLS + 2 : 0);
    pct_buf_format(&name, "%s %s", pct_branches_dots(&l->branches), text);
    pct_branches_put(&l->branches, figures.data, corner,
                     &(struct pct_branch){.name = name.data,
                                          .name_color = pct_style(l->figures.o, PCT_STYLE_DIM),
                                          .rest = "",
                                          .rest_color = "",
                                          .plain = pct_style(l->figures.o, PCT_STYLE_PLAIN),
                                          .beside = true});
    pct_buf_free(&figures);
    pct_buf_free(&name);
}

static void put_hidden(void *printer, uint32_t node, struct pct_corner corner)
{
    struct printer *l = printer;
    struct hidden h = find_hidden(l, node);
    char number[PCT_NUMBER_BYTES];
    struct pct_buf more = {0};
    pct_buf_format(&more, "%s more", pct_text_count(number, h.n));
    put_note(l, &h.sum, more.data, corner);
    pct_buf_free(&more);
}

/* ---- Folded nodes ---------------------------------------------------------------------------- */

static bool is_same(const void *printer, uint32_t node, uint32_t other)
{
    return pct_tree_same(((const struct printer *)printer)->figures.tree, node, other);
}

static bool is_same_function(const void *printer, uint32_t node, uint32_t other)
{
    return pct_tree_same_function(((const struct printer *)printer)->figures.tree, node, other);
}

static uint32_t only_child(void *printer, uint32_t node)
{
    return pct_shown_only(&((struct printer *)printer)->shown, node);
}

/* True if what a node has beside its only child is large enough to be shown. Bottom-up, all that is
 * below the root is of the nodes there. */
static bool has_own(void *printer, uint32_t node, uint32_t child)
{
    const struct printer *l = printer;
    if (l->figures.o->bottom_up && !l->figures.tree->nodes[node].parent)
        return true;
    const struct pct_below all = pct_tree_below(l->figures.tree, node),
                           rest = pct_tree_below(l->figures.tree, child);
    struct pct_below own = all;
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        own.sum[k] -= rest.sum[k];
    own.computed.ns -= rest.computed.ns;
    pc_u128 value = pct_node_figure(&l->figures, node) - pct_node_figure(&l->figures, child);
    return value && is_enough(l, value, &own);
}

static uint32_t parent_of(const void *printer, uint32_t node)
{
    return ((const struct printer *)printer)->figures.tree->nodes[node].parent;
}

static struct pct_passing passing_of(const void *printer, uint32_t node)
{
    const struct printer *l = printer;
    return pct_tree_passing(l->figures.d->profile, &l->figures.tree->nodes[node]);
}

static void put_passing(struct printer *l, uint32_t node, struct pct_corner corner,
                        const struct pct_fold *fold)
{
    struct pct_buf text = {0};
    pct_fold_text(&text, fold);
    const struct pct_below below = pct_tree_below(l->figures.tree, node);
    put_note(l, &below, text.data, corner);
    l->any_passing = true;
    pct_buf_free(&text);
}

/* ---- The tree -------------------------------------------------------------------------------- */

static uint32_t put_line(void *printer, uint32_t node, struct pct_corner corner)
{
    struct printer *l = printer;
    const struct pct_options *o = l->figures.o;
    const struct pct_folding folding = {.tree = l,
                                        .only = only_child,
                                        .same = is_same,
                                        .same_function = is_same_function,
                                        .parent = parent_of,
                                        .passing = passing_of,
                                        .has_own = o->full_names ? NULL : has_own,
                                        .bottom_up = o->bottom_up};
    struct pct_fold fold = pct_fold(&folding, node);
    if (fold.passer)
        put_passing(l, node, corner, &fold);
    else
        put_node(l, node, corner, &fold);
    return fold.last;
}

static void put_head(const struct printer *l, const char *title)
{
    const struct pct_options *o = l->figures.o;
    char share[PCT_NUMBER_BYTES];
    struct pct_buf head = {0}, shown = {0};
    pct_buf_text(&head, title);
    pct_buf_text(&shown, o->bottom_up ? "(callers below what they call" : "");
    if (l->least)
        pct_buf_format(&shown, "%scontexts with %s or more%s", o->bottom_up ? "; " : "(",
                       pct_text_percent_1(share, l->least),
                       l->figures.columns == PCT_COLUMNS_BOTH ? " of one of them" : " of it");
    pct_buf_text(&shown, shown.n ? ")" : "");
    size_t cells = pct_text_cells(head.data) + 1 + pct_text_cells(shown.data);
    bool beside = !o->width || cells <= o->width;
    fprintf(l->branches.out, "\n%s%s%s%s%s\n", pct_style(o, PCT_STYLE_TITLE), head.data,
            pct_style(o, PCT_STYLE_PLAIN), beside && shown.n ? " " : "", beside ? shown.data : "");
    if (!beside && shown.n)
        pct_print_sentence(l->branches.out, o->width, 2, "  %s", shown.data);
    pct_buf_free(&head);
    pct_buf_free(&shown);
}

/* Prints the amount of sampled time. */
static void put_samples(const struct printer *l)
{
    const struct pct_samples *s = l->figures.tree->samples;
    char n[PCT_NUMBER_BYTES], time[PCT_NUMBER_BYTES], share[PCT_NUMBER_BYTES];
    struct pct_buf b = {0};
    pct_buf_format(&b, "%s %s for %s of CPU time", pct_text_count(n, s->all.samples),
                   s->all.samples == 1 ? "sample stands" : "samples stand",
                   pct_text_time(time, s->all.ns));
    if (s->mpi.samples)
        pct_buf_format(&b, ", %s of it in MPI calls",
                       pct_text_percent_1(share, pct_text_share(s->mpi.ns, s->all.ns)));
    if (s->cut.samples)
        pct_buf_format(&b, ", %s in contexts whose outer part is unknown",
                       pct_text_percent_1(share, pct_text_share(s->cut.ns, s->all.ns)));
    if (s->cut.samples && s->cut_module != PC_NO_INDEX) {
        pct_buf_text(&b, ", most of them cut in ");
        pct_text_escape(&b, pc_base_name(s->profile->modules[s->cut_module].path), PCT_ESCAPE_CELL);
    }
    fputs("  ", l->branches.out);
    pct_print_sentence(l->branches.out, l->branches.width, 2, "%s", b.data);
    pct_buf_free(&b);
}

static void put_title(const struct printer *l)
{
    static const struct {
        const char *down, *up;
    } titles[] = {
        [PCT_CALLS] = {"Where MPI is called", "From where MPI is called"},
        [PCT_TIME] = {"Where the time in MPI goes", "From where the time in MPI is spent"},
        [PCT_SENT] = {"Where bytes are sent", "From where bytes are sent"},
        [PCT_RECEIVED] = {"Where bytes are received", "From where bytes are received"},
    };
    const struct pct_node_figures *f = &l->figures;
    struct pct_buf heads = {0};
    if (f->columns == PCT_COLUMNS_METRIC)
        put_head(l, f->o->bottom_up ? titles[f->metric].up : titles[f->metric].down);
    else {
        put_head(l, f->columns == PCT_COLUMNS_BOTH
                        ? "Where the time goes: in MPI, and CPU time outside of it"
                        : "Where CPU time goes");
        put_samples(l);
    }
    pct_node_put_heads(f, &heads);
    fprintf(l->branches.out, "%scontext\n", heads.data);
    pct_buf_free(&heads);
}

static void put_legend(const struct printer *l)
{
    FILE *out = l->branches.out;
    size_t width = l->branches.width;
    char share[PCT_NUMBER_BYTES];
    if (l->figures.any_few)
        pct_print_sentence(out, width, 2, "  few: less than %d samples, too few to tell the error",
                           PCT_SAMPLES_FEW);
    if (l->figures.any_call && !l->figures.o->bottom_up)
        pct_print_sentence(out, width, 2, "  " PCT_PLACE_LEGEND);
    if (l->any_slight)
        pct_print_sentence(out, width, 2,
                           "  left out: branches of a function that together have less than %s",
                           pct_text_percent_1(share, l->least));
    if (l->figures.columns != PCT_COLUMNS_CPU && l->figures.metric == PCT_TIME)
        pct_print_open(out, width, pct_data_open_calls(l->figures.d)->ns,
                       l->figures.open->n ? "with" : "without",
                       l->figures.open->n ? l->figures.whole : 0);
    if (l->any_passing)
        pct_print_sentence(out, width, 2, "  " PCT_FOLD_LEGEND, pct_branches_dots(&l->branches));
    if (!l->figures.o->has_min_percent)
        pct_print_hidden(out, (unsigned)l->least);
}

static const char *why_empty(const struct pct_totals *t)
{
    return !t->all.mpi_calls  ? "no MPI function was called"
           : t->has[PCT_TIME] ? "no call was recorded"
                              : "calls were not recorded: the plugin time was not loaded";
}

static void put_all(void *printer, FILE *out, unsigned least)
{
    struct printer *l = printer;
    l->branches.out = out;
    l->least = least;
    l->figures.any_few = l->figures.any_call = l->any_slight = l->any_passing = false;
    put_title(l);
    if (l->figures.tree->n > 1)
        pct_branches_put_tree(&l->branches, &l->shown, 0);
    else
        fprintf(out, "  %s\n", why_empty(l->figures.d->totals));
    put_legend(l);
}

void pct_print_tree(FILE *out, const struct pct_data *d, const struct pct_options *o,
                    enum pct_metric sort)
{
    struct printer l = {.branches = {.out = out, .width = o->width, .utf8 = o->utf8},
                        .shown = {&l, next_child, has_hidden, put_line, put_hidden, 0}};
    pct_node_figures_open(&l.figures, d, o, sort);
    l.branches.figures = l.figures.cells;
    if (o->has_min_percent)
        put_all(&l, out, (unsigned)o->choice.min_percent);
    else
        pct_print_fitting(out, MOST_LINES, put_all, &l);
    pct_node_figures_close(&l.figures);
}
