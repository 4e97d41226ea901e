/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building and encoding of profiles, for the files of format/ and merge/ only.
 */
#ifndef PC_FORMAT_BUILD_H
#define PC_FORMAT_BUILD_H

#include "format/bytes.h"
#include "format/pool.h"
#include "format/profile.h"

/* An empty profile with its pool; all strings are "". NULL: no memory. */
struct pc_profile *pc_profile_new(void);

/* Memory for the values of records of one rank. */
static inline struct pc_pool *pc_profile_record_memory(const struct pc_profile *p)
{
    return p->records ? p->records : p->memory;
}

/* Ends what a profile has outside of its pool. */
void pc_profile_close(struct pc_profile *p);

/* Makes the record of a node of that kind with n_ranks rows, marked as kept; ranks, values and bins
 * of histograms are 0, and bins are missing with p->no_bins. With n_ranks 0 there are no lists.
 * False: no memory. */
bool pc_profile_data_init(struct pc_profile *p, struct pc_profile_data *d, unsigned kind,
                          uint32_t n_ranks);

/* Makes a record of p without lists from another pool. False: no memory. */
bool pc_profile_data_make(struct pc_pool *pool, const struct pc_profile *p,
                          struct pc_profile_data *d, unsigned kind);

/* Makes the record of a node of that kind for one rank, the only one of the list `rank`; it has
 * `lone`, its values are 0, and it has no histograms yet. False: no memory. */
bool pc_profile_data_of_one(struct pc_profile *p, struct pc_profile_data *d, unsigned kind,
                            int32_t *rank);

/* Gives a record bins of histograms, all 0, in place of those that it has. False: no memory. */
bool pc_profile_data_bins(struct pc_profile *p, struct pc_profile_data *d);

/* Copies a record without bins, which was made from another pool, into p, in as few bytes as it
 * takes; its lists are those of `from`. False: no memory. */
bool pc_profile_data_keep(struct pc_profile *p, const struct pc_profile_data *from,
                          struct pc_profile_data *to);

/* Gives a record of one rank that has values instead of statistics lists of this rank. It must stay
 * where it is. False: no memory. */
bool pc_profile_data_open(struct pc_profile *p, struct pc_profile_data *d);

/* The values of field k in the lists of d, which must be in memory. */
struct pc_by_rank pc_data_listed(const struct pc_profile *p, const struct pc_profile_data *d,
                                 uint32_t k);

/* The statistics of such values of field k. */
struct pc_stat pc_stat_of(const struct pc_profile *p, const struct pc_by_rank *by, uint32_t k);

/* Makes the statistics of d from its lists. */
void pc_profile_data_derive(const struct pc_profile *p, struct pc_profile_data *d);

/* Lists for the ranks and values of a record, or for its times in steps. False: no memory. */
bool pc_profile_data_lists(struct pc_profile *p, struct pc_profile_data *d, uint32_t n_ranks);
bool pc_profile_data_steps(struct pc_profile *p, struct pc_profile_data *d, uint32_t n_ranks);

/* Takes the lists from a record. */
void pc_profile_data_drop(struct pc_profile_data *d);

/* The number of fields of d that are kept in steps, if it keeps steps; and of those before k. */
uint32_t pc_data_n_steps(const struct pc_profile *p, const struct pc_profile_data *d);
uint32_t pc_data_step_place(const struct pc_profile *p, const struct pc_profile_data *d,
                            uint32_t k);

/* Drops the lists of a record that has more ranks than p->per_rank. */
void pc_profile_data_bound(const struct pc_profile *p, struct pc_profile_data *d);

/* True if the rank is one of the profile. */
bool pc_profile_has_rank(const struct pc_profile *p, int32_t rank);

bool pc_stat_same(const struct pc_stat *a, const struct pc_stat *b);

/* Adds a late record of p to one of the same context, which keeps no values, in *out, which has
 * room for statistics and bins, which are 0. `fields` are the numbers from 0 on. */
void pc_record_overlay(struct pc_profile *p, const uint32_t *fields,
                       const struct pc_profile_data *a, const struct pc_profile_data *late,
                       struct pc_profile_data *out);

/* Copies the counters of a rank into the pool; *out is NULL if all are 0. False: no memory. */
bool pc_losses_copy(struct pc_pool *pool, const uint64_t *from, uint64_t **out);

/* Combines two statistics of a field over different ranks. */
struct pc_stat pc_stat_add(const struct pc_stat *a, const struct pc_stat *b);

/* Encodes and decodes records and values (record_code.c), like the coders of profile_code.c. */
void pc_data_encode(const struct pc_profile *p, struct pc_buffer *b);
void pc_values_encode(const struct pc_profile *p, struct pc_buffer *b);
int pc_data_decode(struct pc_profile *p, struct pc_cursor *c);
int pc_values_decode(struct pc_profile *p, struct pc_cursor *c);

/* Lets records that p will have keep their bins coded. False: no memory. */
bool pc_profile_code_bins(struct pc_profile *p);

/* Gives a record such bins: those at bins[k - first_field] for each field k that is a histogram.
 * `room` is for the bytes, and can be used for the next record. False: no memory. */
bool pc_profile_data_code(struct pc_profile *p, struct pc_profile_data *d,
                          const uint64_t *const *bins, struct pc_buffer *room);

/* Does so with bins that have been put one after the other (pc_bins_put). */
bool pc_profile_data_take_code(struct pc_profile *p, struct pc_profile_data *d,
                               const struct pc_buffer *bytes);

/* Encodes the statistics and bins of a record. The lowest bit of its first byte says that its exact
 * values by rank follow elsewhere. */
void pc_record_encode(const struct pc_profile *p, const struct pc_profile_data *d,
                      struct pc_buffer *b);
/* Decodes them into a record of p whose bins are 0. Errors are noted in the cursor. */
void pc_record_decode(const struct pc_profile *p, struct pc_cursor *c, struct pc_profile_data *d);

/* Encodes a context in preorder. Its parent is `up` levels above the context before it. */
void pc_node_encode(const struct pc_profile_node *n, bool is_root, uint64_t up, bool has_record,
                    struct pc_buffer *b);

/* Decodes a context but for its parent: returns how many levels above the one before that is. Its
 * `data` is 0 if it has a record. */
uint64_t pc_node_decode(struct pc_cursor *c, bool is_root, struct pc_profile_node *n);

/* The reason why n cannot be a context of p below `above` and behind its sibling `left`, either
 * NULL if there is none; NULL: it can. */
const char *pc_node_check(const struct pc_profile *p, const struct pc_profile_node *n,
                          const struct pc_profile_node *above, const struct pc_profile_node *left);

/* The order of the next contexts of two trees, whose parents have numbers in their sum. */
int pc_node_compare_next(const struct pc_profile_node *a, const struct pc_profile_node *b);

/* Checks that the statistics of record d, number i of p, are those of its values, in memory or in
 * the file. */
int pc_record_check_values(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                           struct pc_error *error);

/* Checks record d, number i of p. */
int pc_record_check(const struct pc_profile *p, const struct pc_profile_data *d, uint32_t i,
                    struct pc_error *error);

/* Encodes the ranks of a record, and its values of one field, or their steps (list_code.c). */
void pc_ranks_put(const struct pc_by_rank *by, struct pc_buffer *b);
void pc_column_put(const struct pc_by_rank *by, struct pc_buffer *b);
void pc_steps_put(const struct pc_by_rank *by, struct pc_buffer *b);
/* A field in a share: the mean, or 0 if that is no nearer than the value before; then distances. */
void pc_share_column_put(const struct pc_by_rank *by, struct pc_buffer *b);
void pc_share_column_get(struct pc_cursor *c, uint32_t n, uint64_t *out);
void pc_ranks_get(struct pc_cursor *c, uint32_t n, int32_t *out);
void pc_column_get(struct pc_cursor *c, uint32_t n, uint64_t *out, size_t stride);
void pc_steps_get(struct pc_cursor *c, uint32_t n, uint16_t *out, size_t stride);

/* Steps of a column, counted to find from where their distances are taken. */
struct pc_step_survey {
    uint32_t count[PC_MOST_STEP + 1], n;
    uint64_t first, last, from_last; /* sum of the distances from the step before */
};

static inline void pc_step_survey_add(struct pc_step_survey *survey, uint64_t step)
{
    uint64_t before = survey->last;
    if (!survey->n++)
        survey->first = before = step;
    survey->from_last += step > before ? step - before : before - step;
    survey->last = step;
    survey->count[step]++;
}

/* The step from which the distance of the next one is taken: that before, or always the median if
 * that is less: of noise it is. It is in front of the steps (list_code.c). */
struct pc_step_origin {
    uint64_t step;
    bool follow;
};

struct pc_step_origin pc_step_survey_origin(const struct pc_step_survey *survey);
void pc_step_origin_put(const struct pc_step_origin *o, struct pc_buffer *b);
struct pc_step_origin pc_step_origin_get(struct pc_cursor *c);

static inline void pc_step_put(struct pc_step_origin *from, uint64_t step, struct pc_buffer *b)
{
    pc_put_varint(b, pc_zigzag(step - from->step));
    from->step = from->follow ? step : from->step;
}

/* The next step; 0, and the cursor has failed, if it is none. */
static inline uint64_t pc_step_get(struct pc_step_origin *from, struct pc_cursor *c)
{
    uint64_t step = from->step + pc_unzigzag(pc_get_varint(c));
    c->failed |= !pc_step_valid(step);
    step = c->failed ? 0 : step;
    from->step = from->follow ? step : from->step;
    return step;
}

/* Sets n_descendants of all nodes from their parents. */
void pc_profile_count_descendants(struct pc_profile *p);

/* Sets n_comm from the fields. */
void pc_profile_count_groups(struct pc_profile *p);

int pc_field_compare(const struct pc_profile_field *a, const struct pc_profile_field *b);

/* A hash of its names, by which another process knows a field. */
uint64_t pc_field_key(const struct pc_profile_field *f);

/* True for a field that may be stored: pc_field_may_be, and a known group. */
bool pc_field_valid(const struct pc_profile_field *f);

/* True if the two profiles define no field differently. */
bool pc_fields_agree(const struct pc_profile *a, const struct pc_profile *b);

/* Orders two rows by n keys. */
int pc_row_compare(const uint64_t *a, const uint64_t *b, uint32_t n);

/* Combines two values of one column. */
uint64_t pc_column_combine(const struct pc_profile_column *c, uint64_t a, uint64_t b);

/* True for a table that may be stored: names, known types, combines and units, columns in
 * bounds. */
bool pc_table_valid(const struct pc_profile_table *t);

/* True if it has a column of contexts. */
bool pc_table_refers_to_contexts(const struct pc_profile_table *t);

/* True if the two profiles define no table differently. */
bool pc_tables_agree(const struct pc_profile *a, const struct pc_profile *b);

/* Rows of tables that are read on demand (later_rows.c). A profile and its sum with others may have
 * them in common. */
struct pc_later_rows {
    int fd; /* of the file; -1: all are in memory */
    uint32_t n_users;
    struct pc_error error; /* the first one */
    struct pc_pool *memory;
    struct pc_later_column *columns; /* all, as a list */
};

/* Makes p a reader of such rows. False: no memory. */
bool pc_later_open(struct pc_profile *p);
void pc_later_close(struct pc_later_rows *later); /* called once by each user; NULL is allowed */

/* Gives the table t of p the next n_rows rows of c, a cursor of an unpacker, and passes over them.
 * PC_ENOMEM, PC_EIO. */
int pc_later_take(struct pc_profile *p, struct pc_profile_table *t, struct pc_cursor *c,
                  uint32_t n_rows);

/* Gives t, which has the columns of x, the rows of x (of a), with the numbers of the result. False:
 * no memory. */
struct pc_table_side;
bool pc_later_pass(const struct pc_table_side *a, const struct pc_profile_table *x,
                   struct pc_profile_table *t);

/* Makes cells of t->later. PC_ENOMEM; PC_EFORMAT: the rows are damaged, and p->later->error says
 * how. */
int pc_later_make_cells(const struct pc_profile_table *t);

/* Checks the rows that are read on demand, of all tables, without making cells. */
int pc_tables_check_rows(const struct pc_profile *p, struct pc_error *error);

/* Checks strings and tables, for pc_profile_check. */
int pc_tables_check(const struct pc_profile *p, struct pc_error *error);

/* One side of a merge of tables: its profile, and for each of its nodes and strings the index in
 * the result. */
struct pc_table_side {
    const struct pc_profile *p;
    const uint32_t *nodes, *strings;
};
/* Fills out->tables. Rows of a that were not asked for stay so if b adds none. PC_EMISMATCH: a
 * table that the two define differently. PC_EFORMAT: rows are damaged. */
int pc_tables_merge(const struct pc_table_side *a, const struct pc_table_side *b,
                    struct pc_profile *out, struct pc_error *error);

/* Packs the rows of all tables of a profile that was not decoded: its sum with others has them
 * packed. PC_ENOMEM. */
int pc_tables_pack(struct pc_profile *p);

/* Marks the profile of one rank as a checkpoint taken at taken_ns (since 1970): it is incomplete,
 * and gets the table PC_TABLE_CHECKPOINT. PC_ENOMEM. */
int pc_checkpoint_mark(struct pc_profile *p, uint64_t taken_ns);

/* Encodes and decodes the parts of ranks, strings and tables, like the coders of profile_code.c. */
void pc_rank_figures_encode(const struct pc_profile *p, struct pc_buffer *b);
int pc_rank_figures_decode(struct pc_profile *p, struct pc_cursor *c);
void pc_strings_encode(const struct pc_profile *p, struct pc_buffer *b);
void pc_tables_encode(const struct pc_profile *p, struct pc_buffer *b);
/* Returns the part of tables as *n_out pieces, one after the other: packed columns where they lie,
 * the rest in `own`. In a file, times of large tables are rounded (pc_table_rounds). The caller
 * frees the array; NULL: no memory. */
struct pc_piece *pc_tables_pieces(const struct pc_profile *p, bool in_file, struct pc_buffer *own,
                                  size_t *n_out);
/* True if a file has a table of p with times in steps. */
bool pc_tables_round(const struct pc_profile *p);
int pc_strings_decode(struct pc_profile *p, struct pc_cursor *c);
/* With p->later, rows stay in the bytes. */
int pc_tables_decode(struct pc_profile *p, struct pc_cursor *c);

/* Makes the root the only context of p. PC_ENOMEM. */
int pc_profile_make_root(struct pc_profile *p);

/* Combines two values of one field (not for histograms). */
static inline uint64_t pc_field_combine(unsigned combine, uint64_t a, uint64_t b)
{
    switch (combine) {
    case PCOLLECT_SUM:
        return a + b;
    case PCOLLECT_MIN: /* 0: none yet */
        return !a ? b : !b ? a : a < b ? a : b;
    case PCOLLECT_MAX:
        return a > b ? a : b;
    default:
        return 0;
    }
}

/* ---- Parts: a profile as ten pieces of bytes; all but the last are sections of a .pcol file ---
 */

enum pc_part {
    PC_PART_META = 1,
    PC_PART_RANKS,
    PC_PART_MODULES,
    PC_PART_OPS,
    PC_PART_FIELDS,
    PC_PART_NODES,
    PC_PART_DATA,
    PC_PART_STRINGS,
    PC_PART_TABLES,
    PC_PART_VALUES, /* not in files, which have columns instead */
    PC_N_PARTS_END
};
#define PC_STREAM_VERSION 4u

/* The last version of a part, and the first one that is read; all in between are. */
unsigned pc_part_version(unsigned part);
unsigned pc_part_first_version(unsigned part);
/* The version in which a file has the part: the first one that has all of it. */
unsigned pc_part_version_of(const struct pc_profile *p, unsigned part);

const char *pc_part_name(unsigned part);
void pc_part_encode(const struct pc_profile *p, enum pc_part part, struct pc_buffer *out);
/* Decodes a part, which is all that c has. Called for all parts in the order of the enum. The text
 * names the part and the byte. */
int pc_part_decode(struct pc_profile *p, enum pc_part part, struct pc_cursor *c,
                   struct pc_error *error);

/* ---- Container: fixed places in a .pcol file (doc/internals/format.md) ----------------------- */

#define PC_PCOL_MAGIC "\x89PCOL\r\n\x1a"
#define PC_PCOL_HEADER_BYTES 64u
#define PC_PCOL_SECTION_BYTES 32u
#define PC_PCOL_SLOT_HEADER_BYTES 24u
#define PC_PCOL_SLOT_MAGIC 0x4554414cu /* "LATE" */
#define PC_PCOL_SLOT_DEFLATED 1u
#define PC_PCOL_SLOT_ENDED 2u /* the ranks of the record have ended: it will not change */
#define PC_PCOL_TYPE_SLOTS 64u
#define PC_PCOL_SLOTS_VERSION 2u /* version 1 had no sets of ranks */
#define PC_PCOL_TYPE_COLUMNS 65u
#define PC_PCOL_COLUMNS_VERSION 1u
#define PC_PCOL_TYPE_STEPS 66u
#define PC_PCOL_STEPS_VERSION 1u
#define PC_PCOL_TYPE_SHARES 67u
#define PC_PCOL_SHARES_VERSION 1u
#define PC_PCOL_SLOT_MIN_BYTES 32u
#define PC_PCOL_SLOT_MAX_BYTES 4096u

enum pc_section_flag {
    PC_SECTION_DEFLATED = 1u << 0,
    PC_SECTION_REQUIRED = 1u << 1, /* a reader that does not know the type must refuse the file */
    PC_SECTION_LIVE = 1u << 2      /* changes later: the crc covers only the header */
};

struct pc_pcol_header {
    uint32_t major, minor;
    uint32_t n_sections;
    uint64_t file_bytes;
    uint64_t job_key;
    uint64_t slots_at; /* offset of slot 0; 0: none */
    uint32_t slot_bytes, n_slots;
    uint32_t world_size;
    uint64_t shares_at; /* offset of the content of the section of shares; 0: there is none */
};

void pc_pcol_header_encode(const struct pc_pcol_header *h, uint8_t out[PC_PCOL_HEADER_BYTES]);
/* Decodes the header from `n` bytes. The text does not contain the file's name. */
int pc_pcol_header_decode(const uint8_t *data, size_t n, struct pc_pcol_header *out,
                          struct pc_error *error);

/* Bytes to be deflated. Noise is measured numbers, of which few follow each other twice: short
 * repetitions would take more bytes than the numbers. */
struct pc_piece {
    const uint8_t *data;
    size_t n;
    bool noise;
};

/* Deflates pieces, one after the other, into b if that is shorter, and returns true; else copies,
 * and returns false. */
bool pc_pcol_pack_pieces(struct pc_buffer *b, const struct pc_piece *pieces, size_t n);
bool pc_pcol_pack(struct pc_buffer *b, const uint8_t *data, size_t n);
bool pc_pcol_pack_noise(struct pc_buffer *b, const uint8_t *data, size_t n);

/* Deflates data that are made piece by piece. `quick`: in a quarter of the time, to an eighth more
 * bytes. NULL: no memory. */
struct pc_deflater *pc_deflater_new(bool quick);
/* Takes the next n bytes, and appends to `out` what is ready; with `last` all of it. False: no
 * memory. */
bool pc_deflater_put(struct pc_deflater *d, const uint8_t *data, size_t n, bool last,
                     struct pc_buffer *out);
void pc_deflater_free(struct pc_deflater *d);

/* Inflates data, which the caller frees; NULL on failure, with a text. */
uint8_t *pc_pcol_unpack(const uint8_t *data, size_t stored, uint64_t raw, bool deflated,
                        struct pc_error *error);

/* The settings that name another path than that of pc_pcol_write with these flags. A job has a
 * configuration, commands have -o. */
static inline const char *pc_pcol_elsewhere(unsigned flags)
{
    return flags & PC_PCOL_LATE_SLOTS ? "[output] path, or -o" : "-o";
}

/* Sets the text "PATH: WHAT: REASON; CURE" for errno `err`, and returns PC_EIO or PC_ENOENT. The
 * flags are those of pc_pcol_write. */
int pc_pcol_system_error(struct pc_error *error, const char *path, const char *what, int err,
                         unsigned flags);

/* True if `bytes` exceed the file size limit of the process: a write would raise SIGXFSZ. */
bool pc_pcol_over_limit(uint64_t bytes, uint64_t *limit_out);

/* Writes n bytes at `offset`, also after partial writes. 0 or an errno. */
int pc_pcol_write_at(int fd, const void *data, size_t n, uint64_t offset);

/* Reads n bytes at `offset`, 0 or an errno; *n_out is less than n where the file ends. */
int pc_pcol_read_at(int fd, void *data, size_t n, uint64_t offset, size_t *n_out);

/* Encodes as much of the late profile of one rank as fits into `most` bytes, as for the slot of one
 * rank; and decodes it. */
int pc_pcol_late_record(const struct pc_profile *late, uint32_t most, struct pc_buffer *b);
int pc_pcol_late_profile(const uint8_t *record, size_t n, struct pc_profile **out);

/* Overlays the late slots of a file on *p, which is replaced. Damaged slots are left out, and the
 * text says so. in_order: contexts of *p are left in the file. PC_ENOENT: values are needed that
 * were not read, or contexts to which rows refer. */
int pc_pcol_read_slots(int fd, size_t n, const struct pc_pcol_header *h, bool in_order,
                       struct pc_profile **p, struct pc_error *error);

#endif
