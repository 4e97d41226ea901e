/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled against an mpi.h: every prototype that functions.tbl describes is the one in mpi.h.
 */
#include <mpi.h>

#define PC_CHECK_PROTOTYPE(op)                                                                     \
    _Static_assert(__builtin_types_compatible_p(__typeof__(MPI_##op), pc_fn_##op), #op);

#include "libcollect/mpi/adapter_types.h"

int main(void)
{
    return 0;
}
