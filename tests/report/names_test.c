/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions, modules and places in the report: how they are shortened, told apart, broken
 * and cut.
 */
#include "analysis/buffer.h"
#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"
#include "view/branches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* Names of functions that are shortened. The page is compared with them, too. */
static const struct {
    const char *whole, *wanted;
} shortened[] = {
    {"main", "main"},
    {"sum<double>(double*, int)", "sum<double>(double*, int)"}, /* short enough */
    {"std::vector<double, std::allocator<double> >::push_back(double const&)",
     "std::vector<>::push_back()"},
    {"void std::__fill_a1<double*, double>(double*, double*, double const&)", "std::__fill_a1<>()"},
    {"std::map<int, std::pair<int, int> > (anonymous namespace)::f<int>(int) const",
     "(anonymous namespace)::f<>() const"},
    {"std::ostream& operator<< <char>(std::ostream&, some_long_name<char> const&)",
     "operator<< <>()"},
    {"table<std::string, double>::operator()(std::string const&, double) const",
     "table<>::operator()() const"},
    {"unique_pointer<a_type_of_some_length>::operator->() const",
     "unique_pointer<>::operator->() const"},
    {"apply<int>(int, int (*)(int))::{lambda(int)#1}::operator()(int) const",
     "apply<>()::{lambda()#1}::operator()() const"},
    {"a_long_name_without_any_bracket_in_it_at_all",
     "a_long_name_without_any_bracket_in_it_at_all"},
    {"unbalanced_name_that_is_longer_than_forty>>)(<",
     "unbalanced_name_that_is_longer_than_forty>>)()"},
    {"(region with a name of more than forty (40) signs)",
     "(region with a name of more than forty (40) signs)"},
    {"sim::step(std::function<double(int)>)::{lambda()#2}::operator()(double (*)(int)) const",
     "sim::step()::{lambda()#2}::operator()() const"},
    {"auto sim::step<int>()::{lambda(auto:1)#1}::operator()<double>(double) const",
     "sim::step<>()::{lambda()#1}::operator()<>() const"},
    {"a_class_of_some_length<int, double>::operator std::vector<int>() const",
     "a_class_of_some_length<>::operator std::vector<>() const"},
    {"std::vector<double, std::allocator<double> >::operator[](unsigned long)",
     "std::vector<>::operator[]()"},
    {"lib::Linear_operator<double> lib::linear_operator<double>(int)", "lib::linear_operator<>()"},
    {"std::map<int, sum::operator()()::kind> table_of_kinds<sum, int>(int)", "table_of_kinds<>()"},
    {"wrapped<(&(sum::operator()<int>))> apply_to_all<int, double>(int)", "apply_to_all<>()"},
    {"wrapped<decltype (p->q->r(int))> apply_to_all<int, double>(int)", "apply_to_all<>()"},
    {"apply_to_all<int, decltype (p->q->r(int))>(int, int)", "apply_to_all<>()"},
    {"<alloc::Vec<u8, Global> as fmt::Write>::put", "<alloc::Vec<> as fmt::Write>::put"},
};

/* Names that are shortened to the same as others, and their texts. */
static const struct {
    const char *name, *others[3], *ascii;
} told_apart[] = {
    /* a name that differs in one argument from others */
    {"Benchmark<Suite<(kind)3>, &rma_passive_put>::run(item const&)",
     {"Benchmark<Suite<(kind)3>, &rma_passive_get>::run(item const&)",
      "Benchmark<Suite<(kind)3>, &exchange>::run(item const&)", NULL},
     "Benchmark<..rma_passive_put>::run()"},
    {"Benchmark<Suite<(kind)3>, &exchange>::run(item const&)",
     {"Benchmark<Suite<(kind)2>, &exchange>::run(item const&)", NULL},
     "Benchmark<..(kind)3..>::run()"},
    /* lambdas, also of two functions */
    {"void parallel_for<main::{lambda(int)#1}>(unsigned, main::{lambda(int)#1})",
     {"void parallel_for<main::{lambda(int)#2}>(unsigned, main::{lambda(int)#2})", NULL},
     "parallel_for<..{lambda(int)#1}>()"},
    /* arguments of the call */
    {"smoother_of_some_name::apply(std::vector<double>&, int)",
     {"smoother_of_some_name::apply(std::vector<double>&, long)", NULL},
     "smoother_of_some_name::apply(..int)"},
    {"smoother_of_some_name<int>::apply(std::vector<int>&)",
     {"smoother_of_some_name<double>::apply(std::vector<double>&)", NULL},
     "smoother_of_some_name<int>::apply()"},
    {"smoother_of_some_name<double, 3>::apply(vector<double>&)",
     {"smoother_of_some_name<float, 5>::apply(vector<float>&)", NULL},
     "smoother_of_some_name<double, 3>::apply()"},
    {"smoother_of_some_name<double, 3>::apply(int, int)",
     {"smoother_of_some_name<float, 3>::apply(int, int)", NULL},
     "smoother_of_some_name<double..>::apply()"},
    /* one argument more */
    {"smoother_of_some_name<int, int>::apply(vector&)",
     {"smoother_of_some_name<int>::apply(vector&)", NULL},
     "smoother_of_some_name<int, int>::apply()"},
    /* the return type alone, which is not shown */
    {"double smoother_of_some_name<5>::apply(vector&)",
     {"int smoother_of_some_name<5>::apply(vector&)", NULL},
     "smoother_of_some_name<>::apply()"},
    /* nothing is shortened to the same */
    {"smoother_of_some_name<int>::apply(std::vector<int>&)",
     {"smoother_of_some_name<int>::apply(std::vector<int>&)",
      "smoother_of_another_name<double>::apply(std::vector<int>&)", "apply"},
     "smoother_of_some_name<>::apply()"},
    {"short<int>()", {"short<double>()", NULL}, "short<int>()"},
    /* a long part */
    {"smoother_of_some_name<a_preconditioner_of_a_long_name_1>::apply()",
     {"smoother_of_some_name<another_preconditioner_of_a_long_name_2>::apply()", NULL},
     "smoother_of_some_name<a_preconditioner_o..ong_name_1>::apply()"},
    /* many arguments */
    {"double variadic<int, double, double, unsigned int, long, float, unsigned long>(int)",
     {"double variadic<int, long, float, unsigned int>(int)", NULL},
     "variadic<..double, double, unsigned int..>()"},
    /* operators, as of lambdas */
    {"sim::Integrator<double, 3>::step()::{lambda(int)#2}::operator()(int) const",
     {"sim::Integrator<double, 3>::step()::{lambda(long)#2}::operator()(long) const", NULL},
     "sim::Integrator<>::step()::{lambda(int)#2}::operator()() const"},
};

static size_t count_others(size_t row)
{
    size_t n = 0;
    while (n < PC_ARRAY_LEN(told_apart[row].others) && told_apart[row].others[n])
        n++;
    return n;
}

/* Prints a row for each name: the name, its text, and the names from which it is told apart. */
static int print_names(void)
{
    puts("name\ttext\tothers");
    for (size_t i = 0; i < PC_ARRAY_LEN(shortened); i++)
        printf("%s\t%s\n", shortened[i].whole, shortened[i].wanted);
    for (size_t i = 0; i < PC_ARRAY_LEN(told_apart); i++) {
        struct pct_buf b = {0};
        pct_name_put_among(&b, told_apart[i].name, told_apart[i].others, count_others(i), true);
        printf("%s\t%s", told_apart[i].name, b.data);
        for (size_t k = 0; k < count_others(i); k++)
            printf("\t%s", told_apart[i].others[k]);
        putchar('\n');
        pct_buf_free(&b);
    }
    return 0;
}

static void names_are_shortened_in_one_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(shortened); i++) {
        struct pct_buf b = {0};
        pct_short_name(&b, shortened[i].whole);
        assert_string_equal(b.data, shortened[i].wanted);
        pct_buf_free(&b);
    }
}

static void names_are_told_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(told_apart); i++) {
        struct pct_buf b = {0};
        pct_name_put_among(&b, told_apart[i].name, told_apart[i].others, count_others(i), false);
        assert_string_equal(b.data, told_apart[i].ascii);
        pct_buf_free(&b);
    }
}

static void names_of_a_list_differ(void **state)
{
    static const struct {
        const char *name, *wanted;
    } rows[] = {
        {"void send_receive<int>(domain const*, int*, int, int*, int)",
         "send_receive<>(..int*, int, int*, int)"},
        {"void send_receive<int>(domain const*, Array<int>, Array<int>)",
         "send_receive<>(..Array<int>, Array<int>)"},
        {"void send_receive<float>(domain const*, Array<float>, Array<float>)",
         "send_receive<float>()"},
        {"void send_receive<float>(domain const*, Array<float>, Array<float>)",
         "send_receive<float>()"}, /* in another file */
        {NULL, NULL},
        {"main", "main"},
    };
    const char *names[PC_ARRAY_LEN(rows)];
    struct pct_pool *pool = pct_pool_new();
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        names[i] = rows[i].name;
    const char **shown = pct_names_shown(names, PC_ARRAY_LEN(rows), false, false, pool);
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        if (rows[i].wanted)
            assert_string_equal(shown[i], rows[i].wanted);
        else
            assert_null(shown[i]);
    pct_free(shown);
    pct_pool_free(pool);
}

/* Names of n characters, of one and of two bytes. */
static char *name_of(size_t n, bool wide)
{
    struct pct_buf b = {0};
    for (size_t i = 0; i < n; i++)
        pct_buf_text(&b, wide ? "\xc3\xa9" : (const char *const[]){"a", "b", "c"}[i % 3]);
    return b.data;
}

static void very_long_names_lose_their_middle(void **state)
{
    static const size_t lengths[] = {1, 2000, 2001, 1048576};
    (void)state;
    for (size_t i = 0; i < 2 * PC_ARRAY_LEN(lengths); i++) {
        size_t n = lengths[i / 2];
        bool full = i & 1, whole = n <= 2000;
        for (int wide = 0; wide < 2; wide++) {
            struct pct_buf b = {0};
            char *name = name_of(n, wide), left[64];
            pct_name_put(&b, name, full);
            snprintf(left, sizeof left, " ... (%zu characters left out) ... ", n - 500);
            const char *gap = strstr(b.data, left);
            assert_int_equal(!gap, whole);
            size_t first = gap ? (size_t)(gap - b.data) : b.n;
            assert_int_equal(pct_text_cells(b.data), whole ? n : 500 + strlen(left));
            assert_memory_equal(b.data, name, first);
            assert_int_equal(first, (wide ? 2 : 1) * (gap ? 400 : n));
            if (gap)
                assert_string_equal(gap + strlen(left), name + strlen(name) - (wide ? 2 : 1) * 100);
            pct_buf_free(&b);
            pct_free(name);
        }
    }
}

static void people_read_labels_in_one_notation(void **state)
{
    static const struct {
        const char *labels, *wanted;
    } rows[] = {
        {"main@a.c:3", "main (a.c:3)"},
        {"main@a.c", "main (a.c)"},
        {"libplug.so+0x77", "libplug.so+0x77"},
        {"(region step)", "(region step)"},
        {"sin\\@plt@libm.so", "sin@plt (libm.so)"},
        {"odd@a\\@b.c:1", "odd (a@b.c:1)"},
        {"tab\\t\\\\@a.c:1", "tab\\t\\\\ (a.c:1)"},
        {"(region a \\> b) > (region < c \\> d)", "(region a \\> b) > (region < c \\> d)"},
        {"x@a.c > m<a<int\\> \\>@b.cc", "x (a.c) > m<a<int> > (b.cc)"},
        {"main@a.cc:3 > run<std::vector<double, allocator<double\\> \\>, 3>(int)@b.cc:7 > MPI_Send",
         "main (a.cc:3) > run<>() (b.cc:7) > MPI_Send"},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        struct pct_buf b = {0};
        pct_place_of_path(&b, rows[i].labels, false);
        assert_string_equal(b.data, rows[i].wanted);
        pct_buf_free(&b);
    }
}

static void modules_of_one_name_are_told_apart(void **state)
{
    static struct pc_profile_module modules[] = {
        {.path = "/runs/a/bin/app", .flags = PCOLLECT_MODULE_EXE},
        {.path = "/runs/b/bin/app", .flags = PCOLLECT_MODULE_EXE},
        {.path = "/other", .flags = PCOLLECT_MODULE_EXE},
        {.path = "/bin/other", .flags = PCOLLECT_MODULE_EXE},
        {.path = "/runs/a/one", .flags = PCOLLECT_MODULE_EXE},
        {.path = "/runs/a/one", .flags = PCOLLECT_MODULE_EXE},
        {.path = "/lib/one"},
        {.path = "/usr/lib/libm.so"},
        {.path = "/usr/lib/two/libm.so"},
    };
    static const char *const wanted[] = {
        "a/bin/app", "b/bin/app", "/other", "bin/other", "one", "one", "one", "libm.so", "libm.so",
    };
    static const struct pc_profile p = {.modules = modules, .n_modules = PC_ARRAY_LEN(modules)};
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(modules); i++)
        assert_string_equal(pct_label_module(&p, modules[i].path), wanted[i]);
    assert_string_equal(pct_label_module(&p, "/src/app"), "app"); /* no module */
}

static void places_have_three_forms(void **state)
{
    static const struct {
        struct pct_place_text place;
        const char *alone, *list, *sentence;
    } rows[] = {
        {{.file = "/src/a.c", .line = 3}, "a.c:3", "  a.c:3", " (a.c:3)"},
        {{.file = "/src/a.c", .line = 3, .full_path = true},
         "/src/a.c:3",
         "  /src/a.c:3",
         " (/src/a.c:3)"},
        {{.file = "lib.so"}, "lib.so", "  lib.so", " (lib.so)"},
        {{.file = "a.c", .call = 2, .n_calls = 3},
         "a.c, call 2 of 3",
         "  a.c, call 2 of 3",
         " (a.c, call 2 of 3)"},
        {{.call = 2, .n_calls = 3}, "call 2 of 3", "  call 2 of 3", " (call 2 of 3)"},
        {{.line = 7}, "", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        const char *wanted[] = {rows[i].alone, rows[i].list, rows[i].sentence};
        for (int form = PCT_PLACE_ALONE; form <= PCT_PLACE_SENTENCE; form++) {
            struct pct_buf b = {0};
            pct_buf_put(&b, "", 0);
            pct_place_put(&b, &rows[i].place, (enum pct_place_form)form);
            assert_string_equal(b.data, wanted[form]);
            pct_buf_free(&b);
        }
    }
}

static void functions_are_asked_for_by_parts_of_their_names(void **state)
{
    static const struct {
        const char *name, *asked;
        bool same;
    } rows[] = {
        {"main", "main", true},
        {"main", "mai", false},
        {"main", "ain", false},
        {"solver::swap", "swap", true},
        {"solver::swap", "solver::swap", true},
        {"solver::swap", "ap", false},
        {"double phys::reduce<double, 3>(Field<double>&)", "reduce", true},
        {"double phys::reduce<double, 3>(Field<double>&)", "phys::reduce", true},
        {"double phys::reduce<double, 3>(Field<double>&)", "phys::reduce<>()", true},
        {"double phys::reduce<double, 3>(Field<double>&)", "phys::reduce<double, 3>", false},
        {"double phys::reduce<double, 3>(Field<double>&)",
         "double phys::reduce<double, 3>(Field<double>&)", true},
        {"double phys::reduce<double, 3>(Field<double>&)", "hys::reduce", false},
        {"double phys::reduce<double, 3>(Field<double>&)", "Field", false},
        {"map<int>::find(int) const", "find", true},
        {"map<int>::find(int) const", "map::find", true},
        {"(anonymous namespace)::f", "f", true},
        {"a<int>::operator()(int) const", "operator()", true},
        {"solve._omp_fn.0", "solve", true},
        {"solve._omp_fn.0", "solve._omp_fn.0", true},
        {"solve._omp_fn.0", "solve._omp_fn.1", false},
        {"solve._omp_fn.0", "olve", false},
        {"kernel_module::kernel._omp_fn.1", "kernel", true},
        {"kernel_module::kernel._omp_fn.1", "kernel_module", false},
        {"solve.constprop.0.cold", "solve", true},
        {"solve.part.0", "solve", true},
        {"solve.omp_outlined_debug__", "solve", true},
        {"heat::warm..omp_par.4", "warm", true},
        {".omp_outlined.", "", false},
        {"int a::run<int>(int) [clone .part.0]", "run", true},
        {"main::{lambda#2}::operator()", "main", true},
        {"main::{lambda(int)#2}::operator()(int) const", "main", true},
        {"main::{lambda#2}::operator()", "operator()", true},
        {"main.function", "main", false},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        if (pct_name_means(rows[i].name, rows[i].asked) != rows[i].same)
            fail_msg("%s, asked for as %s", rows[i].name, rows[i].asked);
}

static void names_are_broken_where_a_part_ends(void **state)
{
    static const struct {
        const char *name;
        size_t room;
        const char *rest;
    } cases[] = {
        {"viscosity_kernel_module::viscosity_kernel._omp_fn.0", 50, "viscosity_kernel._omp_fn.0"},
        {"viscosity_kernel_module::viscosity_kernel._omp_fn.0", 51, ""},
        {"a::b::calculate_the_viscosity", 20, "viscosity"}, /* its first part is too short */
        {"std::map<int, long>::find", 22, "find"},
        {"nearest_facet_distance_to_segment", 32, "segment"},
        {"nearest_facet_distance_to_segment", 26, "segment"},
        {"MPI.cpython-311-x86_64-linux-gnu.so+0xf2a80", 42, "+0xf2a80"},
        {"MPI.cpython-311-x86_64-linux-gnu.so+0xf2a80", 30, "gnu.so+0xf2a80"},
        {"nearestfacetdistancetosegment", 20, "tosegment"},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++)
        assert_string_equal(cases[i].name + pct_name_part(cases[i].name, cases[i].room),
                            cases[i].rest);
}

static void cut_names_keep_the_function(void **state)
{
    static const struct {
        const char *name;
        size_t cells;
        bool utf8;
        const char *wanted;
    } cases[] = {
        {"grid::Field<>::exchange()", 25, true, "grid::Field<>::exchange()"},
        {"grid::Field<>::exchange()", 24, true, "\xe2\x80\xa6id::Field<>::exchange()"},
        {"grid::Field<>::exchange()", 11, true,
         "\xe2\x80\xa6"
         "exchange()"},
        {"grid::Field<>::exchange()", 12, false, "..exchange()"},
        {"grid::Field<>::exchange()", 10, true, "exchange()"},
        {"grid::Field<>::exchange()", 8, true,
         "exch\xe2\x80\xa6"
         "e()"},
        {"(anonymous namespace)::solve(a::b)", 13, true, "\xe2\x80\xa6:solve(a::b)"},
        {"\xc3\xa4\xc3\xb6::\xc3\xbc()", 6, true, "\xe2\x80\xa6::\xc3\xbc()"},
        {"integrate() [clone .constprop.0]", 32, true, "integrate() [clone .constprop.0]"},
        {"integrate() [clone .constprop.0]", 31, true, "integrate()"},
        {"MPI_Neighbor_alltoall", 9, true,
         "MPI_N\xe2\x80\xa6"
         "all"},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_buf b = {0};
        pct_name_cut(&b, cases[i].name, cases[i].cells, cases[i].utf8);
        assert_string_equal(b.data, cases[i].wanted);
        pct_buf_free(&b);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--names"))
        return print_names();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_broken_where_a_part_ends),
        cmocka_unit_test(cut_names_keep_the_function),
        cmocka_unit_test(names_are_shortened_in_one_way),
        cmocka_unit_test(names_are_told_apart),
        cmocka_unit_test(names_of_a_list_differ),
        cmocka_unit_test(very_long_names_lose_their_middle),
        cmocka_unit_test(functions_are_asked_for_by_parts_of_their_names),
        cmocka_unit_test(people_read_labels_in_one_notation),
        cmocka_unit_test(modules_of_one_name_are_told_apart),
        cmocka_unit_test(places_have_three_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
