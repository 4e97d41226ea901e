/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes that text shows as one line: see folds.h. A single frame that passes a call on is shown as
 * it is.
 */
#include "view/folds.h"

#include "analysis/symbols/symbols.h"

#include <string.h>

struct pct_passing pct_tree_passing(const struct pc_profile *p, const struct pct_node *n)
{
    struct pct_passing passing = {.is_frame = n->kind == PCOLLECT_NODE_FRAME ||
                                              n->kind == PCOLLECT_NODE_POINT};
    if (!passing.is_frame)
        return passing;
    const struct pc_profile_module *m = n->module == PC_NO_INDEX ? NULL : &p->modules[n->module];
    passing.has_name = n->frame->function;
    passing.library = pct_symbols_runtime(n->frame->file);
    if (!passing.library && m &&
        (!passing.has_name || (!n->frame->file && !pct_symbols_is_program(m))))
        passing.library = m->path;
    return passing;
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

static uint32_t find_caller(const struct pct_folding *f, uint32_t node)
{
    return f->bottom_up ? f->only(f->tree, node) : f->parent(f->tree, node);
}

static uint32_t find_called(const struct pct_folding *f, uint32_t node)
{
    return f->bottom_up ? f->parent(f->tree, node) : f->only(f->tree, node);
}

/* True if no function outside of a node, in the same library, has a name. */
static bool is_outermost(const struct pct_folding *f, uint32_t node, const char *library)
{
    while ((node = find_caller(f, node)) != PC_NO_INDEX) {
        const struct pct_passing outer = f->passing(f->tree, node);
        if (outer.library != library)
            break;
        if (outer.has_name)
            return false;
    }
    return true;
}

static bool may_fold(const struct pct_folding *f, uint32_t node)
{
    uint32_t child = f->only(f->tree, node);
    return child != PC_NO_INDEX && !f->has_own(f->tree, node, child);
}

/* True if what a node calls is an MPI call, or a function of its library that is shown and has no
 * name; through others without a name, or not. */
static bool is_nearest(const struct pct_folding *f, uint32_t node, const char *library)
{
    while ((node = find_called(f, node)) != PC_NO_INDEX) {
        const struct pct_passing inner = f->passing(f->tree, node);
        if (!inner.is_frame)
            return true;
        if (inner.has_name || inner.library != library)
            return false;
        if (!may_fold(f, node))
            return true;
    }
    return false;
}

/* The library for which a node passes a call on; NULL: it is shown. */
static const char *find_passer(const struct pct_folding *f, uint32_t node)
{
    const struct pct_passing passing = f->passing(f->tree, node);
    bool named = passing.library && passing.has_name;
    if (!passing.library || !may_fold(f, node) ||
        (named && (is_outermost(f, node, passing.library) || is_nearest(f, node, passing.library))))
        return NULL;
    return passing.library;
}

/* Frames from `node` on that pass a call on for the same library, each with a single child. */
static struct pct_fold fold_passers(const struct pct_folding *f, uint32_t node)
{
    struct pct_fold fold = {.last = node, .passer = f->has_own ? find_passer(f, node) : NULL};
    while (fold.passer && find_passer(f, node) == fold.passer) {
        fold.last = node;
        fold.n++;
        node = f->only(f->tree, node);
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
