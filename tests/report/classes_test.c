/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Classes of ranks: known classes of generated populations are found, and the figures of classes
 * are those of their ranks.
 */
#include "analysis/clusters.h"
#include "analysis/rank_classes.h"
#include "tests/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_CLASSES = 40, MOST_COORDINATES = 31 };

/* ---- Random numbers ------------------------------------------------------------------------- */

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    double length = sqrt(-2 * log(uniform()));
    return length * cos(6.283185307179586 * uniform());
}

/* ---- Made populations ----------------------------------------------------------------------- */

struct population {
    uint32_t n, d, n_classes;
    double noise;
    bool skew;    /* classes of very different sizes */
    double apart; /* least distance of two classes in standard deviations of the noise, along the
                     line between their means, and */
    double radii; /* in distances of a rank from the mean of its class, as root mean square */
    bool near;    /* each class is no further than that from another one */
};

static double mean[MOST_CLASSES][MOST_COORDINATES], weight[MOST_COORDINATES];

static bool is_apart(const struct population *p, const double *a, const double *b)
{
    double far2 = 0, noise2 = 0, radius2 = 0;
    for (uint32_t j = 0; j < p->d; j++) {
        double by = a[j] - b[j];
        far2 += by * by;
        noise2 += by * by * weight[j] * weight[j] * p->noise * p->noise;
        radius2 += weight[j] * weight[j] * p->noise * p->noise;
    }
    return far2 >= p->apart * sqrt(noise2) && far2 >= p->radii * p->radii * radius2;
}

/* Puts the mean of class k as near to that of another class as it may be. */
static void move_near(const struct population *p, uint32_t k)
{
    uint32_t q = (uint32_t)(uniform() * k);
    double by[MOST_COORDINATES], far2 = 0, noise2 = 0;
    for (uint32_t j = 0; j < p->d; j++) {
        by[j] = weight[j] * normal();
        far2 += by[j] * by[j];
        noise2 += by[j] * by[j] * weight[j] * weight[j] * p->noise * p->noise;
    }
    for (uint32_t j = 0; j < p->d; j++)
        mean[k][j] = mean[q][j] + 1.0001 * p->apart * sqrt(noise2) / far2 * by[j];
}

/* Draws the means of the classes. Returns false if there is no room for so many classes. */
static bool make_means(const struct population *p)
{
    unsigned tries = 0;
    for (uint32_t j = 0; j < p->d; j++)
        weight[j] = exp(0.7 * normal()) / p->d;
    for (uint32_t k = 0; k < p->n_classes;) {
        bool apart = true;
        for (uint32_t j = 0; j < p->d; j++)
            mean[k][j] = weight[j] * 0.6 * normal();
        if (p->near && k)
            move_near(p, k);
        for (uint32_t q = 0; q < k; q++)
            apart &= is_apart(p, mean[k], mean[q]);
        k += apart;
        if (++tries > 20000)
            return false;
    }
    return true;
}

static void make_points(const struct population *p, float *x, uint16_t *class)
{
    for (uint32_t i = 0; i < p->n; i++) {
        double u = uniform();
        class[i] = (uint16_t)((p->skew ? u * u * u : u) * p->n_classes);
        for (uint32_t j = 0; j < p->d; j++)
            x[(size_t)i * p->d + j] = (float)(mean[class[i]][j] + weight[j] * p->noise * normal());
    }
}

static double pairs(double n)
{
    return n * (n - 1) / 2;
}

/* Adjusted Rand index: 1 if the two are the same, 0 on average if they have nothing in common. */
static double rand_index(const uint16_t *a, const uint16_t *b, uint32_t n)
{
    static double both[MOST_CLASSES][MOST_CLASSES];
    double of_a[MOST_CLASSES] = {0}, of_b[MOST_CLASSES] = {0}, sum = 0, sum_a = 0, sum_b = 0;
    memset(both, 0, sizeof both);
    for (uint32_t i = 0; i < n; i++) {
        both[a[i]][b[i]]++;
        of_a[a[i]]++;
        of_b[b[i]]++;
    }
    for (int i = 0; i < MOST_CLASSES; i++) {
        sum_a += pairs(of_a[i]);
        sum_b += pairs(of_b[i]);
        for (int j = 0; j < MOST_CLASSES; j++)
            sum += pairs(both[i][j]);
    }
    double expected = sum_a * sum_b / pairs(n), most = (sum_a + sum_b) / 2;
    return most > expected ? (sum - expected) / (most - expected) : 1;
}

/* Returns the adjusted Rand index of the classes that are found; -1 if such a population cannot be
 * made. */
static double find_again(const struct population *p, uint32_t *n_found)
{
    float *x = calloc((size_t)p->n * p->d, sizeof *x);
    uint16_t *class = calloc(p->n, sizeof *class), *group = calloc(p->n, sizeof *group);
    double index = -1;
    if (make_means(p)) {
        make_points(p, x, class);
        const struct pct_points points = {x, p->n, p->d, 0};
        *n_found = pct_clusters_find(&points, MOST_CLASSES, group);
        index = rand_index(class, group, p->n);
    }
    free(x);
    free(class);
    free(group);
    return index;
}

/* Classes of at least 50 ranks may be nearer to each other than smaller ones. */
static void classes_that_lie_apart_are_found_again(void **unused)
{
    static const uint32_t sizes[] = {1000, 10000, 100000}, classes[] = {1, 2, 5, 12, 40};
    static const uint32_t dimensions[] = {3, 10, 31};
    static const double noises[] = {0.01, 0.05, 0.2};
    unsigned n_made = 0;
    (void)unused;
    for (unsigned i = 0; i < 3 * 3 * 3 * 5 * 2 * 2; i++) {
        struct population p = {.n = sizes[i / 2 % 3],
                               .d = dimensions[i / 6 % 3],
                               .n_classes = classes[i / 18 % 5],
                               .noise = noises[i / 90 % 3],
                               .skew = i % 2 == 1,
                               .near = i >= 270};
        uint32_t n = 0;
        if (p.n > 1000 && (p.noise != 0.05 || p.d == 31) && !test_is_long()) /* takes long */
            continue;
        if (p.n > 10000 && (p.d != 10 || p.skew || !test_is_long()))
            continue;
        if (p.n < 25 * 2 * p.n_classes) /* too few points in each class */
            continue;
        p.apart = p.skew && p.n < 200 * p.n_classes ? 12 : 7;
        state = test_seed(4711 + i);
        double index = find_again(&p, &n);
        n_made += index >= 0;
        if (index >= 0 && index < 0.95)
            fail_msg(
                "%u points, %u coordinates, %u classes, noise %.2f, %d, %d: index %.3f, %u found",
                p.n, p.d, p.n_classes, p.noise, p.skew, p.near, index, n);
        if (p.n_classes == 1 && n != 1)
            fail_msg("%u points, %u coordinates, noise %.2f: %u classes of one", p.n, p.d, p.noise,
                     n);
    }
    assert_in_range(n_made, 120, 600);
}

/* ---- One class ------------------------------------------------------------------------------ */

enum shape {
    EVEN,
    SKEWED,
    EXPONENTIAL,
    LONG_TAILS,
    TREND,
    SLOW,
    TICKS,
    SOME_ZERO,
    HALF_ZERO,
    TOGETHER,
    N_SHAPES
};

/* Fills the points of one class whose values are distributed in that way. slow: the values of the
 * rank before. */
static double one_value(enum shape shape, double part, double common, double *slow)
{
    double z = normal(), u = uniform();
    switch (shape) {
    case EVEN:
        return u;
    case SKEWED:
        return exp(z);
    case EXPONENTIAL:
        return -log(u);
    case LONG_TAILS:
        return z / sqrt((pow(normal(), 2) + pow(normal(), 2) + pow(normal(), 2)) / 3);
    case TREND:
        return z + 20 * part;
    case SLOW:
        return *slow = 0.99 * *slow + sqrt(1 - 0.99 * 0.99) * z;
    case TICKS:
        return round(1.5 * z);
    case SOME_ZERO:
        return u < 0.3 ? 0 : fabs(z);
    case HALF_ZERO:
        return u < 0.5 ? 0 : -log(2 * u - 1);
    default:
        return z + 3 * common;
    }
}

/* Returns how many classes of more than five ranks are found in one. */
static unsigned find_in_one(enum shape shape, uint32_t n, uint32_t d)
{
    float *x = calloc((size_t)n * d, sizeof *x);
    uint16_t *group = calloc(n, sizeof *group);
    uint32_t n_in[MOST_CLASSES] = {0};
    double slow[MOST_COORDINATES] = {0};
    unsigned n_large = 0;
    for (uint32_t i = 0; i < n; i++) {
        double common = normal();
        for (uint32_t j = 0; j < d; j++)
            x[(size_t)i * d + j] = (float)one_value(shape, (double)i / n, common, &slow[j]);
    }
    const struct pct_points points = {x, n, d, 0};
    pct_clusters_find(&points, MOST_CLASSES, group);
    for (uint32_t i = 0; i < n; i++)
        n_in[group[i]]++;
    for (uint32_t k = 0; k < MOST_CLASSES; k++)
        n_large += n_in[k] > 5;
    free(x);
    free(group);
    return n_large;
}

/* 1 of 400 such populations may be found to be two. */
static void one_class_is_one_whatever_its_distribution(void **unused)
{
    static const uint32_t sizes[] = {48, 128, 1000, 10000}, dimensions[] = {1, 3, 10, 31};
    unsigned n = 0, n_wrong = 0;
    (void)unused;
    for (unsigned i = 0; i < 4 * 4 * N_SHAPES * 4; i++) {
        uint32_t size = sizes[i % 4], d = dimensions[i / 4 % 4];
        enum shape shape = (enum shape)(i / 16 % N_SHAPES);
        if ((size < 16 * d && d > 1) || (size > 1000 && (i >= 160 || d == 31)))
            continue;
        state = test_seed(31337 + i);
        unsigned found = find_in_one(shape, size, d);
        n++;
        n_wrong += found != 1;
        if (found != 1)
            print_message("# %u points, %u coordinates, shape %d: %u classes\n", size, d, shape,
                          found);
    }
    assert_in_range(n, 250, 600);
    assert_in_range(n_wrong, 0, 1);
}

enum { LONE = 16 };

/* Puts lone points, each of a class of its own, among those of classes. Returns how many of them
 * are in no group with others, or -1 if such a population cannot be made. */
static int find_lone(struct population p)
{
    float *x = calloc((size_t)p.n * p.d, sizeof *x);
    uint16_t *class = calloc(p.n, sizeof *class), *group = calloc(p.n, sizeof *group);
    uint32_t n_in[MOST_CLASSES] = {0}, n_classes = p.n_classes;
    int n_alone = 0;
    p.n_classes += LONE;
    bool made = make_means(&p);
    p.n_classes = n_classes;
    make_points(&p, x, class);
    for (uint32_t k = 0; k < LONE; k++)
        for (uint32_t j = 0; j < p.d; j++)
            x[(size_t)(k * p.n / LONE + 7) * p.d + j] = (float)mean[n_classes + k][j];
    const struct pct_points points = {x, p.n, p.d, 0};
    pct_clusters_find(&points, MOST_CLASSES, group);
    for (uint32_t i = 0; i < p.n; i++)
        n_in[group[i]]++;
    for (uint32_t k = 0; k < LONE; k++)
        n_alone += n_in[group[k * p.n / LONE + 7]] == 1;
    free(x);
    free(class);
    free(group);
    return made ? n_alone : -1;
}

static void sixteen_lone_ranks_are_classes_of_their_own(void **unused)
{
    static const uint32_t sizes[] = {1000, 10000}, classes[] = {1, 2, 5, 12, 20};
    static const uint32_t dimensions[] = {3, 10, 31};
    static const double noises[] = {0.01, 0.05, 0.2};
    unsigned n_made = 0;
    (void)unused;
    for (unsigned i = 0; i < 2 * 3 * 5 * 3; i++) {
        struct population p = {.n = sizes[i % 2],
                               .d = dimensions[i / 2 % 3],
                               .n_classes = classes[i / 6 % 5],
                               .noise = noises[i / 30],
                               .apart = 12,
                               .radii = 3};
        state = test_seed(815 + i);
        int n_alone = find_lone(p);
        n_made += n_alone >= 0;
        if (n_alone >= 0 && n_alone != LONE)
            fail_msg("%u points, %u coordinates, %u classes, noise %.2f: %d of %d alone", p.n, p.d,
                     p.n_classes, p.noise, n_alone, LONE);
    }
    assert_in_range(n_made, 40, 90);
}

/* ---- Few ranks ------------------------------------------------------------------------------ */

enum layout { HALVES, BLOCKS, QUARTERS, ONE_IN_EIGHT, GRID, N_LAYOUTS };

/* GRID: interior, edges and corners of 8 columns. */
static uint16_t class_in(enum layout layout, uint32_t i, uint32_t n)
{
    switch (layout) {
    case HALVES:
        return i % 2;
    case BLOCKS:
        return i >= n / 2;
    case QUARTERS:
        return i % 4;
    case ONE_IN_EIGHT:
        return i % 8 == 0;
    default:
        return (uint16_t)((i % 8 == 0 || i % 8 == 7) + (i < 8 || i >= n - 8));
    }
}

/* A job of some ten ranks a class is the usual one. Returns the adjusted Rand index of the classes
 * that are found if each lies `apart` deviations from the one before it in one coordinate. */
static double find_few(enum layout layout, uint32_t n, double apart)
{
    float x[128];
    uint16_t class[128], group[128];
    for (uint32_t i = 0; i < n; i++) {
        class[i] = class_in(layout, i, n);
        x[i] = (float)(1000 + normal() + apart * class[i]);
    }
    const struct pct_points points = {.x = x, .n = n, .d = 1, .least = 0.5F};
    pct_clusters_find(&points, MOST_CLASSES, group);
    return rand_index(class, group, n);
}

/* The tenth of the populations whose ranks happen to lie worst are left out, twice as many if
 * classes have four to eight ranks. */
static void classes_of_few_ranks_are_found(void **unused)
{
    static const uint32_t sizes[] = {32, 64, 128};
    static const double aparts[] = {8, 12, 30, 100};
    (void)unused;
    for (unsigned k = 0; k < 3 * 4 * N_LAYOUTS; k++) {
        uint32_t n = sizes[k % 3];
        double apart = aparts[k / 3 % 4];
        enum layout layout = (enum layout)(k / 12);
        bool small = layout >= QUARTERS && n < 128;
        unsigned n_found = 0;
        if (small && apart < 12)
            continue;
        state = test_seed(2718 + k);
        for (unsigned i = 0; i < 20; i++)
            n_found += find_few(layout, n, apart) >= 0.95;
        if (n_found < (small ? 16 : 18))
            fail_msg("%u ranks in layout %d, %.0f deviations apart: %u of 20 found", n, layout,
                     apart, n_found);
    }
}

/* ---- Points in one place -------------------------------------------------------------------- */

static void the_same_points_are_one_class(void **unused)
{
    static float x[500 * 3];
    uint16_t group[500];
    const struct pct_points points = {x, 500, 3, 0};
    (void)unused;
    for (int i = 0; i < 1500; i++)
        x[i] = 0.25f;
    assert_int_equal(pct_clusters_find(&points, MOST_CLASSES, group), 1);
    x[1200] = 7; /* makes one point different */
    assert_int_equal(pct_clusters_find(&points, MOST_CLASSES, group), 2);
    assert_int_equal(group[400], 1);
}

/* ---- Profiles ------------------------------------------------------------------------------- */

enum { RANKS = 512, CALLS = 3 };

static struct pc_profile_rank ranks[RANKS];
static uint64_t values[CALLS][RANKS];

/* In steps, the values that readers see are those of the steps. */
static void put_call(struct pc_profile *p, uint32_t k, bool in_steps)
{
    static int32_t numbers[RANKS];
    static uint16_t steps[CALLS][RANKS];
    static struct pc_stat stats[CALLS];
    struct pc_stat *s = &stats[k];
    *s = (struct pc_stat){.n = RANKS, .min = UINT64_MAX};
    for (int i = 0; i < RANKS; i++) {
        uint64_t v = values[k][i];
        numbers[i] = i;
        s->sum += v;
        s->min = v < s->min ? v : s->min;
        s->max = v > s->max ? v : s->max;
        steps[k][i] = (uint16_t)pc_step_of(v);
        values[k][i] = in_steps ? pc_step_value(steps[k][i]) : v;
    }
    p->nodes[1 + k] = (struct pc_profile_node){
        .kind = PCOLLECT_NODE_OP, .module = PC_NO_INDEX, .op = k, .data = k};
    p->data[k] = (struct pc_profile_data){.n_ranks = RANKS,
                                          .kept = in_steps ? PC_KEPT_STEPS : PC_KEPT_EXACT,
                                          .stats = s,
                                          .ranks = numbers};
    if (in_steps)
        p->data[k].steps = steps[k];
    else
        p->data[k].values = values[k];
}

/* Every eighth rank and rank 0 are different. */
static int known_class(int rank)
{
    return rank == 0 ? 0 : rank % 8 ? 1 : 2;
}

static void make_values(void)
{
    static const double ms[3][CALLS] = {{10, 400, 20}, {100, 50, 20}, {160, 50, 45}};
    for (int i = 0; i < RANKS; i++) {
        uint64_t mpi_ns = 0;
        for (int k = 0; k < CALLS; k++) {
            values[k][i] = (uint64_t)(ms[known_class(i)][k] * 1e6 * (1 + 0.02 * normal()));
            mpi_ns += values[k][i];
        }
        ranks[i] = (struct pc_profile_rank){.rank = i,
                                            .host = (char *)"n",
                                            .inside_ns = 1000000000,
                                            .mpi_ns = mpi_ns,
                                            .n_threads = 1};
    }
}

static void check_times(const struct pct_rank_classes *c)
{
    for (uint32_t a = 1; a < c->n_aspects; a++) {
        uint32_t k = c->node[a] - 1;
        for (uint32_t class = 0; class < c->n; class ++) {
            const struct pct_class_time *t = &c->times[class * c->n_aspects + a];
            uint64_t sum = 0, min = UINT64_MAX, max = 0;
            uint32_t n = 0;
            double squares = 0;
            for (int i = 0; i < RANKS; i++)
                if (c->of_rank[i] == class) {
                    n++;
                    sum += values[k][i];
                    min = values[k][i] < min ? values[k][i] : min;
                    max = values[k][i] > max ? values[k][i] : max;
                }
            for (int i = 0; i < RANKS; i++)
                if (c->of_rank[i] == class)
                    squares += pow((double)values[k][i] - (double)sum / n, 2);
            assert_int_equal(n, c->list[class].n);
            assert_true(t->sum == sum && t->min == min && t->max == max);
            assert_int_equal(values[k][t->min_rank], min);
            assert_int_equal(values[k][t->max_rank], max);
            assert_true(fabs(t->deviation_ns - sqrt(squares / n)) <= 1e-6 * t->deviation_ns + 1);
        }
    }
}

/* The times of one call are divided between two communicators: those of odd ranks are in the
 * second.
 */
static void divide_call(struct pc_profile *p, struct pc_profile_node *nodes)
{
    static int32_t numbers[2][RANKS / 2];
    static uint64_t parts[2][RANKS / 2];
    static struct pc_stat stats[2];
    p->n_nodes += 2;
    p->n_data += 2;
    nodes[0].n_descendants += 2;
    nodes[CALLS].n_descendants = 2;
    nodes[CALLS].data = PC_NO_INDEX;
    for (uint32_t k = 0; k < 2; k++) {
        stats[k] = (struct pc_stat){.n = RANKS / 2, .min = UINT64_MAX};
        for (uint32_t i = 0; i < RANKS / 2; i++) {
            uint64_t v = parts[k][i] = values[CALLS - 1][2 * i + k];
            numbers[k][i] = (int32_t)(2 * i + k);
            stats[k].sum += v;
            stats[k].min = v < stats[k].min ? v : stats[k].min;
            stats[k].max = v > stats[k].max ? v : stats[k].max;
        }
        nodes[1 + CALLS + k] = (struct pc_profile_node){.kind = PCOLLECT_NODE_DOMAIN,
                                                        .parent = CALLS,
                                                        .offset = 7 + k,
                                                        .module = PC_NO_INDEX,
                                                        .op = PC_NO_INDEX,
                                                        .data = CALLS + k};
        p->data[CALLS + k] = (struct pc_profile_data){.n_ranks = RANKS / 2,
                                                      .kept = PC_KEPT_EXACT,
                                                      .stats = &stats[k],
                                                      .ranks = numbers[k],
                                                      .values = parts[k]};
    }
}

static void check_figures(bool in_steps, bool divided)
{
    static struct pc_profile_op ops[CALLS] = {{(char *)"MPI_Allreduce", PCOLLECT_CLASS_COLL},
                                              {(char *)"MPI_Recv", PCOLLECT_CLASS_P2P},
                                              {(char *)"MPI_Send", PCOLLECT_CLASS_P2P}};
    static struct pc_profile_field field = {
        (char *)"time", (char *)"time", PCOLLECT_SUM, PCOLLECT_UNIT_NS, 0, 0};
    struct pc_profile_node nodes[3 + CALLS] = {{.parent = PC_NO_INDEX,
                                                .n_descendants = CALLS,
                                                .module = PC_NO_INDEX,
                                                .op = PC_NO_INDEX,
                                                .data = PC_NO_INDEX}};
    static struct pc_profile_data data[2 + CALLS];
    struct pc_profile p = {.exe = (char *)"x",
                           .mpi = (char *)"m",
                           .job = (char *)"",
                           .world_size = RANKS,
                           .n_ranks = RANKS,
                           .n_ops = CALLS,
                           .n_fields = 1,
                           .n_nodes = 1 + CALLS,
                           .n_data = CALLS,
                           .n_comm = 1,
                           .ranks = ranks,
                           .ops = ops,
                           .fields = &field,
                           .nodes = nodes,
                           .data = data};
    state = test_seed(99);
    make_values();
    for (uint32_t k = 0; k < CALLS; k++)
        put_call(&p, k, in_steps);
    if (divided)
        divide_call(&p, nodes);
    struct pct_totals *m = pct_totals_new(&p);
    struct pct_rank_classes *c = pct_rank_classes_new(m);
    assert_int_equal(c->n, 3);
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(c->of_rank[i], known_class(i));
    assert_string_equal(c->list[0].ranks, "0");
    assert_string_equal(c->list[2].ranks, "8-504:8");
    assert_int_equal(c->n_aspects, 1 + CALLS);
    assert_true(c->in_steps == in_steps);
    check_times(c);
    pct_rank_classes_free(c);
    p.n_ranks = 20; /* too few to tell */
    c = pct_rank_classes_new(m);
    assert_int_equal(c->n, 0);
    pct_rank_classes_free(c);
    pct_totals_free(m);
}

static void figures_of_classes_are_those_of_their_ranks(void **unused)
{
    (void)unused;
    check_figures(false, false);
    check_figures(true, false);
    check_figures(false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_that_lie_apart_are_found_again),
        cmocka_unit_test(one_class_is_one_whatever_its_distribution),
        cmocka_unit_test(sixteen_lone_ranks_are_classes_of_their_own),
        cmocka_unit_test(classes_of_few_ranks_are_found),
        cmocka_unit_test(the_same_points_are_one_class),
        cmocka_unit_test(figures_of_classes_are_those_of_their_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
