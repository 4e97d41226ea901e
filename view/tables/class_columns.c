/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables `classes` and `class_times`: ranks that spend their time in a similar way.
 */
#include "analysis/rank_classes.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <math.h>

static void put_ns(double ns, struct pct_value *out)
{
    out->number = (pc_u128)llround(ns);
}

/* An aspect of a class. */
struct place {
    const struct pct_rank_classes *classes;
    const struct pct_rank_class *of;
    uint32_t class, aspect;
    const struct pct_class_time *time;
};

static double mean_of(const struct place *at)
{
    return (double)at->time->sum / at->of->n;
}

static double mean_of_all(const struct pct_data *d, const struct place *at)
{
    return (double)at->classes->all[at->aspect].sum / d->profile->n_ranks;
}

static struct place place_of(const struct pct_data *d, uint32_t class, uint32_t aspect)
{
    const struct pct_rank_classes *c = pct_data_rank_classes(d);
    return (struct place){c, &c->list[class], class, aspect,
                          &c->times[(size_t) class * c->n_aspects + aspect]};
}

/* The aspect in which the class differs most, for the table `classes`. */
static struct place far_place(const struct pct_cell *c)
{
    uint32_t class = (uint32_t)c->row;
    return place_of(c->d, class, pct_data_rank_classes(c->d)->list[class].aspect);
}

static struct place row_place(const struct pct_cell *c)
{
    uint32_t n = pct_data_rank_classes(c->d)->n_aspects;
    return place_of(c->d, (uint32_t)(c->row / n), (uint32_t)(c->row % n));
}

static void put_primitive(const struct pct_data *d, const struct place *at, struct pct_value *out)
{
    uint32_t node = at->classes->node[at->aspect];
    out->none = node == PC_NO_INDEX;
    if (!out->none) {
        uint32_t op = d->profile->nodes[pct_totals_call(d->profile, node)].op;
        pct_value_text(d, d->profile->ops[op].name, out);
    }
}

static void put_context(const struct pct_data *d, const struct place *at, struct pct_value *out)
{
    uint32_t node = at->classes->node[at->aspect];
    out->none = node == PC_NO_INDEX;
    if (!out->none) {
        const struct pct_tree *t = pct_data_tree(d);
        pct_id_value(d, t->nodes[t->shown[pct_totals_call(d->profile, node)]].context, out);
    }
}

/* ---- classes -------------------------------------------------------------------------------- */

static size_t count_classes(const struct pct_data *d)
{
    return pct_data_rank_classes(d)->n;
}

static const struct pct_rank_class *class_of(const struct pct_cell *c)
{
    return &pct_data_rank_classes(c->d)->list[c->row];
}

static void class_number(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = (int64_t)c->row;
}

static void class_ranks(const struct pct_cell *c, struct pct_value *out)
{
    pct_value_plain(class_of(c)->ranks, out);
}

static void class_n_ranks(const struct pct_cell *c, struct pct_value *out)
{
    out->number = class_of(c)->n;
}

static void class_compute(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = place_of(c->d, (uint32_t)c->row, 0);
    put_ns(mean_of(&at), out);
}

static void class_primitive(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = far_place(c);
    put_primitive(c->d, &at, out);
}

static void class_context(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = far_place(c);
    put_context(c->d, &at, out);
}

static void class_there(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = far_place(c);
    put_ns(mean_of(&at), out);
}

static void class_all_there(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = far_place(c);
    put_ns(mean_of_all(c->d, &at), out);
}

static void class_error(const struct pct_cell *c, struct pct_value *out)
{
    put_ns(class_of(c)->error_ns, out);
}

static void class_far_rank(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = class_of(c)->far_rank;
}

static void class_far(const struct pct_cell *c, struct pct_value *out)
{
    put_ns(class_of(c)->far_ns, out);
}

static const struct pct_column class_columns[] = {
    {"class", "class", PCT_INTEGER, "number of the class, in the order of first ranks",
     class_number},
    {"ranks", "ranks", PCT_TEXT, "its ranks: 0-62:2,70 for 0, 2, 4, ... 62 and 70", class_ranks},
    {"n_ranks", "number", PCT_COUNT, "number of ranks", class_n_ranks},
    {"compute_s", "outside MPI", PCT_NS, "mean of compute_s (table ranks)", class_compute},
    {"primitive", "differs in", PCT_TEXT,
     "MPI function of the context whose mean differs most from that of all ranks; empty: outside "
     "MPI",
     class_primitive},
    {"there_s", "there", PCT_NS, "mean time there", class_there},
    {"all_there_s", "all ranks", PCT_NS, "mean time there over all ranks", class_all_there},
    {"error_s", "error", PCT_NS,
     "how far times of a rank are from the means of its class: root of the mean square over "
     "ranks, summed over the contexts of table class_times",
     class_error},
    {"far_rank", "farthest", PCT_INTEGER, "rank that is farthest from the means of the class",
     class_far_rank},
    {"far_s", "by", PCT_NS, "by how much", class_far},
    {"context", "context", PCT_TEXT, "id of the context in which the class differs", class_context},
};

const struct pct_table pct_classes_table = {
    .name = "classes",
    .doc = "ranks that spend their time alike, of 32 ranks or more",
    .count = count_classes,
    .of_tree = true,
    PCT_COLUMNS(class_columns),
    .n_shown = 10,
};

/* ---- class_times ---------------------------------------------------------------------------- */

static size_t count_times(const struct pct_data *d)
{
    const struct pct_rank_classes *c = pct_data_rank_classes(d);
    return (size_t)c->n * c->n_aspects;
}

static void time_class(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = row_place(c).class;
}

static void time_primitive(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = row_place(c);
    put_primitive(c->d, &at, out);
}

static void time_context(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = row_place(c);
    put_context(c->d, &at, out);
}

static void time_mean(const struct pct_cell *c, struct pct_value *out)
{
    struct place at = row_place(c);
    put_ns(mean_of(&at), out);
}

static void time_sum(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_place(c).time->sum;
}

static void time_min(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_place(c).time->min;
}

static void time_min_rank(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = row_place(c).time->min_rank;
}

static void time_max(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_place(c).time->max;
}

static void time_max_rank(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = row_place(c).time->max_rank;
}

static void time_error(const struct pct_cell *c, struct pct_value *out)
{
    put_ns(row_place(c).time->deviation_ns, out);
}

static const struct pct_column time_columns[] = {
    {"class", "class", PCT_INTEGER, "number of the class in table classes", time_class},
    {"primitive", "MPI function", PCT_TEXT, "MPI function of the context; empty: outside MPI",
     time_primitive},
    {"context", "context", PCT_TEXT, "id of the context; empty: outside MPI", time_context},
    {"time_s", "sum", PCT_NS, "sum over the ranks of the class", time_sum},
    {"mean_s", "mean", PCT_NS, "time_s by the number of ranks of the class", time_mean},
    {"error_s", "error", PCT_NS,
     "how far the value of a rank is from the mean of its class: root of the mean square",
     time_error},
    {"min_s", "least", PCT_NS, "least value", time_min},
    {"min_rank", "on rank", PCT_INTEGER, "lowest rank with that value", time_min_rank},
    {"max_s", "most", PCT_NS, "greatest value", time_max},
    {"max_rank", "on rank", PCT_INTEGER, "lowest rank with that value", time_max_rank},
};

const struct pct_table pct_class_times_table = {
    .name = "class_times",
    .doc = "times of the classes of ranks: outside MPI and in the contexts with most time",
    .count = count_times,
    .of_tree = true,
    PCT_COLUMNS(time_columns),
};
