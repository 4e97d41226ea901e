/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a table, read and written one after the other. They are cells in memory, or packed: the
 * bytes of each column as they are in the part of tables. A table of a large job has millions of
 * rows; on their way through the tree of a reduction, and at its root, they stay packed.
 *
 * Used by profile_table.c.
 */
#ifndef PC_FORMAT_TABLE_ROWS_H
#define PC_FORMAT_TABLE_ROWS_H

#include "format/build.h"

enum { PC_TABLE_MOST_COLUMNS = PCOLLECT_MAX_KEYS + PCOLLECT_MAX_VALUES };

/* Reads the rows of a side of a merge, with the numbers of the result. */
struct pc_row_reader {
    const struct pc_table_side *side;
    const struct pc_profile_table *table; /* NULL: none */
    uint32_t n_read;
    bool failed; /* packed rows are damaged; none follows */
    uint32_t n_references, references[PC_TABLE_MOST_COLUMNS]; /* columns that refer to something */
    struct pc_cursor columns[PC_TABLE_MOST_COLUMNS];
    uint64_t cells[PC_TABLE_MOST_COLUMNS]; /* of the row that was read last */
    uint64_t row[PC_TABLE_MOST_COLUMNS];   /* its cells renumbered */
};

void pc_row_reader_open(struct pc_row_reader *r, const struct pc_table_side *side,
                        const struct pc_profile_table *table);

/* Reads the next row; false: there is none, or it is damaged. */
bool pc_row_reader_next(struct pc_row_reader *r);

/* Writes the rows of a table: packed if those are that it is made of, or some of them. */
struct pc_row_writer {
    struct pc_profile_table *table;
    struct pc_buffer columns[PC_TABLE_MOST_COLUMNS];
    uint64_t last[PC_TABLE_MOST_COLUMNS];
};

/* Begins the rows of t, which has the columns of a and b and will have rows of theirs; one of the
 * two may be NULL. False: no memory. To be followed by pc_row_writer_close in either case. */
bool pc_row_writer_open(struct pc_row_writer *w, struct pc_pool *pool, struct pc_profile_table *t,
                        const struct pc_profile_table *a, const struct pc_profile_table *b);
void pc_row_writer_put(struct pc_row_writer *w, const uint64_t *row);
/* Copies the bytes of rows behind the one that r read last, which was put last, as long as they
 * precede `until`. May copy fewer. NULL: no bound, and no row of another reader follows. */
void pc_row_writer_copy(struct pc_row_writer *w, struct pc_row_reader *r, const uint64_t *until);
/* Ends the rows. False: no memory, then or before. */
bool pc_row_writer_close(struct pc_row_writer *w, struct pc_pool *pool);

/* Packs the rows of a table that has cells. False: no memory, the cells stay. */
bool pc_rows_pack(struct pc_profile_table *t, struct pc_pool *pool);

/* Lets t have n_rows packed rows where they lie, in memory that the pool owns. False: no memory. */
bool pc_rows_take(struct pc_profile_table *t, struct pc_pool *pool, struct pc_cursor *c,
                  uint32_t n_rows);

/* True if a file has that table with times in steps. */
bool pc_table_rounds(const struct pc_profile_table *t);

/* Encodes column k: each cell as the difference to the one above. So sorted keys and equal values
 * become bytes that compress well. */
void pc_rows_put(const struct pc_profile_table *t, uint32_t k, struct pc_buffer *b);
/* Encodes the numbers of the steps of column k, with their origin. */
void pc_rows_put_steps(const struct pc_profile_table *t, uint32_t k, struct pc_buffer *b);
/* The origin of a column of steps, with which c begins if they have one. */
static inline struct pc_step_origin pc_step_origin_of(bool has_origin, struct pc_cursor *c)
{
    return has_origin ? pc_step_origin_get(c) : (struct pc_step_origin){.follow = true};
}
/* Decodes column k into cells. */
void pc_rows_get(struct pc_profile_table *t, uint32_t k, struct pc_cursor *c);

/* True if a cell of that type refers to something of p. */
bool pc_cell_valid(const struct pc_profile *p, unsigned type, uint64_t cell);

#endif
