/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hung CASE FILE: each rank makes FILE.RANK.PID and stays where CASE says, until it is killed:
 *   wait    rank 0 in MPI_Recv, the others outside MPI, asleep
 *   left    rank 0 computes, after an error handler has left MPI_Send by longjmp; the others wait
 *           for it in MPI_Barrier
 *   last    rank 0 in MPI_Finalize, the others outside MPI, asleep
 *   ended   all compute, and their calls have ended
 *   init    the last rank never comes to MPI_Init; the others make FILE.PID
 */
#include <fcntl.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static int rank, n_ranks, token;
static volatile double sink;
static jmp_buf before;

KEPT static void compute(void)
{
    for (;;)
        sink += 1;
}

KEPT static void receive_what_nobody_sends(void)
{
    MPI_Recv(&token, 1, MPI_INT, n_ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(before, 1);
}

KEPT static void send_to_nobody(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (!setjmp(before))
        MPI_Send(&token, 1, MPI_INT, n_ranks, 0, MPI_COMM_WORLD);
}

/* The others wait for it in MPI_Init. */
static void stay_away(const char *file)
{
    char path[4096];
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *other = getenv("PMI_RANK");
    const char *of_launcher = open_mpi ? open_mpi : other;
    if (of_launcher && atoi(of_launcher) == 2)
        sleep(300);
    snprintf(path, sizeof path, "%s.%d", file, (int)getpid());
    close(open(path, O_WRONLY | O_CREAT, 0600));
}

static void tell(const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d.%d", file, rank, (int)getpid());
    close(open(path, O_WRONLY | O_CREAT, 0600));
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    if (!strcmp(what, "init"))
        stay_away(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "left") && rank == 0)
        send_to_nobody();
    tell(argv[2]);
    if (!strcmp(what, "wait") && rank == 0)
        receive_what_nobody_sends();
    else if (!strcmp(what, "wait") || (!strcmp(what, "last") && rank != 0))
        sleep(300);
    else if (!strcmp(what, "left") && rank != 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(what, "last") != 0)
        compute();
    MPI_Finalize();
}
