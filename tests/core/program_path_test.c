/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The script of a command line of Python is found behind its options; other programs have none.
 */
#include "base/script.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
    const char *exe, *line; /* words are separated by one space */
    const char *script;     /* NULL: none */
    bool is_module;
} rows[] = {
    {"/usr/bin/python3.11", "python3 heat.py -n 4", "heat.py", false},
    {"/usr/bin/python3.11", "python3 -u -O heat.py", "heat.py", false},
    {"/usr/bin/python3.11", "python3 -Wignore -X dev -W error -uXutf8 heat.py", "heat.py", false},
    {"/usr/bin/python3.11", "python3 --check-hash-based-pycs always heat.py", "heat.py", false},
    {"/usr/bin/python3.11", "/usr/bin/python3 /usr/bin/gpaw python a.py", "/usr/bin/gpaw", false},
    {"/opt/env/bin/pypy3", "pypy3 heat.py", "heat.py", false},
    {"/usr/bin/python3.11", "python3 -m pkg.tool heat.py", "pkg.tool", true},
    {"/usr/bin/python3.11", "python3 -um pkg.tool", "pkg.tool", true},
    {"/usr/bin/python3.11", "python3 -mpkg", "pkg", true},
    {"/usr/bin/python3.11", "python3 -m mpi4py heat.py", "heat.py", false},
    {"/usr/bin/python3.11", "python3 -m mpi4py.run -m pkg", "pkg", true},
    {"/usr/bin/python3.11", "python3 -c 1 heat.py", NULL, false},
    {"/usr/bin/python3.11", "python3 -uc 1 heat.py", NULL, false},
    {"/usr/bin/python3.11", "python3 - heat.py", NULL, false},
    {"/usr/bin/python3.11", "python3 -m", NULL, false},
    {"/usr/bin/python3.11", "python3 -X", NULL, false},
    {"/usr/bin/python3.11", "python3 ", NULL, false},
    {"/usr/bin/python3.11", "python3", NULL, false},
    {"/usr/bin/python3.11", "", NULL, false},
    {"/home/me/solver", "solver heat.py", NULL, false},
    {"", "python3 heat.py", NULL, false},
};

static void the_script_is_found_behind_the_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        bool is_module = !rows[i].is_module;
        size_t n = strlen(rows[i].line);
        n += n != 0; /* the terminator of the last word */
        char *line = calloc(n + 1, 1);
        assert_non_null(line);
        memcpy(line, rows[i].line, n);
        for (size_t k = 0; k < n; k++)
            line[k] = line[k] == ' ' ? '\0' : line[k];
        const char *script = pc_script_find(rows[i].exe, line, n, &is_module);
        if (rows[i].script == NULL)
            assert_null(script);
        else if (script == NULL || strcmp(script, rows[i].script))
            fail_msg("%s: %s", rows[i].line, script ? script : "none");
        assert_int_equal(is_module, rows[i].is_module);
        free(line);
    }
}

/* A command line longer than what is read ends within a word. */
static void a_cut_line_is_read_to_its_end(void **state)
{
    static const char cut[] = "python3\0-X\0d\0hea";
    bool is_module;
    (void)state;
    assert_string_equal(pc_script_find("/usr/bin/python3", cut, sizeof cut - 1, &is_module), "hea");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_is_found_behind_the_options),
        cmocka_unit_test(a_cut_line_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
