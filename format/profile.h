/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profile in memory: the merged trees of one or more ranks. It is what the ranks send each
 * other, what a .pcol file holds, and what the report reads.
 *
 * Invariants (pc_profile_check tests them):
 *  - modules are sorted by pc_module_compare and unique; ops are sorted by name and unique;
 *    fields are sorted by (group, plugin, name) and unique; ranks are sorted by rank and unique;
 *    strings are sorted and unique; tables are sorted by name and unique, the rows of each by their
 *    keys and unique;
 *  - nodes are in preorder, node 0 is the root; the children of a node are sorted by
 *    pc_node_compare and unique, so that equal profiles have equal bytes;
 *  - data are numbered in the order of their nodes;
 *  - every per-rank list is sorted by rank and complete: each rank that has the context is in it,
 *    and the statistics are those of the listed values, or of the times that were measured if
 *    these are listed in steps; a record of more than per_rank ranks keeps statistics only.
 * Merging two profiles is therefore one linear pass, associative and commutative to the bit.
 *
 * Nothing here is AS-safe; all functions are MT-safe on different profiles.
 */
#ifndef PC_PROFILE_H
#define PC_PROFILE_H

#include "base/base.h"
#include "include/pcollect/arena.h"
#include "include/pcollect/plugin.h"

#include <string.h>

typedef unsigned __int128 pc_u128;

#define PC_NO_INDEX UINT32_MAX
#define PC_PROFILE_MAX_BINS 64u
#define PC_PROFILE_MAX_FIELDS 4096u

struct pc_profile_module {
    uint8_t build_id[PCOLLECT_BUILD_ID_BYTES];
    uint32_t build_id_bytes; /* 0: identified by path and identity */
    uint32_t flags;          /* enum pcollect_module_flag, of all ranks */
    uint64_t identity;       /* of equal modules the least */
    char *path;              /* of equal modules the least in byte order */
};

struct pc_profile_op {
    char *name;
    uint16_t op_class; /* enum pcollect_class */
};

struct pc_profile_field {
    char *plugin, *name;
    uint16_t combine; /* enum pcollect_combine */
    uint16_t unit;    /* enum pcollect_unit; ticks have become nanoseconds */
    uint16_t bins;    /* PCOLLECT_HIST only, at most PC_PROFILE_MAX_BINS */
    uint16_t group;   /* enum pcollect_group */
};

struct pc_profile_column {
    char *name;
    uint16_t type;    /* enum pcollect_column_type */
    uint16_t combine; /* enum pcollect_combine without histograms; keys: 0 */
    uint16_t unit;    /* enum pcollect_unit, never ticks */
};

struct pc_bytes {
    const uint8_t *data;
    size_t n;
};

/* Times that are not kept exactly are numbers of steps: a time is within 1 / PC_STEPS of its step.
 * There are PC_STEPS / 2 steps between a power of two and its double; numbers below PC_STEPS are
 * steps. */
#define PC_STEPS 128u
#define PC_MOST_STEP (PC_STEPS / 2 * 57 + PC_STEPS - 1)

/* The number of the nearest step. */
static inline uint64_t pc_step_of(uint64_t v)
{
    if (v < PC_STEPS)
        return v;
    unsigned shift = 57u - (unsigned)__builtin_clzll(v); /* 7 bits are left */
    uint64_t step = (uint64_t)PC_STEPS / 2 * shift + (v >> shift) + (v >> (shift - 1) & 1);
    return step < PC_MOST_STEP ? step : PC_MOST_STEP;
}

/* The value of a step. */
static inline uint64_t pc_step_value(uint64_t step)
{
    const uint64_t half = PC_STEPS / 2;
    return step < PC_STEPS ? step : (half + step % half) << (step / half - 1);
}

static inline bool pc_step_valid(uint64_t step)
{
    return step <= PC_MOST_STEP;
}

/* A table of a plugin: rows of keys and values, summed over threads and ranks. A cell holds
 *  - NUMBER, DOMAIN: the number;
 *  - RANK: the rank with its sign widened; negative values are none and stand behind all ranks;
 *  - NODE: the index of a context; 0 (the root): none;
 *  - STRING: 1 + the index of a string; 0: none.
 * A file has the times of a table in steps if its rows are of ranks and more than
 * PC_TABLE_EXACT_ROWS. */
#define PC_TABLE_EXACT_ROWS 65536u
struct pc_later_column;
struct pc_profile_table {
    char *name, *plugin;
    uint32_t n_keys, n_columns; /* keys come first */
    bool rounded;               /* times are in steps: it was read from such a file */
    bool has_origins;           /* there, steps have their origin in front (format/build.h) */
    struct pc_profile_column *columns;
    uint32_t n_rows;
    uint64_t *cells;               /* n_rows x n_columns; NULL: `packed` or `later` has them */
    struct pc_bytes *packed;       /* by column, its cells (format/table_rows.h), or NULL */
    struct pc_later_column *later; /* by column, cells that are read on demand, or NULL */
};

/* Figures of one rank. Times in nanoseconds; the three spans add up to the time from exec to the
 * last moment known. A span that was never reached is 0. The main thread is the one that called
 * MPI_Init: while it is in MPI, the rank is. */
struct pc_profile_rank {
    int32_t rank;
    int32_t pid;
    char *host;
    uint64_t start_realtime_ns; /* since 1970 */
    uint64_t before_init_ns;    /* exec to MPI_Init; to the end without MPI_Init */
    uint64_t inside_ns;         /* MPI_Init to the return of MPI_Finalize, or as far as known */
    uint64_t after_ns;          /* MPI_Finalize to exit; 0 with `closed` false */
    uint64_t mpi_ns, mpi_calls; /* of all threads; outermost calls only */
    uint64_t others_mpi_ns;     /* part of mpi_ns of other threads than the main thread */
    uint64_t merge_ns;          /* spent by this library in MPI_Finalize; not in mpi_ns */
    uint32_t n_threads;
    uint32_t
        n_others;    /* other threads that called MPI; those that followed each other count once */
    uint32_t closed; /* the process was seen to its end */
    uint32_t incomplete; /* recovered, or a checkpoint: MPI_Finalize was not reached */
    uint64_t notes;      /* enum pcollect_note */
    uint64_t *lost;      /* PCOLLECT_N_LOST counters of the profile; NULL: all are 0, as of most */
};

static inline uint64_t pc_rank_lost(const struct pc_profile_rank *r, unsigned what)
{
    return r->lost ? r->lost[what] : 0;
}

/* Scalar metric of one node over ranks. Ranks without the context are not included (n counts those
 * that have it; for PCOLLECT_MIN fields those whose value is not 0, which means "none yet"). With n
 * = 0 all members are 0. */
struct pc_stat {
    pc_u128 sum;
    pc_u128 sum_squares; /* modulo 2^128 */
    uint64_t n, min, max;
    int32_t min_rank, max_rank; /* the lowest rank with that value */
};

/* Offset of a FRAME without module below which are the calls and samples of contexts that are not
 * kept apart (merge/fold.h). */
#define PC_NODE_FOLDED UINT64_MAX
#define PC_NODE_FOLDED_POINT (PC_NODE_FOLDED - 1) /* of a POINT there: looked up as the FRAME */

struct pc_profile_node {
    uint32_t parent; /* PC_NO_INDEX for the root */
    uint32_t n_descendants;
    uint16_t kind;   /* enum pcollect_node_kind */
    uint16_t flags;  /* enum pcollect_node_flag, of all ranks */
    uint32_t module; /* FRAME, POINT: index, or PC_NO_INDEX: unknown; others: PC_NO_INDEX */
    uint32_t op;     /* OP: index into ops; others: PC_NO_INDEX */
    uint32_t data;   /* index into data, or PC_NO_INDEX */
    uint64_t offset; /* FRAME, POINT: address minus the module's bias; DOMAIN, PHASE, REGION: as in
                        struct pcollect_node; others: 0 */
};

static inline bool pc_node_is_folded(const struct pc_profile_node *n)
{
    return n->kind == PCOLLECT_NODE_FRAME && n->module == PC_NO_INDEX &&
           n->offset == PC_NODE_FOLDED;
}

/* True if node i is a top, or below one. Asked of all nodes, from the first to the last: *end is
 * where the nodes below the last top end, and 0 before. */
static inline bool pc_node_is_within(const struct pc_profile_node *n, uint32_t i, bool is_top,
                                     uint32_t *end)
{
    if (is_top && i >= *end)
        *end = i + 1 + n->n_descendants;
    return i < *end;
}

/* True if a node of the same kind and name is around node i: a region inside itself. */
static inline bool pc_node_is_nested(const struct pc_profile_node *n, uint32_t i)
{
    uint32_t up = n[i].parent;
    while (up != PC_NO_INDEX && (n[up].kind != n[i].kind || n[up].offset != n[i].offset))
        up = n[up].parent;
    return up != PC_NO_INDEX;
}

/* The part of the values of its ranks that a record keeps beside their statistics. */
enum pc_kept {
    PC_KEPT_NONE,
    PC_KEPT_EXACT, /* the values of all scalar fields */
    PC_KEPT_STEPS  /* its times alone, in steps (pc_field_in_steps) */
};

/* The form in which a record has its statistics. Those of one rank may be its values, if they
 * follow from these. */
enum pc_form {
    PC_FORM_STATS,
    PC_FORM_LONE,  /* in the profile of an arena, where `lone` is the row of values */
    PC_FORM_PACKED /* in one that was read without values */
};

/* The record of one node: for each of its fields either a statistic or bins. The record of an OP or
 * DOMAIN has all fields of the profile, that of a POINT those of compute plugins, from first_field
 * on. Field k is element k - first_field of stats, lone, packed and bins, and of each row of
 * values. Records that have no statistics have coded histograms. A large profile has a million
 * records. */
struct pc_profile_data {
    uint32_t first_field;
    uint32_t n_ranks;   /* ranks that have the context, at least 1 */
    int32_t first_rank; /* the lowest of them */
    uint8_t kept;       /* enum pc_kept; the lists are not in memory if p->statistics_only */
    uint8_t form;       /* enum pc_form */
    bool is_coded;      /* its histograms are; see p->bins_room */
    uint32_t stored;    /* number of the record in p->columns or p->steps, if it has no lists */
    union {
        struct pc_stat *stats; /* n_fields - first_field; histograms: only n is used */
        uint64_t *lone;        /* n_fields - first_field values of rank first_rank */
        const uint8_t *packed; /* the same as varints (pc_data_unpack) */
    };
    union {
        uint64_t **bins; /* n_fields - first_field; NULL but for histograms; NULL: p->no_bins */
        const uint8_t *coded; /* with is_coded: bins of all histograms, as in a file */
    };
    int32_t *ranks; /* n_ranks, ascending; NULL: only the statistics are here, and no lists */
    union {
        uint64_t *values; /* row per rank; 0 for histograms */
        uint16_t *steps;  /* with PC_KEPT_STEPS: row per rank, of its times */
    };
};

struct pc_shares; /* format/value_shares.h */

struct pc_profile {
    char *exe, *mpi, *job; /* empty: unknown */
    uint64_t job_key;
    uint32_t world_size; /* ranks the job had; n_ranks of them are here */
    uint32_t n_ranks, n_modules, n_ops, n_fields, n_nodes, n_data, n_strings, n_tables;
    uint32_t n_comm;       /* fields of group 0, which come first */
    uint32_t per_rank;     /* a record keeps its values up to that many ranks; 0: always */
    uint64_t values_bytes; /* of one rank: bound of the values of all; 0: none */
    uint32_t contexts;     /* of one rank: records of the job that are kept apart; 0: all */
    bool statistics_only;  /* it was read without values that the file has */
    bool no_bins;          /* it was read without histograms */
    bool lacks_values;     /* some values by rank were missing in its file, or damaged */
    uint64_t *bins_room;   /* of pc_data_bins; NULL: histograms are not coded */
    bool unchecked;        /* decoded so: packed records and rows, not checked yet */
    uint8_t *packed;       /* records (format/record_rows.h), with malloc; NULL: in data */
    size_t packed_bytes;
    struct pc_columns *columns;  /* source of values that are read on demand, or NULL */
    struct pc_columns *steps;    /* source of times in steps, or NULL: the file has none, or all
                                    are in memory */
    struct pc_shares *shares;    /* values by rank that others will write to its file, or NULL */
    struct pc_later_rows *later; /* rows of tables that are read on demand, or NULL */
    /* Contexts that are read in their order alone (format/contexts.h), or NULL. Then the root is
     * the only node, and data are the records whose values are in the file, without statistics. */
    struct pc_later_contexts *later_contexts;
    struct pc_profile_rank *ranks;
    struct pc_profile_module *modules;
    struct pc_profile_op *ops;
    struct pc_profile_field *fields;
    struct pc_profile_node *nodes;
    struct pc_profile_data *data; /* of packed records: NULL, or structures without statistics */
    char **strings;
    struct pc_string_hash *hashes; /* of strings, in order; NULL: not asked for yet */
    struct pc_profile_table *tables;
    struct pc_pool *records; /* of records of one rank, until they are packed; NULL: memory */
    struct pc_pool *memory;  /* everything above, and this structure, freed at once */
};

/* Unit of each member of enum pcollect_lost, as the report prints it after the number. For 1 the
 * first word that ends with s is a singular. */
extern const char *const pcollect_lost_names[PCOLLECT_N_LOST];

/* True for what is of one rank; the others are of a whole recording, and may be times. */
static inline bool pc_lost_is_of_rank(size_t k)
{
    return k < PCOLLECT_LOST_CPU_MS || k >= PCOLLECT_LOST_LENT;
}

/* The node around node i, or NULL. */
static inline const struct pc_profile_node *pc_profile_above(const struct pc_profile *p, uint32_t i)
{
    return p->nodes[i].parent == PC_NO_INDEX ? NULL : &p->nodes[p->nodes[i].parent];
}

void pc_profile_free(struct pc_profile *p); /* NULL is allowed */

/* The counters of losses of a rank of p, to be changed; made if it has none. NULL: no memory. */
uint64_t *pc_rank_losses(struct pc_profile *p, struct pc_profile_rank *r);

/* Total order of modules, and of the children of one node (of one profile). */
int pc_module_compare(const struct pc_profile_module *a, const struct pc_profile_module *b);
int pc_node_compare(const struct pc_profile_node *a, const struct pc_profile_node *b);

/* True for a field that may be stored: known combine and unit, bins of a histogram alone and in
 * bounds. Readers ask it, and the host of plugins. */
static inline bool pc_field_may_be(unsigned combine, unsigned unit, unsigned bins)
{
    return combine >= PCOLLECT_SUM && combine <= PCOLLECT_HIST && unit >= PCOLLECT_UNIT_COUNT &&
           unit <= PCOLLECT_UNIT_NS &&
           (combine == PCOLLECT_HIST ? bins >= 1 && bins <= PC_PROFILE_MAX_BINS : !bins);
}

/* The statistic of a field that has this value in one rank alone. */
static inline struct pc_stat pc_stat_of_one(const struct pc_profile_field *f, int32_t rank,
                                            uint64_t v)
{
    if (f->combine == PCOLLECT_HIST)
        return (struct pc_stat){.n = 1};
    if (f->combine == PCOLLECT_MIN && !v)
        return (struct pc_stat){.n = 0};
    return (struct pc_stat){v, (pc_u128)v * v, 1, v, v, rank, rank};
}

/* Field k of a packed record. */
uint64_t pc_data_unpack(const struct pc_profile_data *d, uint32_t k);

/* Field k of a record of one rank that has values instead of statistics. */
static inline uint64_t pc_data_of_one(const struct pc_profile_data *d, uint32_t k)
{
    return d->form == PC_FORM_LONE ? d->lone[k - d->first_field] : pc_data_unpack(d, k);
}

/* The statistic of field k in record d of p; of no rank if the record does not have the field. */
static inline struct pc_stat pc_data_stat(const struct pc_profile *p,
                                          const struct pc_profile_data *d, uint32_t k)
{
    if (k < d->first_field)
        return (struct pc_stat){.n = 0};
    return d->form == PC_FORM_STATS
               ? d->stats[k - d->first_field]
               : pc_stat_of_one(&p->fields[k], d->first_rank, pc_data_of_one(d, k));
}

/* Its sum alone, which readers ask for most. */
static inline pc_u128 pc_data_sum(const struct pc_profile *p, const struct pc_profile_data *d,
                                  uint32_t k)
{
    if (k < d->first_field)
        return 0;
    if (d->form == PC_FORM_STATS)
        return d->stats[k - d->first_field].sum;
    return p->fields[k].combine == PCOLLECT_HIST ? 0 : pc_data_of_one(d, k);
}

/* Decodes the coded bins of field k, a histogram of the record, into p->bins_room. */
const uint64_t *pc_data_decode_bins(const struct pc_profile *p, const struct pc_profile_data *d,
                                    uint32_t k);

/* The bins of field k, valid until the next call for p; NULL: it is not in this record, is no
 * histogram, or was not read. */
static inline const uint64_t *pc_data_bins(const struct pc_profile *p,
                                           const struct pc_profile_data *d, uint32_t k)
{
    if (k < d->first_field)
        return NULL;
    if (!d->is_coded)
        return d->bins ? d->bins[k - d->first_field] : NULL;
    return p->fields[k].combine == PCOLLECT_HIST ? pc_data_decode_bins(p, d, k) : NULL;
}

/* True for the fields that a record keeps of its ranks if it keeps times in steps: sums of times,
 * in the record of a call those of comm plugins, in that of a POINT those of compute plugins. */
static inline bool pc_field_in_steps(const struct pc_profile *p, const struct pc_profile_data *d,
                                     uint32_t k)
{
    const struct pc_profile_field *f = &p->fields[k];
    return f->combine == PCOLLECT_SUM && f->unit == PCOLLECT_UNIT_NS &&
           (k >= p->n_comm) == (d->first_field == p->n_comm);
}

/* The values of one field of a record by rank. */
struct pc_by_rank {
    uint32_t n;             /* ranks; 0: their values are not kept, or were not read */
    const int32_t *ranks;   /* ascending; in a damaged file they may not be in the profile */
    const uint64_t *values; /* of ranks[i]: values[i * stride], or */
    const uint16_t *steps;  /* steps[i * stride], if it is not NULL */
    size_t stride;
};

static inline uint64_t pc_by_rank_value(const struct pc_by_rank *by, uint32_t i)
{
    return by->steps ? pc_step_value(by->steps[i * by->stride]) : by->values[i * by->stride];
}

/* Field k of record d of p, 0 for each rank if the record does not have it; from memory or from the
 * file. A record with times in steps has no other fields. Valid until the next call for p. */
struct pc_by_rank pc_data_by_rank(const struct pc_profile *p, const struct pc_profile_data *d,
                                  uint32_t k);

/* Reason why values or rows that were asked for could not be read from the file; NULL: all were. */
const char *pc_profile_unread(const struct pc_profile *p);

/* The part of the values of its ranks that the record has in memory or in the file: enum pc_kept.
 */
static inline unsigned pc_data_has(const struct pc_profile *p, const struct pc_profile_data *d)
{
    bool in_file = d->kept == PC_KEPT_STEPS ? p->steps != NULL : p->columns != NULL;
    return d->ranks || in_file ? d->kept : PC_KEPT_NONE;
}

/* True if some records have times of their ranks in steps. */
static inline bool pc_profile_has_steps(const struct pc_profile *p)
{
    bool has = false;
    for (uint32_t i = 0; i < p->n_data && !has; i++)
        has = pc_data_has(p, &p->data[i]) == PC_KEPT_STEPS;
    return has;
}

/* The value of field k for d->ranks[row], where d->values are there; 0: it is not in this record.
 */
static inline uint64_t pc_data_value(const struct pc_profile *p, const struct pc_profile_data *d,
                                     uint32_t row, uint32_t k)
{
    size_t width = p->n_fields - d->first_field;
    return k >= d->first_field ? d->values[row * width + k - d->first_field] : 0;
}

/* The table of a checkpoint: a row for each rank that ran when the profile was made; the column
 * `taken` is the moment, in ns since 1970. */
#define PC_TABLE_CHECKPOINT "checkpoint"

/* The table of that name, with its cells, or NULL. */
const struct pc_profile_table *pc_profile_table(const struct pc_profile *p, const char *name);

/* The table of that name for callers that take its cells by pc_table_cell alone, and those of a
 * column from the first row to the last: cells that are read on demand are then never in memory
 * together. If rows are damaged, cells are 0 from there on, and pc_profile_unread says so. */
const struct pc_profile_table *pc_profile_table_in_order(const struct pc_profile *p,
                                                         const char *name);

/* Its number of rows, without making cells; 0: there is no such table. */
uint32_t pc_profile_rows(const struct pc_profile *p, const char *name);

/* Makes the cells of table t of p, whose rows may have been left in the file until now.
 * If they are damaged, the table has no rows any more, and pc_profile_unread says so. */
void pc_table_need(const struct pc_profile *p, const struct pc_profile_table *t);

/* The column of that name and type, or PC_NO_INDEX; also for no table (NULL). Readers that find a
 * table by its name must give types: another plugin may have a table of this name, and cells were
 * checked by their type. */
uint32_t pc_table_column(const struct pc_profile_table *t, const char *name,
                         enum pcollect_column_type type);

/* A cell that is read on demand, for pc_table_cell. */
uint64_t pc_table_later_cell(const struct pc_profile_table *t, uint32_t row, uint32_t column);

/* A cell; 0 if the column does not exist. */
static inline uint64_t pc_table_cell(const struct pc_profile_table *t, uint32_t row,
                                     uint32_t column)
{
    if (column == PC_NO_INDEX)
        return 0;
    return t->cells ? t->cells[(size_t)row * t->n_columns + column]
                    : pc_table_later_cell(t, row, column);
}

/* True if column k has steps where the table is rounded: a sum of times. */
static inline bool pc_column_has_steps(const struct pc_profile_table *t, uint32_t k, bool rounded)
{
    const struct pc_profile_column *c = &t->columns[k];
    return rounded && k >= t->n_keys && c->type == PCOLLECT_COLUMN_NUMBER &&
           c->combine == PCOLLECT_SUM && c->unit == PCOLLECT_UNIT_NS;
}

/* The text of a cell of type STRING; "" for none. */
static inline const char *pc_profile_string(const struct pc_profile *p, uint64_t cell)
{
    return cell ? p->strings[cell - 1] : "";
}

/* The name of a region by the `offset` of its node, or NULL. The first call hashes all strings. */
const char *pc_profile_region(const struct pc_profile *p, uint64_t hash);

/* 0 if the invariants above hold; else PC_EFORMAT with the first that does not. */
int pc_profile_check(const struct pc_profile *p, struct pc_error *error);

/* Checks values and rows that were not read yet: reads the rows of all tables without making
 * cells, and the values, a few records at a time. */
int pc_profile_check_values(const struct pc_profile *p, struct pc_error *error);

/* The profile as bytes, and back. The bytes of equal profiles are equal. Decoding checks every
 * length and index, and the invariants: no input makes it crash. The caller frees *data_out with
 * free(). */
int pc_profile_encode(const struct pc_profile *p, uint8_t **data_out, size_t *n_out);
int pc_profile_decode(const uint8_t *data, size_t n, struct pc_profile **out,
                      struct pc_error *error);

/* Decodes a profile without values by rank, but leaves its records and the rows of its tables where
 * they lie, and those of its sum with others, which has no such values either, are packed. Takes
 * over the data, which must be of malloc, also if it fails. What is packed is checked when it is
 * merged. For pc_profile_merge, pc_profile_encode and pc_pcol_write alone. */
int pc_profile_decode_packed(uint8_t *data, size_t n, struct pc_profile **out,
                             struct pc_error *error);

/* ---- Merging -------------------------------------------------------------------------------- */

/* The sum of two profiles of different ranks of one job. PC_EMISMATCH: a rank in both, another
 * job_key or world_size, or a field or table that the two define differently. a and b are
 * unchanged. If one has values that are still in a file, the sum reads them from there, too.
 * PC_ENOENT: such values would have to be added to values of the other, or are in two files. */
int pc_profile_merge(const struct pc_profile *a, const struct pc_profile *b,
                     struct pc_profile **out, struct pc_error *error);

/* Overlays b on *p where they may share ranks (data from after the merge): records of the same rank
 * are added; members of struct pc_profile_rank that b knows (not 0, not empty) replace those of *p;
 * notes are united. If a record of *p has statistics only, sums stay exact, and the other figures
 * are bounds: doc/internals/format.md. The result takes over the memory of *p: what b does not
 * change is not copied. PC_ENOENT: values are needed that were not read. After this and PC_ENOMEM
 * *p is only to be freed; after other errors it is as before. */
int pc_profile_overlay(struct pc_profile **p, const struct pc_profile *b, struct pc_error *error);

/* Many profiles of different ranks, in any order, at the cost of a balanced tree. Zero-initialise.
 * add takes ownership of p, also on failure, after which only free is allowed. finish gives the sum
 * (NULL if nothing was added) and leaves nothing to free. */
struct pc_profile_sum {
    struct pc_profile *part[64]; /* part[k]: sum of 2^k profiles, or NULL */
};
int pc_profile_sum_add(struct pc_profile_sum *s, struct pc_profile *p, struct pc_error *error);
int pc_profile_sum_finish(struct pc_profile_sum *s, struct pc_profile **out,
                          struct pc_error *error);
void pc_profile_sum_free(struct pc_profile_sum *s);

/* ---- .pcol files (doc/internals/format.md) -------------------------------------------------- */

#define PC_PCOL_MAJOR 1u
#define PC_PCOL_MINOR 4u       /* of a file that has values by rank in shares */
#define PC_PCOL_MINOR_STEPS 3u /* of one that has times in steps by rank */
#define PC_PCOL_MINOR_LEAST 2u /* of others */

enum pc_pcol_flag {
    PC_PCOL_LATE_SLOTS = 1u << 0, /* make room for what each rank of the world adds at its exit */
    PC_PCOL_ON_DISK = 1u << 1     /* it is on the disk before it gets its name */
};

/* Checks that a profile may be written to path: no file is there, or a complete profile of this
 * user that is not read-only. PC_EIO with a text that gives reason and cure. The flags are those
 * with which it will be written. MT-safe. */
int pc_pcol_may_write(const char *path, unsigned flags, struct pc_error *error);

/* True if the file is a profile of that job, and not cut off. Reads its header alone. MT-safe. */
bool pc_pcol_is_of_job(const char *path, uint64_t job_key);

/* Writes a file without a name in the folder of path, then gives it the name, if pc_pcol_may_write
 * (format/new_file.c): path is replaced at once or not at all. On failure nothing is left behind
 * and the text says why and what to do. */
int pc_pcol_write(const struct pc_profile *p, const char *path, unsigned flags,
                  struct pc_error *error);

/* Length of the path without ".pcol" at its end. */
static inline size_t pc_pcol_stem(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && memcmp(path + n - 5, ".pcol", 5) == 0 ? n - 5 : n;
}

/* Number i, from 1, of the names that a profile may get: path, then app.4.2.pcol, app.4.3.pcol, ...
 * for app.4.pcol. PC_EARG with a text: it is longer than n. */
int pc_pcol_number(const char *path, unsigned i, char *out, size_t n, struct pc_error *error);

/* Writes a profile that replaces nothing: to the first of these names that no file has, which is in
 * written (PCOLLECT_PATH_BYTES) then. Concurrent processes get different names. Anything but a
 * regular file is refused, as by pc_pcol_write. */
int pc_pcol_write_new(const struct pc_profile *p, const char *path, unsigned flags, char *written,
                      struct pc_error *error);

/* Reads a file, with what its ranks added at their end. PC_OK with a text (else it is empty): a
 * part that could be left out was damaged. PC_ENOENT, PC_EIO, PC_EFORMAT, PC_EVERSION otherwise. */
int pc_pcol_read(const char *path, struct pc_profile **out, struct pc_error *error);

/* Reads a profile without the values by rank: the file is read without these, and histograms are
 * not kept. Statistics are those of pc_pcol_read, taken from the file unchecked against values.
 * Rows of tables are made into cells when they are asked for. Only for reading: it cannot be
 * written. */
int pc_pcol_read_statistics(const char *path, struct pc_profile **out, struct pc_error *error);

/* Reads ranks and tables alone, as above: the profile has no contexts but the root, no records, and
 * no tables that refer to contexts. Of what it passes over checksums are verified, but those of the
 * values. */
int pc_pcol_read_ranks(const char *path, struct pc_profile **out, struct pc_error *error);

/* Reads a profile for whoever takes its contexts in their order (format/contexts.h), with values as
 * below, or without: it has no contexts in memory, but a file with late parts that need the values
 * is read as a whole. References of its tables to contexts are numbers of the file. */
int pc_pcol_read_contexts(const char *path, bool with_values, struct pc_profile **out,
                          struct pc_error *error);

/* Reads a profile whose values are read when pc_data_by_rank asks for them. The file stays open
 * until the profile is freed, and its checksums are verified. Rows of tables as above. */
int pc_pcol_read_columns(const char *path, struct pc_profile **out, struct pc_error *error);

/* Does the same with histograms and all cells. The profile, and its sum with others, can be
 * written: then the values are read. */
int pc_pcol_read_histograms(const char *path, struct pc_profile **out, struct pc_error *error);

/* Does the same for whoever adds what has no contexts (pc_profile_overlay), and writes it: contexts
 * and records are left in the file, unless late parts change what refers to them. */
int pc_pcol_read_around(const char *path, struct pc_profile **out, struct pc_error *error);

/* Writes what happened in ranks after the merge into their slots: the end of MPI_Finalize, the time
 * to exit, calls made meanwhile. `ranks` is an ascending list; late[i] is a profile of rank i of it
 * alone, or NULL if nothing is known of it. Overwrites what these slots held. Verifies that path is
 * still the file of that job. Rows of tables that find no room are left out first, and counted as
 * PCOLLECT_LOST_ROWS; then contexts are collapsed to one node per primitive; if those find no room
 * either, they are left out and counted as PCOLLECT_LOST_LATE. Any number of processes may call it
 * at once, for lists of which no two have a rank in common. ended: it is the last part of all. */
int pc_pcol_write_node(const char *path, const struct pc_profile *const *late, const int32_t *ranks,
                       uint32_t n, bool ended, struct pc_error *error);

/* pc_pcol_write_node for one rank. */
int pc_pcol_write_late(const char *path, const struct pc_profile *late, bool ended,
                       struct pc_error *error);

/* The share of the values by rank that are those of ranks first_rank to last_rank, in the file of
 * that job. */
struct pc_share_target {
    const char *path;
    uint64_t job_key;
    uint32_t world_size;
    int32_t first_rank, last_rank;
};

/* Writes the share (format/value_shares.h) to its place, which the file has. Several processes may
 * call it at once, for different shares. Verifies that the file is still that of the job. On
 * failure a part of the share may be there: readers see that, and leave it out. */
int pc_pcol_write_share(const struct pc_share_target *to, const uint8_t *data, size_t n,
                        struct pc_error *error);

/* The number of ranks whose last part is not in the file: they, or ranks of their node, still run
 * or were killed. 0 in a file without slots. */
int pc_pcol_count_running(const char *path, uint32_t *n_out, struct pc_error *error);

#endif
