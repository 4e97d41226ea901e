/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of the report. A column is one row of a table in view/tables/: its name, type, meaning and
 * how its value is found. From these come the output in every format, --help and the manual.
 */
#ifndef PCT_TABLE_H
#define PCT_TABLE_H

#include "analysis/gather.h"

#include <stdio.h>

/* Form of a value: as it is in tsv and json, with a unit in text. */
enum pct_type {
    PCT_TEXT,
    PCT_COUNT,
    PCT_BYTES,
    PCT_NS,      /* nanoseconds; tsv, json: seconds with nine decimals */
    PCT_PERCENT, /* thousandths of a percent; tsv, json: percent with three decimals */
    PCT_INTEGER, /* with sign: a rank, a process id */
    PCT_YES_NO,
    PCT_NS_CHANGE,      /* PCT_NS with sign */
    PCT_PERCENT_CHANGE, /* PCT_PERCENT with sign */
    PCT_RATIO,          /* thousandths: 1.940 */
    PCT_REAL,           /* any number */
    PCT_ESTIMATE        /* any number; in text with its error, as 12.3 M +- 0.4 M */
};

struct pct_value {
    bool none;        /* unknown, or has no meaning here: empty in tsv, null in json, - in text */
    const char *text; /* reason for a missing error, such as "few" */
    pc_u128 number;
    int64_t integer;
    double real;
    const struct pct_estimate *estimate; /* PCT_ESTIMATE */
    /* Set if a PCT_TEXT is the path to a node; pct_table_value then makes the text, which may be
     * long.
     */
    const struct pct_tree *tree;
    uint32_t node;
};

/* Rows of columns leave out the members that they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* The cell that a getter must fill. */
struct pct_cell {
    const struct pct_data *d;
    size_t row;
    const struct pct_column *column;
};

struct pct_column {
    const char *name; /* stable: others read it */
    const char *head; /* above the column in the text report */
    enum pct_type type;
    const char *doc;
    void (*get)(const struct pct_cell *c, struct pct_value *out);
    /* For getters of several columns: the column, and the kind of rows. */
    uint16_t which, of;
    const char *error; /* the column with half of its 95 % interval: after +- in text; or NULL */
    bool measured;     /* the value is a mean of measured times: its error takes off no digits */
    /* PCT_TEXT that is a histogram, "12:340,13:20" for 340 values from 2^12 on and 20 from 2^13 on:
     * the unit of the values, enum pcollect_unit. Text output shows a picture. 0: no histogram. */
    uint16_t histogram;
    bool asked;  /* shown only if it is named: it takes long to compute, or names a row; the page
                    has it if it is a time */
    bool exact;  /* text output shows it only if it is named: another column says it to people */
    bool path;   /* PCT_TEXT that is the path of a file: text output shows its last part, or all of
                    it if pct_data_full_paths */
    bool labels; /* PCT_TEXT that is a label or labels joined by " > ", analysis/tree/label.h */
    bool nodes;  /* PCT_TEXT of paths of nodes; without `labels` text output shows them unchanged */
    bool mpi;    /* empty if calls of MPI were not measured: of pcollect record */
    bool wraps;  /* PCT_TEXT that text output prints whole, on several lines */
    const char *module; /* the column that text output shows instead of no value; or NULL */
};

/* Adds the time of a row to values[k] of the k-th rank of the profile, and marks present[k]. */
struct pct_table;
typedef void pct_picture_fn(const struct pct_table *t, const struct pct_data *d, size_t row,
                            uint64_t *values, bool *present);

struct pct_table {
    const char *name, *doc;
    size_t (*count)(const struct pct_data *d);
    const char *sort;    /* default order: a column, "-" before it reverses it; NULL: as is */
    const char *percent; /* column that --min-percent looks at, or NULL */
    const struct pct_column *columns;
    size_t n_columns;
    size_t n_shown;          /* number of columns that text output shows by default; 0: all */
    pct_picture_fn *picture; /* NULL: its rows have no picture of the ranks */
    bool of_ranks;           /* made of ranks and tables alone, without contexts and records */
    bool in_order;           /* made of these, and of contexts in their order */
    bool of_whole;           /* its rows are of whole ranks: a part of the run has none */
    bool of_tree;            /* made of the tree of struct pct_tree_options */
    bool asked;              /* shown only if it is named: it repeats what others have */
    const char *outline;     /* of the nodes of a tree in preorder: the columns of its text, the
                                first indented by the column `level`; NULL: not of a tree */
    const char *then; /* column of numbers, by which rows with equal `sort` follow; or NULL */
};

/* In the order in which they are listed. */
extern const struct pct_table *const pct_tables[];
extern const size_t pct_n_tables;

/* The table of that name, or NULL. */
const struct pct_table *pct_table_find(const char *name);
/* The column with the n bytes of its name, or NULL. */
const struct pct_column *pct_column_named(const struct pct_table *t, const char *name, size_t n);
/* The column of that name, or NULL; ignores a "-" before the name. */
const struct pct_column *pct_column_find(const struct pct_table *t, const char *name);

/* Calls and samples by the keys of analysis/tree/roll_up.h, with all figures and the fields of
 * plugins as columns; a table of the report, to be used with `data`. Valid as long as d and the
 * profile are. d NULL: only the columns, without fields. `by`: enum pct_key, or-ed, and
 * PCT_CUBE_MODULE: the module of functions and lines, which is one of their keys anyway, is shown
 * beside them. `name`: the keys as the user named them. */
enum { PCT_CUBE_MODULE = 1 << 30 };
struct pct_cube {
    struct pct_table table;
    struct pct_data data;
    struct pct_column *columns;
};
void pct_cube_make(struct pct_cube *out, const struct pct_data *d, unsigned by, const char *name);
void pct_cube_free(struct pct_cube *c);

/* Choices of users for sums, in the order of the words of `--by`; those with keys are in the order
 * of the bits of enum pcol_by. */
struct pct_by {
    unsigned keys;     /* as pct_cube_make takes them; 0: it goes with nothing else */
    const char *table; /* that has its rows if it is alone; NULL: the cube */
};
extern const struct pct_by pct_by[];

/* A plugin's table as a table of the report, to be used with `data`. Valid as long as d and the
 * profile are. */
enum { PCT_MAX_ROWS_COLUMNS = 96 };
struct pct_rows_table {
    struct pct_table table;
    struct pct_data data;
    struct pct_column columns[PCT_MAX_ROWS_COLUMNS];
};
void pct_rows_table(struct pct_rows_table *out, const struct pct_data *d,
                    const struct pc_profile_table *from);

/* A table without rows, from its description. Uses the pool of `d` alone. */
void pct_rows_table_described(struct pct_rows_table *out, const struct pct_data *d,
                              const struct pcollect_table *from);

/* The tables of communication plugins, of the library and of `pcollect embed`, by number and by
 * name; NULL: none. */
const struct pcollect_table *pct_described_at(size_t k);
const struct pcollect_table *pct_described(const char *name);
/* The meaning of a column; "" if it is not known or t is NULL. */
const char *pct_described_column(const struct pcollect_table *t, const char *name);

/* Hosts of the ranks, each once, in the order of their first ranks; the caller frees the list. */
size_t pct_header_hosts(const struct pct_data *d, const char ***hosts_out);

/* Moment at which a checkpoint was taken, of its last rank, ns since 1970; 0: it is none. */
uint64_t pct_header_taken_ns(const struct pc_profile *p);

/* (greatest - mean) / mean of the times outside MPI, in thousandths of a percent. */
pc_u128 pct_header_imbalance(const struct pct_data *d);

/* Meaning of a bit of enum pcollect_note, or NULL past the last. */
const char *pct_header_note(unsigned bit);

/* Selection and order of rows. */
struct pct_rows {
    size_t *index;
    size_t n;
    size_t n_hidden; /* rows that fail a condition */
};

/* Selects and sorts rows; choice NULL: all, in the table's own order. Numbers sort in descending
 * order, texts and ranks in ascending order, unknown values last. */
struct pct_choice;
struct pct_rows pct_table_rows(const struct pct_table *t, const struct pct_data *d,
                               const struct pct_choice *choice);
void pct_rows_free(struct pct_rows *rows);

/* The columns of these names, NULL-terminated; names NULL: the chosen ones, for text output. The
 * caller frees the list. */
const struct pct_column **pct_table_columns(const struct pct_table *t, const char *const *names,
                                            const struct pct_choice *choice, size_t *n_out);

/* Sets a text, for getters: only these two do. The first escapes a text of the profile for a cell
 * and keeps it in the pool of `d`; none if it is empty or NULL. The second takes what needs no
 * escape and lives as long as `d`: constants, digits, and what analysis/ has escaped, that is
 * labels, places, findings and complaints. NULL: no text. */
void pct_value_text(const struct pct_data *d, const char *text, struct pct_value *out);
void pct_value_plain(const char *text, struct pct_value *out);

struct pct_value pct_table_value(const struct pct_column *c, const struct pct_data *d, size_t row);
/* The value, for paths without the text: only tree and node. */
struct pct_value pct_table_place(const struct pct_column *c, const struct pct_data *d, size_t row);

/* Appends a value in tsv and JSON form (texts escaped), a path without text from its tree. */
void pct_value_raw(const struct pct_column *c, const struct pct_value *v, struct pct_buf *b);
/* Style of cells, from the terminal and the options. functions: pct_table_functions, or NULL. */
struct pct_people {
    bool utf8, full_names;
    const char *const *functions;
};

/* By row of the table, for those of `rows`, the function as users read it, told apart from those of
 * the others; NULL: the table has no column of functions. The caller frees the list. */
const char **pct_table_functions(const struct pct_table *t, const struct pct_data *d,
                                 const struct pct_rows *rows, struct pct_people people);

/* Appends the value of a row in text form, with its error. */
void pct_value_people(const struct pct_table *t, const struct pct_column *c,
                      const struct pct_data *d, size_t row, struct pct_people people,
                      struct pct_buf *b);

void pct_table_tsv(FILE *out, const struct pct_table *t, const struct pct_data *d,
                   const struct pct_choice *choice);

void pct_table_csv(FILE *out, const struct pct_table *t, const struct pct_data *d,
                   const struct pct_choice *choice);

/* Prints a text as a JSON string, escaped; NULL: null. */
void pct_json_put(FILE *out, const char *text);

/* Appends `, "name": [rows]` to an object. */
void pct_table_json(FILE *out, const struct pct_table *t, const struct pct_data *d,
                    const struct pct_choice *choice);

/* Aligned columns. names: of the columns to show, NULL-terminated, or NULL for those of `choice`
 * under their stable names. A table wider than `width` (0: no limit) is folded and drops columns,
 * which it names: see table.c. `more(arg, row, b)` appends to each line; may be NULL. */
struct pct_aligned {
    const char *const *names;
    const char *const *dropped; /* of names, those to drop first if there is no room; or NULL */
    const struct pct_choice *choice;
    const char *indent;
    size_t width, max_rows;
    struct pct_people people;
    const char *more_head;
    size_t more_cells; /* cells that `more` takes */
    void (*more)(void *arg, size_t row, struct pct_buf *b);
    void *arg;
    const struct pct_column *level; /* spaces before texts of the first column, or NULL */
    bool filled; /* leaves out the columns of figures without a value in any row */
};
void pct_table_aligned(FILE *out, const struct pct_table *t, const struct pct_data *d,
                       const struct pct_rows *rows, const struct pct_aligned *how);

#endif
