/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tree of contexts as the library would have collected it. Nodes are in one array, parents first;
 * children are a list, in which the one used last comes first.
 */
#include "watch/stack_tree.h"
#include "analysis/allocation.h"
#include "format/build.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES, TIME, EVENTS, MOST_FIELDS };

struct node {
    const struct pct_stack_module *module;
    uint64_t offset;                    /* REGION: hash of its name */
    uint32_t parent, first_child, next; /* 0: none */
    uint32_t op;                        /* index into names */
    uint16_t kind;
    struct pct_stack_sampled self; /* samples that ended here */
};

struct pct_stack_tree {
    struct node *nodes;
    size_t n, room;
    char **ops, **regions; /* names */
    size_t n_ops, ops_room, n_regions, regions_room;
    uint64_t ns;
    bool starts; /* a thread starts in a threading runtime */
};

/* ---- Making ---------------------------------------------------------------------------------- */

struct pct_stack_tree *pct_stack_tree_new(void)
{
    struct pct_stack_tree *t = pct_alloc(1, sizeof *t);
    t->nodes = pct_grow(NULL, 0, &t->room, sizeof *t->nodes);
    t->nodes[t->n++] = (struct node){.kind = PCOLLECT_NODE_ROOT};
    return t;
}

static uint32_t name_index(char ***names, size_t *n, size_t *room, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp((*names)[i], name))
            return (uint32_t)i;
    *names = pct_grow(*names, *n, room, sizeof(char *));
    (*names)[*n] = pct_copy(name);
    return (uint32_t)(*n)++;
}

static bool is_same(const struct node *a, const struct node *b)
{
    return a->offset == b->offset && a->module == b->module && a->kind == b->kind && a->op == b->op;
}

/* The child with this key, made if there is none. */
static uint32_t child_of(struct pct_stack_tree *t, uint32_t parent, struct node key)
{
    uint32_t before = 0;
    for (uint32_t i = t->nodes[parent].first_child; i; before = i, i = t->nodes[i].next) {
        if (!is_same(&t->nodes[i], &key))
            continue;
        if (before) {
            t->nodes[before].next = t->nodes[i].next;
            t->nodes[i].next = t->nodes[parent].first_child;
            t->nodes[parent].first_child = i;
        }
        return i;
    }
    t->nodes = pct_grow(t->nodes, t->n, &t->room, sizeof *t->nodes);
    key.parent = parent;
    key.next = t->nodes[parent].first_child;
    t->nodes[t->n] = key;
    t->nodes[parent].first_child = (uint32_t)t->n;
    return (uint32_t)t->n++;
}

static uint32_t op_below(struct pct_stack_tree *t, uint32_t parent, const char *name)
{
    struct node key = {.kind = PCOLLECT_NODE_OP};
    key.op = name_index(&t->ops, &t->n_ops, &t->ops_room, name);
    return child_of(t, parent, key);
}

static void book(struct pct_stack_tree *t, uint32_t node, const struct pct_stack_sampled *sampled)
{
    struct pct_stack_sampled *self = &t->nodes[node].self;
    self->samples += sampled->samples;
    self->ns += sampled->ns;
    self->events += sampled->events;
    t->ns += sampled->ns;
}

static bool is_runtime(const struct pct_stack_module *m)
{
    return m && m->flags & PCOLLECT_MODULE_TEAM;
}

void pct_stack_tree_add(struct pct_stack_tree *t, const struct pct_stack *s,
                        const struct pct_shown_frames *shown,
                        const struct pct_stack_sampled *sampled)
{
    bool op = *shown->op != '\0';
    uint32_t at = 0;
    if (s->cut)
        at = child_of(t, at, (struct node){.kind = PCOLLECT_NODE_CUT});
    else if (shown->to && is_runtime(s->frames[shown->to - 1].module))
        t->starts = true;
    for (size_t i = shown->to; i-- > shown->from;) {
        const struct pct_stack_frame *f = &s->frames[i];
        bool innermost = i == shown->from && !op;
        if (!innermost && pct_stack_is_left_out(s, i))
            continue;
        at = child_of(t, at,
                      (struct node){.kind = innermost ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_FRAME,
                                    .module = f->module,
                                    .offset = f->offset});
    }
    if (op)
        at = op_below(t, at, shown->op);
    book(t, at, sampled);
}

void pct_stack_tree_add_region(struct pct_stack_tree *t, const char *name,
                               const struct pct_stack_tree *from)
{
    struct node region = {.kind = PCOLLECT_NODE_REGION,
                          .offset = pc_hash_bytes(name, strlen(name), 0)};
    uint32_t *made = pct_alloc(from->n, sizeof *made);
    name_index(&t->regions, &t->n_regions, &t->regions_room, name);
    made[0] = child_of(t, 0, region);
    t->starts |= from->starts;
    for (size_t i = 1; i < from->n; i++) {
        const struct node *n = &from->nodes[i];
        struct node key = {.kind = n->kind, .module = n->module, .offset = n->offset};
        made[i] = n->kind == PCOLLECT_NODE_OP ? op_below(t, made[n->parent], from->ops[n->op])
                                              : child_of(t, made[n->parent], key);
        book(t, made[i], &n->self);
    }
    pct_free(made);
}

uint64_t pct_stack_tree_ns(const struct pct_stack_tree *t)
{
    return t->ns;
}

void pct_stack_tree_free(struct pct_stack_tree *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_ops; i++)
        pct_free(t->ops[i]);
    for (size_t i = 0; i < t->n_regions; i++)
        pct_free(t->regions[i]);
    pct_free(t->ops);
    pct_free(t->regions);
    pct_free(t->nodes);
    pct_free(t);
}

/* ---- The profile ----------------------------------------------------------------------------- */

static int compare_modules(const void *a, const void *b)
{
    return pc_module_compare(a, b);
}

static struct pc_profile_module module_of(struct pc_profile *p, const struct pct_stack_tree *t,
                                          const struct pct_stack_module *from)
{
    struct pc_profile_module m = {.flags = from->flags, .build_id_bytes = from->n_build_id};
    if (t->starts && is_runtime(from))
        m.flags |= PCOLLECT_MODULE_STARTS;
    memcpy(m.build_id, from->build_id, from->n_build_id);
    m.path = pc_pool_text(p->memory, from->path, strlen(from->path));
    return m;
}

/* Adds modules, sorted and unique. */
static bool add_modules(struct pc_profile *p, const struct pct_stack_tree *t)
{
    const struct pct_stack_module *last = NULL;
    uint32_t n = 0, kept = 0;
    p->modules = pc_pool_array(p->memory, t->n, sizeof *p->modules);
    for (size_t i = 1; p->modules && i < t->n; i++) {
        if (!t->nodes[i].module || t->nodes[i].module == last)
            continue;
        last = t->nodes[i].module;
        p->modules[n++] = module_of(p, t, last);
        if (!p->modules[n - 1].path)
            return false;
    }
    if (n)
        qsort(p->modules, n, sizeof *p->modules, compare_modules);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || pc_module_compare(&p->modules[i], &p->modules[kept - 1]))
            p->modules[kept++] = p->modules[i];
    p->n_modules = kept;
    return p->modules != NULL;
}

/* Names in the order of their bytes. */
static char **sorted(struct pc_profile *p, char *const *names, size_t n)
{
    char **out = pc_pool_array(p->memory, n, sizeof *out);
    for (size_t i = 0; out && i < n; i++)
        if (!(out[i] = pc_pool_text(p->memory, names[i], strlen(names[i]))))
            return NULL;
    if (out && n)
        qsort(out, n, sizeof *out, pc_by_text);
    return out;
}

static bool add_names(struct pc_profile *p, const struct pct_stack_tree *t)
{
    char **ops = sorted(p, t->ops, t->n_ops);
    p->ops = pc_pool_array(p->memory, t->n_ops, sizeof *p->ops);
    p->strings = sorted(p, t->regions, t->n_regions);
    for (size_t i = 0; ops && p->ops && i < t->n_ops; i++)
        p->ops[p->n_ops++].name = ops[i];
    p->n_strings = (uint32_t)t->n_regions;
    return ops && p->ops && p->strings;
}

static bool add_fields(struct pc_profile *p, const char *event)
{
    const struct pc_profile_field fields[MOST_FIELDS] = {
        [SAMPLES] = {(char *)"clock", (char *)"samples", PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0,
                     PCOLLECT_GROUP_COMPUTE},
        [TIME] = {(char *)"clock", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0,
                  PCOLLECT_GROUP_COMPUTE},
        [EVENTS] = {(char *)"event", event ? pc_pool_text(p->memory, event, strlen(event)) : NULL,
                    PCOLLECT_SUM, PCOLLECT_UNIT_COUNT, 0, PCOLLECT_GROUP_COMPUTE},
    };
    p->fields = pc_pool_array(p->memory, MOST_FIELDS, sizeof *p->fields);
    if (!p->fields || (event && !fields[EVENTS].name))
        return false;
    memcpy(p->fields, fields, sizeof fields);
    p->n_fields = event ? MOST_FIELDS : EVENTS;
    pc_profile_count_groups(p);
    return true;
}

/* Nodes of a rank on their way into its profile. */
struct filling {
    struct pc_profile *profile;
    const struct pct_stack_tree *tree;
    const struct pct_stack_rank *rank;
    uint64_t events; /* of the nodes that are in it, by the samples */
};

static uint64_t share_out(const struct pct_stack_rank *r, uint64_t events)
{
    return r->events_counted && r->events_sampled
               ? (uint64_t)((pc_u128)events * r->events_counted / r->events_sampled)
               : events;
}

static bool add_record(struct filling *f, uint32_t node, const struct node *from)
{
    struct pc_profile *p = f->profile;
    struct pc_profile_data *d = &p->data[p->n_data];
    if (!pc_profile_data_init(p, d, p->nodes[node].kind, 1))
        return false;
    d->first_rank = d->ranks[0] = f->rank->rank;
    d->values[SAMPLES] = from->self.samples;
    d->values[TIME] = from->self.ns;
    if (p->n_fields > EVENTS) {
        uint64_t before = share_out(f->rank, f->events);
        f->events += from->self.events;
        d->values[EVENTS] = share_out(f->rank, f->events) - before;
    }
    pc_profile_data_derive(p, d);
    p->nodes[node].data = p->n_data++;
    return true;
}

static struct pc_profile_node node_of(const struct pc_profile *p, const struct pct_stack_tree *t,
                                      const struct node *from)
{
    struct pc_profile_node n = {.parent = PC_NO_INDEX,
                                .kind = from->kind,
                                .module = PC_NO_INDEX,
                                .op = PC_NO_INDEX,
                                .data = PC_NO_INDEX,
                                .offset = from->offset};
    if (from->module) {
        struct pc_profile_module wanted = {.build_id_bytes = from->module->n_build_id,
                                           .path = from->module->path};
        memcpy(wanted.build_id, from->module->build_id, wanted.build_id_bytes);
        const struct pc_profile_module *found =
            bsearch(&wanted, p->modules, p->n_modules, sizeof *p->modules, compare_modules);
        n.module = (uint32_t)(found - p->modules);
    }
    for (uint32_t i = 0; from->kind == PCOLLECT_NODE_OP && i < p->n_ops; i++)
        if (!strcmp(p->ops[i].name, t->ops[from->op]))
            n.op = i;
    return n;
}

/* A node and what it was made of. */
struct pair {
    struct pc_profile_node node;
    uint32_t from;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return pc_node_compare(&a->node, &b->node);
}

/* Adds nodes in preorder. `stack` has room for all nodes: it holds those still to be added, the
 * next one last. */
static bool add_nodes(struct filling *f, struct pair *stack)
{
    struct pc_profile *p = f->profile;
    const struct pct_stack_tree *t = f->tree;
    size_t n = 0;
    stack[n++] = (struct pair){node_of(p, t, &t->nodes[0]), 0};
    while (n) {
        struct pair top = stack[--n];
        const struct node *from = &t->nodes[top.from];
        uint32_t index = p->n_nodes++;
        size_t first = n;
        p->nodes[index] = top.node;
        if ((from->self.samples || from->self.events) && !add_record(f, index, from))
            return false;
        for (uint32_t i = from->first_child; i; i = t->nodes[i].next) {
            stack[n] = (struct pair){node_of(p, t, &t->nodes[i]), i};
            stack[n++].node.parent = index;
        }
        if (n > first + 1)
            qsort(stack + first, n - first, sizeof *stack, compare_pairs);
        for (size_t a = first, b = n; a + 1 < b; a++, b--) {
            struct pair other = stack[a];
            stack[a] = stack[b - 1];
            stack[b - 1] = other;
        }
    }
    return true;
}

static bool add_rank(struct pc_profile *p, const struct pct_stack_rank *r)
{
    char *host = pc_pool_text(p->memory, r->host, strlen(r->host));
    p->exe = pc_pool_text(p->memory, r->exe, strlen(r->exe));
    p->ranks = pc_pool_array(p->memory, 1, sizeof *p->ranks);
    uint64_t *lost = pc_pool_array(p->memory, PCOLLECT_N_LOST, sizeof *lost);
    if (!host || !p->exe || !p->ranks || !lost)
        return false;
    p->job_key = 1;
    p->world_size = (uint32_t)r->world;
    p->ranks[0] = (struct pc_profile_rank){.rank = r->rank,
                                           .pid = r->pid,
                                           .host = host,
                                           .start_realtime_ns = r->start_realtime_ns,
                                           .before_init_ns = r->elapsed_ns,
                                           .closed = r->complete,
                                           .notes = PCOLLECT_NOTE_OUTSIDE,
                                           .lost = lost};
    lost[PCOLLECT_LOST_SAMPLES] = r->n_lost;
    p->n_ranks = 1;
    return true;
}

struct pc_profile *pct_stack_tree_profile(const struct pct_stack_tree *t,
                                          const struct pct_stack_rank *r)
{
    struct pc_profile *p = pc_profile_new();
    struct pair *stack = pct_alloc(t->n, sizeof *stack);
    bool done =
        p && add_rank(p, r) && add_modules(p, t) && add_names(p, t) && add_fields(p, r->event);
    if (done) {
        p->nodes = pc_pool_array(p->memory, t->n, sizeof *p->nodes);
        p->data = pc_pool_array(p->memory, t->n, sizeof *p->data);
        done = p->nodes && p->data &&
               add_nodes(&(struct filling){.profile = p, .tree = t, .rank = r}, stack);
    }
    pct_free(stack);
    if (!done) {
        pc_profile_free(p);
        return NULL;
    }
    pc_profile_count_descendants(p);
    return p;
}
