/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A byte hash that is the same everywhere (FNV-1a with a final mix): it identifies modules in
 * files.
 */
#include "base/base.h"

uint64_t pc_hash_bytes(const void *data, size_t n, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return pc_hash_u64(h);
}
