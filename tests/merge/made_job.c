/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/merge/made_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void make_bounded_job(struct job *j, const struct shape *shape, int n_ranks, uint32_t values_kib,
                      bool shared)
{
    memset(j, 0, sizeof *j);
    j->n_ranks = n_ranks;
    j->missing = -1;
    for (int rank = 0; rank < n_ranks; rank++) {
        struct making how = {.rank = rank,
                             .n_ranks = n_ranks,
                             .seed = (uint64_t)rank * 7 + 1,
                             .bytes = (size_t)1 << 20,
                             .lacks_volume = shape->lacks_volume && rank % 2,
                             .all_kinds = shape->all_kinds,
                             .tables = shape->tables,
                             .per_rank = shape->per_rank,
                             .values_kib = values_kib};
        unsigned n;
        struct fact *facts = random_facts(shape, 17, shared ? 0 : rank, &n);
        made_arena(&j->arenas[rank], &how, facts, n);
        n = used_facts(facts, n);
        j->facts = realloc(j->facts, (j->n_facts + n + 1) * sizeof *facts);
        memcpy(j->facts + j->n_facts, facts, n * sizeof *facts);
        j->n_facts += n;
        free(facts);
    }
}

void make_job(struct job *j, const struct shape *shape, int n_ranks)
{
    make_bounded_job(j, shape, n_ranks, 0, false);
}

void free_job(struct job *j)
{
    for (int rank = 0; rank < j->n_ranks; rank++)
        pc_arena_close(&j->arenas[rank].arena);
    free(j->facts);
}

struct pc_profile *profile_of_rank(const struct job *j, int rank)
{
    struct pc_profile *p = NULL;
    const struct pc_arena *a = &j->arenas[rank].arena;
    pc_merge_arena(a->base, a->header->used_bytes, PC_MERGE_MAIN, &p, NULL);
    return p;
}

struct net *net_of(const struct job *j, bool waits)
{
    struct net *net = net_new(j->n_ranks, waits);
    if (j->nodes)
        net_place(net, j->nodes);
    return net;
}

struct pc_profile *merge_in_order(const struct job *j)
{
    struct pc_profile *sum = profile_of_rank(j, 0), *both;
    for (int rank = 1; rank < j->n_ranks; rank++) {
        struct pc_profile *p = profile_of_rank(j, rank);
        assert_int_equal(pc_profile_merge(sum, p, &both, NULL), PC_OK);
        pc_profile_free(sum);
        pc_profile_free(p);
        sum = both;
    }
    return sum;
}
