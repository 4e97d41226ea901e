/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of records: see record_counts.h.
 */
#include "merge/record_counts.h"

/* ---- Keys ----------------------------------------------------------------------------------- */

static uint64_t join(uint64_t a, uint64_t b)
{
    return pc_hash_u64(a * 0x9e3779b97f4a7c15u + b);
}

static uint64_t text_key(const char *text)
{
    return pc_hash_bytes(text, strlen(text), 0);
}

/* Key of a module (pc_module_compare). */
static uint64_t module_key(const struct pc_profile_module *m)
{
    if (m->build_id_bytes)
        return pc_hash_bytes(m->build_id, m->build_id_bytes, 1);
    return join(text_key(m->path), m->identity);
}

/* Key of a sibling (pc_node_compare). */
static uint64_t node_key(const struct pc_profile_node *n, const uint64_t *modules,
                         const uint64_t *ops)
{
    uint64_t key = n->kind;
    if (n->module != PC_NO_INDEX)
        key = join(key, modules[n->module]);
    if (n->op != PC_NO_INDEX)
        key = join(key, ops[n->op]);
    return join(key, n->offset);
}

uint64_t *pc_record_counts_keys(const struct pc_profile *p)
{
    size_t n = (size_t)p->n_nodes + p->n_modules + p->n_ops;
    uint64_t *paths = malloc(n * sizeof *paths + 1);
    uint64_t *keys = malloc(p->n_data * sizeof *keys + 1);
    if (!paths || !keys) {
        free(paths);
        free(keys);
        return NULL;
    }
    uint64_t *modules = paths + p->n_nodes, *ops = modules + p->n_modules;
    for (uint32_t i = 0; i < p->n_modules; i++)
        modules[i] = module_key(&p->modules[i]);
    for (uint32_t i = 0; i < p->n_ops; i++)
        ops[i] = text_key(p->ops[i].name);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *node = &p->nodes[i];
        uint64_t above = i ? paths[node->parent] : 0;
        paths[i] = join(above, node_key(node, modules, ops));
        if (node->data != PC_NO_INDEX)
            keys[node->data] = paths[i];
    }
    free(paths);
    return keys;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static uint64_t add_up(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint32_t add_up_32(uint32_t a, uint32_t b)
{
    uint32_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

static uint64_t time_of(const struct pc_profile *p, const struct pc_profile_data *d)
{
    pc_u128 sum = 0;
    for (uint32_t k = d->first_field; k < p->n_fields; k++)
        if (p->fields[k].combine == PCOLLECT_SUM && p->fields[k].unit == PCOLLECT_UNIT_NS)
            sum += pc_data_sum(p, d, k);
    sum >>= 10;
    return sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
}

static int compare_rows(const void *a, const void *b)
{
    const struct pc_record_count *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Bytes of one rank in the lists of a record. */
static uint64_t list_bytes(uint64_t n_fields)
{
    return sizeof(int32_t) + n_fields * sizeof(uint64_t);
}

static struct pc_record_count count_record(const struct pc_profile *p, uint32_t i, uint64_t key)
{
    const struct pc_profile_data *d = &p->data[i];
    uint64_t bytes = d->n_ranks * list_bytes((uint64_t)p->n_fields - d->first_field);
    return (struct pc_record_count){key, d->n_ranks, d->n_ranks * pc_data_n_steps(p, d), bytes,
                                    time_of(p, d)};
}

/* Makes the rows of all records, in the order of their keys. Keys are hashes, so their first bits
 * spread them evenly over as many buckets as there are rows, and rows are then near their places.
 * False: no memory. */
static bool make_rows(const struct pc_profile *p, const uint64_t *keys, struct pc_record_count *out)
{
    uint32_t n = p->n_data;
    unsigned bits = 1;
    while (bits < 24 && n >> bits)
        bits++;
    uint32_t *ends = calloc((size_t)1 << bits, sizeof *ends);
    if (!ends)
        return false;
    for (uint32_t i = 0; i < n; i++)
        ends[keys[i] >> (64 - bits)]++;
    for (size_t k = 1; k >> bits == 0; k++)
        ends[k] += ends[k - 1];
    for (uint32_t i = n; i-- > 0;)
        out[--ends[keys[i] >> (64 - bits)]] = count_record(p, i, keys[i]);
    free(ends);
    for (uint32_t i = 1; i < n; i++) {
        struct pc_record_count row = out[i];
        uint32_t at = i;
        for (; at && out[at - 1].key > row.key; at--)
            out[at] = out[at - 1];
        out[at] = row;
    }
    return true;
}

int pc_record_counts_take(const struct pc_profile *p, const uint64_t *keys,
                          struct pc_record_counts *out)
{
    size_t n = 0;
    struct pc_record_count *rows = malloc(p->n_data * sizeof *rows + 1);
    *out = (struct pc_record_counts){rows, 0};
    if (!rows || !make_rows(p, keys, rows))
        return PC_ENOMEM;
    for (uint32_t i = 0; i < p->n_data; i++) {
        if (n && rows[n - 1].key == rows[i].key)
            rows[n - 1].bytes = UINT64_MAX;
        else
            rows[n++] = rows[i];
    }
    out->n = n;
    return PC_OK;
}

static struct pc_record_count add_rows(const struct pc_record_count *a,
                                       const struct pc_record_count *b)
{
    return (struct pc_record_count){.key = a->key,
                                    .n_ranks = add_up_32(a->n_ranks, b->n_ranks),
                                    .n_times = add_up_32(a->n_times, b->n_times),
                                    .bytes = add_up(a->bytes, b->bytes),
                                    .time = add_up(a->time, b->time)};
}

/* Rows in the order of their keys: in memory, or as bytes. */
struct source {
    const struct pc_record_count *rows; /* NULL: as bytes */
    struct pc_cursor c;
    size_t n, at; /* rows; those that were read */
    struct pc_record_count row;
    uint64_t *keys; /* of the rows that were read as bytes */
};

static void decode_row(struct source *from)
{
    struct pc_cursor *c = &from->c;
    struct pc_record_count *row = &from->row;
    uint64_t before = row->key;
    row->key = pc_get_le(c, 8);
    row->n_ranks = (uint32_t)pc_get_below(c, UINT32_MAX);
    uint64_t n_times = row->n_ranks + pc_unzigzag(pc_get_varint(c));
    row->n_times = (uint32_t)n_times;
    row->bytes = pc_get_varint(c);
    row->time = pc_get_varint(c);
    c->failed |= n_times > UINT32_MAX || (from->at && before >= row->key);
}

/* Reads the next row. False: there is none, or it is damaged. */
static bool next_row(struct source *from)
{
    if (from->at == from->n)
        return false;
    if (from->rows) {
        from->row = from->rows[from->at++];
        return true;
    }
    decode_row(from);
    from->keys[from->at++] = from->row.key;
    return !from->c.failed;
}

/* Adds rows in the memory of the sum: its own are moved to the end, and what is written stays
 * before those that are still to be read. */
static int add_from(struct pc_record_counts *sum, struct source *from)
{
    size_t at = 0;
    struct pc_record_count *rows = realloc(sum->rows, (sum->n + from->n) * sizeof *rows + 1);
    if (!rows)
        return PC_ENOMEM;
    const struct pc_record_count *own = rows + from->n, *end = own + sum->n;
    memmove(rows + from->n, rows, sum->n * sizeof *rows);
    for (bool more = next_row(from); more || own < end;) {
        int order = !more ? -1 : own == end ? 1 : compare_rows(own, &from->row);
        rows[at++] = order < 0 ? *own : order > 0 ? from->row : add_rows(own, &from->row);
        own += order <= 0;
        if (order >= 0)
            more = next_row(from);
    }
    *sum = (struct pc_record_counts){rows, at};
    return PC_OK;
}

int pc_record_counts_add(struct pc_record_counts *sum, const struct pc_record_counts *more)
{
    struct source from = {.rows = more->rows, .n = more->n};
    return add_from(sum, &from);
}

void pc_record_counts_keep_places(struct pc_record_counts *c, uint32_t *places)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (places[i] != PC_NO_INDEX) {
            c->rows[n] = c->rows[i];
            places[n++] = places[i];
        }
    struct pc_record_count *shorter = realloc(c->rows, n * sizeof *c->rows + 1);
    *c = (struct pc_record_counts){shorter ? shorter : c->rows, n};
}

/* Packed bytes of a record of one rank: the mean of up to 512 of `of`. To encode all would be as
 * much work as to send them. Contexts repeat in twos and fours, so the distance is odd. UINT64_MAX:
 * no memory. */
static uint64_t bytes_of_one(const struct pc_profile *of)
{
    struct pc_buffer b = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < of->n_data; i += of->n_data / 256 | 1, n++)
        pc_record_encode(of, &of->data[i], &b);
    uint64_t bytes = b.failed ? UINT64_MAX : b.n / (n ? n : 1) + 1;
    free(b.data);
    return bytes;
}

uint64_t pc_record_counts_memory(const struct pc_record_counts *c, const struct pc_profile *of)
{
    enum { FIELD_BYTES = 32 }; /* a field of more ranks has a sum, a second value and its rank */
    /* A context is a frame and its record, both in the sum and in what it is made of, with their
     * numbers in the other; its count is in the sum and in what a child sent. */
    const uint64_t context = 4 * sizeof(struct pc_profile_node) + 6 * sizeof(uint32_t) +
                             2 * sizeof(struct pc_record_count);
    uint64_t one = bytes_of_one(of), sum = 0;
    for (size_t i = 0; i < c->n && one < UINT64_MAX; i++)
        sum += context + 2 * (one + (c->rows[i].n_ranks > 1 ? of->n_fields * FIELD_BYTES : 0));
    if (of->contexts && c->n > of->contexts) /* the others are folded; their counts stay */
        sum = sum / c->n * of->contexts + 2 * c->n * sizeof(struct pc_record_count);
    return one < UINT64_MAX ? sum : one;
}

/* ---- As bytes ------------------------------------------------------------------------------- */

enum { LEAST_ROW_BYTES = 8 + 4 };

void pc_record_counts_encode(const struct pc_record_counts *c, struct pc_buffer *out)
{
    pc_put_varint(out, c->n);
    for (size_t i = 0; i < c->n; i++) {
        pc_put_le(out, c->rows[i].key, 8);
        pc_put_varint(out, c->rows[i].n_ranks);
        pc_put_varint(out, pc_zigzag((uint64_t)c->rows[i].n_times - c->rows[i].n_ranks));
        pc_put_varint(out, c->rows[i].bytes);
        pc_put_varint(out, c->rows[i].time);
    }
}

int pc_record_counts_add_encoded(struct pc_record_counts *sum, const uint8_t *data, size_t n,
                                 struct pc_record_keys *keys)
{
    struct source from = {.c = pc_cursor_over(data, n)};
    from.n = pc_get_count(&from.c, LEAST_ROW_BYTES);
    from.keys = malloc(from.n * sizeof *from.keys + 1);
    int err = from.keys ? add_from(sum, &from) : PC_ENOMEM;
    if (!err && (from.c.failed || from.c.at != from.c.end))
        err = PC_EFORMAT;
    *keys = (struct pc_record_keys){err ? NULL : from.keys, err ? 0 : from.n};
    if (err)
        free(from.keys);
    return err;
}

/* ---- Folded records ------------------------------------------------------------------------- */

/* The time at that place in descending order, found digit by digit. */
static uint64_t time_at_place(const struct pc_record_counts *c, size_t place)
{
    uint64_t time = 0, known = 0;
    for (unsigned shift = 64; shift;) {
        size_t n[256] = {0};
        uint64_t digit = 255;
        shift -= 8;
        for (size_t i = 0; i < c->n; i++)
            if ((c->rows[i].time & known) == time)
                n[c->rows[i].time >> shift & 255]++;
        for (; place >= n[digit]; digit--)
            place -= n[digit];
        time |= digit << shift;
        known |= UINT64_C(255) << shift;
    }
    return time;
}

static void mark_folded(struct pc_record_count *row)
{
    row->n_ranks = 0;
    row->bytes = UINT64_MAX;
}

void pc_record_counts_fold(struct pc_record_counts *c, uint32_t most)
{
    size_t n_more = 0;
    if (!most || c->n <= most)
        return;
    uint64_t least = time_at_place(c, most - 1);
    for (size_t i = 0; i < c->n; i++)
        n_more += c->rows[i].time > least;
    for (size_t i = 0, left = most - n_more; i < c->n; i++) {
        bool equal = c->rows[i].time == least;
        if (c->rows[i].time < least || (equal && !left))
            mark_folded(&c->rows[i]);
        left -= equal && left;
    }
}

/* The row of a key, or NULL. Keys are hashes, so a row is near its share of all of them: the search
 * goes away from there in steps that double, and then back in halves. */
static const struct pc_record_count *find_row(const struct pc_record_counts *c, uint64_t key)
{
    size_t guess = (size_t)((pc_u128)key * c->n >> 64), low = guess, high = guess, step = 1;
    for (; low && c->rows[low].key > key; step *= 2) {
        high = low;
        low -= step < low ? step : low;
    }
    for (; high < c->n && c->rows[high].key < key; step *= 2) {
        low = high;
        high += step < c->n - high ? step : c->n - high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->rows[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->rows[low].key == key ? &c->rows[low] : NULL;
}

bool pc_record_counts_any_folded(const struct pc_record_counts *c)
{
    bool any = false;
    for (size_t i = 0; i < c->n && !any; i++)
        any = !c->rows[i].n_ranks;
    return any;
}

static enum pc_record_fate fate_of(const struct pc_record_count *row)
{
    return !row->n_ranks ? PC_RECORD_FOLDED : row->n_ranks == 1 ? PC_RECORD_OWN : PC_RECORD_SHARED;
}

enum pc_record_fate pc_record_counts_fate(const struct pc_record_counts *c, uint64_t key)
{
    const struct pc_record_count *row = find_row(c, key);
    return row ? fate_of(row) : PC_RECORD_SHARED;
}

uint32_t *pc_record_counts_find(const struct pc_record_counts *all,
                                const struct pc_record_keys *part)
{
    uint32_t *rows = malloc(part->n * sizeof *rows + 1);
    for (size_t i = 0, at = 0; rows && i < part->n; i++) {
        while (at < all->n && all->rows[at].key < part->keys[i])
            at++;
        bool found = at < all->n && all->rows[at].key == part->keys[i];
        rows[i] = found ? (uint32_t)at : PC_NO_INDEX;
    }
    return rows;
}

void pc_record_counts_put_fates(const struct pc_record_counts *all, const uint32_t *rows, size_t n,
                                struct pc_buffer *out)
{
    size_t before = out->n;
    bool any = false;
    unsigned bits = 0;
    for (size_t i = 0; i < n; i++) {
        enum pc_record_fate fate =
            rows[i] == PC_NO_INDEX ? PC_RECORD_SHARED : fate_of(&all->rows[rows[i]]);
        any |= fate == PC_RECORD_FOLDED;
        bits |= (unsigned)fate << i % 4 * 2;
        if (i % 4 == 3 || i + 1 == n) {
            pc_put_le(out, bits, 1);
            bits = 0;
        }
    }
    if (!any)
        out->n = before;
}

/* The numbers of ranks become 0, 1 and 2. */
void pc_record_counts_get_fates(struct pc_record_counts *c, struct pc_cursor *from)
{
    uint64_t bits = 0;
    bool any = pc_cursor_left(from) > 0;
    for (size_t i = 0; any && i < c->n; i++) {
        bits = i % 4 ? bits >> 2 : pc_get_le(from, 1);
        if ((bits & 3) == PC_RECORD_FOLDED)
            mark_folded(&c->rows[i]);
        else
            c->rows[i].n_ranks = (uint32_t)(bits & 3);
    }
    from->failed |= pc_cursor_left(from) > 0;
}

/* ---- The choice ----------------------------------------------------------------------------- */

static int compare_time(const void *a, const void *b)
{
    const struct pc_record_count *x = *(const struct pc_record_count *const *)a,
                                 *y = *(const struct pc_record_count *const *)b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static bool may_keep(const struct pc_record_count *row, const struct pc_kept_bound *bound)
{
    return row->bytes != UINT64_MAX && (!bound->per_rank || row->n_ranks <= bound->per_rank);
}

/* Bytes of its times in steps; UINT64_MAX: it has none, or more than can be counted. */
static uint64_t step_bytes(const struct pc_record_count *row)
{
    if (!row->n_times || row->n_times == UINT32_MAX)
        return UINT64_MAX;
    return row->n_ranks * sizeof(int32_t) + row->n_times * sizeof(uint16_t);
}

/* Keeps the values of a record at that price, if as much is left. */
static void buy(uint64_t *left, uint64_t price, enum pc_kept kind, uint32_t *kept)
{
    if (price > *left)
        return;
    *left -= price;
    *kept = kind;
}

/* Decides for each row how its values are kept, enum pc_kept. */
static void spend(const struct pc_record_counts *c, const struct pc_kept_bound *bound,
                  const struct pc_record_count **order, uint32_t *kept)
{
    uint64_t left = bound->bytes ? bound->bytes : UINT64_MAX;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (may_keep(&c->rows[i], bound))
            order[n++] = &c->rows[i];
    qsort(order, n, sizeof *order, compare_time);
    for (size_t i = 0; i < n && i < PC_KEPT_FIRST && bound->bytes; i++)
        if (step_bytes(order[i]) < order[i]->bytes)
            buy(&left, step_bytes(order[i]), PC_KEPT_STEPS, &kept[order[i] - c->rows]);
    for (size_t i = 0; i < n; i++) {
        uint32_t *how = &kept[order[i] - c->rows];
        uint64_t paid = *how == PC_KEPT_STEPS ? step_bytes(order[i]) : 0;
        if (bound->bytes)
            buy(&left, order[i]->bytes - paid, PC_KEPT_EXACT, how);
        else
            *how = PC_KEPT_EXACT;
    }
}

uint32_t *pc_record_counts_choose(const struct pc_record_counts *c,
                                  const struct pc_kept_bound *bound)
{
    size_t n_candidates = 0;
    for (size_t i = 0; i < c->n; i++)
        n_candidates += may_keep(&c->rows[i], bound);
    const struct pc_record_count **order = malloc(n_candidates * sizeof *order + 1);
    uint32_t *places = calloc(c->n + 1, sizeof *places), n = 0;
    if (!order || !places) {
        free(order);
        free(places);
        return NULL;
    }
    spend(c, bound, order, places);
    for (size_t i = 0; i < c->n; i++)
        places[i] = places[i] ? pc_place(n++, places[i] == PC_KEPT_STEPS) : PC_NO_INDEX;
    free(order);
    return places;
}

uint64_t pc_record_counts_bytes(const struct pc_record_counts *c, const uint32_t *places)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += places[i] != PC_NO_INDEX ? c->rows[i].bytes : 0;
    return sum;
}

static uint32_t place_of(const struct pc_record_counts *c, const uint32_t *places, uint64_t key)
{
    const struct pc_record_count *found = find_row(c, key);
    return found ? places[found - c->rows] : PC_NO_INDEX;
}

uint32_t *pc_record_counts_places(const struct pc_record_counts *c, const uint32_t *places,
                                  const uint64_t *keys, uint32_t n)
{
    uint32_t *out = keys && places ? malloc(n * sizeof *out + 1) : NULL;
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = place_of(c, places, keys[i]);
    return out;
}
