/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and paths of a page. A path of a deep C++ program may have a megabyte, a profile thousands
 * of paths: so the page has each name once, and paths as a tree over them. Columns of all tables
 * share both; page_column.c writes the numbers of their paths.
 *
 *     u32 number of names, u32 their bytes, the names, each with a 0 behind it
 *     u32 number of paths; an integer each: the path above it, its name, the rest of its label
 *
 * A label is a name and the rest, "@file:line": k is the k-th name, 0 none. A path is its parent
 * path and its label, joined by " > "; 0 is none, and parents come first. The three numbers are
 * stored as planes, as in columns.
 */
#include "view/page_names.h"

#include "analysis/tree/keys.h"
#include "view/page_bytes.h"

#include <string.h>

struct path {
    uint32_t above, name, rest;
};

/* Paths of the nodes of a tree that were asked for. */
struct known_tree {
    const struct pct_tree *tree;
    uint32_t *path; /* 0: not yet */
};

struct pct_page_names {
    struct pct_pool *pool;
    struct pct_keys names; /* of the pool */
    struct path *path;
    size_t n_paths, paths_room;
    struct pct_hash_index paths;
    struct known_tree *known;
    size_t n_known, known_room;
};

struct pct_page_names *pct_page_names_new(void)
{
    struct pct_page_names *n = pct_alloc(1, sizeof *n);
    n->pool = pct_pool_new();
    return n;
}

void pct_page_names_forget(struct pct_page_names *n)
{
    for (size_t i = 0; i < n->n_known; i++)
        pct_free(n->known[i].path);
    n->n_known = 0;
}

void pct_page_names_free(struct pct_page_names *n)
{
    pct_page_names_forget(n);
    pct_free(n->known);
    pct_keys_free(&n->names);
    pct_hash_free(&n->paths);
    pct_free(n->path);
    pct_pool_free(n->pool);
    pct_free(n);
}

/* ---- Each once ------------------------------------------------------------------------------- */

/* Number of the name with that many bytes, from 1; 0: none. */
static uint32_t add_name(struct pct_page_names *n, const char *text, size_t bytes)
{
    struct pct_buf copy = {0};
    bool is_new;
    if (!bytes)
        return 0;
    pct_buf_put(&copy, text, bytes);
    uint32_t row = pct_keys_find(&n->names, pct_pool_intern(n->pool, copy.data), &is_new);
    pct_buf_free(&copy);
    return row + 1;
}

/* Number of the path, from 1. */
static uint32_t add_path(struct pct_page_names *n, struct path path)
{
    struct pct_hash_search search = {.hash = (uint32_t)pc_hash_bytes(&path, sizeof path, 0)};
    uint32_t i;
    while ((i = pct_hash_next(&n->paths, &search)) != PC_NO_INDEX)
        if (!memcmp(&n->path[i], &path, sizeof path))
            return i + 1;
    n->path = pct_grow(n->path, n->n_paths, &n->paths_room, sizeof *n->path);
    n->path[n->n_paths] = path;
    pct_hash_add(&n->paths, search.hash, (uint32_t)n->n_paths);
    return (uint32_t)++n->n_paths;
}

/* ---- From texts and trees -------------------------------------------------------------------- */

/* Bytes up to the first @ that is not part of the name, or to the end. */
static size_t name_bytes(const char *label, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += label[i] == '\\' ? 2 : 1)
        if (label[i] == '@')
            return i;
    return bytes;
}

static uint32_t add_label(struct pct_page_names *n, uint32_t above, const char *label, size_t bytes)
{
    size_t name = name_bytes(label, bytes);
    return add_path(
        n, (struct path){above, add_name(n, label, name), add_name(n, label + name, bytes - name)});
}

static uint32_t add_text(struct pct_page_names *n, const struct pct_column *c, const char *text)
{
    static const char between[] = " > ";
    uint32_t path = 0;
    for (const char *end; c->labels && (end = strstr(text, between));
         text = end + sizeof between - 1)
        path = add_label(n, path, text, (size_t)(end - text));
    return add_label(n, path, text, strlen(text));
}

static uint32_t *known_paths(struct pct_page_names *n, const struct pct_tree *t)
{
    for (size_t i = 0; i < n->n_known; i++)
        if (n->known[i].tree == t)
            return n->known[i].path;
    n->known = pct_grow(n->known, n->n_known, &n->known_room, sizeof *n->known);
    n->known[n->n_known] = (struct known_tree){t, pct_alloc(t->n, sizeof(uint32_t))};
    return n->known[n->n_known++].path;
}

/* Adds the path of a node. Goes up to a node whose path is known, then down again, without
 * recursion: a damaged profile may be deeper than the stack. */
static uint32_t add_node(struct pct_page_names *n, const struct pct_tree *t, uint32_t node)
{
    uint32_t *path = known_paths(n, t), *up = NULL, above;
    size_t depth = 0, room = 0;
    for (; node && !path[node]; node = t->nodes[node].parent) {
        up = pct_grow(up, depth, &room, sizeof *up);
        up[depth++] = node;
    }
    for (above = path[node]; depth--; above = path[up[depth]])
        path[up[depth]] =
            add_label(n, above, t->nodes[up[depth]].label, strlen(t->nodes[up[depth]].label));
    pct_free(up);
    return above;
}

/* True for labels, paths, and function names, which also occur in labels. */
bool pct_page_names_has(const struct pct_column *c)
{
    return c->type == PCT_TEXT && (c->labels || c->nodes || !strcmp(c->name, "function"));
}

uint32_t pct_page_names_add(struct pct_page_names *n, const struct pct_column *c,
                            const struct pct_data *d, size_t row)
{
    struct pct_value v = pct_table_place(c, d, row);
    return v.none ? 0 : v.tree ? add_node(n, v.tree, v.node) : *v.text ? add_text(n, c, v.text) : 0;
}

/* ---- As bytes -------------------------------------------------------------------------------- */

void pct_page_names_put(const struct pct_page_names *n, struct pc_buffer *b)
{
    struct pc_buffer texts = {0};
    uint64_t *numbers = pct_alloc(3 * n->n_paths, sizeof *numbers);
    for (size_t i = 0; i < n->names.n; i++)
        pc_put_bytes(&texts, n->names.keys[i], strlen(n->names.keys[i]) + 1);
    for (size_t i = 0; i < n->n_paths; i++) {
        numbers[i] = n->path[i].above;
        numbers[n->n_paths + i] = n->path[i].name;
        numbers[2 * n->n_paths + i] = n->path[i].rest;
    }
    pct_page_u32(b, n->names.n);
    pct_page_u32(b, texts.n);
    pc_put_bytes(b, texts.data, texts.n);
    pct_page_u32(b, n->n_paths);
    for (size_t k = 0; k < 3; k++)
        pct_page_integers(b, numbers + k * n->n_paths, n->n_paths);
    pct_free(numbers);
    pct_free(texts.data);
}
