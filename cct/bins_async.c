/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms in records: a byte for each bin (arena.h), and wide counts for those that do not fit
 * into it, eight at a time.
 *
 * A count is its wide count, and what its byte is ahead of that, modulo 256. The wide count is
 * brought up after 128 counts at most, so that the two are never 256 apart, whichever store a
 * reader of a killed process sees.
 *
 * Called by the thread that owns the tree, at a call or in a handler. Must not: call malloc, wait,
 * let errno change, touch another thread's tree, link what is not filled.
 */
#include "cct/cct_private.h"

#include <string.h>

enum { GROUP = PCOLLECT_HIST_GROUP, STEP = 128 };

/* Bytes of a group that are STEP or more. */
static uint64_t full_bytes(const uint8_t *low)
{
    uint64_t word;
    memcpy(&word, low, sizeof word);
    return word & 0x8080808080808080u;
}

/* Gives a group wide counts; its bytes are their values so far. Without room STEP counts of each
 * full byte are lost. Returns how many. */
static uint64_t widen(struct pc_tree *t, pcollect_ref *link, uint8_t *low)
{
    pcollect_ref ref = pc_tree_take(t, GROUP * sizeof(uint64_t));
    uint64_t *wide = ref ? pc_arena_at(t->arena, ref) : NULL, lost = 0;
    for (unsigned i = 0; i < GROUP; i++)
        if (wide) {
            wide[i] = low[i];
        } else if (low[i] >= STEP) {
            low[i] -= STEP;
            lost += STEP;
        }
    __atomic_store_n(link, ref, __ATOMIC_RELEASE);
    return lost;
}

uint64_t pc_tree_carry(struct pc_tree *t, void *histogram, uint32_t n_bins)
{
    pcollect_ref *links = pc_hist_refs(histogram, n_bins);
    uint8_t *low = histogram;
    uint64_t lost = 0;
    for (uint32_t g = 0; g < pcollect_hist_groups(n_bins); g++, low += GROUP) {
        uint64_t *wide = links[g] ? pc_arena_at(t->arena, links[g]) : NULL;
        for (unsigned i = 0; wide && i < GROUP; i++)
            wide[i] = pcollect_hist_value(low[i], wide[i]);
        if (!wide && full_bytes(low))
            lost += widen(t, &links[g], low);
    }
    return lost;
}

void pc_tree_clear_bins(struct pc_tree *t, void *histogram, uint32_t n_bins)
{
    const pcollect_ref *refs = pc_hist_refs(histogram, n_bins);
    memset(histogram, 0, GROUP * pcollect_hist_groups(n_bins));
    for (uint32_t i = 0; i < pcollect_hist_groups(n_bins); i++)
        if (refs[i])
            memset(pc_arena_at(t->arena, refs[i]), 0, GROUP * sizeof(uint64_t));
}
