/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Truth program `paths`: one library is closed, another is opened and lies at the same addresses.
 * PATHS_FIRST and PATHS_OTHER name them.
 */
#include "tests/mpi/paths.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

TRUTH_FUNCTION static void *use(const char *path)
{
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*plug)(void);
    REQUIRE(handle != NULL);
    *(void **)&plug = dlsym(handle, "plug");
    REQUIRE(plug != NULL);
    ENTER;
    for (int i = 0; i < 5; i++)
        DO(plug());
    LEAVE;
    REQUIRE(dlclose(handle) == 0);
    REQUIRE(!path || dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
    return (void *)plug;
}

void paths_reload(void)
{
    const char *first = getenv("PATHS_FIRST"), *other = getenv("PATHS_OTHER");
    int n_same = 0;
    ENTER;
    for (int i = 0; i < 10; i++) {
        void *a, *b;
        DO(a = use(first));
        DO(b = use(other));
        n_same += a == b;
    }
    LEAVE;
    /* The script reports it if the loader never used one address twice. */
    printf("reload: %d of 10 at the same address\n", n_same);
}
