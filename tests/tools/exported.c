/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computes in a region whose name contains a semicolon, and sends messages.
 */
#include <mpi.h>
#include <pcollect/pcollect.h>

enum { ROUNDS = 10, MESSAGES = 100, WORK = 5000000 };

static volatile double sink;

static __attribute__((noinline)) void compute(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

static __attribute__((noinline)) void exchange(int rank, int n_ranks)
{
    int mine = rank, other;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % n_ranks, 0, &other, 1, MPI_INT,
                     (rank + n_ranks - 1) % n_ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, n_ranks, in = 1, out;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < ROUNDS; i++) {
        pcollect_region_begin("first; second");
        compute(WORK);
        pcollect_region_end("first; second");
        exchange(rank, n_ranks);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
