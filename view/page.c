/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One HTML page with the viewer of page/ and tables: those of a profile here, of a comparison in
 * page_compare.c. `pcollect html` calls them.
 *
 * The page has one element for the list of tables (JSON) and one for each table (its columns, as
 * page_column.c encodes them) and one for the names in them (page_names.c), all in base64. The list
 * and small tables are not deflated: a browser inflates behind the script's back, and the first
 * view of most profiles is there when the page has been loaded. Beside them only the text for
 * readers without scripts has names of the profile, escaped, so no name can be taken for markup.
 * The nonce, a hash of the data, lets the browser run only the page's script, not one from a name;
 * the policy allows no request.
 */
#include "view/page.h"

#include "analysis/traffic/traffic.h"
#include "analysis/tree/samples.h"
#include "format/build.h"
#include "format/bytes.h"
#include "format/team_runtime.h"
#include "view/annotate/annotate.h"
#include "view/page_code.h"
#include "view/page_column.h"
#include "view/page_nodes.h"
#include "view/page_private.h"
#include "view/page_ranks.h"
#include "view/page_sources.h"
#include "view/report_print.h"
#include "view/summary_private.h"
#include "view/svg.h"
#include "view/tables/tables.h"
#include "view/topology_print.h"

#include <stdlib.h>
#include <string.h>

/* ---- Elements with data ---------------------------------------------------------------------- */

/* Takes the elements as text: twice, for the hash before them and into the file. */
struct sink {
    FILE *out; /* NULL: only the hash is wanted */
    uint64_t hash;
};

/* FNV-1a. */
static uint64_t add_to_hash(uint64_t hash, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3;
    return hash;
}

static void put_bytes(struct sink *to, const char *text, size_t n)
{
    if (to->out)
        fwrite(text, 1, n, to->out);
    else
        to->hash = add_to_hash(to->hash, text, n);
}

static void put_base64(struct sink *to, const uint8_t *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t used = 0;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)data[i] << 16;
        v |= i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0;
        v |= i + 2 < n ? data[i + 2] : 0;
        char out[4] = {digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63]};
        for (size_t k = n - i + 1; k < 4; k++)
            out[k] = '=';
        memcpy(text + used, out, sizeof out);
        used += sizeof out;
        if (used < sizeof text && i + 3 < n)
            continue;
        put_bytes(to, text, used);
        used = 0;
    }
}

static void put_element(struct sink *to, size_t number, const struct pct_page_element *e)
{
    static const char end[] = "</script>\n";
    char begin[96];
    pct_text_format(begin, sizeof begin,
                    "<script type=\"text/plain\" id=\"data%zu\" data-deflated=\"%s\">", number,
                    e->deflated ? "yes" : "no");
    put_bytes(to, begin, strlen(begin));
    put_base64(to, e->data, e->n);
    put_bytes(to, end, sizeof end - 1);
}

/* ---- The list of tables ---------------------------------------------------------------------- */

/* True if the page has the column. Of those that must be asked for it has times: it is made once,
 * and may take long. The others name rows of tables. */
static bool has_column(const struct pct_column *c)
{
    return !c->asked || c->type == PCT_NS;
}

static void put_column_head(struct pct_buf *b, const struct pct_column *c)
{
    pct_buf_text(b, "{\"name\": ");
    pct_text_json(b, c->name);
    pct_buf_text(b, ", \"head\": ");
    pct_text_json(b, c->head);
    pct_buf_format(b, ", \"type\": \"%s\", \"doc\": ", pct_page_type(c->type));
    pct_text_json(b, c->doc);
    if (c->labels)
        pct_buf_text(b, ", \"labels\": true");
    if (pct_page_names_has(c))
        pct_buf_text(b, ", \"paths\": true");
    pct_buf_text(b, ", \"error\": ");
    pct_text_json(b, c->error);
    pct_buf_text(b, "}");
}

static void put_table_head(struct pct_buf *b, const char *name, const struct pct_table *t,
                           size_t n_rows)
{
    pct_buf_text(b, b->n ? ",\n" : "\n");
    pct_buf_text(b, "{\"name\": ");
    pct_text_json(b, name);
    pct_buf_text(b, ", \"doc\": ");
    pct_text_json(b, t->doc);
    pct_buf_format(b, ", \"rows\": %zu, \"columns\": [", n_rows);
    for (size_t i = 0, n = 0; i < t->n_columns; i++) {
        if (!has_column(&t->columns[i]))
            continue;
        pct_buf_text(b, n++ ? ",\n" : "\n");
        put_column_head(b, &t->columns[i]);
    }
    pct_buf_text(b, "]}");
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void free_deflater(void *deflater)
{
    pc_deflater_free(deflater);
}

static struct pct_page_rows find_places(const struct pct_table *t, const struct pct_data *d)
{
    struct pct_rows rows = pct_table_rows(t, d, NULL);
    struct pct_page_rows places = {rows.n, pct_alloc(rows.n, sizeof *places.place)};
    for (size_t i = 0; i < rows.n; i++)
        places.place[rows.index[i]] = i;
    pct_rows_free(&rows);
    return places;
}

/* A table as it is: a browser need not wait for what is not deflated. */
static struct pct_page_element pack_small(const struct pct_table *t, const struct pct_data *d,
                                          const struct pct_page_rows *rows,
                                          struct pct_page_names *names)
{
    struct pc_buffer columns = {0};
    for (size_t k = 0; k < t->n_columns; k++)
        if (has_column(&t->columns[k]))
            pct_page_column(&columns, &t->columns[k], d, rows, names);
    return (struct pct_page_element){columns.data, columns.n, false};
}

/* A table, deflated column by column: that of pairs of a large job has 200 MB. */
static struct pct_page_element pack_large(const struct pct_table *t, const struct pct_data *d,
                                          const struct pct_page_rows *rows,
                                          struct pct_page_names *names)
{
    enum { MANY_ROWS = 65536 };
    struct pc_buffer column = {0}, packed = {0};
    struct pc_deflater *deflater = pc_deflater_new(rows->n > MANY_ROWS);
    bool ok = deflater != NULL;
    pct_hold(deflater, free_deflater);
    for (size_t k = 0; k < t->n_columns && ok; k++) {
        column.n = 0;
        if (has_column(&t->columns[k]))
            pct_page_column(&column, &t->columns[k], d, rows, names);
        ok = pc_deflater_put(deflater, column.data, column.n, k + 1 == t->n_columns, &packed);
    }
    if (!ok)
        pct_memory_refuse();
    pct_end(deflater, free_deflater);
    pct_free(column.data);
    return (struct pct_page_element){packed.data, packed.n, true};
}

static void add_element(struct pct_page *page, struct pct_page_element e)
{
    page->elements = pct_grow(page->elements, page->n, &page->room, sizeof *page->elements);
    page->elements[page->n++] = e;
}

void pct_page_add(struct pct_page *page, const char *name, const struct pct_table *t,
                  const struct pct_data *d)
{
    enum { FEW_CELLS = 1024 };
    struct pct_page_rows rows = find_places(t, d);
    bool small = rows.n * t->n_columns <= FEW_CELLS;
    if (!page->names)
        page->names = pct_page_names_new();
    put_table_head(&page->list, name, t, rows.n);
    add_element(page, (small ? pack_small : pack_large)(t, d, &rows, page->names));
    pct_page_names_forget(page->names);
    pct_free(rows.place);
}

/* The list of tables, as the first element. */
static struct pct_page_element pack_list(const struct pct_page *page)
{
    struct pct_buf b = {0};
    pct_buf_text(&b, "{");
    pct_buf_text(&b, page->head.data);
    pct_buf_format(&b, ", \"names\": %zu, \"tables\": [", page->n + 1);
    pct_buf_put(&b, page->list.data, page->list.n);
    pct_buf_text(&b, "]}\n");
    return (struct pct_page_element){(uint8_t *)b.data, b.n, false};
}

/* The data that columns of all tables share, as the last element. */
static struct pct_page_element pack_names(const struct pct_page_names *names)
{
    struct pc_buffer raw = {0}, packed = {0};
    pct_page_names_put(names, &raw);
    bool deflated = pc_pcol_pack(&packed, raw.data, raw.n);
    pct_free(raw.data);
    return (struct pct_page_element){packed.data, packed.n, deflated};
}

static void put_elements(struct sink *to, const struct pct_page *page)
{
    put_element(to, 0, &page->first);
    for (size_t i = 0; i < page->n; i++)
        put_element(to, i + 1, &page->elements[i]);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Puts the text of the report, for people whose browser or server allows no script. */
static void put_text(FILE *out, const char *text)
{
    fputs(": this is the report as text.</p>\n<pre>", out);
    pct_markup_text(out, text);
    fputs("</pre>\n", out);
}

static void put_frame(FILE *out, const struct pct_page *page)
{
    struct sink hash = {.hash = 0xcbf29ce484222325}, elements = {.out = out};
    put_elements(&hash, page);
    unsigned long long nonce = hash.hash;
    fputs(PCT_PAGE_BEGIN "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "script-src 'nonce-%016llx'; style-src 'nonce-%016llx'; base-uri 'none'; "
            "form-action 'none'\">\n",
            nonce, nonce);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>pcollect</title>\n",
          out);
    fprintf(out, "<style nonce=\"%016llx\">\n%s</style>\n</head>\n<body>\n", nonce, pct_page_style);
    fputs("<noscript>\n<p>This page shows itself by a script of its own, which does not run here",
          out);
    if (page->text.n)
        put_text(out, page->text.data);
    else
        fputs(": allow scripts.</p>\n", out);
    fputs("</noscript>\n", out);
    put_elements(&elements, page);
    fprintf(out, "<script nonce=\"%016llx\">\n%s</script>\n</body>\n</html>\n", nonce,
            pct_page_script);
}

void pct_page_write(FILE *out, struct pct_page *page)
{
    page->first = pack_list(page);
    add_element(page, pack_names(page->names));
    pct_page_names_free(page->names);
    put_frame(out, page);
    pct_free(page->first.data);
    for (size_t i = 0; i < page->n; i++)
        pct_free(page->elements[i].data);
    pct_free(page->elements);
    pct_buf_free(&page->head);
    pct_buf_free(&page->text);
    pct_buf_free(&page->list);
}

/* ---- The page of one profile ----------------------------------------------------------------- */

static void put_warning(struct pct_buf *b, const char *text, const char **between)
{
    if (!text)
        return;
    pct_buf_text(b, *between);
    pct_text_json(b, text);
    *between = ", ";
}

/* Appends remarks on the figures: parts that could not be read, missing symbols, what contexts
 * lack. */
static void put_warnings(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_head plain = {NULL, d, &(const struct pct_options){0}};
    const char *between = "";
    put_warning(b, pc_profile_unread(d->profile), &between);
    const char *remark;
    for (size_t i = 0; (remark = pct_symbols_remark(pct_data_symbols(d), i)); i++)
        put_warning(b, remark, &between);
    for (size_t i = 0; pct_head_context_notes[i]; i++) {
        struct pct_buf text = {0};
        pct_head_context_notes[i](&plain, &text);
        put_warning(b, text.n ? text.data : NULL, &between);
        pct_buf_free(&text);
    }
}

/* Appends a placement with less traffic between nodes; null: there is one node, ranks are missing,
 * or there are too many pairs to compute it while a page is made, which is said. */
static void put_placement(struct pct_buf *b, const struct pct_topology *t)
{
    struct pct_placement placement;
    struct pct_graph graph;
    if (t->n_nodes < 2 || t->n_missing) {
        pct_buf_text(b, "null");
        return;
    }
    if (t->n_pairs > PCT_MANY_PAIRS) {
        pct_buf_format(b, "null, \"most_pairs\": %d", PCT_MANY_PAIRS);
        return;
    }
    struct pct_slots *slots = pct_slots_new(t, 0, 0);
    pct_graph_make(t, &graph);
    pct_slots_place(&graph, slots, &placement);
    pct_placement_json(b, &placement, slots, true);
    pct_placement_free(&placement);
    pct_graph_free(&graph);
    pct_slots_free(slots);
}

/* Appends the names of communicators whose ids are known. */
static void put_known(struct pct_buf *b)
{
    for (size_t i = 0; i < PCT_N_DOMAIN_KNOWN; i++) {
        pct_buf_text(b, i ? ", \"" : ", \"communicators\": {\"");
        pct_buf_hex(b, pc_comm_id_of(pct_domain_known[i]));
        pct_buf_format(b, "\": \"%s\"", pct_domain_known[i]);
    }
    pct_buf_text(b, "}");
}

/* Appends the pattern of messages in words, and the placement; null: the profile has no pairs. */
static void put_topology(struct pct_buf *b, const struct pct_data *d)
{
    static const struct pct_pair_filter all = {0};
    struct pct_topology *t = pct_topology_new(d->profile, &all);
    struct pct_buf text = {0};
    put_known(b);
    pct_buf_text(b, ", \"pattern\": ");
    if (t) {
        pct_topology_pattern(t, &text);
        pct_text_json(b, text.data);
        pct_buf_text(b, ", \"placement\": ");
        put_placement(b, t);
    } else
        pct_buf_text(b, "null");
    pct_buf_free(&text);
    pct_topology_free(t);
}

/* Appends the sum of the time that main threads spend in runtimes for other threads, what they do
 * there, and the modules of these runtimes. */
static void put_for_threads(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_rank_times *times = pct_data_rank_times(d);
    double ns = times->guessed ? 0 : times->for_threads_ns;
    const char *separator = "";
    pct_buf_format(b, "\"for_threads\": {\"ns\": %.0f, \"text\": \"%s\", \"modules\": [", ns,
                   pct_head_for_threads(d));
    for (uint32_t i = 0; ns > 0 && i < d->profile->n_modules; i++) {
        const char *path = d->profile->modules[i].path;
        if (!pc_is_team_runtime(pc_base_name(path)))
            continue;
        pct_buf_text(b, separator);
        pct_text_json(b, path);
        separator = ", ";
    }
    pct_buf_text(b, "]}");
}

/* Appends how far the times outside MPI are divided, and what the report says of them. */
static void put_outside(struct pct_buf *b, const struct pct_data *d)
{
    static const char *const words[] = {[PCT_DIVISION_WHOLE] = "known",
                                        [PCT_DIVISION_KNOWN] = "known",
                                        [PCT_DIVISION_UNSURE] = "unsure",
                                        [PCT_DIVISION_GUESSED] = "guessed"};
    const struct pct_head plain = {NULL, d, &(const struct pct_options){0}};
    struct pct_buf text = {0};
    const struct pct_rank_times *times = pct_data_rank_times(d);
    pct_buf_format(b, ", \"outside\": {\"division\": \"%s\", \"turns\": %s, ",
                   words[pct_rank_times_division(times)],
                   pct_rank_times_take_turns(times) ? "true" : "false");
    put_for_threads(b, d);
    pct_buf_text(b, ", \"text\": ");
    pct_head_division(&plain, &text);
    pct_text_json(b, text.n ? text.data : "");
    pct_buf_clear(&text);
    pct_buf_text(b, ", \"imbalance\": ");
    pct_head_imbalance(&plain, &text);
    pct_text_json(b, text.n ? text.data : "");
    pct_buf_text(b, "}");
    pct_buf_free(&text);
}

/* Appends how a process without MPI spent its wall time; null: it calls MPI, there are several, or
 * it was looked at from outside. */
static void put_alone(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_head plain = {NULL, d, &(const struct pct_options){0}};
    struct pct_alone alone;
    struct pct_buf text = {0};
    if (pct_data_calls_mpi(d) || d->profile->n_ranks != 1 ||
        d->totals->all.notes & PCOLLECT_NOTE_OUTSIDE) {
        pct_buf_text(b, ", \"alone\": null");
        return;
    }
    pct_head_main_thread(&plain, &text);
    pct_buf_text(b, ", \"alone\": {\"text\": ");
    pct_text_json(b, text.n ? text.data : "");
    if (pct_head_alone(&plain, &alone))
        pct_buf_format(b, ", \"computing\": %.0f, \"blocked\": %.0f, \"delayed\": %.0f",
                       alone.computing_ns, alone.blocked_ns, alone.delayed_ns);
    pct_buf_text(b, "}");
    pct_buf_free(&text);
}

/* Appends what the report says of ranks that did not end, and of where they were. */
static void put_ends(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_head plain = {NULL, d, &(const struct pct_options){0}};
    struct pct_buf text = {0};
    pct_head_incomplete(&plain, &text);
    pct_buf_text(b, ", \"incomplete\": ");
    pct_text_json(b, text.n ? text.data : "");
    pct_buf_clear(&text);
    pct_head_ended(&plain, &text);
    pct_buf_text(b, ", \"at_end\": ");
    pct_text_json(b, text.n ? text.data : "");
    pct_buf_free(&text);
}

/* Appends what the report says of things that were left out. */
static void put_left_out(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_head plain = {NULL, d, &(const struct pct_options){0}};
    const char *between = "";
    pct_buf_text(b, ", \"left_out\": [");
    for (size_t k = 0; k < PCOLLECT_N_LOST; k++) {
        struct pct_buf text = {0};
        if (pct_head_lost(&plain, k, &text))
            put_warning(b, text.data, &between);
        pct_buf_free(&text);
    }
    pct_buf_text(b, "]");
}

/* Appends what the report says of the program, of what was recorded, and of jobs that it spawned or
 * that spawned it. */
static void put_program(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_head plain = {NULL, d, &(const struct pct_options){0}};
    struct pct_buf text = {0};
    bool several = pct_head_program(&plain, &text);
    pct_buf_format(
        b, ", \"program\": {\"label\": \"%s\", \"text\": ", several ? "programs" : "program");
    pct_text_quote(b, text.data);
    pct_buf_clear(&text);
    several = pct_head_command(&plain, &text);
    pct_buf_format(b, ", \"commands\": %s, \"command\": ", several ? "true" : "false");
    pct_text_quote(b, text.n ? text.data : "");
    pct_buf_clear(&text);
    pct_head_jobs(&plain, &text);
    pct_buf_text(b, "}, \"other_jobs\": ");
    pct_text_json(b, text.n ? text.data : "");
    pct_buf_free(&text);
}

/* Appends how much of the run has no lines, and what the text of source files lacks. */
static void put_sources(struct pct_buf *b, const struct pct_data *d,
                        const struct pct_page_sources *sources)
{
    struct pct_buf text = {0};
    pct_annotate_dark(&text, d);
    pct_buf_text(b, ", \"dark\": ");
    pct_text_json(b, text.n ? text.data : "");
    pct_page_sources_notes(b, sources);
    pct_buf_free(&text);
}

static void put_head(struct pct_buf *b, const struct pct_data *d, const struct pct_buf *topology,
                     const struct pct_page_sources *sources)
{
    pct_buf_text(b, "\"file\": ");
    pct_text_json(b, d->file);
    pct_buf_text(b, ", \"warnings\": [");
    put_warnings(b, d);
    pct_buf_text(b, "]");
    pct_buf_put(b, topology->data, topology->n);
    put_program(b, d);
    put_outside(b, d);
    put_alone(b, d);
    put_ends(b, d);
    put_left_out(b, d);
    put_sources(b, d, sources);
    pct_buf_text(b, ", \"fields\": ");
    pct_page_nodes_fields(b, d);
    pct_buf_format(b, ", \"timed\": %s", d->totals->has[PCT_TIME] ? "true" : "false");
    pct_buf_format(b, ", \"threaded\": %s",
                   pct_thread_times_wait(pct_data_thread_times(d), d->profile) ? "true" : "false");
    pct_buf_format(b, ", \"lost_samples_ns\": %llu",
                   (unsigned long long)(pct_data_samples(d)->all.lost_ns + 0.5));
}

static void close_stream(void *stream)
{
    fclose(stream);
}

/* Appends what `pcollect report` prints. */
static void put_report(struct pct_buf *b, const struct pct_data *d)
{
    const struct pct_options plain = {.metric = PCT_TIME, .width = 100, .utf8 = true};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        pct_memory_refuse();
    pct_hold(out, close_stream);
    pct_print_text(out, d, &plain);
    bool ok = !fflush(out);
    pct_end(out, close_stream);
    if (!ok)
        pct_memory_refuse();
    pct_buf_put(b, text, n);
    free(text);
}

/* Adds the tables of plugins, and others that are in the profile. */
static void add_stored(struct pct_page *page, const struct pct_page_of *of)
{
    const struct pc_profile *p = of->data->profile;
    for (uint32_t i = 0; i < p->n_tables; i++) {
        const char *name = p->tables[i].name;
        struct pct_rows_table table;
        if (pct_table_find(name) ||
            (of->without_sources && !strcmp(name, pct_source_lines_table.name)))
            continue;
        pct_rows_table(&table, of->data, &p->tables[i]);
        pct_page_add(page, name, &table.table, &table.data);
    }
}

/* Adds the tables of the report. Of a large profile, the trees that only one of them needs take as
 * much as the profile. */
static void add_report_tables(struct pct_page *page, const struct pct_data *d)
{
    for (size_t i = 0; i < pct_n_tables; i++) {
        if (pct_tables[i]->asked)
            continue;
        pct_page_add(page, pct_tables[i]->name, pct_tables[i], d);
        pct_data_forget_callers(d);
    }
    pct_data_forget_tree(d);
}

/* Adds tables that are of the page alone. */
static void add_page_tables(struct pct_page *page, const struct pct_data *d)
{
    struct pct_cube by_rank;
    struct pct_page_nodes nodes;
    struct pct_page_ranks ranks;
    struct pct_page_code code;
    pct_cube_make(&by_rank, d, PCT_KEY_RANK | PCT_KEY_PRIMITIVE, "rank,primitive");
    pct_page_add(page, by_rank.table.name, &by_rank.table, &by_rank.data);
    pct_cube_free(&by_rank);
    pct_page_nodes_make(&nodes, d);
    pct_page_add(page, nodes.table.name, &nodes.table, &nodes.data);
    pct_page_nodes_free(&nodes);
    pct_page_ranks_make(&ranks, d);
    pct_page_add(page, pct_page_ranks_table.name, &pct_page_ranks_table, &ranks.data);
    pct_page_ranks_free(&ranks);
    pct_page_code_make(&code, d);
    pct_page_add(page, pct_page_code_table.name, &pct_page_code_table, &code.data);
    pct_page_code_free(&code);
    pct_page_add(page, pct_called_table.name, &pct_called_table, d);
}

void pct_page_put(FILE *out, const struct pct_page_of *of)
{
    const struct pct_data *d = of->data;
    struct pct_page page = {0};
    struct pct_page_sources sources;
    struct pct_buf topology = {0};
    put_topology(&topology, d); /* first: it takes most memory, but only while it is made */
    add_report_tables(&page, d);
    add_page_tables(&page, d);
    pct_page_sources_make(&sources, d, of->without_sources);
    pct_page_add(&page, pct_page_sources_table.name, &pct_page_sources_table, &sources.data);
    add_stored(&page, of);
    put_head(&page.head, d, &topology, &sources);
    put_report(&page.text, d);
    pct_page_write(out, &page);
    pct_buf_free(&topology);
    pct_page_sources_free(&sources);
}
