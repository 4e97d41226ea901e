/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the phases and regions of a profile: for each of them the calls of MPI_Comm_size made in
 * it
 * ("calls PLACE N"), and how often it was entered ("entered PLACE N"). PLACE is the path of phases
 * and regions; "-" is none. Bytes of names that are not printable ASCII are shown as ?.
 */
#include "format/profile.h"

#include <stdio.h>
#include <string.h>

static void put_name(const char *name)
{
    for (size_t i = 0; i < 40 && name[i]; i++)
        putchar(name[i] > ' ' && name[i] < 127 ? name[i] : '?');
    if (strlen(name) > 40)
        printf("(%zu)", strlen(name));
}

static bool put_place(const struct pc_profile *p, uint32_t node)
{
    if (node == PC_NO_INDEX)
        return false;
    const struct pc_profile_node *n = &p->nodes[node];
    bool inner = put_place(p, n->parent);
    if (n->kind != PCOLLECT_NODE_PHASE && n->kind != PCOLLECT_NODE_REGION)
        return inner;
    if (inner)
        putchar('/');
    if (n->kind == PCOLLECT_NODE_PHASE) {
        printf("phase%lu", (unsigned long)n->offset);
    } else {
        const char *name = pc_profile_region(p, n->offset);
        put_name(name ? name : "unknown");
    }
    return true;
}

static uint64_t calls_of(const struct pc_profile *p, const struct pc_profile_node *n)
{
    if (n->kind != PCOLLECT_NODE_OP || n->data == PC_NO_INDEX ||
        strcmp(p->ops[n->op].name, "MPI_Comm_size"))
        return 0;
    for (uint32_t k = 0; k < p->n_fields; k++)
        if (!strcmp(p->fields[k].plugin, "time") && !strcmp(p->fields[k].name, "count"))
            return (uint64_t)pc_data_stat(p, &p->data[n->data], k).sum;
    return 0;
}

int main(int argc, char **argv)
{
    struct pc_profile *p;
    struct pc_error error = {""};
    if (argc != 2 || pc_pcol_read(argv[1], &p, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint64_t calls = calls_of(p, &p->nodes[i]);
        if (!calls)
            continue;
        printf("calls ");
        if (!put_place(p, i))
            putchar('-');
        printf(" %lu\n", (unsigned long)calls);
    }
    const struct pc_profile_table *t = pc_profile_table(p, "regions");
    for (uint32_t i = 0; t && i < t->n_rows; i++) {
        const uint64_t *row = t->cells + (size_t)i * t->n_columns;
        if (row[2] < row[3]) /* more time in MPI than in all */
            return 1;
        printf("entered ");
        put_place(p, (uint32_t)row[0]);
        printf(" %lu\n", (unsigned long)row[1]);
    }
    const struct pc_profile_rank *r = &p->ranks[0];
    printf("lost room %lu\n", (unsigned long)pc_rank_lost(r, PCOLLECT_LOST_REGIONS));
    printf("lost open %lu\n", (unsigned long)pc_rank_lost(r, PCOLLECT_LOST_OPEN));
    printf("lost ends %lu\n", (unsigned long)pc_rank_lost(r, PCOLLECT_LOST_ENDS));
    pc_profile_free(p);
    return 0;
}
