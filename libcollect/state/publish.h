/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Puts the objects that trees refer to into the arena, before the first reference.
 */
#ifndef PC_PUBLISH_H
#define PC_PUBLISH_H

#include "libcollect/state/state.h"

/* Reference of a module or 0 if there is no room. AS-safe. */
pcollect_ref pc_publish_module(struct pc_module *module);
static inline pcollect_ref pc_published_module(struct pc_module *module)
{
    pcollect_ref ref = atomic_load_explicit(&module->arena_ref, memory_order_acquire);
    return PC_LIKELY(ref) ? ref : pc_publish_module(module);
}
/* False: no room for its name; a context that has it cannot be read. */
bool pc_publish_op(uint16_t op);
int pc_publish_plugin(const struct pc_loaded_plugin *plugin);
int pc_publish_compute(const struct pc_loaded_compute *compute);

#endif
