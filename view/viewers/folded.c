/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Folded stacks, a line for each: "main;solve;MPI_Send 1234", the input of flame graph tools. A
 * semicolon in a name is \x3b.
 */
#include "view/viewers/viewers.h"

#include <string.h>

static void put_name(struct pct_buf *b, const char *name)
{
    for (const char *semicolon; (semicolon = strchr(name, ';')); name = semicolon + 1) {
        pct_buf_put(b, name, (size_t)(semicolon - name));
        pct_buf_text(b, "\\x3b");
    }
    pct_buf_text(b, name);
}

void pct_viewer_folded(FILE *out, const struct pct_stacks *s, enum pct_value_kind kind)
{
    uint32_t *path = pct_alloc(pct_stack_most(s), sizeof *path);
    struct pct_buf line = {0};
    for (uint32_t i = pct_tree_after(s->tree, 0, 0, true); i != PC_NO_INDEX;
         i = pct_tree_after(s->tree, 0, i, true)) {
        uint64_t value = pct_stack_value(s, i, kind);
        if (!value)
            continue;
        uint32_t n = pct_stack_path(s, i, path);
        pct_buf_clear(&line);
        for (uint32_t k = 0; k < n; k++) {
            pct_buf_text(&line, k ? ";" : "");
            put_name(&line, s->functions[s->function_of[path[k]]].name);
        }
        fprintf(out, "%s %llu\n", line.data, (unsigned long long)value);
    }
    pct_buf_free(&line);
    pct_free(path);
}
