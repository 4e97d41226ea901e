/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops that poll: tests and probes that one function makes, itself or through functions that it
 * calls, such as wrappers of MPI_Test. Their times are put together, with that of the code of these
 * functions, if it is so little for each test that it can only be the loop itself.
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

/* Code of a loop: its functions, and what these call in the MPI library outside of its measured
 * calls, such as bindings of Fortran. */
enum part { OTHER, FUNCTION, LIBRARY };

static enum part part_of(const struct pct_tree *t, const struct pct_node *n, enum part above,
                         const struct pct_frame *const *functions, size_t n_functions)
{
    enum { SYSTEM = PCOLLECT_MODULE_LIBC | PCOLLECT_MODULE_RUNTIME };
    const struct pc_profile *p = t->totals->profile;
    uint32_t flags = n->frame && n->module != PC_NO_INDEX ? p->modules[n->module].flags : 0;
    for (size_t i = 0; i < n_functions; i++)
        if (is_same(n->frame, functions[i]))
            return FUNCTION;
    return (above != OTHER && flags & PCOLLECT_MODULE_MPI) || (above == LIBRARY && flags & SYSTEM)
               ? LIBRARY
               : OTHER;
}

/* True if all contexts are inside of this function. */
static bool is_main(const struct pct_tree *t, uint32_t node)
{
    for (uint32_t above; (above = t->nodes[node].parent) != PC_NO_INDEX; node = above)
        if (above && (t->nodes[above].first_child != node || t->nodes[node].next != PC_NO_INDEX))
            return false;
    return true;
}

/* CPU time of this code, by samples; 0: there are few, or the function is the main one, which may
 * compute anything. */
static double code_ns(const struct pct_evidence *f, const struct test *tests, size_t n,
                      const struct pct_frame *loop)
{
    const struct pct_frame **functions = pct_alloc(n + 1, sizeof *functions);
    size_t n_functions = 0;
    const struct pct_tree *t = pct_data_functions(f->data);
    enum part *parts = pct_alloc(t->n, sizeof *parts);
    double ns = 0, samples = 0;
    bool is_any = false;
    functions[n_functions++] = loop;
    for (size_t i = 0; i < n; i++)
        if (is_same(tests[i].loop, loop) && !is_same(tests[i].own, loop))
            functions[n_functions++] = tests[i].own;
    for (uint32_t i = 1; i < t->n; i++) {
        const struct pct_node *node = &t->nodes[i];
        parts[i] = part_of(t, node, parts[node->parent], functions, n_functions);
        is_any |= is_same(node->frame, loop) && is_main(t, i);
        if (parts[i] == OTHER)
            continue;
        struct pct_sampled computed = pct_tree_own(t, i).computed;
        ns += (double)computed.ns;
        samples += (double)computed.samples;
    }
    pct_free(parts);
    pct_free(functions);
    return samples < PCT_SAMPLES_FEW || is_any ? 0 : ns;
}

/* Less than this for each test is the loop itself: calls, and bindings of Fortran. */
#define LITTLE_NS 200.0

/* Adds the code of the loop of the i-th place: of the time in it the same part is waiting for the
 * rank that computes longest as of the time of the tests. */
static void add_code(const struct pct_evidence *f, double threshold, const struct test *tests,
                     size_t n, size_t i, struct pct_polling_loop *loop)
{
    double most_ns = LITTLE_NS * loop->calls, all_ns = 0;
    if (!tests[i].loop || loop->ns + most_ns < threshold * f->core_ns)
        return;
    for (size_t k = 0; k < n; k++)
        if (is_same(tests[k].loop, tests[i].loop))
            all_ns += tests[k].fact->ns * tests[k].fact->main_part;
    double ns = code_ns(f, tests, n, tests[i].loop);
    loop->code_ns = ns < most_ns && all_ns > 0 ? ns * loop->ns / all_ns : 0;
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
            add_code(f, threshold, tests, n, i, &loops[n_loops++]);
    pct_free(tests);
    *n_out = n_loops;
    return loops;
}
