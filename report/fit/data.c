/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of measurements, and what their readers share.
 */
#include "report/fit/data.h"
#include "report/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(pct_alloc(n, 1), text, n);
}

void pct_fit_set_free(struct pct_fit_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        free(set->series[i].region);
        free(set->series[i].metric);
        free(set->series[i].points);
    }
    for (unsigned d = 0; d < PCT_FIT_PARAMETERS; d++)
        free(set->names[d]);
    free(set->series);
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
    set->names[set->n_parameters++] = copy_text(name);
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
        (struct pct_fit_series){.region = copy_text(region), .metric = copy_text(metric)};
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

/* The first character that is no space, pushed back; EOF in an empty file. */
static int first_character(FILE *file)
{
    int c;
    do
        c = getc(file);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    return c;
}

static int read_open(struct pct_fit_reader *r)
{
    int c = first_character(r->file);
    if (ferror(r->file))
        return pc_error_set(r->error, PC_EIO, "%s: %s", r->path, strerror(errno));
    if (c == EOF)
        return pc_error_set(r->error, PC_EFORMAT,
                            "%s: no measurements: it needs PARAMETER, POINTS, REGION and DATA "
                            "lines, or JSON lines",
                            r->path);
    rewind(r->file);
    int err = c == '{' ? pct_fit_read_json(r) : pct_fit_read_text(r);
    if (!err && !r->set->n)
        err = pc_error_set(r->error, PC_EFORMAT, "%s: no DATA line", r->path);
    return err;
}

int pct_fit_read(const char *path, struct pct_fit_set *out, struct pc_error *error)
{
    struct pct_fit_set set = {0};
    struct pct_fit_reader r = {.path = path, .set = &set, .error = error};
    r.file = fopen(path, "re");
    if (!r.file)
        return pc_error_set(error, errno == ENOENT ? PC_ENOENT : PC_EIO, "%s: %s", path,
                            strerror(errno));
    int err = read_open(&r);
    fclose(r.file);
    if (err)
        pct_fit_set_free(&set);
    else
        *out = set;
    return err;
}
