/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops that poll: tests and probes that one function makes, itself or through functions that it
 * calls, such as wrappers of MPI_Test. Their times are put together, with what the function
 * computes if that is so little for each test that it can only be the loop itself.
 */
#include "analysis/findings/findings.h"

#include <math.h>

/* A place of many tests or probes, and its loop. */
struct test {
    const struct pct_fact *fact;
    const struct pct_frame *own, *caller; /* functions that make all of its calls, or NULL */
    const struct pct_frame *loop;         /* one of these */
};

static bool is_same(const struct pct_frame *a, const struct pct_frame *b)
{
    return a && b && a->function && pct_is_same_text(a->function, b->function) &&
           pct_is_same_text(a->file, b->file);
}

/* Calls of a library belong to the line of the program that called it. The outermost function of
 * the program calls all others: these are loops of their own. */
static struct test make_test(const struct pct_evidence *f, const struct pct_fact *fact)
{
    struct test test = {.fact = fact};
    const struct pct_node *nodes = pct_data_tree(f->data)->nodes, *caller = fact->at.caller;
    if (fact->library || !fact->function)
        return test;
    test.own = fact->at.innermost->frame;
    if (fact->caller && caller->parent != PC_NO_INDEX &&
        nodes[caller->parent].kind == PCOLLECT_NODE_FRAME)
        test.caller = caller->frame;
    return test;
}

/* Sets the function that has the loop of the i-th place: the one that makes its calls, or the
 * caller of that, if it has other tests, too. */
static void find_loop(struct test *tests, size_t n, size_t i)
{
    struct test *test = &tests[i];
    bool has_others = false, is_wrapper = false;
    for (size_t k = 0; k < n; k++) {
        has_others |= is_same(tests[k].caller, test->own);
        is_wrapper |=
            !is_same(tests[k].own, test->own) &&
            (is_same(tests[k].caller, test->caller) || is_same(tests[k].own, test->caller));
    }
    test->loop = is_wrapper && !has_others ? test->caller : test->own;
}

/* CPU time of a function outside of MPI with all that it calls, by samples; 0: there are few. */
static double computing_ns(const struct pct_evidence *f, const struct pct_frame *function)
{
    const struct pct_tree *t = pct_data_functions(f->data);
    double ns = 0, samples = 0;
    for (uint32_t i = 0; i != PC_NO_INDEX;) {
        bool here = is_same(t->nodes[i].frame, function);
        if (here) {
            struct pct_sampled computed = pct_tree_below(t, i).computed;
            ns += (double)computed.ns;
            samples += (double)computed.samples;
        }
        i = pct_tree_after(t, 0, i, !here);
    }
    return samples < PCT_SAMPLES_FEW ? 0 : ns;
}

/* Less computation than this for each test is the loop itself: calls, and bindings of Fortran. */
#define LITTLE_NS 1000.0

static void add_computing(const struct pct_evidence *f, double threshold,
                          const struct pct_frame *function, struct pct_polling_loop *loop)
{
    double most_ns = LITTLE_NS * loop->calls;
    if (!function || loop->ns + most_ns < threshold * f->core_ns)
        return;
    double ns = computing_ns(f, function);
    loop->computing_ns = ns < most_ns ? ns : 0;
}

/* The loop of the i-th place, if this is the first of its places. */
static bool gather(const struct test *tests, size_t n, size_t i, struct pct_polling_loop *out)
{
    *out = (struct pct_polling_loop){.n = 0};
    for (size_t k = 0; k < n; k++) {
        const struct pct_fact *fact = tests[k].fact;
        if (k != i && !is_same(tests[k].loop, tests[i].loop))
            continue;
        if (k < i)
            return false;
        out->n++;
        out->ns += pct_fact_own_ns(fact);
        out->calls += fact->calls;
        if (!out->most || pct_fact_own_ns(fact) > pct_fact_own_ns(out->most)) {
            out->most = fact;
            out->caller = is_same(tests[k].loop, tests[k].own) ? NULL : tests[k].loop;
        }
    }
    return true;
}

struct pct_polling_loop *pct_finding_polling_loops(const struct pct_evidence *f, double threshold,
                                                   size_t *n_out)
{
    size_t n = 0, n_loops = 0;
    struct test *tests = pct_alloc(f->n, sizeof *tests);
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].traits & PCT_MAY_POLL &&
            f->list[i].calls > PCT_MANY_TESTS * (double)f->n_ranks)
            tests[n++] = make_test(f, &f->list[i]);
    struct pct_polling_loop *loops = pct_alloc(n, sizeof *loops);
    for (size_t i = 0; i < n; i++)
        find_loop(tests, n, i);
    for (size_t i = 0; i < n; i++)
        if (gather(tests, n, i, &loops[n_loops]))
            add_computing(f, threshold, tests[i].loop, &loops[n_loops++]);
    pct_free(tests);
    *n_out = n_loops;
    return loops;
}
