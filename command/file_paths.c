/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Paths for the subcommands.
 */
#include "command/command.h"

#include "analysis/buffer.h"
#include "format/new_file.h"
#include "format/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

void pct_say_exists(const struct pct_command *self, const char *path)
{
    struct stat st;
    bool plain = lstat(path, &st) == 0 && S_ISREG(st.st_mode);
    pct_say(self, "%s: cannot be written: it exists already%s name another file", path,
            plain ? "; remove it, or" : ", and is no plain file;");
}

static bool is_own_folder(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

char **pct_spool_folders(const struct pc_config *config, size_t *n_out)
{
    const char *spool = pc_config_spool(config, 0);
    char **folders = NULL;
    size_t n = 0;
    for (unsigned i = 0; spool; spool = pc_config_spool(config, ++i)) {
        char *folder = pct_text("%s/pcollect-%u", spool, (unsigned)geteuid());
        if (i && !is_own_folder(folder)) {
            pct_free(folder);
            continue;
        }
        char **more = pct_alloc(n + 1, sizeof *more);
        if (n)
            memcpy(more, folders, n * sizeof *more);
        pct_free(folders);
        folders = more;
        folders[n++] = folder;
    }
    *n_out = n;
    return folders;
}

void pct_spool_free(char **folders, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pct_free(folders[i]);
    pct_free(folders);
}

void pct_spool_remove(const char *folder)
{
    char own[32];
    pct_text_format(own, sizeof own, "pcollect-%u", (unsigned)geteuid());
    if (!strcmp(pc_base_name(folder), own))
        rmdir(folder); /* succeeds if it is empty */
}

/* NULL: it has none, or cannot be read; errno says why. */
static char *working_directory(void)
{
    char *cwd = getcwd(NULL, 0), *copy = cwd ? pct_copy(cwd) : NULL;
    free(cwd);
    return copy;
}

/* The working directory as a part of a pattern: percent signs are escaped. */
static char *working_directory_pattern(void)
{
    char *cwd = working_directory();
    size_t n = cwd ? 2 * strlen(cwd) + 2 : 2;
    char *pattern = pct_alloc(n, 1);
    pc_config_pattern(cwd ? cwd : "", pattern, n);
    size_t length = strlen(pattern);
    if (length && pattern[length - 1] != '/')
        strcpy(pattern + length, "/");
    pct_free(cwd);
    return pattern;
}

bool pct_is_standard_output(const char *path)
{
    return !strcmp(path, "-");
}

bool pct_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The errno with which the folder of the path, or the working directory, takes no new files, or 0.
 * *folder_out: its name, allocated; cure: the way out. */
static int ask_folder(const char *path, char **folder_out, struct pc_error *cure)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? pct_text("%.*s", (int)(slash + 1 - path), path) : working_directory();
    int refused = folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    if (!folder && refused == ENOENT)
        pc_format(cure->text, sizeof cure->text, "it was removed: change to another");
    else
        pc_new_file_cure(cure, refused, "-o");
    *folder_out = folder ? folder : pct_text(".");
    return refused;
}

bool pct_folder_takes_files(const struct pct_command *self, const char *path)
{
    struct pc_error cure;
    char *folder;
    int refused = ask_folder(path, &folder, &cure);
    if (refused)
        pct_say(self, "the output cannot be written to folder %s: %s; %s", folder,
                strerror(refused), cure.text);
    pct_free(folder);
    return !refused;
}

/* True if a folder of the pattern is known only when the file is written. */
static bool has_pattern_folder(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    return slash && memchr(pattern, '%', (size_t)(slash - pattern));
}

void pct_output_warn(const struct pct_command *self, const char *pattern)
{
    struct pc_error cure;
    char *folder = NULL;
    int refused = has_pattern_folder(pattern) ? 0 : ask_folder(pattern, &folder, &cure);
    if (refused)
        pct_say(self,
                "if the job does not change this, its profile cannot be written to folder %s: %s; "
                "%s",
                folder, strerror(refused), cure.text);
    pct_free(folder);
}

/* True if the folder of the file can be written; a folder name with a pattern cannot be checked
 * yet. */
static bool check_folder(const struct pct_command *self, const char *pattern)
{
    return has_pattern_folder(pattern) || pct_folder_takes_files(self, pattern);
}

bool pct_output_is_fixed(const char *pattern, char *path)
{
    static const struct pc_config_names one = {"a", 1, "a", 0}, two = {"b", 2, "b", 86400000000000};
    char other[PCOLLECT_PATH_BYTES];
    struct pc_error error = {""};
    return !pc_config_expand(pattern, &one, path, PCOLLECT_PATH_BYTES, &error) &&
           !pc_config_expand(pattern, &two, other, sizeof other, &error) && !strcmp(path, other);
}

bool pct_output_may_be(const struct pct_command *self, const char *pattern, unsigned flags)
{
    char path[PCOLLECT_PATH_BYTES];
    struct pc_error error = {""};
    int err = pc_config_check("output", "path", pattern, &error);
    /* A pattern that may give several names is checked by the writer of the profile. */
    if (!err && pct_output_is_fixed(pattern, path))
        err = pc_pcol_may_write(path, flags, &error);
    if (err)
        pct_say(self, "%s", error.text);
    return !err;
}

char *pct_output_pattern(const struct pct_command *self, const char *given, const char *name)
{
    struct pc_error error;
    if (*given == '\0' || pc_config_expand(given, NULL, NULL, 0, &error)) {
        pct_refuse(self, "-o: %s", *given ? error.text : "the path is empty");
        return NULL;
    }
    while (strncmp(given, "./", 2) == 0 && given[2] != '/')
        given += 2;
    if (strcmp(given, ".") == 0)
        given = "";
    size_t n = strlen(given);
    bool slash = n == 0 || given[n - 1] == '/', folder = slash || pct_is_folder(given);
    char *cwd = *given == '/' ? pct_text("%s", "") : working_directory_pattern();
    struct pc_config defaults;
    pc_config_defaults(&defaults);
    char *pattern = pct_text("%s%s%s%s", cwd, given, folder && !slash ? "/" : "",
                             folder ? name ? name : defaults.output_path : "");
    pct_free(cwd);
    if (strlen(pattern) >= PC_CONFIG_TEXT_BYTES)
        pct_say(self, "-o: the path is longer than %d bytes", PC_CONFIG_TEXT_BYTES - 1);
    else if (check_folder(self, pattern) && pct_output_may_be(self, pattern, 0))
        return pattern;
    pct_free(pattern);
    return NULL;
}

/* Path of this command in exe, of PATH_MAX bytes; "": not known. Without /proc it is the path that
 * was executed, which the working directory still fits. */
static void find_own_path(char *exe)
{
    ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX - 1);
    const char *executed = (const char *)getauxval(AT_EXECFN);
    exe[n > 0 ? n : 0] = '\0';
    if (n <= 0 && executed && !realpath(executed, exe))
        exe[0] = '\0';
}

/* Finds the library relative to this command, in bin/../lib, and then in the folder set by
 * configure. */
char *pct_library_path(char **why_out)
{
    static const char *const places[] = {"%s/../lib/libpcollect.so", "%s/../lib64/libpcollect.so",
                                         PCT_LIBDIR "/libpcollect.so"};
    char exe[PATH_MAX], resolved[PATH_MAX];
    find_own_path(exe);
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < PC_ARRAY_LEN(places); i++) {
        const char *relative = strncmp(places[i], "%s", 2) == 0 ? places[i] + 2 : NULL;
        char *path = relative ? pct_text("%s%s", exe, relative) : pct_text("%s", places[i]);
        bool found = realpath(path, resolved) && access(resolved, R_OK) == 0;
        pct_free(path);
        if (!found)
            continue;
        if (strpbrk(resolved, " \t:") == NULL)
            return pct_text("%s", resolved);
        *why_out = pct_text("%s holds a blank or a colon, which LD_PRELOAD cannot hold: install "
                            "pcollect elsewhere",
                            resolved);
        return NULL;
    }
    *why_out = pct_text("libpcollect.so is neither in %s/../lib nor in %s: install pcollect again "
                        "with `make install`",
                        exe, PCT_LIBDIR);
    return NULL;
}
