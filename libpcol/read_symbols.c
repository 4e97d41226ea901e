/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbols of all addresses of a profile, and the source lines stored in it.
 */
#include "libpcol/libpcol_private.h"

#include "view/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

/* ---- Addresses ------------------------------------------------------------------------------- */

struct place {
    uint32_t module;
    uint64_t offset;
    bool sampled;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->sampled - y->sampled;
}

/* All addresses, sorted and unique; *n_out: their number. */
static struct place *list_places(const struct pc_profile *p, size_t *n_out)
{
    struct place *list = pct_alloc(p->n_nodes, sizeof *list);
    size_t n = 0, kept = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        bool sampled = node->kind == PCOLLECT_NODE_POINT;
        if ((sampled || node->kind == PCOLLECT_NODE_FRAME) && node->module < p->n_modules)
            list[n++] = (struct place){node->module, node->offset, sampled};
    }
    qsort(list, n, sizeof *list, compare_places);
    for (size_t i = 0; i < n; i++)
        if (!kept || compare_places(&list[i], &list[kept - 1]))
            list[kept++] = list[i];
    *n_out = kept;
    return list;
}

/* Looks up an address. A sampled instruction is looked up like a return address behind it. */
static void set_frames(struct pcol_profile *p, const struct place *at, struct pcol_address *out)
{
    struct pct_place place =
        pct_symbols_find(p->data->symbols, at->module, at->offset + at->sampled);
    struct pcol_frame *frames = pct_alloc(place.n_frames, sizeof *frames);
    for (uint32_t k = 0; k < place.n_frames; k++) {
        const struct pct_frame *f = &place.frames[k];
        frames[k] = (struct pcol_frame){f->function, f->file, f->line, f->inlined};
    }
    out->frames = frames;
    out->n_frames = place.n_frames;
}

static void make_addresses(void *profile)
{
    struct pcol_profile *p = profile;
    size_t n;
    struct place *places = list_places(p->profile, &n);
    struct pcol_address *list = pct_alloc(n, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        list[i] = (struct pcol_address){.module = p->profile->modules[places[i].module].path,
                                        .offset = places[i].offset,
                                        .sampled = places[i].sampled};
        set_frames(p, &places[i], &list[i]);
    }
    pct_free(places);
    p->addresses = list;
    p->n_addresses = n;
}

const struct pcol_address *pcol_address(struct pcol_profile *p, size_t i)
{
    if (!p->addresses)
        pct_lib_run(p, make_addresses, p);
    return i < p->n_addresses ? &p->addresses[i] : NULL;
}

/* ---- Source lines ---------------------------------------------------------------------------- */

/* A source file that was requested. */
struct stored_source {
    const char *file;
    struct pct_source text;
    struct stored_source *next;
};

struct asked_line {
    struct pcol_profile *p;
    const char *file;
    size_t line;
    const char *text;
};

static struct stored_source *find_source(struct pcol_profile *p, const char *file)
{
    struct stored_source *s = p->sources;
    while (s && strcmp(s->file, file) != 0)
        s = s->next;
    if (s)
        return s;
    s = pct_alloc(1, sizeof *s);
    s->file = pct_copy(file);
    s->next = p->sources;
    pct_source_read_stored(p->profile, file, &s->text);
    return p->sources = s;
}

static void find_line(void *asked)
{
    struct asked_line *a = asked;
    const struct stored_source *s = find_source(a->p, a->file);
    if (a->line && a->line <= s->text.n)
        a->text = s->text.lines[a->line - 1];
}

const char *pcol_source_line(struct pcol_profile *p, const char *file, size_t line)
{
    struct asked_line a = {p, file, line, NULL};
    if (file)
        pct_lib_run(p, find_line, &a);
    return a.text;
}
