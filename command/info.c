/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect info: the contents of a profile, one line each. Reads statistics only, so that it is
 * fast for the largest file too.
 */
#include "analysis/buffer.h"
#include "command/command.h"
#include "command/related_jobs.h"
#include "format/contexts.h"

#include <string.h>
#include <sys/stat.h>

static const struct pct_option options[] = {
    {0, NULL, NULL, NULL},
};

enum { MOST_COMMANDS = 4 };

static void put(const char *name, const char *text)
{
    struct pct_buf b = {0};
    pct_text_escape(&b, text, PCT_ESCAPE_CELL);
    if (*text)
        printf("%s: %s\n", name, b.data);
    pct_buf_free(&b);
}

static void put_count(const char *name, uint64_t n)
{
    printf("%s: %llu\n", name, (unsigned long long)n);
}

static void put_contexts(const struct pc_profile *p)
{
    static const char *const names[PCOLLECT_N_NODE_KINDS] = {
        [PCOLLECT_NODE_FRAME] = "frames",   [PCOLLECT_NODE_OP] = "calls",
        [PCOLLECT_NODE_CUT] = "cuts",       [PCOLLECT_NODE_POINT] = "points",
        [PCOLLECT_NODE_DOMAIN] = "domains", [PCOLLECT_NODE_PHASE] = "phases",
        [PCOLLECT_NODE_REGION] = "regions",
    };
    uint32_t counts[PCOLLECT_N_NODE_KINDS] = {0}, n_nodes = 0, n_data = 0, n_bounded = 0,
             n_steps = 0;
    struct pc_contexts c;
    for (pc_contexts_open(&c, p); pc_contexts_next(&c); n_nodes++) {
        counts[c.node->kind]++;
        n_data += c.data != NULL;
        n_bounded += c.data && c.data->kept == PC_KEPT_NONE;
        n_steps += c.data && c.data->kept == PC_KEPT_STEPS;
    }
    if (pc_contexts_close(&c))
        pct_memory_refuse();
    put_count("contexts", n_nodes);
    for (unsigned kind = 0; kind < PCOLLECT_N_NODE_KINDS; kind++)
        if (names[kind] && counts[kind])
            printf("  %s: %u\n", names[kind], counts[kind]);
    put_count("records", n_data);
    put_count("  of them without values by rank", n_bounded);
    if (n_steps)
        put_count("  of them with times alone by rank, within 0.8 %", n_steps);
}

static void put_tables(const struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_fields; i++) {
        const struct pc_profile_field *f = &p->fields[i];
        char name[2 * PCOLLECT_NAME_BYTES + 2];
        pc_format(name, sizeof name, "%s.%s", f->plugin, f->name);
        put("field", name);
    }
    for (uint32_t i = 0; i < p->n_tables; i++) {
        const struct pc_profile_table *t = &p->tables[i];
        char text[PCOLLECT_NAME_BYTES + 64];
        pc_format(text, sizeof text, "%s (%u %s, %u %s)", t->name, t->n_columns,
                  t->n_columns == 1 ? "column" : "columns", t->n_rows,
                  t->n_rows == 1 ? "row" : "rows");
        put("table", text);
    }
}

/* Command and configuration of the run. */
static void put_run(const struct pc_profile *p)
{
    const struct pc_profile_table *t = pc_profile_table(p, "command_lines");
    uint32_t text = pc_table_column(t, "command", PCOLLECT_COLUMN_STRING),
             processes = pc_table_column(t, "processes", PCOLLECT_COLUMN_NUMBER);
    for (uint32_t row = 0; t && row < t->n_rows && row < MOST_COMMANDS; row++) {
        const char *command = pc_profile_string(p, pc_table_cell(t, row, text));
        put("command", command);
        if (t->n_rows > 1)
            put_count("  processes", pc_table_cell(t, row, processes));
    }
    if (t && t->n_rows > MOST_COMMANDS)
        put_count("command lines more", t->n_rows - MOST_COMMANDS);
    t = pc_profile_table(p, "settings");
    uint32_t option = pc_table_column(t, "option", PCOLLECT_COLUMN_STRING),
             value = pc_table_column(t, "value", PCOLLECT_COLUMN_STRING),
             from = pc_table_column(t, "from", PCOLLECT_COLUMN_STRING);
    for (uint32_t row = 0; t && row < t->n_rows; row++) {
        struct pct_buf b = {0};
        pct_buf_format(&b, "%s = %s (%s)", pc_profile_string(p, pc_table_cell(t, row, option)),
                       pc_profile_string(p, pc_table_cell(t, row, value)),
                       pc_profile_string(p, pc_table_cell(t, row, from)));
        put("setting", b.data);
        pct_buf_free(&b);
    }
}

static void put_profile(const char *path, const struct pc_profile *p)
{
    struct stat st;
    put("file", path);
    if (!stat(path, &st))
        put_count("bytes", (uint64_t)st.st_size);
    put("program", p->exe);
    put_run(p);
    put("MPI", p->mpi);
    put("job", p->job);
    pct_related_put(path, p);
    put_count("ranks of the job", p->world_size);
    put_count("ranks in the file", p->n_ranks);
    put_contexts(p);
    put_count("modules", p->n_modules);
    put_count("primitives", p->n_ops);
    put_count("strings", p->n_strings);
    put_tables(p);
}

static int info(const struct pct_command *self, int argc, char **argv)
{
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, NULL, &line))
        return line.status;
    const char *file = line.words[0];
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int err = pc_pcol_read_contexts(file, false, &p, &error);
    if (*error.text)
        pct_say(self, "%s", error.text);
    if (err)
        return err == PC_ENOENT ? PCT_CALL : PCT_DATA;
    put_profile(file, p);
    const char *unread = pc_profile_unread(p);
    if (unread)
        pct_say(self, "%s: %s", file, unread);
    int status = unread ? PCT_DATA : PCT_DONE;
    pc_profile_free(p);
    return status;
}

const struct pct_command pct_info = {
    .name = "info",
    .synopsis = "[FILE]",
    .summary = "show what a profile holds: ranks, contexts, fields, tables",
    .options = options,
    .argument = "FILE",
    .n_most = 1,
    .newest = true,
    .main = info,
};
