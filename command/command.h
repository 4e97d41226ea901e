/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pcollect command: what its subcommands share. "Said" means here: a message was printed on
 * standard error. A subcommand is one file and one row of the table in commands.c; its options are
 * one table, from which parsing and --help are made and to which tests/tools/pages.test holds the
 * manual page.
 */
#ifndef PCT_TOOLS_H
#define PCT_TOOLS_H

#include "analysis/allocation.h"
#include "base/base.h"
#include "config/config.h"

enum pct_exit {
    PCT_DONE = 0,
    PCT_DATA = 1, /* error in the data, or in a system call */
    PCT_CALL = 2, /* usage error */
    PCT_HELP = -1 /* an option asks for help; not an exit status */
};

/* Rows of options leave out the members that they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Parts of the output on which an option may have an effect, bits. Their names are in arguments.c,
 * in the same order. */
enum pct_output_part {
    PCT_PART_TREES = 1 << 0,
    PCT_PART_SHARES = 1 << 1,
    PCT_PART_CONTEXTS = 1 << 2,
    PCT_PART_FINDINGS = 1 << 3,
    PCT_PART_PAIRS = 1 << 4,
    PCT_PART_PLACEMENT = 1 << 5,
    PCT_PART_MODELS = 1 << 6,
    PCT_PART_TIMES = 1 << 7,
    PCT_PART_NODES = 1 << 8,
    PCT_PART_ROWS = 1 << 9,
    PCT_PART_STACKS = 1 << 10,
    PCT_PART_LINES = 1 << 11,
    PCT_PART_SOURCES = 1 << 12,
};

struct pct_option {
    int letter; /* also its name in code; above 255: no letter */
    const char *name;
    const char *argument; /* in the help; NULL: takes none */
    const char *doc;      /* its effect, in few words, for the help */
    const char *more;     /* sentences that the manual page adds, or NULL */
    const char *words;    /* all values that there are, with | between; NULL: those of `argument`,
                             if it has some */
    int group;            /* not 0: excludes the other options of the same number */
    bool many;            /* may be given several times */
    bool list;            /* several of the words, with commas between */
    unsigned parts;       /* enum pct_output_part, of those on which it has an effect; 0: all */
    /* Values for a completion, of an option that takes others too: the i-th; NULL at the end. */
    const char *(*known)(const void *arg, size_t i);
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
    const char *argument; /* name of the other words, such as "FILE"; NULL: none */
    unsigned n_least, n_most;
    bool newest;       /* without an argument, takes the newest profile of the working directory */
    const char *meant; /* option for which a word that is no file may be meant, or NULL */
    /* Takes one option with its value into `request`. PCT_DONE, PCT_CALL after saying what is
     * wrong, or PCT_HELP if it asks for help. NULL: no option has an effect here. */
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
    pct_embed, pct_info, pct_verify, pct_recover, pct_checkpoint, pct_topology_command, pct_doctor,
    pct_config, pct_events, pct_stat_command, pct_annotate_command, pct_average_command, pct_html,
    pct_export, pct_where_command, pct_record_command, pct_top_command, pct_browse_command;

/* The command line `argc`, `argv` of the process, with the name of a command in it. Returns the
 * exit status. */
int pct_command_line(int argc, char **argv);

/* ---- Options that several commands have ------------------------------------------------------ */

/* Numbers above those that commands give their own options. The parser itself handles the first
 * three. */
enum {
    PCT_LETTER_WIDTH = 1000,
    PCT_LETTER_COLOR,
    PCT_LETTER_DEBUGINFOD = 'd',
    PCT_LETTER_COLUMNS = 1010,
    PCT_LETTER_WHERE,
    PCT_LETTER_SORT,
    PCT_LETTER_DEPTH,
    PCT_LETTER_LEAST,
    PCT_LETTER_FULL_NAMES
};
#define PCT_OPTION_DEBUGINFOD                                                                      \
    {                                                                                              \
        PCT_LETTER_DEBUGINFOD, "debuginfod", NULL,                                                 \
            "ask the servers in DEBUGINFOD_URLS for symbols",                                      \
            "Files that are missing on this machine, or lack functions or lines, are requested "   \
            "by build-id, with libdebuginfod. A server has 10 seconds, or DEBUGINFOD_TIMEOUT. "    \
            "Without this option nothing goes to a network."                                       \
    }
#define PCT_OPTION_WIDTH                                                                           \
    {                                                                                              \
        PCT_LETTER_WIDTH, "width", "N", "width of the text in columns (default: the terminal's)",  \
            "Without a terminal, COLUMNS gives it; without COLUMNS, tables are not cut and other " \
            "texts have 100 columns. A table that is too wide leaves out columns and names them. " \
            "With fewer than 80, lines can be longer."                                             \
    }
#define PCT_OPTION_COLOR                                                                           \
    {                                                                                              \
        PCT_LETTER_COLOR, "color", "auto|always|never", "use colours in the text",                 \
            "auto, the default, uses colours on a terminal, unless NO_COLOR is set and not "       \
            "empty, or TERM is dumb."                                                              \
    }
#define PCT_OPTIONS_CHOICE                                                                         \
    {PCT_LETTER_COLUMNS, "columns", "A,B,...", PCT_CHOICE_COLUMNS_DOC},                            \
        {PCT_LETTER_WHERE,      "where",     "'COLUMN OP VALUE'", PCT_CHOICE_WHERE_DOC,            \
         PCT_CHOICE_WHERE_MORE, .many = true},                                                     \
    {                                                                                              \
        PCT_LETTER_SORT, "sort", "COLUMN", PCT_CHOICE_SORT_DOC, PCT_CHOICE_SORT_MORE               \
    }

/* Takes a value of PCT_OPTIONS_CHOICE; false: it is another option. pct_choice_refuse: PCT_DONE, or
 * a message why these rows, columns or order are not possible. `table` NULL: there is no table
 * unless the options in `cure` are given. */
struct pct_choice;
struct pct_table;
bool pct_choice_option(struct pct_choice *c, const struct pct_option *o, const char *value);
int pct_choice_refuse(const struct pct_command *self, const struct pct_choice *c,
                      const struct pct_table *table, const char *cure);

/* The tree of a comparison. */
#define PCT_OPTIONS_COMPARE                                                                        \
    {PCT_LETTER_DEPTH, "depth", "N", "show N levels of the tree (default: all)",                   \
     .parts = PCT_PART_TREES},                                                                     \
        {PCT_LETTER_LEAST,                                                                         \
         "min-percent",                                                                            \
         "P",                                                                                      \
         "hide branches of the tree below P percent",                                              \
         "The default is the least of 1, 2, 3, 5, 7, 10, 15, 20 and 30 with which the text takes " \
         "no more than 80 lines, or its tree no more than 20.",                                    \
         .parts = PCT_PART_TREES},                                                                 \
    {                                                                                              \
        PCT_LETTER_FULL_NAMES, "full-names", NULL,                                                 \
            "long C++ names with all their arguments, and each frame on its line"                  \
    }

/* Takes a value of PCT_OPTIONS_COMPARE; false: it is another option. */
struct pct_compare_print;
bool pct_compare_option(const struct pct_command *self, const struct pct_option *o,
                        const char *value, struct pct_compare_print *out, int *status_out);

/* ---- The command line of one command (arguments.c) ------------------------------------------- */

struct pct_line {
    char **words; /* words that are not options */
    size_t n_words;
    size_t n_before; /* words before "--"; without it all */
    uint64_t given;  /* bits: options of the command's table that were given */
    int status;      /* exit status, if the command ends here */
};

/* Reads argv, whose first word is the command's name: options by its table, each given to
 * self->take, and the number of other words. False: the command ends with out->status, after help
 * or a usage error. Giving an option twice with different values is an error. */
bool pct_line_read(const struct pct_command *self, int argc, char **argv, void *request,
                   struct pct_line *out);

/* PCT_DONE, or PCT_CALL after saying that an option was given that has no effect on any of the
 * parts that the command will make. */
int pct_line_check_parts(const struct pct_command *self, const struct pct_line *line,
                         unsigned parts);
/* Appends the names of parts: "A and B". */
struct pct_buf;
void pct_parts_put(struct pct_buf *b, unsigned parts);

/* ---- Options of the configuration (config_options.c) ----------------------------------------- */

/* Letters of the options of the configuration, by their number. */
enum { PCT_LETTER_CONFIG = 2000 };
/* The i-th; NULL: there are no more. */
const struct pct_option *pct_config_option(unsigned i);

/* (configure.c) Options of the configuration on a command line: values by the number of the
 * option. */
struct pct_configured {
    const char *values[PC_CONFIG_MAX_OPTIONS];
};
/* Sets the variables that pass it to the job. `file` is the configuration file, or NULL; lists may
 * change its values. PCT_DONE, or PCT_CALL after saying what is wrong. */
int pct_configure(const struct pct_command *self, const struct pct_configured *given,
                  const char *file);

/* ---- Help (help.c) --------------------------------------------------------------------------- */

extern const struct pct_option pct_help_option; /* -h, which every command has */
/* The i-th option of a command: its own, then those of the configuration; NULL: there are no more.
 */
const struct pct_option *pct_option_at(const struct pct_command *self, unsigned i);
void pct_help(const struct pct_command *self, FILE *out);
/* Prints one line about a table; or all its columns. */
void pct_help_table(FILE *out, const struct pct_table *t);
void pct_help_columns(FILE *out, const struct pct_table *t);

/* ---- Messages (messages.c) ------------------------------------------------------------------- */

/* "pcollect run: text" on standard error. */
void pct_say(const struct pct_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "pcollect: profile: PATH": names a file that was written, and, if it is not NULL, the requested
 * name that another file has. */
void pct_say_file(const char *kind, const char *path, const char *wanted);

/* Prints the text and where help is; returns PCT_CALL. */
int pct_refuse(const struct pct_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints where help is, below a message of several lines; returns PCT_CALL. */
int pct_refuse_above(const struct pct_command *self);

/* ---- Values of options (values.c): PCT_DONE, or PCT_CALL after a message --------------------- */

/* Index of a value among the words of an option; the parser has checked that it is one. */
unsigned pct_value_word(const struct pct_option *o, const char *value);
int pct_value_number(const struct pct_command *self, const struct pct_option *o, const char *value,
                     uint64_t least, uint64_t most, uint64_t *out);
/* Reads a list 12,34 of ids of processes or threads, each once, into *ids, which the caller frees
 * with pct_free, also on failure. */
int pct_value_ids(const struct pct_command *self, const char *option, const char *list, int **ids,
                  size_t *n);
/* Reads 12, 0.5, .25 or 3% as thousandths of a percent. */
int pct_value_percent(const struct pct_command *self, const struct pct_option *o, const char *value,
                      uint64_t most, uint64_t *out);
/* Reads one that is a part of the value that was given, which messages name. */
int pct_value_percent_in(const struct pct_command *self, const struct pct_option *o,
                         const char *given, const char *value, uint64_t most, uint64_t *out);
/* Prints the valid words, the nearest first, and returns PCT_CALL. next(arg, i) is the i-th, NULL
 * at the end. */
int pct_refuse_word(const struct pct_command *self, const char *option, const char *value,
                    const char *(*next)(const void *arg, size_t i), const void *arg);

/* ---- Waiting for an interrupt by the user (interruption.c) ----------------------------------- */

/* From now on SIGINT, SIGTERM, and SIGHUP unless it was ignored, are noted and do not end the
 * command. */
void pct_interrupt_catch(void);
bool pct_interrupted(void);

/* ---- The limit of open files (open_files.c) -------------------------------------------------- */

/* Raises it to what the administrator allows. */
void pct_open_files_raise(void);
/* Sets the limit that this command was given: for a child, before it becomes another program. */
void pct_open_files_restore(void);

/* ---- The terminal (terminal.c) --------------------------------------------------------------- */

struct pct_terminal {
    size_t width; /* columns: as asked for, of COLUMNS, of the terminal, or 100 */
    bool cut;     /* lines must be cut: it is a terminal, or a width was given */
    bool utf8, color;
};
/* Properties of the output that goes to a descriptor, and of standard output. */
struct pct_terminal pct_terminal_look_at(int fd);
struct pct_terminal pct_terminal_look(void);
/* True if standard input and output are a terminal. */
bool pct_terminal_is_there(void);
/* True if standard error is a terminal. */
bool pct_terminal_shows_messages(void);
/* Takes --width or --color: PCT_DONE or PCT_CALL. */
int pct_terminal_take(const struct pct_command *self, const struct pct_option *o,
                      const char *value);

/* Opens a separate screen on the terminal, and reads keys as they are pressed. False: standard
 * input and output are no terminal that supports this. It is closed by pct_screen_close, and by
 * exit. */
bool pct_screen_open(void);
size_t pct_screen_lines(void);
/* Shows lines instead of the previous ones; the last has no newline. */
void pct_screen_draw(const char *text);
/* Waits for a key; 0: none came in time, or a signal arrived; -1: end of input;
 * PCT_SCREEN_RESIZED: the terminal has another size. */
enum { PCT_SCREEN_RESIZED = 256 };
int pct_screen_key(uint64_t ns);
void pct_screen_close(void);

/* From now on, work that takes longer than a second shows its progress on standard error
 * (tell_progress.c). Not called while a job runs. */
void pct_progress_show(void);

/* Formats a text, which the caller frees with pct_free. */
char *pct_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads the output of a child until its end, until the buffer is full, or for 20 s. */
void pct_read_answer(int fd, char *text, size_t n);

/* Makes the newest .pcol of the working directory the only argument of the line, and says so.
 * False, with a message: there is none. */
bool pct_newest_profile(const struct pct_command *self, struct pct_line *line);

/* Reads a profile with the values of ranks, for a command that shows all of it. NULL: it cannot be
 * read, said; *status_out is the exit status. pct_profile_close: `status`, or PCT_DATA after a
 * message on values that could not be read on demand. */
struct pct_data;
struct pct_data *pct_profile_open(const struct pct_command *self, const char *path,
                                  int *status_out);
int pct_profile_close(const struct pct_command *self, struct pct_data *d, int status);

/* Adds up contexts of single ranks in a profile with more than `most` records (pc_fold_own), before
 * any part of it was made. Returns what is to be used in its place. */
struct pct_data *pct_profile_add_up(struct pct_data *d, uint32_t most);

/* PCT_CALL, after saying which command compares these profiles, if they are of one program. */
int pct_refuse_profiles(const struct pct_command *self, const struct pct_line *line);

/* Reads n profiles for a command that compares them, and takes recordings if it says so. NULL: one
 * cannot be read or compared, said; *status_out is the exit status. */
struct pct_run;
struct pct_run *pct_runs_look(const struct pct_command *self, char **paths, size_t n,
                              bool recordings, int *status_out);
/* PCT_DATA with a message if two of these repeats are one run. */
int pct_runs_check(const struct pct_command *self, const struct pct_run *runs, size_t n);
/* Keeps or leaves out the same waiting in all of them: pct_runs_agree. PCT_DATA with a message: one
 * cannot be read any more. */
int pct_runs_unite(const struct pct_command *self, struct pct_run *runs, size_t n);
/* Prints the remarks on them that a text would have, for an output that is not one. */
void pct_runs_say(const struct pct_command *self, const struct pct_run *runs, size_t n);
void pct_runs_close(struct pct_run *runs, size_t n); /* NULL is allowed */

/* Prints that the file exists and cannot be written, and the cure. */
void pct_say_exists(const struct pct_command *self, const char *path);

/* True for "-", which stands for standard output. */
bool pct_is_standard_output(const char *path);
bool pct_is_folder(const char *path);
/* True if the folder of the path, or the working directory, exists and new files may be made in it;
 * else said. */
bool pct_folder_takes_files(const struct pct_command *self, const char *path);

/* An absolute pattern for the output path given with -o, taken from the working directory; for a
 * folder `name` is appended, or if it is NULL the default file name. Allocated. Refuses (NULL,
 * said) bad patterns and missing folders. */
char *pct_output_pattern(const struct pct_command *self, const char *given, const char *name);

/* True if the pattern names one file, whatever the job is; path (PCOLLECT_PATH_BYTES) gets it. */
bool pct_output_is_fixed(const char *pattern, char *path);

/* True if ranks will accept the pattern as output path, and the file may be written, as far as this
 * is known before the job; else said. The flags are those of pc_pcol_may_write. */
bool pct_output_may_be(const struct pct_command *self, const char *pattern, unsigned flags);

/* Says that the profile cannot be written in the folder of the pattern, or in the working
 * directory, if that is so now. A job may change its folder, or make it, so this is no error. */
void pct_output_warn(const struct pct_command *self, const char *pattern);

/* Names of the plugins of the library for MPI calls, and for samples; NULL ends them. */
extern const char *const pct_comm_plugins[], *const pct_compute_plugins[];
/* The i-th of them. */
const char *pct_comm_plugin(const void *arg, size_t i);
const char *pct_compute_plugin(const void *arg, size_t i);
/* Names of the kernel's events, likewise. */
const char *pct_kernel_event(const void *arg, size_t i);

/* True if all plugins and events that the configuration names exist; each one that does not is
 * reported, with the nearest name. */
bool pct_names_known(const struct pct_command *self, const struct pc_config *c);
/* Says which events of one list are not known. False only if one is in no list of any machine, of
 * the form PMU/TERM/, or similar to one of this machine: other names may be known where the job
 * runs. */
bool pct_events_known(const struct pct_command *self, const char *option, const char *list);

/* Finds the event of a name: of the kernel, of libpfm or of PAPI. PCT_CALL, with a message on the
 * nearest names or on the error. */
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

/* Writes the page of a profile; returns the exit status, after a message on an error. The default
 * name of its page is allocated. */
int pct_html_file(const struct pct_command *self, const char *path, const char *to);
char *pct_html_name(const char *profile);

/* The folders "<spool>/pcollect-<uid>" in which this user's processes collect: that of the
 * configuration first, then others that exist. Allocated. */
char **pct_spool_folders(const struct pc_config *config, size_t *n_out);
void pct_spool_free(char **folders, size_t n);

/* Removes a folder of such a name if it is empty. Any other was made by the user, and stays. */
void pct_spool_remove(const char *folder);

/* Reports jobs that ended without a profile and left arenas in the folders, once for each job.
 * pct_left_tell_all: in the folders of the configuration, if it can be read. */
void pct_left_tell(const struct pct_command *self, char *const *folders, size_t n);
void pct_left_tell_all(const struct pct_command *self);
/* Makes pct_left_tell skip this arena. */
void pct_left_pass(const char *path);

#endif
