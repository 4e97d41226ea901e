/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Selection and order of a table's rows and columns from the command line, for all tables and all
 * commands that print tables.
 */
#ifndef PCT_CHOICE_H
#define PCT_CHOICE_H

#include "view/table.h"

enum { PCT_MAX_CONDITIONS = 16 };

struct pct_choice {
    const char *sort;    /* a column, with "-" in reverse order; NULL: the table's own order */
    const char *columns; /* names with commas between, in the order in which they are shown; NULL:
                            all that need not be asked for */
    const char *where[PCT_MAX_CONDITIONS]; /* "COLUMN OPERATOR VALUE"; all must hold of a row */
    size_t n_where;                        /* conditions given */
    pc_u128 min_percent; /* thousandths; of the table's column of shares; 0: none */
};

/* Meanings of the options, which are the same in each command. */
#define PCT_CHOICE_SORT_DOC "sort the rows by COLUMN; -COLUMN reverses the order"
#define PCT_CHOICE_SORT_MORE "Numbers are sorted from the greatest, texts and ranks from the least."
#define PCT_CHOICE_COLUMNS_DOC "in one table: only these columns, in this order"
#define PCT_CHOICE_WHERE_DOC "in one table: only these rows, as 'time_s > 10 ms'"
#define PCT_CHOICE_WHERE_MORE                                                                      \
    "If it is given several times, all must hold. OP is =, !=, <, <=, > or >=, or =~ and !~: the " \
    "text matches an extended regular expression, or not. Numbers are in the unit of the column, " \
    "or have one: ns us ms s, KiB MiB GiB, k M G, %. A path is equal to its last part, too. "      \
    "'COLUMN =', with nothing behind it, selects unknown values."

/* Adds a condition; pct_choice_check says so if there are too many. */
void pct_choice_add(struct pct_choice *c, const char *condition);

/* Checks the choice against the table. -1: *why names what does not exist, with the nearest valid
 * name. */
int pct_choice_check(const struct pct_choice *c, const struct pct_table *t, struct pct_buf *why);

/* The columns that are shown. `people`: without those that are shown after the +- of others. choice
 * NULL: all but those that must be asked for. The caller frees the list. */
const struct pct_column **pct_choice_columns(const struct pct_choice *c, const struct pct_table *t,
                                             bool people, size_t *n_out);

/* The conditions of a choice that was checked, ready for many rows. */
struct pct_conditions;
struct pct_conditions *pct_conditions_new(const struct pct_choice *c, const struct pct_table *t);
bool pct_conditions_hold(const struct pct_conditions *k, const struct pct_data *d, size_t row);
void pct_conditions_free(struct pct_conditions *k);

/* The word of a list that is nearest to the typed one, NULL if none is near. next(arg, i) is the
 * i-th word, NULL at the end. */
typedef const char *pct_words_fn(const void *arg, size_t i);
const char *pct_nearest(const char *typed, pct_words_fn *next, const void *arg);

/* A value that was typed, for a message: an empty one is in quotes. */
const char *pct_typed(const char *value);

/* Appends "--OPTION VALUE: unknown" and the valid words, the nearest first. Returns -1. */
int pct_unknown_word(struct pct_buf *why, const char *option, const char *value, pct_words_fn *next,
                     const void *arg);

#endif
