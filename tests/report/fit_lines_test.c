/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text that is fitted into a number of lines: the share is chosen by the lines; what has too many
 * with each share lacks its middle, and says so. So is the tree of a comparison beside its lists.
 */
#include "view/fit_lines.h"

#include "view/compare_print.h"

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

static void print_many(FILE *out, const void *lines, const struct pct_compare_print *how)
{
    (void)how;
    for (size_t i = 0; i < *(const size_t *)lines; i++)
        fputs("a line\n", out);
}

/* A tree of 60 lines with 1 %. */
static void print_least(FILE *out, const void *lines, const struct pct_compare_print *how)
{
    (void)lines;
    for (unsigned i = 0; i < 60000 / how->least; i++)
        fprintf(out, "%u\n", how->least);
}

/* The threshold of the tree depends on the lines that stand around it, down to 20 lines of it. */
static void the_tree_has_room_beside_long_lists(void **state)
{
    static const struct {
        size_t around;
        const char *least;
    } cases[] = {{0, "1000\n"}, {10, "1000\n"}, {20, "2000\n"}, {30, "3000\n"}, {200, "3000\n"}};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        char *text = NULL;
        size_t n;
        FILE *out = open_memstream(&text, &n);
        pct_compare_fit(
            out, &(struct pct_compare_text){print_many, print_least, print_many, &cases[i].around},
            &(struct pct_compare_print){.width = 80});
        fclose(out);
        if (!strstr(text, cases[i].least))
            fail_msg("there is no %s: %s", cases[i].least, text);
        free(text);
    }
}

/* Not as 1 s +- 3 s. */
static void a_mean_is_not_rounded_to_its_error(void **state)
{
    struct pct_buf b = {0};
    (void)state;
    pct_text_mean(&b, 1.32e9, 2.9656e9);
    assert_string_equal(b.data, "1.320 s +- 2.966 s");
    pct_buf_clear(&b);
    pct_text_mean(&b, 1.32e9, -1);
    assert_string_equal(b.data, "1.320 s");
    pct_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_choose_the_share),
        cmocka_unit_test(the_middle_of_a_deep_text_is_left_out),
        cmocka_unit_test(the_tree_has_room_beside_long_lists),
        cmocka_unit_test(a_mean_is_not_rounded_to_its_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
