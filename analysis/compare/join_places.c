/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of joined contexts: labels, paths, and places for sentences.
 */
#include "analysis/compare/join.h"

#include "analysis/symbols/short_name.h"
#include "analysis/tree/label.h"

#include <stdlib.h>
#include <string.h>

/* Appends the label, and the number of the call if there are several. */
static void put_label(const struct pct_join *j, uint32_t node, struct pct_buf *b)
{
    const struct pct_join_node *n = &j->nodes[node];
    pct_buf_text(b, n->label);
    if (n->site.number)
        pct_buf_format(b, " (call %u of %u)", n->site.number, n->site.n);
}

static void put_above(const struct pct_join *j, uint32_t node, struct pct_buf *b)
{
    uint32_t *up = NULL;
    size_t n = 0, room = 0;
    for (uint32_t i = node; i != PC_NO_INDEX && i != 0; i = j->nodes[i].parent) {
        up = pct_grow(up, n, &room, sizeof *up);
        up[n++] = i;
    }
    while (n--) {
        put_label(j, up[n], b);
        pct_buf_text(b, n ? " > " : "");
    }
    pct_free(up);
}

const char *pct_join_path(const struct pct_join *j, uint32_t node)
{
    struct pct_buf b = {0};
    pct_buf_put(&b, "", 0);
    put_above(j, node, &b);
    const char *path = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return path;
}

static bool is_function(const struct pct_join *j, uint32_t node)
{
    return j->nodes[node].kind == PCOLLECT_NODE_FRAME || j->nodes[node].kind == PCOLLECT_NODE_POINT;
}

/* The function of Python above a node that only passes its calls on; if there is none, the node
 * itself. */
static uint32_t python_above(const struct pct_join *j, uint32_t node, uint32_t *callee)
{
    uint32_t up = node, below = *callee;
    if (node == PC_NO_INDEX || j->nodes[node].kind != PCOLLECT_NODE_FRAME ||
        j->nodes[node].caller != PCT_CALLER_PASSES)
        return node;
    for (; up != PC_NO_INDEX && is_function(j, up); below = up, up = j->nodes[up].parent)
        if (j->nodes[up].caller == PCT_CALLER_PYTHON) {
            *callee = below;
            return up;
        }
    return node;
}

/* The node itself or the function above it, and the node that it calls on the way. */
static uint32_t frame_above(const struct pct_join *j, uint32_t node, uint32_t *callee)
{
    while (node != PC_NO_INDEX && !is_function(j, node)) {
        *callee = node;
        node = j->nodes[node].parent;
    }
    return python_above(j, node, callee);
}

/* Appends "solve (poisson.c:212)", the place where it calls `callee`, which may be the function
 * itself; or "solve (poisson.c, call 2 of 3)". shown: the name of the function, or NULL. */
static void put_function(const struct pct_join *j, uint32_t frame, uint32_t callee,
                         const char *shown, struct pct_buf *b)
{
    const struct pct_join_node *n = &j->nodes[frame], *of = &j->nodes[callee];
    bool called = callee != frame && of->call_file && of->call_line;
    struct pct_place_text place = {.file = n->file, .line = n->line};
    if (called)
        place = (struct pct_place_text){.file = of->call_file, .line = of->call_line};
    else if (callee != frame && of->site.number)
        place = (struct pct_place_text){
            .file = n->file, .call = of->site.number, .n_calls = of->site.n};
    if (shown)
        pct_text_escape(b, shown, PCT_ESCAPE_CELL);
    else
        pct_place_of_path(b, n->label, true);
    pct_place_put(b, &place, PCT_PLACE_SENTENCE);
}

/* A node that has a place. */
struct placed {
    const char *place;
    const char *function; /* as it is shown; NULL: it has no name */
    uint32_t node;
    size_t at;
    uint32_t frame, callee; /* the next caller, PC_NO_INDEX behind the last, and what it calls */
    const char *caller;     /* its text */
    bool skipped;           /* the place lacks callers below the next one */
};

/* Appends the next caller, which there is. */
static void put_caller(const struct pct_join *j, struct placed *of, bool full_names,
                       struct pct_buf *b)
{
    struct pct_buf name = {0};
    uint32_t frame = of->frame;
    if (j->nodes[frame].function)
        pct_name_put(&name, j->nodes[frame].function, full_names);
    put_function(j, frame, of->callee, name.data, b);
    pct_buf_free(&name);
    of->callee = frame;
    of->frame = frame_above(j, j->nodes[frame].parent, &of->callee);
}

/* Appends callers of a function without a name that calls MPI or computes: the first that has one,
 * and the first of those whose source is known. */
static void put_named_callers(const struct pct_join *j, struct placed *of, bool full_names,
                              struct pct_buf *b)
{
    enum { MOST = 100 }; /* looked at: a profile may be very deep */
    bool named = false, sourced = false;
    uint32_t callee = of->callee, f = of->frame;
    for (unsigned i = 0; i < MOST && f != PC_NO_INDEX && !sourced; i++) {
        const struct pct_join_node *n = &j->nodes[f];
        sourced = n->function && n->file;
        if (sourced || (n->function && !named)) {
            pct_buf_text(b, of->frame == f ? ", from " : ", ... from ");
            of->frame = f;
            of->callee = callee;
            put_caller(j, of, full_names, b);
        }
        named |= n->function != NULL;
        callee = f;
        f = frame_above(j, n->parent, &callee);
    }
}

/* The place of a node, with so many of the functions above. */
static const char *place_of(const struct pct_join *j, struct placed *of, bool full_names,
                            unsigned callers)
{
    struct pct_buf b = {0};
    uint32_t node = of->node, callee = node, frame = frame_above(j, node, &callee);
    of->frame = PC_NO_INDEX;
    if (node == j->compute)
        return j->divided ? "time outside MPI without a sample" : "computation outside MPI";
    if (node == j->waiting)
        return j->times == PCT_JOIN_ALL ? "waiting for a processor outside MPI"
                                        : "waiting for ranks without a processor";
    if (node == j->absent)
        return "ranks that begin later or end sooner";
    pct_buf_put(&b, "", 0);
    if (j->nodes[node].kind == PCOLLECT_NODE_POINT)
        pct_buf_text(&b, j->nodes[node].waits ? "waiting of threads in " : "computation in ");
    if (frame != node)
        pct_buf_text(&b, j->nodes[node].label);
    if (frame != PC_NO_INDEX) {
        pct_buf_text(&b, frame != node ? " in " : "");
        put_function(j, frame, callee, of->function, &b);
        of->callee = frame;
        of->frame = frame_above(j, j->nodes[frame].parent, &of->callee);
        bool acts =
            frame != node || (j->nodes[node].kind == PCOLLECT_NODE_POINT && !j->nodes[node].waits);
        if (acts && !j->nodes[frame].function)
            put_named_callers(j, of, full_names, &b);
    }
    for (; callers && of->frame != PC_NO_INDEX; callers--) {
        pct_buf_text(&b, ", from ");
        put_caller(j, of, full_names, &b);
    }
    const char *place = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&b);
    return place;
}

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The functions of the places, as they are shown. Freed by the caller. */
static const char **name_functions(const struct pct_join *j, const uint32_t *nodes, size_t n,
                                   bool full_names)
{
    const char **names = pct_alloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) {
        uint32_t callee = nodes[i], frame = frame_above(j, nodes[i], &callee);
        names[i] = frame == PC_NO_INDEX ? NULL : j->nodes[frame].function;
    }
    const char **shown = pct_names_shown(names, n, full_names, false, j->pool);
    pct_free(names);
    return shown;
}

/* Goes on to the next callers of n nodes with one place, and adds them to the places if they
 * differ. False: there are none. */
static bool add_callers(const struct pct_join *j, struct placed *list, size_t n, bool full_names)
{
    bool any = false, differ = false;
    struct pct_buf b = {0};
    for (size_t i = 0; i < n; i++) {
        list[i].caller = NULL;
        pct_buf_clear(&b);
        if (list[i].frame != PC_NO_INDEX) {
            put_caller(j, &list[i], full_names, &b);
            list[i].caller = pct_pool_intern(j->pool, b.data);
        }
        any |= list[i].caller != NULL;
        differ |= list[i].caller != list[0].caller;
    }
    for (size_t i = 0; i < n; i++) {
        pct_buf_clear(&b);
        pct_buf_format(&b, "%s%s from %s", list[i].place, list[i].skipped ? ", ..." : ",",
                       list[i].caller ? list[i].caller : "");
        if (differ && list[i].caller)
            list[i].place = pct_pool_intern(j->pool, b.data);
        list[i].skipped = !differ;
    }
    pct_buf_free(&b);
    return any;
}

/* Adds callers further up to places that are the same, those by which they differ. Reorders the
 * list. */
static void tell_apart(const struct pct_join *j, struct placed *list, size_t n, bool full_names,
                       const char **places_out)
{
    enum { MOST = 100 };
    for (unsigned level = 0; level < MOST && n; level++) {
        size_t left = 0, end;
        qsort(list, n, sizeof *list, compare_placed);
        for (size_t i = 0; i < n; i = end) {
            for (end = i + 1; end < n && list[end].place == list[i].place;)
                end++;
            if (end - i < 2 || !add_callers(j, &list[i], end - i, full_names))
                continue;
            for (size_t k = i; k < end; k++) {
                places_out[list[k].at] = list[k].place;
                list[left++] = list[k];
            }
        }
        n = left;
    }
}

static bool is_around(const struct pct_join *j, uint32_t node)
{
    return j->nodes[node].kind == PCOLLECT_NODE_PHASE ||
           j->nodes[node].kind == PCOLLECT_NODE_REGION;
}

/* Appends ", in phase 3, region first": what is around a node, outermost first. */
static void put_around(const struct pct_join *j, uint32_t node, struct pct_buf *b)
{
    while (node != PC_NO_INDEX && !is_around(j, node))
        node = j->nodes[node].parent;
    if (node == PC_NO_INDEX)
        return;
    const struct pct_join_node *n = &j->nodes[node];
    bool inner = n->parent != PC_NO_INDEX && is_around(j, n->parent);
    put_around(j, n->parent, b);
    /* The label is in parentheses. */
    pct_buf_format(b, inner ? ", %.*s" : ", in %.*s", (int)strlen(n->label) - 2, n->label + 1);
}

/* Adds phases and regions to places that callers do not tell apart. Reorders the list. */
static void add_around(const struct pct_join *j, struct placed *list, size_t n,
                       const char **places_out)
{
    struct pct_buf b = {0};
    qsort(list, n, sizeof *list, compare_placed);
    for (size_t i = 0; i < n; i++) {
        if (!(i && list[i].place == list[i - 1].place) &&
            !(i + 1 < n && list[i].place == list[i + 1].place))
            continue;
        pct_buf_clear(&b);
        pct_buf_text(&b, list[i].place);
        put_around(j, list[i].node, &b);
        places_out[list[i].at] = pct_pool_intern(j->pool, b.data);
    }
    pct_buf_free(&b);
}

void pct_join_places(const struct pct_join *j, const uint32_t *nodes, size_t n, bool full_names,
                     const char **places_out)
{
    enum { FEW = 3 };
    struct placed *list = pct_alloc(n, sizeof *list);
    const char **names = name_functions(j, nodes, n, full_names);
    for (size_t i = 0; i < n; i++) {
        list[i] = (struct placed){.function = names[i], .node = nodes[i], .at = i};
        places_out[i] = place_of(j, &list[i], full_names, 0);
    }
    for (unsigned callers = 1; callers <= FEW; callers++) {
        for (size_t i = 0; i < n; i++)
            list[i].place = places_out[list[i].at];
        qsort(list, n, sizeof *list, compare_placed);
        for (size_t i = 0; i < n; i++) {
            if ((i && list[i].place == list[i - 1].place) ||
                (i + 1 < n && list[i].place == list[i + 1].place))
                places_out[list[i].at] = place_of(j, &list[i], full_names, callers);
        }
    }
    for (size_t i = 0; i < n; i++)
        list[i].place = places_out[list[i].at];
    tell_apart(j, list, n, full_names, places_out);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct placed){.place = places_out[i], .node = nodes[i], .at = i};
    add_around(j, list, n, places_out);
    pct_free(list);
    pct_free(names);
}

const char *pct_join_in_function(const struct pct_join *j, uint32_t node, bool full_names)
{
    const struct pct_join_node *n = &j->nodes[node];
    const struct pct_place_text place = {.file = n->file};
    struct pct_buf b = {0}, name = {0};
    if (n->function) {
        pct_name_put(&name, n->function, full_names);
        pct_text_escape(&b, name.data, PCT_ESCAPE_CELL);
    } else {
        pct_label_put_nameless(&b, n->label);
    }
    pct_place_put(&b, &place, PCT_PLACE_SENTENCE);
    const char *shown = pct_pool_intern(j->pool, b.data);
    pct_buf_free(&name);
    pct_buf_free(&b);
    return shown;
}
