/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a .pcol file. The file is read in pieces, not mapped: a file that shrinks meanwhile is a
 * short read, not a fault. Sections are found one after the other, and their checksums verified;
 * those of unknown type are skipped. Only then is anything decoded, from a second reading, in which
 * neither a section nor what it inflates to is in memory as a whole (unpack.h). Values by rank are
 * read block by block when they are asked for (value_blocks.c), and late slots one by one.
 */
#include "format/later_contexts.h"
#include "format/value_blocks.h"
#include "format/value_shares.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Parts of the values by rank that are read; the first: of contexts and records neither. */
enum values { VALUES_OF_RANKS, VALUES_NONE, VALUES_ON_DEMAND, VALUES_PASSED_ON, VALUES_ALL };

struct section {
    uint64_t at; /* of its header in the file */
    unsigned type, version, flags;
    uint64_t stored, raw;
    uint32_t crc;
    bool found;
};

struct file {
    int fd;
    enum values values;
    bool in_order; /* contexts and records are left in the file */
    size_t n;      /* bytes */
    struct pc_pcol_header h;
    struct section columns, steps, shares;
    struct section parts[PC_PART_VALUES]; /* by type */
};

/* Reads bytes [at, at + n) to `out`. If the file ends earlier, its size is set to that. 0 or an
 * errno. */
static int fetch(struct file *f, uint64_t at, uint64_t n, uint8_t *out)
{
    size_t got;
    if (at > f->n)
        return 0;
    if (n > f->n - at)
        n = f->n - at;
    int failed = pc_pcol_read_at(f->fd, out, n, at, &got);
    if (!failed && got < n)
        f->n = at + got;
    return failed;
}

/* Adds bytes of the file to a checksum, as far as it has them. */
static int fetch_crc(struct file *f, uint64_t at, uint64_t n, uLong *crc)
{
    uint8_t piece[32768];
    int failed = 0;
    for (uint64_t end = at + n; at < end && at < f->n && !failed; at += sizeof piece) {
        size_t bytes = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;
        failed = fetch(f, at, bytes, piece);
        if (at < f->n)
            *crc = crc32_z(*crc, piece, f->n - at < bytes ? f->n - at : bytes);
    }
    return failed;
}

static int refuse_unread(struct pc_error *error, int err)
{
    return pc_error_set(error, PC_EIO, "cannot be read: %s", strerror(err));
}

static bool has_values(const struct section *s)
{
    return s->type == PC_PCOL_TYPE_COLUMNS || s->type == PC_PCOL_TYPE_STEPS ||
           s->type == PC_PCOL_TYPE_SHARES;
}

/* True if a section has values by rank, and none of them are requested. */
static bool is_skipped(const struct file *f, const struct section *s)
{
    return f->values <= VALUES_NONE && has_values(s);
}

/* True if a section is not decoded here. */
static bool is_passed_over(const struct file *f, const struct section *s)
{
    bool contexts = s->type == PC_PART_NODES || s->type == PC_PART_DATA;
    return has_values(s) || (contexts && (f->in_order || f->values == VALUES_OF_RANKS));
}

static int load_section(struct file *f, uint64_t at, struct section *s, struct pc_error *error)
{
    uint8_t h[PC_PCOL_SECTION_BYTES];
    int failed = fetch(f, at, sizeof h, h);
    if (failed)
        return refuse_unread(error, failed);
    if (at > f->n || f->n - at < PC_PCOL_SECTION_BYTES)
        return pc_error_set(error, PC_EFORMAT,
                            "the file ends after %zu of %lu bytes; copy it again", f->n,
                            (unsigned long)f->h.file_bytes);
    *s = (struct section){.at = at,
                          .type = (unsigned)pc_load_le(h, 4),
                          .version = (unsigned)pc_load_le(h + 4, 2),
                          .flags = (unsigned)pc_load_le(h + 6, 2),
                          .stored = pc_load_le(h + 8, 8),
                          .raw = pc_load_le(h + 16, 8),
                          .crc = (uint32_t)pc_load_le(h + 28, 4),
                          .found = true};
    bool live = s->flags & PC_SECTION_LIVE;
    uLong crc = crc32(0, h, 28);
    if (!is_skipped(f, s) && !live)
        failed = fetch_crc(f, at + PC_PCOL_SECTION_BYTES, s->stored, &crc);
    if (failed)
        return refuse_unread(error, failed);
    uint64_t left = f->n - at - PC_PCOL_SECTION_BYTES;
    if (s->stored > left && !live)
        return pc_error_set(error, PC_EFORMAT,
                            "section '%s' at byte %lu: the file ends after %zu of %lu bytes; copy "
                            "it again",
                            pc_part_name(s->type), (unsigned long)at, f->n,
                            (unsigned long)f->h.file_bytes);
    if (is_skipped(f, s))
        return PC_OK;
    if (crc != s->crc)
        return pc_error_set(error, PC_EFORMAT,
                            "section '%s' at byte %lu is damaged: its checksum differs; copy the "
                            "file again",
                            pc_part_name(s->type), (unsigned long)at);
    if (s->stored > left)
        s->stored = left; /* late slots or shares that were cut off */
    return PC_OK;
}

/* Versions that are read. */
struct versions {
    unsigned first, last;
};

static struct versions versions_of(unsigned type)
{
    unsigned only = type == PC_PCOL_TYPE_COLUMNS  ? PC_PCOL_COLUMNS_VERSION
                    : type == PC_PCOL_TYPE_STEPS  ? PC_PCOL_STEPS_VERSION
                    : type == PC_PCOL_TYPE_SHARES ? PC_PCOL_SHARES_VERSION
                                                  : 0;
    return only ? (struct versions){only, only}
                : (struct versions){pc_part_first_version(type), pc_part_version(type)};
}

/* The place for a section of this type; NULL: it is not known. */
static struct section *place_of(struct file *f, unsigned type)
{
    switch (type) {
    case PC_PCOL_TYPE_COLUMNS:
        return &f->columns;
    case PC_PCOL_TYPE_STEPS:
        return &f->steps;
    case PC_PCOL_TYPE_SHARES:
        return &f->shares;
    default:
        return type < PC_PART_VALUES ? &f->parts[type] : NULL;
    }
}

/* Decides whether a section is read or skipped, or makes the file unreadable. */
static int judge_section(struct file *f, const struct section *s, struct pc_error *error)
{
    struct versions read = versions_of(s->type);
    struct section *to = place_of(f, s->type);
    if (to && s->version < read.first)
        return pc_error_set(error, PC_EFORMAT,
                            "section '%s' at byte %lu is of version %u, which no release of "
                            "pcollect has written; measure again",
                            pc_part_name(s->type), (unsigned long)s->at, s->version);
    if (to && s->version <= read.last) {
        if (to->found)
            return pc_error_set(error, PC_EFORMAT, "section '%s' at byte %lu is there twice",
                                pc_part_name(s->type), (unsigned long)s->at);
        *to = *s;
    } else if (s->flags & PC_SECTION_REQUIRED) {
        return pc_error_set(error, PC_EVERSION,
                            "section %u at byte %lu is of version %u, which this pcollect does not "
                            "know; open the file with a newer pcollect",
                            s->type, (unsigned long)s->at, s->version);
    }
    return PC_OK;
}

static int find_sections(struct file *f, struct pc_error *error)
{
    uint64_t at = PC_PCOL_HEADER_BYTES;
    for (uint32_t i = 0; i < f->h.n_sections; i++) {
        struct section s;
        int err = load_section(f, at, &s, error);
        if (!err)
            err = judge_section(f, &s, error);
        if (err)
            return err;
        at += PC_PCOL_SECTION_BYTES + s.stored;
    }
    for (unsigned part = PC_PART_META; part < PC_PART_VALUES; part++)
        if (!f->parts[part].found)
            return pc_error_set(error, PC_EFORMAT, "section '%s' is missing", pc_part_name(part));
    return PC_OK;
}

static struct pc_stored content_of(const struct section *s, int fd)
{
    return (struct pc_stored){.fd = fd,
                              .at = s->at + PC_PCOL_SECTION_BYTES,
                              .n = s->stored,
                              .raw = s->raw,
                              .deflated = s->flags & PC_SECTION_DEFLATED};
}

static int decode_section(const struct file *f, const struct section *s, struct pc_profile *p,
                          struct pc_error *error)
{
    const struct pc_stored stored = content_of(s, f->fd);
    struct pc_error inner = {""};
    struct pc_cursor c;
    struct pc_unpacker *u = pc_unpacker_new(&stored, &c, &inner);
    int err = u ? PC_OK : PC_EFORMAT;
    if (!err && s->type == PC_PART_TABLES && f->values < VALUES_ALL)
        err = pc_later_open(p) ? PC_OK : PC_ENOMEM;
    if (!err)
        err = pc_part_decode(p, s->type, &c, &inner);
    if (u && !pc_unpacker_ended(u, &inner))
        err = PC_EFORMAT;
    pc_unpacker_free(u);
    if (err)
        pc_error_set(error, err, "section '%s' at byte %lu: %s", pc_part_name(s->type),
                     (unsigned long)s->at, inner.text);
    return err;
}

static int open_values(struct file *f, struct pc_profile *p, const struct section *s,
                       enum pc_kept kind, struct pc_error *error)
{
    int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return refuse_unread(error, errno);
    const struct pc_stored_columns from = {fd, s->at + PC_PCOL_SECTION_BYTES, s->stored};
    int err = pc_columns_open(p, kind, &from, error);
    if (err)
        close(fd);
    return err;
}

/* Marks the records with times in steps, of which no more is read: damage shows when they are. */
static void mark_steps(struct file *f, struct pc_profile *p)
{
    struct pc_error ignored;
    if (!f->steps.found || open_values(f, p, &f->steps, PC_KEPT_STEPS, &ignored))
        return;
    pc_columns_close(p->steps);
    p->steps = NULL;
}

static int open_shares(struct file *f, struct pc_profile *p, struct pc_error *error)
{
    int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return refuse_unread(error, errno);
    const struct section *s = &f->shares;
    int err = pc_shares_open(p, fd, s->at + PC_PCOL_SECTION_BYTES, s->stored, error);
    if (err)
        close(fd);
    return err;
}

static int take_values(struct file *f, struct pc_profile *p, struct pc_error *error)
{
    if (f->shares.found) {
        int err = open_shares(f, p, error);
        return !err && f->values == VALUES_ALL ? pc_columns_load(p, error) : err;
    }
    if (!f->columns.found)
        return pc_error_set(error, PC_EFORMAT, "section '%s' is missing",
                            pc_part_name(PC_PCOL_TYPE_COLUMNS));
    int err = open_values(f, p, &f->columns, PC_KEPT_EXACT, error);
    if (!err && f->steps.found)
        err = open_values(f, p, &f->steps, PC_KEPT_STEPS, error);
    return !err && f->values == VALUES_ALL ? pc_columns_load(p, error) : err;
}

static void leave_out_tables_of_contexts(struct pc_profile *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_tables; i++)
        if (!pc_table_refers_to_contexts(&p->tables[i]))
            p->tables[n++] = p->tables[i];
    p->n_tables = n;
}

/* Lets tables refer to contexts that are left in the file. */
static int count_contexts(struct file *f, struct pc_profile *p, struct pc_error *error)
{
    const struct pc_stored stored = content_of(&f->parts[PC_PART_NODES], f->fd);
    struct pc_cursor c;
    struct pc_unpacker *u = pc_unpacker_new(&stored, &c, error);
    if (!u)
        return PC_EFORMAT;
    p->n_nodes = pc_get_count(&c, 1);
    pc_unpacker_free(u);
    return PC_OK;
}

static int decode_parts(struct file *f, struct pc_profile *p, struct pc_error *error)
{
    int err = f->in_order ? count_contexts(f, p, error) : PC_OK;
    for (unsigned part = PC_PART_META; !err && part < PC_PART_VALUES; part++)
        if (!is_passed_over(f, &f->parts[part]))
            err = decode_section(f, &f->parts[part], p, error);
    if (!err && (f->in_order || f->values == VALUES_OF_RANKS))
        err = pc_profile_make_root(p);
    if (!err && f->values == VALUES_OF_RANKS)
        leave_out_tables_of_contexts(p);
    return err;
}

/* Opens the values that are asked for, or marks the records that have times in steps. */
static int find_values(struct file *f, struct pc_profile *p, struct pc_error *error)
{
    if (f->values > VALUES_NONE)
        return take_values(f, p, error);
    if (f->values == VALUES_NONE)
        mark_steps(f, p);
    return PC_OK;
}

/* Leaves contexts and records in the file; `before` is p without late parts. */
static int leave_contexts(struct file *f, struct pc_profile *p, const struct pc_profile *before,
                          struct pc_error *error)
{
    int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return refuse_unread(error, errno);
    const struct section *s = &f->steps;
    const struct pc_stored_columns steps = {fd, s->at + PC_PCOL_SECTION_BYTES, s->stored};
    struct pc_later_request r = {.nodes = content_of(&f->parts[PC_PART_NODES], fd),
                                 .data = content_of(&f->parts[PC_PART_DATA], fd),
                                 .before = before,
                                 .with_values = f->values > VALUES_NONE};
    uint32_t *numbers = s->found ? pc_columns_numbers(&steps, &r.n_steps) : NULL;
    r.steps = numbers;
    int err = pc_later_contexts_take(p, &r, error);
    free(numbers);
    return err ? err : find_values(f, p, error);
}

/* True if rows refer to contexts, and late parts have some: those of the file get other numbers. */
static bool moves_references(const struct pc_profile *late)
{
    bool refers = false;
    for (uint32_t i = 0; i < late->n_tables; i++)
        refers |= late->tables[i].n_rows && pc_table_refers_to_contexts(&late->tables[i]);
    return refers && late->n_nodes > 1;
}

static int decode_file(struct file *f, struct pc_profile **p, struct pc_error *error)
{
    uint8_t header[PC_PCOL_HEADER_BYTES];
    int failed = fetch(f, 0, sizeof header, header);
    if (failed)
        return refuse_unread(error, failed);
    int err = pc_pcol_header_decode(header, f->n, &f->h, error);
    if (!err)
        err = find_sections(f, error);
    (*p)->no_bins = f->values < VALUES_PASSED_ON;
    if (!err && f->values == VALUES_PASSED_ON)
        err = pc_profile_code_bins(*p) ? PC_OK : PC_ENOMEM;
    if (!err)
        err = decode_parts(f, *p, error);
    if (!err && !f->in_order)
        err = find_values(f, *p, error);
    if (!err)
        err = pc_profile_check(*p, error);
    const struct pc_profile before = **p;
    if (!err)
        err = pc_pcol_read_slots(f->fd, f->n, &f->h, f->in_order, p, error);
    if (!err && f->in_order && f->values == VALUES_PASSED_ON && moves_references(*p))
        err = PC_ENOENT;
    if (!err && f->in_order)
        err = leave_contexts(f, *p, &before, error);
    if (!err && f->values == VALUES_OF_RANKS)
        leave_out_tables_of_contexts(*p); /* of late parts */
    return err;
}

/* Opens a regular file. */
static int open_file(const char *path, struct file *f, struct pc_error *error)
{
    struct stat st;
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (f->fd < 0 || fstat(f->fd, &st) != 0)
        return pc_error_set(error, errno == ENOENT ? PC_ENOENT : PC_EIO, "%s: cannot be read: %s",
                            path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return pc_error_set(error, PC_EFORMAT, "%s: %s, not a profile of pcollect (.pcol)", path,
                            S_ISDIR(st.st_mode) ? "is a folder" : "is not a regular file");
    f->n = (size_t)st.st_size;
    return PC_OK;
}

static int read_as(const char *path, enum values values, bool in_order, struct pc_profile **out,
                   struct pc_error *error)
{
    struct pc_error inner = {""};
    struct file f = {.fd = -1, .values = values, .in_order = in_order};
    struct pc_profile *p = NULL;
    int err = open_file(path, &f, error);
    if (!err) {
        p = pc_profile_new();
        err = p ? decode_file(&f, &p, &inner) : PC_ENOMEM;
        if (err)
            pc_error_set(error, err, "%s: %s", path, *inner.text ? inner.text : pc_err_text(err));
        else if (*inner.text)
            pc_error_set(error, PC_OK, "%s: %s", path, inner.text);
    }
    if (f.fd >= 0)
        close(f.fd);
    if (err)
        pc_profile_free(p);
    else
        *out = p;
    return err;
}

static int read_file(const char *path, enum values values, bool in_order, struct pc_profile **out,
                     struct pc_error *error)
{
    int saved_errno = errno;
    if (error)
        error->text[0] = 0;
    int err = read_as(path, values, in_order, out, error);
    bool is_there = err == PC_ENOENT && !access(path, R_OK);
    if (is_there && in_order && values == VALUES_PASSED_ON) { /* late parts need the contexts */
        pc_error_set(error, PC_OK, "%s", "");
        err = read_as(path, values, false, out, error);
    }
    if (is_there && err == PC_ENOENT) { /* they need the values */
        pc_error_set(error, PC_OK, "%s", "");
        err = read_as(path, VALUES_ALL, false, out, error);
    }
    errno = saved_errno;
    return err;
}

int pc_pcol_read(const char *path, struct pc_profile **out, struct pc_error *error)
{
    return read_file(path, VALUES_ALL, false, out, error);
}

int pc_pcol_read_ranks(const char *path, struct pc_profile **out, struct pc_error *error)
{
    return read_file(path, VALUES_OF_RANKS, false, out, error);
}

int pc_pcol_read_statistics(const char *path, struct pc_profile **out, struct pc_error *error)
{
    return read_file(path, VALUES_NONE, false, out, error);
}

int pc_pcol_read_contexts(const char *path, bool with_values, struct pc_profile **out,
                          struct pc_error *error)
{
    return read_file(path, with_values ? VALUES_ON_DEMAND : VALUES_NONE, true, out, error);
}

int pc_pcol_read_histograms(const char *path, struct pc_profile **out, struct pc_error *error)
{
    return read_file(path, VALUES_PASSED_ON, false, out, error);
}

int pc_pcol_read_around(const char *path, struct pc_profile **out, struct pc_error *error)
{
    return read_file(path, VALUES_PASSED_ON, true, out, error);
}

int pc_pcol_read_columns(const char *path, struct pc_profile **out, struct pc_error *error)
{
    return read_file(path, VALUES_ON_DEMAND, false, out, error);
}
