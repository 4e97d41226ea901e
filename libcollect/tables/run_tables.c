/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables `command_lines` and `settings`: the command that was run, and the options that differ
 * from the defaults. Rows are equal in most processes, and become one at the merge.
 *
 * They are written when MPI_Init has returned, so that a process that is killed has them, and
 * before the merge, for those that never called it.
 */
#include "base/shell.h"
#include "libcollect/context/thread.h"
#include "libcollect/state/own_tables.h"
#include "libcollect/state/plugin_table.h"
#include "libcollect/state/state.h"
#include "libcollect/tables/process_tables.h"

#include <errno.h>
#include <string.h>

/* Longest command line; longer ones are cut. */
enum { COMMAND_BYTES = 4096 };

int pc_run_tables_start(void)
{
    int err = pc_table_add("pcollect", &pc_table_command_lines);
    return err ? err : pc_table_add("pcollect", &pc_table_settings);
}

/* ---- The command line ------------------------------------------------------------------------ */

struct line {
    char text[COMMAND_BYTES];
    size_t n;
};

static void put(struct line *l, const char *text, size_t n)
{
    if (l->n + n >= sizeof l->text - sizeof " ...")
        return;
    memcpy(l->text + l->n, text, n);
    l->n += n;
}

static void put_word(struct line *l, const char *word)
{
    bool plain = pc_shell_is_plain(word);
    put(l, " ", l->n != 0);
    put(l, "'", !plain);
    for (const char *p = word; *p; p++)
        if (*p == '\'')
            put(l, "'\\''", 4);
        else
            put(l, p, 1);
    put(l, "'", !plain);
}

static void read_command(struct line *l)
{
    static char words[COMMAND_BYTES];
    size_t n_words = pc_read_small("/proc/self/cmdline", words, sizeof words);
    l->n = 0;
    for (const char *word = words; word < words + n_words; word += strlen(word) + 1)
        put_word(l, word);
    bool cut = n_words + 1 >= sizeof words || l->n + 16 >= sizeof l->text;
    memcpy(l->text + l->n, cut ? " ..." : "", cut ? 5 : 1);
}

static bool set(const struct pcollect_table *table, const uint64_t *keys)
{
    uint64_t *v = pc_table_row(pc_thread_current(), table, keys);
    if (v)
        *v = 1;
    return v != NULL;
}

/* The first time counts: a program may write over its arguments. */
void pc_run_tables_note(void)
{
    static bool noted;
    struct pc_config_setting s;
    static struct line command;
    char text[64];
    int saved = errno;
    if (noted)
        return;
    const char *variables =
        pc_process.config.run_key ? "environment or command line" : "environment";
    read_command(&command);
    noted = command.n &&
            set(&pc_table_command_lines, (const uint64_t[]){pc_table_string(command.text)});
    for (unsigned next = 0; pc_config_next_setting(&pc_process.config, &next, &s);) {
        bool file = s.origin == PC_CONFIG_FILE;
        pc_format(text, sizeof text, "[%s] %s", s.section, s.key);
        set(&pc_table_settings,
            (const uint64_t[]){pc_table_string(text), pc_table_string(s.value),
                               pc_table_string(file ? pc_process.config.file : variables)});
    }
    errno = saved;
}
