/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path cache compared with a model: a simulated program of functions with fixed and with
 * variable frames, called along random chains on a simulated stack. The cache must return the
 * chain.
 */
#include "libcollect/state/ops.h"
#include "libcollect/state/state.h"
#include "tests/random.h"
#include "tests/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { N_FUNCTIONS = 40, MAX_CHAIN = 24, STACK_WORDS = 4096, MAX_WORDS = 4 * MAX_CHAIN };

/* The cache calls it to learn whether a call is counted. */
static bool is_counted(unsigned slot, uintptr_t ret)
{
    (void)slot;
    return ret != 0xdead;
}

uint16_t pc_op_class(uint16_t op)
{
    return op;
}

static uint64_t seed;

/* One call along a chain of functions, innermost first. A function with an odd number has a frame
 * whose size varies: it is found by the saved frame pointer, as after alloca. */
struct chain {
    int length;
    int functions[MAX_CHAIN];
    int sizes[MAX_CHAIN]; /* words */
};

static uintptr_t stack[STACK_WORDS];

static int frame_words(int function)
{
    return 2 + function % 5;
}

static void make_chain(struct chain *c)
{
    c->length = 2 + (int)random_below(&seed, MAX_CHAIN - 2);
    for (int i = 0; i < c->length; i++) {
        c->functions[i] = (int)random_below(&seed, N_FUNCTIONS);
        c->sizes[i] = frame_words(c->functions[i]);
        if (c->functions[i] & 1)
            c->sizes[i] += (int)random_below(&seed, 3);
    }
}

static uintptr_t return_into(int function)
{
    return 0x400000u + (uintptr_t)function * 64u;
}

/* Lays the chain out on the stack from index 0 up, and notes the words that a walk reads. The frame
 * pointer of a frame is in the first word of the frame inside it. */
static uint32_t lay_out(const struct chain *c, struct pc_path_word *words)
{
    uintptr_t cfa = (uintptr_t)stack;
    uint32_t n = 0;
    int at = 0, saved_fp = 0;
    memset(stack, 0xee, sizeof stack);
    for (int i = 0; i < c->length; i++) {
        int outer = at + c->sizes[i];
        stack[saved_fp] = (uintptr_t)&stack[outer];
        if (c->functions[i] & 1)
            words[n++] = (struct pc_path_word){
                .value = stack[saved_fp] - cfa, .place = (int32_t)(saved_fp * 8), .relative = -1};
        uintptr_t ret = i + 1 < c->length ? return_into(c->functions[i + 1]) : 0x1000;
        stack[outer - 1] = ret;
        words[n++] = (struct pc_path_word){.value = ret, .place = (outer - 1) * 8};
        saved_fp = at = outer;
    }
    return n;
}

static bool same_chain(const struct chain *a, const struct chain *b)
{
    return a->length == b->length &&
           !memcmp(a->functions, b->functions, sizeof a->functions[0] * (size_t)a->length);
}

/* Number of the chain, given by its functions alone: sizes of variable frames are not part of a
 * context.
 */
static pcollect_ref number_of(struct chain *known, pcollect_ref *n_known, const struct chain *c)
{
    for (pcollect_ref i = 0; i < *n_known; i++)
        if (same_chain(&known[i], c))
            return i + 1;
    known[*n_known] = *c;
    return ++*n_known;
}

/* The first of n words at the end of the pool; UINT32_MAX: no room. */
static uint32_t append(struct pc_paths *p, const struct pc_path_word *words, uint32_t n)
{
    uint32_t first = p->n_words;
    if (!pc_paths_reserve(p, n))
        return UINT32_MAX;
    memcpy(p->words + first, words, n * sizeof *words);
    p->n_words += n;
    return first;
}

/* Enters the words as one run or as two, each with its own base. */
static void enter(struct pc_paths *p, struct pc_path_root *root, struct pc_path_miss miss,
                  struct pc_path_word *words, uint32_t n, pcollect_ref number)
{
    struct pc_path_run runs[2];
    uint32_t first = n > 2 && random_below(&seed, 2) ? 1 + random_below(&seed, n - 1) : n, done = 0;
    int n_runs = 0;
    while (done < n) {
        uint32_t length = done ? n - done : first;
        int32_t base = 8 * (int32_t)random_below(&seed, 100) - 400;
        bool plain = true;
        for (uint32_t i = done; i < done + length; i++) {
            words[i].place -= base;
            words[i].value -= words[i].relative ? (uintptr_t)(intptr_t)base : 0;
            plain = plain && !words[i].relative;
        }
        uint32_t at = append(p, words + done, length);
        assert_int_not_equal(at, UINT32_MAX);
        runs[n_runs++] = (struct pc_path_run){at, length, base, plain};
        done += length;
    }
    assert_true(
        pc_paths_enter(p, root, miss, runs, n_runs, (struct pc_path_leaf){number, 0, stack}));
}

static int n_express;

/* The copy of a whole path must match if its leaf is the answer, and only then. */
static bool express_answers_wrongly(const struct pc_paths *p, const struct pc_path_root *root,
                                    const struct pc_path_node *answer)
{
    const struct pc_path_node *e = &p->nodes[root->express];
    if (!root->express || !pc_path_holds(p->words + e->first, e->n_plain, (uintptr_t)stack))
        return false;
    n_express++;
    return !answer || e->leaf != answer->leaf || e->record_at != answer->record_at;
}

/* From where the search for return addresses stopped, the other search must end as from the root.
 */
static void goes_on_from(struct pc_paths *p, uint32_t stopped, const struct pc_path_node *node,
                         struct pc_path_miss miss)
{
    struct pc_path_miss later = {0, 0};
    assert_int_not_equal(stopped, 0);
    assert_ptr_equal(pc_paths_find(p, stopped, (uintptr_t)stack, &later), node);
    if (!node) {
        assert_int_equal(later.node, miss.node);
        assert_int_equal(later.word, miss.word);
    }
}

static pcollect_ref look_up(struct pc_paths *p, const struct chain *c, pcollect_ref number)
{
    struct pc_path_word words[MAX_WORDS];
    uint32_t n = lay_out(c, words);
    struct pc_path_root *root = pc_paths_root(p, 7, return_into(c->functions[0]));
    struct pc_path_miss miss = {0, 0};
    const struct pc_path_node *node = NULL;
    if (root->node)
        node = pc_paths_find(p, root->node, (uintptr_t)stack, &miss);
    assert_false(express_answers_wrongly(p, root, node));
    for (uint32_t i = random_below(&seed, 2) * 6; i > 0; i--) {
        uint32_t stopped = 0;
        const struct pc_path_node *hit = pc_paths_hit(p, root, (uintptr_t)stack, &stopped);
        assert_true(!hit || (node && hit->leaf == number));
        if (!hit && root->node)
            goes_on_from(p, stopped, node, miss);
        node = node ? pc_paths_find(p, root->node, (uintptr_t)stack, &miss) : NULL;
        assert_false(express_answers_wrongly(p, root, node));
    }
    if (node)
        return node->leaf;
    uint32_t matched = miss.node ? miss.word : 0;
    for (uint32_t up = miss.node ? p->nodes[miss.node].parent : 0; up; up = p->nodes[up].parent)
        matched += p->nodes[up].n_words;
    assert_true(matched < n);
    enter(p, root, miss, words + matched, n - matched, number);
    return 0;
}

static void cache_answers_with_the_chain_that_is_on_the_stack(void **state)
{
    (void)state;
    static struct chain chains[600], known[600];
    pcollect_ref n_known = 0;
    seed = 20;
    struct pc_paths p = {0};
    assert_int_equal(pc_paths_init(&p, 64, 1u << 20), PC_OK);
    int hits = 0, misses = 0;
    for (int i = 0; i < 30000; i++) {
        struct chain *c = &chains[random_below(&seed, PC_ARRAY_LEN(chains))];
        if (!c->length) {
            make_chain(c);
            /* Chains that share their inner part with another one test the trie. */
            const struct chain *other = &chains[random_below(&seed, PC_ARRAY_LEN(chains))];
            int shared =
                other->length > 3 ? (int)random_below(&seed, (uint32_t)other->length - 1) : 0;
            for (int k = 0; k < shared && k < c->length; k++) {
                c->functions[k] = other->functions[k];
                c->sizes[k] = other->sizes[k];
            }
        }
        pcollect_ref number = number_of(known, &n_known, c);
        pcollect_ref found = look_up(&p, c, number);
        if (found)
            assert_int_equal(found, number);
        found ? hits++ : misses++;
    }
    assert_true(misses >= 500 && misses <= 600);
    assert_int_equal(hits + misses, 30000);
    assert_true(n_express > 0);
}

/* Paths that are taken in turn, each many times in a row, take no more memory in each turn. */
static void paths_in_turn_take_no_more_memory(void **state)
{
    (void)state;
    static struct chain chains[2] = {{2, {2, 4}, {4, 6}}, {2, {2, 8}, {4, 5}}};
    struct pc_paths p = {0};
    uint32_t n_words = 0, n_nodes = 0;
    int before = n_express;
    seed = 3;
    assert_int_equal(pc_paths_init(&p, 64, 1u << 20), PC_OK);
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < 20; i++)
            look_up(&p, &chains[turn % 2], (pcollect_ref)(1 + turn % 2));
        if (turn == 3) {
            n_words = p.n_words;
            n_nodes = p.n_nodes;
        }
    }
    assert_true(n_express > before + 1000);
    assert_int_equal(p.n_words, n_words);
    assert_int_equal(p.n_nodes, n_nodes);
}

/* Tables of children grow in any order, and those that are left serve other nodes. */
static void many_children_of_many_nodes_are_all_found(void **state)
{
    enum { OUTER = 200, INNER = 40, N = INNER * OUTER };
    static uint16_t order[N];
    struct pc_paths p = {0};
    uint32_t room = 0;
    (void)state;
    seed = 11;
    assert_int_equal(pc_paths_init(&p, 64, 1u << 20), PC_OK);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N; i++) {
            uint32_t at = random_below(&seed, i + 1);
            order[i] = order[at];
            order[at] = (uint16_t)i;
        }
        for (uint32_t i = 0; i < 2 * N; i++) {
            int k = order[i % N];
            struct chain c = {.length = 4, .functions = {2, 2 * (k % INNER), 2 * (k / INNER), 4}};
            for (int f = 0; f < c.length; f++)
                c.sizes[f] = frame_words(c.functions[f]);
            assert_int_equal(look_up(&p, &c, (pcollect_ref)k + 1), i < N ? 0 : k + 1);
        }
        assert_in_range(p.n_children, N, 6 * N);
        room = room ? room : p.child_capacity;
        assert_int_equal(p.child_capacity, room);
        pc_paths_clear(&p);
    }
}

static void cleared_cache_knows_nothing_and_learns_again(void **state)
{
    (void)state;
    seed = 3;
    struct pc_paths p = {0};
    assert_int_equal(pc_paths_init(&p, 64, 1u << 20), PC_OK);
    struct chain c;
    make_chain(&c);
    assert_int_equal(look_up(&p, &c, 5), 0);
    assert_int_equal(look_up(&p, &c, 5), 5);
    pc_paths_clear(&p);
    assert_int_equal(look_up(&p, &c, 6), 0);
    assert_int_equal(look_up(&p, &c, 6), 6);
}

static void verdict_of_a_return_address_is_asked_for_once(void **state)
{
    (void)state;
    struct pc_paths p = {0};
    assert_int_equal(pc_paths_init(&p, 64, 1024), PC_OK);
    for (uintptr_t i = 1; i < 5000; i++)
        assert_true(pc_paths_root(&p, (unsigned)(i % 9), i * 16)->head.size);
    assert_false(pc_paths_root(&p, 1, 0xdead)->head.size);
    assert_int_equal(p.n_roots, 5000);
    for (uintptr_t i = 1; i < 5000; i++)
        assert_int_equal(pc_paths_root(&p, (unsigned)(i % 9), i * 16)->ret, i * 16);
    assert_int_equal(p.n_roots, 5000);
}

static void path_over_the_bound_is_not_entered(void **state)
{
    (void)state;
    seed = 9;
    struct pc_paths p = {0};
    assert_int_equal(pc_paths_init(&p, 64, 8), PC_OK);
    struct pc_path_word words[9] = {{1, 8, 0}};
    assert_int_equal(append(&p, words, 9), UINT32_MAX);
    assert_int_equal(append(&p, words, 8), 0);
    assert_int_equal(append(&p, words, 1), UINT32_MAX);
}

int main(void)
{
    pc_process.is_counted = is_counted;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_answers_with_the_chain_that_is_on_the_stack),
        cmocka_unit_test(paths_in_turn_take_no_more_memory),
        cmocka_unit_test(many_children_of_many_nodes_are_all_found),
        cmocka_unit_test(cleared_cache_knows_nothing_and_learns_again),
        cmocka_unit_test(verdict_of_a_return_address_is_asked_for_once),
        cmocka_unit_test(path_over_the_bound_is_not_entered),
    };
    seed = test_seed(0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
