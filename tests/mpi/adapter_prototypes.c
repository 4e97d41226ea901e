/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled against an mpi.h: every prototype in functions.tbl must equal the one in mpi.h.
 * Functions that an mpi.h does not have are not compared.
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1 /* removed functions are macros otherwise */
#include <mpi.h>

#include "libcollect/mpi/adapter_types_missing.h"

#pragma GCC diagnostic ignored "-Wredundant-decls"

/* A declaration that disagrees with the one in mpi.h, where that has one, does not compile. */
#define PC_CHECK_PROTOTYPE(op) pc_fn_##op MPI_##op, PMPI_##op;

#include "libcollect/mpi/adapter_types.h"

int main(void)
{
    return 0;
}
