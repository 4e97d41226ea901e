// SPDX-License-Identifier: BSD-3-Clause
// Tail calls of members, of templates and of a function of another namespace: one way each.
#include <mpi.h>

#define KEPT __attribute__((noinline))

int sink;

KEPT static int leaf(int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    sink += n; // the call above stays a call
    return sink;
}

namespace grid
{
KEPT int halo(int n)
{
    return leaf(n + 1);
}
} // namespace grid

template <typename T> KEPT static int spread(T n)
{
    return grid::halo(static_cast<int>(n) * 2);
}

class Solver
{
  public:
    KEPT int step(int n);

  private:
    KEPT int inner(int n);
    int level = 3;
};

int Solver::inner(int n)
{
    return spread<long>(n + level);
}

int Solver::step(int n)
{
    level += n;
    return inner(n);
}

int main(int argc, char **argv)
{
    Solver solver;
    MPI_Init(&argc, &argv);
    sink += solver.step(argc);
    sink += spread<short>(static_cast<short>(argc));
    sink += leaf(argc);
    MPI_Finalize();
    return 0;
}
