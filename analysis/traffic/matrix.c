/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The matrix: rows of the table `pairs` summed over class and communicator, and those of
 * `pairs_by_distance` in the same way.
 */
#include "analysis/traffic/traffic_private.h"

#include <stdlib.h>
#include <string.h>

static int compare_pairs(const void *a, const void *b)
{
    const struct pct_pair *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->destination > y->destination) - (x->destination < y->destination);
}

/* The sum, or the greatest number: a file may hold any numbers, and a sum that began again at 0
 * would say that two ranks do not communicate. */
static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void add_pair(struct pct_pair *sum, const struct pct_pair *p)
{
    sum->messages = sum_of(sum->messages, p->messages);
    sum->bytes = sum_of(sum->bytes, p->bytes);
    sum->received = sum_of(sum->received, p->received);
    sum->received_bytes = sum_of(sum->received_bytes, p->received_bytes);
    sum->time_ns = sum_of(sum->time_ns, p->time_ns);
    sum->receive_ns = sum_of(sum->receive_ns, p->receive_ns);
}

/* Sorts the pairs, unless they are in order as rows of the table usually are: a copy of all of them
 * is made for it. */
static void sort_pairs(struct pct_topology *t)
{
    for (size_t i = 1; i < t->n_pairs; i++)
        if (compare_pairs(&t->pairs[i - 1], &t->pairs[i]) > 0) {
            qsort(t->pairs, t->n_pairs, sizeof *t->pairs, compare_pairs);
            return;
        }
}

static void join_equal(struct pct_topology *t)
{
    size_t n = 0;
    sort_pairs(t);
    for (size_t i = 0; i < t->n_pairs; i++) {
        if (n && !compare_pairs(&t->pairs[n - 1], &t->pairs[i]))
            add_pair(&t->pairs[n - 1], &t->pairs[i]);
        else
            t->pairs[n++] = t->pairs[i];
    }
    t->n_pairs = n;
}

static bool is_asked(const struct pc_profile *p, const struct pct_pair_filter *filter,
                     uint64_t class_text, uint64_t domain, uint64_t phase)
{
    return (!filter->class_name || !strcmp(filter->class_name, pc_profile_string(p, class_text))) &&
           (!filter->domain || filter->domain == domain) &&
           (!filter->has_phase || filter->phase == phase);
}

static void read_pairs(struct pct_topology *t, const struct pc_profile *p,
                       const struct pc_profile_table *from, const struct pct_pair_filter *filter)
{
    enum { SOURCE, DESTINATION, CLASS, DOMAIN, FIRST_NUMBER };
    static const char *const names[] = {"source",         "destination",  "class", "domain",
                                        "messages",       "bytes",        "time",  "received",
                                        "received_bytes", "receive_time", "phase"};
    static const enum pcollect_column_type types[FIRST_NUMBER] = {
        PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_DOMAIN};
    uint32_t c[PC_ARRAY_LEN(names)];
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++)
        c[i] =
            pc_table_column(from, names[i], i < FIRST_NUMBER ? types[i] : PCOLLECT_COLUMN_NUMBER);
    t->pairs = pct_alloc(from->n_rows, sizeof *t->pairs);
    for (uint32_t r = 0; r < from->n_rows; r++) {
        if (!is_asked(p, filter, pc_table_cell(from, r, c[2]), pc_table_cell(from, r, c[3]),
                      pc_table_cell(from, r, c[10])))
            continue;
        struct pct_pair pair = {
            (int32_t)pc_table_cell(from, r, c[0]), (int32_t)pc_table_cell(from, r, c[1]),
            pc_table_cell(from, r, c[4]),          pc_table_cell(from, r, c[5]),
            pc_table_cell(from, r, c[7]),          pc_table_cell(from, r, c[8]),
            pc_table_cell(from, r, c[6]),          pc_table_cell(from, r, c[9])};
        if (!pct_topology_is_rank(t, pair.source))
            pair.source = -1;
        if (!pct_topology_is_rank(t, pair.destination))
            pair.destination = -1;
        t->pairs[t->n_pairs++] = pair;
    }
    join_equal(t);
}

bool pct_topology_is_missing(const struct pct_topology *t, int32_t rank)
{
    return rank < 0 || t->places[rank].missing;
}

/* Counts messages as they were received where nothing is known of what the sender did. One-sided
 * calls of receivers have filled both sides. */
static void count_received(struct pct_topology *t)
{
    for (size_t i = 0; i < t->n_pairs; i++) {
        struct pct_pair *p = &t->pairs[i];
        if (!pct_topology_is_missing(t, p->source))
            continue;
        p->messages = p->received;
        p->bytes = p->received_bytes;
    }
}

static int compare_distances(const void *a, const void *b)
{
    const struct pct_distance *x = a, *y = b;
    return (x->least > y->least) - (x->least < y->least);
}

static void read_distances(struct pct_topology *t, const struct pc_profile *p,
                           const struct pc_profile_table *from,
                           const struct pct_pair_filter *filter)
{
    enum { LEAST, CLASS, DOMAIN, MESSAGES, BYTES, PHASE, N };
    static const char *const names[N] = {"distance", "class", "domain",
                                         "messages", "bytes", "phase"};
    static const enum pcollect_column_type types[N] = {
        PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_DOMAIN,
        PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER, PCOLLECT_COLUMN_NUMBER};
    uint32_t c[N];
    for (size_t i = 0; i < N; i++)
        c[i] = pc_table_column(from, names[i], types[i]);
    t->distances = pct_alloc(from->n_rows, sizeof *t->distances);
    for (uint32_t r = 0; r < from->n_rows; r++)
        if (is_asked(p, filter, pc_table_cell(from, r, c[CLASS]), pc_table_cell(from, r, c[DOMAIN]),
                     pc_table_cell(from, r, c[PHASE])))
            t->distances[t->n_distances++] = (struct pct_distance){
                pc_table_cell(from, r, c[LEAST]), pc_table_cell(from, r, c[MESSAGES]),
                pc_table_cell(from, r, c[BYTES])};
    qsort(t->distances, t->n_distances, sizeof *t->distances, compare_distances);
    size_t n = 0;
    for (size_t i = 0; i < t->n_distances; i++) {
        const struct pct_distance d = t->distances[i];
        if (n && t->distances[n - 1].least == d.least) {
            t->distances[n - 1].messages += d.messages;
            t->distances[n - 1].bytes += d.bytes;
        } else {
            t->distances[n++] = d;
        }
    }
    t->n_distances = n;
}

/* Sums up the table `collectives`; a profile without it has none. They are in no class. */
static void read_collectives(struct pct_topology *t, const struct pc_profile *p,
                             const struct pct_pair_filter *filter)
{
    const struct pct_pair_filter any_class = {
        .domain = filter->domain, .has_phase = filter->has_phase, .phase = filter->phase};
    const struct pc_profile_table *from = pc_profile_table_in_order(p, "collectives");
    uint32_t calls = pc_table_column(from, "calls", PCOLLECT_COLUMN_NUMBER),
             bytes = pc_table_column(from, "bytes_sent", PCOLLECT_COLUMN_NUMBER),
             time = pc_table_column(from, "time", PCOLLECT_COLUMN_NUMBER),
             domain = pc_table_column(from, "domain", PCOLLECT_COLUMN_DOMAIN),
             phase = pc_table_column(from, "phase", PCOLLECT_COLUMN_NUMBER);
    for (uint32_t r = 0; from && r < from->n_rows; r++) {
        if (!is_asked(p, &any_class, 0, pc_table_cell(from, r, domain),
                      pc_table_cell(from, r, phase)))
            continue;
        t->collected.calls += pc_table_cell(from, r, calls);
        t->collected.bytes += pc_table_cell(from, r, bytes);
        t->collected.ns += pc_table_cell(from, r, time);
    }
}

static bool has_rows(const struct pc_profile_table *t)
{
    return t && t->n_rows;
}

/* True if the program sent messages and used sessions. */
static bool sends_in_sessions(const struct pc_profile *p)
{
    bool sends = false, sessions = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        uint16_t op_class = p->ops[i].op_class;
        sends |= op_class == PCOLLECT_CLASS_P2P || op_class == PCOLLECT_CLASS_RMA;
        sessions |= !strcmp(p->ops[i].name, "MPI_Session_init");
    }
    return sends && sessions;
}

struct pct_topology *pct_topology_new(const struct pc_profile *p,
                                      const struct pct_pair_filter *filter)
{
    const struct pc_profile_table *from = pc_profile_table_in_order(p, "pairs");
    if (!from)
        return NULL;
    struct pct_topology *t = pct_alloc(1, sizeof *t);
    t->n_ranks = p->world_size;
    t->one_phase = filter->has_phase;
    t->rounded = from->rounded;
    read_pairs(t, p, from, filter);
    const struct pc_profile_table *summed = pc_profile_table_in_order(p, "pairs_by_distance");
    if (summed)
        read_distances(t, p, summed, filter);
    read_collectives(t, p, filter);
    t->are_uncounted = !has_rows(from) && !has_rows(summed) && sends_in_sessions(p);
    pct_topology_read_places(t, p);
    count_received(t);
    return t;
}

void pct_topology_free(struct pct_topology *t)
{
    if (!t)
        return;
    pct_free(t->pairs);
    pct_free(t->distances);
    pct_free(t->places);
    pct_free(t->nodes);
    pct_free(t->sockets);
    pct_free(t->first_socket);
    pct_free(t);
}

struct pct_traffic pct_traffic_sum(const struct pc_profile *p)
{
    static const char *const names[] = {"pairs", "pairs_by_distance"};
    struct pct_traffic sum = {.by_pair = true};
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++) {
        const struct pc_profile_table *t = pc_profile_table_in_order(p, names[i]);
        uint32_t source = pc_table_column(t, "source", PCOLLECT_COLUMN_RANK),
                 destination = pc_table_column(t, "destination", PCOLLECT_COLUMN_RANK),
                 messages = pc_table_column(t, "messages", PCOLLECT_COLUMN_NUMBER),
                 bytes = pc_table_column(t, "bytes", PCOLLECT_COLUMN_NUMBER);
        sum.by_pair &= i == 0 || !t || !t->n_rows;
        for (uint32_t r = 0; t && r < t->n_rows; r++) {
            uint64_t from = pc_table_cell(t, r, source), to = pc_table_cell(t, r, destination);
            uint64_t n = pc_table_cell(t, r, messages), size = pc_table_cell(t, r, bytes);
            bool own = i == 0 && from == to && from < p->world_size;
            bool far = i == 0 && (int64_t)to == PCOLLECT_RANK_OUTSIDE;
            sum.messages += n;
            sum.bytes += size;
            sum.own_messages += own ? n : 0;
            sum.own_bytes += own ? size : 0;
            sum.far_messages += far ? n : 0;
            sum.far_bytes += far ? size : 0;
        }
    }
    return sum;
}

const char *const pct_domain_known[PCT_N_DOMAIN_KNOWN] = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};

void pct_domain_put(struct pct_buf *b, uint64_t id)
{
    for (size_t i = 0; i < PCT_N_DOMAIN_KNOWN; i++)
        if (id == pc_comm_id_of(pct_domain_known[i])) {
            pct_buf_text(b, pct_domain_known[i]);
            return;
        }
    pct_buf_hex(b, id);
}

/* A communicator without a row in the table `communicators`, which the plugin domain makes: one of
 * those that are known, or an id among the pairs. */
static uint64_t find_without_table(const struct pc_profile *p, const char *text, uint64_t id)
{
    const struct pc_profile_table *pairs = pc_profile_table_in_order(p, "pairs");
    uint32_t at = pc_table_column(pairs, "domain", PCOLLECT_COLUMN_DOMAIN);
    for (size_t i = 0; i < PCT_N_DOMAIN_KNOWN; i++)
        if (!strcmp(text, pct_domain_known[i]))
            return pc_comm_id_of(text);
    for (uint32_t r = 0; id && at != PC_NO_INDEX && r < pairs->n_rows; r++)
        if (pc_table_cell(pairs, r, at) == id)
            return id;
    return 0;
}

uint64_t pct_domain_find(const struct pc_profile *p, const char *text, struct pct_buf *why)
{
    enum { SHOWN = 8 };
    const struct pc_profile_table *t = pc_profile_table(p, "communicators");
    char *end;
    uint64_t id = strtoull(text, &end, 16), named[SHOWN];
    size_t n_named = 0;
    bool is_id = *text && !*end;
    uint32_t domain_at = pc_table_column(t, "domain", PCOLLECT_COLUMN_DOMAIN),
             name_at = pc_table_column(t, "name", PCOLLECT_COLUMN_STRING);
    for (uint32_t r = 0; t && r < t->n_rows; r++) {
        uint64_t row_id = pc_table_cell(t, r, domain_at);
        if (is_id && row_id == id)
            return id;
        if (strcmp(pc_profile_string(p, pc_table_cell(t, r, name_at)), text) != 0)
            continue;
        if (n_named < SHOWN)
            named[n_named] = row_id;
        n_named++;
    }
    if (n_named == 1)
        return named[0];
    uint64_t found = n_named ? 0 : find_without_table(p, text, is_id ? id : 0);
    if (found)
        return found;
    if (!n_named)
        pct_buf_text(why, "the profile has no communicator with this id or name; pcollect report "
                          "--table communicators lists them (the plugin domain makes it)");
    else
        pct_buf_format(why, "%zu communicators have this name: give the id of one, ", n_named);
    for (size_t i = 0; i < n_named && i < SHOWN; i++) {
        pct_buf_text(why, i ? ", " : "");
        pct_buf_hex(why, named[i]);
    }
    pct_buf_text(why, n_named > SHOWN ? ", ..." : "");
    return 0;
}

/* ---- Reach ---------------------------------------------------------------------------------- */

static enum pct_reach reach_of(const struct pct_topology *t, const struct pct_pair *p)
{
    if (p->source < 0 || p->destination < 0)
        return PCT_REACH_OUTSIDE;
    const struct pct_rank_place *a = &t->places[p->source], *b = &t->places[p->destination];
    if (p->source == p->destination)
        return PCT_REACH_SELF;
    if (a->node != b->node)
        return PCT_REACH_BETWEEN;
    if (a->socket < 0 || b->socket < 0)
        return PCT_REACH_NODE;
    return a->socket == b->socket ? PCT_REACH_SOCKET : PCT_REACH_SOCKETS;
}

void pct_topology_sums(const struct pct_topology *t, struct pct_reach_sum sums[PCT_N_REACHES])
{
    memset(sums, 0, PCT_N_REACHES * sizeof *sums);
    for (size_t i = 0; i < t->n_pairs; i++) {
        struct pct_reach_sum *s = &sums[reach_of(t, &t->pairs[i])];
        s->pairs++;
        s->messages += t->pairs[i].messages;
        s->bytes += t->pairs[i].bytes;
    }
}

/* ---- Graph ---------------------------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
    const struct pct_edge *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static bool has_bytes(const struct pct_topology *t)
{
    for (size_t i = 0; i < t->n_pairs; i++)
        if (t->pairs[i].bytes)
            return true;
    return false;
}

/* Holds weights below their bound if their sum is above it: no job sends so much. */
static void bound_weights(struct pct_graph *g)
{
    pc_u128 sum = 0;
    for (size_t i = 0; i < g->n_edges; i++)
        sum += g->edges[i].weight;
    if (sum <= PCT_MOST_WEIGHT)
        return;
    uint64_t most = PCT_MOST_WEIGHT / g->n_edges;
    for (size_t i = 0; i < g->n_edges; i++) {
        struct pct_edge *e = &g->edges[i];
        e->weight = e->weight > most ? most : e->weight;
        e->lesser = e->lesser > most / 2 ? most / 2 : e->lesser;
    }
}

/* Adds the other direction of a pair. */
static void add_direction(struct pct_edge *e, uint64_t weight)
{
    e->lesser = weight < e->weight ? weight : e->weight;
    e->weight = sum_of(e->weight, weight);
}

void pct_graph_make(const struct pct_topology *t, struct pct_graph *g)
{
    bool bytes = has_bytes(t);
    size_t n = 0, m = 0;
    g->n = t->n_ranks;
    g->are_uncounted = t->are_uncounted;
    g->by_bytes = bytes;
    g->has_gaps = t->n_missing != 0;
    g->edges = pct_alloc(t->n_pairs, sizeof *g->edges);
    for (size_t i = 0; i < t->n_pairs; i++) {
        const struct pct_pair *p = &t->pairs[i];
        uint64_t weight = bytes ? p->bytes : p->messages;
        if (p->source < 0 || p->destination < 0 || p->source == p->destination || !weight)
            continue;
        uint32_t a = (uint32_t)p->source, b = (uint32_t)p->destination;
        g->edges[n++] = (struct pct_edge){a < b ? a : b, a < b ? b : a, weight, 0};
    }
    qsort(g->edges, n, sizeof *g->edges, compare_edges);
    for (size_t i = 0; i < n; i++) {
        if (m && !compare_edges(&g->edges[m - 1], &g->edges[i]))
            add_direction(&g->edges[m - 1], g->edges[i].weight);
        else
            g->edges[m++] = g->edges[i];
    }
    g->n_edges = m;
    bound_weights(g);
}

void pct_graph_free(struct pct_graph *g)
{
    pct_free(g->edges);
    *g = (struct pct_graph){0};
}
