/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hypotheses and the choice among them. Every hypothesis is fitted and judged by the relative
 * error of points left out; a more complex one must be better by a certain factor, its price
 * (doc/internals/scaling.md has the simulations that set the prices).
 */
#include "analysis/allocation.h"
#include "analysis/fit/fit_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Errors below this are rounding errors. */
#define EXACT 1e-7
/* One more term must reduce the error to less than this part ... */
#define PRICE_FIRST 0.60
#define PRICE_NEXT 0.50
/* Each step of complexity within a term costs this in addition. */
#define PRICE_STEP 0.12
/* Hypotheses whose score is within 1 + RIVAL / n of the best of n points are its rivals; few points
 * exclude little. */
#define RIVAL 8.0
#define RIVAL_FEW 40.0
/* With few points some hypothesis fits them by chance: all hypotheses with a cross-validation error
 * below this are its rivals. */
#define CLOSE_FEW 0.15

/* All exponents; few points can distinguish only the first N_COARSE. */
static const struct pct_fit_factor exponents[] = {
    {0, 1, 0}, {1, 2, 0},  {1, 1, 0},  {2, 1, 0},  {-1, 1, 0}, {-1, 2, 0}, {1, 4, 0},
    {1, 3, 0}, {2, 3, 0},  {3, 4, 0},  {4, 5, 0},  {5, 4, 0},  {4, 3, 0},  {3, 2, 0},
    {5, 3, 0}, {7, 4, 0},  {9, 4, 0},  {7, 3, 0},  {5, 2, 0},  {8, 3, 0},  {11, 4, 0},
    {3, 1, 0}, {-1, 3, 0}, {-2, 3, 0}, {-3, 2, 0}, {-2, 1, 0}, {-3, 1, 0},
};
enum {
    N_EXPONENTS = sizeof exponents / sizeof *exponents,
    N_COARSE = 6,
    MAX_LOG = 2,
    MAX_FACTORS = N_EXPONENTS * (MAX_LOG + 1),
    /* Two parameters: factors of each that are combined. */
    N_BEST = 10
};

struct search {
    struct pct_fit_work work;
    struct pct_fit *out;
    struct pct_fit_rivals *rivals;     /* best first */
    bool positive;                     /* no value is below 0 */
    size_t places[PCT_FIT_PARAMETERS]; /* different values of each parameter */
    struct pct_fit_factor factors[PCT_FIT_PARAMETERS][MAX_FACTORS];
    unsigned n_factors[PCT_FIT_PARAMETERS];
    double *values[PCT_FIT_PARAMETERS]; /* of each factor at each point: thousands of hypotheses
                                           need them */
    double *products;                   /* of two factors, at each point */
};

static const double *values_of(const struct search *s, unsigned d, unsigned factor)
{
    return s->values[d] + factor * s->work.n;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
    const struct pct_fit_point *p = a, *q = b;
    for (unsigned d = 0; d < PCT_FIT_PARAMETERS; d++) {
        if (p->x[d] != q->x[d])
            return p->x[d] < q->x[d] ? -1 : 1;
    }
    return 0;
}

/* Sorts the points and joins those at the same place. 0: the points cannot be fitted. */
static size_t unite_points(struct pct_fit_point *p, size_t n, unsigned n_parameters)
{
    size_t n_places = 0;
    for (size_t i = 0; i < n; i++) {
        for (unsigned d = 0; d < PCT_FIT_PARAMETERS; d++) {
            if (d >= n_parameters)
                p[i].x[d] = 1;
            else if (!(p[i].x[d] > 0) || !isfinite(p[i].x[d]))
                return 0;
        }
        if (!isfinite(p[i].y))
            return 0;
    }
    qsort(p, n, sizeof *p, compare_points);
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        double sum = p[i].y;
        for (; end < n && !compare_points(&p[i], &p[end]); end++)
            sum += p[end].y;
        p[n_places] = p[i];
        p[n_places++].y = sum / (double)(end - i);
        i = end;
    }
    return n_places;
}

/* A unit in which squares of values neither overflow nor vanish: a power of 2, so that no value is
 * rounded. */
static double find_unit(const struct pct_fit_point *p, size_t n)
{
    double mean = 0;
    int exponent;
    for (size_t i = 0; i < n; i++)
        mean += fabs(p[i].y) / (double)n;
    if (!(mean > 0) || !isfinite(mean))
        return 1;
    frexp(mean, &exponent);
    return ldexp(1, exponent - 1);
}

static size_t count_places(const struct pct_fit_point *p, size_t n, unsigned d)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && p[k].x[d] != p[i].x[d])
            k++;
        count += k == i;
    }
    return count;
}

/* Sets the weights for relative errors; a point near 0 gets a size from the others. One of 0 has
 * the size of the least other: it would outweigh all of them. */
static void weigh_points(struct pct_fit_work *w)
{
    double mean = 0, least = HUGE_VAL;
    for (size_t i = 0; i < w->n; i++) {
        double size = fabs(w->points[i].y);
        mean += size / (double)w->n;
        least = size > 0 ? fmin(least, size) : least;
    }
    for (size_t i = 0; i < w->n; i++) {
        double y = fabs(w->points[i].y), size = (y > 0 || !(mean > 0) ? y : least) + mean / 100;
        w->weight[i] = size > 0 ? 1 / size : 1;
        w->target[i] = w->weight[i] * w->points[i].y;
    }
}

/* ---- Hypotheses ------------------------------------------------------------------------------ */

/* Distance of a factor from the simplest ones, p and 1/p. */
static unsigned complexity(const struct pct_fit_factor *f)
{
    unsigned steps = (unsigned)f->log;
    if (f->root > 1)
        steps += f->root == 2 ? 1 : 2;
    if (f->power > 2 * f->root || -f->power > f->root)
        steps++;
    return steps;
}

static bool is_one(const struct pct_fit_factor *f)
{
    return !f->power && !f->log;
}

static void make_factors(struct search *s, unsigned d)
{
    bool coarse = s->places[d] < PCT_FIT_FEW;
    for (unsigned e = 0; e < (coarse ? N_COARSE : N_EXPONENTS); e++) {
        for (int log = 0; log <= (coarse ? 1 : MAX_LOG); log++) {
            struct pct_fit_factor f = exponents[e];
            f.log = (signed char)log;
            if (!is_one(&f) && !(coarse && log && f.power < 0))
                s->factors[d][s->n_factors[d]++] = f;
        }
    }
}

static void evaluate_factors(struct search *s, unsigned d)
{
    size_t n = s->work.n;
    s->values[d] = pct_alloc(s->n_factors[d] * n, sizeof *s->values[d]);
    for (unsigned f = 0; f < s->n_factors[d]; f++)
        for (size_t i = 0; i < n; i++)
            s->values[d][f * n + i] = pct_fit_factor(&s->factors[d][f], s->work.points[i].x[d]);
}

static void price(struct pct_fit_guess *g, unsigned n_parameters)
{
    static const double by_terms[] = {PRICE_FIRST * PRICE_NEXT * PRICE_NEXT,
                                      PRICE_NEXT * PRICE_NEXT, PRICE_NEXT, 1};
    double steps = 0;
    for (unsigned k = 0; k < g->n_terms; k++) {
        for (unsigned d = 0; d < n_parameters; d++)
            steps += complexity(&g->terms[k].of[d]);
    }
    double error = g->error < EXACT ? EXACT : g->error;
    g->score = error * by_terms[g->n_terms] * (1 + PRICE_STEP * steps);
}

/* Keeps the best hypotheses in order of their score. */
static void keep(struct pct_fit_rivals *rivals, const struct pct_fit_guess *g)
{
    unsigned at = rivals->n;
    while (at > 0 && g->score < rivals->of[at - 1].score)
        at--;
    if (at == PCT_FIT_RIVALS)
        return;
    if (rivals->n < PCT_FIT_RIVALS)
        rivals->n++;
    memmove(&rivals->of[at + 1], &rivals->of[at], (rivals->n - at - 1) * sizeof rivals->of[0]);
    rivals->of[at] = *g;
}

/* True if the terms vanish where a parameter is large, and only the constant is left. */
static bool vanishes(const struct pct_fit_guess *g, unsigned n_parameters)
{
    bool all = false;
    for (unsigned d = 0; d < n_parameters && !all; d++) {
        all = g->n_terms > 0;
        for (unsigned k = 0; k < g->n_terms; k++)
            all &= g->terms[k].of[d].power < 0;
    }
    return all;
}

/* Fits and judges a hypothesis, where term k has values[k][i] at point i. */
static void try_guess(struct search *s, const double *const *values, struct pct_fit_guess *g)
{
    /* With as many coefficients as points the fit is always exact, and proves nothing. */
    if (s->work.n < g->n_terms + 2 && g->n_terms)
        return;
    if (!pct_fit_solve(&s->work, values, g))
        return;
    if (s->positive && g->c[0] < 0 && vanishes(g, s->work.n_parameters)) {
        g->no_constant = true; /* the least that figures which are never below 0 allow */
        if (!pct_fit_solve(&s->work, values, g))
            return;
    }
    price(g, s->work.n_parameters);
    keep(s->rivals, g);
}

static struct pct_fit_term term_of(unsigned d, const struct pct_fit_factor *f)
{
    struct pct_fit_term t = {{{0, 1, 0}, {0, 1, 0}}};
    t.of[d] = *f;
    return t;
}

static void try_singles(struct search *s, unsigned d)
{
    for (unsigned i = 0; i < s->n_factors[d]; i++) {
        struct pct_fit_guess g = {.n_terms = 1, .terms = {term_of(d, &s->factors[d][i])}};
        try_guess(s, (const double *[]){values_of(s, d, i)}, &g);
    }
}

/* Tries sums of two terms of one parameter, only if there are enough points. */
static void try_pairs(struct search *s, unsigned d)
{
    enum { PLACES = 7 };
    if (s->places[d] < PLACES || s->rivals->of[0].error < EXACT)
        return;
    for (unsigned i = 0; i < s->n_factors[d]; i++) {
        for (unsigned k = 0; k < i; k++) {
            struct pct_fit_guess g = {
                .n_terms = 2,
                .terms = {term_of(d, &s->factors[d][i]), term_of(d, &s->factors[d][k])}};
            try_guess(s, (const double *[]){values_of(s, d, i), values_of(s, d, k)}, &g);
        }
    }
}

/* ---- Two parameters -------------------------------------------------------------------------- */

/* Fits one factor along each line on which the other parameter is constant: the mean of the errors
 * over lines of at least three places, or infinity. */
static double error_on_lines(const struct search *s, unsigned d, unsigned factor)
{
    const struct pct_fit_work *all = &s->work;
    const double *values = values_of(s, d, factor);
    unsigned other = 1 - d;
    double sum = 0;
    size_t n_lines = 0;
    struct pct_fit_point *line = pct_alloc(all->n, sizeof *line);
    double *room = pct_alloc(all->n, (PCT_FIT_TERMS + 5) * sizeof *room);
    for (size_t i = 0; i < all->n; i++) {
        size_t n = 0, first = 0;
        while (all->points[first].x[other] != all->points[i].x[other])
            first++;
        if (first < i)
            continue; /* this line is done */
        for (size_t k = i; k < all->n; k++) {
            if (all->points[k].x[other] == all->points[i].x[other]) {
                room[n] = values[k];
                line[n++] = all->points[k];
            }
        }
        struct pct_fit_work w = {.n = n,
                                 .n_parameters = 2,
                                 .points = line,
                                 .weight = room + n,
                                 .target = room + 2 * n,
                                 .left = room + 3 * n,
                                 .columns = room + 4 * n};
        struct pct_fit_guess g = {.n_terms = 1, .terms = {term_of(d, &s->factors[d][factor])}};
        weigh_points(&w);
        if (n >= 3 && pct_fit_solve(&w, (const double *[]){room}, &g)) {
            sum += g.error;
            n_lines++;
        }
    }
    pct_free(line);
    pct_free(room);
    return n_lines ? sum / (double)n_lines : INFINITY;
}

/* The factors of parameter d that fit its lines best, best first. */
static unsigned best_factors(const struct search *s, unsigned d, unsigned *best)
{
    double errors[N_BEST];
    unsigned n = 0;
    for (unsigned i = 0; i < s->n_factors[d]; i++) {
        double e = error_on_lines(s, d, i);
        if (!isfinite(e))
            e = 1e9 + i; /* no lines: in the order of the table, simple ones first */
        e = (e < EXACT ? EXACT : e) * (1 + PRICE_STEP * complexity(&s->factors[d][i]));
        unsigned at = n;
        while (at > 0 && e < errors[at - 1])
            at--;
        if (at == N_BEST)
            continue;
        n += n < N_BEST;
        memmove(&errors[at + 1], &errors[at], (n - at - 1) * sizeof *errors);
        memmove(&best[at + 1], &best[at], (n - at - 1) * sizeof *best);
        errors[at] = e;
        best[at] = i;
    }
    return n;
}

/* Tries all combinations of one factor of each parameter. */
static void try_combinations(struct search *s)
{
    unsigned f[N_BEST], g[N_BEST], n_f = best_factors(s, 0, f), n_g = best_factors(s, 1, g);
    double *product_values = s->products;
    for (unsigned i = 0; i < n_f; i++) {
        for (unsigned k = 0; k < n_g; k++) {
            const struct pct_fit_factor *of_a = &s->factors[0][f[i]], *of_b = &s->factors[1][g[k]];
            const double *at_a = values_of(s, 0, f[i]), *at_b = values_of(s, 1, g[k]);
            struct pct_fit_term a = term_of(0, of_a), b = term_of(1, of_b);
            struct pct_fit_term product = {{*of_a, *of_b}};
            for (size_t j = 0; j < s->work.n; j++)
                product_values[j] = at_a[j] * at_b[j];
            struct {
                struct pct_fit_guess guess;
                const double *values[PCT_FIT_TERMS];
            } tried[] = {
                {{.n_terms = 1, .terms = {product}}, {product_values}},
                {{.n_terms = 2, .terms = {a, b}}, {at_a, at_b}},
                {{.n_terms = 2, .terms = {a, product}}, {at_a, product_values}},
                {{.n_terms = 2, .terms = {b, product}}, {at_b, product_values}},
                {{.n_terms = 3, .terms = {a, b, product}}, {at_a, at_b, product_values}},
            };
            for (unsigned j = 0; j < sizeof tried / sizeof *tried; j++)
                try_guess(s, tried[j].values, &tried[j].guess);
        }
    }
}

/* ---- The choice ------------------------------------------------------------------------------ */

/* True if one parameter follows the other as a power of it in all places: their logarithms are
 * correlated. */
static bool are_confounded(const struct pct_fit_point *points, size_t n)
{
    double mean[2] = {0, 0}, square[2] = {0, 0}, product = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned d = 0; d < 2; d++)
            mean[d] += log(points[i].x[d]) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double x = log(points[i].x[0]) - mean[0], y = log(points[i].x[1]) - mean[1];
        square[0] += x * x;
        square[1] += y * y;
        product += x * y;
    }
    return square[0] > 0 && square[1] > 0 && product * product > 0.999 * square[0] * square[1];
}

static void describe(struct search *s)
{
    struct pct_fit *out = s->out;
    struct pct_fit_guess *best = &s->rivals->of[0];
    double mean = 0, total = 0;
    size_t n = s->work.n, free_points = n - pct_fit_n_fitted(best);
    for (size_t i = 0; i < n; i++)
        mean += s->work.points[i].y / (double)n;
    for (size_t i = 0; i < n; i++) {
        const struct pct_fit_point *p = &s->work.points[i];
        double e = p->y - pct_fit_value(best, out->n_parameters, p->x);
        out->rss += e * e;
        total += (p->y - mean) * (p->y - mean);
    }
    out->exact = best->error < EXACT;
    /* A constant this small is a rounding error. */
    if (out->exact && fabs(best->c[0]) < EXACT * sqrt(total / (double)n))
        best->c[0] = 0;
    for (unsigned d = 0; d < out->n_parameters; d++)
        out->few |= s->places[d] < PCT_FIT_FEW;
    double rival = 1 + (out->few ? RIVAL_FEW : RIVAL) / (double)n;
    unsigned n_rivals = s->rivals->n;
    s->rivals->n = 1;
    double worst = fmax(rival * best->score, out->few ? CLOSE_FEW : 0);
    while (!out->exact && s->rivals->n < n_rivals && s->rivals->of[s->rivals->n].score <= worst)
        s->rivals->n++;
    out->confounded = out->n_parameters == 2 && are_confounded(s->work.points, n);
    if (!(total > 0) || !best->n_terms)
        out->adjusted_r2 = best->n_terms || total > 0 ? 0 : 1;
    else if (free_points)
        out->adjusted_r2 = 1 - out->rss / total * (double)(n - 1) / (double)free_points;
}

/* Gives the coefficients of all rivals the unit of the points. */
static void restore_unit(struct search *s, double unit)
{
    for (unsigned i = 0; i < s->rivals->n; i++)
        for (unsigned k = 0; k <= s->rivals->of[i].n_terms; k++)
            s->rivals->of[i].c[k] *= unit;
    s->out->best = s->rivals->of[0];
    s->out->rss = s->out->rss * unit * unit;
    s->out->unit = unit;
}

static void choose(struct search *s)
{
    struct pct_fit_guess constant = {0};
    s->positive = true;
    for (size_t i = 0; i < s->work.n; i++)
        s->positive &= s->work.points[i].y >= 0;
    try_guess(s, NULL, &constant);
    for (unsigned d = 0; d < s->work.n_parameters; d++) {
        s->places[d] = count_places(s->work.points, s->work.n, d);
        if (s->places[d] >= 3)
            make_factors(s, d);
        evaluate_factors(s, d);
        try_singles(s, d);
        try_pairs(s, d);
    }
    if (s->work.n_parameters == 2)
        try_combinations(s);
    describe(s);
}

bool pct_fit_make(const struct pct_fit_point *points, size_t n, unsigned n_parameters,
                  struct pct_fit *out, struct pct_fit_rivals *rivals_out)
{
    struct pct_fit_point *mine = pct_alloc(n, sizeof *mine);
    double *room = pct_alloc(n, (PCT_FIT_TERMS + 5) * sizeof *room);
    struct search *s = pct_alloc(1, sizeof *s);
    bool made = false;
    if (n_parameters >= 1 && n_parameters <= PCT_FIT_PARAMETERS) {
        if (n)
            memcpy(mine, points, n * sizeof *mine);
        double unit = find_unit(mine, n);
        for (size_t i = 0; i < n; i++)
            mine[i].y /= unit;
        size_t n_places = unite_points(mine, n, n_parameters);
        if (n_places >= 2) {
            *out = (struct pct_fit){.n_parameters = n_parameters, .n_points = n_places};
            rivals_out->n = 0;
            s->out = out;
            s->rivals = rivals_out;
            s->work = (struct pct_fit_work){.n = n_places,
                                            .n_parameters = n_parameters,
                                            .points = mine,
                                            .weight = room,
                                            .target = room + n,
                                            .left = room + 2 * n,
                                            .columns = room + 3 * n};
            s->products = room + (PCT_FIT_TERMS + 4) * n;
            weigh_points(&s->work);
            choose(s);
            restore_unit(s, unit);
            made = true;
        }
    }
    for (unsigned d = 0; d < PCT_FIT_PARAMETERS; d++)
        pct_free(s->values[d]);
    pct_free(mine);
    pct_free(room);
    pct_free(s);
    return made;
}
