/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A serial part and a region of three times its work, divided among the threads. Prints the CPU
 * time of the main thread in both, in s.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>
enum { ROUNDS = 10 };
static volatile double sink;
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void burn(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}
__attribute__((noinline)) static void serial(long n)
{
    burn(n);
    sink++;
}
__attribute__((noinline)) static void parallel(long n)
{
#pragma omp parallel
    burn(n / omp_get_num_threads());
    sink++;
}
int main(int argc, char **argv)
{
    int provided;
    double of_serial = 0, of_parallel = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    for (int k = 0; k < ROUNDS; k++) {
        double begin = now();
        serial(15000000);
        double middle = now();
        parallel(45000000);
        of_serial += middle - begin;
        of_parallel += now() - middle;
    }
    printf("%.6f %.6f\n", of_serial, of_parallel);
    MPI_Finalize();
    return 0;
}
