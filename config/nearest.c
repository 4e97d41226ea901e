/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How far a mistyped word is from a valid one (optimal string alignment: an insertion, a deletion,
 * a change and a swap of neighbours cost one each). AS-safe.
 */
#include "config/config.h"

#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned pc_config_distance(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b);
    uint8_t rows[3][PC_CONFIG_FAR]; /* of the table of prefixes: the one before last, last, new */
    if (n_a >= PC_CONFIG_FAR || n_b >= PC_CONFIG_FAR)
        return PC_CONFIG_FAR;
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n_b; j++)
        last[j] = (uint8_t)j;
    for (size_t i = 1; i <= n_a; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned d = last[j - 1] + (a[i - 1] != b[j - 1]);
            d = least(d, least(last[j] + 1u, row[j - 1] + 1u));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = least(d, before[j - 2] + 1u);
            row[j] = (uint8_t)d;
        }
        uint8_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[n_b];
}

bool pc_config_is_near(unsigned distance, size_t length)
{
    return distance <= 1 + length / 4;
}
