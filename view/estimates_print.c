/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event counts in the text of the report: the contexts with most CPU time.
 */
#include "analysis/counters/estimates.h"
#include "analysis/tree/label.h"
#include "view/report_print.h"
#include "view/sentence.h"

struct callers {
    const struct pct_data *d;
    const struct pct_options *o;
};

/* Appends the function and some of its callers, to the end of the line. */
static void put_callers(void *arg, size_t row, struct pct_buf *b)
{
    enum { SHOWN = 3, LEAST_CELLS = 30 };
    const struct callers *c = arg;
    const struct pct_data *d = c->d;
    uint32_t at = pct_data_estimates(d)->rows[row].context;
    size_t used = pct_text_cells(b->data);
    struct pct_buf text = {0};
    for (unsigned i = 0; at && i < SHOWN; i++) {
        const struct pct_node *n = &pct_data_functions(d)->nodes[at];
        pct_buf_text(&text, i ? " < " : "");
        pct_place_of_path(&text, n->label, c->o->full_names);
        at = n->parent;
    }
    pct_buf_text(&text, at ? " < .." : "");
    size_t room = !c->o->width ? SIZE_MAX : c->o->width > used ? c->o->width - used : 0;
    pct_text_cut(b, text.data, room > LEAST_CELLS ? room : LEAST_CELLS, c->o->utf8);
    pct_buf_free(&text);
}

static void leave_out_few(struct pct_rows *rows, const struct pct_data *d)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (pct_data_estimates(d)->rows[rows->index[i]].e.trust != PCT_TRUST_FEW)
            rows->index[n++] = rows->index[i];
    rows->n = n;
}

void pct_print_estimates(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    enum { SHOWN = 12 };
    static const char *const names[] = {"event", "estimate", "cpu_exclusive_s", NULL};
    const struct pct_table *t = pct_table_find("estimates");
    struct callers callers = {d, o};
    struct pct_aligned how = {.names = names,
                              .indent = "  ",
                              .max_rows = SHOWN,
                              .people = {o->utf8, o->full_names},
                              .more_head = "context < callers",
                              .more = put_callers,
                              .arg = &callers};
    size_t n = t->count(d);
    if (!n)
        return;
    struct pct_rows rows = pct_table_rows(t, d, &(struct pct_choice){.sort = "cpu_exclusive_s"});
    leave_out_few(&rows, d);
    fprintf(out, "\n%sEvents by context%s%s\n", pct_style(o, PCT_STYLE_TITLE),
            pct_style(o, PCT_STYLE_PLAIN),
            rows.n ? " (estimates; the contexts with most CPU time)" : "");
    if (rows.n)
        pct_table_aligned(out, t, d, &rows, &how);
    else
        pct_print_sentence(out, o->width, 2,
                           "  too few readings to tell an error: --table estimates shows all "
                           "estimates, --table counters the totals by rank");
    n -= rows.n < SHOWN ? rows.n : SHOWN;
    if (n && rows.n)
        pct_print_sentence(out, o->width, 2,
                           "  %zu more, or with few readings: --table estimates shows them", n);
    if (pct_data_estimates(d)->n_ratios)
        fputs("  --table ratios shows their ratios\n", out);
    pct_rows_free(&rows);
}
