/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report as Markdown, for issues and notebooks: one table, or the run, its findings and the
 * main tables, each cut to its first rows.
 */
#include "view/report_print.h"

#include <string.h>

enum { SHOWN = 20 };

/* Appends a cell, and escapes characters that end a cell or begin markup. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* Prints the heads. `people`: those of the text report, not the stable names. */
static void put_head(FILE *out, const struct pct_column *const *columns, size_t n, bool people,
                     bool picture)
{
    fputc('|', out);
    for (size_t k = 0; k < n; k++) {
        fputc(' ', out);
        put_cell(out, people ? columns[k]->head : columns[k]->name);
        fputs(" |", out);
    }
    fputs(picture ? " by rank |\n|" : "\n|", out);
    for (size_t k = 0; k < n; k++)
        fputs(columns[k]->type == PCT_TEXT ? " --- |" : " ---: |", out);
    fputs(picture ? " --- |\n" : "\n", out);
}

/* Style of cells: UTF-8, whatever the terminal is. */
static struct pct_people people_of(const struct pct_options *o)
{
    return (struct pct_people){.utf8 = true, .full_names = o->full_names};
}

static void put_row(FILE *out, const struct pct_table *t, const struct pct_data *d, size_t row,
                    const struct pct_column *const *columns, size_t n, struct pct_people people)
{
    struct pct_buf b = {0};
    fputc('|', out);
    for (size_t k = 0; k < n; k++) {
        pct_buf_clear(&b);
        pct_value_people(t, columns[k], d, row, people, &b);
        fputc(' ', out);
        put_cell(out, b.data);
        fputs(" |", out);
    }
    pct_buf_free(&b);
}

/* Prints a table. `names`: of the columns, NULL-terminated; NULL: the chosen ones. max_rows 0:
 * all. */
static void put_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                      const struct pct_options *o, const char *const *names, size_t max_rows)
{
    char more[PCT_NUMBER_BYTES];
    size_t n;
    struct pct_rows rows = pct_table_rows(t, d, &o->choice);
    const struct pct_column **columns = pct_table_columns(t, names, &o->choice, &n);
    const struct pct_rows shown = {.index = rows.index,
                                   .n = max_rows && rows.n > max_rows ? max_rows : rows.n};
    struct pct_picture *picture = o->choice.columns ? NULL : pct_picture_new(d, t, o->utf8);
    struct pct_people people = people_of(o);
    const char **functions = pct_table_functions(t, d, &shown, people);
    people.functions = functions;
    put_head(out, columns, n, names != NULL, picture != NULL);
    for (size_t i = 0; i < shown.n; i++) {
        struct pct_buf b = {0};
        put_row(out, t, d, rows.index[i], columns, n, people);
        if (picture) {
            pct_picture_put(picture, rows.index[i], &b);
            fprintf(out, " `%s` |", b.data);
        }
        fputc('\n', out);
        pct_buf_free(&b);
    }
    if (rows.n > shown.n)
        fprintf(out, "\n%s more: `--table %s`\n", pct_text_count(more, rows.n - shown.n), t->name);
    pct_picture_free(picture);
    pct_free(functions);
    pct_free(columns);
    pct_rows_free(&rows);
}

void pct_markdown_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                        const struct pct_options *o)
{
    put_table(out, d, t, o, NULL, 0);
}

/* Prints the only row of a table, one line for each known value. */
static void put_header(FILE *out, const struct pct_data *d, const struct pct_table *t,
                       struct pct_people people)
{
    fputs("| | |\n| --- | --- |\n", out);
    for (size_t k = 0; k < t->n_columns; k++) {
        struct pct_value v = pct_table_value(&t->columns[k], d, 0);
        struct pct_buf b = {0};
        pct_value_people(t, &t->columns[k], d, 0, people, &b);
        if (!v.none) {
            fputs("| ", out);
            put_cell(out, t->columns[k].name);
            fputs(" | ", out);
            put_cell(out, b.data);
            fputs(" |\n", out);
        }
        pct_buf_free(&b);
    }
}

static void put_findings(FILE *out, const struct pct_data *d)
{
    size_t n = d->findings ? d->findings->n : 0;
    if (n)
        fputs("\n## Findings\n\n", out);
    for (size_t i = 0; i < n && i < PCT_FINDINGS_SHOWN; i++) {
        fprintf(out, "%zu. ", i + 1);
        put_cell(out, d->findings->list[i].text);
        fputc('\n', out);
    }
}

void pct_print_markdown(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    static const struct {
        const char *table, *title;
        const char *columns[9];
    } parts[] = {
        {"primitives",
         "MPI functions",
         {"primitive", "calls", "time_s", "mpi_exclusive_percent", "mean_s", "bytes_sent",
          "bytes_received"}},
        {"call_sites",
         "Call sites",
         {"function", "file", "line", "primitive", "calls", "time_s", "mpi_exclusive_percent",
          "bytes_sent"}},
        {"functions",
         "Computation by function",
         {"function", "file", "samples", "cpu_exclusive_s", "cpu_exclusive_percent",
          "cpu_inclusive_s", "cpu_inclusive_percent"}},
    };
    struct pct_buf file = {0};
    pct_text_escape(&file, d->file, PCT_ESCAPE_CELL);
    fputs("# pcollect report: ", out);
    put_cell(out, file.data);
    fputs("\n\n", out);
    put_header(out, d, pct_table_find("header"), people_of(o));
    put_findings(out, d);
    for (size_t i = 0; i < PC_ARRAY_LEN(parts); i++) {
        const struct pct_table *t = pct_table_find(parts[i].table);
        if (!t->count(d))
            continue;
        fprintf(out, "\n## %s\n\n", parts[i].title);
        put_table(out, d, t, o, parts[i].columns, SHOWN);
    }
    pct_buf_free(&file);
}
