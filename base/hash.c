/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A byte hash that is the same everywhere (FNV-1a with a final mix): it identifies modules in
 * files. Ids of communicators are made from it.
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

uint64_t pc_comm_mix(uint64_t id, uint64_t more)
{
    uint64_t mixed = pc_hash_u64(id ^ pc_hash_u64(more + 0x632be59bd9b4e019u));
    return mixed ? mixed : 1;
}

uint64_t pc_comm_id_of(const char *what)
{
    return pc_comm_mix(pc_hash_bytes(what, __builtin_strlen(what), 0), 0);
}
