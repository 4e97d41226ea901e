/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The wrappers of all MPI functions, made from functions.tbl, and their table. One life for all:
 * ask the core whether the call counts; real call between two time stamps; byte rules; book it.
 */
#include "libcollect/mpi/adapter_domain.h"
#include "libcollect/mpi/adapter_names.h"
#include "libcollect/mpi/adapter_objects.h"
#include "libcollect/mpi/adapter_requests.h"
#include "libcollect/mpi/adapter_single.h"
#include "libcollect/mpi/adapter_want.h"

#include "libcollect/mpi/adapter_rows.h"
