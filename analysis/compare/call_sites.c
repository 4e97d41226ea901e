/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers call sites, and joins those that cannot be distinguished: see call_sites.h.
 */
#include "analysis/compare/call_sites.h"
#include "analysis/compare/join_private.h"
#include "analysis/hash_index.h"

#include <stdlib.h>
#include <string.h>

/* ---- Numbers --------------------------------------------------------------------------------- */

/* A call: the node of the caller's caller, so that all lines of the caller are together, then the
 * names of both, as addresses of interned texts. */
struct call {
    uint32_t above;
    const char *caller, *callee;
    uint64_t line; /* of a caller without a name the offset */
    uint32_t node;
};

static int compare_texts(const char *a, const char *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int compare_functions(const struct call *x, const struct call *y)
{
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    int order = compare_texts(x->caller, y->caller);
    return order ? order : compare_texts(x->callee, y->callee);
}

static int compare_calls(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    int order = compare_functions(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Numbers the calls [first, end) of one function to another. */
static void number_calls(const struct call *calls, size_t first, size_t end,
                         struct pct_call_site *sites)
{
    uint32_t n = 0;
    for (size_t i = first; i < end; i++) {
        n += i == first || calls[i].line != calls[i - 1].line;
        sites[calls[i].node].number = n;
    }
    for (size_t i = first; i < end; i++)
        sites[calls[i].node] = n > 1 ? (struct pct_call_site){sites[calls[i].node].number, n}
                                     : (struct pct_call_site){0, 1};
}

static uint64_t place_in(const struct pct_tree *t, const struct pct_node *caller)
{
    return caller->frame->function ? caller->frame->line
                                   : pct_node_offset(t->totals->profile, caller);
}

struct pct_call_site *pct_call_sites(const struct pct_tree *t, const char *const *labels)
{
    struct pct_call_site *sites = pct_alloc(t->n, sizeof *sites);
    struct call *calls = pct_alloc(t->n, sizeof *calls);
    size_t n = 0;
    for (uint32_t i = 1; i < t->n; i++) {
        uint32_t caller = t->nodes[i].parent;
        sites[i].n = 1;
        if (caller && t->nodes[caller].kind == PCOLLECT_NODE_FRAME)
            calls[n++] = (struct call){t->nodes[caller].parent, labels[caller], labels[i],
                                       place_in(t, &t->nodes[caller]), i};
    }
    qsort(calls, n, sizeof *calls, compare_calls);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && !compare_functions(&calls[first], &calls[end]); end++)
            ;
        number_calls(calls, first, end, sites);
    }
    pct_free(calls);
    return sites;
}

/* ---- One of several -------------------------------------------------------------------------- */

static void add_costs(struct pct_join *j, uint32_t to, uint32_t from)
{
    for (size_t k = 0; k < j->n_runs; k++) {
        uint32_t of = j->cost_of[(size_t)from * j->n_runs + k];
        if (of == PCT_COST_NOTHING)
            pct_join_set_present(j, to, k);
        if (of < PCT_N_SHARED_COSTS)
            continue;
        struct pct_cost *sum = pct_join_own_cost(j, to, k), *c = &j->costs[of];
        sum->ns += c->ns;
        sum->waits_ns += c->waits_ns;
        sum->open_ns += c->open_ns;
        sum->delayed_ns += c->delayed_ns;
        sum->samples += c->samples;
        sum->variance += c->variance;
        for (uint32_t r = 0; c->rank_ns && sum->rank_ns && r < j->n_ranks; r++)
            sum->rank_ns[r] += c->rank_ns[r];
        if (sum->rank_ns)
            pct_free(c->rank_ns);
        else
            sum->rank_ns = c->rank_ns;
        c->rank_ns = NULL;
        sum->calls += c->calls;
        sum->bytes += c->bytes;
        sum->caller = pct_join_callers(sum->caller, c->caller);
    }
}

static void add_node(struct pct_join_node *to, const struct pct_join_node *from)
{
    to->uncertain |= from->uncertain || to->site.n != from->site.n;
    to->call_line = 0; /* several lines */
    to->inlined |= from->inlined;
    if (to->line != from->line)
        to->line = 0;
    if (!to->function) {
        to->function = from->function;
        to->file = from->file;
        to->line = from->line;
    }
}

static void put_below(struct pct_join *j, uint32_t parent, uint32_t node)
{
    j->nodes[node].parent = parent;
    j->nodes[node].next = j->nodes[parent].first_child;
    j->nodes[parent].first_child = node;
}

static bool is_same_call(const struct pct_join_node *a, const struct pct_join_node *b)
{
    return a->kind == b->kind && a->label == b->label;
}

/* Nodes whose children are still to be joined with those of others. No recursion: a damaged profile
 * may be deeper than the stack. */
struct pair {
    uint32_t to, from;
};

struct pairs {
    struct pair *list;
    size_t n, room;
};

static void begin_pair(struct pct_join *j, struct pairs *p, uint32_t to, uint32_t from)
{
    add_costs(j, to, from);
    add_node(&j->nodes[to], &j->nodes[from]);
    p->list = pct_grow(p->list, p->n, &p->room, sizeof *p->list);
    p->list[p->n++] = (struct pair){to, from};
}

static void unite_pair(struct pct_join *j, struct pairs *p, struct pair pair)
{
    for (uint32_t c = j->nodes[pair.from].first_child, next; c != PC_NO_INDEX; c = next) {
        uint32_t same = j->nodes[pair.to].first_child;
        next = j->nodes[c].next;
        while (same != PC_NO_INDEX && !(is_same_call(&j->nodes[same], &j->nodes[c]) &&
                                        j->nodes[same].site.number == j->nodes[c].site.number))
            same = j->nodes[same].next;
        if (same != PC_NO_INDEX)
            begin_pair(j, p, same, c);
        else
            put_below(j, pair.to, c);
    }
}

/* Adds a node, which no list of children has any more, with its subtree to another. */
static void unite(struct pct_join *j, uint32_t to, uint32_t from)
{
    struct pairs pairs = {0};
    begin_pair(j, &pairs, to, from);
    j->nodes[to].site = (struct pct_call_site){0, 1};
    j->nodes[to].uncertain = false;
    while (pairs.n)
        unite_pair(j, &pairs, pairs.list[--pairs.n]);
    pct_free(pairs.list);
}

/* Siblings that are the same call from several lines. */
struct group {
    uint32_t first;
    bool uncertain; /* some run has another number of these calls */
};

struct groups {
    struct group *list;
    size_t n, room;
    struct pct_hash_index by_call;
};

/* The group of a node, which begins one if it has none. */
static struct group *group_of(struct groups *g, const struct pct_join *j, uint32_t node)
{
    const struct pct_join_node *n = &j->nodes[node];
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_u64((uintptr_t)n->label ^ n->kind)};
    uint32_t i;
    while ((i = pct_hash_next(&g->by_call, &search)) != PC_NO_INDEX)
        if (is_same_call(&j->nodes[g->list[i].first], n))
            return &g->list[i];
    g->list = pct_grow(g->list, g->n, &g->room, sizeof *g->list);
    g->list[g->n] = (struct group){node, false};
    pct_hash_add(&g->by_call, search.hash, (uint32_t)g->n);
    return &g->list[g->n++];
}

/* Joins the uncertain calls among the children of a node; true if there were any. */
static bool unite_children(struct pct_join *j, uint32_t node)
{
    struct pct_join_node *nodes = j->nodes;
    struct groups groups = {0};
    bool any = false;
    for (uint32_t c = nodes[node].first_child; c != PC_NO_INDEX; c = nodes[c].next) {
        struct group *of = group_of(&groups, j, c);
        of->uncertain |= nodes[c].uncertain || nodes[c].site.n != nodes[of->first].site.n;
        any |= of->uncertain;
    }
    for (uint32_t *at = &nodes[node].first_child, c; any && (c = *at) != PC_NO_INDEX;) {
        const struct group *of = group_of(&groups, j, c);
        if (of->uncertain && of->first != c) {
            *at = nodes[c].next;
            unite(j, of->first, c);
        } else
            at = &nodes[c].next;
    }
    pct_free(groups.list);
    pct_hash_free(&groups.by_call);
    return any;
}

/* Joins uncertain calls, from the root on; true if there were any. */
static bool unite_all(struct pct_join *j)
{
    uint32_t *list = pct_alloc(j->n, sizeof *list);
    size_t n = 1;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        any |= j->nodes[list[i]].first_child != PC_NO_INDEX && unite_children(j, list[i]);
        for (uint32_t c = j->nodes[list[i]].first_child; c != PC_NO_INDEX; c = j->nodes[c].next)
            list[n++] = c;
    }
    pct_free(list);
    return any;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Renumbers the nodes that are still in the tree, parents before their children, children in the
 * order in which they were found. */
static void renumber(struct pct_join *j)
{
    struct pct_join_node *nodes = pct_alloc(j->n, sizeof *nodes);
    uint32_t *cost_of = pct_alloc(j->n * j->n_runs, sizeof *cost_of);
    uint32_t *number = pct_alloc(j->n, sizeof *number), *list = pct_alloc(j->n, sizeof *list);
    size_t n = 1;
    for (size_t i = 0; i < n; i++) {
        size_t first = n;
        for (uint32_t c = j->nodes[list[i]].first_child; c != PC_NO_INDEX; c = j->nodes[c].next)
            list[n++] = c;
        qsort(list + first, n - first, sizeof *list, compare_numbers);
    }
    for (uint32_t i = 0; i < n; i++)
        number[list[i]] = i;
    for (size_t i = 0; i < n; i++) {
        struct pct_join_node *to = &nodes[i];
        *to = j->nodes[list[i]];
        to->parent = i ? number[to->parent] : PC_NO_INDEX;
        to->first_child = to->first_child == PC_NO_INDEX ? PC_NO_INDEX : number[to->first_child];
        to->next = to->next == PC_NO_INDEX ? PC_NO_INDEX : number[to->next];
        memcpy(&cost_of[i * j->n_runs], &j->cost_of[(size_t)list[i] * j->n_runs],
               j->n_runs * sizeof *cost_of);
    }
    j->compute = number[j->compute];
    j->waiting = j->waiting == PC_NO_INDEX ? PC_NO_INDEX : number[j->waiting];
    j->absent = j->absent == PC_NO_INDEX ? PC_NO_INDEX : number[j->absent];
    pct_free(j->nodes);
    pct_free(j->cost_of);
    pct_free(number);
    pct_free(list);
    j->nodes = nodes;
    j->cost_of = cost_of;
    j->n = j->room = n;
}

void pct_join_unite_sites(struct pct_join *j)
{
    if (unite_all(j))
        renumber(j);
}
