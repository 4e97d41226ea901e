/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts in the arena: names of files, regions, types. Each is stored once. The header has the heads
 * of PCOLLECT_STRING_BUCKETS lists, chosen by hash; a text is filled, then linked in front. Threads
 * may race: the loser checks the texts that were linked in front meanwhile, so that no text is
 * there twice. The space that the loser had taken stays unused.
 */
#include "cct/cct_private.h"

#include <string.h>

/* Looks from `ref` to before `end`. */
static pcollect_ref find_string(const struct pc_arena *a, pcollect_ref ref, pcollect_ref end,
                                uint64_t hash, const char *text, size_t n)
{
    while (ref && ref != end) {
        const struct pcollect_string *s = pc_arena_at(a, ref);
        if (s->hash == hash && s->n_bytes == n && !memcmp(s->text, text, n))
            return ref;
        ref = s->next;
    }
    return 0;
}

pcollect_ref pc_arena_string(struct pc_arena *a, const char *text, size_t n)
{
    if (n > PCOLLECT_STRING_BYTES)
        n = PCOLLECT_STRING_BYTES;
    if (!n)
        return 0;
    uint64_t hash = pc_hash_bytes(text, n, 0);
    pcollect_ref *head = &a->header->strings[hash % PCOLLECT_STRING_BUCKETS];
    pcollect_ref seen = __atomic_load_n(head, __ATOMIC_ACQUIRE), looked_at = 0;
    pcollect_ref found = find_string(a, seen, 0, hash, text, n);
    if (found)
        return found;
    pcollect_ref ref = pc_arena_alloc(a, sizeof(struct pcollect_string) + n);
    if (!ref)
        return 0;
    struct pcollect_string *s = pc_arena_at(a, ref);
    s->hash = hash;
    s->n_bytes = (uint32_t)n;
    memcpy(s->text, text, n);
    do {
        s->next = looked_at = seen;
        if (__atomic_compare_exchange_n(head, &seen, ref, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return ref;
        found = find_string(a, seen, looked_at, hash, text, n);
    } while (!found);
    return found;
}
