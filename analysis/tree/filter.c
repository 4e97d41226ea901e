/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of a profile: the contexts of one phase, one region or one communicator.
 *
 * The part is a profile of its own that shares all but the nodes, the list of MPI functions and the
 * cells of tables with the whole. Invariant: it has the nodes that are taken and those above them,
 * and their MPI functions; records of other nodes
 * are not in it; rows of tables whose keys refer to another phase or communicator, or to a removed
 * context, are not in it, and other cells that refer to a removed context become empty. Figures of
 * whole ranks are unchanged.
 */
#include "analysis/tree/filter.h"

#include "analysis/buffer.h"

#include <string.h>

struct pct_part {
    struct pc_profile profile;
    struct pc_profile_node *nodes;
    struct pc_profile_op *ops;
    struct pc_profile_table *tables;
    uint32_t *moved; /* by node of the whole: its number here, or PC_NO_INDEX */
};

static bool is_phase(const struct pc_profile_node *n, const struct pct_filter *f)
{
    return n->kind == PCOLLECT_NODE_PHASE && n->offset == f->phase;
}

/* True for a node in the phase; `above` is the answer for its parent. Phase 0 has what is below no
 * phase. */
static bool is_in_phase(const struct pc_profile_node *n, const struct pct_filter *f, bool above)
{
    bool begins_other = !f->phase && n->kind == PCOLLECT_NODE_PHASE;
    return !f->has_phase || is_phase(n, f) || (above && !begins_other);
}

static bool is_region(const struct pc_profile *p, const struct pc_profile_node *n,
                      const struct pct_filter *f)
{
    const char *name = n->kind == PCOLLECT_NODE_REGION ? pc_profile_region(p, n->offset) : NULL;
    return name && !strcmp(name, f->region);
}

/* Marks the nodes whose records are taken. Parents come before their children. */
static void take_nodes(const struct pc_profile *p, const struct pct_filter *f, bool *taken)
{
    bool *in_phase = pct_alloc(p->n_nodes, sizeof *in_phase);
    bool *in_region = pct_alloc(p->n_nodes, sizeof *in_region);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        bool root = n->parent == PC_NO_INDEX;
        in_phase[i] = is_in_phase(n, f, root ? !f->phase : in_phase[n->parent]);
        in_region[i] = !f->region || (root ? false : in_region[n->parent]) || is_region(p, n, f);
        bool in_domain = !f->domain || (n->kind == PCOLLECT_NODE_DOMAIN && n->offset == f->domain);
        taken[i] = n->data != PC_NO_INDEX && in_phase[i] && in_region[i] && in_domain;
    }
    pct_free(in_phase);
    pct_free(in_region);
}

/* Numbers the nodes that are taken and all above them; the root is always included. */
static uint32_t number_nodes(const struct pc_profile *p, const bool *taken, uint32_t *moved)
{
    uint32_t n = 0;
    bool *kept = pct_alloc(p->n_nodes, sizeof *kept);
    for (uint32_t i = p->n_nodes; i-- > 0;) {
        kept[i] |= taken[i] || !i;
        if (kept[i] && i)
            kept[p->nodes[i].parent] = true;
    }
    for (uint32_t i = 0; i < p->n_nodes; i++)
        moved[i] = kept[i] ? n++ : PC_NO_INDEX;
    pct_free(kept);
    return n;
}

static void copy_nodes(struct pct_part *part, const struct pc_profile *p, const bool *taken)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (part->moved[i] == PC_NO_INDEX)
            continue;
        struct pc_profile_node *n = &part->nodes[part->moved[i]];
        *n = p->nodes[i];
        n->n_descendants = 0;
        if (n->parent != PC_NO_INDEX)
            n->parent = part->moved[n->parent];
        if (!taken[i])
            n->data = PC_NO_INDEX;
    }
    for (uint32_t i = part->profile.n_nodes; i-- > 1;)
        part->nodes[part->nodes[i].parent].n_descendants += 1 + part->nodes[i].n_descendants;
}

/* Leaves out the MPI functions that no node of the part has. */
static void copy_ops(struct pct_part *part, const struct pc_profile *p)
{
    uint32_t *number = pct_alloc(p->n_ops, sizeof *number), n = 0;
    for (uint32_t i = 0; i < part->profile.n_nodes; i++)
        if (part->nodes[i].op < p->n_ops)
            number[part->nodes[i].op] = 1;
    part->ops = pct_alloc(p->n_ops, sizeof *part->ops);
    for (uint32_t op = 0; op < p->n_ops; op++)
        if (number[op]) {
            part->ops[n] = p->ops[op];
            number[op] = n++;
        }
    for (uint32_t i = 0; i < part->profile.n_nodes; i++)
        if (part->nodes[i].op < p->n_ops)
            part->nodes[i].op = number[part->nodes[i].op];
    part->profile.ops = part->ops;
    part->profile.n_ops = n;
    pct_free(number);
}

/* True if the key is the host's `phase`: a number that no plugin provides. */
static bool is_phase_key(const struct pc_profile_table *t, uint32_t column)
{
    return column < t->n_keys && t->columns[column].type == PCOLLECT_COLUMN_NUMBER &&
           !strcmp(t->columns[column].name, "phase");
}

static bool has_key(const struct pc_profile_table *t, uint16_t type)
{
    for (uint32_t i = 0; t && i < t->n_keys; i++)
        if (t->columns[i].type == type)
            return true;
    return false;
}

static bool has_phase_key(const struct pc_profile_table *t)
{
    for (uint32_t i = 0; t && i < t->n_keys; i++)
        if (is_phase_key(t, i))
            return true;
    return false;
}

const char *pct_filter_refuses(const struct pc_profile_table *t, const struct pct_filter *f)
{
    bool by_context = has_key(t, PCOLLECT_COLUMN_NODE);
    if (f->has_phase && !by_context && !has_phase_key(t))
        return "is not kept by phase";
    if (f->region && !by_context)
        return "is not kept by region";
    if (f->domain && !by_context && !has_key(t, PCOLLECT_COLUMN_DOMAIN))
        return "is not kept by communicator";
    return NULL;
}

/* True if the row belongs to the part, by its keys. Contexts in its keys are renumbered. */
static bool is_row_taken(const struct pct_part *part, const struct pc_profile_table *t,
                         const uint64_t *cells, const struct pct_filter *f)
{
    for (uint32_t i = 0; i < t->n_keys; i++) {
        uint16_t type = t->columns[i].type;
        if (f->has_phase && is_phase_key(t, i) && cells[i] != f->phase)
            return false;
        if (f->domain && type == PCOLLECT_COLUMN_DOMAIN && cells[i] != f->domain)
            return false;
        /* The first context decides: requests belong to the one that started them. */
        if (type == PCOLLECT_COLUMN_NODE)
            return !cells[i] || part->moved[cells[i]] != PC_NO_INDEX;
    }
    return true;
}

static void copy_row(const struct pct_part *part, const struct pc_profile_table *t,
                     const uint64_t *from, uint64_t *to)
{
    for (uint32_t k = 0; k < t->n_columns; k++) {
        to[k] = from[k];
        if (t->columns[k].type == PCOLLECT_COLUMN_NODE && from[k])
            to[k] = part->moved[from[k]] == PC_NO_INDEX ? 0 : part->moved[from[k]];
    }
}

static void copy_tables(struct pct_part *part, const struct pc_profile *p,
                        const struct pct_filter *f)
{
    part->tables = pct_alloc(p->n_tables, sizeof *part->tables);
    for (uint32_t i = 0; i < p->n_tables; i++) {
        const struct pc_profile_table *from = &p->tables[i];
        struct pc_profile_table *t = &part->tables[i];
        pc_table_need(p, from);
        *t = *from;
        t->cells = pct_alloc((size_t)from->n_rows * from->n_columns, sizeof *t->cells);
        t->n_rows = 0;
        for (uint32_t r = 0; r < from->n_rows; r++) {
            const uint64_t *cells = &from->cells[(size_t)r * from->n_columns];
            if (is_row_taken(part, from, cells, f))
                copy_row(part, from, cells, &t->cells[(size_t)t->n_rows++ * from->n_columns]);
        }
    }
}

struct pct_part *pct_part_new(const struct pc_profile *p, const struct pct_filter *f)
{
    struct pct_part *part = pct_alloc(1, sizeof *part);
    bool *taken = pct_alloc(p->n_nodes, sizeof *taken);
    part->profile = *p;
    part->moved = pct_alloc(p->n_nodes, sizeof *part->moved);
    take_nodes(p, f, taken);
    part->profile.n_nodes = number_nodes(p, taken, part->moved);
    part->nodes = pct_alloc(part->profile.n_nodes, sizeof *part->nodes);
    copy_nodes(part, p, taken);
    copy_ops(part, p);
    copy_tables(part, p, f);
    part->profile.nodes = part->nodes;
    part->profile.tables = part->tables;
    pct_free(taken);
    return part;
}

const struct pc_profile *pct_part_profile(const struct pct_part *part)
{
    return &part->profile;
}

void pct_part_free(struct pct_part *part)
{
    if (!part)
        return;
    for (uint32_t i = 0; i < part->profile.n_tables; i++)
        pct_free(part->tables[i].cells);
    pct_free(part->tables);
    pct_free(part->nodes);
    pct_free(part->ops);
    pct_free(part->moved);
    pct_free(part);
}
