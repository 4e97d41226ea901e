/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The literal graph frame of Hatchet: nested objects of frame, metrics and children, which
 * hatchet.GraphFrame.from_literal reads. Times are in seconds, as Hatchet's are.
 */
#include "view/viewers/viewers.h"

static void put_number(FILE *out, enum pct_value_kind kind, uint64_t value)
{
    char number[PCT_NUMBER_BYTES];
    if (kind == PCT_VALUE_CALLS || kind == PCT_VALUE_SENT || kind == PCT_VALUE_RECEIVED)
        fprintf(out, "%llu", (unsigned long long)value);
    else
        fputs(pct_text_seconds(number, value), out);
}

static void put_node(FILE *out, const struct pct_stacks *s, uint32_t node)
{
    const struct pct_node *n = &s->tree->nodes[node];
    const struct pct_stack_function *f = &s->functions[s->function_of[node]];
    uint64_t below[PCT_N_VALUE_KINDS];
    struct pct_buf b = {0};
    const char *between = "";
    pct_stack_values_below(s, node, below);
    pct_buf_text(&b, "{\"frame\": {\"name\": ");
    pct_text_quote(&b, f->name);
    pct_buf_text(&b, n->kind == PCOLLECT_NODE_OP       ? ", \"type\": \"mpi\""
                     : n->kind == PCOLLECT_NODE_REGION ? ", \"type\": \"region\""
                                                       : ", \"type\": \"function\"");
    if (f->file) {
        pct_buf_text(&b, ", \"file\": ");
        pct_text_quote(&b, f->file);
    }
    fprintf(out, "%s}, \"metrics\": {", b.data);
    for (int k = 0; k < PCT_N_VALUE_KINDS; k++) {
        if (!s->has[k])
            continue;
        fprintf(out, "%s\"%s\": ", between, pct_value_types[k].name);
        put_number(out, k, pct_stack_value(s, node, k));
        fprintf(out, ", \"%s (inc)\": ", pct_value_types[k].name);
        put_number(out, k, below[k]);
        between = ", ";
    }
    fputs("}, \"children\": [", out);
    pct_buf_free(&b);
}

void pct_viewer_hatchet(FILE *out, const struct pct_stacks *s)
{
    const struct pct_node *nodes = s->tree->nodes;
    uint32_t node = nodes[0].first_child;
    fputs("[", out);
    while (node != PC_NO_INDEX) {
        put_node(out, s, node);
        if (nodes[node].first_child != PC_NO_INDEX) {
            node = nodes[node].first_child;
            continue;
        }
        fputs("]}", out);
        while (node && nodes[node].next == PC_NO_INDEX) {
            node = nodes[node].parent;
            fputs(node ? "]}" : "", out);
        }
        if (!node)
            break;
        node = nodes[node].next;
        fputs(",\n", out);
    }
    fputs("]\n", out);
}
