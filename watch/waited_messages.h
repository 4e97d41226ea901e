/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages that MPI_Wait and similar calls wait for, from the requests that libpcollect's adapter
 * remembers (libcollect/requests.h).
 */
#ifndef PCT_WAITED_MESSAGES_H
#define PCT_WAITED_MESSAGES_H

#include "watch/mpi_call.h"

/* Sets the messages of a call that was found in c, is MPI_Wait, MPI_Waitall, MPI_Waitany or
 * MPI_Waitsome, and has not ended since. `adapter` is the address of the adapter's descriptor, 0 if
 * there is none: all requests are unknown then. */
void pct_waited_messages(const struct pct_caught *c, uint64_t adapter, struct pct_mpi_call *call);

#endif
