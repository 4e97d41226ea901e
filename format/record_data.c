/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records in memory: their lists of ranks and values, and the statistics that are computed from
 * these. Of format/ it calls only the pool.
 */
#include "format/build.h"

uint32_t pc_data_step_place(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t k)
{
    uint32_t n = 0;
    for (uint32_t i = d->first_field; i < k; i++)
        n += pc_field_in_steps(p, d, i);
    return n;
}

uint32_t pc_data_n_steps(const struct pc_profile *p, const struct pc_profile_data *d)
{
    return pc_data_step_place(p, d, p->n_fields);
}

bool pc_profile_data_lists(struct pc_profile *p, struct pc_profile_data *d, uint32_t n_ranks)
{
    size_t n_values;
    if (__builtin_mul_overflow((size_t)n_ranks, (size_t)p->n_fields - d->first_field, &n_values))
        return false;
    d->n_ranks = n_ranks;
    d->kept = PC_KEPT_EXACT;
    d->ranks = pc_pool_array(p->memory, n_ranks, sizeof *d->ranks);
    d->values = pc_pool_array(p->memory, n_values, sizeof *d->values);
    return d->ranks && d->values;
}

bool pc_profile_data_steps(struct pc_profile *p, struct pc_profile_data *d, uint32_t n_ranks)
{
    size_t n_steps;
    if (__builtin_mul_overflow((size_t)n_ranks, pc_data_n_steps(p, d), &n_steps))
        return false;
    d->n_ranks = n_ranks;
    d->kept = PC_KEPT_STEPS;
    d->ranks = pc_pool_array(p->memory, n_ranks, sizeof *d->ranks);
    d->steps = pc_pool_array(p->memory, n_steps, sizeof *d->steps);
    return d->ranks && d->steps;
}

void pc_profile_data_drop(struct pc_profile_data *d)
{
    d->kept = PC_KEPT_NONE;
    d->ranks = NULL;
    d->values = NULL;
}

void pc_profile_data_bound(const struct pc_profile *p, struct pc_profile_data *d)
{
    if (p->per_rank && d->n_ranks > p->per_rank)
        pc_profile_data_drop(d);
}

/* Sets the first field of a record of that kind, and returns the number of its fields. */
static uint32_t set_fields(const struct pc_profile *p, struct pc_profile_data *d, unsigned kind)
{
    d->first_field = kind == PCOLLECT_NODE_POINT ? p->n_comm : 0;
    return p->n_fields - d->first_field;
}

static bool make_bins(struct pc_pool *pool, const struct pc_profile *p, struct pc_profile_data *d,
                      uint32_t n_fields)
{
    d->bins = pc_pool_array(pool, n_fields, sizeof *d->bins);
    for (uint32_t i = 0; d->bins && i < n_fields; i++) {
        const struct pc_profile_field *f = &p->fields[d->first_field + i];
        if (f->combine != PCOLLECT_HIST)
            continue;
        d->bins[i] = pc_pool_array(pool, f->bins, sizeof *d->bins[i]);
        if (!d->bins[i])
            return false;
    }
    return d->bins != NULL;
}

bool pc_profile_data_make(struct pc_pool *pool, const struct pc_profile *p,
                          struct pc_profile_data *d, unsigned kind)
{
    uint32_t n_fields = set_fields(p, d, kind);
    d->stats = pc_pool_array(pool, n_fields, sizeof *d->stats);
    return d->stats && (p->no_bins || make_bins(pool, p, d, n_fields));
}

bool pc_profile_data_of_one(struct pc_profile *p, struct pc_profile_data *d, unsigned kind,
                            int32_t *rank)
{
    uint32_t n_fields = set_fields(p, d, kind);
    d->n_ranks = 1;
    d->first_rank = *rank;
    d->kept = PC_KEPT_EXACT;
    d->form = PC_FORM_LONE;
    d->ranks = rank;
    d->values = d->lone = pc_pool_array(pc_profile_record_memory(p), n_fields, sizeof *d->values);
    return d->values != NULL;
}

bool pc_profile_data_bins(struct pc_profile *p, struct pc_profile_data *d)
{
    d->is_coded = false;
    return make_bins(p->memory, p, d, p->n_fields - d->first_field);
}

/* True if the statistics are those of the least values, which one rank has. */
static bool is_of_one(const struct pc_profile *p, const struct pc_profile_data *d)
{
    bool same = d->n_ranks == 1;
    for (uint32_t k = d->first_field; k < p->n_fields && same; k++) {
        const struct pc_stat *s = &d->stats[k - d->first_field];
        struct pc_stat of_one = pc_stat_of_one(&p->fields[k], d->first_rank, s->min);
        same = pc_stat_same(s, &of_one);
    }
    return same;
}

static unsigned varint_bytes(uint64_t v)
{
    return (70u - (unsigned)__builtin_clzll(v | 1)) / 7;
}

/* Packs the least values of statistics, one for each field of d, as what d has. */
static bool pack(struct pc_profile *p, const struct pc_stat *stats, struct pc_profile_data *d)
{
    uint32_t n_fields = p->n_fields - d->first_field;
    size_t n = 0;
    for (uint32_t i = 0; i < n_fields; i++)
        n += varint_bytes(stats[i].min);
    uint8_t *at = pc_pool_bytes(p->memory, n);
    d->form = PC_FORM_PACKED;
    d->packed = at;
    for (uint32_t i = 0; at && i < n_fields; i++)
        at = pc_store_varint(at, stats[i].min);
    return at != NULL;
}

uint64_t pc_data_unpack(const struct pc_profile_data *d, uint32_t k)
{
    uint32_t n = k - d->first_field;
    struct pc_cursor c = pc_cursor_over(d->packed, (size_t)PC_VARINT_MOST * (n + 2));
    pc_pass_varints(&c, n);
    return pc_get_varint(&c);
}

bool pc_profile_data_keep(struct pc_profile *p, const struct pc_profile_data *from,
                          struct pc_profile_data *to)
{
    uint32_t n = p->n_fields - from->first_field;
    *to = *from;
    if (!is_of_one(p, from)) {
        to->stats = pc_pool_array(p->memory, n, sizeof *to->stats);
        if (to->stats)
            memcpy(to->stats, from->stats, n * sizeof *to->stats);
        return to->stats != NULL;
    }
    return pack(p, from->stats, to);
}

bool pc_profile_data_open(struct pc_profile *p, struct pc_profile_data *d)
{
    const struct pc_profile_data from = *d;
    if (!pc_profile_data_of_one(p, d, from.first_field ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_OP,
                                &d->first_rank))
        return false;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        d->lone[k - d->first_field] = pc_data_of_one(&from, k);
    return true;
}

bool pc_profile_data_init(struct pc_profile *p, struct pc_profile_data *d, unsigned kind,
                          uint32_t n_ranks)
{
    return pc_profile_data_make(p->memory, p, d, kind) &&
           (!n_ranks || pc_profile_data_lists(p, d, n_ranks));
}

struct pc_by_rank pc_data_listed(const struct pc_profile *p, const struct pc_profile_data *d,
                                 uint32_t k)
{
    static const uint64_t no_value = 0;
    struct pc_by_rank out = {.n = d->n_ranks, .ranks = d->ranks, .values = &no_value};
    if (d->kept == PC_KEPT_STEPS) {
        out.steps = d->steps + pc_data_step_place(p, d, k);
        out.stride = pc_data_n_steps(p, d);
        return pc_field_in_steps(p, d, k) ? out : (struct pc_by_rank){0};
    }
    if (k < d->first_field)
        return out;
    out.values = d->values + (k - d->first_field);
    out.stride = p->n_fields - d->first_field;
    return out;
}

static struct pc_stat derive_stat(const struct pc_by_rank *by, bool skip_zero)
{
    struct pc_stat s = {0};
    for (uint32_t i = 0; i < by->n; i++) {
        uint64_t v = pc_by_rank_value(by, i);
        if (skip_zero && !v)
            continue;
        s.sum += v;
        s.sum_squares += (pc_u128)v * v;
        if (!s.n || v < s.min) {
            s.min = v;
            s.min_rank = by->ranks[i];
        }
        if (!s.n || v > s.max) {
            s.max = v;
            s.max_rank = by->ranks[i];
        }
        s.n++;
    }
    return s;
}

struct pc_stat pc_stat_add(const struct pc_stat *a, const struct pc_stat *b)
{
    if (!a->n || !b->n)
        return a->n ? *a : *b;
    struct pc_stat s = *a;
    s.n += b->n;
    s.sum += b->sum;
    s.sum_squares += b->sum_squares;
    if (b->min < s.min || (b->min == s.min && b->min_rank < s.min_rank)) {
        s.min = b->min;
        s.min_rank = b->min_rank;
    }
    if (b->max > s.max || (b->max == s.max && b->max_rank < s.max_rank)) {
        s.max = b->max;
        s.max_rank = b->max_rank;
    }
    return s;
}

bool pc_profile_has_rank(const struct pc_profile *p, int32_t rank)
{
    uint32_t guess = p->n_ranks ? (uint32_t)rank - (uint32_t)p->ranks[0].rank : 0;
    if (guess < p->n_ranks && p->ranks[guess].rank == rank)
        return true; /* the usual case: ranks have consecutive numbers */
    uint32_t lo = 0, hi = p->n_ranks;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->ranks[mid].rank == rank)
            return true;
        if (p->ranks[mid].rank < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

bool pc_stat_same(const struct pc_stat *a, const struct pc_stat *b)
{
    return a->n == b->n && a->sum == b->sum && a->sum_squares == b->sum_squares &&
           a->min == b->min && a->max == b->max && a->min_rank == b->min_rank &&
           a->max_rank == b->max_rank;
}

struct pc_stat pc_stat_of(const struct pc_profile *p, const struct pc_by_rank *by, uint32_t k)
{
    if (p->fields[k].combine == PCOLLECT_HIST)
        return (struct pc_stat){.n = by->n};
    return derive_stat(by, p->fields[k].combine == PCOLLECT_MIN);
}

void pc_profile_data_derive(const struct pc_profile *p, struct pc_profile_data *d)
{
    d->first_rank = d->n_ranks ? d->ranks[0] : 0;
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        struct pc_by_rank by = pc_data_listed(p, d, k);
        d->stats[k - d->first_field] = pc_stat_of(p, &by, k);
    }
}
