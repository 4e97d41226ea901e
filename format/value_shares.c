/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values by rank in shares: the section's directory, what is in a share before its columns, and the
 * writing of one share into a file that is there. value_blocks.c reads the columns.
 *
 * Data structure: the directory says which records keep values, under which number the shares know
 * each, and of each share the first rank and the bytes. Where a share is follows from the bytes of
 * those before it. Invariants: a share begins at a multiple of ALIGN_BYTES, so that no page of the
 * file is written by two nodes; it has a checksum of its own, because it is written after the
 * header of the section. A record has values only if all of its ranks are in shares that are whole.
 *
 * Called by pcol_write.c and pcol_read.c, and in a job by merge_module.c, in several processes at
 * once. It must not write to a file that has become another one.
 */
#include "format/value_shares.h"
#include "format/value_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Before the directory: its bytes (8), its CRC-32 (4), 0 (4). Before a share: magic (4), CRC-32 of
 * what follows (4), first rank (4), bytes of its index (4). */
enum { HEAD_BYTES = 16, CRC_FROM = 8, MAGIC = 0x52414853 /* "SHAR" */, ALIGN_BYTES = 1 << 16 };

static uint64_t aligned(uint64_t at)
{
    return (at + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

/* ---- Write ---------------------------------------------------------------------------------- */

void pc_share_encode(const struct pc_profile *p, const uint32_t *places, struct pc_buffer *out)
{
    struct pc_buffer index = {0};
    size_t start = out->n;
    uint32_t n = 0;
    pc_put_varint(&index, p->n_fields);
    for (uint32_t k = 0; k < p->n_fields; k++)
        pc_put_le(&index, pc_field_key(&p->fields[k]), 8);
    for (uint32_t i = 0; i < p->n_data; i++)
        n += pc_data_has(p, &p->data[i]) == PC_KEPT_EXACT;
    pc_put_varint(&index, n);
    for (uint32_t i = 0; i < p->n_data; i++) {
        if (pc_data_has(p, &p->data[i]) != PC_KEPT_EXACT)
            continue;
        pc_put_varint(&index, places[i]);
        pc_put_varint(&index, p->data[i].n_ranks);
    }
    pc_buffer_extend(out, HEAD_BYTES);
    pc_put_bytes(out, index.data, index.n);
    pc_columns_encode(p, PC_KEPT_EXACT, true, out);
    out->failed |= index.failed || index.n > UINT32_MAX;
    if (!out->failed) {
        uint8_t *at = out->data + start;
        pc_store_le(at, MAGIC, 4);
        pc_store_le(at + 8, (uint32_t)p->ranks[0].rank, 4);
        pc_store_le(at + 12, index.n, 4);
        pc_store_le(at + 4, crc32_z(0, at + CRC_FROM, out->n - start - CRC_FROM), 4);
    }
    free(index.data);
}

uint64_t pc_shares_encode(const struct pc_shares *s, uint32_t n_data, uint64_t at,
                          struct pc_buffer *out)
{
    size_t start = out->n;
    uint32_t n = 0;
    uint8_t *head = pc_buffer_extend(out, HEAD_BYTES);
    for (uint32_t i = 0; i < n_data; i++)
        n += s->places[i] != PC_NO_INDEX;
    pc_put_varint(out, n);
    for (uint32_t i = 0; i < n_data; i++)
        if (s->places[i] != PC_NO_INDEX)
            pc_put_varint(out, s->places[i]);
    pc_put_varint(out, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        pc_put_varint(out, (uint64_t)(s->list[i].first_rank - (i ? s->list[i - 1].first_rank : 0)));
        pc_put_varint(out, s->list[i].bytes);
    }
    if (out->failed)
        return 0;
    head = out->data + start;
    uint64_t bytes = out->n - start - HEAD_BYTES, end = at + HEAD_BYTES + bytes;
    pc_store_le(head, bytes, 8);
    pc_store_le(head + 8, crc32_z(0, head + HEAD_BYTES, bytes), 4);
    pc_store_le(head + 12, 0, 4);
    for (uint32_t i = 0; i < s->n; i++)
        end = aligned(end) + s->list[i].bytes;
    return end;
}

/* ---- Read ----------------------------------------------------------------------------------- */

/* The directory of a section. */
struct directory {
    uint8_t *bytes;
    struct pc_cursor c;
    uint64_t end; /* offset of its end in the file */
};

static int read_bytes(int fd, uint64_t at, uint64_t n, uint8_t *out, struct pc_error *error)
{
    size_t got;
    int failed = pc_pcol_read_at(fd, out, n, at, &got);
    if (failed)
        return pc_error_set(error, PC_EIO, "cannot be read: %s", strerror(failed));
    return got == n ? PC_OK
                    : pc_error_set(error, PC_EFORMAT, "section 'shares': the file ends within it");
}

/* Reads the directory of the section at `at`, of which the file has n bytes. The caller frees
 * d->bytes. */
static int read_directory(int fd, uint64_t at, uint64_t n, struct directory *d,
                          struct pc_error *error)
{
    uint8_t head[HEAD_BYTES];
    *d = (struct directory){.bytes = NULL};
    int err = read_bytes(fd, at, HEAD_BYTES, head, error);
    if (err)
        return err;
    uint64_t bytes = pc_load_le(head, 8);
    if (n < HEAD_BYTES || bytes > n - HEAD_BYTES)
        return pc_error_set(error, PC_EFORMAT, "section 'shares': its directory is too long");
    d->bytes = malloc(bytes + 1);
    if (!d->bytes)
        return pc_error_set(error, PC_ENOMEM, "not enough memory for %lu bytes",
                            (unsigned long)bytes);
    err = read_bytes(fd, at + HEAD_BYTES, bytes, d->bytes, error);
    if (!err && crc32_z(0, d->bytes, bytes) != pc_load_le(head + 8, 4))
        err = pc_error_set(error, PC_EFORMAT,
                           "section 'shares': its directory is damaged: its checksum differs");
    d->c = pc_cursor_over(d->bytes, bytes);
    d->end = at + HEAD_BYTES + bytes;
    return err;
}

/* Reads the next share from the directory. *rank and *end are the first rank of the share before
 * and its end in the file, and become those of this one. Returns where it begins. */
static uint64_t next_share(struct directory *d, int32_t *rank, uint64_t *end, uint64_t *bytes)
{
    uint64_t at = aligned(*end);
    *rank += (int32_t)pc_get_below(&d->c, (uint64_t)(INT32_MAX - *rank));
    *bytes = pc_get_below(&d->c, INT64_MAX - at);
    *end = at + *bytes;
    return at;
}

struct opening {
    struct pc_profile *p;
    int fd;
    uint32_t n_shares, n_records;
    uint32_t *record_of; /* by number of a record that keeps values: its index in p */
    uint32_t *number_of; /* by place: the number */
    uint32_t n_bad;
    int32_t first_bad, after_bad; /* first rank of the first that is bad, and of the one after it */
};

/* Takes the places of records from the directory: they are the numbers from 0 on, each once. */
static int take_places(struct opening *o, struct pc_cursor *c)
{
    const struct pc_profile *p = o->p;
    uint32_t n = pc_get_count(c, 1);
    o->record_of = malloc((size_t)p->n_data * sizeof *o->record_of + 1);
    o->number_of = malloc((size_t)n * sizeof *o->number_of + 1);
    if (!o->record_of || !o->number_of)
        return PC_ENOMEM;
    for (uint32_t i = 0; i < p->n_data; i++)
        if (p->data[i].kept == PC_KEPT_EXACT)
            o->record_of[o->n_records++] = i;
    if (n != o->n_records)
        return PC_EFORMAT;
    memset(o->number_of, 0xff, n * sizeof *o->number_of);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t place = pc_get_varint(c);
        if (c->failed || place >= n || o->number_of[place] != PC_NO_INDEX)
            return PC_EFORMAT;
        o->number_of[place] = i;
    }
    return PC_OK;
}

/* True if the bytes of the file there have the checksum of a share. */
static bool is_whole(int fd, uint64_t at, uint64_t n, const uint8_t head[HEAD_BYTES])
{
    uint8_t piece[32768];
    uLong crc = crc32(0, head + CRC_FROM, HEAD_BYTES - CRC_FROM);
    for (uint64_t done = HEAD_BYTES; done < n;) {
        size_t wanted = n - done < sizeof piece ? (size_t)(n - done) : sizeof piece, got;
        if (pc_pcol_read_at(fd, piece, wanted, at + done, &got) || got < wanted)
            return false;
        crc = crc32_z(crc, piece, got);
        done += got;
    }
    return pc_load_le(head, 4) == MAGIC && crc == pc_load_le(head + 4, 4);
}

/* The fields and records of a share, from its index. */
struct shape {
    struct pc_columns_shape of;
    uint32_t *fields, *numbers, *n_ranks;
    bool *has_comm;
};

static bool decode_fields(const struct pc_profile *p, struct pc_cursor *c, struct shape *s)
{
    s->of.n_fields = (uint32_t)pc_get_below(c, p->n_fields);
    s->of.fields = s->fields = calloc((size_t)s->of.n_fields + 1, sizeof *s->fields);
    if (!s->fields)
        return false;
    for (uint32_t i = 0, k = 0; i < s->of.n_fields; i++, k++) {
        uint64_t key = pc_get_le(c, 8);
        while (k < p->n_fields && pc_field_key(&p->fields[k]) != key) /* both are sorted */
            k++;
        if (c->failed || k >= p->n_fields)
            return false;
        s->fields[i] = k;
    }
    return true;
}

static bool decode_records(const struct opening *o, struct pc_cursor *c, struct shape *s)
{
    uint32_t n = pc_get_count(c, 2);
    s->of.n_records = n;
    s->of.numbers = s->numbers = calloc((size_t)n + 1, sizeof *s->numbers);
    s->of.n_ranks = s->n_ranks = calloc((size_t)n + 1, sizeof *s->n_ranks);
    s->of.has_comm = s->has_comm = calloc((size_t)n + 1, sizeof *s->has_comm);
    if (!s->numbers || !s->n_ranks || !s->has_comm)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t place = pc_get_varint(c);
        if (c->failed || place >= o->n_records)
            return false;
        uint32_t number = o->number_of[place];
        const struct pc_profile_data *d = &o->p->data[o->record_of[number]];
        s->numbers[i] = number;
        s->n_ranks[i] = (uint32_t)pc_get_below(c, d->n_ranks);
        s->has_comm[i] = d->first_field < o->p->n_comm;
        if (i && number <= s->numbers[i - 1])
            return false;
    }
    return !c->failed && c->at == c->end;
}

static bool add_columns(struct opening *o, int32_t rank, const struct pc_stored_columns *from,
                        struct pc_cursor *index)
{
    struct shape s = {.of = {.n_shares = o->n_shares, .first_rank = rank}};
    bool ok = decode_fields(o->p, index, &s) && decode_records(o, index, &s) &&
              !pc_columns_add_share(o->p, &s.of, from);
    free(s.fields);
    free(s.numbers);
    free(s.n_ranks);
    free(s.has_comm);
    return ok;
}

/* Opens the n bytes of a share. False: it is not there, or damaged. */
static bool open_share(struct opening *o, int32_t rank, uint64_t at, uint64_t n)
{
    uint8_t head[HEAD_BYTES];
    if (n < HEAD_BYTES || read_bytes(o->fd, at, HEAD_BYTES, head, NULL) ||
        !is_whole(o->fd, at, n, head))
        return false;
    uint64_t n_index = pc_load_le(head + 12, 4);
    if (pc_load_le(head + 8, 4) != (uint32_t)rank || n_index > n - HEAD_BYTES)
        return false;
    uint8_t *index = malloc(n_index + 1);
    bool ok = index && !read_bytes(o->fd, at + HEAD_BYTES, n_index, index, NULL);
    struct pc_cursor c = pc_cursor_over(index, ok ? n_index : 0);
    const struct pc_stored_columns from = {o->fd, at + HEAD_BYTES + n_index,
                                           n - HEAD_BYTES - n_index};
    ok = ok && add_columns(o, rank, &from, &c);
    free(index);
    return ok;
}

static int open_all(struct opening *o, struct directory *d, uint64_t section_end)
{
    uint64_t end = d->end;
    int32_t rank = 0;
    o->n_shares = pc_get_count(&d->c, 2);
    int err = pc_columns_begin_shares(o->p, o->fd, o->n_shares);
    for (uint32_t i = 0; i < o->n_shares && !err; i++) {
        uint64_t bytes, at = next_share(d, &rank, &end, &bytes);
        if (o->n_bad == 1 && o->after_bad < 0)
            o->after_bad = rank;
        if (d->c.failed)
            err = PC_EFORMAT;
        else if (end > section_end || !open_share(o, rank, at, bytes))
            o->first_bad = o->n_bad++ ? o->first_bad : rank;
    }
    return err || d->c.at == d->c.end ? err : PC_EFORMAT;
}

static void say_bad(const struct opening *o, uint32_t n_dropped, struct pc_error *error)
{
    int32_t after = o->after_bad < 0 ? (int32_t)o->p->world_size : o->after_bad;
    if (!o->n_bad && n_dropped)
        pc_error_set(error, PC_OK, "values by rank of %u %s are damaged and left out", n_dropped,
                     n_dropped == 1 ? "context" : "contexts");
    else if (o->n_bad)
        pc_error_set(error, PC_OK,
                     "%u of %u shares of the values by rank %s not written (first: "
                     "ranks %d to %d); %u %s no values by rank",
                     o->n_bad, o->n_shares,
                     o->n_bad == 1 ? "is damaged or was" : "are damaged or were", o->first_bad,
                     after - 1, n_dropped,
                     n_dropped == 1 ? "context, which these ranks have, shows"
                                    : "contexts, which these ranks have, show");
}

int pc_shares_open(struct pc_profile *p, int fd, uint64_t at, uint64_t n, struct pc_error *error)
{
    struct opening o = {.p = p, .fd = fd, .after_bad = -1};
    struct directory d;
    uint32_t n_dropped = 0;
    int err = read_directory(fd, at, n, &d, error);
    if (!err) {
        err = take_places(&o, &d.c);
        err = err ? err : open_all(&o, &d, at + n);
        err = err ? err : pc_columns_end_shares(p, &n_dropped);
        if (err)
            pc_error_set(error, err,
                         err == PC_ENOMEM ? "not enough memory"
                                          : "section 'shares': its directory is damaged");
        else
            say_bad(&o, n_dropped, error);
        p->lacks_values = o.n_bad || n_dropped;
    }
    if (err && p->columns)
        pc_columns_give_up(p);
    free(o.record_of);
    free(o.number_of);
    free(d.bytes);
    return err;
}

/* ---- Write one share ------------------------------------------------------------------------ */

/* Finds where the n bytes of the share of that rank belong. */
static int find_place(int fd, const struct pc_pcol_header *h, int32_t first_rank, size_t n,
                      uint64_t *at_out, struct pc_error *error)
{
    struct directory d;
    int32_t rank = 0;
    uint64_t bytes, end, at = 0;
    bool found = false;
    if (!h->shares_at || h->shares_at > h->file_bytes)
        return pc_error_set(error, PC_EMISMATCH, "it has no place for values by rank");
    int err = read_directory(fd, h->shares_at, h->file_bytes - h->shares_at, &d, error);
    end = d.end;
    for (uint32_t k = err ? 0 : pc_get_count(&d.c, 1); k > 0; k--)
        pc_get_varint(&d.c); /* places */
    for (uint32_t k = err ? 0 : pc_get_count(&d.c, 2); k > 0 && !found; k--) {
        at = next_share(&d, &rank, &end, &bytes);
        found = !d.c.failed && rank == first_rank && bytes == n;
    }
    free(d.bytes);
    if (!err && !found)
        err = pc_error_set(error, PC_EMISMATCH, "it has no place for them");
    *at_out = at;
    return err;
}

static int check_target(int fd, const struct pc_share_target *t, struct pc_pcol_header *h,
                        struct pc_error *error)
{
    struct stat st;
    uint8_t bytes[PC_PCOL_HEADER_BYTES];
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return pc_error_set(error, PC_EMISMATCH, "it is not the profile that was written");
    int err = read_bytes(fd, 0, sizeof bytes, bytes, error);
    if (!err)
        err = pc_pcol_header_decode(bytes, sizeof bytes, h, error);
    if (!err && (h->job_key != t->job_key || h->world_size != t->world_size))
        err = pc_error_set(error, PC_EMISMATCH, "it is the profile of another job by now");
    return err;
}

static int write_into(int fd, const struct pc_share_target *t, const uint8_t *data, size_t n,
                      struct pc_error *error)
{
    struct pc_pcol_header h;
    uint64_t at = 0, limit;
    int err = check_target(fd, t, &h, error);
    if (!err)
        err = find_place(fd, &h, t->first_rank, n, &at, error);
    if (err)
        return err;
    if (pc_pcol_over_limit(at + n, &limit))
        return pc_error_set(error, PC_EIO, "the file size limit is %lu bytes; raise it (ulimit -f)",
                            (unsigned long)limit);
    int failed = pc_pcol_write_at(fd, data, n, at);
    return failed ? pc_error_set(error, PC_EIO, "%s", strerror(failed)) : PC_OK;
}

int pc_pcol_write_share(const struct pc_share_target *t, const uint8_t *data, size_t n,
                        struct pc_error *error)
{
    struct pc_error why = {""};
    int saved_errno = errno, err;
    int fd = open(t->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        err = pc_error_set(&why, PC_EIO, "%s", strerror(errno));
    } else {
        err = write_into(fd, t, data, n, &why);
        if (close(fd) != 0 && !err && errno != EINTR)
            err = pc_error_set(&why, PC_EIO, "%s", strerror(errno));
    }
    if (err)
        pc_error_set(error, err,
                     "%s: the values of ranks %d to %d cannot be added: %s; contexts that these "
                     "ranks have will show no values by rank",
                     t->path, t->first_rank, t->last_rank, why.text);
    errno = saved_errno;
    return err;
}
