/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The path of the program that a process runs: the script, if Python runs one.
 */
#include "libcollect/life/program_path.h"

#include "include/pcollect/arena.h"

#include <string.h>
#include <unistd.h>

/* Words of a command line, each with its terminator. */
struct words {
    const char *at, *end;
};

static const char *next_word(struct words *w)
{
    const char *word = w->at;
    if (word >= w->end)
        return NULL;
    w->at += strlen(word) + 1;
    return word;
}

static bool is_python(const char *exe)
{
    const char *name = pc_base_name(exe);
    return !strncmp(name, "python", 6) || !strncmp(name, "pypy", 4);
}

/* Runs the script that follows, and does nothing else for the user. */
static bool is_runner(const char *module)
{
    return !strcmp(module, "mpi4py") || !strcmp(module, "mpi4py.run");
}

/* Takes the options of one word. Returns true if they say what is run: *module, or NULL for code
 * that has no name (-c). */
static bool take_options(struct words *w, const char *word, const char **module)
{
    if (word[1] == '-') {
        if (!strcmp(word, "--check-hash-based-pycs"))
            next_word(w);
        return false;
    }
    for (const char *p = word + 1; *p; p++) {
        if (*p == 'c')
            return true;
        if (!strchr("mWX", *p))
            continue;
        const char *value = p[1] ? p + 1 : next_word(w);
        if (*p != 'm' || !value || is_runner(value))
            return false;
        *module = value;
        return true;
    }
    return false;
}

const char *pc_program_script(const char *exe, const char *command, size_t n, bool *is_module)
{
    struct words w = {command, command + n};
    const char *word = next_word(&w), *module = NULL;
    *is_module = false;
    if (!word || !is_python(exe))
        return NULL;
    while ((word = next_word(&w))) {
        if (word[0] != '-')
            return *word ? word : NULL;
        if (!word[1]) /* the standard input */
            return NULL;
        if (take_options(&w, word, &module)) {
            *is_module = module != NULL;
            return module;
        }
    }
    return NULL;
}

void pc_program_path(char *out, size_t n)
{
    char command[2048], folder[PCOLLECT_PATH_BYTES]; /* small: a thread may start the collection */
    bool is_module;
    ssize_t got = readlink("/proc/self/exe", out, n - 1);
    out[got > 0 ? got : 0] = '\0';
    size_t bytes = pc_read_small("/proc/self/cmdline", command, sizeof command);
    const char *script = pc_program_script(out, command, bytes, &is_module);
    while (script && script[0] == '.' && script[1] == '/')
        script += 2;
    if (!script)
        return;
    /* The program may have left the folder that its script was found from. */
    if (is_module || *script == '/' || access(script, F_OK) || !getcwd(folder, sizeof folder))
        pc_format(out, n, "%s", script);
    else
        pc_format(out, n, "%s/%s", folder[1] ? folder : "", script);
}
