/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The wrappers of all MPI functions, made from functions.tbl, and their table. All have the same
 * steps: ask the core whether the call counts, make the real call between two time stamps, apply
 * the byte rules, book the call.
 */
#include "libcollect/mpi/adapter_domain.h"
#include "libcollect/mpi/adapter_names.h"
#include "libcollect/mpi/adapter_objects.h"
#include "libcollect/mpi/adapter_requests.h"
#include "libcollect/mpi/adapter_single.h"
#include "libcollect/mpi/adapter_want.h"

#include "libcollect/mpi/adapter_rows.h"
