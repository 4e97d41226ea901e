/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the ranks of a killed job were at the end of their data: the calls of MPI that had not
 * ended, and the rule about them.
 */
#include "analysis/findings/findings.h"
#include "analysis/tree/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_call(struct pct_evidence *f, const struct pct_open_call *c, struct pct_keys *keys,
                     size_t *room)
{
    struct pct_ends *all = &f->ends;
    int32_t rank = pct_finding_rank(f, c->rank);
    bool is_new;
    const char *place = pct_finding_place(f, c->node);
    uint32_t i = pct_keys_find(keys, place, &is_new);
    if (is_new) {
        all->list = pct_grow(all->list, all->n, room, sizeof *all->list);
        all->list[all->n++] =
            (struct pct_ended_in){.place = place, .rank = rank, .thread = c->thread};
    }
    struct pct_ended_in *e = &all->list[i];
    double ns = (double)c->ns;
    e->n++;
    e->ns += ns;
    if (ns > e->longest_ns) {
        e->longest_ns = ns;
        e->rank = rank;
        e->thread = c->thread;
    }
}

static int compare_calls(const void *a, const void *b)
{
    const struct pct_ended_in *x = a, *y = b;
    int order = (x->ns < y->ns) - (x->ns > y->ns);
    return order ? order : strcmp(x->place, y->place);
}

void pct_ends_gather(struct pct_evidence *f)
{
    const struct pc_profile *p = f->data->profile;
    const struct pct_open_call **open = pct_open_calls_of_ranks(pct_data_open_calls(f->data), p);
    struct pct_keys keys = {0};
    size_t room = 0;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        if (open[r]) {
            add_call(f, open[r], &keys, &room);
            f->ends.others_ns += r == f->times->busiest ? 0 : (double)open[r]->ns;
        } else if (p->ranks[r].incomplete) {
            f->ends.rank_outside = p->ranks[r].rank;
            f->ends.outside++;
        }
    }
    if (f->ends.n)
        qsort(f->ends.list, f->ends.n, sizeof *f->ends.list, compare_calls);
    pct_free(open);
    pct_keys_free(&keys);
}

/* "rank 2 has been in MPI_Recv in main (a.c:3), in thread 1, for 12.1 s" */
static void put_call(const struct pct_evidence *f, const struct pct_ended_in *c, struct pct_buf *b)
{
    char time[PCT_NUMBER_BYTES];
    if (c->n == 1)
        pct_buf_format(b, "rank %d has been in %s", c->rank, c->place);
    else
        pct_buf_format(b, "%s ranks have been in %s", pct_finding_number(f, (double)c->n),
                       c->place);
    if (c->n == 1 && c->thread)
        pct_buf_format(b, ", in thread %llu,", (unsigned long long)c->thread);
    if (c->longest_ns > 0)
        pct_buf_format(b, " for %s%s", c->n > 1 ? "up to " : "",
                       pct_text_time(time, (pc_u128)llround(c->longest_ns)));
}

/* A call that has lasted for less may be one of many. */
#define LONG_CALL_NS 1e9

static void find_open_calls(const struct pct_evidence *f, const struct pct_rule *rule,
                            double threshold, struct pct_findings *out)
{
    enum { SHOWN = 2 };
    const struct pct_ends *all = &f->ends;
    struct pct_buf b = {0};
    double ns = 0, longest_ns = 0;
    size_t n_others = 0; /* ranks in places that are not named */
    for (size_t i = 0; i < all->n; i++) {
        ns += all->list[i].ns;
        longest_ns = fmax(longest_ns, all->list[i].longest_ns);
        n_others += i < SHOWN ? 0 : all->list[i].n;
    }
    if (longest_ns < LONG_CALL_NS || ns < threshold * f->core_ns)
        return;
    for (size_t i = 0; i < all->n && i < SHOWN; i++) {
        pct_buf_text(&b, i ? ", " : "");
        put_call(f, &all->list[i], &b);
    }
    if (n_others)
        pct_buf_text(&b, n_others == 1 ? ", 1 other rank in " : ", others in ");
    if (all->n == SHOWN + 1)
        pct_buf_text(&b, "another place");
    else if (n_others)
        pct_buf_format(&b, "%zu other places", all->n - SHOWN);
    if (all->outside == 1)
        pct_buf_format(&b, ", and rank %d is outside MPI", all->rank_outside);
    else if (all->outside)
        pct_buf_format(&b, ", and %s ranks are outside MPI",
                       pct_finding_number(f, (double)all->outside));
    const struct pct_ended_in *most = &all->list[0];
    pct_finding_say(out, f, rule, ns, pct_more_rank("open_calls", most->n > 1 ? -1 : most->rank),
                    "At the end of the data %s.", b.data);
    pct_buf_free(&b);
}

static const struct pct_rule rows[] = {
    {"open-calls", 0.05, "ranks were in calls of MPI for long when their data ends",
     find_open_calls, true},
};
const struct pct_rules pct_end_rules = {rows, PC_ARRAY_LEN(rows)};
