/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places of calls of MPI in sentences. The user can change her own code: a call in a library is
 * named by the function of the library that the program called, and the program's line that called
 * it. Where no such line is known, the function that makes the call says more.
 */
#include "analysis/findings/findings.h"

#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"

#include <math.h>
#include <string.h>

static enum pct_caller caller_kind(const struct pct_tree *t, const struct pct_node *n)
{
    return pct_symbols_caller(t->totals->profile, n->module, n->frame);
}

/* The next frame outwards; NULL: there is none, or an MPI call or a cut stack is between. */
static const struct pct_node *frame_above(const struct pct_tree *t, const struct pct_node *n)
{
    const struct pct_node *up = n->parent == PC_NO_INDEX ? NULL : &t->nodes[n->parent];
    return up && up->kind == PCOLLECT_NODE_FRAME ? up : NULL;
}

/* True for a file that came with the system, or by an installer of packages of Python. */
static bool is_installed(const char *file)
{
    static const char *const begins[] = {"/usr/include/", "/usr/lib/python3"};
    for (size_t i = 0; file && i < PC_ARRAY_LEN(begins); i++)
        if (!strncmp(file, begins[i], strlen(begins[i])))
            return true;
    return file && (pct_place_is_of_package(file) || pct_symbols_runtime(file));
}

/* True if the module of a frame is known, and is none of the program. */
static bool is_of_library(const struct pct_tree *t, const struct pct_node *n)
{
    return n->module != PC_NO_INDEX &&
           !pct_symbols_is_program(&t->totals->profile->modules[n->module]);
}

static bool is_foreign(const struct pct_tree *t, const struct pct_node *n)
{
    return is_of_library(t, n) || is_installed(n->frame->file);
}

/* True for a line of the user's code. Code without lines in a program that has some comes from a
 * library that is linked to it. */
static bool is_own_line(const struct pct_tree *t, const struct pct_node *n)
{
    return n->module != PC_NO_INDEX && n->frame->function && n->frame->line && !is_foreign(t, n);
}

/* The frame in which a node is; NULL: it is in none. */
static const struct pct_node *find_frame(const struct pct_tree *t, const struct pct_node *n)
{
    while (n->kind != PCOLLECT_NODE_FRAME && n->parent != PC_NO_INDEX)
        n = &t->nodes[n->parent];
    return n->kind == PCOLLECT_NODE_FRAME ? n : NULL;
}

/* The innermost function; of Python in place of those without a name in the modules that it calls.
 */
static const struct pct_node *find_innermost(const struct pct_tree *t, const struct pct_node *n)
{
    n = find_frame(t, n);
    if (!n || caller_kind(t, n) != PCT_CALLER_PASSES)
        return n;
    for (const struct pct_node *up = n; up; up = frame_above(t, up))
        if (caller_kind(t, up) == PCT_CALLER_PYTHON)
            return up;
    return n;
}

/* The frame of the innermost line of the user's code; NULL: there is none. */
static const struct pct_node *find_own_line(const struct pct_tree *t, const struct pct_node *n)
{
    while (n && !is_own_line(t, n))
        n = frame_above(t, n);
    return n;
}

/* The nearest function outwards that has a name, of those of the same module below `end`; NULL:
 * there is none. */
static const struct pct_node *find_named(const struct pct_tree *t, const struct pct_node *n,
                                         const struct pct_node *end)
{
    uint32_t module = n->module;
    while (n && n != end && n->module == module && !n->frame->function)
        n = frame_above(t, n);
    return n && n != end && n->module == module ? n : NULL;
}

/* The function that the program called: the outermost below it that has a name, of those of its own
 * language: Python calls libraries through functions that only pass the call on. Without one it is
 * the innermost that has a name. */
static const struct pct_node *find_called(const struct pct_tree *t,
                                          const struct pct_node *innermost,
                                          const struct pct_node *program)
{
    enum pct_caller kind = caller_kind(t, program);
    const struct pct_node *called = find_named(t, innermost, program);
    if (!called)
        called = innermost;
    for (const struct pct_node *n = innermost; n != program; n = frame_above(t, n))
        if (n->frame->function && caller_kind(t, n) == kind)
            called = n;
    return called;
}

/* The function that called another one, past those that no symbol names and its own kind. */
static const struct pct_node *find_caller(const struct pct_tree *t, const struct pct_node *n)
{
    const char *function = n->frame->function;
    for (n = frame_above(t, n); n; n = frame_above(t, n))
        if (n->module != PC_NO_INDEX && pct_frame_has_symbol(n->frame) &&
            !(function && !strcmp(n->frame->function, function)) &&
            !pct_symbols_runtime(n->frame->file))
            return n;
    return NULL;
}

struct pct_call_place pct_call_place_find(const struct pct_tree *t, uint32_t node)
{
    struct pct_call_place place = {.op = t->nodes[node].op};
    place.innermost = place.function = find_innermost(t, &t->nodes[node]);
    if (!place.function)
        return place;
    const struct pct_node *program = find_own_line(t, place.function);
    place.program = program != place.function ? program : NULL;
    place.is_foreign = place.program || is_foreign(t, place.function);
    if (place.program)
        place.function = find_called(t, place.function, place.program);
    place.caller = find_caller(t, place.program ? place.program : place.function);
    return place;
}

/* The path of the library of the caller, if it is another one than that of a frame; else NULL. */
static const char *find_around(const struct pct_tree *t, const struct pct_node *n,
                               const struct pct_node *caller)
{
    if (!caller || caller->module == n->module || !is_of_library(t, caller) ||
        caller_kind(t, caller) == PCT_CALLER_PYTHON)
        return NULL;
    const struct pc_profile_module *m = &t->totals->profile->modules[caller->module];
    return m->flags ? NULL : m->path; /* of libc, MPI and runtimes the user changes nothing */
}

struct pct_call_maker pct_call_maker_find(const struct pct_tree *t, uint32_t node,
                                          const struct pct_call_place *place)
{
    struct pct_call_maker maker = {NULL, NULL, NULL};
    if (!place->is_foreign)
        return maker;
    const struct pct_node *n = find_frame(t, &t->nodes[node]);
    if (is_of_library(t, n) && caller_kind(t, n) != PCT_CALLER_PYTHON)
        maker.module = t->totals->profile->modules[n->module].path;
    if (maker.module && !place->program)
        maker.around = find_around(t, n, place->caller);
    n = find_named(t, n, place->program);
    maker.function = n ? n->frame->function : NULL;
    return maker;
}

bool pct_call_places_share_code(const struct pct_call_place *a, const struct pct_call_place *b)
{
    const struct pct_frame *x = a->function ? a->function->frame : NULL,
                           *y = b->function ? b->function->frame : NULL;
    if (!x || !y || !x->function || !pct_is_same_text(x->function, y->function) ||
        !pct_is_same_text(x->file, y->file) || !a->program != !b->program)
        return false;
    return !a->program || (a->program->frame->line == b->program->frame->line &&
                           pct_is_same_text(a->program->frame->file, b->program->frame->file));
}

struct pct_calls_from pct_main_caller(const struct pct_calls_from *list, size_t n, bool has_line)
{
    struct pct_calls_from most = {NULL, 0, NULL}, none = {NULL, 0, NULL};
    double more = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        bool same = pct_is_same_text(list[i].function, most.function);
        if (!same && list[i].calls > more) {
            most.function = list[i].function;
            most.library = list[i].library;
        }
        more = same ? more + list[i].calls : fabs(more - list[i].calls);
        all += list[i].calls;
    }
    for (size_t i = 0; i < n; i++)
        most.calls += pct_is_same_text(list[i].function, most.function) ? list[i].calls : 0;
    return most.calls > all / 2 && (most.calls < all || !has_line) ? most : none;
}

void pct_main_caller_put(struct pct_buf *b, const struct pct_calls_from *most, double all)
{
    if (!most->function)
        return;
    double share = 100 * most->calls / all;
    if (share > 99)
        pct_buf_format(b, " (%s calls from ", share < 100 ? "nearly all" : "all");
    else
        pct_buf_format(b, " (%.0f %% of the calls from ", share);
    pct_finding_put_function(b, most->function, NULL, 0);
    pct_buf_text(b, ")");
}

/* Appends a shortened name and what is known of its place: the line, or of a function of a library
 * its file. */
static void put_function(struct pct_buf *b, const struct pct_tree *t, const struct pct_node *n,
                         const char *name, bool line)
{
    const struct pct_frame *f = n->frame;
    struct pct_place_text at = {.file = f->file, .line = f->line};
    pct_text_escape(b, name, PCT_ESCAPE_CELL);
    if (is_of_library(t, n) && (!line || !at.file))
        at = (struct pct_place_text){.file = t->totals->profile->modules[n->module].path};
    else if (!line)
        at.line = 0;
    pct_place_put(b, &at, PCT_PLACE_SENTENCE);
}

static void put_place(struct pct_buf *b, const struct pct_tree *t,
                      const struct pct_call_place *place, const char *name)
{
    if (place->function && place->function->frame->function)
        put_function(b, t, place->function, name, !place->program);
    else if (place->function)
        pct_place_of_path(b, place->function->label, false);
    if (place->program) {
        const struct pct_frame *f = place->program->frame;
        pct_buf_text(b, " called by ");
        pct_finding_put_function(b, f->function, f->file, f->line);
    }
}

void pct_call_place_put(struct pct_buf *b, const struct pct_tree *t,
                        const struct pct_call_place *place, const char *name)
{
    const struct pc_profile *p = t->totals->profile;
    pct_text_escape(b, place->op < p->n_ops ? p->ops[place->op].name : "MPI", PCT_ESCAPE_CELL);
    if (place->function)
        pct_buf_text(b, " in ");
    put_place(b, t, place, name);
}

void pct_finding_put_function(struct pct_buf *b, const char *function, const char *file,
                              uint32_t line)
{
    struct pct_buf name = {0};
    pct_short_name(&name, function);
    pct_text_escape(b, name.data, PCT_ESCAPE_CELL);
    pct_buf_free(&name);
    pct_place_put(b, &(struct pct_place_text){.file = file, .line = line}, PCT_PLACE_SENTENCE);
}

void pct_finding_put_call(struct pct_buf *b, const struct pct_data *d, uint32_t node)
{
    const struct pct_tree *t = pct_data_tree(d);
    struct pct_call_place place = pct_call_place_find(t, t->shown[node]);
    struct pct_buf name = {0};
    if (place.function && place.function->frame->function)
        pct_short_name(&name, place.function->frame->function);
    if (t->nodes[t->shown[node]].kind == PCOLLECT_NODE_FRAME)
        put_place(b, t, &place, name.data);
    else
        pct_call_place_put(b, t, &place, name.data);
    pct_buf_free(&name);
}

const char *pct_finding_place(const struct pct_evidence *f, uint32_t node)
{
    struct pct_buf b = {0};
    pct_finding_put_call(&b, f->data, node);
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}
