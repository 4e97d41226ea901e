/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report as one JSON object (doc/json.md). Texts are those of the tables, which are valid UTF-8
 * and free of control characters already.
 */
#include "view/report_print.h"
#include "view/tables/tables.h"

#include <string.h>

void pct_json_put(FILE *out, const char *text)
{
    struct pct_buf b = {0};
    pct_text_json(&b, text);
    fputs(b.data, out);
    pct_buf_free(&b);
}

static void put_value(FILE *out, const struct pct_column *c, const struct pct_value *v)
{
    struct pct_buf raw = {0}, quoted = {0};
    pct_value_raw(c, v, &raw);
    if (v->none) {
        fputs("null", out);
    } else if (c->type == PCT_YES_NO) {
        fputs(v->integer ? "true" : "false", out);
    } else if (c->type == PCT_TEXT) {
        pct_text_quote(&quoted, raw.data);
        fputs(quoted.data, out);
    } else {
        fputs(raw.data, out);
    }
    pct_buf_free(&raw);
    pct_buf_free(&quoted);
}

static void put_frame(FILE *out, const struct pct_data *d, const struct pct_node *n)
{
    if (n->kind == PCOLLECT_NODE_OP) {
        fputs("{\"primitive\": ", out);
        pct_json_put(out, d->profile->ops[n->op].name);
    } else if (n->kind == PCOLLECT_NODE_PHASE || n->kind == PCOLLECT_NODE_REGION) {
        fprintf(out, "{\"%s\": ", n->kind == PCOLLECT_NODE_PHASE ? "phase" : "region");
        pct_json_put(out, n->label);
    } else if (n->kind == PCOLLECT_NODE_CUT) {
        fputs("{\"cut\": true", out);
    } else {
        fputs("{\"function\": ", out);
        pct_json_put(out, n->frame->function);
        fputs(", \"file\": ", out);
        pct_json_put(out, n->frame->file);
        fprintf(out, ", \"line\": %u, \"inlined\": %s, %s\"module\": ", n->frame->line,
                n->frame->inlined ? "true" : "false",
                n->frame->tail_call ? "\"tail_call\": true, " : "");
        pct_json_put(out, n->module == PC_NO_INDEX ? NULL : d->profile->modules[n->module].path);
        fprintf(out, ", \"offset\": %llu", (unsigned long long)pct_node_offset(d->profile, n));
    }
    fputc('}', out);
}

/* The frames of a context from the root on. */
static void put_frames(FILE *out, const struct pct_data *d, size_t row)
{
    uint32_t *up = NULL;
    size_t n = 0, room = 0;
    uint32_t i = pct_data_tree(d)->nodes[pct_data_contexts(d)->node[row]].parent;
    for (; i != PC_NO_INDEX && i != 0; i = pct_data_tree(d)->nodes[i].parent) {
        up = pct_grow(up, n, &room, sizeof *up);
        up[n++] = i;
    }
    fputs(", \"frames\": [", out);
    for (size_t k = n; k-- > 0;) {
        put_frame(out, d, &pct_data_tree(d)->nodes[up[k]]);
        if (k)
            fputs(", ", out);
    }
    fputc(']', out);
    pct_free(up);
}

static void put_row(FILE *out, const struct pct_data *d, size_t row,
                    const struct pct_column *const *columns, size_t n, bool frames)
{
    fputc('{', out);
    for (size_t k = 0; k < n; k++) {
        struct pct_value v = pct_table_place(columns[k], d, row);
        fprintf(out, "%s\"%s\": ", k ? ", " : "", columns[k]->name);
        put_value(out, columns[k], &v);
    }
    if (frames)
        put_frames(out, d, row);
    fputc('}', out);
}

void pct_table_json(FILE *out, const struct pct_table *t, const struct pct_data *d,
                    const struct pct_choice *choice)
{
    size_t n;
    const struct pct_column **columns = pct_choice_columns(choice, t, false, &n);
    struct pct_rows rows = pct_table_rows(t, d, choice);
    bool single = t == &pct_header_table;
    bool frames = t == &pct_contexts_table && !(choice && choice->columns);
    fprintf(out, ",\n  \"%s\": %s", t->name, single ? "" : "[");
    for (size_t i = 0; i < rows.n; i++) {
        if (!single)
            fputs(i ? ",\n    " : "\n    ", out);
        put_row(out, d, rows.index[i], columns, n, frames);
    }
    fputs(!single ? "\n  ]" : rows.n ? "" : "null", out);
    pct_rows_free(&rows);
    pct_free(columns);
}

/* Tables of plugins, which are not the report's own. */
static void put_rows_tables(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    for (uint32_t i = 0; i < d->profile->n_tables; i++) {
        if (pct_table_find(d->profile->tables[i].name))
            continue;
        struct pct_rows_table t;
        pct_rows_table(&t, d, &d->profile->tables[i]);
        pct_table_json(out, &t.table, &t.data, &o->choice);
    }
}

static void begin(FILE *out, const struct pct_data *d)
{
    fputs("{\n  \"pcollect_report\": 1,\n  \"file\": ", out);
    pct_json_put(out, d->file);
}

void pct_print_json(FILE *out, const struct pct_data *d, const struct pct_options *o)
{
    begin(out, d);
    for (size_t i = 0; i < pct_n_tables; i++)
        if (!pct_tables[i]->asked)
            pct_table_json(out, pct_tables[i], d, &o->choice);
    put_rows_tables(out, d, o);
    fputs("\n}\n", out);
}

void pct_print_json_table(FILE *out, const struct pct_data *d, const struct pct_table *t,
                          const struct pct_options *o)
{
    begin(out, d);
    pct_table_json(out, t, d, &o->choice);
    fputs("\n}\n", out);
}
