/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts, and ratios of two of them: instructions per cycle, misses of references, events per
 * second.
 */
#include "view/stat_print.h"
#include "analysis/buffer.h"
#include "analysis/counters/metrics.h"
#include "view/sentence.h"

#include <string.h>
#include <strings.h>

bool pct_stat_has(const struct pct_stat_event *event)
{
    return !event->why_not || event->accounted;
}

/* ---- Ratios ---------------------------------------------------------------------------------- */

/* An event by its usual names, over another one of the list, or over the clock. */
static const struct ratio {
    const char *of[3];
    const char *to[3]; /* empty: the clock */
    double scale;
    const char *unit;
} ratios[] = {
    {{"cycles", "PAPI_TOT_CYC"}, {NULL}, 1, "GHz"},
    {{"instructions", "PAPI_TOT_INS"}, {"cycles", "PAPI_TOT_CYC"}, 1, "per cycle"},
    {{"branch-misses", "PAPI_BR_MSP"}, {"branches", "PAPI_BR_INS"}, 100, "% of branches"},
    {{"cache-misses"}, {"cache-references"}, 100, "% of cache references"},
    {{"PAPI_L1_DCM"}, {"PAPI_L1_DCA"}, 100, "% of accesses"},
    {{"PAPI_L2_DCM"}, {"PAPI_L2_DCA"}, 100, "% of accesses"},
    {{"PAPI_L3_TCM"}, {"PAPI_L3_TCA"}, 100, "% of accesses"},
    {{"stalled-cycles-frontend"}, {"cycles", "PAPI_TOT_CYC"}, 100, "% of cycles"},
    {{"stalled-cycles-backend", "PAPI_RES_STL"}, {"cycles", "PAPI_TOT_CYC"}, 100, "% of cycles"},
};

/* True if an event has one of the usual names. Case, libpfm's prefix and modifiers are ignored. */
static bool is_called(const char *name, const char *const *usual, size_t n)
{
    unsigned sides;
    if (!strncasecmp(name, "perf::", 6))
        name += 6;
    size_t length = pct_event_base(name, &sides);
    for (size_t i = 0; i < n && usual[i]; i++)
        if (strlen(usual[i]) == length && !strncasecmp(name, usual[i], length))
            return true;
    return false;
}

static unsigned sides_of(const struct pct_stat_event *event)
{
    unsigned sides;
    pct_event_base(event->name, &sides);
    return event->user_only ? PCT_SIDE_USER : sides;
}

static const char per_cpu_time[] = "a second of CPU time";

struct derived {
    bool known;
    double value;
    const char *unit;
};

/* Both are counted on the same sides; the clock counts user mode and the kernel. */
static struct derived derive_ratio(const struct pct_stat *s, const struct pct_stat_block *b,
                                   size_t e, const struct ratio *r)
{
    struct derived d = {.unit = r->unit};
    unsigned sides = sides_of(&s->events[e]);
    bool clock = sides == (PCT_SIDE_USER | PCT_SIDE_KERNEL) && !s->processors;
    double under = r->to[0] || !clock ? 0 : b->clock.value;
    for (size_t i = 0; i < s->n && r->to[0]; i++)
        if (is_called(s->events[i].first, r->to, sizeof r->to / sizeof *r->to) &&
            sides_of(&s->events[i]) == sides && b->figures[i].known)
            under = b->figures[i].value;
    d.known = b->figures[e].known && under > 0;
    d.value = d.known ? r->scale * b->figures[e].value / under : 0;
    return d;
}

/* Derived figure of an event: a ratio, or the rate of an event that the kernel counts. None for
 * other events. */
static struct derived derive(const struct pct_stat *s, const struct pct_stat_block *b, size_t e)
{
    static const char *const rates[] = {"context-switches", "cpu-migrations",   "page-faults",
                                        "minor-faults",     "major-faults",     "alignment-faults",
                                        "emulation-faults", "CONTEXT-SWITCHES", "CPU-MIGRATIONS"};
    const char *name = s->events[e].first;
    struct derived d = {.known = false};
    double seconds = s->processors ? b->elapsed_s : b->clock.value / 1e9;
    if (s->events[e].used) {
        double whole_ns = b->elapsed_s * 1e9 * (double)b->n_processors;
        d.unit = "% of processor time";
        d.known = b->figures[e].known && whole_ns > 0;
        d.value = d.known ? 100 * b->figures[e].value / whole_ns : 0;
        return d;
    }
    if (s->events[e].clock) {
        d.unit = "processors used";
        d.known = b->elapsed_s > 0 && !s->processors;
        d.value = d.known ? b->figures[e].value / 1e9 / b->elapsed_s : 0;
        return d;
    }
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        if (is_called(name, ratios[i].of, sizeof ratios[i].of / sizeof *ratios[i].of))
            return derive_ratio(s, b, e, &ratios[i]);
    if (is_called(name, rates, sizeof rates / sizeof *rates) && seconds > 0 &&
        b->figures[e].known && b->figures[e].value > 0) {
        d.unit = s->processors ? "a second" : per_cpu_time;
        d.known = true;
        d.value = b->figures[e].value / seconds;
    }
    return d;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void put_count(struct pct_buf *out, const struct pct_stat *s,
                      const struct pct_stat_figure *f, bool clock)
{
    char number[PCT_NUMBER_BYTES];
    if (!f->known)
        pct_buf_text(out, "unknown");
    else if (f->error > 0 || f->estimated || s->repeated)
        pct_text_estimate(out, f->value, f->error > 0 ? f->error : 0,
                          clock ? PCT_UNIT_NS : PCT_UNIT_NONE);
    else if (clock)
        pct_buf_text(out, pct_text_time(number, (pc_u128)f->value));
    else
        pct_buf_format(out, "%s%s", f->value < 0 ? "-" : "",
                       pct_text_count(number, (pc_u128)(f->value < 0 ? -f->value : f->value)));
    if (f->known && f->error < 0)
        pct_buf_text(out, " +- ?");
}

/* Least sure difference, with two digits at most; one above the mean says no more than that. */
static void put_difference(struct pct_buf *out, double percent)
{
    if (percent > 100)
        pct_buf_format(out, "  %7s %%", ">100");
    else if (percent > 0 && percent < 0.005)
        pct_buf_format(out, "  %7s %%", "<0.01");
    else
        pct_buf_format(out, "  %7.*f %%",
                       percent >= 9.95 || percent == 0 ? 0
                       : percent < 0.995               ? 2
                                                       : 1,
                       percent);
}

static void put_name(struct pct_buf *out, const struct pct_stat_event *event)
{
    pct_buf_format(out, "%s%s", event->name, event->user_only ? " (user)" : "");
}

/* Width of the column of names, which is as wide as the names are where lines have to be short. */
static size_t name_width(const struct pct_stat *s)
{
    enum { MOST = 26, WIDE = 100 };
    size_t width = 0;
    if (!s->width || s->width >= WIDE)
        return MOST;
    for (size_t e = 0; e < s->n; e++) {
        struct pct_buf name = {0};
        put_name(&name, &s->events[e]);
        if (pct_stat_has(&s->events[e]) && name.n > width)
            width = name.n;
        pct_buf_free(&name);
    }
    return width < MOST ? width : MOST;
}

/* Appends a derived figure if the line has room for it, perhaps with a shorter unit. */
static void put_derived(const struct pct_stat *s, const struct derived *d, size_t before,
                        struct pct_buf *line)
{
    const char *const units[] = {d->unit, !strcmp(d->unit, per_cpu_time) ? "per CPU s" : d->unit};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct pct_buf more = {0};
        pct_buf_text(&more, "  ");
        pct_text_estimate(&more, d->value, 0, PCT_UNIT_NONE);
        pct_buf_format(&more, " %s", units[i]);
        bool fits = !s->width || before + line->n + more.n <= s->width;
        if (fits)
            pct_buf_text(line, more.data);
        pct_buf_free(&more);
        if (fits)
            return;
    }
}

static void put_text_row(FILE *out, const struct pct_stat *s, const struct pct_stat_block *b,
                         size_t e)
{
    const struct pct_stat_figure *f = &b->figures[e];
    struct pct_buf name = {0}, count = {0}, more = {0};
    struct derived d = derive(s, b, e);
    put_name(&name, &s->events[e]);
    put_count(&count, s, f, s->events[e].clock);
    int before = s->intervals ? fprintf(out, "%10.3f", b->at_s) : 0;
    before += fprintf(out, "  %-*s  %20s", (int)name_width(s), name.data, count.data);
    if (s->turns)
        pct_buf_format(&more, "  %4.0f %%", 100 * f->share);
    if (s->repeated && f->known && f->differ >= 0)
        put_difference(&more, 100 * f->differ);
    else if (s->repeated)
        pct_buf_format(&more, "  %9s", "-");
    if (d.known)
        put_derived(s, &d, (size_t)(before > 0 ? before : 0), &more);
    fprintf(out, "%s\n", more.data ? more.data : "");
    pct_buf_free(&name);
    pct_buf_free(&count);
    pct_buf_free(&more);
}

static void put_text(FILE *out, struct pct_stat *s, const struct pct_stat_block *b)
{
    if (b->who)
        fprintf(out, "%s%s %d\n", s->intervals || !s->n_put ? "" : "\n", b->who, b->number);
    s->n_put++;
    for (size_t e = 0; e < s->n; e++)
        if (pct_stat_has(&s->events[e]))
            put_text_row(out, s, b, e);
}

void pct_stat_put_reasons(FILE *out, const struct pct_stat *s, size_t width)
{
    for (size_t e = 0; e < s->n; e++) {
        struct pct_buf names = {0};
        const char *why = s->events[e].why_not;
        bool first = why != NULL;
        for (size_t i = 0; i < e && first; i++)
            first = !s->events[i].why_not || strcmp(why, s->events[i].why_not) != 0;
        for (size_t i = e; i < s->n && first; i++)
            if (s->events[i].why_not && !strcmp(why, s->events[i].why_not))
                pct_buf_format(&names, "%s%s", i == e ? "" : ", ", s->events[i].name);
        if (first) {
            fputs("\n  ", out);
            pct_print_sentence(out, width, 2, "not counted: %s: %s", names.data, why);
        }
        pct_buf_free(&names);
    }
}

/* ---- For programs ---------------------------------------------------------------------------- */

enum {
    TIME,
    ELAPSED,
    TARGET,
    NUMBER,
    EVENT,
    SIDE,
    VALUE,
    UNIT,
    ERROR,
    SHARE,
    DIFFERENCE,
    RATIO,
    RATIO_UNIT,
    WHY_NOT,
    N_COLUMNS
};
static const struct pct_rows_column columns[N_COLUMNS] = {
    [TIME] = {"time_s", false},
    [ELAPSED] = {"elapsed_s", false},
    [TARGET] = {"target", true},
    [NUMBER] = {"number", false},
    [EVENT] = {"event", true},
    [SIDE] = {"side", true},
    [VALUE] = {"value", false},
    [UNIT] = {"unit", true},
    [ERROR] = {"error", false},
    [SHARE] = {"share", false},
    [DIFFERENCE] = {"difference", false},
    [RATIO] = {"ratio", false},
    [RATIO_UNIT] = {"ratio_unit", true},
    [WHY_NOT] = {"why_not", true},
};

/* The cells of a row; an empty one is unknown, or has no meaning. */
static void make_cells(struct pct_buf *cells, const struct pct_stat *s,
                       const struct pct_stat_block *b, size_t e)
{
    const struct pct_stat_figure *f = &b->figures[e];
    const struct pct_stat_event *event = &s->events[e];
    double unit = s->events[e].clock ? 1e9 : 1;
    struct derived d = derive(s, b, e);
    pct_buf_format(&cells[TIME], "%.6f", b->at_s);
    pct_buf_format(&cells[ELAPSED], "%.6f", b->elapsed_s);
    pct_buf_text(&cells[TARGET], b->who ? b->who : "all");
    if (b->who)
        pct_buf_format(&cells[NUMBER], "%d", b->number);
    pct_text_escape(&cells[EVENT], event->name, PCT_ESCAPE_CELL);
    pct_buf_text(&cells[SIDE], event->user_only ? "user" : "all");
    pct_buf_text(&cells[UNIT], unit > 1 ? "s" : "count");
    if (event->why_not)
        pct_text_escape(&cells[WHY_NOT], event->why_not, PCT_ESCAPE_CELL);
    if (!pct_stat_has(event) || !f->known)
        return;
    pct_buf_format(&cells[VALUE],
                   unit > 1                      ? "%.9f"
                   : f->estimated || s->repeated ? "%.3f"
                                                 : "%.0f",
                   f->value / unit);
    if (f->error >= 0)
        pct_buf_format(&cells[ERROR], unit > 1 ? "%.9f" : "%.3f", f->error / unit);
    pct_buf_format(&cells[SHARE], "%.4f", f->share);
    if (s->repeated && f->differ >= 0)
        pct_buf_format(&cells[DIFFERENCE], "%.6f", f->differ);
    if (d.known) {
        pct_buf_format(&cells[RATIO], "%.6g", d.value);
        pct_buf_text(&cells[RATIO_UNIT], d.unit);
    }
}

static void begin(FILE *out, struct pct_stat *s, enum pct_stat_format format)
{
    s->begun = true;
    if (format != PCT_STAT_TEXT) {
        s->rows = (struct pct_row_writer){
            .out = out, .json = format == PCT_STAT_JSON, .columns = columns, .n = N_COLUMNS};
        pct_rows_begin(&s->rows);
        return;
    }
    if (!s->turns && !s->repeated)
        return;
    fprintf(out, "%s  %-*s  %20s%s%s\n", s->intervals ? "          " : "", (int)name_width(s), "",
            s->repeated ? "mean, 95 % interval" : "95 % interval", s->turns ? "  counted" : "",
            s->repeated ? "  sure from" : "");
}

void pct_stat_put(FILE *out, struct pct_stat *s, enum pct_stat_format format,
                  const struct pct_stat_block *b)
{
    if (!s->begun)
        begin(out, s, format);
    if (format == PCT_STAT_TEXT)
        put_text(out, s, b);
    for (size_t e = 0; e < s->n && format != PCT_STAT_TEXT; e++) {
        struct pct_buf cells[N_COLUMNS] = {{0}};
        make_cells(cells, s, b, e);
        pct_rows_put(&s->rows, cells);
    }
}

void pct_stat_end(FILE *out, struct pct_stat *s, enum pct_stat_format format)
{
    if (!s->begun)
        begin(out, s, format);
    if (format != PCT_STAT_TEXT)
        pct_rows_end(&s->rows);
    if (format == PCT_STAT_JSON)
        fputc('\n', out);
}
