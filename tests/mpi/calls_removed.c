/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that MPI-3.0 removed and the libraries still have. An mpi.h without them does not
 * declare them, so this file does; a program compiled long ago still calls them.
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include "tests/mpi/calls.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

int MPI_Address(void *location, MPI_Aint *address);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *fn, MPI_Errhandler *handler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent);
int MPI_Type_hindexed(int n, int lengths[], MPI_Aint places[], MPI_Datatype old,
                      MPI_Datatype *type);
int MPI_Type_hvector(int n, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *type);
int MPI_Type_lb(MPI_Datatype type, MPI_Aint *bound);
int MPI_Type_struct(int n, int lengths[], MPI_Aint places[], MPI_Datatype old[],
                    MPI_Datatype *type);
int MPI_Type_ub(MPI_Datatype type, MPI_Aint *bound);

static void ignore_error(MPI_Comm *c, int *code, ...)
{
    (void)c, (void)code;
}

TRUTH_FUNCTION void calls_removed(const struct calls *p)
{
    MPI_Errhandler made, old;
    MPI_Datatype t, ints[] = {MPI_INT};
    MPI_Aint place;
    int length = 1;
    ENTER;
    MPI(Address, 0, 0, (&length, &place));
    MPI(Errhandler_create, 0, 0, (ignore_error, &made));
    MPI(Errhandler_get, 0, 0, (p->c, &old));
    MPI(Errhandler_set, 0, 0, (p->c, made));
    MPI(Errhandler_set, 0, 0, (p->c, old));
    MPI(Errhandler_free, 0, 0, (&made));
    MPI(Errhandler_free, 0, 0, (&old));
    MPI(Type_extent, 0, 0, (MPI_INT, &place));
    MPI(Type_lb, 0, 0, (MPI_INT, &place));
    MPI(Type_ub, 0, 0, (MPI_INT, &place));
    place = 0;
    MPI(Type_hindexed, 0, 0, (1, &length, &place, MPI_INT, &t));
    MPI(Type_free, 0, 0, (&t));
    MPI(Type_hvector, 0, 0, (1, 1, 8, MPI_INT, &t));
    MPI(Type_free, 0, 0, (&t));
    MPI(Type_struct, 0, 0, (1, &length, &place, ints, &t));
    MPI(Type_free, 0, 0, (&t));
    LEAVE;
}
