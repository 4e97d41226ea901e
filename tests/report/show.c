/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `pcollect report` for a profile made by hand instead of a file: for golden cases and for checks
 * of its JSON. The name in place of the file selects the profile. `show schema` prints the JSON
 * schema of the report; `show -w FILE NAME` writes a profile.
 */
#include "sample.h"

#include "command/report.h"
#include "view/tables/tables.h"

#include <string.h>

static struct sample sample;

static void make_sample(const char *name)
{
    if (!strcmp(name, "solver"))
        sample_solver(&sample);
    else if (!strcmp(name, "hostile"))
        sample_hostile(&sample);
    else if (!strcmp(name, "limits"))
        sample_limits(&sample);
    else if (!strcmp(name, "great"))
        sample_great(&sample);
    else if (!strcmp(name, "mistyped"))
        sample_mistyped(&sample);
    else if (!strcmp(name, "unsorted"))
        sample_unsorted(&sample);
    else if (!strcmp(name, "wide"))
        sample_wide(&sample);
    else if (!strcmp(name, "recorded"))
        sample_recorded(&sample);
    else if (!strcmp(name, "timeless"))
        sample_timeless(&sample);
    else if (!strcmp(name, "gap"))
        sample_gap(&sample);
    else
        sample_begin(&sample);
}

static int write_sample(const char *path, const char *name)
{
    struct pc_error error = {""};
    make_sample(name);
    int err = pc_pcol_write(&sample.p, path, 0, &error);
    if (err)
        fprintf(stderr, "show: %s\n", error.text);
    return err ? 1 : 0;
}

/* ---- The schema ------------------------------------------------------------------------------ */

static const char *schema_type(enum pct_type type)
{
    switch (type) {
    case PCT_TEXT:
        return "\"string\"";
    case PCT_COUNT:
    case PCT_BYTES:
    case PCT_INTEGER:
        return "\"integer\"";
    case PCT_YES_NO:
        return "\"boolean\"";
    default:
        return "\"number\"";
    }
}

static void put_text(const char *text)
{
    struct pct_buf b = {0};
    pct_text_json(&b, text);
    fputs(b.data, stdout);
    pct_buf_free(&b);
}

/* Prints the schema of a row: every column, and nothing else except the frames of a context. */
static void put_row_schema(const struct pct_table *t, const char *indent)
{
    bool frames = !strcmp(t->name, "contexts");
    printf("{\n%s  \"type\": \"object\",\n%s  \"additionalProperties\": false,\n", indent, indent);
    printf("%s  \"required\": [", indent);
    for (size_t k = 0; k < t->n_columns; k++)
        if (!t->columns[k].asked)
            printf("%s\"%s\"", k ? ", " : "", t->columns[k].name);
    printf("%s],\n%s  \"properties\": {\n", frames ? ", \"frames\"" : "", indent);
    for (size_t k = 0; k < t->n_columns; k++) {
        const struct pct_column *c = &t->columns[k];
        printf("%s    \"%s\": {\"type\": [%s, \"null\"], \"description\": ", indent, c->name,
               schema_type(c->type));
        put_text(c->doc);
        printf("}%s\n", k + 1 < t->n_columns || frames ? "," : "");
    }
    if (frames)
        printf("%s    \"frames\": {\"type\": \"array\", \"items\": {\"$ref\": "
               "\"#/$defs/frame\"}}\n",
               indent);
    printf("%s  }\n%s}", indent, indent);
}

static void put_table_schema(const struct pct_table *t)
{
    bool single = t == &pct_header_table;
    printf(",\n    \"%s\": ", t->name);
    if (single) {
        put_row_schema(t, "    ");
        return;
    }
    printf("{\n      \"description\": ");
    put_text(t->doc);
    printf(",\n      \"type\": \"array\",\n      \"items\": ");
    put_row_schema(t, "      ");
    printf("\n    }");
}

static void put_schema(void)
{
    fputs("{\n"
          "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          "  \"title\": \"pcollect report --format json\",\n"
          "  \"description\": \"Made from the tables of the report; doc/json.md explains it.\",\n"
          "  \"type\": \"object\",\n"
          "  \"required\": [\"pcollect_report\", \"file\"],\n"
          "  \"properties\": {\n"
          "    \"pcollect_report\": {\"const\": 1},\n"
          "    \"file\": {\"type\": \"string\"}",
          stdout);
    for (size_t i = 0; i < pct_n_tables; i++)
        put_table_schema(pct_tables[i]);
    fputs("\n  },\n"
          "  \"additionalProperties\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}},\n"
          "  \"$defs\": {\n"
          "    \"frame\": {\n"
          "      \"type\": \"object\",\n"
          "      \"additionalProperties\": false,\n"
          "      \"properties\": {\n"
          "        \"function\": {\"type\": [\"string\", \"null\"]},\n"
          "        \"file\": {\"type\": [\"string\", \"null\"]},\n"
          "        \"line\": {\"type\": \"integer\"},\n"
          "        \"inlined\": {\"type\": \"boolean\"},\n"
          "        \"tail_call\": {\"const\": true},\n"
          "        \"module\": {\"type\": [\"string\", \"null\"]},\n"
          "        \"offset\": {\"type\": \"integer\"},\n"
          "        \"primitive\": {\"type\": \"string\"},\n"
          "        \"phase\": {\"type\": \"string\"},\n"
          "        \"region\": {\"type\": \"string\"},\n"
          "        \"cut\": {\"const\": true}\n"
          "      },\n"
          "      \"anyOf\": [\n"
          "        {\"required\": [\"function\", \"file\", \"line\", \"inlined\", \"module\", "
          "\"offset\"]},\n"
          "        {\"required\": [\"primitive\"]},\n"
          "        {\"required\": [\"phase\"]},\n"
          "        {\"required\": [\"region\"]},\n"
          "        {\"required\": [\"cut\"]}\n"
          "      ]\n"
          "    }\n"
          "  }\n"
          "}\n",
          stdout);
}

int main(int argc, char **argv)
{
    struct pct_report_request r;
    int status = 0;
    if (argc == 4 && !strcmp(argv[1], "-w"))
        return write_sample(argv[2], argv[3]);
    if (argc == 2 && !strcmp(argv[1], "schema")) {
        put_schema();
        return 0;
    }
    if (!pct_report_read(&pct_report, argc, argv, &r, &status))
        return status;
    make_sample(r.file);
    struct pct_symbols *symbols = pct_symbols_new(&sample.p);
    if (!strcmp(r.file, "solver"))
        sample_teach_solver(symbols);
    if (!strcmp(r.file, "hostile"))
        sample_teach_hostile(symbols);
    if (pct_report_check_table(&pct_report, &r, &sample.p))
        return 2;
    struct pct_data *d = pct_data_new(r.file, &sample.p, symbols, &r.view.tree);
    struct pct_buf why = {0};
    d->findings = pct_findings_make(d, r.view.thresholds);
    pct_print(stdout, d, &r.view, &why);
    pct_buf_free(&why);
    pct_data_free(d);
    return 0;
}
