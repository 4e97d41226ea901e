/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pcollect command: what its subcommands share. "Said" means here: a message was printed on
 * standard error. A subcommand is one file and one row of the table in commands.c; its options are
 * one table, from which parsing and --help are made and to which tests/tools/pages.test holds the
 * manual page.
 */
#ifndef PCT_TOOLS_H
#define PCT_TOOLS_H

#include "base/base.h"
#include "config/config.h"

enum pct_exit {
    PCT_DONE = 0,
    PCT_DATA = 1, /* the data is at fault, or the system refused */
    PCT_CALL = 2, /* usage error */
    PCT_HELP = -1 /* of an option that asks for help; no status of the command */
};

/* Rows of options leave out the members that they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct pct_option {
    int letter; /* also its name in code; above 255: no letter */
    const char *name;
    const char *argument; /* in the help; NULL: takes none */
    const char *doc;      /* for the help: what it does, in few words */
    const char *more;     /* sentences that the manual page adds, or NULL */
    const char *words;    /* all values that there are, with | between; NULL: those of `argument`,
                             if it has some */
    int group;            /* not 0: excludes the other options of the same number */
    bool many;            /* may be given several times */
    bool list;            /* several of the words, with commas between */
};

enum { PCT_ANY_NUMBER = 1000000 };

struct pct_command {
    const char *name; /* "run"; "" for the command itself */
    const char *synopsis;
    const char *summary;              /* one line, for the list of commands */
    const char *details;              /* after the options; may be NULL */
    const struct pct_option *options; /* up to a row without name */
    bool configures;      /* takes the options of the configuration, too: to pct_configuration */
    bool starts;          /* the first argument is a command line, which ends the options */
    const char *argument; /* what the other words are, as "FILE"; NULL: there are none */
    unsigned n_least, n_most;
    bool newest;       /* without an argument, the newest profile of the working directory is it */
    const char *meant; /* option whose value a word that is no FILE may be meant as, or NULL */
    /* Takes one option with its value into `request`. PCT_DONE, PCT_CALL after saying what is
     * wrong, or PCT_HELP if it asks for help. NULL: the options are switches that nobody reads. */
    int (*take)(const struct pct_command *self, const struct pct_option *o, const char *value,
                void *request);
    /* Answers a call for help instead of pct_help. NULL, or false: pct_help does. */
    bool (*help)(const struct pct_command *self, const void *request, FILE *out);
    int (*main)(const struct pct_command *self, int argc, char **argv);
};

/* All commands, in the order of the help. */
extern const struct pct_command *const pct_commands[];
extern const size_t pct_n_commands;
extern const struct pct_command pct_top; /* pcollect itself, without a name */

extern const struct pct_command pct_run, pct_report, pct_scale_command, pct_diff_command, pct_model,
    pct_embed, pct_info, pct_verify, pct_recover, pct_topology_command, pct_doctor, pct_config,
    pct_events, pct_stat_command, pct_annotate_command, pct_average_command, pct_html, pct_export,
    pct_where_command, pct_record_command, pct_top_command, pct_browse_command;

/* The command line `argc`, `argv` of the process, with the name of a command in it. Returns the
 * exit status. */
int pct_command_line(int argc, char **argv);

/* ---- Options that several commands have -------------------------------------------------------
 */

/* Above the numbers that commands give their own. The parser itself takes the first three. */
enum {
    PCT_LETTER_WIDTH = 1000,
    PCT_LETTER_COLOR,
    PCT_LETTER_DEBUGINFOD = 'd',
    PCT_LETTER_COLUMNS = 1010,
    PCT_LETTER_WHERE,
    PCT_LETTER_SORT
};
#define PCT_OPTION_DEBUGINFOD                                                                      \
    {                                                                                              \
        PCT_LETTER_DEBUGINFOD, "debuginfod", NULL,                                                 \
            "ask the servers in DEBUGINFOD_URLS for symbols",                                      \
            "Files that are missing on this machine are requested by build-id, with "              \
            "libdebuginfod. A server has 10 seconds, or DEBUGINFOD_TIMEOUT. Without this option "  \
            "nothing goes to a network."                                                           \
    }
#define PCT_OPTION_WIDTH                                                                           \
    {                                                                                              \
        PCT_LETTER_WIDTH, "width", "N", "width of the text in columns (default: the terminal's)",  \
            "Without a terminal, COLUMNS gives it; without COLUMNS, tables are not cut and other " \
            "texts have 100 columns."                                                              \
    }
#define PCT_OPTION_COLOR                                                                           \
    {                                                                                              \
        PCT_LETTER_COLOR, "color", "auto|always|never", "use colours in the text",                 \
            "auto, the default, uses colours on a terminal, unless NO_COLOR is set or TERM is "    \
            "dumb."                                                                                \
    }
#define PCT_OPTIONS_CHOICE                                                                         \
    {PCT_LETTER_COLUMNS, "columns", "A,B,...", PCT_CHOICE_COLUMNS_DOC},                            \
        {PCT_LETTER_WHERE,      "where",     "'COLUMN OP VALUE'", PCT_CHOICE_WHERE_DOC,            \
         PCT_CHOICE_WHERE_MORE, .many = true},                                                     \
    {                                                                                              \
        PCT_LETTER_SORT, "sort", "COLUMN", PCT_CHOICE_SORT_DOC, PCT_CHOICE_SORT_MORE               \
    }

/* Takes a value of PCT_OPTIONS_CHOICE: false, it is another option. pct_choice_refuse: PCT_DONE, or
 * why rows, columns and order cannot be had, said. `table` NULL: there is none, until `cure` is
 * given. */
struct pct_choice;
struct pct_table;
bool pct_choice_option(struct pct_choice *c, const struct pct_option *o, const char *value);
int pct_choice_refuse(const struct pct_command *self, const struct pct_choice *c,
                      const struct pct_table *table, const char *cure);

/* ---- The command line of one command (arguments.c) --------------------------------------------
 */

struct pct_line {
    char **words; /* what is no option */
    size_t n_words;
    size_t n_before; /* words before "--"; without it all */
    int status;      /* of the command, if it ends here */
};

/* Reads argv, whose first word is the command's name: options by its table, each given to
 * self->take, and the number of other words. False: the command ends with out->status, after help
 * or after a refusal. An option that was given before with another value is refused. */
bool pct_line_read(const struct pct_command *self, int argc, char **argv, void *request,
                   struct pct_line *out);

/* ---- Options of the configuration (config_options.c) ------------------------------------------
 */

/* Letters of the options of the configuration, by their number. */
enum { PCT_LETTER_CONFIG = 2000 };
/* The i-th; NULL: there are no more. */
const struct pct_option *pct_config_option(unsigned i);

/* (configure.c) What a command line says of the configuration: values by the number of the option.
 */
struct pct_configured {
    const char *values[PC_CONFIG_MAX_OPTIONS];
};
/* Sets the variables that give it to the job. `file` is the configuration's, or NULL: lists may
 * change what it says. PCT_DONE, or PCT_CALL after saying what is wrong. */
int pct_configure(const struct pct_command *self, const struct pct_configured *given,
                  const char *file);

/* ---- Help (help.c) ----------------------------------------------------------------------------
 */

extern const struct pct_option pct_help_option; /* -h, which every command has */
/* The i-th option of a command: its own, then those of the configuration; NULL: there are no more.
 */
const struct pct_option *pct_option_at(const struct pct_command *self, unsigned i);
void pct_help(const struct pct_command *self, FILE *out);
/* A line that says what a table holds; and all its columns. */
void pct_help_table(FILE *out, const struct pct_table *t);
void pct_help_columns(FILE *out, const struct pct_table *t);

/* ---- Messages (messages.c) -------------------------------------------------------------------
 */

/* "pcollect run: text" on standard error. */
void pct_say(const struct pct_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* PCT_CALL, after the text and where help is. */
int pct_refuse(const struct pct_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Values of options (values.c): PCT_DONE, or PCT_CALL after saying what is wrong -----------
 */

/* Index of a value among the words of an option; the parser has let no other pass. */
unsigned pct_value_word(const struct pct_option *o, const char *value);
int pct_value_number(const struct pct_command *self, const struct pct_option *o, const char *value,
                     uint64_t least, uint64_t most, uint64_t *out);
/* 12,34: ids of processes or threads, in *ids, to be freed with pct_free, also on failure. */
int pct_value_ids(const struct pct_command *self, const char *option, const char *list, int **ids,
                  size_t *n);
/* 12, 0.5, .25 or 3%, in thousandths of a percent. */
int pct_value_percent(const struct pct_command *self, const struct pct_option *o, const char *value,
                      uint64_t most, uint64_t *out);
/* PCT_CALL, after naming the words that there are, the nearest first. next(arg, i) is the i-th,
 * NULL at the end. */
int pct_refuse_word(const struct pct_command *self, const char *option, const char *value,
                    const char *(*next)(const void *arg, size_t i), const void *arg);

/* ---- Until the user interrupts (interruption.c) -------------------------------------------------
 */

/* From now on SIGINT, SIGTERM, and SIGHUP unless it was ignored, are noted and end no command. */
void pct_interrupt_catch(void);
bool pct_interrupted(void);
/* Returns early when a signal has come. */
void pct_wait_ns(uint64_t ns);

/* ---- The terminal (terminal.c) ----------------------------------------------------------------
 */

struct pct_terminal {
    size_t width; /* columns of standard output: as asked for, of the terminal, of COLUMNS, or 100
                   */
    bool cut;     /* what is wider is to be cut: it is a terminal, or a width was asked for */
    bool utf8, color;
};
struct pct_terminal pct_terminal_look(void);
/* True if standard input and output are a terminal. */
bool pct_terminal_is_there(void);
/* True if a person reads standard error. */
bool pct_terminal_shows_messages(void);
/* Takes --width or --color: PCT_DONE or PCT_CALL. */
int pct_terminal_take(const struct pct_command *self, const struct pct_option *o,
                      const char *value);

/* A screen of its own on the terminal, and keys as they are pressed. False: standard input and
 * output are no terminal that can do this. It is left by pct_screen_close, and by exit. */
bool pct_screen_open(void);
size_t pct_screen_lines(void);
/* Shows lines, of which the last has no end, in place of those before. */
void pct_screen_draw(const char *text);
/* A key; 0: none came in time, or a signal did; -1: there are no more. */
int pct_screen_key(uint64_t ns);
void pct_screen_close(void);

/* From now on, work that takes longer than a second shows its progress there (tell_progress.c). Not
 * while a job runs. */
void pct_progress_show(void);

/* An allocated text, or the end of the command with a message and PCT_DATA. */
char *pct_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Output of a child: until its end, the buffer is full, or 20 s have passed. */
void pct_read_answer(int fd, char *text, size_t n);

/* Makes the newest .pcol of the working directory the one argument of the line, and says so. False:
 * there is none, said. */
bool pct_newest_profile(const struct pct_command *self, struct pct_line *line);

/* Reads a profile with the values of ranks, for a command that shows all of it. NULL: it cannot be
 * read, said; *status_out is the exit status. pct_profile_close: `status`, or PCT_DATA after saying
 * what could not be read when it was asked for. */
struct pct_data;
struct pct_data *pct_profile_open(const struct pct_command *self, const char *path,
                                  int *status_out);
int pct_profile_close(const struct pct_command *self, struct pct_data *d, int status);

/* PCT_CALL, after saying which command compares these profiles, if they are of one program. */
int pct_refuse_profiles(const struct pct_command *self, const struct pct_line *line);

/* Looks at n profiles for a command that compares them. Says what there is to say of each; NULL:
 * one cannot be read, *status_out is the exit status. */
struct pct_run;
struct pct_run *pct_runs_look(const struct pct_command *self, char **paths, size_t n,
                              int *status_out);
void pct_runs_close(struct pct_run *runs, size_t n); /* NULL is allowed */

/* It cannot be written: the cure is said. */
void pct_say_exists(const struct pct_command *self, const char *path);
/* Opens a file that is not there yet, and may be read while it grows; NULL, said. pct_close_file:
 * false, said, if not all could be written. */
FILE *pct_new_file(const struct pct_command *self, const char *path);
bool pct_close_file(const struct pct_command *self, FILE *out, const char *path);

/* An absolute pattern for the output path given with -o, taken from the working directory; a folder
 * gets the default file name. Allocated. Refuses (NULL, said) bad patterns and folders that are
 * missing. */
char *pct_output_pattern(const struct pct_command *self, const char *given);

/* True if the pattern names one file, whatever the job is; path (PCOLLECT_PATH_BYTES) gets it. */
bool pct_output_is_fixed(const char *pattern, char *path);

/* True if ranks take the pattern for an output path, and what it names may be written, as far as
 * can be known before the job; else said. */
bool pct_output_may_be(const struct pct_command *self, const char *pattern);

/* True if all plugins and events that the configuration names exist; each that does not is said,
 * with the nearest. */
bool pct_names_known(const struct pct_command *self, const struct pc_config *c);
/* The events of one list. False only of names that are near one of this machine: what has no
 * likeness may be known where the job runs. */
bool pct_events_known(const struct pct_command *self, const char *option, const char *list);

/* Meaning of a name: an event of the kernel's, of libpfm's or of PAPI's. PCT_CALL, said with
 * the nearest names, or with what is wrong. */
struct pc_counting_event;
int pct_event_named(const struct pct_command *self, const char *option, const char *name,
                    struct pc_counting_event *out);

/* Path of libpcollect.so; NULL: *why_out says why it cannot be used. Both allocated. */
char *pct_library_path(char **why_out);

struct pc_profile;
struct pct_symbols;

/* Stores symbols of the profile `from` in `to`, which may be the same file, and also the text of
 * its source files or its instructions. enum pc_err, with a text. */
struct pct_embedded {
    bool sources, assembly;
    /* Tells the symbols of the profile where else its files are; NULL: nowhere. */
    void (*show_files)(void *arg, const struct pc_profile *p, struct pct_symbols *symbols);
    void *arg;
};
int pct_embed_file(const char *from, const char *to, const struct pct_embedded *also,
                   struct pc_error *error);

/* Writes the page of a profile, after saying what is wrong; returns the exit status. The name that
 * its page has by default is allocated. */
int pct_html_file(const struct pct_command *self, const char *path, const char *to);
char *pct_html_name(const char *profile);

/* "<spool>/pcollect-<uid>": where this user's processes collect. First that of the configuration,
 * then those of the others that are there. Allocated. */
char **pct_spool_folders(const struct pc_config *config, size_t *n_out);
void pct_spool_free(char **folders, size_t n);

/* Says which jobs ended without a profile and have left arenas in the folders, once for each job;
 * in the folders of the configuration, if that can be read. */
void pct_left_tell(const struct pct_command *self, char *const *folders, size_t n);
void pct_left_tell_all(const struct pct_command *self);
/* Leaves this arena out of what pct_left_tell tells. */
void pct_left_pass(const char *path);

#endif
