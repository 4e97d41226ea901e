/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program: calls every function of the table that can be called on one to four ranks, with
 * known bytes (truth.h). CALLS_WITH_LARGE: with the twins for large counts.
 */
#include "tests/mpi/calls.h"

#include <stdlib.h>

TRUTH_FUNCTION static void everything(const struct calls *p)
{
    ENTER;
    DO(calls_messages(p));
    DO(calls_collectives(p));
    DO(calls_neighbours(p));
    DO(calls_windows(p));
    DO(calls_files(p));
    DO(calls_types(p));
    DO(calls_objects(p));
    DO(calls_removed(p));
#ifdef CALLS_WITH_LARGE
    DO(calls_messages_large(p));
    DO(calls_collectives_large(p));
    DO(calls_neighbours_large(p));
    DO(calls_windows_large(p));
    DO(calls_files_large(p));
    DO(calls_types_large(p));
#endif
    LEAVE;
}

int main(int argc, char **argv)
{
    struct calls p;
    int provided;
    ENTER;
    MPI(Init_thread, 0, 0, (&argc, &argv, MPI_THREAD_SINGLE, &provided));
    MPI(Comm_dup, 0, 0, (MPI_COMM_WORLD, &p.c));
    MPI(Comm_rank, 0, 0, (p.c, &p.rank));
    MPI(Comm_size, 0, 0, (p.c, &p.n));
    truth_rank(p.rank);
    p.right = (p.rank + 1) % p.n;
    p.left = (p.rank + p.n - 1) % p.n;
    p.folder = getenv("TRUTH_DIR");
    DO(everything(&p));
    DO(everything(&p));
    DO(calls_tools(&p)); /* once: MPICH does not survive a second MPI_T_init_thread */
    MPI(Comm_free, 0, 0, (&p.c));
    MPI(Finalize, 0, 0, ());
    LEAVE;
    return 0;
}
