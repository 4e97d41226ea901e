/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of processors as text: whole or not at all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "libcollect/tables/process_tables.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static char text[PCOLLECT_STRING_BYTES + 2];

static void put(int first, int last, int step)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = first; cpu <= last; cpu += step)
        CPU_SET((size_t)cpu, &set);
    pc_cpus_put(&set, text, sizeof text);
}

static void neighbours_are_ranges(void **unused)
{
    (void)unused;
    put(0, 0, 1);
    assert_string_equal(text, "0");
    put(4, 7, 1);
    assert_string_equal(text, "4-7");
    put(2, 6, 2);
    assert_string_equal(text, "2,4,6");
    put(0, CPU_SETSIZE - 1, 1);
    assert_string_equal(text, "0-1023");
    put(1, 0, 1);
    assert_string_equal(text, "");
}

/* Two sockets of 64 cores with two threads each, numbered in turn, are listed. */
static void processors_are_listed_whole_or_not_at_all(void **unused)
{
    (void)unused;
    put(0, 254, 2); /* "0,2,...,254" */
    assert_int_equal(strlen(text), 5 + 45 * 2 + 78 * 3 + 127);
    put(0, 1022, 2);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_ranges),
        cmocka_unit_test(processors_are_listed_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
