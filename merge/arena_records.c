/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records of an arena: which of them are used, their sums, and their values in a profile.
 *
 * A record is read where it lies until a second thread has one for the same context. Its values are
 * the fields in the order of the profile, one word each and one for each bin of a histogram.
 */
#include "merge/image.h"

#include "format/stat_code.h"

#include <string.h>

/* Bytes of comm plugins, which the record of a POINT does not have. */
static uint32_t skipped_bytes(const struct image *m, unsigned kind)
{
    return kind == PCOLLECT_NODE_POINT ? m->header->comm_bytes : 0;
}

static uint32_t first_field(const struct image *m, unsigned kind)
{
    return kind == PCOLLECT_NODE_POINT ? m->profile->n_comm : 0;
}

static bool is_histogram(const struct image *m, uint32_t k)
{
    return m->fields[k].field.combine == PCOLLECT_HIST;
}

bool pc_image_lay_out_values(struct image *m)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->profile->n_fields; k++) {
        m->fields[k].place = n;
        n += is_histogram(m, k) ? m->fields[k].field.bins : 1;
    }
    m->n_values = n;
    m->values = pc_pool_array(m->scratch, n, sizeof *m->values);
    return m->values != NULL;
}

/* The wide counts of a group of bins; NULL: none. */
static const uint64_t *wide_counts(struct image *m, const char *histogram, uint32_t n_bins,
                                   uint32_t group)
{
    const pcollect_ref *refs = pc_hist_refs(histogram, n_bins);
    pcollect_ref ref = __atomic_load_n(&refs[group], __ATOMIC_ACQUIRE);
    const uint64_t *wide = pc_image_at(m, ref, PCOLLECT_HIST_GROUP * sizeof *wide);
    if (ref && !wide)
        pc_image_damaged(m, "histogram", ref);
    return wide;
}

/* The counts of a histogram; false: all are 0. */
static bool read_bins(struct image *m, const char *histogram, uint32_t n_bins, uint64_t *bins)
{
    uint64_t any = 0;
    memset(bins, 0, n_bins * sizeof *bins);
    for (uint32_t g = 0; g < pcollect_hist_groups(n_bins); g++) {
        const uint64_t *wide = wide_counts(m, histogram, n_bins, g);
        uint32_t first = g * PCOLLECT_HIST_GROUP;
        uint64_t lows;
        memcpy(&lows, histogram + first, sizeof lows);
        for (uint32_t b = first; (lows || wide) && b < n_bins && b < first + PCOLLECT_HIST_GROUP;
             b++)
            any |= bins[b] = pcollect_hist_value((uint8_t)histogram[b], wide ? wide[b - first] : 0);
    }
    return any != 0;
}

/* A record that was claimed. */
static const char *record_at(const struct image *m, pcollect_ref ref)
{
    return m->base + (size_t)ref * PCOLLECT_REF_UNIT;
}

static const char *field_in(const char *record, const struct image_field *f, uint32_t skipped)
{
    return record + (f->offset - skipped);
}

/* The values of a record, those of a POINT from its first field on. */
static void read_values(struct image *m, const char *record, unsigned kind, uint64_t *values)
{
    uint32_t skipped = skipped_bytes(m, kind);
    for (uint32_t k = first_field(m, kind); k < m->profile->n_fields; k++) {
        const struct image_field *f = &m->fields[k];
        const char *at = field_in(record, f, skipped);
        if (is_histogram(m, k))
            read_bins(m, at, f->field.bins, values + f->place);
        else
            memcpy(values + f->place, at, sizeof *values);
    }
}

/* True for a byte of a record at which a histogram has its references. */
static bool is_link(const struct image *m, uint32_t at)
{
    for (uint32_t k = 0; k < m->profile->n_fields; k++) {
        const struct image_field *f = &m->fields[k];
        uint32_t links = f->offset + PCOLLECT_HIST_GROUP * pcollect_hist_groups(f->field.bins);
        if (is_histogram(m, k) && at >= links &&
            at < f->offset + 8 * PCOLLECT_HIST_WORDS(f->field.bins))
            return true;
    }
    return false;
}

/* True if a plugin has written to the record. That a histogram has room for wide counts says
 * nothing: it keeps it when the run begins anew (MPI_Pcontrol). */
static bool is_used(struct image *m, const char *record, unsigned kind)
{
    uint32_t skipped = skipped_bytes(m, kind);
    const uint64_t *words = (const uint64_t *)record;
    for (uint32_t at = skipped; at + 8 <= m->header->record_bytes; at += 8)
        if (words[(at - skipped) / 8] && !is_link(m, at))
            return true;
    for (uint32_t k = first_field(m, kind); k < m->profile->n_fields; k++) {
        const struct image_field *f = &m->fields[k];
        if (is_histogram(m, k) &&
            read_bins(m, field_in(record, f, skipped), f->field.bins, m->values))
            return true;
    }
    return false;
}

/* The sum of a node, which begins with the record that it has; NULL: no memory. */
static uint64_t *sum_of(struct image *m, struct image_node *n)
{
    if (n->is_sum)
        return m->sums[n->record];
    if (m->n_sums == m->sum_capacity) {
        uint32_t capacity = m->sum_capacity ? 2 * m->sum_capacity : 256;
        uint64_t **sums = pc_pool_array(m->scratch, capacity, sizeof *sums);
        if (!sums)
            return NULL;
        if (m->n_sums)
            memcpy(sums, m->sums, m->n_sums * sizeof *sums);
        m->sums = sums;
        m->sum_capacity = capacity;
        m->n_sums += !m->n_sums; /* 0 is no number of a record */
    }
    uint64_t *sum = m->sums[m->n_sums] = pc_pool_array(m->scratch, m->n_values, sizeof *sum);
    if (!sum)
        return NULL;
    read_values(m, record_at(m, n->record), n->kind, sum);
    n->record = m->n_sums++;
    n->is_sum = true;
    return sum;
}

/* Adds a record to the sum of a node, ticks as ticks. */
static bool add_to_sum(struct image *m, struct image_node *n, const char *record)
{
    uint64_t *sum = sum_of(m, n);
    if (!sum)
        return false;
    read_values(m, record, n->kind, m->values);
    for (uint32_t k = first_field(m, n->kind); k < m->profile->n_fields; k++) {
        const struct pc_profile_field *f = &m->fields[k].field;
        uint64_t *to = sum + m->fields[k].place, *from = m->values + m->fields[k].place;
        if (!is_histogram(m, k))
            *to = pc_field_combine(f->combine, *to, *from);
        for (uint32_t b = 0; is_histogram(m, k) && b < f->bins; b++)
            to[b] += from[b];
    }
    return true;
}

int pc_image_add_record(struct image *m, uint32_t index, pcollect_ref ref)
{
    struct image_node *n = &m->nodes[index];
    uint32_t bytes = m->header->record_bytes - skipped_bytes(m, n->kind);
    if (!ref || !bytes)
        return PC_OK;
    const char *record = pc_image_claim(m, ref, bytes);
    if (!record) {
        pc_image_damaged(m, "record", ref);
        return PC_OK;
    }
    if (!is_used(m, record, n->kind))
        return PC_OK;
    if (!n->record)
        n->record = ref;
    else if (!add_to_sum(m, n, record))
        return PC_ENOMEM;
    return PC_OK;
}

static uint64_t word_at(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Puts the bins of a histogram in a record. Most have no wide counts: then a bin is its byte, and
 * words of 8 that are 0 are left out at both ends. */
static void put_bins(struct image *m, const char *histogram, const struct image_field *f,
                     struct pc_buffer *out)
{
    uint32_t n_bins = f->field.bins;
    const pcollect_ref *refs = pc_hist_refs(histogram, n_bins);
    uint64_t *bins = m->values + f->place;
    struct pc_bin_range in = {0, n_bins};
    pcollect_ref any = 0;
    for (uint32_t g = 0; g < pcollect_hist_groups(n_bins); g++)
        any |= __atomic_load_n(&refs[g], __ATOMIC_RELAXED);
    if (any)
        read_bins(m, histogram, n_bins, bins);
    while (!any && in.end - in.first >= 8 && !word_at(histogram + in.first))
        in.first += 8;
    while (!any && in.end - in.first >= 8 && !word_at(histogram + in.end - 8))
        in.end -= 8;
    for (uint32_t b = in.first; !any && b < in.end; b++)
        bins[b] = (uint8_t)histogram[b];
    pc_bins_put(bins, in, out);
}

bool pc_image_write_record(struct image *m, struct image_record from, struct pc_profile_node *to,
                           struct pc_buffer *room)
{
    struct pc_profile *p = m->profile;
    struct pc_profile_data *d = &p->data[p->n_data];
    const uint64_t *sum = from.is_sum ? m->sums[from.number] : NULL;
    const char *record = sum ? NULL : record_at(m, from.number);
    uint32_t skipped = skipped_bytes(m, to->kind);
    if (!pc_profile_data_of_one(p, d, to->kind, m->rank))
        return false;
    room->n = 0;
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        const struct image_field *f = &m->fields[k];
        if (!is_histogram(m, k)) {
            uint64_t value = sum ? sum[f->place] : word_at(field_in(record, f, skipped));
            d->values[k - d->first_field] = f->in_ticks ? pc_image_ns(m, value) : value;
        } else if (sum) {
            pc_bins_put(sum + f->place, (struct pc_bin_range){0, f->field.bins}, room);
        } else {
            put_bins(m, field_in(record, f, skipped), f, room);
        }
    }
    to->data = p->n_data++;
    return pc_profile_data_take_code(p, d, room);
}
