/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trees of several runs as one tree of text: see compare_print.h. The caller chooses the
 * figures before the names.
 */
#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"
#include "view/branches.h"
#include "view/compare_print.h"
#include "view/fit_lines.h"
#include "view/folds.h"
#include "view/sentence.h"

#include <string.h>

struct printer {
    const struct pct_compare_tree *view;
    const struct pct_compare_print *how;
    double least; /* nodes with less are hidden */
    struct pct_branches branches;
    struct pct_shown_tree shown;
    struct pct_buf figures;
    bool any_passing; /* explained in the legend */
};

static bool is_visible(const struct printer *l, uint32_t node)
{
    return l->view->weight[node] > 0 && l->view->weight[node] >= l->least;
}

static uint32_t next_child(void *printer, uint32_t node, uint32_t before)
{
    struct printer *l = printer;
    const struct pct_join_tree_node *nodes = l->view->tree->nodes;
    uint32_t i = before == PC_NO_INDEX ? nodes[node].first_child : nodes[before].next;
    while (i != PC_NO_INDEX && !is_visible(l, i))
        i = nodes[i].next;
    return i;
}

/* The number of hidden children; 0: together they are not enough for a line. `list`, if it is not
 * NULL, gets them. */
static size_t find_hidden(const struct printer *l, uint32_t node, uint32_t *list)
{
    const struct pct_join_tree_node *nodes = l->view->tree->nodes;
    double hidden = 0;
    size_t n = 0;
    for (uint32_t i = nodes[node].first_child; i != PC_NO_INDEX; i = nodes[i].next) {
        if (is_visible(l, i) || !(l->view->weight[i] > 0))
            continue;
        if (list)
            list[n] = i;
        n++;
        hidden += l->view->weight[i];
    }
    return hidden < l->least ? 0 : n;
}

static bool has_hidden(void *printer, uint32_t node)
{
    return find_hidden(printer, node, NULL) != 0;
}

static void set_rest(const struct pct_join_tree *t, uint32_t node, struct pct_buf *b)
{
    const struct pct_join_node *at = pct_join_tree_place(t, node);
    struct pct_place_text place = {.file = at->file};
    if (pct_join_call_file(at))
        place = (struct pct_place_text){.file = at->call_file, .line = at->call_line};
    else if (at->site.number)
        place = (struct pct_place_text){.call = at->site.number, .n_calls = at->site.n};
    pct_buf_put(b, "", 0);
    pct_place_put(b, &place, PCT_PLACE_LIST);
    pct_buf_text(b, t->nodes[node].inlined ? " [inlined]" : "");
    pct_buf_text(b, t->nodes[node].waits ? " (threads wait there)" : "");
}

static bool is_called_at(const struct pct_join_node *a, const struct pct_join_node *b)
{
    return pct_join_call_file(a) == pct_join_call_file(b) &&
           pct_join_call_line(a) == pct_join_call_line(b) && a->site.number == b->site.number;
}

/* Appends the name, told apart from those of siblings that were called at the same place. */
static void put_name(const struct printer *l, uint32_t node, struct pct_buf *b)
{
    enum { MOST = 256 }; /* of many siblings the first, so that a wide tree takes linear time */
    const struct pct_join_tree *t = l->view->tree;
    const struct pct_join_tree_node *nodes = t->nodes, *n = &nodes[node];
    const char *others[MOST];
    size_t n_others = 0;
    uint32_t i = nodes[n->parent].first_child;
    for (size_t seen = 0; i != PC_NO_INDEX && seen < MOST; i = nodes[i].next, seen++)
        if (is_called_at(pct_join_tree_place(t, i), pct_join_tree_place(t, node)))
            others[n_others++] = nodes[i].name;
    if (pct_place_of_nameless(b, n->name))
        return;
    if (l->how->full_names)
        pct_name_put(b, n->name, true);
    else
        pct_name_put_among(b, n->name, others, n_others, l->how->utf8);
}

/* Sets the figures of nodes together. */
static void put_figures(struct printer *l, const uint32_t *nodes, size_t n)
{
    pct_buf_clear(&l->figures);
    l->view->put_figures(l->view->arg, nodes, n, &l->figures);
}

/* Prints a node, with those that are folded into its line. */
static void put_node(struct printer *l, uint32_t node, struct pct_corner corner,
                     const struct pct_fold *fold)
{
    struct pct_buf name = {0}, rest = {0};
    put_figures(l, &node, 1);
    for (size_t i = 0; i < fold->n_functions; i++) {
        pct_buf_text(&name, i ? ", " : "");
        put_name(l, fold->functions[i], &name);
    }
    pct_fold_times(&name, fold, l->how->utf8);
    set_rest(l->view->tree, node, &rest);
    size_t room = pct_branches_room(&l->branches, corner);
    bool beside = pct_text_cells(name.data) + pct_text_cells(rest.data) <= room || !rest.n;
    pct_branches_put(&l->branches, l->figures.data, corner,
                     &(struct pct_branch){name.data, "", rest.data, "", "", beside});
    pct_buf_free(&name);
    pct_buf_free(&rest);
}

/* Prints a line that is not a node, after the figures that are set. */
static void put_note(struct printer *l, const char *text, struct pct_corner corner)
{
    struct pct_buf note = {0};
    pct_buf_format(&note, "%s %s", pct_branches_dots(&l->branches), text);
    pct_branches_put(&l->branches, l->figures.data, corner,
                     &(struct pct_branch){note.data, "", "", "", "", true});
    pct_buf_free(&note);
}

static void put_hidden(void *printer, uint32_t node, struct pct_corner corner)
{
    struct printer *l = printer;
    struct pct_buf more = {0};
    char number[PCT_NUMBER_BYTES];
    size_t n = find_hidden(l, node, NULL);
    uint32_t *hidden = pct_alloc(n, sizeof *hidden);
    find_hidden(l, node, hidden);
    put_figures(l, hidden, n);
    pct_buf_format(&more, "%s more", pct_text_count(number, n));
    put_note(l, more.data, corner);
    pct_buf_free(&more);
    pct_free(hidden);
}

/* ---- Folded nodes ---------------------------------------------------------------------------- */

static uint32_t only_child(void *printer, uint32_t node)
{
    return pct_shown_only(&((struct printer *)printer)->shown, node);
}

static bool is_same_function(const void *printer, uint32_t node, uint32_t other)
{
    const struct pct_join_tree *t = ((const struct printer *)printer)->view->tree;
    const struct pct_join_tree_node *a = &t->nodes[node], *b = &t->nodes[other];
    return a->kind == b->kind && a->name == b->name &&
           pct_join_tree_place(t, node)->file == pct_join_tree_place(t, other)->file;
}

static uint32_t parent_of(const void *printer, uint32_t node)
{
    return ((const struct printer *)printer)->view->tree->nodes[node].parent;
}

static struct pct_passing passing_of(const void *printer, uint32_t node)
{
    const struct pct_join_tree *t = ((const struct printer *)printer)->view->tree;
    const struct pct_join_node *place = pct_join_tree_place(t, node);
    bool is_frame = t->nodes[node].kind == PCOLLECT_NODE_FRAME;
    const char *runtime = is_frame ? pct_symbols_runtime(place->file) : NULL;
    return (struct pct_passing){.library = runtime || place->file ? runtime : place->library,
                                .is_frame = is_frame,
                                .has_name = !place->module};
}

/* True for a function in which itself much is lost or gained. */
static bool has_own(void *printer, uint32_t node, uint32_t child)
{
    const struct printer *l = printer;
    double own = l->view->weight[node] - l->view->weight[child];
    return own > 0 && own >= l->least;
}

static uint32_t put_line(void *printer, uint32_t node, struct pct_corner corner)
{
    struct printer *l = printer;
    const struct pct_folding folding = {.tree = l,
                                        .only = only_child,
                                        .same = is_same_function,
                                        .same_function = is_same_function,
                                        .parent = parent_of,
                                        .passing = passing_of,
                                        .has_own = l->how->full_names ? NULL : has_own};
    struct pct_fold fold = pct_fold(&folding, node);
    struct pct_buf text = {0};
    if (!fold.passer) {
        put_node(l, node, corner, &fold);
        return fold.last;
    }
    l->any_passing = true;
    put_figures(l, &node, 1);
    pct_fold_text(&text, &fold);
    put_note(l, text.data, corner);
    pct_buf_free(&text);
    return fold.last;
}

static void print_none(FILE *out, const struct pct_compare_print *how, const char *whole,
                       const char *but)
{
    if (how->least)
        pct_print_sentence(out, how->width, 0,
                           "No context has %g %% of the %s or more lost or gained below it%s.",
                           how->least / 1e3, whole, but);
    else
        pct_print_sentence(out, how->width, 0, "No context loses or gains any of the %s%s.", whole,
                           but);
}

void pct_compare_tree_print(FILE *out, const struct pct_compare_tree *t,
                            const struct pct_compare_print *how)
{
    struct printer l = {.view = t,
                        .how = how,
                        .least = how->least / 1e5 * t->whole,
                        .branches = {.out = out,
                                     .width = how->width,
                                     .utf8 = how->utf8,
                                     .figures = PCT_COMPARE_CELLS},
                        .shown = {&l, next_child, has_hidden, put_line, put_hidden, how->depth}};
    fputc('\n', out);
    if (next_child(&l, 0, PC_NO_INDEX) == PC_NO_INDEX) {
        print_none(out, how, t->whole_name, t->but);
        return;
    }
    pct_print_sentence(out, how->width, 2, "%s", t->title);
    fprintf(out, "%s\n", t->heads);
    pct_branches_put_tree(&l.branches, &l.shown, 0);
    if (l.any_passing)
        pct_print_sentence(out, how->width, 2, "  " PCT_FOLD_LEGEND,
                           pct_branches_dots(&l.branches));
    pct_buf_free(&l.figures);
}

/* ---- Two programs ---------------------------------------------------------------------------- */

/* Number of contexts of MPI calls; *partial_out: of those missing in some run. */
static size_t count_calls(const struct pct_join *j, size_t *partial_out)
{
    size_t n = 0, partial = 0;
    for (uint32_t i = 0; i < j->n; i++) {
        size_t present = 0;
        for (size_t k = 0; k < j->n_runs; k++)
            present += pct_join_cost(j, i, k)->present;
        n += j->nodes[i].kind == PCOLLECT_NODE_OP;
        partial += j->nodes[i].kind == PCOLLECT_NODE_OP && present < j->n_runs;
    }
    *partial_out = partial;
    return n;
}

/* The first run that begins in another source file than run 0; 0: there is none, or it is unknown.
 */
static size_t find_other_begin(const struct pct_join *j)
{
    for (size_t k = 1; k < j->n_runs && j->begins[0]; k++)
        if (j->begins[k] && strcmp(j->begins[0], j->begins[k]) != 0)
            return k;
    return 0;
}

static void put_begins(struct pct_buf *out, const struct pct_join *j, const struct pct_run *runs,
                       size_t other)
{
    char *a = pct_text_escaped(pc_base_name(runs[0].program)),
         *b = pct_text_escaped(pc_base_name(runs[other].program)),
         *file_a = pct_text_escaped(j->begins[0]), *file_b = pct_text_escaped(j->begins[other]);
    if (strcmp(a, b) != 0)
        pct_buf_format(out, "%s and %s seem to be two programs: one begins in %s, the other in %s.",
                       a, b, file_a, file_b);
    else
        pct_buf_format(out,
                       "The runs seem to be of two programs named %s: one begins in %s, the other "
                       "in %s.",
                       a, file_a, file_b);
    pct_free(a);
    pct_free(b);
    pct_free(file_a);
    pct_free(file_b);
}

static bool has_several(const struct pct_join *j)
{
    for (size_t k = 0; k < j->n_runs; k++)
        if (j->several[k])
            return true;
    return false;
}

/* Appends that `partial` of n contexts are not in all runs, some of which have several programs. */
static void put_other_programs(struct pct_buf *b, size_t partial, size_t n)
{
    char some[PCT_NUMBER_BYTES], all[PCT_NUMBER_BYTES];
    pct_text_count(some, partial);
    pct_text_count(all, n);
    pct_buf_format(b,
                   "%s of %s contexts of MPI calls %s not in all runs: these may have run other "
                   "programs.",
                   some, all, partial == 1 ? "is" : "are");
}

/* Appends that `partial` of n contexts are not in all runs, whose programs have these names. */
static void put_partial(struct pct_buf *b, size_t partial, size_t n, const char *first,
                        const char *other)
{
    char some[PCT_NUMBER_BYTES], all[PCT_NUMBER_BYTES];
    const char *are = partial == 1 ? "is" : "are";
    char *a = pct_text_escaped(first), *c = pct_text_escaped(other);
    pct_text_count(some, partial);
    pct_text_count(all, n);
    if (strcmp(first, other) != 0)
        pct_buf_format(b,
                       "%s of %s contexts of MPI calls %s not in all runs: %s and %s may be two "
                       "programs.",
                       some, all, are, a, c);
    else
        pct_buf_format(b,
                       "%s of %s contexts of MPI calls %s not in all runs: either the runs are "
                       "of two programs%s%s, or functions have no names or other ones in some of "
                       "them.",
                       some, all, are, *a ? " named " : "", a);
    pct_free(a);
    pct_free(c);
}

/* A run on one rank may lack most calls, so different names or a few missing contexts are not
 * enough. */
void pct_programs_put(struct pct_buf *b, const struct pct_join *j, const struct pct_run *runs)
{
    size_t partial, n = count_calls(j, &partial);
    const char *first = pc_base_name(runs[0].program), *other = first;
    size_t begins = find_other_begin(j);
    pct_buf_put(b, "", 0);
    for (size_t k = 1; k < j->n_runs && !strcmp(first, other); k++)
        other = pc_base_name(runs[k].program);
    if (begins) {
        put_begins(b, j, runs, begins);
        return;
    }
    if (runs[0].outside && strcmp(first, other) != 0) {
        pct_text_escape(b, first, PCT_ESCAPE_CELL);
        pct_buf_text(b, " and ");
        pct_text_escape(b, other, PCT_ESCAPE_CELL);
        pct_buf_text(b, " may be two programs.");
        return;
    }
    if (j->by_line || partial * 3 <= n * 2)
        return;
    if (has_several(j)) {
        put_other_programs(b, partial, n);
        return;
    }
    put_partial(b, partial, n, first, other);
}

/* Appends a remark if only some of the runs have lines: inlined functions are missing in the
 * others; else nothing. */
static void put_lineless(struct pct_buf *b, const struct pct_join *j, const struct pct_run *runs)
{
    size_t n = 0, first = 0;
    for (size_t k = j->n_runs; k-- > 0;)
        if (j->lineless[k]) {
            n++;
            first = k;
        }
    pct_buf_put(b, "", 0);
    if (!n || n == j->n_runs)
        return;
    pct_text_escape(b, runs[first].path, PCT_ESCAPE_CELL);
    if (n > 1)
        pct_buf_format(b, " and %zu more", n - 1);
    pct_buf_format(b,
                   " %s no lines of the program: functions that were inlined are missing there, "
                   "and their time is in their callers. A program has them if it is built with -g.",
                   n > 1 ? "have" : "has");
}

void pct_builds_remark(const struct pct_join *j, const struct pct_run *runs, pct_remark_fn *put,
                       void *arg)
{
    if (!j->by_line)
        put(arg, pct_runs_builds_known(runs, j->n_runs)
                     ? "The runs are of different builds: contexts are matched by function."
                     : "It is not known whether the runs are of one build: contexts are matched by "
                       "function.");
}

void pct_renamed_remark(const struct pct_join *j, const struct pct_run *runs, pct_remark_fn *put,
                        void *arg)
{
    struct pct_buf b = {0};
    for (size_t i = 0; i < j->n_renamed; i++) {
        const struct pct_join_renamed *x = &j->renamed[i];
        bool more = i && j->renamed[i - 1].run == x->run;
        pct_buf_text(&b, more ? ", " : i ? "; in " : "In ");
        if (!more) {
            pct_text_escape(&b, runs[x->run].path, PCT_ESCAPE_CELL);
            pct_buf_text(&b, " ");
        }
        pct_text_escape(&b, x->name, PCT_ESCAPE_CELL);
        pct_buf_text(&b, more ? " with " : " is compared with ");
        pct_text_escape(&b, x->as, PCT_ESCAPE_CELL);
    }
    if (b.n) {
        pct_buf_text(&b, ".");
        put(arg, b.data);
    }
    pct_buf_free(&b);
}

void pct_programs_remarks(const struct pct_join *j, const struct pct_run *runs, pct_remark_fn *put,
                          void *arg)
{
    struct pct_buf remark = {0};
    pct_programs_put(&remark, j, runs);
    if (remark.n)
        put(arg, remark.data);
    pct_buf_clear(&remark);
    pct_renamed_remark(j, runs, put, arg);
    put_lineless(&remark, j, runs);
    if (remark.n)
        put(arg, remark.data);
    pct_buf_free(&remark);
}

/* Times that MPI_Pcontrol left out, if they are much beside the others of one of the runs. */
static void remark_paused(const struct pct_run *runs, size_t n, pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    char time[PCT_NUMBER_BYTES];
    bool much = false;
    for (size_t i = 0; i < n; i++) {
        const struct pct_run *run = &runs[i];
        if (!(run->paused_ns > 0))
            continue;
        much |= run->paused_ns >= PCT_COMPARE_DELAYED * run->core_ns;
        pct_text_time(time, (pc_u128)(run->paused_ns / run->n_ranks));
        pct_buf_format(&b, "%s %s per rank of ", b.n ? "," : "MPI_Pcontrol left out", time);
        pct_text_escape(&b, run->path, PCT_ESCAPE_CELL);
    }
    pct_buf_text(&b, ": this time is in no figure, nor are the calls in it.");
    if (much)
        put(arg, b.data);
    pct_buf_free(&b);
}

/* Computation before MPI_Init, if it is much of the run. */
static void remark_early(const struct pct_run *run, pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    char time[PCT_NUMBER_BYTES];
    if (!(run->early_ns > 0) || run->early_ns < PCT_COMPARE_DELAYED * run->core_ns)
        return;
    pct_text_time(time, (pc_u128)(run->early_ns / run->n_ranks));
    pct_buf_text(&b, "In ");
    pct_text_escape(&b, run->path, PCT_ESCAPE_CELL);
    pct_buf_format(&b,
                   " %s per rank of computation before MPI_Init are in all figures: the program "
                   "calls MPI before, and is sampled from there on.",
                   time);
    put(arg, b.data);
    pct_buf_free(&b);
}

/* Appends for how much of a time no processor was free. While a main thread is blocked, other
 * threads of its rank may wait at the same time: that part is at most what they waited together. */
static void put_delays(struct pct_buf *b, double delayed_ns, double threads_ns, double whole_ns,
                       const char *whole)
{
    double sure = 100 * (delayed_ns - threads_ns) / whole_ns, unsure = 100 * threads_ns / whole_ns;
    if (sure >= 0.5 || unsure < 0.5)
        pct_buf_format(b, "no processor was free for %.0f %%%s", sure, whole);
    if (unsure >= 0.5)
        pct_buf_format(b,
                       "%sfor up to %s%.0f %%%s main threads were blocked while other threads of "
                       "their ranks waited for a processor",
                       sure >= 0.5 ? ", and " : "", sure >= 0.5 ? "another " : "", unsure,
                       sure >= 0.5 ? "" : whole);
}

/* Waiting for a processor that is known, and stays in all figures. */
static void remark_kept(const struct pct_run *run, pct_remark_fn *put, void *arg)
{
    struct pct_buf b = {0};
    if (run->kept_ns < PCT_COMPARE_DELAYED * run->core_ns || !(run->kept_ns > 0))
        return;
    pct_buf_text(&b, "In ");
    pct_text_escape(&b, run->path, PCT_ESCAPE_CELL);
    pct_buf_text(&b, " ");
    put_delays(&b, run->kept_ns, run->kept_others_ns, run->core_ns, " of the time");
    pct_buf_text(&b, ": this time stays in all figures, since it is not known of all runs.");
    put(arg, b.data);
    pct_buf_free(&b);
}

void pct_runs_remarks(const struct pct_run *runs, size_t n, pct_remark_fn *put, void *arg)
{
    remark_paused(runs, n, put, arg);
    for (size_t i = 0; i < n; i++)
        remark_early(&runs[i], put, arg);
    for (size_t i = 0; i < n; i++) {
        struct pct_buf b = {0};
        char time[PCT_NUMBER_BYTES];
        if (!runs[i].n_incomplete)
            continue;
        pct_text_escape(&b, runs[i].path, PCT_ESCAPE_CELL);
        pct_buf_format(
            &b,
            ": %u of %u %s did not reach MPI_Finalize: %s times end with the last moment known.",
            runs[i].n_incomplete, runs[i].n_ranks, runs[i].n_ranks == 1 ? "rank" : "ranks",
            runs[i].n_incomplete == 1 ? "its" : "their");
        if (runs[i].open_ns > 0)
            pct_buf_format(&b, " MPI calls that had not ended take %s in all.",
                           pct_text_time(time, (pc_u128)runs[i].open_ns));
        if (runs[i].undivided)
            pct_buf_format(&b,
                           " How long %s waited for a processor is not known: that is in all "
                           "figures of %s.",
                           runs[i].n_incomplete == 1 ? "it" : "they",
                           runs[i].keeps_delay ? "all runs" : "this run");
        put(arg, b.data);
        pct_buf_free(&b);
    }
    for (size_t i = 0; i < n; i++)
        remark_kept(&runs[i], put, arg);
}

void pct_calls_remark(const struct pct_join *j, const struct pct_run *runs, size_t first,
                      size_t end, pct_remark_fn *put, void *arg)
{
    const struct pct_unequal_calls u = pct_join_unequal_calls(j, first, end);
    struct pct_buf b = {0};
    char least[PCT_NUMBER_BYTES], most[PCT_NUMBER_BYTES], others[PCT_NUMBER_BYTES];
    const char *place;
    if (!u.n)
        return;
    pct_join_places(j, &u.node, 1, false, &place);
    pct_buf_format(&b, "%s is called %s %s in ", place,
                   pct_text_count(least, (pc_u128)u.least_calls),
                   u.least_calls > 1 ? "times" : "time");
    pct_text_escape(&b, runs[u.least].path, PCT_ESCAPE_CELL);
    pct_buf_format(&b, ", %s times in ", pct_text_count(most, (pc_u128)u.most_calls));
    pct_text_escape(&b, runs[u.most].path, PCT_ESCAPE_CELL);
    if (u.n > 1)
        pct_buf_format(&b, ", and the calls of %s other context%s differ, too",
                       pct_text_count(others, u.n - 1), u.n > 2 ? "s" : "");
    pct_buf_text(&b, ": these runs need not have done the same work.");
    put(arg, b.data);
    pct_buf_free(&b);
}

void pct_remark_print(void *text, const char *sentence)
{
    const struct pct_remark_text *t = text;
    pct_print_sentence(t->out, t->width, 0, "%s", sentence);
}

void pct_print_programs(FILE *out, const struct pct_join *j, const struct pct_run *runs,
                        size_t width)
{
    pct_programs_remarks(j, runs, pct_remark_print, &(struct pct_remark_text){out, width});
}

bool pct_left_out_put(struct pct_buf *b, const char *where, const struct pct_left_out *left)
{
    double whole_ns = left->all_ns - left->init_ns;
    bool delayed = left->delayed_ns >= PCT_COMPARE_DELAYED * whole_ns,
         library = left->library_ns >= PCT_COMPARE_DELAYED * whole_ns;
    const char *whole = left->init_ns > 0 ? " of the time without MPI_Init" : " of the time";
    pct_buf_put(b, "", 0);
    if (!(whole_ns > 0) || (!delayed && !library))
        return false;
    pct_buf_format(b, "%s ", where);
    if (delayed)
        put_delays(b, left->delayed_ns, left->others_ns, whole_ns, whole);
    if (library)
        pct_buf_format(b, "%spcollect took %.0f %%%s", delayed ? ", and " : "",
                       100 * left->library_ns / whole_ns, delayed ? "" : whole);
    pct_buf_text(b, ": this time " PCT_LEFT_OUT);
    return delayed;
}

/* ---- Length of the text ---------------------------------------------------------------------- */

enum { TWO_SCREENS = 80, TREE_LINES = 20 };

struct part {
    pct_compare_print_fn *print;
    const void *comparison;
    struct pct_compare_print how;
};

static void print_part(void *arg, FILE *out, unsigned least)
{
    struct part *part = arg;
    part->how.least = least;
    if (part->print)
        part->print(out, part->comparison, &part->how);
}

/* The threshold with which the text fits. */
static unsigned find_least(const struct pct_compare_text *text, const struct pct_compare_print *how)
{
    struct part part = {text->before, text->comparison, *how};
    /* Full names take several lines each: then rows are counted, as lines without a width. */
    part.how.width = how->full_names ? 0 : how->width;
    size_t around = pct_lines_of(print_part, &part, PCT_LEAST_SHARE);
    part.print = text->after;
    around += pct_lines_of(print_part, &part, PCT_LEAST_SHARE);
    part.print = text->tree;
    return pct_fitting_share(around + TREE_LINES < TWO_SCREENS ? TWO_SCREENS - around : TREE_LINES,
                             print_part, &part);
}

void pct_compare_fit(FILE *out, const struct pct_compare_text *text,
                     const struct pct_compare_print *how)
{
    pct_compare_print_fn *const parts[] = {text->before, text->tree, text->after};
    struct pct_compare_print with = *how;
    if (!how->has_least)
        with.least = find_least(text, how);
    for (size_t i = 0; i < PC_ARRAY_LEN(parts); i++)
        if (parts[i])
            parts[i](out, text->comparison, &with);
}

void pct_compare_hidden(FILE *out, const struct pct_compare_print *how)
{
    if (!how->has_least)
        pct_print_hidden(out, how->least);
}
