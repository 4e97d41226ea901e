/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks of running processes as text. Each node of the tree has a set of numbers: the ranks that
 * are in it or below. The set is printed after a node if it differs from that of the node above.
 *
 * Figures come from the samples of the tree, one for each stack.
 */
#include "view/where_print.h"

#include "view/branches.h"
#include "view/node_text.h"
#include "view/rows.h"
#include "view/sentence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct printer {
    const struct pct_where *w;
    struct pct_tree *tree;
    struct pct_branches branches;
    uint64_t *values; /* by rank of the profile */
    bool *present;
    int *numbers; /* room for one of each stack */
    bool any_call;
};

/* Sorted numbers, each once. */
struct set {
    const int *at;
    size_t n;
};

static struct set sort_numbers(int *numbers, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(numbers, n, sizeof *numbers, pc_compare_ints);
    for (size_t i = 0; i < n; i++)
        if (!kept || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return (struct set){numbers, kept};
}

/* The numbers of the stacks that are in a node; valid until the next call. */
static struct set numbers_of(struct printer *p, uint32_t node, enum pct_sampled_of of)
{
    size_t n = 0, n_stacks = p->w->d->profile->n_ranks;
    memset(p->values, 0, n_stacks * sizeof *p->values);
    memset(p->present, 0, n_stacks * sizeof *p->present);
    pct_tree_sampled_ranks(p->tree, node, of, p->values, p->present);
    for (size_t i = 0; i < n_stacks; i++)
        if (p->values[i])
            p->numbers[n++] = p->w->stacks[i].number;
    return sort_numbers(p->numbers, n);
}

/* Appends the numbers; of many those of the first runs, and how many more there are. */
static void put_set(struct pct_buf *b, struct set s)
{
    enum { MOST_RUNS = 32 };
    size_t shown = pct_print_set(b, s.at, s.n, ",", MOST_RUNS);
    if (shown < s.n)
        pct_buf_format(b, " and %zu more", s.n - shown);
}

/* ---- Functions and activities ---------------------------------------------------------------- */

static const char *in_what(const struct pct_tree *t, const struct pc_profile *p, uint32_t node)
{
    return t->nodes[node].kind == PCOLLECT_NODE_OP ? p->ops[t->nodes[node].op].name : NULL;
}

const char *pct_state_text(char state, bool in_mpi)
{
    switch (state) {
    case 'D':
        return "blocked in the kernel (state D)";
    case 'T':
    case 't':
        return "stopped by a signal or a debugger";
    case 'R':
        return in_mpi ? NULL : "running";
    default:
        return in_mpi ? NULL : "waiting in a system call";
    }
}

/* Function and activity of a thread that is counted, or of the main thread of what is. */
struct place {
    const char *op;    /* an MPI function; NULL: outside */
    const char *state; /* NULL: see pct_state_text */
    bool any;          /* the stack tells it */
};

static struct place *find_places(struct printer *p)
{
    size_t n_stacks = p->w->d->profile->n_ranks;
    struct place *places = pct_alloc(n_stacks + 1, sizeof *places);
    for (uint32_t i = 1; i < p->tree->n; i++) {
        if (!pct_tree_own(p->tree, i).self.samples)
            continue;
        memset(p->values, 0, n_stacks * sizeof *p->values);
        pct_tree_sampled_ranks(p->tree, i, PCT_SAMPLED_SELF, p->values, p->present);
        const char *op = in_what(p->tree, p->w->d->profile, i);
        for (size_t k = 0; k < n_stacks; k++)
            if (p->values[k] && p->w->stacks[k].tells)
                places[k] = (struct place){op, pct_state_text(p->w->stacks[k].state, op), true};
    }
    return places;
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_places(const struct place *a, const struct place *b)
{
    int by_op = compare_texts(a->op, b->op);
    return by_op ? by_op : compare_texts(a->state, b->state);
}

struct group {
    struct place place;
    size_t n;
};

/* The greatest first. */
static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    return a->n != b->n ? (a->n < b->n ? 1 : -1) : compare_places(&a->place, &b->place);
}

/* Appends "in MPI_Send", or "outside MPI, running". */
static void put_place(struct pct_buf *b, const struct printer *p, const struct place *which)
{
    if (which->op)
        pct_buf_format(b, "in %s", which->op);
    else if (p->w->ranks)
        pct_buf_text(b, "outside MPI");
    if (which->state)
        pct_buf_format(b, "%s%s", which->op || p->w->ranks ? ", " : "", which->state);
}

/* A number, and the times that it was at a place. */
struct often {
    int number;
    size_t times;
};

/* The most times first. */
static int compare_often(const void *a, const void *b)
{
    const struct often *x = a, *y = b;
    return x->times != y->times ? (x->times < y->times ? 1 : -1)
                                : pc_compare_ints(&x->number, &y->number);
}

/* Counts numbers that may be there several times. The caller frees the list. */
static struct often *count_numbers(int *numbers, size_t n, size_t *n_out)
{
    struct often *list = pct_alloc(n, sizeof *list);
    *n_out = 0;
    qsort(numbers, n, sizeof *numbers, pc_compare_ints);
    for (size_t i = 0; i < n; i++) {
        if (!i || numbers[i] != numbers[i - 1])
            list[(*n_out)++].number = numbers[i];
        list[*n_out - 1].times++;
    }
    qsort(list, *n_out, sizeof *list, compare_often);
    return list;
}

/* Appends "3 of 3 times ranks 0,1; 2 of 3 times rank 2" for the first n of p->numbers. */
static void put_often(struct pct_buf *b, struct printer *p, size_t n)
{
    enum { MOST_PARTS = 8 };
    size_t n_list, to;
    struct often *list = count_numbers(p->numbers, n, &n_list);
    for (size_t from = 0, part = 0; from < n_list; from = to, part++) {
        bool rest = part == MOST_PARTS;
        for (to = from; to < n_list && (rest || list[to].times == list[from].times); to++)
            p->numbers[to - from] = list[to].number;
        struct set s = sort_numbers(p->numbers, to - from);
        pct_buf_text(b, part ? "; " : "");
        if (rest)
            pct_buf_text(b, "fewer");
        else
            pct_buf_format(b, "%zu of %" PRIu64, list[from].times, p->w->times);
        pct_buf_format(b, " times %s ", s.n == 1 ? p->w->one : p->w->many);
        put_set(b, s);
    }
    pct_free(list);
}

static void put_group(FILE *out, struct printer *p, const struct place *places,
                      const struct place *which)
{
    size_t n = 0;
    struct pct_buf line = {0};
    for (size_t i = 0; i < p->w->d->profile->n_ranks; i++)
        if (places[i].any && !compare_places(&places[i], which))
            p->numbers[n++] = p->w->stacks[i].number;
    if (p->w->times > 1) {
        pct_buf_text(&line, "  ");
        put_place(&line, p, which);
        pct_buf_text(&line, ": ");
        put_often(&line, p, n);
    } else if (n == 1) {
        pct_buf_format(&line, "  %s %d ", p->w->one, p->numbers[0]);
        put_place(&line, p, which);
    } else {
        struct set s = sort_numbers(p->numbers, n);
        pct_buf_format(&line, "  %zu %s ", s.n, p->w->many);
        put_place(&line, p, which);
        pct_buf_text(&line, ": ");
        put_set(&line, s);
    }
    pct_print_sentence(out, p->w->width, 4, "%s", line.data);
    pct_buf_free(&line);
}

static void put_places(FILE *out, struct printer *p)
{
    struct place *places = find_places(p);
    struct group *groups = NULL;
    size_t n = 0, room = 0;
    for (size_t i = 0; i < p->w->d->profile->n_ranks; i++) {
        size_t k = 0;
        if (!places[i].any)
            continue;
        while (k < n && compare_places(&groups[k].place, &places[i]))
            k++;
        if (k == n) {
            groups = pct_grow(groups, n, &room, sizeof *groups);
            groups[n++] = (struct group){places[i], 0};
        }
        groups[k].n++;
    }
    if (n)
        qsort(groups, n, sizeof *groups, compare_groups);
    for (size_t k = 0; k < n; k++)
        put_group(out, p, places, &groups[k].place);
    pct_free(groups);
    pct_free(places);
}

/* ---- The tree -------------------------------------------------------------------------------- */

/* Appends ", at lines 12,14-16": lines at which stacks end in the node itself. */
static void put_lines(const struct printer *p, uint32_t node, struct pct_buf *b)
{
    enum { MOST_RUNS = 8 };
    const struct pct_tree *t = p->tree;
    int *lines = NULL;
    size_t n = 0, room = 0;
    if (t->nodes[node].kind == PCOLLECT_NODE_OP)
        return;
    for (uint32_t s = t->nodes[node].first_source; s != PC_NO_INDEX; s = t->next_source[s]) {
        struct pct_place place = pct_symbols_node(p->w->d->symbols, s);
        if (!place.n_frames || !place.frames[place.n_frames - 1].line)
            continue;
        lines = pct_grow(lines, n, &room, sizeof *lines);
        lines[n++] = (int)place.frames[place.n_frames - 1].line;
    }
    struct set set = sort_numbers(lines, n);
    if (set.n) {
        pct_buf_text(b, set.n > 1 ? ", at lines " : ", at line ");
        size_t shown = pct_print_set(b, set.at, set.n, ",", MOST_RUNS);
        if (shown < set.n)
            pct_buf_format(b, " and %zu more", set.n - shown);
    }
    pct_free(lines);
}

static uint32_t next_child(void *printer, uint32_t node, uint32_t before)
{
    const struct pct_node *nodes = ((struct printer *)printer)->tree->nodes;
    return before == PC_NO_INDEX ? nodes[node].first_child : nodes[before].next;
}

static uint32_t put_node(void *printer, uint32_t node, struct pct_corner corner)
{
    struct printer *p = printer;
    const struct pct_node *n = &p->tree->nodes[node];
    struct pct_buf figures = {0}, name = {0}, rest = {0};
    size_t n_above = n->parent ? numbers_of(p, n->parent, PCT_SAMPLED_TOTAL).n : 0;
    struct set set = numbers_of(p, node, PCT_SAMPLED_TOTAL);
    pct_buf_format(&figures, "  %7zu", set.n);
    if (p->w->times > 1)
        pct_buf_format(&figures, "  %5.1f %%",
                       100 * (double)pct_tree_below(p->tree, node).total.samples /
                           (double)p->tree->samples->all.samples);
    pct_buf_text(&figures, "  ");
    pct_node_name(&name, p->tree, node, (struct pct_name_form){p->w->full_names, p->branches.utf8});
    pct_buf_put(&rest, "", 0);
    pct_node_place(&rest, p->tree, n, false);
    p->any_call |= n->caller != NULL;
    if (pct_tree_own(p->tree, node).self.samples)
        put_lines(p, node, &rest);
    if (set.n != n_above) {
        pct_buf_format(&rest, ": %s ", set.n == 1 ? p->w->one : p->w->many);
        put_set(&rest, set);
    }
    size_t room = pct_branches_room(&p->branches, corner);
    bool beside = pct_text_cells(name.data) + pct_text_cells(rest.data) <= room;
    pct_branches_put(&p->branches, figures.data, corner,
                     &(struct pct_branch){.name = name.data,
                                          .name_color = "",
                                          .rest = rest.data,
                                          .rest_color = "",
                                          .plain = "",
                                          .beside = beside});
    pct_buf_free(&figures);
    pct_buf_free(&name);
    pct_buf_free(&rest);
    return node;
}

static struct pct_tree *make_tree(const struct pct_where *w)
{
    struct pct_tree_options shape = {.grain = PCT_GRAIN_CALL};
    struct pct_tree *t = pct_tree_new(w->d->totals, w->d->symbols, pct_data_samples(w->d), &shape);
    pct_tree_sort(t, PCT_OF_TOTAL, PCT_TIME);
    return t;
}

static void begin(struct printer *p)
{
    size_t n = p->w->d->profile->n_ranks;
    p->tree = make_tree(p->w);
    p->values = pct_alloc(n + 1, sizeof *p->values);
    p->present = pct_alloc(n + 1, sizeof *p->present);
    p->numbers = pct_alloc(n + 1, sizeof *p->numbers);
}

static void end(struct printer *p)
{
    pct_tree_free(p->tree);
    pct_free(p->values);
    pct_free(p->present);
    pct_free(p->numbers);
}

void pct_where_print(FILE *out, const struct pct_where *w)
{
    struct printer p = {.w = w, .branches = {.out = out, .width = w->width, .utf8 = w->utf8}};
    begin(&p);
    p.branches.figures = 9 + (w->times > 1 ? 9 : 0) + 2;
    put_places(out, &p);
    fprintf(out, "\n  %7s%s  context\n", w->many, w->times > 1 ? "    share" : "");
    pct_branches_put_tree(
        &p.branches, &(struct pct_shown_tree){.tree = &p, .next = next_child, .put = put_node}, 0);
    if (p.any_call)
        pct_print_sentence(out, w->width, 2, "  " PCT_PLACE_LEGEND);
    end(&p);
}

void pct_where_rows(FILE *out, const struct pct_where *w, bool json)
{
    enum { NUMBERS, STACKS, PERCENT, PRIMITIVE, PATH, N_COLUMNS };
    const struct pct_rows_column columns[N_COLUMNS] = {{w->many, true},
                                                       {"stacks", false},
                                                       {"percent", false},
                                                       {"primitive", true},
                                                       {"path", true}};
    struct pct_row_writer rows = {.out = out, .json = json, .columns = columns, .n = N_COLUMNS};
    struct printer p = {.w = w};
    begin(&p);
    pct_rows_begin(&rows);
    for (uint32_t i = 1; i < p.tree->n; i++) {
        uint64_t samples = pct_tree_own(p.tree, i).self.samples;
        const char *op = in_what(p.tree, w->d->profile, i);
        struct pct_buf cells[N_COLUMNS] = {{0}};
        if (!samples)
            continue;
        struct set all = numbers_of(&p, i, PCT_SAMPLED_SELF);
        pct_print_set(&cells[NUMBERS], all.at, all.n, ",", all.n);
        pct_buf_format(&cells[STACKS], "%llu", (unsigned long long)samples);
        pct_buf_format(&cells[PERCENT], "%.3f",
                       100 * (double)samples / (double)p.tree->samples->all.samples);
        pct_buf_text(&cells[PRIMITIVE], op ? op : "");
        if (op)
            pct_tree_path(p.tree, i, &cells[PATH]);
        else
            pct_tree_path_to(p.tree, i, &cells[PATH]);
        pct_rows_put(&rows, cells);
    }
    pct_rows_end(&rows);
    end(&p);
}
