/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that calls itself MPICH and has almost no functions: missing ones must fail by their
 * return value.
 */
#include <string.h>

int PMPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv);
int PMPI_Get_library_version(char *version, int *length);

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, "MPICH of a kind");
    *length = (int)strlen(version);
    return 0;
}
