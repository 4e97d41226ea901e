/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sum of two profiles.
 *
 * Each list (ranks, modules, primitives, fields, strings) is a sorted list: the union is one pass
 * over both, which also yields, for each entry of a and of b, its index in the union. These maps
 * are increasing, so that trees stay sorted when their nodes are renumbered, and the two trees are
 * then merged in one pass over both preorders. Equal entries are combined so that the result does
 * not depend on the order of merging: the least string, the union of flags, the sum of counts.
 * Statistics are recomputed from the lists of values, where there are some.
 */
#include "format/record_rows.h"
#include "format/value_blocks.h"

/* One side of a merge. */
struct side {
    const struct pc_profile *p;
    uint32_t *ranks, *modules, *ops, *fields, *strings; /* index here -> index in the union */
    uint32_t *back;  /* index of a field in the union -> index here, or PC_NO_INDEX */
    uint32_t *nodes; /* ascending, like the others */
    uint32_t at;     /* the next node, where all of the result are gone through */
    struct pc_record_reader records;
};

struct merge {
    struct side a, b;
    bool overlays; /* ranks may be in both, and the result takes over the memory of a */
    bool lacks_values;
    struct pc_profile *out;
    struct pc_record_writer records;
    struct pc_error *error;
};

/* ---- Tables ------------------------------------------------------------------------------- */

typedef int (*compare_fn)(const void *a, const void *b);
/* Combines b into out, which is a copy of a. 0, or PC_EMISMATCH with a text. */
typedef int (*unite_fn)(struct merge *m, void *out, const void *b);

struct table {
    const void *a, *b;
    uint32_t n_a, n_b;
    size_t size;
    compare_fn compare;
    unite_fn unite;
};

/* The union of a table in *out_entries; strings still belong to a and b. */
static int unite_table(struct merge *m, const struct table *t, uint32_t *map_a, uint32_t *map_b,
                       void **entries_out, uint32_t *n_out)
{
    char *out = pc_pool_array(m->out->memory, (size_t)t->n_a + t->n_b, t->size);
    if (!out)
        return PC_ENOMEM;
    uint32_t i = 0, j = 0, n = 0;
    while (i < t->n_a || j < t->n_b) {
        const char *a = i < t->n_a ? (const char *)t->a + i * t->size : NULL;
        const char *b = j < t->n_b ? (const char *)t->b + j * t->size : NULL;
        int order = !a ? 1 : !b ? -1 : t->compare(a, b);
        memcpy(out + n * t->size, order <= 0 ? a : b, t->size);
        int err = order ? 0 : t->unite(m, out + n * t->size, b);
        if (err)
            return err;
        if (order <= 0)
            map_a[i++] = n;
        if (order >= 0)
            map_b[j++] = n;
        n++;
    }
    *entries_out = out;
    *n_out = n;
    return PC_OK;
}

static char *lesser_text(char *a, char *b)
{
    if (!*a || !*b)
        return *a ? a : b;
    return strcmp(a, b) <= 0 ? a : b;
}

static void replace_known(uint64_t *out, uint64_t b)
{
    if (b)
        *out = b;
}

/* Does so with what was lost, in memory of p. False: there is none. */
static bool replace_losses(struct pc_profile *p, struct pc_profile_rank *r,
                           const struct pc_profile_rank *new)
{
    uint64_t lost[PCOLLECT_N_LOST];
    for (unsigned k = 0; k < PCOLLECT_N_LOST; k++) {
        lost[k] = pc_rank_lost(r, k);
        replace_known(&lost[k], pc_rank_lost(new, k));
    }
    return pc_losses_copy(p->memory, lost, &r->lost);
}

static int unite_rank(struct merge *m, void *out, const void *b)
{
    struct pc_profile_rank *r = out;
    const struct pc_profile_rank *new = b;
    if (!m->overlays)
        return pc_error_set(m->error, PC_EMISMATCH, "rank %d is in both profiles", r->rank);
    if (new->pid)
        r->pid = new->pid;
    if (*new->host)
        r->host = new->host;
    replace_known(&r->start_realtime_ns, new->start_realtime_ns);
    replace_known(&r->before_init_ns, new->before_init_ns);
    replace_known(&r->inside_ns, new->inside_ns);
    replace_known(&r->after_ns, new->after_ns);
    replace_known(&r->mpi_ns, new->mpi_ns);
    replace_known(&r->mpi_calls, new->mpi_calls);
    replace_known(&r->others_mpi_ns, new->others_mpi_ns);
    replace_known(&r->merge_ns, new->merge_ns);
    r->notes |= new->notes;
    if (new->n_threads)
        r->n_threads = new->n_threads;
    if (new->n_others)
        r->n_others = new->n_others;
    r->closed |= new->closed;
    r->incomplete |= new->incomplete;
    return replace_losses(m->out, r, new) ? PC_OK : PC_ENOMEM;
}

static int unite_module(struct merge *m, void *out, const void *b)
{
    (void)m;
    struct pc_profile_module *module = out;
    const struct pc_profile_module *other = b;
    module->path = lesser_text(module->path, other->path);
    module->flags |= other->flags;
    if (other->identity < module->identity)
        module->identity = other->identity;
    return PC_OK;
}

static int unite_op(struct merge *m, void *out, const void *b)
{
    (void)m;
    struct pc_profile_op *op = out;
    const struct pc_profile_op *other = b;
    if (other->op_class < op->op_class)
        op->op_class = other->op_class;
    return PC_OK;
}

static int unite_field(struct merge *m, void *out, const void *b)
{
    const struct pc_profile_field *f = out, *other = b;
    if (f->combine != other->combine || f->unit != other->unit || f->bins != other->bins)
        return pc_error_set(m->error, PC_EMISMATCH,
                            "field '%s' of plugin '%s' differs between the profiles: they were "
                            "collected by different versions",
                            f->name, f->plugin);
    return PC_OK;
}

static int compare_ranks(const void *a, const void *b)
{
    int32_t x = ((const struct pc_profile_rank *)a)->rank;
    int32_t y = ((const struct pc_profile_rank *)b)->rank;
    return x < y ? -1 : x > y;
}

static int compare_modules(const void *a, const void *b)
{
    return pc_module_compare(a, b);
}

static int compare_ops(const void *a, const void *b)
{
    return strcmp(((const struct pc_profile_op *)a)->name, ((const struct pc_profile_op *)b)->name);
}

static int compare_fields(const void *a, const void *b)
{
    return pc_field_compare(a, b);
}

static int unite_string(struct merge *m, void *out, const void *b)
{
    (void)m, (void)out, (void)b;
    return PC_OK;
}

#define TABLE(member, type, compare, unite)                                                        \
    {                                                                                              \
        m->a.p->member, m->b.p->member, m->a.p->n_##member, m->b.p->n_##member, sizeof(type),      \
            compare, unite                                                                         \
    }

static int unite_tables(struct merge *m)
{
    struct pc_profile *out = m->out;
    const struct table ranks = TABLE(ranks, struct pc_profile_rank, compare_ranks, unite_rank);
    const struct table modules =
        TABLE(modules, struct pc_profile_module, compare_modules, unite_module);
    const struct table ops = TABLE(ops, struct pc_profile_op, compare_ops, unite_op);
    const struct table fields = TABLE(fields, struct pc_profile_field, compare_fields, unite_field);
    const struct table strings = TABLE(strings, char *, pc_by_text, unite_string);
    void *entries[5];
    int err = unite_table(m, &ranks, m->a.ranks, m->b.ranks, &entries[0], &out->n_ranks);
    if (!err)
        err = unite_table(m, &modules, m->a.modules, m->b.modules, &entries[1], &out->n_modules);
    if (!err)
        err = unite_table(m, &ops, m->a.ops, m->b.ops, &entries[2], &out->n_ops);
    if (!err)
        err = unite_table(m, &fields, m->a.fields, m->b.fields, &entries[3], &out->n_fields);
    if (!err)
        err = unite_table(m, &strings, m->a.strings, m->b.strings, &entries[4], &out->n_strings);
    if (err)
        return err;
    out->ranks = entries[0];
    out->modules = entries[1];
    out->ops = entries[2];
    out->fields = entries[3];
    out->strings = entries[4];
    pc_profile_count_groups(out);
    if (out->n_fields > PC_PROFILE_MAX_FIELDS)
        return pc_error_set(m->error, PC_EMISMATCH, "the profiles have too many fields together");
    return PC_OK;
}

/* Copies a string of the union, which points into a or b so far. */
static bool own_text(struct pc_profile *p, char **text)
{
    *text = pc_pool_text(p->memory, *text, strlen(*text));
    return *text != NULL;
}

/* Copies hosts and counters of ranks. Ranks that follow each other share their host, as in what was
 * decoded. */
static bool own_ranks(struct pc_profile *p)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->n_ranks; i++) {
        struct pc_profile_rank *r = &p->ranks[i];
        if (i && !strcmp(r[-1].host, r->host))
            r->host = r[-1].host;
        else
            ok = own_text(p, &r->host);
        ok &= pc_losses_copy(p->memory, r->lost, &r->lost);
    }
    return ok;
}

static bool own_texts(struct pc_profile *p)
{
    bool ok = own_text(p, &p->exe) && own_text(p, &p->mpi) && own_text(p, &p->job) && own_ranks(p);
    for (uint32_t i = 0; ok && i < p->n_modules; i++)
        ok = own_text(p, &p->modules[i].path);
    for (uint32_t i = 0; ok && i < p->n_ops; i++)
        ok = own_text(p, &p->ops[i].name);
    for (uint32_t i = 0; ok && i < p->n_fields; i++)
        ok = own_text(p, &p->fields[i].plugin) && own_text(p, &p->fields[i].name);
    for (uint32_t i = 0; ok && i < p->n_strings; i++)
        ok = own_text(p, &p->strings[i]);
    return ok;
}

/* ---- Trees -------------------------------------------------------------------------------- */

/* Node i of a side as a node of the result; its parent has been placed already. */
static inline struct pc_profile_node renumber(const struct side *s, uint32_t i)
{
    struct pc_profile_node n = s->p->nodes[i];
    n.parent = i ? s->nodes[n.parent] : PC_NO_INDEX;
    if (n.module != PC_NO_INDEX)
        n.module = s->modules[n.module];
    if (n.op != PC_NO_INDEX)
        n.op = s->ops[n.op];
    return n;
}

/* < 0: that of a comes first, > 0: that of b, 0: they are the same node. The side whose parent was
 * placed later is still inside a subtree that the other side has left or never had: it comes
 * first. */
int pc_node_compare_next(const struct pc_profile_node *a, const struct pc_profile_node *b)
{
    if (a->parent == b->parent)
        return pc_node_compare(a, b);
    if (a->parent == PC_NO_INDEX || b->parent == PC_NO_INDEX)
        return a->parent == PC_NO_INDEX ? -1 : 1;
    return a->parent > b->parent ? -1 : 1;
}

/* Finds the place of each node in the result; returns the number of its nodes. */
static uint32_t pair_nodes(struct merge *m)
{
    uint32_t i = 0, j = 0, n = 0, n_a = m->a.p->n_nodes, n_b = m->b.p->n_nodes;
    while (i < n_a || j < n_b) {
        int order = i == n_a ? 1 : -1;
        if (i < n_a && j < n_b) {
            struct pc_profile_node a = renumber(&m->a, i), b = renumber(&m->b, j);
            order = pc_node_compare_next(&a, &b);
        }
        if (order <= 0)
            m->a.nodes[i++] = n;
        if (order >= 0)
            m->b.nodes[j++] = n;
        n++;
    }
    return n;
}

/* ---- Records ------------------------------------------------------------------------------ */

/* The record of a node, which is the next one of its side; NULL: it has none. */
static const struct pc_profile_data *record_of(struct side *s, uint32_t node)
{
    if (node == PC_NO_INDEX || s->p->nodes[node].data == PC_NO_INDEX)
        return NULL;
    return pc_record_reader_next(&s->records, s->p->nodes[node].kind);
}

/* Adds row r of d to the row of the result, whose first element is field `first`. */
static void add_row(const struct merge *m, const struct side *s, const struct pc_profile_data *d,
                    uint32_t r, uint64_t *row, uint32_t first)
{
    uint32_t width = s->p->n_fields - d->first_field;
    const uint64_t *values = d->values + (size_t)r * width;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t k = s->fields[d->first_field + i];
        uint64_t *to = &row[k - first];
        *to = pc_field_combine(m->out->fields[k].combine, *to, values[i]);
    }
}

static void add_bins(const struct side *s, const struct pc_profile_data *d,
                     struct pc_profile_data *out)
{
    if (!d || !out->bins)
        return;
    for (uint32_t k = d->first_field; k < s->p->n_fields; k++) {
        const uint64_t *bins = pc_data_bins(s->p, d, k);
        for (uint32_t bin = 0; bins && bin < s->p->fields[k].bins; bin++)
            out->bins[s->fields[k] - out->first_field][bin] += bins[bin];
    }
}

static uint32_t count_union(const struct pc_profile_data *a, const struct pc_profile_data *b)
{
    uint32_t i = 0, j = 0, n = 0, n_a = a ? a->n_ranks : 0, n_b = b ? b->n_ranks : 0;
    while (i < n_a && j < n_b) {
        int32_t x = a->ranks[i], y = b->ranks[j];
        i += x <= y;
        j += y <= x;
        n++;
    }
    return n + (n_a - i) + (n_b - j);
}

/* The statistic of field k of the union in a record of a side. If a side lacks the field, its ranks
 * count as 0. */
static struct pc_stat stat_in(const struct merge *m, const struct side *s,
                              const struct pc_profile_data *d, uint32_t k)
{
    if (d && s->back[k] != PC_NO_INDEX)
        return pc_data_stat(s->p, d, s->back[k]);
    bool counts = d && m->out->fields[k].combine != PCOLLECT_MIN;
    return (struct pc_stat){.n = counts ? d->n_ranks : 0,
                            .min_rank = counts ? d->first_rank : 0,
                            .max_rank = counts ? d->first_rank : 0};
}

/* Statistics of a late record overlaid on a record without values: the values of single ranks are
 * no longer known. The sum is exact; the number of ranks is the least possible. */
static struct pc_stat stat_overlay(const struct pc_stat *a, const struct pc_stat *b)
{
    struct pc_stat s = pc_stat_add(a, b);
    if (a->n && b->n)
        s.n = a->n > b->n ? a->n : b->n;
    return s;
}

/* The part of the values by rank that the union of two records can keep. A late record is not added
 * to times in steps: as without values, it is no longer known what single ranks have. */
static uint8_t kept_of_both(const struct merge *m, const struct pc_profile_data *a,
                            const struct pc_profile_data *b)
{
    if (!a || !b)
        return a ? a->kept : b->kept;
    if (a->kept == PC_KEPT_EXACT && b->kept == PC_KEPT_EXACT)
        return PC_KEPT_EXACT;
    return a->kept && b->kept && !m->overlays ? PC_KEPT_STEPS : PC_KEPT_NONE;
}

/* Sets the figures of the union of two records, but for bins and lists. */
static void join_statistics(const struct merge *m, const struct pc_profile_data *a,
                            const struct pc_profile_data *b, struct pc_profile_data *out)
{
    uint64_t n_a = a ? a->n_ranks : 0, n_b = b ? b->n_ranks : 0;
    out->n_ranks = (uint32_t)(n_a + n_b);
    if (m->overlays && a && b)
        out->n_ranks = (uint32_t)(n_a > n_b ? n_a : n_b);
    out->kept = kept_of_both(m, a, b);
    out->stored = a ? a->stored : b->stored; /* only one side has values that were not read */
    out->first_rank = !a || (b && b->first_rank < a->first_rank) ? b->first_rank : a->first_rank;
    for (uint32_t k = out->first_field; k < m->out->n_fields; k++) {
        struct pc_stat *to = &out->stats[k - out->first_field];
        struct pc_stat x = stat_in(m, &m->a, a, k), y = stat_in(m, &m->b, b, k);
        if (m->out->fields[k].combine == PCOLLECT_HIST)
            to->n = out->n_ranks;
        else
            *to = m->overlays ? stat_overlay(&x, &y) : pc_stat_add(&x, &y);
    }
}

/* Merges two records without lists: one has too many ranks for them, or the sum will have. */
static bool merge_statistics(struct merge *m, unsigned kind, const struct pc_profile_data *a,
                             const struct pc_profile_data *b)
{
    struct pc_profile_data *out = pc_record_writer_begin(&m->records, kind, 0);
    if (!out)
        return false;
    join_statistics(m, a, b, out);
    add_bins(&m->a, a, out);
    add_bins(&m->b, b, out);
    pc_profile_data_bound(m->out, out);
    return true;
}

void pc_record_overlay(struct pc_profile *p, const uint32_t *fields,
                       const struct pc_profile_data *a, const struct pc_profile_data *late,
                       struct pc_profile_data *out)
{
    uint32_t *same = (uint32_t *)fields; /* is only read */
    const struct side of = {.p = p, .fields = same, .back = same};
    const struct merge m = {.a = of, .b = of, .overlays = true, .out = p};
    join_statistics(&m, a, late, out);
    add_bins(&of, a, out);
    add_bins(&of, late, out);
}

/* True if the union of two records can, or must, be made from statistics alone. */
static bool goes_without_lists(const struct merge *m, const struct pc_profile_data *a,
                               const struct pc_profile_data *b)
{
    uint64_t n = (uint64_t)(a ? a->n_ranks : 0) + (b ? b->n_ranks : 0);
    return !m->out->data || (a && !a->ranks) || (b && !b->ranks) || !kept_of_both(m, a, b) ||
           (m->out->per_rank && n > m->out->per_rank && !m->overlays);
}

static bool merge_lists(struct merge *m, unsigned kind, const struct pc_profile_data *a,
                        const struct pc_profile_data *b)
{
    uint32_t n = count_union(a, b), i = 0, j = 0;
    struct pc_profile_data *out = pc_record_writer_begin(&m->records, kind, n);
    if (!out)
        return false;
    uint32_t first = out->first_field, width = m->out->n_fields - first;
    for (uint32_t r = 0; r < n; r++) {
        uint64_t *row = out->values + (size_t)r * width;
        bool has_a = a && i < a->n_ranks, has_b = b && j < b->n_ranks;
        bool take_a = has_a && (!has_b || a->ranks[i] <= b->ranks[j]);
        bool take_b = has_b && (!has_a || b->ranks[j] <= a->ranks[i]);
        out->ranks[r] = take_a ? a->ranks[i] : b->ranks[j];
        if (take_a)
            add_row(m, &m->a, a, i++, row, first);
        if (take_b)
            add_row(m, &m->b, b, j++, row, first);
    }
    add_bins(&m->a, a, out);
    add_bins(&m->b, b, out);
    pc_profile_data_derive(m->out, out);
    pc_profile_data_bound(m->out, out);
    return true;
}

/* The values of field k of the union in the lists of a record; n 0: they are all 0. */
static struct pc_by_rank listed_in(const struct side *s, const struct pc_profile_data *d,
                                   uint32_t k)
{
    return d && s->back[k] != PC_NO_INDEX ? pc_data_listed(s->p, d, s->back[k])
                                          : (struct pc_by_rank){0};
}

static uint16_t step_in(const struct pc_by_rank *by, uint32_t r)
{
    return r >= by->n  ? 0
           : by->steps ? by->steps[r * by->stride]
                       : (uint16_t)pc_step_of(pc_by_rank_value(by, r));
}

/* Merges the lists of records of different ranks, of which one has times in steps. */
static bool merge_steps(struct merge *m, unsigned kind, const struct pc_profile_data *a,
                        const struct pc_profile_data *b)
{
    if (!merge_statistics(m, kind, a, b))
        return false;
    struct pc_profile_data *out = m->records.record;
    uint32_t width = pc_data_n_steps(m->out, out), place = 0;
    if (!width)
        pc_profile_data_drop(out);
    if (!out->kept)
        return true;
    if (!pc_profile_data_steps(m->out, out, out->n_ranks))
        return false;
    for (uint32_t k = out->first_field; k < m->out->n_fields; k++) {
        struct pc_by_rank x = listed_in(&m->a, a, k), y = listed_in(&m->b, b, k);
        if (!pc_field_in_steps(m->out, out, k))
            continue;
        for (uint32_t r = 0, i = 0; r < out->n_ranks; r++) {
            uint32_t j = r - i;
            bool has_a = a && i < a->n_ranks, has_b = b && j < b->n_ranks;
            bool take_a = has_a && (!has_b || a->ranks[i] < b->ranks[j]);
            out->ranks[r] = take_a ? a->ranks[i] : b->ranks[j];
            out->steps[(size_t)r * width + place] = take_a ? step_in(&x, i++) : step_in(&y, j);
        }
        place++;
    }
    return true;
}

static bool has_steps(const struct pc_profile_data *d)
{
    return d && d->kept == PC_KEPT_STEPS;
}

/* True if values are needed that the file has, but that were not read. */
static bool lacks_values(const struct pc_profile_data *a, const struct pc_profile_data *b)
{
    return a && b && ((a->kept && !a->ranks) || (b->kept && !b->ranks));
}

/* Lets the result have a record of a as it is. False: it must be written anew. */
static bool take_over_record(struct merge *m, const struct pc_profile_data *a)
{
    struct pc_profile *out = m->out;
    if (!m->overlays || !out->data || out->n_fields != m->a.p->n_fields ||
        out->per_rank != m->a.p->per_rank)
        return false;
    out->data[out->n_data++] = *a;
    return true;
}

/* The reader of the packed records of a side if it has one for this node, else NULL. */
static struct pc_record_reader *packed_of(struct side *s, uint32_t node)
{
    bool has = node != PC_NO_INDEX && s->p->nodes[node].data != PC_NO_INDEX;
    return has ? &s->records : NULL;
}

/* Does what merge_record does, from bytes to bytes. */
static int join_record(struct merge *m, unsigned kind, uint32_t in_a, uint32_t in_b,
                       bool *has_record)
{
    struct pc_record_reader *a = packed_of(&m->a, in_a), *b = packed_of(&m->b, in_b);
    *has_record = a || b;
    if (a && b)
        pc_record_writer_join(&m->records, a, b, kind);
    else if (*has_record && pc_record_reader_pass(a ? a : b, kind))
        pc_record_writer_copy(&m->records, a ? a : b);
    if (m->a.records.failed || m->b.records.failed)
        return pc_error_set(m->error, PC_EFORMAT, "a record of a profile is damaged");
    return PC_OK;
}

/* Writes the record of a node of the result, which is in_a in a and in_b in b. *has_record: there
 * is one. */
static int merge_record(struct merge *m, unsigned kind, uint32_t in_a, uint32_t in_b,
                        bool *has_record)
{
    const struct pc_profile_data *a = record_of(&m->a, in_a), *b = record_of(&m->b, in_b);
    if (m->a.records.failed || m->b.records.failed)
        return pc_error_set(m->error, PC_EFORMAT, "a record of a profile is damaged");
    *has_record = a || b;
    if (!*has_record || (!b && pc_record_writer_copy(&m->records, &m->a.records)) ||
        (!a && pc_record_writer_copy(&m->records, &m->b.records)) || (!b && take_over_record(m, a)))
        return PC_OK;
    m->lacks_values |= lacks_values(a, b);
    if (!(goes_without_lists(m, a, b)    ? merge_statistics(m, kind, a, b)
          : has_steps(a) || has_steps(b) ? merge_steps(m, kind, a, b)
                                         : merge_lists(m, kind, a, b)))
        return PC_ENOMEM;
    pc_record_writer_end(&m->records);
    return PC_OK;
}

/* The node of a side that is node i of the result, or PC_NO_INDEX; called for all i in order. */
static uint32_t next_in(struct side *s, uint32_t i)
{
    return s->at < s->p->n_nodes && s->nodes[s->at] == i ? s->at++ : PC_NO_INDEX;
}

static int merge_trees(struct merge *m)
{
    struct pc_profile *out = m->out;
    bool joins = !m->overlays && pc_record_writer_joins(&m->records, &m->a.records, &m->b.records);
    for (uint32_t i = 0; i < out->n_nodes; i++) {
        bool has_record;
        uint32_t in_a = next_in(&m->a, i), in_b = next_in(&m->b, i);
        struct pc_profile_node n =
            in_a != PC_NO_INDEX ? renumber(&m->a, in_a) : renumber(&m->b, in_b);
        if (in_b != PC_NO_INDEX)
            n.flags |= m->b.p->nodes[in_b].flags;
        int err = (joins ? join_record : merge_record)(m, n.kind, in_a, in_b, &has_record);
        if (err)
            return err;
        n.data = has_record ? out->n_data - 1 : PC_NO_INDEX;
        out->nodes[i] = n;
    }
    pc_profile_count_descendants(out);
    if (!pc_record_reader_ended(&m->a.records) || !pc_record_reader_ended(&m->b.records))
        return pc_error_set(m->error, PC_EFORMAT, "the records of a profile are damaged");
    return PC_OK;
}

static int number_nodes(struct merge *m)
{
    const struct pc_profile *a = m->a.p, *b = m->b.p;
    if ((size_t)a->n_nodes + b->n_nodes >= PC_NO_INDEX)
        return pc_error_set(m->error, PC_ENOMEM, "the profiles have too many contexts together");
    if ((a->packed && a->data) || (b->packed && b->data))
        return pc_error_set(m->error, PC_EARG, "packed records have values: they can be written");
    m->out->n_nodes = pair_nodes(m);
    return PC_OK;
}

/* True if b has no record where a has none. */
static bool adds_no_record(const struct merge *m)
{
    const struct pc_profile *a = m->a.p, *b = m->b.p;
    for (uint32_t i = 0, j = 0; j < b->n_nodes; j++) {
        while (i < a->n_nodes && m->a.nodes[i] < m->b.nodes[j])
            i++;
        bool has_a =
            i < a->n_nodes && m->a.nodes[i] == m->b.nodes[j] && a->nodes[i].data != PC_NO_INDEX;
        if (b->nodes[j].data != PC_NO_INDEX && !has_a)
            return false;
    }
    return true;
}

static int merge_nodes(struct merge *m, struct pc_pool *scratch)
{
    const struct pc_profile *a = m->a.p, *b = m->b.p;
    struct pc_profile *out = m->out;
    if (m->overlays && out->n_nodes == a->n_nodes)
        out->nodes = a->nodes;
    else
        out->nodes = pc_pool_array(out->memory, out->n_nodes, sizeof *out->nodes);
    if (m->overlays && (out->no_bins || !b->n_data) && adds_no_record(m))
        out->data = a->data; /* a record is made elsewhere, if at all, then put at its place */
    bool room = out->nodes && pc_record_reader_open(&m->a.records, a, scratch) &&
                pc_record_reader_open(&m->b.records, b, scratch);
    room &= pc_record_writer_open(&m->records, out, (size_t)a->n_data + b->n_data, a, b, scratch);
    int err = room ? merge_trees(m) : PC_ENOMEM;
    return pc_record_writer_close(&m->records) || err ? err : PC_ENOMEM;
}

/* ---- Whole profiles ----------------------------------------------------------------------- */

static int check_same_job(const struct merge *m)
{
    const struct pc_profile *a = m->a.p, *b = m->b.p;
    if (a->job_key != b->job_key)
        return pc_error_set(m->error, PC_EMISMATCH, "the profiles are of different jobs (%lx, %lx)",
                            (unsigned long)a->job_key, (unsigned long)b->job_key);
    if (a->world_size != b->world_size)
        return pc_error_set(m->error, PC_EMISMATCH,
                            "the profiles are of jobs of different size (%u and %u ranks)",
                            a->world_size, b->world_size);
    return PC_OK;
}

static bool make_maps(struct side *s, struct pc_pool *scratch)
{
    s->ranks = pc_pool_array(scratch, s->p->n_ranks, sizeof *s->ranks);
    s->modules = pc_pool_array(scratch, s->p->n_modules, sizeof *s->modules);
    s->ops = pc_pool_array(scratch, s->p->n_ops, sizeof *s->ops);
    s->fields = pc_pool_array(scratch, s->p->n_fields, sizeof *s->fields);
    s->nodes = pc_pool_array(scratch, s->p->n_nodes, sizeof *s->nodes);
    s->strings = pc_pool_array(scratch, s->p->n_strings, sizeof *s->strings);
    return s->ranks && s->modules && s->ops && s->fields && s->nodes && s->strings;
}

/* The smaller of two bounds, where 0 is no bound. */
static uint32_t lesser_bound(uint32_t a, uint32_t b)
{
    return !a ? b : !b ? a : a < b ? a : b;
}

static bool make_way_back(struct side *s, uint32_t n_fields, struct pc_pool *scratch)
{
    s->back = pc_pool_array(scratch, n_fields, sizeof *s->back);
    for (uint32_t k = 0; s->back && k < n_fields; k++)
        s->back[k] = PC_NO_INDEX;
    for (uint32_t k = 0; s->back && k < s->p->n_fields; k++)
        s->back[s->fields[k]] = k;
    return s->back != NULL;
}

/* Lets the sum read values that are still in a file. They must be of one side and have all fields,
 * and no record of the other side may have to be added to one of theirs. */
static int share_columns(struct merge *m)
{
    const struct pc_profile *a = m->a.p, *b = m->b.p, *from = a->columns ? a : b;
    bool lacks = m->lacks_values && (m->overlays || from->columns);
    lacks |= from->columns && (from->n_fields != m->out->n_fields || (a->columns && b->columns));
    if (lacks)
        return pc_error_set(m->error, PC_ENOENT, "the values by rank were not read");
    if (from->columns)
        m->out->columns = pc_columns_share(from->columns);
    if (from->steps)
        m->out->steps = pc_columns_share(from->steps);
    return PC_OK;
}

static int merge_into(struct merge *m, struct pc_pool *scratch)
{
    const struct pc_profile *a = m->a.p, *b = m->b.p;
    if (!make_maps(&m->a, scratch) || !make_maps(&m->b, scratch))
        return PC_ENOMEM;
    m->out->job_key = a->job_key;
    m->out->world_size = a->world_size;
    m->out->per_rank = lesser_bound(a->per_rank, b->per_rank);
    m->out->lacks_values = a->lacks_values || b->lacks_values;
    m->out->statistics_only = a->statistics_only || b->statistics_only;
    m->out->no_bins = a->no_bins || b->no_bins;
    m->out->bins_room = m->overlays ? a->bins_room : NULL;
    m->out->exe = lesser_text(a->exe, b->exe);
    m->out->mpi = lesser_text(a->mpi, b->mpi);
    m->out->job = lesser_text(a->job, b->job);
    int err = unite_tables(m);
    if (!err && (!own_texts(m->out) || !make_way_back(&m->a, m->out->n_fields, scratch) ||
                 !make_way_back(&m->b, m->out->n_fields, scratch)))
        err = PC_ENOMEM;
    if (!err)
        err = number_nodes(m);
    const struct pc_table_side side_a = {a, m->a.nodes, m->a.strings};
    const struct pc_table_side side_b = {b, m->b.nodes, m->b.strings};
    if (!err)
        err = pc_tables_merge(&side_a, &side_b, m->out, m->error);
    if (!err)
        err = merge_nodes(m, scratch); /* from here on a may be changed */
    return err ? err : share_columns(m);
}

int pc_profile_merge(const struct pc_profile *a, const struct pc_profile *b,
                     struct pc_profile **out, struct pc_error *error)
{
    struct pc_error inner = {""};
    struct merge m = {.a.p = a, .b.p = b, .error = &inner};
    struct pc_pool *scratch = pc_pool_new();
    m.out = pc_profile_new();
    int err = scratch && m.out ? check_same_job(&m) : PC_ENOMEM;
    if (!err)
        err = merge_into(&m, scratch);
    pc_pool_free(scratch);
    if (err) {
        pc_profile_free(m.out);
        return pc_error_set(error, err, "%s", *inner.text ? inner.text : pc_err_text(err));
    }
    *out = m.out;
    return PC_OK;
}

/* Adds b, which has no contexts, to a, which has left its own in the file: they are read with the
 * modules, primitives and fields of a. The records of a are those that it has listed. */
static int merge_around(struct merge *m, struct pc_pool *scratch)
{
    struct pc_profile *a = (struct pc_profile *)m->a.p, before = *a;
    const struct pc_profile *b = m->b.p;
    if (b->n_nodes > 1 || b->n_modules || b->n_ops || b->n_fields)
        return pc_error_set(m->error, PC_EARG, "contexts are left in the file");
    a->n_data = 0;
    int err = merge_into(m, scratch);
    struct pc_profile *of = err ? a : m->out;
    a->later_contexts = NULL;
    of->data = before.data;
    of->n_data = before.n_data;
    of->later_contexts = before.later_contexts;
    return err;
}

int pc_profile_overlay(struct pc_profile **p, const struct pc_profile *b, struct pc_error *error)
{
    struct pc_error inner = {""};
    struct pc_profile *a = *p, *out = pc_pool_array(a->memory, 1, sizeof *out);
    struct merge m = {.a.p = a, .b.p = b, .overlays = true, .out = out, .error = &inner};
    struct pc_pool *scratch = pc_pool_new();
    int err = scratch && out ? check_same_job(&m) : PC_ENOMEM;
    if (!err) {
        out->memory = a->memory;
        out->records = a->records;
        err = a->later_contexts ? merge_around(&m, scratch) : merge_into(&m, scratch);
        pc_profile_close(err ? out : a);
    }
    pc_pool_free(scratch);
    if (err)
        return pc_error_set(error, err, "%s", *inner.text ? inner.text : pc_err_text(err));
    *p = out;
    return PC_OK;
}
