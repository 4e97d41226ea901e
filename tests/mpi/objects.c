/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Three files and two windows. Rank 0 prints the rows that the tables must have: of each file its
 * calls, collective calls, bytes read and written; of each window and target the name, the calls,
 * bytes put and got, and in a row without target the calls that synchronise. All ranks do the same.
 */
#include <mpi.h>

#include <stdio.h>

static int rank, size;

static void files(const char *folder)
{
    char name[1024];
    int data[100] = {0};
    MPI_File f;
    MPI_Request request;
    snprintf(name, sizeof name, "%s/first", folder);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, rank * 400, data, 100, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(f, rank * 400, data, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(f, rank * 400, data, 20, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at(f, rank * 400, data, 30, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    if (rank == 0)
        printf("file %s %d %d %d %d\n", name, 6 * size, 3 * size, 200 * size, 440 * size);
    snprintf(name, sizeof name, "%s/second one", folder);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at(f, rank, data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    if (rank == 0)
        printf("file %s %d %d %d %d\n", name, 3 * size, 2 * size, 0, size);
    /* Its handle may be that of the one before. */
    snprintf(name, sizeof name, "%s/opened while collection is off", folder);
    MPI_Pcontrol(0);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_Pcontrol(1);
    MPI_File_write_at(f, rank, data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    if (rank == 0)
        printf("file %s %d %d %d %d\n", name, 2 * size, size, 0, size);
}

static void windows(void)
{
    double there[8] = {0}, here[8] = {0};
    MPI_Win w[2];
    MPI_Group group;
    for (int i = 0; i < 2; i++)
        MPI_Win_create(there, sizeof there, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w[i]);
    for (int i = 0; i < 2; i++) {
        MPI_Pcontrol(i); /* a name counts that is given while collection is off */
        if (i == 0)
            MPI_Win_set_name(w[i], "named");
        MPI_Pcontrol(1);
        MPI_Win_get_group(w[i], &group);
        MPI_Group_free(&group);
        MPI_Win_fence(0, w[i]);
        MPI_Put(here, 5, MPI_DOUBLE, 0, 0, 5, MPI_DOUBLE, w[i]);
        MPI_Win_fence(0, w[i]);
        if (i == 1)
            MPI_Get(here, 3, MPI_DOUBLE, size - 1, 0, 3, MPI_DOUBLE, w[i]);
        MPI_Win_fence(0, w[i]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Win_free(&w[i]);
    if (rank)
        return;
    /* Each is made, freed and fenced three times; its name and its group do not count. */
    printf("window 1 -1 named 0 0 0 %d\nwindow 2 -1 - 0 0 0 %d\n", 5 * size, 5 * size);
    printf("window 1 0 named %d %d 0 0\n", size, 40 * size);
    if (size == 1)
        printf("window 2 0 - 2 40 24 0\n");
    else
        printf("window 2 0 - %d %d 0 0\nwindow 2 %d - %d 0 %d 0\n", size, 40 * size, size - 1, size,
               24 * size);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    files(argc > 1 ? argv[1] : ".");
    windows();
    return MPI_Finalize();
}
