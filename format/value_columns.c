/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes the values by rank of a profile as columns: runs of records that have RUN_ROWS rows
 * together, of each a block of ranks and one for each field. value_blocks.c reads them.
 *
 * Called by pcol_write.c and value_shares.c. Values may be in another file: they are asked for
 * record by record.
 */
#include "format/later_contexts.h"
#include "format/value_blocks.h"

enum { RUN_ROWS = 1024 };

struct writer {
    const struct pc_profile *p;
    enum pc_kept kind;
    bool in_share;
    struct pc_buffer index, blocks, raw;
};

static bool is_in_column(const struct writer *w, const struct pc_profile_data *d, uint32_t k)
{
    return pc_data_has(w->p, d) == w->kind && k >= d->first_field &&
           (w->kind == PC_KEPT_EXACT || pc_field_in_steps(w->p, d, k));
}

static void put_block(struct writer *w, bool of_steps)
{
    size_t start = w->blocks.n;
    bool deflated = of_steps ? pc_pcol_pack_noise(&w->blocks, w->raw.data, w->raw.n)
                             : pc_pcol_pack(&w->blocks, w->raw.data, w->raw.n);
    pc_put_varint(&w->index, (uint64_t)(w->blocks.n - start) << 1 | deflated);
    if (deflated)
        pc_put_varint(&w->index, w->raw.n);
    w->raw.n = 0;
}

/* The ranks of a record that has values. */
static struct pc_by_rank ranks_of(const struct pc_profile *p, const struct pc_profile_data *d)
{
    uint32_t k = d->first_field;
    while (pc_data_has(p, d) == PC_KEPT_STEPS && !pc_field_in_steps(p, d, k))
        k++;
    return pc_data_by_rank(p, d, k);
}

/* Writes a run of n records from `first` on; records without values in between do not belong to
 * it. */
static void put_run(struct writer *w, uint32_t first, uint32_t end, uint32_t n)
{
    const struct pc_profile *p = w->p;
    struct pc_by_rank by;
    pc_put_varint(&w->index, n);
    for (uint32_t i = first; i < end; i++) {
        if (pc_data_has(p, &p->data[i]) != w->kind)
            continue;
        by = ranks_of(p, &p->data[i]);
        pc_ranks_put(&by, &w->raw);
    }
    put_block(w, false);
    for (uint32_t k = 0; k < p->n_fields; k++) {
        if (!pc_columns_have(p, k, w->kind))
            continue;
        for (uint32_t i = first; i < end; i++) {
            if (!is_in_column(w, &p->data[i], k))
                continue;
            by = pc_data_by_rank(p, &p->data[i], k);
            if (by.steps)
                pc_steps_put(&by, &w->raw);
            else if (w->in_share)
                pc_share_column_put(&by, &w->raw);
            else
                pc_column_put(&by, &w->raw);
        }
        put_block(w, w->kind == PC_KEPT_STEPS);
    }
}

/* Returns the number of runs. */
static uint32_t put_runs(struct writer *w)
{
    const struct pc_profile *p = w->p;
    uint32_t first = 0, n = 0, n_rows = 0, n_runs = 0;
    for (uint32_t i = 0; p->data && i < p->n_data; i++) {
        bool there = pc_data_has(p, &p->data[i]) == w->kind;
        n += there;
        n_rows += there ? p->data[i].n_ranks : 0;
        if (n_rows < RUN_ROWS && (i + 1 < p->n_data || !n))
            continue;
        put_run(w, first, i + 1, n);
        n_runs++;
        first = i + 1;
        n = n_rows = 0;
    }
    return n_runs;
}

/* Writes the number of records with times in steps, and each as the distance from the one before.
 * Those with exact values are marked themselves (record_code.c). */
static void put_records(struct writer *w)
{
    const struct pc_profile *p = w->p;
    uint32_t n = 0, next = 0;
    for (uint32_t i = 0; p->data && i < p->n_data; i++)
        n += pc_data_has(p, &p->data[i]) == w->kind;
    pc_put_varint(&w->index, n);
    for (uint32_t i = 0; p->data && i < p->n_data; i++) {
        if (pc_data_has(p, &p->data[i]) != w->kind)
            continue;
        uint32_t number = p->later_contexts ? p->later_contexts->numbers[i] : i;
        pc_put_varint(&w->index, number - next);
        next = number + 1;
    }
}

bool pc_columns_encode(const struct pc_profile *p, enum pc_kept kind, bool in_share,
                       struct pc_buffer *out)
{
    struct writer w = {.p = p, .kind = kind, .in_share = in_share};
    if (kind == PC_KEPT_STEPS)
        put_records(&w);
    uint32_t n_runs = put_runs(&w);
    size_t start = out->n;
    pc_buffer_extend(out, PC_COLUMNS_HEAD_BYTES);
    bool deflated = pc_pcol_pack(out, w.index.data, w.index.n);
    uint64_t stored = out->n - start - PC_COLUMNS_HEAD_BYTES;
    out->failed |= w.index.failed || w.blocks.failed || w.raw.failed;
    if (!out->failed) {
        pc_store_le(out->data + start, stored << 1 | deflated, 8);
        pc_store_le(out->data + start + 8, w.index.n, 8);
        pc_store_le(out->data + start + 16, n_runs, 8);
    }
    pc_put_bytes(out, w.blocks.data, w.blocks.n);
    free(w.index.data);
    free(w.blocks.data);
    free(w.raw.data);
    return n_runs > 0;
}
