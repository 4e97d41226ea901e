/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI launchers: recognises them, and passes the ranks' environment with the options of each. The
 * library must be preloaded into the ranks and not into the launcher, and only the launcher knows
 * how to bring a variable to another node.
 */
#include "base/launchers.h"
#include "command/launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first row whose mark is found wins. */
static const struct pct_launcher launchers[] = {
    {"OpenRTE", "Open MPI", PCT_PASS_X, true},
    {"Open MPI", "Open MPI", PCT_PASS_X, true},
    {"PRRTE", "PRRTE", PCT_PASS_X, false},
    {"prterun", "PRRTE", PCT_PASS_X, false},
    {"Spectrum MPI", "IBM Spectrum MPI", PCT_PASS_X, true},
    {"Intel(R) MPI", "Intel MPI", PCT_PASS_GENV, false},
    {"HYDRA", "MPICH", PCT_PASS_GENV, false},
    {"MPICH", "MPICH", PCT_PASS_GENV, false},
    {"slurm", "Slurm", PCT_PASS_INHERIT, false},
    {"aprun", "ALPS", PCT_PASS_E, false},
    {"jsrun", "JSM", PCT_PASS_BIG_E, false},
};

bool pct_launcher_is(const char *word)
{
    return pc_launcher_role(pc_base_name(word)) == PC_LAUNCHER_STARTS;
}

/* ---- Queries of launchers ------------------------------------------------------------------- */

/* Runs in the child: both outputs go into the pipe, standard input is empty. */
static void exec_version(const char *word, int fd)
{
    char *words[] = {(char *)word, (char *)"--version", NULL};
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execvp(word, words);
    _exit(127);
}

const struct pct_launcher *pct_launcher_ask(const char *word)
{
    char text[4096] = "";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exec_version(word, ends[1]);
    close(ends[1]);
    if (child > 0) {
        pct_read_answer(ends[0], text, sizeof text);
        kill(child, SIGKILL); /* its output is complete */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    for (size_t i = 0; i < PC_ARRAY_LEN(launchers); i++)
        if (strcasestr(text, launchers[i].mark))
            return &launchers[i];
    return NULL;
}

/* ---- Words of the command line -------------------------------------------------------------- */

struct words {
    char **at;
    size_t n, room;
};

static void add(struct words *w, char *word)
{
    w->at = pct_grow(w->at, w->n + 1, &w->room, sizeof *w->at);
    w->at[w->n++] = word;
    w->at[w->n] = NULL;
}

static const char preload[] = "LD_PRELOAD";

static bool is_assignment_of_preload(const char *word)
{
    return strncmp(word, "LD_PRELOAD=", sizeof preload) == 0;
}

static void add_variable(struct words *w, enum pct_passing passing, char *variable)
{
    static char flags[][6] = {"", "-x", "-genv", "-e", "-E"};
    add(w, flags[passing]);
    if (passing != PCT_PASS_GENV) {
        add(w, variable);
        return;
    }
    size_t n = strcspn(variable, "=");
    add(w, pct_text("%.*s", (int)n, variable));
    add(w, variable + n + 1);
}

static void add_variables(struct words *w, enum pct_passing passing, char **variables)
{
    for (; *variables; variables++)
        add_variable(w, passing, *variables);
}

/* The list counts for all applications of the command line. */
static void add_list(struct words *w, char *text)
{
    add(w, (char *)"--mca");
    add(w, (char *)"mca_base_env_list");
    add(w, text);
}

static const char *preload_of(char **variables)
{
    for (; *variables; variables++)
        if (is_assignment_of_preload(*variables))
            return *variables + sizeof preload;
    return "";
}

/* True if this word is the launcher's option for a variable. */
static bool announces(enum pct_passing passing, const char *word)
{
    if (passing == PCT_PASS_X)
        return strcmp(word, "-x") == 0 || strcmp(word, "--x") == 0;
    if (passing == PCT_PASS_GENV)
        return strcmp(word, "-genv") == 0 || strcmp(word, "-env") == 0;
    return strcmp(word, passing == PCT_PASS_E ? "-e" : "-E") == 0;
}

/* Joins the user's own LD_PRELOAD with ours, which it would replace: of two variables with one name
 * the later one wins. words[0] is the option; adds the value, returns the number of words taken. */
static size_t join_preload(struct words *w, char **words, const char *ours)
{
    char *name = words[1];
    if (name && is_assignment_of_preload(name)) {
        add(w, pct_text("%s=%s:%s", preload, ours, name + sizeof preload));
        return 1;
    }
    if (name && strcmp(name, preload) == 0 && strcmp(words[0], "-x") == 0) {
        add(w, pct_text("%s=%s", preload, ours)); /* ours contains the environment's */
        return 1;
    }
    if (name && strcmp(name, preload) == 0 && words[2]) {
        add(w, name);
        add(w, pct_text("%s:%s", ours, words[2]));
        return 2;
    }
    return 0;
}

char **pct_launcher_words(enum pct_passing passing, char **words, char **variables,
                          const struct pct_env_list *list)
{
    struct words w = {NULL, 0, 0};
    const char *ours = preload_of(variables);
    add(&w, words[0]);
    if (list->value)
        add_list(&w, list->value);
    else if (passing != PCT_PASS_INHERIT)
        add_variables(&w, passing, variables);
    for (size_t i = 1; words[i]; i++) {
        if (list->option && i == list->option) {
            i += 2; /* the name and the value */
            continue;
        }
        add(&w, words[i]);
        if (passing == PCT_PASS_INHERIT || list->value)
            continue;
        if (announces(passing, words[i]))
            i += join_preload(&w, words + i, ours);
        else if (passing == PCT_PASS_X && strcmp(words[i], ":") == 0)
            add_variables(&w, passing, variables);
    }
    return w.at;
}
