/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The script of a command line: words are read as Python reads them.
 */
#include "base/script.h"

#include <string.h>

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

const char *pc_script_find(const char *exe, const char *command, size_t n, bool *is_module)
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
