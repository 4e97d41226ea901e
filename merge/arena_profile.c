/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From an arena to the profile of its rank: header, modules, primitives, fields, figures of the
 * rank. Trees are made by arena_tree.c, tables of plugins by arena_rows.c.
 */
#include "merge/image.h"

#include <stdlib.h>
#include <string.h>

/* More ranks than any machine has processors: a larger number is damage. */
#define MOST_RANKS ((uint32_t)1 << 26)

static int open_image(struct image *m)
{
    const struct pcollect_arena_header *h = (const void *)m->base;
    if (m->n < sizeof *h || memcmp(h->magic, PCOLLECT_ARENA_MAGIC, sizeof PCOLLECT_ARENA_MAGIC))
        return pc_error_set(m->error, PC_EFORMAT, "it is no arena of pcollect");
    if (h->byte_order != PCOLLECT_BYTE_ORDER)
        return pc_error_set(m->error, PC_EFORMAT,
                            "it was written by a machine of another byte order: recover it there");
    if (h->version != PCOLLECT_ARENA_VERSION || h->header_bytes < sizeof *h)
        return pc_error_set(m->error, PC_EVERSION,
                            "its layout is version %u, this pcollect reads version %u: recover it "
                            "with the version that wrote it",
                            h->version, PCOLLECT_ARENA_VERSION);
    uint64_t used = __atomic_load_n(&h->used_bytes, __ATOMIC_ACQUIRE);
    m->most = m->n;
    if (used < m->n)
        m->n = used < sizeof *h ? sizeof *h : used;
    m->header = h;
    m->claimed = pc_pool_array(m->scratch, m->most / PCOLLECT_REF_UNIT / 64 + 2, sizeof(uint64_t));
    return m->claimed ? PC_OK : PC_ENOMEM;
}

/* ---- Tables -------------------------------------------------------------------------------- */

static int compare_refs(const void *a, const void *b)
{
    pcollect_ref x = ((const struct image_module *)a)->ref;
    pcollect_ref y = ((const struct image_module *)b)->ref;
    return (x > y) - (x < y);
}

static int compare_identities(const void *a, const void *b)
{
    return pc_module_compare(&((const struct image_module *)a)->module,
                             &((const struct image_module *)b)->module);
}

static bool read_module(struct image *m, pcollect_ref ref, struct image_module *out)
{
    const struct pcollect_module *a = pc_image_at(m, ref, sizeof *a);
    if (a->build_id_bytes > PCOLLECT_BUILD_ID_BYTES || a->path_bytes > PCOLLECT_PATH_BYTES ||
        !pc_image_at(m, ref, sizeof *a + a->path_bytes)) {
        pc_image_damaged(m, "module", ref);
        return true;
    }
    out->ref = ref;
    out->module.flags = a->flags;
    out->module.identity = a->identity;
    out->module.build_id_bytes = a->build_id_bytes;
    memcpy(out->module.build_id, a->build_id, a->build_id_bytes);
    out->module.path = pc_image_text(m, a->path, a->path_bytes);
    return out->module.path != NULL;
}

static int read_modules(struct image *m)
{
    struct pc_profile *p = m->profile;
    pcollect_ref ref = m->header->modules;
    uint32_t n = pc_image_count_list(m, ref, sizeof(struct pcollect_module), "module");
    m->modules = pc_pool_array(m->scratch, n, sizeof *m->modules);
    p->modules = pc_pool_array(p->memory, n, sizeof *p->modules);
    if (!m->modules || !p->modules)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (!read_module(m, ref, &m->modules[m->n_modules]))
            return PC_ENOMEM;
        m->n_modules += m->modules[m->n_modules].ref != 0;
        ref = *(const pcollect_ref *)pc_image_at(m, ref, sizeof ref);
    }
    qsort(m->modules, m->n_modules, sizeof *m->modules, compare_identities);
    for (uint32_t i = 0; i < m->n_modules; i++) {
        struct image_module *at = &m->modules[i];
        if (!i || compare_identities(at, at - 1))
            p->modules[p->n_modules++] = at->module;
        at->index = p->n_modules - 1;
    }
    qsort(m->modules, m->n_modules, sizeof *m->modules, compare_refs);
    return PC_OK;
}

struct named_op {
    struct pc_profile_op op;
    uint32_t id;
};

static int compare_ops(const void *a, const void *b)
{
    return strcmp(((const struct named_op *)a)->op.name, ((const struct named_op *)b)->op.name);
}

static int read_ops(struct image *m)
{
    struct pc_profile *p = m->profile;
    struct named_op *named = pc_pool_array(m->scratch, PCOLLECT_MAX_OPS, sizeof *named);
    m->op_index = pc_pool_array(m->scratch, PCOLLECT_MAX_OPS, sizeof *m->op_index);
    p->ops = pc_pool_array(p->memory, PCOLLECT_MAX_OPS, sizeof *p->ops);
    uint32_t n = 0;
    if (!named || !m->op_index || !p->ops)
        return PC_ENOMEM;
    for (uint32_t id = 0; id < PCOLLECT_MAX_OPS; id++) {
        pcollect_ref ref = __atomic_load_n(&m->header->ops[id], __ATOMIC_ACQUIRE);
        const struct pcollect_op *op = pc_image_at(m, ref, sizeof *op);
        m->op_index[id] = PC_NO_INDEX;
        if (!ref)
            continue;
        if (!op || !op->name[0] || op->op_class >= PCOLLECT_N_CLASSES) {
            pc_image_damaged(m, "name of a primitive", ref);
            continue;
        }
        named[n].op.name = pc_image_text(m, op->name, sizeof op->name);
        named[n].op.op_class = op->op_class;
        named[n].id = id;
        if (!named[n++].op.name)
            return PC_ENOMEM;
    }
    qsort(named, n, sizeof *named, compare_ops);
    for (uint32_t i = 0; i < n; i++) {
        if (!i || compare_ops(&named[i], &named[i - 1]))
            p->ops[p->n_ops++] = named[i].op;
        m->op_index[named[i].id] = p->n_ops - 1;
    }
    return PC_OK;
}

static int compare_fields(const void *a, const void *b)
{
    return pc_field_compare(&((const struct image_field *)a)->field,
                            &((const struct image_field *)b)->field);
}

/* True if a field lies in its part of the record: fields of comm plugins come first, then those of
 * compute plugins. */
static bool in_its_part(const struct image *m, const struct image_field *f, size_t bytes)
{
    const struct pcollect_arena_header *h = m->header;
    bool is_comm = f->field.group == PCOLLECT_GROUP_COMM;
    return f->offset % 8 == 0 && f->offset >= (is_comm ? 0 : h->comm_bytes) &&
           f->offset + bytes <= (is_comm ? h->comm_bytes : h->record_bytes);
}

static int read_plugin(struct image *m, pcollect_ref ref, uint32_t *n)
{
    const struct pcollect_plugin_rec *plugin = pc_image_at(m, ref, sizeof *plugin);
    char *name = pc_image_text(m, plugin->name, sizeof plugin->name);
    for (uint32_t i = 0; i < plugin->n_fields; i++) {
        const struct pcollect_field_rec *f = &plugin->fields[i];
        struct image_field *out = &m->fields[*n];
        out->field = (struct pc_profile_field){.plugin = name,
                                               .name = pc_image_text(m, f->name, sizeof f->name),
                                               .combine = f->combine,
                                               .unit = f->unit,
                                               .bins = f->bins,
                                               .group = (uint16_t)plugin->group};
        out->in_ticks = f->unit == PCOLLECT_UNIT_TICKS;
        if (out->in_ticks)
            out->field.unit = PCOLLECT_UNIT_NS;
        if (!name || !out->field.name)
            return PC_ENOMEM;
        out->offset = plugin->record_offset + f->offset;
        size_t bytes = 8 * (f->combine == PCOLLECT_HIST ? PCOLLECT_HIST_WORDS(f->bins) : 1u);
        bool bins_in_ticks = out->in_ticks && f->combine == PCOLLECT_HIST; /* not comparable */
        if (!in_its_part(m, out, bytes) || bins_in_ticks || !pc_field_valid(&out->field))
            pc_image_damaged(m, "field", ref);
        else
            (*n)++;
    }
    return PC_OK;
}

static int read_fields(struct image *m)
{
    struct pc_profile *p = m->profile;
    pcollect_ref first = m->header->plugins;
    uint32_t n_plugins =
        pc_image_count_list(m, first, sizeof(struct pcollect_plugin_rec), "plugin");
    uint32_t most = 0, n = 0;
    pcollect_ref ref = first;
    if (m->header->comm_bytes > m->header->record_bytes || m->header->comm_bytes % 8)
        return pc_error_set(m->error, PC_EFORMAT, "the size of its records is damaged");
    for (uint32_t i = 0; i < n_plugins; i++) {
        const struct pcollect_plugin_rec *plugin = pc_image_at(m, ref, sizeof *plugin);
        if (plugin->group > PCOLLECT_GROUP_COMPUTE)
            return pc_error_set(m->error, PC_EFORMAT, "its list of fields is damaged");
        if (plugin->n_fields > PC_PROFILE_MAX_FIELDS - most ||
            !pc_image_at(m, ref, sizeof *plugin + plugin->n_fields * sizeof plugin->fields[0]))
            return pc_error_set(m->error, PC_EFORMAT, "its list of fields is damaged");
        most += plugin->n_fields;
        ref = plugin->next;
    }
    m->fields = pc_pool_array(m->scratch, most, sizeof *m->fields);
    p->fields = pc_pool_array(p->memory, most, sizeof *p->fields);
    if (!m->fields || !p->fields)
        return PC_ENOMEM;
    ref = first;
    for (uint32_t i = 0; i < n_plugins; i++) {
        if (read_plugin(m, ref, &n))
            return PC_ENOMEM;
        ref = *(const pcollect_ref *)pc_image_at(m, ref, sizeof ref);
    }
    qsort(m->fields, n, sizeof *m->fields, compare_fields);
    for (uint32_t i = 0; i < n; i++) {
        if (i && !compare_fields(&m->fields[i], &m->fields[i - 1]))
            return pc_error_set(m->error, PC_EFORMAT, "two of its fields have one name");
        p->fields[p->n_fields++] = m->fields[i].field;
    }
    pc_profile_count_groups(p);
    return pc_image_lay_out_values(m) ? PC_OK : PC_ENOMEM;
}

/* ---- The rank -------------------------------------------------------------------------------- */

static uint64_t span(const struct image *m, uint64_t begin, uint64_t end)
{
    return begin && end > begin ? pc_image_ns(m, end - begin) : 0;
}

/* The last time at which the process was seen alive. */
static uint64_t find_last(struct image *m)
{
    const struct pcollect_arena_header *h = m->header;
    uint64_t last = h->ticks_1 > h->exit_ticks ? h->ticks_1 : h->exit_ticks;
    last = h->seen_ticks > last ? h->seen_ticks : last;
    pcollect_ref ref = m->threads = __atomic_load_n(&h->threads, __ATOMIC_ACQUIRE);
    m->n_threads = pc_image_count_list(m, ref, sizeof(struct pcollect_thread), "thread");
    for (uint32_t i = 0; i < m->n_threads; i++) {
        const struct pcollect_thread *t = pc_image_at(m, ref, sizeof *t);
        if (t->end_ticks > last)
            last = t->end_ticks;
        ref = t->next;
    }
    return last;
}

/* Adds the figures of the thread records. A thread that calls MPI before and after the merge has a
 * record for each. */
static void add_threads(struct image *m, struct pc_profile_rank *r)
{
    const struct pcollect_arena_header *h = m->header;
    int32_t main_tid = h->init_tid ? h->init_tid : h->pid;
    uint64_t ticks = 0, others_ticks = 0;
    pcollect_ref ref = m->threads;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        const struct pcollect_thread *t = pc_image_at(m, ref, sizeof *t);
        uint64_t own_ticks = t->mpi_ticks + pc_image_open_ticks(m, t);
        ticks += own_ticks;
        r->mpi_calls += t->mpi_calls;
        r->n_threads += t->late ? 0 : t->n_adopted;
        if (t->tid != main_tid) {
            others_ticks += own_ticks;
            r->n_others += t->mpi_calls && !t->late;
        }
        ref = t->next;
    }
    r->mpi_ns = pc_image_ns(m, ticks);
    r->others_mpi_ns = pc_image_ns(m, others_ticks);
}

static int read_rank(struct image *m, enum pc_merge_part part)
{
    const struct pcollect_arena_header *h = m->header;
    struct pc_profile *p = m->profile;
    struct pc_profile_rank *r = pc_pool_array(p->memory, 1, sizeof *r);
    m->rank = pc_pool_array(p->memory, 1, sizeof *m->rank);
    if (!r || !m->rank)
        return PC_ENOMEM;
    uint64_t last = find_last(m);
    m->last_ticks = part == PC_MERGE_ALL ? last : 0;
    add_threads(m, r);
    uint64_t inside_end = h->finalize_end_ticks ? h->finalize_end_ticks : last;
    struct pc_identity who = pc_image_identity(h);
    r->rank = *m->rank = who.rank < 0 ? 0 : who.rank;
    r->pid = h->pid;
    r->host = pc_image_text(m, h->host, sizeof h->host);
    r->start_realtime_ns = h->realtime_0_ns;
    r->before_init_ns = span(m, h->start_ticks, h->init_begin_ticks ? h->init_begin_ticks : last);
    r->inside_ns = span(m, h->init_begin_ticks, inside_end);
    uint64_t unmeasured_ns = pc_image_ns(m, h->unmeasured_ticks);
    r->inside_ns -= unmeasured_ns < r->inside_ns ? unmeasured_ns : r->inside_ns;
    r->after_ns = span(m, h->finalize_end_ticks, h->exit_ticks);
    r->merge_ns = pc_image_ns(m, h->merge_ticks);
    r->closed = h->exit_ticks != 0;
    /* A program without MPI that could not write its profile has ended all the same. */
    bool ended = h->finalize_begin_ticks || (pc_image_is_alone(h) && h->exit_ticks);
    r->incomplete = part == PC_MERGE_ALL && !ended;
    r->notes = h->notes & ~(uint64_t)PCOLLECT_NOTE_DAMAGED; /* set by the reader */
    if (!pc_losses_copy(p->memory, h->lost, &r->lost))
        return PC_ENOMEM;
    p->ranks = r;
    p->n_ranks = 1;
    p->world_size = (uint32_t)who.n_ranks;
    if ((uint32_t)r->rank >= p->world_size || p->world_size > MOST_RANKS)
        return pc_error_set(m->error, PC_EFORMAT, "its rank %d is not one of %u", r->rank,
                            p->world_size);
    p->job_key = who.job_key;
    p->per_rank = h->per_rank <= INT32_MAX ? h->per_rank : 0;
    p->values_bytes = (uint64_t)h->values_kib << 10;
    p->contexts = h->contexts;
    p->exe = pc_image_text(m, part == PC_MERGE_LATE ? "" : h->exe, sizeof h->exe);
    p->mpi = pc_image_text(m, part == PC_MERGE_LATE ? "" : h->mpi, sizeof h->mpi);
    p->job = pc_image_text(m, part == PC_MERGE_LATE ? "" : h->job, sizeof h->job);
    return r->host && p->exe && p->mpi && p->job ? PC_OK : PC_ENOMEM;
}

/* ---- Pruning --------------------------------------------------------------------------------- */

/* Moves the entries that are marked to the front; each mark becomes the new index. */
static uint32_t keep_marked(void *table, uint32_t n, size_t size, uint32_t *marks)
{
    char *at = table;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!marks[i])
            continue;
        memmove(at + kept * size, at + i * size, size);
        marks[i] = kept++;
    }
    return kept;
}

/* Leaves out modules and primitives to which no node refers. */
static int prune_tables(struct image *m)
{
    struct pc_profile *p = m->profile;
    uint32_t *modules = pc_pool_array(m->scratch, p->n_modules, sizeof *modules);
    uint32_t *ops = pc_pool_array(m->scratch, p->n_ops, sizeof *ops);
    if (!modules || !ops)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (p->nodes[i].module != PC_NO_INDEX)
            modules[p->nodes[i].module] = 1;
        if (p->nodes[i].op != PC_NO_INDEX)
            ops[p->nodes[i].op] = 1;
    }
    p->n_modules = keep_marked(p->modules, p->n_modules, sizeof *p->modules, modules);
    p->n_ops = keep_marked(p->ops, p->n_ops, sizeof *p->ops, ops);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        struct pc_profile_node *n = &p->nodes[i];
        n->module = n->module == PC_NO_INDEX ? PC_NO_INDEX : modules[n->module];
        n->op = n->op == PC_NO_INDEX ? PC_NO_INDEX : ops[n->op];
    }
    return PC_OK;
}

static int read_image(struct image *m, enum pc_merge_part part)
{
    int err = open_image(m);
    if (!err)
        err = read_modules(m);
    if (!err)
        err = read_ops(m);
    if (!err)
        err = read_fields(m);
    if (!err)
        err = read_rank(m, part);
    if (!err)
        err = pc_image_read_tables(m, part);
    if (!err)
        err = pc_image_read_trees(m, part);
    if (!err)
        err = pc_image_read_rows(m, part);
    if (!err)
        err = pc_image_write_tree(m);
    if (!err)
        err = pc_image_write_tables(m);
    if (!err && part == PC_MERGE_LATE)
        err = prune_tables(m);
    if (!err && part == PC_MERGE_LATE)
        err = pc_image_prune_strings(m);
    if (!err && m->damaged)
        m->profile->ranks->notes |= PCOLLECT_NOTE_DAMAGED;
    if (!err)
        err = pc_profile_check(m->profile, m->error);
    if (err == PC_ENOMEM)
        pc_error_set(m->error, err, "no memory to read it");
    return err;
}

int pc_merge_arena(const void *base, size_t n, enum pc_merge_part part, struct pc_profile **out,
                   struct pc_error *error)
{
    struct image m = {.base = base, .n = n, .error = error};
    pc_error_set(error, PC_OK, "%s", "");
    m.profile = pc_profile_new();
    m.scratch = pc_pool_new();
    m.tree = pc_pool_new();
    int err = PC_ENOMEM;
    if (m.profile && m.scratch && m.tree)
        err = read_image(&m, part);
    pc_pool_free(m.scratch);
    pc_pool_free(m.tree);
    if (err)
        pc_profile_free(m.profile);
    else
        *out = m.profile;
    return err;
}
