/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect doctor: the library and its modules. Checks that it can be preloaded and that each
 * module opens.
 */
#include "command/doctor/doctor.h"

#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Runs in the child: executes a program without MPI under the library. Its messages go to fd. */
static void exec_under_library(int fd, const void *arg)
{
    static char name[] = "sh", flag[] = "-c", script[] = "echo runs";
    char *words[] = {name, flag, script, NULL};
    char *variables[] = {pct_text("LD_PRELOAD=%s", (const char *)arg), pct_text("LD_BIND_NOW=1"),
                         NULL};
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execve("/bin/sh", words, variables);
}

static void check_preload(struct pct_examined *d, const char *path)
{
    char *said = pct_doctor_apart(exec_under_library, path);
    if (said && strcmp(said, "runs\n") == 0)
        pct_doctor_add(d, PCT_GOOD, "library", pct_text("%s can be preloaded", path), NULL, NULL);
    else
        pct_doctor_add(d, PCT_BAD, "library",
                       pct_text("%s cannot be preloaded: %s", path, said ? said : "a shell dies"),
                       "no job is measured",
                       "install pcollect again, built on this kind of machine");
    pct_free(said);
}

static void open_module(int fd, const void *arg)
{
    const char *said = dlopen(arg, RTLD_NOW | RTLD_LOCAL) ? "opens" : dlerror();
    if (write(fd, said, strlen(said)) < 0)
        _exit(1);
}

static bool check_module(struct pct_examined *d, const char *folder, const char *name,
                         enum pct_health if_not, const char *cost, const char *cure)
{
    char *path = pct_text("%s/%s", folder, name);
    char *said = pct_doctor_apart(open_module, path);
    bool opens = said && strcmp(said, "opens") == 0;
    if (opens)
        pct_doctor_add(d, PCT_GOOD, "module", pct_text("%s opens", name), NULL, NULL);
    else
        pct_doctor_add(d, if_not, "module",
                       pct_text("%s does not open: %s", name, said ? said : "it dies"), cost, cure);
    pct_free(said);
    pct_free(path);
    return opens;
}

/* Checks modules for optional purposes; those that were not built are no error. */
static void check_others(struct pct_examined *d, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n > 3 && strcmp(e->d_name + n - 3, ".so") == 0 &&
            strncmp(e->d_name, "adapter-", 8) != 0 && strcmp(e->d_name, "pcollect-merge.so") != 0)
            check_module(d, folder, e->d_name, PCT_LESS, "its functions are missing",
                         "install the library that it names");
    }
    if (dir)
        closedir(dir);
}

static void check_symbols(struct pct_examined *d)
{
#ifdef HAVE_LIBDW
    pct_doctor_add(d, PCT_GOOD, "symbols", pct_text("libdw names lines and inlined calls"), NULL,
                   NULL);
#else
    pct_doctor_add(d, PCT_LESS, "symbols", pct_text("pcollect was built without libdw"),
                   "reports name functions, but no source lines and no inlined calls",
                   "install libdw-dev (elfutils), configure and build again");
#endif
    if (dlsym(RTLD_DEFAULT, "_dl_find_object"))
        pct_doctor_add(d, PCT_GOOD, "unwind tables", pct_text("libc finds them without a lock"),
                       NULL, NULL);
    else
        pct_doctor_add(
            d, PCT_LESS, "unwind tables", pct_text("libc has no _dl_find_object (glibc 2.35)"),
            "the first call from each place takes longer", "install glibc 2.35 or newer");
}

void pct_doctor_library(struct pct_examined *d)
{
    char *why = NULL, *path = pct_library_path(&why);
    check_symbols(d);
    if (!path) {
        pct_doctor_add(d, PCT_BAD, "library", why, "no job is measured", NULL);
        return;
    }
    check_preload(d, path);
    char *folder = pct_text("%.*s/pcollect", (int)(strrchr(path, '/') - path), path);
    check_module(d, folder, "pcollect-merge.so", PCT_BAD,
                 "jobs write no profile; what they collect has to be recovered",
                 "install pcollect again; the module needs zlib");
    bool openmpi =
        check_module(d, folder, "adapter-openmpi.so", PCT_LESS, "jobs of Open MPI are not measured",
                     "install Open MPI's headers, configure and build again");
    bool mpich = check_module(d, folder, "adapter-mpich.so", PCT_LESS,
                              "jobs of MPICH and what shares its ABI are not measured",
                              "install MPICH's headers, configure and build again");
    if (!openmpi && !mpich)
        pct_doctor_add(d, PCT_BAD, "module",
                       pct_text("there is no adapter for any MPI in %s", folder),
                       "no job is measured", "configure with mpicc in the path, and build again");
    check_others(d, folder);
    pct_free(folder);
    pct_free(path);
}
