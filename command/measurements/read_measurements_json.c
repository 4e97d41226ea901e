/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON lines: one object a line,
 *
 *     {"params": {"p": 4, "n": 100}, "callpath": "main->solve", "metric": "time", "value": 1.5}
 *
 * callpath and metric may be omitted. All lines have the parameters of the first.
 */
#include "command/measurements/measurements.h"

#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>

static int read_text(struct pct_fit_reader *r, const json_t *object, const char *key,
                     const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return PC_OK;
    if (!json_is_string(value))
        return pct_fit_wrong(r, "\"%s\" is not a string", key);
    *out = json_string_value(value);
    return PC_OK;
}

static int name_parameters(struct pct_fit_reader *r, json_t *params)
{
    const char *name;
    json_t *value;
    json_object_foreach(params, name, value)
    {
        (void)value;
        int err = pct_fit_parameter(r, name);
        if (err)
            return err;
    }
    return r->set->n_parameters ? PC_OK : pct_fit_wrong(r, "\"params\" names no parameter");
}

static int read_place(struct pct_fit_reader *r, json_t *params, double *x)
{
    struct pct_fit_set *set = r->set;
    if (!json_is_object(params))
        return pct_fit_wrong(r, "\"params\" is missing, or is not an object of numbers");
    if (!set->n_parameters) {
        int err = name_parameters(r, params);
        if (err)
            return err;
    }
    if (json_object_size(params) != set->n_parameters)
        return pct_fit_wrong(
            r, "\"params\" has %zu %s: the first line had %u", json_object_size(params),
            json_object_size(params) == 1 ? "member" : "members", set->n_parameters);
    for (unsigned d = 0; d < set->n_parameters; d++) {
        const json_t *value = json_object_get(params, set->names[d]);
        if (!json_is_number(value) || !(json_number_value(value) > 0))
            return pct_fit_wrong(r, "parameter \"%.64s\" is missing, or is not a number above 0",
                                 set->names[d]);
        x[d] = json_number_value(value);
    }
    return PC_OK;
}

/* One number, or an array of repeats. */
static int add_values(struct pct_fit_reader *r, const json_t *value, struct pct_fit_series *s,
                      const double *x)
{
    size_t n = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        if (!json_is_number(one))
            return pct_fit_wrong(
                r, "\"value\" is missing, or is neither a number nor an array of numbers");
        pct_fit_add(s, x, json_number_value(one));
    }
    return PC_OK;
}

static int read_object(struct pct_fit_reader *r, const json_t *object)
{
    const char *region = "<root>", *metric = "<default>";
    double x[PCT_FIT_PARAMETERS] = {1, 1};
    int err = read_text(r, object, "callpath", &region);
    if (!err)
        err = read_text(r, object, "metric", &metric);
    if (!err)
        err = read_place(r, json_object_get(object, "params"), x);
    if (!err)
        err = add_values(r, json_object_get(object, "value"),
                         pct_fit_series_of(r->set, region, metric), x);
    return err;
}

int pct_fit_read_json(struct pct_fit_reader *r)
{
    char *line = NULL;
    size_t room = 0;
    int err = PC_OK;
    while (!err && pct_fit_line(r, &line, &room)) {
        if (!line[strspn(line, " \t")])
            continue;
        json_error_t json_error;
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &json_error);
        if (!object)
            err = pct_fit_wrong(r, "not a JSON object: column %d: %s", json_error.column,
                                json_error.text);
        else
            err = read_object(r, object);
        json_decref(object);
    }
    free(line);
    return err;
}

#else

int pct_fit_read_json(struct pct_fit_reader *r)
{
    r->line = 1;
    return pct_fit_wrong(r, "JSON lines cannot be read: pcollect was built without jansson");
}

#endif
