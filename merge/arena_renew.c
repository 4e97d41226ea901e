/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Records with wide counts, read once more for the copy of an arena whose owner writes.
 *
 * The count of a bin is its wide count and its byte together (arena.h), which do not lie together.
 * A copy from low to high addresses has them of two moments, and between these the owner may have
 * counted more than a byte tells apart. So the records that have wide counts in the copy are read
 * again, one after the other, a bin as at one instant. What has got wide counts since stays as it
 * was copied: then its bytes were enough.
 */
#include "merge/arena_renew.h"

#include "include/pcollect/plugin.h"

#include <string.h>

enum {
    MOST_TRIES = 100, /* changes of one wide count that are waited for: each takes 128 calls */
    MOST_HISTOGRAMS = 64,
    GROUP = PCOLLECT_HIST_GROUP
};

struct renewal {
    const char *live;
    char *copy;
    size_t n; /* bytes in both */
    uint32_t record_bytes, comm_bytes;
    struct {
        uint32_t begin, end, n_bins; /* bytes into the record of an OP */
    } histograms[MOST_HISTOGRAMS];
    uint32_t n_histograms;
};

/* NULL: not inside. */
static char *copy_at(const struct renewal *r, pcollect_ref ref, size_t bytes)
{
    size_t at = (size_t)ref * PCOLLECT_REF_UNIT;
    return ref && at <= r->n && bytes <= r->n - at ? r->copy + at : NULL;
}

static const char *live_of(const struct renewal *r, const void *in_copy)
{
    return r->live + ((const char *)in_copy - r->copy);
}

static uint64_t read_count(const uint8_t *low, const uint64_t *wide)
{
    uint64_t before = __atomic_load_n(wide, __ATOMIC_ACQUIRE), count = 0;
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        count = pcollect_hist_value(__atomic_load_n(low, __ATOMIC_ACQUIRE), before);
        uint64_t after = __atomic_load_n(wide, __ATOMIC_ACQUIRE);
        if (after == before)
            break;
        before = after;
    }
    return count;
}

/* Renews the groups of a histogram that have wide counts in the copy. False: none has. */
static bool renew_bins(const struct renewal *r, char *histogram, uint32_t n_bins)
{
    const pcollect_ref *refs = pc_hist_refs(histogram, n_bins);
    bool any = false;
    for (uint32_t g = 0; g < pcollect_hist_groups(n_bins); g++) {
        uint64_t *wide = (uint64_t *)copy_at(r, refs[g], GROUP * sizeof *wide);
        uint8_t *low = (uint8_t *)histogram + g * GROUP;
        for (unsigned i = 0; wide && i < GROUP; i++) {
            wide[i] = read_count((const uint8_t *)live_of(r, low + i),
                                 (const uint64_t *)live_of(r, wide + i));
            low[i] = (uint8_t)wide[i];
        }
        any |= wide != NULL;
    }
    return any;
}

static bool is_in_histogram(const struct renewal *r, uint32_t at)
{
    for (uint32_t i = 0; i < r->n_histograms; i++)
        if (at >= r->histograms[i].begin && at < r->histograms[i].end)
            return true;
    return false;
}

static void renew_record(const struct renewal *r, const struct pcollect_node *n)
{
    uint32_t skipped = n->kind == PCOLLECT_NODE_POINT ? r->comm_bytes : 0;
    char *record = copy_at(r, n->record, r->record_bytes - skipped);
    bool any = false;
    for (uint32_t i = 0; record && i < r->n_histograms; i++)
        if (r->histograms[i].begin >= skipped)
            any |=
                renew_bins(r, record + r->histograms[i].begin - skipped, r->histograms[i].n_bins);
    for (uint32_t at = skipped; any && at + 8 <= r->record_bytes; at += 8) {
        uint64_t *word = (uint64_t *)(record + at - skipped);
        if (!is_in_histogram(r, at))
            *word = __atomic_load_n((const uint64_t *)live_of(r, word), __ATOMIC_ACQUIRE);
    }
}

/* Renews the records of a thread. `left`: nodes that the copy can have; a damaged list may go round
 * for ever. */
static void renew_tree(const struct renewal *r, pcollect_ref root, size_t *left)
{
    const struct pcollect_node *n = (void *)copy_at(r, root, sizeof *n);
    while (n && *left) {
        --*left;
        if (pcollect_node_has_record(n->kind))
            renew_record(r, n);
        if (n->first_child) {
            n = (void *)copy_at(r, n->first_child, sizeof *n);
            continue;
        }
        while (n && !n->next && *left) {
            --*left;
            n = (void *)copy_at(r, n->parent, sizeof *n);
        }
        n = n ? (void *)copy_at(r, n->next, sizeof *n) : NULL;
    }
}

static void find_histograms(struct renewal *r, const struct pcollect_plugin_rec *p)
{
    size_t bytes = sizeof *p + (size_t)p->n_fields * sizeof p->fields[0];
    if (!copy_at(r, (pcollect_ref)(((const char *)p - r->copy) / PCOLLECT_REF_UNIT), bytes))
        return;
    for (uint32_t i = 0; i < p->n_fields && r->n_histograms < MOST_HISTOGRAMS; i++) {
        const struct pcollect_field_rec *f = &p->fields[i];
        uint64_t begin = (uint64_t)p->record_offset + f->offset;
        uint64_t end = begin + 8 * PCOLLECT_HIST_WORDS(f->bins);
        if (f->combine != PCOLLECT_HIST || begin % 8 || end > r->record_bytes)
            continue;
        r->histograms[r->n_histograms].begin = (uint32_t)begin;
        r->histograms[r->n_histograms].end = (uint32_t)end;
        r->histograms[r->n_histograms++].n_bins = f->bins;
    }
}

void pc_arena_renew_records(const char *live, size_t n, char *copy, size_t copied)
{
    const struct pcollect_arena_header *h = (const void *)copy;
    struct renewal r = {.live = live,
                        .copy = copy,
                        .n = copied < n ? copied : n,
                        .record_bytes = h->record_bytes,
                        .comm_bytes = h->comm_bytes};
    size_t left = 2 * copied / sizeof(struct pcollect_node);
    const struct pcollect_plugin_rec *p = (void *)copy_at(&r, h->plugins, sizeof *p);
    for (unsigned i = 0; p && i < MOST_HISTOGRAMS; i++) {
        find_histograms(&r, p);
        p = (void *)copy_at(&r, p->next, sizeof *p);
    }
    const struct pcollect_thread *t = (void *)copy_at(&r, h->threads, sizeof *t);
    while (t && r.n_histograms && r.comm_bytes <= r.record_bytes && left) {
        left--;
        renew_tree(&r, t->root, &left);
        t = (void *)copy_at(&r, t->next, sizeof *t);
    }
}
