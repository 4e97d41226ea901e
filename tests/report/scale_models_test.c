/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of pcollect scale: of contexts that are missing on few ranks, and what is said of them.
 */
#include "tests/report/scale_rows.h"

enum { MOST_SCALES = 5 };
static const unsigned scales[MOST_SCALES] = {1, 2, 4, 8, 16};

static struct sample samples[MOST_SCALES];
static struct pct_run runs[MOST_SCALES];

/* Time per rank in MPI_Allreduce on scales[k], in ms; 0: it is not called there. */
typedef double cost_fn(unsigned k);

static double line_from_2_ms(unsigned k)
{
    return k ? 10.0 * scales[k] : 0;
}

static double from_8_ms(unsigned k)
{
    return k >= 3 ? 10.0 * scales[k] : 0;
}

static struct pct_scale *compare(cost_fn *cost_ms, unsigned n)
{
    const struct pct_scale_options options = {.scaling = PCT_SCALING_STRONG, .predict = 64};
    struct pct_scale *s = NULL;
    for (unsigned k = 0; k < n; k++) {
        make_solver(&samples[k], scales[k], cost_ms(k), 1600.0 / scales[k]);
        sample_end(&samples[k]);
        adopt_solver(&runs[k], &samples[k]);
    }
    assert_int_equal(pct_scale_make(runs, n, &options, &s, NULL), PC_OK);
    return s;
}

static void finish(struct pct_scale *s, unsigned n)
{
    pct_scale_free(s);
    for (unsigned k = 0; k < n; k++)
        pct_run_close(&runs[k]);
}

/* Messages are of this kind: one rank sends none. */
static void scales_without_a_call_are_no_part_of_the_model(void **state)
{
    struct pct_scale *s = compare(line_from_2_ms, MOST_SCALES);
    const struct pct_scale_row *reduce = row_named(s, "MPI_Allreduce");
    struct pct_fit_band band;
    (void)state;
    assert_int_equal(reduce->fit.n_points, MOST_SCALES - 1);
    assert_true(fabs(reduce->future.value - 0.64) < 1e-6);
    assert_true(pct_scale_bands(s, reduce, (double[]){64}, 1, &band));
    assert_true(fabs(band.value - 0.64) < 1e-6);
    assert_says(s,
                "not called at all on 1 rank; its time per rank, where it is called, grows as p, "
                "a guess from few scales. On 64 ranks: 640.0 ms per rank");
    finish(s, MOST_SCALES);
}

static void a_context_of_two_scales_has_no_model(void **state)
{
    struct pct_scale *s = compare(from_8_ms, MOST_SCALES);
    (void)state;
    assert_false(row_named(s, "MPI_Allreduce")->modelled);
    assert_says(s, "not known (too few scales have it)");
    finish(s, MOST_SCALES);
}

/* The figures of computation are not known on 4 ranks. */
static void lines_have_a_gap_where_a_figure_is_not_known(void **state)
{
    static char picture[1 << 14];
    const struct pct_scale_options strong = {.scaling = PCT_SCALING_STRONG};
    struct pct_scale *s = compare(line_from_2_ms, MOST_SCALES);
    (void)state;
    pct_scale_free(s);
    runs[2].guessed = true;
    assert_int_equal(pct_scale_make(runs, MOST_SCALES, &strong, &s, NULL), PC_OK);
    FILE *out = fmemopen(picture, sizeof picture, "w");
    pct_scale_svg(out, s);
    fclose(out);
    size_t n_gaps = 0;
    for (const char *line = picture; (line = strstr(line, " d=\"M")); line += 5) {
        const char *end = strchr(line + 4, '"'), *again = strchr(line + 5, 'M');
        n_gaps += again && again < end;
    }
    assert_int_equal(n_gaps, 4); /* of all but the efficiency */
    finish(s, MOST_SCALES);
}

/* The ranks compute 1 s together, and poll for 100 ms on 2 ranks, for 700 ms on 4. */
static void make_polling(struct sample *s, unsigned p, unsigned polls_ms)
{
    make_solver(s, p, 0, (1000.0 + polls_ms) / p);
    sample_clock(s);
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Testsome", PCOLLECT_CLASS_COMPLETION};
    sample_op(s, 1, 0);
    for (unsigned r = 0; r < p; r++)
        sample_add(s, &(struct sample_calls){.rank = (int32_t)r, .count = 2000});
    sample_point(s, 0, 0, SOLVER + 16);
    for (unsigned r = 0; r < p; r++)
        sample_add_samples(s, (int32_t)r, (uint64_t)(polls_ms * ms) / p);
    sample_point(s, 0, 0, SOLVER + 256);
    for (unsigned r = 0; r < p; r++)
        sample_add_samples(s, (int32_t)r, (uint64_t)(1000 * ms) / p);
    sample_end(s);
}

/* The total with the loop that polls grows as p^0.63, which is neither strong nor weak scaling. */
static void what_a_loop_that_polls_takes_is_not_taken_for_work(void **state)
{
    static struct pct_frame solve = {"solve", "a.c", 101, false, false},
                            work = {"work", "a.c", 201, false, false};
    const struct pct_scale_options none = {0};
    struct pct_scale *s = NULL;
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        make_polling(&samples[k], scales[k + 1], k ? 700 : 100);
        struct pct_symbols *symbols = pct_symbols_new(&samples[k].p);
        pct_symbols_teach(symbols, 0, SOLVER, (struct pct_place){&solve, 1});
        pct_symbols_teach(symbols, 0, SOLVER + 17, (struct pct_place){&solve, 1});
        pct_symbols_teach(symbols, 0, SOLVER + 257, (struct pct_place){&work, 1});
        pct_run_adopt(&runs[k], "run", &samples[k].p, symbols);
    }
    assert_int_equal(pct_scale_make(runs, 2, &none, &s, NULL), PC_OK);
    assert_int_equal(s->scaling, PCT_SCALING_STRONG);
    assert_says(s, "(the total of computation, without functions that poll, does not grow)");
    const char *reason = pct_scale_reason(s, row_named(s, "computation in solve"));
    assert_string_equal(reason,
                        "together the ranks compute 100.0 ms on 2 ranks, 700.0 ms on 4; the "
                        "function calls MPI_Testsome 2,000 times per rank on 4, and may wait "
                        "between the calls");
    finish(s, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_without_a_call_are_no_part_of_the_model),
        cmocka_unit_test(a_context_of_two_scales_has_no_model),
        cmocka_unit_test(lines_have_a_gap_where_a_figure_is_not_known),
        cmocka_unit_test(what_a_loop_that_polls_takes_is_not_taken_for_work),
    };
    return cmocka_run_group_tests_name("models of scale", tests, NULL, NULL);
}
