/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of options, as the files of config/ and their unit tests see it.
 */
#ifndef PC_CONFIG_PRIVATE_H
#define PC_CONFIG_PRIVATE_H

#include "config/config.h"

enum pc_option_type {
    PC_OPTION_CHOICE,  /* one of the words in `unit`, which are separated by commas */
    PC_OPTION_PATTERN, /* of an output path: %x %n %j %t */
    PC_OPTION_FOLDER,  /* an absolute path */
    PC_OPTION_LIST,    /* names separated by commas */
    PC_OPTION_SIZE,    /* bytes; K, M, G are powers of 1024 */
    PC_OPTION_INTEGER,
    PC_OPTION_FREQUENCY, /* Hz or kHz */
    PC_OPTION_TIME,      /* s; min, h, d */
    PC_OPTION_BOOL
};

struct pc_option {
    const char *section, *key;
    enum pc_option_type type;
    const char *initial; /* the default, as it would be written in a file */
    uint64_t min, max;   /* of the number, or of the length of a text in bytes */
    const char *unit;    /* unit of the number; "" if the type implies it */
    size_t offset;       /* in struct pc_config */
    const char *doc;     /* whole sentences */
    const char *brief;   /* for the help of `pcollect run`; NULL: the first sentence of `doc` */
    const char *option;  /* its name on that command line; NULL: the key, with - for _ */
};

/* Rows omit the members that they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* The table of options. */
extern const struct pc_option pc_options[];
extern const unsigned pc_n_options;

/* Index of an option, or -1. */
int pc_option_find(const char *section, const char *key);

static inline bool pc_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Reads `text` into its field. On failure the text gives the reason and the cure, without a place,
 * and *c is unchanged. */
int pc_option_parse(const struct pc_option *o, const char *text, struct pc_config *c,
                    struct pc_error *why);

/* The value as it would be written in a file; n >= PC_CONFIG_TEXT_BYTES + 3. */
void pc_option_print(const struct pc_option *o, const struct pc_config *c, char *out, size_t n);

/* The value as it would be written in the environment. */
void pc_option_raw(const struct pc_option *o, const struct pc_config *c, char *out, size_t n);

/* "PCOLLECT_<SECTION>_<KEY>"; at most PC_OPTION_VARIABLE_BYTES with the terminator. */
#define PC_OPTION_VARIABLE_BYTES 64
void pc_option_variable(const struct pc_option *o, char *out);

/* The range in words: "1M to 4G", "yes or no". */
void pc_option_range(const struct pc_option *o, char *out, size_t n);

/* Notes the name, of n bytes, for pc_config_next_missed. */
void pc_config_note_missed(struct pc_config *c, const struct pc_option *o, const char *name,
                           size_t n);

/* Copies a text for a message: at most 60 bytes, without control characters. */
#define PC_SHOWN_BYTES 64
const char *pc_config_shown(const char *text, char out[PC_SHOWN_BYTES]);

/* Adds the options of a file to *c. Messages say what named the file. */
int pc_config_read(struct pc_config *c, const char *path, const char *named_by,
                   struct pc_error *error);

/* Adds PCOLLECT_<SECTION>_<KEY> of `environment` (NULL-terminated) to *c and refuses unknown
 * PCOLLECT_* variables. */
int pc_config_read_environment(struct pc_config *c, char *const *environment,
                               struct pc_error *error);

#endif
