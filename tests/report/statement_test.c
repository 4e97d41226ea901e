/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first line of a statement of several lines, and of a function, in C and in both forms of
 * Fortran.
 */
#include "view/annotate/annotate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_begins_where_it_is_continued_from),
        cmocka_unit_test(a_definition_is_told_from_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
