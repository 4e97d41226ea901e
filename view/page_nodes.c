/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The spread over ranks of each node of the tree by function, inclusive, from the values by rank
 * that the profile keeps. Also the fields of plugins, exclusive.
 *
 * A picture is a text of at most BINS digits. Each stands for a range of ranks in their order and
 * has the greatest of them: "0" nothing, then 1 to LEVELS, LEVELS is the greatest of the node.
 *
 * Cost: the number of values below each node with values of its own or several children. A node
 * with neither has the spread of its child, so that a deep recursion costs no more than its frames.
 *
 * Nodes that share a line (folds.h): the tree is shown without a threshold, so a child counts as
 * the only one if the others have next to nothing.
 */
#include "view/page_nodes.h"

#include "analysis/tree/fields.h"
#include "analysis/tree/samples.h"
#include "view/folds.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 32, LEVELS = 61 };
enum { MPI, CPU, N_TIMES };

/* The time over the ranks that have it. */
struct pct_page_spread {
    pc_u128 sum_ns;
    uint64_t min_ns, median_ns, max_ns;
    uint32_t n;
    int32_t min_rank, median_rank, max_rank;
    const char *picture;
};

/* A large profile has a million nodes. */
struct pct_page_node {
    uint32_t node, level;
    uint32_t spread[N_TIMES]; /* 1 + the index of one, which nodes may share; 0: no rank is known */
    const char *passer;       /* of its line; NULL: none */
    bool joins;               /* its line begins above it */
};

/* ---- Spreads --------------------------------------------------------------------------------- */

struct value {
    uint64_t ns;
    uint32_t place;
};

/* Lists of each rank, to be used for one node after the other: values are 0 in between. */
struct lists {
    const struct pct_data *d;
    uint64_t *values;
    bool *present; /* unused */
    struct value *sorted;
};

static int compare_values(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1)
                          : (x->place > y->place) - (x->place < y->place);
}

static const char *draw(const struct lists *l, uint64_t max_ns)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint32_t n = l->d->profile->n_ranks, bins = n < BINS ? n : BINS;
    char text[BINS + 1] = "";
    for (uint32_t i = 0; i < bins; i++) {
        uint64_t most = 0;
        for (uint32_t k = (uint32_t)((uint64_t)i * n / bins);
             k < (uint32_t)((uint64_t)(i + 1) * n / bins); k++)
            most = l->values[k] > most ? l->values[k] : most;
        double part = max_ns ? (double)most / (double)max_ns : 0;
        text[i] = digits[most ? 1 + (int)(part * (LEVELS - 1)) : 0];
    }
    return pct_pool_intern(l->d->pool, text);
}

/* Adds the spread of the values, which are 0 but in this range; 0: there is none. */
static uint32_t add_spread(const struct lists *l, struct pct_range known,
                           struct pct_page_nodes *out)
{
    const struct pc_profile *p = l->d->profile;
    pc_u128 sum_ns = 0;
    uint32_t n = 0;
    for (uint32_t k = known.first; k < known.end; k++) {
        if (!l->values[k])
            continue;
        l->sorted[n++] = (struct value){l->values[k], k};
        sum_ns += l->values[k];
    }
    if (!n)
        return 0;
    qsort(l->sorted, n, sizeof *l->sorted, compare_values);
    struct value least = l->sorted[0], middle = l->sorted[(n - 1) / 2], most = l->sorted[n - 1];
    for (uint32_t k = n - 1; k && l->sorted[k - 1].ns == most.ns; k--)
        most = l->sorted[k - 1];
    out->spread = pct_grow(out->spread, out->n_spreads, &out->spreads_room, sizeof *out->spread);
    out->spread[out->n_spreads++] =
        (struct pct_page_spread){.sum_ns = sum_ns,
                                 .min_ns = least.ns,
                                 .median_ns = middle.ns,
                                 .max_ns = most.ns,
                                 .n = n,
                                 .min_rank = p->ranks[least.place].rank,
                                 .median_rank = p->ranks[middle.place].rank,
                                 .max_rank = p->ranks[most.place].rank,
                                 .picture = draw(l, most.ns)};
    return (uint32_t)out->n_spreads;
}

/* True if all that a node has is that of its only child. The time of an MPI call is its own. */
static bool is_same_as_child(const struct pct_tree *t, uint32_t node)
{
    const struct pct_node *n = &t->nodes[node];
    return n->kind != PCOLLECT_NODE_OP && n->first_source == PC_NO_INDEX &&
           n->first_child != PC_NO_INDEX && t->nodes[n->first_child].next == PC_NO_INDEX;
}

static void spread_node(const struct lists *l, struct pct_page_node *node,
                        struct pct_page_nodes *out)
{
    const struct pct_tree *t = l->d->tree;
    for (int of = 0; of < N_TIMES; of++) {
        struct pct_range known =
            of == MPI
                ? pct_tree_ranks(t, node->node, PCT_TIME, l->values, l->present)
                : pct_tree_sampled_ranks(t, node->node, PCT_SAMPLED_TOTAL, l->values, l->present);
        node->spread[of] = add_spread(l, known, out);
        memset(l->values + known.first, 0, (known.end - known.first) * sizeof *l->values);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A tree and its profile, of which lines are made. */
struct folded {
    const struct pc_profile *p;
    const struct pct_tree *t;
};

/* True if a part is all of the whole, but for next to nothing. */
static bool is_nearly(pc_u128 part, pc_u128 whole)
{
    enum { LEAST_PERCENT = 99 };
    return 100 * part >= LEAST_PERCENT * whole;
}

static uint32_t only_child(void *tree, uint32_t node)
{
    const struct pct_tree *t = ((const struct folded *)tree)->t;
    pc_u128 mpi = 0, cpu = 0, most_mpi = 0, most_cpu = 0;
    uint32_t most = PC_NO_INDEX;
    size_t n = 0;
    for (uint32_t i = t->nodes[node].first_child; i != PC_NO_INDEX; i = t->nodes[i].next) {
        const struct pct_below below = pct_tree_below(t, i);
        n++;
        mpi += below.sum[PCT_TIME];
        cpu += below.total.ns;
        if (most != PC_NO_INDEX && below.sum[PCT_TIME] + below.total.ns <= most_mpi + most_cpu)
            continue;
        most = i;
        most_mpi = below.sum[PCT_TIME];
        most_cpu = below.total.ns;
    }
    bool only = n < 2 || (mpi + cpu && is_nearly(most_mpi, mpi) && is_nearly(most_cpu, cpu));
    return only ? most : PC_NO_INDEX;
}

static bool is_same(const void *tree, uint32_t node, uint32_t other)
{
    return pct_tree_same(((const struct folded *)tree)->t, node, other);
}

static bool is_same_function(const void *tree, uint32_t node, uint32_t other)
{
    return pct_tree_same_function(((const struct folded *)tree)->t, node, other);
}

static uint32_t parent_of(const void *tree, uint32_t node)
{
    return ((const struct folded *)tree)->t->nodes[node].parent;
}

static struct pct_passing passing_of(const void *tree, uint32_t node)
{
    const struct folded *f = tree;
    return pct_tree_passing(f->p, &f->t->nodes[node]);
}

static bool has_own(void *tree, uint32_t node, uint32_t child)
{
    const struct pct_tree *t = ((const struct folded *)tree)->t;
    const struct pct_below all = pct_tree_below(t, node), rest = pct_tree_below(t, child);
    return !is_nearly(rest.sum[PCT_TIME], all.sum[PCT_TIME]) ||
           !is_nearly(rest.total.ns, all.total.ns);
}

/* Sets which nodes share a line. `place`: by node of the tree its place in the list. */
static void fold_nodes(struct pct_page_nodes *out, const uint32_t *place)
{
    struct folded f = {out->data.profile, out->data.tree};
    const struct pct_folding folding = {.tree = &f,
                                        .only = only_child,
                                        .same = is_same,
                                        .same_function = is_same_function,
                                        .parent = parent_of,
                                        .passing = passing_of,
                                        .has_own = has_own};
    for (size_t k = 1; k < out->n; k++) {
        struct pct_page_node *first = &out->node[k];
        if (first->joins)
            continue;
        struct pct_fold fold = pct_fold(&folding, first->node);
        first->passer = fold.n > 1 ? fold.passer : NULL;
        for (uint32_t i = first->node; i != fold.last;) {
            i = only_child(&f, i);
            out->node[place[i]].passer = first->passer;
            out->node[place[i]].joins = true;
        }
    }
}

/* ---- Columns --------------------------------------------------------------------------------- */

enum figure { RANKS, KNOWN, MIN, MIN_RANK, MEDIAN, MEDIAN_RANK, GREATEST, GREATEST_RANK, PICTURE };

static size_t count_nodes(const struct pct_data *d)
{
    return ((const struct pct_page_nodes *)d)->n;
}

static const struct pct_page_node *node_of(const struct pct_cell *c)
{
    return &((const struct pct_page_nodes *)c->d)->node[c->row];
}

static void get_level(const struct pct_cell *c, struct pct_value *out)
{
    out->number = node_of(c)->level;
}

/* Labels are escaped already. */
static void get_label(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(c->d->tree->nodes[node_of(c)->node].label, out);
}

static void get_module(const struct pct_cell *c, struct pct_value *out)
{
    uint32_t module = c->d->tree->nodes[node_of(c)->node].module;
    out->none = module == PC_NO_INDEX;
    if (!out->none)
        pct_value_text(c->d, pc_base_name(c->d->profile->modules[module].path), out);
}

static void get_passer(const struct pct_cell *c, struct pct_value *out)
{
    const char *passer = node_of(c)->passer;
    pct_value_text(c->d, passer ? pc_base_name(passer) : NULL, out);
}

static void get_joins(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = node_of(c)->joins;
}

static void get_computed(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !c->d->tree->samples;
    out->number = pct_tree_below(c->d->tree, node_of(c)->node).computed.ns;
}

/* In us^2: in ns^2 it may be too large for a number of the page. */
static void get_squares(const struct pct_cell *c, struct pct_value *out)
{
    out->none = !c->d->tree->samples;
    out->number = (pc_u128)(pct_tree_own(c->d->tree, node_of(c)->node).self.squares / 1e6 + 0.5);
}

static void get_spread(const struct pct_cell *c, struct pct_value *out)
{
    uint32_t number = node_of(c)->spread[c->column->of];
    out->none = !number;
    if (!number)
        return;
    const struct pct_page_spread *s = &((const struct pct_page_nodes *)c->d)->spread[number - 1];
    switch ((enum figure)c->column->which) {
    case RANKS:
        out->number = s->n;
        break;
    case KNOWN:
        out->number = s->sum_ns;
        break;
    case MIN:
        out->number = s->min_ns;
        break;
    case MIN_RANK:
        out->integer = s->min_rank;
        break;
    case MEDIAN:
        out->number = s->median_ns;
        break;
    case MEDIAN_RANK:
        out->integer = s->median_rank;
        break;
    case GREATEST:
        out->number = s->max_ns;
        break;
    case GREATEST_RANK:
        out->integer = s->max_rank;
        break;
    default:
        pct_value_plain(s->picture, out);
    }
}

/* clang-format off */
#define SPREAD_COLUMNS(name, what, of)                                                             \
    {name "_ranks", "ranks", PCT_COUNT, "ranks of which " what " is known", get_spread, RANKS, of},   \
    {name "_known_s", "known", PCT_NS, "sum of their " what, get_spread, KNOWN, of},               \
    {name "_min_s", "min", PCT_NS, "min over these ranks", get_spread, MIN, of},                   \
    {name "_min_rank", "rank", PCT_INTEGER, "the lowest rank that has it", get_spread, MIN_RANK,   \
     of},                                                                                          \
    {name "_median_s", "median", PCT_NS, "the middle one, of two the lesser", get_spread, MEDIAN,  \
     of},                                                                                          \
    {name "_median_rank", "rank", PCT_INTEGER, "a rank that has it", get_spread, MEDIAN_RANK, of}, \
    {name "_max_s", "max", PCT_NS, "max over these ranks", get_spread, GREATEST, of},              \
    {name "_max_rank", "rank", PCT_INTEGER, "the lowest rank that has it", get_spread,             \
     GREATEST_RANK, of},                                                                           \
    {name "_picture", "ranks", PCT_TEXT,                                                           \
     "a digit for each range of ranks, the greatest of them: 0 nothing, 1 to z the part of max",   \
     get_spread, PICTURE, of}
/* clang-format on */

static const struct pct_column columns[] = {
    {"level", "level", PCT_COUNT, "nodes above it; the root has 0", get_level},
    {"label", "label", PCT_TEXT, "function or MPI function", get_label, .labels = true},
    {"module", "module", PCT_TEXT, "program or library that the function is in", get_module},
    {"passer", "passes on", PCT_TEXT,
     "library for which the functions of its line only pass a call on; empty: they do more",
     get_passer},
    {"joins", "joins", PCT_YES_NO, "yes: it shares the line of the node above it", get_joins},
    {"computed_s", "computed", PCT_NS, "CPU time by samples outside MPI, there and below",
     get_computed},
    {"cpu_squares", "squares", PCT_COUNT,
     "squares of the times of its own samples, summed, in us^2", get_squares},
    SPREAD_COLUMNS("mpi", "time in MPI, there and below,", MPI),
    SPREAD_COLUMNS("cpu", "CPU time by samples, there and below,", CPU),
};

/* ---- Fields of plugins ----------------------------------------------------------------------- */

static void get_field(const struct pct_cell *c, struct pct_value *out)
{
    const struct pct_tree *t = c->d->tree;
    struct pct_chain chain = {t->nodes[node_of(c)->node].first_source, t->next_source};
    out->none = !pct_field_value(c->d->profile, chain, c->column->which, &out->number);
}

/* Histograms have no single value. */
static bool has_column(const struct pc_profile_field *f)
{
    return pct_field_is_extra(f) && f->combine != PCOLLECT_HIST;
}

void pct_page_nodes_fields(struct pct_buf *b, const struct pct_data *d)
{
    static const char *const ways[] = {
        [PCOLLECT_SUM] = "sum", [PCOLLECT_MIN] = "min", [PCOLLECT_MAX] = "max"};
    const char *between = "";
    pct_buf_text(b, "[");
    for (uint32_t i = 0; i < d->profile->n_fields; i++) {
        const struct pc_profile_field *f = &d->profile->fields[i];
        if (!has_column(f))
            continue;
        pct_buf_format(b, "%s{\"name\": ", between);
        pct_text_json(b, pct_field_name(d, f, ""));
        pct_buf_format(b, ", \"way\": \"%s\"}", ways[f->combine]);
        between = ", ";
    }
    pct_buf_text(b, "]");
}

static void make_table(struct pct_page_nodes *out)
{
    const struct pc_profile *p = out->data.profile;
    size_t n = PC_ARRAY_LEN(columns);
    out->columns = pct_alloc(n + p->n_fields, sizeof *out->columns);
    memcpy(out->columns, columns, sizeof columns);
    for (uint32_t i = 0; i < p->n_fields; i++) {
        if (!has_column(&p->fields[i]))
            continue;
        const char *name = pct_field_name(&out->data, &p->fields[i], "");
        out->columns[n++] = (struct pct_column){.name = name,
                                                .head = name,
                                                .type = pct_field_type(&p->fields[i]),
                                                .doc = "field of a plugin, of the node alone",
                                                .get = get_field,
                                                .which = (uint16_t)i};
    }
    out->table = (struct pct_table){.name = "nodes",
                                    .doc = "one row for each node of the tree by function, outer "
                                           "ones first: its spread over ranks, fields of plugins",
                                    .count = count_nodes,
                                    .columns = out->columns,
                                    .n_columns = n};
}

/* ---- From open to close ---------------------------------------------------------------------- */

void pct_page_nodes_make(struct pct_page_nodes *out, const struct pct_data *d)
{
    struct pct_tree *t = pct_data_functions(d);
    *out = (struct pct_page_nodes){.data = *d, .node = pct_alloc(t->n, sizeof *out->node)};
    out->data.kind = PCT_DATA_TREE;
    out->data.tree = t;
    size_t n_ranks = d->profile->n_ranks;
    struct lists l = {&out->data, pct_alloc(n_ranks, sizeof *l.values),
                      pct_alloc(n_ranks, sizeof *l.present), pct_alloc(n_ranks, sizeof *l.sorted)};
    uint32_t *level = pct_alloc(t->n, sizeof *level), *place = pct_alloc(t->n, sizeof *place);
    for (uint32_t i = 0; t->n && i != PC_NO_INDEX; i = pct_tree_after(t, 0, i, true)) {
        level[i] = i ? level[t->nodes[i].parent] + 1 : 0;
        place[i] = (uint32_t)out->n;
        out->node[out->n++] = (struct pct_page_node){.node = i, .level = level[i]};
    }
    for (size_t k = out->n; k-- > 0;) {
        if (is_same_as_child(t, out->node[k].node))
            memcpy(out->node[k].spread, out->node[k + 1].spread, sizeof out->node[k].spread);
        else
            spread_node(&l, &out->node[k], out);
    }
    fold_nodes(out, place);
    make_table(out);
    pct_free(place);
    pct_free(level);
    pct_free(l.sorted);
    pct_free(l.present);
    pct_free(l.values);
}

void pct_page_nodes_free(struct pct_page_nodes *nodes)
{
    pct_free(nodes->node);
    pct_free(nodes->spread);
    pct_free(nodes->columns);
}
