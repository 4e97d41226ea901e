/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions that the two threads of a team begin, inside of one that the main thread has begun,
 * nested and while the phase changes. Each thread makes as many calls in each place.
 */
#include "include/pcollect/pcollect.h"

#include <mpi.h>
#include <omp.h>
#include <stddef.h>

void enter(void);
void body(void);

static void probe(int n)
{
    int flag;
    for (int i = 0; i < n; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void begin_phase(int level)
{
#pragma omp barrier
    if (omp_get_thread_num() == 0)
        MPI_Pcontrol(level);
#pragma omp barrier
}

__attribute__((noinline)) void body(void)
{
    probe(1);
    pcollect_region_begin("both");
    probe(2);
    pcollect_region_begin(omp_get_thread_num() ? "second" : "first");
    probe(3);
    pcollect_region_end(NULL);
    probe(4);
    begin_phase(3);
    probe(5);
    pcollect_region_end("both");
    probe(6);
    begin_phase(1);
    probe(7);
    pcollect_region_begin("both");
    pcollect_region_end("both");
    __asm__ volatile("");
}

/* GCC counts the call of the runtime to the inlined function before it. */
__attribute__((noinline)) void enter(void)
{
    pcollect_region_begin("outer");
#pragma omp parallel num_threads(2)
    {
        body();
        __asm__ volatile("");
    }
    pcollect_region_end("outer");
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 10; i++)
        enter();
    MPI_Finalize();
    return 0;
}
