/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names, classes and traits of MPI functions by op, and ops by name (ops.h).
 */
#include "libcollect/state/ops.h"

#include "include/pcollect/plugin.h"
#include "libcollect/mpi/ops.h"

#include <string.h>

const char *pc_op_name(uint16_t op)
{
    return op < PC_N_OPS ? pc_op_rows[op].name : NULL;
}

uint16_t pc_op_class(uint16_t op)
{
    return op < PC_N_OPS ? pc_op_rows[op].op_class : PCOLLECT_CLASS_OTHER;
}

uint32_t pc_op_traits(uint16_t op)
{
    return op < PC_N_OPS ? pc_op_rows[op].traits : 0;
}

const struct pc_op_row *pc_op_find(const char *name)
{
    size_t first = 0, end = PC_N_OPS;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct pc_op_row *row = &pc_op_rows[pc_ops_by_name[middle]];
        int order = strcmp(name, row->name);
        if (order == 0)
            return row;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

uint32_t pc_op_traits_of(const char *name)
{
    const struct pc_op_row *row = pc_op_find(name);
    return row ? row->traits : 0;
}
