/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of a profile (struct pc_profile_table) and the strings that their cells refer to: check,
 * merge, bytes.
 *
 * Invariant: the rows of a table are sorted by their keys, as unsigned numbers from the first key
 * on, and unique. Cells that refer to contexts or strings are renumbered in a merge by maps that
 * increase, so that sorted rows stay sorted and two tables are joined in one pass. Combining two
 * values does not depend on their order: merging is associative and commutative to the bit.
 */
#include "format/table_rows.h"

static const struct pc_profile_table *find_table(const struct pc_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_tables; i++)
        if (!strcmp(p->tables[i].name, name))
            return &p->tables[i];
    return NULL;
}

const struct pc_profile_table *pc_profile_table(const struct pc_profile *p, const char *name)
{
    const struct pc_profile_table *t = find_table(p, name);
    if (t)
        pc_table_need(p, t);
    return t;
}

const struct pc_profile_table *pc_profile_table_in_order(const struct pc_profile *p,
                                                         const char *name)
{
    return find_table(p, name);
}

uint32_t pc_profile_rows(const struct pc_profile *p, const char *name)
{
    const struct pc_profile_table *t = find_table(p, name);
    return t ? t->n_rows : 0;
}

uint32_t pc_table_column(const struct pc_profile_table *t, const char *name,
                         enum pcollect_column_type type)
{
    for (uint32_t i = 0; t && i < t->n_columns; i++)
        if (t->columns[i].type == type && !strcmp(t->columns[i].name, name))
            return i;
    return PC_NO_INDEX;
}

/* A string by its hash, which is the first member: elements are compared as numbers. */
struct pc_string_hash {
    uint64_t hash;
    const char *text;
};

static int compare_hashes(const void *a, const void *b)
{
    return pc_compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void hash_strings(const struct pc_profile *p, struct pc_string_hash *out)
{
    for (uint32_t i = 0; i < p->n_strings; i++)
        out[i] = (struct pc_string_hash){pc_hash_bytes(p->strings[i], strlen(p->strings[i]), 0),
                                         p->strings[i]};
    qsort(out, p->n_strings, sizeof *out, compare_hashes);
}

const char *pc_profile_region(const struct pc_profile *profile, uint64_t hash)
{
    struct pc_profile *p = (struct pc_profile *)profile; /* which owns the hashes */
    if (!p->hashes && p->n_strings) {
        p->hashes = pc_pool_array(p->memory, p->n_strings, sizeof *p->hashes);
        if (!p->hashes)
            return NULL;
        hash_strings(p, p->hashes);
    }
    const struct pc_string_hash *found =
        p->hashes ? bsearch(&hash, p->hashes, p->n_strings, sizeof *p->hashes, compare_hashes)
                  : NULL;
    return found ? found->text : NULL;
}

int pc_row_compare(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

uint64_t pc_column_combine(const struct pc_profile_column *c, uint64_t a, uint64_t b)
{
    bool is_reference = c->type == PCOLLECT_COLUMN_STRING || c->type == PCOLLECT_COLUMN_NODE;
    return pc_field_combine(is_reference ? PCOLLECT_MIN : c->combine, a, b);
}

/* ---- Check ---------------------------------------------------------------------------------- */

static bool column_valid(const struct pc_profile_column *c, bool is_key)
{
    return *c->name && c->type >= PCOLLECT_COLUMN_NUMBER && c->type <= PCOLLECT_COLUMN_DOMAIN &&
           (is_key ? !c->combine : c->combine >= PCOLLECT_SUM && c->combine <= PCOLLECT_MAX) &&
           c->unit >= PCOLLECT_UNIT_COUNT && c->unit <= PCOLLECT_UNIT_NS &&
           c->unit != PCOLLECT_UNIT_TICKS;
}

bool pc_table_valid(const struct pc_profile_table *t)
{
    bool valid = *t->name && t->n_keys >= 1 && t->n_keys <= PCOLLECT_MAX_KEYS &&
                 t->n_columns > t->n_keys && t->n_columns - t->n_keys <= PCOLLECT_MAX_VALUES;
    for (uint32_t i = 0; valid && i < t->n_columns; i++)
        valid = column_valid(&t->columns[i], i < t->n_keys);
    return valid;
}

bool pc_table_refers_to_contexts(const struct pc_profile_table *t)
{
    bool refers = false;
    for (uint32_t i = 0; i < t->n_columns; i++)
        refers |= t->columns[i].type == PCOLLECT_COLUMN_NODE;
    return refers;
}

/* Checks the rows of a table that is not packed. */
static int check_rows(const struct pc_profile *p, const struct pc_profile_table *t,
                      struct pc_error *error)
{
    uint64_t row[PC_TABLE_MOST_COLUMNS], before[PC_TABLE_MOST_COLUMNS];
    for (uint32_t r = 0; r < t->n_rows; r++) {
        for (uint32_t i = 0; i < t->n_columns; i++) {
            row[i] = pc_table_cell(t, r, i);
            if (!pc_cell_valid(p, t->columns[i].type, row[i]))
                return pc_error_set(error, PC_EFORMAT, "a wrong reference in table '%s' (row %u)",
                                    t->name, r);
        }
        if (r && pc_row_compare(before, row, t->n_keys) >= 0)
            return pc_error_set(error, PC_EFORMAT, "table '%s' is not in order (row %u)", t->name,
                                r);
        memcpy(before, row, t->n_keys * sizeof *row);
    }
    return PC_OK;
}

/* ---- Rows on demand ------------------------------------------------------------------------- */

void pc_table_need(const struct pc_profile *p, const struct pc_profile_table *table)
{
    struct pc_profile_table *t = (struct pc_profile_table *)table; /* of p, which owns it */
    if (t->cells || !t->later)
        return;
    int err = pc_later_make_cells(t);
    if (!err)
        err = check_rows(p, t, &p->later->error);
    t->n_rows = err ? 0 : t->n_rows;
}

static int say_damage(const struct pc_profile *p, struct pc_error *error)
{
    if (p->later && *p->later->error.text)
        return pc_error_set(error, PC_EFORMAT, "%s", p->later->error.text);
    return PC_OK;
}

int pc_tables_check_rows(const struct pc_profile *p, struct pc_error *error)
{
    int err = PC_OK;
    for (uint32_t i = 0; i < p->n_tables && !err; i++)
        if (p->tables[i].later)
            err = check_rows(p, &p->tables[i], error);
    return say_damage(p, error) ? PC_EFORMAT : err;
}

int pc_tables_check(const struct pc_profile *p, struct pc_error *error)
{
    for (uint32_t i = 0; i < p->n_strings; i++)
        if (!*p->strings[i] || (i && strcmp(p->strings[i - 1], p->strings[i]) >= 0))
            return pc_error_set(error, PC_EFORMAT, "strings are not in order (number %u)", i);
    int err = PC_OK;
    for (uint32_t i = 0; !err && i < p->n_tables; i++) {
        if (!pc_table_valid(&p->tables[i]))
            return pc_error_set(error, PC_EFORMAT, "a table of unknown kind (number %u)", i);
        if (i && strcmp(p->tables[i - 1].name, p->tables[i].name) >= 0)
            return pc_error_set(error, PC_EFORMAT, "tables are not in order (number %u)", i);
        if (p->tables[i].cells)
            err = check_rows(p, &p->tables[i], error);
    }
    return err;
}

/* ---- Merge ---------------------------------------------------------------------------------- */

static bool has_same_columns(const struct pc_profile_table *a, const struct pc_profile_table *b)
{
    if (a->n_keys != b->n_keys || a->n_columns != b->n_columns)
        return false;
    for (uint32_t i = 0; i < a->n_columns; i++) {
        const struct pc_profile_column *x = &a->columns[i], *y = &b->columns[i];
        if (x->type != y->type || x->combine != y->combine || x->unit != y->unit ||
            strcmp(x->name, y->name) != 0)
            return false;
    }
    return !strcmp(a->plugin, b->plugin);
}

bool pc_tables_agree(const struct pc_profile *a, const struct pc_profile *b)
{
    for (uint32_t i = 0; i < a->n_tables; i++) {
        const struct pc_profile_table *other = find_table(b, a->tables[i].name);
        if (other && !has_same_columns(&a->tables[i], other))
            return false;
    }
    return true;
}

/* Merges the rows of x (of a) and y (of b); either may be NULL. */
static int join_rows(const struct pc_table_side *a, const struct pc_profile_table *x,
                     const struct pc_table_side *b, const struct pc_profile_table *y,
                     struct pc_profile *out, struct pc_profile_table *t)
{
    struct pc_row_reader of_a, of_b;
    struct pc_row_writer w;
    pc_row_reader_open(&of_a, a, x);
    pc_row_reader_open(&of_b, b, y);
    bool ok = pc_row_writer_open(&w, out->memory, t, x, y);
    bool has_a = ok && pc_row_reader_next(&of_a), has_b = ok && pc_row_reader_next(&of_b);
    while (has_a || has_b) {
        int order = !has_a ? 1 : !has_b ? -1 : pc_row_compare(of_a.row, of_b.row, t->n_keys);
        for (uint32_t k = t->n_keys; order == 0 && k < t->n_columns; k++)
            of_a.row[k] = pc_column_combine(&t->columns[k], of_a.row[k], of_b.row[k]);
        pc_row_writer_put(&w, order <= 0 ? of_a.row : of_b.row);
        if (order)
            pc_row_writer_copy(&w, order < 0 ? &of_a : &of_b,
                               order < 0 ? (has_b ? of_b.row : NULL)
                               : has_a   ? of_a.row
                                         : NULL);
        has_a = order <= 0 ? pc_row_reader_next(&of_a) : has_a;
        has_b = order >= 0 ? pc_row_reader_next(&of_b) : has_b;
    }
    ok &= pc_row_writer_close(&w, out->memory);
    return !ok ? PC_ENOMEM : of_a.failed || of_b.failed ? PC_EFORMAT : PC_OK;
}

static char *copy_text(struct pc_profile *p, const char *text)
{
    return pc_pool_text(p->memory, text, strlen(text));
}

/* A table with the columns of `from` and no rows. */
static bool copy_columns(const struct pc_profile_table *from, struct pc_profile *p,
                         struct pc_profile_table *t)
{
    *t = (struct pc_profile_table){.n_keys = from->n_keys, .n_columns = from->n_columns};
    t->name = copy_text(p, from->name);
    t->plugin = copy_text(p, from->plugin);
    t->columns = pc_pool_array(p->memory, from->n_columns, sizeof *t->columns);
    bool ok = t->name && t->plugin && t->columns;
    for (uint32_t i = 0; ok && i < from->n_columns; i++) {
        t->columns[i] = from->columns[i];
        t->columns[i].name = copy_text(p, from->columns[i].name);
        ok = t->columns[i].name != NULL;
    }
    return ok;
}

/* Fills t, which has the columns of x and y, of which one may be NULL. */
static int merge_rows(const struct pc_table_side *a, const struct pc_profile_table *x,
                      const struct pc_table_side *b, const struct pc_profile_table *y,
                      struct pc_profile *out, struct pc_profile_table *t, struct pc_error *error)
{
    if (x && x->later && !x->cells && !(y && y->n_rows))
        return pc_later_pass(a, x, t) ? PC_OK : PC_ENOMEM;
    if (x)
        pc_table_need(a->p, x);
    if (y)
        pc_table_need(b->p, y);
    int err = say_damage(a->p, error);
    if (!err)
        err = say_damage(b->p, error);
    return err ? err : join_rows(a, x, b, y, out, t);
}

static void share_later_rows(const struct pc_profile *a, struct pc_profile *out)
{
    out->later = a->later;
    if (out->later)
        out->later->n_users++;
}

int pc_tables_merge(const struct pc_table_side *a, const struct pc_table_side *b,
                    struct pc_profile *out, struct pc_error *error)
{
    uint32_t i = 0, j = 0, n_a = a->p->n_tables, n_b = b->p->n_tables;
    out->tables = pc_pool_array(out->memory, (size_t)n_a + n_b, sizeof *out->tables);
    if (!out->tables)
        return PC_ENOMEM;
    share_later_rows(a->p, out);
    while (i < n_a || j < n_b) {
        const struct pc_profile_table *x = i < n_a ? &a->p->tables[i] : NULL;
        const struct pc_profile_table *y = j < n_b ? &b->p->tables[j] : NULL;
        int order = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);
        if (order < 0)
            y = NULL;
        else if (order > 0)
            x = NULL;
        else if (!has_same_columns(x, y))
            return pc_error_set(error, PC_EMISMATCH,
                                "table '%s' differs between the profiles: they were collected by "
                                "different versions",
                                x->name);
        struct pc_profile_table *t = &out->tables[out->n_tables++];
        int err =
            copy_columns(x ? x : y, out, t) ? merge_rows(a, x, b, y, out, t, error) : PC_ENOMEM;
        t->rounded = (x && x->rounded) || (y && y->rounded);
        if (err)
            return pc_error_set(error, err, "table '%s': %s", t->name ? t->name : "?",
                                pc_err_text(err));
        i += x != NULL;
        j += y != NULL;
    }
    return PC_OK;
}

int pc_tables_pack(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_tables; i++)
        if (!pc_rows_pack(&p->tables[i], p->memory))
            return PC_ENOMEM;
    return PC_OK;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

void pc_strings_encode(const struct pc_profile *p, struct pc_buffer *b)
{
    pc_put_varint(b, p->n_strings);
    for (uint32_t i = 0; i < p->n_strings; i++)
        pc_put_text(b, p->strings[i]);
}

/* Times of a table: a part of version 2 has no origins. */
enum { EXACT, IN_STEPS, IN_STEPS_WITH_ORIGINS };

static void encode_columns(const struct pc_profile_table *t, bool rounded, struct pc_buffer *b)
{
    pc_put_text(b, t->name);
    pc_put_text(b, t->plugin);
    pc_put_varint(b, t->n_keys);
    pc_put_varint(b, t->n_columns);
    for (uint32_t k = 0; k < t->n_columns; k++) {
        pc_put_text(b, t->columns[k].name);
        pc_put_varint(b, t->columns[k].type);
        pc_put_varint(b, t->columns[k].combine);
        pc_put_varint(b, t->columns[k].unit);
    }
    pc_put_varint(b, rounded ? IN_STEPS_WITH_ORIGINS : EXACT);
    pc_put_varint(b, t->n_rows);
}

/* Ends a piece of what was put: the bytes since the last one, which began at *done. */
static void cut(const struct pc_buffer *own, size_t *done, bool noise, struct pc_piece *out)
{
    *out = (struct pc_piece){NULL, own->n - *done, noise};
    *done = own->n;
}

bool pc_tables_round(const struct pc_profile *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->n_tables; i++)
        any |= p->tables[i].rounded || pc_table_rounds(&p->tables[i]);
    return any;
}

struct pc_piece *pc_tables_pieces(const struct pc_profile *p, bool in_file, struct pc_buffer *own,
                                  size_t *n_out)
{
    size_t n = 0, done = 0;
    struct pc_piece *out =
        malloc((1 + (size_t)p->n_tables * 2 * PC_TABLE_MOST_COLUMNS) * sizeof *out);
    pc_put_varint(own, p->n_tables);
    for (uint32_t i = 0; out && i < p->n_tables; i++) {
        const struct pc_profile_table *t = &p->tables[i];
        bool rounded = t->rounded || (in_file && pc_table_rounds(t));
        encode_columns(t, rounded, own);
        for (uint32_t k = 0; k < t->n_columns; k++) {
            if (pc_column_has_steps(t, k, rounded)) {
                cut(own, &done, false, &out[n++]);
                pc_rows_put_steps(t, k, own);
                cut(own, &done, true, &out[n++]);
            } else if (t->packed) {
                cut(own, &done, false, &out[n++]);
                out[n++] = (struct pc_piece){t->packed[k].data, t->packed[k].n, false};
            } else {
                pc_rows_put(t, k, own);
            }
        }
    }
    if (!out)
        return NULL;
    cut(own, &done, false, &out[n++]);
    const uint8_t *at = own->data;
    for (size_t i = 0; i < n; i++)
        if (!out[i].data) {
            out[i].data = at;
            at += out[i].n;
        }
    *n_out = n;
    return out;
}

void pc_tables_encode(const struct pc_profile *p, struct pc_buffer *b)
{
    struct pc_buffer own = {0};
    size_t n = 0;
    struct pc_piece *pieces = pc_tables_pieces(p, false, &own, &n);
    for (size_t i = 0; i < n; i++)
        pc_put_bytes(b, pieces[i].data, pieces[i].n);
    b->failed |= own.failed || !pieces;
    free(pieces);
    free(own.data);
}

int pc_strings_decode(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 1);
    p->strings = pc_pool_array(p->memory, n, sizeof *p->strings);
    if (!p->strings)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        p->strings[i] = pc_get_text(p->memory, c);
        if (!p->strings[i])
            return PC_ENOMEM;
        c->failed |= !*p->strings[i] || (i && strcmp(p->strings[i - 1], p->strings[i]) >= 0);
    }
    p->n_strings = c->failed ? 0 : n;
    return PC_OK;
}

static int decode_columns(struct pc_profile *p, struct pc_cursor *c, struct pc_profile_table *t)
{
    t->name = pc_get_text(p->memory, c);
    t->plugin = pc_get_text(p->memory, c);
    t->n_keys = (uint32_t)pc_get_below(c, PCOLLECT_MAX_KEYS);
    t->n_columns = (uint32_t)pc_get_below(c, PC_TABLE_MOST_COLUMNS);
    t->columns = pc_pool_array(p->memory, t->n_columns, sizeof *t->columns);
    if (!t->name || !t->plugin || !t->columns)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        struct pc_profile_column *column = &t->columns[i];
        column->name = pc_get_text(p->memory, c);
        column->type = (uint16_t)pc_get_below(c, UINT16_MAX);
        column->combine = (uint16_t)pc_get_below(c, UINT16_MAX);
        column->unit = (uint16_t)pc_get_below(c, UINT16_MAX);
        if (!column->name)
            return PC_ENOMEM;
    }
    uint64_t times = pc_get_below(c, IN_STEPS_WITH_ORIGINS);
    t->rounded = times != EXACT;
    t->has_origins = times == IN_STEPS_WITH_ORIGINS;
    c->failed |= !pc_table_valid(t) || (t->rounded && p->unchecked);
    return PC_OK;
}

static int decode_rows(struct pc_profile *p, struct pc_cursor *c, struct pc_profile_table *t)
{
    uint32_t n = c->failed ? 0 : pc_get_count(c, t->n_columns);
    if (p->later)
        return pc_later_take(p, t, c, n);
    if (p->unchecked)
        return pc_rows_take(t, p->memory, c, n) ? PC_OK : PC_ENOMEM;
    t->cells = pc_pool_array(p->memory, n, t->n_columns * sizeof *t->cells);
    if (!t->cells)
        return PC_ENOMEM;
    t->n_rows = n;
    for (uint32_t k = 0; k < t->n_columns; k++)
        pc_rows_get(t, k, c);
    return PC_OK;
}

int pc_tables_decode(struct pc_profile *p, struct pc_cursor *c)
{
    uint32_t n = pc_get_count(c, 8);
    p->tables = pc_pool_array(p->memory, n, sizeof *p->tables);
    if (!p->tables)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        int err = decode_columns(p, c, &p->tables[i]);
        if (!err)
            err = decode_rows(p, c, &p->tables[i]);
        if (err)
            return err;
        p->n_tables++;
    }
    return PC_OK;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static bool fill_checkpoint(struct pc_profile *p, struct pc_profile_table *t, uint64_t taken_ns)
{
    *t = (struct pc_profile_table){.n_keys = 1, .n_columns = 2, .n_rows = 1};
    t->name = copy_text(p, PC_TABLE_CHECKPOINT);
    t->plugin = copy_text(p, "pcollect");
    t->columns = pc_pool_array(p->memory, 2, sizeof *t->columns);
    t->cells = pc_pool_array(p->memory, 2, sizeof *t->cells);
    if (!t->name || !t->plugin || !t->columns || !t->cells)
        return false;
    t->columns[0] = (struct pc_profile_column){
        .name = copy_text(p, "rank"), .type = PCOLLECT_COLUMN_RANK, .unit = PCOLLECT_UNIT_COUNT};
    t->columns[1] = (struct pc_profile_column){.name = copy_text(p, "taken"),
                                               .type = PCOLLECT_COLUMN_NUMBER,
                                               .combine = PCOLLECT_MAX,
                                               .unit = PCOLLECT_UNIT_NS};
    t->cells[0] = (uint64_t)(int64_t)p->ranks[0].rank;
    t->cells[1] = taken_ns;
    return t->columns[0].name && t->columns[1].name;
}

int pc_checkpoint_mark(struct pc_profile *p, uint64_t taken_ns)
{
    uint32_t at = 0;
    p->ranks[0].incomplete = 1;
    if (pc_profile_table(p, PC_TABLE_CHECKPOINT)) /* a plugin has a table of this name */
        return PC_OK;
    struct pc_profile_table *tables = pc_pool_array(p->memory, p->n_tables + 1u, sizeof *tables);
    if (!tables)
        return PC_ENOMEM;
    while (at < p->n_tables && strcmp(p->tables[at].name, PC_TABLE_CHECKPOINT) < 0)
        at++;
    if (at)
        memcpy(tables, p->tables, at * sizeof *tables);
    if (at < p->n_tables)
        memcpy(tables + at + 1, p->tables + at, (p->n_tables - at) * sizeof *tables);
    if (!fill_checkpoint(p, &tables[at], taken_ns))
        return PC_ENOMEM;
    p->tables = tables;
    p->n_tables++;
    return PC_OK;
}
