/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and places of nodes, for all outputs of the tree. Texts have no colour.
 */
#include "view/node_text.h"

#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"

#include <string.h>

void pct_node_whole_name(struct pct_buf *b, const struct pc_profile *p, const struct pct_node *n)
{
    if (n->kind == PCOLLECT_NODE_OP)
        pct_text_escape(b, p->ops[n->op].name, PCT_ESCAPE_CELL);
    else if (n->kind == PCOLLECT_NODE_CUT)
        pct_buf_text(b, "(cut: the callers are unknown)");
    else if (n->kind == PCOLLECT_NODE_PHASE || n->kind == PCOLLECT_NODE_REGION)
        pct_place_of_path(b, n->label, true);
    else if (n->frame->function)
        pct_text_escape(b, n->frame->function, PCT_ESCAPE_CELL);
    else
        pct_label_nameless(
            b, n->module == PC_NO_INDEX ? "unknown" : pc_base_name(p->modules[n->module].path),
            n->frame, pct_node_offset(p, n), 0);
}

static bool has_function(const struct pct_node *n)
{
    bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    return frame && n->frame->function;
}

static bool same_place(const struct pct_node *a, const struct pct_node *b)
{
    return a->caller && b->caller
               ? a->caller->file == b->caller->file && a->caller->line == b->caller->line
               : a->caller == b->caller;
}

enum { MOST_OTHERS = 256 }; /* of many siblings the first, so that a wide tree takes linear time */

/* Finds the siblings with functions that were called at the same place; their number. */
static size_t find_others(const struct pct_tree *t, const struct pct_node *n,
                          const struct pct_node *others[MOST_OTHERS])
{
    size_t n_others = 0;
    uint32_t i = n->parent == PC_NO_INDEX ? PC_NO_INDEX : t->nodes[n->parent].first_child;
    for (size_t seen = 0; i != PC_NO_INDEX && seen < MOST_OTHERS; i = t->nodes[i].next, seen++)
        if (has_function(&t->nodes[i]) && &t->nodes[i] != n && same_place(&t->nodes[i], n))
            others[n_others++] = &t->nodes[i];
    return n_others;
}

/* Appends the name of a function, told apart from siblings that were called at the same place. */
static void put_among(struct pct_buf *b, const struct pct_tree *t, const struct pct_node *n,
                      const char *name, bool utf8)
{
    const struct pct_node *others[MOST_OTHERS];
    const char *names[MOST_OTHERS];
    size_t n_others = find_others(t, n, others), n_names = 0;
    for (size_t i = 0; i < n_others; i++)
        if (others[i]->label != n->label)
            names[n_names++] = others[i]->frame->function;
    pct_name_put_among(b, name, names, n_names, utf8);
}

/* Path of the module that tells a function apart from siblings of its name, as of plugins, or if
 * they are in one module of its file; NULL: there is none. */
static const char *differing_path(const struct pct_tree *t, const struct pct_node *n)
{
    const struct pct_node *others[MOST_OTHERS];
    const char *file = NULL;
    size_t n_others = has_function(n) && n->caller ? find_others(t, n, others) : 0;
    for (size_t i = 0; i < n_others; i++) {
        if (strcmp(others[i]->frame->function, n->frame->function) != 0)
            continue;
        if (others[i]->module != n->module && n->module != PC_NO_INDEX)
            return t->totals->profile->modules[n->module].path;
        if (others[i]->frame->file != n->frame->file)
            file = pct_frame_home(n->frame);
    }
    return file;
}

void pct_node_name(struct pct_buf *b, const struct pct_tree *t, uint32_t node,
                   struct pct_name_form form)
{
    const struct pct_node *n = &t->nodes[node];
    struct pct_buf name = {0};
    pct_buf_put(&name, "", 0);
    pct_node_whole_name(&name, t->totals->profile, n);
    if (form.full || !has_function(n))
        pct_name_put(b, name.data, true);
    else
        put_among(b, t, n, name.data, form.utf8);
    pct_buf_free(&name);
}

/* The file of a module of Python that an import runs, whose caller's line says nothing; NULL: the
 * frame is none. */
static const char *file_of_import(const struct pct_node *n)
{
    const char *file = n->frame->function ? pct_frame_home(n->frame) : NULL;
    bool imported = file && n->caller && !strcmp(n->frame->function, "<module>") &&
                    pct_symbols_runtime(n->caller->file);
    return imported ? file : NULL;
}

void pct_node_place(struct pct_buf *b, const struct pct_tree *t, const struct pct_node *n,
                    bool full_paths)
{
    const struct pc_profile *p = t->totals->profile;
    bool frame = n->kind == PCOLLECT_NODE_FRAME || n->kind == PCOLLECT_NODE_POINT;
    bool module_told = frame && !n->frame->function && !full_paths; /* in the name */
    bool unknown = frame && !module_told && !n->frame->file && n->module != PC_NO_INDEX;
    const char *module = unknown ? p->modules[n->module].path : NULL;
    struct pct_place_text place = {.full_path = full_paths};
    const char *imported = frame ? file_of_import(n) : NULL;
    if (imported)
        place = (struct pct_place_text){.file = imported, .full_path = full_paths};
    else if (n->caller)
        place = (struct pct_place_text){
            .file = n->caller->file, .line = n->caller->line, .full_path = full_paths};
    else if (frame)
        place = (struct pct_place_text){.file = module ? module : pct_frame_home(n->frame),
                                        .full_path = full_paths};
    pct_place_put(b, &place, PCT_PLACE_LIST);
    if (!frame)
        return;
    const char *in = module ? module : differing_path(t, n);
    if (n->caller && in) {
        pct_buf_text(b, " [in ");
        pct_text_escape(b, full_paths ? in : pc_base_name(in), PCT_ESCAPE_CELL);
        pct_buf_text(b, "]");
    }
    pct_buf_text(b, n->frame->inlined ? " [inlined]" : n->frame->tail_call ? " [tail call]" : "");
}
