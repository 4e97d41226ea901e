/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of measurements, and what their readers share.
 */
#include "command/measurements/measurements.h"
#include "analysis/buffer.h"

#include <stdarg.h>
#include <string.h>

void pct_fit_set_free(struct pct_fit_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        pct_free(set->series[i].region);
        pct_free(set->series[i].metric);
        pct_free(set->series[i].points);
    }
    for (unsigned d = 0; d < PCT_FIT_PARAMETERS; d++)
        pct_free(set->names[d]);
    pct_free(set->series);
    *set = (struct pct_fit_set){0};
}

int pct_fit_wrong(struct pct_fit_reader *r, const char *format, ...)
{
    char text[384];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pc_error_set(r->error, PC_EFORMAT, "%s:%zu: %s", r->path, r->line, text);
}

bool pct_fit_line(struct pct_fit_reader *r, char **line_out, size_t *room_out)
{
    ssize_t n = getline(line_out, room_out, r->file);
    if (n < 0)
        return false;
    r->line++;
    while (n > 0 && ((*line_out)[n - 1] == '\n' || (*line_out)[n - 1] == '\r'))
        (*line_out)[--n] = '\0';
    return true;
}

int pct_fit_parameter(struct pct_fit_reader *r, const char *name)
{
    struct pct_fit_set *set = r->set;
    if (set->n_parameters == PCT_FIT_PARAMETERS)
        return pct_fit_wrong(r,
                             "parameter \"%.64s\" is one too many: models have at most %d; leave "
                             "the data of one value of the others",
                             name, PCT_FIT_PARAMETERS);
    for (unsigned d = 0; d < set->n_parameters; d++) {
        if (!strcmp(set->names[d], name))
            return pct_fit_wrong(r, "parameter \"%.64s\" is named twice", name);
    }
    set->names[set->n_parameters++] = pct_copy(name);
    return PC_OK;
}

static bool is_series(const struct pct_fit_series *s, const char *region, const char *metric)
{
    return !strcmp(s->region, region) && !strcmp(s->metric, metric);
}

struct pct_fit_series *pct_fit_series_of(struct pct_fit_set *set, const char *region,
                                         const char *metric)
{
    if (set->last < set->n && is_series(&set->series[set->last], region, metric))
        return &set->series[set->last];
    for (size_t i = 0; i < set->n; i++) {
        if (is_series(&set->series[i], region, metric)) {
            set->last = i;
            return &set->series[i];
        }
    }
    set->series = pct_grow(set->series, set->n, &set->room, sizeof *set->series);
    set->series[set->n] =
        (struct pct_fit_series){.region = pct_copy(region), .metric = pct_copy(metric)};
    set->last = set->n;
    return &set->series[set->n++];
}

void pct_fit_add(struct pct_fit_series *s, const double *x, double y)
{
    s->points = pct_grow(s->points, s->n, &s->room, sizeof *s->points);
    struct pct_fit_point *p = &s->points[s->n++];
    for (unsigned d = 0; d < PCT_FIT_PARAMETERS; d++)
        p->x[d] = x[d];
    p->y = y;
}
