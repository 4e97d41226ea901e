/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names and classes of MPI functions by op, for the rest of the library.
 */
#include "libcollect/state/ops.h"

#include "include/pcollect/plugin.h"
#include "libcollect/mpi/ops.h"

const char *pc_op_name(uint16_t op)
{
    return op < PC_N_OPS ? pc_op_rows[op].name : NULL;
}

uint16_t pc_op_class(uint16_t op)
{
    return op < PC_N_OPS ? pc_op_rows[op].op_class : PCOLLECT_CLASS_OTHER;
}
