/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The efficiency and its factors over the numbers of ranks or threads, of the largest size: the
 * table `scales` as a picture. Each line has a colour, a dash pattern and its name at the right, so
 * that it can be identified in print and by colour-blind readers.
 */
#include "view/compare_print.h"
#include "view/svg.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 360, LEFT = 60, RIGHT = 130, TOP = 56, BOTTOM = 50, NAME = 15 };

static const struct factor {
    const char *name, *colour, *dash;
    size_t at;
} factors[] = {
    {"efficiency", PCT_SVG_BLUE, "none", offsetof(struct pct_scale_point, efficiency)},
    {"parallel", "#b34700", "8 3", offsetof(struct pct_scale_point, parallel)},
    {"balance", "#1f7a5c", "2 3", offsetof(struct pct_scale_point, balance)},
    {"communication", "#8a4596", "9 3 2 3", offsetof(struct pct_scale_point, communication)},
    {"threading", "#8f6a00", "1 2", offsetof(struct pct_scale_point, threads)},
    {"computation", "#595959", "4 4", offsetof(struct pct_scale_point, computation)},
};
enum { N_FACTORS = PC_ARRAY_LEN(factors) };

struct picture {
    const struct pct_scale *s;
    size_t first; /* of the points that are drawn */
    double most;
};

/* The name of a line, which ends at a point; heights of this end and of the name. */
struct name {
    const struct factor *factor;
    size_t end;
    double y, at;
};

/* 0: it is not known, or no factor of this comparison. */
static double value_of(const struct picture *p, size_t point, const struct factor *f)
{
    bool none = f->at == offsetof(struct pct_scale_point, threads) && !p->s->by_threads;
    return none ? 0 : *(const double *)((const char *)&p->s->points[point] + f->at);
}

/* Position on the axis, which is logarithmic to base 2. */
static double x_of(const struct picture *p, size_t point)
{
    const struct pct_scale_point *points = p->s->points;
    double first = points[p->first].width, last = points[p->s->n_points - 1].width;
    return LEFT + (WIDTH - LEFT - RIGHT) * log(points[point].width / first) / log(last / first);
}

static double y_of(const struct picture *p, double value)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / p->most;
}

static void put_axes(FILE *out, const struct picture *p)
{
    char text[64];
    double step = p->most > 4 ? ceil(p->most / 4) : p->most > 2 ? 1 : 0.25;
    for (double v = 0; v <= p->most * 1.0001; v += step) {
        fprintf(out, "<path d=\"M%d %.1fH%d\" stroke=\"#d0d0d0\"/>\n", LEFT, y_of(p, v),
                WIDTH - RIGHT);
        pct_text_format(text, sizeof text, "%.0f %%", 100 * v);
        pct_svg_text(out, LEFT - 8, y_of(p, v) + 4, "end", text);
    }
    double free_from = 0;
    for (size_t i = p->first; i < p->s->n_points; i++) {
        if (x_of(p, i) < free_from)
            continue;
        pct_text_count(text, (pc_u128)llround(p->s->points[i].width));
        pct_svg_text(out, x_of(p, i), HEIGHT - BOTTOM + 18, "middle", text);
        free_from = x_of(p, i) + 40;
    }
    pct_svg_text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", pct_scale_unit(p->s, 0));
}

/* Draws a line. A value of 0 is unknown, as in the table: the line has a gap there. */
static void put_line(FILE *out, const struct picture *p, const struct factor *f)
{
    fprintf(out,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"",
            f->colour, f->dash);
    bool begun = false;
    for (size_t i = p->first; i < p->s->n_points; i++) {
        double v = value_of(p, i, f);
        if (v > 0)
            fprintf(out, "%c%.1f %.1f", begun ? 'L' : 'M', x_of(p, i), y_of(p, v));
        begun = v > 0;
    }
    fputs("\"/>\n", out);
    for (size_t i = p->first; i < p->s->n_points; i++) {
        double v = value_of(p, i, f);
        char width[PCT_NUMBER_BYTES];
        if (v > 0)
            fprintf(out,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s: %.3f %% on "
                    "%s</title></circle>\n",
                    x_of(p, i), y_of(p, v), f->colour, f->name, 100 * v,
                    pct_text_count(width, (pc_u128)llround(p->s->points[i].width)));
    }
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return (x->y > y->y) - (x->y < y->y);
}

/* Finds where the lines end, in the order of heights, and heights of their names without overlaps.
 * A line without a known value has no name. */
static size_t find_names(const struct picture *p, struct name names[N_FACTORS])
{
    size_t n = 0;
    double least = 0, most = HEIGHT - BOTTOM;
    for (size_t i = 0; i < N_FACTORS; i++)
        for (size_t end = p->s->n_points; end-- > p->first;) {
            double value = value_of(p, end, &factors[i]);
            if (!(value > 0))
                continue;
            names[n++] = (struct name){&factors[i], end, y_of(p, value), 0};
            break;
        }
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++, least = names[i - 1].at + NAME)
        names[i].at = fmax(names[i].y, least);
    for (size_t i = n; i-- > 0; most = names[i].at - NAME)
        names[i].at = fmin(names[i].at, most);
    return n;
}

/* Writes the names right of all lines. A thin line leads to its name from the end of a line that
 * reaches the right side; a shorter line has a sign beside its name. */
static void put_names(FILE *out, const struct picture *p)
{
    enum { SIGN = 18, TEXT_AT = SIGN + 6 };
    struct name names[N_FACTORS];
    size_t n = find_names(p, names);
    for (size_t i = 0; i < n; i++) {
        const struct name *name = &names[i];
        const struct factor *f = name->factor;
        int right = WIDTH - RIGHT;
        if (name->end + 1 == p->s->n_points)
            fprintf(out, "<path fill=\"none\" stroke=\"%s\" d=\"M%d %.1fL%d %.1f\"/>\n", f->colour,
                    right, name->y, right + TEXT_AT - 3, name->at);
        else
            fprintf(out,
                    "<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" "
                    "d=\"M%d %.1fh%d\"/>\n",
                    f->colour, f->dash, right + TEXT_AT - 3 - SIGN, name->at, SIGN);
        pct_svg_text(out, right + TEXT_AT, name->at + 4, "start", f->name);
    }
}

/* Says how much waiting for processors is not in the picture, if it is much. */
static void put_delays(FILE *out, const struct picture *p)
{
    double most = 0;
    char text[128];
    for (size_t i = p->first; i < p->s->n_points; i++)
        most = fmax(most, p->s->points[i].delayed_ns / pct_scale_whole_ns(&p->s->points[i]));
    if (!(most >= PCT_COMPARE_DELAYED))
        return;
    pct_text_format(text, sizeof text,
                    "without the time in which no processor was free: up to %.0f %% of a run after "
                    "MPI_Init",
                    100 * most);
    pct_svg_text(out, LEFT, 40, "start", text);
}

void pct_scale_svg(FILE *out, const struct pct_scale *s)
{
    struct picture p = {.s = s, .first = pct_scale_first(s), .most = 1};
    struct pct_buf title = {0};
    for (size_t i = p.first; i < s->n_points; i++)
        for (size_t k = 0; k < N_FACTORS; k++)
            p.most = fmax(p.most, value_of(&p, i, &factors[k]));
    pct_svg_begin(out, WIDTH, HEIGHT);
    pct_buf_format(&title, "%s scaling of ", s->scaling == PCT_SCALING_WEAK ? "Weak" : "Strong");
    pct_text_escape(&title, *s->runs[0].program ? pc_base_name(s->runs[0].program) : "the program",
                    PCT_ESCAPE_CELL);
    pct_svg_text(out, LEFT, 22, "start", title.data);
    put_delays(out, &p);
    put_axes(out, &p);
    for (size_t i = 0; i < N_FACTORS; i++)
        put_line(out, &p, &factors[i]);
    put_names(out, &p);
    pct_svg_end(out);
    pct_buf_free(&title);
}
