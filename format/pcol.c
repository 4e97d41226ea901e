/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The .pcol container: header and section headers as bytes, packing, and the texts of errors that
 * the system reports. Layout: doc/internals/format.md.
 */
#include "format/build.h"
#include "format/new_file.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

void pc_pcol_header_encode(const struct pc_pcol_header *h, uint8_t out[PC_PCOL_HEADER_BYTES])
{
    memset(out, 0, PC_PCOL_HEADER_BYTES);
    memcpy(out, PC_PCOL_MAGIC, 8);
    pc_store_le(out + 8, h->major, 2);
    pc_store_le(out + 10, h->minor, 2);
    pc_store_le(out + 12, h->n_sections, 4);
    pc_store_le(out + 16, h->file_bytes, 8);
    pc_store_le(out + 24, h->job_key, 8);
    pc_store_le(out + 32, h->slots_at, 8);
    pc_store_le(out + 40, h->slot_bytes, 4);
    pc_store_le(out + 44, h->n_slots, 4);
    pc_store_le(out + 48, h->world_size, 4);
    pc_store_le(out + 52, h->shares_at, 8);
    pc_store_le(out + 60, crc32(0, out, 60), 4);
}

int pc_pcol_header_decode(const uint8_t *data, size_t n, struct pc_pcol_header *out,
                          struct pc_error *error)
{
    if (!n)
        return pc_error_set(error, PC_EFORMAT, "the file is empty");
    if (n < 12 || memcmp(data, PC_PCOL_MAGIC, 8) != 0)
        return pc_error_set(error, PC_EFORMAT, "not a profile of pcollect (.pcol)");
    struct pc_pcol_header h = {.major = (uint32_t)pc_load_le(data + 8, 2),
                               .minor = (uint32_t)pc_load_le(data + 10, 2)};
    if (h.major > PC_PCOL_MAJOR)
        return pc_error_set(error, PC_EVERSION,
                            "written in version %u of the format, this pcollect reads up to %u; "
                            "open it with a newer pcollect",
                            h.major, PC_PCOL_MAJOR);
    if (n < PC_PCOL_HEADER_BYTES)
        return pc_error_set(error, PC_EFORMAT,
                            "the file ends after %zu bytes, inside its header; copy it again", n);
    if (pc_load_le(data + 60, 4) != crc32(0, data, 60))
        return pc_error_set(error, PC_EFORMAT,
                            "the header (bytes 0 to 63) is damaged: its checksum differs; copy the "
                            "file again");
    h.n_sections = (uint32_t)pc_load_le(data + 12, 4);
    h.file_bytes = pc_load_le(data + 16, 8);
    h.job_key = pc_load_le(data + 24, 8);
    h.slots_at = pc_load_le(data + 32, 8);
    h.slot_bytes = (uint32_t)pc_load_le(data + 40, 4);
    h.n_slots = (uint32_t)pc_load_le(data + 44, 4);
    h.world_size = (uint32_t)pc_load_le(data + 48, 4);
    h.shares_at = pc_load_le(data + 52, 8);
    *out = h;
    return PC_OK;
}

/* Bytes that will be deflated. */
struct feed {
    const struct pc_piece *pieces;
    size_t n, at; /* pieces that are left, and bytes of the first that were given away */
};

static int strategy_of(const struct pc_piece *piece)
{
    return piece->noise ? Z_FILTERED : Z_DEFAULT_STRATEGY;
}

/* Lets f begin with a piece of which bytes are left, if there is one. */
static void pass_ended(struct feed *f)
{
    while (f->n && f->at == f->pieces->n) {
        f->pieces++;
        f->n--;
        f->at = 0;
    }
}

/* Gives z its next bytes, of one piece, once it has none. Returns true if more will follow. */
static bool give(struct feed *f, z_stream *z)
{
    pass_ended(f);
    if (!z->avail_in && f->n) {
        size_t left = f->pieces->n - f->at;
        z->next_in = (z_const Bytef *)f->pieces->data + f->at;
        z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        f->at += z->avail_in;
        pass_ended(f);
    }
    return f->n > 0;
}

/* Level of deflate: one process writes the file while all others of the job wait. The default, 6,
 * takes 1.2 to 1.7 times as long for profiles with values by rank, which are mostly noise, and
 * makes them at most 1.3 % shorter. */
enum { LEVEL = 4 };

/* Prepares to deflate n bytes. The usual tables have 268 KB, and most parts and blocks a few
 * hundred bytes: the tables are no larger than the data need in one block and within reach of its
 * first byte. */
static int begin_deflate(z_stream *z, size_t n, int strategy)
{
    enum { LOOKAHEAD = 262, LEAST_BITS = 9, MEMORY_LEVEL = 8 };
    int bits = LEAST_BITS;
    while (bits < MAX_WBITS && (size_t)1 << bits < n + LOOKAHEAD)
        bits++;
    return deflateInit2(z, LEVEL, Z_DEFLATED, bits,
                        bits - 6 < MEMORY_LEVEL ? bits - 6 : MEMORY_LEVEL, strategy);
}

enum { STEP = 1 << 16 };

/* Deflates the next piece of f, or ends what was deflated with the strategy of the piece before. */
static int deflate_next(z_stream *z, struct feed *f, int *strategy)
{
    pass_ended(f);
    if (!z->avail_in && f->n && strategy_of(f->pieces) != *strategy) {
        int state = deflateParams(z, LEVEL, strategy_of(f->pieces));
        if (state == Z_OK)
            *strategy = strategy_of(f->pieces);
        return state == Z_BUF_ERROR ? Z_OK : state; /* it needs more room, and will have it */
    }
    bool more = give(f, z);
    return deflate(z, more ? Z_NO_FLUSH : Z_FINISH);
}

/* Appends the n bytes of f, deflated, in steps: room for the longest result that can be would be as
 * much as the data. False: it would have n bytes or more, or there is no memory. */
static bool deflate_to(struct pc_buffer *b, struct feed f, size_t n)
{
    z_stream z = {0};
    size_t start = b->n;
    int strategy = f.n ? strategy_of(f.pieces) : Z_DEFAULT_STRATEGY;
    int state = begin_deflate(&z, n, strategy);
    if (state != Z_OK)
        return false;
    while (state == Z_OK && b->n - start < n && (z.next_out = pc_buffer_end(b, STEP))) {
        z.avail_out = STEP;
        state = deflate_next(&z, &f, &strategy);
        b->n += STEP - z.avail_out;
    }
    deflateEnd(&z);
    return state == Z_STREAM_END && b->n - start < n;
}

bool pc_pcol_pack_pieces(struct pc_buffer *b, const struct pc_piece *pieces, size_t n)
{
    size_t start = b->n, n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += pieces[i].n;
    if (deflate_to(b, (struct feed){pieces, n, 0}, n_bytes))
        return true;
    b->n = start;
    for (size_t i = 0; i < n; i++)
        pc_put_bytes(b, pieces[i].data, pieces[i].n);
    return false;
}

bool pc_pcol_pack_noise(struct pc_buffer *b, const uint8_t *data, size_t n)
{
    const struct pc_piece all = {data, n, true};
    return pc_pcol_pack_pieces(b, &all, 1);
}

struct pc_deflater {
    z_stream z;
};

struct pc_deflater *pc_deflater_new(bool quick)
{
    struct pc_deflater *d = calloc(1, sizeof *d);
    if (d && deflateInit(&d->z, quick ? 2 : Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(d);
        return NULL;
    }
    return d;
}

bool pc_deflater_put(struct pc_deflater *d, const uint8_t *data, size_t n, bool last,
                     struct pc_buffer *out)
{
    struct pc_piece piece = {data, n, false};
    struct feed f = {&piece, 1, 0};
    bool more;
    do {
        more = give(&f, &d->z);
        d->z.next_out = pc_buffer_end(out, STEP);
        if (!d->z.next_out)
            return false;
        d->z.avail_out = STEP;
        deflate(&d->z, last && !more ? Z_FINISH : Z_NO_FLUSH);
        out->n += STEP - d->z.avail_out;
    } while (more || !d->z.avail_out);
    return true;
}

void pc_deflater_free(struct pc_deflater *d)
{
    deflateEnd(&d->z);
    free(d);
}

bool pc_pcol_pack(struct pc_buffer *b, const uint8_t *data, size_t n)
{
    const struct pc_piece all = {data, n, false};
    return pc_pcol_pack_pieces(b, &all, 1);
}

uint8_t *pc_pcol_unpack(const uint8_t *data, size_t stored, uint64_t raw, bool deflated,
                        struct pc_error *error)
{
    /* Deflate expands at most 1032-fold: a larger size is damage, and no memory is allocated for
     * it. */
    if (deflated ? raw / 1032 > stored : raw != stored) {
        pc_error_set(error, PC_EFORMAT, "its length is impossible");
        return NULL;
    }
    uint8_t *out = malloc(raw ? raw : 1);
    if (!out) {
        pc_error_set(error, PC_ENOMEM, "not enough memory for %lu bytes", (unsigned long)raw);
        return NULL;
    }
    if (!deflated) {
        memcpy(out, data, stored);
        return out;
    }
    uLongf n = raw;
    if (uncompress(out, &n, data, stored) != Z_OK || n != raw) {
        free(out);
        pc_error_set(error, PC_EFORMAT, "it cannot be inflated");
        return NULL;
    }
    return out;
}

int pc_pcol_system_error(struct pc_error *error, const char *path, const char *what, int err,
                         unsigned flags)
{
    struct pc_error cure;
    pc_new_file_cure(&cure, err, pc_pcol_elsewhere(flags));
    return pc_error_set(error, err == ENOENT ? PC_ENOENT : PC_EIO, "%s: %s: %s; %s", path, what,
                        strerror(err), cure.text);
}

bool pc_pcol_over_limit(uint64_t bytes, uint64_t *limit_out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *limit_out = limit.rlim_cur;
    return bytes > limit.rlim_cur;
}

int pc_pcol_write_at(int fd, const void *data, size_t n, uint64_t offset)
{
    const char *at = data;
    while (n) {
        ssize_t written = pwrite(fd, at, n, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written ? errno : EIO;
        at += written;
        n -= (size_t)written;
        offset += (size_t)written;
    }
    return 0;
}

int pc_pcol_read_at(int fd, void *data, size_t n, uint64_t offset, size_t *n_out)
{
    *n_out = 0;
    while (*n_out < n) {
        ssize_t got = pread(fd, (char *)data + *n_out, n - *n_out, (off_t)(offset + *n_out));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (!got)
            break;
        *n_out += (size_t)got;
    }
    return 0;
}
