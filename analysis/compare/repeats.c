/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeats of one run: see repeats.h. The interval of a mean is Student's: it assumes that the runs
 * scatter about one value, independently of each other.
 */
#include "analysis/compare/repeats.h"

#include "analysis/findings/findings.h"
#include "analysis/student.h"

#include <math.h>
#include <stdlib.h>

static struct pct_repeat summarize(const double *values, size_t n)
{
    struct pct_repeat r = {.least = values[0], .most = values[0]};
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double before = r.mean;
        r.mean += (values[i] - before) / (double)(i + 1);
        squares += (values[i] - before) * (values[i] - r.mean);
        r.least = fmin(r.least, values[i]);
        r.most = fmax(r.most, values[i]);
    }
    r.deviation = n < 2 ? 0 : sqrt(squares / (double)(n - 1));
    r.error = pct_student_error(r.deviation, n);
    return r;
}

static void fill_row(const struct pct_repeats *r, uint32_t node, double *values,
                     struct pct_repeat_row *row)
{
    *row = (struct pct_repeat_row){.node = node};
    for (size_t i = 0; i < r->n_runs; i++) {
        const struct pct_cost *c = pct_join_cost(r->join, node, i);
        values[i] = c->present ? c->ns : 0;
        row->n_present += c->present;
        row->calls += c->present ? c->calls / (double)r->n_runs : 0;
        row->bytes += c->present ? c->bytes / (double)r->n_runs : 0;
    }
    row->ns = summarize(values, r->n_runs);
}

static int compare_rows(const void *a, const void *b)
{
    const struct pct_repeat_row *x = a, *y = b;
    if (x->ns.mean != y->ns.mean)
        return x->ns.mean < y->ns.mean ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void make_rows(struct pct_repeats *r, double *values)
{
    r->rows = pct_alloc(r->join->n, sizeof *r->rows);
    for (uint32_t i = 0; i < r->join->n; i++) {
        fill_row(r, i, values, &r->rows[r->n_rows]);
        r->n_rows += r->rows[r->n_rows].ns.most > 0;
    }
    qsort(r->rows, r->n_rows, sizeof *r->rows, compare_rows);
    uint32_t *nodes = pct_alloc(r->n_rows, sizeof *nodes);
    const char **places = pct_alloc(r->n_rows, sizeof *places);
    for (size_t i = 0; i < r->n_rows; i++)
        nodes[i] = r->rows[i].node;
    pct_join_places(r->join, nodes, r->n_rows, false, places);
    for (size_t i = 0; i < r->n_rows; i++) {
        r->rows[i].place = places[i];
        r->rows[i].path = pct_join_path(r->join, nodes[i]);
    }
    pct_free(nodes);
    pct_free(places);
}

int pct_repeats_make(const struct pct_run *runs, size_t n, struct pct_repeats **out,
                     struct pc_error *error)
{
    for (size_t i = 1; i < n; i++) {
        if (runs[i].n_ranks != runs[0].n_ranks)
            return pc_error_set(
                error, PC_EMISMATCH,
                "%s has %u ranks, %s %u: these are not repeats of one run; see pcollect scale",
                runs[0].path, runs[0].n_ranks, runs[i].path, runs[i].n_ranks);
    }
    struct pct_join *join;
    int err = pct_join_new(runs, n, PCT_JOIN_ALL, &join, error);
    if (err)
        return err;
    struct pct_repeats *r = pct_alloc(1, sizeof *r);
    double *values = pct_alloc(n, sizeof *values);
    *r = (struct pct_repeats){.runs = runs, .n_runs = n, .join = join};
    for (size_t i = 0; i < n; i++)
        values[i] = runs[i].time_ns;
    r->time_ns = summarize(values, n);
    for (size_t i = 0; i < n; i++)
        values[i] = runs[i].core_ns;
    r->core_ns = summarize(values, n);
    make_rows(r, values);
    pct_free(values);
    *out = r;
    return PC_OK;
}

void pct_repeats_free(struct pct_repeats *r)
{
    if (!r)
        return;
    pct_join_free(r->join);
    pct_free(r->rows);
    pct_free(r);
}

/* ---- Numbers of calls ------------------------------------------------------------------------ */

/* A program that iterates until it has converged may need some steps more or less. */
#define CALLS_DIFFER 0.05

static struct pct_unequal_calls compare_calls(const struct pct_join *j, uint32_t node, size_t first,
                                              size_t end)
{
    struct pct_unequal_calls u = {.node = node, .least = first, .most = first};
    for (size_t i = first; i < end; i++) {
        double calls = pct_join_cost(j, node, i)->calls;
        u.least = calls < pct_join_cost(j, node, u.least)->calls ? i : u.least;
        u.most = calls > pct_join_cost(j, node, u.most)->calls ? i : u.most;
    }
    u.least_calls = pct_join_cost(j, node, u.least)->calls;
    u.most_calls = pct_join_cost(j, node, u.most)->calls;
    u.n = u.least_calls > 0 && u.most_calls - u.least_calls > CALLS_DIFFER * u.most_calls;
    return u;
}

struct pct_unequal_calls pct_join_unequal_calls(const struct pct_join *j, size_t first, size_t end)
{
    struct pct_unequal_calls most = {.n = 0};
    size_t n = 0;
    for (uint32_t i = 0; i < j->n; i++) {
        const struct pct_join_node *node = &j->nodes[i];
        if (node->kind != PCOLLECT_NODE_OP || pct_finding_may_poll(node->label))
            continue;
        struct pct_unequal_calls u = compare_calls(j, i, first, end);
        n += u.n;
        most = u.n && u.most_calls > most.most_calls ? u : most;
    }
    most.n = n;
    return most;
}
