/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that is not linked with MPI. It opens its first argument, a module that is linked with
 * MPI, with RTLD_LOCAL, as Python opens extensions.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return run();
}
