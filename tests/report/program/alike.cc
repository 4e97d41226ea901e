// SPDX-License-Identifier: BSD-3-Clause
// Calls instances of one template from one line: their names differ only in arguments that reports leave out.
#include <mpi.h>

namespace preconditioners {
struct jacobi {};
struct multigrid {};
struct incomplete_cholesky {};
} // namespace preconditioners

static volatile double sum;

template <class Preconditioner>
__attribute__((noinline)) void solve_with_a_preconditioner(Preconditioner, int times)
{
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < 3000000; k++)
            sum = sum + k;
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

template <class Preconditioner> void begin_with_a_preconditioner(int times)
{
    solve_with_a_preconditioner(Preconditioner(), times);
    sum = sum + 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void (*const solvers[])(int) = {begin_with_a_preconditioner<preconditioners::jacobi>, begin_with_a_preconditioner<preconditioners::multigrid>,
                                    begin_with_a_preconditioner<preconditioners::incomplete_cholesky>};
    for (auto solver : solvers)
        solver(10);
    MPI_Finalize();
}
