/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Colours, and small pictures made of letters: shared by the parts of the text.
 */
#include "analysis/tree/fields.h"
#include "view/report_print.h"

#include <string.h>

const char *pct_style(const struct pct_options *o, enum pct_style style)
{
    static const char *const codes[] = {
        [PCT_STYLE_PLAIN] = "\033[0m", [PCT_STYLE_TITLE] = "\033[1m", [PCT_STYLE_HOT] = "\033[31m",
        [PCT_STYLE_WARM] = "\033[33m", [PCT_STYLE_DIM] = "\033[2m",   [PCT_STYLE_NAME] = "\033[36m",
    };
    return o->color ? codes[style] : "";
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* Appends a level: 0 is exactly 0, 8 the greatest; values above 0 have at least 1. */
void pct_print_level(struct pct_buf *b, unsigned level, bool utf8)
{
    static const char ascii[] = " .:-=+*%#";
    if (utf8 && level)
        pct_buf_put(b, (char[]){(char)0xe2, (char)0x96, (char)(0x80 + level)}, 3);
    else
        pct_buf_put(b, &ascii[level], 1);
}

void pct_print_bar(struct pct_buf *b, const uint64_t *values, size_t n, bool utf8)
{
    uint64_t means[PCT_BAR_CELLS], greatest = 0;
    size_t n_cells = n < PCT_BAR_CELLS ? n : PCT_BAR_CELLS;
    for (size_t k = 0; k < n_cells; k++) {
        size_t first = n * k / n_cells, end = n * (k + 1) / n_cells;
        pc_u128 sum = 0;
        for (size_t i = first; i < end; i++)
            sum += values[i];
        means[k] = (uint64_t)(sum / (end - first));
        greatest = means[k] > greatest ? means[k] : greatest;
    }
    for (size_t k = 0; k < n_cells; k++) {
        unsigned level =
            greatest ? (unsigned)(((pc_u128)means[k] * 8 + greatest / 2) / greatest) : 0;
        pct_print_level(b, level || !means[k] ? level : 1, utf8);
    }
    pct_buf_fill(b, ' ', PCT_BAR_CELLS - n_cells);
}

static void put_bin(struct pct_buf *b, unsigned bin, unsigned unit)
{
    char number[PCT_NUMBER_BYTES];
    pc_u128 value = pct_bin_begin(bin);
    pct_buf_text(b, unit == PCOLLECT_UNIT_BYTES ? pct_text_bytes(number, value)
                    : unit == PCOLLECT_UNIT_NS  ? pct_text_time(number, value)
                                                : pct_text_count(number, value));
}

void pct_print_histogram(struct pct_buf *b, const char *bins, unsigned unit, bool utf8)
{
    uint64_t count[PC_PROFILE_MAX_BINS] = {0}, greatest = 0;
    unsigned bin, first = PC_PROFILE_MAX_BINS, last = 0;
    unsigned long long n;
    int length;
    for (; sscanf(bins, "%u:%llu%n", &bin, &n, &length) == 2;
         bins += bins[length] ? length + 1 : length) {
        if (bin >= PC_PROFILE_MAX_BINS)
            return;
        count[bin] = n;
        greatest = n > greatest ? n : greatest;
        first = bin < first ? bin : first;
        last = bin;
    }
    if (!greatest)
        return;
    put_bin(b, first, unit);
    pct_buf_text(b, " ");
    for (unsigned k = first; k <= last; k++) {
        unsigned level = (unsigned)(((pc_u128)count[k] * 8 + greatest / 2) / greatest);
        pct_print_level(b, level || !count[k] ? level : 1, utf8);
    }
    if (last > first) {
        pct_buf_text(b, " ");
        put_bin(b, last, unit);
    }
}

struct pct_picture {
    const struct pct_data *d;
    const struct pct_table *table;
    bool utf8;
    uint64_t *values;
    bool *present;
};

struct pct_picture *pct_picture_new(const struct pct_data *d, const struct pct_table *t, bool utf8)
{
    size_t n = d->profile ? d->profile->n_ranks : 0;
    if (n < 2 || !t->picture)
        return NULL;
    struct pct_picture *p = pct_alloc(1, sizeof *p);
    *p = (struct pct_picture){d, t, utf8, pct_alloc(n, sizeof *p->values),
                              pct_alloc(n, sizeof *p->present)};
    return p;
}

void pct_picture_put(void *picture, size_t row, struct pct_buf *b)
{
    const struct pct_picture *p = picture;
    size_t n = p->d->profile->n_ranks;
    memset(p->values, 0, n * sizeof *p->values);
    p->table->picture(p->table, p->d, row, p->values, p->present);
    pct_print_bar(b, p->values, n, p->utf8);
}

void pct_picture_free(struct pct_picture *p)
{
    if (!p)
        return;
    pct_free(p->values);
    pct_free(p->present);
    pct_free(p);
}
