/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reason why a context loses, as pcollect scale says it.
 */
#include "view/scale_private.h"

#include <math.h>

/* A figure that changes by less than this factor does not explain a loss. */
#define CHANGED 1.5

static const char *bytes_text(double bytes, char out[PCT_NUMBER_BYTES])
{
    return pct_text_bytes(out, pct_text_whole(bytes));
}

/* True if more than half of the loss is waiting of others for the rank that computes longest. */
static bool is_waited_for(const struct pct_scale *s, const struct pct_scale_row *row)
{
    double ideal_ns = pct_scale_ideal(s, row->costs[pct_scale_first(s)].waits_ns);
    return row->lost_ns > 0 && row->costs[pct_scale_last(s)].waits_ns - ideal_ns > row->lost_ns / 2;
}

/* True if samples leave over a part of the time by which the busiest rank is ahead. */
static bool is_ahead_unsampled(const struct pct_scale *s)
{
    for (size_t i = 0; i < s->n_rows && s->join->divided; i++)
        if (s->rows[i].node == s->join->compute)
            return s->rows[i].costs[pct_scale_last(s)].waits_ns > 0;
    return false;
}

static void put_compute_reason(const struct pct_scale *s, const struct pct_scale_row *row,
                               struct pct_buf *b)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    const struct pct_scale_cost *from = &row->costs[pct_scale_first(s)],
                                *to = &row->costs[pct_scale_last(s)];
    bool rest = s->join->divided && row->node == s->join->compute,
         wait = s->join->nodes[row->node].waits;
    const char *do_it = wait ? "the threads wait" : rest ? "the ranks have" : "the ranks compute";
    /* Without the waiting of others. */
    double own_from = from->ns - from->waits_ns, own_to = to->ns - to->waits_ns;
    char x[PCT_NUMBER_BYTES], y[PCT_NUMBER_BYTES], n[PCT_SCALE_WIDTH_BYTES], m[PCT_NUMBER_BYTES];
    pct_scale_width(s, first, n);
    pct_scale_count(last->width, m);
    if (is_waited_for(s, row))
        pct_buf_format(b,
                       "the busiest rank computes %s%.0f %% longer than the mean on %s %s, %.0f "
                       "%% on %s: meanwhile the others wait for it in MPI, %s in all",
                       is_ahead_unsampled(s) ? "or is blocked " : "",
                       100 * (pct_scale_per(last->busiest_ns * last->ranks, last->compute_ns) - 1),
                       m, pct_scale_unit(s, last->width),
                       100 *
                           (pct_scale_per(first->busiest_ns * first->ranks, first->compute_ns) - 1),
                       pct_scale_count(first->width, y),
                       pct_scale_time(pct_scale_of_ranks(last, to->waits_ns), x));
    else if (!(own_from > 0) && row->node != s->join->compute)
        pct_buf_format(b, "on %s no sample was taken there, on %s %s %s%s", n, m,
                       s->by_threads ? "a rank is there for" : do_it,
                       pct_scale_time(s->by_threads ? own_to / last->width : own_to, x),
                       s->by_threads ? "" : " together");
    else if (s->scaling == PCT_SCALING_WEAK || s->by_threads)
        pct_buf_format(b, "%s %s on %s, %s on %s",
                       wait   ? "the threads of a rank wait"
                       : rest ? "a rank has"
                              : "a rank computes",
                       pct_scale_time(own_from / first->width, x), n,
                       pct_scale_time(own_to / last->width, y), m);
    else
        pct_buf_format(b, "together %s %s on %s, %s on %s%s", do_it, pct_scale_time(own_from, x), n,
                       pct_scale_time(own_to, y), m,
                       rest || wait || row->polls || pct_scale_working_differs(s)
                           ? ""
                           : ": work that is repeated, or slower when divided");
    if (row->polls)
        pct_buf_format(
            b, "; the function calls %s %s times per rank on %s, and may wait between the calls",
            row->polls, pct_scale_count(row->polls_calls, x), m);
    if (!is_waited_for(s, row) && to->waits_ns > to->ns / 10)
        pct_buf_format(b, "; the others wait for it, %s in all",
                       pct_scale_time(pct_scale_of_ranks(last, to->waits_ns), x));
}

enum { TIMES_BYTES = PCT_NUMBER_BYTES + 8 };

/* Writes a mean number of calls: "once", "0.333 times", "2 times", "1,234 times". */
static const char *times_text(double n, char out[TIMES_BYTES])
{
    char number[PCT_NUMBER_BYTES];
    bool is_whole = round(n) > 0 && fabs(n - round(n)) < 0.005;
    if (is_whole && round(n) <= 1)
        snprintf(out, TIMES_BYTES, "once");
    else if (is_whole || n >= 100)
        snprintf(out, TIMES_BYTES, "%s times", pct_scale_count(n, number));
    else if (n < 0.001)
        snprintf(out, TIMES_BYTES, "less than 0.001 times");
    else
        snprintf(out, TIMES_BYTES, "%.3g times", n);
    return out;
}

static void put_call_reason(const struct pct_scale *s, const struct pct_scale_row *row,
                            struct pct_buf *b)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    const struct pct_scale_cost *x = &row->costs[pct_scale_first(s)],
                                *y = &row->costs[pct_scale_last(s)];
    double calls_x = x->calls / first->ranks, calls_y = y->calls / last->ranks;
    double bytes_x = pct_scale_per(x->bytes, x->calls), bytes_y = pct_scale_per(y->bytes, y->calls);
    double time_x = pct_scale_per(pct_scale_of_ranks(first, x->ns), x->calls),
           time_y = pct_scale_per(pct_scale_of_ranks(last, y->ns), y->calls);
    bool more = y->calls > CHANGED * pct_scale_ideal(s, x->calls);
    char u[TIMES_BYTES], v[TIMES_BYTES], n[PCT_SCALE_WIDTH_BYTES], m[PCT_NUMBER_BYTES];
    pct_scale_width(s, first, n);
    pct_scale_count(last->width, m);
    if (y->open_ns > y->ns / 2)
        pct_buf_format(b, "calls of it that had not ended take %s together on %s %s",
                       pct_scale_time(pct_scale_of_ranks(last, y->open_ns), u), m,
                       pct_scale_unit(s, last->width));
    else if (!(calls_x > 0))
        pct_buf_format(b, "it is not called at all on %s", n);
    else if (more && x->caller > 0 && x->caller == y->caller)
        pct_buf_format(b, "rank %d alone calls it %s on %s, %s on %s", x->caller - 1,
                       times_text(x->calls, u), n, times_text(y->calls, v), m);
    else if (calls_y > CHANGED * calls_x)
        pct_buf_format(b, "a rank calls it %s on %s, %s on %s", times_text(calls_x, u), n,
                       times_text(calls_y, v), m);
    else if (bytes_x > 0 && bytes_y > CHANGED * bytes_x)
        pct_buf_format(b, "a call moves %s on %s, %s on %s", bytes_text(bytes_x, u), n,
                       bytes_text(bytes_y, v), m);
    else if (more && time_y < CHANGED * time_x)
        pct_buf_format(b, "a rank calls it %s on %s, still %s on %s", times_text(calls_x, u), n,
                       times_text(calls_y, v), m);
    else if (!(time_x > 0))
        pct_buf_format(b, "all of its time on %s may be waiting for a processor", n);
    else
        pct_buf_format(b, "a call takes %s on %s, %s on %s", pct_scale_time(time_x, u), n,
                       pct_scale_time(time_y, v), m);
}

const char *pct_scale_reason(const struct pct_scale *s, const struct pct_scale_row *row)
{
    struct pct_buf b = {0};
    pct_buf_put(&b, "", 0);
    if (s->join->nodes[row->node].kind == PCOLLECT_NODE_OP)
        put_call_reason(s, row, &b);
    else
        put_compute_reason(s, row, &b);
    const char *reason = pct_pool_intern(s->join->pool, b.data);
    pct_buf_free(&b);
    return reason;
}

void pct_scale_put_branch(const struct pct_scale *s, const struct pct_scale_branch *branch,
                          struct pct_buf *b)
{
    const struct pct_scale_point *first = &s->points[pct_scale_first(s)],
                                 *last = &s->points[pct_scale_last(s)];
    char x[PCT_NUMBER_BYTES], y[PCT_NUMBER_BYTES], n[PCT_SCALE_WIDTH_BYTES], m[PCT_NUMBER_BYTES];
    bool each = s->scaling == PCT_SCALING_WEAK || s->by_threads;
    pct_scale_width(s, first, n);
    pct_scale_count(last->width, m);
    pct_scale_time(branch->first_ns / (each ? first->width : 1), x);
    pct_scale_time(branch->last_ns / (each ? last->width : 1), y);
    pct_buf_format(b, "%s%s: %.1f %% of the run lost. ", branch->place,
                   branch->calls ? ", with all that it calls" : "",
                   100 * pct_scale_per(branch->lost_ns, s->core_ns));
    pct_buf_format(b, "%s %s there on %s, %s on %s",
                   each ? "A rank computes" : "Together the ranks compute", x, n, y, m);
    if (!each && !pct_scale_working_differs(s) &&
        branch->last_ns - pct_scale_ideal(s, branch->first_ns) > branch->lost_ns / 2)
        pct_buf_text(b, ": work that is repeated, or slower when divided");
    if (branch->waits_ns > (branch->last_ns + branch->waits_ns) / 10)
        pct_buf_format(b, "; the others wait for it, %s in all",
                       pct_scale_time(pct_scale_of_ranks(last, branch->waits_ns), x));
    pct_buf_text(b, ".");
}
