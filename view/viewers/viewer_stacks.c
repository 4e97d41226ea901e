/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stacks of a tree with their figures: see viewers.h.
 */
#include "view/node_text.h"
#include "view/viewers/viewers.h"

#include <stdlib.h>
#include <string.h>

const struct pct_value_type pct_value_types[PCT_N_VALUE_KINDS] = {
    [PCT_VALUE_TIME] = {"time", "time in MPI, and CPU time outside MPI",
                        "CPU time in MPI and outside, by samples", "nanoseconds", "nanoseconds",
                        true},
    [PCT_VALUE_COMPUTATION] = {"computation", "CPU time outside MPI, by samples",
                               "CPU time outside MPI, by samples", "nanoseconds", "nanoseconds",
                               true},
    [PCT_VALUE_MPI] = {"mpi", "time in MPI calls", NULL, "nanoseconds", "nanoseconds", false},
    [PCT_VALUE_CALLS] = {"calls", "MPI calls", NULL, "count", "none", false},
    [PCT_VALUE_SENT] = {"bytes_sent", "bytes described by send arguments", NULL, "bytes", "bytes",
                        false},
    [PCT_VALUE_RECEIVED] = {"bytes_received", "bytes described by receive arguments", NULL, "bytes",
                            "bytes", false},
};

static pc_u128 value_of(const struct pct_stacks *s, uint32_t node, enum pct_value_kind kind)
{
    const struct pct_own own = pct_tree_own(s->tree, node);
    switch (kind) {
    case PCT_VALUE_TIME:
        return s->outside ? own.self.ns : own.calls.sum[PCT_EXCLUSIVE] + own.computed.ns;
    case PCT_VALUE_COMPUTATION:
        return own.computed.ns;
    case PCT_VALUE_MPI:
        return own.calls.sum[PCT_EXCLUSIVE];
    case PCT_VALUE_CALLS:
        return own.calls.sum[PCT_CALLS];
    case PCT_VALUE_SENT:
        return own.calls.sum[PCT_SENT];
    default:
        return own.calls.sum[PCT_RECEIVED];
    }
}

uint64_t pct_stack_value(const struct pct_stacks *s, uint32_t node, enum pct_value_kind kind)
{
    return (uint64_t)value_of(s, node, kind);
}

bool pct_stack_has_value(const struct pct_stacks *s, uint32_t node)
{
    bool any = false;
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++)
        any |= s->has[k] && pct_stack_value(s, node, k) != 0;
    return any;
}

static bool is_known(const struct pct_stacks *s, enum pct_value_kind kind)
{
    const struct pct_value_type *type = &pct_value_types[kind];
    if (s->outside && !type->outside_doc)
        return false;
    return !type->sampled || (s->tree->samples && s->tree->samples->all.samples);
}

/* False: a sum is too large. */
static bool sum_up(struct pct_stacks *s, struct pct_buf *why)
{
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++) {
        pc_u128 sum = 0;
        for (uint32_t i = 0; i < s->tree->n; i++)
            sum += value_of(s, i, k);
        if (sum > INT64_MAX) {
            pct_buf_format(why,
                           "%s: the sum is above 2^63 - 1, and other viewers have no room for it",
                           pct_value_types[k].name);
            return false;
        }
        s->sum[k] = (uint64_t)sum;
        s->has[k] = is_known(s, k);
    }
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------ */

static const char *keep(struct pct_stacks *s, struct pct_buf *b)
{
    const char *kept = pct_pool_intern(s->pool, b->data);
    pct_buf_clear(b);
    return kept;
}

static struct pct_stack_function describe(struct pct_stacks *s, const struct pct_node *n,
                                          struct pct_buf *b)
{
    const struct pc_profile *p = s->data->profile;
    struct pct_stack_function f = {NULL, NULL};
    bool code = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    const char *module = code && n->module != PC_NO_INDEX ? p->modules[n->module].path : NULL;
    pct_buf_clear(b);
    pct_node_whole_name(b, p, n);
    f.name = keep(s, b);
    if (code && (n->frame->file || module)) {
        pct_text_escape(b, n->frame->file ? n->frame->file : module, PCT_ESCAPE_CELL);
        f.file = keep(s, b);
    }
    return f;
}

/* Texts are kept once: equal ones have one address. */
static int compare_functions(const void *a, const void *b)
{
    const struct pct_stack_function *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order)
        return order;
    return strcmp(x->file ? x->file : "", y->file ? y->file : "");
}

static void list_functions(struct pct_stacks *s)
{
    uint32_t n = (uint32_t)s->tree->n, kept = 0;
    struct pct_stack_function *of = pct_alloc(n, sizeof *of);
    struct pct_buf b = {0};
    s->functions = pct_alloc(n, sizeof *s->functions);
    s->function_of = pct_alloc(n, sizeof *s->function_of);
    for (uint32_t i = 1; i < n; i++)
        s->functions[s->n_functions++] = of[i] = describe(s, &s->tree->nodes[i], &b);
    qsort(s->functions, s->n_functions, sizeof *s->functions, compare_functions);
    for (uint32_t i = 0; i < s->n_functions; i++)
        if (!kept || compare_functions(&s->functions[kept - 1], &s->functions[i]))
            s->functions[kept++] = s->functions[i];
    s->n_functions = kept;
    s->function_of[0] = PC_NO_INDEX;
    for (uint32_t i = 1; i < n; i++) {
        const struct pct_stack_function *found =
            bsearch(&of[i], s->functions, kept, sizeof *of, compare_functions);
        s->function_of[i] = (uint32_t)(found - s->functions);
    }
    pct_buf_free(&b);
    pct_free(of);
}

/* ---- All ------------------------------------------------------------------------------------ */

struct pct_stacks *pct_stacks_new(const struct pct_data *d, const struct pct_tree *tree,
                                  struct pct_buf *why)
{
    struct pct_stacks *s = pct_alloc(1, sizeof *s);
    s->data = d;
    s->tree = tree;
    s->outside = d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE;
    s->pool = pct_pool_new();
    if (sum_up(s, why)) {
        list_functions(s);
        return s;
    }
    pct_stacks_free(s);
    return NULL;
}

void pct_stacks_free(struct pct_stacks *s)
{
    if (!s)
        return;
    pct_pool_free(s->pool);
    pct_free(s->functions);
    pct_free(s->function_of);
    pct_free(s);
}

uint32_t pct_stack_most(const struct pct_stacks *s)
{
    uint32_t most = 1, *depth = pct_alloc(s->tree->n, sizeof *depth);
    for (uint32_t i = 1; i < s->tree->n; i++) {
        depth[i] = depth[s->tree->nodes[i].parent] + 1;
        most = depth[i] > most ? depth[i] : most;
    }
    pct_free(depth);
    return most;
}

uint32_t pct_stack_path(const struct pct_stacks *s, uint32_t node, uint32_t *out)
{
    uint32_t n = 0;
    for (uint32_t i = node; i; i = s->tree->nodes[i].parent)
        n++;
    for (uint32_t i = node, at = n; i; i = s->tree->nodes[i].parent)
        out[--at] = i;
    return n;
}
