/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of code by the module and the file that it is in: if it is of the program, of the
 * system or of a runtime, and what of it is shown.
 */
#include "analysis/symbols/symbols_private.h"

#include <string.h>
#include <sys/stat.h>

/* The executable that runs programs written in Python: these are the module PCOLLECT_MODULE_PYTHON.
 */
static bool is_interpreter(const struct pc_profile_module *m)
{
    const char *name = pc_base_name(m->path);
    size_t n = strlen("python");
    return !strncmp(name, "python", n) && name[n + strspn(name + n, "0123456789.")] == '\0';
}

bool pct_symbols_is_python(const struct pc_profile_module *m)
{
    return is_interpreter(m) || !strncmp(pc_base_name(m->path), "libpython", strlen("libpython"));
}

bool pct_symbols_is_program(const struct pc_profile_module *m)
{
    static const char *const systems[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "["};
    if (m->flags & PCOLLECT_MODULE_EXE)
        return !is_interpreter(m);
    if (m->flags)
        return false;
    for (size_t i = 0; i < PC_ARRAY_LEN(systems); i++)
        if (!strncmp(m->path, systems[i], strlen(systems[i])))
            return false;
    return true;
}

const char *pct_symbols_runtime(const char *file)
{
    static const char *const languages[][2] = {{"/include/c++/", "the C++ library"},
                                               {"<frozen importlib", "the import of Python"}};
    for (size_t i = 0; file && i < PC_ARRAY_LEN(languages); i++)
        if (strstr(file, languages[i][0]))
            return languages[i][1];
    return NULL;
}

/* True for a C module of Python, by the name that Python's tools give it. */
static bool is_extension(const char *path)
{
    const char *name = pc_base_name(path);
    return strstr(name, ".cpython-") || strstr(name, ".abi3.");
}

bool pct_symbols_carries_python(const struct pc_profile *p, uint32_t module)
{
    const struct pc_profile_module *m = module == PC_NO_INDEX ? NULL : &p->modules[module];
    return m && strcmp(m->path, PCOLLECT_MODULE_PYTHON) != 0 &&
           (pct_symbols_is_python(m) ||
            (is_extension(m->path) && pct_origin_is_of_system(m->path)));
}

enum pct_caller pct_symbols_caller(const struct pc_profile *p, uint32_t module,
                                   const struct pct_frame *frame)
{
    const struct pc_profile_module *m = module == PC_NO_INDEX ? NULL : &p->modules[module];
    if (!frame->function && (!m || pct_symbols_is_python(m)))
        return PCT_CALLER_PASSES;
    if (!frame->file && m && is_extension(m->path))
        return PCT_CALLER_PASSES;
    if (!m || strcmp(m->path, PCOLLECT_MODULE_PYTHON) != 0)
        return PCT_CALLER_OTHER;
    return pct_symbols_runtime(frame->file) ? PCT_CALLER_PASSES : PCT_CALLER_PYTHON;
}

bool pct_origin_is_of_system(const char *path)
{
    static const char *const folders[] = {"/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/"};
    if (!strncmp(path, "/usr/local/", strlen("/usr/local/")))
        return false;
    for (size_t i = 0; i < PC_ARRAY_LEN(folders); i++)
        if (!strncmp(path, folders[i], strlen(folders[i])))
            return true;
    return false;
}

/* True for a library that languages, or the C library beside its main file, stand on. */
static bool is_of_language(const char *path)
{
    static const char *const names[] = {"libm.",         "libm-2.",      "libmvec.",     "libdl.",
                                        "librt.",        "libgcc_s.",    "libstdc++.",   "libc++.",
                                        "libc++abi.",    "libgfortran.", "libquadmath.", "libflang",
                                        "libFortranRun", "libpython",    "libgo."};
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++)
        if (!strncmp(pc_base_name(path), names[i], strlen(names[i])))
            return true;
    return false;
}

bool pct_origin_is_closed(const struct pc_profile_module *m)
{
    return m->flags & PCOLLECT_MODULE_EXE ? is_interpreter(m) : m->flags || is_of_language(m->path);
}

/* True for a function whose file says nothing to users. */
static bool is_withheld(const struct pc_profile_module *m, const struct pct_frame *f)
{
    struct stat st;
    const char *file = pct_frame_home(f);
    return f->function && file && pct_origin_is_closed(m) && (*file != '/' || stat(file, &st));
}

size_t pct_origin_withhold(const struct pc_profile_module *m, struct pct_frame *frames, size_t n)
{
    size_t kept = 0;
    bool withheld = false;
    for (size_t i = 0; i < n; i++) {
        const struct pct_frame f = frames[i];
        if (f.inlined && withheld)
            continue;
        withheld = is_withheld(m, &f);
        frames[kept++] =
            withheld ? (struct pct_frame){.function = f.function, .tail_call = f.tail_call} : f;
    }
    return kept;
}
