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

/* Bytes of the greatest of n numbers, 1 to 8. */
static inline unsigned pct_page_width(const uint64_t *bits, size_t n)
{
    uint64_t all = 0;
    unsigned width = 1;
    for (size_t i = 0; i < n; i++)
        all |= bits[i];
    for (; all >> 8 && width < 8; all >>= 8)
        width++;
    return width;
}

static inline void pct_page_u32(struct pc_buffer *b, size_t v)
{
    uint64_t bits = v;
    pct_page_planes(b, &bits, 1, 4);
}

/* Appends n integers: a u32 with the bytes that each has, then the planes. */
static inline void pct_page_integers(struct pc_buffer *b, const uint64_t *bits, size_t n)
{
    unsigned width = pct_page_width(bits, n);
    pct_page_u32(b, width);
    pct_page_planes(b, bits, n, width);
}

#endif
