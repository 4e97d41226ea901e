/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/format/mend.h"

#include "format/build.h"

#include <zlib.h>

static void store_crc(uint8_t *at, uLong crc)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(crc >> 8 * i);
}

void mend_checksums(uint8_t *data, size_t n)
{
    if (n < 64)
        return;
    store_crc(data + 60, crc32(0, data, 60));
    for (size_t at = 64; at + 32 <= n;) {
        uint64_t stored = pc_load_le(data + at + 8, 8);
        if (stored > n - at - 32)
            return;
        uLong crc = crc32(0, data + at, 28);
        if (!(data[at + 6] & PC_SECTION_LIVE))
            crc = crc32_z(crc, data + at + 32, stored);
        store_crc(data + at + 28, crc);
        at += 32 + stored;
    }
}
