/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers in the elements of a page, little-endian. A list is stored as planes: the first bytes of
 * all numbers, then the second bytes of all, and so on, because this compresses better.
 */
#ifndef PCT_PAGE_BYTES_H
#define PCT_PAGE_BYTES_H

#include "format/bytes.h"

/* Appends the lowest `width` bytes of n numbers. */
static inline void pct_page_planes(struct pc_buffer *b, const uint64_t *bits, size_t n,
                                   unsigned width)
{
    uint8_t *at = pc_buffer_extend(b, n * width);
    for (unsigned k = 0; at && k < width; k++)
        for (size_t i = 0; i < n; i++)
            *at++ = (uint8_t)(bits[i] >> 8 * k);
}

static inline void pct_page_u32(struct pc_buffer *b, size_t v)
{
    uint64_t bits = v;
    pct_page_planes(b, &bits, 1, 4);
}

#endif
