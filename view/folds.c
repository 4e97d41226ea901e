/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes that text shows as one line: see folds.h. A single frame that passes a call on is shown as
 * it is.
 */
#include "view/folds.h"

#include "analysis/symbols/symbols.h"

#include <string.h>

static bool is_frame(const struct pct_node *n)
{
    return n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
}

/* For what a frame of a tree may pass a call on. */
static const char *passer_of(const struct pc_profile *p, const struct pct_node *n)
{
    if (!is_frame(n))
        return NULL;
    const struct pc_profile_module *m = n->module == PC_NO_INDEX ? NULL : &p->modules[n->module];
    const char *runtime = pct_symbols_runtime(n->frame->file);
    if (runtime || !m)
        return runtime;
    bool library = !n->frame->function || (!n->frame->file && !pct_symbols_is_program(m));
    return library ? m->path : NULL;
}

const char *pct_tree_passer(const struct pc_profile *p, const struct pct_tree *t, uint32_t node,
                            uint32_t outer)
{
    const struct pct_node *n = &t->nodes[node];
    const char *passer = passer_of(p, n);
    bool enters = outer == PC_NO_INDEX || passer_of(p, &t->nodes[outer]) != passer;
    return passer && enters && n->frame->function ? NULL : passer;
}

bool pct_tree_same(const struct pct_tree *t, uint32_t node, uint32_t other)
{
    return t->nodes[node].label == t->nodes[other].label &&
           t->nodes[node].kind == t->nodes[other].kind;
}

bool pct_tree_same_function(const struct pct_tree *t, uint32_t node, uint32_t other)
{
    const struct pct_node *a = &t->nodes[node], *b = &t->nodes[other];
    if (pct_tree_same(t, node, other))
        return true;
    const char *name = a->frame ? a->frame->function : NULL,
               *other_name = b->frame ? b->frame->function : NULL;
    return a->kind == PCOLLECT_NODE_FRAME && a->kind == b->kind && name && other_name &&
           a->module == b->module && !strcmp(name, other_name);
}

/* Frames from `node` on that pass a call on for the same library, each with a single child. */
static struct pct_fold fold_passers(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = {.last = node, .passer = f->passer ? f->passer(f->tree, node) : NULL};
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

/* The node, with those from it on that are the same function. */
static struct pct_fold fold_recursion(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = {.last = node, .n = 1, .functions = {node}, .n_functions = 1};
    for (uint32_t child; (child = f->only(f->tree, fold.last)) != PC_NO_INDEX; fold.n++) {
        if (!f->same(f->tree, child, node))
            break;
        fold.last = child;
    }
    return fold;
}

/* The longest line of nodes, each with a single child, of two functions or three, each of which is
 * there more than once. fold.n is 0: there is none. */
static struct pct_fold fold_cycle(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = {.n = 0}, all = {.n = 0};
    size_t n_of[PCT_FOLD_FUNCTIONS] = {0}, n_once = 0;
    for (; node != PC_NO_INDEX; node = f->only(f->tree, node)) {
        size_t k = 0;
        while (k < all.n_functions && !f->same_function(f->tree, node, all.functions[k]))
            k++;
        if (k == PCT_FOLD_FUNCTIONS)
            break;
        if (k == all.n_functions)
            all.functions[all.n_functions++] = node;
        n_of[k]++;
        n_once += n_of[k] == 1;
        n_once -= n_of[k] == 2;
        all.n++;
        all.last = node;
        if (!n_once && all.n_functions > 1)
            fold = all;
    }
    return fold;
}

struct pct_fold pct_fold(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = fold_passers(f, node);
    if (fold.n > 1)
        return fold;
    fold = fold_recursion(f, node);
    struct pct_fold cycle = fold.n > 1 ? fold : fold_cycle(f, node);
    return cycle.n ? cycle : fold;
}

void pct_fold_names(struct pct_buf *b, const struct pct_tree *t, const struct pct_fold *fold,
                    struct pct_name_form form)
{
    for (size_t i = 0; i < fold->n_functions; i++) {
        pct_buf_text(b, i ? ", " : "");
        pct_node_name(b, t, fold->functions[i], form);
    }
    pct_fold_times(b, fold, form.utf8);
}

void pct_fold_times(struct pct_buf *b, const struct pct_fold *fold, bool utf8)
{
    char number[PCT_NUMBER_BYTES];
    if (fold->n > 1)
        pct_buf_format(b, " %s%s %s", utf8 ? "\xc3\x97 " : "x ", pct_text_count(number, fold->n),
                       fold->n_functions > 1 ? "frames" : "times");
}

void pct_fold_text(struct pct_buf *b, const struct pct_fold *fold)
{
    char number[PCT_NUMBER_BYTES];
    pct_buf_format(b, "%s frames of %s", pct_text_count(number, fold->n),
                   pc_base_name(fold->passer));
}
