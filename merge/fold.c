/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Folding contexts: see fold.h.
 */
#include "merge/fold.h"

#include "merge/image.h"

/* Calls within calls that are told apart; those deeper are beside the last. */
enum { MOST_NESTED = 16 };

/* A call, communicator or sample that is folded, in the order of the old tree. */
struct item {
    uint32_t node;
    uint32_t above; /* its innermost ancestor that holds what is folded */
    uint32_t until; /* the folded contexts of `above` come before this node of the old tree */
    uint32_t up;    /* the item around it, as a place in `items`, or PC_NO_INDEX */
    uint32_t depth; /* items around it */
    int32_t rank;   /* the lowest of its record; 0 without one */
    struct pc_profile_node key;
};

struct fold {
    struct pc_profile *p;
    bool *stays;     /* by node */
    bool *holds;     /* by node: what is folded below it stays there */
    uint32_t *place; /* by node: its number in the new tree, or that of what stands for it */
    uint32_t *ends;  /* by node: end_of_frames; 0: not known yet */
    struct item *items;
    uint32_t *order; /* of the items in the new tree */
    uint32_t n_items, next;
    const struct item *last; /* the one that was written last */
    uint32_t frame;          /* of the last one, in the new tree */
    struct pc_profile_node *nodes;
    struct pc_profile_data *data;
    uint32_t n_nodes, n_data;
};

/* ---- What is folded ------------------------------------------------------------------------- */

/* All stay that lead to one that stays, phases and regions, and the other communicators of a call
 * that stays. */
static void find_staying(struct fold *f, const enum pc_record_fate *fates)
{
    const struct pc_profile *p = f->p;
    for (uint32_t i = p->n_nodes; i--;) {
        const struct pc_profile_node *n = &p->nodes[i];
        bool is_leaf = !n->n_descendants;
        f->stays[i] |= n->data == PC_NO_INDEX ? is_leaf : fates[n->data] != PC_RECORD_FOLDED;
        f->stays[i] |= n->kind == PCOLLECT_NODE_PHASE || n->kind == PCOLLECT_NODE_REGION;
        f->holds[i] |= n->data != PC_NO_INDEX && fates[n->data] == PC_RECORD_SHARED;
        if (i) {
            f->stays[n->parent] |= f->stays[i];
            f->holds[n->parent] |= f->holds[i];
        }
    }
    f->stays[0] = true;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        f->holds[i] = f->stays[i] && (p->nodes[i].kind != PCOLLECT_NODE_FRAME || f->holds[i]);
    for (uint32_t i = 1; i < p->n_nodes; i++)
        f->stays[i] |= p->nodes[i].kind == PCOLLECT_NODE_DOMAIN && f->stays[p->nodes[i].parent];
}

/* The first child of a node that comes behind a folded frame, or the end of the subtree. */
static uint32_t end_of_frames(const struct pc_profile *p, uint32_t node)
{
    uint32_t end = node + 1 + p->nodes[node].n_descendants, at = node + 1;
    while (at < end && p->nodes[at].kind <= PCOLLECT_NODE_FRAME)
        at += 1 + p->nodes[at].n_descendants;
    return at;
}

/* Orders two items of one ancestor like the nodes that they become. */
static int compare_places(const struct fold *f, const struct item *x, const struct item *y)
{
    uint32_t deeper = x->depth > y->depth ? x->depth - y->depth : 0;
    if (x->depth < y->depth)
        return -compare_places(f, y, x);
    for (uint32_t i = 0; i < deeper; i++)
        x = &f->items[x->up];
    if (x == y)
        return (int)deeper;
    int order = x->depth ? compare_places(f, &f->items[x->up], &f->items[y->up]) : 0;
    order = order ? order : pc_node_compare(&x->key, &y->key);
    return order ? order : (int)deeper;
}

/* Orders items as they are written. Of subtrees that end at the same node the innermost comes
 * first. Of one place those of one rank are together. */
static int compare_items(const void *a, const void *b, void *fold)
{
    const struct fold *f = fold;
    const struct item *x = &f->items[*(const uint32_t *)a], *y = &f->items[*(const uint32_t *)b];
    int order = pc_compare_u64(x->until, y->until);
    order = order ? order : pc_compare_u64(y->above, x->above);
    order = order ? order : compare_places(f, x, y);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* The key of what a node becomes. */
static struct pc_profile_node key_of(const struct pc_profile_node *n)
{
    struct pc_profile_node key = {.kind = n->kind,
                                  .flags = PCOLLECT_FLAG_COLLAPSED,
                                  .module = PC_NO_INDEX,
                                  .op = n->op,
                                  .data = PC_NO_INDEX,
                                  .offset = n->offset};
    if (n->kind == PCOLLECT_NODE_POINT)
        key.offset = PC_NODE_FOLDED_POINT;
    return key;
}

/* place[i] is the item of node i meanwhile. */
static void list_items(struct fold *f)
{
    const struct pc_profile *p = f->p;
    for (uint32_t i = 1; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        struct item item = {.node = i, .above = n->parent, .up = PC_NO_INDEX, .key = key_of(n)};
        if (f->stays[i] || !pcollect_node_has_record(n->kind))
            continue;
        for (; !f->holds[item.above]; item.above = p->nodes[item.above].parent)
            if (item.up == PC_NO_INDEX && pcollect_node_has_record(p->nodes[item.above].kind))
                item.up = f->place[item.above];
        while (n->kind != PCOLLECT_NODE_DOMAIN && item.up != PC_NO_INDEX &&
               f->items[item.up].depth >= MOST_NESTED)
            item.up = f->items[item.up].up;
        item.depth = item.up == PC_NO_INDEX ? 0 : f->items[item.up].depth + 1;
        if (!f->ends[item.above]) /* a node may have many children and hold many items */
            f->ends[item.above] = end_of_frames(p, item.above);
        item.until = f->ends[item.above];
        item.rank = n->data == PC_NO_INDEX ? 0 : p->data[n->data].first_rank;
        f->order[f->n_items] = f->place[i] = f->n_items;
        f->items[f->n_items++] = item;
    }
    qsort_r(f->order, f->n_items, sizeof *f->order, compare_items, f);
}

/* ---- The new tree --------------------------------------------------------------------------- */

static uint32_t put_node(struct fold *f, uint32_t parent, const struct pc_profile_node *key)
{
    f->nodes[f->n_nodes] = *key;
    f->nodes[f->n_nodes].parent = parent;
    return f->n_nodes++;
}

/* Gives a record bins to which others can be added. */
static bool open_bins(struct pc_profile *p, struct pc_profile_data *d)
{
    const struct pc_profile_data coded = *d;
    if (!pc_profile_data_bins(p, d))
        return false;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        if (p->fields[k].combine == PCOLLECT_HIST)
            memcpy(d->bins[k - d->first_field], pc_data_bins(p, &coded, k),
                   p->fields[k].bins * sizeof **d->bins);
    return true;
}

/* Appends a rank to the lists of a record, which have room for a power of two. */
static bool add_rank(struct pc_profile *p, struct pc_profile_data *d, int32_t rank)
{
    size_t n = d->n_ranks, width = p->n_fields - d->first_field;
    if (!(n & (n - 1))) {
        const struct pc_profile_data before = *d;
        if (!pc_profile_data_lists(p, d, 2 * (uint32_t)n))
            return false;
        memcpy(d->ranks, before.ranks, n * sizeof *d->ranks);
        memcpy(d->values, before.values, n * width * sizeof *d->values);
    }
    d->form = PC_FORM_STATS;
    d->stats = NULL; /* not made yet */
    d->ranks[n] = rank;
    d->n_ranks = (uint32_t)n + 1;
    return true;
}

/* Adds a record of one rank to another one of the same kind, of this rank or also of lower ones. */
static bool add_record(struct pc_profile *p, const struct pc_profile_data *from,
                       struct pc_profile_data *to)
{
    bool lone = to->form == PC_FORM_LONE;
    int32_t last = lone ? to->first_rank : to->ranks[to->n_ranks - 1];
    if (to->is_coded && !open_bins(p, to))
        return false;
    if (from->first_rank != last && !add_rank(p, to, from->first_rank))
        return false;
    lone &= from->first_rank == last;
    uint64_t *sums =
        lone ? to->lone : to->values + (to->n_ranks - 1) * (p->n_fields - to->first_field);
    for (uint32_t k = to->first_field; k < p->n_fields; k++) {
        const struct pc_profile_field *field = &p->fields[k];
        uint64_t *sum = &sums[k - to->first_field];
        if (field->combine == PCOLLECT_HIST && p->no_bins)
            continue;
        if (field->combine == PCOLLECT_HIST) {
            const uint64_t *bins = pc_data_bins(p, from, k);
            for (uint32_t bin = 0; bin < field->bins; bin++)
                to->bins[k - to->first_field][bin] += bins[bin];
        } else {
            *sum = pc_field_combine(field->combine, *sum, pc_data_of_one(from, k));
        }
    }
    return true;
}

static struct pc_profile_data *put_record(struct fold *f, uint32_t node, uint32_t data)
{
    struct pc_profile_data *d = &f->data[f->n_data];
    f->nodes[node].data = f->n_data++;
    *d = f->p->data[data];
    return d;
}

/* Puts a record that is folded, or adds it to the one that is there. */
static bool put_folded(struct fold *f, uint32_t node, uint32_t data)
{
    if (data == PC_NO_INDEX)
        return true;
    if (f->nodes[node].data != PC_NO_INDEX)
        return add_record(f->p, &f->p->data[data], &f->data[f->nodes[node].data]);
    struct pc_profile_data *d = put_record(f, node, data);
    return d->form != PC_FORM_PACKED || pc_profile_data_open(f->p, d);
}

/* The node of the new tree for an item, found or made. */
static uint32_t place_of_item(struct fold *f, const struct item *item)
{
    static const struct pc_profile_node frame = {.kind = PCOLLECT_NODE_FRAME,
                                                 .flags = PCOLLECT_FLAG_COLLAPSED,
                                                 .module = PC_NO_INDEX,
                                                 .op = PC_NO_INDEX,
                                                 .data = PC_NO_INDEX,
                                                 .offset = PC_NODE_FOLDED};
    bool same_frame = f->last && f->last->above == item->above;
    if (same_frame && !compare_places(f, f->last, item))
        return f->place[f->last->node];
    if (!same_frame)
        f->frame = put_node(f, f->place[item->above], &frame);
    uint32_t parent = item->depth ? f->place[f->items[item->up].node] : f->frame;
    return put_node(f, parent, &item->key);
}

/* Writes the items that come before a node of the old tree. */
static bool put_items(struct fold *f, uint32_t before)
{
    bool ok = true;
    while (ok && f->next < f->n_items && f->items[f->order[f->next]].until == before) {
        const struct item *item = &f->items[f->order[f->next++]];
        uint32_t at = place_of_item(f, item);
        ok = put_folded(f, at, f->p->nodes[item->node].data);
        f->place[item->node] = at;
        f->last = item;
    }
    return ok;
}

static void put_staying(struct fold *f, uint32_t i)
{
    const struct pc_profile_node *n = &f->p->nodes[i];
    struct pc_profile_node *to = &f->nodes[f->n_nodes];
    *to = *n;
    to->parent = i ? f->place[n->parent] : PC_NO_INDEX;
    if (n->data != PC_NO_INDEX)
        put_record(f, f->n_nodes, n->data);
    f->place[i] = f->n_nodes++;
}

static int write_tree(struct fold *f)
{
    struct pc_profile *p = f->p;
    f->nodes = pc_pool_array(p->memory, 2 * (size_t)p->n_nodes, sizeof *f->nodes);
    f->data = pc_pool_array(p->memory, p->n_data, sizeof *f->data);
    if (!f->nodes || !f->data)
        return PC_ENOMEM;
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->n_nodes; i++) {
        ok = put_items(f, i);
        if (f->stays[i])
            put_staying(f, i);
    }
    if (!ok || !put_items(f, p->n_nodes))
        return PC_ENOMEM;
    for (uint32_t i = 1; i < p->n_nodes; i++) /* the frames of what is folded */
        if (!f->stays[i] && !pcollect_node_has_record(p->nodes[i].kind))
            f->place[i] = f->place[p->nodes[i].parent];
    p->nodes = f->nodes;
    p->data = f->data;
    p->n_nodes = f->n_nodes;
    p->n_data = f->n_data;
    pc_profile_count_descendants(p);
    return PC_OK;
}

static bool names_contexts(const struct pc_profile_table *t)
{
    bool names = false;
    for (uint32_t i = 0; i < t->n_columns; i++)
        names |= t->columns[i].type == PCOLLECT_COLUMN_NODE;
    return names;
}

/* Calls and places of samples that are folded. */
static uint32_t count_contexts(const struct fold *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_items; i++)
        n += f->items[i].key.kind != PCOLLECT_NODE_DOMAIN;
    return n;
}

/* *n_contexts_out: those that were folded. */
static int fold_all(struct pc_profile *p, const enum pc_record_fate *fates, struct pc_pool *scratch,
                    uint32_t *n_contexts_out)
{
    struct fold f = {.p = p};
    f.stays = pc_pool_array(scratch, p->n_nodes, sizeof *f.stays);
    f.holds = pc_pool_array(scratch, p->n_nodes, sizeof *f.holds);
    f.place = pc_pool_array(scratch, p->n_nodes, sizeof *f.place);
    f.ends = pc_pool_array(scratch, p->n_nodes, sizeof *f.ends);
    f.items = pc_pool_array(scratch, p->n_nodes, sizeof *f.items);
    f.order = pc_pool_array(scratch, p->n_nodes, sizeof *f.order);
    if (!f.stays || !f.holds || !f.place || !f.ends || !f.items || !f.order)
        return PC_ENOMEM;
    find_staying(&f, fates);
    list_items(&f);
    for (uint32_t i = 0; f.n_items && i < p->n_tables; i++)
        if (names_contexts(&p->tables[i])) /* while their contexts are those of the file */
            pc_table_need(p, &p->tables[i]);
    int err = f.n_items ? write_tree(&f) : PC_OK;
    for (uint32_t i = 0; f.n_items && !err && i < p->n_tables; i++)
        if (names_contexts(&p->tables[i]))
            pc_rows_renumber(&p->tables[i], f.place);
    *n_contexts_out = count_contexts(&f);
    return err;
}

int pc_fold(struct pc_profile *p, const struct pc_record_counts *c, const uint64_t *keys)
{
    if (!pc_record_counts_any_folded(c))
        return PC_OK;
    struct pc_pool *scratch = pc_pool_new();
    enum pc_record_fate *fates = scratch ? pc_pool_array(scratch, p->n_data, sizeof *fates) : NULL;
    uint32_t n_contexts;
    int err = fates ? PC_OK : PC_ENOMEM;
    for (uint32_t i = 0; fates && i < p->n_data; i++) {
        fates[i] = pc_record_counts_fate(c, keys[i]);
        if (fates[i] == PC_RECORD_OWN && p->world_size == 1) /* there is no other rank */
            fates[i] = PC_RECORD_SHARED;
    }
    if (!err)
        err = fold_all(p, fates, scratch, &n_contexts);
    pc_pool_free(scratch);
    return err;
}

/* ---- Profiles of a job ----------------------------------------------------------------------- */

/* A record that only one rank has. */
struct own {
    uint64_t time; /* sum of its summed time fields */
    uint32_t data;
};

/* Orders them as they are folded. */
static int compare_own(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1)
                              : (x->data < y->data) - (x->data > y->data);
}

static uint64_t time_of(const struct pc_profile *p, const struct pc_profile_data *d)
{
    uint64_t time = 0;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        if (pc_field_in_steps(p, d, k) && __builtin_add_overflow(time, pc_data_of_one(d, k), &time))
            return UINT64_MAX;
    return time;
}

/* Lists the records of one rank that are not below a folded frame, and returns their number. */
static uint32_t list_own(const struct pc_profile *p, struct own *own)
{
    uint32_t n = 0, end = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        bool folded = pc_node_is_within(node, i, pc_node_is_folded(node), &end);
        if (!folded && node->data != PC_NO_INDEX && p->data[node->data].form != PC_FORM_STATS)
            own[n++] = (struct own){time_of(p, &p->data[node->data]), node->data};
    }
    return n;
}

/* Sets the fates of all records. */
static void choose_own(const struct pc_profile *p, uint32_t most, const struct own *own,
                       uint32_t n_own, enum pc_record_fate *fates)
{
    uint32_t n_more = p->n_data - most;
    for (uint32_t i = 0; i < p->n_data; i++)
        fates[i] = p->data[i].n_ranks == 1 && p->n_ranks > 1 ? PC_RECORD_OWN : PC_RECORD_SHARED;
    for (uint32_t i = 0; i < n_own && i < n_more; i++)
        fates[own[i].data] = PC_RECORD_FOLDED;
}

/* Makes the statistics of records to which those of other ranks were added. */
static bool derive_sums(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_data; i++) {
        struct pc_profile_data *d = &p->data[i];
        if (d->form != PC_FORM_STATS || d->stats)
            continue;
        d->stats = pc_pool_array(p->memory, p->n_fields - d->first_field, sizeof *d->stats);
        if (!d->stats)
            return false;
        pc_profile_data_derive(p, d);
    }
    return true;
}

int pc_fold_own(struct pc_profile *p, uint32_t most, uint32_t *n_out)
{
    uint32_t n_own = 0, n = 0;
    if (p->n_data <= most) {
        *n_out = 0;
        return PC_OK;
    }
    struct pc_pool *scratch = pc_pool_new();
    struct own *own = scratch ? pc_pool_array(scratch, p->n_data, sizeof *own) : NULL;
    enum pc_record_fate *fates = scratch ? pc_pool_array(scratch, p->n_data, sizeof *fates) : NULL;
    bool ok = own && fates;
    if (ok) {
        n_own = list_own(p, own);
        qsort(own, n_own, sizeof *own, compare_own);
        choose_own(p, most, own, n_own, fates);
        ok = !fold_all(p, fates, scratch, &n) && derive_sums(p);
    }
    pc_pool_free(scratch);
    if (ok)
        *n_out = n;
    return ok ? PC_OK : PC_ENOMEM;
}
