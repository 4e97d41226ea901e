/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes that text shows as one line: see folds.h. A single frame that passes a call on is shown as
 * it is.
 */
#include "view/folds.h"

#include "analysis/symbols/symbols.h"

const char *pct_passer(const char *function, const char *file, const char *module)
{
    const char *runtime = pct_symbols_runtime(file);
    return runtime ? runtime : function ? NULL : module;
}

/* Frames from `node` on that pass a call on for the same library, each with a single child. */
static struct pct_fold fold_passers(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = {.last = node, .passer = f->passer(f->tree, node)};
    while (fold.passer && f->passer(f->tree, node) == fold.passer) {
        uint32_t child = f->only(f->tree, node);
        if (child == PC_NO_INDEX)
            break;
        fold.last = node;
        fold.n++;
        node = child;
    }
    return fold;
}

struct pct_fold pct_fold(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = fold_passers(f, node);
    if (fold.n > 1)
        return fold;
    fold = (struct pct_fold){.last = node, .n = 1};
    for (uint32_t child; (child = f->only(f->tree, fold.last)) != PC_NO_INDEX; fold.n++) {
        if (!f->same(f->tree, child, node))
            break;
        fold.last = child;
    }
    return fold;
}

void pct_fold_text(struct pct_buf *b, const struct pct_fold *fold, bool named)
{
    pct_buf_format(b, named ? "%zu frames of %s" : "%zu nameless frames in %s", fold->n,
                   pc_base_name(fold->passer));
}
