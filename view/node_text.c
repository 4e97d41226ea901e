/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and places of nodes, for every drawing of the tree. Texts have no colour.
 */
#include "view/node_text.h"

#include "analysis/symbols/short_name.h"

static void put_file(struct pct_buf *b, const char *file, bool full_paths)
{
    pct_text_escape(b, full_paths ? file : pct_symbols_base_name(file), PCT_ESCAPE_CELL);
}

void pct_node_name(struct pct_buf *b, const struct pc_profile *p, const struct pct_node *n,
                   bool full)
{
    struct pct_buf name = {0};
    if (n->kind == PCOLLECT_NODE_OP)
        pct_text_escape(b, p->ops[n->op].name, PCT_ESCAPE_CELL);
    else if (n->kind == PCOLLECT_NODE_CUT)
        pct_buf_text(b, "(cut: the callers are unknown)");
    else if (n->kind == PCOLLECT_NODE_PHASE || n->kind == PCOLLECT_NODE_REGION)
        pct_buf_text(b, n->label);
    else if (!n->frame.function)
        pct_buf_format(b, "+0x%llx", (unsigned long long)n->offset);
    else if (full)
        pct_text_escape(b, n->frame.function, PCT_ESCAPE_CELL);
    else {
        pct_text_escape(&name, n->frame.function, PCT_ESCAPE_CELL);
        pct_short_name(b, name.data);
    }
    pct_buf_free(&name);
}

void pct_node_place(struct pct_buf *b, const struct pc_profile *p, const struct pct_node *n,
                    bool full_paths)
{
    const char *home = n->call_file ? NULL : n->frame.file;
    if (n->call_file) {
        pct_buf_text(b, " at ");
        put_file(b, n->call_file, full_paths);
        pct_buf_format(b, ":%u", n->call_line);
    }
    if (n->kind != PCOLLECT_NODE_FRAME && n->kind != PCOLLECT_NODE_POINT)
        return;
    if (!n->frame.file && n->module != PC_NO_INDEX)
        home = p->modules[n->module].path;
    if (home) {
        pct_buf_text(b, " in ");
        put_file(b, home, full_paths);
    }
    pct_buf_text(b, n->frame.inlined ? " [inlined]" : n->frame.tail_call ? " [tail call]" : "");
}
