/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places of calls in findings, in runs made by hand: calls in libraries lead to the user's line,
 * overloaded functions are not one, and the caller that makes most of the calls is named. Trees
 * show the inner functions of a library as one line. Calls with one cause are one finding.
 */
#include "made_run.h"

#include "analysis/tree/label.h"
#include "view/report_print.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAM, LIBRARY, PYTHON, EXTENSION, SOLVER };

static bool sampled; /* the runs that begin */

/* Begins a run without frames, in which some will be of a library or of Python. */
static void begin(void)
{
    begin_run(3, sampled);
    m.sample.p.n_nodes = 1;
    m.sample.modules[LIBRARY] =
        (struct pc_profile_module){.path = (char *)"/usr/lib/libvec.so.3", .identity = 2};
    m.sample.modules[PYTHON] =
        (struct pc_profile_module){.path = (char *)PCOLLECT_MODULE_PYTHON, .identity = 3};
    m.sample.modules[EXTENSION] = (struct pc_profile_module){
        .path = (char *)"/usr/lib/python3/vec.cpython-311-x86_64-linux-gnu.so", .identity = 4};
    m.sample.modules[SOLVER] =
        (struct pc_profile_module){.path = (char *)"/usr/lib/libsolve.so.2", .identity = 5};
    m.sample.p.n_modules = SOLVER + 1;
}

/* A frame as the node of a profile below another one; `which` is 0 to MAX_DEPTH. */
static uint32_t add_frame(uint32_t above, unsigned which, unsigned module, struct pct_frame frame)
{
    m.frames[which] = frame;
    m.frame_modules[which] = module;
    return sample_frame(&m.sample, above, module, 0x1000 * (which + 1));
}

static void expect(const char *rule, const char *begin, const char *end)
{
    const char *text = sentence(rule);
    size_t n = strlen(text), bytes = strlen(end);
    if (strncmp(text, begin, strlen(begin)) != 0 || n < bytes || strcmp(text + n - bytes, end) != 0)
        fail_msg("%s, not %s ... %s", text, begin, end);
}

#define MORE                                                                                       \
    ": how often and for how much data it is called, its options (such as solver and "             \
    "decomposition) and the number of ranks decide how many there are."

static void calls_in_libraries_lead_to_the_line_of_the_user(void **state)
{
    static const struct {
        struct {
            unsigned module;
            const char *function, *file;
            uint32_t line;
        } frames[MAX_DEPTH + 1];
        const char *begin, *end;
    } cases[] = {
        {{{PROGRAM, "main", "/home/a.c", 30},
          {PROGRAM, "step", "/home/a.c", 12},
          {LIBRARY, "vec_begin", NULL, 0},
          {LIBRARY, "vec_sum", NULL, 0},
          {LIBRARY, NULL, NULL, 0}},
         "MPI_Exscan in vec_begin (libvec.so.3) called by step (a.c:12) is called 5,000 times per "
         "rank for 8 bytes",
         "These calls are made inside vec_sum of libvec.so.3" MORE},
        /* The program calls it itself. */
        {{{LIBRARY, "run", NULL, 0}, {PROGRAM, "step", "/home/a.c", 12}},
         "MPI_Exscan in step (a.c:12) is called 5,000 times per rank for 8 bytes",
         "Put several values into one call."},
        /* No line is known. */
        {{{PROGRAM, "main", NULL, 0}, {LIBRARY, "vec_begin", NULL, 0}, {LIBRARY, "sum", NULL, 0}},
         "MPI_Exscan in sum (libvec.so.3) is called 5,000 times per rank (all calls from "
         "vec_begin) for 8 bytes",
         "These calls are made inside libvec.so.3" MORE},
        {{{PROGRAM, "main", NULL, 0}, {PROGRAM, "sum", NULL, 0}},
         "MPI_Exscan in sum is called 5,000 times per rank (all calls from main) for 8 bytes",
         "Put several values into one call."},
        /* A library that is linked to the program, and one of files to include. */
        {{{PROGRAM, "main", "/home/a.c", 30}, {PROGRAM, "sync_all", NULL, 0}},
         "MPI_Exscan in sync_all called by main (a.c:30) is called 5,000 times per rank",
         "These calls are made inside sync_all" MORE},
        {{{PROGRAM, "main", "/home/a.cc", 30}, {PROGRAM, "sum", "/usr/include/sum.h", 7}},
         "MPI_Exscan in sum (sum.h) called by main (a.cc:30) is called 5,000 times per rank",
         "These calls are made inside sum" MORE},
        {{{PYTHON, "<module>", "/home/a.py", 30},
          {PYTHON, "write", "/home/a.py", 9},
          {PYTHON, "Data.__setitem__", "/usr/lib/python3/dist-packages/h/data.py", 90},
          {LIBRARY, NULL, NULL, 0},
          {LIBRARY, "h_write", NULL, 0}},
         "MPI_Exscan in Data.__setitem__ (h/data.py) called by write (a.py:9) is called 5,000 "
         "times",
         "These calls are made inside h_write of libvec.so.3" MORE},
        {{{PYTHON, "<module>", "/home/a.py", 30},
          {EXTENSION, NULL, NULL, 0},
          {LIBRARY, "h_write", NULL, 0},
          {LIBRARY, NULL, NULL, 0}},
         "MPI_Exscan in h_write (libvec.so.3) called by <module> (a.py:30) is called 5,000 times",
         "These calls are made inside libvec.so.3" MORE},
        {{{PYTHON, "<module>", "/home/a.py", 30}, {EXTENSION, NULL, NULL, 0}},
         "MPI_Exscan in <module> (a.py:30) is called 5,000 times",
         "Put several values into one call."},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        begin();
        m.caller = 0;
        for (unsigned i = 0; i <= MAX_DEPTH && (i < 2 || cases[k].frames[i].module); i++)
            m.caller = add_frame(m.caller, i, cases[k].frames[i].module,
                                 (struct pct_frame){.function = cases[k].frames[i].function,
                                                    .file = cases[k].frames[i].file,
                                                    .line = cases[k].frames[i].line});
        call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, 5000, 8, 1000);
        expect("many-collectives", cases[k].begin, cases[k].end);
    }
}

/* Calls of one function from two others, of which the first makes so many. */
static void begin_two(double calls, const char *function, const char *other, uint32_t line)
{
    const char *file = line ? "/home/a.c" : NULL;
    begin();
    uint32_t first = add_frame(0, 0, PROGRAM, (struct pct_frame){.function = "solve"}),
             second = add_frame(0, 1, PROGRAM, (struct pct_frame){.function = "report"});
    m.caller = add_frame(first, 2, PROGRAM,
                         (struct pct_frame){.function = function, .file = file, .line = line});
    call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, calls, 8, 900);
    m.caller = add_frame(second, 3, PROGRAM,
                         (struct pct_frame){.function = other, .file = file, .line = line});
    if (calls < 10000)
        call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, 10000 - calls, 8, 100);
}

/* The context of the first finding of that rule; 0: it has none. */
static uint64_t context_of(const char *rule)
{
    struct pct_data *d = end_run();
    uint64_t context = 0;
    for (size_t i = d->findings->n; i-- > 0;)
        if (!strcmp(d->findings->list[i].rule, rule))
            context = d->findings->list[i].context;
    pct_data_free(d);
    return context;
}

/* Calls of several functions of a library: the one with most is named. */
static void a_library_is_named_by_its_function_with_most_calls(void **state)
{
    static const double calls[] = {8800, 5100, 9960, 5000};
    static const char *const says[] = {
        ". 88 % of these calls are made inside vec_norm of libvec.so.3" MORE,
        ". 51 % of these calls are made inside vec_norm of libvec.so.3" MORE,
        ". Nearly all of these calls are made inside vec_norm of libvec.so.3" MORE,
        ". These calls are made inside libvec.so.3" MORE};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(calls); k++) {
        begin();
        uint32_t program = add_frame(
            0, 0, PROGRAM, (struct pct_frame){.function = "main", .file = "/home/a.c", .line = 4});
        uint32_t called =
            add_frame(program, 1, LIBRARY, (struct pct_frame){.function = "vec_solve"});
        m.caller = add_frame(called, 2, LIBRARY, (struct pct_frame){.function = "vec_norm"});
        call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, calls[k], 8, 900);
        m.caller = add_frame(called, 3, LIBRARY, (struct pct_frame){.function = "vec_dot"});
        call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, 10000 - calls[k], 8, 100);
        expect("many-collectives", "MPI_Exscan in vec_solve (libvec.so.3) called by main (a.c:4) ",
               says[k]);
    }
}

/* A library that only passes calls on is not what decides how many there are: the function of
 * another library with most of them is named, if there is one. */
static void the_library_that_has_calls_passed_on_is_named(void **state)
{
    static const struct {
        double calls;
        unsigned module, line;
        const char *says;
    } cases[] = {
        {8800, SOLVER, 0, ". 88 % of these calls are made inside solve of libsolve.so.2" MORE},
        {5000, SOLVER, 0, ". These calls are made inside libvec.so.3" MORE},
        {10000, SOLVER, 0, ". These calls are made inside solve of libsolve.so.2" MORE},
        {10000, SOLVER, 7, ". These calls are made inside solve of libsolve.so.2" MORE},
        {10000, LIBRARY, 0, ". These calls are made inside libvec.so.3" MORE},
        {10000, PROGRAM, 0, ". These calls are made inside libvec.so.3" MORE},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        unsigned module = cases[k].module;
        const struct pct_frame sum = {
            .function = "sum", .file = cases[k].line ? "sum.c" : NULL, .line = cases[k].line};
        begin();
        uint32_t program = add_frame(0, 0, PROGRAM, (struct pct_frame){.function = "main"});
        uint32_t solve = add_frame(program, 1, module, (struct pct_frame){.function = "solve"});
        uint32_t norm = add_frame(program, 3, module, (struct pct_frame){.function = "norm"});
        m.caller = add_frame(solve, 2, LIBRARY, sum);
        call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, cases[k].calls, 8, 900);
        m.caller = add_frame(norm, 2, LIBRARY, sum);
        if (cases[k].calls < 10000)
            call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, 10000 - cases[k].calls, 8, 100);
        expect("many-collectives",
               cases[k].line ? "MPI_Exscan in sum (sum.c:7) is called 10,000 times "
                             : "MPI_Exscan in sum (libvec.so.3) is called 10,000 times ",
               cases[k].says);
    }
}

/* Selecting one of two contexts would show a part of the calls that the sentence counts. */
static void a_place_of_several_contexts_has_no_context(void **state)
{
    (void)state;
    begin_two(8800, "reduce", "reduce", 7);
    assert_int_equal(context_of("many-collectives"), 0);
    begin();
    m.caller = add_frame(0, 0, PROGRAM, (struct pct_frame){.function = "solve"});
    call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, 10000, 8, 1000);
    assert_int_not_equal(context_of("many-collectives"), 0);
}

static void the_caller_of_most_calls_is_named(void **state)
{
    (void)state;
    begin_two(8800, "reduce", "reduce", 7);
    expect("many-collectives",
           "MPI_Exscan in reduce (a.c:7) is called 10,000 times per rank (88 % of the calls from "
           "solve) for 8 bytes",
           "Put several values into one call.");
    begin_two(9960, "reduce", "reduce", 7);
    expect("many-collectives",
           "MPI_Exscan in reduce (a.c:7) is called 10,000 times per rank (nearly all calls from "
           "solve) for",
           ".");
    begin_two(5000, "reduce", "reduce", 7);
    expect("many-collectives", "MPI_Exscan in reduce (a.c:7) is called 10,000 times per rank for",
           ".");
}

static void the_list_of_calls_names_that_caller_too(void **state)
{
    static const struct {
        double calls;
        uint32_t line;
        const char *says;
    } cases[] = {{8800, 7, "MPI_Exscan in reduce  a.c:7 (88 % of the calls from solve)\n"},
                 {5000, 7, "MPI_Exscan in reduce  a.c:7\n"},
                 {10000, 7, "MPI_Exscan in reduce  a.c:7\n"},
                 {10000, 0, "MPI_Exscan in reduce  program (all calls from solve)\n"}};
    (void)state;
    sampled = true;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        static char text[1 << 14];
        begin_two(cases[k].calls, "reduce", "reduce", cases[k].line);
        sample_point(&m.sample, 0, PROGRAM, ELSEWHERE);
        sample_add_samples(&m.sample, 0, (uint64_t)ms);
        m.sample.p.mpi = (char *)"Open MPI";
        struct pct_data *d = end_run();
        FILE *out = fmemopen(text, sizeof text, "w");
        pct_print_hottest(out, d, &(struct pct_options){.width = 0});
        fclose(out);
        if (!strstr(text, cases[k].says))
            fail_msg("%zu: %s", k, text);
        pct_data_free(d);
    }
    sampled = false;
}

/* A function without a name says less than the one around it, which the list names in place of the
 * program's. */
static void the_list_names_what_is_around_a_nameless_function(void **state)
{
    static char text[1 << 14];
    (void)state;
    sampled = true;
    begin();
    m.caller = add_frame(0, 0, PROGRAM,
                         (struct pct_frame){.function = "main", .file = "/home/a.c", .line = 4});
    m.caller = add_frame(m.caller, 1, LIBRARY, (struct pct_frame){.function = "vec_solve"});
    m.caller = add_frame(m.caller, 2, LIBRARY, (struct pct_frame){.function = "vec_norm"});
    m.caller = add_frame(m.caller, 3, LIBRARY, (struct pct_frame){.function = NULL});
    call_all("MPI_Exscan", PCOLLECT_CLASS_COLL, 1000, 8, 900);
    sample_point(&m.sample, 0, PROGRAM, ELSEWHERE);
    sample_add_samples(&m.sample, 0, (uint64_t)ms);
    m.sample.p.mpi = (char *)"Open MPI";
    struct pct_data *d = end_run();
    FILE *out = fmemopen(text, sizeof text, "w");
    pct_print_hottest(out, d, &(struct pct_options){.width = 0});
    fclose(out);
    if (!strstr(text, "(all calls from vec_norm)\n"))
        fail_msg("%s", text);
    struct pct_options few = {.has_min_percent = true, .choice.min_percent = 100001};
    out = fmemopen(text, sizeof text, "w");
    fputs("no row", out);
    pct_print_hottest(out, d, &few);
    fclose(out);
    assert_string_equal(text, "no row");
    pct_data_free(d);
    sampled = false;
}

static void overloaded_functions_are_apart(void **state)
{
    static const char doubles[] = "void field::reduce(double&, field::sumOp<double> const&, int)",
                      vectors[] = "void field::reduce(field::Vector<double>&, "
                                  "field::sumOp<field::Vector<double> > const&, int)";
    (void)state;
    begin_two(8800, doubles, vectors, 0);
    const char *text = sentence("many-collectives");
    if (!strstr(text, "reduce(double&") || !strstr(text, " is called 8,800 times per rank "))
        fail_msg("%s", text);
    /* A line of a template is one place. */
    begin_two(8800, "void field::reduce<double>(field::Parallel const&, double&)",
              "void field::reduce<int>(field::Parallel const&, int&)", 7);
    expect("many-collectives",
           "MPI_Exscan in field::reduce<>() (a.c:7) is called 10,000 times per rank (88 % of the "
           "calls from solve)",
           ".");
}

static void open_calls_have_the_place_of_others(void **state)
{
    (void)state;
    begin();
    m.n = m.sample.p.n_ranks = m.sample.p.world_size = 4;
    m.caller = add_frame(0, 0, PROGRAM,
                         (struct pct_frame){.function = "main", .file = "/home/a.c", .line = 30});
    m.caller = add_frame(m.caller, 1, LIBRARY, (struct pct_frame){.function = "vec_begin"});
    m.caller = add_frame(m.caller, 2, LIBRARY, (struct pct_frame){.function = NULL});
    call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 1, 0, 1);
    struct pc_profile_table *t = add_open_calls();
    for (unsigned r = 0; r < m.n; r++) {
        m.sample.ranks[r].incomplete = true;
        add_cells(t, (const uint64_t[]){r, 0, m.last_op, (uint64_t)(2000 * ms)});
    }
    expect("open-calls",
           "At the end of the data 4 ranks have been in MPI_Barrier in vec_begin (libvec.so.3) "
           "called by main (a.c:30) for up to 2.000 s.",
           ".");
}

/* A run with MPI_Barrier below main, at a line, and four functions of a library without lines. */
static struct pct_data *make_deep(void)
{
    static const char *const names[] = {"vec_begin", "vec_sum", "vec_step", "vec_reduce"};
    begin();
    m.caller = add_frame(0, 0, PROGRAM,
                         (struct pct_frame){.function = "main", .file = "/home/a.c", .line = 30});
    for (unsigned i = 0; i < PC_ARRAY_LEN(names); i++)
        m.caller = add_frame(m.caller, i + 1, LIBRARY, (struct pct_frame){.function = names[i]});
    call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 1, 0, 1000);
    return end_run();
}

#define TWO "... 2 frames of libvec.so.3\n"

static void expect_tree(const struct pct_data *d, bool bottom_up, bool full_names,
                        const char *const *wanted)
{
    const struct pct_options options = {.metric = PCT_TIME,
                                        .has_min_percent = true,
                                        .bottom_up = bottom_up,
                                        .full_names = full_names};
    static const char *const all[] = {"vec_begin", "vec_sum", "vec_step", "vec_reduce", TWO};
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    pct_print_tree(out, d, &options, PCT_TIME);
    fclose(out);
    for (size_t i = 0; i < PC_ARRAY_LEN(all); i++) {
        bool is_wanted = false;
        for (size_t k = 0; wanted[k]; k++)
            is_wanted |= !strcmp(wanted[k], all[i]);
        if (is_wanted != (strstr(text, all[i]) != NULL))
            fail_msg("%s: %s", all[i], text);
    }
    free(text);
}

/* The function through which the program enters the library has its line, and so has the one around
 * the calls of MPI. */
static void frames_of_a_library_share_a_line(void **state)
{
    (void)state;
    struct pct_data *d = make_deep();
    expect_tree(d, false, false, (const char *const[]){"vec_begin", TWO, "vec_reduce", NULL});
    expect_tree(d, true, false, (const char *const[]){"vec_begin", TWO, "vec_reduce", NULL});
    expect_tree(d, false, true,
                (const char *const[]){"vec_begin", "vec_sum", "vec_step", "vec_reduce", NULL});
    pct_data_free(d);
}

static void code_without_lines_belongs_to_the_line_that_called_it(void **state)
{
    (void)state;
    struct pct_data *d = make_deep();
    const struct pct_rolled *called = pct_data_rolled(d, PCT_BY_CALLED);
    assert_int_equal(called->n, 1);
    const struct pct_rolled_row *row = &called->row[0];
    assert_string_equal(row->file, "/home/a.c");
    assert_int_equal(row->line, 30);
    assert_string_equal(row->called, "vec_begin");
    assert_string_equal(row->library, "/usr/lib/libvec.so.3");
    assert_true(row->own.sum[PCT_EXCLUSIVE] == d->totals->context_mpi_ns);
    pct_data_free(d);
}

/* A call that Python makes through a library is none of its line's own, with or without a name, and
 * though the extension module between them has lines. */
static void a_library_below_python_is_called(void **state)
{
    static const char *const names[] = {"vec_sum", NULL};
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(names); k++) {
        begin();
        m.caller =
            add_frame(0, 0, PYTHON,
                      (struct pct_frame){.function = "<module>", .file = "/home/a.py", .line = 30});
        m.caller =
            add_frame(m.caller, 1, EXTENSION,
                      (struct pct_frame){.function = "carry", .file = "/usr/src/vec.c", .line = 9});
        m.caller = add_frame(m.caller, 2, LIBRARY, (struct pct_frame){.function = names[k]});
        call_all("MPI_Barrier", PCOLLECT_CLASS_COLL, 1, 0, 1000);
        struct pct_data *d = end_run();
        const struct pct_rolled *site = pct_data_rolled(d, PCT_BY_SITE),
                                *called = pct_data_rolled(d, PCT_BY_CALLED);
        for (size_t i = 0; i < site->n; i++)
            assert_null(site->row[i].file);
        assert_int_equal(called->n, 1);
        assert_string_equal(called->row[0].file, "/home/a.py");
        assert_int_equal(called->row[0].line, 30);
        assert_true(called->row[0].own.sum[PCT_EXCLUSIVE] == d->totals->context_mpi_ns);
        pct_data_free(d);
    }
}

/* A send and the calls that wait for it, in functions without names of one library, are of the
 * function around them that has a name. */
static void messages_of_nameless_functions_belong_together(void **state)
{
    (void)state;
    begin();
    uint32_t line = add_frame(
        0, 0, PYTHON, (struct pct_frame){.function = "<module>", .file = "/home/a.py", .line = 30});
    uint32_t step = add_frame(line, 1, LIBRARY, (struct pct_frame){.function = "vec_step"});
    m.caller = add_frame(step, 2, LIBRARY, (struct pct_frame){.function = NULL});
    call_all("MPI_Isend", PCOLLECT_CLASS_P2P, 30000, 8, 10);
    m.caller = add_frame(step, 3, LIBRARY, (struct pct_frame){.function = NULL});
    call_all("MPI_Waitsome", PCOLLECT_CLASS_P2P, 20000, 0, 1000);
    expect(
        "small-messages",
        "MPI_Isend in vec_step (libvec.so.3) called by <module> (a.py:30) sends 30,000 messages ",
        "These calls are made inside libvec.so.3" MORE);
}

/* Calls of one function that belong together are one finding, though each alone is less than all
 * delay. */
static void calls_that_belong_together_are_one_finding(void **state)
{
    static const struct {
        const char *rule, *first, *second;
        uint16_t op_class;
        double delayed_ms;
        const char *says;
    } cases[] = {
        {"window-synchronisation", "MPI_Win_lock", "MPI_Win_unlock", PCOLLECT_CLASS_RMA, 1000,
         " synchronises 3,000 times per rank: with other such calls in the same function, 10 % to "
         "40 % of the run (a part is waiting for a processor). "},
        {"window-synchronisation", "MPI_Win_lock_all", "MPI_Win_flush", PCOLLECT_CLASS_RMA, 1200,
         ", at most 38 % of the run, of which a part is waiting for a processor. Do more "},
        {"communicators", "MPI_Win_create", "MPI_Win_free", PCOLLECT_CLASS_RMA, 1000,
         ": with other calls that make or free windows, 10 % to 40 % of the run (a part is "},
        {"communicators", "MPI_Comm_dup", "MPI_Comm_free", PCOLLECT_CLASS_COMM, 1000,
         ": with other calls that make or free communicators, 10 % to 40 % of the run (a part "},
        {"communicators", "MPI_File_open", "MPI_File_close", PCOLLECT_CLASS_IO, 1000,
         ": with other calls that open or close files, 10 % to 40 % of the run (a part "},
    };
    (void)state;
    for (size_t k = 0; k < PC_ARRAY_LEN(cases); k++) {
        size_t n = 0;
        begin_run(3, false);
        for (unsigned r = 0; r < m.n; r++)
            m.compute_ms[r] = 1000 + (m.delayed_ms[r] = cases[k].delayed_ms);
        call_all(cases[k].first, cases[k].op_class, 3000, 0, 700);
        call_all(cases[k].second, cases[k].op_class, 3000, 0, 650);
        struct pct_data *d = end_run();
        for (size_t i = 0; i < d->findings->n; i++) {
            const struct pct_finding *f = &d->findings->list[i];
            if (strcmp(f->rule, cases[k].rule) != 0)
                continue;
            if (n++ || !strstr(f->text, cases[k].says) ||
                strncmp(f->text, cases[k].first, strlen(cases[k].first)) != 0)
                fail_msg("case %zu: %s", k, f->text);
        }
        if (!n)
            fail_msg("case %zu: no finding", k);
        pct_data_free(d);
    }
}

static void files_of_packages_have_their_folder(void **state)
{
    static const char *const rows[][2] = {
        {"/home/a/b.c", "b.c"},
        {"b.py", "b.py"},
        {"/home/a/__init__.py", "a/__init__.py"},
        {"a/__main__.py", "a/__main__.py"},
        {"/__init__.py", "__init__.py"},
        {"__init__.py", "__init__.py"},
        {"/usr/lib/python3/dist-packages/meep/__init__.py", "meep/__init__.py"},
        {"/usr/lib/python3/dist-packages/dolfinx/fem/petsc.py", "fem/petsc.py"},
        {"/home/a/lib/python3.11/site-packages/six.py", "six.py"},
        {"/home/a/lib/python3.11/site-packages/b/lib.so", "lib.so"},
        {"/home/a/b.py", "b.py"},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++)
        assert_string_equal(pct_place_file(rows[i][0]), rows[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_libraries_lead_to_the_line_of_the_user),
        cmocka_unit_test(a_library_is_named_by_its_function_with_most_calls),
        cmocka_unit_test(the_library_that_has_calls_passed_on_is_named),
        cmocka_unit_test(a_place_of_several_contexts_has_no_context),
        cmocka_unit_test(the_caller_of_most_calls_is_named),
        cmocka_unit_test(the_list_of_calls_names_that_caller_too),
        cmocka_unit_test(the_list_names_what_is_around_a_nameless_function),
        cmocka_unit_test(a_library_below_python_is_called),
        cmocka_unit_test(messages_of_nameless_functions_belong_together),
        cmocka_unit_test(overloaded_functions_are_apart),
        cmocka_unit_test(open_calls_have_the_place_of_others),
        cmocka_unit_test(frames_of_a_library_share_a_line),
        cmocka_unit_test(code_without_lines_belongs_to_the_line_that_called_it),
        cmocka_unit_test(calls_that_belong_together_are_one_finding),
        cmocka_unit_test(files_of_packages_have_their_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
