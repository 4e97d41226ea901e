/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between all ranks are called all-to-all only if they go in both directions of the pairs;
 * other patterns have their names with one direction, too.
 */
#include "analysis/traffic/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_RANKS = 16, BYTES = 100000, LITTLE = BYTES / 100 };

struct job {
    uint32_t n;
    uint64_t bytes[MOST_RANKS][MOST_RANKS]; /* by source and destination */
};

static void set_all(struct job *j)
{
    for (uint32_t a = 0; a < j->n; a++)
        for (uint32_t b = 0; b < j->n; b++)
            j->bytes[a][b] = a == b ? 0 : BYTES;
}

static void set_upwards(struct job *j)
{
    set_all(j);
    for (uint32_t a = 0; a < j->n; a++)
        for (uint32_t b = 0; b < a; b++)
            j->bytes[a][b] = 0;
}

/* Answers upwards messages by short ones. */
static void set_answers(struct job *j)
{
    set_all(j);
    for (uint32_t a = 0; a < j->n; a++)
        for (uint32_t b = 0; b < a; b++)
            j->bytes[a][b] = LITTLE;
}

static void set_all_but_one(struct job *j)
{
    set_all(j);
    j->bytes[2][1] = 0;
}

/* Twenty of 120 pairs have one direction. */
static void set_all_but_twenty(struct job *j)
{
    uint32_t n = 0;
    set_all(j);
    for (uint32_t a = 0; a < j->n; a++)
        for (uint32_t b = 0; b < a && n < 20; b++, n++)
            j->bytes[a][b] = 0;
}

static void set_ring(struct job *j)
{
    for (uint32_t a = 0; a < j->n; a++)
        j->bytes[a][(a + 1) % j->n] = BYTES;
}

/* Two ranks of a ring with one chord have nothing to do with one another. */
static void set_ring_with_chord(struct job *j)
{
    set_all(j);
    j->bytes[1][3] = j->bytes[3][1] = 0;
}

static void put_pattern(const struct job *j, struct pct_buf *text)
{
    struct pct_pair pairs[MOST_RANKS * MOST_RANKS];
    struct pct_topology t = {.n_ranks = j->n, .pairs = pairs};
    for (uint32_t a = 0; a < j->n; a++)
        for (uint32_t b = 0; b < j->n; b++)
            if (j->bytes[a][b])
                pairs[t.n_pairs++] = (struct pct_pair){.source = (int32_t)a,
                                                       .destination = (int32_t)b,
                                                       .messages = 1,
                                                       .bytes = j->bytes[a][b]};
    pct_topology_pattern(&t, text);
}

static void all_to_all_has_both_directions(void **state)
{
    static const struct {
        uint32_t n;
        void (*set)(struct job *j);
        const char *text;
    } cases[] = {
        {4, set_all, "all-to-all"},
        {16, set_all, "all-to-all"},
        {4, set_upwards, "all pairs of ranks, 6 of 6 in one direction only"},
        {16, set_upwards, "all pairs of ranks, 120 of 120 in one direction only"},
        {4, set_answers, "all pairs of ranks, 6 of 6 in one direction only"},
        {4, set_all_but_one, "all pairs of ranks, 1 of 6 in one direction only"},
        {16, set_all_but_twenty, "all-to-all"},
        {8, set_ring, "ring of 8"},
        {4, set_ring_with_chord, "ring of 4"},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct job j = {.n = cases[i].n};
        struct pct_buf text = {0};
        cases[i].set(&j);
        put_pattern(&j, &text);
        assert_string_equal(text.data, cases[i].text);
        pct_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_to_all_has_both_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
