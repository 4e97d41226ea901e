/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading profiles: the library libpcol (pkg-config libpcol).
 *
 *     struct pcol_error why;
 *     struct pcol_profile *p = pcol_open("app.4.pcol", 0, &why);
 *     if (!p)
 *         return fprintf(stderr, "%s\n", why.text), 1;
 *     const struct pcol_table *t = pcol_table(p, "primitives");
 *     for (size_t row = 0; row < pcol_table_rows(t); row++) ...
 *
 * What `pcollect report` shows as tables is read here by the same names: tables, columns and their
 * meanings are those of pcollect-report(1). Tables of plugins follow under their own names.
 *
 * Each function may be called from any thread; a profile and all that belongs to it by one thread
 * at a time. Pointers stay valid until pcol_close. Nothing is printed, and the program is not
 * ended.
 *
 * Errors: pcol_open returns them. What happens later is kept, and pcol_status says so: it is enough
 * to ask it once, at the end. Figures that were not read are not known.
 */
#ifndef PCOLLECT_PROFILE_H
#define PCOLLECT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Profiles ---- */

struct pcol_profile;

enum pcol_status {
    PCOL_OK = 0,
    PCOL_NO_FILE, /* it is not there or may not be read */
    PCOL_DAMAGED, /* it is damaged, or no profile */
    PCOL_TOO_NEW, /* it was written by a newer version */
    PCOL_NO_MEMORY,
    PCOL_INVALID_FLAG
};

struct pcol_error {
    enum pcol_status status;
    char text[512]; /* one line: file, reason, cure */
};

enum pcol_flag {
    PCOL_STATISTICS =
        1, /* without the values of single ranks: less to read; columns of ranks are not known */
    PCOL_FULL_PATHS = 2 /* whole paths of source files in labels and paths of contexts */
};

/* A profile by the name of its file. flags: of enum pcol_flag. NULL: *why_out says why; why_out may
 * be NULL. A profile with a damaged part opens, and pcol_warning tells what it lacks. */
struct pcol_profile *pcol_open(const char *path, unsigned flags, struct pcol_error *why_out);

/* PCOL_OK. PCOL_NO_MEMORY: memory was refused to a call, and nothing is known of the profile since
 * then: it can only be closed. PCOL_DAMAGED: values of single ranks, which are read when they are
 * asked for, could not be read; pcol_warning says why. */
enum pcol_status pcol_status(const struct pcol_profile *p);

/* What is to be known of the figures: damage, symbols that are not there; each is one line. NULL
 * past the last. */
const char *pcol_warning(struct pcol_profile *p, size_t i);

/* NULL is allowed. */
void pcol_close(struct pcol_profile *p);

/* ---- Tables ---- */

struct pcol_table;

/* The i-th table, the library's first, then those of plugins; NULL past the last. */
const struct pcol_table *pcol_table_at(struct pcol_profile *p, size_t i);
/* By name, or NULL. */
const struct pcol_table *pcol_table(struct pcol_profile *p, const char *name);

const char *pcol_table_name(const struct pcol_table *t);
const char *pcol_table_meaning(const struct pcol_table *t); /* "" of a plugin's */
/* Rows; 0 where the profile has nothing of the kind. May take long: it makes what the table shows.
 */
size_t pcol_table_rows(const struct pcol_table *t);
size_t pcol_table_columns(const struct pcol_table *t);

enum pcol_type {
    PCOL_TEXT,
    PCOL_COUNT,   /* a whole number */
    PCOL_BYTES,   /* a whole number */
    PCOL_SECONDS, /* `whole` in nanoseconds */
    PCOL_PERCENT, /* `whole` in thousandths of a percent */
    PCOL_INTEGER, /* a rank, a line, a process id: may be negative */
    PCOL_YES_NO,  /* 1 or 0 */
    PCOL_REAL     /* `number` alone */
};

struct pcol_column {
    const char *name, *meaning;
    enum pcol_type type;
    const char *error; /* name of the column with half of its 95 % interval, or NULL */
};

/* Fills *out; 0: there is no such column. */
int pcol_table_column(const struct pcol_table *t, size_t column, struct pcol_column *out);
/* The index of a column; -1: there is none of this name. */
int pcol_table_find(const struct pcol_table *t, const char *column);

struct pcol_value {
    int known;        /* 0: not known, or without meaning in this row */
    const char *text; /* PCOL_TEXT; of an interval that is not known why, as "few"; else NULL */
    double number;    /* in seconds, percent, bytes or units */
    int64_t whole;    /* exact; INT64_MAX if it is greater */
};

/* A cell. Rows and columns that are not there are not known. */
struct pcol_value pcol_table_value(const struct pcol_table *t, size_t row, size_t column);

#ifdef __cplusplus
}
#endif

#endif
