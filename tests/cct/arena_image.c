/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/cct/arena_image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(struct image *im, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(im->wrong, sizeof im->wrong, format, args);
    va_end(args);
    return false;
}

/* An object of that size lies inside what is readable, on no other object, and, if it belongs to a
 * thread (owner not 0), in no line of another thread. */
static bool claim(struct image *im, pcollect_ref ref, size_t bytes, unsigned owner,
                  const char *what)
{
    uint64_t at = (uint64_t)ref * PCOLLECT_REF_UNIT;
    if (ref == 0 || at < im->header->header_bytes || at + bytes > im->used)
        return wrong(im, "%s at %llu, %zu bytes: outside of %llu", what, (unsigned long long)at,
                     bytes, (unsigned long long)im->used);
    for (uint64_t i = at / 16; i < (at + bytes + 15) / 16; i++) {
        if (im->taken[i])
            return wrong(im, "%s at %llu lies on another object", what, (unsigned long long)at);
        im->taken[i] = 1;
    }
    for (uint64_t i = at / 64; i < (at + bytes + 63) / 64; i++) {
        if (im->owner[i] && im->owner[i] != owner + 1)
            return wrong(im, "%s at %llu shares a line with another thread", what,
                         (unsigned long long)at);
        im->owner[i] = (uint16_t)(owner + 1);
    }
    return true;
}

static bool walk_modules(struct image *im)
{
    for (pcollect_ref r = im->header->modules; r;) {
        const struct pcollect_module *m = image_at(im, r);
        if (!claim(im, r, sizeof *m, 0, "module"))
            return false;
        if (m->path_bytes && !claim(im, r + sizeof *m / 16, m->path_bytes, 0, "path"))
            return false;
        im->n_modules++;
        r = m->next;
    }
    return true;
}

static bool walk_plugins(struct image *im)
{
    for (pcollect_ref r = im->header->plugins; r;) {
        const struct pcollect_plugin_rec *p = image_at(im, r);
        if (!claim(im, r, sizeof *p, 0, "plugin"))
            return false;
        if (!claim(im, r + sizeof *p / 16, p->n_fields * sizeof p->fields[0], 0, "fields"))
            return false;
        im->n_plugins++;
        r = p->next;
    }
    for (pcollect_ref r = im->header->tables; r;) {
        const struct pcollect_table_rec *t = image_at(im, r);
        size_t bytes = (size_t)(t->n_keys + t->n_values) * sizeof t->columns[0];
        if (!claim(im, r, sizeof *t + bytes, 0, "table"))
            return false;
        im->n_tables++;
        r = t->next;
    }
    for (unsigned op = 0; op < PCOLLECT_MAX_OPS; op++) {
        pcollect_ref r = im->header->ops[op];
        if (!r)
            continue;
        const struct pcollect_op *o = image_at(im, r);
        if (!claim(im, r, sizeof *o, 0, "op"))
            return false;
        if (o->op != op || !memchr(o->name, 0, sizeof o->name))
            return wrong(im, "op %u is called %u", op, o->op);
        im->n_ops_named++;
    }
    return true;
}

static bool walk_strings(struct image *im)
{
    for (unsigned i = 0; i < PCOLLECT_STRING_BUCKETS; i++)
        for (pcollect_ref r = im->header->strings[i]; r;) {
            const struct pcollect_string *s = image_at(im, r);
            if (!claim(im, r, sizeof *s + s->n_bytes, 0, "string"))
                return false;
            if (!s->n_bytes || s->hash % PCOLLECT_STRING_BUCKETS != i)
                return wrong(im, "string %u is in a wrong list", r);
            im->n_strings++;
            r = s->next;
        }
    return true;
}

static bool walk_rows(struct image *im, const struct pcollect_thread *thread, unsigned owner)
{
    for (pcollect_ref r = __atomic_load_n(&thread->rows, __ATOMIC_ACQUIRE); r;) {
        const struct pcollect_row *row = image_at(im, r);
        if (!claim(im, r, sizeof *row, owner, "row"))
            return false;
        const struct pcollect_table_rec *t = image_at(im, row->table);
        if (!row->table || !im->taken[row->table] || !t->n_keys || !t->n_values)
            return wrong(im, "row %u is of no table", r);
        /* Rows are of whole units but for their end. */
        size_t bytes = sizeof *row + 8u * (size_t)(t->n_keys + t->n_values);
        if (bytes > 16 && !claim(im, r + 1, bytes - 16, owner, "cells"))
            return false;
        im->n_rows++;
        if (im->visit_row)
            im->visit_row(im, thread, row, im->arg);
        r = row->next;
    }
    return true;
}

static bool check_node(struct image *im, pcollect_ref ref, pcollect_ref parent, unsigned owner)
{
    const struct pcollect_node *n = image_at(im, ref);
    if (!claim(im, ref, sizeof *n, owner, "node"))
        return false;
    if (n->parent != parent)
        return wrong(im, "node %u says parent %u, not %u", ref, n->parent, parent);
    if ((n->kind == PCOLLECT_NODE_ROOT) != (parent == 0) || n->kind < PCOLLECT_NODE_ROOT ||
        n->kind >= PCOLLECT_N_NODE_KINDS)
        return wrong(im, "node %u has kind %u", ref, n->kind);
    im->n_frames += n->kind == PCOLLECT_NODE_FRAME;
    im->n_op_nodes += n->kind == PCOLLECT_NODE_OP;
    im->n_cut += n->kind == PCOLLECT_NODE_CUT;
    im->n_collapsed += (n->flags & PCOLLECT_FLAG_COLLAPSED) != 0;
    if (!pcollect_node_has_record(n->kind))
        return n->record ? wrong(im, "node %u has a record", ref) : true;
    if (n->op >= PCOLLECT_MAX_OPS || (n->kind != PCOLLECT_NODE_OP && n->first_child))
        return wrong(im, "node %u: op %u, child %u", ref, n->op, n->first_child);
    if (n->record && n->record % 4)
        return wrong(im, "record %u is not aligned", n->record);
    uint32_t less = n->kind == PCOLLECT_NODE_POINT ? im->header->comm_bytes : 0;
    return !n->record || claim(im, n->record, im->header->record_bytes - less, owner, "record");
}

static bool walk_thread(struct image *im, const struct pcollect_thread *thread, unsigned owner)
{
    pcollect_ref ref = thread->root, parent = 0;
    while (ref) {
        if (!check_node(im, ref, parent, owner))
            return false;
        const struct pcollect_node *n = image_at(im, ref);
        if (im->visit)
            im->visit(im, thread, n, im->arg);
        pcollect_ref child = __atomic_load_n(&n->first_child, __ATOMIC_ACQUIRE);
        if (child) {
            parent = ref;
            ref = child;
            continue;
        }
        while (ref && !((const struct pcollect_node *)image_at(im, ref))->next) {
            ref = parent;
            parent = ref ? ((const struct pcollect_node *)image_at(im, ref))->parent : 0;
        }
        ref = ref ? ((const struct pcollect_node *)image_at(im, ref))->next : 0;
    }
    return true;
}

static bool walk_all(struct image *im)
{
    if (!walk_modules(im) || !walk_plugins(im) || !walk_strings(im))
        return false;
    for (pcollect_ref r = im->header->threads; r;) {
        const struct pcollect_thread *t = image_at(im, r);
        im->n_threads++;
        if (!claim(im, r, sizeof *t, im->n_threads, "thread"))
            return false;
        if (t->n_adopted == 0)
            return wrong(im, "thread %u is not filled", r);
        if (!walk_thread(im, t, im->n_threads) || !walk_rows(im, t, im->n_threads))
            return false;
        r = t->next;
    }
    return true;
}

bool image_walk(struct image *im, const void *base, size_t n)
{
    const struct pcollect_arena_header *h = base;
    im->base = base;
    im->header = h;
    im->wrong[0] = '\0';
    im->n_threads = im->n_modules = im->n_plugins = im->n_ops_named = 0;
    im->n_frames = im->n_op_nodes = im->n_collapsed = im->n_cut = 0;
    im->n_tables = im->n_rows = im->n_strings = 0;
    if (n < sizeof *h || memcmp(h->magic, PCOLLECT_ARENA_MAGIC, sizeof h->magic) != 0)
        return wrong(im, "no arena");
    if (h->version != PCOLLECT_ARENA_VERSION || h->byte_order != PCOLLECT_BYTE_ORDER ||
        h->header_bytes != sizeof *h || h->ops_bytes != sizeof(struct pcollect_op))
        return wrong(im, "version %u, header of %u bytes", h->version, h->header_bytes);
    im->used = __atomic_load_n(&h->used_bytes, __ATOMIC_ACQUIRE);
    if (im->used > n || im->used > h->total_bytes || im->used < sizeof *h)
        return wrong(im, "%llu bytes used of %zu", (unsigned long long)im->used, n);
    im->taken = calloc(1, im->used / 16 + 1);
    im->owner = calloc(sizeof *im->owner, im->used / 64 + 1);
    bool whole = walk_all(im);
    free(im->taken);
    free(im->owner);
    return whole;
}
