/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect doctor: the MPI libraries of this machine and their launchers.
 *
 * A library is opened in a child and its version is queried, which is allowed before MPI_Init. Its
 * Fortran routines are judged by the functions that their library imports, and by the Fortran names
 * that libpcollect.so defines itself: mpi_send_ of a library that imports neither MPI_Send nor
 * PMPI_Send leads to a call that is measured only if libpcollect.so defines mpi_send_ itself.
 */
#include "command/doctor/doctor.h"

#include "analysis/buffer.h"
#include "base/launchers.h"
#include "command/launch/run.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct library {
    const char *file, *fortran;
};

static const struct library libraries[] = {
    {"libmpi.so.40", "libmpi_mpifh.so.40"},
    {"libmpich.so.12", "libmpichfort.so.12"},
    {"libmpi.so.12", "libmpifort.so.12"},
};

/* ---- Fortran -------------------------------------------------------------------------------- */

/* Length of the name without the suffixes that mark a binding. */
static size_t without_marks(const char *name, size_t length)
{
    static const char *const marks[] = {"_large", "_f08ts", "_f08", "_cptr", "_c"};
    for (size_t i = 0; i < PC_ARRAY_LEN(marks); i++) {
        size_t n = strlen(marks[i]);
        if (length > n && strncmp(name + length - n, marks[i], n) == 0)
            length -= n;
    }
    return length;
}

/* "mpi_send_", "mpi_send_f08ts_" or "PMPI_Send" becomes "send" in `out`; false: it is none. */
static bool bare_name(const char *symbol, bool fortran, char *out, size_t n)
{
    size_t length;
    symbol += !fortran && *symbol == 'P';
    if (strncmp(symbol, fortran ? "mpi_" : "MPI_", 4) != 0)
        return false;
    symbol += 4;
    length = strlen(symbol);
    if (fortran && (length < 2 || symbol[length - 1] != '_' || symbol[length - 2] == '_'))
        return false;
    length = without_marks(symbol, length - fortran);
    if (length == 0 || length >= n)
        return false;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)tolower((unsigned char)symbol[i]);
    out[length] = '\0';
    return true;
}

/* True for names that are never called: attribute callbacks and the like are only passed as
 * arguments; the others are not functions in C. */
static bool is_no_call(const char *name)
{
    return strstr(name, "_fn") || strncmp(name, "sizeof", 6) == 0 ||
           strcmp(name, "f_sync_reg") == 0;
}

static char **bare_names(char **symbols, size_t n, bool fortran, size_t *n_out)
{
    char **names = pct_alloc(n + 1, sizeof *names);
    char name[128];
    *n_out = 0;
    for (size_t i = 0; i < n; i++)
        if (bare_name(symbols[i], fortran, name, sizeof name))
            names[(*n_out)++] = pct_text("%s", name);
    qsort(names, *n_out, sizeof *names, pc_by_text);
    size_t kept = 0;
    for (size_t i = 0; i < *n_out; i++) {
        if (is_no_call(names[i]) || (kept && strcmp(names[i], names[kept - 1]) == 0))
            pct_free(names[i]);
        else
            names[kept++] = names[i];
    }
    *n_out = kept;
    return names;
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pct_free(names[i]);
    pct_free(names);
}

/* The Fortran names that libpcollect.so defines; none if it is missing, which another check
 * reports. */
static char **own_names(size_t *n_out)
{
    struct pct_elf e;
    char *why = NULL, *library = pct_library_path(&why), **names = NULL;
    *n_out = 0;
    if (library && pct_elf_open(&e, library)) {
        names = bare_names(e.defined, e.n_defined, true, n_out);
        pct_elf_close(&e);
    }
    pct_free(library);
    pct_free(why);
    return names;
}

static bool is_among(char *const *name, char **names, size_t n)
{
    return n && bsearch(name, names, n, sizeof *names, pc_by_text);
}

static void check_fortran(struct pct_examined *d, const char *path)
{
    struct pct_elf e;
    size_t n_routines, n_functions, n_own, n_lost = 0;
    if (!pct_elf_open(&e, path))
        return;
    char **own = own_names(&n_own);
    char **routines = bare_names(e.defined, e.n_defined, true, &n_routines);
    char **functions = bare_names(e.needed, e.n_needed, false, &n_functions);
    char *list = pct_text("%s", "");
    for (size_t i = 0; i < n_routines; i++) {
        if (is_among(&routines[i], functions, n_functions) || is_among(&routines[i], own, n_own))
            continue;
        char *longer = pct_text("%s%smpi_%s", list, n_lost++ ? ", " : "", routines[i]);
        pct_free(list);
        list = longer;
    }
    if (n_lost)
        pct_doctor_add(
            d, PCT_LESS, "Fortran",
            pct_text("%s: %zu of %zu routines %s neither MPI_X, PMPI_X nor libpcollect.so: %s",
                     path, n_lost, n_routines, n_lost == 1 ? "reaches" : "reach", list),
            n_lost == 1 ? "this routine is not measured" : "these routines are not measured", NULL);
    else
        pct_doctor_add(d, PCT_GOOD, "Fortran",
                       pct_text("%s: all %zu routines reach MPI_X, PMPI_X or libpcollect.so", path,
                                n_routines),
                       NULL, NULL);
    pct_free(list);
    free_names(routines, n_routines);
    free_names(functions, n_functions);
    free_names(own, n_own);
    pct_elf_close(&e);
}

/* ---- Libraries ------------------------------------------------------------------------------ */

/* Runs in the child: writes path of the library, its name, path of its Fortran library; a line
 * each. */
static void ask_library(int fd, const void *arg)
{
    const struct library *l = arg;
    static char version[8193];
    int n = 0;
    struct link_map *map = NULL, *fortran_map = NULL;
    void *handle = dlopen(l->file, RTLD_LAZY | RTLD_GLOBAL);
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    int (*get_version)(char *, int *) =
        (int (*)(char *, int *))dlsym(handle, "MPI_Get_library_version");
    if (get_version && get_version(version, &n) == 0)
        version[strcspn(version, ",\t\n")] = '\0';
    if (strncmp(version, "MPICH Version:", 14) == 0 && get_version(version, &n) == 0)
        snprintf(version, sizeof version, "MPICH %s",
                 pct_text("%.*s", (int)strcspn(version + 14 + strspn(version + 14, " \t"), "\n"),
                          version + 14 + strspn(version + 14, " \t")));
    void *fortran = dlopen(l->fortran, RTLD_LAZY);
    if (fortran)
        dlinfo(fortran, RTLD_DI_LINKMAP, &fortran_map);
    dprintf(fd, "%s\n%s\n%s\n", map->l_name, version, fortran_map ? fortran_map->l_name : "");
}

static const char *adapter_of(const char *version)
{
    if (strstr(version, "Open MPI"))
        return "adapter-openmpi.so";
    if (strstr(version, "MPICH") || strstr(version, "MVAPICH") || strstr(version, "Intel(R) MPI"))
        return "adapter-mpich.so";
    return NULL;
}

static bool check_library(struct pct_examined *d, const struct library *l)
{
    char *said = pct_doctor_apart(ask_library, l), *rest = said;
    const char *path = strsep(&rest, "\n");
    const char *version = rest ? strsep(&rest, "\n") : NULL;
    const char *fortran = rest ? strsep(&rest, "\n") : NULL;
    bool found = fortran != NULL;
    if (found && adapter_of(version))
        pct_doctor_add(d, PCT_GOOD, "MPI",
                       pct_text("%s: %s, %s", path, version, adapter_of(version)), NULL, NULL);
    else if (found)
        pct_doctor_add(d, PCT_LESS, "MPI",
                       pct_text("%s: %s: there is no adapter for it", path, version),
                       "its jobs are not measured", NULL);
    if (found && *fortran)
        check_fortran(d, fortran);
    pct_free(said);
    return found;
}

/* ---- Launchers ------------------------------------------------------------------------------ */

static bool is_in_path(const char *word)
{
    const char *path = getenv("PATH");
    for (bool found = false; path && *path; path += *path == ':') {
        size_t n = strcspn(path, ":");
        char *file = pct_text("%.*s/%s", (int)n, path, word);
        found = access(file, X_OK) == 0;
        pct_free(file);
        if (found)
            return true;
        path += n;
    }
    return false;
}

static bool check_launcher(struct pct_examined *d, const char *word)
{
    if (!is_in_path(word))
        return false;
    const struct pct_launcher *l = pct_launcher_ask(word);
    if (l)
        pct_doctor_add(d, PCT_GOOD, "launcher", pct_text("%s is that of %s", word, l->name), NULL,
                       NULL);
    else
        pct_doctor_add(
            d, PCT_LESS, "launcher", pct_text("%s is not a launcher that pcollect knows", word),
            "its ranks get the variables of pcollect run only if they inherit the environment",
            NULL);
    return true;
}

void pct_doctor_mpi(struct pct_examined *d)
{
    /* Names in packages; those of modules have no ending. */
    static const char *const with_ending[] = {"mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra"};
    const char *name;
    size_t n = 0;
    for (size_t i = 0; i < PC_ARRAY_LEN(libraries); i++)
        n += check_library(d, &libraries[i]);
    if (!n)
        pct_doctor_add(d, PCT_LESS, "MPI", pct_text("no MPI library is found by its usual name"),
                       "nothing, if jobs load their own MPI: load its module and run this again",
                       NULL);
    n = 0;
    for (size_t i = 0; (name = pc_launcher_name(i)); i++)
        n += check_launcher(d, name);
    for (size_t i = 0; i < PC_ARRAY_LEN(with_ending); i++)
        n += check_launcher(d, with_ending[i]);
    if (!n)
        pct_doctor_add(d, PCT_LESS, "launcher",
                       pct_text("there is no mpirun, mpiexec or srun in PATH"),
                       "jobs cannot be started from this shell",
                       "load the module of an MPI, or add its bin folder to PATH");
}
