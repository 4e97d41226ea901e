/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Source files with figures beside their lines, also as messages that editors can jump to.
 */
#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"
#include "base/nearest.h"
#include "view/annotate/annotate.h"
#include "view/sentence.h"

#include <stdlib.h>
#include <string.h>

/* The figures of one line, over all functions that it is part of. */
struct line {
    const char *file, *function;
    uint32_t line;
    pc_u128 calls, own_ns, below_ns;
    struct pct_sampled self, total;
    pc_u128 called_mpi_ns; /* in code without lines that was called there */
    struct pct_sampled called;
    const struct pct_rolled_line *whole;
};

/* Lines sorted by file and number. */
struct lines {
    const struct pct_annotate *a;
    struct line *list;
    size_t n;
    pc_u128 all_ns;          /* MPI and sampled computation */
    pc_u128 dark_ns;         /* of it, in code without lines */
    const char *dark_module; /* the one with most of that */
    bool any_called_mpi, any_called;
    bool mpi; /* calls of MPI were measured */
};

/* Time of a line by itself and in code without lines that it calls. */
static pc_u128 mpi_of(const struct line *l)
{
    return l->own_ns + l->called_mpi_ns;
}

static pc_u128 cpu_of(const struct line *l)
{
    return l->self.ns + l->called.ns;
}

static pc_u128 cost_of(const struct line *l)
{
    return mpi_of(l) + cpu_of(l);
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static bool is_asked_for(const struct pct_annotate *a, const struct pct_rolled_row *r)
{
    size_t n = a->source ? strlen(a->source) : 0, m = r->file ? strlen(r->file) : 0;
    if (!r->file || !r->line)
        return false;
    if (a->function && (!r->function || !pct_name_means(r->function, a->function)))
        return false;
    if (!a->source)
        return true;
    return m >= n && !strcmp(r->file + m - n, a->source) && (m == n || r->file[m - n - 1] == '/');
}

/* Adds b to a, for a line that several functions share: instances of a template, or a lambda and
 * the function that calls it. Inclusive figures are not above those of the line: they are exact if
 * all its functions are asked for, or none that calls another one. */
static void add_line(struct line *a, const struct line *b)
{
    a->calls += b->calls;
    a->own_ns += b->own_ns;
    a->below_ns += b->below_ns;
    pct_sampled_add(&a->self, b->self);
    pct_sampled_add(&a->total, b->total);
    a->below_ns = a->below_ns > a->whole->below_ns ? a->whole->below_ns : a->below_ns;
    a->total = a->total.ns > a->whole->total.ns ? a->whole->total : a->total;
}

static int compare_modules(const void *a, const void *b)
{
    const struct pct_rolled_row *const *x = a, *const *y = b;
    return strcmp((*x)->module, (*y)->module);
}

/* True for code that can be built with lines: not that which the kernel maps into each process. */
static bool can_have_lines(const char *module)
{
    return *module != '[';
}

/* Sums up the time in code of which no lines are known. */
static void add_dark(struct lines *l, const struct pct_rolled *rows)
{
    const struct pct_rolled_row **dark = pct_alloc(rows->n, sizeof *dark);
    size_t n = 0;
    pc_u128 sum = 0, most = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (!rows->row[i].line && rows->row[i].module)
            dark[n++] = &rows->row[i];
    qsort(dark, n, sizeof *dark, compare_modules);
    for (size_t i = 0; i < n; i++) {
        pc_u128 ns = dark[i]->own.sum[PCT_EXCLUSIVE] + dark[i]->self.ns;
        sum = i && !compare_modules(&dark[i - 1], &dark[i]) ? sum + ns : ns;
        l->dark_ns += ns;
        if (sum > most && can_have_lines(dark[i]->module)) {
            most = sum;
            l->dark_module = pct_pool_intern(l->a->data->pool, dark[i]->module);
        }
    }
    pct_free(dark);
}

/* Adds the code without lines that lines call. */
static void add_called(struct lines *l)
{
    const struct pct_rolled *rows = pct_data_rolled(l->a->data, PCT_BY_CALLED);
    for (size_t i = 0; i < rows->n; i++) {
        const struct pct_rolled_row *r = &rows->row[i];
        struct line key = {.file = r->file, .line = r->line};
        struct line *line =
            is_asked_for(l->a, r) ? bsearch(&key, l->list, l->n, sizeof key, compare_lines) : NULL;
        if (!line)
            continue;
        line->called_mpi_ns += r->own.sum[PCT_EXCLUSIVE];
        pct_sampled_add(&line->called, r->self);
        l->any_called_mpi |= line->called_mpi_ns > 0;
        l->any_called |= line->called.ns > 0;
    }
}

static void gather(struct lines *l, const struct pct_annotate *a)
{
    const struct pct_data *d = a->data;
    struct pct_rolled *rows =
        pct_roll_up(d->totals, d->symbols, pct_data_samples(d), NULL, PCT_BY_LINE);
    size_t n = 0;
    *l = (struct lines){.a = a,
                        .list = pct_alloc(rows->n, sizeof *l->list),
                        .mpi = !(d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE)};
    l->all_ns =
        d->totals->context_mpi_ns + pct_data_samples(d)->all.ns - pct_data_samples(d)->mpi.ns;
    for (size_t i = 0; i < rows->n; i++) {
        const struct pct_rolled_row *r = &rows->row[i];
        if (!is_asked_for(a, r))
            continue;
        l->list[n++] = (struct line){.file = pct_pool_intern(d->pool, r->file),
                                     .function = r->function,
                                     .line = r->line,
                                     .calls = r->own.sum[PCT_CALLS],
                                     .own_ns = r->own.sum[PCT_EXCLUSIVE],
                                     .below_ns = r->below_ns,
                                     .self = r->self,
                                     .total = r->total,
                                     .whole = &rows->lines[r->whole]};
    }
    qsort(l->list, n, sizeof *l->list, compare_lines);
    for (size_t i = 0; i < n; i++) {
        if (l->n && !compare_lines(&l->list[l->n - 1], &l->list[i]))
            add_line(&l->list[l->n - 1], &l->list[i]);
        else
            l->list[l->n++] = l->list[i];
    }
    add_called(l);
    add_dark(l, rows);
    pct_rolled_free(rows);
}

bool pct_annotate_has_enough(const struct pct_annotate *a, pc_u128 mpi_ns, pc_u128 cpu_ns)
{
    enum { NEXT_TO_NOTHING = 5 };
    const struct pct_samples *s = pct_data_samples(a->data);
    double mpi = (double)a->data->totals->context_mpi_ns, cpu = (double)s->all.ns;
    double both = mpi + cpu - (double)s->mpi.ns;
    if (NEXT_TO_NOTHING * 100.0 * (double)(mpi_ns + cpu_ns) < a->min_percent * both)
        return false;
    return (mpi_ns && 100.0 * (double)mpi_ns >= a->min_percent * mpi) ||
           (cpu_ns && 100.0 * (double)cpu_ns >= a->min_percent * cpu);
}

/* ---- Source ---------------------------------------------------------------------------------- */

/* True if there is little room for source beside the figures: then time and number of calls are
 * left out. */
static bool is_narrow(const struct pct_annotate *a)
{
    return a->width && a->width < 110;
}

/* Appends the share, or blanks for nothing. */
static void put_share(struct pct_buf *b, pc_u128 part, pc_u128 whole)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_format(b, " %7s", part ? pct_text_percent_1(number, pct_text_share(part, whole)) : "");
}

static void put_sampled(struct pct_buf *b, struct pct_sampled part, struct pct_sampled all)
{
    struct pct_buf text = {0};
    pct_buf_put(&text, "", 0);
    if (part.samples)
        pct_sampled_text(&text, part, all, true);
    pct_buf_format(b, " %15s", text.data);
    pct_buf_free(&text);
}

static void put_time(struct pct_buf *b, pc_u128 ns)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_format(b, " %9s", ns ? pct_text_time(number, ns) : "");
}

/* Appends the text of a line in the rest of the width. Without a width a very long line is bounded,
 * too: generated files have lines of megabytes. Tabs become blanks, because the columns before the
 * text shift tab stops. */
static void put_source(struct pct_buf *b, const struct pct_annotate *a, const char *text)
{
    enum { LEAST = 10 }; /* cells of a text */
    struct pct_buf plain = {0}, cells = {0};
    size_t taken = pct_text_cells(b->data);
    pct_buf_put(&plain, "", 0);
    for (size_t column = 0; text && *text; text++, column++) {
        pct_buf_fill(&plain, *text == '\t' ? ' ' : *text, 1);
        while (*text == '\t' && ++column % 8)
            pct_buf_fill(&plain, ' ', 1);
        column -= *text == '\t';
    }
    pct_buf_put(&cells, "", 0);
    pct_text_escape(&cells, plain.data, PCT_ESCAPE_LINE);
    if (a->width)
        pct_text_cut(b, cells.data, a->width > taken + LEAST ? a->width - taken : LEAST, a->utf8);
    else
        pct_text_bounded(b, cells.data);
    while (b->n && b->data[b->n - 1] == ' ')
        b->data[--b->n] = '\0';
    pct_buf_free(&plain);
    pct_buf_free(&cells);
}

/* Prints the figures of a line (NULL: none) and its text. */
static void put_line(FILE *out, const struct lines *l, const struct line *line, uint32_t number,
                     const char *text)
{
    static const struct line nothing;
    const struct pct_samples *s = pct_data_samples(l->a->data);
    const struct line *f = line ? line : &nothing;
    struct pct_buf b = {0};
    char calls[PCT_NUMBER_BYTES];
    if (l->mpi)
        put_share(&b, f->below_ns, pct_data_mpi_ns(l->a->data));
    if (l->mpi && !is_narrow(l->a)) {
        put_time(&b, f->own_ns);
        if (l->any_called_mpi)
            put_time(&b, f->called_mpi_ns);
        pct_buf_format(&b, " %9s", f->calls ? pct_text_count(calls, f->calls) : "");
    }
    if (s->all.samples) {
        put_share(&b, f->total.ns, s->all.ns);
        put_sampled(&b, f->self, s->all);
        if (l->any_called)
            put_share(&b, f->called.ns, s->all.ns);
    }
    pct_buf_format(&b, " %6u  ", number);
    put_source(&b, l->a, text);
    fprintf(out, "%s\n", b.data);
    pct_buf_free(&b);
}

static bool has_time(const struct line *line)
{
    return line->below_ns || line->total.ns;
}

/* True if the line is shown. A function that is requested by name is shown completely, from the
 * line that names it, or its first line with figures, to its last line with figures, whatever the
 * minimum is. */
static bool is_shown(const struct lines *l, const struct line *line)
{
    return l->a->function || pct_annotate_has_enough(l->a, line->below_ns, line->total.ns);
}

/* The line that names the function of a line, if it is above `from`. */
static uint32_t begin_of(const struct lines *l, const struct line *line,
                         const struct pct_source *text, uint32_t from)
{
    const char *name = pct_name_tail(line->function, l->a->data->pool);
    uint32_t named = pct_source_function(text, line->file, name, line->line);
    return named && named < from ? named : from;
}

/* Numbers of lines, from `from` to before `end`; one past the greatest number of a line fits. */
struct span {
    uint64_t from, end;
};

/* The lines that are shown for a line with figures, after `shown`, the last one that was. */
static struct span span_of(const struct lines *l, const struct line *line,
                           const struct pct_source *text, uint64_t shown)
{
    uint32_t around = text->n ? l->a->around : 0;
    uint32_t from = line->line > around ? line->line - around : 1;
    uint32_t begin = pct_source_statement(text, line->file, line->line);
    from = begin < from ? begin : from;
    if (l->a->function && text->n && shown)
        return (struct span){shown + 1, (uint64_t)line->line + around + 1};
    if (l->a->function && text->n)
        from = begin_of(l, line, text, from);
    return (struct span){from, (uint64_t)line->line + around + 1};
}

static void put_heads(FILE *out, const struct lines *l)
{
    bool sampled = pct_data_samples(l->a->data)->all.samples > 0;
    bool wide = l->mpi && !is_narrow(l->a);
    fprintf(out, "%s%s%s%s%s%s   line  source\n", l->mpi ? "  of MPI" : "",
            wide ? "       own" : "", wide && l->any_called_mpi ? "    called" : "",
            wide ? "     calls" : "", sampled ? "  of CPU            self" : "",
            sampled && l->any_called ? "  called" : "");
}

/* Says what the columns are. */
static void put_legend(FILE *out, const struct lines *l)
{
    bool sampled = pct_data_samples(l->a->data)->all.samples > 0;
    bool narrow = is_narrow(l->a) || !l->mpi;
    fputc('\n', out);
    pct_print_sentence(out, l->a->width, 0, "%s%s%s: with all that the line calls%s%s%s%s%s",
                       l->mpi ? "of MPI" : "", l->mpi && sampled ? ", " : "",
                       sampled ? "of CPU" : "", sampled || !narrow ? "; " : "", narrow ? "" : "own",
                       sampled ? narrow ? "self" : ", self" : "",
                       sampled || !narrow ? ": of the line itself" : "",
                       (sampled && l->any_called) || (!narrow && l->any_called_mpi)
                           ? "; called: in code without lines that it calls"
                           : "");
}

/* Folds a file that was never one, such as <string>, into a line. False: lines first .. end - 1 of
 * the list are of another, or it is asked for. */
static bool fold_file(FILE *out, const struct lines *l, size_t first, size_t end, size_t *n_out)
{
    const char *file = l->list[first].file, *base = pc_base_name(file);
    pc_u128 mpi_ns = 0, cpu_ns = 0;
    if (*base != '<' || base[strlen(base) - 1] != '>' || l->a->source || l->a->function)
        return false;
    *n_out = 0;
    for (size_t i = first; i < end; i++) {
        const struct line *line = &l->list[i];
        mpi_ns = line->below_ns > mpi_ns ? line->below_ns : mpi_ns;
        cpu_ns = line->total.ns > cpu_ns ? line->total.ns : cpu_ns;
        *n_out += is_shown(l, line) && has_time(line);
    }
    char mpi[PCT_NUMBER_BYTES], cpu[PCT_NUMBER_BYTES];
    const struct pct_data *d = l->a->data;
    pc_u128 all_ns = pct_data_samples(d)->all.ns;
    struct pct_buf b = {0};
    pct_text_escape(&b, file, PCT_ESCAPE_CELL);
    pct_text_percent_1(mpi, pct_text_share(mpi_ns, pct_data_mpi_ns(d)));
    pct_text_percent_1(cpu, pct_text_share(cpu_ns, all_ns));
    fputc('\n', out);
    pct_print_sentence(out, l->a->width, 2,
                       "%s has no text; a line of it has up to %s of MPI%s%s%s (--source shows "
                       "its lines)",
                       b.data, mpi, all_ns ? ", " : "", all_ns ? cpu : "", all_ns ? " of CPU" : "");
    pct_buf_free(&b);
    return true;
}

/* Lines first .. end - 1 of the list are one file's. Returns how many of them it shows with
 * a time. */
static size_t put_file(FILE *out, const struct lines *l, size_t first, size_t end)
{
    struct pct_source text;
    struct pct_buf name = {0};
    uint64_t shown = 0; /* the last line that was printed */
    size_t n_shown = 0;
    pct_source_read(l->a->data->profile, l->list[first].file, &text);
    if (!text.n && fold_file(out, l, first, end, &n_shown)) {
        pct_source_free(&text);
        return n_shown;
    }
    pct_text_escape(&name, l->list[first].file, PCT_ESCAPE_CELL);
    size_t cells = pct_text_cells(name.data) + 3 + strlen(text.problem);
    bool fits = !l->a->width || cells <= l->a->width;
    fprintf(out, "\n%s%s", name.data, !*text.problem ? "\n" : fits ? " " : "\n  ");
    if (*text.problem)
        pct_print_sentence(out, fits ? 0 : l->a->width, 2, "(%s)", text.problem);
    put_heads(out, l);
    for (size_t i = first; i < end; i++) {
        const struct line *line = &l->list[i];
        if (!is_shown(l, line))
            continue;
        struct span span = span_of(l, line, &text, shown);
        if (shown && span.from > shown + 1)
            fprintf(out, "  ...\n");
        for (uint64_t k = span.from > shown ? span.from : shown + 1; k < span.end; k++) {
            size_t at = i;
            if (k > text.n && k < line->line)
                k = line->line; /* the lines between are not in the file */
            while (at > first && l->list[at].line > k)
                at--;
            while (at + 1 < end && l->list[at].line < k)
                at++;
            if (k > text.n && k != line->line)
                continue;
            const struct line *figures = l->list[at].line == k ? &l->list[at] : NULL;
            put_line(out, l, figures, (uint32_t)k, k <= text.n ? text.lines[k - 1] : "");
            n_shown += figures && has_time(figures);
            shown = k;
        }
    }
    pct_buf_free(&name);
    pct_source_free(&text);
    return n_shown;
}

struct file {
    size_t first, end;
    bool readable;
    pc_u128 mpi_ns, cpu_ns, most_ns; /* own, and inclusive of the line with most */
};

static int compare_files(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    if (x->readable != y->readable)
        return x->readable ? -1 : 1;
    pc_u128 x_ns = x->mpi_ns + x->cpu_ns, y_ns = y->mpi_ns + y->cpu_ns;
    if (x_ns != y_ns)
        return x_ns < y_ns ? 1 : -1;
    if (x->most_ns != y->most_ns)
        return x->most_ns < y->most_ns ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool can_be_read(const struct lines *l, const struct file *f)
{
    struct pct_source text;
    pct_source_read(l->a->data->profile, l->list[f->first].file, &text);
    bool any = text.n > 0;
    pct_source_free(&text);
    return any;
}

/* True if the file is shown. One that only calls others says where in the program that is, if there
 * is a text beside the figures. */
static bool is_file_shown(const struct lines *l, const struct file *f)
{
    if (l->a->source || l->a->function)
        return true;
    if (l->a->min_percent > 0 && !pct_annotate_has_enough(l->a, f->mpi_ns, f->cpu_ns) &&
        !f->readable)
        return false;
    for (size_t i = f->first; i < f->end; i++)
        if (is_shown(l, &l->list[i]))
            return true;
    return false;
}

/* Appends how much of the run cannot be seen in lines, if it is much. */
static void put_dark(struct pct_buf *b, const struct lines *l)
{
    enum { LEAST_PERCENT = 10 };
    char share[PCT_NUMBER_BYTES];
    if (!l->dark_module || 100 * l->dark_ns < LEAST_PERCENT * l->all_ns)
        return;
    pct_buf_format(b,
                   "%s of the time in MPI and of sampled computation is in code without lines, the "
                   "most in ",
                   pct_text_percent_1(share, pct_text_share(l->dark_ns, l->all_ns)));
    pct_text_escape(b, pc_base_name(l->dark_module), PCT_ESCAPE_CELL);
}

void pct_annotate_dark(struct pct_buf *b, const struct pct_data *d)
{
    struct lines l;
    gather(&l, &(const struct pct_annotate){.data = d});
    put_dark(b, &l);
    pct_free(l.list);
}

static void print_dark(FILE *out, const struct lines *l)
{
    struct pct_buf text = {0};
    put_dark(&text, l);
    if (!text.n)
        return;
    fputc('\n', out);
    const char *advice = pct_data_threads_wait_in(l->a->data, l->dark_module)
                             ? ", a runtime library: threads wait there"
                             : ". Built with -g it has lines; --assembly shows instructions";
    pct_print_sentence(out, l->a->width, 0, "%s%s", text.data, advice);
    pct_buf_free(&text);
}

static void put_left_out(FILE *out, const struct pct_annotate *a, size_t n)
{
    char count[PCT_NUMBER_BYTES];
    if (!n || a->min_percent <= 0)
        return;
    fputc('\n', out);
    pct_print_sentence(out, a->width, 0,
                       "left out: %s more %s with figures; --min-percent 0 shows %s",
                       pct_text_count(count, n), n == 1 ? "line" : "lines", n == 1 ? "it" : "them");
}

bool pct_annotate_source(FILE *out, const struct pct_annotate *a)
{
    struct lines l;
    size_t n_shown = 0;
    gather(&l, a);
    struct file *files = pct_alloc(l.n, sizeof *files);
    size_t n = 0, n_timed = 0;
    for (size_t i = 0; i < l.n; i++) {
        n_timed += has_time(&l.list[i]);
        if (!i || strcmp(l.list[i - 1].file, l.list[i].file) != 0)
            files[n++] = (struct file){.first = i};
        struct file *f = &files[n - 1];
        pc_u128 ns = l.list[i].below_ns + l.list[i].total.ns;
        f->end = i + 1;
        f->mpi_ns += mpi_of(&l.list[i]);
        f->cpu_ns += cpu_of(&l.list[i]);
        f->most_ns = ns > f->most_ns ? ns : f->most_ns;
    }
    for (size_t i = 0; i < n; i++)
        files[i].readable = can_be_read(&l, &files[i]);
    qsort(files, n, sizeof *files, compare_files);
    for (size_t i = 0; i < n; i++)
        if (is_file_shown(&l, &files[i]))
            n_shown += put_file(out, &l, files[i].first, files[i].end);
    if (n_shown)
        put_legend(out, &l);
    put_left_out(out, a, n_timed - n_shown);
    if (n && !a->source && !a->function)
        print_dark(out, &l);
    pct_free(files);
    pct_free(l.list);
    return n != 0;
}

size_t pct_annotate_nearest(const struct pct_annotate *a, char *out, size_t bytes)
{
    const struct pct_data *d = a->data;
    struct pct_rolled *rows =
        pct_roll_up(d->totals, d->symbols, pct_data_samples(d), NULL, PCT_BY_FUNCTION);
    struct pc_nearest nearest = {.wanted = a->function};
    for (size_t i = 0; i < rows->n; i++)
        if (rows->row[i].function)
            pc_nearest_add(&nearest, rows->row[i].function);
    pct_rolled_free(rows);
    return pc_nearest_text(&nearest, out, bytes);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int compare_costs(const void *a, const void *b)
{
    pc_u128 x = cost_of(a), y = cost_of(b);
    return x != y ? (x < y ? 1 : -1) : compare_lines(a, b);
}

/* Appends the part of a time that is in code without lines which the line calls. */
static void put_called(struct pct_buf *b, pc_u128 called_ns, pc_u128 all_ns, const char *of)
{
    char share[PCT_NUMBER_BYTES], time[PCT_NUMBER_BYTES];
    if (called_ns)
        pct_buf_format(b, "%s%s of %s, %s, in code without lines that it calls",
                       b->n && b->data[b->n - 1] != ' ' ? "; " : "",
                       pct_text_percent_1(share, pct_text_share(called_ns, all_ns)), of,
                       pct_text_time(time, called_ns));
}

static bool has_message(const struct lines *l, const struct line *line)
{
    return pct_annotate_has_enough(l->a, mpi_of(line), cpu_of(line));
}

/* `name`: of the line's function, as reports show it, or NULL. */
static void put_message(FILE *out, const struct lines *l, const struct line *line, const char *name)
{
    const struct pct_data *d = l->a->data;
    char share[PCT_NUMBER_BYTES], time[PCT_NUMBER_BYTES], calls[PCT_NUMBER_BYTES];
    struct pct_buf b = {0}, sampled = {0};
    struct pct_place_text place = {.file = line->file, .line = line->line, .full_path = true};
    pct_place_put(&b, &place, PCT_PLACE_ALONE);
    pct_buf_text(&b, ": ");
    if (line->own_ns)
        pct_buf_format(&b, "%s of the time in MPI, %s in %s %s",
                       pct_text_percent_1(share, pct_text_share(line->own_ns, pct_data_mpi_ns(d))),
                       pct_text_time(time, line->own_ns), pct_text_count(calls, line->calls),
                       line->calls == 1 ? "call" : "calls");
    if (line->self.samples) {
        pct_sampled_text(&sampled, line->self, pct_data_samples(d)->whole, false);
        pct_buf_format(
            &b, "%s%s of the CPU time, %s in %s %s", line->own_ns ? "; " : "",
            pct_text_percent_1(share, pct_text_share(line->self.ns, pct_data_samples(d)->all.ns)),
            sampled.data, pct_text_count(calls, line->self.samples),
            line->self.samples == 1 ? "sample" : "samples");
    }
    put_called(&b, line->called_mpi_ns, pct_data_mpi_ns(d), "the time in MPI");
    put_called(&b, line->called.ns, pct_data_samples(d)->all.ns, "the CPU time");
    if (name) {
        pct_buf_text(&b, ", in ");
        pct_text_escape(&b, name, PCT_ESCAPE_CELL);
    }
    fprintf(out, "%s\n", b.data);
    pct_buf_free(&b);
    pct_buf_free(&sampled);
}

bool pct_annotate_quickfix(FILE *out, const struct pct_annotate *a)
{
    struct lines l;
    gather(&l, a);
    qsort(l.list, l.n, sizeof *l.list, compare_costs);
    const char **names = pct_alloc(l.n, sizeof *names);
    for (size_t i = 0; i < l.n; i++)
        names[i] = has_message(&l, &l.list[i]) ? l.list[i].function : NULL;
    const char **shown = pct_names_shown(names, l.n, false, a->utf8, a->data->pool);
    for (size_t i = 0; i < l.n; i++)
        if (has_message(&l, &l.list[i]))
            put_message(out, &l, &l.list[i], shown[i]);
    pct_free(shown);
    pct_free(names);
    pct_free(l.list);
    return l.n != 0;
}
