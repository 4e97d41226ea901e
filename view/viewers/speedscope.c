/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The format of speedscope: a list of functions, and for each value a list of stacks with weights.
 */
#include "view/viewers/viewers.h"

static void put_frames(FILE *out, const struct pct_stacks *s)
{
    struct pct_buf b = {0};
    fputs("\"shared\": {\"frames\": [", out);
    for (uint32_t i = 0; i < s->n_functions; i++) {
        pct_buf_clear(&b);
        pct_buf_text(&b, i ? ",\n{\"name\": " : "\n{\"name\": ");
        pct_text_quote(&b, s->functions[i].name);
        if (s->functions[i].file) {
            pct_buf_text(&b, ", \"file\": ");
            pct_text_quote(&b, s->functions[i].file);
        }
        fprintf(out, "%s}", b.data);
    }
    fputs("]},\n", out);
    pct_buf_free(&b);
}

static void put_values(FILE *out, const struct pct_stacks *s, enum pct_value_kind kind)
{
    const struct pct_value_type *type = &pct_value_types[kind];
    uint32_t *path = pct_alloc(pct_stack_most(s), sizeof *path);
    const char *between = "";
    fprintf(out,
            "{\"type\": \"sampled\", \"name\": \"%s\", \"unit\": \"%s\", \"startValue\": 0, "
            "\"endValue\": %llu,\n\"samples\": [",
            s->outside ? type->outside_doc : type->doc, type->scope,
            (unsigned long long)s->sum[kind]);
    for (uint32_t i = 1; i < s->tree->n; i++) {
        if (!pct_stack_value(s, i, kind))
            continue;
        uint32_t n = pct_stack_path(s, i, path);
        fprintf(out, "%s[", between);
        for (uint32_t k = 0; k < n; k++)
            fprintf(out, "%s%u", k ? "," : "", s->function_of[path[k]]);
        fputc(']', out);
        between = ",\n";
    }
    fputs("],\n\"weights\": [", out);
    between = "";
    for (uint32_t i = 1; i < s->tree->n; i++) {
        uint64_t value = pct_stack_value(s, i, kind);
        if (value) {
            fprintf(out, "%s%llu", between, (unsigned long long)value);
            between = ",";
        }
    }
    fputs("]}", out);
    pct_free(path);
}

void pct_viewer_speedscope(FILE *out, const struct pct_stacks *s)
{
    struct pct_buf name = {0};
    const char *between = "";
    pct_text_json(&name, pc_base_name(s->data->file));
    fprintf(out,
            "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", "
            "\"exporter\": \"pcollect\", \"name\": %s, \"activeProfileIndex\": 0,\n",
            name.data);
    put_frames(out, s);
    fputs("\"profiles\": [", out);
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++) {
        if (!s->has[k] || !s->sum[k])
            continue;
        fputs(between, out);
        put_values(out, s, k);
        between = ",\n";
    }
    fputs("]}\n", out);
    pct_buf_free(&name);
}
