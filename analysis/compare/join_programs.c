/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs of joined runs: where they begin, and which are compared with each other. A job of
 * several programs has a node for each, with its contexts below.
 */
#include "analysis/compare/join_private.h"

#include "analysis/tree/label.h"

#include <string.h>

/* The programs of the run that is added, and the module of that in which each node of its tree is;
 * PC_NO_INDEX: it is in none, or there is one program. */
struct matcher {
    struct pct_join *join;
    const struct pct_joined *r;
    uint32_t *in;
};

/* ---- Where they begin ------------------------------------------------------------------------ */

/* Module of the program whose node this is; PC_NO_INDEX: it is none. */
static uint32_t program_of(const struct pct_joined *r, const struct pct_node *n)
{
    const struct pct_frame *programs = r->tree->programs;
    if (n->kind != PCOLLECT_NODE_FRAME || n->module != PC_NO_INDEX)
        return PC_NO_INDEX;
    for (uint32_t i = 0; programs && i < r->run->profile->n_modules; i++)
        if (n->frame == &programs[i])
            return i;
    return PC_NO_INDEX;
}

static void find_programs(struct matcher *m)
{
    const struct pct_tree *t = m->r->tree;
    m->in = pct_alloc(t->n, sizeof *m->in);
    for (size_t i = 0; i < t->n; i++) { /* parents come before their children */
        uint32_t k = program_of(m->r, &t->nodes[i]);
        m->in[i] = k != PC_NO_INDEX || !i ? k : m->in[t->nodes[i].parent];
    }
}

/* Base name of the file in which the program of this module begins: that of main, or the outermost
 * one of Python; NULL: unknown. */
static const char *find_begin(const struct matcher *m, uint32_t module)
{
    const struct pc_profile *p = m->r->run->profile;
    const char *file = NULL;
    for (size_t i = 0; i < m->r->tree->n; i++) {
        const struct pct_node *n = &m->r->tree->nodes[i];
        if (m->in[i] != module || n->kind != PCOLLECT_NODE_FRAME || n->module == PC_NO_INDEX ||
            !n->frame->file)
            continue;
        bool python = pct_symbols_caller(p, n->module, n->frame) == PCT_CALLER_PYTHON;
        bool main = !file && n->frame->function && !strcmp(n->frame->function, "main") &&
                    p->modules[n->module].flags & PCOLLECT_MODULE_EXE;
        if (python || main)
            file = pc_base_name(n->frame->file);
        if (python)
            break;
    }
    return file ? pct_pool_intern(m->join->pool, file) : NULL;
}

/* ---- Which are compared ---------------------------------------------------------------------- */

static bool is_of_build(const struct pct_join_program *a, const struct pct_join_program *b)
{
    return a->build_id_bytes && a->build_id_bytes == b->build_id_bytes &&
           !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

static bool begins_like(const struct pct_join_program *a, const struct pct_join_program *b)
{
    return a->begin && a->begin == b->begin;
}

static bool has_label(const struct pct_join_program *a, const struct pct_join_program *b)
{
    return a->own_label == b->own_label;
}

typedef bool is_like_fn(const struct pct_join_program *, const struct pct_join_program *);

/* The only one of n programs that is like `one` and not matched yet; NULL: there is none, or there
 * are several. */
static struct pct_join_program *find_like(struct pct_join_program *list, size_t n,
                                          const struct pct_join_program *one, is_like_fn *is_like)
{
    struct pct_join_program *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (list[i].with || !is_like(&list[i], one))
            continue;
        if (found)
            return NULL;
        found = &list[i];
    }
    return found;
}

static void match(struct pct_join_program *a, struct pct_join_program *b)
{
    a->with = b;
    b->with = a;
    b->label = a->label;
}

/* Matches the rest by the order of their ranks, if they are equally many and no two begin in
 * different files. */
static void match_in_order(struct pct_join_program *known, size_t n_known,
                           struct pct_join_program *own, size_t n)
{
    for (int change = 0; change < 2; change++) {
        size_t i = 0, k = 0;
        for (;; i++, k++) {
            while (i < n_known && known[i].with)
                i++;
            while (k < n && own[k].with)
                k++;
            if (i == n_known || k == n)
                break;
            if (known[i].begin && own[k].begin && known[i].begin != own[k].begin)
                return;
            if (change)
                match(&known[i], &own[k]);
        }
        if (i < n_known || k < n)
            return;
    }
}

/* Matches the n programs of a run with those of the first run of several programs. */
static void match_programs(struct pct_join *j, struct pct_join_program *own, size_t n,
                           bool in_order)
{
    static is_like_fn *const likes[] = {has_label, is_of_build, begins_like};
    for (size_t i = 0; i < j->n_programs; i++)
        j->programs[i].with = NULL;
    for (size_t l = 0; l < PC_ARRAY_LEN(likes); l++)
        for (size_t i = 0; i < n; i++) {
            if (own[i].with)
                continue;
            struct pct_join_program *like =
                find_like(j->programs, j->n_programs, &own[i], likes[l]);
            if (like && find_like(own, n, like, likes[l]) == &own[i])
                match(like, &own[i]);
        }
    if (in_order && j->in_order)
        match_in_order(j->programs, j->n_programs, own, n);
}

static void note_renamed(struct pct_join *j, size_t run, const struct pct_join_program *own,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (own[i].with && own[i].label != own[i].own_label) {
            j->renamed = pct_grow(j->renamed, j->n_renamed, &j->room_renamed, sizeof *j->renamed);
            j->renamed[j->n_renamed++] =
                (struct pct_join_renamed){run, own[i].name, own[i].with->name};
        }
}

static struct pct_join_program describe(const struct matcher *m, uint32_t module)
{
    const struct pc_profile *p = m->r->run->profile;
    const struct pc_profile_module *x = &p->modules[module];
    struct pct_join_program program = {.build_id_bytes = x->build_id_bytes};
    struct pct_buf label = {0};
    memcpy(program.build_id, x->build_id, sizeof program.build_id);
    pct_label_program(&label, p, module, false);
    program.label = program.own_label = pct_pool_intern(m->join->pool, label.data);
    program.name = pct_pool_intern(m->join->pool, pct_label_module(p, x->path));
    program.begin = find_begin(m, module);
    pct_buf_free(&label);
    return program;
}

void pct_join_match_programs(struct pct_join *j, const struct pct_joined *r, const char **labels)
{
    const struct pct_programs *list = &r->run->totals->programs;
    struct matcher m = {.join = j, .r = r};
    find_programs(&m);
    j->several[r->k] = list->n > 1;
    j->begins[r->k] = list->n > 1 ? NULL : find_begin(&m, PC_NO_INDEX);
    if (list->n > 1) {
        struct pct_join_program *own = pct_alloc(list->n, sizeof *own);
        for (uint32_t i = 0; i < list->n; i++)
            own[i] = describe(&m, list->list[i].module);
        match_programs(j, own, list->n, list->known);
        note_renamed(j, r->k, own, list->n);
        for (size_t i = 0; i < r->tree->n; i++) {
            uint32_t module = program_of(r, &r->tree->nodes[i]);
            for (uint32_t k = 0; k < list->n && module != PC_NO_INDEX; k++)
                if (list->list[k].module == module)
                    labels[i] = own[k].label;
        }
        if (!j->programs) {
            j->programs = own;
            j->n_programs = list->n;
            j->in_order = list->known;
        } else {
            pct_free(own);
        }
    }
    pct_free(m.in);
}
