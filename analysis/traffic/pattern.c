/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pattern of a graph of ranks. Edges that carry less than a twentieth of the heaviest edge at
 * either end are noise. A pattern is accepted if its edges and the remaining ones agree: the
 * harmonic mean of the share of edges that are in the pattern and the share of the pattern that has
 * edges (F1 score) is at least 0.85. Of a small pattern no edge may be missing.
 * doc/internals/topology.md gives reasons for the numbers.
 */
#include "analysis/traffic/traffic.h"

#include <string.h>

enum { NOISE = 20, MIN_AGREEMENT = 85 /* percent */, EXACT = 16 /* edges */, MAX_ARITY = 16 };

/* The graph without noise; vertices are the ranks that have edges, numbered from 0. */
struct core {
    uint32_t n;
    uint32_t *rank;   /* by vertex */
    uint32_t *vertex; /* by rank; PC_NO_INDEX: takes no part */
    uint32_t *degree;
    struct pct_edge *edges;
    size_t n_edges;
    size_t n_one_way;  /* edges; in the other direction they carry nothing, or noise */
    uint32_t *n_apart; /* by difference of the ends: edges */
};

static void make_core(const struct pct_graph *g, struct core *c)
{
    uint64_t *most = pct_alloc(g->n, sizeof *most);
    *c = (struct core){.rank = pct_alloc(g->n, sizeof *c->rank),
                       .vertex = pct_alloc(g->n, sizeof *c->vertex),
                       .degree = pct_alloc(g->n, sizeof *c->degree),
                       .n_apart = pct_alloc(g->n, sizeof *c->n_apart),
                       .edges = pct_alloc(g->n_edges, sizeof *c->edges)};
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct pct_edge *e = &g->edges[i];
        most[e->a] = e->weight > most[e->a] ? e->weight : most[e->a];
        most[e->b] = e->weight > most[e->b] ? e->weight : most[e->b];
    }
    for (uint32_t r = 0; r < g->n; r++) {
        c->vertex[r] = most[r] ? c->n : PC_NO_INDEX;
        if (most[r])
            c->rank[c->n++] = r;
    }
    for (size_t i = 0; i < g->n_edges; i++) {
        struct pct_edge e = g->edges[i];
        uint64_t least = most[e.a] < most[e.b] ? most[e.a] : most[e.b];
        if (e.weight < least / NOISE)
            continue;
        e.a = c->vertex[e.a];
        e.b = c->vertex[e.b];
        c->degree[e.a]++;
        c->degree[e.b]++;
        c->n_apart[e.b - e.a]++;
        c->n_one_way += !e.lesser || e.lesser < least / (2 * NOISE);
        c->edges[c->n_edges++] = e;
    }
    pct_free(most);
}

static void free_core(struct core *c)
{
    pct_free(c->rank);
    pct_free(c->vertex);
    pct_free(c->degree);
    pct_free(c->n_apart);
    pct_free(c->edges);
}

/* In percent: 2 * common / (edges of the pattern + edges). */
static unsigned agreement_of(size_t n_edges, size_t common, pc_u128 n_pattern)
{
    pc_u128 both = n_pattern + n_edges;
    if (n_pattern < EXACT && common < n_pattern)
        return 0;
    return both ? (unsigned)(200 * (pc_u128)common / both) : 0;
}

static unsigned agreement(const struct core *c, size_t common, pc_u128 n_pattern)
{
    return agreement_of(c->n_edges, common, n_pattern);
}

/* ---- Grids: vertices in row-major order ----------------------------------------------------- */

/* Distance of two vertices in one dimension: 0, 1, 2 for the step around the edge, 3. */
static unsigned step(uint32_t a, uint32_t b, uint32_t extent)
{
    uint32_t d = a > b ? a - b : b - a;
    if (d <= 1)
        return d;
    return d == extent - 1 ? 2 : 3;
}

/* Number of dimensions in which two vertices are neighbours, if they are equal in all others; 0:
 * they are no neighbours. */
static unsigned steps_between(const struct pct_pattern *p, uint32_t a, uint32_t b)
{
    unsigned n_moved = 0;
    for (unsigned k = p->n_dims; k-- > 0;) {
        unsigned s = step(a % p->extents[k], b % p->extents[k], p->extents[k]);
        if (s == 3 || (s == 2 && !p->periodic[k]))
            return 0;
        n_moved += s != 0;
        a /= p->extents[k];
        b /= p->extents[k];
    }
    return n_moved;
}

static bool in_grid(const struct pct_pattern *p, uint32_t a, uint32_t b)
{
    unsigned n = steps_between(p, a, b);
    return n > 0 && n <= p->reach;
}

/* Number of pairs of vertices that are n_steps apart, each step in another dimension. It is the
 * coefficient of x^n_steps in the product over the dimensions of (pairs that stay + pairs that move
 * * x), which counts each pair from both ends. */
static pc_u128 count_shell(const struct pct_pattern *p, unsigned n_steps)
{
    pc_u128 pairs[PCT_PATTERN_DIMS + 1] = {1};
    for (unsigned k = 0; k < p->n_dims; k++) {
        uint32_t d = p->extents[k];
        uint32_t moving = p->periodic[k] && d > 2 ? 2 * d : 2 * (d - 1);
        for (unsigned i = k + 1; i > 0; i--)
            pairs[i] = pairs[i] * d + pairs[i - 1] * moving;
        pairs[0] *= d;
    }
    return pairs[n_steps] / 2;
}

static pc_u128 count_grid(const struct pct_pattern *p)
{
    pc_u128 sum = 0;
    for (unsigned n = 1; n <= p->reach; n++)
        sum += count_shell(p, n);
    return sum;
}

/* Finds periodic dimensions: those with half of the steps around their edge. */
static void find_periods(const struct core *c, struct pct_pattern *p)
{
    size_t around[PCT_PATTERN_DIMS] = {0};
    for (size_t i = 0; i < c->n_edges; i++) {
        uint32_t a = c->edges[i].a, b = c->edges[i].b;
        unsigned n_moved = 0, moved = 0, s_moved = 0;
        for (unsigned k = p->n_dims; k-- > 0;) {
            unsigned s = step(a % p->extents[k], b % p->extents[k], p->extents[k]);
            n_moved += s != 0;
            if (s) {
                moved = k;
                s_moved = s;
            }
            a /= p->extents[k];
            b /= p->extents[k];
        }
        if (n_moved == 1 && s_moved == 2)
            around[moved]++;
    }
    for (unsigned k = 0; k < p->n_dims; k++)
        p->periodic[k] = p->extents[k] > 2 && 2 * around[k] >= c->n / p->extents[k];
}

static unsigned judge_grid(const struct core *c, const struct pct_pattern *p)
{
    size_t common = 0;
    for (size_t i = 0; i < c->n_edges; i++)
        common += in_grid(p, c->edges[i].a, c->edges[i].b);
    return agreement(c, common, count_grid(p));
}

struct search {
    const struct core *core;
    struct pct_pattern best;
    unsigned best_percent;
};

static void judge_extents(struct search *s, const uint32_t *extents, unsigned n)
{
    struct pct_pattern p = {.kind = PCT_PATTERN_GRID, .n_dims = n};
    for (unsigned k = 0; k < n; k++) /* found fastest first; row-major: fastest last */
        p.extents[k] = extents[n - 1 - k];
    find_periods(s->core, &p);
    for (p.reach = 1; p.reach <= n; p.reach++) {
        unsigned percent = judge_grid(s->core, &p);
        bool simpler = percent == s->best_percent && n < s->best.n_dims;
        if (percent > s->best_percent || simpler) {
            s->best = p;
            s->best_percent = percent;
        }
    }
}

/* Searches grids. Neighbours in a dimension are `stride` apart; a dimension needs half of these
 * edges. */
static void search_grids(struct search *s, uint32_t *extents, unsigned n, uint32_t stride)
{
    const struct core *c = s->core;
    if (stride == c->n) {
        judge_extents(s, extents, n);
        return;
    }
    if (n == PCT_PATTERN_DIMS || stride >= c->n)
        return;
    for (uint32_t d = 2; d <= c->n / stride; d++) {
        if (c->n / stride % d || 2 * (uint64_t)c->n_apart[stride] < (uint64_t)(c->n / d) * (d - 1))
            continue;
        extents[n] = d;
        search_grids(s, extents, n + 1, stride * d);
    }
}

/* Finds light edges to diagonal neighbours. They carry an edge or a corner of a block, not a face,
 * and may look like noise. But noise has random partners and would contain hardly any such
 * pairs. */
static void find_light_neighbours(const struct pct_graph *g, const struct core *c,
                                  struct pct_pattern *p)
{
    size_t there[PCT_PATTERN_DIMS + 1] = {0};
    for (size_t i = 0; i < g->n_edges; i++)
        there[steps_between(p, c->vertex[g->edges[i].a], c->vertex[g->edges[i].b])]++;
    while (p->reach < p->n_dims &&
           100 * (pc_u128)there[p->reach + 1] >= MIN_AGREEMENT * count_shell(p, p->reach + 1))
        p->reach++;
}

static bool find_grid(const struct pct_graph *g, const struct core *c, struct pct_pattern *out)
{
    struct search s = {.core = c};
    uint32_t extents[PCT_PATTERN_DIMS];
    search_grids(&s, extents, 0, 1);
    if (s.best_percent < MIN_AGREEMENT)
        return false;
    *out = s.best;
    find_light_neighbours(g, c, out);
    if (out->n_dims == 1 && out->periodic[0])
        out->kind = PCT_PATTERN_RING;
    return true;
}

/* ---- Others --------------------------------------------------------------------------------- */

static uint32_t find_root(uint32_t *up, uint32_t v)
{
    while (up[v] != v)
        v = up[v] = up[up[v]];
    return v;
}

static bool is_connected(const struct core *c)
{
    uint32_t *up = pct_alloc(c->n, sizeof *up), parts = c->n;
    for (uint32_t v = 0; v < c->n; v++)
        up[v] = v;
    for (size_t i = 0; i < c->n_edges; i++) {
        uint32_t a = find_root(up, c->edges[i].a), b = find_root(up, c->edges[i].b);
        parts -= a != b;
        up[a] = b;
    }
    pct_free(up);
    return parts == 1;
}

static bool find_master(const struct core *c, struct pct_pattern *out)
{
    uint32_t centre = 0;
    for (uint32_t v = 0; v < c->n; v++)
        if (c->degree[v] > c->degree[centre])
            centre = v;
    if (c->n < 4 || agreement(c, c->degree[centre], c->n - 1) < MIN_AGREEMENT)
        return false;
    out->kind = PCT_PATTERN_MASTER;
    out->master = c->rank[centre];
    return true;
}

/* Tells all-to-all, which has both directions of each pair, from its pairs. */
static bool find_all(const struct core *c, struct pct_pattern *out)
{
    pc_u128 n_pairs = (pc_u128)c->n * (c->n - 1) / 2;
    if (c->n < 4 || agreement(c, c->n_edges, n_pairs) < MIN_AGREEMENT)
        return false;
    size_t n_ways = 2 * c->n_edges - c->n_one_way;
    bool both_ways = agreement_of(n_ways, n_ways, 2 * n_pairs) >= MIN_AGREEMENT;
    out->kind = both_ways ? PCT_PATTERN_ALL : PCT_PATTERN_ALL_PAIRS;
    out->n_pairs = c->n_edges;
    out->n_one_way = c->n_one_way;
    return true;
}

static bool find_pairs(const struct core *c, struct pct_pattern *out)
{
    for (uint32_t v = 0; v < c->n; v++)
        if (c->degree[v] != 1)
            return false;
    out->kind = PCT_PATTERN_PAIR;
    return true;
}

static bool find_other_ring(const struct core *c, struct pct_pattern *out)
{
    for (uint32_t v = 0; v < c->n; v++)
        if (c->degree[v] != 2)
            return false;
    if (!is_connected(c))
        return false;
    out->kind = PCT_PATTERN_RING;
    out->n_dims = 1;
    out->extents[0] = c->n;
    out->periodic[0] = out->reordered = true;
    return true;
}

/* The parent of vertex b > 0; arity 1 stands for the binomial tree. */
static uint32_t parent_in_tree(uint32_t b, uint32_t arity)
{
    return arity == 1 ? b & (b - 1) : (b - 1) / arity;
}

static bool find_tree(const struct core *c, struct pct_pattern *out)
{
    for (uint32_t arity = 1; arity <= MAX_ARITY && c->n > 3; arity++) {
        size_t common = 0;
        for (size_t i = 0; i < c->n_edges; i++)
            common += parent_in_tree(c->edges[i].b, arity) == c->edges[i].a;
        if (agreement(c, common, c->n - 1) >= MIN_AGREEMENT) {
            out->kind = PCT_PATTERN_TREE;
            out->arity = arity;
            return true;
        }
    }
    if (c->n_edges != c->n - 1 || !is_connected(c))
        return false;
    out->kind = PCT_PATTERN_TREE;
    return true;
}

/* True if the pattern tells of any two vertices if they are neighbours. Otherwise its edges are
 * those without noise. */
static bool tells_neighbours(const struct pct_pattern *p)
{
    return p->kind == PCT_PATTERN_GRID || p->kind == PCT_PATTERN_ALL ||
           p->kind == PCT_PATTERN_ALL_PAIRS || p->kind == PCT_PATTERN_MASTER ||
           (p->kind == PCT_PATTERN_RING && !p->reordered) ||
           (p->kind == PCT_PATTERN_TREE && p->arity);
}

/* True if the pattern has an edge between these vertices, a < b. */
static bool in_pattern(const struct core *c, const struct pct_pattern *p, uint32_t a, uint32_t b)
{
    switch (p->kind) {
    case PCT_PATTERN_GRID:
    case PCT_PATTERN_RING:
        return in_grid(p, a, b);
    case PCT_PATTERN_MASTER:
        return c->rank[a] == p->master || c->rank[b] == p->master;
    case PCT_PATTERN_TREE:
        return parent_in_tree(b, p->arity) == a;
    default:
        return true;
    }
}

/* Share of the weight on edges of the pattern: light ones, too, where it tells which they are. */
static pc_u128 explain(const struct pct_graph *g, const struct core *c, const struct pct_pattern *p)
{
    pc_u128 all = 0, in = 0;
    bool told = tells_neighbours(p);
    for (size_t i = 0; i < g->n_edges; i++) {
        const struct pct_edge *e = &g->edges[i];
        all += e->weight;
        if (told && in_pattern(c, p, c->vertex[e->a], c->vertex[e->b]))
            in += e->weight;
    }
    for (size_t i = 0; i < c->n_edges && !told; i++)
        in += c->edges[i].weight;
    return pct_text_share(in, all);
}

void pct_pattern_find(const struct pct_graph *g, struct pct_pattern *out)
{
    struct core c;
    make_core(g, &c);
    *out = (struct pct_pattern){.kind = PCT_PATTERN_IRREGULAR};
    out->are_uncounted = g->are_uncounted;
    if (g->has_gaps || g->are_uncounted)
        out->kind = PCT_PATTERN_UNKNOWN;
    else if (!c.n_edges)
        out->kind = PCT_PATTERN_NONE;
    else if (!find_pairs(&c, out) && !find_all(&c, out) && !find_master(&c, out) &&
             !find_grid(g, &c, out) && !find_other_ring(&c, out))
        find_tree(&c, out);
    out->n_active = c.n;
    out->explained = g->has_gaps ? 0 : explain(g, &c, out);
    free_core(&c);
}

/* ---- Text ----------------------------------------------------------------------------------- */

const char *pct_pattern_name(enum pct_pattern_kind kind)
{
    static const char *const names[] = {
        [PCT_PATTERN_NONE] = "none",       [PCT_PATTERN_PAIR] = "pair",
        [PCT_PATTERN_RING] = "ring",       [PCT_PATTERN_GRID] = "grid",
        [PCT_PATTERN_ALL] = "all-to-all",  [PCT_PATTERN_MASTER] = "master-worker",
        [PCT_PATTERN_TREE] = "tree",       [PCT_PATTERN_IRREGULAR] = "irregular",
        [PCT_PATTERN_UNKNOWN] = "unknown", [PCT_PATTERN_ALL_PAIRS] = "all-pairs",
    };
    return names[kind];
}

bool pct_pattern_knows_period(const struct pct_pattern *p, unsigned dimension)
{
    return p->extents[dimension] > 2;
}

/* "periodic in the first and third dimension" */
static void put_periods(const struct pct_pattern *p, struct pct_buf *b)
{
    static const char *const ordinals[] = {"first", "second", "third", "fourth"};
    unsigned n_known = 0, n_periodic = 0;
    for (unsigned k = 0; k < p->n_dims; k++) {
        n_known += pct_pattern_knows_period(p, k);
        n_periodic += p->periodic[k];
    }
    if (!n_known)
        return;
    pct_buf_text(b, n_periodic ? ", periodic" : ", not periodic");
    if ((n_periodic ? n_periodic : n_known) == p->n_dims)
        return;
    const char *comma = " in the ";
    for (unsigned k = 0; k < p->n_dims; k++) {
        if (n_periodic ? !p->periodic[k] : !pct_pattern_knows_period(p, k))
            continue;
        pct_buf_format(b, "%s%s", comma, ordinals[k]);
        comma = " and ";
    }
    pct_buf_text(b, " dimension");
}

static void put_grid(const struct pct_pattern *p, struct pct_buf *b)
{
    char extent[PCT_NUMBER_BYTES];
    if (p->n_dims == 1) {
        pct_buf_format(b, "line of %s", pct_text_count(extent, p->extents[0]));
    } else {
        pct_buf_format(b, "%u-dimensional grid, ", p->n_dims);
        for (unsigned k = 0; k < p->n_dims; k++)
            pct_buf_format(b, "%s%s", k ? " x " : "", pct_text_count(extent, p->extents[k]));
        put_periods(p, b);
    }
    if (p->reach > 1)
        pct_buf_format(b, ", with diagonal neighbours%s",
                       p->reach < p->n_dims ? " but for the corners" : "");
}

void pct_pattern_text(const struct pct_pattern *p, struct pct_buf *b)
{
    char n[PCT_NUMBER_BYTES];
    switch (p->kind) {
    case PCT_PATTERN_GRID:
        put_grid(p, b);
        break;
    case PCT_PATTERN_RING:
        pct_buf_format(b, "ring of %s%s", pct_text_count(n, p->extents[0]),
                       p->reordered ? ", not in the order of the ranks" : "");
        break;
    case PCT_PATTERN_MASTER:
        pct_buf_format(b, "master-worker, rank %u is the master", p->master);
        break;
    case PCT_PATTERN_TREE:
        pct_buf_text(b, "tree");
        if (p->arity == 1)
            pct_buf_text(b, ", binomial");
        else if (p->arity)
            pct_buf_format(b, ", each with %s children", pct_text_count(n, p->arity));
        break;
    case PCT_PATTERN_PAIR:
        if (p->n_active == 2)
            pct_buf_text(b, "pair");
        else
            pct_buf_format(b, "%s pairs", pct_text_count(n, p->n_active / 2));
        break;
    case PCT_PATTERN_ALL_PAIRS:
        pct_buf_format(b, "all pairs of ranks, %s", pct_text_count(n, p->n_one_way));
        pct_buf_format(b, " of %s in one direction only", pct_text_count(n, p->n_pairs));
        break;
    case PCT_PATTERN_NONE:
        pct_buf_text(b, "no messages between ranks");
        break;
    case PCT_PATTERN_UNKNOWN:
        pct_buf_text(b, p->are_uncounted
                            ? "not known: messages on communicators made from sessions "
                              "are not counted by pair"
                            : "not known, because ranks are missing");
        break;
    default:
        pct_buf_text(b, pct_pattern_name(p->kind));
    }
}

void pct_topology_pattern(const struct pct_topology *t, struct pct_buf *b)
{
    struct pct_pattern pattern;
    struct pct_graph graph;
    pct_graph_make(t, &graph);
    pct_pattern_find(&graph, &pattern);
    pct_pattern_text(&pattern, b);
    pct_graph_free(&graph);
}
