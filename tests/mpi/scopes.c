/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phases and regions, with right use and with errors. For each thing that it does, rank 0 prints
 * the line that scopes_show.c must print of the profile.
 */
#include "include/pcollect/pcollect.h"

#include <mpi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int rank, n_ranks;

static void calls(const char *place, int n)
{
    int size;
    for (int i = 0; i < n; i++)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && place)
        printf("calls %s %d\n", place, n * n_ranks);
}

static void entered(const char *place, int n)
{
    if (rank == 0)
        printf("entered %s %d\n", place, n * n_ranks);
}

static void nested(void)
{
    pcollect_region_begin("a");
    calls("whole/a", 3);
    pcollect_region_begin("b and c");
    calls("whole/a/b?and?c", 4);
    pcollect_region_end("b and c");
    pcollect_region_end("a");
    calls("whole", 1);
    for (int i = 0; i < 1000; i++) {
        pcollect_region_begin(i % 2 ? "odd" : "even");
        calls(NULL, 1);
        pcollect_region_end(NULL);
    }
    if (rank == 0)
        printf("calls whole/odd %d\ncalls whole/even %d\n", 500 * n_ranks, 500 * n_ranks);
    entered("whole/a", 1);
    entered("whole/a/b?and?c", 1);
    entered("whole/odd", 500);
    entered("whole/even", 500);
}

/* A phase encloses the regions that are open when it begins. */
static void phases(void)
{
    MPI_Pcontrol(5);
    calls("phase5/whole", 7);
    pcollect_region_begin("a");
    MPI_Pcontrol(6);
    calls("phase6/whole/a", 8);
    pcollect_region_end("a");
    calls("phase6/whole", 2);
    MPI_Pcontrol(0);
    calls(NULL, 100); /* not measured, nor the regions */
    pcollect_region_begin("unseen");
    calls(NULL, 100);
    pcollect_region_end("unseen");
    pcollect_region_begin("half seen");
    MPI_Pcontrol(1);
    calls("phase6/whole/half?seen", 6);
    pcollect_region_end("half seen");
    MPI_Pcontrol(-3); /* a level for other tools, ignored here */
    calls("phase6/whole", 30);
    MPI_Pcontrol(1);
    calls("whole", 9);
    entered("phase5", 1);
    entered("phase6", 1);
    entered("phase5/whole", 0); /* it was entered outside of the phase: only its time is here */
    entered("phase6/whole", 0);
    entered("phase5/whole/a", 1);
    entered("phase6/whole/a", 0);
    entered("phase6/whole/half?seen", 0); /* it was entered while nothing was collected */
}

static void print_lost(int room, int open, int ends)
{
    printf("lost room %d\nlost open %d\nlost ends %d\n", room, open, ends);
}

static void badly(void)
{
    static char long_name[2001];
    char place[80];
    memset(long_name, 'x', 2000);
    pcollect_region_end("never begun"); /* an end too many */
    pcollect_region_begin("left");
    pcollect_region_begin("left too");
    pcollect_region_begin("in");
    calls("whole/left/left?too/in", 1);
    pcollect_region_end("left"); /* 2 regions are left open */
    pcollect_region_begin("");
    calls("whole/(no?name)", 2);
    pcollect_region_end("");
    pcollect_region_begin(NULL);
    calls("whole/(no?name)", 3);
    pcollect_region_end(NULL);
    pcollect_region_begin("\n\t\x80\xff%s");
    calls("whole/????%s", 0);
    pcollect_region_end(NULL);
    pcollect_region_begin(long_name);
    calls(NULL, 4);
    pcollect_region_end(long_name);
    long_name[40] = '\0';
    snprintf(place, sizeof place, "whole/%.40s(1023)", long_name);
    if (rank == 0)
        printf("calls %s %d\n", place, 4 * n_ranks);
    entered(place, 1);
    entered("whole/left", 1);
    entered("whole/left/left?too", 1);
    entered("whole/left/left?too/in", 1);
    entered("whole/(no?name)", 2);
    entered("whole/????%s", 1);
    for (int i = 0; i < 100; i++) /* 64 may be open: `whole` and 63 of these; 37 find no room */
        pcollect_region_begin("deep");
    calls(NULL, 5);
    for (int i = 0; i < 100; i++)
        pcollect_region_end("deep");
    calls("whole", 6);
}

static void *in_thread(void *arg)
{
    (void)arg;
    calls("-", 2); /* regions of other threads do not count here */
    pcollect_region_begin("thread");
    calls("thread", 3);
    pcollect_region_end("thread");
    pcollect_region_begin("thread"); /* left open */
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided, n_open = 4;
    bool use_threads;
    pcollect_region_begin("whole");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rank == 0)
        printf("calls whole %d\n", n_ranks);
    use_threads = provided >= MPI_THREAD_SERIALIZED;
    calls("whole", 0);
    if (argc > 1) { /* MPI_Pcontrol(2) clears all that was collected before */
        MPI_Pcontrol(2);
        calls("whole", 10);
        pcollect_region_end("whole");
        if (rank == 0)
            print_lost(0, 0, 0);
        return MPI_Finalize();
    }
    nested();
    phases();
    badly();
    if (use_threads) {
        pthread_create(&thread, NULL, in_thread, NULL);
        pthread_join(thread, NULL);
        entered("thread", 2);
        n_open++;
    }
    entered("whole", 1);
    pcollect_region_begin("at the end"); /* this one and `whole` are left open */
    calls("whole/at?the?end", 1);
    entered("whole/at?the?end", 1);
    if (rank == 0)
        print_lost(37, n_open, 1);
    return MPI_Finalize();
}
