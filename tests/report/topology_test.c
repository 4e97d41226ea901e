/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Patterns of generated graphs are found, with and without additional random messages; placements
 * keep the sizes of nodes, are never worse, and on eight ranks as good as the best of all
 * placements.
 */
#include "analysis/traffic/traffic.h"
#include "tests/random.h"
#include "tests/seed.h"
#include "view/topology_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WEIGHT = 10000, NOISE_WEIGHT = 150, NOISE_EDGES = 3, MAX_RANKS = 128 };

static uint64_t seed;

/* The graph as a full matrix, from which the list is made. */
struct made {
    uint32_t n;
    uint64_t weight[MAX_RANKS][MAX_RANKS];
};

static void add(struct made *m, uint32_t a, uint32_t b, uint64_t weight)
{
    if (a != b)
        m->weight[a < b ? a : b][a < b ? b : a] += weight;
}

static struct pct_graph list(const struct made *m)
{
    struct pct_graph g = {.n = m->n, .edges = calloc((size_t)m->n * m->n, sizeof *g.edges)};
    for (uint32_t a = 0; a < m->n; a++)
        for (uint32_t b = a + 1; b < m->n; b++)
            if (m->weight[a][b])
                g.edges[g.n_edges++] =
                    (struct pct_edge){a, b, m->weight[a][b], m->weight[a][b] / 2};
    return g;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

struct shape {
    const char *text; /* expected description */
    void (*make)(struct made *m, const struct shape *s);
    uint32_t extents[4]; /* the slowest dimension first; 0: end of the list */
    bool periodic[4];
    /* 0: no diagonal neighbours; else a message to one has WEIGHT, divided by this for each
     * dimension beyond the first in which it moves. */
    uint32_t corners;
};

static void make_grid(struct made *m, const struct shape *s)
{
    unsigned n_dims = 0;
    m->n = 1;
    while (n_dims < 4 && s->extents[n_dims])
        m->n *= s->extents[n_dims++];
    for (uint32_t a = 0; a < m->n; a++) {
        for (int code = 0; code < 81; code++) { /* a step -1, 0, 1 in each dimension */
            uint32_t b = 0, rest = a, at[4], moved = 0;
            bool inside = true;
            for (unsigned k = n_dims; k-- > 0; rest /= s->extents[k])
                at[k] = rest % s->extents[k];
            int steps = code;
            for (unsigned k = 0; k < 4; k++, steps /= 3) {
                int d = steps % 3 - 1;
                moved += d != 0;
                if (k >= n_dims) {
                    inside &= d == 0;
                    continue;
                }
                int to = (int)at[k] + d, extent = (int)s->extents[k];
                inside &= s->periodic[k] || (to >= 0 && to < extent);
                b = b * s->extents[k] + (uint32_t)((to + extent) % extent);
            }
            uint64_t weight = WEIGHT;
            for (uint32_t i = 1; i < moved && s->corners; i++)
                weight /= s->corners;
            if (inside && (s->corners ? moved > 0 : moved == 1))
                add(m, a, b, weight);
        }
    }
}

/* extents: ranks, distance of the partners. */
static void make_pairs(struct made *m, const struct shape *s)
{
    m->n = s->extents[0];
    for (uint32_t a = 0; a < m->n; a++)
        if (a / s->extents[1] % 2 == 0)
            add(m, a, a + s->extents[1], WEIGHT);
}

static void make_star(struct made *m, const struct shape *s)
{
    m->n = s->extents[0];
    for (uint32_t r = 0; r < m->n; r++)
        add(m, 3, r, WEIGHT);
}

static void make_all(struct made *m, const struct shape *s)
{
    m->n = s->extents[0];
    for (uint32_t a = 0; a < m->n; a++)
        for (uint32_t b = 0; b < a; b++)
            add(m, a, b, WEIGHT);
}

static void make_tree(struct made *m, const struct shape *s)
{
    m->n = s->extents[0];
    for (uint32_t b = 1; b < m->n; b++)
        add(m, b, s->extents[1] == 1 ? b & (b - 1) : (b - 1) / s->extents[1], WEIGHT);
}

static void make_twisted_ring(struct made *m, const struct shape *s)
{
    m->n = s->extents[0]; /* not a multiple of 7, so that the ring has all ranks */
    for (uint32_t a = 0; a < m->n; a++)
        add(m, a * 7 % m->n, (a + 1) * 7 % m->n, WEIGHT);
}

static void make_random(struct made *m, const struct shape *s)
{
    m->n = s->extents[0];
    for (uint32_t i = 0; i < 4 * m->n; i++)
        add(m, random_below(&seed, m->n), random_below(&seed, m->n),
            WEIGHT + random_below(&seed, WEIGHT));
}

static const struct shape shapes[] = {
    {"ring of 12", make_grid, {12}, {true}, false},
    {"ring of 127", make_grid, {127}, {true}, false},
    {"line of 9", make_grid, {9}, {false}, false},
    {"pair", make_pairs, {2, 1}, {false}, false},
    {"2 pairs", make_pairs, {4, 1}, {false}, false},
    {"8 pairs", make_pairs, {16, 8}, {false}, false},
    {"ring of 4", make_grid, {4}, {true}, false},
    {"2-dimensional grid, 4 x 3, not periodic", make_grid, {4, 3}, {false}, false},
    {"2-dimensional grid, 3 x 4, periodic in the first dimension",
     make_grid,
     {3, 4},
     {true},
     false},
    {"2-dimensional grid, 5 x 6, periodic", make_grid, {5, 6}, {true, true}, false},
    {"2-dimensional grid, 8 x 16, periodic in the second dimension",
     make_grid,
     {8, 16},
     {false, true},
     false},
    {"3-dimensional grid, 2 x 2 x 2", make_grid, {2, 2, 2}, {false}, false},
    {"2-dimensional grid, 2 x 8, not periodic in the second dimension",
     make_grid,
     {2, 8},
     {false},
     false},
    {"3-dimensional grid, 3 x 4 x 5, not periodic", make_grid, {3, 4, 5}, {false}, false},
    {"3-dimensional grid, 4 x 4 x 4, periodic", make_grid, {4, 4, 4}, {true, true, true}, false},
    {"3-dimensional grid, 2 x 3 x 4, periodic in the second and third dimension",
     make_grid,
     {2, 3, 4},
     {false, true, true},
     false},
    {"4-dimensional grid, 3 x 3 x 3 x 3, not periodic", make_grid, {3, 3, 3, 3}, {false}, false},
    {"2-dimensional grid, 6 x 7, not periodic, with diagonal neighbours",
     make_grid,
     {6, 7},
     {false},
     true},
    {"3-dimensional grid, 4 x 5 x 6, periodic, with diagonal neighbours",
     make_grid,
     {4, 5, 6},
     {true, true, true},
     true},
    /* Blocks of 16, 64 and 12 points a side: edges and corners have little weight compared with
     * faces. */
    {"3-dimensional grid, 4 x 4 x 4, not periodic, with diagonal neighbours",
     make_grid,
     {4, 4, 4},
     {false},
     16},
    {"3-dimensional grid, 5 x 5 x 5, periodic, with diagonal neighbours",
     make_grid,
     {5, 5, 5},
     {true, true, true},
     64},
    {"3-dimensional grid, 4 x 4 x 5, periodic in the first and third dimension, with diagonal "
     "neighbours",
     make_grid,
     {4, 4, 5},
     {true, false, true},
     12},
    {"2-dimensional grid, 8 x 8, not periodic, with diagonal neighbours",
     make_grid,
     {8, 8},
     {false},
     100},
    {"2-dimensional grid, 9 x 8, periodic, with diagonal neighbours",
     make_grid,
     {9, 8},
     {true, true},
     30},
    {"master-worker, rank 3 is the master", make_star, {17}, {false}, false},
    {"all-to-all", make_all, {16}, {false}, false},
    {"tree, binomial", make_tree, {32, 1}, {false}, false},
    {"tree, each with 2 children", make_tree, {31, 2}, {false}, false},
    {"tree, each with 5 children", make_tree, {64, 5}, {false}, false},
    {"ring of 30, not in the order of the ranks", make_twisted_ring, {30}, {false}, false},
    {"irregular", make_random, {64}, {false}, false},
};

static void check_shape(const struct shape *s, bool noise)
{
    static struct made m;
    memset(&m, 0, sizeof m);
    s->make(&m, s);
    for (uint32_t i = 0; noise && i < NOISE_EDGES * m.n; i++)
        add(&m, random_below(&seed, m.n), random_below(&seed, m.n),
            1 + random_below(&seed, NOISE_WEIGHT));
    struct pct_graph g = list(&m);
    struct pct_pattern p;
    struct pct_buf text = {0};
    pct_pattern_find(&g, &p);
    pct_pattern_text(&p, &text);
    assert_string_equal(text.data, s->text);
    assert_true(p.explained > 90000 && p.explained <= 100000);
    assert_true(noise || p.explained == 100000);
    assert_int_equal(p.n_active, m.n);
    pct_buf_free(&text);
    pct_graph_free(&g);
}

static void patterns_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(shapes); i++)
        check_shape(&shapes[i], false);
}

static void noise_hides_no_pattern(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(shapes); i++)
        for (int round = 0; round < 5; round++)
            check_shape(&shapes[i], true);
}

/* Edges of the pattern that carry as little as noise are along it, and others are not. */
static void light_edges_are_of_the_pattern_where_it_has_them(void **state)
{
    static const struct shape all = {NULL, make_all, {16}, {false}, false},
                              star = {NULL, make_star, {17}, {false}, false},
                              ring = {NULL, make_grid, {30}, {true}, false};
    static const struct {
        const struct shape *shape;
        uint32_t a, b;
        bool along;
    } cases[] = {
        {&all, 5, 9, true}, {&ring, 5, 6, true}, {&star, 5, 9, false}, {&ring, 5, 9, false}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        static struct made m;
        memset(&m, 0, sizeof m);
        cases[i].shape->make(&m, cases[i].shape);
        m.weight[cases[i].a][cases[i].b] = WEIGHT / 100;
        struct pct_graph g = list(&m);
        struct pct_pattern p;
        pct_pattern_find(&g, &p);
        if ((p.explained == 100000) != cases[i].along)
            fail_msg("case %zu: %u", i, (unsigned)p.explained);
        pct_graph_free(&g);
    }
}

/* The weights of a halo of 26 between ranks drawn at random; then faces between neighbours, but
 * edges and corners between ranks drawn at random. */
static void random_twins_of_halos_are_not_named_so(void **state)
{
    static const struct shape halo = {NULL, make_grid, {4, 5, 5}, {true, true, true}, 16};
    static const struct shape faces = {NULL, make_grid, {4, 5, 5}, {true, true, true}, 0};
    static struct made real, twin;
    (void)state;
    memset(&real, 0, sizeof real);
    make_grid(&real, &halo);
    for (int round = 0; round < 20; round++) {
        bool only_light = round % 2;
        memset(&twin, 0, sizeof twin);
        twin.n = real.n;
        if (only_light)
            make_grid(&twin, &faces);
        for (uint32_t a = 0; a < real.n; a++)
            for (uint32_t b = a + 1; b < real.n; b++)
                if (real.weight[a][b] && (!only_light || real.weight[a][b] < WEIGHT))
                    add(&twin, random_below(&seed, twin.n), random_below(&seed, twin.n),
                        real.weight[a][b] / (only_light ? 2 : 1));
        struct pct_graph g = list(&twin);
        struct pct_pattern p;
        pct_pattern_find(&g, &p);
        assert_int_equal(p.kind, only_light ? PCT_PATTERN_GRID : PCT_PATTERN_IRREGULAR);
        assert_true(!only_light || p.reach == 1);
        pct_graph_free(&g);
    }
}

static void few_ranks_among_many(void **state)
{
    static struct made m;
    struct pct_pattern p;
    (void)state;
    memset(&m, 0, sizeof m);
    m.n = 40;
    struct pct_graph g = list(&m);
    pct_pattern_find(&g, &p);
    assert_int_equal(p.kind, PCT_PATTERN_NONE);
    pct_graph_free(&g);
    for (uint32_t k = 0; k < 10; k++)
        add(&m, 4 * k, 4 * ((k + 1) % 10), WEIGHT);
    g = list(&m);
    pct_pattern_find(&g, &p);
    assert_int_equal(p.kind, PCT_PATTERN_RING);
    assert_int_equal(p.n_active, 10);
    pct_graph_free(&g);
}

/* ---- Placement ------------------------------------------------------------------------------- */

static uint64_t between(const struct pct_graph *g, const uint32_t *node)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < g->n_edges; i++)
        if (node[g->edges[i].a] != node[g->edges[i].b])
            sum += g->edges[i].weight;
    return sum;
}

/* Best of all ways to put 8 ranks on two nodes of 4. */
static uint64_t best_of_all(const struct pct_graph *g)
{
    uint64_t best = UINT64_MAX;
    for (unsigned set = 0; set < 256; set++) {
        uint32_t node[8];
        for (unsigned r = 0; r < 8; r++)
            node[r] = set >> r & 1;
        if (__builtin_popcount(set) == 4 && between(g, node) < best)
            best = between(g, node);
    }
    return best;
}

static void placement_of_eight_is_the_best(void **state)
{
    static const uint32_t node_of[8] = {0, 1, 0, 1, 0, 1, 0, 1};
    static struct made m;
    unsigned n_best = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        memset(&m, 0, sizeof m);
        m.n = 8;
        for (int i = 0; i < 14; i++)
            add(&m, random_below(&seed, 8), random_below(&seed, 8), 1 + random_below(&seed, 100));
        struct pct_graph g = list(&m);
        struct pct_placement p;
        pct_placement_find(&g, node_of, 2, &p);
        assert_true(p.before == between(&g, node_of));
        assert_true(p.after == between(&g, p.node) && p.after <= p.before);
        n_best += p.after == best_of_all(&g);
        pct_placement_free(&p);
        pct_graph_free(&g);
    }
    assert_true(n_best >= 190); /* a heuristic: of 200, all but a few */
}

static void placement_keeps_the_sizes_of_nodes(void **state)
{
    static struct made m;
    uint32_t node_of[64], had[5] = {0}, has[5] = {0};
    (void)state;
    memset(&m, 0, sizeof m);
    make_grid(&m, &(struct shape){.extents = {8, 8}});
    for (uint32_t r = 0; r < 64; r++)
        had[node_of[r] = r * 7 % 64 < 20 ? 4 : r % 4]++;
    struct pct_graph g = list(&m);
    struct pct_placement p;
    pct_placement_find(&g, node_of, 5, &p);
    for (uint32_t r = 0; r < 64; r++)
        has[p.node[r]]++;
    assert_memory_equal(had, has, sizeof had);
    assert_true(p.after == between(&g, p.node) && 2 * p.after < p.before);
    pct_placement_free(&p);
    pct_graph_free(&g);
}

/* Four nodes of two sockets of 8 ranks; each rank talks to the one 8 further on its node. */
static void sockets_get_as_many_ranks_each(void **state)
{
    static struct made m;
    const struct pct_topology t = {.n_ranks = 64};
    uint32_t has[8] = {0}, in_order[64];
    (void)state;
    memset(&m, 0, sizeof m);
    for (uint32_t r = 0; r < 64; r++)
        add(&m, r, r / 16 * 16 + (r + 8) % 16, 100);
    m.n = 64;
    struct pct_graph g = list(&m);
    struct pct_slots *s = pct_slots_new(&t, 4, 2);
    struct pct_placement p;
    assert_int_equal(s->n_sockets, 8);
    assert_true(s->has_choice);
    pct_slots_place(&g, s, &p);
    for (uint32_t r = 0; r < 64; r++) {
        has[p.socket[r]]++;
        assert_int_equal(p.socket[r] / 2, p.node[r]);
        in_order[r] = r / 8;
    }
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(has[i], 8);
    assert_true(p.before == 0 && p.after == 0 && between(&g, p.node) == 0);
    assert_true(p.sockets_before == 6400 && between(&g, in_order) == 6400);
    assert_true(p.sockets_after == 0 && between(&g, p.socket) == 0);
    pct_placement_free(&p);
    pct_slots_free(s);
    pct_graph_free(&g);
}

/* ---- Topologies of profiles ------------------------------------------------------------------ */

/* A row of the table `pairs`. Two rows of a pair are of two classes. */
struct row {
    uint64_t source, destination, class, bytes;
};

static struct pct_topology *topology_of(struct pc_profile *p, const struct row *rows, uint32_t n)
{
    static char *strings[] = {(char *)"p2p", (char *)"rma"};
    static struct pc_profile_column columns[] = {
        {.name = (char *)"source", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"destination", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"class", .type = PCOLLECT_COLUMN_STRING},
        {.name = (char *)"bytes", .type = PCOLLECT_COLUMN_NUMBER}};
    static struct pc_profile_table table = {
        .name = (char *)"pairs", .n_keys = 3, .n_columns = 4, .columns = columns};
    table.n_rows = n;
    table.cells = (uint64_t *)(uintptr_t)rows;
    p->strings = strings;
    p->n_strings = PC_ARRAY_LEN(strings);
    p->tables = &table;
    p->n_tables = 1;
    return pct_topology_new(p, &(const struct pct_pair_filter){0});
}

/* Sums of 2^64 are not taken for 0, and the weights stay within what a placement computes with. */
static void greatest_numbers_are_no_small_ones(void **state)
{
    enum { N = 4 };
    const uint64_t half = UINT64_C(1) << 63;
    const struct row rows[] = {{0, 1, 1, half},      {0, 1, 2, half}, {1, 0, 1, half},
                               {1, 2, 1, half},      {2, 1, 1, half}, {2, 3, 1, 1},
                               {3, 0, 1, UINT64_MAX}};
    struct pc_profile_rank ranks[N];
    struct pc_profile p = {.ranks = ranks, .n_ranks = N, .world_size = N};
    (void)state;
    for (int32_t r = 0; r < N; r++)
        ranks[r] = (struct pc_profile_rank){.rank = r, .host = (char *)"node"};
    struct pct_topology *t = topology_of(&p, rows, PC_ARRAY_LEN(rows));
    struct pct_slots *s = pct_slots_new(t, 2, 0);
    struct pct_graph g;
    struct pct_pattern pattern;
    struct pct_placement placement;
    assert_int_equal(t->n_pairs, 6);
    assert_true(t->pairs[0].bytes == UINT64_MAX);
    pct_graph_make(t, &g);
    assert_int_equal(g.n_edges, 4); /* 0-1, 0-3, 1-2, 2-3 */
    pc_u128 sum = 0;
    for (size_t i = 0; i < g.n_edges; i++)
        sum += g.edges[i].weight;
    assert_true(sum <= PCT_MOST_WEIGHT && sum > PCT_MOST_WEIGHT / 2);
    assert_true(g.edges[3].weight == 1 && g.edges[0].weight == g.edges[2].weight);
    pct_pattern_find(&g, &pattern);
    assert_int_equal(pattern.n_active, N);
    pct_slots_place(&g, s, &placement);
    assert_true(placement.after <= placement.before);
    pct_placement_free(&placement);
    pct_slots_free(s);
    pct_graph_free(&g);
    pct_topology_free(t);
}

/* Without pairs, messages in sessions may have been between any ranks. */
static void messages_in_sessions_have_no_pattern(void **state)
{
    struct pc_profile_op ops[] = {
        {.name = (char *)"MPI_Session_init", .op_class = PCOLLECT_CLASS_ENV},
        {.name = (char *)"MPI_Sendrecv", .op_class = PCOLLECT_CLASS_P2P}};
    struct pc_profile_rank ranks[] = {{.rank = 0, .host = (char *)"node"},
                                      {.rank = 1, .host = (char *)"node"}};
    struct pc_profile p = {.ranks = ranks, .n_ranks = 2, .world_size = 2, .ops = ops};
    const struct row rows[] = {{0, 1, 1, 8}};
    static const struct {
        uint32_t n_ops;
        size_t n_rows;
        const char *says;
    } cases[] = {
        {1, 0, "no messages between ranks"},
        {2, 0, "not known: messages on communicators made from sessions are not counted by pair"},
        {2, 1, "pair"}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_buf text = {0};
        p.n_ops = cases[i].n_ops;
        struct pct_topology *t = topology_of(&p, rows, cases[i].n_rows);
        pct_topology_pattern(t, &text);
        assert_string_equal(text.data, cases[i].says);
        pct_buf_free(&text);
        pct_topology_free(t);
    }
}

/* A rank that is missing is on the node of the rank before it, at the beginning on the first. */
static void missing_ranks_are_beside_those_before_them(void **state)
{
    static const char *const hosts[] = {"", "a", "", "b", "", "", "c", ""}; /* "": missing */
    static const uint32_t nodes[] = {0, 0, 0, 1, 1, 1, 2, 2};
    enum { N = PC_ARRAY_LEN(hosts) };
    const struct row rows[] = {{1, 2, 1, 8}};
    struct pc_profile_rank ranks[N];
    struct pc_profile p = {.ranks = ranks, .world_size = N};
    (void)state;
    for (int32_t r = 0; r < N; r++)
        if (*hosts[r])
            ranks[p.n_ranks++] = (struct pc_profile_rank){.rank = r, .host = (char *)hosts[r]};
    struct pct_topology *t = topology_of(&p, rows, 1);
    for (uint32_t r = 0; r < N; r++)
        assert_int_equal(t->places[r].node, nodes[r]);
    assert_int_equal(t->n_nodes, 3);
    assert_int_equal(t->n_missing, 5);
    struct pct_buf pattern = {0};
    pct_topology_pattern(t, &pattern);
    assert_string_equal(pattern.data, "not known, because ranks are missing");
    pct_buf_free(&pattern);
    pct_topology_free(t);
}

/* Messages of a rank whose socket is not known are neither within a socket nor between two. */
static void sockets_that_are_not_known_are_told_apart(void **state)
{
    struct pct_rank_place places[] = {{.socket = 0}, {.socket = 0}, {.socket = 1}, {.socket = -1}};
    struct pct_pair pairs[] = {{.source = 0, .destination = 1, .messages = 1, .bytes = 1},
                               {.source = 0, .destination = 2, .messages = 1, .bytes = 2},
                               {.source = 0, .destination = 3, .messages = 3, .bytes = 5}};
    struct pct_topology t = {.n_ranks = PC_ARRAY_LEN(places),
                             .pairs = pairs,
                             .n_pairs = PC_ARRAY_LEN(pairs),
                             .places = places,
                             .n_nodes = 1,
                             .has_sockets = true};
    const struct pct_pattern pattern = {.kind = PCT_PATTERN_NONE};
    const struct pct_slots slots = {.n_nodes = 1};
    const struct pct_topology_view view = {
        .file = "made", .topology = &t, .pattern = &pattern, .slots = &slots, .top = 1};
    struct pct_reach_sum sums[PCT_N_REACHES];
    (void)state;
    pct_topology_sums(&t, sums);
    assert_int_equal(sums[PCT_REACH_SOCKET].bytes, 1);
    assert_int_equal(sums[PCT_REACH_SOCKETS].bytes, 2);
    assert_int_equal(sums[PCT_REACH_NODE].bytes, 5);
    char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    pct_topology_print_text(out, &view);
    fclose(out);
    assert_non_null(
        strstr(text, "  within a socket               1                1            1 B"));
    assert_non_null(
        strstr(text, "  between sockets               1                1            2 B"));
    assert_non_null(
        strstr(text, "  sockets not known             1                3            5 B"));
    /* The mean of 5 bytes in 3 messages is rounded. */
    assert_non_null(strstr(text, "        0       3            3          5 B          2 B"));
}

/* Rank 0 sends to two ranks, of which one receives all, or is missing; of one phase less may be
 * received. The last rank sends to rank 0: what it sent is known by what was received, too. */
static void what_was_not_received_is_told_of_ranks_that_are_there(void **state)
{
    enum { N = 3, PAIR_COLUMNS = 9 };
    static const char *const names[PAIR_COLUMNS] = {"source",   "destination",    "class",
                                                    "domain",   "messages",       "bytes",
                                                    "received", "received_bytes", "phase"};
    static const uint16_t types[PAIR_COLUMNS] = {
        PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_RANK,   PCOLLECT_COLUMN_STRING,
        PCOLLECT_COLUMN_DOMAIN, PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER,
        PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    static const struct {
        uint64_t received[2];
        uint32_t missing; /* the last rank of the profile is before it */
        bool one_phase;
        const char *says; /* NULL: nothing */
    } cases[] = {{{5, 5}, N, false, NULL},
                 {{5, 0}, N, false, "  1 pair: what was sent is not what"},
                 {{4, 0}, N, false, "  2 pairs: what was sent is not what"},
                 {{5, 0}, 2, false, NULL},
                 {{4, 0}, 2, false, "  1 pair: what was sent is not what"},
                 {{4, 0}, N, true, NULL}};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        struct pc_profile_column columns[PAIR_COLUMNS];
        struct pc_profile_rank ranks[N];
        const uint64_t *got = cases[k].received, sent = cases[k].missing == N ? 5 : 0;
        uint64_t cells[N][PAIR_COLUMNS] = {{0, 1, 0, 0, 5, 40, got[0], 8 * got[0], 3},
                                           {0, 2, 0, 0, 5, 40, got[1], 8 * got[1], 3},
                                           {2, 0, 0, 0, sent, 8 * sent, 5, 40, 3}};
        char text[4096];
        for (unsigned i = 0; i < PAIR_COLUMNS; i++)
            columns[i] = (struct pc_profile_column){.name = (char *)names[i], .type = types[i]};
        for (int32_t r = 0; r < N; r++)
            ranks[r] = (struct pc_profile_rank){.rank = r, .host = (char *)"node"};
        struct pc_profile_table table = {.name = (char *)"pairs",
                                         .n_keys = 4,
                                         .n_columns = PAIR_COLUMNS,
                                         .columns = columns,
                                         .n_rows = N,
                                         .cells = cells[0]};
        struct pc_profile p = {.ranks = ranks,
                               .n_ranks = cases[k].missing,
                               .world_size = N,
                               .tables = &table,
                               .n_tables = 1};
        struct pct_topology *t = pct_topology_new(
            &p, &(const struct pct_pair_filter){.has_phase = cases[k].one_phase, .phase = 3});
        struct pct_slots *slots = pct_slots_new(t, 1, 0);
        struct pct_pattern pattern = {.kind = PCT_PATTERN_NONE};
        FILE *out = fmemopen(text, sizeof text, "w");
        pct_topology_print_text(
            out, &(const struct pct_topology_view){
                     .file = "made", .topology = t, .pattern = &pattern, .slots = slots, .top = 5});
        fclose(out);
        assert_int_equal(t->n_pairs, N);
        assert_true(t->pairs[2].messages == 5 && t->pairs[2].bytes == 40);
        if (!strstr(text, cases[k].says ? cases[k].says : "what was sent") != !cases[k].says)
            fail_msg("case %zu: %s", k, text);
        pct_slots_free(slots);
        pct_topology_free(t);
    }
}

static char text[1 << 15]; /* a picture */
static void draw(const struct pct_topology *t)
{
    const struct pct_pattern none = {.kind = PCT_PATTERN_NONE};
    struct pct_topology_view view = {.topology = t, .file = "at/a<b.pcol", .pattern = &none};
    FILE *out = fmemopen(text, sizeof text, "w");
    pct_topology_print_svg(out, &view);
    fclose(out);
}

/* Cells are of bytes, or, if there are none, of messages. The scale ends at the greatest cell. */
static void pictures_have_a_scale_with_its_unit(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *cell, *legend, *most;
    } cases[] = {
        {4096, "<title>0 to 1: 4.000 KiB, 9 messages</title>", ">bytes from source to destination<",
         ">4.000 KiB</text>"},
        {0, "<title>0 to 1: 0 B, 9 messages</title>", ">messages from source to destination<",
         ">9</text>"},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        struct pct_pair pairs[] = {
            {.source = 0, .destination = 1, .messages = 9, .bytes = cases[k].bytes},
            {.source = 1, .destination = 0, .messages = 1}};
        struct pct_rank_place places[2] = {{0}};
        const struct pct_topology t = {
            .n_ranks = 2, .pairs = pairs, .n_pairs = PC_ARRAY_LEN(pairs), .places = places};
        draw(&t);
        if (!strstr(text, cases[k].cell) || !strstr(text, cases[k].legend) ||
            !strstr(text, cases[k].most) || !strstr(text, ">a&lt;b.pcol, 2 ranks<") ||
            !strstr(text, ">logarithmic scale of colours<") ||
            !strstr(text, ">1 to 0: 0 B, 1 message<"))
            fail_msg("case %zu: %s", k, text);
    }
}

/* With 1,025 ranks three share a row or column. Two are left for the last. */
static void cells_of_several_ranks_name_all_of_them(void **state)
{
    enum { N = 1025 };
    static struct pct_rank_place places[N];
    struct pct_pair pairs[] = {{.source = 1, .destination = 5, .messages = 9, .bytes = 4096},
                               {.source = 2, .destination = 3, .messages = 1, .bytes = 4096},
                               {.source = 3, .destination = 1024, .messages = 1}};
    const struct pct_topology t = {
        .n_ranks = N, .pairs = pairs, .n_pairs = PC_ARRAY_LEN(pairs), .places = places};
    (void)state;
    draw(&t);
    if (!strstr(text, "<title>ranks 0-2 to ranks 3-5: 8.000 KiB, 10 messages</title>") ||
        !strstr(text, "<title>ranks 3-5 to ranks 1023-1024: 0 B, 1 message</title>"))
        fail_msg("%s", text);
}

/* As many ranks are named as have room, each at its row and its column. */
static void pictures_name_ranks(void **state)
{
    static const struct {
        uint32_t n, step;
    } cases[] = {{1, 1}, {8, 1}, {9, 1}, {24, 2}, {64, 5}, {100, 10}, {513, 50}, {5000, 500}};
    static struct pct_rank_place places[5000];
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        const struct pct_topology t = {.n_ranks = cases[k].n, .places = places};
        draw(&t);
        if (!strstr(text, ">no messages between ranks<") || strstr(text, " from source to "))
            fail_msg("case %zu: %s", k, text);
        for (uint32_t r = 0; r < cases[k].n; r++) {
            char want[24];
            unsigned n = 0;
            snprintf(want, sizeof want, ">%u</text>", r);
            for (const char *at = text; (at = strstr(at, want)); at++)
                n++;
            if (n != (r % cases[k].step ? 0 : 2))
                fail_msg("case %zu: rank %u is named %u times", k, r, n);
        }
    }
}

/* Lines are between nodes of consecutive ranks, if they are not too many. */
static void lines_are_between_nodes(void **state)
{
    enum { N = 202 };
    static const struct {
        uint32_t n_ranks, n_nodes;
        bool in_turn;
        unsigned want;
    } cases[] = {{6, 2, false, 1}, {6, 2, true, 0}, {200, 100, false, 99}, {202, 101, false, 0}};
    static struct pct_rank_place places[N];
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        uint32_t each = cases[k].n_ranks / cases[k].n_nodes;
        for (uint32_t r = 0; r < cases[k].n_ranks; r++)
            places[r].node = cases[k].in_turn ? r % cases[k].n_nodes : r / each;
        const struct pct_topology t = {
            .n_ranks = cases[k].n_ranks, .n_nodes = cases[k].n_nodes, .places = places};
        draw(&t);
        unsigned n = 0;
        for (const char *at = text; (at = strstr(at, "<path ")); at++)
            n++;
        if (n != cases[k].want)
            fail_msg("case %zu: %u", k, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_found),
        cmocka_unit_test(noise_hides_no_pattern),
        cmocka_unit_test(light_edges_are_of_the_pattern_where_it_has_them),
        cmocka_unit_test(random_twins_of_halos_are_not_named_so),
        cmocka_unit_test(few_ranks_among_many),
        cmocka_unit_test(placement_of_eight_is_the_best),
        cmocka_unit_test(placement_keeps_the_sizes_of_nodes),
        cmocka_unit_test(sockets_get_as_many_ranks_each),
        cmocka_unit_test(greatest_numbers_are_no_small_ones),
        cmocka_unit_test(messages_in_sessions_have_no_pattern),
        cmocka_unit_test(missing_ranks_are_beside_those_before_them),
        cmocka_unit_test(sockets_that_are_not_known_are_told_apart),
        cmocka_unit_test(what_was_not_received_is_told_of_ranks_that_are_there),
        cmocka_unit_test(pictures_have_a_scale_with_its_unit),
        cmocka_unit_test(pictures_name_ranks),
        cmocka_unit_test(lines_are_between_nodes),
        cmocka_unit_test(cells_of_several_ranks_name_all_of_them),
    };
    seed = test_seed(20);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
