/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Another profiler below the library: its MPI_Wait and MPI_Waitall have completed the requests, and
 * call the program before they return.
 */
#include <mpi.h>

#include <stddef.h>

void (*before_return)(void);

static void call_program(void)
{
    void (*call)(void) = before_return;
    before_return = NULL;
    if (call)
        call();
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int rc = PMPI_Wait(request, status);
    call_program();
    return rc;
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    int rc = PMPI_Waitall(n, requests, statuses);
    call_program();
    return rc;
}
