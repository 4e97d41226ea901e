/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selects rows and columns of a table from the command line: see query.h.
 *
 * A condition is a column, an operator and a value. Numbers and texts are compared in their tsv
 * form, so that values from tsv output can be used; paths also match by their last parts, which the
 * text report shows.
 */
#include "view/query.h"

#include "analysis/counters/estimate.h"
#include "analysis/symbols/symbols.h"
#include "base/nearest.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nearest word ---------------------------------------------------------------------------- */

const char *pct_nearest(const char *typed, pct_words_fn *next, const void *arg)
{
    const char *best = NULL;
    size_t n = strlen(typed);
    unsigned best_distance = PC_FAR;
    for (size_t i = 0; next(arg, i); i++) {
        const char *word = next(arg, i);
        unsigned d = n >= 3 && !strncmp(word, typed, n) ? 1 : pc_distance(typed, word);
        if (d < best_distance) {
            best = word;
            best_distance = d;
        }
    }
    return best && pc_is_near(best_distance, strlen(best)) ? best : NULL;
}

const char *pct_typed(const char *value)
{
    return *value ? value : "''";
}

int pct_unknown_word(struct pct_buf *why, const char *option, const char *value, pct_words_fn *next,
                     const void *arg)
{
    const char *nearest = pct_nearest(value, next, arg);
    pct_buf_format(why, "--%s %s: unknown", option, pct_typed(value));
    pct_buf_format(why, nearest ? "; did you mean %s? Give one of" : "; give one of", nearest);
    for (size_t i = 0; next(arg, i); i++)
        pct_buf_format(why, "%s %s", i ? "," : "", next(arg, i));
    return -1;
}

static const char *next_column(const void *arg, size_t i)
{
    const struct pct_table *t = arg;
    return i < t->n_columns ? t->columns[i].name : NULL;
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* True for columns that are shown after the +- of another. */
static bool is_error(const struct pct_table *t, const struct pct_column *c)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].error && !strcmp(t->columns[i].error, c->name))
            return true;
    return false;
}

const struct pct_column **pct_choice_columns(const struct pct_choice *c, const struct pct_table *t,
                                             bool people, size_t *n_out)
{
    const struct pct_column **list = pct_alloc(t->n_columns, sizeof *list);
    size_t n = 0;
    if (!c || !c->columns) {
        size_t shown = people && t->n_shown ? t->n_shown : t->n_columns;
        for (size_t i = 0; i < shown; i++)
            if (!t->columns[i].asked &&
                (!people || !(t->columns[i].exact || is_error(t, &t->columns[i]))))
                list[n++] = &t->columns[i];
    } else {
        for (const char *s = c->columns; *s && n < t->n_columns;) {
            size_t length = strcspn(s, ",");
            list[n++] = pct_column_named(t, s, length);
            s += length + (s[length] == ',');
        }
    }
    *n_out = n;
    return list;
}

static int check_columns(const char *names, const struct pct_table *t, struct pct_buf *why)
{
    unsigned *seen = pct_alloc(t->n_columns, sizeof *seen);
    int refused = 0;
    for (const char *s = names; !refused; s++) {
        size_t n = strcspn(s, ",");
        struct pct_buf word = {0};
        pct_buf_put(&word, s, n);
        const struct pct_column *c = pct_column_named(t, s, n);
        if (!c) {
            refused = pct_unknown_word(why, "columns", word.data, next_column, t);
        } else if (seen[c - t->columns]++) {
            pct_buf_format(why, "--columns: %s is given twice", word.data);
            refused = -1;
        }
        pct_buf_free(&word);
        s += n;
        if (!*s)
            break;
    }
    pct_free(seen);
    return refused;
}

/* ---- Conditions ------------------------------------------------------------------------------ */

enum comparison {
    EQUAL,
    DIFFERENT,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST,
    MATCHES,
    MATCHES_NOT,
    N_OPERATORS
};

/* Longer operators come before their prefixes. */
static const struct {
    const char *sign;
    enum comparison is;
} operators[] = {{"=~", MATCHES}, {"!~", MATCHES_NOT}, {"!=", DIFFERENT},
                 {"<=", AT_MOST}, {">=", AT_LEAST},    {"==", EQUAL},
                 {"=", EQUAL},    {"<", LESS},         {">", GREATER}};

#define OPERATORS "=, !=, <, <=, >, >=, =~ or !~"

struct condition {
    const struct pct_column *column;
    enum comparison is;
    char *text; /* operand; empty: compares with unknown values */
    double number;
    regex_t pattern; /* of MATCHES and MATCHES_NOT */
};

struct pct_conditions {
    size_t n;
    struct condition list[PCT_MAX_CONDITIONS + 1];
};

static bool is_number(const struct pct_column *c)
{
    return c->type != PCT_TEXT && c->type != PCT_YES_NO;
}

/* Factor of a unit after a number, relative to the column's unit in tsv; 0: unknown unit. */
static double unit_of(const struct pct_column *c, const char *name)
{
    static const struct {
        const char *name;
        double times, bytes, counts, percent;
    } units[] = {
        {"", 1, 1, 1, 1},         {"s", 1, 0, 0, 0},        {"ms", 1e-3, 0, 0, 0},
        {"us", 1e-6, 0, 0, 0},    {"ns", 1e-9, 0, 0, 0},    {"B", 0, 1, 0, 0},
        {"KiB", 0, 0x1p10, 0, 0}, {"MiB", 0, 0x1p20, 0, 0}, {"GiB", 0, 0x1p30, 0, 0},
        {"TiB", 0, 0x1p40, 0, 0}, {"k", 0, 1e3, 1e3, 0},    {"M", 0, 1e6, 1e6, 0},
        {"G", 0, 1e9, 1e9, 0},    {"T", 0, 1e12, 1e12, 0},  {"%", 0, 0, 0, 1},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(units); i++) {
        if (strcmp(units[i].name, name) != 0)
            continue;
        switch (c->type) {
        case PCT_NS:
        case PCT_NS_CHANGE:
            return units[i].times;
        case PCT_BYTES:
            return units[i].bytes;
        case PCT_PERCENT:
        case PCT_PERCENT_CHANGE:
            return units[i].percent;
        default:
            return units[i].counts;
        }
    }
    return 0;
}

static bool read_value(const struct pct_column *c, const char *text, double *out)
{
    char *end;
    double number = strtod(text, &end);
    const char *unit = end + strspn(end, " ");
    *out = number * unit_of(c, unit);
    return end != text && unit_of(c, unit) > 0 && isfinite(*out);
}

/* Start of the operator; NULL: there is none. */
static const char *find_operator(const char *text, size_t *which_out)
{
    const char *at = text + strcspn(text, "=!<>");
    for (size_t i = 0; i < PC_ARRAY_LEN(operators); i++) {
        if (strncmp(at, operators[i].sign, strlen(operators[i].sign)) != 0)
            continue;
        *which_out = i;
        return at;
    }
    return NULL;
}

/* True if a sign follows the operator at once, as in ">>" or "=<"; a text may begin with one. */
static bool is_doubled(const struct condition *k, const char *behind)
{
    return is_number(k->column) && *behind && strchr("=!<>~", *behind);
}

static char *copy_trimmed(const char *text, size_t n)
{
    while (n && *text == ' ') {
        text++;
        n--;
    }
    while (n && text[n - 1] == ' ')
        n--;
    char *copy = pct_alloc(n + 1, 1);
    memcpy(copy, text, n);
    return copy;
}

static int refuse(struct pct_buf *why, const char *condition, const char *reason)
{
    pct_buf_format(why, "--where '%s': %s", condition, reason);
    return -1;
}

static const char *number_text(const struct pct_column *c)
{
    return unit_of(c, "ms") > 0    ? "time: give seconds, as 0.5, or another unit, as 500 ms"
           : unit_of(c, "KiB") > 0 ? "bytes: give a number, as 4096 or 4 KiB"
           : unit_of(c, "%") > 0   ? "a percentage: give a number, as 5"
                                   : "a number: give one, as 100 or 1.5 M";
}

/* Reads the value after the operator. */
static int read_operand(struct condition *k, const char *condition, struct pct_buf *why)
{
    char reason[160];
    bool equal = k->is == EQUAL || k->is == DIFFERENT;
    if (k->is == MATCHES || k->is == MATCHES_NOT) {
        int err = regcomp(&k->pattern, k->text, REG_EXTENDED | REG_NOSUB);
        if (!err)
            return 0;
        regerror(err, &k->pattern, reason, sizeof reason);
        k->is = EQUAL; /* there is no pattern to free */
        return refuse(why, condition, reason);
    }
    if (!equal && !is_number(k->column)) {
        snprintf(reason, sizeof reason,
                 "%s is not a number: it can be compared with =, !=, =~ and !~ only",
                 k->column->name);
        return refuse(why, condition, reason);
    }
    if (!is_number(k->column) || (equal && !*k->text) || read_value(k->column, k->text, &k->number))
        return 0;
    snprintf(reason, sizeof reason, "%s is %s", k->column->name, number_text(k->column));
    return refuse(why, condition, reason);
}

static void free_condition(struct condition *k)
{
    if (k->is == MATCHES || k->is == MATCHES_NOT)
        regfree(&k->pattern);
    pct_free(k->text);
}

/* Reads a condition. 0, or -1 with a text; then there is nothing to free. */
static int read_condition(struct condition *k, const char *condition, const struct pct_table *t,
                          struct pct_buf *why)
{
    size_t which = 0;
    const char *at = find_operator(condition, &which);
    if (!at)
        return refuse(why, condition,
                      "give a column, an operator (" OPERATORS ") and a value, in quotes, as in "
                      "'time_s > 10 ms'");
    char *name = copy_trimmed(condition, (size_t)(at - condition));
    *k = (struct condition){.column = pct_column_named(t, name, strlen(name)),
                            .is = operators[which].is};
    if (!k->column)
        pct_unknown_word(why, "where", name, next_column, t);
    pct_free(name);
    if (!k->column)
        return -1;
    at += strlen(operators[which].sign);
    if (is_doubled(k, at))
        return refuse(why, condition, "there is no such operator; give one of " OPERATORS);
    k->text = copy_trimmed(at, strlen(at));
    if (!read_operand(k, condition, why))
        return 0;
    free_condition(k);
    return -1;
}

/* The number in tsv form, for numeric types. */
static double number_of(const struct pct_column *c, const struct pct_value *v)
{
    switch (c->type) {
    case PCT_NS:
        return (double)v->number / 1e9;
    case PCT_PERCENT:
    case PCT_RATIO:
        return (double)v->number / 1e3;
    case PCT_INTEGER:
        return (double)v->integer;
    case PCT_NS_CHANGE:
        return (double)v->integer / 1e9;
    case PCT_PERCENT_CHANGE:
        return (double)v->integer / 1e3;
    case PCT_REAL:
        return v->real;
    case PCT_ESTIMATE:
        return v->estimate->value;
    default:
        return (double)v->number;
    }
}

static bool compare_number(const struct condition *k, double number)
{
    switch (k->is) {
    case EQUAL:
        return number == k->number;
    case DIFFERENT:
        return number != k->number;
    case LESS:
        return number < k->number;
    case AT_MOST:
        return number <= k->number;
    case GREATER:
        return number > k->number;
    default:
        return number >= k->number;
    }
}

/* True for the last part of a path, with folders before it or without. */
static bool is_end(const char *path, const char *text)
{
    size_t n = strlen(path), m = strlen(text);
    return n > m && path[n - m - 1] == '/' && !strcmp(path + n - m, text);
}

static bool holds(const struct condition *k, const struct pct_data *d, size_t row)
{
    struct pct_value v = pct_table_place(k->column, d, row);
    struct pct_buf raw = {0};
    bool differ = k->is == DIFFERENT || k->is == MATCHES_NOT;
    if (!*k->text && k->is <= DIFFERENT)
        return v.none != differ;
    if (v.none)
        return false;
    if (is_number(k->column) && k->is != MATCHES && k->is != MATCHES_NOT)
        return compare_number(k, number_of(k->column, &v));
    pct_value_raw(k->column, &v, &raw);
    bool same = k->is <= DIFFERENT
                    ? !strcmp(raw.data, k->text) || (k->column->path && is_end(raw.data, k->text))
                    : !regexec(&k->pattern, raw.data, 0, NULL, 0);
    pct_buf_free(&raw);
    return same != differ;
}

struct pct_conditions *pct_conditions_new(const struct pct_choice *c, const struct pct_table *t)
{
    struct pct_conditions *k = pct_alloc(1, sizeof *k);
    struct pct_buf ignored = {0}; /* errors were reported before */
    if (!c)
        return k;
    if (c->min_percent && t->percent)
        k->list[k->n++] = (struct condition){.column = pct_column_find(t, t->percent),
                                             .is = AT_LEAST,
                                             .text = copy_trimmed("", 0),
                                             .number = (double)c->min_percent / 1e3};
    for (size_t i = 0; i < c->n_where; i++)
        if (!read_condition(&k->list[k->n], c->where[i], t, &ignored))
            k->n++;
    pct_buf_free(&ignored);
    return k;
}

bool pct_conditions_hold(const struct pct_conditions *k, const struct pct_data *d, size_t row)
{
    for (size_t i = 0; i < k->n; i++)
        if (!holds(&k->list[i], d, row))
            return false;
    return true;
}

void pct_conditions_free(struct pct_conditions *k)
{
    for (size_t i = 0; i < k->n; i++)
        free_condition(&k->list[i]);
    pct_free(k);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void pct_choice_add(struct pct_choice *c, const char *condition)
{
    if (c->n_where < PCT_MAX_CONDITIONS)
        c->where[c->n_where] = condition;
    c->n_where++;
}

int pct_choice_check(const struct pct_choice *c, const struct pct_table *t, struct pct_buf *why)
{
    if (c->sort && !pct_column_find(t, c->sort))
        return pct_unknown_word(why, "sort", c->sort + (*c->sort == '-'), next_column, t);
    if (c->columns && check_columns(c->columns, t, why))
        return -1;
    if (c->n_where > PCT_MAX_CONDITIONS)
        return refuse(why, c->where[0], "and too many more");
    for (size_t i = 0; i < c->n_where; i++) {
        struct condition k;
        if (read_condition(&k, c->where[i], t, why))
            return -1;
        free_condition(&k);
    }
    return 0;
}
