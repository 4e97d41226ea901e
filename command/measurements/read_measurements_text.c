/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text format: lines of a keyword and its words.
 *
 *     PARAMETER p [n]           names of parameters; may be repeated
 *     POINTS 2 4 8              places; with two parameters ( 2 10 ) ( 4 10 ) ...
 *     METRIC time               of what follows; optional
 *     REGION main->solve        of what follows
 *     DATA 1.2 1.3              measurements at the next place
 *
 * Invariant: `place` is the number of DATA lines since the last REGION or METRIC.
 */
#include "analysis/buffer.h"
#include "command/measurements/measurements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct state {
    struct pct_fit_reader *r;
    char *region, *metric;
    double (*places)[PCT_FIT_PARAMETERS];
    size_t n_places, room, place;
};

static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t", s[n - 1]))
        s[--n] = '\0';
    return s;
}

static void set_text(char **text, const char *value)
{
    pct_free(*text);
    *text = pct_copy(value);
}

/* Reads a number; it must be the whole word. */
static int read_number(struct state *s, const char *word, double *out)
{
    char *end;
    double v = strtod(word, &end);
    if (end == word || *end || !isfinite(v))
        return pct_fit_wrong(s->r, "\"%.64s\" is not a number", word);
    *out = v;
    return PC_OK;
}

static int read_parameters(struct state *s, char *value)
{
    char *save, *word = strtok_r(value, " \t", &save);
    if (!word)
        return pct_fit_wrong(s->r, "PARAMETER needs a name");
    if (s->n_places)
        return pct_fit_wrong(s->r, "PARAMETER after POINTS: name all parameters first");
    for (; word; word = strtok_r(NULL, " \t", &save)) {
        int err = pct_fit_parameter(s->r, word);
        if (err)
            return err;
    }
    return PC_OK;
}

static int read_place(struct state *s, const double *x)
{
    for (unsigned d = 0; d < s->r->set->n_parameters; d++) {
        if (!(x[d] > 0))
            return pct_fit_wrong(s->r, "parameter %s is %g: models need values above 0",
                                 s->r->set->names[d], x[d]);
    }
    s->places = pct_grow(s->places, s->n_places, &s->room, sizeof *s->places);
    memcpy(s->places[s->n_places++], x, sizeof *s->places);
    return PC_OK;
}

/* Replaces parentheses by blanks. Returns the number of outermost pairs, plus one if one is left
 * open. */
static size_t count_groups(char *value)
{
    size_t n = 0, depth = 0;
    for (char *p = value; *p; p++) {
        if (*p == '(')
            n += !depth++;
        else if (*p == ')' && depth)
            depth--;
        else if (*p != ')')
            continue;
        *p = ' ';
    }
    return n + (depth > 0);
}

/* Reads places. Parentheses around places and around coordinates may be omitted. */
static int read_points(struct state *s, char *value)
{
    unsigned n_parameters = s->r->set->n_parameters, n = 0;
    size_t n_groups = count_groups(value), n_before = s->n_places;
    double x[PCT_FIT_PARAMETERS] = {1, 1};
    int err = PC_OK;
    if (!n_parameters)
        return pct_fit_wrong(s->r, "POINTS before PARAMETER: name the parameters first");
    char *save, *word = strtok_r(value, " \t", &save);
    for (; word && !err; word = strtok_r(NULL, " \t", &save)) {
        err = read_number(s, word, &x[n]);
        if (!err && ++n == n_parameters) {
            err = read_place(s, x);
            n = 0;
        }
    }
    if (!err && (n || (n_groups && n_groups != s->n_places - n_before)))
        err = pct_fit_wrong(s->r, "a point needs %u %s: write ( 1 2 ) ( 1 4 ) for two parameters",
                            n_parameters, n_parameters == 1 ? "coordinate" : "coordinates");
    return err;
}

static int read_data(struct state *s, char *value)
{
    char *save, *word = strtok_r(value, " \t", &save);
    if (!s->n_places)
        return pct_fit_wrong(s->r, "DATA before POINTS: name the points first");
    if (s->place == s->n_places)
        return pct_fit_wrong(s->r, "a DATA line too many: there %s %zu %s, one line for each",
                             s->n_places == 1 ? "is" : "are", s->n_places,
                             s->n_places == 1 ? "point" : "points");
    if (!word)
        return pct_fit_wrong(s->r, "DATA needs a number");
    struct pct_fit_series *series = pct_fit_series_of(s->r->set, s->region, s->metric);
    for (; word; word = strtok_r(NULL, " \t", &save)) {
        double y = 0;
        int err = read_number(s, word, &y);
        if (err)
            return err;
        pct_fit_add(series, s->places[s->place], y);
    }
    s->place++;
    return PC_OK;
}

/* Called where the data of a region end. */
static int end_data(struct state *s)
{
    size_t n = s->place;
    s->place = 0;
    if (n && n < s->n_places)
        return pct_fit_wrong(s->r,
                             "the region before has %zu DATA line%s, and there are %zu points: "
                             "one line for each",
                             n, n == 1 ? "" : "s", s->n_places);
    return PC_OK;
}

static int read_line(struct state *s, char *line)
{
    char *keyword = trim(line);
    if (!*keyword || *keyword == '#')
        return PC_OK;
    size_t n = strcspn(keyword, " \t");
    char *value = keyword + n + (keyword[n] != '\0');
    keyword[n] = '\0';
    value = trim(value);
    if (!strcmp(keyword, "DATA"))
        return read_data(s, value);
    if (!strcmp(keyword, "REGION") || !strcmp(keyword, "METRIC")) {
        set_text(*keyword == 'R' ? &s->region : &s->metric, value);
        return end_data(s);
    }
    if (!strcmp(keyword, "PARAMETER"))
        return read_parameters(s, value);
    if (!strcmp(keyword, "POINTS"))
        return read_points(s, value);
    return pct_fit_wrong(s->r,
                         "unknown keyword \"%.64s\": lines begin with PARAMETER, POINTS, METRIC, "
                         "REGION, DATA or #",
                         keyword);
}

int pct_fit_read_text(struct pct_fit_reader *r)
{
    struct state s = {.r = r};
    char *line = NULL;
    size_t room = 0;
    int err = PC_OK;
    set_text(&s.region, "");
    set_text(&s.metric, "");
    while (!err && pct_fit_line(r, &line, &room))
        err = read_line(&s, line);
    if (!err)
        err = end_data(&s);
    free(line);
    pct_free(s.region);
    pct_free(s.metric);
    pct_free(s.places);
    return err;
}
