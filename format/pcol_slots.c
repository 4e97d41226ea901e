/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading late slots: the records that pcol_late.c wrote are added up and overlaid on the main
 * part.
 */
#include "format/build.h"
#include "format/rank_set.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Knowledge of a slot. The ranks that a damaged record names may be wrong: their slots are
 * looked at all the same. */
enum use { UNSEEN, DAMAGED, TAKEN /* by a record that is whole */ };

/* A pass over all slots. */
struct slots {
    int fd;
    const struct pc_pcol_header *h;
    const struct pc_profile *main;
    bool in_order;    /* its contexts are left in the file */
    uint32_t n_there; /* slots that the file has */
    uint8_t *use;     /* for each slot: enum use */
    int32_t *ranks;   /* of the record */
    size_t n;
    struct pc_buffer record;
};

/* Appends the slots of ranks[from..to) to the record. False: the file does not have all of it. */
static bool read_pieces(struct slots *s, size_t from, size_t to)
{
    while (from < to) {
        size_t first = from++, n;
        while (from < to && s->ranks[from] == s->ranks[from - 1] + 1)
            from++;
        uint64_t at = s->h->slots_at + (uint64_t)(uint32_t)s->ranks[first] * s->h->slot_bytes;
        size_t wanted = (from - first) * s->h->slot_bytes;
        uint8_t *out = pc_buffer_extend(&s->record, wanted);
        if (!out || pc_pcol_read_at(s->fd, out, wanted, at, &n) || n != wanted)
            return false;
    }
    return true;
}

/* Reads the bytes and the ranks of the record that begins in slot i. PC_OK with no bytes: none
 * begins there. */
static int read_record(struct slots *s, uint32_t i)
{
    s->record.n = 0;
    s->ranks[0] = (int32_t)i;
    s->n = 1;
    if (!read_pieces(s, 0, 1))
        return PC_EFORMAT;
    const uint8_t *at = s->record.data;
    uint64_t set_bytes = pc_load_le(at + 16, 4), stored = pc_load_le(at + 8, 4);
    if (!pc_load_le(at, 4) && !stored && !pc_load_le(at + 20, 4)) {
        s->record.n = 0;
        return PC_OK;
    }
    if (pc_load_le(at, 4) != PC_PCOL_SLOT_MAGIC ||
        set_bytes > s->h->slot_bytes - PC_PCOL_SLOT_HEADER_BYTES)
        return PC_EFORMAT;
    if (set_bytes) {
        const uint8_t *set = at + PC_PCOL_SLOT_HEADER_BYTES;
        struct pc_cursor c = {.at = set, .end = set + set_bytes};
        s->n = pc_rank_set_get(&c, s->n_there, s->ranks, s->n_there);
        if (!s->n || (uint32_t)s->ranks[0] != i) {
            s->ranks[0] = (int32_t)i;
            s->n = 1;
            return PC_EFORMAT;
        }
    }
    uint64_t bytes = PC_PCOL_SLOT_HEADER_BYTES + set_bytes + stored;
    size_t n_pieces = (size_t)((bytes + s->h->slot_bytes - 1) / s->h->slot_bytes);
    if (n_pieces > s->n || !read_pieces(s, 1, n_pieces))
        return PC_EFORMAT;
    s->record.n = bytes;
    return PC_OK;
}

/* True if p belongs to the job, and has only ranks of the record. */
static bool belongs(const struct slots *s, const struct pc_profile *p)
{
    size_t k = 0;
    for (uint32_t i = 0; i < p->n_ranks; i++) {
        while (k < s->n && s->ranks[k] < p->ranks[i].rank)
            k++;
        if (k == s->n || s->ranks[k] != p->ranks[i].rank)
            return false;
    }
    return p->job_key == s->main->job_key && p->world_size == s->main->world_size &&
           pc_fields_agree(p, s->main) && pc_tables_agree(p, s->main);
}

/* True if the record at `at` lies within n bytes and has its checksum. */
static bool is_whole(const uint8_t *at, size_t n)
{
    if (n < PC_PCOL_SLOT_HEADER_BYTES)
        return false;
    uint64_t bytes = pc_load_le(at + 8, 4) + pc_load_le(at + 16, 4);
    return bytes <= n - PC_PCOL_SLOT_HEADER_BYTES &&
           crc32_z(crc32(0, at, 20), at + PC_PCOL_SLOT_HEADER_BYTES, bytes) ==
               pc_load_le(at + 20, 4);
}

int pc_pcol_late_profile(const uint8_t *at, size_t n, struct pc_profile **out)
{
    if (!is_whole(at, n))
        return PC_EFORMAT;
    uint64_t flags = pc_load_le(at + 4, 4), stored = pc_load_le(at + 8, 4);
    uint64_t raw_bytes = pc_load_le(at + 12, 4), set_bytes = pc_load_le(at + 16, 4);
    const uint8_t *set = at + PC_PCOL_SLOT_HEADER_BYTES;
    uint8_t *raw =
        pc_pcol_unpack(set + set_bytes, stored, raw_bytes, flags & PC_PCOL_SLOT_DEFLATED, NULL);
    int err = raw ? pc_profile_decode(raw, raw_bytes, out, NULL) : PC_EFORMAT;
    free(raw);
    return err;
}

/* The profile in the record. */
static int decode_record(const struct slots *s, struct pc_profile **out)
{
    struct pc_profile *p = NULL;
    int err = pc_pcol_late_profile(s->record.data, s->record.n, &p);
    if (!err && !belongs(s, p)) {
        pc_profile_free(p);
        err = PC_EFORMAT;
    }
    if (!err)
        *out = p;
    return err;
}

/* Adds the record that begins in slot i, if there is one. */
static int add_record_of(struct slots *s, uint32_t i, struct pc_profile_sum *sum)
{
    struct pc_profile *late = NULL;
    int err = read_record(s, i);
    if (!err && s->record.n)
        err = decode_record(s, &late);
    for (size_t k = 0; k < s->n && (err || late); k++)
        if (late || s->use[s->ranks[k]] == UNSEEN)
            s->use[s->ranks[k]] = late ? TAKEN : DAMAGED;
    return late ? pc_profile_sum_add(sum, late, NULL) : PC_OK;
}

static bool has_rows_of_contexts(const struct pc_profile *p)
{
    bool has = false;
    for (uint32_t i = 0; i < p->n_tables; i++)
        has |= p->tables[i].n_rows && pc_table_refers_to_contexts(&p->tables[i]);
    return has;
}

static int overlay(const struct slots *s, struct pc_profile_sum *sum, struct pc_profile **p)
{
    struct pc_profile *late;
    int err = pc_profile_sum_finish(sum, &late, NULL);
    if (err || !late)
        return err;
    err = s->in_order && has_rows_of_contexts(late) ? PC_ENOENT : pc_profile_overlay(p, late, NULL);
    pc_profile_free(late);
    return err;
}

static int read_all_slots(struct slots *s, struct pc_profile **p)
{
    struct pc_profile_sum sum = {{NULL}};
    int err = s->use && s->ranks ? PC_OK : PC_ENOMEM;
    for (uint32_t i = 0; i < s->n_there && !err; i++)
        if (s->use[i] != TAKEN)
            err = add_record_of(s, i, &sum);
    if (!err)
        err = overlay(s, &sum, p);
    pc_profile_sum_free(&sum);
    return err;
}

/* Slots that the first n bytes of the file have. */
static uint32_t count_slots(const struct pc_pcol_header *h, uint64_t n)
{
    if (!h->slots_at || h->slot_bytes <= PC_PCOL_SLOT_HEADER_BYTES ||
        h->slot_bytes > PC_PCOL_SLOT_MAX_BYTES || h->slots_at >= n)
        return 0;
    uint64_t n_there = (n - h->slots_at) / h->slot_bytes;
    return n_there < h->n_slots ? (uint32_t)n_there : h->n_slots;
}

static void begin_slots(struct slots *s, int fd, uint64_t n, const struct pc_pcol_header *h)
{
    s->fd = fd;
    s->h = h;
    s->n_there = count_slots(h, n);
    s->use = calloc((size_t)s->n_there + 1, sizeof *s->use);
    s->ranks = malloc(((size_t)s->n_there + 1) * sizeof *s->ranks);
}

static void end_slots(struct slots *s)
{
    free(s->use);
    free(s->ranks);
    free(s->record.data);
}

int pc_pcol_read_slots(int fd, size_t n, const struct pc_pcol_header *h, bool in_order,
                       struct pc_profile **p, struct pc_error *error)
{
    if (!h->slots_at || h->slot_bytes <= PC_PCOL_SLOT_HEADER_BYTES ||
        h->slot_bytes > PC_PCOL_SLOT_MAX_BYTES)
        return PC_OK;
    struct slots s = {.main = *p, .in_order = in_order};
    begin_slots(&s, fd, n, h);
    int err = read_all_slots(&s, p);
    uint32_t n_bad = h->n_slots - s.n_there, first_bad = s.n_there;
    for (uint32_t i = s.use ? s.n_there : 0; i-- > 0;)
        if (s.use[i] == DAMAGED) {
            n_bad++;
            first_bad = i;
        }
    end_slots(&s);
    if (err == PC_ENOENT || err == PC_ENOMEM)
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

/* ---- Ranks that have not ended --------------------------------------------------------------- */

static uint32_t count_running(struct slots *s)
{
    uint32_t n = s->h->n_slots;
    for (uint32_t i = 0; i < s->n_there; i++) {
        if (s->use[i] || read_record(s, i) || !is_whole(s->record.data, s->record.n))
            continue;
        bool ended = pc_load_le(s->record.data + 4, 4) & PC_PCOL_SLOT_ENDED;
        for (size_t k = 0; k < s->n; k++) {
            n -= ended && !s->use[s->ranks[k]];
            s->use[s->ranks[k]] = TAKEN;
        }
    }
    return n;
}

int pc_pcol_count_running(const char *path, uint32_t *n_out, struct pc_error *error)
{
    uint8_t bytes[PC_PCOL_HEADER_BYTES];
    struct pc_pcol_header h;
    struct slots s = {.fd = -1};
    struct stat st;
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return pc_pcol_system_error(error, path, "cannot be read", errno, 0);
    int failed = fstat(fd, &st) ? errno : pc_pcol_read_at(fd, bytes, sizeof bytes, 0, &n);
    int err = failed ? pc_pcol_system_error(error, path, "cannot be read", failed, 0)
                     : pc_pcol_header_decode(bytes, n, &h, error);
    if (!err) {
        begin_slots(&s, fd, (uint64_t)st.st_size, &h);
        err = s.use && s.ranks ? PC_OK : PC_ENOMEM;
        *n_out = err ? 0 : h.slots_at ? count_running(&s) : 0;
    }
    end_slots(&s);
    close(fd);
    return err;
}
