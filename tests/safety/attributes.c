/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_COMM_WORLD with an attribute that has a copy callback, on the last rank alone. The callback
 * tells of each call. Arguments: the name of the function that makes the attribute; any other word
 * makes one that is not copied.
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    puts("copied");
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int make(const char *name)
{
    int keyval;
    if (!strcmp(name, "MPI_Comm_create_keyval"))
        MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    else if (!strcmp(name, "PMPI_Comm_create_keyval"))
        PMPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    else
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    return keyval;
}

int main(int argc, char **argv)
{
    static int value;
    int rank, n_ranks;
    MPI_Comm copied;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Pcontrol(0);
    if (rank == n_ranks - 1)
        MPI_Comm_set_attr(MPI_COMM_WORLD, make(argc > 1 ? argv[1] : ""), &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &copied);
    MPI_Comm_free(&copied);
    MPI_Finalize();
    return 0;
}
