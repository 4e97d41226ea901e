/* SPDX-License-Identifier: BSD-3-Clause */
#include "view/rows.h"

void pct_rows_begin(struct pct_row_writer *r)
{
    r->n_rows = 0;
    if (r->json)
        fputs("[\n", r->out);
    for (size_t i = 0; i < r->n && !r->json; i++)
        fprintf(r->out, "%s%s", r->columns[i].name, i + 1 < r->n ? "\t" : "\n");
}

static void put_json_cell(FILE *out, const struct pct_rows_column *c, const char *cell)
{
    struct pct_buf quoted = {0};
    if (*cell && c->text)
        pct_text_quote(&quoted, cell);
    fprintf(out, "\"%s\": %s", c->name, quoted.data ? quoted.data : *cell ? cell : "null");
    pct_buf_free(&quoted);
}

void pct_rows_put(struct pct_row_writer *r, struct pct_buf *cells)
{
    if (r->json)
        fputs(r->n_rows ? ",\n  {" : "  {", r->out);
    for (size_t i = 0; i < r->n; i++) {
        const char *cell = cells[i].data ? cells[i].data : "";
        if (r->json) {
            fputs(i ? ", " : "", r->out);
            put_json_cell(r->out, &r->columns[i], cell);
        } else {
            fprintf(r->out, "%s%s", cell, i + 1 < r->n ? "\t" : "\n");
        }
        pct_buf_free(&cells[i]);
    }
    if (r->json)
        fputc('}', r->out);
    r->n_rows++;
}

void pct_rows_end(struct pct_row_writer *r)
{
    if (r->json)
        fputs(r->n_rows ? "\n]" : "]", r->out);
}
