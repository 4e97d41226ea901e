/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options of the report's output, and its printers.
 */
#ifndef PCT_REPORT_PRIVATE_H
#define PCT_REPORT_PRIVATE_H

#include "analysis/findings/findings.h"
#include "analysis/tree/filter.h"
#include "view/query.h"
#include "view/table.h"

enum pct_format { PCT_FORMAT_TEXT, PCT_FORMAT_JSON, PCT_FORMAT_TSV, PCT_FORMAT_MD, PCT_FORMAT_CSV };

struct pct_options {
    enum pct_format format;
    const char *table_name;        /* NULL: the whole report */
    const struct pct_table *table; /* table of that name; NULL: a plugin's, if the file has it */
    unsigned by;                   /* keys of a cube of that name, enum pct_key; 0: none */
    struct pct_tree_options tree;
    struct pct_choice choice; /* of the tables; min_percent of the tree of the text, too */
    enum pct_metric metric;   /* of the tree of the text */
    bool has_min_percent;
    size_t width; /* 0: no limit */
    bool utf8, color;
    bool full_names;          /* names of C++ with all their arguments */
    bool bottom_up;           /* the tree of the text from the MPI functions to their callers */
    struct pct_filter filter; /* region is the word of the command line */
    double thresholds[PCT_MAX_RULES]; /* of findings, by rule; below 0: the rule's own */
};

/* The whole report as text, or one table. */
void pct_print_text(FILE *out, const struct pct_data *d, const struct pct_options *o);
void pct_print_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                     const struct pct_options *o);
/* All tables, or one, as one JSON object. */
void pct_print_json(FILE *out, const struct pct_data *d, const struct pct_options *o);
void pct_print_json_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                          const struct pct_options *o);

/* The report as Markdown: its main parts, or one table. */
void pct_print_markdown(FILE *out, const struct pct_data *d, const struct pct_options *o);
void pct_markdown_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                        const struct pct_options *o);

/* Prints the whole report or one table, in the requested format. -1: the table lacks something that
 * was requested; *why names it. */
int pct_print(FILE *out, const struct pct_data *d, const struct pct_options *o,
              struct pct_buf *why);

/* True if functions, files or lines are shown: only then it matters that some have no names. */
bool pct_print_shows_places(const struct pct_data *d, const struct pct_options *o);

/* The parts of the text. */
void pct_print_head(FILE *out, const struct pct_data *d, const struct pct_options *o);
/* Prints estimates; nothing without windows of the plugin counters. */
void pct_print_estimates(FILE *out, const struct pct_data *d, const struct pct_options *o);
/* Prints MPI calls and CPU time by context. `sort`: the order of siblings. */
void pct_print_tree(FILE *out, const struct pct_data *d, const struct pct_options *o,
                    enum pct_metric sort);

/* A small picture of the values over ranks, PCT_BAR_CELLS wide: a cell per rank, or the mean of
 * several ranks; the height is relative to the greatest value. */
#define PCT_BAR_CELLS 8u
void pct_print_bar(struct pct_buf *b, const uint64_t *values, size_t n, bool utf8);

/* Pictures of the rows of a table; NULL: its rows have none, or there is one rank. */
struct pct_picture;
struct pct_picture *pct_picture_new(const struct pct_data *d, const struct pct_table *t, bool utf8);
void pct_picture_put(void *picture, size_t row, struct pct_buf *b);
void pct_picture_free(struct pct_picture *p);

/* A histogram as struct pct_column has it: its first and last values with a unit, and between them
 * a cell for each power of two. */
void pct_print_histogram(struct pct_buf *b, const char *bins, unsigned unit, bool utf8);

/* One cell of a picture: level 0 is nothing, 8 the greatest. */
void pct_print_level(struct pct_buf *b, unsigned level, bool utf8);

/* Prints at most five sentences, greatest saving first; nothing if there are no findings, or if f
 * is NULL.
 */
void pct_findings_print(FILE *out, const struct pct_findings *f, const char *file, size_t width);

bool pct_names_regions(const struct pc_profile *p);
/* The reason why a profile names none, and what names one. */
const char *pct_no_regions(const struct pc_profile *p);

/* The course of the run, if the profile knows it (series_picture.c). */
void pct_print_series(FILE *out, const struct pct_data *d, const struct pct_options *o);
/* Prints the time of calls that had not ended; nothing if there is none. with: "without"
 * above figures that lack it. whole: of which it is told as a share; 0: of nothing. It and the next
 * are in hottest_print.c. */
void pct_print_open(FILE *out, size_t width, pc_u128 ns, const char *with, pc_u128 whole);
/* The lines that compute most and the calls of MPI that take most time. */
void pct_print_hottest(FILE *out, const struct pct_data *d, const struct pct_options *o);

/* Control sequences of a terminal; empty without colour. */
enum pct_style {
    PCT_STYLE_PLAIN,
    PCT_STYLE_TITLE,
    PCT_STYLE_HOT,
    PCT_STYLE_WARM,
    PCT_STYLE_DIM,
    PCT_STYLE_NAME
};
const char *pct_style(const struct pct_options *o, enum pct_style style);

#endif
