/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Valid inputs from the writers themselves: in the current layout, of each shape.
 */
#include "tests/fuzz/fuzz.h"

#include "tests/merge/made_arena.h"

#include <string.h>
#include <unistd.h>

static void add_arena(const struct shape *s, uint64_t seed, void (*add)(const void *, size_t))
{
    struct making how = {.n_ranks = 1,
                         .seed = seed,
                         .bytes = (size_t)1 << 20,
                         .all_kinds = s->all_kinds,
                         .tables = s->tables};
    struct made m;
    unsigned n;
    struct fact *facts = random_facts(s, seed, 0, &n);
    made_arena(&m, &how, facts, n);
    made_book_late(&m, &how, facts, n / 4);
    add(m.arena.base, m.arena.header->used_bytes);
    free(facts);
    pc_arena_close(&m.arena);
}

/* Sum of two ranks. */
static struct pc_profile *make_sum(const struct shape *s, uint64_t seed)
{
    struct pc_profile *a = random_profile(s, seed, 0, 2), *b = random_profile(s, seed, 1, 2), *sum;
    FUZZ_REQUIRE(!pc_profile_merge(a, b, &sum, NULL), "seed does not merge");
    pc_profile_free(a);
    pc_profile_free(b);
    return sum;
}

static void add_profile(const struct shape *s, uint64_t seed, bool steps,
                        void (*add)(const void *, size_t))
{
    struct pc_profile *p = make_sum(s, seed);
    if (steps)
        round_times(p);
    uint8_t *data;
    size_t n;
    FUZZ_REQUIRE(!pc_profile_encode(p, &data, &n), "seed does not encode");
    add(data, n);
    free(data);
    pc_profile_free(p);
}

static void add_pcol(const struct shape *s, uint64_t seed, bool steps,
                     void (*add)(const void *, size_t))
{
    static char path[] = "/tmp/pcollect-fuzz-XXXXXX";
    static uint8_t data[1 << 20];
    struct pc_profile *p = make_sum(s, seed), *late = random_profile(s, seed, 0, 2);
    if (steps)
        round_times(p);
    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    unlink(path); /* what is no profile is not written over */
    FUZZ_REQUIRE(!pc_pcol_write(p, path, PC_PCOL_LATE_SLOTS, NULL) &&
                     !pc_pcol_write_late(path, late, true, NULL),
                 "seed is not written");
    FILE *f = fopen(path, "r");
    size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    unlink(path);
    if (n < sizeof data)
        add(data, n);
    pc_profile_free(p);
    pc_profile_free(late);
}

void fuzz_seeds(enum fuzz_kind kind, void (*add)(const void *data, size_t n))
{
    for (unsigned i = 0; i < n_shapes; i++)
        if (kind == FUZZ_ARENA && shapes[i].n_facts < 2000)
            add_arena(&shapes[i], i + 1, add);
    for (unsigned i = 0; i < 2 * n_shapes; i++) {
        const struct shape *s = &shapes[i % n_shapes];
        if (kind == FUZZ_PROFILE)
            add_profile(s, i % n_shapes + 1, i >= n_shapes, add);
        else if (kind == FUZZ_PCOL)
            add_pcol(s, i % n_shapes + 1, i >= n_shapes, add);
    }
}
