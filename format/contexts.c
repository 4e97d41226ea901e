/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading contexts in their order: see contexts.h. Two sections of a file, contexts and records,
 * are unpacked side by side. Late parts, which are small, are in memory as a tree, and joined as
 * profile_merge.c joins two trees. A path of contexts is kept on each side, since a context is
 * stored with its distance from the one before.
 *
 * The first reading checks all that pc_profile_check checks of contexts and records, and lists the
 * records whose values are in the file. pcol_read.c begins it.
 */
#include "format/contexts.h"

#include "format/later_contexts.h"
#include "format/record_rows.h"

#include <unistd.h>

struct level {
    struct pc_profile_node node;
    uint32_t i; /* of the node in the result */
};

struct pc_context_source {
    /* The way from the root to the context that was read last. */
    struct level *levels;
    size_t n_levels, room_levels;
    /* The next context of the file, or of the profile. */
    struct pc_profile_node node;
    const struct pc_profile_data *data;
    bool has_next;
    uint32_t n_read, n_nodes;
    /* Sections of a file. */
    struct pc_unpacker *unpack_nodes, *unpack_data;
    struct pc_cursor nodes_at, data_at;
    uint32_t n_records, n_data, n_numbers; /* read, in all; place in `numbers` */
    struct pc_record_room room;
    struct pc_record_room both; /* a record to which a late part adds */
    uint32_t *fields;           /* the numbers from 0 on */
    struct pc_pool *scratch;
    /* Late parts. */
    uint32_t n_late_read, *late_at; /* by node, its number in the result */
    /* Used by the first reading. */
    bool checks;
    uint32_t n_steps, steps_at;
    const uint32_t *steps; /* records that have times in steps */
    int err;
};

/* ---- The file -------------------------------------------------------------------------------- */

static bool fail(struct pc_contexts *c, int err, const char *what)
{
    struct pc_later_contexts *later = c->p->later_contexts;
    c->source->err = err;
    if (later && !*later->error.text)
        pc_error_set(&later->error, err, "%s (context %u)", what, c->source->n_read);
    return false;
}

/* Gives a node of the file the numbers of the profile. */
static bool renumber(const struct pc_later_contexts *later, struct pc_profile_node *n)
{
    if ((n->module != PC_NO_INDEX && n->module >= later->n_modules) ||
        (n->op != PC_NO_INDEX && n->op >= later->n_ops))
        return false;
    if (n->module != PC_NO_INDEX)
        n->module = later->modules[n->module];
    if (n->op != PC_NO_INDEX)
        n->op = later->ops[n->op];
    return true;
}

/* Says what the record that was read keeps of its ranks in the file. */
static void find_values(struct pc_contexts *c, struct pc_profile_data *d)
{
    struct pc_context_source *s = c->source;
    const struct pc_later_contexts *later = c->p->later_contexts;
    if (s->checks) {
        bool steps = s->steps_at < s->n_steps && s->steps[s->steps_at] == s->n_records;
        s->steps_at += steps;
        d->kept = steps && !d->kept ? PC_KEPT_STEPS : d->kept;
        return;
    }
    if (s->n_numbers == c->p->n_data || later->numbers[s->n_numbers] != s->n_records)
        return;
    const struct pc_profile_data *known = &c->p->data[s->n_numbers++];
    d->kept = known->kept;
    d->stored = known->stored;
}

/* Reads the next record of the file. */
static bool read_record(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    struct pc_profile_data *d = pc_record_room_clear(&s->room, c->p, s->node.kind);
    struct pc_error error;
    pc_record_decode(c->p, &s->data_at, d);
    if (s->data_at.failed || s->n_records == s->n_data)
        return fail(c, PC_EFORMAT, "its record is damaged");
    if (s->checks && pc_record_check(c->p, d, s->n_records, &error))
        return fail(c, PC_EFORMAT, error.text);
    find_values(c, d);
    s->node.data = s->n_records++;
    s->data = d;
    return true;
}

/* Reads the next context of the file. */
static bool read_node(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    struct pc_profile_node *n = &s->node;
    uint64_t up = pc_node_decode(&s->nodes_at, s->n_read == 0, n);
    if (s->nodes_at.failed || (s->n_read && up >= s->n_levels) ||
        !renumber(c->p->later_contexts, n))
        return fail(c, PC_EFORMAT, "it is damaged");
    const struct level *at = s->n_read ? &s->levels[s->n_levels - up] : NULL,
                       *above = at ? at - 1 : NULL;
    n->parent = above ? above->i : PC_NO_INDEX;
    const char *wrong =
        !s->checks ? NULL
                   : pc_node_check(c->p, n, above ? &above->node : NULL, up ? &at->node : NULL);
    if (wrong)
        return fail(c, PC_EFORMAT, wrong);
    s->data = NULL;
    if (n->data != PC_NO_INDEX && !read_record(c))
        return false;
    s->n_read++;
    return true;
}

static bool open_section(struct pc_contexts *c, const struct pc_stored *stored,
                         struct pc_unpacker **unpacker, struct pc_cursor *at, uint32_t *n_out)
{
    struct pc_error error = {""};
    *unpacker = pc_unpacker_new(stored, at, &error);
    if (!*unpacker)
        return fail(c, PC_EFORMAT, error.text);
    *n_out = pc_get_count(at, 1);
    return !at->failed || fail(c, PC_EFORMAT, "their number is damaged");
}

static void open_file(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    const struct pc_later_contexts *later = c->p->later_contexts;
    s->scratch = pc_pool_new();
    bool room = s->scratch != NULL;
    s->late_at = room ? pc_pool_array(s->scratch, later->n_late, sizeof *s->late_at) : NULL;
    s->fields = room ? pc_pool_array(s->scratch, c->p->n_fields, sizeof *s->fields) : NULL;
    for (uint32_t k = 0; s->fields && k < c->p->n_fields; k++)
        s->fields[k] = k;
    if (!s->late_at || !s->fields || !pc_record_room_make(&s->room, c->p, s->scratch) ||
        !pc_record_room_make(&s->both, c->p, s->scratch))
        fail(c, PC_ENOMEM, "not enough memory");
    else if (open_section(c, &later->nodes, &s->unpack_nodes, &s->nodes_at, &s->n_nodes))
        open_section(c, &later->data, &s->unpack_data, &s->data_at, &s->n_data);
}

/* Says whether both sections ended where they should. */
static void check_end(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    struct pc_error error;
    if (s->err || !c->p->later_contexts)
        return;
    if (!s->n_read || pc_cursor_left(&s->nodes_at) || pc_cursor_left(&s->data_at) ||
        s->n_records != s->n_data)
        fail(c, PC_EFORMAT, "they do not end where they should");
    else if (!pc_unpacker_ended(s->unpack_nodes, &error) ||
             !pc_unpacker_ended(s->unpack_data, &error))
        fail(c, PC_EFORMAT, error.text);
}

/* ---- Both sides ------------------------------------------------------------------------------ */

/* Makes the next context of the file, or of the profile, ready. */
static void look_ahead(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    const struct pc_profile *p = c->p;
    if (s->has_next || s->err || s->n_read == s->n_nodes)
        return;
    s->has_next = true;
    if (p->later_contexts) {
        s->has_next = read_node(c);
        return;
    }
    s->node = p->nodes[s->n_read++];
    s->data = s->node.data == PC_NO_INDEX ? NULL : &p->data[s->node.data];
}

/* The next context of late parts in *out; false: there is none. */
static bool look_at_late(const struct pc_contexts *c, struct pc_profile_node *out)
{
    const struct pc_context_source *s = c->source;
    const struct pc_later_contexts *later = c->p->later_contexts;
    if (!later || s->n_late_read == later->n_late)
        return false;
    *out = later->late[s->n_late_read];
    out->parent = s->n_late_read ? s->late_at[out->parent] : PC_NO_INDEX;
    return true;
}

/* Adds the record of a late part to that of the file. */
static bool add_late(struct pc_contexts *c, const struct pc_profile_data *late)
{
    struct pc_context_source *s = c->source;
    if (!late || !c->data) {
        c->data = late ? late : c->data;
        return true;
    }
    if (c->data->kept)
        return fail(c, PC_ENOENT, "values by rank are needed");
    struct pc_profile_data *both = pc_record_room_clear(&s->both, c->p, c->node->kind);
    pc_record_overlay((struct pc_profile *)c->p, s->fields, c->data, late, both);
    c->data = both;
    return true;
}

/* Makes the node the last of the way, below its parent. */
static bool take_node(struct pc_contexts *c, const struct pc_profile_node *n)
{
    struct pc_context_source *s = c->source;
    size_t level = s->n_levels;
    while (level && s->levels[level - 1].i != n->parent)
        level--;
    if (level == s->room_levels) {
        size_t room = level ? 2 * level : 32;
        struct level *levels = realloc(s->levels, room * sizeof *levels);
        if (!levels)
            return fail(c, PC_ENOMEM, "not enough memory");
        s->levels = levels;
        s->room_levels = room;
    }
    c->i = c->node ? c->i + 1 : 0;
    s->levels[level] = (struct level){*n, c->i};
    s->n_levels = level + 1;
    c->level = (uint32_t)level;
    c->node = &s->levels[level].node;
    return true;
}

bool pc_contexts_next(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    struct pc_profile_node late;
    if (!s)
        return false;
    look_ahead(c);
    bool has_late = look_at_late(c, &late);
    if (s->err || (!s->has_next && !has_late)) {
        check_end(c);
        return false;
    }
    int order = !s->has_next ? 1 : !has_late ? -1 : pc_node_compare_next(&s->node, &late);
    if (!order)
        s->node.flags |= late.flags;
    if (!take_node(c, order <= 0 ? &s->node : &late))
        return false;
    c->data = order <= 0 ? s->data : NULL;
    s->has_next &= order > 0;
    if (order < 0)
        return true;
    s->late_at[s->n_late_read++] = c->i;
    return add_late(c,
                    late.data == PC_NO_INDEX ? NULL : &c->p->later_contexts->late_data[late.data]);
}

const struct pc_profile_node *pc_contexts_at(const struct pc_contexts *c, uint32_t level)
{
    return &c->source->levels[level].node;
}

void pc_contexts_open(struct pc_contexts *c, const struct pc_profile *p)
{
    *c = (struct pc_contexts){.p = p, .source = calloc(1, sizeof *c->source)};
    if (c->source && p->later_contexts)
        open_file(c);
    else if (c->source)
        c->source->n_nodes = p->n_nodes;
}

int pc_contexts_close(struct pc_contexts *c)
{
    struct pc_context_source *s = c->source;
    if (!s)
        return PC_ENOMEM;
    int err = s->err;
    pc_unpacker_free(s->unpack_nodes);
    pc_unpacker_free(s->unpack_data);
    pc_pool_free(s->scratch);
    free(s->levels);
    free(s);
    c->source = NULL;
    return err == PC_ENOMEM ? err : PC_OK;
}

struct pc_contexts *pc_contexts_new(const struct pc_profile *p)
{
    struct pc_contexts *c = malloc(sizeof *c);
    if (c)
        pc_contexts_open(c, p);
    return c;
}

void pc_contexts_free(void *contexts)
{
    if (contexts)
        pc_contexts_close(contexts);
    free(contexts);
}

/* ---- The first reading ----------------------------------------------------------------------- */

/* Adds the record that was read last to those whose values are in the file. */
static bool list_record(struct pc_profile *p, const struct pc_contexts *c)
{
    struct pc_profile_data *d = pc_later_contexts_list(p, c->source->n_records - 1, c->data);
    if (d && d->kept == PC_KEPT_STEPS)
        d->kept = PC_KEPT_NONE; /* until steps are opened */
    return d != NULL;
}

/* True if the values of the record that was read last are in the file, and may be asked for. */
static bool is_listed(const struct pc_profile_data *d, bool with_values)
{
    return d && !d->ranks &&
           (d->kept == PC_KEPT_STEPS || (with_values && d->kept == PC_KEPT_EXACT));
}

/* Notes a call inside another one, which is at *call_level; PC_NO_INDEX: there is none. */
static void look_for_nested(const struct pc_contexts *c, uint32_t *call_level)
{
    if (*call_level != PC_NO_INDEX && c->level <= *call_level)
        *call_level = PC_NO_INDEX;
    if (c->node->kind != PCOLLECT_NODE_OP)
        return;
    if (*call_level != PC_NO_INDEX)
        c->p->later_contexts->nested = true;
    else
        *call_level = c->level;
}

bool pc_contexts_are_nested(const struct pc_profile *p)
{
    return p->later_contexts && p->later_contexts->nested;
}

static int check_contexts(struct pc_profile *p, const struct pc_later_request *r)
{
    struct pc_contexts c;
    uint32_t call_level = PC_NO_INDEX;
    bool ok = true;
    pc_contexts_open(&c, p);
    if (!c.source)
        return PC_ENOMEM;
    c.source->checks = true;
    c.source->steps = r->steps;
    c.source->n_steps = r->n_steps;
    while (ok && pc_contexts_next(&c)) {
        look_for_nested(&c, &call_level);
        ok = !is_listed(c.data, r->with_values) || list_record(p, &c);
    }
    int err = ok ? c.source->err : PC_ENOMEM;
    pc_contexts_close(&c);
    return err;
}

/* Numbers of the entries of a list in one that has all of them; both are in order. */
static uint32_t *find_numbers(struct pc_profile *p, const void *from, uint32_t n, const void *to,
                              size_t size, int (*compare)(const void *a, const void *b))
{
    uint32_t *numbers = pc_pool_array(p->memory, n, sizeof *numbers);
    const char *a = from, *b = to;
    for (uint32_t i = 0, j = 0; numbers && i < n; i++) {
        while (compare(a + i * size, b + j * size) != 0)
            j++;
        numbers[i] = j++;
    }
    return numbers;
}

static int compare_modules(const void *a, const void *b)
{
    return pc_module_compare(a, b);
}

static int compare_ops(const void *a, const void *b)
{
    const struct pc_profile_op *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Makes what late parts have added to the profile, whose contexts are not in memory, the late side.
 */
static bool take_late(struct pc_profile *p, struct pc_later_contexts *later,
                      const struct pc_profile *before)
{
    later->n_modules = before->n_modules;
    later->n_ops = before->n_ops;
    later->modules = find_numbers(p, before->modules, before->n_modules, p->modules,
                                  sizeof *p->modules, compare_modules);
    later->ops = find_numbers(p, before->ops, before->n_ops, p->ops, sizeof *p->ops, compare_ops);
    later->late = p->nodes;
    later->late_data = p->data;
    later->n_late = p->n_nodes;
    p->data = NULL;
    p->n_data = 0;
    return later->modules && later->ops && !pc_profile_make_root(p);
}

int pc_later_contexts_take(struct pc_profile *p, const struct pc_later_request *r,
                           struct pc_error *error)
{
    struct pc_later_contexts *later = calloc(1, sizeof *later);
    if (!later || !take_late(p, later, r->before)) {
        close(r->nodes.fd);
        free(later);
        return PC_ENOMEM;
    }
    later->nodes = r->nodes;
    later->data = r->data;
    p->later_contexts = later;
    int err = p->n_fields != r->before->n_fields ? PC_ENOENT : check_contexts(p, r);
    if (*later->error.text)
        pc_error_set(error, err, "%s", later->error.text);
    return err;
}

/* ---- Values ---------------------------------------------------------------------------------- */

int pc_profile_check_values(const struct pc_profile *p, struct pc_error *error)
{
    int err = pc_tables_check_rows(p, error);
    struct pc_contexts c;
    if (err || !p->columns)
        return err;
    for (pc_contexts_open(&c, p); !err && pc_contexts_next(&c);)
        if (c.data && c.data->kept && !c.data->ranks)
            err = pc_record_check_values(p, c.data, c.node->data, error);
    if (pc_contexts_close(&c))
        err = pc_error_set(error, PC_ENOMEM, "not enough memory");
    const char *unread = err ? NULL : pc_profile_unread(p);
    return unread ? pc_error_set(error, PC_EFORMAT, "%s", unread) : err;
}
