/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first line of a statement of several lines, and of a function, in C and in both forms of
 * Fortran; lines around one with figures, up to the greatest number of a line; the lines at which
 * stacks end.
 */
#include "tests/folder.h"
#include "tests/report/sample.h"
#include "view/annotate/annotate.h"
#include "view/where_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sample sample;

static void a_statement_begins_where_it_is_continued_from(void **state)
{
    (void)state;
    static const struct {
        const char *path, *lines[8];
        uint32_t line, first;
    } cases[] = {
        {"a.c", {"f(a);", "g(b);"}, 2, 2},
        {"a.c", {"MPI_Send(a,", "    (int)n, // )", "    c);", "g();"}, 3, 1},
        {"a.c", {"MPI_Send(a,", "    (int)n, // )", "    c);", "g();"}, 2, 2},
        {"a.c", {"MPI_Send(a,", "    (int)n, // )", "    c);", "g();"}, 4, 4},
        {"a.cc", {"f(\"(\", ')',", "  \"\\\")\", /* ( */", "  x);"}, 3, 1},
        {"a.c", {"x);"}, 1, 1},
        {"a.f90",
         {"call MPI_Send(a, & ! ends", "  ! more", "", "  & n, 'it''s &', &", "  ierror)"},
         5,
         1},
        {"a.F90", {"x = '&'", "call f(x)"}, 2, 2},
        {"a.f90", {"x = 1 ! &", "call f(x)"}, 2, 2},
        {"a.f", {"      call f(a,", "C     more", "     >  b,", "     >  IERROR )"}, 4, 1},
        {"a.F", {"      call f(a)", "      call g(b)"}, 2, 2},
        {"a.for", {"      call f(a,", "\t1 b)"}, 2, 1},
        {"a.f", {"     > b)"}, 1, 1},
        {"a.f", {"10    call f(a)", "0123 0call g(b)"}, 2, 2},
        {"a", {""}, 1, 1},
        {"a.c", {"f(a);"}, 7, 7},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_source s = {.lines = (const char **)cases[i].lines};
        while (s.n < PC_ARRAY_LEN(cases[i].lines) && cases[i].lines[s.n])
            s.n++;
        uint32_t first = pct_source_statement(&s, cases[i].path, cases[i].line);
        if (first != cases[i].first)
            fail_msg("%s, \"%s\", line %u: %u", cases[i].path, cases[i].lines[0], cases[i].line,
                     first);
    }
}

static void a_definition_is_told_from_calls(void **state)
{
    (void)state;
    static const struct {
        const char *path, *lines[8], *name;
        uint32_t line, first;
    } cases[] = {
        {"a.c", {"int f(int a)", "{", "    g(a);", "    return f(a);", "}"}, "f", 4, 1},
        {"a.c", {"int f(int a);", "int g(int a) {", "  f(a);"}, "g", 3, 2},
        {"a.c", {"int f(int a);", "int g(int a) {", "  f(a);"}, "f", 3, 0},
        {"a.c", {"int f(int a) { return 2; }"}, "f", 1, 1},
        {"a.cc", {"void A::f(int a) {", "  x = f (a", "      );"}, "f", 3, 1},
        {"a.f90", {"module m", "Subroutine F(a)", "  call f(a)", "end subroutine f"}, "f", 3, 2},
        {"a.f", {"      INTEGER FUNCTION F(A)", "      A = F(B)"}, "f", 2, 1},
        {"a.c", {"int f(int a)"}, "", 1, 0},
        {"a.c", {"int f(int a)"}, "f", 7, 0},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_source s = {.lines = (const char **)cases[i].lines};
        while (s.n < PC_ARRAY_LEN(cases[i].lines) && cases[i].lines[s.n])
            s.n++;
        uint32_t first = pct_source_function(&s, cases[i].path, cases[i].name, cases[i].line);
        if (first != cases[i].first)
            fail_msg("%s, \"%s\", %s at line %u: %u", cases[i].path, cases[i].lines[0],
                     cases[i].name, cases[i].line, first);
    }
}

/* Prints the source of a program whose only call is in line `line` of the file at `path`. */
static char *annotated(const char *path, uint32_t line, const char *function)
{
    struct pct_frame frame = {"main", path, line, false, false, NULL, 0};
    char *text = NULL;
    size_t n = 0;
    sample_begin(&sample);
    sample.p.n_ranks = sample.p.world_size = 1;
    sample.ranks[0] = (struct pc_profile_rank){.host = (char *)"node", .inside_ns = 1000};
    sample.ops[0] = (struct pc_profile_op){(char *)"MPI_Barrier", PCOLLECT_CLASS_COLL};
    sample.p.n_ops = 1;
    sample.modules[0] = (struct pc_profile_module){.path = (char *)"/opt/far", .identity = 1};
    sample.p.n_modules = 1;
    sample_op(&sample, sample_frame(&sample, 0, 0, 1), 0);
    sample_add(&sample, &(struct sample_calls){0, 1, 10, 10, 10, 0, 0});
    sample_end(&sample);
    struct pct_symbols *symbols = pct_symbols_new(&sample.p);
    pct_symbols_teach(symbols, 0, 1, (struct pct_place){&frame, 1});
    struct pct_data *d = pct_data_new("far", &sample.p, symbols, &(struct pct_tree_options){0});
    FILE *out = open_memstream(&text, &n);
    assert_true(pct_annotate_source(
        out, &(struct pct_annotate){.data = d, .function = function, .around = 3}));
    fclose(out);
    pct_data_free(d);
    return text;
}

static void the_greatest_line_is_shown_once(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    FILE *file = fopen(path_in(path, "far.c"), "w");
    assert_non_null(file);
    fputs("int main()\n{\n    f();\n}\n", file);
    fclose(file);
    static const char *const functions[] = {NULL, "main"};
    for (int i = 0; i < 4; i++) {
        char *text = annotated(i < 2 ? path : "/nowhere/far.c", UINT32_MAX, functions[i % 2]);
        const char *last = strstr(text, " 4294967295\n");
        assert_non_null(last);
        assert_true(!strncmp(last, " 4294967295\n\n", 13) && !strstr(last + 1, " 4294967295"));
        free(text);
        text = annotated(path, 3, functions[i % 2]);
        assert_non_null(strstr(text, " 3      f();\n"));
        free(text);
    }
    remove(path);
}

/* Stacks end in one function, each at an instruction of its own: several have one line. A process
 * has one each time, if they were taken several times. */
static void all_lines_at_which_stacks_end_are_said(void **state)
{
    static const struct {
        uint32_t lines[SAMPLE_RANKS];
        const char *says;
        uint32_t processes; /* that the stacks are of, one after the other; 0: one each, once */
    } cases[] = {
        {{7}, ", at line 7: process"},
        {{9, 9, 9}, ", at line 9: process"},
        {{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, ", at lines 6-17: process"},
        {{40, 40, 40, 40, 40, 40, 40, 40, 40, 8, 9}, ", at lines 8,9,40: process"},
        {{30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10},
         ", at lines 10,12,14,16,18,20,22,24 and 3 more: process"},
        {{5, 5, 5}, "  3 processes running: 0-2\n"},
        {{5, 5, 5, 5, 5}, "  running: 3 of 3 times process 0; 2 of 3 times process 1\n", 2},
        {{5, 5, 5, 5}, "  running: 2 of 3 times processes 0,1\n", 2},
    };
    struct pct_where_stack stacks[SAMPLE_RANKS];
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        struct pct_frame frames[SAMPLE_RANKS];
        sample_begin(&sample);
        sample_clock(&sample);
        sample.modules[0] = (struct pc_profile_module){.path = (char *)"/bin/a", .identity = 1};
        sample.p.n_modules = 1;
        for (uint32_t r = 0; r < SAMPLE_RANKS && cases[k].lines[r]; r++) {
            sample.ranks[r] = (struct pc_profile_rank){.rank = (int32_t)r, .host = (char *)"node"};
            uint32_t process = cases[k].processes ? r % cases[k].processes : r;
            stacks[r] =
                (struct pct_where_stack){.number = (int)process, .state = 'R', .tells = true};
            sample.p.n_ranks = sample.p.world_size = r + 1;
            sample_point(&sample, 0, 0, 0x100 + r);
            sample_add_samples(&sample, (int32_t)r, 1000000);
        }
        sample_end(&sample);
        struct pct_symbols *symbols = pct_symbols_new(&sample.p);
        for (uint32_t r = 0; r < sample.p.n_ranks; r++) {
            frames[r] = (struct pct_frame){.function = "spin", .file = "a.c"};
            frames[r].line = cases[k].lines[r];
            pct_symbols_teach(symbols, 0, 0x101 + r, (struct pct_place){&frames[r], 1});
        }
        struct pct_data *d =
            pct_data_new("where", &sample.p, symbols, &(struct pct_tree_options){0});
        char *text = NULL;
        size_t n;
        FILE *out = open_memstream(&text, &n);
        pct_where_print(out, &(struct pct_where){.d = d,
                                                 .times = cases[k].processes ? 3 : 1,
                                                 .stacks = stacks,
                                                 .one = "process",
                                                 .many = "processes"});
        fclose(out);
        if (!strstr(text, cases[k].says))
            fail_msg("case %zu: %s", k, text);
        free(text);
        pct_data_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_begins_where_it_is_continued_from),
        cmocka_unit_test(a_definition_is_told_from_calls),
        cmocka_unit_test(the_greatest_line_is_shown_once),
        cmocka_unit_test(all_lines_at_which_stacks_end_are_said),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
