/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measurements to be modelled, from a file: the text format and the JSON-lines format that Extra-P
 * reads (pcollect-model(1)). The first character that is no space decides the format: `{` begins
 * JSON lines.
 *
 * Data structure: series by (region, metric), each a growing list of points; repeats are points at
 * one place. Not MT-safe for one set.
 */
#ifndef PCT_FIT_DATA_H
#define PCT_FIT_DATA_H

#include "analysis/fit/fit.h"
#include "base/base.h"

#include <stdio.h>

struct pct_fit_series {
    char *region, *metric;
    struct pct_fit_point *points;
    size_t n, room;
};

struct pct_fit_set {
    unsigned n_parameters;
    char *names[PCT_FIT_PARAMETERS];
    struct pct_fit_series *series; /* in the order of their first appearance */
    size_t n, room;
    size_t last; /* the series found last: lines of one series are usually adjacent */
};

/* Reads a file. PC_OK; PC_ENOENT, PC_EIO, PC_EFORMAT with a text that names file, line, reason and
 * cure. */
int pct_fit_read(const char *path, struct pct_fit_set *out, struct pc_error *error);
void pct_fit_set_free(struct pct_fit_set *set);

/* ---- for the readers (read_text.c, read_json.c) ---- */

struct pct_fit_reader {
    FILE *file;
    const char *path;
    size_t line;
    struct pct_fit_set *set;
    struct pc_error *error;
};

int pct_fit_read_text(struct pct_fit_reader *r);
int pct_fit_read_json(struct pct_fit_reader *r);

/* Reads the next line without its newline into *line_out, which grows (*room_out) and is freed by
 * the caller at the end; false at the end of the file. Counts lines. */
bool pct_fit_line(struct pct_fit_reader *r, char **line_out, size_t *room_out);

/* Sets "path:line: " and the text; returns PC_EFORMAT. */
int pct_fit_wrong(struct pct_fit_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a parameter; fails if there are more than PCT_FIT_PARAMETERS or the name exists. */
int pct_fit_parameter(struct pct_fit_reader *r, const char *name);
/* The series of that region and metric, found or made. */
struct pct_fit_series *pct_fit_series_of(struct pct_fit_set *set, const char *region,
                                         const char *metric);
void pct_fit_add(struct pct_fit_series *s, const double *x, double y);

#endif
