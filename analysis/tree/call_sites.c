/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of calls and samples by place: see call_sites.h. One pass over the nodes that have a record;
 * each is added to the row of the frame that it belongs to, and once to each row on the way to the
 * root.
 */
#include "analysis/tree/call_sites.h"

#include "analysis/tree/keys.h"

#include <stdlib.h>
#include <string.h>

struct sums {
    struct pct_call_rows *out;
    const struct pct_model *model;
    struct pct_symbols *symbols;
    const struct pct_samples *samples;
    enum pct_calls_by by;
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
static struct pct_call_row *find_row(struct sums *s, const struct pct_call_row *like)
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
        s->out->row[s->out->n++].first_call = PC_NO_INDEX;
    }
    return &s->out->row[i];
}

static struct pct_call_row row_of_frame(const struct sums *s, const struct pct_frame *f,
                                        const struct pc_profile_node *n)
{
    const struct pc_profile *p = s->model->profile;
    struct pct_call_row r = {0};
    if (s->by != PCT_BY_MODULE)
        r.file = f->file;
    if (s->by != PCT_BY_MODULE && s->by != PCT_BY_FILE)
        r.function = f->function;
    if (s->by == PCT_BY_LINE || s->by == PCT_BY_SITE)
        r.line = f->line;
    if (n->module != PC_NO_INDEX && (!r.file || s->by != PCT_BY_FILE))
        r.module = p->modules[n->module].path;
    return r;
}

static void add_own(struct sums *s, struct pct_call_row *r, const struct part *part)
{
    for (size_t k = 0; k < PCT_N_METRICS; k++)
        r->own.sum[k] += part->own.sum[k];
    uint64_t min = part->own.min_ns;
    if (min && (!r->own.min_ns || min < r->own.min_ns))
        r->own.min_ns = min;
    if (part->own.max_ns > r->own.max_ns)
        r->own.max_ns = part->own.max_ns;
    if (part->call != PC_NO_INDEX) {
        s->out->next[part->node] = r->first_call;
        r->first_call = part->node;
    }
}

/* own: the frame is the one that called, or computed. */
static void add_to_row(struct sums *s, struct pct_call_row *r, const struct part *part, bool own)
{
    if (own)
        add_own(s, r, part);
    if (own && part->call == PC_NO_INDEX)
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
    struct pct_call_row like = {0};
    uint32_t up = p->nodes[part->call].parent;
    while (up != PC_NO_INDEX && p->nodes[up].kind != PCOLLECT_NODE_FRAME &&
           p->nodes[up].kind != PCOLLECT_NODE_OP && p->nodes[up].kind != PCOLLECT_NODE_CUT)
        up = p->nodes[up].parent;
    if (up != PC_NO_INDEX && p->nodes[up].kind == PCOLLECT_NODE_FRAME) {
        struct pct_place place = find_place(s, &p->nodes[up]);
        like = row_of_frame(s, &place.frames[place.n_frames - 1], &p->nodes[up]);
    }
    like.primitive = p->ops[p->nodes[part->call].op].name;
    add_own(s, find_row(s, &like), part);
}

static void add_communicator(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->model->profile;
    const struct pc_profile_node *n = &p->nodes[part->node];
    struct pct_call_row like = {.primitive = p->ops[p->nodes[part->call].op].name};
    if (n->kind == PCOLLECT_NODE_DOMAIN)
        like.domain = n->offset;
    add_own(s, find_row(s, &like), part);
}

/* From the innermost frame outwards. */
static void add_frames(struct sums *s, const struct part *part)
{
    const struct pc_profile *p = s->model->profile;
    bool own = true;
    s->stamp++;
    uint32_t up = part->call == PC_NO_INDEX ? part->node : p->nodes[part->call].parent;
    for (; up != PC_NO_INDEX; up = p->nodes[up].parent) {
        const struct pc_profile_node *n = &p->nodes[up];
        struct pct_place place = is_frame(n) ? find_place(s, n) : (struct pct_place){NULL, 0};
        own = own && n->kind != PCOLLECT_NODE_CUT && n->kind != PCOLLECT_NODE_OP;
        for (uint32_t k = place.n_frames; k-- > 0; own = false) {
            struct pct_call_row like = row_of_frame(s, &place.frames[k], n);
            add_to_row(s, find_row(s, &like), part, own);
        }
    }
}

static void add_node(struct sums *s, uint32_t node)
{
    const struct pc_profile_node *n = &s->model->profile->nodes[node];
    bool call = n->kind == PCOLLECT_NODE_OP || n->kind == PCOLLECT_NODE_DOMAIN;
    struct part part = {.node = node, .call = PC_NO_INDEX};
    part.sampled = pct_samples_of(s->samples, s->model->profile, node);
    if (call) {
        part.call = pct_model_call(s->model->profile, node);
        pct_model_add(s->model, node, &part.own);
    }
    if (!call && !part.sampled.samples)
        return;
    if (s->by != PCT_BY_SITE && s->by != PCT_BY_COMMUNICATOR)
        add_frames(s, &part);
    else if (call && (n->data != PC_NO_INDEX || part.own.sum[PCT_EXCLUSIVE]))
        (s->by == PCT_BY_SITE ? add_site : add_communicator)(s, &part);
}

/* ---- All --------------------------------------------------------------------------------------
 */

void pct_calls_ranks(const struct pct_call_rows *c, size_t row, uint64_t *values, bool *present)
{
    for (uint32_t i = c->row[row].first_call; i != PC_NO_INDEX; i = c->next[i])
        pct_model_add_ranks(c->model, i, PCT_TIME, values, present);
}

static void find_spreads(struct pct_call_rows *c)
{
    const struct pc_profile *p = c->model->profile;
    uint64_t *values = pct_alloc(p->n_ranks, sizeof *values);
    bool *present = pct_alloc(p->n_ranks, sizeof *present);
    for (size_t i = 0; i < c->n; i++) {
        memset(values, 0, p->n_ranks * sizeof *values);
        memset(present, 0, p->n_ranks * sizeof *present);
        pct_calls_ranks(c, i, values, present);
        c->row[i].spread = pct_model_spread(p, values, present);
    }
    free(values);
    free(present);
}

struct pct_call_rows *pct_calls_new(const struct pct_model *m, struct pct_symbols *symbols,
                                    const struct pct_samples *samples, enum pct_calls_by by)
{
    struct pct_call_rows *c = pct_alloc(1, sizeof *c);
    struct sums s = {.out = c, .model = m, .symbols = symbols, .samples = samples, .by = by};
    c->model = m;
    c->pool = pct_pool_new();
    c->next = pct_alloc(m->profile->n_nodes, sizeof *c->next);
    for (uint32_t i = 0; i < m->profile->n_nodes; i++)
        add_node(&s, i);
    find_spreads(c);
    pct_keys_free(&s.keys);
    pct_buf_free(&s.text);
    return c;
}

void pct_calls_free(struct pct_call_rows *c)
{
    if (!c)
        return;
    free(c->row);
    free(c->next);
    pct_pool_free(c->pool);
    free(c);
}
