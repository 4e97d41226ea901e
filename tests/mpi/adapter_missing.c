/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls functions that the fake MPI (adapter_fake.c) has, and missing ones; prints the results.
 */
#include <dlfcn.h>
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);

int main(int argc, char **argv)
{
    int (*barrier)(long) = (int (*)(long))dlsym(RTLD_DEFAULT, "MPI_Barrier");
    printf("init %d", MPI_Init(&argc, &argv));
    for (int i = 0; i < 3; i++)
        printf(" barrier %d", barrier ? barrier(0) : -1);
    printf("\n");
    return 0;
}
