/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The trees of the reduction: whatever the numbers of the ranks and the sizes of nodes are, one
 * edge leads from each node to another one, and no path is longer than those of the two binomial
 * trees.
 */
#include "merge/route.h"

#include "tests/merge/numbering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_RANKS = 1100 };

struct nodes {
    int n_ranks, n_nodes, largest;
    uint64_t ids[MOST_RANKS];
    bool by_node;
    struct pc_route route[MOST_RANKS];
};

static _Thread_local bool is_poor;

void *__real_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset)
{
    return is_poor ? MAP_FAILED : __real_mmap(at, n, access, flags, fd, offset);
}

/* Data beside the words of HERE and OPEN, on rank 0. */
static void *with_word(void *self, enum pc_meeting_step step, int rank)
{
    struct nodes *x = self;
    return step == PC_MEET_HERE ? (void *)&x->ids[rank] : &x->route[rank];
}

/* A byte that is not sent is not used. */
static void find_routes(struct nodes *x)
{
    const struct pc_transport t = {.self = x, .n_ranks = x->n_ranks, .with_word = with_word};
    memset(x->route, 0xff, sizeof x->route);
    pc_route_make(&t);
    x->by_node = x->route[0].by_node;
}

/* Counts the nodes in another way. */
static void check_nodes(struct nodes *x)
{
    x->n_nodes = x->largest = 0;
    for (int r = 0; r < x->n_ranks; r++) {
        int first = 0, n = 0;
        while (x->ids[first] != x->ids[r])
            first++;
        for (int other = 0; other < x->n_ranks; other++)
            n += x->ids[other] == x->ids[r];
        x->n_nodes += first == r;
        x->largest = n > x->largest ? n : x->largest;
    }
}

static int log2_up(int n)
{
    int log = 0;
    while (1 << log < n)
        log++;
    return log;
}

/* Rounds until the rank has what those below it have, if a rank receives from one at a time. */
static int rounds_of(const struct nodes *x, int rank)
{
    int at = 0;
    for (int i = 0; i < x->route[rank].n_children; i++) {
        int ready = rounds_of(x, x->route[rank].children[i]);
        at = 1 + (ready > at ? ready : at);
    }
    return at;
}

static void check_routes(const struct nodes *x)
{
    int n_between = 0, n_children = 0;
    for (int r = 0; r < x->n_ranks; r++) {
        const struct pc_route *mine = &x->route[r];
        n_children += mine->n_children;
        assert_int_equal(mine->by_node, x->by_node);
        for (int i = 0; i < mine->n_children; i++)
            assert_int_equal(x->route[mine->children[i]].parent, r);
        if (r)
            assert_in_range(mine->parent, 0, r - 1); /* so all are below rank 0 */
        else
            assert_int_equal(mine->parent, -1);
        n_between += r && x->ids[r] != x->ids[mine->parent];
    }
    assert_int_equal(n_children, x->n_ranks - 1);
    assert_int_equal(n_between, x->n_nodes - 1);
    assert_in_range(rounds_of(x, 0), 0, log2_up(x->n_nodes) + log2_up(x->largest));
}

static void one_edge_leads_from_each_node_to_another(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 5, 7, 16, 36, 48, 64, 100};
    static struct nodes x;
    unsigned n_by_node = 0, n_by_rank = 0;
    for (int how = 0; how < N_NUMBERINGS; how++)
        for (unsigned i = 0; i < PC_ARRAY_LEN(sizes); i++)
            for (x.n_ranks = 1; x.n_ranks <= MOST_RANKS; x.n_ranks += 1 + x.n_ranks / 3) {
                number_nodes(how, x.n_ranks, sizes[i], x.ids);
                find_routes(&x);
                check_nodes(&x);
                check_routes(&x);
                n_by_node += x.by_node;
                n_by_rank += !x.by_node;
                /* These numbers need no other tree. */
                if (x.n_nodes == 1 || x.largest == 1 ||
                    (how == BY_NODE && !(sizes[i] & (sizes[i] - 1))))
                    assert_false(x.by_node);
            }
    assert_in_range(n_by_node, 100, 2000);
    assert_in_range(n_by_rank, 100, 2000);
}

static void a_tree_by_rank_does_where_a_node_is_not_known(void **state)
{
    (void)state;
    static struct nodes x = {.n_ranks = 96};
    number_nodes(ROUND_ROBIN, x.n_ranks, 48, x.ids);
    find_routes(&x);
    assert_true(x.by_node);
    x.ids[95] = 0;
    find_routes(&x);
    assert_false(x.by_node);
}

static void without_memory_the_tree_is_by_rank(void **state)
{
    (void)state;
    static struct nodes x = {.n_ranks = 12};
    number_nodes(ROUND_ROBIN, x.n_ranks, 3, x.ids);
    is_poor = true;
    find_routes(&x);
    is_poor = false;
    for (int r = 0; r < x.n_ranks; r++) {
        struct pc_route wanted;
        pc_route_by_rank(&wanted, r, x.n_ranks);
        assert_memory_equal(&x.route[r], &wanted, offsetof(struct pc_route, children));
        assert_memory_equal(x.route[r].children, wanted.children,
                            (size_t)wanted.n_children * sizeof(int));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_edge_leads_from_each_node_to_another),
        cmocka_unit_test(a_tree_by_rank_does_where_a_node_is_not_known),
        cmocka_unit_test(without_memory_the_tree_is_by_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
