/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes the figures of ranks: each figure of all ranks, one after the other, as the difference to
 * that of the rank before. The figures of a large job are alike, and compress better so than rank
 * by rank. Then come hosts, of which ranks that follow each other share one, and what was lost.
 *
 * Called by profile_code.c. pc_profile_check checks that the ranks ascend.
 */
#include "format/build.h"

#define FIGURE(member, is_signed)                                                                  \
    {                                                                                              \
        offsetof(struct pc_profile_rank, member), sizeof((struct pc_profile_rank){0}.member),      \
            is_signed                                                                              \
    }

static const struct figure {
    size_t at, bytes;
    bool is_signed;
} figures[] = {
    FIGURE(rank, true), /* the first: in order */
    FIGURE(pid, true),
    FIGURE(start_realtime_ns, false),
    FIGURE(before_init_ns, false),
    FIGURE(inside_ns, false),
    FIGURE(after_ns, false),
    FIGURE(mpi_ns, false),
    FIGURE(mpi_calls, false),
    FIGURE(others_mpi_ns, false),
    FIGURE(merge_ns, false),
    FIGURE(n_threads, false),
    FIGURE(n_others, false),
    FIGURE(closed, false),
    FIGURE(incomplete, false),
    FIGURE(notes, false),
};

static uint64_t get_figure(const struct pc_profile_rank *r, const struct figure *f)
{
    uint64_t wide;
    uint32_t narrow;
    const uint8_t *at = (const uint8_t *)r + f->at;
    if (f->bytes == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return f->is_signed ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
}

/* False: v is too large. */
static bool set_figure(struct pc_profile_rank *r, const struct figure *f, uint64_t v)
{
    uint32_t narrow = (uint32_t)v;
    uint8_t *at = (uint8_t *)r + f->at;
    if (f->bytes == sizeof v)
        memcpy(at, &v, sizeof v);
    else
        memcpy(at, &narrow, sizeof narrow);
    return get_figure(r, f) == v;
}

void pc_rank_figures_encode(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_ranks);
    for (size_t k = 0; k < PC_ARRAY_LEN(figures); k++) {
        uint64_t last = 0;
        for (uint32_t i = 0; i < p->n_ranks; i++) {
            uint64_t v = get_figure(&p->ranks[i], &figures[k]);
            pc_put_varint(b, pc_zigzag(v - last));
            last = v;
        }
    }
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        bool same = i && !strcmp(p->ranks[i - 1].host, p->ranks[i].host);
        pc_put_varint(b, same);
        if (!same)
            pc_put_text(b, p->ranks[i].host);
    }
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        const struct pc_profile_rank *r = &p->ranks[i];
        unsigned n = PCOLLECT_N_LOST;
        while (n && !pc_rank_lost(r, n - 1))
            n--;
        pc_put_varint(b, n);
        for (unsigned k = 0; k < n; k++)
            pc_put_varint(b, r->lost[k]);
    }
}

uint64_t *pc_rank_losses(struct pc_profile *p, struct pc_profile_rank *r)
{
    if (!r->lost)
        r->lost = pc_pool_array(p->memory, PCOLLECT_N_LOST, sizeof *r->lost);
    return r->lost;
}

bool pc_losses_copy(struct pc_pool *pool, const uint64_t *from, uint64_t **out)
{
    uint64_t any = 0;
    for (unsigned k = 0; from && k < PCOLLECT_N_LOST; k++)
        any |= from[k];
    *out = any ? pc_pool_array(pool, PCOLLECT_N_LOST, sizeof **out) : NULL;
    if (*out)
        memcpy(*out, from, PCOLLECT_N_LOST * sizeof **out);
    return *out || !any;
}

/* False: no memory. */
static bool decode_lost(struct pc_pool *pool, struct pc_cursor *c, struct pc_profile_rank *r)
{
    uint64_t lost[PCOLLECT_N_LOST] = {0};
    uint32_t n = pc_get_count(c, 1);
    for (uint32_t k = 0; k < n; k++) {
        uint64_t v = pc_get_varint(c);
        if (k < PCOLLECT_N_LOST) /* a later version may count more */
            lost[k] = v;
    }
    return !n || pc_losses_copy(pool, lost, &r->lost);
}

int pc_rank_figures_decode(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, PC_ARRAY_LEN(figures) + 2);
    p->ranks = pc_pool_array(p->memory, n, sizeof *p->ranks);
    if (!p->ranks)
        return PC_ENOMEM;
    for (size_t k = 0; k < PC_ARRAY_LEN(figures); k++) {
        uint64_t v = 0;
        for (uint32_t i = 0; i < n && !c->failed; i++) {
            v += pc_unzigzag(pc_get_varint(c));
            c->failed |= !set_figure(&p->ranks[i], &figures[k], v);
            c->failed |= i && !k && p->ranks[i].rank <= p->ranks[i - 1].rank;
        }
    }
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        bool same = pc_get_below(c, i > 0);
        p->ranks[i].host = same ? p->ranks[i - 1].host : pc_get_text(p->memory, c);
        if (!p->ranks[i].host)
            return PC_ENOMEM;
    }
    for (uint32_t i = 0; i < n && !c->failed; i++)
        if (!decode_lost(p->memory, c, &p->ranks[i]))
            return PC_ENOMEM;
    p->n_ranks = c->failed ? 0 : n;
    return PC_OK;
}
