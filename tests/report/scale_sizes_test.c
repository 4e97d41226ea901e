/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect scale on runs of several numbers of ranks and sizes of the problem, whose times follow
 * from a closed form of both; on runs whose kind of scaling the command lines tell, or whose
 * computation is a guess; on runs in which pcollect takes a part of the time outside MPI, or whose
 * ranks do not begin and end together; on builds without lines; and the words for few calls. And
 * pcollect diff on runs that differ in MPI_Init alone, which both leave out.
 */
#include "tests/report/scale_rows.h"

#include "analysis/compare/difference.h"
#include "analysis/compare/join.h"

enum { N_SCALES = 4 };
static const unsigned scales[N_SCALES] = {2, 4, 8, 16};

enum { N_SIZES = 4 };
static const double sizes[N_SIZES] = {100, 200, 400, 800};
static struct sample sized[N_SCALES * N_SIZES];

static double of_both_ms(unsigned p, double n)
{
    return 5 + 0.01 * n * log2(p);
}

/* Rank r comes r times late_ms later to MPI_Init, in which the others wait, and the last rank ends
 * soon_ms sooner. */
static double late_ms, soon_ms;

static void add_late(struct sample *s, unsigned p)
{
    s->ops[s->p.n_ops++] = (struct pc_profile_op){(char *)"MPI_Init", PCOLLECT_CLASS_ENV};
    sample_op(s, 0, 1);
    for (unsigned r = 0; r < p; r++) {
        uint64_t ns = (uint64_t)llround((p - r) * late_ms * ms);
        sample_add(s, &(struct sample_calls){
                          .rank = (int32_t)r, .count = 1, .time = ns, .min = ns, .max = ns});
        s->ranks[r].inside_ns += ns;
        s->ranks[r].mpi_ns += ns;
    }
    s->ranks[p - 1].inside_ns -= (uint64_t)llround(soon_ms * ms);
    s->ranks[p - 1].mpi_ns -= (uint64_t)llround(soon_ms * ms);
}

static void make_sized(struct sample *s, unsigned p, double n)
{
    make_solver(s, p, of_both_ms(p, n), n * n / p);
    if (late_ms > 0)
        add_late(s, p);
    sample_end(s);
}

static void add_sentence(void *arg, const char *sentence)
{
    pct_buf_format(arg, "%s\n", sentence);
}

/* The share of delays in the table is that of the remark. */
static void check_table(const struct pct_scale *s)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    pct_scale_tsv(out, s, &pct_scale_tables[0], &(struct pct_choice){0});
    fclose(out);
    assert_non_null(strstr(text, "\t50.000\t"));
    free(text);
}

/* Sentences about a number of ranks name the size as well; what did not happen is no part of a
 * computation of 0. */
static void check_remarks(struct pct_scale *s)
{
    static const unsigned guessed[] = {0, 2, N_SCALES * N_SIZES - 3};
    struct pct_buf said = {0};
    for (size_t i = 0; i < PC_ARRAY_LEN(guessed); i++)
        s->points[guessed[i]].guessed = s->points[guessed[i]].too_short = true;
    s->points[N_SCALES].init_ns = s->points[N_SCALES].all_ns / 2;
    s->points[N_SCALES].delayed_ns = s->points[N_SCALES].all_ns / 4;
    s->points[N_SCALES].others_ns = s->points[N_SCALES].all_ns / 10;
    s->points[1].compute_ns = 0;
    s->points[N_SCALES + 1].for_threads_ns = s->points[N_SCALES + 1].compute_ns / 4;
    pct_scale_remarks(s, add_sentence, &said);
    if (!strstr(said.data, "On 2, 8 ranks at size 100, on 4 ranks at size 800 the time outside") ||
        !strstr(said.data, "On 2 ranks at size 200 no processor was free for 30 %") ||
        !strstr(said.data, "\nThe machine was busy: the wall time is ") ||
        !strstr(said.data, ", and for up to another 20 % main threads were blocked while other ") ||
        !strstr(said.data, "computation: 25 % on 4 ranks at size 200.\n"))
        fail_msg("%s", said.data);
    check_table(s);
    pct_buf_free(&said);
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
        adopt_solver(&runs[i], &sized[i]);
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
    s->options.predict = s->points[pct_scale_last(s)].width = 1;
    assert_says(s, "\nOn 1 rank, size 3200 the time");
    assert_says(s, "\nLost on 1 rank against");
    check_remarks(s);
    pct_scale_free(s);
    for (unsigned i = 0; i < N_SCALES * N_SIZES; i++)
        pct_run_close(&runs[i]);
}

/* ---- Kinds of scaling ------------------------------------------------------------------------ */

enum { FEW = 2, MANY = 16 };

/* Compares FEW and MANY ranks, whose total of computation grows as p^growth. NULL: the kind of
 * scaling has to be told. */
static struct pct_scale *compare_growth(struct pct_run *runs, double growth, const char *few,
                                        const char *many, enum pct_scaling given)
{
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    for (unsigned i = 0; i < 2; i++) {
        unsigned p = i ? MANY : FEW;
        make_sized(&sized[i], p, 100 * pow(p, growth / 2));
        adopt_solver(&runs[i], &sized[i]);
        pct_free(runs[i].command);
        runs[i].command = pct_copy(i ? many : few);
    }
    int err = pct_scale_make(runs, 2, &(struct pct_scale_options){.scaling = given}, &s, &error);
    assert_int_equal(err, s ? PC_OK : PC_EARG);
    return s;
}

static bool has_row(const struct pct_scale *s, const char *place)
{
    bool has = false;
    for (size_t i = 0; i < s->n_rows; i++)
        has |= !strcmp(s->rows[i].place, place);
    return has;
}

/* The first rank waits 1.5 s in MPI_Init for the last of 16, and the time of the run is that after
 * it. Nobody waits for a processor. */
static void waiting_in_init_for_late_ranks_is_in_no_figure(void **state)
{
    (void)state;
    for (int soon = 0; soon < 2; soon++) {
        struct pct_run runs[2];
        late_ms = 100;
        soon_ms = soon * 3;
        struct pct_scale *s = compare_growth(runs, 0, "./s", "./s", PCT_SCALING_STRONG);
        late_ms = soon_ms = 0;
        for (unsigned i = 0; i < 2; i++) {
            unsigned p = i ? MANY : FEW;
            assert_true(is_near(s->points[i].time_ns, (of_both_ms(p, 100) + 100 * 100 / p) * ms));
            assert_true(is_near(s->points[i].core_ns, p * s->points[i].time_ns));
        }
        assert_false(has_row(s, "waiting for ranks without a processor"));
        assert_int_equal(has_row(s, "ranks that begin later or end sooner"), soon);
        pct_scale_free(s);
        for (unsigned k = 0; k < 2; k++)
            pct_run_close(&runs[k]);
    }
}

/* Checks the figures and the text of two runs of 2.507 s beside MPI_Init, which takes 25 ms of each
 * rank of the first one. */
static void check_without_init(const struct pct_diff *d, double after_ms, const char *says)
{
    static char text[1 << 14];
    const char *place;
    double sum = 0;
    FILE *out = fmemopen(text, sizeof text, "w");
    pct_diff_print(out, d, &(struct pct_compare_print){.width = 0});
    fclose(out);
    for (size_t i = 0; i < d->n_rows; i++) {
        sum += pct_diff_figure(d, &d->rows[i]).before.mean;
        assert_null(strstr(d->rows[i].place, "MPI_Init"));
        assert_true(fabs(d->rows[i].change) < 10);
    }
    assert_true(is_near(sum, 4 * 2507 * ms) && is_near(d->total.before.mean, sum));
    assert_true(is_near(d->time.after.mean, 2507 * ms));
    assert_true(is_near(d->in_init.before.mean, 25 * ms));
    assert_true(is_near(d->in_init.after.mean, after_ms * ms));
    assert_true(pct_diff_worst(d, &place) < 1e-6);
    if (!strstr(text, ", 4 ranks: 2.507 s per rank without MPI_Init\n") || !strstr(text, says) ||
        (strstr(text, "MPI_Init takes") != NULL) != (after_ms > 100))
        fail_msg("%s", text);
}

static void time_in_init_is_in_no_figure_of_a_difference(void **state)
{
    static const char *const says[] = {
        "\nWithout MPI_Init the run takes 0.0 % more; by its wall time 0.0 % more.\n",
        "\nMPI_Init takes 25.00 ms -> 750.0 ms per rank: it is left out of the figures below, but "
        "for the wall time.\nWithout MPI_Init the run takes 0.0 % more; by its wall time 28.6 % "
        "more.\nThe time of all ranks together, without MPI_Init: 10.03 s -> 10.03 s.\n"};
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct pct_run runs[2];
        for (unsigned k = 0; k < 2; k++) {
            late_ms = late && k ? 300 : 10;
            make_sized(&sized[k], 4, 100);
            adopt_solver(&runs[k], &sized[k]);
        }
        late_ms = 0;
        struct pct_diff *d = pct_diff_make(runs, 1, 1, PCT_DIFF_TIME, NULL);
        check_without_init(d, late ? 750 : 25, says[late]);
        pct_diff_free(d);
        for (unsigned k = 0; k < 2; k++)
            pct_run_close(&runs[k]);
    }
}

/* The lines of the picture all have names, though those of factors end on few ranks; names do not
 * overlap. */
static void check_names_of_picture(const struct pct_scale *s)
{
    static const char *const names[] = {"efficiency", "parallel", "balance", "communication",
                                        "computation"};
    static char picture[1 << 14];
    double y[PC_ARRAY_LEN(names)] = {0};
    FILE *out = fmemopen(picture, sizeof picture, "w");
    pct_scale_svg(out, s);
    fclose(out);
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++) {
        char end[64];
        snprintf(end, sizeof end, ">%s</text>", names[i]);
        char *name = strstr(picture, end);
        assert_non_null(name);
        while (strncmp(name, " y=\"", 4) != 0)
            name--;
        y[i] = strtod(name + 4, NULL);
        for (size_t k = 0; k < i; k++)
            assert_true(fabs(y[i] - y[k]) > 14);
        assert_true(y[i] > 50 && y[i] < 320);
    }
}

/* Computation that is a guess on many ranks has no time there and no loss, neither in columns nor
 * in lines of the tree; nor has what contains it. */
static void guessed_computation_has_no_figures(void **state)
{
    struct pct_run runs[2];
    struct pc_error error = {""};
    struct pct_scale *s = compare_growth(runs, 0, "./s", "./s", PCT_SCALING_STRONG);
    (void)state;
    pct_scale_free(s);
    runs[1].guessed = true;
    assert_int_equal(pct_scale_make(runs, 2,
                                    &(struct pct_scale_options){.scaling = PCT_SCALING_STRONG}, &s,
                                    &error),
                     PC_OK);
    static char table[1 << 12];
    struct pct_scale_tree *t = pct_scale_tree_new(s);
    for (size_t i = 0; i < t->tree->n; i++) {
        const char *name = t->tree->nodes[i].name;
        assert_false(t->loss[i].first_guessed);
        if (!i || strstr(name, "computation")) /* the root contains it */
            assert_true(t->loss[i].last_guessed);
        if (i && t->loss[i].last_guessed)
            assert_false(t->moved[i] > 0);
        if (!strcmp(name, "solve") || !strncmp(name, "MPI_", 4))
            assert_false(t->loss[i].last_guessed);
    }
    pct_scale_tree_free(t);
    FILE *out = fmemopen(table, sizeof table, "w");
    pct_scale_tsv(out, s, &pct_scale_tables[1], &(struct pct_choice){0});
    fclose(out);
    static const char begin[] = "\ncomputation outside MPI\t\t\t5.";
    const char *row = strstr(table, begin); /* no lost_s, no lost_percent */
    assert_non_null(row);
    assert_null(strstr(row, "MPI_Allreduce")); /* contexts that lose come first */
    row += sizeof begin - 1;
    row += strspn(row, "0123456789");
    assert_memory_equal(row, "\t\t\t\t", 4); /* no last_s, speed_up, efficiency_percent */
    assert_true(pct_scale_loses(s, row_named(s, "computation")));
    check_names_of_picture(s);
    pct_scale_free(s);
    for (unsigned i = 0; i < 2; i++)
        pct_run_close(&runs[i]);
}

/* Computation of which few ranks have no sample makes their time a bound, and the loss another. */
static void times_without_samples_are_bounds(void **state)
{
    struct pct_run runs[2];
    struct pct_scale *s = compare_growth(runs, 0, "./s", "./s", PCT_SCALING_STRONG);
    (void)state;
    struct pct_scale_tree *t = pct_scale_tree_new(s);
    assert_false(t->loss[0].first_unsampled_ns > 0 || t->loss[0].last_unsampled_ns > 0);
    pct_scale_tree_free(t);
    s->join->nodes[s->join->compute].kind = PCOLLECT_NODE_POINT; /* as if it were of samples */
    s->join->costs[s->join->cost_of[(size_t)s->join->compute * 2]].ns = 0; /* on few ranks */
    t = pct_scale_tree_new(s);
    assert_true(t->loss[0].first_unsampled_ns > t->loss[0].first_ns);
    assert_true(t->loss[0].first_ns > 0 && !(t->loss[0].last_unsampled_ns > 0));
    pct_scale_tree_free(t);
    pct_scale_free(s);
    for (unsigned i = 0; i < 2; i++)
        pct_run_close(&runs[i]);
}

static void find_taken(void *arg, const char *sentence)
{
    if (strstr(sentence, "This is taken as"))
        pct_buf_text(arg, sentence);
}

/* Work that each rank repeats makes the total of computation grow: runs that were started with the
 * same words are then taken as strong scaling, unless it grows as that of weak scaling does, and
 * others as the nearer kind. A sentence says so. */
static void some_growth_with_one_command_line_is_repeated_work(void **state)
{
    static const char line[] = "./s -n 7", other[] = "./s -n 8";
    static const char by_command[] =
        "as strong scaling because all runs have the same command line",
                      by_growth[] = "as weak scaling because the total of computation grows.",
                      nearer_strong[] = "as strong scaling because the total of computation grows "
                                        "as p^0.43, which is nearer to p^0 ",
                      nearer_weak[] = "as weak scaling because the total of computation grows as "
                                      "p^0.60, which is nearer to p^1 ";
    static const struct {
        const char *few, *many;
        double growth;
        enum pct_scaling given, want;
        const char *says; /* NULL: no sentence */
    } cases[] = {
        {line, line, 1, PCT_SCALING_UNKNOWN, PCT_SCALING_WEAK, by_growth},
        {line, line, 0.5, PCT_SCALING_UNKNOWN, PCT_SCALING_STRONG, by_command},
        {line, line, 0, PCT_SCALING_UNKNOWN, PCT_SCALING_STRONG, NULL},
        {line, line, 1, PCT_SCALING_WEAK, PCT_SCALING_WEAK, NULL},
        {line, line, 1, PCT_SCALING_STRONG, PCT_SCALING_STRONG, NULL},
        {line, other, 1, PCT_SCALING_UNKNOWN, PCT_SCALING_WEAK, by_growth},
        {line, other, 0.43, PCT_SCALING_UNKNOWN, PCT_SCALING_STRONG, nearer_strong},
        {line, other, 0.6, PCT_SCALING_UNKNOWN, PCT_SCALING_WEAK, nearer_weak},
        {line, other, 0.6, PCT_SCALING_STRONG, PCT_SCALING_STRONG, NULL},
        {"", "", 1, PCT_SCALING_UNKNOWN, PCT_SCALING_WEAK, by_growth}, /* not known */
        {"", "", 0.43, PCT_SCALING_UNKNOWN, PCT_SCALING_STRONG, nearer_strong},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_run runs[2];
        struct pct_buf said = {0};
        struct pct_scale *s =
            compare_growth(runs, cases[i].growth, cases[i].few, cases[i].many, cases[i].given);
        assert_int_equal(s ? s->scaling : PCT_SCALING_UNKNOWN, cases[i].want);
        if (s)
            pct_scale_remarks(s, find_taken, &said);
        assert_int_equal(said.n > 0, cases[i].says != NULL);
        if (said.n && !strstr(said.data, cases[i].says))
            fail_msg("case %zu: %s", i, said.data);
        pct_buf_free(&said);
        pct_scale_free(s);
        for (unsigned k = 0; k < 2; k++)
            pct_run_close(&runs[k]);
    }
}

/* Calls of all ranks together, on FEW and on MANY of them: a rank can have less than one. */
static void calls_of_a_rank_are_counted_as_they_are(void **state)
{
    static const struct {
        double few, many;
        const char *says;
        int32_t caller; /* of all; 0: many */
        double slower;  /* by this factor is a call on many ranks; 0: it is not */
    } cases[] = {
        {2, 32, "a rank calls it once on 2 ranks, 2 times on 16"},
        {1, 16, "a rank calls it 0.5 times on 2 ranks, once on 16"},
        {2.0 / 3, 40, "a rank calls it 0.333 times on 2 ranks, 2.5 times on 16"},
        {0.001, 16e6, "a rank calls it less than 0.001 times on 2 ranks, 1,000,000 times on 16"},
        {199.98, 5336, "a rank calls it 100 times on 2 ranks, 334 times on 16"},
        {0, 1, "it is not called at all on 2 ranks"},
        /* each rank repeats what they ought to divide */
        {16, 128, "a rank calls it 8 times on 2 ranks, still 8 times on 16"},
        {16, 112, "a rank calls it 8 times on 2 ranks, still 7 times on 16"},
        {16, 128, "a call takes 62.50 us on 2 ranks, 125.0 us on 16", 0, 2},
        {16, 16, "a call takes 62.50 us on 2 ranks, 68.75 us on 16", 0, 1.1},
        {8, 64, "rank 3 alone calls it 8 times on 2 ranks, 64 times on 16", 4},
        {8, 8, "a call takes 125.0 us on 2 ranks, 1.250 ms on 16", 4, 10},
    };
    struct pct_run runs[2];
    struct pct_scale *s = compare_growth(runs, 0, "", "", PCT_SCALING_STRONG);
    const struct pct_scale_row *row = row_named(s, "MPI_Allreduce");
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        row->costs[pct_scale_first(s)].calls = cases[i].few;
        row->costs[pct_scale_last(s)].calls = cases[i].many;
        for (size_t k = 0; k < 2; k++) {
            double slower = k && cases[i].slower > 0 ? cases[i].slower : 1;
            row->costs[k].caller = cases[i].caller ? cases[i].caller : PCT_MANY_CALLERS;
            row->costs[k].bytes = row->costs[k].calls;
            row->costs[k].ns = ms * slower * row->costs[k].calls / cases[i].few;
        }
        assert_string_equal(pct_scale_reason(s, row), cases[i].says);
    }
    pct_scale_free(s);
    for (unsigned k = 0; k < 2; k++)
        pct_run_close(&runs[k]);
}

/* ---- Time of the library --------------------------------------------------------------------- */

enum { WORK_MS = 800, CALLS_MS = 10, SAMPLED_COLUMNS = 7 };
static struct sample measured[2];
static struct pc_profile_table sampling[2];
static uint64_t sampling_cells[2][2 * SAMPLED_COLUMNS];

/* Work that is divided among p ranks, each of which spends library_ms in the library beside it. */
static void make_measured(unsigned run, unsigned p, double library_ms)
{
    static struct pc_profile_column columns[SAMPLED_COLUMNS] = {
        {.name = (char *)"rank", .type = PCOLLECT_COLUMN_RANK},
        {.name = (char *)"compute_time", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"compute_squares", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"booked", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"own_time", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"period", .type = PCOLLECT_COLUMN_NUMBER},
        {.name = (char *)"mpi_time", .type = PCOLLECT_COLUMN_NUMBER}};
    struct sample *s = &measured[run];
    double work_ms = (double)WORK_MS / p;
    make_sized(s, p, 0);
    sampling[run] = (struct pc_profile_table){.name = (char *)"sampling",
                                              .plugin = (char *)"clock",
                                              .n_keys = 1,
                                              .columns = columns,
                                              .n_columns = SAMPLED_COLUMNS,
                                              .n_rows = p,
                                              .cells = sampling_cells[run]};
    for (unsigned r = 0; r < p; r++) {
        const uint64_t row[] = {
            r, (uint64_t)(work_ms * ms), 1, 100, (uint64_t)(library_ms * ms), (uint64_t)ms, 0};
        memcpy(&sampling_cells[run][r * SAMPLED_COLUMNS], row, sizeof row);
        s->ranks[r].mpi_ns = (uint64_t)(CALLS_MS * ms);
        s->ranks[r].inside_ns = (uint64_t)((CALLS_MS + work_ms + library_ms) * ms);
    }
    s->p.tables = &sampling[run];
    s->p.n_tables = 1;
}

static void time_of_the_library_is_left_out(void **state)
{
    static const double library_ms[] = {1, 90};
    struct pct_run runs[2];
    struct pct_scale *s = NULL;
    struct pc_error error = {""};
    struct pct_buf told = {0};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        make_measured(i, i + 1, library_ms[i]);
        adopt_solver(&runs[i], &measured[i]);
    }
    const struct pct_scale_options options = {.scaling = PCT_SCALING_STRONG};
    assert_int_equal(pct_scale_make(runs, 2, &options, &s, &error), PC_OK);
    for (unsigned i = 0; i < 2; i++) {
        const struct pct_scale_point *p = &s->points[i];
        assert_true(is_near(p->computation, 1));
        assert_true(is_near(p->compute_ns, WORK_MS * ms));
        assert_true(is_near(p->time_ns, (CALLS_MS + (double)WORK_MS / (i + 1)) * ms));
        assert_true(is_near(p->library_ns, (i + 1) * library_ms[i] * ms));
        pct_left_out_put(&told, "On some ranks",
                         &(struct pct_left_out){p->delayed_ns, 0, p->library_ns, p->all_ns, 0});
        assert_string_equal(told.data, i ? "On some ranks pcollect took 18 % of the time: this "
                                           "time is left out of the figures below, but for "
                                           "the wall time."
                                         : "");
    }
    assert_true(is_near(row_named(s, "computation")->lost_ns, 0));
    pct_buf_free(&told);
    pct_scale_free(s);
    for (unsigned i = 0; i < 2; i++)
        pct_run_close(&runs[i]);
}

/* A wait of 4 % of a run that is 8 % of it beside MPI_Init is worth a sentence. */
static void delay_is_told_by_the_time_that_changes(void **state)
{
    struct pct_buf said = {0};
    struct pct_left_out left = {.delayed_ns = 4e6, .all_ns = 100e6};
    (void)state;
    assert_false(pct_left_out_put(&said, "In a run", &left));
    assert_string_equal(said.data, "");
    left.init_ns = 50e6;
    assert_true(pct_left_out_put(&said, "In a run", &left));
    assert_non_null(
        strstr(said.data, "In a run no processor was free for 8 % of the time without MPI_Init: "));
    pct_buf_free(&said);
}

/* Threads that wait at one time do not add up: what they waited is a bound, whatever is left out.
 */
static void a_delay_of_threads_is_a_bound(void **state)
{
#define BLOCKED                                                                                    \
    " main threads were blocked while other threads of their ranks waited for a processor"
    static const struct {
        struct pct_left_out left;
        const char *text;
    } cases[] = {
        {{50, 20, 0, 100, 0},
         "In a run no processor was free for 30 % of the time, and for up to another 20 %" BLOCKED},
        {{50, 50, 10, 100, 0},
         "In a run for up to 50 % of the time" BLOCKED ", and pcollect took 10 %"},
        {{50, 0, 0, 100, 0}, "In a run no processor was free for 50 % of the time"},
    };
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        struct pct_buf said = {0}, want = {0};
        pct_buf_format(&want,
                       "%s: this time is left out of the figures below, but for the wall time.",
                       cases[i].text);
        assert_true(pct_left_out_put(&said, "In a run", &cases[i].left));
        assert_string_equal(said.data, want.data);
        pct_buf_free(&said);
        pct_buf_free(&want);
    }
}

/* One of two builds has no lines, and more samples. */
static void a_place_is_that_of_a_build_with_lines(void **state)
{
    static struct pct_frame bare = {.function = "solve"}, full = {"solve", "a.c", 7, false, false};
    enum { CODE = 0x2000 };
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        struct pct_run runs[2];
        struct pct_join *j = NULL;
        struct pc_error error = {""};
        for (unsigned k = 0; k < 2; k++) {
            struct sample *s = &sized[k];
            make_solver(s, 2, 0, 100);
            sample_clock(s);
            s->modules[0].build_id[0] = (unsigned char)(1 + k);
            sample_point(s, 1, 0, CODE);
            sample_add_samples(s, 0, k == first ? 80000000 : 40000000);
            sample_end(s);
            struct pct_symbols *symbols = pct_symbols_new(&s->p);
            const struct pct_place place = {k == first ? &bare : &full, 1};
            pct_symbols_teach(symbols, 0, SOLVER, place);
            pct_symbols_teach(symbols, 0, CODE + 1, place);
            pct_run_adopt(&runs[k], "run", &s->p, symbols);
        }
        assert_int_equal(pct_join_new(runs, 2, PCT_JOIN_ALL, &j, &error), PC_OK);
        size_t n = 0;
        for (size_t i = 1; i < j->n; i++) {
            if (!j->nodes[i].function)
                continue;
            n += j->nodes[i].kind == PCOLLECT_NODE_POINT ? 1 : 0x10;
            assert_non_null(j->nodes[i].file);
        }
        assert_int_equal(n, 0x11);
        pct_join_free(j);
        for (unsigned k = 0; k < 2; k++)
            pct_run_close(&runs[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_and_size_are_modelled_together),
        cmocka_unit_test(waiting_in_init_for_late_ranks_is_in_no_figure),
        cmocka_unit_test(time_in_init_is_in_no_figure_of_a_difference),
        cmocka_unit_test(guessed_computation_has_no_figures),
        cmocka_unit_test(times_without_samples_are_bounds),
        cmocka_unit_test(some_growth_with_one_command_line_is_repeated_work),
        cmocka_unit_test(calls_of_a_rank_are_counted_as_they_are),
        cmocka_unit_test(time_of_the_library_is_left_out),
        cmocka_unit_test(a_place_is_that_of_a_build_with_lines),
        cmocka_unit_test(delay_is_told_by_the_time_that_changes),
        cmocka_unit_test(a_delay_of_threads_is_a_bound),
    };
    return cmocka_run_group_tests_name("scale of sizes", tests, NULL, NULL);
}
