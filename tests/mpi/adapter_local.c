/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that is not linked with MPI: looks for MPI before it is loaded, then opens a module
 * that loads it with RTLD_LOCAL (as Python does), and calls that.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int flag = 1, rc = 0;
    int (*initialized)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Initialized");
    int (*barrier)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "MPI_Barrier");
    if (!initialized || !barrier) {
        fprintf(stderr, "the host is not preloaded\n");
        return 1;
    }
    if (initialized(&flag) != 0 || flag != 0)
        rc = 1;
    if (barrier(NULL) == 0)
        rc = 1;
    if (rc)
        fprintf(stderr, "without MPI: flag %d\n", flag);
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **) = module ? (int (*)(int, char **))dlsym(module, "run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return run(argc, argv) | rc;
}
