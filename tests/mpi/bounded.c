/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bounded FOLDER KIND N: makes N communicators, each a duplicate of the one before (KIND chain), or
 * N windows (windows), files (files), communicators and datatypes with names (names), or regions
 * with names, in an arena that is full (regions) or that has room (region-names), one at a time.
 * Prints the bytes that are used after half of them and after all: of the arena of this process, or
 * with a full arena of its address space. The two must be equal.
 */
#include "include/pcollect/pcollect.h"

#include <mpi.h>
#include <stdbool.h>

#include "tests/used_bytes.h"

static MPI_Comm chain(MPI_Comm last)
{
    MPI_Comm next;
    MPI_Comm_dup(last, &next);
    MPI_Barrier(next);
    if (last != MPI_COMM_WORLD)
        MPI_Comm_free(&last);
    return next;
}

static void make_window(void)
{
    static int data[4];
    MPI_Win window;
    MPI_Win_create(data, sizeof data, sizeof data[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void make_file(const char *folder, int i)
{
    char name[1000];
    MPI_File file;
    snprintf(name, sizeof name, "%s/a-file-of-step-%08d", folder, i);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_close(&file);
}

/* A communicator and a datatype with a name of their own. */
static void make_names(int i)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm comm;
    MPI_Datatype type;
    int in[2], out[2] = {0};
    snprintf(name, sizeof name, "a name of step %08d", i);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_name(comm, name);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_name(type, name);
    MPI_Sendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

static void make_region(int i)
{
    char name[40];
    snprintf(name, sizeof name, "a region of step %08d", i);
    pcollect_region_begin(name);
    pcollect_region_end(name);
}

/* Makes contexts at each depth, more than an arena of 1 MiB takes. */
static int fill_arena(int depth)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Comm_size(MPI_COMM_SELF, &size);
    MPI_Barrier(MPI_COMM_SELF);
    return depth ? fill_arena(depth - 1) + size : rank;
}

static unsigned long mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1)
        return 0;
    fclose(f);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 4)
        return 2;
    int n = atoi(argv[3]);
    MPI_Comm last = MPI_COMM_WORLD;
    bool full = !strcmp(argv[2], "regions"), regions = full || !strcmp(argv[2], "region-names");
    if (full)
        fill_arena(4000);
    for (int i = 1; i <= n; i++) {
        if (argv[2][0] == 'c')
            last = chain(last);
        else if (argv[2][0] == 'w')
            make_window();
        else if (argv[2][0] == 'n')
            make_names(i);
        else if (regions)
            make_region(i);
        else
            make_file(argv[1], i);
        if (i == n / 2 || i == n)
            printf("%lu\n", full ? mapped_bytes() : used_bytes());
    }
    MPI_Finalize();
    return 0;
}
