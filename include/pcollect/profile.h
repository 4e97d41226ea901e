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
 * A profile has tables, sums, trees, findings and symbols. Figures are those of `pcollect report`,
 * under the same names; what they mean is in pcollect-report(1).
 *
 * Each function may be called from any thread; a profile and all that belongs to it by one thread
 * at a time. Pointers stay valid until pcol_close. Nothing is printed, and the program is not
 * ended.
 *
 * Errors: pcol_open returns them. What happens later is kept, and pcol_status says so: it is enough
 * to ask it once, at the end. Functions take NULL for a table or a tree that is not there: it is
 * empty, and its figures are not known.
 *
 * Structures to which pointers are returned may get members at their end.
 */
#ifndef PCOLLECT_PROFILE_H
#define PCOLLECT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* functions return structures of the same name */
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
    /* without the values of single ranks: less to read; columns of ranks are not known, and
     * findings, which need these values, may have other figures and name no rank or place */
    PCOL_STATISTICS = 1,
    /* whole paths of source files in labels and paths of contexts */
    PCOL_FULL_PATHS = 2,
    /* with histograms: columns of pcol_sums, not known without; not with PCOL_STATISTICS */
    PCOL_HISTOGRAMS = 4
};

/* A profile by the name of its file. flags: of enum pcol_flag. NULL: *why_out says why; why_out may
 * be NULL. A damaged profile is refused; but what a rank added after the merge is left out if it is
 * damaged, and pcol_warning says so. */
struct pcol_profile *pcol_open(const char *path, unsigned flags, struct pcol_error *why_out);

/* PCOL_OK. PCOL_NO_MEMORY: memory was refused to a call, and nothing is known of the profile since
 * then: it can only be closed. PCOL_DAMAGED: values of single ranks, which are read when they are
 * asked for, could not be read; pcol_warning says why. */
enum pcol_status pcol_status(const struct pcol_profile *p);

/* Remarks on the figures: damaged parts that were left out, values that could not be read, symbols
 * that are not there; each is one line. NULL past the last. */
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
 * Their order has no meaning: `pcollect report` sorts them, largest first. */
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

/* NULL past the last. */
const struct pcol_column *pcol_table_column(const struct pcol_table *t, size_t column);
/* The index of a column; -1: there is none of this name. */
int pcol_table_find(const struct pcol_table *t, const char *column);

struct pcol_value {
    int known;        /* 0: not known, or without meaning in this row */
    const char *text; /* PCOL_TEXT; of an interval that is not known why, as "few"; else NULL */
    double number;    /* in seconds, percent, bytes or units */
    int64_t whole;    /* exact; INT64_MAX if it is greater */
};

/* A cell. Rows and columns that are not there are not known. Texts of tables are escaped: they are
 * UTF-8 in one line. */
struct pcol_value pcol_table_value(const struct pcol_table *t, size_t row, size_t column);

/* ---- Sums ---- */

/* Keys of rows, or-ed, as `pcollect report --by` has it. */
enum pcol_by {
    PCOL_BY_FUNCTION = 1 << 0,
    PCOL_BY_LINE = 1 << 1,
    PCOL_BY_FILE = 1 << 2,
    PCOL_BY_MODULE = 1 << 3,
    PCOL_BY_SITE = 1 << 4,    /* the place of a call, and its MPI function */
    PCOL_BY_CONTEXT = 1 << 5, /* with its MPI function; the keys before have no meaning then */
    PCOL_BY_PRIMITIVE = 1 << 6,
    PCOL_BY_COMMUNICATOR = 1 << 7,
    PCOL_BY_PHASE = 1 << 8,
    PCOL_BY_REGION = 1 << 9,
    PCOL_BY_RANK = 1 << 10
};

/* Calls and samples summed by these: a table with all figures and the fields of plugins. Made when
 * it is first asked for. NULL: memory was refused, or `by` is 0 or has other bits. */
const struct pcol_table *pcol_sums(struct pcol_profile *p, unsigned by);

/* ---- The tree of calling contexts ---- */

struct pcol_tree;

/* Kinds of a node. */
enum pcol_shape {
    PCOL_TREE_FUNCTIONS, /* a function, below what called it: rows of the table `computation` */
    PCOL_TREE_CALLS,     /* a function and where it was called: the tree of `pcollect report` */
    PCOL_TREE_LINES,     /* a function and the line of the call that it makes: rows of `contexts` */
    PCOL_TREE_CALLERS /* upside down: an MPI function or one that computed, below it its callers */
};

enum pcol_kind {
    PCOL_ROOT,
    PCOL_FUNCTION,
    PCOL_MPI,    /* an MPI function that was called */
    PCOL_POINT,  /* PCOL_TREE_LINES: a function that computed, at whatever line */
    PCOL_PHASE,  /* begun by MPI_Pcontrol */
    PCOL_REGION, /* named by the program */
    PCOL_CUT     /* callers that are not known */
};

#define PCOL_NO_NODE UINT32_MAX

/* A node by its index; 0 is the root. A parent comes before its children. */
struct pcol_node {
    enum pcol_kind kind;
    uint32_t parent, first_child, next; /* PCOL_NO_NODE: none */
    const char *label;                  /* as paths of contexts show it, escaped; "" for the root */
    /* Names as they are; NULL: not known. */
    const char *function, *file, *module;
    uint32_t line;         /* PCOL_TREE_LINES: of the call that it makes; 0: none, or not known */
    const char *call_file; /* PCOL_TREE_CALLS: where it was called; NULL: not known */
    uint32_t call_line;
    int inlined;         /* into its parent, at the first address that was seen */
    const char *context; /* its id, as in the column `context` of tables; NULL: it has none */
};

/* Made when it is first asked for. NULL: memory was refused, or there is no such shape. */
const struct pcol_tree *pcol_tree(struct pcol_profile *p, enum pcol_shape shape);
size_t pcol_tree_nodes(const struct pcol_tree *t);
/* NULL past the last. */
const struct pcol_node *pcol_tree_node(const struct pcol_tree *t, size_t node);
/* The figures of the nodes: row i is node i. Columns are calls, time in MPI, bytes, samples, CPU
 * time and its errors, of the node and of all below it. */
const struct pcol_table *pcol_tree_metrics(const struct pcol_tree *t);

/* ---- Findings ---- */

/* Losses of the run, and their places. */
struct pcol_finding {
    const char *rule, *meaning; /* name of the rule, and what it looks for */
    double saves;     /* what would be saved at most, as a part of the run: 0 to 1; 0: that
                       * is not certain, and the sentence has an upper bound */
    double threshold; /* the rule speaks from there on */
    const char *sentence;
    const char *evidence; /* options of `pcollect report` that show more */
    const char *context;  /* id of the one that it is about, as in the column `context`, or NULL */
    int rank;             /* that it is about; -1: none, or several */
};

/* Findings, the one that would surely save most first: without what may be waiting for processors;
 * NULL past the last. May take long when it is first called. */
const struct pcol_finding *pcol_finding(struct pcol_profile *p, size_t i);

/* ---- Symbols ---- */

/* A function at an address. Names as they are; NULL: not known. */
struct pcol_frame {
    const char *function, *file;
    uint32_t line; /* 0: not known */
    int inlined;   /* into the frame before it */
};

/* An address of a context. */
struct pcol_address {
    const char *module; /* its path */
    uint64_t offset;    /* in the module */
    int sampled;        /* an instruction that was sampled; 0: to which a call returns */
    const struct pcol_frame *frames; /* outermost first; at least one */
    size_t n_frames;
};

/* By module and offset; NULL past the last. May take long when it is first called. */
const struct pcol_address *pcol_address(struct pcol_profile *p, size_t i);

/* A line of source, from 1 on, that is stored in the profile (`pcollect embed`); NULL: it is not.
 * No file is read. */
const char *pcol_source_line(struct pcol_profile *p, const char *file, size_t line);

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
