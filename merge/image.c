/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An arena as untrusted bytes: references into it, lists, times (image.h).
 */
#include "merge/image.h"

const void *pc_image_at(const struct image *m, pcollect_ref ref, size_t bytes)
{
    size_t at = (size_t)ref * PCOLLECT_REF_UNIT, n = m->n;
    if (at > n || bytes > n - at) {
        uint64_t used = __atomic_load_n(&m->header->used_bytes, __ATOMIC_ACQUIRE);
        n = used < m->most ? used : m->most;
    }
    return ref && at <= n && bytes <= n - at ? m->base + at : NULL;
}

const void *pc_image_claim(struct image *m, pcollect_ref ref, size_t bytes)
{
    const void *at = pc_image_at(m, ref, bytes);
    size_t end = ref + (bytes + PCOLLECT_REF_UNIT - 1) / PCOLLECT_REF_UNIT;
    uint64_t before = 0;
    for (size_t i = ref, next; at && i < end; i = next) {
        next = (i | 63) + 1 < end ? (i | 63) + 1 : end;
        uint64_t bits = UINT64_MAX >> (64 - (next - i)) << i % 64;
        before |= m->claimed[i / 64] & bits;
        m->claimed[i / 64] |= bits;
    }
    return before ? NULL : at;
}

void pc_image_damaged(struct image *m, const char *what, pcollect_ref ref)
{
    if (!m->damaged)
        pc_error_set(m->error, PC_OK, "a %s at byte %lu of the arena is damaged and left out", what,
                     (unsigned long)ref * PCOLLECT_REF_UNIT);
    m->damaged = true;
}

uint32_t pc_image_count_list(struct image *m, pcollect_ref first, size_t bytes, const char *what)
{
    uint32_t n = 0;
    for (pcollect_ref ref = first; ref; n++) {
        const pcollect_ref *next = pc_image_claim(m, ref, bytes);
        if (!next) {
            pc_image_damaged(m, what, ref);
            break;
        }
        ref = __atomic_load_n(next, __ATOMIC_ACQUIRE);
    }
    return n;
}

uint64_t pc_image_ns(const struct image *m, uint64_t ticks)
{
    const struct pcollect_arena_header *h = m->header;
    if (h->ticks_1 <= h->ticks_0 || h->mono_1_ns <= h->mono_0_ns)
        return ticks;
    return (uint64_t)((unsigned __int128)ticks * (h->mono_1_ns - h->mono_0_ns) /
                      (h->ticks_1 - h->ticks_0));
}

bool pc_image_asked_only(const struct pcollect_arena_header *h)
{
    return h->rank < 0 && !h->init_begin_ticks && !(h->flags & PCOLLECT_ARENA_ALWAYS);
}

bool pc_image_is_alone(const struct pcollect_arena_header *h)
{
    return h->flags & PCOLLECT_ARENA_ALWAYS && !h->init_begin_ticks;
}

struct pc_identity pc_image_identity(const struct pcollect_arena_header *h)
{
    bool launched = h->job_key && h->launch_rank >= 0 && h->launch_rank < h->n_ranks;
    if (h->rank >= 0)
        return (struct pc_identity){h->job_key, h->rank, h->n_ranks > 0 ? h->n_ranks : 1};
    if (launched)
        return (struct pc_identity){h->job_key, h->launch_rank, h->n_ranks};
    return (struct pc_identity){0, -1, 1};
}
