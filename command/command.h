/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pcollect command: what its subcommands share. A subcommand is one file and one row of the
 * table in main.c; its options are one table, from which parsing and --help are made and to which
 * tests/tools/pages.test holds the manual page.
 */
#ifndef PCT_TOOLS_H
#define PCT_TOOLS_H

#include "base/base.h"
#include "config/config.h"

enum pct_exit {
    PCT_DONE = 0,
    PCT_DATA = 1, /* the data is at fault, or the system refused */
    PCT_CALL = 2  /* the call is at fault */
};

struct pct_option {
    int letter; /* also its value; above 255: no letter */
    const char *name;
    const char *argument; /* in the help; NULL: takes none */
    const char *doc;
};

struct pct_command {
    const char *name; /* "run"; "" for the command itself */
    const char *synopsis;
    const char *summary;              /* one line, for the list of commands */
    const char *details;              /* after the options; may be NULL */
    const struct pct_option *options; /* up to a row without name; NULL: it parses its own */
    bool mixed; /* options may follow other words; else the first other word ends them */
    int (*main)(const struct pct_command *self, int argc, char **argv);
};

extern const struct pct_command pct_run, pct_report, pct_scale_command, pct_diff_command, pct_model,
    pct_embed, pct_info, pct_verify, pct_recover, pct_topology_command, pct_doctor, pct_config,
    pct_events, pct_annotate_command, pct_merge_command;

/* A row for the options of commands that look up symbols. pct_options_next does what it says. */
enum { PCT_LETTER_DEBUGINFOD = 'd' };
#define PCT_OPTION_DEBUGINFOD                                                                      \
    {                                                                                              \
        PCT_LETTER_DEBUGINFOD, "debuginfod", NULL,                                                 \
            "ask the servers in DEBUGINFOD_URLS for what is not on this machine"                   \
    }

/* Rows for commands that print a table, and what takes their values: false, it is another option.
 * pct_choice_refuse: PCT_DONE, or why rows, columns and order cannot be had, said. `table` NULL:
 * there is none, until `cure` is given. */
enum { PCT_LETTER_COLUMNS = 1000, PCT_LETTER_WHERE, PCT_LETTER_SORT };
#define PCT_OPTIONS_CHOICE                                                                         \
    {PCT_LETTER_COLUMNS, "columns", "A,B,...", PCT_CHOICE_COLUMNS_DOC},                            \
        {PCT_LETTER_WHERE, "where", "'COLUMN OP VALUE'", PCT_CHOICE_WHERE_DOC},                    \
    {                                                                                              \
        PCT_LETTER_SORT, "sort", "COLUMN", PCT_CHOICE_SORT_DOC                                     \
    }
struct pct_choice;
struct pct_table;
bool pct_choice_option(struct pct_choice *c, int letter, const char *value);
int pct_choice_refuse(const struct pct_command *self, const struct pct_choice *c,
                      const struct pct_table *table, const char *cure);

/* Values of pct_options_next beside letters. */
enum { PCT_OPTION_END = -1, PCT_OPTION_HELPED = -2, PCT_OPTION_WRONG = -3 };

/* The next option of argv, in the order of getopt_long. One that was given with another value
 * before is refused, save --where.
 * optarg and optind are getopt's. HELPED: --help was answered on standard output. WRONG: was
 * answered on standard error: return PCT_CALL. */
int pct_options_next(const struct pct_command *self, int argc, char **argv);

void pct_help(const struct pct_command *self, FILE *out);

/* "pcollect run: text" on standard error. */
void pct_say(const struct pct_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* PCT_CALL, after the text and where help is. */
int pct_refuse(const struct pct_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An allocated text, or the end of the command with a message and PCT_DATA. */
char *pct_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a child writes: until its end, the buffer is full, or 20 s have passed. */
void pct_read_answer(int fd, char *text, size_t n);

/* Looks at n profiles for a command that compares them, and tells the report about the terminal.
 * Says what there is to say of each; NULL: one cannot be read, *status_out is the exit status. */
struct pct_run;
struct pct_run *pct_runs_look(const struct pct_command *self, char **paths, size_t n,
                              int *status_out);
void pct_runs_close(struct pct_run *runs, size_t n); /* NULL is allowed */

/* An absolute pattern for the output path given with -o, taken from the working directory; a folder
 * gets the default file name. Allocated. Refuses (NULL, said) bad patterns and folders that are
 * missing. */
char *pct_output_pattern(const struct pct_command *self, const char *given);

/* Whether the pattern names one file, whatever the job is; path (PCOLLECT_PATH_BYTES) gets it. */
bool pct_output_is_fixed(const char *pattern, char *path);

/* Whether ranks take the pattern for an output path, and what it names may be written, as far as
 * can be known before the job; else said. */
bool pct_output_may_be(const struct pct_command *self, const char *pattern);

/* Whether all plugins and events that the configuration names exist; each that does not is said,
 * with the nearest. */
bool pct_names_known(const struct pct_command *self, const struct pc_config *c);
/* The events of one list. False only of names that are near one of this machine: what has no
 * likeness may be known where the job runs. */
bool pct_events_known(const struct pct_command *self, const char *option, const char *list);

/* Where libpcollect.so lies; NULL: *why_out says why it cannot be used. Both allocated. */
char *pct_library_path(char **why_out);

/* Stores symbols of the profile `from`, and with `sources` the text of its source files, in `to`,
 * which may be the same file. enum pc_err, with a text. */
int pct_embed_file(const char *from, const char *to, bool sources, struct pc_error *error);

/* "<spool>/pcollect-<uid>": where this user's processes collect. First that of the configuration,
 * then those of the others that are there. Allocated. */
char **pct_spool_folders(const struct pc_config *config, size_t *n_out);
void pct_spool_free(char **folders, size_t n);

#endif
