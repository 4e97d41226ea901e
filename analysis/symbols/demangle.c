/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Readable names of C++, Fortran and Rust (rust_name.c). The demangler of the C++ library is used
 * if this machine has one: it is opened for the first such name, so that the command itself needs
 * no C++. Procedures of Fortran modules read module::procedure.
 */
#include "config.h"

#include "analysis/symbols/short_name.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* abi::__cxa_demangle of the C++ ABI. */
typedef char *(*demangle_fn)(const char *name, char *out, size_t *n, int *status);

static demangle_fn demangler; /* NULL: there is none here */

static void open_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    for (size_t i = 0; i < PC_ARRAY_LEN(libraries) && !demangler; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            *(void **)&demangler = dlsym(library, "__cxa_demangle");
    }
}

/* Finds the demangler, once: profiles may be read in several threads. */
static demangle_fn find_demangler(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_demangler);
    return demangler;
}

/* Positions of the parts of a symbol that stands for a procedure of a Fortran module. */
struct module_name {
    const char *module, *procedure;
    size_t n_module, n_procedure;
};

/* GNU: __MODULE_MOD_PROCEDURE. Fortran names have no upper case, so the first _MOD_ separates
 * them. */
static bool split_gnu(const char *name, struct module_name *out)
{
    const char *middle = strncmp(name, "__", 2) ? NULL : strstr(name + 2, "_MOD_");
    if (!middle || middle == name + 2 || !middle[5])
        return false;
    *out =
        (struct module_name){name + 2, middle + 5, (size_t)(middle - name) - 2, strlen(middle + 5)};
    return true;
}

/* LLVM: _QMMODULEPPROCEDURE, lower case between the capitals; a part of it that is a function of
 * its own is behind a dot: _QMheatPwork..omp_par. */
static bool split_llvm(const char *name, struct module_name *out)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (strncmp(name, "_QM", 3))
        return false;
    size_t n = strspn(name + 3, lower);
    const char *procedure = name + 3 + n + 1;
    if (!n || name[3 + n] != 'P')
        return false;
    const char *end = procedure + strspn(procedure, lower);
    if (end == procedure || (*end && *end != '.'))
        return false;
    *out = (struct module_name){name + 3, procedure, n, strlen(procedure)};
    return true;
}

/* The readable name of a procedure of a Fortran module; NULL: it is none. */
static const char *name_in_module(const char *name, struct pct_pool *pool)
{
    struct module_name m;
    if (!split_gnu(name, &m) && !split_llvm(name, &m))
        return NULL;
    struct pct_buf b = {0};
    pct_buf_put(&b, m.module, m.n_module);
    pct_buf_text(&b, "::");
    pct_buf_put(&b, m.procedure, m.n_procedure);
    const char *kept = pct_pool_intern(pool, b.data);
    pct_buf_free(&b);
    return kept;
}

const char *pct_demangle(const char *name, struct pct_pool *pool)
{
    const char *rust = pct_rust_name(name, pool);
    if (rust)
        return rust;
    if (strncmp(name, "_Z", 2) || !find_demangler()) {
        const char *fortran = name_in_module(name, pool);
        return fortran ? fortran : pct_pool_intern(pool, name);
    }
    int status = 0;
    char *readable = pct_hold(find_demangler()(name, NULL, NULL, &status), free);
    const char *kept = pct_pool_intern(pool, readable && !status ? readable : name);
    pct_free(readable);
    return kept;
}
