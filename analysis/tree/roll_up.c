/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of calls and samples by place: see roll_up.h. One pass over the nodes that have a record;
 * each is added to the row of the frame that it belongs to, and once to each row on the way to the
 * root.
 */
#include "analysis/tree/roll_up.h"

#include "analysis/tree/keys.h"

#include <string.h>

/* What rows are told apart by. */
struct shape {
    bool function, file, line, module;
    bool code; /* MPI functions are rows, and so is each place without a name */
};

static const struct shape shapes[PCT_N_BY] = {
    [PCT_BY_SITE] = {.function = true, .file = true, .line = true, .module = true},
    [PCT_BY_LINE] = {.function = true, .file = true, .line = true, .module = true},
    [PCT_BY_FUNCTION] = {.function = true, .file = true, .module = true},
    [PCT_BY_FILE] = {.file = true}, /* and the module of what has no file */
    [PCT_BY_MODULE] = {.module = true},
    [PCT_BY_CODE_LINE] =
        {.function = true, .file = true, .line = true, .module = true, .code = true},
    [PCT_BY_CODE_FUNCTION] = {.function = true, .file = true, .module = true, .code = true},
};

struct sums {
    struct pct_rolled *out;
    const struct pct_model *model;
    struct pct_symbols *symbols;
    const struct shape *shape;
    struct pct_keys keys;
    size_t room;
    struct pct_buf text;
    uint32_t stamp;
};

/* What one node of the profile adds. */
struct part {
    uint32_t node, call;   /* call: PC_NO_INDEX for samples of computation */
    struct pct_totals own; /* of the call */
    struct pct_sampled sampled;
};

/* ---- Rows -------------------------------------------------------------------------------------
 */

/* The row that reads like *like. */
static struct pct_rolled_row *find_row(struct sums *s, const struct pct_rolled_row *like)
{
    bool is_new;
    pct_buf_clear(&s->text);
    pct_buf_format(&s->text, "%s\n%s\n%s\n%u\n%s\n%llx", like->function ? like->function : "",
                   like->file ? like->file : "", like->module ? like->module : "", like->line,
                   like->primitive ? like->primitive : "", (unsigned long long)like->domain);
    const char *key = pct_pool_intern(s->out->pool, s->text.data);
    uint32_t i = pct_keys_find(&s->keys, key, &is_new);
    if (is_new) {
        s->out->row = pct_grow(s->out->row, s->out->n, &s->room, sizeof *s->out->row);
        s->out->row[s->out->n] = *like;
        s->out->row[s->out->n++].first_node = PC_NO_INDEX;
    }
    return &s->out->row[i];
}

/* Where code is that has no name. */
static const char *name_place(const struct sums *s, const char *module,
                              const struct pc_profile_node *n)
{
    struct pct_buf b = {0};
    if (!module)
        return "(no module)";
    pct_buf_format(&b, "%s+0x%llx", module, (unsigned long long)n->offset);
    const char *kept = pct_pool_intern(s->out->pool, b.data);
    pct_buf_free(&b);
    return kept;
}

static struct pct_rolled_row row_of_frame(const struct sums *s, const struct pct_frame *f,
                                          const struct pc_profile_node *n)
{
    const struct shape *by = s->shape;
    const char *module =
        n->module == PC_NO_INDEX ? NULL : s->model->profile->modules[n->module].path;
    struct pct_rolled_row r = {0};
    if (by->code && module)
        module = pct_symbols_base_name(module);
    if (by->file)
        r.file = f->file;
    if (by->function)
        r.function = f->function || !by->code ? f->function : name_place(s, module, n);
    if (by->line)
        r.line = f->line;
    if (by->module || !r.file)
        r.module = module;
    return r;
}

/* chained: the node has a say in what ranks have of the row. */
static void add_own(struct sums *s, struct pct_rolled_row *r, const struct part *part, bool chained)
{
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        r->own.sum[k] += part->own.sum[k];
    uint64_t min = part->own.min_ns;
    if (min && (!r->own.min_ns || min < r->own.min_ns))
        r->own.min_ns = min;
    if (part->own.max_ns > r->own.max_ns)
        r->own.max_ns = part->own.max_ns;
    if (chained) {
        s->out->next[part->node] = r->first_node;
        r->first_node = part->node;
    }
}

/* own: the row is that of the frame that called or computed, or of the MPI function. */
static void add_to_row(struct sums *s, struct pct_rolled_row *r, const struct part *part, bool own)
{
    bool call = part->call != PC_NO_INDEX;
    if (own)
        add_own(s, r, part, s->shape->code ? part->sampled.samples != 0 : call);
    if (own && (!call || s->shape->code))
        pct_sampled_add(&r->self, part->sampled);
    if (r->seen == s->stamp)
        return;
    r->seen = s->stamp;
    r->below_ns += part->own.sum[PCT_EXCLUSIVE];
    pct_sampled_add(&r->total, part->sampled);
}

/* ---- Nodes ------------------------------------------------------------------------------------
 */

static struct pct_place find_place(const struct sums *s, const struct pc_profile_node *n)
{
    return pct_symbols_find(s->symbols, n->module, n->offset + (n->kind == PCOLLECT_NODE_POINT));
}

static bool is_frame(const struct pc_profile_node *n)
{
    return n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
}

/* The call's row: of the frame that made it, and its MPI function. Without any frame, for example
 * of a call whose frames were cut, it has no place. */
static void add_site(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->model->profile;
    struct pct_rolled_row like = {0};
    uint32_t up = p->nodes[part->call].parent;
    while (up != PC_NO_INDEX && p->nodes[up].kind != PCOLLECT_NODE_FRAME &&
           p->nodes[up].kind != PCOLLECT_NODE_OP && p->nodes[up].kind != PCOLLECT_NODE_CUT)
        up = p->nodes[up].parent;
    if (up != PC_NO_INDEX && p->nodes[up].kind == PCOLLECT_NODE_FRAME) {
        struct pct_place place = find_place(s, &p->nodes[up]);
        like = row_of_frame(s, &place.frames[place.n_frames - 1], &p->nodes[up]);
    }
    like.primitive = p->ops[p->nodes[part->call].op].name;
    add_own(s, find_row(s, &like), part, true);
}

static void add_communicator(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->model->profile;
    const struct pc_profile_node *n = &p->nodes[part->node];
    struct pct_rolled_row like = {.primitive = p->ops[p->nodes[part->call].op].name};
    if (n->kind == PCOLLECT_NODE_DOMAIN)
        like.domain = n->offset;
    add_own(s, find_row(s, &like), part, true);
}

/* From the innermost frame, of code from the MPI function, outwards. */
static void add_frames(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->model->profile;
    bool own = true, code = s->shape->code;
    s->stamp++;
    uint32_t up = part->call == PC_NO_INDEX ? part->node : p->nodes[part->call].parent;
    for (up = code && part->call != PC_NO_INDEX ? part->call : up; up != PC_NO_INDEX;
         up = p->nodes[up].parent) {
        const struct pc_profile_node *n = &p->nodes[up];
        struct pct_place place = is_frame(n) ? find_place(s, n) : (struct pct_place){NULL, 0};
        if (code && n->kind == PCOLLECT_NODE_OP) {
            struct pct_rolled_row like = {.function = p->ops[n->op].name};
            add_to_row(s, find_row(s, &like), part, own);
            own = false;
        }
        own = own && n->kind != PCOLLECT_NODE_CUT && n->kind != PCOLLECT_NODE_OP;
        for (uint32_t k = place.n_frames; k-- > 0; own = false) {
            struct pct_rolled_row like = row_of_frame(s, &place.frames[k], n);
            add_to_row(s, find_row(s, &like), part, own);
        }
    }
}

static void add_node(struct sums *s, uint32_t node)
{
    const struct pc_profile_node *n = &s->model->profile->nodes[node];
    bool call = n->kind == PCOLLECT_NODE_OP || n->kind == PCOLLECT_NODE_DOMAIN;
    struct part part = {.node = node, .call = PC_NO_INDEX};
    part.sampled = pct_samples_of(s->out->samples, node);
    if (call) {
        part.call = pct_model_call(s->model->profile, node);
        pct_model_add(s->model, node, &part.own);
    }
    if (!part.sampled.samples && (!call || s->shape->code))
        return;
    if (s->out->by != PCT_BY_SITE && s->out->by != PCT_BY_COMMUNICATOR)
        add_frames(s, &part);
    else if (call && (n->data != PC_NO_INDEX || part.own.sum[PCT_EXCLUSIVE]))
        (s->out->by == PCT_BY_SITE ? add_site : add_communicator)(s, &part);
}

/* ---- All --------------------------------------------------------------------------------------
 */

void pct_rolled_ranks(const struct pct_rolled *r, size_t row, uint64_t *values, bool *present)
{
    for (uint32_t i = r->row[row].first_node; i != PC_NO_INDEX; i = r->next[i]) {
        if (shapes[r->by].code)
            pct_model_add_field(r->model->profile, i, r->samples->time_field, values, present);
        else
            pct_model_add_ranks(r->model, i, PCT_TIME, values, present);
    }
}

struct pct_spread pct_rolled_spread(const struct pct_rolled *rolled, size_t row)
{
    struct pct_rolled_row *r = &rolled->row[row];
    const struct pc_profile *p = rolled->model->profile;
    if (r->has_spread)
        return r->spread;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    pct_rolled_ranks(rolled, row, values, present);
    r->spread = pct_model_spread(p, values, present);
    r->has_spread = true;
    pct_free(values);
    pct_free(present);
    return r->spread;
}

struct pct_rolled *pct_roll_up(const struct pct_model *m, struct pct_symbols *symbols,
                               const struct pct_samples *samples, enum pct_by by)
{
    struct pct_rolled *r = pct_alloc(1, sizeof *r);
    struct sums s = {.out = r, .model = m, .symbols = symbols, .shape = &shapes[by]};
    r->by = by;
    r->model = m;
    r->samples = samples;
    r->pool = pct_pool_new();
    r->next = pct_alloc(m->profile->n_nodes, sizeof *r->next);
    for (uint32_t i = 0; i < m->profile->n_nodes; i++)
        add_node(&s, i);
    pct_keys_free(&s.keys);
    pct_buf_free(&s.text);
    return r;
}

void pct_rolled_free(struct pct_rolled *r)
{
    if (!r)
        return;
    pct_free(r->row);
    pct_free(r->next);
    pct_pool_free(r->pool);
    pct_free(r);
}
