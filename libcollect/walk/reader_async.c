/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads DWARF numbers, of fixed length and LEB128, from untrusted bytes: the first read past the
 * end marks the reader as bad, and all later ones give 0.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/walk/walk_private.h"

uint64_t pc_read_fixed(struct pc_reader *r, unsigned n_bytes)
{
    uint64_t v = 0;
    if ((size_t)(r->end - r->p) < n_bytes) {
        r->p = r->end;
        r->bad = true;
        return 0;
    }
    for (unsigned i = n_bytes; i > 0; i--) /* all processors with rules are little-endian */
        v = v << 8 | r->p[i - 1];
    r->p += n_bytes;
    return v;
}

uint64_t pc_read_uleb(struct pc_reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; r->p < r->end; shift += 7) {
        uint8_t byte = *r->p++;
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    r->bad = true;
    return 0;
}

int64_t pc_read_sleb(struct pc_reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; r->p < r->end;) {
        uint8_t byte = *r->p++;
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (shift < 64 && (byte & 0x40))
                v |= ~(uint64_t)0 << shift;
            return (int64_t)v;
        }
    }
    r->bad = true;
    return 0;
}
