/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the shown tree: one pass over the profile's nodes in preorder; each finds or makes its node
 * below that of its parent in a hash table of (parent, kind, label). Labels are interned, so that
 * comparing them is comparing addresses.
 */
#include "analysis/tree/tree.h"

#include "analysis/hash_index.h"
#include "analysis/tree/label.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    struct pct_tree *tree;
    struct pct_symbols *symbols;
    const struct pct_tree_options *options;
    /* Nodes with siblings. An only child is not in it: most nodes of a large tree are such. */
    struct pct_hash_index siblings;
    const struct pct_frame **calls; /* by profile node: that makes its calls; NULL: unknown */
    struct pct_buf text;
    /* Upside down, where a recursion has millions of callers: by profile node 1 + the first of the
     * labels of its frames; 0: not made yet. */
    uint32_t *first_label;
    const char **labels;
    size_t n_labels, labels_room;
};

/* ---- Nodes ----------------------------------------------------------------------------------- */

static uint32_t hash_key(uint32_t parent, uint16_t kind, const char *label)
{
    return (uint32_t)pc_hash_u64((uintptr_t)label ^ (uint64_t)parent << 40 ^ kind);
}

static bool has_key(const struct pct_node *n, uint32_t parent, uint16_t kind, const char *label)
{
    return n->parent == parent && n->kind == kind && n->label == label;
}

static void add_sibling(struct builder *b, uint32_t node)
{
    const struct pct_node *n = &b->tree->nodes[node];
    pct_hash_add(&b->siblings, hash_key(n->parent, n->kind, n->label), node);
}

/* The child with this key; PC_NO_INDEX: there is none. */
static uint32_t look_for_child(const struct builder *b, uint32_t parent, uint16_t kind,
                               const char *label)
{
    const struct pct_node *nodes = b->tree->nodes;
    uint32_t child = parent == PC_NO_INDEX ? PC_NO_INDEX : nodes[parent].first_child;
    if (child == PC_NO_INDEX)
        return PC_NO_INDEX;
    if (nodes[child].next == PC_NO_INDEX)
        return has_key(&nodes[child], parent, kind, label) ? child : PC_NO_INDEX;
    struct pct_hash_search search = {.hash = hash_key(parent, kind, label)};
    while ((child = pct_hash_next(&b->siblings, &search)) != PC_NO_INDEX)
        if (has_key(&nodes[child], parent, kind, label))
            break;
    return child;
}

static uint32_t find_child(struct builder *b, uint32_t parent, uint16_t kind, const char *label)
{
    struct pct_tree *t = b->tree;
    uint32_t found = look_for_child(b, parent, kind, label);
    if (found != PC_NO_INDEX)
        return found;
    static const struct pct_frame unknown;
    t->nodes = pct_grow(t->nodes, t->n, &t->room, sizeof *t->nodes);
    struct pct_node *up = parent == PC_NO_INDEX ? NULL : &t->nodes[parent];
    uint32_t sibling = up ? up->first_child : PC_NO_INDEX, at = (uint32_t)t->n++;
    t->nodes[at] = (struct pct_node){.parent = parent,
                                     .first_child = PC_NO_INDEX,
                                     .next = sibling,
                                     .kind = kind,
                                     .label = label,
                                     .frame = &unknown,
                                     .code = PC_NO_INDEX,
                                     .module = PC_NO_INDEX,
                                     .first_source = PC_NO_INDEX,
                                     .own = PC_NO_INDEX};
    if (up)
        up->first_child = at;
    if (sibling != PC_NO_INDEX && t->nodes[sibling].next == PC_NO_INDEX)
        add_sibling(b, sibling); /* it is no longer the only one */
    if (sibling != PC_NO_INDEX)
        add_sibling(b, at);
    return at;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

static void put_frame(struct builder *b, const struct pct_frame *f, const struct pc_profile_node *n,
                      bool line)
{
    pct_buf_clear(&b->text);
    pct_label_frame(&b->text, b->tree->totals->profile, n, f,
                    (line ? PCT_LABEL_LINE : 0) |
                        (b->options->full_paths ? PCT_LABEL_FULL_PATHS : 0));
}

/* Sets the context id; f NULL: `n` is no frame. */
static void set_context(struct builder *b, uint32_t at, const struct pc_profile_node *n,
                        const struct pct_frame *f)
{
    struct pct_node *node = &b->tree->nodes[at];
    if (node->context)
        return;
    /* A label without line, folders and caller is the one that the id is made of. */
    bool same = !node->caller && (!f || (!f->function && !f->begin && !b->options->full_paths));
    pct_buf_clear(&b->text);
    if (f && !same)
        pct_label_frame(&b->text, b->tree->totals->profile, n, f, 0);
    else if (!same)
        pct_label_other(&b->text, b->tree->totals->profile, n);
    node->context =
        pct_label_context(b->tree->nodes[node->parent].context, same ? node->label : b->text.data);
}

/* The child of `at` for a node that is not a frame. */
static uint32_t find_other(struct builder *b, uint32_t at, const struct pc_profile_node *n)
{
    pct_buf_clear(&b->text);
    pct_label_other(&b->text, b->tree->totals->profile, n);
    at = find_child(b, at, n->kind, pct_pool_intern(b->tree->pool, b->text.data));
    set_context(b, at, n, NULL);
    return at;
}

/* The child of `at` with the label in the buffer, called by that frame. */
static uint32_t find_called(struct builder *b, uint32_t at, uint16_t kind,
                            const struct pct_frame *caller)
{
    bool told = b->options->grain == PCT_GRAIN_CALL;
    if (caller && !caller->file)
        caller = NULL;
    if (told && caller)
        pct_label_call(&b->text, caller->file, caller->line);
    at = find_child(b, at, kind, pct_pool_intern(b->tree->pool, b->text.data));
    if (told)
        b->tree->nodes[at].caller = caller;
    return at;
}

static const struct pct_frame *caller_above(const struct builder *b, uint32_t source)
{
    uint32_t parent = b->tree->totals->profile->nodes[source].parent;
    return parent == PC_NO_INDEX ? NULL : b->calls[parent];
}

/* The node that has the module of a frame of `n`. */
static const struct pc_profile_node *
node_of_frame(const struct builder *b, const struct pc_profile_node *n, const struct pct_frame *f)
{
    return f->tail_call ? &b->tree->totals->profile->nodes[n->parent] : n;
}

static void describe_frame(const struct builder *b, uint32_t at, const struct pct_frame *f,
                           const struct pc_profile_node *n)
{
    struct pct_node *node = &b->tree->nodes[at];
    if (node->frame->function || node->module != PC_NO_INDEX)
        return;
    node->frame = f;
    node->module = n->module;
    node->code = (uint32_t)(n - b->tree->totals->profile->nodes);
}

/* True if nodes below this one would be too deep. */
static bool is_deepest(const struct builder *b, uint32_t at)
{
    return b->options->depth && pct_tree_depth(b->tree, at) >= b->options->depth;
}

/* The child of `at` below which are the contexts of a program, in a job of several. */
static uint32_t add_program(struct builder *b, uint32_t at, uint32_t source)
{
    const struct pc_profile *p = b->tree->totals->profile;
    const struct pc_profile_node *n = &p->nodes[source];
    if (!b->tree->programs || !pct_label_begins_program(p, n, pc_profile_above(p, source)))
        return at;
    pct_buf_clear(&b->text);
    pct_label_program(&b->text, p, n->module, b->options->full_paths);
    at = find_child(b, at, PCOLLECT_NODE_FRAME, pct_pool_intern(b->tree->pool, b->text.data));
    struct pct_node *node = &b->tree->nodes[at];
    b->tree->programs[n->module].function = node->label;
    node->frame = &b->tree->programs[n->module];
    pct_buf_clear(&b->text);
    pct_label_program(&b->text, p, n->module, false);
    node->context = pct_label_context(b->tree->nodes[node->parent].context, b->text.data);
    return at;
}

/* The frames of a FRAME or a POINT, or those that tail calls removed above an OP; returns the
 * innermost. */
static uint32_t add_frames(struct builder *b, uint32_t at, uint32_t source)
{
    const struct pc_profile_node *own = &b->tree->totals->profile->nodes[source];
    struct pct_place place = pct_symbols_node(b->symbols, source);
    const struct pct_frame *caller = caller_above(b, source);
    bool lines = b->options->grain == PCT_GRAIN_LINE;
    at = add_program(b, at, source);
    for (uint32_t i = 0; i < place.n_frames; i++) {
        const struct pc_profile_node *n = node_of_frame(b, own, &place.frames[i]);
        bool computes = lines && own->kind == PCOLLECT_NODE_POINT && i + 1 == place.n_frames;
        if (is_deepest(b, at))
            break;
        put_frame(b, &place.frames[i], n, lines && !computes);
        at = find_called(b, at, computes ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_FRAME, caller);
        describe_frame(b, at, &place.frames[i], n);
        set_context(b, at, n, &place.frames[i]);
        caller = &place.frames[i];
    }
    b->calls[source] = caller;
    return at;
}

static bool is_call(const struct pct_tree *t, uint32_t source)
{
    return t->totals->profile->nodes[source].kind != PCOLLECT_NODE_POINT;
}

/* True if what was sampled at a node of the profile is in the time of an MPI call. */
static bool is_in_mpi(const struct pct_tree *t, uint32_t source)
{
    return is_call(t, source) || pct_totals_outer(t->totals, source) != PC_NO_INDEX;
}

/* Adds the record of a profile node. */
static void add_record(const struct pct_tree *t, uint32_t source, struct pct_own *own)
{
    if (is_call(t, source))
        pct_totals_add(t->totals, source, &own->calls);
    if (!t->samples)
        return;
    struct pct_sampled sampled = pct_samples_of(t->samples, source);
    pct_sampled_add(&own->self, sampled);
    if (!is_in_mpi(t, source))
        pct_sampled_add(&own->computed, sampled);
}

struct pct_own pct_tree_own(const struct pct_tree *t, uint32_t node)
{
    const struct pct_node *n = &t->nodes[node];
    struct pct_own own = {.self = {.samples = 0}};
    if (n->own != PC_NO_INDEX)
        return t->own[n->own];
    if (n->first_source != PC_NO_INDEX)
        add_record(t, n->first_source, &own);
    return own;
}

/* Puts the record of a profile node into a node of this tree. */
static void add_source(struct pct_tree *t, uint32_t at, uint32_t source)
{
    struct pct_node *node = &t->nodes[at];
    if (!is_call(t, source) && !(t->samples && pct_samples_has(t->samples, source)))
        return;
    if (node->first_source != PC_NO_INDEX) {
        struct pct_own own = pct_tree_own(t, at);
        if (node->own == PC_NO_INDEX) {
            t->own = pct_grow(t->own, t->n_own, &t->own_room, sizeof *t->own);
            node->own = (uint32_t)t->n_own++;
        }
        add_record(t, source, &own);
        t->own[node->own] = own;
    }
    t->next_source[source] = node->first_source;
    node->first_source = source;
}

static uint32_t add_op(struct builder *b, uint32_t at, uint32_t source)
{
    struct pct_tree *t = b->tree;
    const struct pc_profile_node *n = &t->totals->profile->nodes[source];
    at = add_frames(b, at, source);
    pct_buf_clear(&b->text);
    pct_label_other(&b->text, t->totals->profile, n);
    at = find_called(b, at, PCOLLECT_NODE_OP, b->calls[source]);
    b->calls[source] = NULL; /* its callbacks are not called from that place */
    t->nodes[at].op = n->op;
    set_context(b, at, n, NULL);
    add_source(t, at, source);
    return at;
}

/* Adds a phase, a region or the mark of unknown callers. Below the maximal depth they are not
 * distinguished, like frames. */
static uint32_t add_other(struct builder *b, uint32_t at, const struct pc_profile_node *n)
{
    if (is_deepest(b, at))
        return at;
    return find_other(b, at, n);
}

static uint32_t add_node(struct builder *b, uint32_t source)
{
    const struct pc_profile_node *n = &b->tree->totals->profile->nodes[source];
    uint32_t at = n->parent == PC_NO_INDEX ? 0 : b->tree->shown[n->parent];
    switch (n->kind) {
    case PCOLLECT_NODE_POINT:
        if (!b->tree->samples)
            return at;
        at = add_frames(b, at, source);
        add_source(b->tree, at, source);
        break;
    case PCOLLECT_NODE_FRAME:
        at = add_frames(b, at, source);
        break;
    case PCOLLECT_NODE_OP:
        at = add_op(b, at, source);
        break;
    case PCOLLECT_NODE_DOMAIN:
        add_source(b->tree, at, source);
        break;
    case PCOLLECT_NODE_CUT:
    case PCOLLECT_NODE_PHASE:
    case PCOLLECT_NODE_REGION:
        at = add_other(b, at, n);
        break;
    default:
        break;
    }
    b->tree->nodes[at].flags |= n->flags;
    return at;
}

/* ---- Upside down ----------------------------------------------------------------------------- */

/* True if the frame k of a node itself computed, and makes no call. */
static bool is_computing(const struct pc_profile_node *n, struct pct_place place, uint32_t k)
{
    return n->kind == PCOLLECT_NODE_POINT && k + 1 == place.n_frames;
}

/* The labels of the frames of a node, the outermost first. */
static const char *const *labels_of(struct builder *b, uint32_t source, struct pct_place place)
{
    const struct pc_profile_node *n = &b->tree->totals->profile->nodes[source];
    if (!b->first_label)
        b->first_label = pct_alloc(b->tree->totals->profile->n_nodes, sizeof *b->first_label);
    if (!b->first_label[source]) {
        b->first_label[source] = (uint32_t)b->n_labels + 1;
        for (uint32_t k = 0; k < place.n_frames; k++) {
            put_frame(b, &place.frames[k], node_of_frame(b, n, &place.frames[k]),
                      b->options->grain == PCT_GRAIN_LINE && !is_computing(n, place, k));
            b->labels = pct_grow(b->labels, b->n_labels, &b->labels_room, sizeof *b->labels);
            b->labels[b->n_labels++] = pct_pool_intern(b->tree->pool, b->text.data);
        }
    }
    return b->labels + b->first_label[source] - 1;
}

/* Adds an MPI function that called the program, or the mark of unknown callers. */
static uint32_t add_other_caller(struct builder *b, uint32_t at, const struct pc_profile_node *n)
{
    const struct pc_profile *p = b->tree->totals->profile;
    if (n->kind == PCOLLECT_NODE_CUT)
        return find_other(b, at, n);
    if (n->kind != PCOLLECT_NODE_OP)
        return at;
    pct_buf_clear(&b->text);
    pct_label_other(&b->text, p, n);
    at = find_child(b, at, PCOLLECT_NODE_FRAME, pct_pool_intern(b->tree->pool, b->text.data));
    if (!b->tree->op_callers)
        b->tree->op_callers = pct_alloc(p->n_ops, sizeof *b->tree->op_callers);
    b->tree->op_callers[n->op].function = p->ops[n->op].name;
    b->tree->nodes[at].frame = &b->tree->op_callers[n->op];
    return at;
}

/* Adds the frames of a node, the innermost first. The depth counts callers, so the top node is not
 * counted. */
static uint32_t add_frames_outwards(struct builder *b, uint32_t at, uint32_t source)
{
    const struct pc_profile_node *n = &b->tree->totals->profile->nodes[source];
    struct pct_place place = pct_symbols_node(b->symbols, source);
    const char *const *labels = labels_of(b, source, place);
    for (uint32_t k = place.n_frames; k-- > 0;) {
        const struct pct_frame *f = &place.frames[k];
        if (is_deepest(b, at))
            continue;
        at = find_child(b, at, PCOLLECT_NODE_FRAME, labels[k]);
        struct pct_node *node = &b->tree->nodes[at];
        if (node->module == PC_NO_INDEX && !is_computing(n, place, k))
            node->caller = f->file ? f : NULL;
        describe_frame(b, at, f, node_of_frame(b, n, f));
    }
    return at;
}

/* Adds frames from a node of the profile outwards. */
static uint32_t add_outwards(struct builder *b, uint32_t at, uint32_t up)
{
    const struct pc_profile *p = b->tree->totals->profile;
    for (; up != PC_NO_INDEX; up = p->nodes[up].parent) {
        const struct pc_profile_node *n = &p->nodes[up];
        bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
        if (is_deepest(b, at))
            break;
        if (!frame)
            at = add_other_caller(b, at, n);
        if (frame || n->kind == PCOLLECT_NODE_OP)
            at = add_frames_outwards(b, at, up);
    }
    return at;
}

static void add_upwards(struct builder *b, uint32_t source)
{
    struct pct_tree *t = b->tree;
    const struct pc_profile *p = t->totals->profile;
    uint32_t call = pct_totals_call(p, source), at = 0, from = source;
    if (p->nodes[source].kind != PCOLLECT_NODE_POINT) {
        pct_buf_clear(&b->text);
        pct_label_other(&b->text, p, &p->nodes[call]);
        at = find_child(b, 0, PCOLLECT_NODE_OP, pct_pool_intern(t->pool, b->text.data));
        t->nodes[at].op = p->nodes[call].op;
        at = add_frames_outwards(b, at, call);
        from = p->nodes[call].parent;
    }
    t->shown[source] = add_outwards(b, at, from);
    add_source(t, t->shown[source], source);
}

static void add_callers(struct builder *b)
{
    const struct pc_profile *p = b->tree->totals->profile;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint16_t kind = p->nodes[i].kind;
        bool sampled =
            kind == PCOLLECT_NODE_POINT && b->tree->samples && pct_samples_has(b->tree->samples, i);
        b->tree->next_source[i] = PC_NO_INDEX;
        if (kind == PCOLLECT_NODE_OP || kind == PCOLLECT_NODE_DOMAIN || sampled)
            add_upwards(b, i);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static void add_contexts(struct builder *b)
{
    struct pct_tree *t = b->tree;
    for (uint32_t i = 0; i < t->totals->profile->n_nodes; i++) {
        t->next_source[i] = PC_NO_INDEX;
        t->shown[i] = add_node(b, i);
    }
}

/* True if the node has calls, so that everything below was called inside them. */
static bool is_outer(const struct pct_tree *t, const struct pct_node *n)
{
    return n->kind == PCOLLECT_NODE_OP && !t->callers;
}

void pct_below_add(struct pct_below *to, const struct pct_below *what)
{
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        to->sum[k] += what->sum[k];
    pct_sampled_add(&to->total, what->total);
    pct_sampled_add(&to->computed, what->computed);
}

static struct pct_below below_of_own(const struct pct_tree *t, uint32_t node)
{
    struct pct_own own = pct_tree_own(t, node);
    struct pct_below below = {.total = own.self, .computed = own.computed};
    memcpy(below.sum, own.calls.sum, sizeof below.sum);
    return below;
}

struct pct_below pct_tree_below(const struct pct_tree *t, uint32_t node)
{
    uint32_t j = t->below_of[node];
    struct pct_below below = j < t->n ? below_of_own(t, j) : t->below[j - t->n];
    if (t->open_ns) {
        below.sum[PCT_TIME] += t->open_ns[node];
        below.sum[PCT_EXCLUSIVE] += t->open_ns[node];
    }
    return below;
}

void pct_tree_add_open(struct pct_tree *t, const struct pct_open_calls *open)
{
    if (open->n && !t->open_ns)
        t->open_ns = pct_alloc(t->n, sizeof *t->open_ns);
    for (size_t i = 0; i < open->n; i++)
        for (uint32_t at = t->shown[open->list[i].node]; at != PC_NO_INDEX;
             at = t->nodes[at].parent)
            t->open_ns[at] += open->list[i].ns;
}

/* Children come after their parents: from the end, those of each node are complete. */
static void sum_below(struct pct_tree *t)
{
    t->below_of = pct_alloc(t->n, sizeof *t->below_of);
    for (size_t i = t->n; i-- > 0;) {
        const struct pct_node *n = &t->nodes[i];
        uint32_t child = n->first_child;
        bool alone = child != PC_NO_INDEX && t->nodes[child].next == PC_NO_INDEX;
        if (child == PC_NO_INDEX || (alone && n->first_source == PC_NO_INDEX)) {
            t->below_of[i] = child == PC_NO_INDEX ? (uint32_t)i : t->below_of[child];
            continue;
        }
        struct pct_below all = {.sum = {0}}, own = below_of_own(t, (uint32_t)i);
        for (; child != PC_NO_INDEX; child = t->nodes[child].next) {
            struct pct_below below = pct_tree_below(t, child);
            pct_below_add(&all, &below);
        }
        pct_below_add(&all, &own);
        if (is_outer(t, n))
            all.sum[PCT_TIME] = own.sum[PCT_TIME];
        t->below = pct_grow(t->below, t->n_below, &t->below_room, sizeof *t->below);
        t->below_of[i] = (uint32_t)(t->n + t->n_below);
        t->below[t->n_below++] = all;
    }
}

struct pct_tree *pct_tree_new(const struct pct_totals *m, struct pct_symbols *s,
                              const struct pct_samples *samples,
                              const struct pct_tree_options *options)
{
    const struct pc_profile *p = m->profile;
    struct pct_tree *t = pct_alloc(1, sizeof *t);
    struct builder b = {.tree = t, .symbols = s, .options = options};
    t->totals = m;
    if (m->programs.n > 1)
        t->programs = pct_alloc(p->n_modules, sizeof *t->programs);
    t->samples = samples && samples->all.samples ? samples : NULL;
    t->pool = pct_pool_new();
    t->next_source = pct_alloc(p->n_nodes, sizeof *t->next_source);
    t->shown = pct_alloc(p->n_nodes, sizeof *t->shown);
    b.calls = pct_alloc(p->n_nodes, sizeof *b.calls);
    t->room = (size_t)p->n_nodes + 1; /* more are needed only for inlined calls */
    t->nodes = pct_alloc(t->room, sizeof *t->nodes);
    find_child(&b, PC_NO_INDEX, PCOLLECT_NODE_ROOT, pct_pool_intern(t->pool, ""));
    t->callers = options->callers;
    if (t->callers)
        add_callers(&b);
    else
        add_contexts(&b);
    pct_hash_free(&b.siblings);
    pct_free(b.calls);
    pct_free(b.first_label);
    pct_free(b.labels);
    pct_buf_free(&b.text);
    sum_below(t);
    return t;
}

void pct_tree_free(struct pct_tree *t)
{
    if (!t)
        return;
    pct_free(t->nodes);
    pct_free(t->next_source);
    pct_free(t->shown);
    pct_free(t->own);
    pct_free(t->below);
    pct_free(t->below_of);
    pct_free(t->open_ns);
    pct_free(t->op_callers);
    pct_free(t->programs);
    pct_pool_free(t->pool);
    pct_free(t);
}

/* ---- Order, paths, ranks --------------------------------------------------------------------- */

struct sortable {
    pc_u128 value;
    const char *label;
    uint32_t node;
};

static int compare_siblings(const void *a, const void *b)
{
    const struct sortable *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return strcmp(x->label, y->label);
}

pc_u128 pct_tree_figure(const struct pct_tree *t, uint32_t node, enum pct_figure_of of,
                        enum pct_metric metric)
{
    const struct pct_below below = pct_tree_below(t, node);
    switch (of) {
    case PCT_OF_TOTAL:
        return below.total.ns;
    case PCT_OF_TIME:
        return below.sum[PCT_TIME] + below.computed.ns;
    default:
        return below.sum[metric];
    }
}

void pct_tree_sort(struct pct_tree *t, enum pct_figure_of of, enum pct_metric metric)
{
    struct sortable *list = NULL;
    size_t room = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t n = 0;
        for (uint32_t c = t->nodes[i].first_child; c != PC_NO_INDEX; c = t->nodes[c].next) {
            list = pct_grow(list, n, &room, sizeof *list);
            list[n++] = (struct sortable){pct_tree_figure(t, c, of, metric), t->nodes[c].label, c};
        }
        if (n < 2)
            continue;
        qsort(list, n, sizeof *list, compare_siblings);
        t->nodes[i].first_child = list[0].node;
        for (size_t k = 0; k < n; k++)
            t->nodes[list[k].node].next = k + 1 < n ? list[k + 1].node : PC_NO_INDEX;
    }
    pct_free(list);
}

uint32_t pct_tree_depth(const struct pct_tree *t, uint32_t node)
{
    uint32_t n = 0;
    for (; t->nodes[node].parent != PC_NO_INDEX; node = t->nodes[node].parent)
        n += t->nodes[node].kind != PCOLLECT_NODE_OP;
    return n;
}

uint32_t *pct_tree_depths(const struct pct_tree *t)
{
    uint32_t *depth = pct_alloc(t->n, sizeof *depth);
    for (uint32_t i = 1; i < t->n; i++) /* a node is made after its parent */
        depth[i] = depth[t->nodes[i].parent] + (t->nodes[i].kind != PCOLLECT_NODE_OP);
    return depth;
}

/* The two functions below use no recursion: a damaged profile may be deeper than the stack. */
void pct_tree_path(const struct pct_tree *t, uint32_t node, struct pct_buf *b)
{
    uint32_t *up = NULL;
    size_t n = 0, room = 0;
    for (uint32_t i = t->nodes[node].parent; i != PC_NO_INDEX && i != 0; i = t->nodes[i].parent) {
        up = pct_grow(up, n, &room, sizeof *up);
        up[n++] = i;
    }
    pct_buf_put(b, "", 0);
    while (n--) {
        pct_buf_text(b, t->nodes[up[n]].label);
        if (n)
            pct_buf_text(b, " > ");
    }
    pct_free(up);
}

void pct_tree_path_to(const struct pct_tree *t, uint32_t node, struct pct_buf *b)
{
    pct_tree_path(t, node, b);
    if (b->n && *t->nodes[node].label)
        pct_buf_text(b, " > ");
    pct_buf_text(b, t->nodes[node].label);
}

static uint32_t levels_above(const struct pct_tree *t, uint32_t node)
{
    uint32_t n = 0;
    for (uint32_t i = t->nodes[node].parent; i != PC_NO_INDEX; i = t->nodes[i].parent)
        n++;
    return n;
}

static int compare_path_texts(const struct pct_tree *t, uint32_t a, uint32_t b)
{
    struct pct_buf x = {0}, y = {0};
    pct_tree_path_to(t, a, &x);
    pct_tree_path_to(t, b, &y);
    int c = strcmp(x.data, y.data);
    pct_buf_free(&x);
    pct_buf_free(&y);
    return c;
}

/* Compares two characters as strcmp does. */
static int compare_at(const char *a, const char *b)
{
    return (unsigned char)*a - (unsigned char)*b;
}

/* Compares the labels below the last common node of both paths. If one label is a prefix of the
 * other, the text after it decides: nothing, or " > ", which is in no label. Siblings of two kinds
 * may have one label; then all text decides. */
int pct_tree_compare_paths(const struct pct_tree *t, uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b, above_x = levels_above(t, a), above_y = levels_above(t, b);
    for (; above_x > above_y; above_x--)
        x = t->nodes[x].parent;
    for (; above_y > above_x; above_y--)
        y = t->nodes[y].parent;
    if (x == y)
        return a == b ? 0 : x == a ? -1 : 1;
    for (; t->nodes[x].parent != t->nodes[y].parent; y = t->nodes[y].parent)
        x = t->nodes[x].parent;
    const char *p = t->nodes[x].label, *q = t->nodes[y].label;
    for (; *p && *p == *q; p++)
        q++;
    if (!*p && !*q && x != a && y != b)
        return compare_path_texts(t, a, b);
    p = *p || x == a ? p : " > ";
    q = *q || y == b ? q : " > ";
    return *p && *p == *q ? compare_at(p + 1, q + 1) : compare_at(p, q);
}

uint32_t pct_tree_after(const struct pct_tree *t, uint32_t root, uint32_t node, bool enter)
{
    if (enter && t->nodes[node].first_child != PC_NO_INDEX)
        return t->nodes[node].first_child;
    while (node != root && t->nodes[node].next == PC_NO_INDEX)
        node = t->nodes[node].parent;
    return node == root ? PC_NO_INDEX : t->nodes[node].next;
}

struct pct_range pct_tree_ranks(const struct pct_tree *t, uint32_t node, enum pct_metric metric,
                                uint64_t *values, bool *present)
{
    struct pct_range all = {0, 0};
    for (uint32_t i = node; i != PC_NO_INDEX;) {
        const struct pct_node *n = &t->nodes[i];
        for (uint32_t s = n->first_source; s != PC_NO_INDEX; s = t->next_source[s])
            if (is_call(t, s))
                all = pct_range_join(all,
                                     pct_totals_add_ranks(t->totals, s, metric, values, present));
        i = pct_tree_after(t, node, i, metric != PCT_TIME || !is_outer(t, n));
    }
    return all;
}

double pct_tree_longer_ns(const struct pct_tree *t, uint32_t node, size_t rank,
                          const uint32_t *group, uint64_t *values, bool *present)
{
    struct pct_range range = pct_tree_ranks(t, node, PCT_TIME, values, present);
    uint64_t own = values[rank];
    double sum = 0;
    for (uint32_t r = range.first; r < range.end; r++) {
        if (values[r] > own && !pct_totals_are_apart(group, r, rank))
            sum += (double)(values[r] - own);
        values[r] = 0;
        present[r] = false;
    }
    return sum;
}

struct pct_range pct_tree_sampled_ranks(const struct pct_tree *t, uint32_t node,
                                        enum pct_sampled_of of, uint64_t *values, bool *present)
{
    struct pct_range all = {0, 0};
    for (uint32_t i = t->samples ? node : PC_NO_INDEX; i != PC_NO_INDEX;) {
        const struct pct_node *n = &t->nodes[i];
        for (uint32_t s = n->first_source; s != PC_NO_INDEX; s = t->next_source[s])
            if (pct_samples_of(t->samples, s).samples &&
                !(of == PCT_SAMPLED_COMPUTED && is_in_mpi(t, s)))
                all = pct_range_join(all,
                                     pct_totals_add_field(t->totals->profile, s,
                                                          t->samples->time_field, values, present));
        i = of == PCT_SAMPLED_SELF ? PC_NO_INDEX : pct_tree_after(t, node, i, true);
    }
    return all;
}

struct pct_spread pct_tree_spread(const struct pct_tree *t, uint32_t node, uint64_t *values,
                                  bool *present)
{
    struct pct_spread only = {0};
    unsigned n_records = 0;
    for (uint32_t i = node; i != PC_NO_INDEX;) {
        const struct pct_node *n = &t->nodes[i];
        for (uint32_t s = n->first_source; s != PC_NO_INDEX; s = t->next_source[s]) {
            struct pct_spread one = {0};
            if (is_call(t, s))
                one = pct_totals_record_time(t->totals, s);
            n_records += one.n != 0;
            only = one.n ? one : only;
        }
        i = pct_tree_after(t, node, i, !is_outer(t, n));
    }
    if (n_records < 2)
        return only;
    struct pct_range range = pct_tree_ranks(t, node, PCT_TIME, values, present);
    struct pct_spread spread = pct_totals_spread(t->totals->profile, range, values, present);
    memset(values + range.first, 0, (range.end - range.first) * sizeof *values);
    memset(present + range.first, 0, (range.end - range.first) * sizeof *present);
    return spread;
}
