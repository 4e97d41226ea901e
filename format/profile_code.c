/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Encodes a profile as ten parts, each a run of varints (doc/internals/format.md has the layout).
 * Ranks send all parts to each other, each with its length; in a .pcol file each part is a section.
 *
 * Decoding trusts nothing: a count is compared with the remaining bytes before memory is allocated
 * for it, there is no recursion, and the result goes through pc_profile_check. Deflated bytes can
 * be a thousand times as many as stored ones: so ranks, modules, primitives, contexts and strings,
 * whose structures are many times larger than their bytes, must be in order as they are read, and
 * the array of contexts grows.
 */
#include "format/build.h"

#include <errno.h>

/* First bytes of a stream; the version follows. */
static const uint8_t stream_magic[3] = {'P', 'C', 'P'};

static const char *const part_names[PC_N_PARTS_END] = {
    [PC_PART_META] = "meta",      [PC_PART_RANKS] = "ranks",     [PC_PART_MODULES] = "modules",
    [PC_PART_OPS] = "primitives", [PC_PART_FIELDS] = "fields",   [PC_PART_NODES] = "contexts",
    [PC_PART_DATA] = "records",   [PC_PART_STRINGS] = "strings", [PC_PART_TABLES] = "tables",
    [PC_PART_VALUES] = "values",
};

/* First versions of the parts. No earlier one was ever released: they are refused. */
static const unsigned part_versions[PC_N_PARTS_END] = {
    [PC_PART_META] = 2,   [PC_PART_RANKS] = 3,  [PC_PART_MODULES] = 1, [PC_PART_OPS] = 1,
    [PC_PART_FIELDS] = 2, [PC_PART_NODES] = 2,  [PC_PART_DATA] = 2,    [PC_PART_STRINGS] = 1,
    [PC_PART_TABLES] = 2, [PC_PART_VALUES] = 1,
};

enum { TABLES_WITH_ORIGINS = 3 }; /* steps have an origin in front (build.h) */

unsigned pc_part_first_version(unsigned part)
{
    return part > 0 && part < PC_N_PARTS_END ? part_versions[part] : 0;
}

unsigned pc_part_version(unsigned part)
{
    return part == PC_PART_TABLES ? TABLES_WITH_ORIGINS : pc_part_first_version(part);
}

unsigned pc_part_version_of(const struct pc_profile *p, unsigned part)
{
    return part == PC_PART_TABLES && pc_tables_round(p) ? TABLES_WITH_ORIGINS
                                                        : pc_part_first_version(part);
}

const char *pc_part_name(unsigned part)
{
    if (part == PC_PCOL_TYPE_COLUMNS)
        return "columns";
    if (part == PC_PCOL_TYPE_STEPS)
        return "steps";
    if (part == PC_PCOL_TYPE_SHARES)
        return "shares";
    return part > 0 && part < PC_N_PARTS_END ? part_names[part] : "unknown";
}

/* ---- Encode ------------------------------------------------------------------------------- */

static void encode_meta(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_text(b, p->exe);
    pc_put_text(b, p->mpi);
    pc_put_text(b, p->job);
    pc_put_le(b, p->job_key, 8);
    pc_put_varint(b, p->world_size);
    pc_put_varint(b, p->per_rank);
}

static void encode_modules(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_modules);
    for (uint32_t i = 0; i < p->n_modules; i++) {
        const struct pc_profile_module *m = &p->modules[i];
        pc_put_varint(b, m->build_id_bytes);
        pc_put_bytes(b, m->build_id, m->build_id_bytes);
        pc_put_varint(b, m->flags);
        pc_put_le(b, m->identity, 8);
        pc_put_text(b, m->path);
    }
}

static void encode_ops(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_ops);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        pc_put_text(b, p->ops[i].name);
        pc_put_varint(b, p->ops[i].op_class);
    }
}

static void encode_fields(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_fields);
    for (uint32_t i = 0; i < p->n_fields; i++) {
        pc_put_text(b, p->fields[i].plugin);
        pc_put_text(b, p->fields[i].name);
        pc_put_varint(b, p->fields[i].combine);
        pc_put_varint(b, p->fields[i].unit);
        pc_put_varint(b, p->fields[i].bins);
        pc_put_varint(b, p->fields[i].group);
    }
}

/* Stores the key of a node among its siblings. */
static uint8_t *store_key(const struct pc_profile_node *n, uint8_t *at)
{
    switch (n->kind) {
    case PCOLLECT_NODE_FRAME:
    case PCOLLECT_NODE_POINT:
        at = pc_store_varint(at, (uint32_t)(n->module + 1)); /* 0: unknown */
        return pc_store_varint(at, n->offset);
    case PCOLLECT_NODE_OP:
        return pc_store_varint(at, n->op);
    case PCOLLECT_NODE_DOMAIN:
    case PCOLLECT_NODE_REGION: /* hashes */
        pc_store_le(at, n->offset, 8);
        return at + 8;
    case PCOLLECT_NODE_PHASE:
        return pc_store_varint(at, n->offset);
    default:
        return at;
    }
}

void pc_node_encode(const struct pc_profile_node *n, bool is_root, uint64_t up, bool has_record,
                    struct pc_buffer *b)
{
    enum { NUMBERS = 4 };
    uint8_t *at = pc_buffer_end(b, (size_t)NUMBERS * PC_VARINT_MOST);
    if (!at)
        return;
    at = pc_store_varint(at, (uint64_t)n->flags << 5 | (has_record ? 16u : 0u) | n->kind);
    if (!is_root)
        at = pc_store_varint(at, up);
    b->n = (size_t)(store_key(n, at) - b->data);
}

static void encode_nodes(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_nodes);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        uint32_t up = 0;
        for (uint32_t at = i - 1; i && at != n->parent; at = p->nodes[at].parent)
            up++;
        pc_node_encode(n, !i, up, n->data != PC_NO_INDEX, b);
    }
}

void pc_part_encode(const struct pc_profile *p, enum pc_part part, struct pc_buffer *out)
{
    static void (*const encoders[PC_N_PARTS_END])(const struct pc_profile *, struct pc_buffer *) = {
        [PC_PART_META] = encode_meta,        [PC_PART_RANKS] = pc_rank_figures_encode,
        [PC_PART_MODULES] = encode_modules,  [PC_PART_OPS] = encode_ops,
        [PC_PART_FIELDS] = encode_fields,    [PC_PART_NODES] = encode_nodes,
        [PC_PART_DATA] = pc_data_encode,     [PC_PART_STRINGS] = pc_strings_encode,
        [PC_PART_TABLES] = pc_tables_encode, [PC_PART_VALUES] = pc_values_encode,
    };
    encoders[part](p, out);
}

/* Appends a part behind its length, which is known when the part has been encoded. */
static void put_part(const struct pc_profile *p, enum pc_part part, struct pc_buffer *all)
{
    size_t at = all->n;
    pc_buffer_extend(all, PC_VARINT_MOST);
    size_t begin = all->n;
    pc_part_encode(p, part, all);
    if (all->failed)
        return;
    size_t n = all->n - begin;
    all->n = at;
    pc_put_varint(all, n);
    memmove(all->data + all->n, all->data + begin, n);
    all->n += n;
}

int pc_profile_encode(const struct pc_profile *p, uint8_t **data_out, size_t *n_out)
{
    struct pc_buffer all = {0};
    pc_put_bytes(&all, stream_magic, sizeof stream_magic);
    pc_put_le(&all, PC_STREAM_VERSION, 1);
    for (unsigned part = PC_PART_META; part < PC_N_PARTS_END; part++)
        put_part(p, part, &all);
    if (all.failed) {
        free(all.data);
        return PC_ENOMEM;
    }
    *data_out = all.data;
    *n_out = all.n;
    return PC_OK;
}

/* ---- Decode ------------------------------------------------------------------------------- */

/* Decoders return PC_ENOMEM, or PC_EIO with errno, or PC_OK; errors in the data are noted in the
 * cursor. */

static int decode_meta(struct pc_profile *p, struct pc_cursor *c)
{
    char *exe = pc_get_text(p->memory, c), *mpi = pc_get_text(p->memory, c),
         *job = pc_get_text(p->memory, c);
    if (!exe || !mpi || !job)
        return PC_ENOMEM;
    p->exe = exe;
    p->mpi = mpi;
    p->job = job;
    p->job_key = pc_get_le(c, 8);
    p->world_size = (uint32_t)pc_get_below(c, INT32_MAX);
    p->per_rank = (uint32_t)pc_get_below(c, INT32_MAX);
    return PC_OK;
}

static int decode_modules(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 11);
    p->modules = pc_pool_array(p->memory, n, sizeof *p->modules);
    if (!p->modules)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        struct pc_profile_module *m = &p->modules[i];
        m->build_id_bytes = (uint32_t)pc_get_below(c, PCOLLECT_BUILD_ID_BYTES);
        const uint8_t *id = pc_get_bytes(c, m->build_id_bytes);
        if (id)
            memcpy(m->build_id, id, m->build_id_bytes);
        m->flags = (uint32_t)pc_get_below(c, UINT32_MAX);
        m->identity = pc_get_le(c, 8);
        m->path = pc_get_text(p->memory, c);
        if (!m->path)
            return PC_ENOMEM;
        c->failed |= i && pc_module_compare(m - 1, m) >= 0;
    }
    p->n_modules = c->failed ? 0 : n;
    return PC_OK;
}

static int decode_ops(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 2);
    p->ops = pc_pool_array(p->memory, n, sizeof *p->ops);
    if (!p->ops)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        p->ops[i].name = pc_get_text(p->memory, c);
        p->ops[i].op_class = (uint16_t)pc_get_below(c, UINT16_MAX);
        if (!p->ops[i].name)
            return PC_ENOMEM;
        c->failed |= i && strcmp(p->ops[i - 1].name, p->ops[i].name) >= 0;
    }
    p->n_ops = c->failed ? 0 : n;
    return PC_OK;
}

static int decode_fields(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 5);
    p->fields = pc_pool_array(p->memory, n, sizeof *p->fields);
    if (!p->fields)
        return PC_ENOMEM;
    c->failed |= n > PC_PROFILE_MAX_FIELDS;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        struct pc_profile_field *f = &p->fields[i];
        f->plugin = pc_get_text(p->memory, c);
        f->name = pc_get_text(p->memory, c);
        f->combine = (uint16_t)pc_get_below(c, UINT16_MAX);
        f->unit = (uint16_t)pc_get_below(c, UINT16_MAX);
        f->bins = (uint16_t)pc_get_below(c, UINT16_MAX);
        f->group = (uint16_t)pc_get_below(c, UINT16_MAX);
        if (!f->plugin || !f->name)
            return PC_ENOMEM;
        if (!pc_field_valid(f))
            c->failed = true; /* records cannot be read without valid fields */
    }
    p->n_fields = c->failed ? 0 : n;
    pc_profile_count_groups(p);
    return PC_OK;
}

static void decode_key(struct pc_cursor *c, struct pc_profile_node *n)
{
    switch (n->kind) {
    case PCOLLECT_NODE_FRAME:
    case PCOLLECT_NODE_POINT:
        n->module = (uint32_t)pc_get_below(c, UINT32_MAX) - 1;
        n->offset = pc_get_varint(c);
        break;
    case PCOLLECT_NODE_OP:
        n->op = (uint32_t)pc_get_below(c, UINT32_MAX);
        break;
    case PCOLLECT_NODE_DOMAIN:
    case PCOLLECT_NODE_REGION:
        n->offset = pc_get_le(c, 8);
        break;
    case PCOLLECT_NODE_PHASE:
        n->offset = pc_get_varint(c);
        break;
    case PCOLLECT_NODE_ROOT:
    case PCOLLECT_NODE_CUT:
        break;
    default:
        c->failed = true;
    }
}

uint64_t pc_node_decode(struct pc_cursor *c, bool is_root, struct pc_profile_node *n)
{
    uint64_t head = pc_get_below(c, (uint64_t)UINT16_MAX << 5 | 31);
    uint64_t up = is_root ? 0 : pc_get_varint(c);
    *n = (struct pc_profile_node){.parent = PC_NO_INDEX,
                                  .kind = head & 15,
                                  .flags = (uint16_t)(head >> 5),
                                  .module = PC_NO_INDEX,
                                  .op = PC_NO_INDEX,
                                  .data = head >> 4 & 1 ? 0 : PC_NO_INDEX};
    decode_key(c, n);
    c->failed |= !is_root && n->kind == PCOLLECT_NODE_ROOT;
    return up;
}

/* Decodes node i; it follows the sibling before it in their order. */
static void decode_node(struct pc_profile *p, struct pc_cursor *c, uint32_t i)
{
    struct pc_profile_node *n = &p->nodes[i];
    uint64_t up = pc_node_decode(c, !i, n);
    n->data = n->data != PC_NO_INDEX ? p->n_data++ : PC_NO_INDEX;
    if (!i)
        return;
    uint32_t parent = i - 1, left = PC_NO_INDEX;
    for (; up && parent != PC_NO_INDEX; up--) {
        left = parent;
        parent = p->nodes[parent].parent;
    }
    n->parent = parent;
    c->failed |=
        parent == PC_NO_INDEX || (left != PC_NO_INDEX && pc_node_compare(&p->nodes[left], n) >= 0);
}

enum { FIRST_NODES = 4096 };

/* Gives the nodes room for one after the first i, of at most n. False: no memory. */
static bool make_room(struct pc_profile *p, uint32_t i, uint32_t n, uint32_t *room)
{
    if (i < *room)
        return true;
    uint32_t more = *room ? *room : FIRST_NODES;
    uint32_t wanted = more < n - *room ? *room + more : n;
    struct pc_profile_node *nodes = realloc(p->nodes, wanted * sizeof *nodes);
    if (!nodes)
        return false;
    p->nodes = nodes;
    *room = wanted;
    return true;
}

static int decode_nodes(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 1), room = 0;
    bool ok = true;
    for (uint32_t i = 0; i < n && !c->failed && ok; i++) {
        ok = make_room(p, i, n, &room);
        if (ok)
            decode_node(p, c, i);
    }
    ok &= pc_pool_adopt(p->memory, p->nodes);
    if (!ok || c->failed)
        return ok ? PC_OK : PC_ENOMEM;
    p->n_nodes = n;
    pc_profile_count_descendants(p);
    return PC_OK;
}

static int decode_part(struct pc_profile *p, enum pc_part part, struct pc_cursor *c)
{
    switch (part) {
    case PC_PART_META:
        return decode_meta(p, c);
    case PC_PART_RANKS:
        return pc_rank_figures_decode(p, c);
    case PC_PART_MODULES:
        return decode_modules(p, c);
    case PC_PART_OPS:
        return decode_ops(p, c);
    case PC_PART_FIELDS:
        return decode_fields(p, c);
    case PC_PART_NODES:
        return decode_nodes(p, c);
    case PC_PART_DATA:
        return pc_data_decode(p, c);
    case PC_PART_STRINGS:
        return pc_strings_decode(p, c);
    case PC_PART_TABLES:
        return pc_tables_decode(p, c);
    default:
        return pc_values_decode(p, c);
    }
}

int pc_part_decode(struct pc_profile *p, enum pc_part part, struct pc_cursor *c,
                   struct pc_error *error)
{
    uint64_t n = pc_cursor_left(c);
    int err = decode_part(p, part, c);
    if (err)
        return pc_error_set(error, err, "part '%s': %s%s", part_names[part],
                            err == PC_EIO ? strerror(errno) : pc_err_text(err),
                            err == PC_EIO && errno == EMFILE ? " (ulimit -n)" : "");
    if (c->failed || pc_cursor_left(c))
        return pc_error_set(error, PC_EFORMAT, "part '%s' of %lu bytes is damaged at its byte %lu",
                            part_names[part], (unsigned long)n,
                            (unsigned long)(n - pc_cursor_unread(c)));
    return PC_OK;
}

static int decode_stream(struct pc_profile *p, struct pc_cursor *c, struct pc_error *error)
{
    const uint8_t *magic = pc_get_bytes(c, sizeof stream_magic);
    if (!magic || memcmp(magic, stream_magic, sizeof stream_magic) != 0 ||
        pc_get_le(c, 1) != PC_STREAM_VERSION)
        return pc_error_set(error, PC_EFORMAT, "not an encoded profile of this version");
    for (unsigned part = PC_PART_META; part < PC_N_PARTS_END; part++) {
        uint64_t n = pc_get_varint(c);
        const uint8_t *data = pc_get_bytes(c, n);
        if (!data)
            return pc_error_set(error, PC_EFORMAT, "the profile ends inside part '%s'",
                                part_names[part]);
        struct pc_cursor content = pc_cursor_over(data, (size_t)n);
        int err = pc_part_decode(p, part, &content, error);
        if (err)
            return err;
    }
    if (pc_cursor_left(c))
        return pc_error_set(error, PC_EFORMAT, "%zu %s the profile", pc_cursor_left(c),
                            pc_cursor_left(c) == 1 ? "byte follows" : "bytes follow");
    return pc_profile_check(p, error);
}

/* Frees p if it fails. */
static int decode(struct pc_profile *p, const uint8_t *data, size_t n, struct pc_profile **out,
                  struct pc_error *error)
{
    struct pc_cursor c = pc_cursor_over(data, n);
    int err = decode_stream(p, &c, error);
    if (err) {
        pc_profile_free(p);
        return err;
    }
    *out = p;
    return PC_OK;
}

int pc_profile_decode(const uint8_t *data, size_t n, struct pc_profile **out,
                      struct pc_error *error)
{
    struct pc_profile *p = pc_profile_new();
    return p ? decode(p, data, n, out, error) : pc_error_set(error, PC_ENOMEM, "not enough memory");
}

int pc_profile_decode_packed(uint8_t *data, size_t n, struct pc_profile **out,
                             struct pc_error *error)
{
    struct pc_profile *p = pc_profile_new();
    if (!p || !pc_pool_adopt(p->memory, data)) {
        if (!p)
            free(data);
        pc_profile_free(p);
        return pc_error_set(error, PC_ENOMEM, "not enough memory");
    }
    p->unchecked = true;
    return decode(p, data, n, out, error);
}
