/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of the programs of a command line without running them: which words are programs,
 * and, when a job has left no data that gives the reason, the MPI library that a program is linked
 * with, and whether the loader would preload a library into it. The program's own loader lists the
 * libraries that it would load, as for ldd.
 */
#include "base/launchers.h"
#include "command/launch/run_job.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

char *pct_program_file(const char *word)
{
    struct stat st;
    const char *path = *word == '-' ? NULL : strchr(word, '/') ? "" : getenv("PATH");
    for (; path; path = *path == ':' ? path + 1 : NULL) {
        size_t n = strcspn(path, ":");
        char *file = pct_text("%.*s%s%s", (int)n, path, n ? "/" : "", word);
        if (access(file, X_OK) == 0 && stat(file, &st) == 0 && S_ISREG(st.st_mode))
            return file;
        pct_free(file);
        path += n;
    }
    return NULL;
}

bool pct_program_is(const char *word)
{
    char *file = pct_program_file(word);
    pct_free(file);
    return file != NULL;
}

/* Finds the loader of the program, in loader (PATH_MAX). *is_program_out: it is a program of this
 * kind of machine, so that one without a loader is linked statically. */
static bool find_loader(const char *file, char *loader, bool *is_program_out)
{
    ElfW(Ehdr) h;
    ElfW(Phdr) p;
    bool found = false;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *is_program_out = fd >= 0 && pread(fd, &h, sizeof h, 0) == sizeof h &&
                      !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_phentsize == sizeof p && h.e_phnum;
    if (*is_program_out)
        for (unsigned i = 0; !found && i < h.e_phnum; i++)
            found = pread(fd, &p, sizeof p, (off_t)(h.e_phoff + i * sizeof p)) == sizeof p &&
                    p.p_type == PT_INTERP && p.p_filesz > 1 && p.p_filesz < PATH_MAX &&
                    pread(fd, loader, p.p_filesz, (off_t)p.p_offset) == (ssize_t)p.p_filesz &&
                    loader[p.p_filesz - 1] == '\0';
    if (fd >= 0)
        close(fd);
    return found;
}

static void exec_list(const char *loader, const char *file, int fd)
{
    char *words[] = {(char *)loader, (char *)"--list", (char *)file, NULL};
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(loader, words);
    _exit(127);
}

static void ask_loader(const char *loader, const char *file, char *text, size_t n)
{
    int ends[2];
    *text = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exec_list(loader, file, ends[1]);
    close(ends[1]);
    if (child > 0) {
        pct_read_answer(ends[0], text, n);
        kill(child, SIGKILL); /* its output is complete */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
}

/* "libmpi.so.40" of the lines of a loader, or NULL. Allocated. */
static char *mpi_of(const char *text)
{
    static const char *const names[] = {"libmpi.so", "libmpich.so", "libmpi_ibm.so"};
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++) {
        const char *at = strstr(text, names[i]);
        if (at)
            return pct_text("%.*s", (int)strcspn(at, " \t\n"), at);
    }
    return NULL;
}

char *pct_program_mpi(char *const *words, const char **word_out)
{
    static char text[65536], loader[PATH_MAX];
    char *mpi = NULL;
    bool is_program;
    for (; *words && !mpi; words++) {
        char *file = pct_program_file(*words);
        if (file && find_loader(file, loader, &is_program)) {
            ask_loader(loader, file, text, sizeof text);
            mpi = mpi_of(text);
            *word_out = *words;
        }
        pct_free(file);
    }
    return mpi;
}

const char *pct_program_static(char *const *words, size_t n)
{
    static char loader[PATH_MAX];
    bool is_static = false;
    for (; n && *words && !is_static; words++, n--) {
        char *file = pct_program_file(*words);
        bool is_program = false;
        is_static = file && !find_loader(file, loader, &is_program) && is_program;
        pct_free(file);
    }
    return is_static ? words[-1] : NULL;
}

const char *pct_program_musl(char *const *words, size_t n)
{
    static char loader[PATH_MAX];
    bool is_program = false, has_loader = false;
    for (; n && *words && !is_program; words++, n--) {
        char *file = pct_program_file(*words);
        has_loader = file && find_loader(file, loader, &is_program);
        pct_free(file);
    }
    return has_loader && !strncmp(pc_base_name(loader), "ld-musl-", 8) ? words[-1] : NULL;
}

bool pct_program_gets_rights(const char *word)
{
    struct stat st;
    char *file = pct_program_file(word);
    bool gets = file && stat(file, &st) == 0 &&
                ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
                 (st.st_mode & S_ISGID && st.st_gid != getgid()) ||
                 (getuid() != 0 && getxattr(file, "security.capability", NULL, 0) > 0));
    pct_free(file);
    return gets;
}

/* True if the first line of a script names a shell, itself or by env. */
static bool names_shell(const char *file)
{
    char line[256] = "";
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? pread(fd, line, sizeof line - 1, 0) : 0;
    if (fd >= 0)
        close(fd);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *rest = line + 2, *word = strncmp(line, "#!", 2) ? NULL : strtok_r(rest, " \t", &rest);
    if (word && !strcmp(pc_base_name(word), "env"))
        word = strtok_r(NULL, " \t", &rest);
    return word && pc_is_shell(pc_base_name(word));
}

bool pct_program_is_for_shell(const char *word)
{
    char *file = pct_program_file(word);
    bool is = file && (pc_is_shell(pc_base_name(word)) || names_shell(file));
    pct_free(file);
    return is;
}
