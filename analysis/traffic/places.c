/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the places of ranks: hosts of the profile's ranks, sockets from the table `machine` (by
 * hwloc), bindings from the table `place`. A rank is on a socket if all processors on which it may
 * run are there. A node without rows in `machine` has the sockets that the kernel reported.
 */
#include "analysis/hash_index.h"
#include "analysis/traffic/traffic_private.h"

#include <stdlib.h>
#include <string.h>

bool pct_processors_next(const char **at, unsigned long *first, unsigned long *last)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *first = *last = strtoul(*at, &end, 10);
    if (*end == '-')
        *last = strtoul(end + 1, &end, 10);
    *at = *end == ',' ? end + 1 : end;
    return true;
}

static bool lists_meet(const char *a, const char *b)
{
    unsigned long from, to, first, last;
    while (pct_processors_next(&a, &from, &to))
        for (const char *other = b; pct_processors_next(&other, &first, &last);)
            if (first <= to && from <= last)
                return true;
    return false;
}

static uint32_t hash_name(const char *name)
{
    return (uint32_t)pc_hash_bytes(name, strlen(name), 0);
}

/* Index of the node; PC_NO_INDEX: there is none of this name. */
static uint32_t find_node(const struct pct_hash_index *by_name, const struct pct_topology *t,
                          const char *name)
{
    struct pct_hash_search search = {.hash = hash_name(name)};
    uint32_t node;
    while ((node = pct_hash_next(by_name, &search)) != PC_NO_INDEX)
        if (!strcmp(t->nodes[node], name))
            break;
    return node;
}

/* Reads hosts. A rank that is not in the profile is assumed to be on the node of the rank before
 * it, or of the first one there is. */
static void read_hosts(struct pct_topology *t, const struct pc_profile *p,
                       struct pct_hash_index *by_name)
{
    uint32_t k = 0; /* the last of the profile's ranks up to `rank` */
    for (uint32_t rank = 0; rank < t->n_ranks; rank++) {
        while (k + 1 < p->n_ranks && p->ranks[k + 1].rank <= (int32_t)rank)
            k++;
        bool missing = !p->n_ranks || p->ranks[k].rank != (int32_t)rank;
        t->n_missing += missing;
        const char *host = p->n_ranks ? p->ranks[k].host : "";
        uint32_t node = find_node(by_name, t, host);
        if (node == PC_NO_INDEX) {
            node = t->n_nodes++;
            t->nodes[node] = host;
            pct_hash_add(by_name, hash_name(host), node);
        }
        t->places[rank] = (struct pct_rank_place){node, missing, -1, ""};
    }
}

static void read_machine(struct pct_topology *t, const struct pc_profile *p,
                         const struct pct_hash_index *by_name, const struct pc_profile_table *m)
{
    uint32_t host = pc_table_column(m, "host", PCOLLECT_COLUMN_STRING),
             socket = pc_table_column(m, "socket", PCOLLECT_COLUMN_NUMBER),
             cores = pc_table_column(m, "cores", PCOLLECT_COLUMN_NUMBER),
             list = pc_table_column(m, "list", PCOLLECT_COLUMN_STRING);
    for (uint32_t r = 0; r < m->n_rows; r++) {
        const char *name = pc_profile_string(p, pc_table_cell(m, r, host));
        uint32_t node = find_node(by_name, t, name);
        uint64_t number = pc_table_cell(m, r, socket);
        if (node != PC_NO_INDEX && number - 1 < INT32_MAX)
            t->sockets[t->n_sockets++] = (struct pct_socket){
                node, (uint32_t)number - 1, (uint32_t)pc_table_cell(m, r, cores),
                pc_profile_string(p, pc_table_cell(m, r, list))};
    }
}

/* Reads the kernel's sockets for nodes whose sockets hwloc did not give. */
static void read_kernel_sockets(struct pct_topology *t, const struct pc_profile_table *place)
{
    uint32_t rank_at = pc_table_column(place, "rank", PCOLLECT_COLUMN_RANK),
             socket_at = pc_table_column(place, "socket", PCOLLECT_COLUMN_NUMBER);
    bool *known = pct_alloc(t->n_nodes, sizeof *known);
    for (uint32_t i = 0; i < t->n_sockets; i++)
        known[t->sockets[i].node] = true;
    for (uint32_t r = 0; r < place->n_rows; r++) {
        int32_t rank = (int32_t)pc_table_cell(place, r, rank_at);
        uint64_t number = pc_table_cell(place, r, socket_at);
        if (pct_topology_is_rank(t, rank) && number - 1 < INT32_MAX && !known[t->places[rank].node])
            t->sockets[t->n_sockets++] =
                (struct pct_socket){t->places[rank].node, (uint32_t)number - 1, 0, NULL};
    }
    pct_free(known);
}

static int compare_sockets(const void *a, const void *b)
{
    const struct pct_socket *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->list ? x->list : "", y->list ? y->list : "");
}

/* Sorts the sockets and removes duplicates. */
static void sort_sockets(struct pct_topology *t)
{
    uint32_t i = 0, n = 0;
    qsort(t->sockets, t->n_sockets, sizeof *t->sockets, compare_sockets);
    for (uint32_t k = 0; k < t->n_sockets; k++)
        if (!n || t->sockets[n - 1].node != t->sockets[k].node ||
            t->sockets[n - 1].number != t->sockets[k].number)
            t->sockets[n++] = t->sockets[k];
    t->n_sockets = n;
    for (uint32_t node = 0; node <= t->n_nodes; node++) {
        while (i < t->n_sockets && t->sockets[i].node < node)
            i++;
        t->first_socket[node] = i;
    }
}

/* The socket on which a rank with these processors is bound, -1: on none, or several. Without a
 * list of processors it is the one that the kernel names. */
static int32_t find_socket(const struct pct_topology *t, uint32_t node, const char *cores,
                           uint64_t kernel)
{
    int32_t found = -1;
    for (uint32_t i = t->first_socket[node]; i < t->first_socket[node + 1]; i++) {
        const struct pct_socket *s = &t->sockets[i];
        bool listed = s->list && *cores;
        if (listed ? !lists_meet(cores, s->list) : s->number + (uint64_t)1 != kernel)
            continue;
        if (found >= 0)
            return -1;
        found = (int32_t)i;
    }
    return found;
}

static void read_bindings(struct pct_topology *t, const struct pc_profile *p,
                          const struct pc_profile_table *place)
{
    uint32_t rank_at = pc_table_column(place, "rank", PCOLLECT_COLUMN_RANK),
             socket_at = pc_table_column(place, "socket", PCOLLECT_COLUMN_NUMBER),
             cores_at = pc_table_column(place, "cores", PCOLLECT_COLUMN_STRING);
    for (uint32_t r = 0; r < place->n_rows; r++) {
        int32_t rank = (int32_t)pc_table_cell(place, r, rank_at);
        if (!pct_topology_is_rank(t, rank))
            continue;
        struct pct_rank_place *at = &t->places[rank];
        at->cores = pc_profile_string(p, pc_table_cell(place, r, cores_at));
        at->socket = find_socket(t, at->node, at->cores, pc_table_cell(place, r, socket_at));
        t->has_sockets |= at->socket >= 0;
    }
}

void pct_topology_read_places(struct pct_topology *t, const struct pc_profile *p)
{
    const struct pc_profile_table *place = pc_profile_table_in_order(p, "place"),
                                  *machine = pc_profile_table_in_order(p, "machine");
    t->places = pct_alloc(t->n_ranks, sizeof *t->places);
    t->nodes = pct_alloc(t->n_ranks, sizeof *t->nodes);
    struct pct_hash_index by_name = {0};
    read_hosts(t, p, &by_name);
    size_t most = (machine ? machine->n_rows : 0) + (size_t)(place ? place->n_rows : 0);
    t->sockets = pct_alloc(most, sizeof *t->sockets);
    t->first_socket = pct_alloc(t->n_nodes + 1, sizeof *t->first_socket);
    if (machine)
        read_machine(t, p, &by_name, machine);
    pct_hash_free(&by_name);
    if (place)
        read_kernel_sockets(t, place);
    sort_sockets(t);
    if (place)
        read_bindings(t, p, place);
}
