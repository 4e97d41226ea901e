/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames of libraries that are shown, and those that are one line, in a stack of nodes: the same
 * from callers to what they call and the other way round.
 */
#include "view/folds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Nodes, the outermost first: `p`: a function of the program; A, B: of a library, with a name;
 * a, b: without one; M: an MPI call. */
struct stack {
    const char *nodes;
    uint32_t n;
    bool bottom_up;
};

static char kind_of(const struct stack *s, uint32_t node)
{
    return s->nodes[s->bottom_up ? s->n - 1 - node : node];
}

static uint32_t only_child(void *tree, uint32_t node)
{
    const struct stack *s = tree;
    return node + 1 < s->n ? node + 1 : PC_NO_INDEX;
}

static uint32_t parent_of(const void *tree, uint32_t node)
{
    (void)tree;
    return node ? node - 1 : PC_NO_INDEX;
}

static bool is_same(const void *tree, uint32_t node, uint32_t other)
{
    (void)tree;
    return node == other;
}

static struct pct_passing passing_of(const void *tree, uint32_t node)
{
    static const char *const libraries[] = {"liba.so", "libb.so"};
    char kind = kind_of(tree, node), lower = (char)(kind | 0x20);
    bool in_library = lower == 'a' || lower == 'b';
    return (struct pct_passing){.library = in_library ? libraries[lower - 'a'] : NULL,
                                .is_frame = lower != 'm',
                                .has_name = kind == 'p' || kind == 'A' || kind == 'B'};
}

/* True for the innermost function that computes: the first node of a tree from there on. */
static bool has_own(void *tree, uint32_t node, uint32_t child)
{
    const struct stack *s = tree;
    (void)child;
    return s->bottom_up && !node;
}

/* The lines of a tree, outermost first: a node each, or the number of those in one line. */
static char *lines_of(const char *nodes, bool bottom_up, bool all)
{
    static char text[64];
    struct stack s = {nodes, (uint32_t)strlen(nodes), bottom_up};
    const struct pct_folding folding = {.tree = &s,
                                        .only = only_child,
                                        .same = is_same,
                                        .same_function = is_same,
                                        .parent = parent_of,
                                        .passing = passing_of,
                                        .has_own = all ? NULL : has_own,
                                        .bottom_up = bottom_up};
    size_t n = 0;
    for (uint32_t i = 0; i < s.n && n + 1 < sizeof text; i++) {
        struct pct_fold fold = pct_fold(&folding, i);
        text[n++] = fold.n > 1 ? (char)('0' + fold.n) : kind_of(&s, i);
        i = fold.last;
    }
    text[n] = '\0';
    for (size_t i = 0; bottom_up && i < n / 2; i++) {
        char kept = text[i];
        text[i] = text[n - 1 - i];
        text[n - 1 - i] = kept;
    }
    return text;
}

static const struct {
    const char *nodes, *lines;
} cases[] = {
    /* Functions between two of the program. */
    {"pAAAp", "pA2p"},
    {"pAaaap", "pA3p"},
    {"paaap", "p3p"},
    {"pAAABBBp", "pA2B2p"},
    /* The outermost function with a name, through one without. */
    {"paAaap", "paA2p"},
    {"paaAAAp", "p2A2p"},
    /* The nearest name around an MPI call, and no other. */
    {"pAAAAM", "pA2AM"},
    {"pAaAAaaM", "pA2A2M"},
    {"pAaaM", "pA2M"},
    {"pAAAbbM", "pA22M"},
    {"pAAABBBM", "pA2BBBM"},
    {"pM", "pM"},
    /* The innermost function computes: it is shown, and a name around it. */
    {"pAAAA", "pA2A"},
    {"pAAAAa", "pA2Aa"},
    {"pAAAAaaa", "pA2A2a"},
    {"pAAAbb", "pA2bb"},
};

static void frames_that_pass_a_call_on_are_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        assert_string_equal(lines_of(cases[i].nodes, false, false), cases[i].lines);
        assert_string_equal(lines_of(cases[i].nodes, true, false), cases[i].lines);
        assert_string_equal(lines_of(cases[i].nodes, false, true), cases[i].nodes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_that_pass_a_call_on_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
