/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of `report --by context,rank` of at most MOST_CONTEXTS nodes of the tree by function, a
 * row for each rank with figures there, and about MOST_ROWS. Without limits there would be as many
 * rows as the profile has values. A node is chosen by the greater of two shares: its time on all
 * ranks relative to the node with most, and its time on one rank relative to the greatest time of a
 * rank in a node. So work of a single rank among thousands is shown.
 *
 * Time is exclusive: in MPI without nested calls, and CPU time of samples in the node itself. Only
 * values that the profile keeps by rank are known.
 */
#include "view/page_ranks.h"

#include "analysis/tree/samples.h"
#include "view/tables/figures.h"
#include "view/tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CONTEXTS = 48, MOST_ROWS = 1000000 };
enum { CPU = PCT_N_METRICS, N_FIGURES };

struct pct_page_rank {
    uint32_t node, place; /* in the tree; among the ranks of the profile */
    uint64_t figure[N_FIGURES];
};

/* Figures of each rank in one node. */
struct values {
    const struct pct_data *d;
    const struct pct_tree *t;
    uint64_t *figure[N_FIGURES]; /* PCT_TIME: of one record */
    bool *present;
    struct pct_range known; /* beyond it all figures are 0 */
};

/* ---- Values by rank -------------------------------------------------------------------------- */

/* Adds exclusive time. The ranks of nested calls are not known: each rank gets its share of their
 * time. */
static void add_exclusive(struct values *v, uint32_t record)
{
    const struct pct_totals *m = v->d->totals;
    const pc_u128 *sum;
    struct pct_call_sum own = {0};
    if (m->field[PCT_TIME] == PC_NO_INDEX)
        return;
    pct_totals_add(m, record, &own);
    sum = own.sum;
    struct pct_range at =
        pct_totals_add_ranks(m, record, PCT_TIME, v->figure[PCT_TIME], v->present);
    for (uint32_t i = at.first; sum[PCT_TIME] && i < at.end; i++)
        v->figure[PCT_EXCLUSIVE][i] +=
            (uint64_t)(v->figure[PCT_TIME][i] * sum[PCT_EXCLUSIVE] / sum[PCT_TIME]);
    memset(v->figure[PCT_TIME] + at.first, 0, (at.end - at.first) * sizeof **v->figure);
    v->known = pct_range_join(v->known, at);
}

static void add_record(struct values *v, uint32_t record, bool all)
{
    static const enum pct_metric metrics[] = {PCT_CALLS, PCT_SENT, PCT_RECEIVED};
    const struct pct_totals *m = v->d->totals;
    const struct pct_samples *s = v->t->samples;
    struct pct_range at = {0, 0};
    if (s && pct_samples_of(s, record).samples)
        at = pct_totals_add_field(m->profile, record, s->time_field, v->figure[CPU], v->present);
    v->known = pct_range_join(v->known, at);
    if (m->profile->nodes[record].kind == PCOLLECT_NODE_POINT)
        return;
    add_exclusive(v, record);
    for (size_t k = 0; all && k < PC_ARRAY_LEN(metrics); k++) {
        at = pct_totals_add_ranks(m, record, metrics[k], v->figure[metrics[k]], v->present);
        v->known = pct_range_join(v->known, at);
    }
}

/* Reads the values of a node. `all`: all figures, not only times. */
static void read_node(struct values *v, uint32_t node, bool all)
{
    const struct pct_tree *t = v->t;
    for (size_t k = 0; k < N_FIGURES; k++)
        memset(v->figure[k] + v->known.first, 0,
               (v->known.end - v->known.first) * sizeof *v->figure[k]);
    v->known = (struct pct_range){0, 0};
    for (uint32_t s = t->nodes[node].first_source; s != PC_NO_INDEX; s = t->next_source[s])
        if (v->d->profile->nodes[s].data != PC_NO_INDEX)
            add_record(v, s, all);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

struct node_time {
    uint32_t node;
    double sum, peak, weight;
};

static int compare_weights(const void *a, const void *b)
{
    const struct node_time *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1)
                                  : (x->node > y->node) - (x->node < y->node);
}

static struct node_time time_of(struct values *v, uint32_t node)
{
    struct node_time out = {.node = node};
    read_node(v, node, false);
    for (uint32_t i = v->known.first; i < v->known.end; i++) {
        double ns = (double)(v->figure[PCT_EXCLUSIVE][i] + v->figure[CPU][i]);
        out.sum += ns;
        out.peak = ns > out.peak ? ns : out.peak;
    }
    return out;
}

/* Chooses nodes; allocated; *n_out: their number. */
static struct node_time *choose_nodes(struct values *v, size_t *n_out)
{
    struct node_time *list = pct_alloc(v->t->n, sizeof *list);
    double sum = 0, peak = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < v->t->n; i++) {
        if (v->t->nodes[i].first_source == PC_NO_INDEX)
            continue;
        struct node_time one = time_of(v, i);
        if (one.sum > 0)
            list[n++] = one;
        sum = one.sum > sum ? one.sum : sum;
        peak = one.peak > peak ? one.peak : peak;
    }
    for (size_t i = 0; i < n; i++) {
        double of_sum = list[i].sum / sum, of_peak = list[i].peak / peak;
        list[i].weight = of_sum > of_peak ? of_sum : of_peak;
    }
    qsort(list, n, sizeof *list, compare_weights);
    *n_out = n < MOST_CONTEXTS ? n : MOST_CONTEXTS;
    return list;
}

static void add_rows(struct pct_page_ranks *out, struct values *v, uint32_t node)
{
    read_node(v, node, true);
    for (uint32_t i = v->known.first; i < v->known.end; i++) {
        struct pct_page_rank row = {.node = node, .place = i};
        uint64_t any = 0;
        for (size_t k = 0; k < N_FIGURES; k++) {
            row.figure[k] = k == PCT_TIME ? 0 : v->figure[k][i];
            any |= row.figure[k];
        }
        if (!any)
            continue;
        out->row = pct_grow(out->row, out->n, &out->room, sizeof *out->row);
        out->row[out->n++] = row;
    }
}

void pct_page_ranks_make(struct pct_page_ranks *out, const struct pct_data *d)
{
    size_t n_ranks = d->profile->n_ranks, n = 0;
    *out = (struct pct_page_ranks){.data = *d};
    out->data.kind = PCT_DATA_TREE;
    out->data.tree = pct_data_functions(d);
    struct values v = {.d = d, .t = out->data.tree, .present = pct_alloc(n_ranks, sizeof(bool))};
    for (size_t k = 0; k < N_FIGURES; k++)
        v.figure[k] = pct_alloc(n_ranks, sizeof *v.figure[k]);
    struct node_time *nodes = choose_nodes(&v, &n);
    for (size_t i = 0; i < n && (!i || out->n + n_ranks <= MOST_ROWS); i++)
        add_rows(out, &v, nodes[i].node);
    pct_free(nodes);
    for (size_t k = 0; k < N_FIGURES; k++)
        pct_free(v.figure[k]);
    pct_free(v.present);
}

void pct_page_ranks_free(struct pct_page_ranks *ranks)
{
    pct_free(ranks->row);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static size_t count_rows(const struct pct_data *d)
{
    return ((const struct pct_page_ranks *)d)->n;
}

static const struct pct_page_rank *row_of(const struct pct_cell *c)
{
    return &((const struct pct_page_ranks *)c->d)->row[c->row];
}

static void get_path(const struct pct_cell *c, struct pct_value *out)
{
    pct_path_value(c->d->tree, row_of(c)->node, out);
}

static void get_context(const struct pct_cell *c, struct pct_value *out)
{
    pct_id_value(c->d, c->d->tree->nodes[row_of(c)->node].context, out);
}

static void get_rank(const struct pct_cell *c, struct pct_value *out)
{
    out->integer = c->d->profile->ranks[row_of(c)->place].rank;
}

static void get_figure(const struct pct_cell *c, struct pct_value *out)
{
    out->number = row_of(c)->figure[c->column->which];
}

static const struct pct_column columns[] = {
    {"path", "path", PCT_TEXT, "functions from the root on, and the MPI function", get_path,
     .labels = true},
    {"rank", "rank", PCT_INTEGER, "rank", get_rank},
    {"calls", "calls", PCT_COUNT, "calls of the rank", get_figure, PCT_CALLS},
    {"mpi_exclusive_s", "own time", PCT_NS, "its time in the calls, without calls made inside them",
     get_figure, PCT_EXCLUSIVE},
    {"cpu_exclusive_s", "self", PCT_NS, "its CPU time sampled right there", get_figure, CPU},
    {"bytes_sent", "sent", PCT_BYTES, "bytes that it sent", get_figure, PCT_SENT},
    {"bytes_received", "received", PCT_BYTES, "bytes that it received", get_figure, PCT_RECEIVED},
    PCT_CONTEXT_COLUMN(get_context, 0),
};

const struct pct_table pct_page_ranks_table = {
    .name = "rank,context",
    .doc =
        "one row for each rank in each of the contexts that matter most, as far as values by rank "
        "are kept",
    .count = count_rows,
    PCT_COLUMNS(columns),
};
