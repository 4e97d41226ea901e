/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Another profiler below the library: its MPI_Wait has completed the request, and calls the program
 * before it returns.
 */
#include <mpi.h>

#include <stddef.h>

void (*before_return)(void);

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    void (*call)(void) = before_return;
    int rc = PMPI_Wait(request, status);
    before_return = NULL;
    if (call)
        call();
    return rc;
}
