/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns of tables as bytes. page.c calls this file, page/data.js decodes the bytes.
 *
 *     u32 kind     0 texts, 1 numbers, 2 paths, 3 whole numbers
 *     texts:       u32 number of distinct texts, u32 their bytes, the texts, each with a 0 behind
 *                  it; then an integer a row: 0 nothing, k the k-th text
 *     numbers:     a double a row in the smallest unit of its type (ns, thousandths of a percent);
 *                  NaN nothing, +infinity nothing because there are too few samples ("few")
 *     paths:       an integer a row: 0 nothing, k the k-th path of page_names.c
 *     whole:       an integer a row: 0 nothing, else 1 + the number in the smallest unit
 *
 * Doubles and integers are stored as planes, integers with as many bytes as the greatest one needs
 * (page_bytes.h): a browser takes most time to inflate. A column with a negative number, a real or
 * "few" is one of doubles. If an integer is too large to be exact in a double, the column is stored
 * as texts, as in tsv.
 */
#include "view/page_column.h"

#include "analysis/counters/estimate.h"
#include "analysis/tree/keys.h"
#include "view/page_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS, NUMBERS, PATHS, WHOLE_NUMBERS };

#define EXACT_MOST ((pc_u128)1 << 53)

const char *pct_page_type(enum pct_type type)
{
    static const char *const names[] = {
        [PCT_TEXT] = "text",       [PCT_COUNT] = "count",
        [PCT_BYTES] = "bytes",     [PCT_NS] = "ns",
        [PCT_PERCENT] = "percent", [PCT_INTEGER] = "integer",
        [PCT_YES_NO] = "yes_no",   [PCT_NS_CHANGE] = "ns",
        [PCT_RATIO] = "ratio",     [PCT_PERCENT_CHANGE] = "percent",
        [PCT_REAL] = "real",       [PCT_ESTIMATE] = "real",
    };
    return names[type];
}

/* The value as a double; false: it is not exact. */
static bool number_of(const struct pct_value *v, enum pct_type type, double *out)
{
    if (v->none) {
        *out = v->text && !strcmp(v->text, "few") ? (double)INFINITY : (double)NAN;
        return true;
    }
    switch (type) {
    case PCT_COUNT:
    case PCT_BYTES:
    case PCT_NS:
    case PCT_PERCENT:
    case PCT_RATIO:
        *out = (double)v->number;
        return v->number <= EXACT_MOST;
    case PCT_REAL:
        *out = v->real;
        return true;
    case PCT_ESTIMATE:
        *out = v->estimate->value;
        return true;
    default:
        *out = (double)v->integer;
        return v->integer <= (int64_t)EXACT_MOST && v->integer >= -(int64_t)EXACT_MOST;
    }
}

/* Replaces doubles by integers of a column of whole numbers; false: there is another number, then
 * all are as before. */
static bool make_whole(uint64_t *bits, size_t n)
{
    double number;
    for (size_t i = 0; i < n; i++) {
        memcpy(&number, &bits[i], sizeof number);
        if (!isnan(number) &&
            !(number >= 0 && number < (double)EXACT_MOST && number == floor(number)))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&number, &bits[i], sizeof number);
        bits[i] = isnan(number) ? 0 : 1 + (uint64_t)number;
    }
    return true;
}

static bool put_numbers(struct pc_buffer *b, const struct pct_column *c, const struct pct_data *d,
                        const struct pct_page_rows *rows)
{
    uint64_t *bits = pct_alloc(rows->n, sizeof *bits);
    bool exact = c->type != PCT_TEXT;
    for (size_t i = 0; exact && i < rows->n; i++) {
        struct pct_value v = pct_table_value(c, d, i);
        double number;
        exact = number_of(&v, c->type, &number);
        memcpy(&bits[rows->place[i]], &number, sizeof number);
    }
    if (exact && make_whole(bits, rows->n)) {
        pct_page_u32(b, WHOLE_NUMBERS);
        pct_page_integers(b, bits, rows->n);
    } else if (exact) {
        pct_page_u32(b, NUMBERS);
        pct_page_planes(b, bits, rows->n, 8);
    }
    pct_free(bits);
    return exact;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

struct numbered {
    const char *text;
    size_t number; /* in the order of their first rows */
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(((const struct numbered *)a)->text, ((const struct numbered *)b)->text);
}

/* Sets for each row 1 + the place of its text among `texts`; 0: nothing. */
static void find_texts(const struct pct_column *c, const struct pct_data *d,
                       const struct pct_page_rows *rows, struct pct_keys *texts, uint64_t *index)
{
    struct pct_buf raw = {0};
    const char *last = NULL;
    uint64_t of_last = 0;
    bool is_new;
    for (size_t i = 0; i < rows->n; i++) {
        struct pct_value v = pct_table_value(c, d, i);
        if (v.none)
            continue;
        if (c->type == PCT_TEXT && v.text == last) { /* as often in many rows */
            index[rows->place[i]] = of_last;
            continue;
        }
        last = v.text;
        pct_buf_clear(&raw);
        pct_value_raw(c, &v, &raw);
        of_last = 1 + (uint64_t)pct_keys_find(texts, pct_pool_intern(d->pool, raw.data), &is_new);
        index[rows->place[i]] = of_last;
    }
    pct_buf_free(&raw);
}

/* Appends the texts in their order; returns by place in `texts` the place in this order, from 1. */
static uint64_t *sort_texts(const struct pct_keys *texts, struct pc_buffer *b)
{
    struct numbered *sorted = pct_alloc(texts->n, sizeof *sorted);
    uint64_t *place = pct_alloc(texts->n + 1, sizeof *place);
    for (size_t i = 0; i < texts->n; i++)
        sorted[i] = (struct numbered){texts->keys[i], i};
    qsort(sorted, texts->n, sizeof *sorted, compare_texts);
    for (size_t i = 0; i < texts->n; i++) {
        pc_put_bytes(b, sorted[i].text, strlen(sorted[i].text) + 1);
        place[1 + sorted[i].number] = i + 1;
    }
    pct_free(sorted);
    return place;
}

/* Most columns of many rows have few different texts: only these are sorted. */
static void put_texts(struct pc_buffer *b, const struct pct_column *c, const struct pct_data *d,
                      const struct pct_page_rows *rows)
{
    struct pct_keys texts = {0};
    struct pc_buffer bytes = {0};
    uint64_t *index = pct_alloc(rows->n, sizeof *index);
    find_texts(c, d, rows, &texts, index);
    uint64_t *place = sort_texts(&texts, &bytes);
    for (size_t i = 0; i < rows->n; i++)
        index[i] = place[index[i]];
    pct_page_u32(b, TEXTS);
    pct_page_u32(b, texts.n);
    pct_page_u32(b, bytes.n);
    pc_put_bytes(b, bytes.data, bytes.n);
    pct_page_integers(b, index, rows->n);
    pct_free(place);
    pct_free(bytes.data);
    pct_free(index);
    pct_keys_free(&texts);
}

static void put_paths(struct pc_buffer *b, const struct pct_column *c, const struct pct_data *d,
                      const struct pct_page_rows *rows, struct pct_page_names *names)
{
    uint64_t *index = pct_alloc(rows->n, sizeof *index);
    for (size_t i = 0; i < rows->n; i++)
        index[rows->place[i]] = pct_page_names_add(names, c, d, i);
    pct_page_u32(b, PATHS);
    pct_page_integers(b, index, rows->n);
    pct_free(index);
}

void pct_page_column(struct pc_buffer *b, const struct pct_column *c, const struct pct_data *d,
                     const struct pct_page_rows *rows, struct pct_page_names *names)
{
    if (pct_page_names_has(c))
        put_paths(b, c, d, rows, names);
    else if (!put_numbers(b, c, d, rows))
        put_texts(b, c, d, rows);
}
