/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Divides the count of each edge among its samples. All figures are whole numbers: the parts of an
 * edge add up to its count, to the unit.
 */
#include "analysis/counters/attribution.h"

#include "analysis/buffer.h"
#include "analysis/counters/metrics.h"

#include <stdlib.h>

/* Cells of a row of `edges`, and of `edge_samples`. */
enum { EVENT, RANK, THREAD, FROM, TO, INSIDE, COUNT, N_EDGE = 8 };
enum { SAMPLE_KEYS = 5, CONTEXT = 5, SAMPLES, N_SAMPLE };

struct sharing {
    const struct pc_profile *profile;
    const uint64_t **samples; /* rows of edge_samples, sorted */
    size_t n_samples, n, room;
    struct pct_attributed *rows;
};

/* ---- The samples of an edge ------------------------------------------------------------------ */

/* Orders rows by rank, thread, from, to, inside. */
static int compare_keys(const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < SAMPLE_KEYS; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_samples(const void *a, const void *b)
{
    return compare_keys(*(const uint64_t *const *)a, *(const uint64_t *const *)b);
}

/* The first row of the edge's samples; *n_out: their number. */
static const uint64_t **find_samples(const struct sharing *s, const uint64_t *edge, size_t *n_out)
{
    const uint64_t *keys = edge + RANK;
    size_t low = 0, high = s->n_samples, n = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(s->samples[middle], keys) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + n < s->n_samples && !compare_keys(s->samples[low + n], keys))
        n++;
    *n_out = n;
    return s->samples + low;
}

/* ---- Counts without samples ------------------------------------------------------------------ */

/* Caller of the primitive at a point, because the count lies outside of the call. */
static uint32_t caller_of(const struct pc_profile *p, uint64_t node)
{
    uint32_t i = node < p->n_nodes ? (uint32_t)node : 0;
    while (i && (p->nodes[i].kind == PCOLLECT_NODE_OP || p->nodes[i].kind == PCOLLECT_NODE_DOMAIN))
        i = p->nodes[i].parent;
    return i;
}

/* The common ancestor of two nodes. Nodes are in preorder, so the later one is no ancestor of the
 * other. */
static uint32_t common_ancestor(const struct pc_profile *p, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a > b)
            a = p->nodes[a].parent;
        else
            b = p->nodes[b].parent;
    }
    return a;
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static struct pct_attributed *add_row(struct sharing *s, const uint64_t *edge, uint64_t node,
                                      uint64_t count)
{
    s->rows = pct_grow(s->rows, s->n, &s->room, sizeof *s->rows);
    struct pct_attributed *r = &s->rows[s->n++];
    *r = (struct pct_attributed){.event = (uint32_t)edge[EVENT],
                                 .node = node < s->profile->n_nodes ? (uint32_t)node : 0,
                                 .count = count};
    return r;
}

/* Divides a count by the largest-remainder method: each gets its share rounded down, and the rest
 * is given out one by one to those with the largest fractions; of equal ones the first comes
 * first. */
static void share(struct sharing *s, const uint64_t *edge, const uint64_t **samples, size_t n)
{
    pc_u128 all = 0;
    uint64_t left = edge[COUNT];
    size_t first = s->n;
    pc_u128 *rests = pct_alloc(n, sizeof *rests);
    for (size_t i = 0; i < n; i++)
        all += samples[i][SAMPLES];
    for (size_t i = 0; i < n; i++) {
        pc_u128 part = (pc_u128)edge[COUNT] * samples[i][SAMPLES];
        rests[i] = part % all;
        left -= (uint64_t)(part / all);
        add_row(s, edge, samples[i][CONTEXT], (uint64_t)(part / all));
    }
    for (; left; left--) {
        size_t most = 0;
        for (size_t i = 1; i < n; i++)
            most = rests[i] > rests[most] ? i : most;
        rests[most] = 0;
        s->rows[first + most].count++;
    }
    pct_free(rests);
}

static void place_edge(struct sharing *s, const uint64_t *edge)
{
    const struct pc_profile *p = s->profile;
    uint64_t count = edge[COUNT];
    size_t n;
    const uint64_t **samples = find_samples(s, edge, &n);
    if (edge[INSIDE]) {
        add_row(s, edge, edge[TO], count)->certain = count;
    } else if (n && (*samples)[SAMPLES]) {
        share(s, edge, samples, n);
    } else {
        uint32_t node = common_ancestor(p, caller_of(p, edge[FROM]), caller_of(p, edge[TO]));
        add_row(s, edge, node, count)->ancestor = count;
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct pc_profile_table *find_edges(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "edges");
    bool known = pc_table_column(t, "event", PCOLLECT_COLUMN_STRING) == EVENT &&
                 pc_table_column(t, "from", PCOLLECT_COLUMN_NODE) == FROM &&
                 pc_table_column(t, "to", PCOLLECT_COLUMN_NODE) == TO && t->n_columns == N_EDGE;
    return known ? t : NULL;
}

static const struct pc_profile_table *find_edge_samples(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "edge_samples");
    bool known =
        pc_table_column(t, "context", PCOLLECT_COLUMN_NODE) == CONTEXT && t->n_columns == N_SAMPLE;
    return known ? t : NULL;
}

static void sort_samples(struct sharing *s, const struct pc_profile_table *t)
{
    s->samples = pct_alloc(t->n_rows + 1, sizeof *s->samples);
    for (uint32_t i = 0; i < t->n_rows; i++)
        if (t->cells[(size_t)i * N_SAMPLE + SAMPLES])
            s->samples[s->n_samples++] = t->cells + (size_t)i * N_SAMPLE;
    qsort(s->samples, s->n_samples, sizeof *s->samples, compare_samples);
}

static int compare_rows(const void *a, const void *b)
{
    const struct pct_attributed *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Joins rows, so that there is one for each event and node. */
static size_t join_rows(struct pct_attributed *rows, size_t n_rows)
{
    size_t n = 0;
    if (n_rows)
        qsort(rows, n_rows, sizeof *rows, compare_rows);
    for (size_t i = 0; i < n_rows; i++) {
        if (n && !compare_rows(&rows[n - 1], &rows[i])) {
            rows[n - 1].count += rows[i].count;
            rows[n - 1].certain += rows[i].certain;
            rows[n - 1].ancestor += rows[i].ancestor;
        } else {
            rows[n++] = rows[i];
        }
    }
    return n;
}

/* Rows by event and node, ascending; allocated; *n_out: their number. None if the profile has no
 * edges, or if its tables of these names belong to another plugin. */
static struct pct_attributed *attribute_counts(const struct pc_profile *p, size_t *n_out)
{
    const struct pc_profile_table *edges = find_edges(p);
    const struct pc_profile_table *samples = find_edge_samples(p);
    struct sharing s = {.profile = p};
    *n_out = 0;
    if (!edges || !samples || !p->n_nodes)
        return NULL;
    sort_samples(&s, samples);
    for (uint32_t i = 0; i < edges->n_rows; i++)
        place_edge(&s, edges->cells + (size_t)i * N_EDGE);
    pct_free(s.samples);
    *n_out = join_rows(s.rows, s.n);
    return s.rows;
}

/* ---- Instructions of ranks ------------------------------------------------------------------- */

/* The event of the first row that counts instructions; 0: none. */
static uint64_t find_instructions(const struct pc_profile *p, const struct pc_profile_table *t)
{
    for (uint32_t i = 0; i < t->n_rows; i++) {
        uint64_t event = t->cells[(size_t)i * t->n_columns + EVENT];
        if (pct_event_is_instructions(pc_profile_string(p, event)))
            return event;
    }
    return 0;
}

struct pct_rank_instructions *pct_instructions_by_rank(const struct pc_profile *p)
{
    const struct pc_profile_table *edges = find_edges(p);
    const struct pc_profile_table *points = pc_profile_table(p, "counters");
    uint32_t read = pc_table_column(points, "read", PCOLLECT_COLUMN_NUMBER);
    uint32_t skipped = pc_table_column(points, "skipped", PCOLLECT_COLUMN_NUMBER);
    uint64_t event = edges ? find_instructions(p, edges) : 0;
    if (!event || read == PC_NO_INDEX || skipped == PC_NO_INDEX || points->n_columns <= RANK)
        return NULL;
    struct pct_rank_instructions *list = pct_alloc(p->n_ranks, sizeof *list);
    for (uint32_t i = 0; i < edges->n_rows; i++) {
        const uint64_t *row = edges->cells + (size_t)i * N_EDGE;
        uint32_t r = pct_totals_place_of_rank(p, 0, (int64_t)row[RANK]);
        if (row[EVENT] == event && !row[INSIDE] && r < p->n_ranks)
            list[r].outside += (double)row[COUNT];
    }
    for (uint32_t i = 0; i < points->n_rows; i++) {
        const uint64_t *row = points->cells + (size_t)i * points->n_columns;
        uint32_t r = pct_totals_place_of_rank(p, 0, (int64_t)row[RANK]);
        if (row[EVENT] != event || r == p->n_ranks)
            continue;
        list[r].read += (double)row[read];
        list[r].skipped += (double)row[skipped];
    }
    return list;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

static void add_totals(struct pct_counts *c)
{
    size_t room = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!i || c->rows[i].event != c->rows[i - 1].event) {
            c->totals = pct_grow(c->totals, c->n_totals, &room, sizeof *c->totals);
            c->totals[c->n_totals++] = (struct pct_event_total){c->rows[i].event, 0};
        }
        c->totals[c->n_totals - 1].count += c->rows[i].count;
    }
}

pc_u128 pct_counts_total(const struct pct_counts *c, uint32_t event)
{
    size_t low = 0, high = c->n_totals;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->totals[middle].event <= event)
            low = middle;
        else
            high = middle;
    }
    return c->totals[low].count;
}

struct pct_counts *pct_counts_new(const struct pc_profile *p, const struct pct_tree *tree)
{
    struct pct_counts *c = pct_alloc(1, sizeof *c);
    c->rows = attribute_counts(p, &c->n);
    for (size_t i = 0; i < c->n; i++)
        c->rows[i].node = tree->shown[c->rows[i].node];
    c->n = join_rows(c->rows, c->n);
    add_totals(c);
    return c;
}

void pct_counts_free(struct pct_counts *c)
{
    if (!c)
        return;
    pct_free(c->rows);
    pct_free(c->totals);
    pct_free(c);
}
