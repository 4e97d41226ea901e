/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The finding about ranks that share processors: it says that others had a part of them if, and
 * only if, the ranks and their threads cannot have used all of their time.
 */
#include "made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The threads of all ranks, each of which uses a processor as much as its main thread does. */
static void add_threads(unsigned n_threads)
{
    static const char *const columns[] = {"rank", "thread", "kind", "cpu", "known", NULL};
    static const uint16_t types[] = {PCOLLECT_COLUMN_RANK, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_STRING, PCOLLECT_COLUMN_NUMBER,
                                     PCOLLECT_COLUMN_NUMBER};
    uint64_t kind = add_string("program");
    struct pc_profile_table *t = add_table("thread_records", 2, columns, types);
    for (unsigned r = 0; r < m.n; r++)
        for (unsigned k = 0; k < n_threads; k++)
            add_cells(t, (const uint64_t[]){r, k, kind,
                                            (uint64_t)((m.user_ms[r] + m.system_ms[r]) * ms), 1});
}

/* All ranks are on one host with 2 processors, and each waits for one for 1 s. */
static void others_are_named_if_the_ranks_used_less(void **state)
{
    static const struct {
        double used_ms; /* by all ranks */
        unsigned n_threads;
        const char *says; /* NULL: nothing of others */
    } cases[] = {
        {1000, 1, "Meanwhile they had at most 50 % of the time of these processors: something"},
        {1400, 1, "at most 70 % of the time"},
        {1600, 1, NULL}, /* the clocks of the kernel are not that exact */
        {2000, 1, NULL},
        {1000, 2, NULL}, /* delays of two threads may be at one time */
        {1000, 0, NULL}, /* threads are not known */
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin_run(5, false);
        for (unsigned r = 0; r < m.n; r++) {
            m.sample.ranks[r].host = (char *)"node1";
            m.bound[r] = "0-1";
            m.delayed_ms[r] = 1000;
            m.compute_ms[r] += m.delayed_ms[r];
            m.user_ms[r] = cases[k].used_ms / m.n / 2;
            m.system_ms[r] = cases[k].used_ms / m.n / 2;
        }
        assert_true(m.n > 2);
        if (cases[k].n_threads)
            add_threads(cases[k].n_threads);
        struct pct_data *d = end_run();
        const char *text = d->findings->n ? d->findings->list[0].text : "";
        if (!strstr(text, "ranks share 2 processors on node1") ||
            (cases[k].says ? !strstr(text, cases[k].says) : strstr(text, "Meanwhile") != NULL))
            fail_msg("case %zu: %s", k, text);
        pct_data_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_named_if_the_ranks_used_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
