/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes rows from the sums of an interval, sorts and prints them. Shares refer to all sampled time;
 * those of a rank to the time of its process.
 */
#include "command/record/top_print.h"
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "analysis/symbols/short_name.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tree/label.h"
#include "watch/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Those with most self_ns come first. */
struct row {
    uint64_t self_ns, total_ns, samples;
    uint32_t index;   /* of the place, context or process */
    uint32_t busiest; /* PROCESS: the place with most time of its own */
    /* FUNCTION: the ranks with the least and the greatest share of their own time. */
    uint64_t least, most;
    int most_rank; /* -1: no rank was in it */
};

struct printer {
    const struct pct_top *t;
    struct pct_pool *names;
    struct row *rows;
    size_t n;
    const char **shown; /* names of functions of the printed rows, told apart; NULL: not known */
    size_t n_ranks;     /* processes that are ranks */
    size_t n_more;      /* others */
    bool outside;       /* there are samples of processes outside of our pid namespace */
    size_t n_jobs;      /* of which they are: ranks of several have the same numbers */
    /* Columns that are shown, of those that a narrow text leaves out. */
    bool has_ranks, has_module, has_program, has_pid, has_job;
    size_t name_cells, last_cells; /* width of the names of functions, and of the column behind */
};

/* ---- Names ----------------------------------------------------------------------------------- */

static void put_base_name(struct pct_buf *b, const char *path)
{
    pct_text_escape(b, pc_base_name(path), PCT_ESCAPE_CELL);
}

/* The whole name of a function, escaped; NULL: it is not known. */
static const char *name_of(struct printer *p, uint32_t place)
{
    const char *function = p->t->busiest->places[place].function;
    struct pct_buf name = {0};
    if (!function)
        return NULL;
    pct_text_escape(&name, pct_demangle(function, p->names), PCT_ESCAPE_CELL);
    const char *kept = pct_pool_intern(p->names, name.data);
    pct_buf_free(&name);
    return kept;
}

static void put_place(struct printer *p, struct pct_buf *b, uint32_t place, bool full)
{
    const struct pct_busy_place *at = &p->t->busiest->places[place];
    if (!at->function && at->module) {
        pct_place_unnamed(b, pc_base_name(at->module->path));
        return;
    }
    if (!at->function) {
        pct_buf_text(b, "(no file)");
        return;
    }
    pct_name_put(b, name_of(p, place), full);
}

/* Appends the module of a function. */
static void put_module(const struct printer *p, struct pct_buf *b, uint32_t place)
{
    const struct pct_busy_place *at = &p->t->busiest->places[place];
    if (at->module)
        put_base_name(b, at->module->path);
    else
        pct_buf_text(b, at->mpi ? "MPI" : "-");
}

static void put_program(struct pct_buf *b, const struct pct_busy_process *of)
{
    if (*of->program)
        pct_text_escape(b, of->program, PCT_ESCAPE_CELL);
    else
        pct_buf_text(b, "(kernel)");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool is_rank(const struct pct_busy_process *p)
{
    return p->rank >= 0 && p->mpi;
}

static uint64_t share(uint64_t part, uint64_t whole)
{
    return (uint64_t)pct_text_share(part, whole);
}

static void add_rows(struct printer *p, size_t n)
{
    p->n = n;
    p->rows = pct_alloc(n + 1, sizeof *p->rows);
    for (size_t i = 0; i < n; i++)
        p->rows[i] = (struct row){.index = (uint32_t)i, .most_rank = -1};
}

/* Ranks without a cell of a function have no time in it. */
static void make_functions(struct printer *p)
{
    const struct pct_busiest *b = p->t->busiest;
    add_rows(p, b->n_places);
    size_t *n_ranks = pct_alloc(p->n + 1, sizeof *n_ranks);
    for (size_t i = 0; i < b->n_cells; i++) {
        const struct pct_busy_cell *c = &b->cells[i];
        struct row *r = &p->rows[c->place];
        r->self_ns += c->self_ns;
        r->total_ns += c->total_ns;
        r->samples += c->samples;
        if (!is_rank(&b->processes[c->process]))
            continue;
        uint64_t own = share(c->total_ns, b->processes[c->process].ns);
        r->least = n_ranks[c->place] && r->least < own ? r->least : own;
        if (!n_ranks[c->place]++ || own > r->most) {
            r->most = own;
            r->most_rank = b->processes[c->process].rank;
        }
    }
    for (size_t i = 0; i < p->n; i++)
        if (n_ranks[i] < p->n_ranks)
            p->rows[i].least = 0;
    pct_free(n_ranks);
}

/* Makes rows of contexts: those at which samples ended. */
static void make_contexts(struct printer *p)
{
    const struct pct_busy_context *contexts = p->t->busiest->contexts;
    size_t kept = 0;
    add_rows(p, p->t->busiest->n_contexts);
    for (size_t i = 0; i < p->n; i++)
        if (contexts[i].samples)
            p->rows[kept++] = (struct row){
                .self_ns = contexts[i].ns, .samples = contexts[i].samples, .index = (uint32_t)i};
    p->n = kept;
}

static void make_processes(struct printer *p)
{
    const struct pct_busiest *b = p->t->busiest;
    add_rows(p, b->n_processes);
    uint64_t *most_ns = pct_alloc(p->n + 1, sizeof *most_ns);
    for (size_t i = 0; i < p->n; i++) {
        p->rows[i].self_ns = b->processes[i].ns;
        p->rows[i].samples = b->processes[i].samples;
    }
    for (size_t i = 0; i < b->n_cells; i++) {
        const struct pct_busy_cell *c = &b->cells[i];
        if (c->self_ns < most_ns[c->process])
            continue;
        most_ns[c->process] = c->self_ns;
        p->rows[c->process].busiest = c->place;
    }
    pct_free(most_ns);
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->self_ns != b->self_ns)
        return a->self_ns < b->self_ns ? 1 : -1;
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static int compare_ids(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Counts processes that are no ranks: each once, in however many programs it was. */
static void count_others(struct printer *p)
{
    const struct pct_busiest *b = p->t->busiest;
    uint64_t *ids = pct_alloc(b->n_processes + 1, sizeof *ids), last = 0;
    size_t n = 0;
    for (size_t i = 0; i < b->n_processes; i++) {
        const struct pct_busy_process *of = &b->processes[i];
        p->outside |= !of->pid;
        if (of->pid > 0)
            ids[n++] = (uint64_t)of->pid * 2 + !is_rank(of);
    }
    qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 0; i < n; last = ids[i++] / 2)
        p->n_more += ids[i] % 2 && ids[i] / 2 != last;
    pct_free(ids);
}

/* Counts ranks and their jobs. */
static void count_ranks(struct printer *p)
{
    const struct pct_busiest *b = p->t->busiest;
    uint64_t *jobs = pct_alloc(b->n_processes + 1, sizeof *jobs);
    for (size_t i = 0; i < b->n_processes; i++) {
        size_t k = 0;
        if (!is_rank(&b->processes[i]))
            continue;
        p->n_ranks++;
        while (k < p->n_jobs && jobs[k] != b->processes[i].job)
            k++;
        jobs[k] = b->processes[i].job;
        p->n_jobs += k == p->n_jobs;
    }
    pct_free(jobs);
}

static void begin(struct printer *p)
{
    p->names = pct_pool_new();
    count_ranks(p);
    count_others(p);
    if (p->t->by == PCT_TOP_FUNCTION)
        make_functions(p);
    else if (p->t->by == PCT_TOP_CONTEXT)
        make_contexts(p);
    else
        make_processes(p);
    qsort(p->rows, p->n, sizeof *p->rows, compare_rows);
}

static void end(struct printer *p)
{
    pct_free(p->rows);
    pct_free(p->shown);
    pct_pool_free(p->names);
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Prints a line, cut to the width, which is needed where not even the figures fit. */
static void put_line(FILE *out, const struct pct_top *t, const struct pct_buf *line)
{
    struct pct_buf cut = {0};
    if (t->width && pct_text_cells(line->data) > t->width)
        pct_text_cut(&cut, line->data, t->width, t->utf8);
    fprintf(out, "%s\n", cut.data ? cut.data : line->data);
    pct_buf_free(&cut);
}

/* Appends a part of a line, if it fits. */
static void put_part(const struct pct_top *t, struct pct_buf *line, struct pct_buf *part)
{
    if (!t->width || pct_text_cells(line->data) + pct_text_cells(part->data) <= t->width)
        pct_buf_text(line, part->data);
    pct_buf_clear(part);
}

/* Appends a part that may be left out, if what follows still fits behind it. */
static void put_between(const struct pct_top *t, struct pct_buf *line, struct pct_buf *part,
                        const struct pct_buf *next)
{
    if (!part->n)
        return;
    size_t cells =
        pct_text_cells(line->data) + pct_text_cells(part->data) + pct_text_cells(next->data);
    if (!t->width || cells <= t->width)
        pct_buf_text(line, part->data);
    pct_buf_clear(part);
}

/* Appends who is watched where nobody has a sample, and why. */
static void put_quiet(const struct pct_top *t, struct pct_buf *line)
{
    const struct pct_top_quiet *q = &t->quiet;
    pct_buf_format(line, "%zu %s%s%s", q->n, q->threads ? "thread" : "process",
                   q->n == 1    ? ""
                   : q->threads ? "s"
                                : "es",
                   q->n_stopped == q->n ? ", stopped by a signal"
                   : t->counted_ns      ? " without a sample"
                                        : ", idle");
}

/* Begins the first line: who is watched, and how many CPUs they keep busy. The numbers of jobs, and
 * of processes that are no ranks, are left out if they do not fit. */
static void put_busy(const struct printer *p, struct pct_buf *line, double busy)
{
    size_t n = p->n_ranks ? p->n_ranks : p->n_more;
    size_t n_more = p->n_ranks ? p->n_more : 0;
    struct pct_buf whole = {0}, part = {0};
    if (!n && p->t->quiet.n)
        put_quiet(p->t, line);
    else
        pct_buf_format(line, "%zu %s%s", n, p->n_ranks ? "rank" : "process",
                       n == 1       ? ""
                       : p->n_ranks ? "s"
                                    : "es");
    pct_buf_format(&whole, ": %.2f CPUs busy", busy);
    if (p->n_jobs > 1)
        pct_buf_format(&part, " of %zu jobs", p->n_jobs);
    put_between(p->t, line, &part, &whole);
    if (n_more)
        pct_buf_format(&part, ", %zu more process%s", n_more, n_more == 1 ? "" : "es");
    put_between(p->t, line, &part, &whole);
    if (n && p->t->quiet.n)
        pct_buf_format(&part, ", %zu without a sample", p->t->quiet.n);
    put_between(p->t, line, &part, &whole);
    if (p->outside)
        pct_buf_text(&part, ", others outside of this container (pid namespace)");
    put_between(p->t, line, &part, &whole);
    pct_buf_text(line, whole.data);
    pct_buf_free(&whole);
    pct_buf_free(&part);
}

/* Appends the share of the counted time that samples stand for, if much of it has none; with the
 * cure if that fits too. */
static void put_sampled(const struct pct_top *t, struct pct_buf *line, struct pct_buf *part)
{
    char percent[PCT_NUMBER_BYTES];
    uint64_t sampled_ns = t->busiest->ns;
    size_t before = line->n;
    if (t->counted_ns <= sampled_ns || (t->counted_ns - sampled_ns) * 20 <= t->counted_ns)
        return;
    pct_buf_format(part, "; %s of the CPU time was sampled",
                   pct_text_percent_1(percent, pct_text_share(sampled_ns, t->counted_ns)));
    put_part(t, line, part);
    if (!t->cure || line->n == before)
        return;
    pct_buf_format(part, ": %s", t->cure);
    put_part(t, line, part);
}

static void put_whole(FILE *out, const struct printer *p)
{
    const struct pct_busiest *b = p->t->busiest;
    struct pct_buf line = {0}, part = {0};
    char percent[PCT_NUMBER_BYTES], count[PCT_NUMBER_BYTES];
    double elapsed = p->t->elapsed_ns ? (double)p->t->elapsed_ns : 1;
    double busy = (double)(p->t->counted_ns > b->ns ? p->t->counted_ns : b->ns) / elapsed;
    put_busy(p, &line, fmin(busy, p->t->most_busy));
    if (b->mpi_ns) {
        pct_buf_format(&part, ", %s of it in MPI",
                       pct_text_percent_1(percent, pct_text_share(b->mpi_ns, b->ns)));
        put_part(p->t, &line, &part);
    }
    pct_buf_format(&part, "; %s sample%s in %.1f s", pct_text_count(count, b->samples),
                   b->samples == 1 ? "" : "s", elapsed / 1e9);
    if (p->t->n_lost)
        pct_buf_format(&part, ", %s lost", pct_text_count(count, p->t->n_lost));
    put_part(p->t, &line, &part);
    put_sampled(p->t, &line, &part);
    put_line(out, p->t, &line);
    pct_buf_free(&line);
    pct_buf_free(&part);
}

static void put_share(struct pct_buf *b, uint64_t part, uint64_t whole)
{
    char text[PCT_NUMBER_BYTES];
    pct_buf_format(b, "%8s", pct_text_percent_1(text, pct_text_share(part, whole)));
}

/* Cells of the columns, each with the gap before it; LEAST: of a name beside which another column
 * may stand, if any is as long; MODULE_LEAST: of a module that is cut. */
enum { SHARE = 8, RANKS = 23, RANK = 7, PID = 9, GAP = 2, LEAST = 24, MODULE_LEAST = 8 };

static size_t n_shown(const struct printer *p)
{
    return p->t->max_rows && p->t->max_rows < p->n ? p->t->max_rows : p->n;
}

/* The greatest width of what `put` appends for the rows that are shown, or of the head. */
static size_t widest(struct printer *p, const char *head,
                     void (*put)(struct printer *, struct pct_buf *, const struct row *))
{
    size_t most = strlen(head);
    for (size_t i = 0; i < n_shown(p); i++) {
        struct pct_buf text = {0};
        put(p, &text, &p->rows[i]);
        most = pct_text_cells(text.data) > most ? pct_text_cells(text.data) : most;
        pct_buf_free(&text);
    }
    return most;
}

static uint32_t place_of(const struct printer *p, const struct row *r)
{
    return p->t->by == PCT_TOP_PROCESS ? r->busiest : r->index;
}

/* Shortens the names of the rows that are shown, and tells those apart that are alike then. */
static void name_rows(struct printer *p)
{
    const char **names = pct_alloc(n_shown(p) + 1, sizeof *names);
    for (size_t i = 0; i < n_shown(p); i++)
        names[i] = name_of(p, place_of(p, &p->rows[i]));
    p->shown = pct_names_shown(names, n_shown(p), false, p->t->utf8, p->names);
    pct_free(names);
}

static void put_row_name(struct printer *p, struct pct_buf *b, const struct row *r)
{
    const char *name = p->shown[r - p->rows];
    if (name)
        pct_buf_text(b, name);
    else
        put_place(p, b, place_of(p, r), false);
}

static void put_row_module(struct printer *p, struct pct_buf *b, const struct row *r)
{
    put_module(p, b, r->index);
}

static void put_row_program(struct printer *p, struct pct_buf *b, const struct row *r)
{
    put_program(b, &p->t->busiest->processes[r->index]);
}

/* Takes the cells of a column from those that are left. False: names need them. */
static bool take(size_t *left, size_t cells, size_t least)
{
    bool fits = *left >= cells + least;
    *left -= fits ? cells : 0;
    return fits;
}

/* Gives names of functions what other columns leave, which are left out if that is little. */
static void fit_functions(struct printer *p)
{
    size_t left = p->t->width ? p->t->width : SIZE_MAX, longest, least,
           module = widest(p, "module", put_row_module);
    longest = widest(p, "function", put_row_name);
    least = longest < LEAST ? longest : LEAST;
    take(&left, 2 * SHARE + GAP, 0);
    p->has_ranks = p->n_ranks > 1 && take(&left, RANKS, least);
    if (left < GAP + module + least && left >= GAP + MODULE_LEAST + least)
        module = left - GAP - least;
    p->has_module = take(&left, GAP + module, least);
    p->last_cells = module;
    p->name_cells = longest < left ? longest : left;
}

static void fit_processes(struct printer *p)
{
    size_t left = p->t->width ? p->t->width : SIZE_MAX, longest, least,
           program = widest(p, "program", put_row_program);
    longest = widest(p, "busiest function", put_row_name);
    least = longest < LEAST ? longest : LEAST;
    take(&left, SHARE + GAP + (p->n_ranks ? SHARE + RANK : 0), 0);
    bool ranks_only = p->n_ranks == p->t->busiest->n_processes;
    p->has_pid = take(&left, PID, ranks_only ? least : 0);
    p->has_job = p->n_jobs > 1 && p->has_pid && take(&left, PID, least);
    p->has_program = p->has_pid && take(&left, program + GAP, least);
    p->last_cells = program;
    p->name_cells = longest < left ? longest : left;
}

/* Appends the rank with the greatest share; nothing if several jobs have ranks of its number. */
static void put_rank(struct pct_buf *b, const struct printer *p, const struct row *r)
{
    if (p->n_jobs == 1)
        pct_buf_format(b, "%d", r->most_rank);
}

static void put_function(struct printer *p, struct pct_buf *b, const struct row *r)
{
    char least[PCT_NUMBER_BYTES], most[PCT_NUMBER_BYTES];
    struct pct_buf name = {0}, cut = {0};
    put_share(b, r->self_ns, p->t->busiest->ns);
    put_share(b, r->total_ns, p->t->busiest->ns);
    if (p->has_ranks && r->most_rank >= 0) {
        put_rank(&name, p, r);
        pct_buf_format(b, "%8s%8s %6s", pct_text_percent_1(least, r->least),
                       pct_text_percent_1(most, r->most), name.n ? name.data : "-");
        pct_buf_clear(&name);
    } else if (p->has_ranks) {
        pct_buf_format(b, "%8s%8s %6s", "-", "-", "-");
    }
    put_row_name(p, &name, r);
    pct_buf_text(b, "  ");
    pct_name_cut(&cut, name.data, p->name_cells, p->t->utf8);
    pct_buf_text(b, cut.data);
    if (p->has_module) {
        pct_buf_fill(b, ' ', p->name_cells - pct_text_cells(cut.data) + GAP);
        pct_buf_clear(&name);
        put_module(p, &name, r->index);
        pct_text_cut(b, name.data, p->last_cells, p->t->utf8);
    }
    pct_buf_free(&name);
    pct_buf_free(&cut);
}

/* Appends a context, the innermost frame first. Frames near main that do not fit are left out. */
static void put_context(struct printer *p, struct pct_buf *b, const struct row *r)
{
    const struct pct_busy_context *contexts = p->t->busiest->contexts;
    const char *between = " < ", *dots = p->t->utf8 ? "\xe2\x80\xa6" : "..";
    put_share(b, r->self_ns, p->t->busiest->ns);
    pct_buf_text(b, "  ");
    size_t width = p->t->width ? p->t->width : SIZE_MAX, used = pct_text_cells(b->data);
    for (int64_t i = r->index; i != PCT_BUSY_NONE; i = contexts[i].parent) {
        bool first = i == r->index, last = contexts[i].parent == PCT_BUSY_NONE;
        size_t rest = last ? 0 : strlen(between) + (p->t->utf8 ? 1 : 2);
        struct pct_buf name = {0};
        put_place(p, &name, contexts[i].place, false);
        size_t cells = (first ? 0 : strlen(between)) + pct_text_cells(name.data);
        bool fits = used + cells + rest <= width;
        pct_buf_text(b, first ? "" : between);
        if (fits)
            pct_buf_text(b, name.data);
        else if (first)
            pct_name_cut(b, name.data, width > used + rest ? width - used - rest : 0, p->t->utf8);
        else
            pct_buf_text(b, dots);
        used += cells;
        pct_buf_free(&name);
        if (!fits && first && !last)
            pct_buf_format(b, "%s%s", between, dots);
        if (!fits)
            break;
    }
}

/* Appends the process that has launched a rank; nothing if there is none. */
static void put_launcher(struct pct_buf *b, const struct pct_busy_process *of)
{
    int launcher = is_rank(of) ? pct_watch_launcher(of->pid) : 0;
    if (launcher > 0)
        pct_buf_format(b, "%d", launcher);
}

static void put_process(struct printer *p, struct pct_buf *b, const struct row *r)
{
    const struct pct_busy_process *of = &p->t->busiest->processes[r->index];
    struct pct_buf text = {0};
    put_share(b, of->ns, p->t->elapsed_ns);
    if (p->n_ranks && is_rank(of)) {
        put_share(b, of->mpi_ns, of->ns);
        pct_buf_format(b, "%7d", of->rank);
    } else if (p->n_ranks) {
        pct_buf_format(b, "%8s%7s", "-", "-");
    }
    if (p->has_pid && of->pid > 0)
        pct_buf_format(b, "%9d", of->pid);
    else if (p->has_pid)
        pct_buf_format(b, "%9s", of->pid ? "ended" : "outside");
    if (p->has_job) {
        put_launcher(&text, of);
        pct_buf_format(b, "%9s", text.n ? text.data : "-");
        pct_buf_clear(&text);
    }
    if (p->has_program) {
        put_program(&text, of);
        pct_buf_format(b, "  %s", text.data);
        pct_buf_fill(b, ' ', p->last_cells - pct_text_cells(text.data));
        pct_buf_clear(&text);
    }
    pct_buf_text(b, "  ");
    put_row_name(p, &text, r);
    pct_name_cut(b, text.data, p->name_cells, p->t->utf8);
    pct_buf_free(&text);
}

static void put_head(FILE *out, const struct printer *p)
{
    struct pct_buf line = {0};
    if (p->t->by == PCT_TOP_FUNCTION)
        pct_buf_format(&line, "%8s%8s%s  %-*s%s", "self", "total",
                       p->has_ranks ? "   least    most   rank" : "",
                       p->has_module ? (int)p->name_cells : 0, "function",
                       p->has_module ? "  module" : "");
    else if (p->t->by == PCT_TOP_CONTEXT)
        pct_buf_format(&line, "%8s  %s", "self",
                       !p->t->width || p->t->width >= 2 * LEAST
                           ? "context, the innermost function first"
                           : "context, innermost first");
    else
        pct_buf_format(&line, "%8s%s%s%s  %-*s%s%s", "of a CPU",
                       p->n_ranks ? "  in MPI   rank" : "", p->has_pid ? "  process" : "",
                       p->has_job ? "      job" : "", p->has_program ? (int)p->last_cells : 0,
                       p->has_program ? "program" : "", p->has_program ? "  " : "",
                       p->name_cells < strlen("busiest function") ? "function"
                                                                  : "busiest function");
    put_line(out, p->t, &line);
    pct_buf_free(&line);
}

void pct_top_print(FILE *out, const struct pct_top *t)
{
    static void (*const put[])(struct printer *, struct pct_buf *,
                               const struct row *) = {put_function, put_context, put_process};
    struct printer p = {.t = t};
    begin(&p);
    put_whole(out, &p);
    if (t->by != PCT_TOP_CONTEXT)
        name_rows(&p);
    if (t->by == PCT_TOP_FUNCTION)
        fit_functions(&p);
    else if (t->by == PCT_TOP_PROCESS)
        fit_processes(&p);
    if (p.n)
        put_head(out, &p);
    for (size_t i = 0; i < n_shown(&p); i++) {
        struct pct_buf line = {0};
        put[t->by](&p, &line, &p.rows[i]);
        put_line(out, t, &line);
        pct_buf_free(&line);
    }
    end(&p);
}

/* ---- For programs ---------------------------------------------------------------------------- */

static void put_seconds(FILE *out, uint64_t ns)
{
    char text[PCT_NUMBER_BYTES];
    fputs(pct_text_seconds(text, ns), out);
}

static void put_percent(FILE *out, uint64_t thousandths)
{
    char text[PCT_NUMBER_BYTES];
    fprintf(out, "\t%s", pct_text_percent(text, thousandths));
}

static void function_tsv(FILE *out, struct printer *p, const struct row *r)
{
    struct pct_buf name = {0};
    uint64_t all = p->t->busiest->ns;
    put_seconds(out, r->self_ns);
    fputc('\t', out);
    put_seconds(out, r->total_ns);
    fprintf(out, "\t%llu", (unsigned long long)r->samples);
    put_percent(out, share(r->self_ns, all));
    put_percent(out, share(r->total_ns, all));
    if (r->most_rank >= 0) {
        put_percent(out, r->least);
        put_percent(out, r->most);
        put_rank(&name, p, r);
        fprintf(out, "\t%s\t", name.n ? name.data : "");
        pct_buf_clear(&name);
    } else {
        fputs("\t\t\t\t", out);
    }
    put_place(p, &name, r->index, true);
    pct_buf_text(&name, "\t");
    put_module(p, &name, r->index);
    fprintf(out, "%s\n", name.data);
    pct_buf_free(&name);
}

/* Writes a context with the outermost frame first, like paths in other tables. */
static void context_tsv(FILE *out, struct printer *p, const struct row *r)
{
    const struct pct_busy_context *contexts = p->t->busiest->contexts;
    uint32_t *places = NULL;
    size_t n = 0, room = 0;
    struct pct_buf path = {0};
    for (int64_t i = r->index; i != PCT_BUSY_NONE; i = contexts[i].parent) {
        places = pct_grow(places, n, &room, sizeof *places);
        places[n++] = contexts[i].place;
    }
    while (n--) {
        put_place(p, &path, places[n], true);
        pct_buf_text(&path, n ? " > " : "");
    }
    put_seconds(out, r->self_ns);
    fprintf(out, "\t%llu", (unsigned long long)r->samples);
    put_percent(out, share(r->self_ns, p->t->busiest->ns));
    fprintf(out, "\t%s\n", path.data);
    pct_buf_free(&path);
    pct_free(places);
}

static void process_tsv(FILE *out, struct printer *p, const struct row *r)
{
    const struct pct_busy_process *of = &p->t->busiest->processes[r->index];
    struct pct_buf names = {0};
    put_seconds(out, of->ns);
    fprintf(out, "\t%llu", (unsigned long long)of->samples);
    put_percent(out, share(of->ns, p->t->elapsed_ns));
    put_percent(out, share(of->mpi_ns, of->ns));
    if (is_rank(of))
        fprintf(out, "\t%d\t%d\t", of->rank, of->pid);
    else
        fprintf(out, "\t\t%d\t", of->pid);
    put_program(&names, of);
    pct_buf_text(&names, "\t");
    put_place(p, &names, r->busiest, true);
    pct_buf_text(&names, "\t");
    put_launcher(&names, of);
    fprintf(out, "%s\n", names.data);
    pct_buf_free(&names);
}

void pct_top_tsv(FILE *out, const struct pct_top *t)
{
    static const struct {
        const char *head;
        void (*put)(FILE *, struct printer *, const struct row *);
    } kinds[] = {
        {"cpu_exclusive_s\tcpu_inclusive_s\tsamples\tcpu_exclusive_percent\tcpu_inclusive_percent\t"
         "least_percent\tmost_percent\tmost_rank\tfunction\tmodule",
         function_tsv},
        {"cpu_exclusive_s\tsamples\tcpu_exclusive_percent\tpath", context_tsv},
        {"cpu_s\tsamples\tcpu_percent\tmpi_percent\trank\tpid\tprogram\tfunction\tjob",
         process_tsv},
    };
    struct printer p = {.t = t};
    begin(&p);
    fprintf(out, "%s\n", kinds[t->by].head);
    for (size_t i = 0; i < p.n; i++)
        kinds[t->by].put(out, &p, &p.rows[i]);
    end(&p);
}
