/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calling-context tree: nodes as an array, and their metrics as a table.
 */
#include "libpcol/libpcol_private.h"

#include "view/tables/figures.h"
#include "view/tables/tables.h"

struct pcol_tree {
    const struct pct_tree *tree;
    struct pcol_node *nodes;
    struct pct_data data; /* data of the metrics */
    struct pcol_table metrics;
};

static const struct pct_tree *make_shape(struct pcol_profile *p, enum pcol_shape shape)
{
    struct pct_tree_options options = p->options;
    const struct pct_data *d = p->data;
    switch (shape) {
    case PCOL_TREE_FUNCTIONS:
        return pct_data_functions(d);
    case PCOL_TREE_CALLERS:
        return pct_data_sample_callers(d)->tree;
    case PCOL_TREE_CALLS:
        options.grain = PCT_GRAIN_CALL;
        break;
    default:
        options.grain = PCT_GRAIN_LINE;
    }
    return pct_tree_new(d->totals, d->symbols, pct_data_samples(d), &options);
}

static enum pcol_kind kind_of(const struct pct_node *n)
{
    switch (n->kind) {
    case PCOLLECT_NODE_ROOT:
        return PCOL_ROOT;
    case PCOLLECT_NODE_OP:
        return PCOL_MPI;
    case PCOLLECT_NODE_POINT:
        return PCOL_POINT;
    case PCOLLECT_NODE_PHASE:
        return PCOL_PHASE;
    case PCOLLECT_NODE_REGION:
        return PCOL_REGION;
    case PCOLLECT_NODE_CUT:
        return PCOL_CUT;
    default:
        return PCOL_FUNCTION;
    }
}

static void describe(const struct pcol_profile *p, const struct pct_node *n, enum pcol_shape shape,
                     struct pcol_node *out)
{
    struct pct_value context = {0};
    pct_id_value(p->data, n->context, &context);
    *out = (struct pcol_node){.kind = kind_of(n),
                              .parent = n->parent,
                              .first_child = n->first_child,
                              .next = n->next,
                              .label = n->label,
                              .function = n->frame->function,
                              .file = n->frame->file,
                              .call_file = n->caller ? n->caller->file : NULL,
                              .call_line = n->caller ? n->caller->line : 0,
                              .inlined = n->frame->inlined,
                              .context = context.none ? NULL : context.text};
    if (out->kind == PCOL_MPI)
        out->function = p->profile->ops[n->op].name;
    if (out->kind == PCOL_FUNCTION && shape == PCOL_TREE_LINES)
        out->line = n->frame->line;
    if (n->module != PC_NO_INDEX)
        out->module = p->profile->modules[n->module].path;
}

struct asked_tree {
    struct pcol_profile *p;
    enum pcol_shape shape;
};

static void make_tree(void *asked)
{
    const struct asked_tree *a = asked;
    struct pcol_tree *t = pct_alloc(1, sizeof *t);
    t->tree = make_shape(a->p, a->shape);
    t->nodes = pct_alloc(t->tree->n, sizeof *t->nodes);
    for (size_t i = 0; i < t->tree->n; i++)
        describe(a->p, &t->tree->nodes[i], a->shape, &t->nodes[i]);
    t->data = *a->p->data;
    t->data.kind = PCT_DATA_TREE;
    t->data.tree = t->tree;
    pct_lib_set_table(&t->metrics, a->p, &pct_nodes_table, &t->data);
    a->p->trees[a->shape] = t;
}

const struct pcol_tree *pcol_tree(struct pcol_profile *p, enum pcol_shape shape)
{
    if ((unsigned)shape >= N_SHAPES)
        return NULL;
    if (!p->trees[shape])
        pct_lib_run(p, make_tree, &(struct asked_tree){p, shape});
    return p->trees[shape];
}

size_t pcol_tree_nodes(const struct pcol_tree *t)
{
    return t ? t->tree->n : 0;
}

const struct pcol_node *pcol_tree_node(const struct pcol_tree *t, size_t node)
{
    return node < pcol_tree_nodes(t) ? &t->nodes[node] : NULL;
}

const struct pcol_table *pcol_tree_metrics(const struct pcol_tree *t)
{
    return t ? &t->metrics : NULL;
}
