/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loops whose instructions are known. Counts them with two lengths; what is around the loop is the
 * same, so the difference of the two counts is exactly that of the rounds. On some processors an
 * interrupt adds an instruction: of many tries the one with the least has none. The argument is the
 * number of counters in a group. With `spin ROUNDS` it runs the loop alone, and others count.
 */
#include "counting/counting.h"
#include "tests/pmu-lab/loop.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 100000, LONG = 400000, TRIES = 40 };

/* Counts user mode only: interrupts of the kernel do not belong to the loop. */
static const struct pc_counting_event events[] = {
    {.n_terms = 1,
     .terms = {{.type = PERF_TYPE_HARDWARE,
                .sign = 1,
                .config = PERF_COUNT_HW_INSTRUCTIONS,
                .user_only = 1}}},
    {.n_terms = 1,
     .terms = {{.type = PERF_TYPE_HARDWARE,
                .sign = 1,
                .config = PERF_COUNT_HW_CPU_CYCLES,
                .user_only = 1}}},
};

/* Counts event 0, which is in group 0, for a loop of this many rounds. */
static uint64_t count(struct pc_counting_meter *meter, uint64_t rounds)
{
    struct pc_counting_values before = {.group = 0}, after = {.group = 0};
    if (pc_counting_get(meter, &before))
        exit(1);
    loop(rounds);
    if (pc_counting_get(meter, &after) || !(after.held & 1))
        exit(1);
    return after.value[0] - before.value[0];
}

static uint64_t least(struct pc_counting_meter *meter, uint64_t rounds)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t n = count(meter, rounds);
        least = n < least ? n : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "spin")) {
        loop(strtoull(argv[2], NULL, 10));
        return 0;
    }
    struct pc_counting_what what = {events, 2, argc > 1 ? (uint32_t)atoi(argv[1]) : 0, 0, 0};
    struct pc_counting *counting;
    struct pc_counting_meter *meter = NULL;
    struct pc_error error = {""};
    if (pc_counting_create(&counting, &error) || pc_counting_set(counting, &what, &error) ||
        pc_counting_start(counting, &meter, 0, &error)) {
        printf("%s\n", error.text);
        return 1;
    }
    uint64_t few = least(meter, SHORT), many = least(meter, LONG);
    printf("%u groups; %llu, %llu instructions\n", pc_counting_n_groups(counting),
           (unsigned long long)few, (unsigned long long)many);
    if (what.per_group && pc_counting_n_groups(counting) != 2 / what.per_group)
        return 1;
    return many - few != 2ull * (LONG - SHORT);
}
