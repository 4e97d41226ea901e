/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Profiles in memory: makes and frees them, and defines the order of their elements. Records are
 * made in record_data.c; check.c checks a profile.
 */
#include "format/later_contexts.h"
#include "format/value_blocks.h"

const char *const pcollect_lost_names[PCOLLECT_N_LOST] = {
    [PCOLLECT_LOST_COLLAPSED] = "calls booked to an outer context: the buffer was full",
    [PCOLLECT_LOST_CALLS] = "calls not booked: no room for their thread, or inside of 32 others",
    [PCOLLECT_LOST_NESTED] = "calls not booked: made in a signal handler inside the library",
    [PCOLLECT_LOST_CUT] = "contexts without outer frames: these could not be found",
    [PCOLLECT_LOST_DEEP] = "contexts without outer frames: deeper than max_depth",
    [PCOLLECT_LOST_DISAGREED] = "cached contexts that a full walk found wrong",
    [PCOLLECT_LOST_UNCACHED] = "contexts that had to be walked in full at every call",
    [PCOLLECT_LOST_RECEIVES] = "nonblocking receives whose size was never learnt",
    [PCOLLECT_LOST_LATE] = "calls after the merge not booked: no room in the file",
    [PCOLLECT_LOST_REGIONS] =
        "regions not kept apart: beyond 1,023 different ones of a thread (use fewer names), "
        "inside of 64 others, or without room",
    [PCOLLECT_LOST_GROUPS] = "groups of events that a thread could not open: too few descriptors",
    [PCOLLECT_LOST_COUNTS] = "threads whose events could not be counted to their end",
    [PCOLLECT_LOST_BINS] = "calls missing in histograms: the buffer was full",
    [PCOLLECT_LOST_SAMPLES] = "records of the kernel, of samples or others: its buffers were full",
    [PCOLLECT_LOST_CPU_MS] =
        "ms of CPU time that no sample stands for: of threads too short for one, "
        "or not to be seen",
    [PCOLLECT_LOST_OTHERS_MS] = "ms of CPU time of processes that are not ranks",
    [PCOLLECT_LOST_PLACES] =
        "places of samples: their threads waited for a processor, and are where "
        "it was taken away",
    [PCOLLECT_LOST_FUNCTIONS] = "functions of samples: their code could not be read",
    [PCOLLECT_LOST_OF_EVENT] = "samples of the event: the kernel's buffers were full",
    [PCOLLECT_LOST_EVENTS] = "times that the event happened that no sample stands for",
    [PCOLLECT_LOST_LENT] =
        "times that a thread worked in a parallel region whose context found no room",
    [PCOLLECT_LOST_OPEN] =
        "regions left open up to the end of an outer region, of the thread or of the run",
    [PCOLLECT_LOST_ENDS] = "calls of pcollect_region_end for which no such region was open",
    [PCOLLECT_LOST_ROWS] = "entries of tables not booked: the buffer or the file was full",
};

struct pc_profile *pc_profile_new(void)
{
    struct pc_pool *pool = pc_pool_new();
    if (!pool)
        return NULL;
    struct pc_profile *p = pc_pool_array(pool, 1, sizeof *p);
    if (!p) {
        pc_pool_free(pool);
        return NULL;
    }
    static char empty[1];
    p->memory = pool;
    p->exe = p->mpi = p->job = empty;
    return p;
}

int pc_profile_make_root(struct pc_profile *p)
{
    p->nodes = pc_pool_array(p->memory, 1, sizeof *p->nodes);
    if (!p->nodes)
        return PC_ENOMEM;
    p->nodes[0] = (struct pc_profile_node){.parent = PC_NO_INDEX,
                                           .kind = PCOLLECT_NODE_ROOT,
                                           .module = PC_NO_INDEX,
                                           .op = PC_NO_INDEX,
                                           .data = PC_NO_INDEX};
    p->n_nodes = 1;
    p->statistics_only = true;
    return PC_OK;
}

void pc_profile_close(struct pc_profile *p)
{
    pc_columns_close(p->columns);
    pc_columns_close(p->steps);
    pc_later_close(p->later);
    pc_later_contexts_close(p);
}

void pc_profile_free(struct pc_profile *p)
{
    if (!p)
        return;
    pc_profile_close(p);
    pc_pool_free(p->records);
    pc_pool_free(p->memory);
}

/* ---- Orders ------------------------------------------------------------------------------- */

int pc_module_compare(const struct pc_profile_module *a, const struct pc_profile_module *b)
{
    if (a->build_id_bytes != b->build_id_bytes)
        return a->build_id_bytes > b->build_id_bytes ? -1 : 1; /* those with build-id first */
    if (a->build_id_bytes)
        return memcmp(a->build_id, b->build_id, a->build_id_bytes);
    int order = strcmp(a->path, b->path);
    return order ? order : pc_compare_u64(a->identity, b->identity);
}

int pc_node_compare(const struct pc_profile_node *a, const struct pc_profile_node *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return pc_compare_u64(a->offset, b->offset);
}

uint64_t pc_field_key(const struct pc_profile_field *f)
{
    uint64_t plugin = pc_hash_bytes(f->plugin, strlen(f->plugin), f->group);
    return pc_hash_bytes(f->name, strlen(f->name), plugin);
}

int pc_field_compare(const struct pc_profile_field *a, const struct pc_profile_field *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    int order = strcmp(a->plugin, b->plugin);
    return order ? order : strcmp(a->name, b->name);
}

void pc_profile_count_groups(struct pc_profile *p)
{
    p->n_comm = 0;
    while (p->n_comm < p->n_fields && p->fields[p->n_comm].group == PCOLLECT_GROUP_COMM)
        p->n_comm++;
}

bool pc_field_valid(const struct pc_profile_field *f)
{
    return pc_field_may_be(f->combine, f->unit, f->bins) && f->group <= PCOLLECT_GROUP_COMPUTE;
}

bool pc_fields_agree(const struct pc_profile *a, const struct pc_profile *b)
{
    uint32_t i = 0, j = 0;
    while (i < a->n_fields && j < b->n_fields) {
        const struct pc_profile_field *x = &a->fields[i], *y = &b->fields[j];
        int order = pc_field_compare(x, y);
        if (!order && (x->combine != y->combine || x->unit != y->unit || x->bins != y->bins))
            return false;
        i += order <= 0;
        j += order >= 0;
    }
    return true;
}

void pc_profile_count_descendants(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_nodes; i++)
        p->nodes[i].n_descendants = 0;
    for (uint32_t i = p->n_nodes; i-- > 1;)
        p->nodes[p->nodes[i].parent].n_descendants += p->nodes[i].n_descendants + 1;
}
