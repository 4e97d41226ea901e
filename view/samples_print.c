/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computation in the text of the report: how much was sampled, the contexts that took most, and
 * what was counted in them.
 */
#include "analysis/counters/estimates.h"
#include "analysis/tree/samples.h"
#include "view/report_print.h"

#include <stdlib.h>
#include <string.h>

/* Deeper rows are not indented further. */
enum { MOST_INDENT = 40 };

struct picture {
    FILE *out;
    const struct pct_data *d;
    const struct pct_options *o;
    const struct pct_sample_rows *rows; /* contexts or callers */
    pc_u128 least;                      /* rows below are left out */
    uint32_t *child, *next;
    uint64_t *values; /* by rank */
    bool *present;
    bool any_few; /* a row with too few samples was printed */
};

static pc_u128 total_of(const struct picture *p, uint32_t row)
{
    return p->rows->row[row].total.ns;
}

/* Children of each row in the order of their totals; of the root at index n. */
static void link_children(struct picture *p, size_t n)
{
    for (size_t i = 0; i <= n; i++)
        p->child[i] = PC_NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = p->rows->row[i].parent;
        uint32_t *at = &p->child[parent == PC_NO_INDEX ? n : parent];
        while (*at != PC_NO_INDEX && total_of(p, *at) >= total_of(p, i))
            at = &p->next[*at];
        p->next[i] = *at;
        *at = i;
    }
}

static void print_row(struct picture *p, uint32_t row, size_t depth)
{
    const struct pct_sample_row *r = &p->rows->row[row];
    size_t n_ranks = p->d->profile->n_ranks;
    char total[64], self[64];
    pc_u128 all = pct_data_samples(p->d)->all.ns;
    struct pct_buf bar = {0}, time = {0};
    pct_text_percent_1(total, pct_text_share(r->total.ns, all));
    pct_text_percent_1(self, pct_text_share(r->self.ns, all));
    if (p->o->bottom_up)
        *self = 0;
    pct_sampled_text(&time, r->total, pct_data_samples(p->d)->all, false);
    p->any_few |= r->total.samples && r->total.samples < PCT_SAMPLES_FEW;
    memset(p->values, 0, n_ranks * sizeof *p->values);
    pct_samples_total_ranks(pct_data_samples(p->d), p->rows, row, p->values, p->present);
    pct_print_bar(&bar, p->values, n_ranks, p->o->utf8);
    fprintf(p->out, "  %7s  %7s  %17s  %s  %*s%s\n", total, self, time.data, bar.data,
            (int)(2 * (depth < MOST_INDENT ? depth : MOST_INDENT)), "", r->function);
    pct_buf_free(&bar);
    pct_buf_free(&time);
}

/* Without recursion: a context may be deeper than the stack. Returns how many rows below the
 * threshold are not shown, with all below them. */
static size_t print_tree(struct picture *p, size_t n)
{
    uint32_t at = p->child[n], *above = pct_alloc(n + 1, sizeof *above);
    size_t depth = 0, shown = 0;
    for (;;) {
        if (at != PC_NO_INDEX && total_of(p, at) >= p->least) {
            print_row(p, at, depth);
            shown++;
            above[depth++] = at;
            at = p->child[at];
        } else if (depth) {
            at = p->next[above[--depth]];
        } else {
            break;
        }
    }
    free(above);
    return n - shown;
}

struct callers {
    const struct pct_data *d;
    const struct pct_options *o;
};

/* The function and some of those that called it, to the end of the line. */
static void put_callers(void *arg, size_t row, struct pct_buf *b)
{
    enum { SHOWN = 3, LEAST_CELLS = 30 };
    const struct callers *c = arg;
    const struct pct_data *d = c->d;
    uint32_t at = pct_data_estimates(d)->rows[row].context;
    size_t used = pct_text_cells(b->data);
    struct pct_buf text = {0};
    for (unsigned i = 0; at != PC_NO_INDEX && i < SHOWN; i++) {
        const struct pct_sample_row *r = &pct_data_samples(d)->contexts.row[at];
        pct_buf_text(&text, i ? " < " : "");
        pct_text_escape(&text, r->function, PCT_ESCAPE_CELL);
        at = r->parent;
    }
    pct_buf_text(&text, at != PC_NO_INDEX ? " < .." : "");
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
    static const char *const names[] = {"event", "estimate", "self_s", NULL};
    const struct pct_table *t = pct_table_find("estimates");
    struct callers callers = {d, o};
    struct pct_aligned how = {.names = names,
                              .indent = "  ",
                              .max_rows = SHOWN,
                              .utf8 = o->utf8,
                              .more_head = "context < callers",
                              .more = put_callers,
                              .arg = &callers};
    size_t n = t->count(d);
    if (!n)
        return;
    struct pct_rows rows = pct_table_rows(t, d, &(struct pct_choice){.sort = "self_s"});
    leave_out_few(&rows, d);
    fprintf(out, "\n%sWhat was counted there%s (estimates; the contexts with most CPU time)\n",
            pct_style(o, PCT_STYLE_TITLE), pct_style(o, PCT_STYLE_PLAIN));
    if (rows.n)
        pct_table_aligned(out, t, d, &rows, &how);
    n -= rows.n < SHOWN ? rows.n : SHOWN;
    if (n)
        fprintf(out, "  %zu more, or with few readings: --table estimates shows them\n", n);
    if (pct_data_estimates(d)->n_ratios)
        fputs("  --table ratios shows what they say together\n", out);
    pct_rows_free(&rows);
}

static void print_title(FILE *out, const struct pct_samples *s, const struct pct_options *o)
{
    char n[PCT_NUMBER_BYTES], time[64], mpi[64], cut[64], least[64];
    pct_text_count(n, s->all.samples);
    pct_text_time(time, s->all.ns);
    pct_text_percent_1(mpi, pct_text_share(s->mpi.ns, s->all.ns));
    pct_text_percent_1(cut, pct_text_share(s->cut.ns, s->all.ns));
    pct_text_percent_1(least, o->choice.min_percent);
    fprintf(
        out,
        "\n%s%s%s (%s samples that stand for %s; %s in MPI calls, %s in contexts\n"
        "whose outer part is unknown; %s with %s or more)\n"
        "    total  %7s               time  by rank   %s\n",
        pct_style(o, PCT_STYLE_TITLE),
        o->bottom_up ? "What takes CPU time: callers below what they call" : "Where CPU time goes",
        pct_style(o, PCT_STYLE_PLAIN), n, time, mpi, cut, o->bottom_up ? "rows" : "contexts", least,
        o->bottom_up ? "" : "self", o->bottom_up ? "function, below it its callers" : "context");
}

void pct_print_samples(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    struct pct_samples *s = pct_data_samples(d);
    struct picture p = {
        .out = out, .d = d, .o = o, .least = s->all.ns * o->choice.min_percent / 100000};
    if (!s->all.samples)
        return;
    p.rows = o->bottom_up ? pct_samples_callers(s) : &s->contexts;
    size_t n = p.rows->n;
    print_title(out, s, o);
    p.child = pct_alloc(n + 1, sizeof *p.child);
    p.next = pct_alloc(n + 1, sizeof *p.next);
    p.values = pct_alloc(d->profile->n_ranks, sizeof *p.values);
    p.present = pct_alloc(d->profile->n_ranks, sizeof *p.present);
    link_children(&p, n);
    size_t n_hidden = print_tree(&p, n);
    if (p.any_few)
        fprintf(out, "  few: less than %d samples, too few to tell the error\n", PCT_SAMPLES_FEW);
    if (n_hidden)
        fprintf(out, "  %zu more with less: --min-percent 0 shows them\n", n_hidden);
    free(p.values);
    free(p.present);
    free(p.child);
    free(p.next);
}
