/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `paths`: C++ exceptions, across frames with MPI calls and out of MPI itself.
 */
#include "tests/mpi/paths.h"

#define FUNCTION extern "C" __attribute__((noinline))

namespace
{

struct problem {
    int depth;
};

FUNCTION void in_destructor()
{
    ENTER;
    TOUCH;
    LEAVE;
}

/* Calls MPI while the exception passes. The call belongs to the function that holds this object.
 * The compiler chooses its line then, so lines of functions named unlined_... are not compared. */
struct guard {
    int depth = truth_depth();
    __attribute__((noinline)) ~guard()
    {
        truth_set_depth(depth);
        DO(in_destructor());
    }
};

FUNCTION void thrower(int n)
{
    ENTER;
    TOUCH;
    if (n)
        DO(thrower(n - 1));
    else
        throw problem{n};
    LEAVE;
}

FUNCTION void unlined_guarded(int n)
{
    ENTER;
    guard g;
    DO(thrower(n));
    LEAVE;
}

FUNCTION void catcher(int n)
{
    ENTER;
    int depth = truth_depth();
    try {
        DO(unlined_guarded(n));
    } catch (const problem &) {
        truth_set_depth(depth);
        TOUCH;
    }
    TOUCH;
    LEAVE;
}

/* Called by MPI: the exception passes through its frames. */
FUNCTION void throw_error(MPI_Comm *, int *, ...)
{
    ENTER;
    TOUCH;
    throw problem{1};
}

/* The call of MPI_Send never returns. It counts, because it was made. */
FUNCTION void failing(MPI_Comm c)
{
    ENTER;
    MPI(Send, 0, 0, (nullptr, 0, MPI_INT, 1000000, 0, c));
    LEAVE;
}

FUNCTION void through_mpi(MPI_Comm c)
{
    ENTER;
    int depth = truth_depth();
    try {
        DO(failing(c));
    } catch (const problem &) {
        truth_set_depth(depth);
        TOUCH;
    }
    DO(catcher(3));
    LEAVE;
}

} // namespace

void paths_throw(void)
{
    MPI_Errhandler handler;
    MPI_Comm c;
    ENTER;
    for (int i = 0; i < 50; i++)
        DO(catcher((int)paths_draw(6)));
    MPI(Comm_create_errhandler, 0, 0, (throw_error, &handler));
    MPI(Comm_dup, 0, 0, (MPI_COMM_SELF, &c));
    MPI(Comm_set_errhandler, 0, 0, (c, handler));
    for (int i = 0; i < 20; i++)
        DO(through_mpi(c));
    MPI(Comm_free, 0, 0, (&c));
    MPI(Errhandler_free, 0, 0, (&handler));
    LEAVE;
}
