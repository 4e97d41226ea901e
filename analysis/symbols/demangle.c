/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Readable C++ names. The demangler of the C++ library is used if this machine has one: it is
 * opened when the first such name comes, so that the command itself needs no C++.
 */
#include "config.h"

#include "analysis/symbols/symbols_private.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* abi::__cxa_demangle of the C++ ABI. */
typedef char *(*demangle_fn)(const char *name, char *out, size_t *n, int *status);

static demangle_fn find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    static demangle_fn found;
    static bool looked;
    for (size_t i = 0; !looked && i < PC_ARRAY_LEN(libraries) && !found; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            *(void **)&found = dlsym(library, "__cxa_demangle");
    }
    looked = true;
    return found;
}

const char *pct_demangle(const char *name, struct pct_pool *pool)
{
    if (strncmp(name, "_Z", 2) || !find_demangler())
        return pct_pool_intern(pool, name);
    int status = 0;
    char *readable = find_demangler()(name, NULL, NULL, &status);
    const char *kept = pct_pool_intern(pool, readable && !status ? readable : name);
    free(readable);
    return kept;
}
