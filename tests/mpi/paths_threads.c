/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `paths`: threads that call MPI at the same time, one after the other, and in
 * OpenMP.
 */
#include "tests/mpi/paths.h"

#include <omp.h>
#include <pthread.h>
#include <stddef.h>

#define N_THREADS 6

TRUTH_FUNCTION static void thread_work(int n)
{
    MPI_Request r;
    int x, y = n;
    ENTER;
    TOUCH;
    for (int i = 0; i < n; i++) {
        MPI(Irecv, 0, 4, (&x, 1, MPI_INT, 0, n, MPI_COMM_SELF, &r));
        MPI(Send, 4, 0, (&y, 1, MPI_INT, 0, n, MPI_COMM_SELF));
        MPI(Wait, 0, 0, (&r, MPI_STATUS_IGNORE));
    }
    LEAVE;
}

TRUTH_FUNCTION static void *thread_body(void *arg)
{
    int n = *(int *)arg;
    ENTER;
    for (int i = 0; i < 20; i++)
        DO(thread_work(n));
    LEAVE;
    return NULL;
}

TRUTH_FUNCTION static void *other_body(void *arg)
{
    int n = *(int *)arg;
    ENTER;
    for (int i = 0; i < 10; i++)
        DO(thread_work(n));
    LEAVE;
    return NULL;
}

/* Six threads at once, then one after the other: later threads take over the trees of ended ones.
 */
void paths_pthreads(void)
{
    pthread_t threads[N_THREADS];
    int numbers[N_THREADS];
    ENTER;
    for (int i = 0; i < N_THREADS; i++) {
        numbers[i] = i + 1;
        REQUIRE(!pthread_create(&threads[i], NULL, i % 2 ? thread_body : other_body, &numbers[i]));
    }
    TOUCH;
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 20; i++) {
        int n = 1 + i % 3;
        REQUIRE(!pthread_create(&threads[0], NULL, i % 2 ? thread_body : other_body, &n));
        pthread_join(threads[0], NULL);
        TOUCH;
    }
    LEAVE;
}

TRUTH_FUNCTION static void omp_work(int n)
{
    ENTER;
    TOUCH;
    DO(thread_work(n));
    LEAVE;
}

/* The body of a parallel region is a function that the compiler makes: the account and the
 * comparison leave it out. Worker threads have the context of the function that entered the region.
 * Lines of functions named unlined_... are not compared: the compiler chooses the line of a
 * parallel region. */
TRUTH_FUNCTION static void unlined_region(void)
{
    ENTER;
    truth_lend();
#pragma omp parallel num_threads(4)
    {
        int borrowed = truth_borrow();
        omp_work(1 + omp_get_thread_num());
        if (borrowed)
            truth_set_depth(0);
    }
    LEAVE;
}

void paths_openmp(void)
{
    ENTER;
    for (int i = 0; i < 20; i++) {
        DO(unlined_region());
        TOUCH;
    }
    LEAVE;
}
