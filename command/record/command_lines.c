/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table `command_lines` of a recording. Its strings and rows are sorted, as the format wants.
 */
#include "command/record/command_lines.h"
#include "analysis/allocation.h"
#include "analysis/buffer.h"
#include "format/build.h"
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>

/* Longest command line, in bytes; longer ones are cut, as the library cuts them. */
enum { COMMAND_BYTES = 4096 };

static void add(struct pct_command_lines *c, struct pct_buf *line)
{
    if (line->n > COMMAND_BYTES) {
        line->data[COMMAND_BYTES] = '\0';
        line->n = COMMAND_BYTES;
        pct_buf_text(line, " ...");
    }
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->at[i].text, line->data)) {
            c->at[i].n++;
            return;
        }
    c->at = pct_grow(c->at, c->n, &c->room, sizeof *c->at);
    c->at[c->n++] = (struct pct_command_line){pct_copy(line->data), 1};
}

static void put_word(struct pct_buf *line, const char *word)
{
    pct_buf_text(line, line->n ? " " : "");
    pct_text_shell(line, word);
}

void pct_command_lines_start(struct pct_command_lines *c, char *const *words, size_t n)
{
    struct pct_buf line = {0};
    for (size_t i = 0; i < n; i++)
        put_word(&line, words[i]);
    add(c, &line);
    pct_buf_free(&line);
}

/* The process of a thread, or of itself. */
static int process_of(int id)
{
    static const char key[] = "\nTgid:";
    size_t n;
    char *status = pct_watch_file(id, "status", &n);
    const char *found = status ? strstr(status, key) : NULL;
    int process = found ? (int)strtol(found + sizeof key - 1, NULL, 10) : id;
    pct_free(status);
    return process;
}

static void look_at(struct pct_command_lines *c, int pid)
{
    size_t n;
    struct pct_buf line = {0};
    char *words = pct_watch_file(pid, "cmdline", &n);
    /* Zeros follow a title that a process wrote over its longer arguments. */
    while (words && n && !words[n - 1])
        n--;
    for (size_t at = 0; words && at < n; at += strlen(words + at) + 1)
        put_word(&line, words + at);
    if (line.n)
        add(c, &line);
    pct_buf_free(&line);
    pct_free(words);
}

void pct_command_lines_look(struct pct_command_lines *c, const int *ids, size_t n)
{
    int *pids = pct_alloc(n, sizeof *pids);
    for (size_t i = 0; i < n; i++)
        pids[i] = process_of(ids[i]);
    if (n)
        qsort(pids, n, sizeof *pids, pc_compare_ints);
    for (size_t i = 0; i < n; i++)
        if (!i || pids[i] != pids[i - 1])
            look_at(c, pids[i]);
    pct_free(pids);
}

static int compare_lines(const void *left, const void *right)
{
    const struct pct_command_line *a = left, *b = right;
    return strcmp(a->text, b->text);
}

static void *need(void *memory)
{
    if (!memory)
        pct_memory_refuse();
    return memory;
}

/* Adds the lines to the strings, which stay sorted and unique. */
static void add_strings(const struct pct_command_lines *c, struct pc_profile *p)
{
    size_t n = p->n_strings, kept = 0;
    char **strings = need(pc_pool_array(p->memory, n + c->n, sizeof *strings));
    if (n)
        memcpy(strings, p->strings, n * sizeof *strings);
    for (size_t i = 0; i < c->n; i++)
        strings[n++] = need(pc_pool_text(p->memory, c->at[i].text, strlen(c->at[i].text)));
    qsort(strings, n, sizeof *strings, pc_by_text);
    for (size_t i = 0; i < n; i++)
        if (!kept || strcmp(strings[i], strings[kept - 1]) != 0)
            strings[kept++] = strings[i];
    p->strings = strings;
    p->n_strings = (uint32_t)kept;
}

void pct_command_lines_keep(struct pct_command_lines *c, struct pc_profile *p)
{
    enum { COMMAND, PROCESSES, N_COLUMNS };
    if (!c->n)
        return;
    qsort(c->at, c->n, sizeof *c->at, compare_lines);
    add_strings(c, p);
    struct pc_profile_column *columns = need(pc_pool_array(p->memory, N_COLUMNS, sizeof *columns));
    uint64_t *cells = need(pc_pool_array(p->memory, c->n * N_COLUMNS, sizeof *cells));
    columns[COMMAND] = (struct pc_profile_column){(char *)"command", PCOLLECT_COLUMN_STRING, 0,
                                                  PCOLLECT_UNIT_COUNT};
    columns[PROCESSES] = (struct pc_profile_column){(char *)"processes", PCOLLECT_COLUMN_NUMBER,
                                                    PCOLLECT_SUM, PCOLLECT_UNIT_COUNT};
    for (size_t i = 0, string = 0; i < c->n; i++) {
        while (strcmp(p->strings[string], c->at[i].text) != 0)
            string++;
        cells[i * N_COLUMNS + COMMAND] = string + 1;
        cells[i * N_COLUMNS + PROCESSES] = c->at[i].n;
    }
    p->tables = need(pc_pool_array(p->memory, 1, sizeof *p->tables));
    p->n_tables = 1;
    *p->tables = (struct pc_profile_table){.name = (char *)"command_lines",
                                           .plugin = (char *)"pcollect",
                                           .n_keys = PROCESSES,
                                           .n_columns = N_COLUMNS,
                                           .columns = columns,
                                           .n_rows = (uint32_t)c->n,
                                           .cells = cells};
}

void pct_command_lines_free(struct pct_command_lines *c)
{
    for (size_t i = 0; i < c->n; i++)
        pct_free(c->at[i].text);
    pct_free(c->at);
    *c = (struct pct_command_lines){.n = 0};
}
