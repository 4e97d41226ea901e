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
        const struct pc_profile_data *d = NULL;
        if (n->data == PC_NO_INDEX)
            continue;
        d = pc_record_reader_next(&r, n->kind);
        if (!d)
            return false;
        p->data[n->data] = (struct pc_profile_data){
            .first_field = d->first_field, .n_ranks = d->n_ranks, .first_rank = d->first_rank};
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
    return d->ranks && (d->steps || d->values);
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
