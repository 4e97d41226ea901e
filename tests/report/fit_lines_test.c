/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text that is fitted into a number of lines: the share is chosen by the lines; what has too many
 * with each share lacks its middle, and says so.
 */
#include "view/fit_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A text whose lines are numbers: `wide` / percent lines that depend on the share, then `deep`. */
struct made {
    unsigned wide, deep;
};

static void put_made(void *arg, FILE *out, unsigned least)
{
    const struct made *made = arg;
    unsigned n = made->wide / (least / 1000) + made->deep;
    for (unsigned i = 0; i < n; i++)
        fprintf(out, "%u\n", i);
}

static char *fitted(struct made made)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    pct_print_fitting(out, 10, put_made, &made);
    fclose(out);
    return text;
}

static unsigned count_lines(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void lines_choose_the_share(void **state)
{
    static const struct {
        unsigned wide, lines;
    } cases[] = {{10, 10}, {20, 10}, {30, 10}, {50, 10}, {100, 10}, {290, 9}, {600, 20}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = fitted((struct made){cases[i].wide, 0});
        assert_int_equal(count_lines(text), cases[i].lines);
        assert_null(strstr(text, "left out"));
        free(text);
    }
}

static void the_middle_of_a_deep_text_is_left_out(void **state)
{
    (void)state;
    char *text = fitted((struct made){0, 21});
    assert_string_equal(text, "0\n1\n2\n3\n4\n"
                              "  (11 lines left out: --min-percent 30 shows them)\n"
                              "16\n17\n18\n19\n20\n");
    free(text);
    text = fitted((struct made){0, 20});
    assert_int_equal(count_lines(text), 20);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_choose_the_share),
        cmocka_unit_test(the_middle_of_a_deep_text_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
