/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and writing records one after the other: see record_rows.h.
 */
#include "format/record_rows.h"

bool pc_record_room_make(struct pc_record_room *room, const struct pc_profile *p,
                         struct pc_pool *pool)
{
    return pc_profile_data_make(pool, p, &room->with_comm, PCOLLECT_NODE_OP) &&
           pc_profile_data_make(pool, p, &room->without, PCOLLECT_NODE_POINT);
}

struct pc_profile_data *pc_record_room_clear(struct pc_record_room *room,
                                             const struct pc_profile *p, unsigned kind)
{
    struct pc_profile_data *d = kind == PCOLLECT_NODE_POINT ? &room->without : &room->with_comm;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        if (d->bins && d->bins[k - d->first_field])
            memset(d->bins[k - d->first_field], 0, p->fields[k].bins * sizeof(uint64_t));
    return d;
}

/* ---- Read ----------------------------------------------------------------------------------- */

bool pc_record_reader_open(struct pc_record_reader *r, const struct pc_profile *p,
                           struct pc_pool *scratch)
{
    *r = (struct pc_record_reader){.p = p};
    if (!p->packed)
        return true;
    r->c = pc_cursor_over(p->packed, p->packed_bytes);
    return pc_record_room_make(&r->room, p, scratch);
}

const struct pc_profile_data *pc_record_reader_next(struct pc_record_reader *r, unsigned kind)
{
    const struct pc_profile *p = r->p;
    uint32_t i = r->n_read++;
    if (!p->packed)
        return &p->data[i];
    struct pc_profile_data *d = pc_record_room_clear(&r->room, p, kind);
    r->bytes.data = r->c.at;
    pc_record_decode(p, &r->c, d);
    r->bytes.n = (size_t)(r->c.at - r->bytes.data);
    r->failed |= r->c.failed || (p->unchecked && pc_record_check(p, d, i, NULL));
    return r->failed ? NULL : d;
}

/* Reads the head of the next record. Of those of another process it must be possible. */
static struct pc_record_head read_head(struct pc_record_reader *r)
{
    const struct pc_profile *p = r->p;
    struct pc_record_head h = pc_record_head_get(&r->c);
    r->n_read++;
    if (p->unchecked)
        r->c.failed |= !h.n_ranks || h.n_ranks > p->n_ranks || h.keeps_values ||
                       !pc_profile_has_rank(p, h.first_rank);
    return h;
}

static struct pc_stat read_stat(struct pc_record_reader *r, uint32_t n_ranks)
{
    const struct pc_profile *p = r->p;
    struct pc_stat s = pc_stat_get(&r->c, n_ranks);
    if (p->unchecked && s.n)
        r->c.failed |= s.sum < s.max || !pc_profile_has_rank(p, s.min_rank) ||
                       (s.max_rank != s.min_rank && !pc_profile_has_rank(p, s.max_rank));
    return s;
}

/* Passes over a statistic. */
static void pass_stat(struct pc_record_reader *r, uint32_t n_ranks)
{
    if (r->p->unchecked) {
        read_stat(r, n_ranks);
        return;
    }
    uint64_t n = pc_get_varint(&r->c);
    r->c.failed |= pc_pass_varints(&r->c, pc_stat_numbers(n) - 1) != 0;
}

/* The first field of the record of a node of that kind. */
static uint32_t first_field(const struct pc_profile *p, unsigned kind)
{
    return kind == PCOLLECT_NODE_POINT ? p->n_comm : 0;
}

const struct pc_record_head *pc_record_reader_pass(struct pc_record_reader *r, unsigned kind)
{
    const struct pc_profile *p = r->p;
    r->bytes.data = r->c.at;
    r->head = read_head(r);
    for (uint32_t k = first_field(p, kind); k < p->n_fields; k++) {
        if (p->fields[k].combine != PCOLLECT_HIST) {
            pass_stat(r, r->head.n_ranks);
            continue;
        }
        struct pc_bin_range in = pc_bin_range_get(&r->c, p->fields[k].bins);
        for (; in.first < in.end; in.first++)
            pc_get_varint(&r->c);
    }
    r->bytes.n = (size_t)(r->c.at - r->bytes.data);
    r->failed |= r->c.failed;
    return r->failed ? NULL : &r->head;
}

bool pc_record_reader_ended(const struct pc_record_reader *r)
{
    return !r->failed && r->n_read == r->p->n_data && r->c.at == r->c.end;
}

/* ---- Write ---------------------------------------------------------------------------------- */

bool pc_record_writer_open(struct pc_record_writer *w, struct pc_profile *p, size_t most,
                           const struct pc_profile *a, const struct pc_profile *b,
                           struct pc_pool *scratch)
{
    *w = (struct pc_record_writer){.p = p};
    if (a->packed || b->packed)
        return pc_buffer_end(&w->packed, a->packed_bytes + b->packed_bytes + 1) &&
               pc_record_room_make(&w->room, p, scratch);
    if (!p->data)
        p->data = pc_pool_array(p->memory, most, sizeof *p->data);
    return p->data && (!p->no_bins || pc_record_room_make(&w->room, p, scratch));
}

struct pc_profile_data *pc_record_writer_begin(struct pc_record_writer *w, unsigned kind,
                                               uint32_t n_ranks)
{
    struct pc_profile *p = w->p;
    if (p->data && !p->no_bins) {
        w->record = &p->data[p->n_data];
        return pc_profile_data_init(p, w->record, kind, n_ranks) ? w->record : NULL;
    }
    w->record = pc_record_room_clear(&w->room, p, kind);
    pc_profile_data_drop(w->record);
    bool lists = p->data && n_ranks;
    return !lists || pc_profile_data_lists(p, w->record, n_ranks) ? w->record : NULL;
}

void pc_record_writer_end(struct pc_record_writer *w)
{
    struct pc_profile *p = w->p;
    if (!p->data)
        pc_record_encode(p, w->record, &w->packed);
    else if (p->no_bins)
        w->failed |= !pc_profile_data_keep(p, w->record, &p->data[p->n_data]);
    p->n_data++;
}

bool pc_record_writer_copy(struct pc_record_writer *w, const struct pc_record_reader *r)
{
    if (w->p->data || !r->p->packed || r->p->n_fields != w->p->n_fields)
        return false;
    pc_put_bytes(&w->packed, r->bytes.data, r->bytes.n);
    w->p->n_data++;
    return true;
}

bool pc_record_writer_joins(const struct pc_record_writer *w, const struct pc_record_reader *a,
                            const struct pc_record_reader *b)
{
    uint32_t n = w->p->n_fields;
    return !w->p->data && a->p->packed && b->p->packed && a->p->n_fields == n &&
           b->p->n_fields == n;
}

/* Adds the bins that follow in the records of two sides. */
static void join_bins(struct pc_cursor *a, struct pc_cursor *b, uint32_t n, struct pc_buffer *out)
{
    uint64_t sums[PC_PROFILE_MAX_BINS];
    struct pc_bin_range x = pc_bin_range_get(a, n), y = pc_bin_range_get(b, n), all = x;
    if (x.first == x.end || (y.first < x.first && y.first < y.end))
        all.first = y.first;
    if (x.first == x.end || (y.end > x.end && y.first < y.end))
        all.end = y.end;
    memset(sums + all.first, 0, (all.end - all.first) * sizeof *sums);
    for (uint32_t i = x.first; i < x.end; i++)
        sums[i] = pc_get_varint(a);
    for (uint32_t i = y.first; i < y.end; i++)
        sums[i] += pc_get_varint(b);
    pc_bins_put(sums, all, out);
}

/* A statistic of values that are all 0, as bytes: in the records of two sides, and where their sum
 * has it. Most records have several such fields, and all of a record have the same bytes. */
struct zeros {
    struct pc_bytes a, b;
    size_t sum_at, sum_bytes; /* in the sum; 0: there was none yet */
};

/* True if these bytes come next; they are before the cursor, in the same memory. */
static bool come_next(const struct pc_cursor *c, struct pc_bytes bytes)
{
    if (c->end - c->at < 16 || bytes.n > 16)
        return false;
    if (bytes.n < 8)
        return (pc_load_word(c->at) ^ pc_load_word(bytes.data)) << (64 - 8 * bytes.n) == 0;
    return pc_load_word(c->at) == pc_load_word(bytes.data) &&
           pc_load_word(c->at + bytes.n - 8) == pc_load_word(bytes.data + bytes.n - 8);
}

/* Adds two statistics that have the bytes of those before. False: they have not. */
static bool join_zeros(struct pc_record_writer *w, struct pc_record_reader *a,
                       struct pc_record_reader *b, const struct zeros *z)
{
    if (!z->sum_bytes || !come_next(&a->c, z->a) || !come_next(&b->c, z->b))
        return false;
    uint8_t *to = pc_buffer_extend(&w->packed, z->sum_bytes);
    if (to)
        memcpy(to, w->packed.data + z->sum_at, z->sum_bytes);
    a->c.at += z->a.n;
    b->c.at += z->b.n;
    return true;
}

static void join_stats(struct pc_record_writer *w, struct pc_record_reader *a,
                       struct pc_record_reader *b, const struct pc_record_head of[2],
                       struct zeros *z)
{
    const uint8_t *a_at = a->c.at, *b_at = b->c.at;
    size_t sum_at = w->packed.n;
    struct pc_stat x = read_stat(a, of[0].n_ranks), y = read_stat(b, of[1].n_ranks);
    struct pc_stat sum = pc_stat_add(&x, &y);
    pc_stat_put(&sum, &w->packed);
    if (x.n && y.n && !sum.max)
        *z = (struct zeros){.a = {a_at, (size_t)(a->c.at - a_at)},
                            .b = {b_at, (size_t)(b->c.at - b_at)},
                            .sum_at = sum_at,
                            .sum_bytes = w->packed.n - sum_at};
}

void pc_record_writer_join(struct pc_record_writer *w, struct pc_record_reader *a,
                           struct pc_record_reader *b, unsigned kind)
{
    const struct pc_profile *p = w->p;
    const struct pc_record_head of[] = {read_head(a), read_head(b)};
    bool a_first = of[0].first_rank < of[1].first_rank;
    struct zeros zeros = {.sum_bytes = 0};
    pc_record_head_put((struct pc_record_head){.n_ranks = of[0].n_ranks + of[1].n_ranks,
                                               .first_rank = of[!a_first].first_rank},
                       &w->packed);
    for (uint32_t k = first_field(p, kind); k < p->n_fields; k++) {
        if (p->fields[k].combine == PCOLLECT_HIST)
            join_bins(&a->c, &b->c, p->fields[k].bins, &w->packed);
        else if (!join_zeros(w, a, b, &zeros))
            join_stats(w, a, b, of, &zeros);
    }
    w->p->n_data++;
    a->failed |= a->c.failed;
    b->failed |= b->c.failed;
}

bool pc_record_writer_close(struct pc_record_writer *w)
{
    if (w->packed.failed || w->failed) {
        free(w->packed.data);
        return false;
    }
    if (w->p->data || !w->packed.data)
        return w->p->data != NULL;
    uint8_t *shorter = realloc(w->packed.data, w->packed.n + 1);
    w->p->packed = shorter ? shorter : w->packed.data;
    w->p->packed_bytes = w->packed.n;
    return pc_pool_adopt(w->p->memory, w->p->packed);
}

bool pc_records_pack(struct pc_profile *p)
{
    struct pc_buffer b = {0};
    pc_buffer_end(&b, 1);
    for (uint32_t i = 0; i < p->n_data; i++)
        pc_record_encode(p, &p->data[i], &b);
    if (b.failed) {
        free(b.data);
        return false;
    }
    p->packed = b.data;
    p->packed_bytes = b.n;
    p->data = NULL;
    pc_pool_free(p->records);
    p->records = NULL;
    return pc_pool_adopt(p->memory, b.data);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

/* Makes structures of packed records, and marks those that will have values. */
static bool make_structures(struct pc_profile *p, const uint8_t *kept, struct pc_pool *scratch)
{
    struct pc_record_reader r;
    p->data = pc_pool_array(p->memory, p->n_data, sizeof *p->data);
    if (!p->data || !pc_record_reader_open(&r, p, scratch))
        return false;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        if (n->data == PC_NO_INDEX)
            continue;
        const struct pc_record_head *head = pc_record_reader_pass(&r, n->kind);
        if (!head)
            return false;
        p->data[n->data] = (struct pc_profile_data){.first_field = first_field(p, n->kind),
                                                    .n_ranks = head->n_ranks,
                                                    .first_rank = head->first_rank};
        p->packed[r.bytes.data - p->packed] |=
            kept[n->data] == PC_KEPT_EXACT; /* pc_record_encode */
    }
    return true;
}

static int32_t *list_ranks(struct pc_profile *p)
{
    int32_t *ranks = pc_pool_array(p->memory, p->n_ranks, sizeof *ranks);
    for (uint32_t r = 0; ranks && r < p->n_ranks; r++)
        ranks[r] = p->ranks[r].rank;
    return ranks;
}

/* `all`: the list of all ranks. */
static bool make_lists(struct pc_profile *p, struct pc_profile_data *d, enum pc_kept kept,
                       int32_t *all)
{
    size_t width =
        kept == PC_KEPT_STEPS ? pc_data_n_steps(p, d) : (size_t)p->n_fields - d->first_field;
    size_t n;
    if (!kept)
        return true;
    if (__builtin_mul_overflow(width, d->n_ranks, &n))
        return false;
    d->kept = (uint8_t)kept;
    d->ranks =
        d->n_ranks == p->n_ranks ? all : pc_pool_array(p->memory, d->n_ranks, sizeof *d->ranks);
    if (kept == PC_KEPT_STEPS)
        d->steps = pc_pool_array(p->memory, n, sizeof *d->steps);
    else
        d->values = pc_pool_array(p->memory, n, sizeof *d->values);
    return d->ranks && d->values;
}

bool pc_records_mark(struct pc_profile *p, const uint8_t *kept)
{
    struct pc_pool *scratch = pc_pool_new();
    bool ok = scratch && make_structures(p, kept, scratch);
    pc_pool_free(scratch);
    return ok;
}

bool pc_records_make_lists(struct pc_profile *p, const uint8_t *kept)
{
    bool ok = !p->packed || pc_records_mark(p, kept);
    int32_t *all = ok ? list_ranks(p) : NULL;
    ok &= all != NULL;
    for (uint32_t i = 0; ok && i < p->n_data; i++)
        ok = make_lists(p, &p->data[i], kept[i], all);
    return ok;
}
