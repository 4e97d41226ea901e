/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that are cancelled while they run code without cancellation points: they come to its end,
 * with the library's work in between. Prints the sum of what they return: 42 each.
 *
 *     cancelled end        a thread computes and ends
 *     cancelled early      one made before MPI_Init computes after it, where it is interrupted
 *     cancelled pcontrol   one switches collection off; it is off for 100 barriers afterwards
 *     cancelled first      one makes the first MPI call of the process
 *     cancelled many       200, one after the other; prints how many descriptors more are open then
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MANY = 200, BARRIERS = 100 };
static atomic_bool ready, go;
static const char *way;

static void compute(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    double end = (double)t.tv_sec + (double)t.tv_nsec / 1e9 + seconds, now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    } while (now < end);
}

static void *work(void *unused)
{
    int value;
    (void)unused;
    if (!strcmp(way, "many"))
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
    ready = true;
    while (!go)
        ;
    if (!strcmp(way, "first"))
        MPI_Initialized(&value);
    else if (!strcmp(way, "pcontrol"))
        MPI_Pcontrol(0);
    else
        compute(!strcmp(way, "many") ? 0.0015 : 0.05);
    return (void *)42;
}

static pthread_t begin(void)
{
    pthread_t thread;
    ready = go = false;
    pthread_create(&thread, NULL, work, NULL);
    while (!ready)
        ;
    pthread_cancel(thread);
    return thread;
}

static long end(pthread_t thread)
{
    void *result = NULL;
    go = true;
    pthread_join(thread, &result);
    return (long)result;
}

static int n_descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

int main(int argc, char **argv)
{
    int provided;
    long sum = 0;
    pthread_t thread = 0;
    way = argc > 1 ? argv[1] : "end";
    if (!strcmp(way, "first"))
        sum = end(begin());
    if (!strcmp(way, "early"))
        thread = begin();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int before = n_descriptors();
    for (int i = 0; !strcmp(way, "many") && i < MANY; i++)
        sum += end(begin());
    if (!strcmp(way, "early"))
        sum = end(thread);
    else if (!sum)
        sum = end(begin());
    MPI_Pcontrol(1);
    if (!strcmp(way, "pcontrol"))
        MPI_Pcontrol(0);
    for (int i = 0; i < BARRIERS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    printf("%ld, %d\n", sum, !strcmp(way, "many") ? n_descriptors() - before : 0);
    MPI_Finalize();
    return 0;
}
