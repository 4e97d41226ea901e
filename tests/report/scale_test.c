/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale on profiles whose figures all follow from a closed form: the loss of each context,
 * the efficiencies, the models, and the matching of contexts between builds.
 */
#include "analysis/symbols/symbols_private.h"
#include "analysis/tree/samples.h"
#include "tests/report/scale_rows.h"
#include "view/compare_print.h"

enum { N_SCALES = 4, MAIN = 0x1000, SOLVE = 0x2000, SETUP = 0x3000 };
static const unsigned scales[N_SCALES] = {2, 4, 8, 16};
/* Layout of the program of one run. */
struct layout {
    unsigned line;       /* of solve's call */
    bool helper;         /* MPI_Allreduce is called in a helper that is inlined in solve */
    unsigned char build; /* first byte of the build-id */
};

static struct sample samples[N_SCALES];
static struct pct_frame frames[N_SCALES][8];

/* Factor by which times are longer because no processor was free. */
static double stretch_of(unsigned p, bool stretched)
{
    return stretched ? 1 + p / 4.0 : 1;
}

static bool stretched, falling; /* falling: the time per rank in MPI_Bcast, as p^(1/2) */
static double init_ms, end_ms, end_wait_ms;

/* Times per rank in ms, by number of ranks. */
static double reduce_ms(unsigned p)
{
    return 5 + 10 * log2(p);
}

static double bcast_ms(unsigned p)
{
    return falling ? 100 - 20 * sqrt(p) : 2 * p;
}

static double strong_ms(unsigned p)
{
    return 1600.0 / p;
}

static double weak_ms(unsigned p)
{
    (void)p;
    return 100;
}

/* main > setup > MPI_Bcast and main > solve (> helper) > MPI_Allreduce, and computation such that
 * rank 0 computes 10 % more than the others. */
static void make_sample(struct sample *s, unsigned p, const struct layout *l,
                        double (*compute_ms)(unsigned))
{
    sample_begin(s);
    s->p.exe = (char *)"/bin/solver";
    s->modules[0] = (struct pc_profile_module){.build_id = {l->build, 2},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/solver"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};
    s->ops[1] = (struct pc_profile_op){(char *)"MPI_Bcast", PCOLLECT_CLASS_COLL};
    s->p.n_modules = 1;
    s->p.n_ops = 2;
    s->p.n_ranks = s->p.world_size = p;
    uint32_t in_main = sample_frame(s, 0, 0, MAIN);
    uint32_t in_solve = sample_frame(s, in_main, 0, SOLVE);
    sample_op(s, in_solve, 0);
    add_calls(s, p, reduce_ms(p));
    uint32_t in_setup = sample_frame(s, in_main, 0, SETUP);
    sample_op(s, in_setup, 1);
    add_calls(s, p, bcast_ms(p));
    for (unsigned r = 0; r < p; r++) {
        double mpi = reduce_ms(p) + bcast_ms(p), compute = compute_ms(p) * (r ? 1 : 1.1);
        s->ranks[r] = (struct pc_profile_rank){.rank = (int32_t)r,
                                               .host = (char *)"node",
                                               .inside_ns = (uint64_t)llround((mpi + compute) * ms),
                                               .mpi_ns = (uint64_t)llround(mpi * ms),
                                               .mpi_calls = 20,
                                               .closed = 1};
    }
}

static void add_init(struct sample *s, unsigned p)
{
    s->ops[2] = (struct pc_profile_op){(char *)"MPI_Init", PCOLLECT_CLASS_ENV};
    s->p.n_ops = 3;
    sample_op(s, 0, 2);
    add_calls(s, p, init_ms);
    for (unsigned r = 0; r < p; r++) {
        s->ranks[r].inside_ns += (uint64_t)(init_ms * ms);
        s->ranks[r].mpi_ns += (uint64_t)(init_ms * ms);
    }
}

/* Rank 0 comes last, and the others wait for it. */
static void add_end(struct sample *s, unsigned p)
{
    uint32_t op = s->p.n_ops++;
    s->ops[op] = (struct pc_profile_op){(char *)"MPI_Finalize", PCOLLECT_CLASS_ENV};
    sample_op(s, 0, op);
    for (unsigned r = 0; r < p; r++) {
        uint64_t ns = (uint64_t)llround((end_ms + (r ? end_wait_ms : 0)) * ms);
        sample_add(s, &(struct sample_calls){
                          .rank = (int32_t)r, .count = 1, .time = ns, .min = ns, .max = ns});
        s->ranks[r].inside_ns += (uint64_t)llround((end_ms + end_wait_ms) * ms);
        s->ranks[r].mpi_ns += ns;
    }
}

static void open_run(struct pct_run *run, unsigned k, unsigned p, const struct layout *l,
                     double (*compute_ms)(unsigned))
{
    struct pct_frame *f = frames[k];
    make_sample(&samples[k], p, l, compute_ms);
    if (stretched)
        sample_stretch(&samples[k], stretch_of(p, true));
    if (init_ms > 0)
        add_init(&samples[k], p);
    if (end_ms > 0)
        add_end(&samples[k], p);
    sample_end(&samples[k]);
    struct pct_symbols *symbols = pct_symbols_new(&samples[k].p);
    f[0] = (struct pct_frame){"main", "a.c", 10 + l->line, false, false};
    f[1] = (struct pct_frame){"solve", "a.c", 100 + l->line, false, false};
    f[2] = (struct pct_frame){"helper", "a.c", 200 + l->line, true, false};
    f[3] = (struct pct_frame){"setup", "a.c", 300 + l->line, false, false};
    pct_symbols_teach(symbols, 0, MAIN, (struct pct_place){&f[0], 1});
    pct_symbols_teach(symbols, 0, SOLVE, (struct pct_place){&f[1], l->helper ? 2 : 1});
    pct_symbols_teach(symbols, 0, SETUP, (struct pct_place){&f[3], 1});
    pct_run_adopt(run, "run", &samples[k].p, symbols);
}

static struct pct_scale *compare(struct pct_run *runs, const struct layout *layouts,
                                 double (*compute_ms)(unsigned),
                                 const struct pct_scale_options *options)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    for (unsigned k = 0; k < N_SCALES; k++)
        open_run(&runs[k], k, scales[k], &layouts[k], compute_ms);
    int err = pct_scale_make(runs, N_SCALES, options, &s, &error);
    if (err)
        fail_msg("%s", error.text);
    return s;
}

static void close_runs(struct pct_run *runs, unsigned n, struct pct_scale *s)
{
    pct_scale_free(s);
    for (unsigned k = 0; k < n; k++)
        pct_run_close(&runs[k]);
}

static const struct layout same[N_SCALES] = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};

static void strong_scaling_loses_what_the_closed_forms_say(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = compare(runs, same, strong_ms, &(struct pct_scale_options){0});
    (void)state;
    assert_int_equal(s->scaling, PCT_SCALING_STRONG);
    assert_int_equal(s->n_points, N_SCALES);
    assert_int_equal(s->n_rows, 3);
    const struct pct_scale_row *reduce = row_named(s, "MPI_Allreduce in solve (a.c:100)");
    const struct pct_scale_row *bcast = row_named(s, "MPI_Bcast in setup (a.c:300)");
    const struct pct_scale_row *compute = row_named(s, "computation");
    assert_true(is_near(reduce->lost_ns, (16 * reduce_ms(16) - 2 * reduce_ms(2)) * ms));
    assert_true(is_near(bcast->lost_ns, (16 * bcast_ms(16) - 2 * bcast_ms(2)) * ms));
    /* All ranks together compute 1600 ms. Rank 0 computes another tenth of a rank's time, and the
     * others wait for it: 160 ms, on 2 ranks and on 16. */
    assert_true(fabs(compute->lost_ns) < 1000);
    assert_true(is_near(compute->costs[N_SCALES - 1].waits_ns, 150 * ms));
    assert_true(is_near(reduce->lost_ns + bcast->lost_ns + compute->lost_ns, s->lost_ns));
    assert_ptr_equal(&s->rows[0], reduce);
    assert_true(is_near(bcast->speed_up, bcast_ms(2) / bcast_ms(16)));
    close_runs(runs, N_SCALES, s);
}

static void efficiencies_are_those_of_their_definitions(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = compare(runs, same, strong_ms, &(struct pct_scale_options){0});
    (void)state;
    for (unsigned k = 0; k < N_SCALES; k++) {
        unsigned p = scales[k];
        const struct pct_scale_point *point = &s->points[k];
        double time = reduce_ms(p) + bcast_ms(p) + 1.1 * strong_ms(p);
        double total = strong_ms(p) * (p + 0.1), first = strong_ms(2) * 2.1;
        double time_2 = reduce_ms(2) + bcast_ms(2) + 1.1 * strong_ms(2);
        assert_true(is_near(point->time_ns, time * ms));
        assert_true(fabs(point->parallel - total / p / time) < 1e-6);
        assert_true(fabs(point->balance - total / p / (1.1 * strong_ms(p))) < 1e-6);
        assert_true(fabs(point->parallel - point->balance * point->communication) < 1e-9);
        assert_true(fabs(point->computation - first / total) < 1e-6);
        assert_true(fabs(point->speed_up - time_2 / time) < 1e-6);
        assert_true(fabs(point->efficiency - point->speed_up * 2 / p) < 1e-9);
        assert_true(is_near(point->core_ns, p * point->time_ns));
    }
    assert_true(is_near(s->lost_ns, (1 - s->points[N_SCALES - 1].efficiency) * s->core_ns));
    close_runs(runs, N_SCALES, s);
}

static void contexts_are_modelled_and_predicted(void **state)
{
    static const char *const names[] = {"p"};
    struct pct_run runs[N_SCALES];
    char text[PCT_FIT_TEXT];
    struct pct_scale *s =
        compare(runs, same, strong_ms, &(struct pct_scale_options){.predict = 1024});
    (void)state;
    const struct pct_scale_row *reduce = row_named(s, "MPI_Allreduce");
    const struct pct_scale_row *bcast = row_named(s, "MPI_Bcast");
    assert_true(reduce->modelled);
    assert_string_equal(pct_fit_text(&reduce->fit, names, text), "0.005 + 0.01 * log2(p)");
    assert_string_equal(pct_fit_text(&bcast->fit, names, text), "0 + 0.002 * p");
    assert_true(fabs(reduce->future.value - reduce_ms(1024) / 1e3) < 1e-6);
    assert_true(fabs(bcast->future.value - bcast_ms(1024) / 1e3) < 1e-6);
    assert_true(reduce->fit.few);
    close_runs(runs, N_SCALES, s);
}

/* Next to nothing up to the largest scale, at which it is most of the run. */
static double jump_ms(unsigned p)
{
    return p < scales[N_SCALES - 1] ? 0.001 : 600;
}

static bool says(const struct pct_scale *s, const char *what)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    pct_scale_print(out, s, &(struct pct_compare_print){.width = 100});
    fclose(out);
    bool said = strstr(text, what) != NULL;
    free(text);
    return said;
}

static const char contradict[] = "\nThe two contradict each other";

static void prediction_that_contradicts_the_whole_is_named(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s =
        compare(runs, same, strong_ms, &(struct pct_scale_options){.predict = 1024});
    double sum = 0;
    (void)state;
    for (size_t i = 0; i < s->n_rows; i++)
        sum += s->rows[i].future.value;
    s->future = (struct pct_fit_band){.value = sum, .low = 0.9 * sum, .high = 1.1 * sum};
    assert_false(says(s, contradict));
    s->future = (struct pct_fit_band){.value = sum / 9, .low = sum / 10, .high = sum / 2};
    assert_true(says(s, contradict));
    s->future = (struct pct_fit_band){.value = 9 * sum, .low = 2 * sum, .high = 20 * sum};
    assert_true(says(s, contradict));
    close_runs(runs, N_SCALES, s);
}

/* The context stays in the list, since it is most of the largest run, but nothing is predicted. */
static void growth_that_no_form_fits_predicts_nothing(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_fit_band band;
    struct pct_scale *s =
        compare(runs, same, jump_ms,
                &(struct pct_scale_options){.scaling = PCT_SCALING_STRONG, .predict = 1024});
    struct pct_data d = {.kind = PCT_DATA_SCALE, .scale = s, .pool = s->join->pool};
    const struct pct_table *contexts = &pct_scale_tables[1];
    (void)state;
    for (size_t i = 0; i < s->n_rows; i++) {
        bool jumps = s->rows[i].node == s->join->compute;
        s->rows[i].future.value *= jumps ? 1e6 : 1; /* decides no order */
        assert_true(pct_scale_trusts(&s->rows[i]) == !jumps);
        assert_true(pct_scale_bands(s, &s->rows[i], (double[]){1024}, 1, &band) == !jumps);
        assert_true(pct_table_value(pct_column_find(contexts, "predicted_s"), &d, i).none == jumps);
    }
    assert_true(says(s, "form of growth fits these runs)\n  MPI_Allreduce in solve") &&
                says(s, "  1 of 3 contexts has no prediction: it is ordered by its time on 16 "));
    close_runs(runs, N_SCALES, s);
}

/* Prints neither a time nor shares of it if the runs determine nothing. */
static void prediction_that_is_not_known_is_none(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s =
        compare(runs, same, strong_ms, &(struct pct_scale_options){.predict = 1024});
    (void)state;
    s->future = (struct pct_fit_band){.value = 700, .low = 0, .high = 60000};
    assert_true(says(s, "On 1,024 ranks the time of the whole run is not known (anything up to"));
    assert_false(says(s, "add up to"));
    assert_true(says(s, "\n  MPI_"));
    s->future = (struct pct_fit_band){.value = 700, .low = 20, .high = 900};
    assert_true(says(s, "not known (anything from 20"));
    s->future = (struct pct_fit_band){.value = 700, .low = 20, .high = 1e25};
    assert_true(says(s, "not known (anything from 20.00 s to centuries fits"));
    s->future = (struct pct_fit_band){.value = 700, .low = -1e25, .high = HUGE_VAL};
    assert_true(says(s, "not known (anything up to centuries fits"));
    s->future = (struct pct_fit_band){.value = 2e25, .low = 1e25, .high = 3e25};
    assert_true(says(s, "On 1,024 ranks the time of the whole run is centuries; the models"));
    s->future = (struct pct_fit_band){.value = 700, .low = 100, .high = 900};
    assert_true(says(s, "is 700") && says(s, " %  MPI_"));
    close_runs(runs, N_SCALES, s);
}

static void weak_scaling_is_told_and_rated(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = compare(runs, same, weak_ms, &(struct pct_scale_options){0});
    (void)state;
    assert_int_equal(s->scaling, PCT_SCALING_WEAK);
    const struct pct_scale_row *bcast = row_named(s, "MPI_Bcast");
    /* ideal: the time per rank is the same as on 2 ranks */
    assert_true(is_near(bcast->lost_ns, 16 * (bcast_ms(16) - bcast_ms(2)) * ms));
    assert_true(fabs(bcast->efficiency - bcast_ms(2) / bcast_ms(16)) < 1e-6);
    close_runs(runs, N_SCALES, s);
}

static double between_ms(unsigned p)
{
    return 1000 / sqrt(p);
}

/* Output of pcollect scale, in `text`. */
static void print_scale(const struct pct_scale *s, char *text, size_t room)
{
    FILE *out = fmemopen(text, room, "w");
    assert_non_null(out);
    pct_scale_print(out, s, &(struct pct_compare_print){.width = 0});
    fclose(out);
}

/* Ranks that waited for a processor for as long as the run loses are reported first, and no context
 * is named as the cause; if they waited little, the context that loses more is named. */
static void what_no_processor_was_free_for_is_not_blamed_on_the_program(void **state)
{
    static char text[1 << 16];
    (void)state;
    for (unsigned load = 0; load < 3; load++) {
        struct pct_run runs[N_SCALES];
        struct pct_scale *s = compare(runs, same, strong_ms, &(struct pct_scale_options){0});
        double lost_ns = s->rows[0].lost_ns;
        pct_scale_free(s);
        runs[N_SCALES - 1].delayed_ns = load == 2 ? lost_ns : load * lost_ns / 4;
        struct pc_error error = {""};
        assert_int_equal(pct_scale_make(runs, N_SCALES, &(struct pct_scale_options){0}, &s, &error),
                         PC_OK);
        print_scale(s, text, sizeof text);
        const char *delay = strstr(text, "On 16 ranks no processor was free"),
                   *table = strstr(text, "speed-up");
        assert_non_null(table);
        assert_true(load ? delay && delay < table : !delay);
        assert_int_equal(!strstr(text, "Look first at"), load == 2);
        assert_int_equal(!strstr(text, "that no processor was free for"), load == 0);
        close_runs(runs, N_SCALES, s);
    }
}

static double repeating_ms(unsigned p)
{
    return 1600.0 / p * (1 + 0.1 * log2(p));
}

/* A call that loses most, but perhaps by waiting for a processor, does not hide what loses less. */
static void what_surely_loses_is_named_behind_what_may_not(void **state)
{
    static char text[1 << 16];
    struct pct_run runs[N_SCALES];
    (void)state;
    struct pct_scale *s = compare(runs, same, repeating_ms, &(struct pct_scale_options){0});
    assert_int_equal(s->join->nodes[s->rows[0].node].kind, PCOLLECT_NODE_OP);
    double lost_ns = s->rows[0].lost_ns;
    pct_scale_free(s);
    runs[N_SCALES - 1].delayed_ns = lost_ns;
    assert_int_equal(pct_scale_make(runs, N_SCALES, &(struct pct_scale_options){0}, &s, NULL), 0);
    print_scale(s, text, sizeof text);
    assert_non_null(strstr(text, "Look first at\n  1. computation outside MPI: "));
    close_runs(runs, N_SCALES, s);
}

/* A scale whose computation may be delay has an efficiency, and no factor or kind of it. */
static void guessed_computation_is_told_of_no_scale(void **state)
{
    static char text[1 << 16];
    const struct pct_scale_options strong = {.scaling = PCT_SCALING_STRONG};
    struct pct_run runs[N_SCALES];
    struct pc_error error = {""};
    (void)state;
    struct pct_scale *s = compare(runs, same, repeating_ms, &(struct pct_scale_options){0});
    double efficiency = s->points[N_SCALES - 1].efficiency, parallel = s->points[0].parallel;
    print_scale(s, text, sizeof text);
    assert_non_null(strstr(text, "computation outside MPI: "));
    assert_null(strstr(text, "too short for samples"));
    pct_scale_free(s);
    runs[2].guessed = runs[N_SCALES - 1].guessed = true;
    runs[2].too_short = runs[N_SCALES - 1].too_short = true;
    assert_int_equal(pct_scale_make(runs, N_SCALES, &(struct pct_scale_options){0}, &s, &error),
                     PC_EARG);
    assert_non_null(strstr(error.text, "too short for samples on 16 ranks, so"));
    assert_int_equal(pct_scale_make(runs, N_SCALES, &strong, &s, &error), PC_OK);
    const struct pct_scale_point *last = &s->points[N_SCALES - 1];
    assert_true(fabs(last->efficiency - efficiency) < 1e-6);
    assert_true(fabs(s->points[0].parallel - parallel) < 1e-6);
    assert_true(!(last->parallel > 0 || last->balance > 0 || last->communication > 0 ||
                  last->computation > 0));
    assert_false(pct_scale_blames(s, row_named(s, "computation")));
    assert_false(pct_scale_trusts(row_named(s, "computation")));
    print_scale(s, text, sizeof text);
    assert_non_null(strstr(text, "On 8, 16 ranks the time outside MPI is too short for samples"));
    assert_null(strstr(text, "the total of computation grows"));
    assert_null(strstr(text, "computation outside MPI: "));
    close_runs(runs, N_SCALES, s);
}

/* A loss can be a fall that is too slow: the sentence does not say that the time grows. */
static void a_time_that_falls_is_not_said_to_grow(void **state)
{
    static char text[1 << 16];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pct_run runs[N_SCALES];
        falling = i;
        struct pct_scale *s = compare(runs, same, strong_ms, &(struct pct_scale_options){0});
        print_scale(s, text, sizeof text);
        const char *sentence = strstr(text, "MPI_Bcast in setup (a.c:300): "),
                   *grows = strstr(sentence, "its time per rank grows as "),
                   *end = strchr(sentence, '\n');
        assert_int_equal(!grows || grows > end, falling);
        /* 100 - 20 * p^(1/2) ms is less than none on 32 ranks. */
        assert_int_equal(pct_scale_trusts(row_named(s, "MPI_Bcast in setup (a.c:300)")), !falling);
        close_runs(runs, N_SCALES, s);
    }
    falling = false;
}

/* No processor was free for up to four fifths of the time, more with more ranks; and MPI_Init takes
 * longer than all the rest. All figures equal those of a run without both. */
static void delay_start_and_end_are_in_no_figure(void **state)
{
    struct pct_run plain[N_SCALES], runs[N_SCALES];
    static struct pct_scale_point points[N_SCALES];
    double lost_ns[3];
    (void)state;
    struct pct_scale *s = compare(plain, same, strong_ms, &(struct pct_scale_options){0});
    memcpy(points, s->points, sizeof points);
    for (unsigned i = 0; i < 3; i++)
        lost_ns[i] = s->rows[i].lost_ns;
    close_runs(plain, N_SCALES, s);
    for (unsigned k = 1; k < 4; k++) {
        stretched = k & 1;
        init_ms = k & 2 ? 1000 : 0;
        end_ms = k & 2 ? 300 : 0;
        s = compare(runs, same, strong_ms, &(struct pct_scale_options){0});
        assert_int_equal(s->scaling, PCT_SCALING_STRONG);
        assert_int_equal(s->n_rows, 3);
        for (unsigned i = 0; i < N_SCALES; i++) {
            assert_true(is_near(s->points[i].time_ns, points[i].time_ns));
            assert_true(is_near(s->points[i].core_ns, points[i].core_ns));
            assert_true(fabs(s->points[i].efficiency - points[i].efficiency) < 1e-4);
            assert_true(fabs(s->points[i].parallel - points[i].parallel) < 1e-4);
            assert_true(fabs(s->points[i].balance - points[i].balance) < 1e-4);
            assert_true(fabs(s->points[i].computation - points[i].computation) < 1e-4);
        }
        for (unsigned i = 0; i < 3; i++)
            assert_true(fabs(s->rows[i].lost_ns - lost_ns[i]) < 1e-4 * s->core_ns);
        double costs_ns = 0;
        for (unsigned i = 0; i < 3; i++)
            costs_ns += s->rows[i].costs[N_SCALES - 1].ns;
        assert_true(is_near(costs_ns, s->points[N_SCALES - 1].core_ns));
        close_runs(runs, N_SCALES, s);
    }
    stretched = false;
    init_ms = end_ms = 0;
}

static void waiting_for_the_last_rank_in_finalize_stays(void **state)
{
    struct pct_run runs[N_SCALES];
    (void)state;
    end_ms = 300;
    end_wait_ms = 40;
    struct pct_scale *s = compare(runs, same, strong_ms, &(struct pct_scale_options){0});
    const struct pct_scale_row *end = row_named(s, "MPI_Finalize");
    for (unsigned k = 0; k < N_SCALES; k++) {
        unsigned p = scales[k];
        assert_true(is_near(end->costs[k].ns, 40 * (p - 1) * ms));
        assert_true(is_near(s->points[k].end_ns, 300 * p * ms));
        assert_true(is_near(s->points[k].time_ns,
                            (reduce_ms(p) + bcast_ms(p) + 1.1 * strong_ms(p) + 40) * ms));
    }
    assert_says(s, "MPI_Finalize takes each rank at least 300.0 ms on 2 ranks, 300.0 ms on 16: "
                   "this part is left out of the figures below, but for the wall time.");
    close_runs(runs, N_SCALES, s);
    end_ms = end_wait_ms = 0;
}

static void runs_of_one_scale_are_refused(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    (void)state;
    for (unsigned k = 0; k < N_SCALES; k++)
        open_run(&runs[k], k, scales[k], &same[k], between_ms);
    assert_int_equal(pct_scale_make(runs, 1, &(struct pct_scale_options){0}, &s, &error), PC_EARG);
    assert_non_null(strstr(error.text, "have the same number of ranks, 2"));
    assert_null(s);
    assert_int_equal(pct_scale_make(runs, N_SCALES,
                                    &(struct pct_scale_options){.scaling = PCT_SCALING_WEAK}, &s,
                                    &error),
                     PC_OK);
    close_runs(runs, N_SCALES, s);
}

static double no_ms(unsigned p)
{
    (void)p;
    return 0;
}

static void runs_without_computation_are_said_to_have_none(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    (void)state;
    for (unsigned k = 0; k < N_SCALES; k++)
        open_run(&runs[k], k, scales[k], &same[k], no_ms);
    assert_int_equal(pct_scale_make(runs, N_SCALES, &(struct pct_scale_options){0}, &s, &error),
                     PC_EARG);
    assert_non_null(strstr(error.text, "no computation was measured on 2 and 16 ranks, by"));
    assert_non_null(strstr(error.text, "--strong or --weak"));
    assert_int_equal(pct_scale_make(runs, N_SCALES,
                                    &(struct pct_scale_options){.scaling = PCT_SCALING_STRONG}, &s,
                                    &error),
                     PC_OK);
    close_runs(runs, N_SCALES, s);
}

static void builds_are_matched_by_function_through_inlining(void **state)
{
    static const struct layout moved[N_SCALES] = {{0, 0, 1}, {7, 1, 2}, {9, 0, 3}, {11, 1, 4}};
    static const struct layout other[N_SCALES] = {{7, 1, 2}, {0, 0, 1}, {9, 1, 3}, {11, 0, 4}};
    const struct layout *const cases[] = {moved, other};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct pct_run runs[N_SCALES];
        struct pct_scale *s = compare(runs, cases[i], strong_ms, &(struct pct_scale_options){0});
        assert_false(s->join->by_line);
        assert_int_equal(s->n_rows, 3);
        const struct pct_scale_row *reduce = row_named(s, "MPI_Allreduce");
        assert_true(is_near(reduce->lost_ns, (16 * reduce_ms(16) - 2 * reduce_ms(2)) * ms));
        close_runs(runs, N_SCALES, s);
    }
}

/* ---- Sampled computation --------------------------------------------------------------------- */

enum { SOLVE_CODE = 0x4000, RELAX_CODE = 0x5000 };

/* Only the last rank computes this much longer, in relax; the others wait in MPI_Allreduce. */
static double excess_ms(unsigned p)
{
    return 10 * p;
}

/* Each rank computes this in relax, independent of their number. */
static double repeated_ms;
static double unsampled_ms = 1; /* of each rank */
static const char *relax_name = "relax";

static void make_sampled(struct sample *s, unsigned p)
{
    sample_begin(s);
    sample_clock(s);
    s->p.exe = (char *)"/bin/solver";
    s->modules[0] = (struct pc_profile_module){.build_id = {1, 2},
                                               .build_id_bytes = 20,
                                               .flags = PCOLLECT_MODULE_EXE,
                                               .path = (char *)"/bin/solver"};
    s->ops[0] = (struct pc_profile_op){(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL};
    s->p.n_modules = s->p.n_ops = 1;
    s->p.n_ranks = s->p.world_size = p;
    uint32_t in_main = sample_frame(s, 0, 0, MAIN), in_solve = sample_frame(s, in_main, 0, SOLVE);
    sample_op(s, in_solve, 0);
    for (unsigned r = 0; r < p; r++) {
        double wait = 5 + (r + 1 < p ? excess_ms(p) : 0),
               own = 1200.0 / p + unsampled_ms + repeated_ms;
        sample_add(s, &(struct sample_calls){
                          .rank = (int32_t)r, .count = 10, .time = (uint64_t)(wait * ms)});
        s->ranks[r] =
            (struct pc_profile_rank){.rank = (int32_t)r,
                                     .host = (char *)"node",
                                     .inside_ns = (uint64_t)((own + 5 + excess_ms(p)) * ms),
                                     .mpi_ns = (uint64_t)(wait * ms),
                                     .closed = 1};
    }
    sample_point(s, in_solve, 0, RELAX_CODE);
    for (unsigned r = 0; r < p; r++)
        sample_add_samples(
            s, (int32_t)r,
            (uint64_t)((400.0 / p + repeated_ms + (r + 1 < p ? 0 : excess_ms(p))) * ms));
    sample_point(s, in_main, 0, SOLVE_CODE);
    for (unsigned r = 0; r < p; r++)
        sample_add_samples(s, (int32_t)r, (uint64_t)(800.0 / p * ms));
    sample_end(s);
}

static void open_sampled(struct pct_run *run, unsigned k)
{
    struct pct_frame *f = frames[k];
    make_sampled(&samples[k], scales[k]);
    struct pct_symbols *symbols = pct_symbols_new(&samples[k].p);
    f[0] = (struct pct_frame){"main", "a.c", 10, false, false};
    f[1] = (struct pct_frame){"solve", "a.c", 100, false, false};
    f[2] = (struct pct_frame){relax_name, "a.c", 220, false, false};
    f[3] = (struct pct_frame){"solve", "a.c", 120, false, false};
    const uint64_t at[] = {MAIN, SOLVE, RELAX_CODE + 1, SOLVE_CODE + 1};
    for (unsigned i = 0; i < 4; i++)
        pct_symbols_teach(symbols, 0, at[i], (struct pct_place){&f[i], 1});
    pct_run_adopt(run, "run", &samples[k].p, symbols);
}

static void computation_is_divided_and_charged_with_the_waiting_it_causes(void **state)
{
    static char text[1 << 16];
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = NULL;
    double sum = 0;
    (void)state;
    for (unsigned k = 0; k < N_SCALES; k++)
        open_sampled(&runs[k], k);
    const struct pct_scale_options options = {.predict = 64};
    assert_int_equal(pct_scale_make(runs, N_SCALES, &options, &s, NULL), PC_OK);
    assert_int_equal(s->n_rows, 4);
    const struct pct_scale_row *relax = row_named(s, "computation in relax (a.c:220)");
    const struct pct_scale_row *solve = row_named(s, "computation in solve (a.c:120)");
    const struct pct_scale_row *reduce = row_named(s, "MPI_Allreduce in solve (a.c:100)");
    const struct pct_scale_row *rest = row_named(s, "time outside MPI without a sample");
    for (unsigned k = 0; k < N_SCALES; k++) {
        double p = scales[k], waits = (p - 1) * excess_ms(scales[k]);
        assert_true(is_near(relax->costs[k].ns, (400 + excess_ms(scales[k]) + waits) * ms));
        assert_true(is_near(relax->costs[k].waits_ns, waits * ms));
        assert_true(is_near(solve->costs[k].ns, 800 * ms) &&
                    is_near(reduce->costs[k].ns, 5 * p * ms));
        assert_true(fabs(rest->costs[k].ns - p * ms) < 1000);
    }
    assert_true(relax == s->rows && pct_scale_blames(s, relax) && pct_scale_trusts(relax));
    double *last = &s->rows[0].costs[N_SCALES - 1].samples, all = *last;
    *last = 2; /* an error of 70 % */
    assert_true(pct_scale_loses(s, relax) && !pct_scale_blames(s, relax));
    *last = all;
    s->rows[0].samples = PCT_SAMPLES_FEW - 1;
    assert_false(pct_scale_blames(s, relax) || pct_scale_trusts(relax));
    print_scale(s, text, sizeof text);
    assert_non_null(strstr(text, "computation in relax (a.c:220): not known (too few samples)"));
    assert_non_null(strstr(pct_scale_reason(s, relax), "the others wait for it in MPI"));
    assert_null(strstr(pct_scale_reason(s, reduce), "wait for it"));
    for (size_t i = 0; i < s->n_rows; i++)
        sum += s->rows[i].lost_ns;
    assert_true(is_near(sum, s->lost_ns));
    close_runs(runs, N_SCALES, s);
}

/* Strong scaling of two runs. */
static struct pct_scale *compare_pair(struct pct_run *runs)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    const struct pct_scale_options strong = {.scaling = PCT_SCALING_STRONG};
    assert_int_equal(pct_scale_make(runs, 2, &strong, &s, &error), PC_OK);
    return s;
}

/* On 4 ranks samples exceed the time outside MPI; with these figures the product of the samples and
 * their scale is not exactly that time. */
static void remainders_of_rounding_are_no_time(void **state)
{
    struct pct_run runs[2];
    (void)state;
    open_sampled(&runs[0], 0);
    unsampled_ms = -41.600009;
    open_sampled(&runs[1], 1);
    unsampled_ms = 1;
    struct pct_scale *s = compare_pair(runs);
    const struct pct_scale_row *rest = row_named(s, "time outside MPI without a sample");
    if (rest->costs[1].ns != 0 || rest->speed_up != 0)
        fail_msg("%g ns are left: %g times as fast", rest->costs[1].ns, rest->speed_up);
    close_runs(runs, 2, s);
}

/* The others wait for the busiest of 4 ranks as long as it is ahead of each of them, not longer. */
static void what_ranks_compute_together_is_told_without_what_others_wait(void **state)
{
    struct pct_run runs[2];
    (void)state;
    repeated_ms = 400;
    for (unsigned k = 0; k < 2; k++)
        open_sampled(&runs[k], k);
    repeated_ms = 0;
    struct pct_scale *s = compare_pair(runs);
    /* On 2 ranks 400 + 2 * 400 + 20 ms, on 4 ranks 400 + 4 * 400 + 40 ms. */
    const char *reason = pct_scale_reason(s, row_named(s, "computation in relax (a.c:220)"));
    if (!strstr(reason, "together the ranks compute 1.220 s on 2 ranks, 2.040 s on 4"))
        fail_msg("%s", reason);
    pct_scale_free(s);
    runs[1].own.instead_ns = runs[1].own.delayed_ns = 500 * ms;
    s = compare_pair(runs);
    const struct pct_scale_row *others = row_named(s, "waiting for ranks without a processor");
    double ahead = row_named(s, "computation in relax")->costs[1].waits_ns;
    assert_true(is_near(ahead, 3 * excess_ms(4) * ms));
    assert_true(is_near(others->costs[1].ns, 500 * ms - ahead) && !pct_scale_blames(s, others));
    close_runs(runs, 2, s);
}

/* Nor is what samples leave over, which the error of all of them may explain. */
static void computation_that_is_new_is_not_called_repeated(void **state)
{
    struct pct_run runs[2];
    (void)state;
    unsampled_ms = 0;
    open_sampled(&runs[0], 0);
    unsampled_ms = 100;
    relax_name = "relax_parallel";
    open_sampled(&runs[1], 1);
    relax_name = "relax";
    unsampled_ms = 1;
    struct pct_scale *s = compare_pair(runs);
    const char *reason =
        pct_scale_reason(s, row_named(s, "computation in relax_parallel (a.c:220)"));
    if (!strstr(reason,
                "on 2 ranks no sample was taken there, on 4 the ranks compute 440.0 ms together"))
        fail_msg("%s", reason);
    reason = pct_scale_reason(s, row_named(s, "time outside MPI without a sample"));
    assert_string_equal(reason, "together the ranks have 0 ns on 2 ranks, 400.0 ms on 4");
    for (unsigned unsure = 0; unsure < 2; unsure++) {
        pct_scale_free(s);
        runs[1].variance = unsure * pow(200 * ms, 2);
        s = compare_pair(runs);
        assert_int_equal(pct_scale_blames(s, row_named(s, "time outside")), !unsure);
    }
    close_runs(runs, 2, s);
}

/* One run without samples: then computation is one node in all runs. */
static void computation_is_whole_unless_all_runs_have_samples(void **state)
{
    struct pct_run runs[N_SCALES];
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    (void)state;
    for (unsigned k = 0; k + 1 < N_SCALES; k++)
        open_sampled(&runs[k], k);
    open_run(&runs[N_SCALES - 1], N_SCALES - 1, scales[N_SCALES - 1], &same[0], strong_ms);
    assert_int_equal(pct_scale_make(runs, N_SCALES, &(struct pct_scale_options){0}, &s, &error),
                     PC_OK);
    assert_false(s->join->divided);
    row_named(s, "computation outside MPI");
    close_runs(runs, N_SCALES, s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strong_scaling_loses_what_the_closed_forms_say),
        cmocka_unit_test(efficiencies_are_those_of_their_definitions),
        cmocka_unit_test(contexts_are_modelled_and_predicted),
        cmocka_unit_test(prediction_that_contradicts_the_whole_is_named),
        cmocka_unit_test(prediction_that_is_not_known_is_none),
        cmocka_unit_test(growth_that_no_form_fits_predicts_nothing),
        cmocka_unit_test(weak_scaling_is_told_and_rated),
        cmocka_unit_test(guessed_computation_is_told_of_no_scale),
        cmocka_unit_test(what_no_processor_was_free_for_is_not_blamed_on_the_program),
        cmocka_unit_test(what_surely_loses_is_named_behind_what_may_not),
        cmocka_unit_test(a_time_that_falls_is_not_said_to_grow),
        cmocka_unit_test(delay_start_and_end_are_in_no_figure),
        cmocka_unit_test(waiting_for_the_last_rank_in_finalize_stays),
        cmocka_unit_test(runs_of_one_scale_are_refused),
        cmocka_unit_test(runs_without_computation_are_said_to_have_none),
        cmocka_unit_test(builds_are_matched_by_function_through_inlining),
        cmocka_unit_test(computation_is_divided_and_charged_with_the_waiting_it_causes),
        cmocka_unit_test(remainders_of_rounding_are_no_time),
        cmocka_unit_test(what_ranks_compute_together_is_told_without_what_others_wait),
        cmocka_unit_test(computation_that_is_new_is_not_called_repeated),
        cmocka_unit_test(computation_is_whole_unless_all_runs_have_samples),
    };
    return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
