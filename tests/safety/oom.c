/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rank counts its barriers in a file. From the 500th on rank 1 allocates memory and never
 * frees it.
 *
 *     oom FOLDER
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 500, MOST = 100000, PIECE = 4 << 20 };

int main(int argc, char **argv)
{
    int rank;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/count.%d", argc > 1 ? argv[1] : ".", rank);
    FILE *count = fopen(path, "w");
    for (int i = 1; count && i <= MOST; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        rewind(count);
        fprintf(count, "%08d\n", i);
        fflush(count);
        if (rank == 1 && i >= BEFORE) {
            char *memory = malloc(PIECE);
            if (memory)
                memset(memory, 1, PIECE);
        }
    }
    return MPI_Finalize();
}
