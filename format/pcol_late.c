/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Late slots. The data of each rank after the merge (the rest of MPI_Finalize, destructors, the
 * time to its exit) cannot be sent by MPI any more. The file has a slot of fixed size for every
 * rank of the world; each process writes its own by one pwrite, without lock and without a word to
 * the others. A slot has its own length and checksum: one that is torn or damaged is left out by
 * the reader and harms no other.
 *
 *   slot: magic u32, flags u32, stored u32, raw u32, reserved u32, crc u32 (of the 20 bytes before
 *         and of the content), then the content: an encoded profile of that rank, deflated or not
 */
#include "format/build.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define SLOT_DEFLATED 1u

/* ---- Making what fits ---------------------------------------------------------------------- */

/* Slot content of p in *b, header included. False: no memory. */
static bool make_slot(const struct pc_profile *p, struct pc_buffer *b)
{
    uint8_t *raw;
    size_t n;
    b->n = 0;
    if (pc_profile_encode(p, &raw, &n))
        return false;
    pc_buffer_extend(b, PC_PCOL_SLOT_HEADER_BYTES);
    bool deflated = pc_pcol_pack(b, raw, n);
    free(raw);
    if (b->failed)
        return false;
    uint8_t *at = b->data;
    size_t stored = b->n - PC_PCOL_SLOT_HEADER_BYTES;
    pc_store_le(at, PC_PCOL_SLOT_MAGIC, 4);
    pc_store_le(at + 4, deflated ? SLOT_DEFLATED : 0, 4);
    pc_store_le(at + 8, stored, 4);
    pc_store_le(at + 12, n, 4);
    pc_store_le(at + 16, 0, 4);
    uLong crc = crc32(0, at, 20);
    crc = crc32_z(crc, at + PC_PCOL_SLOT_HEADER_BYTES, stored);
    pc_store_le(at + 20, crc, 4);
    return true;
}

/* A profile that shares the tables of `late` but has its own nodes and records; strings of the job,
 * which the main part has, are left out. */
static void share_tables(const struct pc_profile *late, struct pc_profile *p)
{
    static char empty[1];
    struct pc_pool *memory = p->memory;
    *p = *late;
    p->memory = memory;
    p->exe = p->mpi = p->job = empty;
}

/* Leaves out the tables of p, and counts their rows in its one rank. False: no memory. */
static bool drop_tables(struct pc_profile *p)
{
    struct pc_profile_rank *rank = pc_pool_array(p->memory, 1, sizeof *rank);
    if (!rank)
        return false;
    *rank = p->ranks[0];
    for (uint32_t i = 0; i < p->n_tables; i++)
        rank->lost[PCOLLECT_LOST_ROWS] += p->tables[i].n_rows;
    p->ranks = rank;
    p->n_tables = p->n_strings = 0;
    return true;
}

/* Adds the one row and the bins of d to `sum`. False: no memory. */
static bool add_record(struct pc_profile *p, struct pc_profile_data *sum,
                       const struct pc_profile_data *d)
{
    unsigned kind = d->first_field ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_OP;
    if (!sum->n_ranks && !pc_profile_data_init(p, sum, kind, 1))
        return false;
    sum->ranks[0] = d->ranks[0];
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        uint32_t i = k - d->first_field;
        sum->values[i] = pc_field_combine(p->fields[k].combine, sum->values[i], d->values[i]);
        for (uint32_t bin = 0; bin < p->fields[k].bins; bin++)
            sum->bins[i][bin] += d->bins[i][bin];
    }
    return true;
}

/* Whether a record is of primitive `op`; PC_NO_INDEX stands for samples outside of primitives. */
static bool is_of_op(const struct pc_profile *p, const struct pc_profile_node *n, uint32_t op)
{
    if (op == PC_NO_INDEX)
        return n->kind == PCOLLECT_NODE_POINT;
    return (n->kind == PCOLLECT_NODE_OP && n->op == op) ||
           (n->kind == PCOLLECT_NODE_DOMAIN && p->nodes[n->parent].op == op);
}

/* Adds one node below the root with the sum of all records of a primitive, if there are any. */
static bool flatten_op(const struct pc_profile *late, uint32_t op, struct pc_profile *p)
{
    struct pc_profile_data *sum = &p->data[p->n_data];
    for (uint32_t i = 0; i < late->n_nodes; i++) {
        const struct pc_profile_node *n = &late->nodes[i];
        if (n->data != PC_NO_INDEX && is_of_op(late, n, op) &&
            !add_record(p, sum, &late->data[n->data]))
            return false;
    }
    if (!sum->n_ranks)
        return true;
    pc_profile_data_derive(p, sum);
    bool is_point = op == PC_NO_INDEX;
    p->nodes[p->n_nodes++] =
        (struct pc_profile_node){.kind = is_point ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_OP,
                                 .flags = PCOLLECT_FLAG_COLLAPSED,
                                 .module = PC_NO_INDEX,
                                 .op = op,
                                 .data = p->n_data++};
    return true;
}

/* `late` with every record of a primitive moved to one node below the root. */
static struct pc_profile *flatten(const struct pc_profile *late)
{
    struct pc_profile *p = pc_profile_new();
    if (!p)
        return NULL;
    share_tables(late, p);
    p->n_modules = p->n_data = 0;
    p->n_nodes = 1;
    if (!drop_tables(p)) {
        pc_profile_free(p);
        return NULL;
    }
    p->nodes = pc_pool_array(p->memory, (size_t)p->n_ops + 2, sizeof *p->nodes);
    p->data = pc_pool_array(p->memory, (size_t)p->n_ops + 1, sizeof *p->data);
    bool ok = p->nodes && p->data;
    if (ok) {
        p->nodes[0] = late->nodes[0];
        p->nodes[0].data = PC_NO_INDEX;
    }
    for (uint32_t op = 0; ok && op < p->n_ops; op++)
        ok = flatten_op(late, op, p);
    if (ok)
        ok = flatten_op(late, PC_NO_INDEX, p); /* sorts behind primitives */
    if (!ok) {
        pc_profile_free(p);
        return NULL;
    }
    pc_profile_count_descendants(p);
    return p;
}

/* Calls in the records of p, by the field that counts them; else the number of records. */
static uint64_t count_calls(const struct pc_profile *p)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < p->n_fields; k++) {
        if (strcmp(p->fields[k].name, "calls") != 0 && strcmp(p->fields[k].name, "count") != 0)
            continue;
        for (uint32_t i = 0; i < p->n_data; i++)
            if (k >= p->data[i].first_field)
                n += (uint64_t)pc_data_stat(&p->data[i], k)->sum;
        return n;
    }
    return p->n_data;
}

/* `late` without contexts. */
static struct pc_profile *times_only(const struct pc_profile *late)
{
    struct pc_profile *p = pc_profile_new();
    if (!p)
        return NULL;
    share_tables(late, p);
    p->n_modules = p->n_ops = p->n_fields = p->n_comm = p->n_data = 0;
    p->n_nodes = 1;
    p->nodes = pc_pool_array(p->memory, 1, sizeof *p->nodes);
    if (!p->nodes || !drop_tables(p)) {
        pc_profile_free(p);
        return NULL;
    }
    p->nodes[0] = late->nodes[0];
    p->nodes[0].n_descendants = 0;
    p->nodes[0].data = PC_NO_INDEX;
    p->ranks[0].lost[PCOLLECT_LOST_LATE] += count_calls(late);
    return p;
}

static struct pc_profile *as_it_is(const struct pc_profile *late)
{
    struct pc_profile *p = pc_profile_new();
    if (p)
        share_tables(late, p);
    return p;
}

static struct pc_profile *without_tables(const struct pc_profile *late)
{
    struct pc_profile *p = as_it_is(late);
    if (p && !drop_tables(p)) {
        pc_profile_free(p);
        p = NULL;
    }
    return p;
}

/* The most of `late` that fits into slot_bytes. */
static int fit_slot(const struct pc_profile *late, uint32_t slot_bytes, struct pc_buffer *b)
{
    static struct pc_profile *(*const shapes[])(const struct pc_profile *) = {
        as_it_is, without_tables, flatten, times_only};
    for (size_t i = 0; i < PC_ARRAY_LEN(shapes); i++) {
        struct pc_profile *p = shapes[i](late);
        bool made = p && make_slot(p, b);
        pc_profile_free(p);
        if (!made)
            return PC_ENOMEM;
        if (b->n <= slot_bytes)
            return PC_OK;
    }
    return PC_EARG;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static int check_target(int fd, const char *path, const struct pc_profile *late,
                        struct pc_pcol_header *h, struct pc_error *error)
{
    struct stat st;
    uint8_t bytes[PC_PCOL_HEADER_BYTES];
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return pc_error_set(error, PC_EMISMATCH, "%s: is not the profile that was written", path);
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n < 0)
        return pc_pcol_system_error(error, path, "cannot be read", errno);
    struct pc_error inner = {""};
    int err = pc_pcol_header_decode(bytes, (size_t)n, h, &inner);
    if (err)
        return pc_error_set(error, err, "%s: %s", path, inner.text);
    if (h->job_key != late->job_key || h->world_size != late->world_size)
        return pc_error_set(error, PC_EMISMATCH, "%s: is the profile of another job by now", path);
    uint32_t rank = (uint32_t)late->ranks[0].rank;
    if (rank >= h->n_slots || h->slot_bytes < PC_PCOL_SLOT_MIN_BYTES ||
        h->slot_bytes > PC_PCOL_SLOT_MAX_BYTES || !h->slots_at)
        return pc_error_set(error, PC_EMISMATCH,
                            "%s: has no place for what rank %u did after the merge", path, rank);
    return PC_OK;
}

static int write_slot(int fd, const char *path, const struct pc_profile *late,
                      struct pc_error *error)
{
    struct pc_pcol_header h;
    int err = check_target(fd, path, late, &h, error);
    if (err)
        return err;
    uint64_t at = h.slots_at + (uint64_t)h.slot_bytes * (uint32_t)late->ranks[0].rank, limit;
    if (pc_pcol_over_limit(at + h.slot_bytes, &limit))
        return pc_error_set(error, PC_EIO,
                            "%s: cannot be completed: the file size limit is %lu bytes; raise the "
                            "limit (ulimit -f)",
                            path, (unsigned long)limit);
    struct pc_buffer slot = {0};
    err = fit_slot(late, h.slot_bytes, &slot);
    if (err) {
        pc_error_set(error, err, "%s: what rank %d did after the merge cannot be added: %s", path,
                     (int)late->ranks[0].rank, pc_err_text(err));
    } else {
        int failed = pc_pcol_write_at(fd, slot.data, slot.n, at);
        if (failed)
            err = pc_pcol_system_error(error, path, "cannot be completed", failed);
    }
    free(slot.data);
    return err;
}

int pc_pcol_write_late(const char *path, const struct pc_profile *late, struct pc_error *error)
{
    if (late->n_ranks != 1)
        return pc_error_set(error, PC_EARG, "%s: a late part is of one rank", path);
    int saved_errno = errno;
    int err;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        err = pc_pcol_system_error(error, path, "cannot be completed", errno);
    } else {
        err = write_slot(fd, path, late, error);
        if (close(fd) != 0 && !err && errno != EINTR)
            err = pc_pcol_system_error(error, path, "cannot be completed", errno);
    }
    errno = saved_errno;
    return err;
}

/* ---- Reading ------------------------------------------------------------------------------- */

/* The profile in one slot: PC_OK with NULL if it is empty. */
static int decode_slot(const uint8_t *at, const struct pc_pcol_header *h, uint32_t rank,
                       const struct pc_profile *main, struct pc_profile **out)
{
    uint64_t flags = pc_load_le(at + 4, 4), stored = pc_load_le(at + 8, 4);
    uint64_t raw_bytes = pc_load_le(at + 12, 4), crc = pc_load_le(at + 20, 4);
    *out = NULL;
    if (!pc_load_le(at, 4) && !stored && !crc)
        return PC_OK;
    if (pc_load_le(at, 4) != PC_PCOL_SLOT_MAGIC ||
        stored > h->slot_bytes - PC_PCOL_SLOT_HEADER_BYTES)
        return PC_EFORMAT;
    const uint8_t *content = at + PC_PCOL_SLOT_HEADER_BYTES;
    if (crc32_z(crc32(0, at, 20), content, stored) != crc)
        return PC_EFORMAT;
    uint8_t *raw = pc_pcol_unpack(content, stored, raw_bytes, flags & SLOT_DEFLATED, NULL);
    struct pc_profile *p = NULL;
    int err = raw ? pc_profile_decode(raw, raw_bytes, &p, NULL) : PC_EFORMAT;
    free(raw);
    if (err)
        return err;
    if (p->n_ranks != 1 || (uint32_t)p->ranks[0].rank != rank || p->job_key != main->job_key ||
        p->world_size != main->world_size || !pc_fields_agree(p, main) ||
        !pc_tables_agree(p, main)) {
        pc_profile_free(p);
        return PC_EFORMAT;
    }
    *out = p;
    return PC_OK;
}

static int overlay(struct pc_profile_sum *sum, struct pc_profile **p)
{
    struct pc_profile *late, *both;
    int err = pc_profile_sum_finish(sum, &late, NULL);
    if (err || !late)
        return err;
    err = pc_profile_overlay(*p, late, &both, NULL);
    pc_profile_free(late);
    if (err)
        return err;
    pc_profile_free(*p);
    *p = both;
    return PC_OK;
}

/* False: the file does not have all of it. */
static bool read_slot(int fd, const struct pc_pcol_header *h, uint32_t i, uint8_t *out)
{
    size_t n;
    uint64_t at = h->slots_at + (uint64_t)i * h->slot_bytes;
    return !pc_pcol_read_at(fd, out, h->slot_bytes, at, &n) && n == h->slot_bytes;
}

int pc_pcol_read_slots(int fd, size_t n, const struct pc_pcol_header *h, struct pc_profile **p,
                       struct pc_error *error)
{
    uint8_t slot[PC_PCOL_SLOT_MAX_BYTES];
    if (!h->slots_at || h->slot_bytes <= PC_PCOL_SLOT_HEADER_BYTES ||
        h->slot_bytes > PC_PCOL_SLOT_MAX_BYTES)
        return PC_OK;
    uint64_t n_there = h->slots_at < n ? (n - h->slots_at) / h->slot_bytes : 0;
    if (n_there > h->n_slots)
        n_there = h->n_slots;
    uint32_t n_bad = h->n_slots - (uint32_t)n_there, first_bad = (uint32_t)n_there;
    struct pc_profile_sum sum = {{NULL}};
    int err = PC_OK;
    for (uint32_t i = 0; i < n_there && !err; i++) {
        struct pc_profile *late;
        if (!read_slot(fd, h, i, slot) || decode_slot(slot, h, i, *p, &late)) {
            n_bad++;
            first_bad = i < first_bad ? i : first_bad;
        } else if (late) {
            err = pc_profile_sum_add(&sum, late, NULL);
        }
    }
    if (!err)
        err = overlay(&sum, p);
    pc_profile_sum_free(&sum);
    if (err == PC_ENOENT)
        return err;
    if (err)
        pc_error_set(error, PC_OK, "what ranks did after the merge is left out: %s",
                     pc_err_text(err));
    else if (n_bad)
        pc_error_set(error, PC_OK,
                     "what %u of %u ranks did after the merge is damaged and left out (first: rank "
                     "%u)",
                     n_bad, h->n_slots, first_bad);
    return PC_OK;
}
