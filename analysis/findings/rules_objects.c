/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules about datatypes, communicators, windows and files: how often they are made, and calls that
 * do little with them each. All of them leave out waiting for the rank that computes longest.
 */
#include "analysis/findings/findings.h"

#include "libcollect/state/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY_MADE 20.0

/* Places of equal calls that are one finding. It has a context if it is about one place. */
struct places {
    double many;                 /* more calls of a rank than this are many */
    const struct pct_fact *most; /* the one with most time; NULL: there is none */
    double ns;
    size_t n;
};

static void add_place(struct places *all, const struct pct_fact *fact)
{
    all->n++;
    all->ns += pct_fact_own_ns(fact);
    if (!all->most || pct_fact_own_ns(fact) > pct_fact_own_ns(all->most))
        all->most = fact;
}

static struct pct_more more_places(const struct pct_evidence *f, const struct places *all)
{
    return all->n > 1 ? pct_more_table("contexts") : pct_more_call(f, all->most);
}

static struct pct_call_cost cost_of_places(const struct pct_evidence *f,
                                           const struct pct_rule *rule, double threshold,
                                           const struct places *all)
{
    return pct_finding_cost(f, rule, threshold, all->ns, all->ns, all->ns,
                            pct_fact_rank_calls(f, all->most) / all->many);
}

/* Things that a program should not make again and again. */
enum made { DATATYPES, COMMUNICATORS, WINDOWS, FILES };
static const struct {
    const char *others, *advice;
    double many;
    const char *what, *freed_by; /* NULL: it is not known whether a call has made one */
} made[] = {
    [DATATYPES] = {"with other calls that make, commit or free datatypes, ",
                   "Make datatypes once and keep them.", PCT_MANY_CALLS, "datatypes",
                   "MPI_Type_free"},
    [COMMUNICATORS] = {"with other calls that make or free communicators, ",
                       "Make communicators once and keep them.", MANY_MADE, "communicators",
                       "MPI_Comm_free and MPI_Comm_disconnect"},
    [WINDOWS] = {"with other calls that make or free windows, ", "Make windows once and keep them.",
                 MANY_MADE, "windows", "MPI_Win_free"},
    [FILES] = {"with other calls that open or close files, ",
               "Keep files open, or put more into each.", PCT_MANY_CALLS, NULL, NULL},
};

static enum made made_by(uint16_t op_class)
{
    return op_class == PCOLLECT_CLASS_TYPE  ? DATATYPES
           : op_class == PCOLLECT_CLASS_RMA ? WINDOWS
           : op_class == PCOLLECT_CLASS_IO  ? FILES
                                            : COMMUNICATORS;
}

/* Number by which a call changes what its rank must free; 0 also for functions that may give
 * MPI_COMM_NULL. */
static int count_made(const char *op)
{
    static const char *const frees[] = {"MPI_Comm_disconnect", "MPI_Comm_free", "MPI_Type_free",
                                        "MPI_Win_free"};
    static const char *const may_make[] = {"MPI_Cart_create",
                                           "MPI_Cart_sub",
                                           "MPI_Comm_create",
                                           "MPI_Comm_create_from_group",
                                           "MPI_Comm_create_group",
                                           "MPI_Comm_split",
                                           "MPI_Comm_split_type",
                                           "MPI_Graph_create",
                                           "MPI_Intercomm_create_from_groups",
                                           "MPI_Type_commit"};
    if (bsearch(&op, frees, PC_ARRAY_LEN(frees), sizeof *frees, pc_by_text))
        return -1;
    return !bsearch(&op, may_make, PC_ARRAY_LEN(may_make), sizeof *may_make, pc_by_text);
}

/* Appends that ranks free much less than they make, if all of their calls were counted. */
static void put_unfreed(const struct pct_evidence *f, enum made kind, struct pct_buf *b)
{
    enum { MANY_UNFREED = 1000 };
    const struct pct_data *d = f->data;
    const struct pc_profile *p = d->profile;
    double n = 0;
    if (!made[kind].what || d->whole != p || f->paused_ns > 0 || d->totals->all.n_incomplete)
        return;
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++)
        if (d->totals->all.lost[k])
            return;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (pc_op_traits_of(p->ops[i].name) & PCOLLECT_TRAIT_MAKES &&
            made_by(p->ops[i].op_class) == kind)
            n += count_made(p->ops[i].name) * (double)d->totals->ops[i].calls.sum[PCT_CALLS];
    n /= (double)f->n_ranks;
    if (n >= MANY_UNFREED)
        pct_buf_format(b,
                       " On average, a rank calls functions that make %s at least %s times more "
                       "than %s: free what it no longer needs.",
                       made[kind].what, pct_finding_number(f, floor(n)), made[kind].freed_by);
}

static void find_made(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                      enum made kind, struct pct_findings *out)
{
    struct places all = {.many = made[kind].many};
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        if (fact->traits & PCOLLECT_TRAIT_MAKES && made_by(fact->op_class) == kind &&
            pct_fact_rank_calls(f, fact) > all.many)
            add_place(&all, fact);
    }
    if (!all.most)
        return;
    struct pct_call_cost cost = cost_of_places(f, rule, threshold, &all);
    struct pct_buf unfreed = {0};
    pct_buf_put(&unfreed, "", 0);
    put_unfreed(f, kind, &unfreed);
    if (cost.text)
        pct_finding_say_cost(out, f, rule, cost, more_places(f, &all),
                             "%s is called %s: %s%s. %s%s", all.most->place,
                             pct_fact_how_many(f, all.most, "times"),
                             all.n > 1 ? made[kind].others : "", cost.text,
                             pct_fact_cure(f, all.most, made[kind].advice), unfreed.data);
    pct_buf_free(&unfreed);
}

static void find_communicators(const struct pct_evidence *f, const struct pct_rule *rule,
                               double threshold, struct pct_findings *out)
{
    find_made(f, rule, threshold, COMMUNICATORS, out);
    find_made(f, rule, threshold, WINDOWS, out);
    find_made(f, rule, threshold, FILES, out);
}

static void find_datatypes(const struct pct_evidence *f, const struct pct_rule *rule,
                           double threshold, struct pct_findings *out)
{
    find_made(f, rule, threshold, DATATYPES, out);
}

/* True for many calls that move little of a file each. Half of the calls of a split operation has
 * no bytes: it is not known how large a piece it belongs to. */
static bool moves_pieces(const struct pct_evidence *f, const struct pct_fact *fact)
{
    enum { FEW_KIB = 64 };
    double bytes = pct_fact_call_bytes(fact);
    return fact->op_class == PCOLLECT_CLASS_IO && fact->traits & PCOLLECT_TRAIT_MOVES &&
           pct_fact_rank_calls(f, fact) > PCT_MANY_CALLS && bytes > 0 && bytes < FEW_KIB * 1024;
}

static bool sets_views(const struct pct_evidence *f, const struct pct_fact *fact)
{
    return !strcmp(fact->op, "MPI_File_set_view") && pct_fact_rank_calls(f, fact) > PCT_MANY_CALLS;
}

/* The first place of the same code in which a file is moved in pieces; NULL: there is none. */
static const struct pct_fact *pieces_of(const struct pct_evidence *f, const struct pct_fact *fact)
{
    for (size_t i = 0; i < f->n; i++)
        if (moves_pieces(f, &f->list[i]) && pct_call_places_share_code(&f->list[i].at, &fact->at))
            return &f->list[i];
    return NULL;
}

/* Finds views of files that are set again and again, as libraries do for each piece; but for those
 * that are set in code that moves the pieces, which are told with these. */
static void find_views(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    struct places all = {.many = PCT_MANY_CALLS};
    for (size_t i = 0; i < f->n; i++)
        if (sets_views(f, &f->list[i]) && !pieces_of(f, &f->list[i]))
            add_place(&all, &f->list[i]);
    if (!all.most)
        return;
    struct pct_call_cost cost = cost_of_places(f, rule, threshold, &all);
    if (cost.text)
        pct_finding_say_cost(out, f, rule, cost, more_places(f, &all),
                             "%s is called %s: %s%s. Read or write larger blocks, so that fewer "
                             "views are set.",
                             all.most->place, pct_fact_how_many(f, all.most, "times"),
                             all.n > 1 ? "with the same calls in other places, " : "", cost.text);
}

/* Finds files moved in small pieces. */
static void find_files(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                       struct pct_findings *out)
{
    find_views(f, rule, threshold, out);
    for (size_t i = 0; i < f->n; i++) {
        const struct pct_fact *fact = &f->list[i];
        struct places all = {.many = PCT_MANY_CALLS};
        if (!moves_pieces(f, fact))
            continue;
        add_place(&all, fact);
        for (size_t k = 0; k < f->n; k++)
            if (sets_views(f, &f->list[k]) && pieces_of(f, &f->list[k]) == fact)
                add_place(&all, &f->list[k]);
        all.most = fact; /* the number of its calls is told, wherever most of the time is */
        struct pct_call_cost cost = cost_of_places(f, rule, threshold, &all);
        if (cost.text)
            pct_finding_say_cost(
                out, f, rule, cost, more_places(f, &all),
                "%s is called %s for %s on average%s: %s. %s", fact->place,
                pct_fact_how_many(f, fact, "times"),
                pct_finding_bytes(f, pct_fact_call_bytes(fact)),
                all.n > 1 ? ", with MPI_File_set_view in the same function" : "", cost.text,
                pct_fact_cure(f, fact,
                              fact->traits & PCOLLECT_TRAIT_TOGETHER
                                  ? "Read or write larger blocks."
                                  : "Read or write larger blocks, by collective calls."));
    }
}

static bool synchronises(const struct pct_evidence *f, const struct pct_fact *fact)
{
    return fact->traits & PCOLLECT_TRAIT_EPOCH && pct_fact_rank_calls(f, fact) >= 2;
}

/* Adds up the synchronisations in the code of the i-th place, which is the first of them; else none
 * is added. */
static struct places synchronisations_of(const struct pct_evidence *f, size_t i)
{
    struct places all = {.many = PCT_MANY_CALLS};
    for (size_t k = 0; k < f->n; k++) {
        bool same = k == i || pct_call_places_share_code(&f->list[k].at, &f->list[i].at);
        if (!same || !synchronises(f, &f->list[k]))
            continue;
        if (k < i)
            return all;
        add_place(&all, &f->list[k]);
    }
    return all;
}

static void find_windows(const struct pct_evidence *f, const struct pct_rule *rule,
                         double threshold, struct pct_findings *out)
{
    for (size_t i = 0; i < f->n; i++) {
        struct places all = {.most = NULL};
        if (synchronises(f, &f->list[i]))
            all = synchronisations_of(f, i);
        if (!all.most)
            continue;
        struct pct_call_cost cost = cost_of_places(f, rule, threshold, &all);
        if (cost.text)
            pct_finding_say_cost(
                out, f, rule, cost, more_places(f, &all), "%s synchronises %s: %s%s. %s",
                all.most->place, pct_fact_how_many(f, all.most, "times"),
                all.n > 1 ? "with other such calls in the same function, " : "", cost.text,
                pct_fact_cure(f, all.most, "Do more transfers between two synchronisations."));
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct pct_rule rows[] = {
    {"communicators", 0.02, "communicators, windows or files made again and again",
     find_communicators, false},
    {"datatypes", 0.02, "datatypes made again and again", find_datatypes, false},
    {"small-io", 0.05, "files read or written in small pieces", find_files, false},
    {"window-synchronisation", 0.05, "one-sided communication that waits for synchronisation",
     find_windows, false},
};
const struct pct_rules pct_object_rules = {rows, PC_ARRAY_LEN(rows)};
