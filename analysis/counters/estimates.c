/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Estimates of all contexts. Windows are booked to instructions; the context of a window is the row
 * of `computation` to which the samples of that instruction belong, so that events and CPU time are
 * sums over the same instructions. Rows are first sorted by context and event, to make ratios, and
 * then in the order in which they are shown.
 */
#include "analysis/counters/estimates.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Windows that began in a context, and those of them that stayed. */
struct windows {
    uint64_t begun, stayed, begun_long, stayed_long;
};

struct making {
    const struct pc_profile *profile;
    const struct pct_tree *tree; /* of functions */
    struct windows *windows;     /* by context */
    struct pct_estimates *out;
    size_t room, room_of_ratios;
};

/* ---- Reading the table ----------------------------------------------------------------------- */

enum {
    CONTEXT,
    EVENT,
    READINGS,
    SEEN,
    COUNT,
    TIME,
    COUNT_LOW,
    COUNT_HIGH,
    TIME_LOW,
    TIME_HIGH,
    PRODUCT_LOW,
    PRODUCT_HIGH,
    LEAST_COLUMNS, /* older profiles do not have the others */
    WINDOW = LEAST_COLUMNS,
    WEIGHT,
    ADDED,
    N_COLUMNS
};

/* Finds columns by name, because the phase is a key as well if the run has phases. */
static bool find_columns(const struct pc_profile_table *t, uint32_t at[N_COLUMNS])
{
    static const char *const names[N_COLUMNS] = {"context",
                                                 "event",
                                                 "readings",
                                                 "seen",
                                                 "count",
                                                 "time",
                                                 "count_squared_low",
                                                 "count_squared_high",
                                                 "time_squared_low",
                                                 "time_squared_high",
                                                 "product_low",
                                                 "product_high",
                                                 "window",
                                                 "weight",
                                                 "added"};
    for (unsigned k = 0; k < N_COLUMNS; k++) {
        enum pcollect_column_type type = k == CONTEXT ? PCOLLECT_COLUMN_NODE
                                         : k == EVENT ? PCOLLECT_COLUMN_STRING
                                                      : PCOLLECT_COLUMN_NUMBER;
        at[k] = pc_table_column(t, names[k], type);
        if (at[k] == PC_NO_INDEX && k < LEAST_COLUMNS)
            return false;
    }
    return true;
}

static pc_u128 join(uint64_t low, uint64_t high)
{
    return low + ((pc_u128)high << 32);
}

static uint64_t cell_or(const uint64_t *cells, uint32_t at, uint64_t otherwise)
{
    return at == PC_NO_INDEX ? otherwise : cells[at];
}

static struct pct_sampled time_of(const struct making *m, uint32_t context)
{
    return pct_tree_own(m->tree, context).self;
}

/* brief_ns: the length of the brief windows. */
static void read_row(struct making *m, const uint64_t *cells, const uint32_t at[N_COLUMNS],
                     uint64_t brief_ns)
{
    uint64_t node = cells[at[CONTEXT]], event = cells[at[EVENT]], n = cells[at[READINGS]];
    uint32_t context = node < m->profile->n_nodes ? m->tree->shown[node] : PC_NO_INDEX;
    /* Contexts of counts have samples, except in a damaged file. */
    if (context == PC_NO_INDEX || !event || !n || !time_of(m, context).samples)
        return;
    const struct pct_moments moments = {.n = n,
                                        .weight = cell_or(cells, at[WEIGHT], n),
                                        .seen = cells[at[SEEN]],
                                        .x = cells[at[COUNT]],
                                        .t = cells[at[TIME]],
                                        .xx = join(cells[at[COUNT_LOW]], cells[at[COUNT_HIGH]]),
                                        .tt = join(cells[at[TIME_LOW]], cells[at[TIME_HIGH]]),
                                        .xt = join(cells[at[PRODUCT_LOW]], cells[at[PRODUCT_HIGH]]),
                                        .added = cell_or(cells, at[ADDED], 0)};
    struct pct_estimates *out = m->out;
    out->rows = pct_grow(out->rows, out->n, &m->room, sizeof *out->rows);
    struct pct_estimate_row *row = &out->rows[out->n++];
    *row = (struct pct_estimate_row){.event = (uint32_t)event, .context = context};
    bool brief = cell_or(cells, at[WINDOW], brief_ns) == brief_ns;
    *(brief ? &row->readings.brief : &row->readings.lasting) = moments;
}

static void read_rows(struct making *m, const struct pc_profile_table *t,
                      const uint32_t at[N_COLUMNS])
{
    uint64_t brief_ns = UINT64_MAX;
    for (uint32_t i = 0; i < t->n_rows; i++) {
        uint64_t ns = cell_or(t->cells + (size_t)i * t->n_columns, at[WINDOW], 0);
        brief_ns = ns < brief_ns ? ns : brief_ns;
    }
    for (uint32_t i = 0; i < t->n_rows; i++)
        read_row(m, t->cells + (size_t)i * t->n_columns, at, brief_ns);
}

static int compare_cells(const void *a, const void *b)
{
    const struct pct_estimate_row *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* One row for each context and event. */
static void join_rows(struct pct_estimates *out)
{
    size_t n = 0;
    if (out->n)
        qsort(out->rows, out->n, sizeof *out->rows, compare_cells);
    for (size_t i = 0; i < out->n; i++) {
        struct pct_estimate_row *last = n ? &out->rows[n - 1] : NULL;
        if (last && !compare_cells(last, &out->rows[i])) {
            pct_moments_add(&last->readings.brief, &out->rows[i].readings.brief);
            pct_moments_add(&last->readings.lasting, &out->rows[i].readings.lasting);
        } else {
            out->rows[n++] = out->rows[i];
        }
    }
    out->n = n;
}

static uint64_t sum_field(const struct making *m, uint32_t data, uint32_t field)
{
    const struct pc_profile *p = m->profile;
    return field == PC_NO_INDEX ? 0 : (uint64_t)pc_data_sum(p, &p->data[data], field);
}

static void sum_windows(struct making *m)
{
    const struct pc_profile *p = m->profile;
    uint32_t begun = pct_samples_field(p, "counters", "begun");
    uint32_t stayed = pct_samples_field(p, "counters", "stayed");
    uint32_t begun_long = pct_samples_field(p, "counters", "begun_long");
    uint32_t stayed_long = pct_samples_field(p, "counters", "stayed_long");
    m->windows = pct_alloc(m->tree->n, sizeof *m->windows);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t data = p->nodes[i].data, context = m->tree->shown[i];
        if (data == PC_NO_INDEX)
            continue;
        struct windows *w = &m->windows[context];
        w->begun += sum_field(m, data, begun);
        w->stayed += sum_field(m, data, stayed);
        w->begun_long += sum_field(m, data, begun_long);
        w->stayed_long += sum_field(m, data, stayed_long);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void estimate_counts(struct making *m)
{
    struct pct_estimates *out = m->out;
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        struct pct_estimate_row *r = &out->rows[i];
        struct pct_sampled time = time_of(m, r->context);
        const struct pct_extent extent = {(double)time.ns,
                                          pct_samples_variance(time, m->tree->samples->whole)};
        const struct windows *w = &m->windows[r->context];
        r->readings.by_difference = w->stayed_long * 2 > w->begun_long;
        r->e = pct_estimate_count(&r->readings, extent);
        pct_estimate_mix(&r->e, w->begun, w->stayed);
        if (r->e.trust != PCT_TRUST_NONE)
            out->rows[n++] = *r;
    }
    out->n = n;
}

/* ---- Ratios ---------------------------------------------------------------------------------- */

/* Finds, among the rows of one context, the event with the first of these names that is there,
 * counted on these sides. */
static const struct pct_estimate_row *find_event(const struct making *m,
                                                 const struct pct_estimate_row *rows, size_t n,
                                                 const char *names, unsigned wanted)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        for (size_t i = 0; i < n; i++) {
            const char *event = pc_profile_string(m->profile, rows[i].event);
            unsigned sides;
            if (pct_event_base(event, &sides) == length && sides == wanted &&
                !strncasecmp(event, names, length))
                return &rows[i];
        }
        names += length + (names[length] == ' ');
    }
    return NULL;
}

/* Rate per ns. The time is the same for part and whole, and cancels. */
static struct pct_estimate estimate_rate(const struct making *m, const struct pct_estimate_row *r)
{
    struct pct_estimate e = pct_estimate_rate(&r->readings, (double)time_of(m, r->context).ns);
    pct_estimate_mix(&e, m->windows[r->context].begun, m->windows[r->context].stayed);
    return e;
}

/* Adds a ratio of rows of one context: part and whole are counted on the same sides. */
static void add_ratio(struct making *m, const struct pct_estimate_row *rows, size_t n,
                      const struct pct_ratio_kind *kind, unsigned sides)
{
    const struct pct_estimate_row *part = find_event(m, rows, n, kind->part, sides);
    const struct pct_estimate_row *whole =
        kind->whole ? find_event(m, rows, n, kind->whole, sides) : NULL;
    if (!part || (kind->whole && !whole))
        return;
    struct pct_estimate e = estimate_rate(m, part);
    if (whole) {
        struct pct_estimate w = estimate_rate(m, whole);
        e = pct_estimate_ratio(&e, &w);
    }
    if (e.trust == PCT_TRUST_NONE)
        return;
    e.value *= kind->scale;
    e.variance *= kind->scale * kind->scale;
    e.error *= kind->scale;
    struct pct_estimates *out = m->out;
    out->ratios = pct_grow(out->ratios, out->n_ratios, &m->room_of_ratios, sizeof *out->ratios);
    out->ratios[out->n_ratios++] = (struct pct_ratio_row){.kind = kind,
                                                          .part = part->event,
                                                          .whole = whole ? whole->event : 0,
                                                          .context = part->context,
                                                          .whole_count = whole ? whole->e.value : 0,
                                                          .e = e};
}

static void estimate_ratios(struct making *m)
{
    const struct pct_estimate_row *rows = m->out->rows;
    for (size_t i = 0, n; i < m->out->n; i += n) {
        for (n = 1; i + n < m->out->n && rows[i + n].context == rows[i].context; n++)
            ;
        for (size_t k = 0; k < pct_n_ratio_kinds; k++)
            for (unsigned sides = PCT_SIDE_USER | PCT_SIDE_KERNEL; sides; sides--)
                add_ratio(m, rows + i, n, &pct_ratio_kinds[k], sides);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b, void *arg)
{
    const struct making *m = arg;
    const struct pct_estimate_row *x = a, *y = b;
    int order =
        strcmp(pc_profile_string(m->profile, x->event), pc_profile_string(m->profile, y->event));
    if (order)
        return order;
    if (x->e.value < y->e.value || x->e.value > y->e.value)
        return x->e.value > y->e.value ? -1 : 1;
    return compare_cells(x, y);
}

static int compare_ratios(const void *a, const void *b, void *arg)
{
    const struct making *m = arg;
    const struct pct_ratio_row *x = a, *y = b;
    pc_u128 time_x = time_of(m, x->context).ns, time_y = time_of(m, y->context).ns;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (time_x != time_y)
        return time_x > time_y ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* Computes shares. Rows of one event are adjacent. */
static void share_rows(struct pct_estimates *out)
{
    for (size_t i = 0, n; i < out->n; i += n) {
        double all = 0;
        for (n = 0; i + n < out->n && out->rows[i + n].event == out->rows[i].event; n++)
            all += out->rows[i + n].e.value;
        for (size_t k = i; k < i + n; k++)
            out->rows[k].share = all > 0 ? out->rows[k].e.value / all : 0;
    }
}

static void sort_rows(struct making *m)
{
    struct pct_estimates *out = m->out;
    if (out->n)
        qsort_r(out->rows, out->n, sizeof *out->rows, compare_rows, m);
    if (out->n_ratios)
        qsort_r(out->ratios, out->n_ratios, sizeof *out->ratios, compare_ratios, m);
}

/* The table of readings, with the places of its columns; NULL: there is none. */
static const struct pc_profile_table *find_readings(const struct pc_profile *p, uint32_t *at)
{
    const struct pc_profile_table *t = pc_profile_table(p, "readings");
    return t && !strcmp(t->plugin, "counters") && find_columns(t, at) ? t : NULL;
}

bool pct_estimates_any(const struct pc_profile *p)
{
    uint32_t at[N_COLUMNS];
    return find_readings(p, at) != NULL;
}

struct pct_estimates *pct_estimates_new(const struct pct_tree *functions)
{
    struct pct_estimates *out = pct_alloc(1, sizeof *out);
    uint32_t at[N_COLUMNS];
    if (!functions || !functions->samples)
        return out;
    const struct pc_profile *p = functions->totals->profile;
    const struct pc_profile_table *t = find_readings(p, at);
    struct making m = {.profile = p, .tree = functions, .out = out};
    if (!t)
        return out;
    read_rows(&m, t, at);
    join_rows(out);
    sum_windows(&m);
    estimate_counts(&m);
    estimate_ratios(&m);
    sort_rows(&m);
    share_rows(out);
    pct_free(m.windows);
    return out;
}

void pct_estimates_free(struct pct_estimates *e)
{
    if (!e)
        return;
    pct_free(e->rows);
    pct_free(e->ratios);
    pct_free(e);
}
