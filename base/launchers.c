/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/launchers.h"

/* Launchers first. */
static const struct {
    const char *name;
    enum pc_launcher_role role;
    bool any_ending; /* of packages and compilers, which begins with no letter */
} programs[] = {
    {"mpirun", PC_LAUNCHER_STARTS, true},
    {"mpiexec", PC_LAUNCHER_STARTS, true},
    {"orterun", PC_LAUNCHER_STARTS, false},
    {"prterun", PC_LAUNCHER_STARTS, false},
    {"prun", PC_LAUNCHER_STARTS, false},
    {"srun", PC_LAUNCHER_STARTS, false},
    {"aprun", PC_LAUNCHER_STARTS, false},
    {"jsrun", PC_LAUNCHER_STARTS, false},
    {"hydra_pmi_proxy", PC_LAUNCHER_HELPER, false},
    {"pmi_proxy", PC_LAUNCHER_HELPER, false},
    {"orted", PC_LAUNCHER_HELPER, false},
    {"prted", PC_LAUNCHER_HELPER, false},
    {"prte", PC_LAUNCHER_DAEMON, false},
    {"slurmstepd", PC_LAUNCHER_DAEMON, false},
};

static bool is_script(const char *name)
{
    static const char *const endings[] = {".sh", ".bash", ".csh", ".py", ".pl"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; i < PC_ARRAY_LEN(endings) && dot; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

enum pc_launcher_role pc_launcher_role(const char *name)
{
    if (is_script(name))
        return PC_LAUNCHER_NONE;
    for (size_t i = 0; i < PC_ARRAY_LEN(programs); i++) {
        size_t n = strlen(programs[i].name);
        if (strncmp(name, programs[i].name, n) == 0 &&
            (!name[n] || (programs[i].any_ending && !is_letter(name[n]))))
            return programs[i].role;
    }
    return PC_LAUNCHER_NONE;
}

const char *pc_launcher_name(size_t i)
{
    size_t n = 0;
    while (n < PC_ARRAY_LEN(programs) && programs[n].role == PC_LAUNCHER_STARTS)
        n++;
    return i < n ? programs[i].name : NULL;
}

bool pc_is_shell(const char *name)
{
    static const char *const shells[] = {"sh",  "bash", "dash", "ash",     "ksh", "mksh",
                                         "zsh", "csh",  "tcsh", "busybox", "fish"};
    for (size_t i = 0; i < PC_ARRAY_LEN(shells); i++)
        if (!strcmp(name, shells[i]))
            return true;
    return false;
}
