/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program: makes every kind of MPI call and keeps its own account (truth.h).
 */
#include "tests/mpi/mix.h"

#include <stdio.h>

void mix_require(int condition, const char *text, int line)
{
    if (condition)
        return;
    fprintf(stderr, "mix: line %d: not true: %s\n", line, text);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* Calls that move no bytes. PMPI calls of the program itself are not counted. */
TRUTH_FUNCTION static void environment(const struct place *p)
{
    int flag, size;
    ENTER;
    MPI(Initialized, 0, 0, (&flag));
    MPI(Finalized, 0, 0, (&flag));
    PMPI_Comm_size(p->c, &size);
    PMPI_Barrier(p->c);
    MPI(Pcontrol, 0, 0, (1));
    LEAVE;
}

TRUTH_FUNCTION static void everything(const struct place *p)
{
    ENTER;
    DO(environment(p));
    DO(mix_blocking(p));
    DO(mix_traffic(p));
    DO(mix_nonblocking(p));
    DO(mix_tests(p));
    DO(mix_persistent(p));
    DO(mix_collectives(p));
    DO(mix_collectives_vector(p));
    DO(mix_collectives_nonblocking(p));
    DO(mix_communicators(p));
    DO(mix_intercommunicator(p));
    DO(mix_callbacks(p));
    LEAVE;
}

int main(int argc, char **argv)
{
    struct place p;
    ENTER;
    MPI(Init, 0, 0, (&argc, &argv));
    MPI(Comm_dup, 0, 0, (MPI_COMM_WORLD, &p.c));
    MPI(Comm_rank, 0, 0, (p.c, &p.rank));
    MPI(Comm_size, 0, 0, (p.c, &p.n));
    truth_rank(p.rank);
    p.right = (p.rank + 1) % p.n;
    p.left = (p.rank + p.n - 1) % p.n;
    DO(everything(&p));
    DO(everything(&p));
    DO(mix_at_finalize());
    MPI(Comm_free, 0, 0, (&p.c));
    MPI(Finalize, 0, 0, ());
    LEAVE;
    return 0;
}
