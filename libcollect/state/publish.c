/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Puts the objects that trees refer to into the arena, before the first reference: modules, names
 * of primitives, layout of records. All functions but that for plugins are AS-safe.
 */
#include "libcollect/state/publish.h"
#include "libcollect/state/ops.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"

#include <string.h>

/* A module that was closed and opened again, perhaps elsewhere, is the same module to the profile.
 */
static pcollect_ref find_same(const struct pc_module *m, size_t path_bytes)
{
    pcollect_ref ref = __atomic_load_n(&pc_header()->modules, __ATOMIC_ACQUIRE);
    while (ref) {
        const struct pcollect_module *a = pc_arena_at(&pc_process.arena, ref);
        if (a->build_id_bytes == m->build_id_bytes && a->identity == m->identity &&
            !memcmp(a->build_id, m->build_id, m->build_id_bytes) && a->path_bytes == path_bytes &&
            !memcmp(a->path, m->path, path_bytes))
            return ref;
        ref = a->next;
    }
    return 0;
}

pcollect_ref pc_publish_module(struct pc_module *m)
{
    pcollect_ref ref = atomic_load_explicit(&m->arena_ref, memory_order_acquire);
    if (PC_LIKELY(ref))
        return ref;
    size_t path_bytes = strlen(m->path);
    ref = find_same(m, path_bytes);
    if (!ref) {
        struct pcollect_module record = {.flags = m->flags,
                                         .bias = m->bias,
                                         .lo = m->lo,
                                         .hi = m->hi,
                                         .identity = m->identity,
                                         .build_id_bytes = m->build_id_bytes,
                                         .path_bytes = (uint32_t)path_bytes};
        memcpy(record.build_id, m->build_id, sizeof record.build_id);
        ref = pc_arena_add_module(&pc_process.arena, &record, m->path);
    }
    /* Two threads may both have added it: the merge joins equal modules. */
    if (ref)
        atomic_store_explicit(&m->arena_ref, ref, memory_order_release);
    return ref;
}

bool pc_publish_op(uint16_t op)
{
    return PC_LIKELY(__atomic_load_n(&pc_header()->ops[op], __ATOMIC_RELAXED)) ||
           pc_arena_add_op(&pc_process.arena, op, pc_op_class(op), pc_op_name(op));
}

static int publish(struct pcollect_plugin_rec record, const char *name,
                   const struct pcollect_field *from)
{
    struct pcollect_field_rec fields[PC_MAX_FIELDS];
    pc_format(record.name, sizeof record.name, "%s", name);
    memset(fields, 0, sizeof fields);
    for (uint32_t i = 0; i < record.n_fields; i++) {
        const struct pcollect_field *f = &from[i];
        pc_format(fields[i].name, sizeof fields[i].name, "%s", f->name);
        fields[i].combine = f->combine;
        fields[i].unit = f->unit;
        fields[i].bins = f->bins;
        fields[i].offset = f->offset;
    }
    return pc_arena_add_plugin(&pc_process.arena, &record, fields) ? PC_OK : PC_ENOMEM;
}

static int publish_tables(const char *plugin, const struct pcollect_table *tables, uint32_t n)
{
    int err = PC_OK;
    for (uint32_t i = 0; !err && i < n; i++)
        err = pc_table_add(plugin, &tables[i]);
    return err;
}

int pc_publish_plugin(const struct pc_loaded_plugin *plugin)
{
    const struct pcollect_comm_plugin *p = plugin->comm;
    const struct pcollect_plugin_rec record = {.record_offset = (uint32_t)plugin->record_offset,
                                               .record_bytes = p->record_bytes,
                                               .n_fields = p->n_fields,
                                               .group = PCOLLECT_GROUP_COMM};
    int err = publish(record, p->name, p->fields);
    return err ? err : publish_tables(p->name, p->tables, p->n_tables);
}

int pc_publish_compute(const struct pc_loaded_compute *compute)
{
    const struct pcollect_compute_plugin *p = compute->plugin;
    const struct pcollect_plugin_rec record = {.record_offset =
                                                   pc_process.comm_bytes + compute->record_offset,
                                               .record_bytes = p->record_bytes,
                                               .n_fields = p->n_fields,
                                               .group = PCOLLECT_GROUP_COMPUTE};
    int err = publish(record, p->name, p->fields);
    return err ? err : publish_tables(p->name, p->tables, p->n_tables);
}
