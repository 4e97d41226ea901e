/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Late slots. The data that each rank collects after the merge (the rest of MPI_Finalize,
 * destructors, the time to its exit) can no longer be sent by MPI. The file has a slot of fixed
 * size for every rank of the world. Ranks that write together (those of a node) have one record in
 * all of their slots, concatenated in the order of the ranks; a single rank has a record in its own
 * slot. As long as each rank is in only one such group, no two processes write to the same bytes:
 * no lock and no communication is needed. A record has its own length and checksum: one that is
 * torn or damaged is left out by the reader and harms no other.
 *
 *   record: magic u32, flags u32, stored u32, raw u32, bytes of the set u32, crc u32 (of the 20
 *           bytes before, the set and the content), then the set of ranks (rank_set.h; 0 bytes: the
 *           rank of the slot alone), within the first slot, then the content: an encoded profile of
 *           these ranks, or of some of them, deflated or not
 */
#include "format/build.h"
#include "format/rank_set.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <zlib.h>

/* ---- Records that fit into slots ----------------------------------------------------------- */

/* Late parts of ranks that write together. */
struct group {
    const char *path;
    const struct pc_profile *const *late; /* for each rank; NULL: not known */
    const int32_t *ranks;                 /* ascending */
    uint32_t n;
    bool ended; /* all of them: the last part of each is here */
};

/* The record of p in *b. False: no memory. */
static bool make_record(const struct group *g, const struct pc_profile *p, struct pc_buffer *b)
{
    uint8_t *raw;
    size_t n;
    b->n = 0;
    if (pc_profile_encode(p, &raw, &n))
        return false;
    pc_buffer_extend(b, PC_PCOL_SLOT_HEADER_BYTES);
    if (g->n > 1)
        pc_rank_set_put(g->ranks, g->n, b);
    size_t set_bytes = b->n - PC_PCOL_SLOT_HEADER_BYTES;
    bool deflated = pc_pcol_pack(b, raw, n);
    free(raw);
    if (b->failed)
        return false;
    uint8_t *at = b->data;
    size_t stored = b->n - PC_PCOL_SLOT_HEADER_BYTES - set_bytes;
    pc_store_le(at, PC_PCOL_SLOT_MAGIC, 4);
    pc_store_le(at + 4,
                (deflated ? PC_PCOL_SLOT_DEFLATED : 0) | (g->ended ? PC_PCOL_SLOT_ENDED : 0), 4);
    pc_store_le(at + 8, stored, 4);
    pc_store_le(at + 12, n, 4);
    pc_store_le(at + 16, set_bytes, 4);
    uLong crc = crc32(0, at, 20);
    crc = crc32_z(crc, at + PC_PCOL_SLOT_HEADER_BYTES, set_bytes + stored);
    pc_store_le(at + 20, crc, 4);
    return true;
}

/* A profile with everything of `late`, which has one rank, but what the main part knows of the job
 * and of the rank's begin. NULL: no memory. */
static struct pc_profile *as_it_is(const struct pc_profile *late)
{
    static char empty[1];
    struct pc_profile *p = pc_profile_new();
    struct pc_profile_rank *rank = p ? pc_pool_array(p->memory, 1, sizeof *rank) : NULL;
    uint64_t *lost = p ? pc_pool_array(p->memory, PCOLLECT_N_LOST, sizeof *lost) : NULL;
    if (!rank || !lost) {
        pc_profile_free(p);
        return NULL;
    }
    struct pc_pool *memory = p->memory;
    *p = *late;
    p->memory = memory;
    p->records = NULL;
    p->exe = p->mpi = p->job = empty;
    p->ranks = rank;
    *rank = late->ranks[0];
    rank->host = empty;
    rank->pid = 0;
    rank->start_realtime_ns = rank->before_init_ns = 0;
    for (unsigned k = 0; k < PCOLLECT_N_LOST; k++)
        lost[k] = pc_rank_lost(rank, k);
    rank->lost = lost;
    return p;
}

/* Drops the tables of p, and counts their rows as lost in its one rank. */
static void drop_tables(struct pc_profile *p)
{
    for (uint32_t i = 0; i < p->n_tables; i++)
        p->ranks[0].lost[PCOLLECT_LOST_ROWS] += p->tables[i].n_rows;
    p->n_tables = p->n_strings = 0;
}

/* Adds the one row and the bins of d, a record of `late`, to `sum`. False: no memory. */
static bool add_record(struct pc_profile *p, struct pc_profile_data *sum,
                       const struct pc_profile *late, const struct pc_profile_data *d)
{
    unsigned kind = d->first_field ? PCOLLECT_NODE_POINT : PCOLLECT_NODE_OP;
    if (!sum->n_ranks && !pc_profile_data_init(p, sum, kind, 1))
        return false;
    sum->ranks[0] = d->ranks[0];
    for (uint32_t k = d->first_field; k < p->n_fields; k++) {
        uint32_t i = k - d->first_field;
        sum->values[i] = pc_field_combine(p->fields[k].combine, sum->values[i], d->values[i]);
        const uint64_t *bins = pc_data_bins(late, d, k);
        for (uint32_t bin = 0; bins && bin < p->fields[k].bins; bin++)
            sum->bins[i][bin] += bins[bin];
    }
    return true;
}

/* True if a record is of primitive `op`; PC_NO_INDEX stands for samples outside of primitives. */
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
            !add_record(p, sum, late, &late->data[n->data]))
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
    struct pc_profile *p = as_it_is(late);
    if (!p)
        return NULL;
    p->n_modules = p->n_data = 0;
    p->n_nodes = 1;
    drop_tables(p);
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
        ok = flatten_op(late, PC_NO_INDEX, p); /* sorts after the primitives */
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
            n += (uint64_t)pc_data_sum(p, &p->data[i], k);
        return n;
    }
    return p->n_data;
}

/* `late` without contexts. */
static struct pc_profile *times_only(const struct pc_profile *late)
{
    struct pc_profile *p = as_it_is(late);
    if (!p)
        return NULL;
    p->n_modules = p->n_ops = p->n_fields = p->n_comm = p->n_data = 0;
    p->n_nodes = 1;
    p->nodes = pc_pool_array(p->memory, 1, sizeof *p->nodes);
    if (!p->nodes) {
        pc_profile_free(p);
        return NULL;
    }
    drop_tables(p);
    p->nodes[0] = late->nodes[0];
    p->nodes[0].n_descendants = 0;
    p->nodes[0].data = PC_NO_INDEX;
    p->ranks[0].lost[PCOLLECT_LOST_LATE] += count_calls(late);
    return p;
}

static struct pc_profile *without_tables(const struct pc_profile *late)
{
    struct pc_profile *p = as_it_is(late);
    if (p)
        drop_tables(p);
    return p;
}

/* The sum of the known late parts, each reduced to that shape; NULL: no memory. */
static struct pc_profile *add_shapes(const struct group *g,
                                     struct pc_profile *(*shape)(const struct pc_profile *))
{
    struct pc_profile_sum sum = {{NULL}};
    struct pc_profile *all = NULL;
    int err = PC_OK;
    for (uint32_t i = 0; i < g->n && !err; i++) {
        struct pc_profile *p = g->late[i] ? shape(g->late[i]) : NULL;
        err = p ? pc_profile_sum_add(&sum, p, NULL) : g->late[i] ? PC_ENOMEM : PC_OK;
    }
    if (err)
        pc_profile_sum_free(&sum);
    else
        pc_profile_sum_finish(&sum, &all, NULL);
    return all;
}

/* Makes the most detailed record that fits into the slots of the group. PC_EARG: not even times
 * fit. */
static int fit_record(const struct group *g, uint32_t slot_bytes, struct pc_buffer *b)
{
    static struct pc_profile *(*const shapes[])(const struct pc_profile *) = {
        as_it_is, without_tables, flatten, times_only};
    for (size_t i = 0; i < PC_ARRAY_LEN(shapes); i++) {
        struct pc_profile *p = add_shapes(g, shapes[i]);
        bool made = p && make_record(g, p, b);
        pc_profile_free(p);
        if (!made)
            return PC_ENOMEM;
        if (PC_PCOL_SLOT_HEADER_BYTES + pc_load_le(b->data + 16, 4) > slot_bytes)
            return PC_EARG;
        if (b->n <= (uint64_t)slot_bytes * g->n)
            return PC_OK;
    }
    return PC_EARG;
}

int pc_pcol_late_record(const struct pc_profile *late, uint32_t most, struct pc_buffer *b)
{
    const struct group alone = {NULL, &late, &late->ranks[0].rank, 1, false};
    return fit_record(&alone, most, b);
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* The first late part that is known; NULL: none is. */
static const struct pc_profile *first_known(const struct group *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->late[i])
            return g->late[i];
    return NULL;
}

static int check_target(int fd, const struct group *g, struct pc_pcol_header *h,
                        struct pc_error *error)
{
    const struct pc_profile *late = first_known(g);
    const char *path = g->path;
    struct stat st;
    uint8_t bytes[PC_PCOL_HEADER_BYTES];
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return pc_error_set(error, PC_EMISMATCH, "%s: is not the profile that was written", path);
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n < 0)
        return pc_pcol_system_error(error, path, "cannot be read", errno, PC_PCOL_LATE_SLOTS);
    struct pc_error inner = {""};
    int err = pc_pcol_header_decode(bytes, (size_t)n, h, &inner);
    if (err)
        return pc_error_set(error, err, "%s: %s", path, inner.text);
    if (h->job_key != late->job_key || h->world_size != late->world_size)
        return pc_error_set(error, PC_EMISMATCH, "%s: is the profile of another job by now", path);
    uint32_t rank = (uint32_t)g->ranks[g->n - 1];
    if (rank >= h->n_slots || h->slot_bytes < PC_PCOL_SLOT_MIN_BYTES ||
        h->slot_bytes > PC_PCOL_SLOT_MAX_BYTES || !h->slots_at)
        return pc_error_set(error, PC_EMISMATCH,
                            "%s: has no place for what rank %u did after the merge", path, rank);
    return PC_OK;
}

/* Puts the record into the slots of the group. 0 or an errno. */
static int write_record(int fd, const struct group *g, const struct pc_pcol_header *h,
                        const struct pc_buffer *record)
{
    size_t done = 0;
    for (uint32_t i = 0; i < g->n && done < record->n;) {
        uint32_t first = i++;
        while (i < g->n && g->ranks[i] == g->ranks[i - 1] + 1)
            i++;
        size_t room = (size_t)h->slot_bytes * (i - first), left = record->n - done;
        size_t piece = left < room ? left : room;
        uint64_t at = h->slots_at + (uint64_t)h->slot_bytes * (uint32_t)g->ranks[first];
        int failed = pc_pcol_write_at(fd, record->data + done, piece, at);
        if (failed)
            return failed;
        done += piece;
    }
    return 0;
}

/* Ranks that are too many or too scattered for one record are written as two halves. */
static int write_group(int fd, const struct group *g, const struct pc_pcol_header *h,
                       struct pc_error *error)
{
    struct pc_buffer record = {0};
    if (!first_known(g))
        return PC_OK;
    int err = fit_record(g, h->slot_bytes, &record);
    if (!err) {
        int failed = write_record(fd, g, h, &record);
        if (failed)
            err = pc_pcol_system_error(error, g->path, "cannot be completed", failed,
                                       PC_PCOL_LATE_SLOTS);
    } else if (err == PC_EARG && g->n > 1) {
        struct group half = *g, rest = *g;
        half.n = g->n / 2;
        rest.n = g->n - half.n;
        rest.late += half.n;
        rest.ranks += half.n;
        err = write_group(fd, &half, h, error);
        int other = write_group(fd, &rest, h, error);
        err = err ? err : other;
    } else {
        pc_error_set(error, err, "%s: what rank %d did after the merge cannot be added: %s",
                     g->path, (int)g->ranks[0], pc_err_text(err));
    }
    free(record.data);
    return err;
}

static int write_into(int fd, const struct group *g, struct pc_error *error)
{
    struct pc_pcol_header h;
    int err = check_target(fd, g, &h, error);
    if (err)
        return err;
    uint64_t end = h.slots_at + (uint64_t)h.slot_bytes * ((uint32_t)g->ranks[g->n - 1] + 1), limit;
    if (pc_pcol_over_limit(end, &limit))
        return pc_error_set(error, PC_EIO,
                            "%s: cannot be completed: the file size limit is %lu bytes; raise the "
                            "limit (ulimit -f)",
                            g->path, (unsigned long)limit);
    return write_group(fd, g, &h, error);
}

/* Opens the profile. Slots of several nodes lie on one page. Linux writes a whole page to an NFS
 * server, with what this node last read of the slots of others, unless the file is O_DSYNC
 * (nfs_can_extend_write). On other file systems each O_DSYNC write would wait for the disk and gain
 * nothing. */
static int open_target(const char *path)
{
    enum { NFS = 0x6969 };
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct statfs fs;
    int fd = open(path, flags);
    if (fd < 0 || fstatfs(fd, &fs) != 0 || fs.f_type != NFS)
        return fd;
    close(fd);
    return open(path, flags | O_DSYNC);
}

int pc_pcol_write_node(const char *path, const struct pc_profile *const *late, const int32_t *ranks,
                       uint32_t n, bool ended, struct pc_error *error)
{
    struct group g = {path, late, ranks, n, ended};
    int saved_errno = errno;
    int err;
    if (!first_known(&g))
        return pc_error_set(error, PC_ENOMEM, "%s: no memory to add what %u %s did after the merge",
                            path, n, n == 1 ? "rank" : "ranks");
    int fd = open_target(path);
    if (fd < 0) {
        err = pc_pcol_system_error(error, path, "cannot be completed", errno, PC_PCOL_LATE_SLOTS);
    } else {
        err = write_into(fd, &g, error);
        if (close(fd) != 0 && !err && errno != EINTR)
            err =
                pc_pcol_system_error(error, path, "cannot be completed", errno, PC_PCOL_LATE_SLOTS);
    }
    errno = saved_errno;
    return err;
}

int pc_pcol_write_late(const char *path, const struct pc_profile *late, bool ended,
                       struct pc_error *error)
{
    if (late->n_ranks != 1)
        return pc_error_set(error, PC_EARG, "%s: a late part is of one rank", path);
    return pc_pcol_write_node(path, &late, &late->ranks[0].rank, 1, ended, error);
}
