/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes records: statistics and histograms in one part, values by rank in another, so that a
 * reader that needs only statistics does not touch the values, which are most of a profile. In
 * files the values are in columns (value_blocks.c).
 *
 * Called for the whole profile by profile_code.c. pc_profile_check checks the decoded records: if
 * there are values, the statistics must match them.
 */
#include "format/stat_code.h"

/* Passes over bins that are coded. */
static void skip_bins(struct pc_cursor *c)
{
    pc_get_varint(c);
    for (uint64_t n = pc_get_varint(c); n; n--)
        pc_get_varint(c);
}

/* The coded bins of a record. They were coded here, so they end where they should. */
static struct pc_cursor coded_bins(const struct pc_profile *p, const struct pc_profile_data *d)
{
    const size_t most = (size_t)PC_VARINT_MOST * (PC_PROFILE_MAX_BINS + 2) * p->n_fields;
    return pc_cursor_over(d->coded, d->is_coded ? most : 0);
}

void pc_record_encode(const struct pc_profile *p, const struct pc_profile_data *d,
                      struct pc_buffer *b)
{
    pc_record_head_put((struct pc_record_head){.n_ranks = d->n_ranks,
                                               .first_rank = d->first_rank,
                                               .keeps_values = pc_data_has(p, d) == PC_KEPT_EXACT},
                       b);
    struct pc_cursor coded = coded_bins(p, d);
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        if (p->fields[k].combine == PCOLLECT_HIST && d->is_coded) {
            const uint8_t *at = coded.at;
            skip_bins(&coded);
            pc_put_bytes(b, at, (size_t)(coded.at - at));
        } else if (p->fields[k].combine == PCOLLECT_HIST) {
            pc_bins_put(d->bins[k - d->first_field], (struct pc_bin_range){0, p->fields[k].bins},
                        b);
        } else if (d->form == PC_FORM_STATS) {
            pc_stat_put(&d->stats[k - d->first_field], b);
        } else {
            struct pc_stat s = pc_stat_of_one(&p->fields[k], d->first_rank, pc_data_of_one(d, k));
            pc_stat_put(&s, b);
        }
    }
}

void pc_data_encode(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_data);
    if (p->packed)
        pc_put_bytes(b, p->packed, p->packed_bytes);
    for (uint32_t i = 0; !p->packed && i < p->n_data; i++)
        pc_record_encode(p, &p->data[i], b);
}

/* Encodes the records that keep times in steps: their number, then each with the distance from the
 * one before. Nothing if there are none. */
static void encode_steps(const struct pc_profile *p, struct pc_buffer *b)
{
    uint32_t n = 0, next = 0;
    for (uint32_t i = 0; p->data && i < p->n_data; i++)
        n += pc_data_has(p, &p->data[i]) == PC_KEPT_STEPS;
    if (n)
        pc_put_varint(b, n);
    for (uint32_t i = 0; n && i < p->n_data; i++) {
        const struct pc_profile_data *d = &p->data[i];
        bool first = true;
        if (pc_data_has(p, d) != PC_KEPT_STEPS)
            continue;
        pc_put_varint(b, i - next);
        next = i + 1;
        for (uint32_t k = d->first_field; k < p->n_fields; k++) {
            if (!pc_field_in_steps(p, d, k))
                continue;
            struct pc_by_rank by = pc_data_by_rank(p, d, k);
            if (first)
                pc_ranks_put(&by, b);
            pc_steps_put(&by, b);
            first = false;
        }
    }
}

void pc_values_encode(const struct pc_profile *p, struct pc_buffer *b)
{
    for (uint32_t i = 0; p->data && i < p->n_data; i++) {
        const struct pc_profile_data *d = &p->data[i];
        if (pc_data_has(p, d) != PC_KEPT_EXACT)
            continue;
        struct pc_by_rank by = pc_data_by_rank(p, d, 0);
        pc_ranks_put(&by, b);
        for (uint32_t k = d->first_field; k < p->n_fields; k++) {
            if (p->fields[k].combine == PCOLLECT_HIST)
                continue;
            by = pc_data_by_rank(p, d, k);
            pc_column_put(&by, b);
        }
    }
    encode_steps(p, b);
}

/* ---- Decode --------------------------------------------------------------------------------- */

static bool is_histogram(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i)
{
    return p->fields[d->first_field + i].combine == PCOLLECT_HIST;
}

static void decode_bins(const struct pc_profile *p, struct pc_profile_data *d, uint32_t i,
                        struct pc_cursor *c)
{
    uint64_t not_kept[PC_PROFILE_MAX_BINS];
    pc_bins_get(c, p->fields[d->first_field + i].bins, d->bins ? d->bins[i] : not_kept);
}

/* The least number of bytes that one rank takes in a list. */
static unsigned least_row_bytes(const struct pc_profile *p, uint32_t first_field)
{
    unsigned n = 1;
    for (uint32_t k = first_field; k < p->n_fields; k++)
        n += p->fields[k].combine != PCOLLECT_HIST;
    return n;
}

static void decode_column(struct pc_cursor *c, const struct pc_profile *p,
                          struct pc_profile_data *d, uint32_t i)
{
    pc_column_get(c, d->n_ranks, d->values + i, p->n_fields - d->first_field);
}

void pc_record_decode(const struct pc_profile *p, struct pc_cursor *c, struct pc_profile_data *d)
{
    struct pc_record_head head = pc_record_head_get(c);
    d->n_ranks = head.n_ranks;
    d->kept = head.keeps_values ? PC_KEPT_EXACT : PC_KEPT_NONE;
    d->first_rank = head.first_rank;
    for (uint32_t i = 0; i < p->n_fields - d->first_field; i++) {
        if (is_histogram(p, d, i)) {
            decode_bins(p, d, i, c);
            d->stats[i].n = d->n_ranks;
        } else {
            d->stats[i] = pc_stat_get(c, d->n_ranks);
        }
    }
}

/* Takes all records where they lie, in memory that p owns. */
static void take_packed(struct pc_profile *p, struct pc_cursor *c)
{
    p->packed_bytes = pc_cursor_left(c);
    p->packed = (uint8_t *)pc_get_bytes(c, p->packed_bytes);
}

const uint64_t *pc_data_decode_bins(const struct pc_profile *p, const struct pc_profile_data *d,
                                    uint32_t k)
{
    struct pc_cursor c = coded_bins(p, d);
    for (uint32_t i = d->first_field; i < k; i++)
        if (p->fields[i].combine == PCOLLECT_HIST)
            skip_bins(&c);
    memset(p->bins_room, 0, p->fields[k].bins * sizeof *p->bins_room);
    pc_bins_get(&c, p->fields[k].bins, p->bins_room);
    return p->bins_room;
}

bool pc_profile_code_bins(struct pc_profile *p)
{
    p->bins_room = pc_pool_array(p->memory, PC_PROFILE_MAX_BINS, sizeof *p->bins_room);
    return p->bins_room != NULL;
}

bool pc_profile_data_take_code(struct pc_profile *p, struct pc_profile_data *d,
                               const struct pc_buffer *bytes)
{
    if (!p->bins_room && !pc_profile_code_bins(p))
        return false;
    uint8_t *coded = bytes->failed ? NULL : pc_pool_bytes(pc_profile_record_memory(p), bytes->n);
    if (coded && bytes->n)
        memcpy(coded, bytes->data, bytes->n);
    d->coded = coded;
    d->is_coded = true;
    return coded != NULL;
}

bool pc_profile_data_code(struct pc_profile *p, struct pc_profile_data *d,
                          const uint64_t *const *bins, struct pc_buffer *room)
{
    room->n = 0;
    for (uint32_t i = 0; i < p->n_fields - d->first_field; i++)
        if (is_histogram(p, d, i))
            pc_bins_put(bins[i], (struct pc_bin_range){0, p->fields[d->first_field + i].bins},
                        room);
    return pc_profile_data_take_code(p, d, room);
}

/* Room for a record, and for the bytes of its bins. */
struct room {
    struct pc_profile_data with_comm, without;
    struct pc_buffer coded;
};

/* Decodes the record of a node of that kind; without values from a room for such records. */
static bool decode_one(struct pc_profile *p, struct pc_cursor *c, unsigned kind, struct room *room,
                       struct pc_profile_data *d)
{
    if (!p->no_bins && !p->bins_room) {
        if (!pc_profile_data_init(p, d, kind, 0))
            return false;
        pc_record_decode(p, c, d);
        return true;
    }
    struct pc_profile_data *in = kind == PCOLLECT_NODE_POINT ? &room->without : &room->with_comm;
    for (uint32_t i = 0; in->bins && i < p->n_fields - in->first_field; i++)
        if (in->bins[i])
            memset(in->bins[i], 0, p->fields[in->first_field + i].bins * sizeof **in->bins);
    pc_record_decode(p, c, in);
    return pc_profile_data_keep(p, in, d) &&
           (p->no_bins ||
            pc_profile_data_code(p, d, (const uint64_t *const *)in->bins, &room->coded));
}

static int decode_records(struct pc_profile *p, struct pc_cursor *c, struct pc_pool *scratch)
{
    struct room room = {.coded = {0}};
    bool ok = pc_profile_data_make(scratch, p, &room.with_comm, PCOLLECT_NODE_OP) &&
              pc_profile_data_make(scratch, p, &room.without, PCOLLECT_NODE_POINT);
    for (uint32_t i = 0; ok && i < p->n_nodes && !c->failed; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        ok = n->data == PC_NO_INDEX || decode_one(p, c, n->kind, &room, &p->data[n->data]);
    }
    free(room.coded.data);
    return ok ? PC_OK : PC_ENOMEM;
}

int pc_data_decode(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 1);
    c->failed |= n != p->n_data;
    if (p->unchecked) {
        take_packed(p, c);
        return PC_OK;
    }
    p->data = c->failed ? NULL : pc_pool_array(p->memory, n, sizeof *p->data);
    if (!p->data)
        return c->failed ? PC_OK : PC_ENOMEM;
    p->statistics_only = true; /* until values are decoded */
    struct pc_pool *scratch = pc_pool_new();
    int err = scratch ? decode_records(p, c, scratch) : PC_ENOMEM;
    pc_pool_free(scratch);
    return err;
}

static int decode_lists(struct pc_profile *p, struct pc_cursor *c, unsigned row_bytes,
                        struct pc_profile_data *d)
{
    if (d->n_ranks > pc_cursor_left(c) / row_bytes) {
        c->failed = true;
        return PC_OK;
    }
    if (!pc_profile_data_lists(p, d, d->n_ranks))
        return PC_ENOMEM;
    pc_ranks_get(c, d->n_ranks, d->ranks);
    for (uint32_t i = 0; i < p->n_fields - d->first_field; i++)
        if (!is_histogram(p, d, i))
            decode_column(c, p, d, i);
    return PC_OK;
}

/* Decodes the steps of one record. */
static int decode_steps_of(struct pc_profile *p, struct pc_cursor *c, struct pc_profile_data *d)
{
    uint32_t n = pc_data_n_steps(p, d);
    c->failed |= d->kept || !n || d->n_ranks > pc_cursor_left(c) / (n + 1);
    if (c->failed)
        return PC_OK;
    if (!pc_profile_data_steps(p, d, d->n_ranks))
        return PC_ENOMEM;
    pc_ranks_get(c, d->n_ranks, d->ranks);
    for (uint32_t j = 0; j < n; j++)
        pc_steps_get(c, d->n_ranks, d->steps + j, n);
    return PC_OK;
}

static int decode_steps(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 3);
    int err = PC_OK;
    c->failed |= !n;
    for (uint32_t i = 0, at = 0; i < n && !c->failed && !err; i++) {
        c->failed |= at == p->n_data;
        at += c->failed ? 0 : (uint32_t)pc_get_below(c, p->n_data - 1 - at);
        if (!c->failed)
            err = decode_steps_of(p, c, &p->data[at++]);
    }
    return err;
}

int pc_values_decode(struct pc_profile *p, struct pc_cursor *c)
{
    const unsigned row_bytes[] = {least_row_bytes(p, 0), least_row_bytes(p, p->n_comm)};
    for (uint32_t i = 0; p->data && i < p->n_data && !c->failed; i++) {
        struct pc_profile_data *d = &p->data[i];
        if (d->kept && decode_lists(p, c, row_bytes[d->first_field != 0], d))
            return PC_ENOMEM;
    }
    p->statistics_only = false;
    return p->data && !c->failed && pc_cursor_left(c) ? decode_steps(p, c) : PC_OK;
}
