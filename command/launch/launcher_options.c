/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options of launchers, and settings of Open MPI, that decide how variables reach the ranks. Called
 * by run.c before the job starts. The options end where the program begins: those behind it are its
 * own.
 */
#include "command/launch/run_job.h"

#include "analysis/buffer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Options -------------------------------------------------------------------------------- */

/* True for the word of the program. Behind an option a name without a folder may be its value, such
 * as a partition called test. */
static bool is_program(char *const *word)
{
    bool may_be_value = word[-1][0] == '-' && !strchr(word[-1], '=') && !strchr(*word, '/');
    return !may_be_value && pct_program_is(*word);
}

static bool ends_options(char *const *word)
{
    return *word == NULL || strcmp(*word, "--") == 0 || is_program(word);
}

/* True if the word is the option of this name, with one dash or two. */
static bool is_option(const char *word, const char *name)
{
    return *word == '-' && strcmp(word + (word[1] == '-' ? 2 : 1), name) == 0;
}

/* The value of --export, in the same word or in the next one; NULL: this is another option. */
static const char *export_of(char *const *word)
{
    if (strcmp(*word, "--export") == 0)
        return word[1];
    return strncmp(*word, "--export=", 9) == 0 ? *word + 9 : NULL;
}

/* Refuses options with which the launcher passes no variables. */
static bool check_word(const struct pct_run_job *r, char *const *word,
                       const struct pct_launcher *launcher)
{
    const char *export = launcher->passing == PCT_PASS_INHERIT ? export_of(word) : NULL;
    if (launcher->passing == PCT_PASS_X && is_option(*word, "app")) {
        pct_say(r->self,
                "%s sets no variables for the programs of an application file: put the "
                "programs on the command line, separated by \":\"",
                launcher->name);
        return false;
    }
    if (export && strncmp(export, "ALL", 3) != 0) {
        pct_say(r->self,
                "%s does not pass the variables of pcollect to the ranks with --export=%s: "
                "write --export=ALL,... or leave it out",
                launcher->name, export);
        return false;
    }
    return true;
}

static const char list_name[] = "mca_base_env_list", preload[] = "LD_PRELOAD";

/* True if the line holds this name of a variable. */
static bool has_name(const char *line, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = line; (at = strstr(at, name)) != NULL; at += n) {
        bool begins = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[n]) || at[n] == '_'))
            return true;
    }
    return false;
}

/* The first name in the file, outside its comments, that this command must set itself; or NULL. A
 * pipe is left to the launcher: it can be read only once. */
static const char *taken_name(const char *path)
{
    static const char *const names[] = {preload, list_name};
    const char *taken = NULL;
    char *line = NULL;
    size_t room = 0;
    struct stat st;
    FILE *file = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    while (file && !taken && getline(&line, &room, file) > 0) {
        line[strcspn(line, "#")] = '\0';
        for (size_t i = 0; i < PC_ARRAY_LEN(names) && !taken; i++)
            taken = has_name(line, names[i]) ? names[i] : NULL;
    }
    free(line);
    if (file)
        fclose(file);
    return taken;
}

/* Refuses files of options that set what this command must set, because the launcher would take
 * only one, or none. Open MPI takes several files, with commas between them. */
static bool check_files(const struct pct_run_job *r, char *const *word,
                        const struct pct_launcher *launcher)
{
    const char *option = launcher->passing == PCT_PASS_X      ? "tune"
                         : launcher->passing == PCT_PASS_GENV ? "configfile"
                                                              : NULL;
    if (!option || !is_option(*word, option) || !word[1])
        return true;
    for (const char *at = word[1]; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        char *path = pct_text("%.*s", (int)n, at);
        const char *taken = taken_name(path);
        if (taken)
            pct_say(
                r->self,
                "%s sets %s, and %s does not join it with the variables of this command: put it "
                "on the command line, where this command joins them",
                path, taken, launcher->name);
        pct_free(path);
        if (taken)
            return false;
        at += n;
    }
    return true;
}

bool pct_launcher_may_pass(const struct pct_run_job *r, const struct pct_launcher *launcher)
{
    for (char **word = r->words + 1; launcher && !ends_options(word); word++)
        if (!check_word(r, word, launcher) || !check_files(r, word, launcher))
            return false;
    return true;
}

/* ---- The list of variables of Open MPI ------------------------------------------------------ */

/* The list in the user's file of parameters: the last line NAME = VALUE of that name counts. A list
 * in the file of the installation is not seen. Allocated, or NULL. */
static char *list_of_file(void)
{
    const char *home = getenv("HOME");
    char *path = pct_text("%s/.openmpi/mca-params.conf", home ? home : ""), *line = NULL;
    char *value = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *file = fopen(path, "re");
    pct_free(path);
    while (file && (n = getline(&line, &room, file)) > 0) {
        char *at = line + strspn(line, " \t");
        if (strncmp(at, list_name, sizeof list_name - 1) != 0)
            continue;
        at += sizeof list_name - 1;
        at += strspn(at, " \t");
        if (*at != '=')
            continue;
        while (n > 0 && isspace((unsigned char)line[n - 1]))
            line[--n] = '\0';
        pct_free(value);
        value = pct_text("%s", at + 1 + strspn(at + 1, " \t"));
    }
    free(line);
    if (file)
        fclose(file);
    return value;
}

/* The list that the launcher would take, and in *at_out the word of its option, or 0. The command
 * line has priority over the environment, which has priority over the file. Allocated, or NULL. */
static char *find_list(char *const *words, size_t *at_out)
{
    *at_out = 0;
    for (size_t i = 1; !ends_options(words + i); i++)
        if ((is_option(words[i], "mca") || is_option(words[i], "gmca")) && words[i + 1] &&
            strcmp(words[i + 1], list_name) == 0 && words[i + 2]) {
            *at_out = i;
            return pct_text("%s", words[i + 2]);
        }
    const char *set = getenv("OMPI_MCA_mca_base_env_list");
    return set ? pct_text("%s", set) : list_of_file();
}

/* Appends the values of the LD_PRELOADs in the user's list, or all other items. An LD_PRELOAD
 * without a value is that of the environment, which ours contains. */
static void put_items(struct pct_buf *b, const char *user, bool preloads)
{
    const size_t length = sizeof preload - 1;
    for (size_t n; *user; user += n + (user[n] == ';')) {
        n = strcspn(user, ";");
        bool is = n >= length && strncmp(user, preload, length) == 0 &&
                  (n == length || user[length] == '=');
        if (preloads && is && n > length + 1)
            pct_buf_format(b, ":%.*s", (int)(n - length - 1), user + length + 1);
        else if (!preloads && !is && n)
            pct_buf_format(b, ";%.*s", (int)n, user);
    }
}

bool pct_launcher_list(const struct pct_run_job *r, const struct pct_launcher *launcher,
                       struct pct_env_list *out)
{
    struct pct_buf b = {0};
    *out = (struct pct_env_list){0, NULL};
    char *user = launcher && launcher->has_list ? find_list(r->words, &out->option) : NULL;
    for (char **variable = r->variables; user && *variable; variable++) {
        if (strchr(*variable, ';')) {
            pct_say(r->self,
                    "%s takes no -x beside %s, and %s holds a \";\", which cannot be in that list: "
                    "pass your variables by -x in place of the list",
                    launcher->name, list_name, *variable);
            return false;
        }
        pct_buf_format(&b, "%s%s", b.n ? ";" : "", *variable);
        if (strncmp(*variable, preload, sizeof preload - 1) == 0)
            put_items(&b, user, true);
    }
    if (user) {
        put_items(&b, user, false);
        out->value = pct_text("%s", b.data);
    }
    pct_buf_free(&b);
    pct_free(user);
    return true;
}
