/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums of samples by line, function and context. One pass over the profile's nodes in preorder:
 * each finds its context below that of its parent; the samples of a node are added to its own line
 * and function, and once to each line and function on the way to the root.
 */
#include "analysis/tree/samples.h"

#include "analysis/tree/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    struct pct_samples *out;
    const struct pc_profile *profile;
    struct pct_symbols *symbols;
    uint32_t stamp;
    struct pct_buf text;
};

/* ---- Rows by an interned key ------------------------------------------------------------------
 */

/* The row of the key that stands in s->text; *is_new: it is empty. */
static uint32_t find_row(struct sums *s, struct pct_sample_rows *r, bool *is_new)
{
    const char *key = pct_pool_intern(s->out->pool, s->text.data);
    uint32_t i = pct_keys_find(&r->keys, key, is_new);
    if (!*is_new)
        return i;
    r->row = pct_grow(r->row, r->n, &r->room, sizeof *r->row);
    r->row[r->n++] =
        (struct pct_sample_row){.path = key, .parent = PC_NO_INDEX, .first_node = PC_NO_INDEX};
    return i;
}

/* ---- Keys -------------------------------------------------------------------------------------
 */

static const char *module_name(const struct sums *s, const struct pc_profile_node *n)
{
    return n->module == PC_NO_INDEX ? NULL
                                    : pct_symbols_base_name(s->profile->modules[n->module].path);
}

/* The function of a frame, or where it is if that is unknown. */
static const char *name_frame(struct sums *s, const struct pct_frame *f,
                              const struct pc_profile_node *n)
{
    const char *module = module_name(s, n);
    struct pct_buf b = {0};
    if (f->function)
        return f->function;
    if (!module)
        return "(no module)";
    pct_buf_format(&b, "%s+0x%llx", module, (unsigned long long)n->offset);
    const char *kept = pct_pool_intern(s->out->pool, b.data);
    pct_buf_free(&b);
    return kept;
}

static uint32_t row_of_frame(struct sums *s, struct pct_sample_rows *rows,
                             const struct pct_frame *f, const struct pc_profile_node *n)
{
    const char *module = module_name(s, n);
    bool lines = rows == &s->out->lines, is_new;
    const char *function = name_frame(s, f, n);
    pct_buf_clear(&s->text);
    pct_buf_format(&s->text, "%s\n%s\n%u\n%s", function, f->file ? f->file : "",
                   lines ? f->line : 0, module ? module : "");
    uint32_t i = find_row(s, rows, &is_new);
    struct pct_sample_row *r = &rows->row[i];
    if (is_new) {
        r->function = function;
        r->file = f->file;
        r->line = lines ? f->line : 0;
        r->module = module;
        r->path = NULL;
    }
    return i;
}

static uint32_t row_of_op(struct sums *s, struct pct_sample_rows *rows, const char *name)
{
    bool is_new;
    pct_buf_clear(&s->text);
    pct_buf_text(&s->text, name);
    uint32_t i = find_row(s, rows, &is_new);
    rows->row[i].function = name;
    rows->row[i].path = NULL;
    return i;
}

/* ---- Lines and functions ----------------------------------------------------------------------
 */

static void add_self(struct pct_sample_rows *rows, uint32_t i, uint32_t node,
                     struct pct_sampled what)
{
    struct pct_sample_row *r = &rows->row[i];
    pct_sampled_add(&r->self, what);
    rows->next_node[node] = r->first_node;
    r->first_node = node;
}

/* self: the node whose samples these are; PC_NO_INDEX: of something that the row called. */
static void add_to_row(struct sums *s, struct pct_sample_rows *rows, uint32_t i,
                       struct pct_sampled what, uint32_t self)
{
    struct pct_sample_row *r = &rows->row[i];
    if (self != PC_NO_INDEX)
        add_self(rows, i, self, what);
    if (r->seen == s->stamp)
        return;
    r->seen = s->stamp;
    pct_sampled_add(&r->total, what);
}

/* An instruction is looked up as the return address behind it would be. */
static struct pct_place find_place(struct sums *s, const struct pc_profile_node *n)
{
    return pct_symbols_find(s->symbols, n->module, n->offset + (n->kind == PCOLLECT_NODE_POINT));
}

static void add_frames(struct sums *s, const struct pc_profile_node *n, struct pct_sampled what,
                       uint32_t self)
{
    struct pct_place place = find_place(s, n);
    for (uint32_t k = place.n_frames; k-- > 0;) {
        uint32_t innermost = k + 1 == place.n_frames ? self : PC_NO_INDEX;
        const struct pct_frame *f = &place.frames[k];
        add_to_row(s, &s->out->lines, row_of_frame(s, &s->out->lines, f, n), what, innermost);
        add_to_row(s, &s->out->functions, row_of_frame(s, &s->out->functions, f, n), what,
                   innermost);
    }
}

static void add_everywhere(struct sums *s, uint32_t node, struct pct_sampled what)
{
    const struct pc_profile *p = s->profile;
    s->stamp++;
    for (uint32_t i = node; i != PC_NO_INDEX; i = p->nodes[i].parent) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->kind == PCOLLECT_NODE_OP) {
            const char *name = p->ops[n->op].name;
            bool own = i == node || p->nodes[node].parent == i;
            own = own && p->nodes[node].kind != PCOLLECT_NODE_POINT;
            uint32_t self = own ? node : PC_NO_INDEX;
            add_to_row(s, &s->out->lines, row_of_op(s, &s->out->lines, name), what, self);
            add_to_row(s, &s->out->functions, row_of_op(s, &s->out->functions, name), what, self);
        } else if (n->kind == PCOLLECT_NODE_CUT) {
            pct_sampled_add(&s->out->cut, what);
        } else if (n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT) {
            add_frames(s, n, what, i == node ? node : PC_NO_INDEX);
        }
    }
}

/* ---- Contexts ---------------------------------------------------------------------------------
 */

static uint32_t child_row(struct sums *s, struct pct_sample_rows *rows, uint32_t parent,
                          const char *label)
{
    bool is_new;
    pct_buf_clear(&s->text);
    if (parent != PC_NO_INDEX)
        pct_buf_format(&s->text, "%s > ", rows->row[parent].path);
    pct_buf_text(&s->text, label);
    uint32_t i = find_row(s, rows, &is_new);
    if (is_new) {
        rows->row[i].function = pct_pool_intern(s->out->pool, label);
        rows->row[i].parent = parent;
        rows->row[i].context =
            pct_label_context(parent == PC_NO_INDEX ? 0 : rows->row[parent].context, label);
    }
    return i;
}

static uint32_t child_context(struct sums *s, uint32_t parent, const char *label)
{
    return child_row(s, &s->out->contexts, parent, label);
}

static uint32_t frame_contexts(struct sums *s, uint32_t at, const struct pc_profile_node *n)
{
    struct pct_place place = find_place(s, n);
    struct pct_buf label = {0};
    for (uint32_t k = 0; k < place.n_frames; k++) {
        pct_buf_clear(&label);
        pct_label_frame(&label, s->profile, n, &place.frames[k], 0);
        at = child_context(s, at, label.data);
    }
    pct_buf_free(&label);
    return at;
}

static uint32_t find_context(struct sums *s, uint32_t node)
{
    const struct pc_profile *p = s->profile;
    const struct pc_profile_node *n = &p->nodes[node];
    uint32_t at = n->parent == PC_NO_INDEX ? PC_NO_INDEX : s->out->context[n->parent];
    struct pct_buf label = {0};
    switch (n->kind) {
    case PCOLLECT_NODE_FRAME:
    case PCOLLECT_NODE_POINT:
        return frame_contexts(s, at, n);
    case PCOLLECT_NODE_OP:
    case PCOLLECT_NODE_CUT:
    case PCOLLECT_NODE_PHASE:
    case PCOLLECT_NODE_REGION:
        pct_label_other(&label, p, n);
        at = child_context(s, at, label.data);
        pct_buf_free(&label);
        return at;
    default:
        return at;
    }
}

/* Rows come after their parents: from the end, each is complete when it is added to its parent. */
static void sum_contexts(struct pct_sample_rows *rows)
{
    for (size_t i = rows->n; i-- > 0;) {
        struct pct_sample_row *r = &rows->row[i];
        pct_sampled_add(&r->total, r->self);
        if (r->parent != PC_NO_INDEX)
            pct_sampled_add(&rows->row[r->parent].total, r->total);
    }
}

/* ---- All --------------------------------------------------------------------------------------
 */

uint32_t pct_samples_field(const struct pc_profile *p, const char *plugin, const char *name)
{
    for (uint32_t k = 0; k < p->n_fields; k++)
        if (!strcmp(p->fields[k].plugin, plugin) && !strcmp(p->fields[k].name, name))
            return k;
    return PC_NO_INDEX;
}

bool pct_samples_any(const struct pc_profile *p)
{
    uint32_t samples = pct_samples_field(p, "clock", "samples");
    bool any = false;
    for (uint32_t i = 0; i < p->n_data && samples != PC_NO_INDEX; i++) {
        const struct pc_stat *s = pc_data_stat(&p->data[i], samples);
        any |= s && s->sum;
    }
    return any && pct_samples_field(p, "clock", "time") != PC_NO_INDEX;
}

struct pct_sampled pct_samples_of(const struct pct_samples *s, const struct pc_profile *p,
                                  uint32_t node)
{
    struct pct_sampled none = {0, 0, 0};
    uint32_t data = p->nodes[node].data;
    if (data == PC_NO_INDEX || s->samples_field == PC_NO_INDEX || s->time_field == PC_NO_INDEX)
        return none;
    const struct pc_stat *samples = pc_data_stat(&p->data[data], s->samples_field);
    const struct pc_stat *time = pc_data_stat(&p->data[data], s->time_field);
    if (!samples || !time)
        return none;
    struct pct_sampled what = {(uint64_t)samples->sum, time->sum, 0};
    const struct pc_stat *squares =
        s->squares_field == PC_NO_INDEX ? NULL : pc_data_stat(&p->data[data], s->squares_field);
    if (squares)
        what.squares = (double)squares->sum * 1e6; /* us^2 */
    else if (what.samples) /* a profile from before they were kept: as if all were alike */
        what.squares = (double)what.ns * (double)what.ns / (double)what.samples;
    return what;
}

static void sum_all(struct sums *s)
{
    const struct pc_profile *p = s->profile;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        struct pct_sampled what = pct_samples_of(s->out, p, i);
        s->out->context[i] = find_context(s, i);
        if (!what.samples)
            continue;
        pct_sampled_add(&s->out->all, what);
        if (n->kind != PCOLLECT_NODE_POINT)
            pct_sampled_add(&s->out->mpi, what);
        if (s->out->context[i] != PC_NO_INDEX)
            add_self(&s->out->contexts, s->out->context[i], i, what);
        add_everywhere(s, i, what);
    }
    sum_contexts(&s->out->contexts);
}

struct pct_samples *pct_samples_new(const struct pc_profile *p, struct pct_symbols *symbols)
{
    struct pct_samples *out = pct_alloc(1, sizeof *out);
    struct sums s = {.out = out, .profile = p, .symbols = symbols};
    out->profile = p;
    out->pool = pct_pool_new();
    out->samples_field = pct_samples_field(p, "clock", "samples");
    out->time_field = pct_samples_field(p, "clock", "time");
    out->squares_field = pct_samples_field(p, "clock", "squares");
    if (out->samples_field == PC_NO_INDEX || out->time_field == PC_NO_INDEX)
        return out;
    out->context = pct_alloc(p->n_nodes, sizeof *out->context);
    out->lines.next_node = pct_alloc(p->n_nodes, sizeof *out->lines.next_node);
    out->functions.next_node = pct_alloc(p->n_nodes, sizeof *out->functions.next_node);
    out->contexts.next_node = pct_alloc(p->n_nodes, sizeof *out->contexts.next_node);
    sum_all(&s);
    pct_buf_free(&s.text);
    return out;
}

static void free_rows(struct pct_sample_rows *r)
{
    free(r->row);
    free(r->next_node);
    pct_keys_free(&r->keys);
}

void pct_samples_free(struct pct_samples *s)
{
    if (!s)
        return;
    free_rows(&s->lines);
    free_rows(&s->functions);
    free_rows(&s->contexts);
    free_rows(&s->callers);
    free(s->context);
    pct_pool_free(s->pool);
    free(s);
}

/* ---- Callers ----------------------------------------------------------------------------------
 */

static uint32_t find_caller(struct sums *s, uint32_t context)
{
    uint32_t at = PC_NO_INDEX;
    for (; context != PC_NO_INDEX; context = s->out->contexts.row[context].parent)
        at = child_row(s, &s->out->callers, at, s->out->contexts.row[context].function);
    return at;
}

struct pct_sample_rows *pct_samples_callers(struct pct_samples *s)
{
    struct sums sums = {.out = s, .profile = s->profile};
    uint32_t *end = pct_alloc(s->contexts.n, sizeof *end); /* by context: row + 1 */
    if (s->callers.next_node || !s->context)
        goto out;
    s->callers.next_node = pct_alloc(s->profile->n_nodes, sizeof *s->callers.next_node);
    for (uint32_t i = 0; i < s->profile->n_nodes; i++) {
        struct pct_sampled what = pct_samples_of(s, s->profile, i);
        uint32_t context = s->context[i];
        if (!what.samples || context == PC_NO_INDEX)
            continue;
        if (!end[context])
            end[context] = find_caller(&sums, context) + 1;
        add_self(&s->callers, end[context] - 1, i, what);
    }
    sum_contexts(&s->callers);
    pct_buf_free(&sums.text);
out:
    free(end);
    return &s->callers;
}

/* ---- By rank ----------------------------------------------------------------------------------
 */

void pct_samples_ranks(const struct pct_samples *s, const struct pct_sample_rows *rows, size_t row,
                       uint64_t *values, bool *present)
{
    for (uint32_t i = rows->row[row].first_node; i != PC_NO_INDEX; i = rows->next_node[i])
        pct_model_add_field(s->profile, i, s->time_field, values, present);
}

struct pct_spread pct_samples_spread(const struct pct_samples *s, struct pct_sample_rows *rows,
                                     size_t row)
{
    struct pct_sample_row *r = &rows->row[row];
    if (r->has_spread)
        return r->spread;
    uint64_t *values = pct_alloc(s->profile->n_ranks, sizeof *values);
    bool *present = pct_alloc(s->profile->n_ranks, sizeof *present);
    pct_samples_ranks(s, rows, row, values, present);
    r->spread = pct_model_spread(s->profile, values, present);
    r->has_spread = true;
    free(values);
    free(present);
    return r->spread;
}

/* Rows come after their parents. */
void pct_samples_total_ranks(const struct pct_samples *s, const struct pct_sample_rows *rows,
                             size_t row, uint64_t *values, bool *present)
{
    bool *below = pct_alloc(rows->n, sizeof *below);
    for (size_t i = row; i < rows->n; i++) {
        uint32_t parent = rows->row[i].parent;
        below[i] = i == row || (parent != PC_NO_INDEX && below[parent]);
        if (below[i])
            pct_samples_ranks(s, rows, i, values, present);
    }
    free(below);
}

/* ---- Sums -------------------------------------------------------------------------------------
 */

void pct_sampled_add(struct pct_sampled *to, struct pct_sampled what)
{
    to->samples += what.samples;
    to->ns += what.ns;
    to->squares += what.squares;
}

/* Of a sample in the part, w (1 - p) is by chance, of one elsewhere, -w p. */
double pct_samples_variance(struct pct_sampled part, struct pct_sampled all)
{
    if (!part.samples || all.samples < part.samples || !all.ns)
        return 0;
    double p = (double)part.ns / (double)all.ns, others = all.squares - part.squares;
    return part.squares * (1 - p) * (1 - p) + (others > 0 ? others * p * p : 0);
}

bool pct_samples_error(struct pct_sampled part, struct pct_sampled all, pc_u128 *ns_out)
{
    if (part.samples < PCT_SAMPLES_FEW || all.samples < part.samples)
        return false;
    *ns_out = (pc_u128)(1.96 * sqrt(pct_samples_variance(part, all)) + 0.5);
    return true;
}

void pct_sampled_text(struct pct_buf *b, struct pct_sampled part, struct pct_sampled all,
                      bool share)
{
    char number[PCT_NUMBER_BYTES];
    pc_u128 error;
    double unit = share ? 100 / (double)all.ns : 1;
    if (pct_samples_error(part, all, &error))
        pct_text_estimate(b, (double)part.ns * unit, (double)error * unit,
                          share ? PCT_UNIT_PERCENT : PCT_UNIT_NS);
    else
        pct_buf_format(b, "%s%s",
                       share ? pct_text_percent_1(number, pct_text_share(part.ns, all.ns))
                             : pct_text_time(number, part.ns),
                       part.samples ? " few" : "");
}
