/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one notation of contexts: see label.h.
 */
#include "analysis/tree/label.h"

#include <string.h>

void pct_label_frame(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n,
                     const struct pct_frame *f, unsigned shape)
{
    const char *module = n->module == PC_NO_INDEX ? "unknown" : p->modules[n->module].path;
    const char *file = f->file;
    if (!(shape & PCT_LABEL_FULL_PATHS)) {
        module = pct_symbols_base_name(module);
        file = file ? pct_symbols_base_name(file) : NULL;
    }
    if (!f->function) {
        pct_text_escape(b, module, PCT_ESCAPE_NAME);
        pct_buf_format(b, "+0x%llx", (unsigned long long)n->offset);
        return;
    }
    pct_text_escape(b, f->function, PCT_ESCAPE_NAME);
    pct_buf_text(b, "@");
    pct_text_escape(b, file ? file : module, PCT_ESCAPE_NAME);
    if (file && shape & PCT_LABEL_LINE)
        pct_buf_format(b, ":%u", f->line);
}

void pct_label_other(struct pct_buf *b, const struct pc_profile *p, const struct pc_profile_node *n)
{
    const char *name = NULL;
    switch (n->kind) {
    case PCOLLECT_NODE_OP:
        pct_text_escape(b, p->ops[n->op].name, PCT_ESCAPE_NAME);
        break;
    case PCOLLECT_NODE_CUT:
        pct_buf_text(b, "(cut)");
        break;
    case PCOLLECT_NODE_PHASE:
        pct_buf_format(b, "(phase %llu)", (unsigned long long)n->offset);
        break;
    case PCOLLECT_NODE_REGION:
        name = pc_profile_region(p, n->offset);
        pct_buf_text(b, "(region ");
        pct_text_escape(b, name ? name : "of unknown name", PCT_ESCAPE_NAME);
        pct_buf_text(b, ")");
        break;
    default:
        break;
    }
}

uint64_t pct_label_context(uint64_t above, const char *label)
{
    return pc_hash_bytes(label, strlen(label), above);
}
