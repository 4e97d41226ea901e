/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stacks of a tree with their figures: see viewers.h.
 */
#include "view/viewers/viewers.h"

#include "analysis/hash_index.h"
#include "view/node_text.h"

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

static pc_u128 value_of(const struct pct_stacks *s, const struct pct_below *of,
                        enum pct_value_kind kind)
{
    switch (kind) {
    case PCT_VALUE_TIME:
        return s->outside ? of->total.ns : of->sum[PCT_EXCLUSIVE] + of->computed.ns;
    case PCT_VALUE_COMPUTATION:
        return of->computed.ns;
    case PCT_VALUE_MPI:
        return of->sum[PCT_EXCLUSIVE];
    case PCT_VALUE_CALLS:
        return of->sum[PCT_CALLS];
    case PCT_VALUE_SENT:
        return of->sum[PCT_SENT];
    default:
        return of->sum[PCT_RECEIVED];
    }
}

static pc_u128 own_value(const struct pct_stacks *s, uint32_t node, enum pct_value_kind kind)
{
    const struct pct_own own = pct_tree_own(s->tree, node);
    struct pct_below alone = {.total = own.self, .computed = own.computed};
    memcpy(alone.sum, own.calls.sum, sizeof alone.sum);
    return value_of(s, &alone, kind);
}

void pct_stack_values_below(const struct pct_stacks *s, uint32_t node,
                            uint64_t out[PCT_N_VALUE_KINDS])
{
    const struct pct_below below = pct_tree_below(s->tree, node);
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++)
        out[k] = (uint64_t)value_of(s, &below, k);
}

uint64_t pct_stack_value(const struct pct_stacks *s, uint32_t node, enum pct_value_kind kind)
{
    return (uint64_t)own_value(s, node, kind);
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
            sum += own_value(s, i, k);
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
static uint32_t find_function(struct pct_stacks *s, struct pct_hash_index *known, size_t *room,
                              struct pct_stack_function f)
{
    uint64_t file = pc_hash_u64((uintptr_t)f.file);
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64((uintptr_t)f.name ^ file)};
    uint32_t i;
    while ((i = pct_hash_next(known, &search)) != PC_NO_INDEX)
        if (s->functions[i].name == f.name && s->functions[i].file == f.file)
            return i;
    s->functions = pct_grow(s->functions, s->n_functions, room, sizeof *s->functions);
    s->functions[s->n_functions] = f;
    pct_hash_add(known, search.hash, s->n_functions);
    return s->n_functions++;
}

/* A function with its number before they are sorted. */
struct sorted {
    struct pct_stack_function function;
    uint32_t before;
};

static int compare_functions(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    int order = strcmp(x->function.name, y->function.name);
    if (!order)
        order = strcmp(x->function.file ? x->function.file : "",
                       y->function.file ? y->function.file : "");
    return order ? order : x->before < y->before ? -1 : x->before > y->before;
}

/* Sorts the functions. Returns the new number of each; freed by the caller. */
static uint32_t *sort_functions(struct pct_stacks *s)
{
    struct sorted *list = pct_alloc(s->n_functions, sizeof *list);
    uint32_t *now = pct_alloc(s->n_functions, sizeof *now);
    for (uint32_t i = 0; i < s->n_functions; i++)
        list[i] = (struct sorted){s->functions[i], i};
    qsort(list, s->n_functions, sizeof *list, compare_functions);
    for (uint32_t i = 0; i < s->n_functions; i++) {
        s->functions[i] = list[i].function;
        now[list[i].before] = i;
    }
    pct_free(list);
    return now;
}

/* Most nodes of a large tree have few functions. */
static void list_functions(struct pct_stacks *s)
{
    struct pct_hash_index known = {0};
    struct pct_buf b = {0};
    size_t room = 0;
    s->function_of = pct_alloc(s->tree->n, sizeof *s->function_of);
    s->function_of[0] = PC_NO_INDEX;
    for (uint32_t i = 1; i < s->tree->n; i++)
        s->function_of[i] = find_function(s, &known, &room, describe(s, &s->tree->nodes[i], &b));
    pct_hash_free(&known);
    pct_buf_free(&b);
    uint32_t *now = sort_functions(s);
    for (uint32_t i = 1; i < s->tree->n; i++)
        s->function_of[i] = now[s->function_of[i]];
    pct_free(now);
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
