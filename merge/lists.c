/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of ranks as runs of bytes: see lists.h.
 */
#include "merge/lists.h"

#include "format/record_rows.h"

void pc_lists_drop(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_data; i++)
        pc_profile_data_drop(&p->data[i]);
}

/* The records that have places, in the order of places; NULL: no memory. */
static uint32_t *order_of_places(const struct pc_profile *p, const uint32_t *place_of_record,
                                 uint32_t *n_out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        if (place_of_record[i] != PC_NO_INDEX && pc_place_number(place_of_record[i]) >= n)
            n = pc_place_number(place_of_record[i]) + 1;
    uint32_t *records = malloc(n * sizeof *records + 1);
    for (uint32_t i = 0; records && i < n; i++)
        records[i] = PC_NO_INDEX;
    for (uint32_t i = 0; records && i < p->n_data; i++)
        if (place_of_record[i] != PC_NO_INDEX)
            records[pc_place_number(place_of_record[i])] = i;
    *n_out = n;
    return records;
}

static void put_record(const struct pc_profile *p, const struct pc_profile_data *d, bool in_steps,
                       struct pc_buffer *out)
{
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        uint64_t value = pc_data_value(p, d, 0, k);
        if (in_steps && pc_field_in_steps(p, d, k))
            pc_put_varint(out, pc_step_of(value));
        else if (!in_steps && p->fields[k].combine != PCOLLECT_HIST)
            pc_put_varint(out, value);
    }
}

void pc_lists_put(struct pc_profile *p, const uint32_t *place_of_record, struct pc_buffer *out)
{
    uint32_t n_places, n = 0;
    uint32_t *records = order_of_places(p, place_of_record, &n_places);
    for (uint32_t i = 0; records && i < n_places; i++)
        n += records[i] != PC_NO_INDEX;
    pc_put_le(out, (uint32_t)p->ranks[0].rank, 4);
    pc_put_le(out, 0, 8);
    size_t begin = out->n;
    pc_put_varint(out, p->n_fields);
    pc_put_varint(out, p->n_comm);
    for (uint32_t k = 0; k < p->n_fields; k++)
        pc_put_le(out, pc_field_key(&p->fields[k]), 8);
    pc_put_varint(out, n);
    for (uint32_t i = 0, next = 0; records && i < n_places; i++) {
        if (records[i] == PC_NO_INDEX)
            continue;
        pc_put_varint(out, i - next);
        next = i + 1;
        put_record(p, &p->data[records[i]], pc_place_in_steps(place_of_record[records[i]]), out);
    }
    pc_lists_drop(p);
    out->failed |= !records;
    if (!out->failed)
        pc_store_le(out->data + begin - 8, out->n - begin, 8);
    free(records);
}

/* ---- Get ------------------------------------------------------------------------------------ */

/* The values that a run has of each record of one kind: element at[i] of the row of the rank. */
struct layout {
    uint32_t width, n; /* elements of the row, and those that the run has */
    uint32_t at[PC_PROFILE_MAX_FIELDS];
};

/* Those of runs with the same fields. */
struct layouts {
    struct layout values[2], steps[2]; /* of records with comm fields, and of those without */
};

struct getting {
    struct pc_profile *p;
    const uint64_t *field_keys; /* of p */
    uint32_t *records;          /* by place */
    uint32_t n_places;
    uint32_t *filled;        /* by record: rows that are there */
    struct layouts *layouts; /* of the run that is read */
    struct pc_bytes head;    /* the fields of that run */
    struct pc_cursor c;
};

static uint32_t find_field(const struct getting *g, uint64_t key, uint32_t guess)
{
    if (guess < g->p->n_fields && g->field_keys[guess] == key)
        return guess;
    for (uint32_t k = 0; k < g->p->n_fields; k++)
        if (g->field_keys[k] == key)
            return k;
    return PC_NO_INDEX;
}

/* Begins the layouts of a run. */
static void begin_layouts(const struct getting *g)
{
    const struct pc_profile *p = g->p;
    for (unsigned i = 0; i < 2; i++) {
        const struct pc_profile_data d = {.first_field = i ? p->n_comm : 0};
        g->layouts->values[i].width = p->n_fields - d.first_field;
        g->layouts->steps[i].width = pc_data_n_steps(p, &d);
        g->layouts->values[i].n = g->layouts->steps[i].n = 0;
    }
}

/* Adds field k of p to what a run has. */
static void lay_out(const struct getting *g, uint32_t k, bool without_comm)
{
    const struct pc_profile *p = g->p;
    const struct pc_profile_data d = {.first_field = without_comm ? p->n_comm : 0};
    struct layout *values = &g->layouts->values[without_comm];
    struct layout *steps = &g->layouts->steps[without_comm];
    if (p->fields[k].combine != PCOLLECT_HIST)
        values->at[values->n++] = k - d.first_field;
    if (pc_field_in_steps(p, &d, k))
        steps->at[steps->n++] = pc_data_step_place(p, &d, k);
}

/* Reads the fields of a run. */
static void get_fields(struct getting *g)
{
    uint32_t n_fields = (uint32_t)pc_get_below(&g->c, PC_PROFILE_MAX_FIELDS);
    uint32_t n_comm = (uint32_t)pc_get_below(&g->c, n_fields);
    begin_layouts(g);
    for (uint32_t k = 0; k < n_fields && !g->c.failed; k++) {
        uint32_t field = find_field(g, pc_get_le(&g->c, 8), k);
        /* Fields of compute plugins come after the others in both profiles. */
        g->c.failed |= field == PC_NO_INDEX || (k >= n_comm) != (field >= g->p->n_comm);
        if (g->c.failed)
            return;
        lay_out(g, field, false);
        if (k >= n_comm)
            lay_out(g, field, true);
    }
}

/* Does the same, but for a run that begins as the one before. */
static void get_head(struct getting *g)
{
    const uint8_t *at = g->c.at;
    size_t n = g->head.n;
    if (n && n <= pc_cursor_left(&g->c) && !memcmp(at, g->head.data, n)) {
        g->c.at += n;
        return;
    }
    get_fields(g);
    g->head = (struct pc_bytes){at, (size_t)(g->c.at - at)};
}

static void get_values(struct getting *g, struct pc_profile_data *d, uint32_t row)
{
    const struct layout *l = &g->layouts->values[d->first_field != 0];
    uint64_t *values = d->values + (size_t)row * l->width;
    for (uint32_t i = 0; i < l->n; i++)
        values[l->at[i]] = pc_get_varint(&g->c);
}

static void get_steps(struct getting *g, struct pc_profile_data *d, uint32_t row)
{
    const struct layout *l = &g->layouts->steps[d->first_field != 0];
    uint16_t *steps = d->steps + (size_t)row * l->width;
    for (uint32_t i = 0; i < l->n; i++)
        steps[l->at[i]] = (uint16_t)pc_get_below(&g->c, PC_MOST_STEP);
}

static void get_record(struct getting *g, int32_t rank, uint32_t place)
{
    uint32_t i = place < g->n_places ? g->records[place] : PC_NO_INDEX;
    struct pc_profile_data *d = i != PC_NO_INDEX ? &g->p->data[i] : NULL;
    if (!d || g->filled[i] == d->n_ranks) {
        g->c.failed = true;
        return;
    }
    uint32_t row = g->filled[i]++;
    if (d->n_ranks < g->p->n_ranks)
        d->ranks[row] = rank;
    else
        g->c.failed |= d->ranks[row] != rank; /* a list of all ranks is that of others, too */
    if (d->kept == PC_KEPT_STEPS)
        get_steps(g, d, row);
    else
        get_values(g, d, row);
}

/* The values of a rank. */
struct run {
    int32_t rank;
    const uint8_t *data;
    uint64_t n;
};

static int by_rank(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void get_run(struct getting *g, const struct run *run)
{
    g->c = pc_cursor_over(run->data, run->n);
    get_head(g);
    uint32_t n = pc_get_count(&g->c, 1);
    uint64_t place = 0;
    for (uint32_t i = 0; i < n && !g->c.failed; i++) {
        place += pc_get_below(&g->c, g->n_places);
        get_record(g, run->rank, (uint32_t)place++);
    }
    g->c.failed |= g->c.at != g->c.end;
}

/* Room for the lists of records with places; records whose place another one has get none. */
static bool make_lists(struct getting *g, const uint32_t *place_of_record)
{
    struct pc_profile *p = g->p;
    uint8_t *kept = calloc(p->n_data + (size_t)1, sizeof *kept);
    for (uint32_t i = 0; kept && i < p->n_data; i++) {
        uint32_t place = place_of_record[i];
        if (place != PC_NO_INDEX && g->records[pc_place_number(place)] == i)
            kept[i] = pc_place_in_steps(place) ? PC_KEPT_STEPS : PC_KEPT_EXACT;
    }
    bool ok = kept && pc_records_make_lists(p, kept);
    free(kept);
    return ok;
}

/* True if all expected values have been read. */
static bool is_complete(const struct getting *g)
{
    for (uint32_t i = 0; i < g->p->n_data; i++)
        if (g->p->data[i].kept && g->filled[i] != g->p->data[i].n_ranks)
            return false;
    return true;
}

/* Gets the runs, one of each rank, in the order of ranks. */
static int get_runs(struct getting *g, const uint8_t *data, size_t n)
{
    struct pc_cursor c = pc_cursor_over(data, n);
    uint32_t n_runs = 0;
    struct run *runs = malloc(g->p->n_ranks * sizeof *runs + 1);
    if (!runs)
        return PC_ENOMEM;
    for (; n_runs < g->p->n_ranks && pc_cursor_left(&c); n_runs++) {
        struct run *run = &runs[n_runs];
        run->rank = (int32_t)pc_get_le(&c, 4);
        run->n = pc_get_le(&c, 8);
        run->data = pc_get_bytes(&c, run->n);
        c.failed |= run->rank < 0;
    }
    g->c.failed = c.failed || pc_cursor_left(&c);
    qsort(runs, n_runs, sizeof *runs, by_rank);
    for (uint32_t i = 0; i < n_runs && !g->c.failed; i++)
        get_run(g, &runs[i]);
    free(runs);
    return g->c.failed || !is_complete(g) ? PC_EFORMAT : PC_OK;
}

int pc_lists_get(struct pc_profile *p, const uint32_t *place_of_record, const uint8_t *data,
                 size_t n)
{
    uint32_t n_places;
    uint32_t *records = order_of_places(p, place_of_record, &n_places);
    uint64_t *field_keys = malloc(p->n_fields * sizeof *field_keys + 1);
    struct getting g = {.p = p,
                        .field_keys = field_keys,
                        .records = records,
                        .n_places = n_places,
                        .filled = calloc(p->n_data + (size_t)1, sizeof *g.filled),
                        .layouts = malloc(sizeof *g.layouts)};
    int err = PC_ENOMEM;
    if (field_keys && records && g.filled && g.layouts && make_lists(&g, place_of_record)) {
        for (uint32_t k = 0; k < p->n_fields; k++)
            field_keys[k] = pc_field_key(&p->fields[k]);
        err = get_runs(&g, data, n);
    }
    free(field_keys);
    free(records);
    free(g.filled);
    free(g.layouts);
    return err;
}

uint32_t *pc_lists_places(const struct pc_profile *p, const struct pc_record_counts *counts,
                          const uint32_t *places)
{
    uint64_t *keys = pc_record_counts_keys(p);
    uint32_t *place_of_record = pc_record_counts_places(counts, places, keys, p->n_data);
    free(keys);
    return place_of_record;
}

int pc_lists_leave(struct pc_profile *p, uint32_t *place_of_record)
{
    uint32_t n_places, n = 0;
    uint32_t *records = order_of_places(p, place_of_record, &n_places);
    uint8_t *kept = calloc(p->n_data + (size_t)1, sizeof *kept);
    bool ok = records && kept;
    for (uint32_t i = 0; ok && i < p->n_data; i++) {
        if (place_of_record[i] == PC_NO_INDEX)
            continue;
        place_of_record[i] = pc_place_number(place_of_record[i]);
        ok = records[place_of_record[i]] == i; /* else two records have one key */
        kept[i] = PC_KEPT_EXACT;
        n++;
    }
    int err = !records || !kept ? PC_ENOMEM : !ok || n != n_places ? PC_EFORMAT : PC_OK;
    if (!err && !(p->packed && pc_records_mark(p, kept)))
        err = PC_ENOMEM;
    free(records);
    free(kept);
    return err;
}
