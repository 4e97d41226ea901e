/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fields of plugins over the records of a row: see fields.h.
 */
#include "analysis/tree/fields.h"

bool pct_field_is_extra(const struct pc_profile_field *f)
{
    static const char *const shown[][2] = {
        {"time", "count"},          {"time", "time"},  {"time", "bytes_sent"},
        {"time", "bytes_received"}, {"time", "min"},   {"time", "max"},
        {"clock", "samples"},       {"clock", "time"}, {"clock", "squares"},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(shown); i++)
        if (!strcmp(f->plugin, shown[i][0]) && !strcmp(f->name, shown[i][1]))
            return false;
    return true;
}

bool pct_field_is_event(const struct pc_profile_field *f)
{
    return !strcmp(f->plugin, "event");
}

static const struct pc_profile_data *data_of(const struct pc_profile *p, uint32_t node)
{
    return p->nodes[node].data == PC_NO_INDEX ? NULL : &p->data[p->nodes[node].data];
}

/* The value of a field; 0 in a field of PCOLLECT_MIN means "none yet". */
bool pct_field_value(const struct pc_profile *p, struct pct_chain c, uint32_t field, pc_u128 *out)
{
    uint16_t combine = p->fields[field].combine;
    bool any = false;
    *out = 0;
    for (uint32_t i = c.first; i != PC_NO_INDEX; i = c.next[i]) {
        const struct pc_profile_data *d = data_of(p, i);
        const struct pc_stat s = d ? pc_data_stat(p, d, field) : (struct pc_stat){.n = 0};
        if (!s.n)
            continue;
        any = true;
        if (combine == PCOLLECT_SUM)
            *out += s.sum;
        else if (combine == PCOLLECT_MAX ? s.max > *out : s.min && (!*out || s.min < *out))
            *out = combine == PCOLLECT_MAX ? s.max : s.min;
    }
    return any && (combine != PCOLLECT_MIN || *out);
}

uint64_t pct_field_bins(const struct pc_profile *p, struct pct_chain c, uint32_t field,
                        uint64_t bins[PC_PROFILE_MAX_BINS])
{
    uint64_t n = 0;
    memset(bins, 0, PC_PROFILE_MAX_BINS * sizeof *bins);
    for (uint32_t i = c.first; i != PC_NO_INDEX; i = c.next[i]) {
        const struct pc_profile_data *d = data_of(p, i);
        const uint64_t *of = d ? pc_data_bins(p, d, field) : NULL;
        for (unsigned k = 0; of && k < p->fields[field].bins; k++) {
            bins[k] += of[k];
            n += of[k];
        }
    }
    return n;
}

unsigned pct_bins_percentile(const uint64_t bins[PC_PROFILE_MAX_BINS], uint64_t n, unsigned percent)
{
    pc_u128 wanted = ((pc_u128)n * percent + 99) / 100, seen = 0;
    unsigned last = 0;
    for (unsigned k = 0; k < PC_PROFILE_MAX_BINS; k++) {
        if (!bins[k])
            continue;
        last = k;
        seen += bins[k];
        if (seen >= wanted)
            break;
    }
    return last;
}
