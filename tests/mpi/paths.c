/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program: the contexts of its calls are right, whatever their call paths look like in
 * memory. usage: paths single|threads|deep
 */
#include "tests/mpi/paths.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned paths_draw(unsigned below)
{
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

void paths_require(int condition, const char *text, int line)
{
    if (condition)
        return;
    fprintf(stderr, "paths: line %d: not true: %s\n", line, text);
    _exit(3);
}

TRUTH_FUNCTION static void single(void)
{
    ENTER;
    DO(paths_wrappers());
    DO(paths_variable_frames());
    DO(paths_recursion());
    DO(paths_libc_callback());
    DO(paths_register());
    DO(paths_reload());
    DO(paths_signals());
    DO(paths_coroutines());
    DO(paths_throw());
    DO(paths_longjmp());
    LEAVE;
}

TRUTH_FUNCTION static void threads(void)
{
    ENTER;
    DO(paths_pthreads());
    DO(paths_openmp());
    LEAVE;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "single";
    int level, rank, wanted = MPI_THREAD_SINGLE;
    ENTER;
    if (!strcmp(what, "threads"))
        wanted = MPI_THREAD_MULTIPLE;
    MPI(Init_thread, 0, 0, (&argc, &argv, wanted, &level));
    MPI(Comm_rank, 0, 0, (MPI_COMM_WORLD, &rank));
    truth_rank(rank);
    REQUIRE(level >= wanted);
    if (!strcmp(what, "single"))
        DO(single());
    else if (!strcmp(what, "threads"))
        DO(threads());
    else
        DO(paths_deep());
    MPI(Finalize, 0, 0, ());
    LEAVE;
    return 0;
}
