/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the groups in two steps. First it makes far too many cells: CELLS points, each the farthest
 * from the earlier ones, moved three times to the mean of the points nearest to them. Groups
 * further apart than their width each get at least one. Then it joins cells that have no gap
 * between them. Points that did not decide where the cells are decide whether there is a gap: in
 * many dimensions the points that placed the cells look as if they lay apart.
 *
 *   gap between two cells: projected on the line through their centres, the means of their points
 *   are GAP times as far apart as the sum of their standard deviations. Two halves of one normal
 *   distribution have 1.3, of a uniform one 1.7, its tail from three deviations on and the rest
 *   2.6; two groups six deviations apart have 3.
 *
 * A cell with fewer than FEW such points joins the nearest group if it is not further from its
 * centre than 2.25 times its radius or FAR deviations in that direction; else it is a group of its
 * own.
 */
#include "analysis/clusters.h"

#include "analysis/allocation.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

enum { CELLS = 128, MOST_ASKED = 8192, ROUNDS = 3, FEW = 6, FAR = 7, IN_A_CELL = 16, MANY = 512 };
static const double GAP = 2.8;

struct work {
    const float *x;
    uint32_t n, d, n_cells;
    float *centres;               /* of cells */
    uint16_t *cell;               /* of each point */
    uint32_t *asked, n_asked;     /* points that decide whether there is a gap */
    uint32_t *placing, n_placing; /* points that place cells */
    uint16_t group[CELLS];        /* of each cell: another cell of the group, or itself */
    uint32_t n_of[CELLS];         /* points asked in the cell */
    uint32_t begin[CELLS + 1];    /* their position in `asked`, which is sorted by cell */
};

static const float *point(const struct work *w, uint32_t i)
{
    return w->x + (size_t)i * w->d;
}

static float *centre(const struct work *w, uint32_t c)
{
    return w->centres + (size_t)c * w->d;
}

static float distance2(const float *a, const float *b, uint32_t d)
{
    float sum = 0;
    for (uint32_t k = 0; k < d; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* ---- Cells ---------------------------------------------------------------------------------- */

/* Chooses points: half of them place cells, half decide about gaps. Few points do both; of very
 * many points only some are used. */
static void choose_points(struct work *w)
{
    w->asked = pct_alloc(w->n, sizeof *w->asked);
    w->placing = pct_alloc(w->n, sizeof *w->placing);
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t hash = pc_hash_u64(i + 1);
        if (w->n > 2 * MOST_ASKED && (hash >> 8) % w->n >= 2 * MOST_ASKED)
            continue;
        if (hash & 1 || w->n < MANY)
            w->asked[w->n_asked++] = i;
        if (!(hash & 1) || w->n < MANY)
            w->placing[w->n_placing++] = i;
    }
}

/* Places cells. Stops when no point is further than `least` from a centre. */
static void place_cells(struct work *w, float least)
{
    uint32_t most = w->n / IN_A_CELL + 1;
    most = most < CELLS ? most : CELLS;
    float *least2 = pct_alloc(w->n, sizeof *least2);
    uint32_t next = 0;
    for (uint32_t i = 0; i < w->n; i++)
        least2[i] = HUGE_VALF;
    while (w->n_cells < most && least2[next] > least * least) {
        float *c = centre(w, w->n_cells++);
        memcpy(c, point(w, next), w->d * sizeof *c);
        next = 0;
        for (uint32_t i = 0; i < w->n; i++) {
            float far2 = distance2(point(w, i), c, w->d);
            least2[i] = far2 < least2[i] ? far2 : least2[i];
            next = least2[i] > least2[next] ? i : next;
        }
    }
    pct_free(least2);
}

static uint16_t nearest_cell(const struct work *w, const float *x)
{
    uint32_t best = 0;
    float best2 = HUGE_VALF;
    for (uint32_t c = 0; c < w->n_cells; c++) {
        float far2 = distance2(x, centre(w, c), w->d);
        if (far2 < best2) {
            best2 = far2;
            best = c;
        }
    }
    return (uint16_t)best;
}

/* Moves each centre to the mean of its placing points; without any it stays. */
static void move_cells(struct work *w)
{
    double *sum = pct_alloc((size_t)w->n_cells * w->d, sizeof *sum);
    uint32_t n[CELLS] = {0};
    for (uint32_t k = 0; k < w->n_placing; k++) {
        const float *x = point(w, w->placing[k]);
        uint16_t c = nearest_cell(w, x);
        n[c]++;
        for (uint32_t j = 0; j < w->d; j++)
            sum[(size_t)c * w->d + j] += x[j];
    }
    for (uint32_t c = 0; c < w->n_cells; c++)
        for (uint32_t j = 0; n[c] && j < w->d; j++)
            centre(w, c)[j] = (float)(sum[(size_t)c * w->d + j] / n[c]);
    pct_free(sum);
}

/* ---- Gaps ----------------------------------------------------------------------------------- */

struct spread {
    double n, sum, squares;
};

static void add(struct spread *s, double v)
{
    s->n++;
    s->sum += v;
    s->squares += v * v;
}

static double mean_of(const struct spread *s)
{
    return s->n > 0 ? s->sum / s->n : 0;
}

static double deviation_of(const struct spread *s)
{
    double mean = mean_of(s);
    double variance = s->n > 1 ? (s->squares - s->n * mean * mean) / (s->n - 1) : 0;
    return variance > 0 ? sqrt(variance) : 0;
}

/* The position of x on the way from a (0) to b (1). */
static double along(const float *x, const float *a, const float *b, uint32_t d)
{
    double dot = 0, length2 = 0;
    for (uint32_t k = 0; k < d; k++) {
        double u = (double)b[k] - a[k];
        dot += (x[k] - (double)a[k]) * u;
        length2 += u * u;
    }
    return length2 > 0 ? dot / length2 : 0;
}

static uint16_t group_of(struct work *w, uint32_t c)
{
    while (w->group[c] != c)
        c = w->group[c];
    return (uint16_t)c;
}

static void join(struct work *w, uint32_t a, uint32_t to)
{
    w->group[group_of(w, a)] = group_of(w, to);
}

/* True if there is a gap between two sets of cells, given by their numbers in `of` (by cell) and
 * their centres. careful: not if few points might lie so by chance. */
static bool has_gap(const struct work *w, const uint16_t *of, const float *centres, uint16_t a,
                    uint16_t b, bool careful)
{
    const float *at_a = centres + (size_t)a * w->d, *at_b = centres + (size_t)b * w->d;
    struct spread of_a = {0}, of_b = {0};
    for (uint32_t c = 0; c < w->n_cells; c++)
        for (uint32_t k = w->begin[c]; (of[c] == a || of[c] == b) && k < w->begin[c + 1]; k++)
            add(of[c] == a ? &of_a : &of_b, along(point(w, w->asked[k]), at_a, at_b, w->d));
    double apart = fabs(mean_of(&of_b) - mean_of(&of_a));
    double by_chance = careful ? 1 + 0.5 / sqrt(fmin(of_a.n, of_b.n)) : 1;
    return apart > GAP * by_chance * (deviation_of(&of_a) + deviation_of(&of_b));
}

static void sort_asked(struct work *w)
{
    uint32_t *sorted = pct_alloc(w->n_asked, sizeof *sorted), at[CELLS];
    for (uint32_t k = 0; k < w->n_asked; k++)
        w->n_of[w->cell[w->asked[k]]]++;
    for (uint32_t c = 0; c < w->n_cells; c++) {
        at[c] = w->begin[c];
        w->begin[c + 1] = w->begin[c] + w->n_of[c];
    }
    for (uint32_t k = 0; k < w->n_asked; k++)
        sorted[at[w->cell[w->asked[k]]]++] = w->asked[k];
    pct_free(w->asked);
    w->asked = sorted;
}

static void join_cells(struct work *w)
{
    uint16_t own[CELLS];
    for (uint32_t c = 0; c < w->n_cells; c++)
        own[c] = (uint16_t)c;
    for (uint16_t a = 0; a < w->n_cells; a++)
        for (uint16_t b = (uint16_t)(a + 1); b < w->n_cells; b++)
            if (w->n_of[a] >= FEW && w->n_of[b] >= FEW && group_of(w, a) != group_of(w, b) &&
                !has_gap(w, own, w->centres, a, b, false))
                join(w, a, b);
}

/* Finds the mean of the asked points of a group, and returns their number. */
static uint32_t find_mean(struct work *w, uint16_t group, float *mean)
{
    double *sum = pct_alloc(w->d, sizeof *sum);
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->n_asked; k++) {
        uint32_t i = w->asked[k];
        if (group_of(w, w->cell[i]) != group)
            continue;
        n++;
        for (uint32_t j = 0; j < w->d; j++)
            sum[j] += point(w, i)[j];
    }
    for (uint32_t j = 0; j < w->d; j++)
        mean[j] = n ? (float)(sum[j] / n) : 0;
    pct_free(sum);
    return n;
}

/* The distance of a place from a group, relative to the limit: up to 1 it belongs to the group. */
static double remoteness(struct work *w, uint16_t group, const float *mean, const float *place)
{
    struct spread on_line = {0};
    double radius2 = 0, far = sqrt((double)distance2(mean, place, w->d));
    for (uint32_t k = 0; k < w->n_asked; k++) {
        uint32_t i = w->asked[k];
        if (group_of(w, w->cell[i]) != group)
            continue;
        add(&on_line, along(point(w, i), mean, place, w->d));
        radius2 += (double)distance2(point(w, i), mean, w->d);
    }
    double radius = on_line.n > 0 ? sqrt(radius2 / on_line.n) : 0;
    double allowed = fmax(2.25 * radius, FAR * deviation_of(&on_line) * far);
    return allowed > 0 ? far / allowed : far > 0 ? HUGE_VAL : 0;
}

/* Groups of cells that are not small. */
struct groups {
    bool is_group[CELLS];
    float *mean; /* of each group */
};

static struct groups find_groups(struct work *w)
{
    struct groups g = {{false}, pct_alloc((size_t)w->n_cells * w->d, sizeof *g.mean)};
    for (uint32_t c = 0; c < w->n_cells; c++)
        if (group_of(w, c) == c && w->n_of[c] >= FEW)
            g.is_group[c] = find_mean(w, (uint16_t)c, g.mean + (size_t)c * w->d) > 0;
    return g;
}

/* Joins two groups that, with all their points, have no gap. A few points of two cells may have
 * seemed to have one. */
static bool join_two_groups(struct work *w)
{
    struct groups g = find_groups(w);
    uint16_t of[CELLS];
    bool joined = false;
    for (uint32_t c = 0; c < w->n_cells; c++)
        of[c] = group_of(w, c);
    for (uint16_t a = 0; a < w->n_cells && !joined; a++)
        for (uint16_t b = (uint16_t)(a + 1); b < w->n_cells && !joined; b++)
            if (g.is_group[a] && g.is_group[b] && !has_gap(w, of, g.mean, a, b, true)) {
                join(w, a, b);
                joined = true;
            }
    pct_free(g.mean);
    return joined;
}

static void join_small_cells(struct work *w)
{
    struct groups g = find_groups(w);
    uint16_t home[CELLS];
    for (uint32_t c = 0; c < w->n_cells; c++) {
        double best = 1;
        home[c] = (uint16_t)c;
        for (uint16_t k = 0; w->n_of[c] < FEW && k < w->n_cells; k++) {
            double r = g.is_group[k] ? remoteness(w, k, g.mean + (size_t)k * w->d, centre(w, c))
                                     : HUGE_VAL;
            if (r <= best) {
                best = r;
                home[c] = k;
            }
        }
    }
    for (uint32_t c = 0; c < w->n_cells; c++)
        if (home[c] != c)
            join(w, c, home[c]);
    pct_free(g.mean);
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* Joins the two cells of different groups that are nearest, until there are few enough groups. */
static void join_nearest(struct work *w, uint32_t most)
{
    for (;;) {
        uint32_t n = 0, a_best = 0, b_best = 0;
        float best2 = HUGE_VALF;
        for (uint32_t c = 0; c < w->n_cells; c++)
            n += group_of(w, c) == c;
        if (n <= most)
            return;
        for (uint32_t a = 0; a < w->n_cells; a++)
            for (uint32_t b = a + 1; b < w->n_cells; b++) {
                float far2 = distance2(centre(w, a), centre(w, b), w->d);
                if (far2 < best2 && group_of(w, a) != group_of(w, b)) {
                    best2 = far2;
                    a_best = a;
                    b_best = b;
                }
            }
        join(w, a_best, b_best);
    }
}

static uint32_t number_groups(struct work *w, uint16_t *group)
{
    uint16_t number[CELLS];
    uint32_t n = 0;
    memset(number, 0xff, sizeof number);
    for (uint32_t i = 0; i < w->n; i++) {
        uint16_t g = group_of(w, w->cell[i]);
        if (number[g] == 0xffff)
            number[g] = (uint16_t)n++;
        group[i] = number[g];
    }
    return n;
}

uint32_t pct_clusters_find(const struct pct_points *points, uint32_t most, uint16_t *group)
{
    uint32_t n = points->n, d = points->d;
    struct work w = {.x = points->x, .n = n, .d = d};
    if (!n)
        return 0;
    w.centres = pct_alloc((size_t)CELLS * d, sizeof *w.centres);
    w.cell = pct_alloc(n, sizeof *w.cell);
    choose_points(&w);
    place_cells(&w, points->least);
    for (unsigned round = 0; round < ROUNDS; round++)
        move_cells(&w);
    for (uint32_t i = 0; i < n; i++)
        w.cell[i] = nearest_cell(&w, point(&w, i));
    for (uint32_t c = 0; c < w.n_cells; c++)
        w.group[c] = (uint16_t)c;
    sort_asked(&w);
    join_cells(&w);
    while (join_two_groups(&w))
        ;
    join_small_cells(&w);
    join_nearest(&w, most);
    uint32_t n_groups = number_groups(&w, group);
    pct_free(w.centres);
    pct_free(w.cell);
    pct_free(w.asked);
    pct_free(w.placing);
    return n_groups;
}
