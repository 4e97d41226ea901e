/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hottest lines as text: lines of the program with most computation, and MPI calls with most
 * time, each summed over all contexts. Computation in a library counts for the line of the program
 * that called it, and the library is named. The program is named where rows of two programs would
 * look alike. What is in a runtime of OpenMP, where threads wait, comes behind what computes: one
 * row for its functions without names, and one for each line that called it. Whole functions are
 * printed instead if the greatest row is of no known line of the program or has too few samples to
 * tell its error, or if these few lines have less than half of what the same number of functions
 * have. A few rows are printed before the tree, which shows the contexts.
 */
#include "analysis/findings/findings.h"
#include "analysis/symbols/short_name.h"
#include "analysis/symbols/symbols.h"
#include "analysis/tree/label.h"
#include "analysis/tree/roll_up.h"
#include "format/team_runtime.h"
#include "view/branches.h"
#include "view/report_print.h"
#include "view/sentence.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 5, LEAST_SHARE = 2000 /* thousandths of a percent */ };

/* The greatest rows, in descending order. */
struct hottest {
    size_t n;
    const struct pct_rolled_row *row[MOST];
    pc_u128 weight[MOST];
};

/* The least share of a row: rows below --min-percent are hidden here, too. */
static pc_u128 least_share(const struct pct_options *o)
{
    pc_u128 least = o->has_min_percent ? o->choice.min_percent : 0;
    return least > LEAST_SHARE ? least : LEAST_SHARE;
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Orders rows by place, and by the name of the function: where the line is known, in all its
 * instances. Without it, those of one name may be overloaded functions, which are not one. */
static int compare_lines(const void *a, const void *b)
{
    const struct pct_rolled_row *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    int order = compare_texts(x->file, y->file);
    order = order ? order : compare_texts(x->primitive, y->primitive);
    order = order ? order : compare_texts(x->library, y->library);
    order = order ? order : compare_texts(x->module, y->module);
    if (order || !x->function || !y->function || !x->line)
        return order ? order : compare_texts(x->function, y->function);
    struct pct_buf one = {0}, other = {0};
    pct_name_of_instances(&one, x->function);
    pct_name_of_instances(&other, y->function);
    order = compare_texts(one.data, other.data);
    pct_buf_free(&one);
    pct_buf_free(&other);
    return order;
}

/* Copies the rows. Freed by the caller. */
static struct pct_rolled_row *copy_rows(const struct pct_rolled *rolled)
{
    struct pct_rolled_row *list = pct_alloc(rolled->n + 1, sizeof *list);
    if (rolled->n)
        memcpy(list, rolled->row, rolled->n * sizeof *list);
    return list;
}

/* Gives a line of a template the sums of all its instances, and a name without arguments. Returns
 * the number of rows that are left. */
static size_t join_lines(const struct pct_data *d, struct pct_rolled_row *list, size_t n_rows)
{
    size_t n = 0;
    qsort(list, n_rows, sizeof *list, compare_lines);
    for (size_t i = 0; i < n_rows; i++) {
        struct pct_rolled_row *last = n ? &list[n - 1] : NULL;
        if (!last || compare_lines(last, &list[i]) != 0) {
            list[n++] = list[i];
            continue;
        }
        pct_sampled_add(&last->self, list[i].self);
        if (compare_texts(last->called, list[i].called) != 0)
            last->called = NULL;
        last->own.sum[PCT_EXCLUSIVE] += list[i].own.sum[PCT_EXCLUSIVE];
        if (compare_texts(last->function, list[i].function) != 0) {
            struct pct_buf name = {0};
            pct_name_of_instances(&name, last->function);
            last->function = pct_pool_intern(d->pool, name.data);
            pct_buf_free(&name);
        }
    }
    return n;
}

/* The library in which a line of the program, or a thread of its own, spent the time. */
static const char *library_of(const struct pct_rolled_row *r)
{
    return r->library ? r->library : r->module;
}

static bool is_in_runtime(const struct pct_rolled_row *r)
{
    const char *library = library_of(r);
    return library && pc_is_team_runtime(pc_base_name(library));
}

/* True for functions without names of a runtime of OpenMP, in which a thread of its own was. */
static bool is_nameless_runtime(const struct pct_rolled_row *r)
{
    struct pct_buf name = {0};
    bool is = !r->library && is_in_runtime(r) &&
              (!r->function || pct_place_of_nameless(&name, r->function));
    pct_buf_free(&name);
    return is;
}

/* Gives such functions one row for each runtime. Returns the number of rows that are left. */
static size_t join_nameless(struct pct_rolled_row *list, size_t n_rows)
{
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        struct pct_rolled_row row = list[i];
        bool joins = is_nameless_runtime(&row);
        size_t k = joins ? 0 : n;
        while (k < n &&
               (!is_nameless_runtime(&list[k]) || compare_texts(list[k].module, row.module) != 0))
            k++;
        if (joins)
            row.function = row.file = NULL;
        if (k < n)
            pct_sampled_add(&list[k].self, row.self);
        else
            list[n++] = row;
    }
    return n;
}

static void add(struct hottest *h, const struct pct_rolled_row *row, pc_u128 weight)
{
    if (!row->file && !row->module && !row->function) /* no place: contexts without room */
        return;
    size_t at = h->n < MOST ? h->n++ : MOST;
    if (at == MOST && weight <= h->weight[MOST - 1])
        return;
    for (at = at == MOST ? MOST - 1 : at; at && h->weight[at - 1] < weight; at--) {
        h->row[at] = h->row[at - 1];
        h->weight[at] = h->weight[at - 1];
    }
    h->row[at] = row;
    h->weight[at] = weight;
}

enum { FIGURES = 30 };

static size_t room_of(const struct pct_options *o)
{
    return !o->width ? SIZE_MAX : o->width > FIGURES + 20 ? o->width - FIGURES : 20;
}

/* True if a module of this name is what `kind` says. */
static bool is_one(const struct pct_data *d, const char *module,
                   bool (*kind)(const struct pc_profile_module *m))
{
    const struct pc_profile *p = d->profile;
    for (uint32_t i = 0; module && i < p->n_modules; i++)
        if (!strcmp(pc_base_name(p->modules[i].path), pc_base_name(module)) && kind(&p->modules[i]))
            return true;
    return false;
}

/* Pieces of the text of a row, which are not broken between lines if they fit into one. PLACE keeps
 * its blanks after a function.
 */
enum { PRIMITIVE, FUNCTION, PLACE, MODULE, LIBRARY, CALLER, N_PIECES };
struct place {
    struct pct_buf piece[N_PIECES];
};

/* The function, by the name that is shown, and its place, as much of it as is known. */
static void put_place(const struct pct_data *d, const struct pct_rolled_row *r, const char *name,
                      struct place *out)
{
    struct pct_place_text place = {.file = r->file ? r->file : r->module,
                                   .line = r->line,
                                   .full_path = pct_data_full_paths(d)};
    struct pct_buf *function = &out->piece[FUNCTION];
    if (out->piece[PRIMITIVE].n && (r->function || !r->line))
        pct_buf_text(function, "in ");
    bool nameless = r->function && pct_place_of_nameless(function, r->function);
    if (nameless && !place.full_path) /* the module is in the name */
        return;
    if (r->function && !nameless)
        pct_buf_text(function, name);
    else if (!r->function && !r->line && !r->library)
        pct_buf_text(function, "nameless functions");
    pct_place_put(&out->piece[PLACE], &place,
                  function->n || out->piece[PRIMITIVE].n ? PCT_PLACE_LIST : PCT_PLACE_ALONE);
}

static bool is_same_place(const struct place *a, const struct place *b)
{
    for (int i = PRIMITIVE; i <= PLACE; i++)
        if (compare_texts(a->piece[i].data, b->piece[i].data) != 0)
            return false;
    return true;
}

/* The places of the rows. Programs of one job may be made of the same files: where rows look alike,
 * the program is named, like in the tree. */
static void put_places(const struct pct_data *d, const struct pct_options *o,
                       const struct hottest *h, struct place *places)
{
    const char *shown[MOST];
    for (size_t i = 0; i < h->n; i++)
        shown[i] = h->row[i]->function;
    const char **names = pct_names_shown(shown, h->n, o->full_names, o->utf8, d->pool);
    for (size_t i = 0; i < h->n; i++) {
        pct_buf_text(&places[i].piece[PRIMITIVE], h->row[i]->primitive ? h->row[i]->primitive : "");
        put_place(d, h->row[i], names[i], &places[i]);
    }
    for (size_t i = 0; i < h->n; i++) {
        const char *module = h->row[i]->module;
        size_t k = 0;
        while (k < h->n && (!is_same_place(&places[i], &places[k]) ||
                            compare_texts(module, h->row[k]->module) == 0))
            k++;
        if (module && h->row[i]->file && k < h->n)
            pct_place_unnamed(&places[i].piece[MODULE], pct_data_full_paths(d)
                                                            ? module
                                                            : pct_label_module(d->profile, module));
    }
    pct_free(names);
}

/* That library, behind the function there that the line called, if it is one. */
static void put_library(const struct pct_data *d, const struct pct_rolled_row *r, bool full,
                        struct pct_buf *b)
{
    bool waits = pct_data_threads_wait_in(d, library_of(r));
    if (r->library) {
        pct_buf_text(b, "(");
        if (r->called) {
            pct_name_put(b, r->called, full);
            pct_buf_text(b, " in ");
        }
        pct_buf_format(b, "%s%s)", pct_data_full_paths(d) ? r->library : pc_base_name(r->library),
                       waits ? ": threads wait there" : "");
    } else if (is_in_runtime(r)) {
        pct_buf_format(b, "(a runtime library%s)", waits ? ": threads wait there" : "");
    }
}

static void begin_line(struct pct_buf *line)
{
    pct_buf_text(line, "\n");
    pct_buf_fill(line, ' ', FIGURES);
}

/* Appends a piece that has no room on one line; returns the cells of its last line. */
static size_t put_long(const char *text, size_t room, struct pct_buf *line)
{
    size_t n = pct_name_part(text, room);
    for (; text[n]; n = pct_name_part(text, room)) {
        size_t shown = n;
        while (shown > 1 && text[shown - 1] == ' ')
            shown--;
        pct_buf_format(line, "%.*s", (int)shown, text);
        begin_line(line);
        text += n + strspn(text + n, " ");
    }
    pct_buf_text(line, text);
    return pct_text_cells(text);
}

/* Prints a row. Pieces without room on a line go to the next one. */
static void put_row(FILE *out, const struct pct_options *o, pc_u128 share, const char *time,
                    struct place *place)
{
    char percent[PCT_NUMBER_BYTES];
    struct pct_buf line = {0};
    size_t cells = pct_text_cells(time), used = 0, room = room_of(o);
    pct_buf_format(&line, "  %7s  ", pct_text_percent_1(percent, share));
    pct_buf_fill(&line, ' ', cells < FIGURES - 13 ? FIGURES - 13 - cells : 0);
    pct_buf_format(&line, "%s  ", time);
    for (int i = 0; i < N_PIECES; i++) {
        struct pct_buf *piece = &place->piece[i];
        const char *text = piece->n ? piece->data : "", *word = text + strspn(text, " ");
        size_t blanks = !used ? 0 : word > text ? (size_t)(word - text) : 1;
        size_t wide = pct_text_cells(word);
        if (used && wide && used + blanks + wide > room) {
            begin_line(&line);
            used = blanks = 0;
        }
        if (wide) {
            pct_buf_fill(&line, ' ', blanks);
            used += blanks + put_long(word, room, &line);
        }
        pct_buf_free(piece);
    }
    fprintf(out, "%s\n", line.data);
    pct_buf_free(&line);
}

static void put_title(FILE *out, const struct pct_options *o, const char *title, const char *head,
                      const char *place)
{
    fprintf(out, "\n%s%s%s\n%9s  %17s  %s\n", pct_style(o, PCT_STYLE_TITLE), title,
            pct_style(o, PCT_STYLE_PLAIN), "share", head, place);
}

/* Rows of the program by some keys, with what they compute, and the greatest of them: of
 * computation and of runtimes of OpenMP. */
struct computing {
    struct pct_rolled_row *list; /* freed by the caller */
    struct hottest hottest, runtimes;
    struct pct_sampled all;
};

static struct computing find_computing(const struct pct_data *d, const struct pct_options *o,
                                       unsigned keys)
{
    const struct pct_rolled *rolled = pct_data_rolled(d, keys);
    struct computing c = {.list = copy_rows(rolled)};
    size_t n = rolled->n;
    if (keys & PCT_KEY_LINE && !o->full_names)
        n = join_lines(d, c.list, n);
    n = join_nameless(c.list, n);
    for (size_t i = 0; i < n; i++)
        pct_sampled_add(&c.all, c.list[i].self);
    for (size_t i = 0; i < n; i++)
        if (c.all.samples >= PCT_SAMPLES_FEW &&
            pct_text_share(c.list[i].self.ns, c.all.ns) >= least_share(o))
            add(is_in_runtime(&c.list[i]) ? &c.runtimes : &c.hottest, &c.list[i],
                c.list[i].self.ns);
    return c;
}

/* Words that need an explanation below the rows. */
struct notes {
    bool few, libraries;
};

static void put_computing_rows(FILE *out, const struct pct_data *d, const struct pct_options *o,
                               const struct hottest *h, pc_u128 all_ns, struct notes *notes)
{
    struct place places[MOST] = {0};
    put_places(d, o, h, places);
    for (size_t i = 0; i < h->n; i++) {
        struct pct_buf time = {0};
        pct_sampled_text(&time, h->row[i]->self, pct_data_samples(d)->whole, false);
        put_library(d, h->row[i], o->full_names, &places[i].piece[LIBRARY]);
        put_row(out, o, pct_text_share(h->weight[i], all_ns), time.data, &places[i]);
        notes->few |= h->row[i]->self.samples < PCT_SAMPLES_FEW;
        notes->libraries |= h->row[i]->library != NULL;
        pct_buf_free(&time);
    }
}

static void put_computing(FILE *out, const struct pct_data *d, const struct pct_options *o,
                          const struct computing *c, bool lines)
{
    struct notes notes = {false, false};
    if (c->hottest.n + c->runtimes.n)
        put_title(out, o,
                  lines ? "Lines that compute most, in all contexts"
                        : "Functions that compute most, in all contexts",
                  "computing", lines ? "function and line" : "function and file");
    put_computing_rows(out, d, o, &c->hottest, c->all.ns, &notes);
    put_computing_rows(out, d, o, &c->runtimes, c->all.ns, &notes);
    if (notes.few)
        pct_print_sentence(out, o->width, 2,
                           "  few: less than %d samples, too few to tell the error",
                           PCT_SAMPLES_FEW);
    if (notes.libraries)
        pct_print_sentence(out, o->width, 2, "  (LIBRARY): in this library, called from the %s",
                           lines ? "line" : "function");
}

static bool begins_with_a_line(const struct pct_data *d, const struct hottest *h)
{
    return h->n && h->row[0]->line && is_one(d, h->row[0]->module, pct_symbols_is_program) &&
           h->row[0]->self.samples >= PCT_SAMPLES_FEW;
}

static pc_u128 sum_of(const struct hottest *h)
{
    pc_u128 sum = 0;
    for (size_t i = 0; i < h->n; i++)
        sum += h->weight[i];
    return sum;
}

static void print_computing(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    struct computing by_line = find_computing(d, o, PCT_BY_PROGRAM_LINE),
                     by_function = find_computing(d, o, PCT_BY_PROGRAM_FUNCTION);
    bool lines = begins_with_a_line(d, &by_line.hottest) &&
                 sum_of(&by_line.hottest) >= sum_of(&by_function.hottest) / 2;
    put_computing(out, d, o, lines ? &by_line : &by_function, lines);
    pct_free(by_line.list);
    pct_free(by_function.list);
}

/* Adds the calls that had not ended to the rows of their call sites. Returns their time. */
static pc_u128 add_open_calls(const struct pct_data *d, const struct pct_rolled *rolled,
                              struct pct_rolled_row *sites)
{
    const struct pct_open_calls *open = pct_data_open_calls(d);
    pc_u128 sum = 0, *ns = pct_alloc(d->profile->n_nodes, sizeof *ns); /* by context */
    for (size_t i = 0; i < open->n; i++)
        ns[open->list[i].node] += open->list[i].ns;
    for (size_t i = 0; i < rolled->n && open->n; i++) {
        uint32_t node = sites[i].first_node;
        for (; node != PC_NO_INDEX; node = rolled->next[node]) {
            pc_u128 *here = &ns[pct_totals_call(d->profile, node)];
            sites[i].own.sum[PCT_EXCLUSIVE] += *here;
            sum += *here;
            *here = 0;
        }
    }
    pct_free(ns);
    return sum;
}

void pct_print_open(FILE *out, size_t width, pc_u128 ns, const char *with, pc_u128 whole)
{
    char time[PCT_NUMBER_BYTES], share[PCT_NUMBER_BYTES];
    struct pct_buf part = {0};
    if (!ns)
        return;
    if (whole)
        pct_buf_format(&part, " (%s)", pct_text_percent_1(share, pct_text_share(ns, whole)));
    pct_print_sentence(out, width, 2,
                       "  %s %s%s of calls that had not ended: --table open_calls shows them", with,
                       pct_text_time(time, ns), part.n ? part.data : "");
    pct_buf_free(&part);
}

/* Contexts of one place. */
struct callers {
    struct pct_calls_from *list;
    size_t n, room;
    double calls;
    bool in_library; /* that lines of the program call */
};

/* Adds the contexts of a call site, each with the function of the program that called its library,
 * or else its caller. In place of a function of a library without a name, the nearest one around it
 * that has a name says more. */
static void add_callers(const struct pct_data *d, const struct pct_rolled *rolled,
                        const struct pct_rolled_row *site, struct callers *c)
{
    const struct pct_tree *t = pct_data_tree(d);
    for (uint32_t i = site->first_node; i != PC_NO_INDEX; i = rolled->next[i]) {
        struct pct_call_sum sum = {{0}};
        uint32_t node = t->shown[pct_totals_call(d->profile, i)];
        struct pct_call_place at = pct_call_place_find(t, node);
        const struct pct_node *from = at.program ? at.program : at.caller;
        const char *function = from ? from->frame->function : NULL;
        if (at.innermost && !at.innermost->frame->function) {
            const char *nearest = pct_call_maker_find(t, node, &at).function;
            function = nearest ? nearest : function;
        }
        pct_totals_add(d->totals, i, &sum);
        c->list = pct_grow(c->list, c->n, &c->room, sizeof *c->list);
        c->list[c->n++] = (struct pct_calls_from){function, (double)sum.sum[PCT_CALLS], NULL};
        c->calls += (double)sum.sum[PCT_CALLS];
        c->in_library |= at.program != NULL;
    }
}

/* Names the function from which most calls of a row come, as findings do: those of a wrapper are of
 * its callers. The row may be of several instances of a template. */
static void put_caller(const struct pct_data *d, const struct pct_rolled *rolled,
                       const struct pct_rolled_row *row, struct pct_buf *b)
{
    struct callers c = {.n = 0};
    for (size_t i = 0; i < rolled->n; i++)
        if (!compare_lines(row, &rolled->row[i]))
            add_callers(d, rolled, &rolled->row[i], &c);
    struct pct_calls_from most = pct_main_caller(c.list, c.n, row->line && !c.in_library);
    pct_main_caller_put(b, &most, c.calls);
    pct_free(c.list);
}

static void print_calling(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    char number[PCT_NUMBER_BYTES];
    const struct pct_rolled *rolled = pct_data_rolled(d, PCT_BY_SITE);
    struct pct_rolled_row *sites = copy_rows(rolled);
    pc_u128 whole = pct_data_mpi_ns(d), open_ns = add_open_calls(d, rolled, sites);
    size_t n_sites = o->full_names ? rolled->n : join_lines(d, sites, rolled->n);
    struct hottest h = {.n = 0};
    for (size_t i = 0; i < n_sites; i++)
        if (pct_text_share(sites[i].own.sum[PCT_EXCLUSIVE], whole) >= least_share(o))
            add(&h, &sites[i], sites[i].own.sum[PCT_EXCLUSIVE]);
    if (h.n)
        put_title(out, o, "Calls of MPI that take most time, in all contexts", "in MPI",
                  "function and line");
    struct place places[MOST] = {0};
    put_places(d, o, &h, places);
    for (size_t i = 0; i < h.n; i++) {
        put_caller(d, rolled, h.row[i], &places[i].piece[CALLER]);
        put_row(out, o, pct_text_share(h.weight[i], whole), pct_text_time(number, h.weight[i]),
                &places[i]);
    }
    if (h.n)
        pct_print_open(out, o->width, open_ns, "with", whole);
    pct_free(sites);
}

void pct_print_hottest(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    if (!pct_data_samples(d)->all.samples)
        return;
    print_computing(out, d, o);
    if (pct_data_calls_mpi(d))
        print_calling(out, d, o);
}
