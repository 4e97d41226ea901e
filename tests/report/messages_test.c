/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings about messages, in runs made by hand: which calls are counted as messages, and which
 * ranks are said to be a hub or to wait in a chain.
 */
#include "made_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Messages of 8 bytes beside others in the same function take 200 ms and 800 ms of 2 s. The time of
 * a wait belongs to the small messages only if there are no others. */
static void large_messages_are_not_small_ones(void **state)
{
    static const struct {
        const char *beside;
        uint16_t op_class;
        double bytes;
        bool small[2]; /* what is beside counts, alone and with a large message */
    } cases[] = {
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 8, {true, true}},
        {"MPI_Recv", PCOLLECT_CLASS_P2P, 1 << 20, {false, false}},
        {"MPI_Wait", PCOLLECT_CLASS_COMPLETION, 0, {true, false}},
        {"MPI_Probe", PCOLLECT_CLASS_COMPLETION, 0, {true, false}},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++)
        for (unsigned large = 0; large < 2; large++) {
            begin_run(3, false);
            m.sample.ranks[0].host = (char *)"node0"; /* 0.2 ms may be a slow network */
            call_all("MPI_Send", PCOLLECT_CLASS_P2P, 5000, 8, 200);
            call_all(cases[k].beside, cases[k].op_class, 5000, cases[k].bytes, 800);
            if (large)
                call_all("MPI_Irecv", PCOLLECT_CLASS_P2P, 10, 1 << 20, 0.1);
            const char *text = sentence("small-messages"), *percent = strstr(text, "receives, ");
            double found = percent ? strtod(percent + strlen("receives, "), NULL) : 0;
            if (fabs(found - (cases[k].small[large] ? 50 : 10)) > 2)
                fail_msg("case %zu, %u: %s", k, large, text);
        }
}

/* The time of rank r in one receive grows with r: because its call takes longer, or because it
 * makes more calls. */
static void more_calls_are_no_chain(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = more && !r ? -1.0 : 100.0 * r + 1;
        call("MPI_Recv", PCOLLECT_CLASS_P2P, 40, 16000, list);
        struct pc_profile_data *d = &m.sample.data[m.sample.p.n_data - 1];
        for (uint32_t i = 0; more && i < d->n_ranks; i++)
            d->values[i * m.sample.p.n_fields + COUNT] = 40 * (uint64_t)d->ranks[i];
        const char *text = sentence("chain");
        if ((*text == 0) != more)
            fail_msg("%u: %s", more, text);
    }
}

/* All send to their neighbours; the late rank also asks, or says, which parts of a message are
 * there. */
static void a_rank_that_asks_for_parts_is_no_hub(void **state)
{
    static const char *const names[] = {"MPI_Irecv", "MPI_Parrived", "MPI_Pready_range"};
    (void)state;
    for (unsigned k = 0; k < PC_ARRAY_LEN(names); k++) {
        double list[SAMPLE_RANKS];
        begin_run(3, false);
        call_all("MPI_Send", PCOLLECT_CLASS_P2P, 100, 100000, 300);
        for (unsigned r = 0; r < m.n; r++)
            list[r] = r == m.late ? 300 : -1;
        call(names[k], PCOLLECT_CLASS_P2P, 100000, 100000, list);
        const char *text = sentence("hub");
        if ((*text == 0) != (k > 0))
            fail_msg("%s: %s", names[k], text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_messages_are_not_small_ones),
        cmocka_unit_test(more_calls_are_no_chain),
        cmocka_unit_test(a_rank_that_asks_for_parts_is_no_hub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
