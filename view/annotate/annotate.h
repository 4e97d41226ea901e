/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Source and machine code with the figures of a profile beside each line: `pcollect annotate`.
 */
#ifndef PCT_ANNOTATE_H
#define PCT_ANNOTATE_H

#include "analysis/tree/roll_up.h"
#include "view/table.h"

struct pct_annotate {
    const struct pct_data *data;
    const char *source;   /* files whose path ends so; NULL: any */
    const char *function; /* functions that it selects (pct_name_means); NULL: any */
    double min_percent;   /* lines and functions with less are left out */
    unsigned around;      /* lines shown before and behind a line with figures */
    size_t width;         /* 0: no limit */
    bool utf8;
};

/* True if a line or a function with so much time is not left out: it is enough of the time in MPI
 * or of the sampled CPU time, and not next to nothing of both together, as in trees. */
bool pct_annotate_has_enough(const struct pct_annotate *a, pc_u128 mpi_ns, pc_u128 cpu_ns);

/* Prints source files with figures beside their lines, those with a text first, and of these those
 * with most time. Returns false if
 * no file of that name has any. */
bool pct_annotate_source(FILE *out, const struct pct_annotate *a);

/* Appends the part of the time that is in code without lines, and where the most of it is; nothing
 * if it is little. */
void pct_annotate_dark(struct pct_buf *b, const struct pct_data *d);

/* Writes the functions with figures whose names are nearest to the requested one: "A, B or C", or
 * nothing. Returns its length. */
size_t pct_annotate_nearest(const struct pct_annotate *a, char *out, size_t bytes);

/* Prints `FILE:LINE: message`, to which editors can jump, for each line that calls MPI or was
 * sampled, those with most time first. Returns false as pct_annotate_source. */
bool pct_annotate_quickfix(FILE *out, const struct pct_annotate *a);

/* Prints functions with samples and MPI time beside each instruction, those with most time first,
 * from objdump or from its output stored in the profile. PC_ENOENT: there is no such function with
 * figures; PC_EIO: a module could not be disassembled. The text says why. */
int pct_annotate_assembly(FILE *out, const struct pct_annotate *a, struct pc_error *error);

/* Bounds of the code that is stored. */
enum { PCT_LEAST_STORED_PERCENT = 1, PCT_MOST_STORED_INSTRUCTIONS = 20000 };

/* Adds a table of the instructions of the functions with most time, within the bounds; a function
 * that is too large is left out, but smaller ones after it are not, and a remark is set. PC_EIO: no
 * module with such functions could be disassembled; the text says why. */
int pct_assembly_store(const struct pct_data *d, struct pct_stores *all, struct pc_error *remark,
                       struct pc_error *error);

/* Figures of a row of the table `instructions`. */
struct pct_instruction {
    uint32_t row;
    struct pct_sampled sampled;
    pc_u128 mpi_ns;
};

/* The stored instructions with figures, allocated; *n_out: their number. */
struct pct_instruction *pct_assembly_figures(const struct pct_data *d, size_t *n_out);

/* ---- Text of source files -------------------------------------------------------------------- */

struct pct_source {
    const char **lines; /* from line 1 on, without the newline; NULL: not there */
    size_t n;
    char *text;        /* memory of the lines; NULL: they are in the profile */
    char problem[128]; /* why it could not be read, or may differ from what ran; or empty */
    bool newer;        /* the file was changed after the start of the run */
};

/* The text that is stored in the profile, else the file. */
void pct_source_read(const struct pc_profile *p, const char *path, struct pct_source *out);
/* The text that is stored; false: there is none. */
bool pct_source_read_stored(const struct pc_profile *p, const char *path, struct pct_source *out);
void pct_source_free(struct pct_source *s);

/* The first line of the statement that is in `line` of the file at `path`, by its language; the
 * line itself if it is not known. */
uint32_t pct_source_statement(const struct pct_source *s, const char *path, uint32_t line);

/* The line, not below `line`, in which the definition of the function of that name seems to begin;
 * 0: none was found. */
uint32_t pct_source_function(const struct pct_source *s, const char *path, const char *name,
                             uint32_t line);

/* The tables that these store. */
extern const struct pcollect_table pct_source_lines_table, pct_instructions_table;

/* Adds a table of the text of the source files in which there are calls or samples, but not of
 * those that are newer than the run, of which a remark is set. */
void pct_source_store(const struct pct_data *d, struct pct_stores *all, struct pc_error *remark);

#endif
