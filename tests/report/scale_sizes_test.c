/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale on runs of several numbers of ranks and sizes of the problem, whose times follow
 * from a closed form of both.
 */
#include "analysis/symbols/symbols_private.h"
#include "tests/report/scale_rows.h"

enum { N_SCALES = 4, MAIN = 0x1000 };
static const unsigned scales[N_SCALES] = {2, 4, 8, 16};

enum { N_SIZES = 4 };
static const double sizes[N_SIZES] = {100, 200, 400, 800};
static struct sample sized[N_SCALES * N_SIZES];
static struct pct_frame frame = {"solve", "a.c", 100, false, false};

static double of_both_ms(unsigned p, double n)
{
    return 5 + 0.01 * n * log2(p);
}

static void make_sized(struct sample *s, unsigned p, double n)
{
    sample_begin(s);
    s->modules[0] = (struct pc_profile_module){.build_id = {1},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/solver"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};
    s->p.exe = (char *)"/bin/solver";
    s->p.n_modules = s->p.n_ops = 1;
    s->p.n_ranks = s->p.world_size = p;
    sample_op(s, sample_frame(s, 0, 0, MAIN), 0);
    add_calls(s, p, of_both_ms(p, n));
    for (unsigned r = 0; r < p; r++)
        s->ranks[r] = (struct pc_profile_rank){
            .rank = (int32_t)r,
            .host = (char *)"node",
            .inside_ns = (uint64_t)llround((of_both_ms(p, n) + n * n / p) * ms),
            .mpi_ns = (uint64_t)llround(of_both_ms(p, n) * ms),
            .closed = 1};
    sample_end(s);
}

static void ranks_and_size_are_modelled_together(void **state)
{
    struct pct_run runs[N_SCALES * N_SIZES];
    double size_of_run[N_SCALES * N_SIZES];
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    (void)state;
    for (unsigned i = 0; i < N_SCALES * N_SIZES; i++) {
        unsigned k = i * 5 % (N_SCALES * N_SIZES); /* in no order */
        size_of_run[i] = sizes[k / N_SCALES];
        make_sized(&sized[i], scales[k % N_SCALES], size_of_run[i]);
        struct pct_symbols *symbols = pct_symbols_new(&sized[i].p);
        pct_symbols_teach(symbols, 0, MAIN, (struct pct_place){&frame, 1});
        pct_run_adopt(&runs[i], "run", &sized[i].p, symbols);
    }
    const struct pct_scale_options options = {
        .sizes = size_of_run, .predict = 1024, .predict_size = 3200};
    assert_int_equal(pct_scale_make(runs, N_SCALES * N_SIZES, &options, &s, &error), PC_OK);
    assert_int_equal(s->scaling, PCT_SCALING_STRONG);
    assert_int_equal(s->n_points, N_SCALES * N_SIZES);
    assert_int_equal(s->n_sizes, N_SIZES);
    assert_int_equal(pct_scale_first(s), N_SCALES * (N_SIZES - 1));
    const struct pct_scale_row *reduce = row_named(s, "MPI_Allreduce");
    const struct pct_scale_row *compute = row_named(s, "computation");
    assert_true(is_near(reduce->lost_ns, (16 * of_both_ms(16, 800) - 2 * of_both_ms(2, 800)) * ms));
    assert_true(fabs(reduce->future.value / (of_both_ms(1024, 3200) / 1e3) - 1) < 1e-3);
    assert_true(fabs(compute->future.value / (3200.0 * 3200 / 1024 / 1e3) - 1) < 1e-3);
    for (size_t k = 0; k < s->n_points; k++)
        assert_true(fabs(s->points[k].computation - 1) < 1e-6);
    pct_scale_free(s);
    for (unsigned i = 0; i < N_SCALES * N_SIZES; i++)
        pct_run_close(&runs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_and_size_are_modelled_together),
    };
    return cmocka_run_group_tests_name("scale of sizes", tests, NULL, NULL);
}
