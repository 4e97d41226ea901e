/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a file with debug information, sorted by their lowest address.
 */
#include "analysis/symbols/dw_private.h"

#include <stdlib.h>

static int compare_rows(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void pct_dw_sort_rows(void *rows, size_t n, size_t row_bytes)
{
    if (n)
        qsort(rows, n, row_bytes, compare_rows);
}
